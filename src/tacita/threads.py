"""Work in threads that ends when the caller stops waiting for it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Halted(BaseException):
    """Ends a thread whose result nobody waits for any more."""


_of_thread = threading.local()


def in_threads(function: Callable[[T], R], tasks: Sequence[T], *, worth: bool = True) -> list[R]:
    """The function of each task; compiled loops let the other threads run.

    After Ctrl-C, or where a task fails, nothing new is begun, and what has begun ends where it calls `halt_if_asked`.
    """
    if len(tasks) == 1 or not worth:
        return [function(task) for task in tasks]
    pool, halt = ThreadPoolExecutor(os.cpu_count()), threading.Event()

    def one(task: T) -> R:
        _of_thread.halt = halt
        return function(task)

    try:
        return list(pool.map(one, tasks))
    except BaseException:
        halt.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def halt_if_asked() -> None:
    """End this thread if nobody waits for its result any more; outside of `in_threads` nothing happens."""
    halt = getattr(_of_thread, "halt", None)
    if halt is not None and halt.is_set():
        raise Halted
