"""Distances between the distributions of each variable before and after."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from tacita import frame
from tacita.arrays import Floats
from tacita.check import quoted
from tacita.data import Data
from tacita.loss.both_files import (
    Both,
    Variables,
    Weighted,
    both_files,
    both_numbers,
    both_numeric,
    compared_variables,
)
from tacita.loss.common_classes import class_weights, common_classes
from tacita.loss.measured import none_for_nan
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.result import Percent, Result, Table, number
from tacita.scenario import Scenario

Scale = Literal["sd", "range"]
NAN = math.nan


class ClassDistances(NamedTuple):
    """How far two distributions over the same classes are apart; each is 0 if they are equal, 1 if disjoint."""

    hellinger: float
    """sqrt(1/2 sum (sqrt p - sqrt q)^2)."""
    total_variation: float
    """1/2 sum |p - q|: the share of records that would have to change their class."""
    jensen_shannon: float
    """Square root of the Jensen-Shannon divergence to base 2."""


def class_distances(p: Floats, q: Floats) -> ClassDistances:
    """Distances of two vectors of shares.

    >>> class_distances(np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    ClassDistances(hellinger=0.0, total_variation=0.0, jensen_shannon=0.0)
    """
    hellinger = math.sqrt(0.5 * float(np.square(np.sqrt(p) - np.sqrt(q)).sum()))
    total = 0.5 * float(np.abs(p - q).sum())
    middle = (p + q) / 2.0
    divergence = 0.5 * float(_relative_entropy(p, middle) + _relative_entropy(q, middle))
    return ClassDistances(min(hellinger, 1.0), min(total, 1.0), math.sqrt(min(max(divergence, 0.0), 1.0)))


def _relative_entropy(p: Floats, q: Floats) -> float:
    here = p > 0
    return float((p[here] * np.log2(p[here] / q[here])).sum())


class NumberDistances(NamedTuple):
    """How far two distributions of numbers are apart."""

    kolmogorov_smirnov: float
    """The greatest difference of the shares up to a value: 0 the same, 1 disjoint and on either side of a value."""
    wasserstein: float
    """How far a record has to be moved on average, in the unit of the variable."""
    energy: float
    """The energy coefficient (2 E|X-Y| - E|X-X'| - E|Y-Y'|) / (2 E|X-Y|): 0 the same, 1 two different constants."""


def number_distances(x: Floats, x_weight: Floats, y: Floats, y_weight: Floats) -> NumberDistances:
    """Distances of two weighted samples without missing values, from their distribution functions.

    >>> number_distances(np.array([0.0, 1.0]), np.ones(2), np.array([0.0, 3.0]), np.ones(2)).wasserstein
    1.0
    """
    values = np.concatenate([x, y])
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    shares = []
    for sign, weight in ((0, x_weight), (1, y_weight)):
        own = np.zeros(len(values))
        own[len(x) * sign : len(x) * sign + len(weight)] = weight
        total = np.cumsum(own[order])
        shares.append(total / total[-1])
    # Between equal values there is no room; behind the last both are 1.
    last = np.flatnonzero(np.diff(ordered) > 0)
    width = ordered[last + 1] - ordered[last]
    f, g = shares[0][last], shares[1][last]
    gap = np.abs(f - g)
    apart = float((width * (f * (1 - g) + g * (1 - f))).sum())
    energy = float((width * gap * gap).sum()) / apart if apart > 0 else 0.0
    return NumberDistances(float(gap.max(initial=0.0)), float((width * gap).sum()), min(energy, 1.0))


class VariableDistance(NamedTuple):
    """One variable before and after; NaN where a distance is not defined for its kind."""

    variable: str
    kind: str
    """`categories` or `numbers`."""
    compared: str
    """On what: `values`, `classes of the release` (it was recoded) or `removed` (it is not in the release)."""
    loss: float
    """0 the same distribution, 1 nothing in common: Hellinger for categories, for numbers the greater of
    Kolmogorov-Smirnov and the change of the share of missing values."""
    hellinger: float = NAN
    total_variation: float = NAN
    jensen_shannon: float = NAN
    kolmogorov_smirnov: float = NAN
    wasserstein: float = NAN
    """In standard deviations of the original, or in shares of its range."""
    energy: float = NAN
    missing_before: float = NAN
    """Share of missing values."""
    missing_after: float = NAN


@dataclass(frozen=True, eq=False)
class DistributionLoss(Result):
    """How far the distribution of each variable is from what it was."""

    variables: tuple[VariableDistance, ...]
    """By variable."""
    scale: str
    """What Wasserstein distances are divided by: the original's `sd` or `range`."""
    weighted: bool
    """Whether records count by their weights."""
    cautions: tuple[str, ...]
    """What the reader should know."""

    @property
    def mean(self) -> float:
        """The mean loss of the variables: 0 all distributions are the same, 1 nothing is left of any."""
        return math.fsum(each.loss for each in self.variables) / len(self.variables)

    @property
    def greatest(self) -> VariableDistance:
        """The variable that lost most."""
        return max(self.variables, key=lambda each: each.loss)

    @property
    def headline(self) -> str:
        """The mean loss, and where it is greatest."""
        count = f"{len(self.variables):,} variable{'s' if len(self.variables) > 1 else ''}"
        return (
            f"distributions: loss {number(self.mean)} on average of {count} (0 the same distribution, 1 nothing in "
            f"common), greatest for {self.greatest.variable!r}: {number(self.greatest.loss)}"
        )

    def tables(self) -> tuple[Table, ...]:
        """The distances of categories, and those of numbers."""
        shares = ("missing before", "after")
        heads = ("loss", "Hellinger", "total variation", "Jensen-Shannon", *shares)
        categories = self._table("categories", heads, ("loss", "hellinger", "total_variation", "jensen_shannon"))
        unit = "sd" if self.scale == "sd" else "ranges"
        heads = ("loss", "Kolmogorov-Smirnov", f"Wasserstein, {unit}", "energy", *shares)
        numbers = self._table("numbers", heads, ("loss", "kolmogorov_smirnov", "wasserstein", "energy"))
        return tuple(table for table in (categories, numbers) if table.rows)

    def _table(self, kind: str, heads: tuple[str, ...], fields: tuple[str, ...]) -> Table:
        rows = tuple(
            (
                each.variable,
                *(getattr(each, field) for field in fields),
                *(Percent(share) for share in (each.missing_before, each.missing_after)),
            )
            for each in self.variables
            if each.kind == kind
        )
        return Table((kind, *heads), rows)

    def to_frame(self) -> frame.Frame:
        """One row per variable."""
        fields = VariableDistance._fields
        return frame.table({field: [getattr(each, field) for each in self.variables] for field in fields})

    def to_dict(self) -> dict[str, Any]:
        """The mean, and the distances by variable."""
        listed = [{name: none_for_nan(value) for name, value in each._asdict().items()} for each in self.variables]
        return {"mean": self.mean, "scale": self.scale, "weighted": self.weighted, "variables": listed}


@measure(
    files=2,
    called_for="comparison",
    kind="loss",
    by_key=True,
    limit=at_most("mean", "the mean loss of the distributions", moved_by=GENTLER),
    missing=own_rule("A missing value is a category of its own."),
)
def distribution_loss(
    original: Data,
    released: Data,
    scenario: Scenario,
    *,
    variables: Variables = None,
    weighted: Weighted = True,
    scale: Annotated[Scale, Doc("What Wasserstein distances are divided by: sd or range of the original.")] = "sd",
    progress: Progress = no_progress,
) -> DistributionLoss:
    """Distances between the distributions of each variable before and after, and their mean.

    Categories (missing is one): Hellinger, total variation, Jensen-Shannon. Numbers: Kolmogorov-Smirnov, Wasserstein
    and energy distance of the values shown, and the shares of missing values. A variable that was recoded is compared
    on the classes of the release; what the coarser classes cost is not in here.

    >>> import polars as pl
    >>> before, after = pl.DataFrame({"sex": ["f", "f", "m", "m"]}), pl.DataFrame({"sex": ["f", "f", "f", "m"]})
    >>> round(distribution_loss(before, after, Scenario(keys=["sex"])).variables[0].total_variation, 3)
    0.25
    """
    both = both_files(original, released, scenario, weighted=weighted)
    names, found = compared_variables(both, scenario, variables), []
    for at, name in enumerate(names):
        progress(at / len(names), "comparing distributions")
        found.append(_distance(both, name, scale))
    removed = [each.variable for each in found if each.compared == "removed"]
    recoded = [each.variable for each in found if each.compared == "classes of the release"]
    cautions = [*both.cautions]
    if removed:
        cautions.append(f"not in the release, and counted as lost: {quoted(removed)}.")
    if recoded:
        cautions.append(
            f"recoded, and compared on the classes of the release: {quoted(recoded)}; what coarser classes cost is not "
            f"in these figures."
        )
    return DistributionLoss(tuple(found), scale, both.weighted, tuple(cautions))


def _distance(both: Both, name: str, scale: str) -> VariableDistance:
    if name not in both.released.columns:
        kind = "numbers" if both.original.scale(name) == "numeric" else "categories"
        return VariableDistance(name, kind, "removed", 1.0)
    if both_numeric(both, name):
        return _numbers(both, name, scale)
    classes = common_classes(both, name)
    p, q = (
        class_weights(codes, weight, classes.size) for codes, weight in zip(classes.both, both.weights, strict=True)
    )
    distances = class_distances(p, q)
    compared = "classes of the release" if classes.recoded else "values"
    return VariableDistance(
        name,
        "categories",
        compared,
        distances.hellinger,
        *distances,
        missing_before=float(p[0]),
        missing_after=float(q[0]),
    )


def _numbers(both: Both, name: str, scale: str) -> VariableDistance:
    values = both_numbers(both, name)
    shown = [~np.isnan(each) for each in values]
    before, after = (
        float(weight[~here].sum() / weight.sum()) for weight, here in zip(both.weights, shown, strict=True)
    )
    x, y = (each[here] for each, here in zip(values, shown, strict=True))
    if not len(x) or not len(y):
        # Nothing to compare on one side: lost, unless there was nothing before.
        loss = 1.0 if len(x) != len(y) else 0.0
        return VariableDistance(name, "numbers", "values", loss, missing_before=before, missing_after=after)
    x_weight, y_weight = (weight[here] for weight, here in zip(both.weights, shown, strict=True))
    distances = number_distances(x, x_weight, y, y_weight)
    spread = weighted_sd(x, x_weight) if scale == "sd" else float(np.ptp(x))
    # Of a constant there is no unit: it is where it was, or nothing can be said.
    unit = spread if spread > 0 else (1.0 if distances.wasserstein == 0 else NAN)
    loss = max(distances.kolmogorov_smirnov, abs(after - before))
    return VariableDistance(
        name,
        "numbers",
        "values",
        loss,
        kolmogorov_smirnov=distances.kolmogorov_smirnov,
        wasserstein=distances.wasserstein / unit,
        energy=distances.energy,
        missing_before=before,
        missing_after=after,
    )


def weighted_sd(values: Floats, weight: Floats) -> float:
    """The standard deviation of a weighted sample, as that of a population of its weights.

    >>> weighted_sd(np.array([1.0, 5.0]), np.array([1.0, 1.0]))
    2.0
    """
    middle = values[0]
    total = weight.sum()
    mean = float((weight * (values - middle)).sum() / total)
    return math.sqrt(float((weight * np.square(values - middle - mean)).sum() / total))
