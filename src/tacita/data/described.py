"""What was understood of a variable, in words, and how to say otherwise: types, codes, and what looks like more."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tacita import check, frame
from tacita.data.variable import FEW_VALUES
from tacita.frame import files as frame_files
from tacita.frame.texts import shape_of_texts

if TYPE_CHECKING:
    from tacita.data.data import Data

MANY_RECORDS = 100
"""In a file of fewer records even ages may all differ by chance."""
KINDS = {
    "text": "text",
    "whole": "whole numbers",
    "number": "numbers",
    "logical": "true or false",
    "date": "dates",
    "datetime": "dates and times",
    "time": "times of the day",
    "other": "lists, bytes or durations, which are no key",
}


def understood(data: Data, name: str, values: int) -> str:
    """What was understood of a variable with so many different values; codes are said, values never."""
    kind = KINDS[frame_files.kind(data.table, name)]
    if values == 0:
        kind = "nothing"
    elif frame.is_categorical(data.table, name):
        kind = "categories"
    return "; ".join([kind, *_own_values(data, name, values), *_remarks(data, name, values), *_codes(data, name)])


def _own_values(data: Data, name: str, values: int) -> Iterator[str]:
    """Whether a column tells every record from the others; a measurement with fractions often does, and is none."""
    fractions = frame.is_float(data.table, name) and not frame.all_whole(data.table, name)
    if values == len(data) >= MANY_RECORDS and not fractions:
        yield f"another value in every record (an identifier? --identifiers {shlex.quote(name)})"


def _remarks(data: Data, name: str, values: int) -> Iterator[str]:
    """What may be meant otherwise, and the option that says so."""
    if name in data.understood:
        yield data.understood[name]
    known = data.variable(name)
    if frame.is_text(data.table, name) and values:
        yield from _of_text(data, name)
    elif frame.all_whole(data.table, name):
        fits = known.scale is None or known.scale == "numeric"
        yield "all of them whole" + (f" (codes? {_scale(name, 'nominal')})" if fits else "")
    elif frame.is_whole(data.table, name) and known.scale is None and data.scale(name) == "nominal" and values > 2:
        yield f"few, so taken for codes (measured? {_scale(name, 'numeric')})"
    elif frame.is_whole(data.table, name) and known.scale is None and data.scale(name) == "numeric":
        yield f"many, so taken for measured (codes? {_scale(name, 'nominal')})"
    elif frame.is_float(data.table, name) and known.scale is None and 2 < values <= min(FEW_VALUES, len(data) / 10):
        yield f"few, with fractions, so taken for measured (codes? {_scale(name, 'nominal')})"
    elif known.scale == "numeric" and 0 < values <= len(known.value_labels):
        yield f"few, with labels, declared as measured (codes? {_scale(name, 'nominal')})"


def _scale(name: str, scale: str) -> str:
    """The option of the command line that declares a scale, as a shell takes it."""
    shown = repr(f"{name}={scale}")[1:-1]
    # A name with a comma in it stands in double quotes, or it would be two.
    return "--scale " + shlex.quote(f'"{shown}"' if "," in name else shown)


def _of_text(data: Data, name: str) -> Iterator[str]:
    found = shape_of_texts(data.table, name)
    if found.numbers == found.values and found.zeros:
        yield "numbers with leading zeros, kept as they are"
    elif found.dates == found.values:
        yield "dates, as they are written"
    elif found.numbers:
        yield f"mixed: {check.counted(found.numbers, 'value')} of {found.values:,} are numbers"
    for word, times in found.words.items():
        yield f"{word!r} {check.counted(times, 'time')}, a value (missing? --na {shlex.quote(word)})"


def _codes(data: Data, name: str) -> Iterator[str]:
    """The codes that are declared missing or not applicable; a key shows them all the same."""
    known = data.variable(name)
    ranges = [f"{low} to {high}" for low, high in known.missing_ranges]
    for what, codes in (("missing", (*known.missing, *ranges)), ("not applicable", known.not_applicable)):
        if codes:
            said = ", ".join("blank" if code == "" else str(code) for code in codes[:6])
            yield f"{what}: {said}" + (f" and {len(codes) - 6} more" if len(codes) > 6 else "")
