"""What a cell must fulfil to be released: k-anonymity, l-diversity, t-closeness, under the missing-value rule.

Two things matter for the search. A requirement is **kept by union** if a cell that fulfils it still does after it is
put together with any other: true of k and of the number of different sensitive values, since both only grow. Then the
records that must be suppressed become fewer on the way up the lattice, whatever the suppression limit. Entropy and
recursive l-diversity and t-closeness are kept when cells that *all* fulfil them are put together, but a good cell put
together with a bad one may turn bad: with a suppression limit above 0 they may be lost on the way up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys.matching import Keys, Pairs
from tacita.keys.missing_rules import matching_counts, matching_key_pairs
from tacita.keys.units import Entries, counted_units
from tacita.protect.generalise.cells import Cells, Spread, some_cells, spread_over
from tacita.risk.attribute.groups import Histogram
from tacita.risk.attribute.l_diversity import distinct, entropy, recursive
from tacita.risk.attribute.t_closeness import nominal_distance, ordered_distance
from tacita.scenario import MissingRule

ROUNDING = 1e-12
"""By how much a distance may exceed t before it counts as above it."""


@dataclass(frozen=True)
class Requirements:
    """What every released cell must fulfil."""

    k: int
    """At least so many records, or units, count for each."""
    distinct_l: float | None = None
    """At least so many different values of each sensitive variable."""
    entropy_l: float | None = None
    """exp of the entropy of each sensitive variable is at least this."""
    recursive_l: float | None = None
    """Recursive (c, l)-diversity of each sensitive variable."""
    c: float = 2.0
    """The constant of recursive (c, l)-diversity."""
    t: float | None = None
    """The distance of each sensitive variable from the whole file is at most this."""
    rule: MissingRule = field(default_factory=MissingRule)
    """How records with missing keys count."""

    @property
    def least_values(self) -> int:
        """How many different sensitive values a cell must have if it is to fulfil any of the l-diversities."""
        wanted = [limit for limit in (self.distinct_l, self.entropy_l, self.recursive_l) if limit is not None]
        return max((math.ceil(limit - ROUNDING) for limit in wanted), default=1)

    @property
    def kept_by_union(self) -> bool:
        """Whether nothing but k and the number of different values is asked for."""
        return self.entropy_l is None and self.recursive_l is None and self.t is None


class Judged(NamedTuple):
    """What becomes of the cells of a node."""

    bad: Bools
    """Which cells must be suppressed."""
    suppressed: int
    """How many records they hold."""
    infeasible: bool
    """Whether more records than allowed fall short of what only grows: then so it is at every finer node."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Decides which cells fulfil the requirements."""

    wanted: Requirements
    shares: tuple[Floats, ...] = ()
    """By sensitive variable: the share of each of its codes in the whole file."""
    ordered: tuple[bool, ...] = ()
    """By sensitive variable: whether its values have an order."""
    units: int = 0
    """How many units there are, where some have several records: units count then. 0: every record counts."""

    def judge(self, cells: Cells, allowed: int) -> Judged:
        """Which cells must be suppressed: those that fall short, and those that do once the others are gone."""
        bad = self._short(cells, ~self._first_short(cells))
        suppressed = int(cells.records[bad].sum())
        if suppressed > allowed or self.wanted.kept_by_union:
            return Judged(bad, suppressed, suppressed > allowed and self._only_grows)
        bad = self._short(cells, ~bad, everything=True)
        suppressed = int(cells.records[bad].sum())
        # Where nothing may be suppressed, cells that are all good stay good together; not if they share units, each of
        # which counts once then.
        good_together = allowed == 0 and self._alone(cells) and not self.units
        return Judged(bad, suppressed, suppressed > allowed and good_together)

    @property
    def _only_grows(self) -> bool:
        """Whether a record counts all the more the coarser the keys: not so where a share stands for a match."""
        return self.wanted.rule.factor != "expected"

    def whole_file_fulfils(self, cells: Cells) -> bool:
        """Whether all records together would do: else no choice of levels does."""
        one = Cells(cells.node, np.ones((1, cells.codes.shape[1]), dtype=np.int64), np.array([cells.size]))
        spreads = tuple(spread_over(np.zeros_like(each.cell), each.value, each.amount) for each in cells.spreads)
        return not bool(self._falls_short(replace(one, spreads=spreads), True, True)[0])

    def _alone(self, cells: Cells) -> bool:
        """Whether only equal cells match."""
        return self.wanted.rule.name in ("own_category", "no_match") or bool((cells.codes > 0).all())

    def _first_short(self, cells: Cells) -> Bools:
        """Cells that can never be safe: under `no_match` a missing value matches nothing, not even an equal key."""
        if self.wanted.rule.name == "no_match":
            blank: Bools = np.any(cells.codes == 0, axis=1)
            return blank
        return np.zeros(len(cells.codes), dtype=np.bool_)

    def _short(self, cells: Cells, kept: Bools, everything: bool = False) -> Bools:
        """What falls short when only the rest is left: the largest set of cells that keep each other safe remains."""
        alone = self._alone(cells)
        while True:
            part = cells if kept.all() else some_cells(cells, kept)
            short = self._falls_short(part, alone, everything) if len(part.codes) else np.zeros(0, dtype=np.bool_)
            if not short.any():
                return ~kept
            kept = kept.copy()
            kept[np.flatnonzero(kept)[short]] = False
            if alone:
                # Cells that count for themselves only do not miss the others.
                return ~kept

    def _falls_short(self, cells: Cells, alone: bool, everything: bool) -> Bools:
        sensitive = cells.spreads[:-1] if self.units else cells.spreads
        short: Bools = self._counted(cells, alone) < self.wanted.k
        pairs = None
        if sensitive and not alone:
            pairs = matching_key_pairs(cells.codes.astype(np.uint32), cells.records, self.wanted.rule)
        for place, spread in enumerate(sensitive):
            values = _histogram(spread, len(cells.codes), pairs, self.units)
            for found in self._of_values(values, place, everything):
                short = short | found
        return short

    def _counted(self, cells: Cells, alone: bool) -> Floats:
        """How many records, or units, count for each cell."""
        who = cells.spreads[-1] if self.units else None
        if alone:
            counted = cells.records if who is None else np.bincount(who.cell, minlength=len(cells.codes))
            return counted.astype(np.float64)
        codes: Codes = cells.codes.astype(np.uint32)
        if who is None:
            return matching_counts(codes, Keys(codes, cells.records[:, None]), self.wanted.rule, cells.records)[:, 0]
        given = Entries(who.cell, who.value, who.amount, None)
        return counted_units(codes, codes, cells.records, given, self.wanted.rule)[:, 0]

    def _of_values(self, values: Histogram, place: int, everything: bool) -> Iterator[Bools]:
        """By requirement on a sensitive variable: which groups fall short of it."""
        wanted = self.wanted
        if wanted.least_values > 1:
            yield distinct(values) < wanted.least_values
        if not everything:
            return
        if wanted.entropy_l is not None:
            yield entropy(values) < wanted.entropy_l * (1 - ROUNDING)
        if wanted.recursive_l is not None:
            yield recursive(values, wanted.c) < wanted.recursive_l
        if wanted.t is not None:
            distance = ordered_distance if self.ordered[place] else nominal_distance
            yield distance(values, self.shares[place]) > wanted.t + ROUNDING


def _histogram(spread: Spread, count: int, pairs: Pairs | None, units: int = 0) -> Histogram:
    """The sensitive values of the records that count for each cell; of a unit each value once, as much as it counts."""
    cell, value = spread.cell, spread.value
    amount: Floats = np.ones(len(cell)) if units else spread.amount.astype(np.float64)
    if pairs is not None:
        start = np.searchsorted(cell, pairs.source, side="left")
        length = np.searchsorted(cell, pairs.source, side="right") - start
        cell = np.repeat(pairs.target, length)
        within: Ints = np.arange(len(cell), dtype=np.int64) - np.repeat(np.cumsum(length) - length, length)
        row = np.repeat(start, length) + within
        value, amount = value[row], amount[row] * np.repeat(pairs.factor, length)
    if units:
        (cell, value), place = _different(cell, value)
        most = np.zeros(len(cell))
        np.maximum.at(most, place, amount)
        value, amount = value // units, most
    if pairs is None and not units:
        return Histogram(cell, value, amount, count)
    (cell, value), place = _different(cell, value)
    return Histogram(cell, value, np.bincount(place, weights=amount).astype(np.float64), count)


def _different(cell: Ints, value: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """The different pairs of cells and values, and for each pair its place among them."""
    width = int(value.max()) + 1
    different, place = np.unique(cell * width + value, return_inverse=True)
    return (different // width, different % width), place
