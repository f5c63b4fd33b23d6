"""What a suppression must reach: by record as it is asked, and by unit, records that are alike, as it is solved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints, Words
from tacita.keys.matching import patterns
from tacita.keys.source import distinct_keys
from tacita.keys.units import riskiest_of_each
from tacita.risk.identity.household_risk import at_least_one
from tacita.risk.identity.negative_binomial import expected_reciprocal
from tacita.scenario import MissingRule

NO_WEIGHTS = np.empty(0)
NO_PERSONS = np.empty(0, dtype=np.int64)
WORD_BITS = 63
Risk = Callable[[Floats, Floats], Floats]
"""The risk of a correct link in a group, of its number of records and its sum of weights."""
WORK = "suppressing"
"""What progress calls the work."""


class Requirement(NamedTuple):
    """Every record must count at least k on a combination of keys, and its risk there must be within its limit."""

    members: int
    """The keys, one bit each."""
    k: int
    limits: Floats | None = None
    """By record, or by unit: the greatest risk of a correct link; infinite where none is asked. None: no limit."""

    def met(
        self, f: Floats | Ints, weight: Floats | Ints, rows: Ints | slice | int, risk: Risk | None, close: float = 0.0
    ) -> Bools:
        """Which rows are safe, or so close to it, by the records and the sum of weights that count for each."""
        safe: Bools = f >= self.k * (1 - close)
        if self.limits is not None and risk is not None:
            safe &= risk(f.astype(np.float64), weight.astype(np.float64)) <= self.limits[rows] * (1 + close)
        return safe


def bits(columns: Iterable[int]) -> int:
    """A set of columns as one number."""
    return sum(1 << column for column in columns)


def columns_of(members: int) -> list[int]:
    """The columns of a set."""
    return [column for column in range(members.bit_length()) if members >> column & 1]


class Units(NamedTuple):
    """Records with the same values on all keys, of one person, and alike in whether they may be changed."""

    codes: Codes
    """The keys, 0 for missing."""
    records: Ints
    """How many records each unit has."""
    weights: Floats
    """The sum of their weights; empty where no weights are used."""
    free: Bools
    """Which may be changed."""
    row: Ints
    """For each record its unit."""
    words: Words
    """The keys of each unit, packed into as few words of 63 bits as hold them."""
    fields: Words
    """By key and word: the bits that hold it."""
    person: Ints = NO_PERSONS
    """Whose records they are, in ascending order: persons are counted then. Empty: every record counts."""

    @property
    def known(self) -> Ints:
        """The bits of the keys that each unit has a value on."""
        return patterns(self.codes)

    def mask(self, members: int) -> Words:
        """By word: the bits that hold a set of keys."""
        inside = [column for column in range(len(self.fields)) if members >> column & 1]
        mask: Words = np.bitwise_or.reduce(self.fields[inside], axis=0, initial=np.uint64(0))
        return mask

    def size(self, rows: Ints) -> int:
        """How many records some units have, or of how many persons they are."""
        return len(np.unique(self.person[rows])) if len(self.person) else int(self.records[rows].sum())

    def total_cost(self, shown: Ints, costs: Sequence[float]) -> float:
        """What the suppressed cells cost."""
        gone = self.known & ~shown
        return float(sum(cost * self.records[gone >> column & 1 == 1].sum() for column, cost in enumerate(costs)))


def units_of(
    codes: Codes,
    free: Bools,
    weights: Floats | None = None,
    apart: Ints | None = None,
    person: Ints | None = None,
    repeats: Ints | None = None,
) -> Units:
    """The units of a file; records of different persons, or with different numbers in `apart`, are never in one."""
    whose = np.zeros(len(codes)) if person is None else person
    others = [free] if apart is None else [free, apart]
    columns = [np.asarray(column, dtype=np.uint32) for column in (whose, *codes.T, *others)]
    row, distinct = distinct_keys(columns, [int(column.max(initial=0)) for column in columns])
    count, persons, distinct = len(distinct), distinct[:, 0].astype(np.int64), distinct[:, 1:]
    summed: Floats = NO_WEIGHTS if weights is None else np.bincount(row, weights, count).astype(np.float64)
    keys = np.ascontiguousarray(distinct[:, : codes.shape[1]])
    free = distinct[:, codes.shape[1]] > 0
    records = np.bincount(row, repeats, count).astype(np.int64)
    return Units(keys, records, summed, free, row, *_packed(keys), NO_PERSONS if person is None else persons)


def _packed(codes: Codes) -> tuple[Words, Words]:
    """Codes side by side in words of 63 bits, no code in two words; and by column and word the bits that hold it."""
    positions: list[tuple[int, int, int]] = []
    word, used = 0, 0
    for column in codes.T:
        width = max(int(column.max(initial=0)).bit_length(), 1)
        if used + width > WORD_BITS:
            word, used = word + 1, 0
        positions.append((word, used, width))
        used += width
    words = np.zeros((len(codes), word + 1), dtype=np.uint64)
    fields = np.zeros((codes.shape[1], word + 1), dtype=np.uint64)
    for number, (word, start, width) in enumerate(positions):
        words[:, word] |= codes[:, number].astype(np.uint64) << np.uint64(start)
        fields[number, word] = ((1 << width) - 1) << start
    return words, fields


def suppressed(codes: Codes, shown: Ints) -> Codes:
    """The codes with 0 wherever a key is not shown."""
    keep = shown[:, None] >> np.arange(codes.shape[1], dtype=np.int64) & 1
    return codes * keep.astype(np.uint32)


def link_risk(ratio: float | None, model: str = "M3") -> Risk:
    """The risk of a correct link in a group, E[1/F | f], of its records and its sum of weights.

    `ratio` is N/n where there are no weights (1 for a census). Under M2 the intruder tries in proportion to f/F.

    >>> link_risk(10.0)(np.array([1.0, 2.0]), np.array([1.0, 2.0])).round(4).tolist()
    [0.2558, 0.0827]
    """

    def risk(f: Floats, weight: Floats) -> Floats:
        p = np.minimum(1.0, f / (weight if ratio is None else f * ratio))
        found = expected_reciprocal(f, p)
        return found * p if model == "M2" else found

    return risk


def link_limits(limit: float | Floats, attack: Floats) -> Floats:
    """By record: the greatest risk of a correct link for which the risk of re-identification is within its limit."""
    limits = np.full(len(attack), np.inf)
    np.divide(limit, attack, out=limits, where=attack > 0)
    return limits


class HouseholdVariables(NamedTuple):
    """Keys that are suppressed for all members of a household or for none."""

    household: Ints
    """The number of the household, by record or by unit."""
    variables: tuple[int, ...]
    """The columns."""

    @property
    def bits(self) -> int:
        """The columns as one number."""
        return bits(self.variables)

    def spread(self, known: Ints, shown: Ints) -> Ints:
        """What is shown when a household variable suppressed for one member is suppressed for all."""
        gone = np.zeros(int(self.household.max()) + 1, dtype=np.int64)
        np.bitwise_or.at(gone, self.household, known & ~shown & self.bits)
        return shown & ~gone[self.household]

    def search_costs(self, costs: Sequence[float]) -> list[float]:
        """What a suppressed cell costs when it is chosen: that of a household variable goes for all members."""
        members = float(np.bincount(self.household)[self.household].mean())
        return [cost * (members if column in self.variables else 1.0) for column, cost in enumerate(costs)]

    def without(self, some: Bools) -> Bools:
        """Records, or units, with nobody of some in their household."""
        return ~np.isin(self.household, self.household[some])


class HouseholdLimit(NamedTuple):
    """No household may have a higher risk that one of its members is re-identified."""

    members: int
    """The keys, one bit each."""
    limit: float
    household: Ints
    """The number of the household, by record or by unit."""
    attack: Floats
    """By record, or by unit: the probability that the intruder tries it."""
    person: Ints | None = None
    """Whose record, or unit, it is, where persons have several."""

    def above(self, risk: Floats) -> Bools:
        """Records whose household is above the limit, of the risk of each record."""
        together = at_least_one(risk * self.counts(risk), self.household, int(self.household.max()) + 1)
        return np.asarray((together > self.limit)[self.household])

    def counts(self, risk: Floats) -> Floats:
        """1 for records by which a member counts: of several of one person the riskiest."""
        if self.person is None:
            return np.ones(len(risk))
        return np.bincount(riskiest_of_each(risk, self.person, self.household), minlength=len(risk)).astype(np.float64)


class Request(NamedTuple):
    """What is asked of a suppression, record by record."""

    codes: Codes
    """The keys, 0 for missing."""
    needs: Sequence[Requirement]
    costs: Sequence[float]
    """Of a suppressed cell, by key."""
    rule: MissingRule = MissingRule()
    strata: Codes | None = None
    """The number of the stratum, from 1: records count inside theirs only."""
    free: Bools | None = None
    """Who may be changed; None: everybody."""
    weights: Floats | None = None
    risk: Risk | None = None
    shared: HouseholdVariables | None = None
    goal: HouseholdLimit | None = None
    kept: int = 0
    """Keys that are never suppressed, as bits; they have no missing values."""
    person: Ints | None = None
    """Whose record it is (a person, a firm), where one has several: persons count then, not records."""
    repeats: Ints | None = None
    """How many records each row stands for, where data are condensed; None: one each."""
    weights_apart: bool = False
    """Whether each weight has units of its own: under the attack M2 a record can be safer alone than in its group."""

    @property
    def changeable(self) -> Bools:
        """Who may be changed: nobody whose household would have to follow and has a member that may not."""
        free = np.ones(len(self.codes), dtype=bool) if self.free is None else self.free
        return free if self.shared is None else self.shared.without(~free)


class Problem(NamedTuple):
    """The same by unit."""

    units: Units
    needs: Sequence[Requirement]
    """What every unit that may be changed must meet."""
    costs: Sequence[float]
    rule: MissingRule = MissingRule()
    risk: Risk | None = None
    shared: HouseholdVariables | None = None
    """Every record is a unit of its own then."""
    goal: HouseholdLimit | None = None
    """Every record is a unit of its own then."""
    fixed: int = 0
    """Keys that are never suppressed, as bits: the strata, and those in which a missing value means something else."""

    @property
    def by_value(self) -> list[int]:
        """The keys, those whose cells cost most first."""
        return sorted(range(self.units.codes.shape[1]), key=lambda column: (-self.costs[column], column))


def problem_of(request: Request) -> Problem:
    """The problem by unit; a stratum counts as one more key that is never suppressed."""
    codes, shared, goal, person, bit = request.codes, request.shared, request.goal, request.person, 0
    if request.strata is not None:
        bit = 1 << codes.shape[1]
        codes = np.column_stack([codes, request.strata]).astype(np.uint32)
    units = units_of(codes, request.changeable, request.weights, _apart(request), person, request.repeats)
    # Any record of a unit: they have the same limits, and with households each is a unit of its own.
    record = np.empty(len(units.codes), dtype=np.int64)
    record[units.row] = np.arange(len(units.row))
    needs = [
        Requirement(need.members | bit, need.k, None if need.limits is None else need.limits[record])
        for need in request.needs
    ]
    if shared is not None:
        shared = shared._replace(household=shared.household[record])
    if goal is not None:
        person = None if person is None else person[record]
        goal = HouseholdLimit(goal.members | bit, goal.limit, goal.household[record], goal.attack[record], person)
    costs = [*request.costs, 1.0][: codes.shape[1]]
    return Problem(units, needs, costs, request.rule, request.risk, shared, goal, request.kept | bit)


def _apart(request: Request) -> Ints | None:
    """What keeps records apart that have the same keys: their household, a limit of their own, or a weight."""
    if request.shared is not None or request.goal is not None:
        return np.arange(len(request.codes))
    limits = [need.limits for need in request.needs if need.limits is not None]
    if not limits:
        return None
    if request.weights_apart and request.weights is not None:
        limits.append(request.weights)
    return np.unique(np.column_stack(limits), axis=0, return_inverse=True)[1].ravel()
