"""Released against original values: how near to the line of equality do they lie?

This figure **shows values of the original file** and is for the office only; its title says so. It takes the files
themselves: no result holds values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.distance.aligned import aligned
from tacita.distance.comparison import number_columns
from tacita.plots.cloud import CELLS, MOST_POINTS
from tacita.plots.internal.values import INTERNAL
from tacita.plots.number_axis import NumberAxis, number_axis
from tacita.plots.theme import INK, SAFE, themed


class _Pairs(NamedTuple):
    """A variable in both files, where both have it."""

    variable: str
    record: Ints
    x: Floats
    y: Floats
    missing: int
    drawn: Bools
    """By record: whether it is drawn one by one."""


def _pairs(original: Any, released: Any, variables: Any) -> list[_Pairs]:
    first, second, *_ = aligned(original, released)
    names = check.names("variables", variables)
    if not names:
        raise TacitaError("variables must name at least one column; pass variables=[...].")
    x, y = number_columns(first, names, "original"), number_columns(second, names, "released")
    budget = MOST_POINTS // len(names)
    found = []
    for at, name in enumerate(names):
        there = ~np.isnan(x[:, at]) & ~np.isnan(y[:, at])
        if not there.any():
            raise TacitaError(f"column {name!r} has no record with a value in both files; leave it out.")
        few = int(there.sum()) <= budget
        record = first.record[there]
        found.append(_Pairs(name, record, x[there, at], y[there, at], int((~there).sum()), np.full(len(record), few)))
    return found


def released_points(original: Any, released: Any, variables: Any) -> frame.Frame:
    """What is drawn one by one: variable, record, original and released value. With many records nothing is."""
    tables = [
        frame.table(
            {
                "variable": [each.variable] * int(each.drawn.sum()),
                "record": each.record[each.drawn],
                "original": each.x[each.drawn],
                "released": each.y[each.drawn],
            }
        )
        for each in _pairs(original, released, variables)
        if each.drawn.any()
    ]
    empty = {"variable": np.array([], dtype=str), "record": np.array([], dtype=np.int64)}
    numbers = {name: np.array([], dtype=np.float64) for name in ("original", "released")}
    return frame.stacked(tables) if tables else frame.table(empty | numbers)


def released_cells(original: Any, released: Any, variables: Any, *, log: bool = False) -> frame.Frame:
    """The cells of a large file: variable, bounds, and records inside."""
    tables = [_cells(each, _axis(each, log), CELLS) for each in _pairs(original, released, variables)]
    return frame.stacked(tables)


def _axis(each: _Pairs, log: bool) -> NumberAxis:
    return number_axis(np.concatenate([each.x, each.y]), log=log)


def _cells(each: _Pairs, along: NumberAxis, size: int) -> frame.Frame:
    edges = along.edges(size)
    counts = np.histogram2d(each.x[~each.drawn], each.y[~each.drawn], [edges, edges])[0]
    i, j = np.nonzero(counts)
    return frame.table(
        {
            "variable": [each.variable] * len(i),
            "left": edges[i],
            "right": edges[i + 1],
            "low": edges[j],
            "high": edges[j + 1],
            "records": counts[i, j].astype(np.int64),
        }
    )


def released(original: Any, released: Any, variables: Any, *, log: bool = False, width: int = 260) -> Any:
    """Released against original values of each variable, with the line of equality. **Shows original values.**

    Points on the line were not changed. With more records than can be drawn, cells are drawn in place of points, the
    darker the more records. Seri and Polettini (2003), figure 5.
    """
    pairs = _pairs(original, released, variables)
    size = int(min(CELLS, np.sqrt(MOST_POINTS / len(pairs))))
    panels = [_panel(each, _axis(each, log), size, width) for each in pairs]
    columns = 2 if len(panels) in (2, 4) else min(len(panels), 3)
    cells = sum(int((~each.drawn).sum()) for each in pairs)
    notes = [INTERNAL, "dashed: released = original"]
    notes += [f"{cells:,} values drawn as cells"] if cells else []
    missing = sum(each.missing for each in pairs)
    notes += [f"{check.counted(missing, 'value')} missing in a file not drawn"] if missing else []
    title = alt.Title("Released against original values", subtitle="; ".join(notes))
    return themed(alt.concat(*panels, columns=columns, spacing=24).properties(title=title))


def _panel(each: _Pairs, along: NumberAxis, size: int, width: int) -> Any:
    x = {"scale": along.scale(), "axis": along.axis(), "title": f"{each.variable}, original"}
    y = {"scale": along.scale(), "axis": along.axis(), "title": f"{each.variable}, released"}
    ends = frame.table({"original": [along.low, along.high], "released": [along.low, along.high]})
    equal = alt.Chart(ends).mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1)
    equal = equal.encode(x=alt.X("original:Q", **x), y=alt.Y("released:Q", **y))
    points = frame.table({"record": each.record, "original": each.x, "released": each.y})
    if each.drawn.all():
        cloud = (
            alt.Chart(points)
            .mark_point(size=14, color=SAFE, strokeWidth=1, opacity=0.7)
            .encode(
                x=alt.X("original:Q", **x),
                y=alt.Y("released:Q", **y),
                tooltip=[alt.Tooltip("record:Q", format=","), "original:Q", "released:Q"],
            )
        )
    else:
        cloud = _cell_chart(_cells(each, along, size), x, y)
    return alt.layer(cloud, equal).properties(width=width, height=width)


def _cell_chart(cells: frame.Frame, x: dict[str, Any], y: dict[str, Any]) -> Any:
    most = float(frame.numbers(cells, "records").max(initial=2.0))
    shade = alt.Scale(type="log", domain=[1, max(most, 2.0)], range=[0.12, 1])
    return (
        alt.Chart(cells.drop("variable"))
        .mark_rect(color=SAFE)
        .encode(
            x=alt.X("left:Q", **x),
            x2="right:Q",
            y=alt.Y("low:Q", **y),
            y2="high:Q",
            opacity=alt.Opacity("records:Q", scale=shade, legend=None),
            tooltip=[alt.Tooltip("records:Q", format=",")],
        )
    )
