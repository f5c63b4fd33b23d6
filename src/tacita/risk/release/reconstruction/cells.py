"""Protected cells: what of the original the release does not show, and what a right guess of it would be."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita import frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.repeats import counts, distinct, some
from tacita.risk.release.reconstruction.misleading import Misleading
from tacita.risk.release.reconstruction.values import (
    is_number,
    numbers_of,
    plain_text,
    plain_value,
    same_number,
    unit_of,
)


@dataclass(frozen=True, eq=False)
class Protected:
    """One variable of the original, and the records whose value of it the release does not show."""

    name: str
    rows: Ints
    """Rows of the released file whose cell is protected."""
    suppressed: Bools
    """By protected cell: whether the release shows nothing in its place."""
    shown: Ints
    """By row of the released file: the code of the released value, 0 where there is none."""
    truth: Ints
    """By protected cell: the code of the original value."""
    target: Ints
    """By protected cell: what a guess may be besides: of a suppressed cell, the class that its value is released in."""
    values: tuple[Any, ...]
    """What the codes 1, 2, ... stand for."""
    codes: int
    """The greatest code."""
    numbers: Floats | None
    """By row: the original value as a number; None if it is none."""
    released_numbers: Floats | None
    """By row: the released value as a number, NaN where it is none; None if the variable is gone or is text."""
    removed: bool
    """Whether the variable is no longer there."""
    is_protected: Bools
    """By row: whether the cell is protected, whether it is asked for or not."""
    perturbed_by: str = ""
    """What last exchanged values for wrong ones: the kind of mechanism; empty where nothing did."""
    drawn: bool = False
    """Whether values were drawn from a model: one that is shown says nothing of its own record."""
    blank: int = 0
    """The code of a blank that was drawn like a value; 0 where blanks are cells without one."""
    repeats: Ints | None = None
    """By row how many records it stands for, where files are on an engine; None: each is one."""

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def times(self) -> Ints | None:
        """By protected cell how many records it stands for; None: each is one."""
        return some(self.repeats, self.rows)

    @property
    def size(self) -> int:
        """Protected cells, of all records."""
        return len(self) if self.times is None else int(self.times.sum())

    @cached_property
    def misleading(self) -> Misleading:
        """What rules say that an intruder would trust but should not; attacks add to it."""
        return Misleading(len(self))

    @cached_property
    def shown_rows(self) -> Ints:
        """Rows that have a released value: what an intruder learns from, whether it is true or not."""
        return np.flatnonzero(self.shown)

    @cached_property
    def shares(self) -> Floats:
        """By code: its share of the released values."""
        count = counts(self.shown[self.shown_rows], some(self.repeats, self.shown_rows), self.codes + 1)
        return count / max(int(count.sum()), 1)

    @cached_property
    def modes(self) -> Ints:
        """The most frequent released values, mostly one: guesses without anything else."""
        return np.flatnonzero(self.shares == self.shares.max()) if len(self.shown_rows) else np.zeros(0, np.int64)

    @cached_property
    def true_rows(self) -> Ints:
        """Rows that show the original value."""
        return np.flatnonzero((self.shown > 0) & ~self.is_protected)

    @cached_property
    def code_of(self) -> dict[Any, int]:
        """The code of each value."""
        return {value: code for code, value in enumerate(self.values, start=1)}

    @cached_property
    def unit(self) -> float:
        """The last digit that the original numbers are given to."""
        return 0.0 if self.numbers is None else unit_of(self.numbers)

    @cached_property
    def spread(self) -> float:
        """How far apart the original numbers are: nearly all different ones, since one that is far off says nothing."""
        different = np.zeros(0) if self.numbers is None else np.unique(self.numbers[~np.isnan(self.numbers)])
        return float(np.subtract(*np.quantile(different, [0.95, 0.05]))) if len(different) else 0.0

    @cached_property
    def learnable(self) -> Bools:
        """By protected cell: whether some row shows its value, or its class; no rule from rows tells others."""
        shown: Bools = (self.shares[self.truth] > 0) | (self.shares[self.target] > 0)
        return shown

    def is_right(self, guess: Ints) -> Bools:
        """By protected cell: whether a guess is the original value, or the class that it would be released in."""
        right: Bools = (guess > 0) & ((guess == self.truth) | (guess == self.target))
        return right

    def is_guess(self, guess: Ints) -> Bools:
        """By protected cell: whether there is a guess, and it says another thing than the release itself."""
        said: Bools = (guess > 0) & (guess != self.blank) & (guess != self.shown[self.rows])
        return said

    @property
    def suppressed_only(self) -> Protected:
        """The same variable, of which only the suppressed cells are asked for."""
        asked = self.suppressed
        return replace(
            self,
            rows=self.rows[asked],
            suppressed=asked[asked],
            truth=self.truth[asked],
            target=self.target[asked],
        )

    def text_of(self, code: int) -> str:
        """The value of a code as a text."""
        return plain_text(self.values[code - 1]) if 0 < code <= len(self.values) else ""


@dataclass(frozen=True, eq=False)
class Files:
    """The records that both files have, in the order of the released one."""

    original: Data
    released: Data
    rows: Ints
    """By record: its row in the original file."""
    released_rows: Ints
    """By record: its row in the released file, in which there can be others that are new."""
    released_size: int
    """Records of the released file, new ones included."""
    household: str | None
    """The identifier of the household, if it is released."""
    weight: str | None = None
    """The sampling weight, if it is released: it is coarsened by a step of its own."""
    rules: Any = None
    """Declared relations and published totals."""
    memory: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What was worked out of released columns once."""

    def __len__(self) -> int:
        return len(self.released)

    @property
    def size(self) -> int:
        """Records that both files have."""
        return self.released.size

    @property
    def repeats(self) -> Ints | None:
        """By row how many records it stands for, where files are on an engine; None: each is one."""
        return self.released.repeats

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Released columns that values can be read from: all but lists and objects."""
        return tuple(name for name in self.released.columns if self.codes(name) is not None)

    @property
    def unread(self) -> tuple[str, ...]:
        """The other released columns."""
        return tuple(name for name in self.released.columns if name not in self.columns)

    def codes(self, name: str) -> Ints | None:
        """A released column as codes in the order of its values, blanks and missing codes as a reader sees them."""
        return None if self._coded(name) is None else self._coded(name)[0]

    def values(self, name: str) -> tuple[Any, ...]:
        """What the codes 1, 2, ... of a released column stand for."""
        values: tuple[Any, ...] = self._coded(name)[1]
        return values

    def distinct(self, name: str) -> int:
        """Different values of a released column, a blank not among them."""
        return len(self.values(name))

    def unit(self, name: str) -> float:
        """The last digit that a released column of numbers is given to."""
        key = ("unit", name)
        if key not in self.memory:
            numbers = self.numbers(name)
            self.memory[key] = 0.0 if numbers is None else unit_of(numbers)
        return float(self.memory[key])

    def numbers(self, name: str) -> Floats | None:
        """A released column as numbers, days for dates; None for text."""
        key = ("numbers", name)
        if key not in self.memory:
            self.memory[key] = numbers_of(self.released, name)
        found: Floats | None = self.memory[key]
        return found

    def _coded(self, name: str) -> Any:
        if name not in self.memory:
            try:
                codes, values = frame.coded(self.released.table, name)
                self.memory[name] = (codes.astype(np.int64), values)
            except TacitaError:
                self.memory[name] = None
        return self.memory[name]


def members(files: Files, name: str) -> Floats:
    """By row: how many records have the same value of an identifier, NaN where it has none."""
    codes = files.codes(name)
    assert codes is not None
    count = np.bincount(codes).astype(np.float64)
    return np.where(codes > 0, count[codes], np.nan)


def joint_codes(name: str, *files: Data) -> tuple[list[Ints], tuple[Any, ...]]:
    """A column of several files in the same codes, 0 where missing, and what the codes 1, 2, ... stand for."""
    known = [each.variable(name) for each in files]
    declared = any(each.missing or each.missing_ranges or each.not_applicable for each in known)
    if all(is_number(each, name) for each in files) and not declared:
        numbers = same_number(np.concatenate([each.numbers(name) for each in files]))
        values, inverse = np.unique(numbers, return_inverse=True)
        there = values[~np.isnan(values)]
        codes = np.where(np.isnan(values), 0, np.arange(1, len(values) + 1))[inverse]
        ends = np.cumsum([len(each) for each in files])[:-1]
        return list(np.split(codes, ends)), tuple(there.tolist())
    code_of: dict[Any, int] = {}
    found = []
    for each in files:
        own, values_of = each.coded(name)
        lookup = np.array([0, *(code_of.setdefault(plain_value(value), len(code_of) + 1) for value in values_of)])
        found.append(lookup[own])
    return found, tuple(code_of)


def protected_variables(files: Files, names: Collection[str] | None = None) -> Iterator[Protected]:
    """Every variable of the original, or of some names, of which the release does not show all values."""
    for name in files.original.columns:
        if names is not None and name not in names:
            continue
        try:
            found = _protected(files, name)
        except TacitaError:
            # Lists and objects: nothing here can tell or compare them.
            continue
        if found is not None:
            yield found


def _protected(files: Files, name: str) -> Protected | None:
    there = name in files.released.columns
    both = (files.original, files.released) if there else (files.original,)
    (was, *now), values = joint_codes(name, *both)
    shown = now[0] if there else np.zeros(len(files), dtype=np.int64)
    mechanisms = [each for each in files.released.mechanisms if name in each.variables]
    done = [each.kind for each in mechanisms]
    drawn, blank = "synthesis" in done, 0
    if drawn and there and "suppression" not in done[done.index("synthesis") :]:
        # Who has no value was drawn as well: a blank hides nothing.
        blank = len(values) + 1
        shown, values = np.where(shown == 0, blank, shown), (*values, None)
    protected = (was > 0) & (was != shown)
    rows = np.flatnonzero(protected)
    if not len(rows):
        return None
    truth = was[rows]
    return Protected(
        name=name,
        rows=rows,
        suppressed=shown[rows] == 0,
        shown=shown,
        truth=truth,
        target=np.where(shown[rows] == 0, released_as(was, shown, len(values), files.repeats)[truth], truth),
        values=values,
        codes=len(values),
        numbers=numbers_of(files.original, name),
        released_numbers=numbers_of(files.released, name) if there else None,
        removed=not there,
        is_protected=protected,
        perturbed_by=next((each.kind for each in reversed(mechanisms) if each.perturbs), ""),
        drawn=drawn,
        blank=blank,
        repeats=files.repeats,
    )


def released_as(was: Ints, shown: Ints, codes: int, repeats: Ints | None = None) -> NDArray[np.int64]:
    """By original code: the code that most records with it are released with; itself if none is, or if two are."""
    seen = (was > 0) & (shown > 0)
    pairs, count = distinct(was[seen] * (codes + 1) + shown[seen], some(repeats, seen))
    found = np.arange(codes + 1)
    if not len(pairs):
        return found
    start = np.flatnonzero(np.diff(pairs // (codes + 1), prepend=-1))
    most = np.repeat(np.maximum.reduceat(count, start), np.diff(np.append(start, len(pairs))))
    top = count == most
    alone = np.add.reduceat(top.astype(np.int64), start) == 1
    became = np.add.reduceat(np.where(top, pairs % (codes + 1), 0), start)
    found[(pairs[start] // (codes + 1))[alone]] = became[alone]
    return found
