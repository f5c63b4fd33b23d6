"""Parts of values that may be codes themselves: characters of an identifier, its parts, numbers in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Ints
from tacita.risk.release.reconstruction.cells import Files
from tacita.risk.release.reconstruction.values import plain_text

LEAST_DIFFERENT = 20
"""Values must be at least this many, and a fiftieth of the records: others are codes as they are."""
LONGEST = 4
"""Characters that are looked at, from the front and from the back."""
SHORTEST = 3
"""Characters that are left out at the end, at most."""
SEPARATORS = "-_/.: "
INSIDE, LONGEST_ISSUED = (2, 4), 24
"""Characters that are looked at inside numbers of one length up to the longest that are issued: years, areas."""
DECIMALS, MOST_BEFORE = 4, 1e10
"""Decimals of a number that may be a code, and the number below which they are read: others are measured."""
MOST_NUMBERED = 50
"""Different decimals with which they may number what stands before the point, as the members of a household."""
MOST_NUMBERS = 3
"""Numbers of a text that are looked at."""
NUMBER = re.compile(r"\d+")


class View(NamedTuple):
    """A released column, or a part of its values, as something that can tell another."""

    names: tuple[str, ...]
    words: str
    column: str
    codes: Ints | None = None
    """By row: codes of the part; None: the column's own."""
    texts: tuple[str, ...] = ()
    """What the codes 0, 1, ... of the part stand for."""


def views_of(files: Files, name: str) -> tuple[View, ...]:
    """Parts of the values of a column that has many different ones, worked out once."""
    key = ("views", name)
    if key not in files.memory:
        files.memory[key] = tuple(_views_of(files, name))
    views: tuple[View, ...] = files.memory[key]
    return views


def _views_of(files: Files, name: str) -> Iterator[View]:
    different = files.distinct(name)
    if different < max(LEAST_DIFFERENT, files.size // 50) or _numbered(files.values(name)):
        return
    texts, codes = _texts(files.values(name)), files.codes(name)
    assert codes is not None
    for words, parts in _parts(texts) if texts is not None else _around_the_point(files.values(name)):
        there, inverse = np.unique(parts, return_inverse=True)
        if 2 <= len(there) < different:
            of_code = np.concatenate([[len(there)], inverse])
            yield View((name,), f"{words} of {name!r}", name, of_code[codes], (*there.tolist(), ""))


def _numbered(values: tuple[Any, ...]) -> bool:
    """Whether the values are 1, 2, ... without gaps: these hold no codes but an order, which is attacked by itself."""
    return len(values) > 0 and all(value == place for place, value in enumerate(values, start=1))


def _texts(values: tuple[Any, ...]) -> Any:
    """Values as an array of texts; None for fractions, of which the parts are looked at, and dates."""
    if all((isinstance(value, float) and value.is_integer()) or isinstance(value, int | str) for value in values):
        return np.array([plain_text(value) for value in values], dtype=np.str_)
    return None


def _around_the_point(values: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """What stands before and behind the point of numbers with a few decimals: 1001.02, the second of a household.

    >>> [(words, parts.tolist()) for words, parts in _around_the_point((7.02, 7.1, 8.5, 8.0))]
    [('what stands before the point', ['7', '7', '8', '8']), ('the decimals', ['02', '10', '50', '00'])]
    """
    if not all(isinstance(value, int | float) and 0 <= value < MOST_BEFORE for value in values):
        return
    numbers = np.array(values, dtype=np.float64)
    for digits in range(1, DECIMALS + 1):
        shifted = np.rint(numbers * 10.0**digits)
        if np.allclose(shifted / 10.0**digits, numbers, rtol=1e-12, atol=0.0):
            break
    else:
        return
    before, behind = np.divmod(shifted.astype(np.int64), 10**digits)
    decimals, place = np.unique(behind, return_inverse=True)
    if len(decimals) <= MOST_NUMBERED:
        yield "what stands before the point", before.astype(np.str_)
    yield "the decimals", np.array([f"{value:0{digits}d}" for value in decimals.tolist()], dtype=np.str_)[place]


def _parts(texts: Any) -> Iterator[tuple[str, Any]]:
    """Parts of texts with a word for each."""
    length = np.char.str_len(texts)
    for size in range(1, min(LONGEST, int(length.max()) - 1) + 1):
        yield f"the first {_characters(size)}", texts.astype(f"U{size}")
        yield f"the last {_characters(size)}", _last(texts, length, size)
    for size in range(1, min(SHORTEST, int(length.max()) - 1) + 1):
        # The number of a person is often that of the household and one or two digits.
        yield (
            f"all but the last {_characters(size)}",
            np.array([text[:-size] for text in texts.tolist()], dtype=np.str_),
        )
    yield from _inside(texts, length)
    yield from _numbers(texts)
    for sign in SEPARATORS:
        counts = np.char.count(texts, sign)
        if counts.min() > 0 and counts.max() == counts.min() <= 4:
            split = np.array([text.split(sign) for text in texts.tolist()], dtype=np.str_)
            for place in range(split.shape[1]):
                yield f"part {place + 1} (by {sign!r})", split[:, place]


def _inside(texts: Any, length: Ints) -> Iterator[tuple[str, Any]]:
    """Characters at every place of texts of one length, as the year of birth in a personal number."""
    longest = int(length.max())
    if length.min() < longest or longest > LONGEST_ISSUED:
        return
    letters = texts.view(np.uint32).reshape(len(texts), longest)
    for size in INSIDE:
        for start in range(1, longest - size):
            picked = np.ascontiguousarray(letters[:, start : start + size]).view(f"<U{size}").ravel()
            yield f"characters {start + 1} to {start + size}", picked


def _numbers(texts: Any) -> Iterator[tuple[str, Any]]:
    """Numbers that stand in texts among other things, each of the first few by itself."""
    found = [NUMBER.findall(text) for text in texts.tolist()]
    for place in range(min(MOST_NUMBERS, max(map(len, found)))):
        parts = [numbers[place] if place < len(numbers) else "" for numbers in found]
        if any(part != text for part, text in zip(parts, texts.tolist(), strict=True)):
            yield f"number {place + 1}", np.array(parts, dtype=np.str_)


def _characters(size: int) -> str:
    return "character" if size == 1 else f"{size} characters"


def _last(texts: Any, length: Ints, size: int) -> Any:
    """The last characters of each text."""
    width = texts.dtype.itemsize // 4
    letters = texts.view(np.uint32).reshape(len(texts), width)
    columns = np.maximum(length[:, None] - size + np.arange(size)[None, :], 0)
    picked = np.take_along_axis(letters, columns, axis=1)
    return np.ascontiguousarray(picked).view(f"<U{size}").ravel()
