"""Odd values, tables and scenarios, drawn at random: what a first-time user, a script or an attacker might pass."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

CANARY = "zq-canary"
"""Begins every text cell: no message may hold it."""
ROWS = (0, 1, 1, 2, 3, 7, 30, 30, 30, 60)
NAMES = (
    "a",
    "b",
    "c",
    "w",
    "h",
    "x",
    "y",
    "",
    " ",
    "a b",
    "record",
    "f",
    "F",
    "len",
    "count",
    "é",
    "x'\"`",
    "[red]",
    "1",
)

VALUES: tuple[Callable[[random.Random], Any], ...] = (
    lambda _: None,
    lambda _: True,
    lambda _: False,
    lambda r: r.randint(-3, 12),
    lambda r: r.choice([2**31, 2**63, 2**70, 10**400, -(2**63), -(2**70)]),
    lambda r: r.choice([0.5, 0.1, 1.0, -0.0, 1e308, 1e-320, float("nan"), float("inf"), -float("inf")]),
    lambda r: r.choice([np.int8(-1), np.float32(0.5), np.float64("nan"), np.bool_(True), np.str_("a")]),
    lambda r: r.choice(["", " ", "a", "b", "w", "no such", "é", "a.toml", "1", "x" * 5000, "\x00", "a\nb", "\ud800"]),
    lambda r: r.choice([b"a", 1j, object(), print, ..., NotImplemented, int, Path("nowhere")]),
    lambda r: r.choice([Decimal("1.5"), Decimal("nan"), datetime.date(2020, 1, 1), datetime.timedelta(1)]),
    lambda r: r.choice([[], (), {}, set(), [None], ["a", "a"], ["a"], ("b", "w"), {"a"}, frozenset({"b"}), range(3)]),
    lambda r: r.choice([{"a": 1}, {"a": None}, {1: 2}, {"a": {"a": "a"}}, {"no such": [1]}, {None: None}]),
    lambda r: r.choice([[1, 2, 3], [0.1, 0.9], [[1], [2]], [3, 1, 2], [float("nan")], [2**70], [True]]),
    lambda r: r.choice([np.arange(3), np.array([["a"]]), np.array(None), np.zeros((0, 2)), pl.Series([1, 2])]),
    lambda _: iter([1]),
)
COLUMNS: tuple[Callable[[random.Random, int], pl.Series], ...] = (
    lambda r, n: pl.Series([r.randint(1, 3) for _ in range(n)], dtype=pl.Int64),
    lambda r, n: pl.Series([r.randint(1, 3) for _ in range(n)], dtype=pl.Int8),
    lambda r, n: pl.Series([r.randint(0, 90) for _ in range(n)], dtype=pl.Int64),
    lambda r, n: pl.Series([r.gauss(100, 30) for _ in range(n)], dtype=pl.Float64),
    lambda r, n: pl.Series([r.choice([1.0, 2.5, None, 7.0]) for _ in range(n)], dtype=pl.Float64),
    lambda r, n: pl.Series([r.choice([1.0, float("nan"), float("inf"), 0.0, -1e308]) for _ in range(n)]).cast(
        pl.Float64
    ),
    lambda r, n: pl.Series([r.choice([1.0, 1e-300, 1e300]) for _ in range(n)], dtype=pl.Float32, strict=False),
    lambda r, n: pl.Series([r.choice([2**63, 2**64 - 1, 5]) for _ in range(n)], dtype=pl.UInt64),
    lambda r, n: pl.Series([r.choice([2**100, -(2**100), 5]) for _ in range(n)], dtype=pl.Int128),
    lambda r, n: pl.Series([r.choice([2**53, 2**53 + 1, -(2**63)]) for _ in range(n)], dtype=pl.Int64),
    lambda r, n: pl.Series([Decimal(r.randint(-500, 500)) / 100 for _ in range(n)], dtype=pl.Decimal(30, 2)),
    lambda r, n: pl.Series([datetime.date(r.randint(1, 9999), 1, 1) for _ in range(n)], dtype=pl.Date),
    lambda r, n: pl.Series([datetime.datetime(2000, 1, r.randint(1, 9), 5) for _ in range(n)], dtype=pl.Datetime("ns")),
    lambda r, n: pl.Series([datetime.timedelta(r.randint(0, 3)) for _ in range(n)], dtype=pl.Duration),
    lambda r, n: pl.Series([datetime.time(r.randint(0, 23)) for _ in range(n)], dtype=pl.Time),
    lambda r, n: pl.Series([r.choice([True, False, None]) for _ in range(n)], dtype=pl.Boolean),
    lambda r, n: pl.Series([f"{CANARY} {r.choice('abc')}" for _ in range(n)], dtype=pl.String),
    lambda r, n: pl.Series(
        [r.choice([None, f"{CANARY} ", f" {CANARY}", f"{CANARY}é"]) for _ in range(n)], dtype=pl.String
    ),
    lambda r, n: pl.Series([f"{CANARY} {r.choice('ab')}" for _ in range(n)], dtype=pl.String).cast(pl.Categorical),
    lambda r, n: pl.Series([[r.randint(1, 2)] for _ in range(n)], dtype=pl.List(pl.Int64)),
    lambda r, n: pl.Series([{"u": r.randint(1, 2)} for _ in range(n)], dtype=pl.Struct({"u": pl.Int64})),
    lambda r, n: pl.Series([object() for _ in range(n)], dtype=pl.Object),
    lambda r, n: pl.Series([CANARY.encode() for _ in range(n)], dtype=pl.Binary),
    lambda r, n: pl.Series([None] * n, dtype=pl.Null),
    lambda r, n: pl.Series([None] * n, dtype=pl.Float64),
    lambda r, n: pl.Series([7] * n, dtype=pl.Int64),
    lambda r, n: pl.Series(range(n), dtype=pl.Int64),
)
PLAIN = (0, 1, 2, 3, 4, 10, 16, 17)
"""Columns of files that a survey could be."""


def value(rng: random.Random) -> Any:
    """Any value at all."""
    return rng.choice(VALUES)(rng)


def table(rng: random.Random) -> pl.DataFrame:
    """A table of a few columns: usual ones, or anything that Polars holds."""
    rows = rng.choice(ROWS)
    kinds = [COLUMNS[at] for at in PLAIN] if rng.random() < 0.6 else COLUMNS
    names = rng.sample(NAMES[:7] if rng.random() < 0.6 else NAMES, rng.randint(1, 6))
    return pl.DataFrame({name: rng.choice(kinds)(rng, rows) for name in names})


def given_as(rng: random.Random, made: pl.DataFrame) -> Any:
    """The table as a user has it: Polars, pandas, Arrow, a mapping, or no table at all."""
    kind = rng.random()
    if kind < 0.7:
        return made
    plain = made.select([name for name, kind in made.schema.items() if kind not in (pl.Object, pl.Int128)])
    if not plain.width:
        return made
    if kind < 0.8:
        return _pandas(rng, plain)
    if kind < 0.85:
        return plain.to_arrow()
    if kind < 0.9:
        return made.lazy()
    return rng.choice([made.to_dict(as_series=False), made.rows(), made.to_series(0), value(rng)])


def _pandas(rng: random.Random, made: pl.DataFrame) -> Any:
    import pandas as pd

    found = pd.DataFrame({name: made[name].to_list() for name in made.columns})
    kind = rng.random()
    if kind < 0.3:
        found.columns = [found.columns[0]] * found.shape[1]
    elif kind < 0.5:
        found.columns = list(range(found.shape[1]))
    elif kind < 0.7:
        found.index = found.index[::-1]
    elif kind < 0.8:
        found = found.astype(object)
    return found


def names(rng: random.Random, made: pl.DataFrame) -> list[str]:
    """Some of the columns of a table."""
    return rng.sample(made.columns, rng.randint(1, min(3, made.width)))
