"""Rows of two tables that belong together."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tacita.arrays import Ints
from tacita.frame import Frame, alike


def matching_rows(left: Frame, right: Frame, on: Sequence[str]) -> Ints:
    """For each row of the left frame the row of the right one with the same values, -1 if there is none or one is
    missing; the values of the right frame must differ."""
    names = [str(place) for place in range(len(on))]
    pairs = [alike(left[name], right[name]) for name in on]
    wanted = pl.DataFrame([pair[0].alias(name) for name, pair in zip(names, pairs, strict=True)])
    offered = pl.DataFrame([pair[1].alias(name) for name, pair in zip(names, pairs, strict=True)])
    found = wanted.join(offered.with_row_index("row"), on=names, how="left", maintain_order="left")
    return found["row"].cast(pl.Int64).fill_null(-1).to_numpy()
