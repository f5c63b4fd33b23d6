"""Mosaics of two categorical variables before and after: widths are shares of one, heights of the other within it."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.plots.before_after_panels import FILES, counted_by, title
from tacita.plots.labels import text_width
from tacita.plots.theme import INK, themed
from tacita.result import number

SHADES = ("#1f3f66", "#3b6ea5", "#6f9bc8", "#a3c1de", "#d3e1ef", "#f0d9b8", "#e0b06a", "#b97f2f")
"""Of the classes of the second variable, from the foot of the mosaic."""
BEHIND = {"(other)": "#c9c9c9", "(missing)": "#7d7d7d"}
"""Of what stands behind the classes."""
APART = 12.0
"""Names under the columns are at least so many pixels from each other."""
LONGEST = 22
"""Longer names under the columns are cut."""


def before_after_mosaic_points(result: Any, *, variable: str | None = None, second: str | None = None) -> frame.Frame:
    """The tiles: file, the two classes, bounds from 0 to 1, the share of the whole, and the share within the column."""
    table = _table(result, variable, second)
    tables = []
    for name, shares in zip(FILES, (table.original, table.released), strict=True):
        widths = shares.sum(axis=1)
        right = np.cumsum(widths)
        within = np.divide(shares, widths[:, None], out=np.zeros(shares.shape), where=widths[:, None] > 0)
        top = np.cumsum(within, axis=1)
        i, j = np.nonzero(shares)
        tables.append(
            frame.table(
                {
                    "file": [name] * len(i),
                    "first": [table.rows[at] for at in i],
                    "second": [table.columns[at] for at in j],
                    "left": (right - widths)[i],
                    "right": right[i],
                    "low": (top - within)[i, j],
                    "high": top[i, j],
                    "share": shares[i, j],
                    "within": within[i, j],
                }
            )
        )
    return frame.stacked(tables)


def _table(result: Any, variable: str | None, second: str | None) -> Any:
    if not result.pairs:
        raise TacitaError("no pair of categorical variables was compared; name one with pairs=[(..., ...)].")
    wanted = {name for name in (variable, second) if name is not None}
    found = next((each for each in result.pairs if wanted <= set(each.variables)), None)
    if found is None:
        pairs = check.quoted((" and ".join(each.variables) for each in result.pairs), most=8)
        raise TacitaError(f"variable and second must name a pair that was compared; there are {pairs}.")
    return found


def before_after_mosaic(
    result: Any, *, variable: str | None = None, second: str | None = None, width: int = 270, height: int = 230
) -> Any:
    """Two mosaics of a pair of variables, the first pair unless named: what goes together before and after.

    Columns are as wide as the class of the first variable is frequent, and divided as the second is within it.
    """
    table = _table(result, variable, second)
    points = before_after_mosaic_points(result, variable=variable, second=second)
    names = table.variables
    panels = [_panel(points, table, file, width, height, first=at == 0) for at, file in enumerate(FILES)]
    lines = [
        f"widths: shares of {names[0]}, {counted_by(result)}; heights: shares of {names[1]} within them",
        f"distance of the tables {number(table.distance)} (0 the same, 1 nothing in common)",
    ]
    heading = title(result, f"{names[1]} by {names[0]} before and after", [], lines)
    return themed(alt.hconcat(*panels, spacing=20).properties(title=heading))


def _panel(points: frame.Frame, table: Any, file: str, width: int, height: int, *, first: bool) -> Any:
    rows = points.filter(points["file"] == file)
    across = alt.Scale(domain=[0, 1], nice=False)
    ordered = list(table.columns)
    colours = [BEHIND.get(label) or _shade(at, ordered) for at, label in enumerate(ordered)]
    legend = alt.Legend(title=table.variables[1], labelLimit=200, orient="right", values=ordered[::-1])
    tiles = (
        alt.Chart(rows)
        .mark_rect(stroke="white", strokeWidth=1.2)
        .encode(
            x=alt.X("left:Q", scale=across, title=None, axis=None),
            x2="right:Q",
            y=alt.Y(
                "low:Q",
                scale=across,
                title=f"{table.variables[1]} within {table.variables[0]}" if first else None,
                # Unseen labels take the room of those beside the other mosaic, so that both stand level.
                axis=alt.Axis(format=".0~%", tickCount=5, labelOpacity=1 if first else 0),
            ),
            y2="high:Q",
            color=alt.Color("second:N", scale=alt.Scale(domain=ordered, range=colours), legend=legend),
            tooltip=[
                alt.Tooltip("first:N", title=table.variables[0]),
                alt.Tooltip("second:N", title=table.variables[1]),
                alt.Tooltip("within:Q", title="share within", format=".1%"),
                alt.Tooltip("share:Q", title="share of all", format=".2%"),
            ],
        )
    )
    heading = alt.Title(file, fontSize=12, offset=6, anchor="start", frame="group")
    names = _names(rows, width, height, level=_fit(points, width))
    return (tiles + names).properties(width=width, height=height, title=heading)


def _shade(at: int, ordered: list[str]) -> str:
    """Shades that are far apart where there are few classes."""
    own = sum(label not in BEHIND for label in ordered)
    return SHADES[1 + round(at * 3 / max(own - 1, 1))] if own <= 4 else SHADES[min(at, len(SHADES) - 1)]


def _cut(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _fit(points: frame.Frame, width: int) -> bool:
    """Whether every name fits under its column in both mosaics, so that they stand level."""
    rooms = (frame.numbers(points, "right") - frame.numbers(points, "left")) * width
    return all(text_width(_cut(name), 10) <= room for name, room in zip(points["first"].to_list(), rooms, strict=True))


def _names(rows: frame.Frame, width: int, height: int, *, level: bool) -> Any:
    """The names of the columns below them, pushed apart where columns are narrow."""
    columns = rows.unique("first", keep="first", maintain_order=True)
    middles = (frame.numbers(columns, "left") + frame.numbers(columns, "right")) / 2 * width
    labels = [_cut(each) for each in columns["first"].to_list()]
    table = frame.table({"text": labels, "place": (middles if level else pushed_apart(middles, APART, width)) / width})
    angle = {"align": "center"} if level else {"angle": 315, "align": "right"}
    text = alt.Chart(table).mark_text(baseline="middle", fontSize=10, color=INK, dy=4, **angle)
    return text.encode(x=alt.X("place:Q"), y=alt.value(height + 8), text="text:N")


def pushed_apart(places: Floats, least: float, width: float) -> Floats:
    """Ascending places moved until they are at least so far apart, as few of them as will do.

    >>> pushed_apart(np.array([10.0, 12.0, 50.0]), 10, 100).tolist()
    [10.0, 20.0, 50.0]
    """
    moved = places.copy()
    for at in range(1, len(moved)):
        moved[at] = max(moved[at], moved[at - 1] + least)
    if len(moved) and moved[-1] > width:
        moved[-1] = width
        for at in range(len(moved) - 2, -1, -1):
            moved[at] = min(moved[at], moved[at + 1] - least)
    return moved
