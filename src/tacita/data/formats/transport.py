"""The special missing values (.A to .Z and ._) of SAS transport files, which pyreadstat neither reads nor writes.

A reader of the file sees .A and .B apart, and apart from plain missing: if they were lost on the way in, the risk of
the file would be too low, and on the way out the written file would not be the release. In a transport file a number is
a floating-point number of IBM mainframes in 2 to 8 bytes. A missing value is a sign, the dot or the letter, and zeros
behind it, which is no number.

Reference: SAS Institute, Record Layout of a SAS Version 5 or 6 Data Set in SAS Transport (XPORT) Format (TS-140), and
of a Version 8 or 9 Data Set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.check import TacitaError
from tacita.data.formats.special import LETTERS

LINE = 80
"""Bytes of a line; every part of a file begins with a new one."""
HEADER = b"HEADER RECORD*******"
TIME = 64
"""Where the time of writing stands in the line behind a header; that of changing begins the next."""
SIGNS = np.frombuffer(LETTERS.upper().encode(), dtype=np.uint8)
"""The bytes that stand for special missing values."""
Bytes = NDArray[np.uint8]
Marks = NDArray[np.uint8]
"""By record: the byte of its special missing value, 0 where it has none."""


class Layout(NamedTuple):
    """Where the values of a file are."""

    start: int
    """The first byte of the first record."""
    width: int
    """The bytes of a record."""
    columns: tuple[tuple[int, int] | None, ...]
    """By variable: first byte in a record and how many; None for texts."""


def layout(raw: Bytes) -> Layout:
    """The layout of the first data set of a file; a ValueError if it has none."""
    member, variables = (_line_of(raw, *kinds) for kinds in ((b"MEMBER ", b"MEMBV8 "), (b"NAMESTR ", b"NAMSTV8 ")))
    size, count = int(_text(raw, member + 74, 4)), int(_text(raw, variables + 52, 6))
    begin = variables + LINE
    described = [_text(raw, begin + at * size, size) for at in range(count)]
    # Long labels of version 8 stand between the variables and the records.
    start = _line_of(raw, b"OBS ", b"OBSV8 ", begin=-(-(begin + count * size) // LINE) * LINE)
    places = [(_number(each, 84, 4), _number(each, 4, 2)) for each in described]
    numeric = [_number(each, 0, 2) == 1 for each in described]
    columns = tuple(place if is_number else None for place, is_number in zip(places, numeric, strict=True))
    return Layout(start + LINE, sum(width for _, width in places), columns)


def _line_of(raw: Bytes, *kinds: bytes, begin: int = 0) -> int:
    """Where the header line of one of some kinds begins."""
    for at in range(begin, len(raw), LINE):
        if _text(raw, at, LINE).startswith(tuple(HEADER + kind for kind in kinds)):
            return at
    raise ValueError("no such line")


def _text(raw: Bytes, at: int, size: int) -> bytes:
    return raw[at : at + size].tobytes()


def _number(part: bytes, at: int, size: int) -> int:
    return int.from_bytes(part[at : at + size], "big")


def read_marks(path: Path, places: Sequence[int], records: int) -> dict[int, Marks]:
    """By place of the variable: the special missing values of its records; only variables that have some."""
    found = {}
    try:
        raw: Bytes = np.memmap(path, dtype=np.uint8, mode="r")
        where = layout(raw)
        for at in places:
            cells = _cells(raw, where, at, records)
            marks = np.where(np.isin(cells[:, 0], SIGNS) & ~cells[:, 1:].any(axis=1), cells[:, 0], 0)
            if marks.any():
                found[at] = marks.astype(np.uint8)
    except (ValueError, IndexError):
        raise TacitaError(f"{path.name} is damaged; export it again.") from None
    return found


def times(path: Path) -> list[int]:
    """Where the times of writing and changing stand: in the headers of the file and of its data set, two in each."""
    with path.open("rb") as opened:
        raw: Bytes = np.frombuffer(opened.read(10 * LINE), dtype=np.uint8)
    first = _line_of(raw, b"LIBRARY ", b"LIBV8 ")
    second = _line_of(raw, b"DSCRPTR ", b"DSCPTV8 ")
    return [begin + place for begin in (first, second) for place in (LINE + TIME, 2 * LINE)]


def write_marks(path: Path, marks: Mapping[int, Marks]) -> None:
    """Put special missing values, by place of the variable, in place of plain missing ones of a file."""
    raw = np.memmap(path, dtype=np.uint8, mode="r+")
    where = layout(raw)
    for at, signs in marks.items():
        _cells(raw, where, at, len(signs))[signs > 0, 0] = signs[signs > 0]
    raw.flush()


def _cells(raw: Bytes, where: Layout, at: int, records: int) -> Bytes:
    """The bytes of a variable, one row per record; nothing for texts."""
    place = where.columns[at]
    if place is None:
        return np.zeros((0, 1), dtype=np.uint8)
    table = raw[where.start : where.start + records * where.width].reshape(records, where.width)
    return table[:, place[0] : place[0] + place[1]]
