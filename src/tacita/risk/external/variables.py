"""Variables of the intruder's and the released file, made ready to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from tacita import frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.variable import among_codes
from tacita.data.visible import visible_categories, visible_missing_codes
from tacita.distance.comparison import check_sizes
from tacita.frame import Coded
from tacita.repeats import some
from tacita.risk.external.agreement import NOTHING, Compared, Level
from tacita.risk.external.files import Files, shown_in_both
from tacita.risk.external.numbers import nearest_agrees, placed
from tacita.risk.external.recoding import (
    Ranges,
    recoded_categories,
    recoded_classes,
    recoded_numbers,
)
from tacita.scenario import Scenario

BLANK = np.inf
"""In place of a code: the blank of those to whom a question does not apply."""


class Prepared(NamedTuple):
    """A variable ready to be compared, and how the release changed it."""

    compared: Compared
    recoded: bool
    """Whether released values are others than the original ones, in a way that an intruder can follow."""
    exchanged: bool
    """Whether values look exchanged for wrong ones though nothing says that they were."""
    suppressed: bool
    """Whether the release is missing some values that the original shows."""


def compared_variable(files: Files, scenario: Scenario, name: str, tolerance: float) -> Prepared:
    """A variable by its scale: categories are equal or not, numbers agree within the tolerance."""
    if _is_numeric(files, scenario, name):
        found = _compared_numbers(files, name, tolerance)
        if found is not None:
            return found
    return _compared_categories(files, name)


def _is_numeric(files: Files, scenario: Scenario, name: str) -> bool:
    if name in scenario.numeric_keys or name in scenario.all_keys:
        # What the scenario lists as a category is one, as in every count of equal keys.
        return name in scenario.numeric_keys
    return _source(files, name).scale(name) == "numeric"


def _source(files: Files, name: str) -> Data:
    """The file that says what a variable is."""
    return files.original if name in files.original.columns else files.intruder


# Categories.


def _compared_categories(files: Files, name: str) -> Prepared:
    known, original, released = _common_codes(files, name)
    size = int(max(codes.max(initial=0) for codes in (known, original, released))) + 1
    perturbed = name in files.released.perturbed
    x, y = shown_in_both(files, original > 0, released > 0) if len(original) else (original, original)
    repeats = some(files.released.repeats, y)
    found = recoded_categories(original[x], released[y], size, perturbed, repeats)
    levels = tuple(Level(become[known]) for become in found.become)
    missing = released == 0
    return Prepared(
        Compared(name, found.level[released], released, levels, missing),
        found.recoded,
        found.exchanged and not perturbed,
        _is_suppressed(files, original > 0, missing),
    )


def _common_codes(files: Files, name: str) -> tuple[Ints, Ints, Ints]:
    """Codes of what a reader tells apart, the same in the intruder's, the original and the released file; 0: missing.

    The original may lack the variable: then it has no codes.
    """
    there = name in files.original.columns
    apart = there and files.original is not files.intruder
    listed = [files.intruder, files.released, *([files.original] if apart else [])]
    applied = tuple(code for data in listed for code in _declared(data, name))
    columns = [visible_categories(data, name, applied) for data in listed]
    # What the release holds instead can be learned where records of both are known; otherwise all must be alike.
    alike = columns[::2] if there and files.own is not None else columns
    if len({_kind(value) for column in alike for value in column.values if value != ""}) > 1:
        raise TacitaError(f"column {name!r} must hold the same kind of values in both files; it does not.")
    known, released, *original = _numbered(columns)
    if apart:
        return known, original[0], released
    return known, known if there else np.zeros(0, np.int64), released


def _declared(data: Data, name: str) -> tuple[Any, ...]:
    return (*data.variable(name).not_applicable, *visible_missing_codes(data, name))


def _kind(value: Any) -> str:
    return "number" if isinstance(value, int | float | Decimal) else type(value).__name__


def _numbered(columns: Sequence[Coded]) -> list[Ints]:
    """Codes that stand for the same value in all columns."""
    number: dict[Any, int] = {}
    found = []
    for column in columns:
        values = (float(value) if isinstance(value, Decimal) else value for value in column.values)
        lookup = np.array([0, *(number.setdefault(value, len(number) + 1) for value in values)], dtype=np.int64)
        found.append(lookup[column.codes])
    return found


def _is_suppressed(files: Files, shown: Bools, missing: Bools) -> bool:
    """Whether some record is missing what the original shows; where nobody knows the original, is missing at all."""
    x, y = files.shared
    if not len(x) or not len(shown):
        return bool(missing.any())
    return bool((shown[x] & missing[y]).any())


# Numbers.


def _compared_numbers(files: Files, name: str, tolerance: float) -> Prepared | None:
    """A numeric variable; None where the release has classes of it that are not ranges."""
    there = name in files.original.columns
    others = [files.intruder, *([files.original] if there else [])]
    as_numbers = _holds_numbers(files.released, name)
    codes = _Codes.of([*others, *([files.released] if as_numbers else [])], name)
    (known, code), *rest = (codes.split(data, name) for data in others)
    original = rest[0][0] if there else np.zeros(0)
    perturbed = name in files.released.perturbed
    if as_numbers:
        numbers, released_code = codes.split(files.released, name)
        values, at = np.unique(numbers, return_inverse=True)
        x, y = shown_in_both(files, ~np.isnan(original), ~np.isnan(numbers)) if there else (np.zeros(0, np.int64),) * 2
        ranges = recoded_numbers(original[x], at[y], values, perturbed)
        missing = np.isnan(numbers) & np.isnan(released_code)
    else:
        classes = visible_categories(files.released, name)
        missing, released_code = classes.codes == 0, np.full(len(files.released), np.nan)
        at = np.maximum(classes.codes.astype(np.int64) - 1, 0)
        x, y = shown_in_both(files, ~np.isnan(original), ~missing) if there else (np.zeros(0, np.int64),) * 2
        found = None if perturbed or not len(x) else recoded_classes(original[x], at[y], max(len(classes.values), 1))
        if found is None:
            return None
        ranges = found
    compared = _placed_numbers(name, known, code, ranges, at, missing, released_code, tolerance)
    suppressed = _is_suppressed(files, ~np.isnan(original), missing)
    return Prepared(compared, ranges.recoded, ranges.exchanged and not perturbed, suppressed)


def _holds_numbers(data: Data, name: str) -> bool:
    kinds = (frame.is_float, frame.is_whole, frame.is_decimal, frame.is_boolean)
    return any(kind(data.table, name) for kind in kinds) or bool(frame.missing(data.table, name).all())


def _placed_numbers(
    name: str,
    known: Floats,
    code: Floats,
    ranges: Ranges,
    at: Ints,
    missing: Bools,
    released_code: Floats,
    tolerance: float,
) -> Compared:
    """Levels of ranges, then one of codes, then one of what is missing, for which the nearest released value stands."""
    levels, level, place = placed(known, ranges, tolerance)
    coded = ~np.isnan(released_code)
    different = np.unique(np.concatenate([code[~np.isnan(code)], released_code[coded]]))
    of_code = Level(np.where(np.isnan(code), NOTHING, np.searchsorted(different, code)))
    nearest = nearest_agrees(known, ranges.low, ranges.high, tolerance)
    of_missing = Level(np.where(nearest, 0, NOTHING))
    level, place = level[at], place[at]
    level[coded], place[coded] = len(levels), np.searchsorted(different, released_code[coded])
    level[missing], place[missing] = len(levels) + 1, 0
    return Compared(name, level, place, (*levels, of_code, of_missing), missing)


class _Codes(NamedTuple):
    """What any of the files declares to be no measurement: it is a category of its own in all of them."""

    codes: tuple[Any, ...]
    ranges: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, listed: Sequence[Data], name: str) -> _Codes:
        declared = [data.variable(name) for data in listed]
        return cls(
            tuple(code for each in declared for code in (*each.missing, *each.not_applicable)),
            tuple(ends for each in declared for ends in each.missing_ranges),
        )

    def split(self, data: Data, name: str) -> tuple[Floats, Floats]:
        """A variable as numbers, NaN where there is none, and as codes, NaN where it is a number or missing."""
        values = frame.numbers(data.table, name)
        gone = among_codes(values, self.codes, self.ranges)
        code = np.where(gone, values, np.nan)
        if "" in {each for each in self.codes if isinstance(each, str)}:
            code[np.isnan(values)] = BLANK
        numbers = np.where(gone, np.nan, values)
        check_sizes(name, numbers)
        return numbers, code
