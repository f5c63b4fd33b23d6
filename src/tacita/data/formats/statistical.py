"""Files of SPSS (.sav, .zsav), Stata (.dta) and SAS (.sas7bdat, .xpt), read with their labels and missing codes.

Codes that the file declares missing stay in the data as values and are declared missing in the `Variable`, apart from
plain missing; so any of them can be declared not applicable. Numbers become whole numbers if all of them are whole and
the format shows no decimals or is the usual one of SPSS, the variable has value labels or the file says that it is
nominal or ordinal. The reader's own messages may quote cells: none gets out.
"""

from __future__ import annotations

import codecs
import math
import mmap
import re
import struct
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data.formats import moments, special, transport
from tacita.data.formats.loaded import Loaded, check_table
from tacita.data.formats.moments import System
from tacita.data.formats.text import check_encoding
from tacita.data.variable import Scale, Variable, among_codes
from tacita.frame import files as frame_files

EXACT = 2**53
"""Whole numbers up to this are exact in a double."""
PERTURBED = "perturbed: "
"""How a note of an SPSS file begins that names a perturbed variable."""
CELLS = 20_000_000
"""Cells read at once; as Python objects they take about 1 GB."""


class Format(NamedTuple):
    """How a kind of file is known and read."""

    system: System
    called: str
    reader: str
    """The function of pyreadstat."""
    starts: tuple[bytes, ...]
    """The first bytes."""
    cells_per_byte: int
    """The most cells that a byte can hold: a damaged count of records must not fill the memory."""


OLD_STATA = tuple(bytes([release, order, 1]) for release in range(102, 116) for order in (1, 2))
FORMATS = {
    ".sav": Format("spss", "an SPSS", "read_sav", (b"$FL2", b"$FL3"), 8),
    ".zsav": Format("spss", "an SPSS", "read_sav", (b"$FL3", b"$FL2"), 10_000),
    ".dta": Format("stata", "a Stata", "read_dta", (b"<stata_dta>", *OLD_STATA), 1),
    ".sas7bdat": Format(
        "sas", "a SAS", "read_sas7bdat", (bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c"),), 10_000
    ),
    ".xpt": Format("sas", "a SAS transport", "read_xport", (b"HEADER RECORD*******LIB",), 1),
}
WORDS = {
    "requested encoding": "holds texts that are not in the encoding it declares; pass encoding=..., "
    "such as 'windows-1252'.",
    "character set": "is in an encoding that cannot be read; pass encoding=... with the right one.",
    "Unable to read": "is cut off; check that it was saved or copied completely.",
    "expected number of rows": "is cut off; check that it was saved or copied completely.",
    "version": "is in a version of the format that cannot be read; save it in a current one.",
}
"""What the reader says, and what we say."""


def load(file: Path, encoding: str | None = None, catalog: Path | None = None) -> Loaded:
    """A statistical file; `catalog` is the SAS catalog with its value labels."""
    form = FORMATS[file.suffix.lower()]
    _check_start(file, form)
    labels = _catalog(catalog, encoding) if catalog is not None else {}
    _, facts = _call(form.reader, file, encoding, metadataonly=True)
    names, rows = list(facts.column_names), facts.number_rows
    if None in names or (rows or 0) * max(len(names), 1) > file.stat().st_size * form.cells_per_byte:
        raise TacitaError(f"{file.name} is damaged or cut off; export it again.")
    columns: dict[str, Any] = {}
    known: dict[str, Variable] = {}
    remarks: dict[str, list[str]] = defaultdict(list)
    for some in _blocks(names, rows):
        values, facts = _call(form.reader, file, encoding, usecols=some)
        if form.reader == "read_xport":
            _put_letters(file, names, values, facts)
        facts.variable_value_labels |= {
            name: labels[base]
            for name in some
            if (base := re.sub(r"[\d.]+$", "", facts.original_variable_types[name] or "").upper()) in labels
        }
        for name in some:
            text = facts.readstat_variable_types[name] == "string"
            columns[name], variable = _read(_file_variable(name, facts, form.system), text, values.pop(name), remarks)
            if variable != Variable():
                known[name] = variable
    for name in perturbed_in_notes(facts.notes, names):
        known[name] = replace(known.get(name, Variable()), perturbed=True)
    table = frame.table(columns)
    _check_count(file, table.height, rows)
    check_table(table, file.name)
    return Loaded(
        table, known, tuple(f"{file.name}: {said.format(check.quoted(some))}" for said, some in remarks.items())
    )


def perturbed_in_notes(notes: Sequence[str] | None, names: Sequence[str]) -> list[str]:
    """The variables of which a note of the file says that they were perturbed."""
    noted = {note.strip() for note in notes or ()}
    return [name for name in names if f"{PERTURBED}{name}" in noted]


def _check_start(file: Path, form: Format) -> None:
    with file.open("rb") as opened:
        start = opened.read(32)
    if not start:
        raise TacitaError(f"{file.name} is empty; check that it was saved or exported completely.")
    if start.startswith(b"ENCRYPTEDSAV"):
        raise TacitaError(f"{file.name} is protected with a password; save it without one.")
    if not start.startswith(form.starts):
        raise TacitaError(f"{file.name} is not {form.called} file; check its name and how it was made.")


def looks_odd(file: Path) -> bool:
    """Whether the header of a file for SPSS counts more values or records than the file has room for."""
    form = FORMATS[file.suffix.lower()]
    if form.system != "spss":
        return False
    with file.open("rb") as opened:
        header = opened.read(84)
    size = file.stat().st_size
    for order in ("<", ">"):
        if len(header) == 84:
            layout, values, packed, _, records = struct.unpack(f"{order}5i", header[64:])
            if layout in (2, 3):
                return not (values < size and packed in (0, 1, 2) and -1 <= records <= size * form.cells_per_byte)
    return True


def _call(reader: str, file: Path, encoding: str | None, **options: Any) -> tuple[dict[str, Any], Any]:
    """What pyreadstat gives: lists by name and facts; dates as the numbers they are in the file."""
    import pyreadstat

    if encoding is not None:
        check_encoding(encoding)
        options["encoding"] = codecs.lookup(encoding).name
    if reader in ("read_sav", "read_dta", "read_sas7bdat"):
        options["user_missing"] = True
    if reader != "read_sas7bcat":
        options["disable_datetime_conversion"] = True
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            values, facts = getattr(pyreadstat, reader)(file.absolute(), output_format="dict", **options)
    except MemoryError:
        raise
    except UnicodeError:
        raise TacitaError(f"{file.name} {WORDS['requested encoding']}") from None
    except Exception as error:
        said = next((words for sign, words in WORDS.items() if sign in str(error)), "is damaged; export it again.")
        raise TacitaError(f"{file.name} {said}") from None
    if any("duplicated" in str(each.message) for each in caught):
        raise TacitaError(f"{file.name} names a column more than once; columns must be named once each.")
    return values, facts


def _put_letters(file: Path, names: Sequence[str], values: dict[str, list[Any]], facts: Any) -> None:
    """Put the special missing values of a transport file where the reader gave plain missing ones."""
    places = [at for at, name in enumerate(names) if name in values]
    records = len(values[names[places[0]]])
    for at, marks in transport.read_marks(file, places, records).items():
        there = np.flatnonzero(marks).tolist()
        for row in there:
            values[names[at]][row] = chr(marks[row])
        facts.missing_user_values[names[at]] = sorted({chr(marks[row]) for row in there})


def _catalog(file: Path, encoding: str | None) -> dict[str, dict[Any, str]]:
    _, facts = _call("read_sas7bcat", file, encoding)
    return {name.upper(): labels for name, labels in facts.value_labels.items()}


def _blocks(names: Sequence[str], rows: int | None) -> Iterator[list[str]]:
    """Columns to be read at once."""
    many = max(1, CELLS // max(rows or 1, 1))
    for start in range(0, len(names), many):
        yield list(names[start : start + many])


def _check_count(file: Path, read: int, announced: int | None) -> None:
    """The file has as many records as it says; a transport file says so in a place that pyreadstat does not look at."""
    if file.suffix.lower() == ".xpt" and file.stat().st_size:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as raw:
            place = raw.find(b"HEADER RECORD*******OBSV8")
            count = raw[place + 48 : place + 80].split()[:1] if place >= 0 else []
            if len(raw) % 80 or (count and count[0].isdigit() and read < int(count[0])):
                raise TacitaError(f"{file.name} {WORDS['Unable to read']}")
    elif announced is not None and read != announced:
        raise TacitaError(f"{file.name} {WORDS['Unable to read']}")


class FileVariable(NamedTuple):
    """What a file declares about one variable."""

    name: str
    system: System
    form: str | None
    labels: dict[Any, str]
    codes: tuple[Any, ...]
    ranges: tuple[tuple[float, float], ...]
    letters: list[str]
    """Special missing values that occur."""
    known: dict[str, Any]
    """Label and scale."""


def _file_variable(name: str, facts: Any, system: System) -> FileVariable:
    scales: dict[str, Scale] = {"nominal": "nominal", "ordinal": "ordinal", "scale": "numeric"}
    scale = scales.get(facts.variable_measure.get(name))
    if facts.readstat_variable_types[name] == "string" and scale == "numeric":
        scale = None
    return FileVariable(
        name,
        system,
        facts.original_variable_types[name],
        facts.variable_value_labels.get(name, {}),
        *_missing(facts.missing_ranges.get(name, [])),
        facts.missing_user_values.get(name, []),
        {"label": facts.column_names_to_labels.get(name) or "", "scale": scale},
    )


def _read(source: FileVariable, text: bool, values: list[Any], remarks: dict[str, list[str]]) -> tuple[Any, Variable]:
    """A column and what is known of it."""
    if text:
        labels = {code: label for code, label in source.labels.items() if isinstance(code, str)}
        return frame_files.column("text", values), Variable(value_labels=labels, missing=source.codes, **source.known)
    moment = moments.moment_of(source.system, source.form)
    if moment is not None:
        column = _moments(source, moment, values, remarks)
        if column is not None:
            return column, Variable(**source.known)
        remarks["numbers of {} are no dates or times of a day, against their format, and stay numbers."].append(
            source.name
        )
    if moments.counts_periods(source.system, source.form):
        remarks["{} count weeks, months, quarters, half-years or leap seconds, and stay numbers."].append(source.name)
    return _numbers(source, _with_codes(source, values), remarks), _described(source)


def _moments(source: FileVariable, moment: moments.Moment, values: list[Any], remarks: dict[str, list[str]]) -> Any:
    """Dates or times; a code among them could not be told from one."""
    numbers = np.array([None if isinstance(value, str) else value for value in values], dtype=np.float64)
    gone = among_codes(numbers, source.codes, source.ranges)
    column = moments.from_numbers(source.system, moment, np.where(gone, np.nan, numbers))
    if column is not None and (gone.any() or source.letters):
        remarks["missing codes of the dates or times in {} are plain missing now."].append(source.name)
    return column


def _described(source: FileVariable) -> Variable:
    """What is known of a variable of numbers; letters have become codes."""
    letters = {letter.lower() for letter in (*source.letters, *(key for key in source.labels if isinstance(key, str)))}
    specials = {special.code_of(letter): f".{letter}" for letter in sorted(letters)}
    labels = {
        _plain(special.code_of(key) if isinstance(key, str) else key): said for key, said in source.labels.items()
    }
    return Variable(
        value_labels=labels | {code: letter for code, letter in specials.items() if code not in labels},
        missing=(*source.codes, *specials),
        missing_ranges=source.ranges,
        **source.known,
    )


def _numbers(source: FileVariable, values: Floats, remarks: dict[str, list[str]]) -> Any:
    """Numbers, as whole numbers if that is what they are."""
    known = values[~np.isnan(values)]
    categories = source.known["scale"] in ("nominal", "ordinal")
    counted = categories or source.labels or not moments.shows_decimals(source.system, source.form)
    if not counted or not np.isfinite(known).all() or (known != np.floor(known)).any():
        return values
    if (np.abs(known) > EXACT).any():
        said = "whole numbers beyond 2^53 in {} may have been rounded, so that different ones are equal."
        remarks[said].append(source.name)
        return values
    return frame_files.column("whole", values)


def _with_codes(source: FileVariable, values: list[Any]) -> Floats:
    """Numbers with the codes of special missing values in place of the letters."""
    if not source.letters:
        return np.array(values, dtype=np.float64)
    numbers = np.array([None if isinstance(value, str) else value for value in values], dtype=np.float64)
    if special.among(numbers).any():
        raise TacitaError(
            f"column {source.name!r} has special missing values beside numbers from {special.LAST} to {special.FIRST}, "
            "which stand for them; recode those numbers."
        )
    codes = {letter: special.code_of(letter) for letter in source.letters}
    return np.array([codes[value] if isinstance(value, str) else value for value in values], dtype=np.float64)


def _missing(ranges: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[tuple[float, float], ...]]:
    """Single codes and ranges of codes that are declared missing."""
    pairs = [(_plain(each["lo"]), _plain(each["hi"])) for each in ranges]
    return (
        tuple(low for low, high in pairs if low == high),
        tuple((low, high) for low, high in pairs if low != high and not isinstance(low, str)),
    )


def _plain(code: Any) -> Any:
    """A whole number as one."""
    return int(code) if isinstance(code, float) and math.isfinite(code) and code == int(code) else code
