"""A process of its own for long work: started anew, never forked; it says how far it is, and Cancel ends it.

Work on a thread cannot be stopped; a process can. It stays for the next piece of work, since starting one takes a
second or two, and is replaced after it was ended.
"""

from __future__ import annotations

import io
import multiprocessing
import pickle
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from types import MappingProxyType
from typing import Any, NamedTuple

from tacita.check import TacitaError

FAULT = "this did not work ({}); it is a fault of the program, not of the file."


class Task(NamedTuple):
    """A piece of work: a function of a module and its arguments, all of which can be sent."""

    key: str
    """What its result is kept under."""
    words: str
    """What people read while it runs."""
    function: Callable[..., Any]
    """Called with the arguments, and `progress`."""
    arguments: tuple[Any, ...] = ()


class Message(NamedTuple):
    """What the process says: how far it is, what came out, or why nothing did."""

    kind: str
    """progress, result or error."""
    value: Any
    size: int = 0
    """Bytes that it took to send."""


def frozen(table: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """A table that cannot be changed: by this name it is known on the other side of the pipe."""
    return MappingProxyType(table)


class _Pickler(pickle.Pickler):
    """Pickles what Python does not by itself: tables that cannot be changed, as those of value labels."""

    def reducer_override(self, obj: Any) -> Any:
        return (frozen, (dict(obj),)) if type(obj) is MappingProxyType else NotImplemented


def sendable(given: Any) -> bytes:
    """Anything as it goes through the pipe."""
    made = io.BytesIO()
    _Pickler(made, protocol=5).dump(given)
    return made.getvalue()


class Worker:
    """One process that does one task after the other."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self.process: Any = None
        self.pipe: Connection | None = None

    def start(self, task: Task) -> None:
        """Begin a task; the one before it must have ended."""
        assert self.task is None
        pipe = self._running()
        self.task = task
        pipe.send_bytes(sendable((task.function, task.arguments)))

    def messages(self) -> list[Message]:
        """What was said since it was asked last; with a result or an error the task has ended."""
        found: list[Message] = []
        if self.task is None or self.pipe is None:
            return found
        try:
            while self.pipe.poll():
                sent = self.pipe.recv_bytes()
                kind, value = pickle.loads(sent)
                found.append(Message(kind, value, len(sent)))
                if kind != "progress":
                    self.task = None
                    return found
        except (EOFError, OSError):
            self.close()
            found.append(Message("error", "the work ended before it was done, perhaps for want of memory."))
        return found

    def cancel(self) -> None:
        """End the work at once, whatever it is doing."""
        self.close()

    def close(self) -> None:
        """End the process."""
        self.task = None
        if self.process is not None:
            self.process.kill()
            self.process.join(5)
        if self.pipe is not None:
            self.pipe.close()
        self.process = self.pipe = None

    def warm(self) -> None:
        """Start the process before there is work, so that the first task need not wait for it."""
        self._running()

    def _running(self) -> Connection:
        if self.process is None or not self.process.is_alive() or self.pipe is None:
            self.close()
            context = multiprocessing.get_context("spawn")
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=serve, args=(other,), daemon=True)
            self.process.start()
            other.close()
        return self.pipe


def serve(pipe: Connection) -> None:
    """The loop of the process: one task after the other, until the connection is closed."""
    import signal

    # Ctrl-C in the terminal is for the app, which ends this process itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _warm_up()
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            function, arguments = pickle.loads(pipe.recv_bytes())
            pipe.send_bytes(_answer(_done(function, arguments, pipe)))


def _answer(said: tuple[str, Any]) -> bytes:
    """What came out, as it is sent; what cannot be sent is a fault that is said, and ends nothing."""
    try:
        return sendable(said)
    except Exception as error:
        return sendable(("error", FAULT.format(type(error).__name__)))


def _warm_up() -> None:
    import tacita.assessment.assess
    import tacita.comparison.compare
    import tacita.plots.theme
    import tacita.release.plan  # noqa: F401


def _done(function: Callable[..., Any], arguments: tuple[Any, ...], pipe: Connection) -> tuple[str, Any]:
    import warnings

    def progress(done: float, what: str) -> None:
        pipe.send_bytes(sendable(("progress", (float(done), what))))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "result", function(*arguments, progress=progress)
    except TacitaError as error:
        return "error", str(error)
    except MemoryError:
        return "error", "this needs more memory than there is; try a smaller file or fewer variables."
    except Exception as error:
        # What libraries say may quote cells of the data.
        return "error", FAULT.format(type(error).__name__)
