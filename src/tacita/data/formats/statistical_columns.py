"""Columns as SPSS, Stata and SAS take them: numbers, texts, formats, value labels and missing codes.

What a format would round or cut is refused; what it cannot carry beside the values is left out with a remark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data.data import Data
from tacita.data.formats import missing_codes, moments, names, special
from tacita.data.formats.moments import System
from tacita.data.formats.names import NameRule
from tacita.data.formats.statistical import EXACT
from tacita.frame import files as frame_files

Remarks = dict[str, list[str]]
"""What must be said, and of which variables."""


class Target(NamedTuple):
    """What a format takes."""

    system: System
    names: NameRule
    columns: int
    """The most variables."""
    text: int
    """The longest text, in bytes."""
    least: float
    """The size of the smallest number that is not 0."""
    most: float
    """The size of the greatest number."""
    label: Callable[[str], str]
    """A variable's label, cut to what fits."""
    value_label: Callable[[str], str]
    """A value's label, cut to what fits."""


def _bytes(most: int) -> Callable[[str], str]:
    return lambda text: text.encode()[:most].decode(errors="ignore")


def _signs(most: int) -> Callable[[str], str]:
    return lambda text: text[:most]


SPSS = Target("spss", names.SPSS, 2**31 - 1, 32_767, 0.0, 1.797e308, _bytes(255), _bytes(120))
# The largest numbers of Stata are its missing values.
STATA = Target("stata", names.STATA, 32_767, 2_000_000_000, 0.0, 8.988e307, _signs(80), _signs(32_000))
# Transport files hold numbers of IBM mainframes: more digits, less range.
SAS = Target("sas", names.SAS, 9_999, 32_767, 5.4e-79, 9e74, _bytes(256), _bytes(0))
LONG = 2_147_483_620
"""The greatest whole number that Stata keeps in four bytes."""
UNDECLARED = "missing codes of {} cannot be declared in the file and count as values there."
NOT_APPLICABLE_LOST = (
    "the file cannot say that missing values of {} mean not applicable; tell it by Scenario(not_applicable=...) when "
    "measuring the file."
)


class Written(NamedTuple):
    """A column as the format takes it."""

    column: Any
    form: str | None = None
    """The format that displays it."""
    labels: Mapping[Any, str] = {}
    missing: Sequence[Any] = ()
    """Missing codes and ranges (SPSS)."""
    letters: Sequence[str] = ()
    """Special missing values that may occur (Stata)."""
    marks: Any = None
    """By record the byte of its special missing value, 0 where it has none (SAS); None: no record has one."""


def written(data: Data, column: str, target: Target, file: str, remarks: Remarks) -> Written:
    """One column for a format; what the format cannot carry is added to the remarks."""
    kind = frame_files.kind(data.table, column)
    if kind == "other":
        raise TacitaError(
            f"column {column!r} holds lists, bytes or durations, which {file} cannot carry; "
            "write Parquet or leave the column out."
        )
    if kind == "text":
        made = _text(data, column, target, file, remarks)
    elif kind in ("date", "datetime", "time"):
        made = _moment(data, column, kind, target, remarks)
    else:
        made = _number(data, column, target, file, remarks)
    known = data.variable(column)
    declared = bool(made.missing or made.letters or made.marks is not None) and any(
        map(known.is_missing, known.not_applicable)
    )
    if declared or ("" in known.not_applicable and frame.missing(data.table, column).any()):
        remarks[NOT_APPLICABLE_LOST].append(column)
    labels = known.value_labels
    given = {code for code, label in labels.items() if label and label != f".{special.letter_of(code)}"}
    if len(made.labels) < len(given):
        remarks["value labels of {} that the format cannot carry are left out."].append(column)
    fitting = {code: target.value_label(label) for code, label in made.labels.items()}
    if fitting != made.labels:
        remarks["value labels of {} were too long and are cut."].append(column)
    return made._replace(labels=fitting)


def _text(data: Data, column: str, target: Target, file: str, remarks: Remarks) -> Written:
    if frame_files.matching_texts(data.table, column, r"\x00"):
        raise TacitaError(f"column {column!r} holds NUL characters, which {file} cannot carry; write Parquet.")
    longest = frame_files.longest_text(data.table, column)
    if longest > target.text:
        raise TacitaError(
            f"column {column!r} holds texts of {longest:,} bytes, but {file} can carry {target.text:,}; write Parquet."
        )
    if target.system != "stata" and frame_files.matching_texts(data.table, column, " $"):
        remarks["spaces at the end of texts in {} are lost."].append(column)
    known = data.variable(column)
    codes = [code for code in known.missing if isinstance(code, str) and code]
    texts = frame_files.filled_texts(data.table, column)
    if target.system != "spss" or len(codes) > 3 or any(len(code.encode()) > 8 for code in codes):
        if codes:
            remarks[UNDECLARED].append(column)
        codes = []
    if target.system != "spss":
        return Written(texts)
    # A label of a text longer than any in the column would be cut, or meet another text.
    said = {code: label for code, label in known.value_labels.items() if isinstance(code, str) and code and label}
    labels = {code: label for code, label in said.items() if len(code.encode()) <= max(longest, 8)}
    return Written(texts, labels=labels, missing=codes)


def _moment(data: Data, column: str, kind: moments.Moment, target: Target, remarks: Remarks) -> Written:
    ticks = frame_files.ticks(data.table, column)
    if kind != "date" and (ticks % moments.FINEST).any():
        remarks["times of {} are rounded to 10 microseconds."].append(column)
    if frame_files.has_time_zone(data.table, column):
        remarks["times of {} are written as their clocks showed, without the time zone."].append(column)
    values = moments.to_numbers(target.system, kind, ticks, frame.missing(data.table, column))
    return Written(values, moments.written_format(target.system, kind, ticks))


def _number(data: Data, column: str, target: Target, file: str, remarks: Remarks) -> Written:
    whole = frame_files.kind(data.table, column) != "number"
    values = _within(data, column, target, file)
    known = data.variable(column)
    form = _form(values, whole, target.system)
    labels = {
        code: label
        for code, label in known.value_labels.items()
        if isinstance(code, int | float) and np.isfinite(code) and label
    }
    if target.system == "spss":
        missing = missing_codes.for_spss(known, values)
        if missing is None:
            remarks[UNDECLARED].append(column)
        return Written(values, form, {float(code): said for code, said in labels.items()}, missing or ())
    specials = {code: letter for code in known.missing if (letter := special.letter_of(code)) is not None}
    if known.missing_ranges or len(specials) < len(known.missing):
        remarks[UNDECLARED].append(column)
    if target.system == "sas":
        return _for_sas(values, form, specials)
    lost = [code for code, letter in specials.items() if letter == "_"]
    if lost and np.isin(values, lost).any():
        remarks["special missing values of {} are plain missing."].append(column)
    values = np.where(np.isin(values, lost), np.nan, values)
    letters = {code: letter for code, letter in specials.items() if code not in lost}
    return Written(
        _for_stata(values, whole, letters), form, _stata_labels(labels, letters), (), tuple(letters.values())
    )


def _within(data: Data, column: str, target: Target, file: str) -> Floats:
    """The numbers of a column, all of them such as the format can hold."""
    large = frame_files.beyond(data.table, column, EXACT) if frame_files.kind(data.table, column) == "whole" else 0
    if large:
        raise TacitaError(
            f"column {column!r} holds whole numbers beyond 2^53 in {check.counted(large, 'record')}, which {file} "
            "would round; make the column text or write Parquet."
        )
    values = frame.numbers(data.table, column)
    size = np.abs(values)
    bad = int(((size > target.most) | ((size > 0) & (size < target.least))).sum())
    if bad:
        raise TacitaError(
            f"column {column!r} holds numbers too large or too small for {file} in {check.counted(bad, 'record')}; "
            "write Parquet."
        )
    return values


def _for_sas(values: Floats, form: str | None, letters: Mapping[Any, str]) -> Written:
    """Numbers as SAS takes them, with the signs of special missing values beside them."""
    marks = np.zeros(len(values), dtype=np.uint8)
    for code, letter in letters.items():
        marks[values == code] = ord(letter.upper())
    return Written(np.where(marks > 0, np.nan, values), form, marks=marks if marks.any() else None)


def _for_stata(values: Floats, whole: bool, letters: Mapping[Any, str]) -> Any:
    """Numbers as Stata stores them, whole ones in four bytes if they fit, with letters for special missing values."""
    short = whole and bool((np.abs(values[~np.isnan(values)]) <= LONG).all())
    if not letters:
        return frame_files.column("whole32", values) if short else values
    bare = [None if np.isnan(value) else int(value) if short else value for value in values.tolist()]
    return frame_files.column("mixed", [letters.get(value, value) for value in bare])


def _stata_labels(labels: Mapping[Any, str], letters: Mapping[Any, str]) -> dict[Any, str]:
    """Labels by whole number or letter; a label that only says the letter is ours."""
    said: dict[Any, str] = {}
    for code, label in labels.items():
        if code in letters:
            if label != f".{letters[code]}":
                said[letters[code]] = label
        elif code == int(code) and abs(code) <= LONG:
            said[int(code)] = label
    return said


def _form(values: Floats, whole: bool, system: System) -> str | None:
    """The format of a variable: whole numbers without decimals, numbers with, so that they come back as they were."""
    known = values[~np.isnan(values)]
    greatest = float(np.abs(known).max(initial=0))
    digits = len(str(int(greatest))) + 1
    if system == "spss":
        fine = next((each for each in range(1, 6) if (np.round(known, each) == known).all()), 6)
        return f"F{min(digits, 40)}.0" if whole else f"F{min(digits + 1 + fine, 40)}.{fine}"
    if whole:
        return "%12.0f" if system == "stata" and greatest > LONG else None
    if (known == np.floor(known)).all():
        return "%12.1f" if system == "stata" else "F12.1"
    return None
