"""Progress of long work, and how it is stopped: one callback through all layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacita.check import TacitaError

Progress = Callable[[float, str], None]
"""Called with the share of the work that is done and what is being done; it may raise `Cancelled` to stop the work."""


class Cancelled(Exception):  # noqa: N818
    """Raised by a progress callback to stop the work; nothing half-done is left behind."""


def no_progress(done: float, what: str) -> None:
    """A progress callback that does nothing."""


def checked_progress(progress: Any) -> Progress:
    """The callback given, or one that does nothing; anything else is an error."""
    if progress is not None and not callable(progress):
        raise TacitaError(f"progress must be a function of two arguments; got {type(progress).__name__}.")
    return progress or no_progress


def part(progress: Progress, start: float, end: float) -> Progress:
    """The progress of a part of the work as progress of the whole, from `start` to `end`.

    >>> part(lambda done, what: print(f"{done:.2f} {what}"), 0.5, 1.0)(0.5, "counting")
    0.75 counting
    """
    return lambda done, what: progress(start + (end - start) * min(max(done, 0.0), 1.0), what)


def halving(progress: Progress, number: int) -> Progress:
    """The progress of one round where the number of rounds is unknown: each takes half of what is left.

    >>> halving(lambda done, what: print(f"{done:.2f} {what}"), 1)(0.0, "counting")
    0.50 counting
    """
    return part(progress, 1 - 0.5**number, 1 - 0.5 ** (number + 1))


def rising(progress: Progress) -> Progress:
    """Progress that never goes back, where work is done over again."""
    most = 0.0

    def forward(done: float, what: str) -> None:
        nonlocal most
        most = max(most, done)
        progress(most, what)

    return forward
