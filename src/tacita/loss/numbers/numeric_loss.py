"""Information loss of numbers: how far they were moved, and how far off what is estimated from them is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.loss.compared import Files, NumericVariables, Weighted, compared_files
from tacita.loss.numbers.matrices import Matrices, deviations, eigen_difference, matrices
from tacita.loss.numbers.statistics import STATISTICS, statistics
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.result import Percent, Result, Table, cell_text, percent
from tacita.scenario import Scenario

LISTED = ("mean", "median", "standard deviation", "quantile 0.05", "quantile 0.95", "total")
"""Statistics whose change is printed."""


def relative_changes(x: Floats, y: Floats) -> Floats:
    """|x - y| / |x|: what IL1 adds up; NaN where x is 0 or a value is missing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x == 0, np.nan, np.abs(x - y) / np.abs(x))


def scaled_changes(x: Floats, y: Floats) -> Floats:
    """|x - y| / (sqrt 2 s), s the standard deviation of the column: what IL1s adds up; NaN where it does not vary."""
    spread = np.full(x.shape[1], np.nan)
    for at, column in enumerate(x.T):
        shown = column[~np.isnan(column)]
        spread[at] = shown.std(ddof=1) if len(shown) > 1 and np.ptp(shown) > 0 else np.nan
    changes: Floats = np.abs(x - y) / (np.sqrt(2.0) * spread)
    return changes


def relative_distances(x: Floats, y: Floats) -> Floats:
    """|x - y| / (|x| + |y|), from 0 to 1; 0 where both are 0, NaN where one is missing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x == y, 0.0, np.abs(x - y) / (np.abs(x) + np.abs(y)))


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


@dataclass(frozen=True, eq=False)
class NumericLoss(Result):
    """How far released numbers are from the original ones, and what is estimated from them."""

    variables: tuple[str, ...]
    """The variables compared."""
    relative: Floats
    """By record and variable: |x - y| / |x|; NaN where x is 0 or a value is missing."""
    scaled: Floats
    """By record and variable: |x - y| / (sqrt 2 s)."""
    distance: Floats
    """By record and variable: |x - y| / (|x| + |y|), from 0 to 1."""
    before: Floats
    """By variable the `STATISTICS` of the original: values of the data among them."""
    after: Floats
    """The same of the release."""
    first: Matrices
    """Covariances and correlations of the original."""
    second: Matrices
    """Those of the release."""
    deviations: dict[str, float]
    """How far estimates are off, by their names."""
    eigen: float
    """sum |e - e'| / e of the eigenvalues of the correlation matrices."""
    robust_eigen: float | None
    """The same of robust covariances of scaled variables; None: not asked for."""
    gone: int
    """Cells with a value in the original and none in the release."""
    zeros: int
    """Cells of 0 in the original, which IL1 leaves out."""
    incomplete: int
    """Records that covariances leave out, since a value is missing."""
    weight: str | None
    """The weight that estimates count by."""
    cautions: tuple[str, ...] = ()
    """What the reader should know."""

    @property
    def relative_distance(self) -> float:
        """The mean of |x - y| / (|x| + |y|): 0 unchanged, 1 where every value turned its sign or came from or to 0."""
        return _mean(self.distance)

    @property
    def il1(self) -> float:
        """The mean of |x - y| / |x|; 0 unchanged, 1: off by as much as the values themselves."""
        return _mean(self.relative)

    @property
    def il1_sum(self) -> float:
        """The same as sdcMicro has it: the sum over all cells, in percent."""
        return float(100.0 * np.nansum(self.relative))

    @property
    def il1s(self) -> float:
        """The mean of |x - y| / (sqrt 2 s); 0 unchanged, 1: as far as two records drawn at random, in squares."""
        return _mean(self.scaled)

    @property
    def il1s_sum(self) -> float:
        """The same as sdcMicro has it: the sum over all cells."""
        return float(np.nansum(self.scaled))

    @property
    def headline(self) -> str:
        """The mean relative distance."""
        return (
            f"numbers of {check.counted(len(self.variables), 'variable')} lose {percent(self.relative_distance)} "
            f"(mean of |x - y| / (|x| + |y|); 0 %: every number as it was; 100 %: every one turned its sign or came "
            f"from or to 0)"
        )

    def sentences(self) -> list[str]:
        """IL1, IL1s, eigenvalues; what could not be compared."""
        said = [
            f"IL1 {cell_text(self.il1)} (0: unchanged, 1: off by as much as the numbers themselves), IL1s "
            f"{cell_text(self.il1s)} (0: unchanged, 1: off by 1.41 standard deviations), eigenvalues of the "
            f"correlation matrix off by {cell_text(self.eigen)} in all (0: unchanged)"
        ]
        if self.robust_eigen is not None:
            said.append(
                f"eigenvalues of the robust covariance off by {cell_text(self.robust_eigen)} in all (0: unchanged)"
            )
        left = ((self.gone, "suppressed cell"), (self.zeros, "original zero"), (self.incomplete, "incomplete record"))
        listed = [check.counted(count, noun) for count, noun in left if count]
        return [*said, *([f"left out where there is nothing to compare: {', '.join(listed)}"] if listed else [])]

    def tables(self) -> tuple[Table, ...]:
        """By variable how far numbers and estimates are off, in relation to the original; then sixteen deviations."""
        change = self.relative_difference()
        columns = [STATISTICS.index(name) for name in LISTED]
        rows = tuple(
            (name, self.by_variable[name]["il1s"], *(_share(change[at, column]) for column in columns))
            for at, name in enumerate(self.variables)
        )
        kinds = tuple((name, _share(value)) for name, value in self.deviations.items())
        return (
            Table(("variable", "IL1s", *LISTED), rows, title="Estimates off by, in percent of the original"),
            Table(("estimates", "off by"), kinds, title="On average over variables, relative to the original"),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Weights."""
        return (f"estimates count by {self.weight}",) if self.weight else ()

    @property
    def by_variable(self) -> dict[str, dict[str, float]]:
        """By variable: IL1, IL1s and mean relative distance."""
        parts = zip(self.variables, self.relative.T, self.scaled.T, self.distance.T, strict=True)
        return {
            name: {"il1": _mean(one), "il1s": _mean(two), "relative_distance": _mean(three)}
            for name, one, two, three in parts
        }

    def relative_difference(self) -> Floats:
        """By variable and statistic: (after - before) / |before|; NaN where that was 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.before == 0, np.nan, (self.after - self.before) / np.abs(self.before))

    def estimates_before_and_after(self) -> frame.Frame:
        """One row per variable and statistic, before and after: least and greatest values of the data among them."""
        p, many = self.before.shape
        return frame.table(
            {
                "variable": [name for name in self.variables for _ in range(many)],
                "statistic": list(STATISTICS) * p,
                "before": self.before.ravel(),
                "after": self.after.ravel(),
                "relative_difference": self.relative_difference().ravel(),
            }
        )

    def pairs(self) -> frame.Frame:
        """One row per pair of variables: covariance, correlations and robust correlation, before and after."""
        names = self.variables
        where = list(combinations(range(len(names)), 2))
        columns: dict[str, Any] = {"variable": [names[i] for i, _ in where], "other": [names[j] for _, j in where]}
        i, j = np.array(where, dtype=np.int64).reshape(-1, 2).T
        for when, each in (("before", self.first), ("after", self.second)):
            for kind, matrix in each._asdict().items():
                if matrix is not None:
                    columns[f"{kind}_{when}"] = matrix[i, j]
        return frame.table(columns)

    def to_frame(self) -> frame.Frame:
        """One row per variable: IL1, IL1s, relative distance, and by how much estimates are off; no values."""
        change = self.relative_difference()
        columns: dict[str, Any] = {"variable": list(self.variables)}
        for kind in ("il1", "il1s", "relative_distance"):
            columns[kind] = np.array([each[kind] for each in self.by_variable.values()])
        columns |= {name.replace(" ", "_"): change[:, at] for at, name in enumerate(STATISTICS)}
        return frame.table(columns)

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file."""
        return {
            "relative_distance": _known(self.relative_distance),
            "il1": _known(self.il1),
            "il1s": _known(self.il1s),
            "il1_sum": self.il1_sum,
            "il1s_sum": self.il1s_sum,
            "eigen": _known(self.eigen),
            "robust_eigen": None if self.robust_eigen is None else _known(self.robust_eigen),
            "deviations": {name: _known(value) for name, value in self.deviations.items()},
            "by_variable": {
                name: {kind: _known(value) for kind, value in each.items()} for name, each in self.by_variable.items()
            },
        }


def _share(value: float) -> Percent | str:
    return Percent(value) if np.isfinite(value) else "-"


@measure(
    files=2,
    called_for="comparison",
    kind="loss",
    limit=at_most("relative_distance", "the mean relative distance", moved_by=GENTLER),
    missing=own_rule("A cell that is missing in either file is left out; covariances take complete records."),
)
def numeric_loss(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    variables: NumericVariables = None,
    robust: Annotated[
        bool, Doc("Robust covariances too, by the minimum covariance determinant: seconds more.")
    ] = False,
    seed: Annotated[int, Doc("Draws the starts of the robust covariance.")] = 1,
    weighted: Weighted = True,
    progress: Progress = no_progress,
) -> NumericLoss:
    """How far released numbers are from the original ones, and what is estimated from them.

    IL1 is the mean over cells of |x - y|/|x| (original zeros left out and counted), IL1s that of |x - y|/(sqrt 2 s),
    the mean relative distance that of |x - y|/(|x| + |y|), which is bounded. Eigenvalues are compared by sum
    |e - e'|/e. By variable means, quantiles, spreads and totals before and after; by pair covariances and correlations;
    and in sixteen figures how far estimates are off on average, with weights where the scenario names one.

    References: Yancey, Winkler and Creecy (2002), Disclosure risk assessment in perturbative microdata protection;
    Templ (2008), Statistical disclosure control for microdata using the R package sdcMicro.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"sales": [100.0, 200.0, 300.0, 400.0]})
    >>> noisy = pl.DataFrame({"sales": [110.0, 190.0, 300.0, 400.0]})
    >>> found = numeric_loss(firms, noisy, Scenario(numeric_keys=["sales"]))
    >>> round(found.il1, 4), found.deviations["means"]
    (0.0375, 0.0)
    """
    files = compared_files(original, released, scenario, weighted=weighted)
    progress(0.0, "reading numbers")
    names, x, y = files.numbers(variables, "numeric_loss")
    before, after = (
        np.array([statistics(column, weights) for column in values.T])
        for values, weights in ((x, files.weights), (y, files.released_weights))
    )
    progress(0.3, "comparing correlations")
    kept = ~(np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1))
    if not kept.any():
        raise TacitaError("no record shows all variables in both files; name fewer in variables=[...].")
    first, second = _both_matrices(files, x[kept], y[kept], kept, check.whole("seed", seed) if robust else None)
    return NumericLoss(
        variables=names,
        relative=relative_changes(x, y),
        scaled=scaled_changes(x, y),
        distance=relative_distances(x, y),
        before=before,
        after=after,
        first=first,
        second=second,
        deviations=deviations(before, after, STATISTICS, first, second),
        eigen=eigen_difference(first.correlation, second.correlation),
        robust_eigen=_robust_eigen(x[kept], y[kept], first, second),
        gone=int((~np.isnan(x) & np.isnan(y)).sum()),
        zeros=int((x == 0).sum()),
        incomplete=int((~kept).sum()),
        weight=None if files.weights is None else files.scenario.weight,
        cautions=files.cautions,
    )


def _both_matrices(files: Files, x: Floats, y: Floats, kept: Any, seed: int | None) -> tuple[Matrices, Matrices]:
    """The matrices of both files, of the records that show all variables."""
    record = files.original.record[kept]
    first, second = (
        matrices(values, None if weights is None else weights[kept], seed, record)
        for values, weights in ((x, files.weights), (y, files.released_weights))
    )
    return first, second


def _robust_eigen(x: Floats, y: Floats, first: Matrices, second: Matrices) -> float | None:
    """The difference of the eigenvalues of the robust covariances, each file in standard deviations of its own."""
    if first.robust is None or second.robust is None:
        return None
    scaled = []
    for values, matrix in ((x, first.robust), (y, second.robust)):
        spread = values.std(axis=0, ddof=1)
        scaled.append(matrix / np.outer(spread, spread))
    return eigen_difference(*scaled)
