"""A table beside a plot: the unsafe records, those brushed in the plot if any, a page at a time.

Everything is part of the figure's own specification, so it works wherever the figure does, without a connection. In a
picture it shows the first page.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt
import numpy as np

from tacita import frame
from tacita.plots.cloud import MARKED, Cloud, Extent
from tacita.plots.theme import INK, QUIET, UNSAFE

LINE = 16
"""Pixels from line to line."""


class Column(NamedTuple):
    """A column of the table."""

    field: str
    """Its field in the rows."""
    title: str
    """Its head."""
    width: int
    """Its width in pixels."""
    format: str = ""
    """How numbers are written; texts without."""


class Selections(NamedTuple):
    """What the reader selects."""

    brush: Any
    """An area of the plot: the table shows the unsafe records in it."""
    point: Any
    """A record clicked in the plot: its row is marked."""
    row: Any
    """A row clicked in the table: its record gets a ring in the plot."""


def selections(point: tuple[str, ...] = ("record",)) -> Selections:
    """New selections: nothing is selected at first. A click in the plot marks the rows that agree on some fields."""
    return Selections(
        alt.selection_interval(name="brush", encodings=["x", "y"]),
        alt.selection_point(name="point", fields=list(point), empty=False),
        alt.selection_point(name="row", fields=["record"], empty=False),
    )


def unsafe_rows(cloud: Cloud, shown: Extent) -> frame.Frame:
    """The rows of the table: unsafe records, fewest neighbours and least change first, 1,000 at the most."""
    unsafe = np.flatnonzero(cloud.unsafe)
    order = np.lexsort((unsafe, cloud.upwards[unsafe], cloud.across[unsafe]))
    rows = unsafe[order[:MARKED]]
    drawn = {"height": np.minimum(cloud.upwards[rows], shown.top), "rank": np.arange(1, len(rows) + 1)}
    return frame.beside(frame.take(cloud.table, rows), frame.table(drawn))


def ring(rows: frame.Frame, x: Any, y: Any, chosen: Selections) -> Any:
    """A ring around the record whose row was clicked."""
    wide = alt.Chart(rows).transform_filter(chosen.row).mark_point(size=320, color=INK, strokeWidth=2, opacity=1)
    return wide.encode(x=x, y=y)


def linked_table(rows: frame.Frame, columns: list[Column], total: int, height: int, chosen: Selections) -> Any:
    """The table: what is brushed of the rows, or all of them, a page at a time; a click on a row marks its record."""
    lines = height // LINE - 1
    first = alt.param(name="first_row", value=0)
    if rows.height > lines:
        step = alt.binding_range(min=0, max=(rows.height - 1) // lines * lines, step=lines, name="table: rows after ")
        first = alt.param(name="first_row", value=0, bind=step)
    page = (
        alt.Chart(rows)
        .transform_filter(chosen.brush)
        .transform_window(place="row_number()", sort=[alt.SortField("rank")])
        .transform_calculate(line="datum.place - first_row")
        .transform_filter(f"datum.line >= 1 && datum.line <= {lines}")
    )
    scale = alt.Scale(domain=[-0.5, lines + 0.5], reverse=True, nice=False)
    y = alt.Y("line:Q", scale=scale, axis=None)
    width = max(sum(column.width for column in columns), 330)
    stripe = (
        page.transform_calculate(upper="datum.line - 0.5", lower="datum.line + 0.5")
        .mark_rect(color=UNSAFE, cursor="pointer")
        .encode(
            x=alt.value(0),
            x2=alt.value(width),
            y=alt.Y("upper:Q", scale=scale, axis=None),
            y2="lower:Q",
            opacity=alt.condition(chosen.point | chosen.row, alt.value(0.25), alt.value(0.04)),
        )
        .add_params(chosen.row)
    )
    layers, right = [stripe], 0
    for column in columns:
        right += column.width
        layers += _column(page, column, right - 8, y)
    title = alt.Title("Unsafe records", subtitle=_subtitle(rows.height, total, lines), fontSize=12, offset=4)
    return alt.layer(*layers).add_params(first).properties(width=width, height=height, title=title)


def _column(page: Any, column: Column, right: int, y: Any) -> list[Any]:
    written: dict[str, Any] = {"format": column.format} if column.format else {}
    kind = "Q" if column.format else "N"
    text = (
        page.mark_text(align="right", fontSize=11, color=INK, cursor="pointer", limit=column.width - 8)
        .encode(x=alt.value(right), y=y, text=alt.Text(f"{column.field}:{kind}", **written))
    )  # fmt: skip
    head = frame.table({"line": [0], "head": [column.title]})
    top = (
        alt.Chart(head)
        .mark_text(align="right", fontSize=11, color=QUIET)
        .encode(x=alt.value(right), y=y, text="head:N")
    )
    return [text, top]


def _subtitle(listed: int, total: int, lines: int) -> str:
    if not total:
        return "none"
    some = f"{listed:,} of {total:,}, the most exposed" if listed < total else f"{total:,}, the most exposed first"
    return f"{some}; drag over the plot to choose, click to mark"
