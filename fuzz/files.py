"""Damaged files of every format, read as the command line reads them: each ends in a table or in one sentence.

    python -m fuzz.files --count 4000 --format sav --format xlsx

For each format a process calls `tacita describe` on one damaged file after the other. The files that foreign code
parses are read, as always on the command line, in a process of their own, which is replaced when it dies. The exit code
is 1 where something died, hung for longer than ten seconds, raised, or said a cell.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from fuzz.mutations import CANARY, FORMATS, damaged, small_files

HANGS = 10.0
"""Seconds after which a file counts as one that hangs."""
GOOD = ("table", "sentence")
"""How reading a file may end."""


class Case(NamedTuple):
    """One damaged file, and how reading it ended."""

    form: str
    seed: int
    end: str
    said: str
    seconds: float

    @property
    def good(self) -> bool:
        """Whether it ended as it should."""
        return self.end in GOOD


def described(file: Path) -> tuple[str, str]:
    """How `tacita describe FILE` ends: a table, a sentence, or what must not be; and what it said."""
    from tacita.cli import main

    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["tacita", "describe", str(file)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        except BaseException:
            return "traceback", traceback.format_exc()
        else:
            code = 0
    lines = err.getvalue().splitlines()
    said = lines[-1] if lines else ""
    if CANARY in err.getvalue():
        return "cell", said
    if code == 0:
        return "table", said
    whole = code == 2 and not out.getvalue() and all(line.startswith("tacita: ") for line in lines) and lines
    return ("sentence", said) if whole else ("babble", err.getvalue())


def work(form: str, start: int, stop: int, folder: Path) -> None:
    """Read damaged files of a format one after the other; a line of JSON for each."""
    from tacita.apart import reading_in_process

    files = small_files(folder, form)
    file = folder / f"damaged.{form}"
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    printed = (folder / "printed.txt").open("w+b")
    # What foreign code prints past Python, which nobody should see.
    os.dup2(printed.fileno(), 2)
    with reading_in_process():
        for seed in range(start, stop):
            file.write_bytes(damaged(files, form, seed))
            began = time.monotonic()
            end, said = described(file)
            if os.fstat(printed.fileno()).st_size:
                end, said = "babble", (folder / "printed.txt").read_text(errors="replace")
                printed.truncate(0)
            answers.write(json.dumps([form, seed, end, said, time.monotonic() - began]) + "\n")
            answers.flush()


def cases(form: str, start: int, count: int) -> Iterator[Case]:
    """Every case of a format, also those that end or stop the process that reads."""
    seed, stop = start, start + count
    while seed < stop:
        with tempfile.TemporaryDirectory() as folder:
            words = ["--work", form, str(seed), str(stop), folder]
            program = [sys.executable, "-m", "fuzz.files", *words]
            with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                for answer in _answers(process):
                    case = answer if isinstance(answer, Case) else Case(form, seed, answer, "", 0.0)
                    if seed < stop:
                        yield case
                        seed = case.seed + 1


def _answers(process: subprocess.Popen[bytes]) -> Iterator[Case | str]:
    """What a process answers, and at last how it ended: `death`, or `hang` where it was silent for too long; the first
    answer takes a while."""
    lines: queue.Queue[bytes] = queue.Queue()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(b"")

    listener = threading.Thread(target=listen)
    listener.start()
    patience = 6 * HANGS
    try:
        while line := lines.get(timeout=patience):
            form, seed, end, said, seconds = json.loads(line)
            yield Case(form, seed, "hang" if seconds > HANGS else end, said, seconds)
            patience = 2 * HANGS
        yield "death"
    except queue.Empty:
        yield "hang"
    finally:
        process.kill()
        listener.join()


def report(form: str, found: list[Case]) -> str:
    """One line for a format: how its files ended."""
    ends = Counter(case.end for case in found)
    slowest = max(found, key=lambda case: case.seconds)
    counted = ", ".join(f"{times:,} {end}" for end, times in ends.most_common())
    return f"{form}: {len(found):,} files: {counted}; the slowest {slowest.seconds:.1f} s (seed {slowest.seed})"


def main() -> int:
    """Read the words of the command line; 1 if a file ended as it must not."""
    words = argparse.ArgumentParser(description="Damaged files, read as the command line reads them.")
    words.add_argument("--count", type=int, default=4000, help="files of each format")
    words.add_argument("--format", action="append", choices=FORMATS, help="a format; all unless given")
    words.add_argument("--seed", type=int, default=0, help="where to start, to see one case again")
    words.add_argument("--work", nargs=4, help=argparse.SUPPRESS)
    given: Any = words.parse_args()
    if given.work:
        form, start, stop, folder = given.work
        work(form, int(start), int(stop), Path(folder))
        return 0
    wrong = 0
    for form in given.format or FORMATS:
        found = list(cases(form, given.seed, given.count))
        print(report(form, found), flush=True)
        for case in found:
            if not case.good:
                wrong += 1
                print(f"  {case.end} at seed {case.seed}: {case.said[-2000:]}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
