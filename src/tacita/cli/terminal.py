"""What every command needs of the terminal: lines, names separated by commas, a progress bar."""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

SLOW = 2.0
"""Seconds after which a progress bar appears."""


class Stopped(BaseException):
    """Ctrl-C, or the system's request to end: on the way out, whatever is half-written is removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise `Stopped` where a signal asks the program to end; once, so that a second one does not stop the clearing."""
    numbers = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    before = {number: signal.getsignal(number) for number in numbers}

    def stop(number: int, _: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    try:
        for number in numbers:
            signal.signal(number, stop)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(text: str = "") -> None:
    """A line for the user; plain text, no markup in what comes from files."""
    sys.stdout.write(text + "\n")


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
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        console=Console(stderr=True),
    )
    task = bar.add_task("", total=1.0)
    timer = threading.Timer(SLOW, bar.start)
    if sys.stderr.isatty():
        timer.start()
    try:
        yield lambda done, what: bar.update(task, completed=done, description=what)
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
