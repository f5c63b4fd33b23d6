"""Progress of long work, and how it is stopped: one callback through all layers."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from tacita.check import TacitaError

Progress = Callable[[float, str], None]
"""Called with the share of the work that is done and what is being done; it may raise `Cancelled` to stop the work."""


class Cancelled(Exception):  # noqa: N818
    """Raised by a progress callback to stop the work; nothing half-done is left behind."""


SLOW = 2.0
"""Seconds after which work is long enough to say how far it is."""
OFTEN = 0.2
"""Seconds between two lines that say so."""


def show_progress() -> Progress:
    """A progress callback for a notebook or a terminal: how far the work is, once it takes longer than two seconds.

    It writes one line over and over on standard error, and wipes it out at the end.

    >>> import tacita as tc
    >>> survey = tc.household_survey(200, population=4000)
    >>> release = tc.Plan([tc.Round("income", base=100)]).apply(
    ...     survey.data, survey.scenario, progress=tc.show_progress()
    ... )
    """
    began = last = time.monotonic()
    width = 0

    def show(done: float, what: str) -> None:
        nonlocal last, width
        now = time.monotonic()
        if done >= 1.0 and width:
            sys.stderr.write("\r" + " " * width + "\r")
            width = 0
        elif done < 1.0 and now - began > SLOW and now - last > OFTEN:
            text = f"{100 * done:3.0f} % {what}"
            sys.stderr.write("\r" + text.ljust(width))
            last, width = now, max(width, len(text))
        sys.stderr.flush()

    return show


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
    """The progress of one round where the number of rounds is unknown: each takes half of the rest of the bar.

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
