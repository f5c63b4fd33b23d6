"""k-anonymity: how many records share their key with too few others?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.keys.table import KeyTable, key_table
from tacita.measures import measure
from tacita.parameters import Doc
from tacita.result import Repair, Result, Verdict, percent
from tacita.risk.identity.options import Keys, Register
from tacita.scenario import Scenario

LEVELS = (2, 3, 5)


def violations(count: Floats, records: Ints, k: int) -> int:
    """Records whose key counts fewer than k."""
    return int(records[count < k].sum())


@dataclass(frozen=True, eq=False)
class KAnonymity(Result):
    """How many records violate k-anonymity, in the sample and in the estimated population."""

    table: KeyTable
    """The keys."""
    levels: tuple[int, ...]
    """The values of k."""

    @classmethod
    def of(cls, table: KeyTable, k: Any = LEVELS) -> KAnonymity:
        """The k-anonymity of a key table for one or more values of k."""
        return cls(table, _levels(k, table.size))

    @property
    def size(self) -> int:
        """Number of records."""
        return self.table.size

    @cached_property
    def sample(self) -> tuple[int, ...]:
        """By k: records with f < k."""
        return tuple(self.below(k) for k in self.levels)

    @cached_property
    def population(self) -> tuple[int, ...]:
        """By k: records with F < k."""
        return tuple(violations(self.table.population_count, self.table.records, k) for k in self.levels)

    @property
    def least(self) -> float:
        """The smallest f: the file is k-anonymous for this k."""
        return float(np.min(self.table.sample_count))

    @property
    def rule(self) -> str:
        """The missing-value rule."""
        return str(self.table.rule)

    @property
    def not_valid(self) -> str:
        """Why counts of keys say nothing; empty if they do."""
        return self.table.keys_not_valid

    def below(self, k: int) -> int:
        """Records with f < k."""
        return violations(self.table.sample_count, self.table.records, k)

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether no record is below the policy's k."""
        limited = policy.limit_of("k_anonymity")
        if limited is None:
            return ()
        if self.not_valid:
            return (Verdict("k", limited.limit, None, None, self.not_valid),)
        count = self.below(limited.limit)
        found = check.counted(count, "record") if count else "no record"
        return (Verdict("k", limited.limit, count, count == 0, f"{found} below k = {limited.limit}"),)

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether it is below the policy's k."""
        return None if policy.k is None else self.table.per_record(self.table.sample_count < policy.k)

    def repair(self, policy: Any, key_sets: Sequence[str] = ()) -> Repair | None:
        """Suppression to the policy's k, of some key sets alone if they are named."""
        return None if policy.k is None else suppression_to_count(self.table, policy.k, key_sets)

    @property
    def headline(self) -> str:
        """Records that violate k-anonymity."""
        if not self.levels:
            return f"{check.counted(self.size, 'record')}: too few for any k"
        return self._violations()[0]

    def _violations(self) -> list[str]:
        return [
            f"{found:,} of {self.size:,} records violate {k}-anonymity ({percent(found / self.size)})"
            for k, found in zip(self.levels, self.sample, strict=True)
        ]

    def sentences(self) -> list[str]:
        """The same for further k, and the missing-value rule."""
        return [*self._violations()[1:], f"missing values: {self.rule}"]

    def to_dict(self) -> dict[str, Any]:
        """Records below each k, in the sample and in the population."""
        levels = [str(k) for k in self.levels]
        return {
            "sample": dict(zip(levels, self.sample, strict=True)),
            "population": dict(zip(levels, self.population, strict=True)),
            "least": self.least,
            "missing": self.rule,
        }

    def to_frame(self) -> frame.Frame:
        """One row per k."""
        return frame.table({"k": self.levels, "sample": self.sample, "population": self.population})


@measure(by_key=True, needs="keys")
def k_anonymity(
    data: Any,
    scenario: Scenario,
    *,
    k: Annotated[Any, Doc("One or more values of k.")] = LEVELS,
    keys: Keys = None,
    register: Register = None,
) -> KAnonymity:
    """How many records share their key with fewer than k - 1 others, for each k.

    A record that violates k-anonymity stands out: whoever knows its key is left with fewer than k candidates.

    Reference: Samarati and Sweeney (1998).

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "region": ["north", "north", "south", "south"]})
    >>> k_anonymity(people, Scenario(keys=["sex", "region"]), k=2).sample
    (2,)
    """
    return KAnonymity.of(key_table(data, scenario, keys, register), k)


def _levels(k: Any, size: int) -> tuple[int, ...]:
    """The values of k, in ascending order; unasked, none above the number of records."""
    if k is LEVELS:
        return tuple(level for level in LEVELS if level <= size)
    levels = tuple(k) if isinstance(k, Iterable) else (k,)
    if not levels:
        raise TacitaError("k must be one or more whole numbers of at least 2; got none.")
    chosen = tuple(sorted({check.whole("k", level, 2) for level in levels}))
    if chosen[-1] > size:
        raise TacitaError(
            f"k must be at most the number of records, {size:,}; got {chosen[-1]:,}. "
            f"Choose a smaller k, or false in the policy for none."
        )
    return chosen


# What would make a limit hold, worked out from the key table alone, without trying a step.

MOST_CELLS = 4_000_000
"""Keys are not tried one by one in a table of more cells than this: the assessment is not to take twice as long."""
MOST_SUPPRESSED = 0.5
"""Where more than this share of the records would have to change, coarser keys are proposed first."""
MOST = "; that is most of the file"
RECODE_FIRST = f"{MOST}, so recode first"


class _Needed(NamedTuple):
    """What suppression would take, as far as the key table tells it."""

    cells: int
    """At least so many cells."""
    without: tuple[int, str] | None
    """The fewest records that would be left if one key were dropped, and that key."""


def suppression_to_count(table: KeyTable, k: int, key_sets: Sequence[str] = (), why: str = "") -> Repair:
    """Suppression until every key counts k: how many records and cells, and the key that is the reason for most."""
    unsafe = table.sample_count < k
    needed = _needed(table, unsafe, k)
    repair = suppression(table, {"k": k}, key_sets, int(table.records[unsafe].sum()), needed.cells, why)
    if needed.without is None or needed.without[0] >= (repair.records or 0):
        return repair
    left, name = needed.without
    few = f"about {left:,}" if left else "hardly any"
    rest = few if table.has_missing else f"{left:,}"
    text = repair.text.removesuffix(RECODE_FIRST) + (MOST if repair.text.endswith(RECODE_FIRST) else "")
    return replace(repair, text=f"{text}; without {name!r} {rest} would be left, so Recode it first")


def suppression(
    table: KeyTable, parameters: dict[str, Any], key_sets: Sequence[str], records: int, cells: int, why: str = ""
) -> Repair:
    """Suppressing in so many records: at least so many cells, where nobody becomes safe by the cells of others."""
    given = parameters | ({"key_sets": list(key_sets)} if key_sets else {})
    known = cells if table.rule.name == "one_way" else None
    which = "" if known is None else f"at least {check.counted(known, 'cell')} in "
    call = f"Suppress({', '.join(f'{name}={value!r}' for name, value in given.items())})"
    text = f"{why}{call} suppresses {which or 'cells in '}{check.counted(records, 'record')}"
    return Repair("", text + recode_first(table, records), "suppress", given, records, known)


def recode_first(table: KeyTable, records: int) -> str:
    """That keys should be recoded first, where so many records are most of the file."""
    return RECODE_FIRST if records > MOST_SUPPRESSED * table.size else ""


def out_of_reach(table: KeyTable, what: str, least: str, records: int) -> Repair:
    """That not even a file without keys would keep a limit, which is on what is `least` there."""
    size = check.counted(table.units, "record")
    sample = "; if the file is a sample, name its weight, population_size or sampling_fraction in the scenario"
    text = (
        f"no step can: with all keys missing {what} of {size} is still {least}"
        f"{sample if table.source == 'census' else ''}; set a limit that a file of this size can keep"
    )
    return Repair("", text, records=records)


def _needed(table: KeyTable, unsafe: Bools, k: int) -> _Needed:
    """Cells, and the key without which the fewest records are below k.

    A record counts on all keys but one those that agree there; if that is k for no key it needs two cells.
    """
    rows = np.flatnonzero(unsafe)
    records = int(table.records[rows].sum())
    if table.codes.size > MOST_CELLS or not len(rows):
        return _Needed(records, None)
    enough = np.zeros(len(rows), dtype=np.bool_)
    fewest: tuple[int, str] | None = None
    for place, name in enumerate(table.keys):
        there = table.alike_without(place)[rows] >= k
        enough |= there
        left = int(table.records[rows[~there]].sum())
        if fewest is None or left < fewest[0]:
            fewest = (left, name)
    # Of records with missing values more may agree than are counted here.
    two = ~enough & table.complete[rows] & (len(table.keys) > 1)
    cells = records + int(table.records[rows[two]].sum())
    return _Needed(cells, fewest if len(table.keys) > 1 else None)
