"""The user's own statistic before and after: a function of a table, or a regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.formula import Regression, parse_regression
from tacita.loss.both_files import Both, Weighted, both_files, both_numeric
from tacita.loss.estimates.own_statistic import bootstrapped, figures_of, shows_values, table_in_order
from tacita.loss.estimates.regression import Errors, Kind, regressed
from tacita.loss.estimates.regression_terms import Terms, complete_rows, design_matrix, response, terms_of
from tacita.loss.estimates.resampling import Seed, cluster_names, sampling_units
from tacita.loss.estimates.survey_design import (
    Clusters,
    ReplicateFactor,
    ReplicateMethod,
    ReplicateWeights,
    Strata,
    designs,
)
from tacita.loss.measured import Measured, around, compared, mean_overlap, none_for_nan, normal_quantile
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc, Share
from tacita.progress import Progress, no_progress
from tacita.random import Draws
from tacita.result import Percent, Result, Table, number
from tacita.scenario import Scenario

NAN = math.nan
SHOWN = 25
"""Figures that are printed."""


class Figure(NamedTuple):
    """One figure of a statistic before and after; NaN where a file does not give it."""

    name: str
    """What it is, categories by their place."""
    value_name: str
    """The same with the categories themselves."""
    before: float
    after: float
    error_before: float
    error_after: float
    relative: float
    """(after - before) / |before|."""
    standardised: float
    """(after - before) / standard error before."""
    overlap: float
    """Of the confidence intervals (Karr 2006): 1 the same, 0 they touch, below 0 they are apart."""
    error_ratio: float

    @property
    def sign_changed(self) -> bool:
        """Whether it has the other sign."""
        return self.before * self.after < 0

    def significance_changed(self, reach: float) -> bool:
        """Whether it differs from 0 in one file only, at so many standard errors."""
        if math.isnan(self.error_before + self.error_after):
            return False
        before, after = self.before, self.after
        return (abs(before) > reach * self.error_before) != (abs(after) > reach * self.error_after)


@dataclass(frozen=True, eq=False)
class StatisticLoss(Result):
    """How far the user's own statistic is from what it was."""

    what: str
    """`the statistic`, or the formula."""
    figures_compared: tuple[Figure, ...]
    """By figure or coefficient."""
    records: tuple[int, int]
    """How many records of either file count."""
    confidence: float
    """Of the intervals."""
    cautions: tuple[str, ...]
    """What the reader should know."""

    @property
    def overlap(self) -> float:
        """The mean overlap of the confidence intervals; NaN without standard errors."""
        return mean_overlap(each.overlap for each in self.figures_compared)

    @property
    def off(self) -> float:
        """The mean absolute relative difference."""
        return mean_overlap(abs(each.relative) for each in self.figures_compared)

    @property
    def loss(self) -> float:
        """1 less the mean overlap: 0 all intervals are as they were, 1 they only touch; without standard errors the
        mean relative difference."""
        return self.off if math.isnan(self.overlap) else 1.0 - self.overlap

    @property
    def signs_changed(self) -> int:
        """Figures with the other sign."""
        return sum(each.sign_changed for each in self.figures_compared)

    @property
    def significance_changed(self) -> int:
        """Figures that differ from 0 in one of the files only."""
        reach = normal_quantile(self.confidence)
        return sum(each.significance_changed(reach) for each in self.figures_compared)

    @property
    def lost(self) -> int:
        """Figures of the original that the release does not give."""
        return sum(math.isnan(each.after) and not math.isnan(each.before) for each in self.figures_compared)

    @property
    def headline(self) -> str:
        """The mean overlap, or the relative difference."""
        count = check.counted(len(self.figures_compared), "figure")
        if not math.isnan(self.overlap):
            return (
                f"{self.what}: confidence intervals of {count} overlap by {number(self.overlap)} on average (1 the "
                f"same interval, 0 they only touch)"
            )
        if math.isnan(self.off):
            return f"{self.what}: none of {count} can be compared"
        return f"{self.what}: {count}, off by {number(100 * self.off)} % on average (0 as before)"

    def sentences(self) -> tuple[str, ...]:
        """Signs and significance that changed, and figures that are gone."""
        parts = [f"{self.signs_changed:,} changed their sign"]
        if not math.isnan(self.overlap):
            parts.append(f"{self.significance_changed:,} their significance at {100 * (1 - self.confidence):g} %")
        if self.lost:
            parts.append(f"{self.lost:,} cannot be had from the release")
        return (f"Of {check.counted(len(self.figures_compared), 'figure')} {', '.join(parts)}.",)

    def tables(self) -> tuple[Table, ...]:
        """How far each is off; the figures themselves are in `to_frame()`."""
        heads = ("figure", "off by", "in errors", "overlap", "error ratio", "sign changed")
        rows = tuple(
            (
                each.name,
                Percent(each.relative) if not math.isnan(each.relative) else NAN,
                each.standardised,
                each.overlap,
                each.error_ratio,
                each.sign_changed,
            )
            for each in self.figures_compared[:SHOWN]
        )
        return (Table(heads, rows),)

    def to_frame(self, *, values: bool = False) -> frame.Frame:
        """One row per figure; with `values` the categories in their names, which are cells of the data."""
        fields = [name for name in Figure._fields if name != "value_name"]
        rows = {name: [getattr(each, name) for each in self.figures_compared] for name in fields}
        rows["sign_changed"] = [each.sign_changed for each in self.figures_compared]
        if values:
            rows["name"] = [each.value_name for each in self.figures_compared]
        return frame.table(rows)

    def to_dict(self) -> dict[str, Any]:
        """Overlap and differences, without the figures themselves."""
        fields = ("name", "relative", "standardised", "overlap", "error_ratio", "sign_changed")
        listed = [{name: none_for_nan(getattr(each, name)) for name in fields} for each in self.figures_compared]
        return {
            "what": self.what,
            "records": list(self.records),
            "overlap": none_for_nan(self.overlap),
            "signs_changed": self.signs_changed,
            "significance_changed": self.significance_changed,
            "lost": self.lost,
            "figures": listed,
        }


@measure(
    files=2,
    kind="loss",
    limit=at_most("loss", "1 less the mean overlap, or the mean relative difference,", moved_by=GENTLER),
    missing=own_rule("A regression leaves out records with a missing value."),
)
def statistic_loss(
    original: Data,
    released: Data,
    scenario: Scenario,
    *,
    statistic: Annotated[Any, Doc("Any function of a table: it returns a number, a mapping or an array.")] = None,
    formula: Annotated[str | None, Doc("A regression, as 'income ~ age + C(sex)'.")] = None,
    model: Annotated[Kind, Doc("How the regression is fitted.")] = "least_squares",
    errors: Annotated[Errors, Doc("Of the regression: by the sampling design (robust), or classical.")] = "design",
    weighted: Weighted = True,
    strata: Strata = None,
    clusters: Clusters = None,
    replicate_weights: ReplicateWeights = None,
    replicate_method: ReplicateMethod = "bootstrap",
    replicate_factor: ReplicateFactor = None,
    replicates: Annotated[int, AtLeast(0), Doc("Bootstrap samples for errors of a function, as 100.")] = 0,
    seed: Seed = 1,
    confidence: Annotated[float, Share(zero=False, one=False), Doc("Of the intervals.")] = 0.95,
    progress: Progress = no_progress,
) -> StatisticLoss:
    """The user's own statistic before and after, with the overlap of the confidence intervals.

    `statistic` is any function of a table, which it gets in the kind that was passed in; its errors come from a
    bootstrap over records or clusters on request. `formula` is a regression: numbers, C(x) for categories, a:b and a*b
    for interactions; its coefficients are compared one by one. With neither, the first numeric variable of the scenario
    is explained by its first keys.

    Reference: Karr, Kohnen, Oganian, Reiter and Sanil (2006) for the overlap.

    >>> import polars as pl
    >>> before = pl.DataFrame({"age": [20, 30, 40, 50], "income": [2.0, 3.0, 4.5, 5.0]})
    >>> after = before.with_columns(income=pl.Series([2.0, 3.5, 4.0, 5.0]))
    >>> found = statistic_loss(before, after, Scenario(keys=["age"]), formula="income ~ age")
    >>> round(found.figures_compared[1].relative, 3)
    -0.095
    """
    if statistic is not None and not callable(statistic):
        raise TacitaError("statistic must be a function of a table; without one, give a regression by formula=....")
    if statistic is not None and (formula, strata, replicate_weights, replicate_factor) != (None,) * 4:
        raise TacitaError(
            "a statistic takes no formula, strata or replicate weights; it has errors by bootstrap with replicates=100."
        )
    both = both_files(original, released, scenario, weighted=weighted)
    if statistic is not None:
        units = cluster_names(both.original, clusters, scenario.household)
        task = _Bootstrap(replicates, units, Draws(seed).step("statistic"), confidence)
        return _of_function(both, (table_in_order(original), table_in_order(released)), statistic, task, progress)
    progress(0.1, "fitting the regression")
    named = _usual_regression(both, scenario) if formula is None else parse_regression(formula)
    text = _shown(named) if formula is None else formula
    terms = terms_of(both, named)
    plan = designs(both, scenario, strata, clusters, replicate_weights, replicate_method, replicate_factor)
    return _of_regression(both, text, terms, plan, model, errors, confidence)


class _Bootstrap(NamedTuple):
    """How standard errors of a function are had."""

    replicates: int
    units: tuple[str, ...]
    draws: Draws
    confidence: float


def _of_function(
    both: Both, tables: tuple[Any, Any], statistic: Any, task: _Bootstrap, progress: Progress
) -> StatisticLoss:
    before, after = (
        figures_of(statistic, frame.independent_copy(table), what)
        for table, what in zip(tables, ("original", "released"), strict=True)
    )
    names = list(dict.fromkeys([*before, *after]))
    again = bootstrapped(
        statistic,
        tables,
        [sampling_units(data, task.units) for data in both.files],
        names,
        task.replicates,
        task.draws,
        progress,
    )
    progress(1.0, "comparing figures")
    errors = again.std(axis=0, ddof=1) if task.replicates > 1 else np.full((2, len(names)), NAN)
    shown = [f"figure {at + 1}" for at in range(len(names))]
    if not any(shows_values(names, data) for data in both.files):
        shown = names
    reach = normal_quantile(task.confidence)
    figures = tuple(
        Figure(label, name, *compared(*(_around(side.get(name, NAN), own, reach) for side, own in pair)))
        for at, (label, name) in enumerate(zip(shown, names, strict=True))
        for pair in [list(zip((before, after), errors[:, at].tolist(), strict=True))]
    )
    sizes = len(both.original), len(both.released)
    return StatisticLoss("the statistic", figures, sizes, task.confidence, both.cautions)


def _around(value: float, error: float, reach: float) -> Measured:
    return around(value, error * error, reach)


def _of_regression(
    both: Both, text: str, terms: Terms, plan: Any, model: Kind, errors: Errors, confidence: float
) -> StatisticLoss:
    reach = normal_quantile(confidence)
    sides: list[list[Measured]] = []
    sizes: list[int] = []
    for file, design in enumerate(plan[:2]):
        rows = complete_rows(terms, file)
        x = design_matrix(terms, file, rows)
        y = response(terms, file, rows, model == "logistic")
        if not len(rows):
            what = ("original", "released")[file]
            raise TacitaError(f"no record of the {what} file shows all variables of the regression; name others.")
        found = regressed(x, y, rows, design, model, errors)
        pairs = zip(found.coefficients.tolist(), found.variances.tolist(), strict=True)
        sides.append([around(value, variance, reach) for value, variance in pairs])
        sizes.append(len(rows))
    figures = tuple(
        Figure(column.label, column.value_label, *compared(*pair))
        for column, pair in zip(terms.columns, zip(*sides, strict=True), strict=True)
    )
    cautions = [*both.cautions, *plan[2]]
    recoded = [name for name, factor in terms.factors.items() if factor.recoded]
    if recoded:
        cautions.append(f"recoded, and in the regression by the classes of the release: {check.quoted(recoded)}.")
    return StatisticLoss(text, figures, (sizes[0], sizes[1]), confidence, tuple(cautions))


def _usual_regression(both: Both, scenario: Scenario) -> Regression:
    """The first numeric variable of the scenario, or of the file, explained by the first three keys."""
    names = [*scenario.numeric_keys, *scenario.sensitive, *scenario.all_keys, *both.original.columns]
    single = {scenario.weight, scenario.household, scenario.person, *scenario.identifiers}
    there = [name for name in dict.fromkeys(names) if name in both.released.columns and name not in single]
    numeric = [name for name in there if both_numeric(both, name)]
    if not numeric:
        raise TacitaError("no variable holds measured numbers in both files; give a statistic=... or a formula=....")
    keys = dict.fromkeys([*scenario.all_keys, *scenario.numeric_keys])
    chosen = [name for name in keys if name != numeric[0] and name in both.released.columns][:3]
    categories = frozenset(name for name in chosen if not both_numeric(both, name))
    return Regression(numeric[0], tuple(frozenset([name]) for name in chosen), categories, True)


def _shown(regression: Regression) -> str:
    """A regression of single variables as text."""
    names = [name for term in regression.terms for name in term]
    parts = [f"C({name})" if name in regression.categorical else name for name in names]
    return f"{regression.response} ~ {' + '.join(parts) or '1'}"
