"""A matrix, a diagonal and categories as users write them, made plain: categories are texts, 7 and 7.0 are '7'."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.parameters import Shape
from tacita.protect.recode.regroup import text_of

Rows = tuple[tuple[float, ...], ...]
NEAR_ONE = 1e-9
"""So near 1 a row of probabilities must add up."""


def category_text(what: str, given: Any) -> str:
    """A category as text."""
    value = check.python_number(given)
    if (
        not isinstance(value, str | int | float)
        or value == ""
        or (isinstance(value, float) and not math.isfinite(value))
    ):
        raise TacitaError(f"{what} must name categories by text or number; got {check.given(given)}.")
    return text_of(value)


def _categories(what: str, given: Any) -> tuple[str, ...]:
    listed = given if isinstance(given, list | tuple | range) else (given,)
    texts = tuple(category_text(what, each) for each in listed)
    check.unique_names(what, texts)
    return texts


def _diagonal(what: str, given: Any) -> float | dict[str, float]:
    """One probability, or one by category."""
    if not isinstance(given, Mapping):
        return check.share(what, given)
    if not given:
        raise TacitaError(f"{what} must be a number from 0 to 1, or a table of them by category; got an empty table.")
    return _by_category(what, given)


def _by_category(what: str, given: Mapping[Any, Any]) -> dict[str, float]:
    check.unique_names(f"categories of {what}", [category_text(what, name) for name in given])
    return {
        category_text(what, name): check.share(f"{what} of {text_of(name)!r}", check.python_number(each))
        for name, each in given.items()
    }


def _matrix(what: str, given: Any) -> dict[str, dict[str, float]] | Rows:
    """Rows by category, or a list of rows."""
    if isinstance(given, Mapping) and given:
        check.unique_names(f"rows of {what}", [category_text(what, name) for name in given])
        rows: dict[str, dict[str, float]] = {}
        for name, row in given.items():
            if not isinstance(row, Mapping):
                raise TacitaError(
                    f"{what} must have a table for each row, as in {{'a': {{'a': 0.9, 'b': 0.1}}}}; got {row!r}."
                )
            rows[category_text(what, name)] = _by_category(what, row)
        _check_sums(what, {name: sum(row.values()) for name, row in rows.items()})
        return rows
    if isinstance(given, list | tuple) and given and all(isinstance(row, list | tuple) for row in given):
        listed = tuple(
            tuple(check.share(f"a cell of {what}", check.python_number(each)) for each in row) for row in given
        )
        if any(len(row) != len(listed) for row in listed):
            raise TacitaError(f"{what} must have as many columns as rows; got {len(listed):,} rows.")
        _check_sums(what, {str(number): sum(row) for number, row in enumerate(listed, start=1)})
        return listed
    raise TacitaError(
        f"{what} must be a table of rows, as in {{'a': {{'a': 0.9, 'b': 0.1}}, ...}}, or a list of rows; got {given!r}."
    )


def _check_sums(what: str, sums: Mapping[str, float]) -> None:
    wrong = [name for name, total in sums.items() if abs(total - 1) > NEAR_ONE]
    if wrong:
        raise TacitaError(f"rows of {what} must add up to 1; those of {check.quoted(wrong)} do not.")


def squared(matrix: dict[str, dict[str, float]] | Rows, categories: tuple[str, ...]) -> tuple[Rows, tuple[str, ...]]:
    """A matrix as rows and columns, and the categories that they are of.

    >>> squared({"a": {"a": 0.9, "b": 0.1}, "b": {"b": 1.0}}, ())
    (((0.9, 0.1), (0.0, 1.0)), ('a', 'b'))
    """
    if isinstance(matrix, dict):
        return _of_table(matrix, categories)
    if len(categories) != len(matrix):
        raise TacitaError(
            f"categories must name the {check.counted(len(matrix), 'row')} of the matrix in their order; got "
            f"{len(categories):,}."
        )
    return matrix, categories


def _of_table(rows: dict[str, dict[str, float]], categories: tuple[str, ...]) -> tuple[Rows, tuple[str, ...]]:
    if categories:
        raise TacitaError("categories go with a matrix that is a list of rows; leave them out, the table names them.")
    reached = Counter(name for row in rows.values() for name, share in row.items() if share > 0)
    absent = [name for name in reached if name not in rows]
    if absent:
        raise TacitaError(
            f"matrix must have a row for each category it leads to; it has none for {check.quoted(absent)}."
        )
    names = tuple(rows)
    return tuple(tuple(rows[one].get(other, 0.0) for other in names) for one in names), names


CATEGORIES = Shape("texts or numbers", _categories)
DIAGONAL = Shape("number in [0, 1], or a table by category", _diagonal)
MATRIX = Shape("table of rows by category, or a list of rows", _matrix)
