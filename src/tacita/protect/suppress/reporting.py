"""How far a suppression is: told often, so that it can be shown and stopped."""

from __future__ import annotations

from collections.abc import Callable

Report = Callable[[float], None]
"""Called with the share of the work that is done; it may raise to stop the work."""


def unheard(done: float) -> None:
    """A report that nobody listens to."""


def part(report: Report, start: float, end: float) -> Report:
    """A report of one part of the work, of which all goes from `start` to `end`.

    >>> part(print, 0.5, 1.0)(0.5)
    0.75
    """
    return lambda done: report(start + (end - start) * min(max(done, 0.0), 1.0))


def turn(report: Report, number: int) -> Report:
    """A report of one of a number of turns that nobody knows: each takes half of what is left.

    >>> turn(print, 1)(0.0)
    0.5
    """
    return part(report, 1 - 0.5**number, 1 - 0.5 ** (number + 1))


def rising(report: Report) -> Report:
    """A report that never goes back, where work is done over again."""
    most = 0.0

    def told(done: float) -> None:
        nonlocal most
        most = max(most, done)
        report(most)

    return told
