"""Columns rebuilt from the values that they show, so that no category is left of what no longer occurs."""

from __future__ import annotations

import numpy as np
import polars as pl


def used_categories(series: pl.Series) -> pl.Series:
    """A column without the categories that no record has; a list of categories without order becomes texts."""
    texts = series.cast(pl.String)
    if not isinstance(series.dtype, pl.Enum):
        return texts
    present = set(texts.unique())
    return texts.cast(pl.Enum([label for label in series.dtype.categories if label in present]))


def rebuilt(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame built anew from its values: nothing is left in memory of cells that were blanked or categories that went.

    A missing cell of Arrow's kind is a mark over a place that still holds what was there, and texts lie in buffers that
    outlive the records that pointed into them; Arrow files hold both.
    """
    return pl.DataFrame({series.name: _rebuilt(series) for series in frame})


def _rebuilt(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Enum:
        return used_categories(_rebuilt(series.cast(pl.String)).cast(series.dtype))
    if series.dtype in (pl.String, pl.Categorical):
        texts = series.cast(pl.String)
        values = texts.unique()
        places = pl.DataFrame({"value": values, "place": np.arange(len(values), dtype=np.uint32)})
        found = pl.DataFrame({"value": texts}).join(
            places, on="value", how="left", nulls_equal=True, maintain_order="left"
        )
        return pl.Series(series.name, values.to_list(), dtype=pl.String).gather(found["place"])
    if series.dtype.is_numeric() or series.dtype.is_temporal() or series.dtype == pl.Boolean:
        blank = series.is_null()
        if not blank.any():
            return series
        plain = series.to_physical() if series.dtype.is_temporal() else series
        zero = False if plain.dtype == pl.Boolean else 0
        # Below the mark of a missing cell stands a zero.
        return plain.fill_null(zero).set(blank, None).cast(series.dtype)
    return pl.Series(series.name, series.to_list(), dtype=series.dtype)
