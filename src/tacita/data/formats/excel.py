"""Excel workbooks (.xlsx): one sheet of data, and a sheet "variables" with types, labels and missing codes.

Excel guesses, rounds and calculates; here texts are written as texts, so that a leading zero stays and nothing that
begins with = + - @ becomes a formula, and numbers to the last bit. What Excel cannot hold is refused.
"""

from __future__ import annotations

import datetime
import io
import logging
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data.data import Data
from tacita.data.formats import moments, workbook
from tacita.data.formats.loaded import Loaded, check_declared, check_table
from tacita.data.formats.statistical import EXACT
from tacita.data.variable import Variable
from tacita.frame import Frame
from tacita.frame import files as frame_files
from tacita.frame.files import Kind

ROWS, COLUMNS, SIGNS = 1_048_576, 16_384, 32_767
"""What a sheet holds: rows, columns, characters in a cell."""
DATA, VARIABLES = "data", "variables"
FORMATS = {"date": "yyyy-mm-dd", "datetime": "yyyy-mm-dd hh:mm:ss.000", "time": "hh:mm:ss.000"}
UNWRITABLE = r"(?s)^<r>.*</r>$|[\x00\uFFFE\uFFFF]"
"""XML has no room for these characters, and XlsxWriter takes a text in <r> for markup."""
DIMENSION = re.compile(rb'<dimension ref="(?:[A-Z]{1,3}[0-9]{1,7}:)?([A-Z]{1,3})([0-9]{1,7})"')
"""The last cell of a sheet, as it says near its beginning."""
HEAD = 4096
CELL = 24
"""Bytes that the reader takes for a cell, empty or not, up to the last one."""
EMPTY = 1 << 20
"""Bytes that a workbook without data may unpack to."""
FAR = 100
"""More cells for each byte are not there: the last cell is far off the others."""
ARCHIVE_FAULTS = (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError, EOFError, OSError)
DAY = moments.DAY * moments.MILLION
FIRST_DAYS = (-25_569, -25_568)
"""The days that a time without a date seems to lie on: 30 and 31 December 1899."""


def load(file: Path, sheet: str | None = None) -> Loaded:
    """A sheet of a workbook, the first unless named, with what the sheet "variables" says if it is one of ours."""
    import fastexcel

    content = file.read_bytes()
    _check_start(content, file.name)
    _check_sizes(content, file.name)
    try:
        with _quiet():
            reader = fastexcel.read_excel(content)
            names = reader.sheet_names
            if not names:
                raise fastexcel.SheetNotFoundError
            if sheet is not None and sheet not in names:
                raise TacitaError(f"{file.name} has no sheet {sheet!r}; its sheets are {check.quoted(names)}.")
            table, remarks = _sheet(reader, sheet or names[0], file.name)
            described = _described(reader) if VARIABLES in names and sheet != VARIABLES else ({}, {})
    except fastexcel.FastExcelError:
        raise TacitaError(f"{file.name} is damaged or cut off; save it again with Excel.") from None
    check_table(table, file.name)
    types, variables = described
    typed = frame.table({name: _typed(table, name, types.get(name)) for name in table.columns})
    return Loaded(typed, {name: known for name, known in variables.items() if name in table.columns}, remarks)


def _check_start(content: bytes, name: str) -> None:
    if not content:
        raise TacitaError(f"{name} is empty; check that it was saved or exported completely.")
    if content.startswith(bytes.fromhex("d0cf11e0a1b11ae1")):
        raise TacitaError(f"{name} is protected with a password or an old .xls file; save it as .xlsx without one.")
    if not content.startswith(b"PK"):
        raise TacitaError(f"{name} is not an Excel file; check its name and how it was made.")


def looks_odd(file: Path) -> bool:
    """Whether a workbook unpacks to very much, has cells far off, or is no archive that can be looked into."""
    content = file.read_bytes()
    try:
        packed = [(each.file_size, each.compress_size) for each in zipfile.ZipFile(io.BytesIO(content)).infolist()]
        cells = max((rows * columns for rows, columns in _dimensions(content)), default=0)
    except ARCHIVE_FAULTS:
        return True
    return sum(size for size, _ in packed) > 100 * len(content) + EMPTY or cells > FAR * len(content)


def _check_sizes(content: bytes, name: str) -> None:
    """Refuse a workbook that says it unpacks to more, or has more cells, than memory holds."""
    try:
        unpacked = sum(each.file_size for each in zipfile.ZipFile(io.BytesIO(content)).infolist())
        shapes = list(_dimensions(content))
    except ARCHIVE_FAULTS:
        # The reader may still find its way, or says that it does not.
        return
    check_declared(name, len(content), unpacked, 1)
    for rows, columns in shapes:
        check_declared(name, len(content), rows, columns, CELL)


def _dimensions(content: bytes) -> Iterator[tuple[int, int]]:
    """How many rows and columns the sheets of a workbook say they have."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for each in archive.infolist():
            if each.filename.startswith("xl/worksheets/") and each.filename.endswith(".xml"):
                with archive.open(each) as opened:
                    found = DIMENSION.search(opened.read(HEAD))
                if found:
                    yield int(found[2]), _column_number(found[1])


def _column_number(letters: bytes) -> int:
    """The number of a column that a sheet calls by letters: A is 1, AA 27."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the log of the reader, which reports columns without values."""
    logger = logging.getLogger("fastexcel")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _sheet(reader: Any, sheet: str, file: str) -> tuple[Frame, tuple[str, ...]]:
    """The records of a sheet under the names of its first row; cells that hold an error are missing."""
    header = frame_files.from_arrow(reader.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_arrow())
    if not header.height:
        raise TacitaError(f"{file} is empty; check that it was saved or exported completely.")
    loaded = reader.load_sheet(
        sheet, header_row=None, skip_rows=1, schema_sample_rows=None, skip_whitespace_tail_rows=True
    )
    batch, faults = loaded.to_arrow_with_errors()
    table = frame_files.from_arrow(batch)
    first = [name or "" for name in header.row(0)]
    # Columns that were only formatted have neither a name nor a value.
    used = [at for at, name in enumerate(first) if name or table.height > table[:, at].null_count()]
    names = [first[at] for at in used]
    if "" in names:
        raise TacitaError(f"{file} has no name for column {used[names.index('')] + 1:,}; name every column.")
    check.unique_in_header(file, names)
    wrong = Counter(first[fault.offset_position[1]] for fault in (faults.errors if faults else ()))
    remark = (
        f"{file}: {check.counted(wrong.total(), 'cell')} of {check.quoted(wrong)} hold an error such as #N/A and are "
        "missing."
    )
    chosen = frame.table({name: table[:, at] for name, at in zip(names, used, strict=True)})
    return chosen, (remark,) if wrong else ()


def _described(reader: Any) -> tuple[dict[str, str], dict[str, Variable]]:
    table = frame_files.from_arrow(reader.load_sheet(VARIABLES, header_row=None, dtypes="string").to_arrow())
    return workbook.parse(table.rows())


def _typed(table: Frame, name: str, declared: str | None) -> Any:
    """A column in the type that was written, or else the plainest that holds its values."""
    found = frame_files.kind(table, name)
    if table[name].null_count() == table.height:
        kind: Kind = declared if declared in workbook.TYPES else "text"  # type: ignore[assignment]
        nothing: Any = [None] * table.height if kind == "text" else np.zeros(table.height)
        return frame_files.column(kind, nothing, np.ones(table.height, dtype=np.bool_))
    if found == "number" and declared != "number":
        values = frame.numbers(table, name)
        known = values[~np.isnan(values)]
        whole = (known == np.floor(known)).all() and (np.abs(known) <= EXACT).all()
        return frame_files.column("whole", values) if whole else values
    if found == "datetime":
        return _moments(table, name, declared)
    return frame_files.seconds(table, name) if found == "other" else table[name]


def _moments(table: Frame, name: str, declared: str | None) -> Any:
    """Dates, times, or dates with times; Excel knows numbers of days only."""
    missing = frame.missing(table, name)
    # Days are floats: to the millisecond they are exact.
    ticks = (frame_files.ticks(table, name) + 500) // 1000 * 1000
    days = (ticks // DAY)[~missing]
    if declared == "time" or (declared is None and np.isin(days, FIRST_DAYS).all()):
        return frame_files.column("time", ticks % DAY, missing)
    if declared == "date" or (declared is None and not (ticks % DAY)[~missing].any()):
        return frame_files.column("date", ticks // DAY, missing)
    return frame_files.column("datetime", ticks, missing)


class _ExactFloat(float):
    """A float that is written with all its digits: XlsxWriter writes 16, and 17 are needed."""

    def __format__(self, form: str) -> str:
        return repr(float(self))


def save(data: Data, path: Path, file: str) -> tuple[str, ...]:
    """Write a workbook: the sheet "data", and the sheet "variables" with what is known of them."""
    import xlsxwriter

    if len(data) >= ROWS or len(data.columns) > COLUMNS:
        raise TacitaError(f"{file} can hold {ROWS - 1:,} records of {COLUMNS:,} variables at most; write Parquet.")
    remarks = [remark for name in data.columns for remark in _checked(data, name, file)]
    described = workbook.rows(data)
    if any(len(cell) > SIGNS // 2 or re.search(UNWRITABLE, cell) for cells in described for cell in cells):
        raise TacitaError(f"{file} cannot carry some name or label of a variable: it is too long or not writable.")
    # In memory: otherwise every cell would stand in a file of the system's temporary folder for a while.
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, {"in_memory": True}) as book:
        last = _fill(book, data, described)
    path.write_bytes(content.getbuffer())
    if last < len(data):
        lost = "at the end without any value"
        said = check.counted(len(data) - last, f"record {lost} is", f"records {lost} are")
        remarks.append(f"{file}: {said} lost.")
    return tuple(remarks)


def _fill(book: Any, data: Data, described: list[tuple[str, ...]]) -> int:
    """Fill both sheets, and return the last record with a value."""
    # A fixed date, so that the same data gives the same bytes.
    book.set_properties({"created": datetime.datetime(2000, 1, 1)})
    sheet = book.add_worksheet(DATA)
    last = 0
    for at, name in enumerate(data.columns):
        sheet.write_string(0, at, name)
        kind = frame_files.kind(data.table, name)
        form = book.add_format({"num_format": FORMATS[kind]}) if kind in FORMATS else None
        last = max(last, _write(sheet, at, kind, frame_files.plain_values(data.table, name), form))
    notes = book.add_worksheet(VARIABLES)
    for row, cells in enumerate(described):
        for at, cell in enumerate(cells):
            notes.write_string(row, at, cell)
    return last


def _write(sheet: Any, at: int, kind: Kind, values: list[Any], form: Any) -> int:
    """Write a column and return its last row with a value."""
    last = 0
    for row, value in enumerate(values, start=1):
        if value is None or value == "":
            continue
        last = row
        if kind == "text":
            sheet.write_string(row, at, value)
        elif kind == "logical":
            sheet.write_boolean(row, at, value)
        elif form is not None:
            sheet.write_datetime(row, at, value, form)
        else:
            sheet.write_number(row, at, _ExactFloat(value))
    return last


def _checked(data: Data, name: str, file: str) -> Iterator[str]:
    """What Excel cannot hold is an error, what it rounds a remark."""
    kind = frame_files.kind(data.table, name)
    fault = ""
    if kind == "other":
        fault = "lists, bytes or durations"
    elif kind == "text":
        if frame_files.longest_text(data.table, name, "signs") > SIGNS:
            fault = f"texts of more than {SIGNS:,} characters"
        elif frame_files.matching_texts(data.table, name, UNWRITABLE):
            fault = "characters or markup that a workbook cannot carry"
    elif kind == "whole" and frame_files.beyond(data.table, name, EXACT):
        fault = "whole numbers beyond 2^53"
    elif kind == "number" and np.isinf(frame.numbers(data.table, name)).any():
        fault = "infinite numbers"
    elif kind in ("date", "datetime"):
        ticks = frame_files.ticks(data.table, name)[~frame.missing(data.table, name)] // (1 if kind == "date" else DAY)
        if (ticks < -25_567).any() or (ticks > 2_932_896).any():
            fault = "dates before 1900 or after 9999"
    if fault:
        raise TacitaError(
            f"column {name!r} holds {fault}, which {file} cannot carry; make the column text or write Parquet."
        )
    if kind in ("datetime", "time") and (frame_files.ticks(data.table, name) % 1000).any():
        yield f"{file}: times of {name!r} are rounded to milliseconds."
    if frame_files.has_time_zone(data.table, name):
        yield f"{file}: times of {name!r} are written as their clocks showed, without the time zone."
