"""Estimates of a survey before and after, with their standard errors: means, totals, shares, quantiles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError, quoted
from tacita.data import Data
from tacita.keys.source import combined
from tacita.loss.both_files import Both, Variables, Weighted, both_files, both_numbers, both_numeric, compared_variables
from tacita.loss.common_classes import common_classes
from tacita.loss.estimates.survey_design import (
    Clusters,
    Design,
    ReplicateFactor,
    ReplicateMethod,
    ReplicateWeights,
    Strata,
    designs,
)
from tacita.loss.estimates.survey_estimates import mean, quantiles, shares, total
from tacita.loss.measured import Measured, compared, mean_overlap, none_for_nan, normal_quantile
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import Doc, Share
from tacita.progress import Progress, no_progress
from tacita.result import Percent, Result, Table, number
from tacita.scenario import Scenario

NAN = math.nan
STATISTICS = ("mean", "total", "share", "quantile")
QUANTILES = (0.25, 0.5, 0.75)


class Estimate(NamedTuple):
    """One estimate before and after; NaN where the file does not give it."""

    variable: str
    statistic: str
    """`mean`, `total`, `share`, or `quantile 0.5`."""
    category: int | None
    """Of a share: the place of the category among the classes of the variable, 0 for missing."""
    domain: int | None
    """The place of the domain; None: the whole file."""
    before: float
    after: float
    error_before: float
    """Standard error."""
    error_after: float
    relative: float
    """(after - before) / |before|."""
    standardised: float
    """(after - before) / standard error before: an analyst notices what is above 1 or 2."""
    overlap: float
    """Of the confidence intervals (Karr 2006): 1 the same, 0 they touch, below 0 they are apart."""
    error_ratio: float
    """Standard error after over before."""


@dataclass(frozen=True, eq=False)
class EstimateLoss(Result):
    """How far estimates and their standard errors are from what they were."""

    estimates: tuple[Estimate, ...]
    """By variable, statistic, domain and category."""
    values: dict[str, tuple[Any, ...]]
    """By variable what its classes stand for, that of missing left out."""
    domains: tuple[str, ...]
    """The variables that make domains."""
    confidence: float
    """Of the intervals."""
    cautions: tuple[str, ...]
    """What the reader should know."""

    @property
    def overlap(self) -> float:
        """The mean overlap of the confidence intervals: 1 the same, 0 they touch on average."""
        return mean_overlap(each.overlap for each in self.estimates)

    @property
    def loss(self) -> float:
        """1 less the mean overlap: 0 all intervals are as they were, 1 they only touch."""
        return 1.0 - self.overlap

    @property
    def lost(self) -> int:
        """Estimates that the original gives and the release does not."""
        return sum(math.isnan(each.after) and not math.isnan(each.before) for each in self.estimates)

    @property
    def headline(self) -> str:
        """The mean overlap, and estimates outside their old intervals."""
        count = f"{len(self.estimates):,} estimate{'s' if len(self.estimates) > 1 else ''}"
        if math.isnan(self.overlap):
            return f"{count}: no confidence interval in both files, so there are none to compare"
        apart = sum(each.overlap <= 0 for each in self.estimates)
        return (
            f"{count}: confidence intervals before and after overlap by {number(self.overlap)} on average (1 the same "
            f"interval, 0 they only touch); {apart:,} do not overlap"
        )

    def sentences(self) -> tuple[str, ...]:
        """Estimates that are gone."""
        if not self.lost:
            return ()
        return (f"{check.counted(self.lost, 'estimate')} of the original cannot be had from the release.",)

    def tables(self) -> tuple[Table, ...]:
        """By variable and statistic: how far estimates are off."""
        groups: dict[tuple[str, str], list[Estimate]] = {}
        for each in self.estimates:
            groups.setdefault((each.variable, each.statistic), []).append(each)
        heads = ("variable", "statistic", "estimates", "mean overlap", "least", "off by", "in errors", "error ratio")
        rows = tuple((*names, len(group), *_summary(group)) for names, group in groups.items())
        return (Table(heads, rows),)

    def to_frame(self, *, values: bool = False) -> frame.Frame:
        """One row per estimate; with `values` the categories that shares are of, which are cells of the data."""
        rows = frame.table(
            {name: [getattr(each, name) for each in self.estimates] for name in Estimate._fields if name not in _PLACES}
            | {name: frame.whole_numbers(_floats(self.estimates, name)) for name in _PLACES}
        )
        return rows.with_columns(frame.table({"value": self._categories()})) if values else rows

    def _categories(self) -> list[str | None]:
        return [
            str(self.values[each.variable][each.category - 1]) if each.category else None for each in self.estimates
        ]

    def to_dict(self) -> dict[str, Any]:
        """The mean overlap, and how far estimates are off, without the estimates themselves."""
        fields = ("variable", "statistic", "category", "domain", "relative", "standardised", "overlap", "error_ratio")
        listed = [{name: none_for_nan(getattr(each, name)) for name in fields} for each in self.estimates]
        return {
            "overlap": none_for_nan(self.overlap),
            "lost": self.lost,
            "confidence": self.confidence,
            "estimates": listed,
        }


_PLACES = ("category", "domain")


def _floats(estimates: tuple[Estimate, ...], name: str) -> Floats:
    return np.array([NAN if getattr(each, name) is None else getattr(each, name) for each in estimates])


def _summary(group: list[Estimate]) -> tuple[Any, ...]:
    overlaps = [each.overlap for each in group if not math.isnan(each.overlap)]
    off = [abs(each.relative) for each in group if not math.isnan(each.relative)]
    standardised = [abs(each.standardised) for each in group if not math.isnan(each.standardised)]
    errors = [each.error_ratio for each in group]
    return (
        mean_overlap(overlaps),
        min(overlaps, default=NAN),
        Percent(mean_overlap(off)),
        mean_overlap(standardised),
        mean_overlap(errors),
    )


@measure(
    files=2,
    called_for="comparison",
    kind="loss",
    limit=at_most("loss", "1 less the mean overlap of confidence intervals", moved_by=GENTLER),
    missing=own_rule("A missing category is one of its own; missing numbers are left out."),
)
def estimate_loss(
    original: Data,
    released: Data,
    scenario: Scenario,
    *,
    variables: Variables = None,
    by: Annotated[Any, Doc("Variables whose classes, crossed, are domains to estimate in; none unless given.")] = None,
    statistics: Annotated[Any, Doc("Some of mean, total, share and quantile; all but total unless given.")] = None,
    quantiles: Annotated[Any, Doc("Which quantiles; quartiles unless given.")] = None,
    weighted: Weighted = True,
    strata: Strata = None,
    clusters: Clusters = None,
    replicate_weights: ReplicateWeights = None,
    replicate_method: ReplicateMethod = "bootstrap",
    replicate_factor: ReplicateFactor = None,
    confidence: Annotated[float, Share(zero=False, one=False), Doc("Of the intervals.")] = 0.95,
    progress: Progress = no_progress,
) -> EstimateLoss:
    """Means, totals, shares and quantiles before and after, with standard errors under the sampling design.

    Errors by linearisation between primary sampling units within strata (with replacement), for quantiles by Woodruff's
    method, or from replicate weights. For each estimate the relative difference, the difference in standard errors, the
    overlap of the confidence intervals and the ratio of the standard errors. Recoded variables: shares of the classes
    of the release.

    >>> import polars as pl
    >>> before = pl.DataFrame({"sex": ["f", "m"] * 8, "income": [float(value) for value in range(16)]})
    >>> after = before.with_columns(pl.col("income") + 1)
    >>> found = estimate_loss(before, after, Scenario(keys=["sex"]), variables=["income"], statistics=["mean"])
    >>> round(found.estimates[0].standardised, 3)
    0.84
    """
    wanted = _statistics(statistics)
    levels = _levels(quantiles)
    both = both_files(original, released, scenario, weighted=weighted)
    names = compared_variables(both, scenario, variables)
    kept = [name for name in names if name in both.released.columns]
    if not kept:
        raise TacitaError(f"no variable can be estimated from the release: it lacks {quoted(names)}.")
    plan = designs(both, scenario, strata, clusters, replicate_weights, replicate_method, replicate_factor)
    domains = _domains(both, check.names("by", by))
    task = _Task(both, plan[:2], domains, wanted, levels, normal_quantile(confidence))
    found: list[Estimate] = []
    labels: dict[str, tuple[Any, ...]] = {}
    for at, name in enumerate(kept):
        progress(at / len(kept), "comparing estimates")
        found += _of_numbers(task, name) if both_numeric(both, name) else _of_categories(task, name, labels)
    if not found:
        raise TacitaError("there is nothing to estimate: shares are of categories, the other statistics of numbers.")
    cautions = (*both.cautions, *plan[2])
    if len(kept) < len(names):
        cautions += (f"not in the release: {quoted(name for name in names if name not in kept)}.",)
    return EstimateLoss(tuple(found), labels, check.names("by", by), confidence, cautions)


class _Task(NamedTuple):
    """What is estimated, from what."""

    both: Both
    designs: tuple[Design, Design]
    domains: list[tuple[int | None, tuple[Ints, Ints]]]
    """By domain its place and its rows in both files."""
    statistics: tuple[str, ...]
    quantiles: tuple[float, ...]
    reach: float
    """Of a confidence interval, in standard errors."""


def _of_numbers(task: _Task, name: str) -> Iterator[Estimate]:
    values = both_numbers(task.both, name)
    for place, rows in task.domains:
        sides = [_estimates_of_numbers(task, *each) for each in zip(task.designs, rows, values, strict=True)]
        for (statistic, one), (_, other) in zip(*sides, strict=True):
            yield Estimate(name, statistic, None, place, *compared(one, other))


def _estimates_of_numbers(task: _Task, design: Design, rows: Ints, values: Floats) -> list[tuple[str, Measured]]:
    shown = rows[~np.isnan(values[rows])]
    own = values[shown]
    found = []
    if "mean" in task.statistics:
        found.append(("mean", mean(design, shown, own, task.reach)))
    if "total" in task.statistics:
        found.append(("total", total(design, shown, own, task.reach)))
    if "quantile" in task.statistics:
        measured = quantiles(design, shown, own, task.quantiles, task.reach)
        found += [(f"quantile {share:g}", each) for share, each in zip(task.quantiles, measured, strict=True)]
    return found


def _of_categories(task: _Task, name: str, labels: dict[str, tuple[Any, ...]]) -> Iterator[Estimate]:
    if "share" not in task.statistics:
        return
    classes = common_classes(task.both, name)
    labels[name] = classes.values
    for place, rows in task.domains:
        sides = [
            shares(design, own, codes[own], classes.size, task.reach)
            for design, own, codes in zip(task.designs, rows, classes.both, strict=True)
        ]
        for category, (one, other) in enumerate(zip(*sides, strict=True)):
            if one.value or other.value:
                yield Estimate(name, "share", category, place, *compared(one, other))


def _domains(both: Both, by: tuple[str, ...]) -> list[tuple[int | None, tuple[Ints, Ints]]]:
    """The rows of each domain in both files."""
    if not by:
        return [(None, (np.arange(len(both.original)), np.arange(len(both.released))))]
    for data, what in ((both.original, "original"), (both.released, "released")):
        check.columns_exist(f"by: variables of the {what} file", by, data.columns)
    classes = [common_classes(both, name) for name in by]
    columns = [np.concatenate(each.both) for each in classes]
    codes = combined(columns, [each.size for each in classes], len(columns[0]))
    different, place = np.unique(codes, return_inverse=True)
    first = len(both.original)
    order = [np.argsort(part, kind="stable") for part in (place[:first], place[first:])]
    ends = [
        np.cumsum(np.bincount(part, minlength=len(different)))[:-1].tolist() for part in (place[:first], place[first:])
    ]
    rows = [np.split(each, cuts) for each, cuts in zip(order, ends, strict=True)]
    return [(at + 1, pair) for at, pair in enumerate(zip(*rows, strict=True))]


def _statistics(given: Any) -> tuple[str, ...]:
    if given is None:
        return ("mean", "share", "quantile")
    return tuple(check.one_of("statistics", name, STATISTICS) for name in check.names("statistics", given))


def _levels(given: Any) -> tuple[float, ...]:
    if given is None:
        return QUANTILES
    listed = given if isinstance(given, list | tuple) else [given]
    levels = tuple(check.share("quantiles", each, zero=False, one=False) for each in listed)
    if not levels:
        raise TacitaError("quantiles must be at least one share, as [0.5].")
    return levels
