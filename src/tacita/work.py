"""How long work would take: what would not end in reasonable time is refused before it starts.

A measure (`@measure(work=...)`) or a step (`Step.work`) whose time grows faster than the file declares how much work a
file would be. Estimates are for one usual core and rough: a file is refused that takes far too long, not one that
takes a little longer.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from tacita import check
from tacita.check import TacitaError

VARIABLE = "TACITA_MINUTES"
"""The environment variable that says how many minutes one measure or step may be expected to take."""
MINUTES = 30.0
"""So many unless it says otherwise."""
UNASKED = 60.0
"""Seconds that a measure may be expected to take that nobody asked for by its name."""


class Work(NamedTuple):
    """How much work a file is for a measure or a step."""

    seconds: float
    """How long it takes, about."""
    instead: str
    """What to do where that is too long, as `name fewer keys`."""


class TooMuchWork(TacitaError):  # noqa: N818
    """A measure or a step that would not end in reasonable time."""


def allow(what: str, work: Work | None, most: float | None = None) -> None:
    """An error if work is expected to take longer than allowed, in seconds if not as `TACITA_MINUTES` says.

    >>> allow("suda", Work(3.0, "name fewer keys"))
    >>> allow("suda", Work(90_000.0, "name fewer keys"))
    Traceback (most recent call last):
        ...
    tacita.work.TooMuchWork: suda would take about 25 hours; name fewer keys, or wait for it with TACITA_MINUTES=1500.
    """
    if work is None or work.seconds <= (60 * _minutes() if most is None else most):
        return
    wait = f"wait for it with {VARIABLE}={work.seconds / 60:.0f}" if most is None else "ask for it by its name"
    raise TooMuchWork(f"{what} would take {duration(work.seconds)}; {work.instead}, or {wait}.")


def _minutes() -> float:
    """How many minutes are allowed."""
    given = os.environ.get(VARIABLE)
    try:
        return MINUTES if given is None else check.number(VARIABLE, float(given))
    except ValueError:
        raise TacitaError(f"{VARIABLE} must be a number of minutes; got {check.given(given)}.") from None


def duration(seconds: float) -> str:
    """A time in the unit that people would use.

    >>> duration(90.0), duration(5_000.0), duration(1e9), duration(1e40)
    ('about 2 minutes', 'about 83 minutes', 'about 32 years', 'longer than anybody lives')
    """
    if seconds > 3e9:
        return "longer than anybody lives"
    units = ((31_557_600.0, "year"), (86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second"))
    size, unit = next((each for each in units if seconds >= 1.5 * each[0]), units[-1])
    size, unit = (3_600.0, "hour") if unit == "day" and seconds < 172_800 else (size, unit)
    return f"about {check.counted(max(1, round(seconds / size)), unit)}"
