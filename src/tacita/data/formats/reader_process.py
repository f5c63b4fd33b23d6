"""The child process that reads files and sends back their contents; a damaged file may crash it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from tacita.check import TacitaError
from tacita.data.formats import columnar, foreign
from tacita.frame import streams


def serve() -> None:
    """Answer questions, one line of JSON each, until there are no more."""
    questions, answers = sys.stdin.buffer, _answers()
    _leave_no_dump()
    for line in questions:
        question = json.loads(line)
        limit_memory(question.pop("memory"))
        limit_seconds(question.pop("seconds"))
        said, parts = answer(question)
        _send(answers, said, parts)


def _answers() -> BinaryIO:
    """Where answers go: what was standard output, which is closed to what foreign code prints."""
    kept = os.dup(sys.stdout.fileno())
    with Path(os.devnull).open("wb") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())
    return os.fdopen(kept, "wb")


def _leave_no_dump() -> None:
    """A process that dies must not leave its memory, with the data in it, in a file."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(most: int) -> None:
    """Refuse to take so many more bytes than the process has now, where the system has such limits."""
    if sys.platform == "win32":
        from tacita.data.formats.windows_job import limit_memory as limit_job

        limit_job(most)
        return
    import resource

    # Not the address space, of which threads and allocators reserve much that they never use.
    with suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (_memory_of_data() + most, hard))


def _memory_of_data() -> int:
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[5])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def limit_seconds(most: int) -> None:
    """End the process when it has worked so much longer, where the system has such limits."""
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    with suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + most, hard))


def answer(question: dict[str, Any]) -> tuple[dict[str, Any], Iterator[bytes]]:
    """What to say of a file, and its table in parts."""
    file, catalog = Path(question.pop("file")), question.pop("catalog")
    try:
        loaded = foreign.load(file, catalog=None if catalog is None else Path(catalog), **question)
        said = {"variables": columnar.description(loaded.variables), "remarks": loaded.remarks}
        return said, streams.as_bytes(loaded.table)
    except TacitaError as error:
        return {"error": str(error)}, iter(())
    except OSError as error:
        return {"errno": error.errno}, iter(())
    except BaseException:
        # Its text may quote cells; a panic of Rust is no Exception.
        return {"damaged": True}, iter(())


def _send(answers: BinaryIO, said: dict[str, Any], parts: Iterator[bytes]) -> None:
    """Say it, each part of the table as it is made: two of them are never in memory at once."""
    answers.write(json.dumps(said).encode() + b"\n")
    for part in parts:
        answers.write(len(part).to_bytes(8, "big"))
        answers.write(part)
    answers.write(bytes(8))
    answers.flush()
