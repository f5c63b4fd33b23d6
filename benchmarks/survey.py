"""Synthetic survey files for the benchmarks: many values, uneven shares, uneven weights, households of about three."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

KEYS = ("region", "sex", "age", "citizenship", "status")
MORE_KEYS = (*KEYS, "marital", "education", "size")

LABELS = {
    "region": (
        "Capital", "Central plain", "North coast", "River valley", "South hills",
        "East lakes", "West moors", "High mountains", "Outer islands",
    ),
    "citizenship": ("national", "neighbouring country", "other country nearby", "overseas"),
    "education": ("below primary", "primary", "lower secondary", "upper secondary", "tertiary", "doctorate"),
}  # fmt: skip
# Number of values, and each value's share against the one before.
SHARES = {
    "region": (9, 0.75),
    "sex": (2, 0.95),
    "citizenship": (4, 0.15),
    "status": (8, 0.6),
    "marital": (4, 0.5),
    "education": (6, 0.7),
}


def survey(records: int, seed: int = 1) -> pl.DataFrame:
    """A file with an identifier, five keys and a weight, as a statistical office would hold it."""
    draws = np.random.default_rng(seed)
    size = draws.integers(1, 6, records)
    household = np.repeat(np.arange(records), size)[:records]
    region = _codes(draws, records, "region")[household]
    # Small regions have small weights, and no two weights are quite the same.
    weight = 1.0 + 20.0 * 1.3 ** (8 - region) * draws.gamma(20.0, 1 / 20, records)
    return pl.DataFrame(
        {
            "household": household + 1,
            "region": _text(region, "region"),
            "sex": _codes(draws, records, "sex") + 1,
            "age": np.minimum(draws.integers(0, 100, records), draws.integers(0, 130, records)),
            "citizenship": _text(_codes(draws, records, "citizenship"), "citizenship"),
            "status": _codes(draws, records, "status") + 1,
            "weight": weight,
        }
    )


def wide_survey(records: int, seed: int = 1) -> pl.DataFrame:
    """The same with four variables more: eleven columns, eight of them keys."""
    draws = np.random.default_rng([seed, 1])
    return survey(records, seed).with_columns(
        marital=pl.Series(_codes(draws, records, "marital") + 1),
        education=_text(_codes(draws, records, "education"), "education"),
        size=pl.Series(draws.integers(1, 7, records)),
        income=pl.Series(np.round(draws.lognormal(9.8, 0.7, records), 2)),
    )


def with_missing(table: pl.DataFrame, columns: tuple[str, ...], share: float, seed: int = 1) -> pl.DataFrame:
    """A copy in which each value of some columns is missing with the same probability."""
    draws = np.random.default_rng([seed, 2])
    return table.with_columns(
        pl.when(pl.Series(draws.random(table.height) >= share)).then(pl.col(name)).alias(name) for name in columns
    )


def write(records: int, path: str, *, wide: bool = False) -> dict[str, Any]:
    """Write a survey as Parquet or CSV; a case, so that the memory it takes is not that of the reader."""
    table = wide_survey(records).drop("size") if wide else survey(records)
    if path.endswith(".csv"):
        table.write_csv(path)
    else:
        table.write_parquet(path)
    return {"bytes": Path(path).stat().st_size}


def _codes(draws: np.random.Generator, records: int, name: str) -> NDArray[np.int64]:
    values, ratio = SHARES[name]
    shares = ratio ** np.arange(values)
    return draws.choice(values, records, p=shares / shares.sum())


def _text(codes: NDArray[np.int64], name: str) -> pl.Series:
    return pl.Series(LABELS[name]).gather(pl.Series(codes.astype(np.uint32)))
