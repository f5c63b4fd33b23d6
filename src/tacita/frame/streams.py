"""Tables as bytes and back, to hand them from one process to another."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import polars as pl

from tacita.check import TacitaError
from tacita.frame import Frame

PART = 1 << 26
"""Bytes of a table that are made into bytes at once."""


def as_bytes(table: Frame) -> Iterator[bytes]:
    """A table as bytes (Arrow's stream), some columns after the other, for another process to make it anew."""
    some: list[pl.Series] = []
    size = 0.0
    for place, series in enumerate(table, start=1):
        some.append(series)
        size += series.estimated_size()
        if size >= PART or place == table.width:
            stream = io.BytesIO()
            pl.DataFrame(some).write_ipc_stream(stream)
            yield stream.getvalue()
            some, size = [], 0.0


def of_bytes(parts: Sequence[bytes], name: str) -> Frame:
    """The table that another process made into bytes."""
    try:
        return pl.concat([pl.read_ipc_stream(io.BytesIO(part)) for part in parts], how="horizontal")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise TacitaError(f"{name} is damaged, or holds something that cannot be read; export it again.") from None
