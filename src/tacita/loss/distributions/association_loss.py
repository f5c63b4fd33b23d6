"""How associations between pairs of variables changed: Cramer's V, mutual information, correlations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
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
from tacita.loss.common_classes import common_classes
from tacita.loss.distributions.association import (
    correlation,
    correlation_ratio,
    cramers_v,
    cross_table,
    independence_p,
    mid_ranks,
    mutual_information,
)
from tacita.loss.measured import none_for_nan
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc, Share
from tacita.progress import Progress, no_progress
from tacita.result import Result, Table, number
from tacita.scenario import Scenario

NAN = math.nan
SHOWN = 10
"""Pairs that are printed, those that changed most."""


class Column(NamedTuple):
    """A variable of one file: codes of categories or of numbers in their order, and those numbers."""

    codes: Ints
    """Categories, 0 for missing; of numbers their place in the order of values, missing ones last."""
    size: int
    """How many codes there are."""
    numbers: Floats | None
    """Numbers, NaN where missing; None for categories."""


class Pair(NamedTuple):
    """The association of two variables before and after; NaN where it is not defined."""

    first: str
    second: str
    measure: str
    """`Cramer's V`, `correlation` or `correlation ratio`."""
    before: float
    after: float
    difference: float
    """After less before. V and ratio lie in [0, 1], a correlation in [-1, 1]."""
    further: str
    """The second measure: `mutual information` of categories, `Spearman` of numbers."""
    further_before: float = NAN
    further_after: float = NAN
    p_before: float = NAN
    """Of the chi-squared test of independence, for categories."""
    p_after: float = NAN


@dataclass(frozen=True, eq=False)
class AssociationLoss(Result):
    """How far the associations between pairs of variables are from what they were."""

    variables: tuple[str, ...]
    """The variables of the pairs."""
    pairs: tuple[Pair, ...]
    """By pair of variables."""
    level: float
    """The level of the tests of independence."""
    weighted: bool
    """Whether records count by their weights."""
    cautions: tuple[str, ...]
    """What the reader should know."""

    @property
    def measured(self) -> tuple[Pair, ...]:
        """The pairs whose association is defined in both files."""
        return tuple(pair for pair in self.pairs if not math.isnan(pair.difference))

    @property
    def mean(self) -> float:
        """The mean absolute difference: 0 all associations are as they were; NaN if none is defined."""
        sizes = [abs(pair.difference) for pair in self.measured]
        return math.fsum(sizes) / len(sizes) if sizes else NAN

    @property
    def greatest(self) -> float:
        """The greatest absolute difference."""
        return max((abs(pair.difference) for pair in self.measured), default=NAN)

    @property
    def tested(self) -> int:
        """Pairs of categories that are tested for independence in both files."""
        return sum(not math.isnan(pair.p_before + pair.p_after) for pair in self.pairs)

    @property
    def answers_changed(self) -> int:
        """Tests of independence with another answer at the level."""
        return sum(
            (pair.p_before < self.level) != (pair.p_after < self.level)
            for pair in self.pairs
            if not math.isnan(pair.p_before + pair.p_after)
        )

    @property
    def headline(self) -> str:
        """The mean and the greatest difference."""
        if not self.measured:
            return "associations: no pair of variables varies in both files, so there is none to compare"
        return (
            f"associations of {len(self.measured):,} pairs of variables differ by {number(self.mean)} on average "
            f"(0 as they were, 1 an association that was complete is gone), at most by {number(self.greatest)}"
        )

    def sentences(self) -> tuple[str, ...]:
        """How many tests of independence change their answer."""
        if not self.tested:
            return ()
        of = f"{self.tested:,} chi-squared test{'s' if self.tested > 1 else ''} of independence"
        return (f"{self.answers_changed:,} of {of} change their answer at {100 * self.level:g} %.",)

    def tables(self) -> tuple[Table, ...]:
        """The pairs that changed most."""
        most = sorted(self.measured, key=lambda pair: -abs(pair.difference))[:SHOWN]
        if not most:
            return ()
        rows = tuple(
            (f"{each.first} x {each.second}", each.measure, each.before, each.after, each.difference) for each in most
        )
        return (Table(("changed most", "measure", "before", "after", "difference"), rows),)

    def to_frame(self) -> frame.Frame:
        """One row per pair of variables."""
        return frame.table({name: [getattr(each, name) for each in self.pairs] for name in Pair._fields})

    def to_dict(self) -> dict[str, Any]:
        """Mean and greatest difference, tests that change their answer, and all pairs."""
        return {
            "mean": none_for_nan(self.mean),
            "greatest": none_for_nan(self.greatest),
            "tests": self.tested,
            "answers_changed": self.answers_changed,
            "weighted": self.weighted,
            "pairs": [{name: none_for_nan(value) for name, value in each._asdict().items()} for each in self.pairs],
        }


@measure(
    files=2,
    called_for="comparison",
    kind="loss",
    by_key=True,
    limit=at_most("mean", "the mean difference of associations", moved_by=GENTLER),
    missing=own_rule("A missing category is one of its own; missing numbers are left out."),
)
def association_loss(
    original: Data,
    released: Data,
    scenario: Scenario,
    *,
    variables: Annotated[
        Any, Doc("Variables to pair; keys, sensitive variables and numeric keys unless given.")
    ] = None,
    most: Annotated[int, AtLeast(2), Doc("Pair no more variables than the first so many.")] = 20,
    corrected: Annotated[bool, Doc("Take from Cramer's V what chance adds in a small file (Bergsma 2013).")] = False,
    level: Annotated[float, Share(zero=False, one=False), Doc("Level of the tests of independence.")] = 0.05,
    weighted: Weighted = True,
    progress: Progress = no_progress,
) -> AssociationLoss:
    """Associations between pairs of variables before and after, and by how much they differ.

    Two categorical variables: Cramer's V, normalised mutual information, and the chi-squared test of independence, with
    weights as if Kish's effective number of records had been drawn. Two numbers: Pearson's and Spearman's correlation.
    One of each: the correlation ratio. Recoded variables are compared on the classes of the release.

    >>> import polars as pl
    >>> before = pl.DataFrame({"sex": ["f", "f", "m", "m"], "work": ["y", "y", "n", "n"]})
    >>> after = before.with_columns(work=pl.Series(["y", "n", "y", "n"]))
    >>> association_loss(before, after, Scenario(keys=["sex", "work"])).mean
    1.0
    """
    both = both_files(original, released, scenario, weighted=weighted)
    named = scenario_variables(scenario) if variables is None else variables
    names = compared_variables(both, scenario, named)
    kept = tuple(name for name in names if name in both.released.columns)
    cautions = [*both.cautions, *_left_out(names, kept, most)]
    kept = kept[:most]
    if len(kept) < 2:
        raise TacitaError(
            f"associations need at least two variables that are in both files; got {len(kept)}, name more with "
            f"variables=[...]."
        )
    columns = {name: list(_columns(both, name)) for name in kept}
    found = []
    for at, (first, second) in enumerate(itertools.combinations(kept, 2)):
        progress(at / (len(kept) * (len(kept) - 1) / 2), "comparing associations")
        found.append(_pair(both, (first, second), (columns[first], columns[second]), corrected))
    return AssociationLoss(kept, tuple(found), level, both.weighted, tuple(cautions))


def _left_out(names: tuple[str, ...], kept: tuple[str, ...], most: int) -> Iterator[str]:
    removed = [name for name in names if name not in kept]
    if removed:
        yield f"not in the release, so no association with them is left: {quoted(removed)}."
    if len(kept) > most:
        yield f"only the first {most:,} of {len(kept):,} variables are paired; name others, or set most={len(kept)}."


def _columns(both: Both, name: str) -> Iterator[Column]:
    """A variable of the original, and of the release."""
    if both_numeric(both, name):
        for values in both_numbers(both, name):
            different, codes = np.unique(values, return_inverse=True)
            yield Column(codes, len(different), values)
        return
    classes = common_classes(both, name)
    for codes in classes.both:
        yield Column(codes, classes.size, None)


def _pair(both: Both, names: tuple[str, str], columns: tuple[list[Column], list[Column]], corrected: bool) -> Pair:
    numeric = [each[0].numbers is not None for each in columns]
    sides = list(zip(*columns, both.weights, strict=True))
    if all(numeric):
        before, after = (_correlations(*side) for side in sides)
        return Pair(*names, "correlation", before[0], after[0], after[0] - before[0], "Spearman", before[1], after[1])
    if any(numeric):
        ordered = [side if numeric[1] else (side[1], side[0], side[2]) for side in sides]
        one, other = (_ratio(*side) for side in ordered)
        return Pair(*names, "correlation ratio", one, other, other - one, "")
    tables = [cross_table(x.codes, y.codes, (x.size, y.size), weight) for x, y, weight in sides]
    sizes = both.effective_sizes
    one, other = (cramers_v(table, size, corrected=corrected) for table, size in zip(tables, sizes, strict=True))
    information = (mutual_information(table) for table in tables)
    tests = (independence_p(table, size) for table, size in zip(tables, sizes, strict=True))
    return Pair(*names, "Cramer's V", one, other, other - one, "mutual information", *information, *tests)


def _correlations(x: Column, y: Column, weight: Floats) -> tuple[float, float]:
    """Pearson's and Spearman's correlation of the records that show both numbers."""
    assert x.numbers is not None
    assert y.numbers is not None
    shown = ~(np.isnan(x.numbers) | np.isnan(y.numbers))
    if not shown.any():
        return NAN, NAN
    own = weight[shown]
    one, other = (mid_ranks(each.codes[shown], each.size, own) for each in (x, y))
    return correlation(x.numbers[shown], y.numbers[shown], own), correlation(one, other, own)


def _ratio(categories: Column, numbers: Column, weight: Floats) -> float:
    assert numbers.numbers is not None
    shown = ~np.isnan(numbers.numbers)
    if not shown.any():
        return NAN
    return correlation_ratio(categories.codes[shown], categories.size, numbers.numbers[shown], weight[shown])
