"""The rank attack: the largest firm of an industry is the largest in the release, whatever was done to its turnover.

The intruder knows the order of the units by size, in all of the file or in his industry. He links the largest released
unit to the largest of his, the second to the second, and so on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import common_codes, number_columns
from tacita.distance.scenario_keys import Strata, Unit, numeric_keys, strata_of, stratum_labels
from tacita.distance.truth import new_records_caution, same_unit
from tacita.keys.source import distinct_keys
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import COLUMN, AtLeast, Doc
from tacita.result import Percent, Repair, Result, Table, number, percent, step_call
from tacita.risk.confidentiality_plot.ranks import TOP
from tacita.scenario import Scenario


class Ranks(NamedTuple):
    """By record of one file the ranks that it can have, the largest of its stratum being 0."""

    first: Ints
    """The first of them; -1 without a size."""
    ties: Ints
    """How many there are: records of the same size share as many."""


def ranks(size: Floats, stratum: Ints) -> Ranks:
    """The ranks of records by size within their strata.

    >>> found = ranks(np.array([5.0, 9.0, 5.0, np.nan]), np.array([0, 0, 0, 0]))
    >>> found.first.tolist(), found.ties.tolist()
    ([1, 0, 1, -1], [2, 1, 2, 0])
    """
    order = np.lexsort((-size, stratum))
    order = order[~np.isnan(size[order])]
    sizes, where = size[order], stratum[order]
    begins = np.flatnonzero(np.diff(where, prepend=-1))
    place = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (sizes[1:] != sizes[:-1]) | (where[1:] != where[:-1])
    group = np.cumsum(fresh) - 1
    first, ties = np.full(len(size), -1), np.zeros(len(size), np.int64)
    first[order] = place[fresh][group]
    ties[order] = np.bincount(group)[group]
    return Ranks(first, ties)


def chance_of_link(mine: Ranks, theirs: Ranks, largest: int | None = None) -> Floats:
    """By pair of records of one unit the probability that both get the same rank, equal sizes in an order drawn.

    Of the ranks that a record can have each has probability 1/ties; `largest`: only so many ranks are linked.

    >>> mine, theirs = Ranks(np.array([0, 1]), np.array([1, 2])), Ranks(np.array([0, 2]), np.array([2, 1]))
    >>> chance_of_link(mine, theirs).tolist(), chance_of_link(mine, theirs, 2).tolist()
    ([0.5, 0.5], [0.5, 0.0])
    """
    last = np.minimum(mine.first + mine.ties, theirs.first + theirs.ties)
    if largest is not None:
        last = np.minimum(last, largest)
    common = np.maximum(last - np.maximum(mine.first, theirs.first), 0)
    chance: Floats = common / np.maximum(mine.ties * theirs.ties, 1)
    return chance


@dataclass(frozen=True, eq=False, kw_only=True)
class RankLinkage(Result):
    """Right links by rank, of all units and of the largest."""

    size: str
    """The variable that units are ranked by."""
    largest: int
    """So many of the largest of each stratum are looked at by themselves."""
    record: Ints
    """The number of each released record that is in the intruder's file."""
    stratum: Ints
    """By record: the index of its stratum in `labels`."""
    labels: tuple[str, ...]
    """The strata; one empty text without strata."""
    correct: Floats
    """By record: the probability that it is linked to its own unit."""
    correct_largest: Floats
    """By record: the same, if only the largest are linked."""
    linked: Ints
    """By stratum: links that are made, the size of the smaller file."""
    largest_linked: Ints
    """By stratum: links of the largest."""
    without_size: int
    """Records without a size in either file, which are not linked."""
    new: int
    """Released records that are not in the intruder's file."""
    by: tuple[str, ...] = ()
    """The variables that make the strata."""
    smallest: int = 0
    """Released records with a size in the smallest stratum that has any."""

    @property
    def expected_correct(self) -> float:
        """Right links of all units."""
        return math.fsum(self.correct)

    @property
    def share_correct(self) -> float:
        """Right links as a share of those made."""
        return self.expected_correct / max(int(self.linked.sum()), 1)

    @property
    def expected_largest(self) -> float:
        """Right links of the largest units."""
        return math.fsum(self.correct_largest)

    @property
    def share_largest(self) -> float:
        """Right links of the largest units as a share of those made."""
        return self.expected_largest / max(int(self.largest_linked.sum()), 1)

    @property
    def guessed(self) -> float:
        """Right links of an intruder who puts the units of each stratum in an order drawn at random."""
        counts = np.bincount(self.stratum, minlength=len(self.labels))
        return math.fsum(counts / np.maximum(self.linked, 1))

    def repair(self, policy: Any) -> Repair | None:
        """Groups of units of one size: who of m has which rank is told with probability 1/m."""
        limit = policy.limit_of("rank_linkage").limit
        k = math.ceil((1.0 + 1e-9) / limit) if limit > 0 else self.smallest + 1
        right = f"{number(self.expected_largest)} of the {self.largest} largest linked rightly: "
        ways = "Noise or RankSwap of it, or TopCode for the largest"
        if k > self.smallest:
            why = f"the smallest stratum has {self.smallest:,}" if self.by else f"the file has {self.smallest:,}"
            text = f"{right}{k:,} units would have to be of the same {self.size!r}, and {why}; try {ways}"
            return Repair("rank_linkage", text if limit > 0 else f"{right}{ways}, or Remove of it")
        asked: dict[str, Any] = {"variables": [self.size], "k": k, "method": "optimal"}
        asked |= {"strata": list(self.by)} if self.by else {}
        text = f"{right}{step_call('microaggregate', asked)} leaves at most {percent(limit)}; {ways} lower it too"
        return Repair("rank_linkage", text, "microaggregate", asked)

    @property
    def headline(self) -> str:
        """Right links of all units, and of the largest."""
        where = "" if len(self.labels) == 1 else " of each stratum"
        units, among = check.counted(int(self.linked.sum()), "unit"), int(self.largest_linked.sum())
        return (
            f"by rank on {self.size}, {number(self.expected_correct)} of {units} ({percent(self.share_correct)}) are "
            f"expected to be linked rightly, {number(self.guessed)} by guessing; of the {self.largest} largest{where} "
            f"{number(self.expected_largest)} of {among:,} ({percent(self.share_largest)})"
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """That some released records are not in the intruder's file."""
        return new_records_caution(self.new)

    @property
    def notes(self) -> tuple[str, ...]:
        """Records that have no rank."""
        if not self.without_size:
            return ()
        return (f"{check.counted(self.without_size, 'record')} without a size in one of the files, and not linked",)

    def tables(self) -> tuple[Table, ...]:
        """One row per stratum."""
        if len(self.labels) == 1:
            return ()
        rows = []
        for at, label in enumerate(self.labels):
            here = self.stratum == at
            shares = [
                (math.fsum(right[here]), int(made[at]))
                for right, made in ((self.correct, self.linked), (self.correct_largest, self.largest_linked))
            ]
            cells = [cell for right, made in shares for cell in (made, right, Percent(right / max(made, 1)))]
            rows.append((label, *cells))
        heads = ("stratum", "units", "right", "share", f"{self.largest} largest", "right", "share")
        return (Table(heads, tuple(rows)),)

    def to_frame(self) -> frame.Frame:
        """One row per released record that is in the intruder's file."""
        return frame.table(
            {"record": self.record, "correct": self.correct, "correct_among_largest": self.correct_largest}
        )

    def to_dict(self) -> dict[str, Any]:
        """Right links of all units and of the largest."""
        return {
            "size": self.size,
            "linked": int(self.linked.sum()),
            "expected_correct": self.expected_correct,
            "share_correct": self.share_correct,
            "guessed": self.guessed,
            "largest": self.largest,
            "largest_linked": int(self.largest_linked.sum()),
            "expected_largest": self.expected_largest,
            "share_largest": self.share_largest,
        }


@measure(
    files=2,
    limit=at_most(
        "share_largest",
        "the share of the largest units linked rightly by rank",
        void=1.0,
    ),
    missing=own_rule("A record without a size in either file has no rank there, and is not linked."),
)
def rank_linkage(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    size: Annotated[str | None, COLUMN, Doc("The variable that units are ranked by; the first numeric key.")] = None,
    largest: Annotated[int, AtLeast(1), Doc("So many of the largest are looked at by themselves.")] = TOP,
    strata: Strata = None,
    unit: Unit = None,
) -> RankLinkage:
    """Link every released unit to the one of the same rank by size, in the file or in each stratum.

    An intruder who knows no number exactly may still know who is the largest, and who comes next. Changed numbers
    protect the largest units little as long as they keep their order. Units of equal size are put in an order drawn at
    random in either file: a unit that can have ranks A in the one and B in the other is linked rightly with probability
    |A ∩ B| / (|A| |B|). The first file need not have the same units: it may be an archive of last year's. Ranks are
    then those within each file, and beyond the smaller file nothing is linked. Who is who is known by record number, or
    by the column `unit`.

    Reference: Seri and Polettini (2003), CASC deliverable 5-D5, table 6.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 20.0, 40.0, 90.0]})
    >>> noisy = pl.DataFrame({"turnover": [21.0, 19.0, 44.0, 80.0]})
    >>> found = rank_linkage(firms, noisy, Scenario(numeric_keys=["turnover"]), largest=2)
    >>> found.expected_correct, found.share_largest
    (2.0, 1.0)
    """
    first, second = Data.of(original), Data.of(released)
    name = numeric_keys("rank_linkage", scenario, None)[0] if size is None else size
    by = strata_of(scenario, strata)
    for what, data in (("original", first), ("released", second)):
        if not len(data):
            raise TacitaError(f"the {what} file has no records.")
        check.columns_exist(f"strata of the {what} file", by, data.columns)
    x, y = (number_columns(data, (name,), what)[:, 0] for data, what in ((first, "original"), (second, "released")))
    stratum_x, stratum_y, labels = _strata(first, second, by)
    own = same_unit(first, second, unit)
    theirs = np.flatnonzero(own >= 0)
    if not len(theirs):
        raise TacitaError(
            "no released record is in the original, so there is nothing to link; check the record numbers or name "
            "another column with unit=...."
        )
    mine = own[theirs]
    of_x, of_y = ranks(x, stratum_x), ranks(y, stratum_y)
    here = (Ranks(of_x.first[mine], of_x.ties[mine]), Ranks(of_y.first[theirs], of_y.ties[theirs]))
    known: Bools = (here[0].first >= 0) & (here[1].first >= 0) & (stratum_x[mine] == stratum_y[theirs])
    made = np.minimum(
        *(np.bincount(s[~np.isnan(v)], minlength=len(labels)) for s, v in ((stratum_x, x), (stratum_y, y)))
    )
    return RankLinkage(
        size=name,
        largest=largest,
        record=second.record[theirs],
        stratum=stratum_y[theirs],
        labels=labels,
        correct=chance_of_link(*here) * known,
        correct_largest=chance_of_link(*here, largest) * known,
        linked=made,
        largest_linked=np.minimum(made, largest),
        without_size=int((np.isnan(x[mine]) | np.isnan(y[theirs])).sum()),
        new=len(second) - len(theirs),
        by=by,
        smallest=min((each for each in np.bincount(stratum_y[~np.isnan(y)]).tolist() if each), default=0),
    )


def _strata(first: Data, second: Data, by: tuple[str, ...]) -> tuple[Ints, Ints, tuple[str, ...]]:
    """By record of either file the index of its stratum, and the names of the strata in order."""
    if not by:
        return np.zeros(len(first), np.int64), np.zeros(len(second), np.int64), ("",)
    codes, texts = [], []
    for name in by:
        x, y = common_codes(first, second, name)
        both = np.concatenate([x, y])
        codes.append(np.where(np.isnan(both), 0, both + 1).astype(np.uint32))
        texts.append(_texts(first, second, name, x, y))
    stratum, found = distinct_keys(codes, [int(each.max()) for each in codes])
    labels = stratum_labels(
        [tuple(text[code] for text, code in zip(texts, row, strict=True)) for row in found.tolist()]
    )
    return stratum[: len(first)].astype(np.int64), stratum[len(first) :].astype(np.int64), labels


def _texts(first: Data, second: Data, name: str, x: Floats, y: Floats) -> dict[int, str | None]:
    """By common code what it stands for."""
    found: dict[int, str | None] = {0: None}
    for data, codes in ((first, x), (second, y)):
        values = frame.coded(data.table, name)
        rows = np.flatnonzero(~np.isnan(codes))
        _, at = np.unique(codes[rows], return_index=True)
        for row in rows[at].tolist():
            own = int(values.codes[row])
            found[int(codes[row]) + 1] = str(values.values[own - 1]) if own else ""
    return found
