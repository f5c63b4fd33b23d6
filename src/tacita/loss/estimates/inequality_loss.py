"""Inequality before and after: Gini, quantile shares, poverty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError, quoted
from tacita.data import Data
from tacita.loss.both_files import (
    Both,
    Weighted,
    both_files,
    both_numbers,
    both_numeric,
    compared_variables,
    scenario_variables,
)
from tacita.loss.estimates.inequality import STATISTICS, Sorted, added_up, inequality, lorenz, poverty_line
from tacita.loss.estimates.resampling import Seed, cluster_names, sampling_units, times_drawn
from tacita.loss.measured import none_for_nan, normal_quantile
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc, Share
from tacita.progress import Progress, no_progress
from tacita.random import Draws
from tacita.result import Result, Table, number
from tacita.scenario import Scenario

NAN = math.nan
POINTS = np.linspace(0.0, 1.0, 101)
"""Where Lorenz curves are kept."""


class Indicator(NamedTuple):
    """One figure of one variable before and after; NaN where it is not defined."""

    variable: str
    statistic: str
    before: float
    after: float
    difference: float
    low: float
    """Lower end of the bootstrap interval of the difference; NaN without bootstrap."""
    high: float
    error_before: float
    """Standard error of the figure before, by bootstrap."""


class Curve(NamedTuple):
    """The Lorenz curves of a variable, at every hundredth of the population."""

    variable: str
    before: Floats
    after: Floats


@dataclass(frozen=True, eq=False)
class InequalityLoss(Result):
    """How far figures of inequality and poverty are from what they were."""

    indicators: tuple[Indicator, ...]
    """By variable and statistic."""
    curves: tuple[Curve, ...]
    """By variable; for internal use, since the curve of a small file can show its values."""
    line: float
    """The poverty line, as a share of the median."""
    replicates: int
    """Bootstrap samples."""
    confidence: float
    """Of the intervals."""
    cautions: tuple[str, ...]
    """What the reader should know."""

    @property
    def gini(self) -> tuple[Indicator, ...]:
        """By variable Gini's coefficient."""
        return tuple(each for each in self.indicators if each.statistic == STATISTICS[0])

    @property
    def mean(self) -> float:
        """The mean absolute difference of Gini's coefficients: 0 as they were; NaN if none is defined."""
        sizes = [abs(each.difference) for each in self.gini if not math.isnan(each.difference)]
        return math.fsum(sizes) / len(sizes) if sizes else NAN

    @property
    def headline(self) -> str:
        """The mean difference of Gini's coefficients, and the greatest."""
        known = [each for each in self.gini if not math.isnan(each.difference)]
        if not known:
            return "inequality: no variable has a positive total in both files, so there is no Gini to compare"
        most = max(known, key=lambda each: abs(each.difference))
        return (
            f"inequality: Gini differs by {number(self.mean)} on average (0 as it was, 1 from all the same to one who "
            f"has everything); most for {most.variable!r}: {number(most.before)} before, {number(most.after)} after"
        )

    def tables(self) -> tuple[Table, ...]:
        """All figures before and after."""
        heads = ("variable", "statistic", "before", "after", "difference")
        shown = 7 if self.replicates else 5
        ends = (f"{100 * self.confidence:g} % from", "to")
        return (Table((*heads, *ends)[:shown], tuple(tuple(each)[:shown] for each in self.indicators)),)

    def lorenz_points(self) -> frame.Frame:
        """The Lorenz curves, one row per point, for a figure for internal use."""
        count = len(POINTS)
        return frame.table(
            {
                "variable": [curve.variable for curve in self.curves for _ in range(count)],
                "population": np.tile(POINTS, len(self.curves)),
                "before": np.concatenate([curve.before for curve in self.curves]),
                "after": np.concatenate([curve.after for curve in self.curves]),
            }
        )

    def to_frame(self) -> frame.Frame:
        """One row per variable and statistic."""
        fields = Indicator._fields
        return frame.table({name: [getattr(each, name) for each in self.indicators] for name in fields})

    def to_dict(self) -> dict[str, Any]:
        """The mean difference of Gini's coefficients, and all figures."""
        listed = [{name: none_for_nan(value) for name, value in each._asdict().items()} for each in self.indicators]
        return {
            "mean": none_for_nan(self.mean),
            "line": self.line,
            "replicates": self.replicates,
            "indicators": listed,
        }


@measure(
    files=2,
    kind="loss",
    limit=at_most("mean", "the mean difference of Gini's coefficients", moved_by=GENTLER),
    missing=own_rule("Missing numbers are left out."),
)
def inequality_loss(
    original: Data,
    released: Data,
    scenario: Scenario,
    *,
    variables: Annotated[Any, Doc("Numeric variables; those of the scenario, or of the file, unless given.")] = None,
    line: Annotated[float, Share(zero=False), Doc("The poverty line as a share of the median.")] = 0.6,
    weighted: Weighted = True,
    clusters: Annotated[
        Any, Doc("Draw whole clusters; the scenario's households unless given, [] for records.")
    ] = None,
    replicates: Annotated[int, AtLeast(0), Doc("Bootstrap samples for intervals, as 100.")] = 0,
    confidence: Annotated[float, Share(zero=False, one=False), Doc("Of the intervals.")] = 0.95,
    seed: Seed = 1,
    progress: Progress = no_progress,
) -> InequalityLoss:
    """Gini, shares of the poorest and the richest fifth, their ratio, and poverty before and after.

    The poverty rate is the share below 60 % (`line`) of the median: of each file's own median, and of that of the
    original. Intervals are of the difference, by a bootstrap that draws the same units in both files.

    >>> import polars as pl
    >>> before, after = pl.DataFrame({"income": [0.0, 1.0]}), pl.DataFrame({"income": [0.5, 0.5]})
    >>> found = inequality_loss(before, after, Scenario(numeric_keys=["income"]), replicates=0)
    >>> found.gini[0].before, found.gini[0].after
    (0.5, 0.0)
    """
    both = both_files(original, released, scenario, weighted=weighted)
    names = _numeric_variables(both, scenario, variables)
    by = cluster_names(both.original, clusters, scenario.household)
    units = [sampling_units(data, by) for data in both.files]
    files = {name: _two_sorted(both, name) for name in names}
    again = _bootstrapped(files, units, line, replicates, Draws(seed).step("inequality"), progress)
    reach = normal_quantile(confidence)
    indicators: list[Indicator] = []
    curves: list[Curve] = []
    cautions = list(both.cautions)
    for name, sides in files.items():
        given = [side.given for side in sides]
        anchor = poverty_line(given[0], line)
        values = [inequality(each, line, anchor) for each in given]
        indicators += _indicators(name, values, again[name], reach)
        curves.append(Curve(name, *(lorenz(each, POINTS) for each in given)))
        if any((each.values < 0).any() for each in given):
            cautions.append(f"{name!r} has negative values: its Gini and shares are no longer between 0 and 1.")
    return InequalityLoss(tuple(indicators), tuple(curves), line, replicates, confidence, tuple(cautions))


def _numeric_variables(both: Both, scenario: Scenario, variables: Any) -> list[str]:
    """Variables that hold numbers in both files: those named, those of the scenario, or all."""
    if variables is not None:
        names = compared_variables(both, scenario, variables)
        wrong = [name for name in names if name not in both.released.columns or not both_numeric(both, name)]
        if wrong:
            raise TacitaError(f"inequality is of numbers; {quoted(wrong)} are not measured numbers in both files.")
        return list(names)
    for names in (scenario_variables(scenario), compared_variables(both, scenario, None)):
        found = [name for name in names if name in both.released.columns and both_numeric(both, name)]
        if found:
            return found
    raise TacitaError("inequality is of numbers, and no variable holds measured numbers in both files.")


class _Side(NamedTuple):
    """The numbers of one file in their order, and the rows that they come from."""

    given: Sorted
    rows: Ints


def _two_sorted(both: Both, name: str) -> list[_Side]:
    found = []
    for values, weight in zip(both_numbers(both, name), both.weights, strict=True):
        shown = np.flatnonzero(~np.isnan(values))
        rows = shown[np.argsort(values[shown], kind="stable")]
        found.append(_Side(added_up(values[rows], weight[rows]), rows))
    return found


def _bootstrapped(
    files: dict[str, list[_Side]], units: list[Ints], line: float, replicates: int, draws: Draws, progress: Progress
) -> dict[str, Floats]:
    """By variable the figures of both files in each bootstrap sample: samples, files, statistics."""
    found = {name: np.zeros((replicates, 2, len(STATISTICS))) for name in files}
    progress(0.0, "comparing inequality")
    for draw in range(replicates):
        progress(draw / replicates, "drawing bootstrap samples")
        times = [times_drawn(draws, units[0], draw)]
        times.append(times[0] if np.array_equal(units[0], units[1]) else times_drawn(draws, units[1], draw))
        for name, sides in files.items():
            drawn = [
                added_up(side.given.values, side.given.weight * own[side.rows])
                for side, own in zip(sides, times, strict=True)
            ]
            anchor = poverty_line(drawn[0], line)
            found[name][draw] = [inequality(each, line, anchor) for each in drawn]
    return found


def _indicators(name: str, values: list[Floats], again: Floats, reach: float) -> list[Indicator]:
    """The figures of a variable, with intervals of the differences: so many standard errors to either side."""
    found = []
    for at, statistic in enumerate(STATISTICS):
        one, other = (float(each[at]) for each in values)
        low = high = error = NAN
        gaps = again[:, 1, at] - again[:, 0, at]
        if len(gaps) > 1 and not np.isnan(gaps).any():
            error = float(again[:, 0, at].std(ddof=1))
            spread = reach * float(gaps.std(ddof=1))
            low, high = other - one - spread, other - one + spread
        found.append(Indicator(name, statistic, one, other, other - one, low, high, error))
    return found
