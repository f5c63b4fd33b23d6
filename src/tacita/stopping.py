"""How a program of ours is stopped from outside: Ctrl-C, or the system's request to end.

Loaded before anything else of the command line, so that it may import nothing that takes time.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar, cast

Answer = TypeVar("Answer")
LISTENS = 0.1
"""Seconds after which whoever waits for another process listens for Ctrl-C."""


class Stopped(BaseException):
    """Ctrl-C, or the system's request to end: on the way out, whatever is half-written is removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_asked: list[int] = []
"""The signals that asked the program to end."""


def run_stoppable(run: Callable[[], None]) -> None:
    """Run a program; whoever stops it is told so in one sentence, with exit code 130 or 143."""
    try:
        with stoppable():
            run()
    except SystemExit:
        # A program that ends, or that was told of by a program within it.
        raise
    except BaseException as stopped:
        # A compiled loop that is stopped on its return raises an error of its own.
        if not _asked and not isinstance(stopped, Stopped | KeyboardInterrupt):
            raise
        # Not loaded, nothing was written.
        if "tacita.leftovers" in sys.modules:
            sys.modules["tacita.leftovers"].clear_own()
        sys.stderr.write("tacita: stopped; nothing half-written is left.\n")
        sys.exit(128 + (_asked[0] if _asked else signal.SIGINT))


def end_undisturbed() -> None:
    """From here on the program ends by itself: its work is done, and a signal would end it without a word."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise `Stopped` where a signal asks the program to end; once, so that a second one does not stop the clearing."""
    numbers = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    before = {number: signal.getsignal(number) for number in numbers}
    _asked.clear()

    def stop(number: int, _: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        _asked.append(number)
        raise Stopped(number)

    try:
        for number in numbers:
            signal.signal(number, stop)
        yield
    except Stopped:
        # Whoever stops the work does not want to hear of it twice: the handlers stay as they are.
        before = {}
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stop_again() -> None:
    """Raise `Stopped` once more where foreign code swallowed it, as what frees memory or is called back does."""
    if _asked and threading.current_thread() is threading.main_thread():
        raise Stopped(_asked[0])


def interruptible(work: Callable[[], Answer]) -> Answer:
    """The result of work that waits for another process, so that Ctrl-C can interrupt the wait.

    A thread of its own waits. A signal that comes just before a wait begins, or after which a library (Polars) had the
    system go on waiting, would only be heard when the wait ends.
    """
    ends: list[tuple[Answer | None, BaseException | None]] = []

    def wait() -> None:
        try:
            ends.append((work(), None))
        except BaseException as error:
            ends.append((None, error))

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LISTENS)
    answer, error = ends[0]
    if error is not None:
        raise error
    return cast(Answer, answer)
