"""Columns of texts: what they look like, which of them are missing, which of them a spreadsheet would run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from tacita.frame.columns import Frame, Words

LARGEST = 1e17
"""From here on a number may have been written as a whole one that is an identifier."""


def without_texts(table: Frame, texts: Sequence[str]) -> tuple[Frame, Words]:
    """A table in which cells that are one of some texts, or the number that one of them is, are missing; how many, by
    column."""
    gone: Words = {}
    columns = []
    for series in table:
        where = _equal_to(series, texts)
        counts = {text: int(found.sum()) for text, found in where.items() if found.any()}
        for text in counts:
            series = series.set(where[text], None)
        if counts:
            gone[series.name] = counts
        columns.append(series)
    return pl.DataFrame(columns), gone


def _equal_to(series: pl.Series, texts: Sequence[str]) -> dict[str, pl.Series]:
    """By text: where a column is it; nowhere in a column of other things than texts and numbers."""
    if series.dtype == pl.String:
        bare = series.str.strip_chars()
        return {text: (bare == text).fill_null(False) for text in texts}
    if not series.dtype.is_numeric():
        return {}
    numbers = pl.Series(list(texts), dtype=pl.String).cast(pl.Float64, strict=False).to_list()
    return {
        text: (series == number).fill_null(False)
        for text, number in zip(texts, numbers, strict=True)
        if number is not None
    }


class ShapeOfTexts(NamedTuple):
    """What the different texts of a column look like."""

    values: int
    """How many there are that are not one of the words that may mean missing."""
    numbers: int
    """How many of them are numbers."""
    zeros: int
    """How many of those have a zero in front."""
    dates: int
    """How many are dates, in one of the usual ways to write one."""
    words: dict[str, int]
    """How often words stand that may mean missing."""


WORDS = ("NA", "NaN", "NULL", ".", "nan", "N/A", "?")
"""Texts that mean missing beside numbers; in a column of texts they may be values, such as a country's code."""
SAMPLE = 20_000
"""Of more different texts those that come first are looked at."""
NUMBER = r"^\s*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?\s*$"
DATE = r"^\s*([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{4})([ T][0-9:.]+)?\s*$"


def shape_of_texts(table: Frame, name: str) -> ShapeOfTexts:
    """What the texts of a column look like."""
    texts = table[name].cast(pl.String).drop_nulls()
    bare = texts.unique(maintain_order=True).head(SAMPLE).str.strip_chars()
    plain = bare.filter((bare != "") & ~bare.is_in(list(WORDS)))
    found = [word for word in WORDS if word in bare]
    numbers = plain.str.contains(NUMBER)
    return ShapeOfTexts(
        len(plain),
        int(numbers.sum()),
        int(plain.str.contains(r"^[+-]?0[0-9]").sum()),
        int(plain.str.contains(DATE).sum()),
        {word: int((texts.str.strip_chars() == word).sum()) for word in found},
    )


FORMULA = r"^'*[=+\-@\t\r]."
"""How a text begins that a spreadsheet runs; or what becomes of it behind an apostrophe."""


def _runs(texts: pl.Series) -> pl.Series:
    """Where a text is one that a spreadsheet would take for a formula, and no number."""
    return (texts.str.contains(FORMULA) & ~texts.str.contains(NUMBER)).fill_null(False)


def without_formulas(table: Frame) -> tuple[Frame, dict[str, int]]:
    """A table in which texts that a spreadsheet would run have an apostrophe in front, and how many, by column."""
    fresh, counts = [], {}
    for series in table:
        if series.dtype in (pl.String, pl.Categorical, pl.Enum):
            texts = series.cast(pl.String)
            where = _runs(texts)
            if where.any():
                counts[series.name] = int(where.sum())
                fresh.append(
                    pl.select(pl.when(where).then("'" + texts).otherwise(texts).alias(series.name)).to_series()
                )
    return table.with_columns(fresh) if fresh else table, counts


def with_formulas(table: Frame) -> Frame:
    """A table of texts as it was before `without_formulas`; a column in which a formula stands bare is left alone."""
    fresh = []
    for series in table:
        if series.dtype == pl.String and series.str.starts_with("'").any():
            bare = series.str.slice(1)
            where = (series.str.starts_with("'") & _runs(bare)).fill_null(False)
            alone = _runs(series) & ~series.str.starts_with("'")
            if where.any() and not alone.any():
                fresh.append(pl.select(pl.when(where).then(bare).otherwise(series).alias(series.name)).to_series())
    return table.with_columns(fresh) if fresh else table


def read_as(source: bytes, *, delimiter: str, like: Frame) -> Frame | None:
    """The records of a delimited text without quotes, the header left out, in the columns and kinds of a frame.

    None where a field is of another kind, or is a word that may mean missing, or too large to be a number.
    """
    try:
        table = pl.read_csv(
            source, separator=delimiter, has_header=False, skip_lines=1, schema=like.schema, quote_char=None
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    for series in table:
        if series.dtype == pl.String:
            if series.unique().str.strip_chars().is_in([*WORDS, ""]).any():
                return None
        elif series.dtype == pl.Float64 and (series.is_nan().any() or _greatest(series) >= LARGEST):
            return None
    return table


def _greatest(numbers: pl.Series) -> float:
    return float(max(-(numbers.min() or 0.0), numbers.max() or 0.0))  # type: ignore[operator, arg-type]
