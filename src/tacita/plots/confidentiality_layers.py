"""What one panel of a confidentiality plot is made of: records as points, layers of marks, what hovering shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.plots import cloud as clouds
from tacita.plots.cloud import Cloud, Extent
from tacita.plots.linked_table import Selections, ring, unsafe_rows
from tacita.plots.theme import QUIET, SAFE, UNSAFE

if TYPE_CHECKING:
    from tacita.plots.internal.values import Values

MARKS = ("no link", "true link among neighbours", "nearest is the true link", "largest unit")
MARKS_TEXT = (
    "open squares: nearest original is the true one; crosses: true one among the neighbours; filled: largest unit"
)
SHAPES = ("circle", "cross", "square", "square")
SIZES = (14, 20, 46, 90)
STEPS = 1000
"""Heights are rounded to so many steps of the axis."""
PLAIN = ("record", "stratum", "neighbours", "mark", "unsafe", "rank")
"""What a figure holds as it is."""
TITLES = ("neighbours: originals that look like the released record", "perturbation")


def cloud_of(result: Any, values: Values | None = None) -> Cloud:
    """The records of a result as points; values of the data only if they are given."""
    kinds = np.where(result.correct > 0, 2, np.where(result.inside, 1, 0))
    kinds = np.where(result.largest, 3, kinds).astype(np.uint32)
    table = frame.beside(result.to_frame(), frame.table({"mark": (kinds + np.uint32(1), MARKS)}))
    if values is not None:
        table = frame.beside(table, values.table)
    found = result.unsafe & (result.correct > 0)
    return Cloud(
        table=table,
        across=result.neighbours.astype(np.float64),
        upwards=result.perturbation,
        unsafe=result.unsafe,
        notable=np.where(result.largest, 2.0, found.astype(np.float64)),
        limits=result.limits,
        names=("neighbours", "perturbation"),
        titles=TITLES,
    )


def panel_layers(
    result: Any,
    cloud: Cloud,
    shown: Extent,
    chosen: Selections | None = None,
    values: Values | None = None,
    *,
    titles: bool = True,
) -> list[Any]:
    """The layers of one panel: zone, line, cells of a large file, marks."""
    across, upwards = clouds.axes(cloud, shown, titles=titles)
    zone, line = clouds.zone_layers(cloud, shown, across, upwards)
    layers = [zone, *(clouds.cell_layers(cloud, shown, across, upwards) if cloud.large else []), line]
    points = drawn(clouds.points(cloud, shown), shown)
    x, y = alt.X("neighbours:Q", **across), alt.Y("height:Q", **upwards)
    hover = _hover(result, values)
    marks = _marks(points, x, y, hover)
    if chosen is None:
        return [*layers, marks]
    return [
        *layers,
        ring(drawn(unsafe_rows(cloud, shown), shown), x, y, chosen),
        marks.add_params(chosen.brush, chosen.point),
    ]


def drawn(rows: frame.Frame, shown: Extent) -> frame.Frame:
    """What the figure holds of its rows: no more digits than it shows, since |y - x| / |x| in full gives x away.

    Whoever has the released file could work out originals from an exact perturbation, and exactly from it and z. It
    becomes a text, which an infinite one has too: a figure can only hold finite numbers.
    """
    texts = {"moved": _shares(frame.numbers(rows, "perturbation"))}
    if "width" in rows.columns:
        texts["wide"] = _shares(frame.numbers(rows, "width"))
    step = shown.top / STEPS
    height = np.round(frame.numbers(rows, "height") / step) * step
    kept = [name for name in rows.columns if name in PLAIN or (name[:1] == "v" and name[1:].isdigit())]
    return frame.beside(rows.select(kept), frame.table(texts | {"height": height}))


def _shares(values: Floats) -> list[str]:
    return [f"{value:.1%}" if np.isfinite(value) else "infinite" for value in values.tolist()]


def _hover(result: Any, values: Values | None) -> list[Any]:
    strata = [alt.Tooltip("stratum:N")] if result.labels != ("",) else []
    widths = [alt.Tooltip("wide:N", title="interval width")] if hasattr(result, "width") else []
    return [
        alt.Tooltip("record:Q", format=","),
        *strata,
        alt.Tooltip("neighbours:Q", format=","),
        alt.Tooltip("moved:N", title="perturbation"),
        *widths,
        alt.Tooltip("mark:N", title="link"),
        *([] if values is None else values.hover()),
    ]


def left_text(result: Any) -> list[str]:
    """What the counts of the figure leave out, and whether they say anything."""
    found = []
    if result.left_out:
        found.append(f"{check.counted(result.left_out, 'record')} left out: a key is missing or has no logarithm")
    if result.tied:
        where = "" if len(result.labels) == 1 else f" in {check.counted(result.tied, 'stratum', 'strata')}"
        found.append(f"caution: delta is 0{where}, so nobody has neighbours; too many values are equal")
    if result.pairing_cautions:
        found.append("caution: the files may not be in the same order; print the result")
    return found


def _marks(points: frame.Frame, x: Any, y: Any, hover: list[Any]) -> Any:
    """All marks in one layer, the notable kinds over the others."""
    seen = np.array([MARKS.index(mark) for mark in points["mark"]], dtype=np.int64)
    sized = frame.beside(points, frame.table({"size": np.array(SIZES)[seen]}))
    ordered = frame.take(sized, np.argsort(seen, kind="stable"))
    colour = (
        alt.when("datum.unsafe")
        .then(alt.value(UNSAFE))
        .when(f"datum.mark == '{MARKS[0]}'")
        .then(alt.value(QUIET))
        .otherwise(alt.value(SAFE))
    )
    hollow = f"datum.mark == '{MARKS[0]}' || datum.mark == '{MARKS[2]}'"
    shapes = alt.Scale(domain=list(MARKS), range=list(SHAPES))
    return (
        alt.Chart(ordered)
        .mark_point(strokeWidth=1, opacity=0.8)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape("mark:N", scale=shapes, legend=None),
            size=alt.Size("size:Q", scale=None),
            stroke=colour,
            # Transparent, not none: the inside of a hollow mark can be pointed at.
            fill=alt.when(hollow)
            .then(alt.value("transparent"))
            .when("datum.unsafe")
            .then(alt.value(UNSAFE))
            .otherwise(alt.value(SAFE)),
            tooltip=hover,
        )
    )
