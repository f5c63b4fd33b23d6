"""The confidentiality plot of released intervals: what an intruder learns who takes the middle for the value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.distance.aligned import aligned
from tacita.measures import measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.risk.confidentiality_plot.confidentiality import confidentiality
from tacita.risk.confidentiality_plot.options import shared_options
from tacita.risk.confidentiality_plot.released_intervals import (
    IntervalConfidentiality,
    Intervals,
    check_ends,
    midpoint_confidentiality,
)
from tacita.scenario import Scenario


@measure(
    files=2,
    needs="numeric_keys",
    missing=own_rule("Records with a missing value or a missing end of an interval are left out and counted."),
)
def interval_confidentiality(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    intervals: Annotated[Mapping[str, tuple[str, str]], Doc("By numeric key: columns of the lower and upper ends.")],
    progress: Progress = no_progress,
    **options: Any,
) -> IntervalConfidentiality:
    """How well released intervals hide their values: the confidentiality of their midpoints, and their width.

    `intervals` names for each numeric key of the original the two columns of the released file that hold the lower and
    the upper end. An intruder who must name one number takes the midpoint; perturbation is how wrong he is, neighbours
    are the originals that look like the midpoint. A narrow interval gives the value away however the points lie, so the
    width is shown beside. Records with a missing end, as of an open class, are left out and counted. Options are those
    of `confidentiality`.

    Reference: Seri, A graphical framework to evaluate risk assessment and information loss at individual level, 4.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 12.0, 14.0, 300.0]})
    >>> ranges = pl.DataFrame({"from": [10.0, 10.0, 10.0, 200.0], "to": [15.0, 15.0, 15.0, 500.0]})
    >>> ends, scenario = {"turnover": ("from", "to")}, Scenario(numeric_keys=["turnover"])
    >>> found = interval_confidentiality(firms, ranges, scenario, intervals=ends, delta=0.2, k=2)
    >>> found.neighbours.tolist(), found.perturbation.round(3).tolist(), found.width.round(2).tolist()
    ([2, 2, 2, 1], [0.25, 0.042, 0.107, 0.167], [0.5, 0.42, 0.36, 1.0])
    """
    given = shared_options("interval_confidentiality", confidentiality, options, "intervals={'turnover': (...)}")
    files = aligned(original, released)
    first, second, *_ = files
    named = _ends(intervals)
    columns = [column for pair in named.values() for column in pair]
    check.columns_exist("intervals", columns, second.columns)
    check.columns_exist("keys", list(named), first.columns)
    lower, upper = (np.column_stack([second.numbers(pair[at]) for pair in named.values()]) for at in (0, 1))
    check_ends(lower, upper, second)
    return midpoint_confidentiality(files, scenario, Intervals(tuple(named), lower, upper), given, progress)


def _ends(intervals: Any) -> dict[str, tuple[str, str]]:
    """By key the names of the two columns with the ends of its intervals."""
    named = check.mapping("intervals", intervals)
    if not named:
        raise TacitaError("name at least one interval; pass intervals={'turnover': ('lower', 'upper')}.")
    for name, given in named.items():
        pair = isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(end, str) for end in given)
        if not pair:
            raise TacitaError(f"the interval of {name!r} must be the names of two columns; got {check.given(given)}.")
    return {name: (given[0], given[1]) for name, given in named.items()}
