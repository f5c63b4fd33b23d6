"""Delimited text that is larger than memory: typed as small files are, and written once as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacita.check import TacitaError

SAMPLE = 1 << 20
WORDS = ("NA", "NaN", "nan", "NULL", "N/A", ".", "?")
"""Texts that are missing among numbers."""
NUMBER = r"^[+-]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?$|^[+-]?\.[0-9]+([eE][+-]?[0-9]+)?$"
"""A number that is told apart from no other text: '0012' is a code."""
WHOLE = r"^[+-]?(0|[1-9][0-9]{0,17})$"


def as_parquet(file: Path, database: Any) -> Path:
    """A text file as a Parquet file in the temporary folder, in the order of its records.

    A column is numbers only if every value in it is one and none begins with a needless 0; an empty field is missing.
    """
    if database.name != "DuckDB":
        raise TacitaError(f"{file.name} is text; write it as Parquet for Spark, or leave engine out.")
    texts = database.read_text(str(file), delimiter_of(file))
    names = texts.columns
    kinds = _kinds(texts, names, database)
    columns = {name: _typed(texts[name], kinds[name]) for name in names}
    out: Path = database.folder / "text.parquet"
    database.write(texts.select(**columns), out, what=f"reading {file.name}")
    return out


def delimiter_of(file: Path) -> str:
    """The delimiter that the first line has most of."""
    with file.open("rb") as opened:
        first = opened.read(SAMPLE).split(b"\n", 1)[0].decode("utf-8", "replace")
    found = max((",", ";", "\t", "|"), key=first.count)
    return found


def _kinds(texts: Any, names: Any, database: Any) -> dict[str, str]:
    """By column whether it is whole numbers, numbers or text."""
    asked = {}
    for at, name in enumerate(names):
        given = texts[name].strip()
        value = given.notnull() & (given != "")
        told = value & ~given.isin(WORDS)
        asked[f"values_{at}"] = told.sum()
        asked[f"whole_{at}"] = (told & given.re_search(WHOLE)).sum()
        asked[f"number_{at}"] = (told & given.re_search(NUMBER)).sum()
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
