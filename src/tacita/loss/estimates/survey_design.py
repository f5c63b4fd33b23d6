"""The sampling design that standard errors rest on: weights, strata, clusters, or replicate weights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError, quoted
from tacita.data import Data
from tacita.keys.source import combined
from tacita.loss.both_files import Both
from tacita.parameters import Above, Doc
from tacita.scenario import Scenario

Method = Literal["brr", "bootstrap", "jackknife"]
Strata = Annotated[Any, Doc("Strata of the sampling design; the scenario's unless given, [] for none.")]
Clusters = Annotated[Any, Doc("Primary sampling units; the scenario's households unless given, [] for records.")]
ReplicateWeights = Annotated[Any, Doc("Columns of replicate weights: names, or a pattern as 'rw*'.")]
ReplicateMethod = Annotated[Method, Doc("How they were made: the factor is 1/R, with jackknife (R-1)/R.")]
ReplicateFactor = Annotated[float | None, Above(0), Doc("The factor of the squared differences, if another one.")]


@dataclass(frozen=True, eq=False)
class Design:
    """How the records of a file were sampled."""

    weight: Floats
    """By record."""
    cluster: Ints
    """By record its primary sampling unit."""
    stratum: Ints
    """By unit its stratum."""
    size: Floats
    """By stratum how many units it has."""
    replicates: Floats | None = None
    """Replicate weights, one column each; variances then rest on them alone."""
    factor: float = 1.0
    """What the sum of squared differences of the replicates is multiplied by."""

    @property
    def correction(self) -> Floats:
        """By stratum n/(n - 1); 0 where a single unit tells nothing of the spread."""
        return np.where(self.size > 1, self.size / np.maximum(self.size - 1, 1), 0.0)

    @property
    def lonely(self) -> int:
        """Strata of a single unit."""
        return int((self.size == 1).sum()) if self.replicates is None else 0

    def variance(self, rows: Ints, scores: Floats) -> float:
        """The variance of a total of linearised scores, which are 0 outside some rows: with-replacement between units.

        Wolter (2007), Introduction to variance estimation, section 6.
        """
        totals = np.bincount(self.cluster[rows], weights=scores, minlength=len(self.stratum))
        sums = np.bincount(self.stratum, weights=totals, minlength=len(self.size))
        squares = np.bincount(self.stratum, weights=totals * totals, minlength=len(self.size))
        return max(0.0, float((self.correction * (squares - sums * sums / self.size)).sum()))

    def replicate_variance(self, value: float, replicated: Floats) -> float:
        """The variance of an estimate from the estimates of the replicates; NaN where one of them has none."""
        return self.factor * float(np.square(replicated - value).sum())


def simple_design(weight: Floats) -> Design:
    """Records drawn independently, with unequal probabilities."""
    n = len(weight)
    return Design(weight, np.arange(n), np.zeros(n, np.int64), np.array([float(n)]))


def designs(
    both: Both,
    scenario: Scenario,
    strata: Any,
    clusters: Any,
    replicate_weights: Any = None,
    method: str = "bootstrap",
    factor: float | None = None,
) -> tuple[Design, Design, tuple[str, ...]]:
    """The designs of both files, and what the reader should know of them."""
    given = strata is not None, clusters is not None
    by = check.names("strata", strata) if given[0] else scenario.strata
    units = check.names("clusters", clusters) if given[1] else tuple(filter(None, [scenario.household]))
    replicates = _replicate_names(both.original, replicate_weights)
    for what, names in (("strata", by), ("clusters", units), ("replicate_weights", replicates)):
        check.columns_exist(what, names, both.original.columns)
    absent = [name for name in (*by, *units, *replicates) if name not in both.released.columns]
    cautions = []
    if absent:
        cautions.append(
            f"the release has no {quoted(absent)}: its standard errors are those that can be had without, which may be "
            f"too small."
        )
    found = []
    for data, weight in zip(both.files, both.weights, strict=True):
        own = [tuple(name for name in names if name in data.columns) for names in (by, units, replicates)]
        # Some of the replicates are none.
        repeated = replicates if own[2] == replicates else ()
        found.append(_design(data, weight, own[0], own[1], repeated, _factor(len(replicates), method, factor)))
    lonely = max(each.lonely for each in found)
    if lonely:
        cautions.append(
            f"{check.counted(lonely, 'stratum', 'strata')} with a single sampling unit: they add nothing to the "
            f"standard errors, which are too small."
        )
    return found[0], found[1], tuple(cautions)


def _design(
    data: Data,
    weight: Floats,
    strata: tuple[str, ...],
    clusters: tuple[str, ...],
    replicates: tuple[str, ...],
    factor: float,
) -> Design:
    n = len(data)
    stratum = _codes(data, strata)
    unit = _codes(data, clusters) if clusters else np.arange(n)
    pair, cluster = np.unique(stratum * (int(unit.max()) + 1) + unit, return_inverse=True)
    of_unit = pair // (int(unit.max()) + 1)
    size = np.bincount(of_unit).astype(np.float64)
    if not replicates:
        return Design(weight, cluster, of_unit, size)
    columns = np.column_stack([data.numbers(name) for name in replicates])
    if not np.isfinite(columns).all() or (columns < 0).any():
        raise TacitaError("replicate_weights must be numbers of at least 0 in every record; correct the file.")
    return Design(weight, cluster, of_unit, size, columns, factor)


def _factor(count: int, method: str, given: float | None) -> float:
    """The factor of the squared differences of so many replicates."""
    if given is not None or not count:
        return 1.0 if given is None else given
    return (count - 1) / count if method == "jackknife" else 1 / count


def _codes(data: Data, names: tuple[str, ...]) -> Ints:
    """By record the place of its combination of values, 0, 1, ...; missing is a value of its own."""
    if not names:
        return np.zeros(len(data), np.int64)
    columns = [data.groups(name) for name in names]
    # A record without an identifier is -1.
    numbers = combined([place + 1 for place, _ in columns], [count + 1 for _, count in columns], len(data))
    return np.unique(numbers, return_inverse=True)[1]


def _replicate_names(data: Data, given: Any) -> tuple[str, ...]:
    """Columns of replicate weights by name, or by a pattern in which * stands for anything."""
    if given is None:
        return ()
    if isinstance(given, str) and given not in data.columns and "*" in given:
        pattern = re.compile(".*".join(map(re.escape, given.split("*"))))
        names = tuple(name for name in data.columns if pattern.fullmatch(name))
        if not names:
            raise TacitaError(f"replicate_weights: no column is like {given!r}; name the columns.")
    else:
        names = check.names("replicate_weights", given)
    if len(names) == 1:
        raise TacitaError("replicate_weights must be at least two columns; name more.")
    return names
