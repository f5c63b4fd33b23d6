"""Two files made comparable: their common variables as numbers, and how distances are taken."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.visible import visible_missing_codes
from tacita.distance.distances import (
    Metric,
    euclidean,
    gower,
    mahalanobis_map,
    manhattan,
    mapped,
    standard_weight,
)
from tacita.frame import Coded

DISTANCES = ("euclidean", "manhattan", "mahalanobis", "gower")
LARGEST = 1e150
"""The squares of larger numbers are no numbers: one code beyond them, as programs write for missing values, would make
all other values of a variable look alike, and nobody could be linked by it."""


def number_columns(data: Data, names: tuple[str, ...], what: str) -> Floats:
    """Variables as columns of numbers, NaN where missing; infinite values are an error."""
    check.columns_exist(f"keys of the {what} file", names, data.columns)
    values = np.column_stack([data.numbers(name) for name in names])
    infinite = [name for name, column in zip(names, values.T, strict=True) if np.isinf(column).any()]
    if infinite:
        raise TacitaError(f"keys must be finite; {check.quoted(infinite)} of the {what} file is not, correct it.")
    huge = [name for name, column in zip(names, values.T, strict=True) if (np.abs(column) > LARGEST).any()]
    if huge:
        raise TacitaError(
            f"numbers must be below {LARGEST:g} in size to be compared; those of {check.quoted(huge)} of the {what} "
            f"file are not, declare such codes missing."
        )
    return values


def check_sizes(name: str, values: Floats) -> None:
    """An error if a variable has infinite numbers, or numbers too large to be compared or added up."""
    if np.isinf(values).any():
        raise TacitaError(f"variables must be finite; {name!r} has infinite values, correct the file.")
    if (np.abs(values) > LARGEST).any():
        raise TacitaError(
            f"numbers must be below {LARGEST:g} in size to be compared; those of {name!r} are not, declare such codes "
            f"missing."
        )


class Compared(NamedTuple):
    """The variables of two files, one column each, NaN where missing."""

    original: Floats
    released: Floats
    nominal: Bools
    """By variable: whether its numbers are codes, which are equal or not."""


def common_values(original: Data, released: Data, names: tuple[str, ...]) -> Compared:
    """Numbers as they are, ordered categories as their place in the order, other categories as common codes.

    The scale of a variable is that of the original file.
    """
    _check_names(original, released, names)
    nominal = np.array([original.scale(name) == "nominal" for name in names])
    pairs = [_column(original, released, name, original.scale(name)) for name in names]
    x, y = (np.column_stack(columns) for columns in zip(*pairs, strict=True))
    return Compared(x, y, nominal)


def common_numbers(original: Data, released: Data, names: tuple[str, ...]) -> Compared:
    """Variables that hold numbers in both files."""
    _check_names(original, released, names)
    x, y = number_columns(original, names, "original"), number_columns(released, names, "released")
    return Compared(x, y, np.zeros(len(names), dtype=np.bool_))


def _check_names(original: Data, released: Data, names: tuple[str, ...]) -> None:
    for what, data in (("original", original), ("released", released)):
        check.columns_exist(f"keys of the {what} file", names, data.columns)
        if not len(data):
            raise TacitaError(f"the {what} file has no records.")


def _column(original: Data, released: Data, name: str, scale: str) -> tuple[Floats, Floats]:
    if scale == "numeric":
        return number_columns(original, (name,), "original")[:, 0], number_columns(released, (name,), "released")[:, 0]
    return common_codes(original, released, name, ordered=scale == "ordinal")


def common_codes(
    original: Data, released: Data, name: str, *, ordered: bool = False, identifier: bool = False
) -> tuple[Floats, Floats]:
    """A categorical variable of two files as codes that mean the same in both, NaN where missing.

    What one of the files declares not applicable is a category of both, and so are codes declared missing, which a
    reader of both sees; they have no place in an order, and identify nobody.
    """
    applied = (*original.variable(name).not_applicable, *released.variable(name).not_applicable)
    if not ordered and not identifier:
        applied = (*applied, *visible_missing_codes(original, name), *visible_missing_codes(released, name))
    x, y = _alike(original.coded(name, applied), released.coded(name, applied))
    if len({kind for values in (x.values, y.values) for kind in _kinds(values)}) > 1:
        raise TacitaError(f"column {name!r} must hold the same kind of values in both files; it does not.")
    declared = tuple(original.variable(name).order) if ordered else ()
    # Whoever the question does not apply to stands behind the order.
    values = [*declared, *(value for value in x.values if value not in declared)]
    known = set(values)
    more = [value for value in y.values if value not in known]
    strangers = sum(value not in applied for value in more)
    if strangers and declared:
        raise TacitaError(
            f"column {name!r} of the released file has {check.counted(strangers, 'value')} not in its order; add them."
        )
    if more:
        # Sorted by value, as codes are; ordered categories without a declared order have one in their type.
        in_order = declared or (ordered and frame.is_ordered(original.table, name))
        values = [*values, *more] if in_order else sorted([*values, *more], key=_blank_first)
    place = {value: float(at) for at, value in enumerate(values)}
    return _placed(x.codes, x.values, place), _placed(y.codes, y.values, place)


def _alike(x: Coded, y: Coded) -> tuple[Coded, Coded]:
    """Decimal numbers as floats where the other file has floats: 0.1 is the same number in both."""
    if not any(isinstance(value, float) for column in (x, y) for value in column.values):
        return x, y
    one, two = (
        Coded(each.codes, tuple(float(value) if isinstance(value, Decimal) else value for value in each.values))
        for each in (x, y)
    )
    return one, two


def _kinds(values: tuple[Any, ...]) -> list[str]:
    """The kind of value, if there is any; a blank that is a category is the empty text beside numbers too."""
    return [_kind(value) for value in values[:2] if value != ""][:1]


def _blank_first(value: Any) -> tuple[bool, Any]:
    return value != "", value


def _kind(value: Any) -> str:
    return "number" if isinstance(value, int | float | Decimal) else type(value).__name__


def _placed(codes: Any, values: tuple[Any, ...], place: dict[Any, float]) -> Floats:
    lookup = np.array([np.nan, *(place[value] for value in values)])
    placed: Floats = lookup[codes]
    return placed


class Space(NamedTuple):
    """Complete rows of two files, and the metric between them."""

    x: Floats
    y: Floats
    metric: Metric


def space(x: Floats, y: Floats, both: Floats, nominal: Bools, distance: str, standardise: bool) -> Space:
    """Rows without missing values in the coordinates that a distance is taken in.

    Standard deviations, ranges and covariances are those of `both`, the records of both files together.
    """
    if distance == "mahalanobis":
        matrix = mahalanobis_map(both)
        if not matrix.shape[1]:  # nothing varies
            matrix = np.zeros((x.shape[1], 1))
        # Less a number from their midst, lest digits be lost; a mean may be far from all of them.
        middle = np.median(both, axis=0)
        return Space(mapped(x - middle, matrix), mapped(y - middle, matrix), euclidean(np.ones(matrix.shape[1])))
    if distance == "gower":
        return Space(x, y, gower(np.ptp(both, axis=0), nominal))
    weight = standard_weight(both) if standardise else np.ones(x.shape[1])
    return Space(x, y, euclidean(weight) if distance == "euclidean" else manhattan(weight))


def patterns(values: Floats) -> list[tuple[Ints, Bools]]:
    """The rows of each pattern of missing values, and which columns they show."""
    shown = ~np.isnan(values)
    distinct, group = np.unique(shown, axis=0, return_inverse=True)
    group = group.reshape(-1)
    return [(np.flatnonzero(group == at), pattern) for at, pattern in enumerate(distinct)]
