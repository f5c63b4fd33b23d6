"""The confidentiality plot of the cells of a table: what an intruder learns from the totals that are published."""

from __future__ import annotations

from typing import Annotated, Any

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.aligned import aligned
from tacita.distance.scenario_keys import NumericKeys, numeric_keys
from tacita.measures import measure, own_rule
from tacita.parameters import Doc, checked_options
from tacita.progress import Progress, no_progress
from tacita.risk.confidentiality_plot.confidentiality import confidentiality
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
    missing=own_rule("Cells without a value or without an interval are left out and counted."),
)
def cell_confidentiality(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: NumericKeys = None,
    lower: Annotated[str, Doc("Column of the released table with the lower ends of the intervals.")] = "lower",
    upper: Annotated[str, Doc("Column of the released table with the upper ends of the intervals.")] = "upper",
    progress: Progress = no_progress,
    **options: Any,
) -> IntervalConfidentiality:
    """How well the cells of a table hide behind the intervals that can be worked out for them.

    Both tables have one row per cell, and may be the same: the original one its true value, the one numeric key of the
    scenario; the released one the feasibility interval: the least and the greatest value that it can have given all
    that is published. The midpoint is the intruder's guess, perturbation its error, and neighbours are the cells whose
    true value looks like it, within the strata if there are any. A published cell has lower = upper = value and
    perturbation 0; leave out those that are no secret. Cells without an interval are left out and counted. Options are
    those of `confidentiality`.

    Reference: Seri, A graphical framework to evaluate risk assessment and information loss at individual level, 4.

    >>> import polars as pl
    >>> table = pl.DataFrame({"value": [40.0, 42.0, 90.0], "lower": [30.0, 35.0, 88.0], "upper": [54.0, 47.0, 96.0]})
    >>> found = cell_confidentiality(table, table, Scenario(numeric_keys=["value"]), delta=0.1, k=2)
    >>> found.neighbours.tolist(), found.perturbation.round(3).tolist(), found.unsafe.tolist()
    ([2, 2, 1], [0.05, 0.024, 0.022], [False, False, True])
    """
    given = checked_options(confidentiality, options)
    names = numeric_keys("cell_confidentiality", scenario, keys)
    if len(names) != 1:
        raise TacitaError(f"cells have one value each; got {check.quoted(names)}, pass keys=[...] with one name.")
    if not len(Data.of(original)):
        raise TacitaError("the table has no cells; there is nothing to compare.")
    files = aligned(original, released)
    first, second, *_ = files
    check.columns_exist("keys", names, first.columns)
    check.columns_exist("lower and upper", (lower, upper), second.columns)
    low, high = (second.numbers(name)[:, None] for name in (lower, upper))
    check_ends(low, high, second)
    return midpoint_confidentiality(files, scenario, Intervals(names, low, high), given, progress)
