"""Uniqueness on mixed keys: categorical keys that agree, and numbers within a tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.visible import visible_categories
from tacita.distance.comparison import check_sizes
from tacita.keys.source import combined
from tacita.keys.table import repeated_units
from tacita.keys.units import units_not_counted
from tacita.measures import at_least, measure, own_rule
from tacita.parameters import Doc
from tacita.result import Result, percent
from tacita.scenario import Scenario


def neighbours(groups: Ints, values: Floats, wanted: Ints, centre: Floats, reach: Floats) -> Ints:
    """How many records of the wanted group lie within reach of the centre in every number."""
    from tacita.distance.tree import build, count_within

    # The group is one more dimension with no reach; a wide one, so that the tree splits it first.
    width = 1.0 + 2.0 * float(np.ptp(values, axis=0).max())
    points = np.column_stack([groups * width, values])
    centre, reach = np.column_stack([wanted * width, centre]), np.column_stack([np.zeros(len(wanted)), reach])
    return count_within(build(points), centre, reach)


class Compared(NamedTuple):
    """Records as they are compared."""

    codes: list[Any]
    """By categorical key the codes of the records, 0 where missing."""
    values: Floats
    """By record and numeric key the number, NaN where missing."""
    widths: Floats
    """By numeric key the tolerance."""
    relative: bool
    """Whether tolerances are shares of the record's own value."""

    def __repr__(self) -> str:
        # Never the values: it is part of a result.
        return f"<Compared: {check.counted(len(self.values), 'record')}>"

    def candidates(self, values: Floats) -> Ints:
        """By record how many it could be if the numbers were others."""
        reach = np.abs(values) * self.widths if self.relative else np.broadcast_to(self.widths, values.shape)
        return _by_pattern(self.codes, values, reach)


@dataclass(frozen=True, eq=False)
class MixedUniqueness(Result):
    """How many records an intruder could not tell from each record, knowing numbers only within a tolerance."""

    size: int
    """Number of records."""
    count: Ints
    """By record: records that agree on the categorical keys and lie within the tolerance, itself included."""
    keys: tuple[str, ...]
    """The categorical keys."""
    tolerance: Mapping[str, float]
    """By numeric key."""
    relative: bool
    """Whether tolerances are shares of the record's own value."""
    not_valid: str = ""
    """Why the figures do not hold for this file; empty if they do."""
    compared: Compared | None = None
    """What was compared, to find out what would make more records alike."""

    @property
    def least(self) -> int:
        """The smallest number of records within the tolerance of one."""
        return int(self.count.min())

    @property
    def unique(self) -> int:
        """Records that nobody else could be."""
        return int((self.count == 1).sum())

    def below(self, k: int) -> int:
        """Records with fewer than k candidates."""
        return int((self.count < check.whole("k", k, 2)).sum())

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether fewer could be it than the policy asks for."""
        limited = policy.limit_of("mixed_uniqueness")
        return None if limited is None else np.asarray(self.count < limited.limit)

    @property
    def headline(self) -> str:
        """Records that are unique."""
        kind = "of its value" if self.relative else "absolute"
        known = ", ".join(f"{name} +- {width:g}" for name, width in self.tolerance.items())
        keys = ", ".join(self.keys) or "no categorical keys"
        return (
            f"{self.unique:,} of {self.size:,} records are unique ({percent(self.unique / self.size)}) on {keys} "
            f"and {known} ({kind})"
        )

    def to_frame(self) -> frame.Frame:
        """One row per record: its number of candidates."""
        return frame.table({"candidates": self.count})

    def record_columns(self) -> dict[str, Any]:
        """The number of candidates of each record."""
        return {"candidates": self.count}

    def to_dict(self) -> dict[str, Any]:
        """Unique records, and what was taken as known."""
        return {"unique": self.unique, "tolerance": dict(self.tolerance), "relative": self.relative}


@measure(
    needs="numeric_keys",
    limit=at_least(
        "least",
        "the smallest number of records within the tolerance",
        void=1.0,
        moved_by="Round the numeric keys more, TopCode the greatest, or Recode the categorical keys",
    ),
    for_numeric_keys=True,
    missing=own_rule("A record's own missing values widen who it could be, those of others do not help it."),
)
def mixed_uniqueness(
    data: Any,
    scenario: Scenario,
    tolerance: Annotated[Any, Doc("How far numbers may lie apart, one for all or by key; 5 % unless given.")] = None,
    *,
    relative: Annotated[bool, Doc("Whether a tolerance is a share of the number.")] = False,
) -> MixedUniqueness:
    """How many records share the categorical keys and lie within a tolerance of the numeric keys.

    Record h counts for i if all categorical keys agree and |x_hj - x_ij| <= tol_j for each numeric key, with
    tol_j absolute, or relative to |x_ij|. A record with a missing key counts all that agree on its
    other keys, and does not count for records that show that key (the one_way rule, here whatever the scenario's rule:
    a missing number has no distance). A code for not applicable is
    no blank: only records with the same code agree with it.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"industry": ["a", "a", "a", "b"], "turnover": [100.0, 104.0, 250.0, 101.0]})
    >>> scenario = Scenario(keys=["industry"], numeric_keys=["turnover"])
    >>> mixed_uniqueness(firms, scenario, 0.05, relative=True).count.tolist()
    [2, 2, 1, 1]
    """
    if tolerance is None:
        tolerance, relative = 0.05, True
    if not scenario.numeric_keys:
        raise TacitaError("mixed uniqueness needs numeric keys; pass numeric_keys=[...] in the scenario.")
    widths = _widths(scenario, tolerance)
    codes = [visible_categories(data, name).codes for name in scenario.keys]
    kinds, numbers = zip(*(_kinds_and_numbers(data, name) for name in scenario.numeric_keys), strict=True)
    values = np.column_stack(numbers)
    for name, column in zip(scenario.numeric_keys, values.T, strict=True):
        check_sizes(name, column)
    # Where nothing is not applicable the numbers alone say whether they are missing.
    compared = Compared([*codes, *(kind for kind in kinds if kind.max() > 1)], values, widths, relative)
    count = compared.candidates(values)
    named = dict(zip(scenario.numeric_keys, widths.tolist(), strict=True))
    not_valid = _perturbed(data, scenario) or units_not_counted(repeated_units(data, scenario))
    return MixedUniqueness(len(data), count, scenario.keys, named, relative, not_valid, compared)


def _perturbed(data: Data, scenario: Scenario) -> str:
    """Why records near each other say nothing: a step exchanged values for wrong ones; empty if none did."""
    names = [name for name in (*scenario.keys, *scenario.numeric_keys) if name in data.perturbed]
    if not names:
        return ""
    were = f"keys {check.quoted(names)} were" if len(names) > 1 else f"key {check.quoted(names)} was"
    return (
        f"the {were} perturbed: how many released records lie near each other no longer says how many people look "
        f"alike; limit neighbours, or record linkage against the original (distance_linkage), in place of "
        f"mixed_uniqueness."
    )


def _kinds_and_numbers(data: Data, name: str) -> tuple[Ints, Floats]:
    """A numeric key as a category, 0 where it is missing, 1 for a number, more for each code for missing or not
    applicable, and as a number, which is the same for all that have such a code."""
    known, values = data.variable(name), data.numbers(name)
    kinds = (~np.isnan(values)).astype(np.int64)
    raw = frame.numbers(data.table, name)
    code = (kinds == 0) & ~np.isnan(raw)
    kinds[code] = 3 + np.unique(raw[code], return_inverse=True)[1]
    if "" in known.not_applicable:
        kinds[kinds == 0] = 2
    return kinds, np.where(kinds > 1, 0.0, values)


def _widths(scenario: Scenario, tolerance: Mapping[str, float] | float) -> Floats:
    if not isinstance(tolerance, Mapping):
        tolerance = dict.fromkeys(scenario.numeric_keys, tolerance)
    absent = [name for name in scenario.numeric_keys if name not in tolerance]
    if absent:
        raise TacitaError(f"give a tolerance for every numeric key; {check.quoted(absent)} has none.")
    check.columns_exist("tolerance", list(tolerance), scenario.numeric_keys)
    widths = [check.number(f"tolerance of {name!r}", tolerance[name]) for name in scenario.numeric_keys]
    if min(widths) < 0:
        raise TacitaError(f"a tolerance must not be negative; got {min(widths):g}.")
    return np.array(widths)


def _by_pattern(codes: list[Any], values: Floats, reach: Floats) -> Ints:
    """Counts for the records of each pattern of blanks, among the records that show at least as much."""
    n, keys = len(values), len(codes)
    shown = np.column_stack([*(column > 0 for column in codes), ~np.isnan(values)])
    bits = shown @ (np.int64(1) << np.arange(shown.shape[1], dtype=np.int64))
    count = np.zeros(n, dtype=np.int64)
    for pattern in np.unique(bits):
        rows, others = np.flatnonzero(bits == pattern), np.flatnonzero(bits & pattern == pattern)
        categorical = [codes[j] for j in range(keys) if pattern >> j & 1]
        numeric = [j for j in range(values.shape[1]) if pattern >> (keys + j) & 1]
        sizes = [int(column.max()) + 1 for column in categorical]
        both = np.concatenate([others, rows])
        groups = np.unique(combined([column[both] for column in categorical], sizes, len(both)), return_inverse=True)[1]
        of_others, of_rows = groups[: len(others)], groups[len(others) :]
        if not numeric:
            count[rows] = np.bincount(of_others)[of_rows]
            continue
        centre, width = values[rows][:, numeric], reach[rows][:, numeric]
        count[rows] = neighbours(of_others, values[others][:, numeric], of_rows, centre, width)
    return count
