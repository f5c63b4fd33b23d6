"""Data: a frame, what is known of each variable, and a stable number for each record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data.stands_for import Condensed, OriginalWeights
from tacita.data.variable import FEW_VALUES, NOTHING_KNOWN, Scale, Variable, among_codes, compacted, in_order
from tacita.frame import Coded, Frame
from tacita.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Data:
    """A survey file in memory.

    Every function of Tacita takes `Data`, a path, or any pandas, Polars or Arrow table; `tacita.read` and `Data.of`
    make `Data` of the last two. Nothing ever changes a `Data`: steps return a new one with the same record numbers.

    >>> import polars as pl
    >>> data = Data.of(pl.DataFrame({"sex": ["f", "m", None], "age": [31, 47, 25]}))
    >>> len(data), data.columns
    (3, ('sex', 'age'))
    """

    table: Frame
    """The values."""
    variables: Mapping[str, Variable] = field(default_factory=dict)
    """What is known of the variables, by name; columns that are not named here are plain."""
    native: Any = None
    """The caller's own table, for `to_native`."""
    changed: frozenset[str] = frozenset()
    """Columns that differ from the caller's table."""
    numbers_of_records: Ints | None = None
    """Record numbers, if they are not simply 1 to n."""
    original_weights: OriginalWeights | None = field(default=None, repr=False)
    """The weights as they were, where a step changed them or dropped records: the population stays what it was."""
    units: Ints | None = None
    """By record the number of its unit (person, firm) before the first step of a plan, so that a file in which the
    identifier was removed or changed still counts units; None: the identifier says it."""
    original_size: int | None = None
    """How many units the file had before a step added or dropped records: so many make up the population by N/n; None:
    as many as it has."""
    of_release: bool = False
    """Whether the file lies beside the codebook of a release, and so was made of another one."""
    mechanisms: tuple[Mechanism, ...] = field(default=(), repr=False)
    """What steps did to values, in their order: an intruder who knows it attacks better. In no released file."""
    understood: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What reading made of some columns that they no longer show, by name, for `describe`."""
    before: Data | None = field(default=None, init=False, repr=False)
    """The file that this is a release of, while it is measured: never part of a copy."""
    condensed: Condensed | None = field(default=None, repr=False)
    """What the rows stand for, where each of them is many records of a file on an engine; None: one record each."""
    stands_for: Floats | None = field(default=None, repr=False)
    """By record of a sample how many records of its stratum it stands for; None: the file is no sample of another."""
    memory: dict[Any, Any] | None = field(default=None, init=False, repr=False)
    """What was worked out once and is used again while a file is assessed; None: nothing is kept."""

    def __post_init__(self) -> None:
        if not isinstance(self.table, frame.Frame):
            raise TacitaError(f"table must be a Polars table; got a {type(self.table).__name__}, pass it to Data.of().")
        if not all(isinstance(known, Variable) for known in check.mapping("variables", self.variables).values()):
            raise TacitaError("variables must be a table of names, each with a Variable(...).")
        check.columns_exist("variables", list(self.variables), self.columns)
        patterns = [name for name in self.columns if name.startswith("^") and name.endswith("$")]
        if patterns:  # to Polars that is a pattern, which stands for other columns too
            raise TacitaError(f"names of columns must not go from ^ to $; rename {check.quoted(patterns)}.")
        for what, numbers in (("record numbers", self.numbers_of_records), ("units", self.units)):
            if numbers is not None and np.shape(numbers) != (len(self),):
                raise TacitaError(f"{what} must be one per record; got {np.size(numbers):,}.")

    @classmethod
    def of(cls, source: Any, variables: Mapping[str, Variable] | None = None) -> Data:
        """`Data` of anything that holds a table: Data, a path, a pandas, Polars or Arrow table, or a release."""
        if not isinstance(source, Data) and isinstance(getattr(source, "data", None), Data):
            source = source.data
        if isinstance(source, Data):
            return source if variables is None else replace(source, variables=variables)
        if isinstance(source, str | Path):
            from tacita.data.files import read

            return cls.of(read(source), variables)
        # A copy: what the caller changes later in his table, or in the one he gets back, is no change of these data.
        native = frame.independent_copy(source)
        mixed: list[str] = []
        table = frame.from_native(native, mixed)
        # What is counted as text is given back as text.
        understood = dict.fromkeys(mixed, "several types, read as text")
        return cls(table, variables or {}, native=native, changed=frozenset(mixed), understood=understood)

    @property
    def perturbed(self) -> frozenset[str]:
        """Columns in which a protection step exchanged values for wrong ones."""
        return frozenset(name for name, known in self.variables.items() if known.perturbed)

    def with_perturbed(self, names: Iterable[str]) -> Data:
        """A copy that says of some columns that their values were exchanged for wrong ones."""
        fresh = {name: replace(self.variable(name), perturbed=True) for name in names if name in self.columns}
        return replace(self, variables={**self.variables, **fresh}) if fresh else self

    def with_declared(self, said: Mapping[str, Variable]) -> Data:
        """A copy in which what is said of some variables stands in place of what was known of them.

        A variable declared nominal or ordinal whose fractions are all whole numbers becomes one of whole numbers: its
        codes are 1 and 2, not 1.0 and 2.0.
        """
        known = {name: each.over(self.variable(name)) for name, each in said.items() if name in self.columns}
        fresh = {name: each for name, each in known.items() if each != self.variable(name)}
        codes = [name for name in fresh if fresh[name].scale in ("nominal", "ordinal")]
        table = frame.with_whole_numbers(self.table, codes)
        return replace(self, table=table, variables={**self.variables, **fresh}) if fresh else self

    def with_scales(self, scales: Mapping[str, Scale]) -> Data:
        """A copy in which these variables have these scales."""
        return self.with_declared({name: Variable(scale=scale) for name, scale in scales.items()})

    def remembering(self) -> Data:
        """The same data, keeping what measures work out of it (codes, key tables) for the next measure."""
        copy = replace(self)
        object.__setattr__(copy, "memory", {})
        object.__setattr__(copy, "before", self.before)
        return copy

    def released_from(self, original: Data | None) -> Data:
        """The same data, knowing for as long as they are measured what they are a release of."""
        copy = replace(self)
        object.__setattr__(copy, "before", original)
        return copy

    def once(self, key: Any, work: Callable[[], Any]) -> Any:
        """What `work` gives; worked out once per key where the data are remembering."""
        if self.memory is None:
            return work()
        if key not in self.memory:
            self.memory[key] = work()
        return self.memory[key]

    def __len__(self) -> int:
        return self.table.height

    @property
    def size(self) -> int:
        """The number of records that the rows stand for: as many as rows, unless the data are condensed."""
        return len(self) if self.condensed is None else self.condensed.size

    @property
    def repeats(self) -> Ints | None:
        """By row how many records it stands for; None: each is one."""
        return None if self.condensed is None else self.condensed.records

    def __repr__(self) -> str:
        # Never the cells: a Data is printed into logs and notebooks.
        return f"<Data: {check.counted(len(self), 'record')}, {check.counted(len(self.columns), 'variable')}>"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self.table.columns)

    @cached_property
    def record(self) -> Ints:
        """The stable number of each record, from 1 unless given."""
        if self.numbers_of_records is not None:
            return self.numbers_of_records
        return np.arange(1, len(self) + 1, dtype=np.int64)

    def variable(self, name: str) -> Variable:
        """What is known of a variable."""
        return self.variables.get(name, NOTHING_KNOWN)

    def scale(self, name: str) -> Scale:
        """The scale of a variable, declared or inferred: text and codes nominal, ordered categories ordinal,
        measured numbers (fractions, or whole numbers with more than 20 values) numeric."""
        declared = self.variable(name).scale
        if declared is not None:
            return declared
        if self.variable(name).order or frame.is_ordered(self.table, name):
            return "ordinal"
        if frame.is_float(self.table, name):
            return "numeric"
        if frame.is_whole(self.table, name) and frame.distinct(self.table, name) > FEW_VALUES:
            return "numeric"
        return "nominal"

    def numbers(self, name: str) -> Floats:
        """A variable as numbers, NaN where missing: codes declared missing or not applicable are no measurements."""
        values = frame.numbers(self.table, name)
        known = self.variable(name)
        codes, ranges = (*known.missing, *known.not_applicable), known.missing_ranges
        if not codes and not ranges:
            return values
        return np.where(among_codes(values, codes, ranges), np.nan, values)

    def missing(self, name: str) -> Bools:
        """Where a variable is missing: no value, or a code declared missing and not declared not applicable."""
        known = self.variable(name)
        if known.missing or known.missing_ranges or known.not_applicable:
            gone: Bools = self.coded(name).codes == 0
            return gone
        return frame.missing(self.table, name)

    def coded(self, name: str, not_applicable: Iterable[Any] = ()) -> Coded:
        """A variable as codes of its categories, 0 where missing.

        Codes declared not applicable are categories; the empty text among them makes a blank one.
        """
        further = tuple(not_applicable)
        coded: Coded = self.once(("coded", name, further), lambda: self._coded(name, further))
        return coded

    def _coded(self, name: str, not_applicable: tuple[Any, ...]) -> Coded:
        known = self.variable(name)
        applied = (*known.not_applicable, *not_applicable)
        codes, values = frame.coded(self.table, name)
        blank = codes == 0
        if known.missing or known.missing_ranges:
            gone = (known.is_missing(value) and value not in applied for value in values)
            kept = np.array([0, *(0 if missing else 1 for missing in gone)], dtype=np.uint32)
            codes, values = compacted(codes * kept[codes], values)
        if known.order:
            # Whoever the question does not apply to has no place in the order of the answers: behind them.
            behind = tuple(code for code in applied if code not in known.order)
            codes, values = in_order(name, codes, values, (*known.order, *behind))
        if "" in applied and blank.any():
            # The blank becomes the category of the empty text; a code declared missing stays missing beside it.
            if "" in values:
                return Coded(np.where(blank, np.uint32(values.index("") + 1), codes), values)
            moved = np.where(codes > 0, codes + np.uint32(1), np.uint32(0))
            return Coded(np.where(blank, np.uint32(1), moved), ("", *values))
        return Coded(codes, values)

    def groups(self, name: str) -> tuple[Ints, int]:
        """For each record the place of the group that an identifier puts it in, and the number of groups.

        -1 where it puts it in none: where it is missing, or a code declared missing or not applicable.
        """
        place, count = frame.groups(self.table, name)
        known = self.variable(name)
        if not (known.missing or known.missing_ranges or known.not_applicable):
            return place, count
        codes, values = frame.coded(self.table, name)
        none = np.array([True, *(known.is_missing(value) or value in known.not_applicable for value in values)])[codes]
        different, dense = np.unique(place[~none], return_inverse=True)
        place = np.full(len(self), -1, dtype=np.int64)
        place[~none] = dense
        return place, len(different)

    def households(self, name: str) -> tuple[Ints, int, int]:
        """For each record the place of its household by an identifier, how many there are, and how many lack one.

        A record that the identifier puts in no group is a household of its own.
        """
        place, count = self.groups(name)
        none = place < 0
        alone = int(none.sum())
        return np.where(none, count + np.cumsum(none) - 1, place), count + alone, alone

    def unit_places(self, name: str | None) -> tuple[Ints, int]:
        """For each record the place of its unit by an identifier, and the number of units.

        A record that has no identifier is a unit of its own.
        """
        if self.units is not None:
            different, place = np.unique(self.units, return_inverse=True)
            return place, len(different)
        if name is None:
            return np.arange(len(self), dtype=np.int64), len(self)
        return self.households(name)[:2]

    def with_columns(self, columns: Mapping[str, Any], variables: Mapping[str, Variable] | None = None) -> Data:
        """A copy with some columns replaced or added, and what is known of them if that changes."""
        fresh = frame.table(columns)
        return replace(
            self,
            table=self.table.with_columns(fresh.get_columns()),
            changed=self.changed | frozenset(columns),
            variables={**self.variables, **(variables or {})},
        )

    def blanked(self, cells: Mapping[str, Bools]) -> Data:
        """A copy in which some cells are missing: by column, where."""
        return replace(self, table=frame.blanked(self.table, cells), changed=self.changed | frozenset(cells))

    def without(self, names: Iterable[str]) -> Data:
        """A copy without some columns."""
        gone = set(names)
        return replace(
            self,
            table=frame.without(self.table, gone),
            variables={name: known for name, known in self.variables.items() if name not in gone},
            changed=self.changed - gone,
        )

    def take(self, rows: Ints) -> Data:
        """Some of the records, in the order given, with their record numbers; the caller's index is gone."""
        table, weights = self.table[rows], self.original_weights
        return Data(
            table,
            self.variables,
            native=frame.of_kind(table, self.native),
            # The new table may still hold, below the mark of a missing cell, what was blanked before: none of its
            # columns is the caller's own, and all of them are written anew.
            changed=frozenset(self.columns),
            numbers_of_records=self.record[rows],
            original_weights=None if weights is None else weights.of_rows(rows),
            units=None if self.units is None else self.units[rows],
            original_size=self.original_size,
            of_release=self.of_release,
            mechanisms=self.mechanisms,
            condensed=None if self.condensed is None else self.condensed.of_rows(rows),
            stands_for=None if self.stands_for is None else self.stands_for[rows],
        )

    def rebuilt(self) -> Data:
        """The same records with nothing of values that no record has (any more).

        Columns are built anew, categories, their declared order, value labels and codes declared missing or not
        applicable are cut down to what occurs, and the caller's own table, which holds what the values were, is let go.
        Empty texts become empty cells.
        """
        empty = {name: where for name in self.columns if (where := frame.empty_texts(self.table, name)).any()}
        if empty:
            # Some formats tell an empty text from no text and others do not: a release holds one of the two.
            return self.blanked(empty).rebuilt()
        kept = {name: _of_values_present(self, name) for name in self.variables}
        categorical = [name for name in self.columns if frame.is_categorical(self.table, name)]
        changed = self.changed | frozenset(categorical) | frozenset(frame.with_categories(self.native))
        fresh = replace(self, table=frame.rebuilt(self.table), variables=kept, changed=changed & set(self.columns))
        return replace(fresh, native=frame.independent_copy(fresh.to_native()), changed=frozenset())

    def to_native(self) -> Any:
        """The caller's kind of table: index and untouched columns as they were."""
        orders = {name: self.variable(name).order for name in self.changed if self.variable(name).order}
        return frame.to_native(self.table, self.native, self.changed, orders)

    def describe(self) -> Frame:
        """One row per variable: label, scale and whether it was inferred, different values, missing values, and what
        was understood of it; none of its values, but codes that were declared."""
        from tacita.data.described import understood

        names = list(self.columns)
        declared = [self.variable(name).scale is not None for name in names]
        values = [frame.distinct(self.table, name) for name in names]
        return frame.table(
            {
                "variable": names,
                "label": [self.variable(name).label for name in names],
                "scale": [self.scale(name) for name in names],
                "inferred": [not known for known in declared],
                "values": values,
                "missing": [int(self.missing(name).sum()) for name in names],
                "understood": [understood(self, name, count) for name, count in zip(names, values, strict=True)],
            }
        )


def used_value_labels(data: Data, name: str) -> dict[Any, str]:
    """The value labels of the codes that some record has: the label of a code that no record has any more would tell
    what was suppressed.

    >>> import polars as pl
    >>> sex = Variable(value_labels={1: "male", 2: "female", 3: "other"})
    >>> used_value_labels(Data.of(pl.DataFrame({"sex": [1, 2, 1]}), {"sex": sex}), "sex")
    {1: 'male', 2: 'female'}
    """
    present = set(frame.coded(data.table, name).values)
    return {code: label for code, label in data.variable(name).value_labels.items() if code in present}


def _of_values_present(data: Data, name: str) -> Variable:
    """What is known of a variable, without labels, places in the order and declared codes of values that no record has.

    A code for a missing value that was suppressed would stand in the file as one that somebody had.
    """
    known = data.variable(name)
    if not (known.value_labels or known.order or known.missing or known.missing_ranges or known.not_applicable):
        return known
    present = set(frame.coded(data.table, name).values)
    numbers = [value for value in present if isinstance(value, int | float | Decimal)]
    return replace(
        known,
        value_labels={code: label for code, label in known.value_labels.items() if code in present},
        order=tuple(value for value in known.order if value in present),
        missing=tuple(code for code in known.missing if code in present),
        missing_ranges=tuple(
            (low, high) for low, high in known.missing_ranges if any(low <= value <= high for value in numbers)
        ),
        # The empty text stands for a blank, which is no value.
        not_applicable=tuple(code for code in known.not_applicable if code == "" or code in present),
    )
