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
        names=("count", "loss"),
        titles=(f"{counted} with the released key ({sign})", "information loss of the record"),
    )


def categorical_confidentiality_points(result: Any) -> frame.Frame:
    """What is drawn: one mark for all records with the same count and loss, the larger the more there are.

    With more than 5,000 different pairs nothing is drawn one by one; `categorical_confidentiality_cells` has the rest.
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
    """The cells of a file with very many different pairs of count and loss."""
    return clouds.cells(cloud_of(result))


def _numbers(first: Any, many: int) -> str:
    return ", ".join(f"{number:,}" for number in first.tolist()) + (", ..." if many > NAMED else "")


def categorical_confidentiality(result: Any, *, table: bool = False, width: int = 560, height: int = 360) -> Any:
    """Records with the same released key across, information loss upwards; left of the line is unsafe.

    One mark stands for all records at its place, the larger the more. Hovering shows how many, and numbers of some,
    never values. `table=True` puts the unsafe records beside the plot.
    """
    cloud = cloud_of(result)
    shown = clouds.extent(cloud)
    points = categorical_confidentiality_points(result)
    chosen = selections(("count", "loss")) if table else None
    chart = alt.layer(*_layers(cloud, shown, points, chosen)).properties(width=width, height=height)
    title = alt.Title("Confidentiality plot", subtitle=_subtitle(result, shown, points))
    if chosen is None:
        return themed(chart.properties(title=title))
    columns = [
        Column("record", "record", 90, ","),
        Column("count", "count", 110, ",.3~f"),
        Column("loss", "loss", 110, ".1%"),
    ]
    rows = linked_table(_drawn(unsafe_rows(cloud, shown)), columns, int(cloud.unsafe.sum()), height, chosen)
    return themed(alt.hconcat(chart, rows, spacing=24).properties(title=title))


def _drawn(rows: frame.Frame) -> frame.Frame:
    """The rows with as many digits as the figure shows: the exact loss of a numeric variable gives its value away."""
    rounded = {name: np.round(frame.numbers(rows, name), 3) for name in ("loss", "height")}
    return frame.beside(rows.drop(list(rounded)), frame.table(rounded))


def _layers(cloud: Cloud, shown: Extent, points: frame.Frame, chosen: Selections | None) -> list[Any]:
    across, upwards = clouds.axes(cloud, shown)
    zone, line = clouds.zone_layers(cloud, shown, across, upwards)
    cells = [] if points.height else clouds.cell_layers(cloud, shown, across, upwards)
    x, y = alt.X("count:Q", **across), alt.Y("height:Q", **upwards)
    most = float(frame.numbers(points, "records").max(initial=2.0))
    marks = (
        alt.Chart(_drawn(points))
        .mark_circle(opacity=0.65, clip=False)
        .encode(
            x=x,
            y=y,
            size=alt.Size("records:Q", scale=alt.Scale(type="sqrt", domain=[1, most], range=[18, 500]), legend=None),
            color=alt.condition("datum.unsafe", alt.value(UNSAFE), alt.value(SAFE)),
            tooltip=[
                alt.Tooltip("records:Q", format=","),
                alt.Tooltip("count:Q", format=",.3~f"),
                alt.Tooltip("loss:Q", format=".1%", title="information loss"),
                alt.Tooltip("record:N", title="record"),
            ],
        )
    )
    if chosen is None:
        return [zone, *cells, line, marks]
    around = ring(_drawn(unsafe_rows(cloud, shown)), x, y, chosen)
    return [zone, *cells, line, around, marks.add_params(chosen.brush, chosen.point)]


def _subtitle(result: Any, shown: Extent, points: frame.Frame) -> list[str]:
    n, found = len(result.record), int(result.unsafe.sum())
    far = int((result.loss > shown.top).sum())
    notes = [f"{far:,} changed further than the axis shows"] if far else []
    notes += ["the larger the mark the more records"] if points.height else [f"{n:,} records drawn as cells"]
    return [
        f"{found:,} of {n:,} records in the unsafe zone (k = {result.limits.k}); keys: {', '.join(result.keys)}",
        "; ".join(notes),
    ]
