"""Text in which nothing has to be decided field by field: read in one go, with the checks that all text gets.

Most files are plain: no quotes, numbers with a point, nothing that may mean missing but an empty field. What kinds of
columns there are is decided on the first records as for every file, and the rest is read as that; where a single field
is otherwise, nothing is given, and the file is read field by field.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita import frame
from tacita.check import TacitaError
from tacita.frame import Frame
from tacita.frame.texts import WORDS, read_as

SAMPLE = 1000
"""Records by which kinds are decided: as many as a column of texts is known by."""
BLOCK = 1 << 17
ODD = np.frombuffer(b" \t\v\f+", dtype=np.uint8)
LEAST = 1 << 16
"""Bytes below which reading field by field takes no time."""


def plain(text: bytes, delimiter: str, names: list[str], decimals: tuple[str, ...]) -> Frame | None:
    """The typed columns of a text without quoted fields, each record one line; None where it is not plain.

    `decimals` are the decimal signs to try; with a comma among numbers a text is not plain.
    """
    if len(names) < 2 or b"\r" in text:
        return None
    records = _records(text, delimiter, len(names))
    if records is None:
        return None
    lines = text[: 1 << 20].split(b"\n", SAMPLE + 1)[1 : SAMPLE + 1]
    try:
        first = frame.read_text(b"\n".join(lines[:records]) + b"\n", delimiter=delimiter, columns=names)
    except TacitaError:
        return None
    typed, kept, gone = frame.typed(first, decimals=decimals, words=WORDS, missing=(), grouped=delimiter == ",")
    if kept or gone or any(typed[name].null_count() == typed.height for name in names):
        return None
    found = read_as(text, delimiter=delimiter, like=typed)
    return None if found is None or found.height != records else found


def _records(text: bytes, delimiter: str, fields: int) -> int | None:
    """How many records there are, if they have as many fields as the header and none begins as no number does.

    There are as many delimiters as records with that many fields have: a record with more is an error for who reads
    it, and where none has more, none has fewer.
    """
    data, sign = np.frombuffer(text, dtype=np.uint8), ord(delimiter)
    delimiters, lines = 0, 0
    for start in range(0, len(data), BLOCK):
        block = data[start : start + BLOCK]
        between, ends = block == sign, block == ord("\n")
        delimiters += int(np.count_nonzero(between))
        lines += int(np.count_nonzero(ends))
        after = data[start + 1 : start + BLOCK + 1]
        between |= ends
        # All that a number must not begin with is among the characters up to 0.
        between[: len(after)] &= after <= ord("0")
        if not _are_numbers(data, np.flatnonzero(between[: len(after)]) + start + 1):
            return None
    return lines - 1 if delimiters == lines * (fields - 1) else None


def _are_numbers(data: NDArray[np.uint8], begin: NDArray[np.int64]) -> bool:
    """Whether no field that begins at some places does so with a blank, a plus, or a zero before another digit."""
    begin = begin[begin + 2 < len(data)]
    first = data[begin]
    if np.isin(first, ODD).any():
        return False
    zero = begin + (first == ord("-"))
    return not ((data[zero] == ord("0")) & (data[zero + 1] - ord("0") < 10)).any()
