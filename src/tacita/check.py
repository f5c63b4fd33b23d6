"""Checks of parameters, and the wording of error messages.

Every message is one sentence: what must be what, what was given, and the way out.
Parameters may be quoted in a message; **cells of the data never**: a column, a count and row numbers stand for them.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, TypeGuard


class TacitaError(ValueError):
    """An error of the user, explained in one sentence with the way out."""

    def __init__(self, text: str = "") -> None:
        # The name of a file or a column may hold ends of lines; a message is one line.
        super().__init__("\\n".join(str(text).splitlines()))


class TacitaWarning(UserWarning):
    """Something the user should know that does not stop the work."""


class Caution(TacitaWarning):
    """A warning that the printed result repeats."""


LONGEST = 200
"""Signs of a value that a message repeats."""


MOST_CELLS = 3
"""So many values in lists in one another are repeated."""


def given(value: object) -> str:
    """A parameter as messages repeat it: on one line and not without end; a table by its kind, since it has cells.

    >>> given("a"), given([1.5, None])
    ("'a'", '[1.5, None]')
    """
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple | set) else ()
    rows = [each for each in inside if isinstance(each, list | tuple)]
    # A list of rows or a table of columns is a file too.
    if any(_holds_cells(each) for each in (value, *inside)) or sum(map(len, rows)) > MOST_CELLS:
        return f"a {type(value).__name__}"
    text = repr(value).replace("\n", " ")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _holds_cells(value: object) -> bool:
    """Whether a value is a table, a column or an array, of any library."""
    return hasattr(type(value), "columns") or bool(getattr(value, "shape", ()))


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number that a machine can calculate with."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def quoted(names: Iterable[object], most: int = 5) -> str:
    """Names in quotes, at most `most` of them, the rest counted."""
    listed = [repr(str(name)) for name in names]
    if len(listed) <= most:
        return ", ".join(listed)
    return ", ".join(listed[:most]) + f" and {len(listed) - most:,} more"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`3 records`, `1 record`: a count with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def columns_exist(what: str, names: Sequence[str], columns: Sequence[str]) -> None:
    """Every name is a column; a near miss is suggested."""
    absent = [name for name in names if name not in columns]
    if not absent:
        return
    meant = list(dict.fromkeys(near for name in absent for near in _near(name, columns)))
    hint = f" Did you mean {quoted(meant)}?" if meant else f" The columns are {quoted(columns, most=8)}."
    raise TacitaError(f"{what} not in the data: {quoted(absent)}.{hint}")


def _near(name: str, columns: Sequence[str]) -> list[str]:
    """The column that a name is most like: first of all one that differs in capital letters only."""
    same = [column for column in columns if column.casefold() == name.casefold()]
    return same[:1] or difflib.get_close_matches(name, columns, n=1)


def unique_names(what: str, names: Sequence[str]) -> None:
    """No name is given twice."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise TacitaError(f"{what} must be named once each; got {quoted(twice)} more than once.")


def unique_in_header(file: str, names: Sequence[str]) -> None:
    """No column of a file is named like another."""
    places = {name: [at + 1 for at, each in enumerate(names) if each == name] for name in names}
    twice = [f"{name!r} ({', '.join(map(str, at))})" for name, at in places.items() if len(at) > 1]
    if twice:
        more = f" and {len(twice) - 3:,} more" if len(twice) > 3 else ""
        raise TacitaError(
            f"{file} has several columns of one name: {', '.join(twice[:3])}{more}; rename all but one of each in its "
            "header."
        )


def names(what: str, value: object) -> tuple[str, ...]:
    """One name or several, as a tuple of texts."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = (value,)
    if not is_list(value):
        raise TacitaError(f"{what} must be a list of column names; got {given(value)}.")
    listed = tuple(value)
    if not all(isinstance(name, str) for name in listed):
        wrong = next(name for name in listed if not isinstance(name, str))
        raise TacitaError(f"{what} must be a list of column names; got {given(wrong)} in it.")
    unique_names(what, listed)
    return listed


DEEPEST = 50
"""Levels of lists and tables in one another that a parameter or a file may have; ours have four."""


def too_deep(what: str) -> str:
    """What is said of lists and tables that are too deep in one another."""
    return f"{what} must have at most {DEEPEST} lists and tables in one another; write it flatter."


def not_too_deep(what: str, value: Any) -> None:
    """Lists and tables are not in one another without end: Python's stack has one, whatever then reads them."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [each for part in level for each in _parts(part)]
        if not level:
            return
    raise TacitaError(too_deep(what))


def _parts(value: Any) -> Iterable[Any]:
    """The lists and tables in a list or table."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [each for each in inside if type(each) is not str and isinstance(each, dict | list | tuple)]


def mapping(what: str, value: object) -> dict[str, Any]:
    """A table of names and what belongs to them, as a dictionary of its own."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise TacitaError(f"{what} must be a table of names, as in {{'age': ...}}; got {given(value)}.")
    return dict(value)


def python_number(value: Any) -> Any:
    """A NumPy number as Python's own, which files can hold; anything else as it is."""
    if type(value) in (str, int, float):
        return value
    return value.item() if isinstance(value, Real) and hasattr(value, "item") else value


def python_list(what: str, value: Any) -> tuple[Any, ...]:
    """Values in their order, NumPy's as Python's."""
    if isinstance(value, str) or not is_list(value):
        raise TacitaError(f"{what} must be a list of values; got {given(value)}.")
    return tuple(python_number(each) for each in value)


def is_list(value: Any) -> TypeGuard[Iterable[Any]]:
    """Whether a value can be gone through; NumPy's single values say so and cannot."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0


def number(what: str, value: Any) -> float:
    """A finite number."""
    if not _is_number(value):
        raise TacitaError(f"{what} must be a number; got {given(value)}.")
    return float(value)


def exact_number(what: str, value: Any) -> float:
    """A finite number, whole if it is: 65 and 65.0 are the same, and whole numbers of any size stay exact."""
    given = python_number(value)
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    found = number(what, given)
    return int(found) if found.is_integer() and abs(found) < 2**53 else found


def column_name(what: str, value: Any) -> str:
    """The name of one column."""
    if not isinstance(value, str):
        raise TacitaError(f"{what} must be the name of a column; got {given(value)}.")
    return value


def whole(what: str, value: Any, least: int | None = None) -> int:
    """A whole number of at least `least`, if there is a least one."""
    if not _is_number(value) or value != math.floor(value):
        wanted = "" if least is None else f" of at least {least}"
        raise TacitaError(f"{what} must be a whole number{wanted}; got {given(value)}.")
    if least is not None and value < least:
        raise TacitaError(f"{what} must be at least {least}; got {given(value)}.")
    return int(value)


def share(what: str, value: Any, *, zero: bool = True, one: bool = True) -> float:
    """A probability, open or closed at either end."""
    low, high = ("[0" if zero else "(0"), ("1]" if one else "1)")
    inside = _is_number(value) and 0.0 <= value <= 1.0
    if not inside or (value == 0 and not zero) or (value == 1 and not one):
        raise TacitaError(f"{what} must be in {low}, {high}; got {given(value)}.")
    return float(value)


def one_of(what: str, value: Any, choices: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise TacitaError(f"{what} must be one of {', '.join(map(repr, choices))}; got {given(value)}.")
    return str(value)
