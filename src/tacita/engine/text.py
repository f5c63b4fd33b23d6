"""Delimited text that is larger than memory: typed as small files are, and written once as Parquet."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.engine.parts import check_names

SAMPLE = 1 << 20
WORDS = ("NA", "NaN", "nan", "NULL", "N/A", ".", "?")
"""Texts that are missing among numbers."""
NUMBER = r"^[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?$|^[+-]?\.[0-9]+([eE][+-]?[0-9]+)?$"
"""A number that is told apart from no other text: '0012' is a code."""
WHOLE = r"^[+-]?(0|[1-9][0-9]*)$"


def as_parquet(file: Path, database: Any) -> Path:
    """A text file as a Parquet file in the temporary folder, in the order of its records.

    A column is numbers only if every value in it is one and none begins with a needless 0; an empty field is missing.
    """
    if database.name != "DuckDB":
        raise TacitaError(f"{file.name} is text; write it as Parquet for Spark, or leave engine out.")
    first = _first_line(file)
    delimiter = max((",", ";", "\t", "|"), key=first.count)
    names = _header(first, delimiter, file)
    # The header is read here: an engine that is left to guess takes another line for it where that one has more fields.
    texts = database.read_text(file, names, delimiter)
    kinds = _kinds(texts, names, database)
    columns = {name: _typed(texts[name], kinds[name]) for name in names}
    out: Path = database.folder / "text.parquet"
    database.write(texts.select(**columns), out, what=f"reading {file.name}")
    return out


def _first_line(file: Path) -> str:
    """The header."""
    with file.open("rb") as opened:
        start = opened.read(SAMPLE)
    try:
        first = start.replace(b"\r", b"\n").split(b"\n", 1)[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        first = "\0"
    if "\0" in first or b"\0" in start:
        raise TacitaError(f"{file.name} is not a text in UTF-8; save it as UTF-8, or write it as Parquet.")
    return first


def _header(line: str, delimiter: str, file: Path) -> list[str]:
    """The names of the columns; an error where one has none, or several have the same."""
    try:
        names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter, strict=True), [])]
    except csv.Error:
        raise TacitaError(f"the header of {file.name} has a quote that does not end; correct it.") from None
    nameless = [at for at, name in enumerate(names, start=1) if not name]
    if nameless or not names:
        raise TacitaError(f"{file.name} has no name for column {nameless[0] if nameless else 1}; name every column.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TacitaError(f"{file.name} has several columns of one name: {check.quoted(twice)}; rename all but one.")
    check_names(names, file.name)
    return names


def _kinds(texts: Any, names: Any, database: Any) -> dict[str, str]:
    """By column whether it is whole numbers, numbers or text."""
    asked = {}
    for at, name in enumerate(names):
        given = texts[name].strip()
        value = given.notnull() & (given != "")
        told = value & ~given.isin(WORDS)
        digits = given.re_search(WHOLE)
        fits = given.try_cast("int64").notnull()
        asked[f"values_{at}"] = told.sum()
        asked[f"whole_{at}"] = (told & digits & fits).sum()
        # Whole numbers that 64 bits cannot hold are identifiers: as numbers several would be one.
        asked[f"number_{at}"] = (told & given.re_search(NUMBER) & ~(digits & ~fits)).sum()
    found = database.collect(texts.aggregate(**asked), what="looking at the columns").to_pylist()[0]

    def kind(at: int) -> str:
        values = found[f"values_{at}"] or 0
        whole, number = found[f"whole_{at}"] or 0, found[f"number_{at}"] or 0
        return "text" if not values or number < values else "whole" if whole == values else "number"

    return {name: kind(at) for at, name in enumerate(names)}


def _typed(column: Any, kind: str) -> Any:
    import ibis

    none = ibis.null("string")
    if kind == "text":
        return ibis.ifelse(column == "", none, column)
    bare = column.strip()
    bare = ibis.ifelse((bare == "") | bare.isin(WORDS), none, bare)
    return bare.cast("int64" if kind == "whole" else "float64")
