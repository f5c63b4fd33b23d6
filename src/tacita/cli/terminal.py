"""What every command needs of the terminal: lines, names separated by commas, a progress bar."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from tacita.stopping import stop_again

SLOW = 2.0
"""Seconds after which a progress bar appears."""


UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Signs that tell a terminal to do something: from a file or a plan they would move, colour or retitle it."""


def shown(text: str) -> str:
    r"""A text as the terminal may have it: what would control it is written out.

    >>> shown("step \x1b[31mred")
    'step \\x1b[31mred'
    """
    return UNSHOWN.sub(lambda found: repr(found[0])[1:-1], text)


def say(text: str = "") -> None:
    """A line for the user; plain text, no markup in what comes from files.

    A reader that has seen enough, as `| head`, ends the showing, not the work: what is to be written is written.
    """
    try:
        sys.stdout.write(shown(text) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # What Python itself would flush at the end goes nowhere either.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """A line for the user about what went wrong, or might."""
    sys.stderr.write(f"tacita: {shown(text)}\n")


def names(given: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Names separated by commas, of one text or several; a name that has a comma in it is written in double quotes."""
    texts = [given] if isinstance(given, str) else list(given or ())
    if not texts:
        return None
    import csv

    return tuple(
        name.strip() for text in texts for name in next(csv.reader([text], skipinitialspace=True)) if name.strip()
    )


PIECE = re.compile(r"""(?: '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | [^,] )+""", re.VERBOSE)


def pieces(given: Iterable[str] | None) -> tuple[str, ...]:
    """Texts separated by commas that stand in no quotes and no brackets.

    >>> pieces(["presence", "weight_disclosure:variables=['sex', 'age'],suda"])
    ('presence', "weight_disclosure:variables=['sex', 'age']", 'suda')
    """
    found: list[str] = []
    for text in given or ():
        open_ones = ""
        for piece in PIECE.findall(text):
            bare = re.sub(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`""", "", open_ones + piece)
            open_ones += piece
            if sum(map(bare.count, "([{")) > sum(map(bare.count, ")]}")):
                open_ones += ","
            else:
                found.append(open_ones.strip())
                open_ones = ""
        found.append(open_ones.strip().rstrip(","))
    return tuple(filter(None, found))


@contextmanager
def progress_bar() -> Iterator[Any]:
    """A progress callback that shows a bar once the work takes longer than two seconds."""
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        console=Console(stderr=True),
    )
    task = bar.add_task("", total=1.0)
    timer = threading.Timer(SLOW, bar.start)
    if sys.stderr.isatty():
        timer.start()

    def progress(done: float, what: str) -> None:
        stop_again()
        bar.update(task, completed=done, description=shown(what))

    try:
        yield progress
    finally:
        timer.cancel()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def comparison_progress() -> Iterator[None]:
    """A progress bar for work that cannot say how far it is."""
    with progress_bar() as progress:
        progress(0.1, "comparing the files")
        yield
