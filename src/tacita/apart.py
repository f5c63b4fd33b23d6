"""Reads files in a child process, which a damaged file may crash without harm to the caller.

Files of SPSS, Stata, SAS, Excel, Parquet and Arrow are parsed by code that is not ours, in languages in which a damaged
or wicked file can end the whole process, or take all of its memory. So files from outside are read in a process that
has a limit on memory and on time. What it read comes back through a pipe: nothing is ever written to disk.

It is started anew, never forked, and from the parent it gets the path of the file and nothing else. One process reads
one file after the other; where it dies it is replaced, and the file that it died of is refused.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import IO, Any, NamedTuple

from tacita.check import TacitaError
from tacita.stopping import interruptible

GIGABYTE = 2**30
LEAST_MEMORY = 2 * GIGABYTE
MEMORY_PER_BYTE = 1000
"""How many bytes of memory a byte of a file may need: those of SPSS and SAS pack equal values tightly."""
LEAST_SECONDS = 5
BYTES_PER_SECOND = 10_000
"""No honest file takes longer, by far."""
FORMATS = (".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
"""The suffixes of files that code parses which is not ours."""
START = "import sys; sys.path[:] = {path!r}; from tacita.data.formats.reader_process import serve; serve()"


class Limits(NamedTuple):
    """What reading a file may take."""

    memory: int
    """Bytes, beyond what the process has when it starts."""
    seconds: int
    """Of work, over all processors."""


class Answer(NamedTuple):
    """What the process says of a file, and the tables that it sends along as bytes."""

    said: dict[str, Any]
    parts: list[bytes]


def limits(size: int, memory: int | None = None) -> Limits:
    """What reading a file of this many bytes may take: never more than four fifths of the machine's memory.

    >>> limits(1_000_000, memory=16 * GIGABYTE)
    Limits(memory=3147483648, seconds=105)
    """
    most = (machine_memory() if memory is None else memory) * 4 // 5
    return Limits(min(LEAST_MEMORY + MEMORY_PER_BYTE * size, most), LEAST_SECONDS + size // BYTES_PER_SECOND)


def machine_memory() -> int:
    """The bytes of memory that the machine has; a terabyte where it does not say."""
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 1024 * GIGABYTE


class Reader:
    """A process that reads one file after the other."""

    def __init__(self) -> None:
        if not sys.executable:
            raise TacitaError("Python does not know where its own program is, so no process can be started to read in.")
        self.parent = os.getpid()
        # Without a folder of the user's on the path: a file of his named like a module would run there.
        code = START.format(path=[folder for folder in sys.path if folder])
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # What foreign code says when it dies may quote cells.
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else "the system refused"
            raise TacitaError(f"no process could be started to read in ({reason}); end other programs first.") from None

    def ask(self, question: Mapping[str, Any]) -> Answer | None:
        """The answer; None if the process died of the question."""
        return interruptible(lambda: self._exchange(question))

    def _exchange(self, question: Mapping[str, Any]) -> Answer | None:
        """Ask, and wait for the whole answer; None if the process died."""
        to, back = _pipe(self.process.stdin), _pipe(self.process.stdout)
        try:
            to.write(json.dumps(question).encode() + b"\n")
            to.flush()
            said = json.loads(back.readline())
            return Answer(said, list(_parts(back)))
        except (OSError, EOFError, ValueError):
            # The process is gone: the pipe is closed in the middle of an answer, or before it.
            return None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                _pipe(pipe).close()
        self.process.wait()


def _parts(back: IO[bytes]) -> Iterator[bytes]:
    """What comes in pieces, each with its length in front, up to one of length 0."""
    while True:
        length = int.from_bytes(_exactly(back, 8), "big")
        if length == 0:
            return
        yield _exactly(back, length)


def _exactly(back: IO[bytes], length: int) -> bytes:
    piece = back.read(length)
    if len(piece) < length:
        raise EOFError("the process died")
    return piece


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


class Readers:
    """The process of a command, which is started when it is needed and replaced when it died."""

    def __init__(self) -> None:
        self.reader: Reader | None = None

    def start(self) -> None:
        """Start the process, so that it is ready when the first file is read."""
        self.reader = self.reader or _waiting_one() or Reader()

    def ask(self, question: Mapping[str, Any]) -> Answer | None:
        """The answer; None if the process died of the question."""
        self.start()
        assert self.reader is not None
        answer = None
        try:
            answer = self.reader.ask(question)
        finally:
            # Also where Ctrl-C ends the wait: the answer to this question must not be taken for that to the next.
            if answer is None:
                self.close()
        return answer

    def park(self) -> None:
        """Let the process wait for other files."""
        if self.reader is not None and not _waiting:
            _waiting.append(self.reader)
            self.reader = None

    def close(self) -> None:
        """End the process if there is one."""
        if self.reader is not None:
            self.reader.close()
            self.reader = None


_waiting: list[Reader] = []
"""A process that has nothing to do: starting one takes longer than reading a small file."""


def _waiting_one() -> Reader | None:
    """The process that waits, if it is still alive and was started by this one."""
    with suppress(IndexError):
        reader = _waiting.pop()
        if reader.parent == os.getpid():
            if reader.process.poll() is None:
                return reader
            reader.close()
    return None


@atexit.register
def _end_waiting() -> None:
    while _waiting:
        reader = _waiting.pop()
        if reader.parent == os.getpid():
            reader.close()


_readers: ContextVar[Readers | None] = ContextVar("readers", default=None)


@contextmanager
def reading_in_process() -> Iterator[Readers]:
    """Within this block every file that foreign code parses is read in a process of its own."""
    outer = _readers.get()
    if outer is not None:
        yield outer
        return
    mine = Readers()
    token = _readers.set(mine)
    try:
        yield mine
        mine.park()
    finally:
        _readers.reset(token)
        mine.close()


def always() -> bool:
    """Whether files are read apart without being asked for."""
    return _readers.get() is not None


def ask(name: str, size: int, question: Mapping[str, Any]) -> Answer:
    """The answer of a child process about a file; one sentence if the file crashes it."""
    given = limits(size)
    with reading_in_process() as readers:
        answer = readers.ask({**question, "memory": given.memory, "seconds": given.seconds})
    if answer is None:
        raise TacitaError(
            f"{name} is damaged, or cannot be read within {given.memory / GIGABYTE:,.1f} GB and {given.seconds:,} "
            "seconds; export it again, or as text."
        )
    return answer
