"""The confidentiality plot of categorical data: records with the same key across, information loss upwards."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.plots import cloud as clouds
from tacita.plots.cloud import MOST_POINTS, Cloud, Extent
from tacita.plots.linked_table import Column, Selections, linked_table, ring, selections, unsafe_rows
from tacita.plots.theme import SAFE, UNSAFE, themed

ROWS = 24
"""Cells upwards: losses of categories are few."""
MARGIN = 70
"""Pixels for the records by count and by loss."""
NAMED = 3
"""So many record numbers stand behind a mark."""


def cloud_of(result: Any) -> Cloud:
    """The records of a result as points."""
    counted = "units of the population" if result.population else "records"
    sign = "F" if result.population else "f"
    return Cloud(
        table=result.to_frame(),
        across=result.count,
        upwards=result.loss,
        unsafe=result.unsafe,
        notable=np.zeros(len(result.count)),
        limits=result.limits,
        # Always as cells: records share their places, and marks would cover each other.
        crowded=0,
        rows=ROWS,
        first=1.0,
        names=("count", "loss"),
        titles=(f"{counted} with the released key ({sign})", "information loss of the record"),
    )


def categorical_confidentiality_points(result: Any) -> frame.Frame:
    """What can be pointed at and dragged over: one place for all records with the same count and loss.

    None with more than 5,000 different pairs; what is seen is `categorical_confidentiality_cells`.
    """
    pairs = np.column_stack([result.count, result.loss])
    different, place, records = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    if len(different) > MOST_POINTS:
        return frame.table({name: [] for name in ("count", "loss", "height", "records", "unsafe", "record")})
    place = place.reshape(-1)
    order = np.argsort(place, kind="stable")
    start = np.cumsum(records) - records
    named = [
        _numbers(result.record[order[at : at + min(many, NAMED)]], int(many))
        for at, many in zip(start, records, strict=True)
    ]
    height = np.minimum(different[:, 1], clouds.extent(cloud_of(result)).top)
    return frame.table(
        {
            "count": different[:, 0],
            "loss": different[:, 1],
            "height": height,
            "records": records,
            "unsafe": different[:, 0] < result.limits.k,
            "record": named,
        }
    )


def categorical_confidentiality_cells(result: Any) -> frame.Frame:
    """What is drawn: cells of count and loss, records in each, and whether they are unsafe."""
    return clouds.cells(cloud_of(result))


def _numbers(first: Any, many: int) -> str:
    return ", ".join(f"{number:,}" for number in first.tolist()) + (", ..." if many > NAMED else "")


def categorical_confidentiality(result: Any, *, table: bool = False, width: int = 520, height: int = 320) -> Any:
    """Records with the same released key across, information loss upwards; left of the line is unsafe.

    The darker a cell the more records; above and beside it stand all records by count and by loss. Pointing at a place
    shows how many, and numbers of some, never values. `table=True` puts the unsafe records beside the plot.
    """
    cloud = cloud_of(result)
    shown = clouds.extent(cloud)
    points = categorical_confidentiality_points(result)
    chosen = selections(("count", "loss")) if table else None
    main = alt.layer(*_layers(cloud, shown, points, chosen)).properties(width=width, height=height)
    found = clouds.cells(cloud, shown)
    above = _margin(found, "left", "right", clouds.axes(cloud, shown)[0]).properties(width=width, height=MARGIN)
    beside = _margin(found, "low", "high", clouds.axes(cloud, shown)[1]).properties(width=MARGIN, height=height)
    chart = alt.vconcat(above, alt.hconcat(main, beside, spacing=10), spacing=10)
    title = alt.Title("Confidentiality plot", subtitle=_subtitle(result, shown, found))
    if chosen is None:
        return themed(chart.properties(title=title))
    columns = [
        Column("record", "record", 90, ","),
        Column("count", "count", 110, ",.3~f"),
        Column("loss", "loss", 110, ".1%"),
    ]
    rows = linked_table(_drawn(unsafe_rows(cloud, shown)), columns, int(cloud.unsafe.sum()), height, chosen)
    return themed(alt.hconcat(chart, rows, spacing=24).properties(title=title))


def _margin(found: frame.Frame, start: str, end: str, axis: dict[str, Any]) -> Any:
    """All records along one axis of the plot, the unsafe ones in red, in the cells of the plot."""
    bounds = np.column_stack([frame.numbers(found, start), frame.numbers(found, end)])
    unsafe = found["unsafe"].to_numpy().astype(np.float64)
    places, at = np.unique(np.column_stack([bounds, unsafe]), axis=0, return_inverse=True)
    records = np.bincount(at.reshape(-1), weights=frame.numbers(found, "records"), minlength=len(places))
    red = places[:, 2] == 1
    # Unsafe ones first, safe ones on top of them where a bar has both.
    below = np.zeros(len(places))
    for place in np.flatnonzero(~red):
        below[place] = records[red & (places[:, 0] == places[place, 0])].sum()
    bars = frame.table(
        {"start": places[:, 0], "end": places[:, 1], "below": below, "top": below + records, "records": records}
        | {"unsafe": red}
    )
    lengthwise = axis | {"title": None, "axis": alt.Axis(labels=False, ticks=False, domain=False)}
    counts: dict[str, Any] = {"title": "records", "axis": alt.Axis(tickCount=2, labelExpr=clouds.LABEL)}
    across = start == "left"
    one, other = (alt.X, alt.Y) if across else (alt.Y, alt.X)
    name, name2 = ("x", "y") if across else ("y", "x")
    channels: dict[str, Any] = {
        name: one("start:Q", **lengthwise),
        f"{name}2": "end:Q",
        name2: other("below:Q", **counts),
        f"{name2}2": "top:Q",
    }
    return (
        alt.Chart(bars)
        .mark_rect(stroke="white", strokeWidth=0.5)
        .encode(
            **channels,
            color=alt.condition("datum.unsafe", alt.value(UNSAFE), alt.value(SAFE)),
            tooltip=[alt.Tooltip("records:Q", format=",")],
        )
    )


def _drawn(rows: frame.Frame) -> frame.Frame:
    """The rows with as many digits as the figure shows: the exact loss of a numeric variable gives its value away."""
    rounded = {name: np.round(frame.numbers(rows, name), 3) for name in ("loss", "height")}
    return frame.beside(rows.drop(list(rounded)), frame.table(rounded))


def _layers(cloud: Cloud, shown: Extent, points: frame.Frame, chosen: Selections | None) -> list[Any]:
    across, upwards = clouds.axes(cloud, shown)
    zone, line = clouds.zone_layers(cloud, shown, across, upwards)
    cells = clouds.cell_layers(cloud, shown, across, upwards)
    x, y = alt.X("count:Q", **across), alt.Y("height:Q", **upwards)
    # Not seen: the cells show how many there are. What is brushed or pointed at are the places themselves.
    places = (
        alt.Chart(_drawn(points))
        .mark_circle(opacity=0, size=60)
        .encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("records:Q", format=","),
                alt.Tooltip("count:Q", format=",.3~f"),
                alt.Tooltip("loss:Q", format=".1%", title="information loss"),
                alt.Tooltip("record:N", title="record"),
            ],
        )
    )
    if chosen is None:
        return [zone, *cells, line, places]
    around = ring(_drawn(unsafe_rows(cloud, shown)), x, y, chosen)
    return [zone, *cells, line, around, places.add_params(chosen.brush, chosen.point)]


def _subtitle(result: Any, shown: Extent, found: frame.Frame) -> list[str]:
    n, unsafe = len(result.record), int(result.unsafe.sum())
    far = int((result.loss > shown.top).sum())
    darkest = int(frame.numbers(found, "records").max(initial=0.0))
    notes = [f"red: unsafe; blue: safe; the darker the more records, up to {darkest:,} in a cell"]
    notes += [f"{far:,} changed further than the axis shows, drawn at its top"] if far else []
    measured = [each.variable for each in result.changes]
    lost = "these keys" if measured == list(result.keys) else ", ".join(measured)
    return [
        f"{unsafe:,} of {n:,} records in the unsafe zone (k = {result.limits.k}); keys: {', '.join(result.keys)}",
        f"information loss: mean over {lost} of how far the value was changed (0 not, 1 as far as can be)",
        "; ".join(notes),
    ]
