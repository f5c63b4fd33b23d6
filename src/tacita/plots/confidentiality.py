"""The confidentiality plot: every record by how well it hides among its neighbours and by how much it was changed."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.plots.theme import INK, QUIET, SAFE, UNSAFE, themed

MOST_POINTS = 5000
"""At most so many marks are drawn; dense areas are drawn as cells, and the subtitle counts what is in them."""
MARKED = 1000
"""At most so many records are drawn one by one in a large file: the largest units, and the unsafe that are linked."""
CELLS = 36
"""Cells along each axis in a large file, about."""
TOP = 4.0
"""Perturbations above so many times r are drawn at that height: a record moved so far is safe."""


def _top(result: Any) -> float:
    """The upper end of the axis: what nearly all records reach, at least a bit above r."""
    r = result.limits.r
    shown = float(np.quantile(result.perturbation, 0.995)) if len(result.perturbation) else r
    return float(min(TOP * r, max(1.25 * r, 1.1 * shown)))


def confidentiality_points(result: Any) -> frame.Frame:
    """What is drawn one by one: neighbours, perturbation and kind of mark of each record, no values.

    In a file of more than 5,000 records only the largest units and the unsafe ones whose nearest original is the true
    one are drawn one by one, those with fewest neighbours first, 1,000 of them at the most.
    """
    points = result.to_frame()
    rows = np.arange(points.height)
    if points.height > MOST_POINTS:
        notable = np.flatnonzero((result.unsafe & (result.correct > 0)) | result.largest)
        order = np.lexsort((result.neighbours[notable], ~result.largest[notable]))
        rows = np.sort(notable[order[:MARKED]])
    drawn = frame.take(points, rows)
    height = np.minimum(result.perturbation[rows], _top(result))
    kinds = np.where(result.correct[rows] > 0, 2, np.where(result.inside[rows], 1, 0)) + 1
    kinds = np.where(result.largest[rows], 4, kinds).astype(np.uint32)
    return frame.beside(drawn, frame.table({"height": height, "mark": (kinds, MARKS)}))


MARKS = ("no link", "true link among neighbours", "nearest is the true link", "largest unit")


def confidentiality_cells(result: Any) -> frame.Frame:
    """The cells of a large file: bounds, records inside of those that are not drawn one by one, and whether unsafe."""
    alone = frame.numbers(confidentiality_points(result), "record").astype(np.int64)
    rest = ~np.isin(result.record, alone)
    across, upwards = _edges(result)
    tables = []
    for unsafe in (False, True):
        here = rest & (result.unsafe == unsafe)
        height = np.minimum(result.perturbation[here], upwards[-1])
        counts = np.histogram2d(result.neighbours[here], height, [across, upwards])[0]
        i, j = np.nonzero(counts)
        cells = {"left": across[i], "right": across[i + 1], "low": upwards[j], "high": upwards[j + 1]}
        tables.append(
            frame.table(cells | {"records": counts[i, j].astype(np.int64), "unsafe": np.full(len(i), unsafe)})
        )
    return frame.stacked(tables)


def _edges(result: Any) -> tuple[Any, Any]:
    """Borders of the cells: one neighbour wide up to k, wider and wider beyond."""
    k, most = result.limits.k, int(result.neighbours.max(initial=0)) + 1
    beyond = np.geomspace(k, max(most, 2 * k), CELLS) if most > k else np.array([])
    across = np.unique(np.concatenate([np.arange(k + 1), np.round(beyond)])) - 0.5
    return np.append(across, across[-1] + 1.0), np.linspace(0.0, _top(result), CELLS + 1)


def _line(result: Any, steps: int = 60) -> frame.Frame:
    """The policy line: (x/k)^g + (y/r)^g = 1, or the vertical at k."""
    limits = result.limits
    x = np.linspace(0.0, limits.k, steps)
    y = limits.r * (1.0 - (x / limits.k) ** limits.g) ** (1.0 / limits.g)
    if limits.vertical:
        y = np.full(steps, _top(result))
    return frame.table({"neighbours": x, "height": y, "floor": np.zeros(steps)})


def confidentiality(result: Any, *, width: int = 560, height: int = 360) -> Any:
    """Neighbours across, perturbation upwards; the area below the policy line is unsafe.

    Squares: the nearest original is the true one. Crosses: the true one is among the neighbours. Filled square: the
    largest unit of its stratum. Hovering shows a record's number and figures, never its values.
    """
    points = confidentiality_points(result)
    large = len(result.record) > MOST_POINTS
    most = max(float(result.neighbours.max(initial=0)), 1.5 * result.limits.k)
    kind: dict[str, Any] = (
        {"type": "symlog", "constant": result.limits.k} if most > 8 * result.limits.k else {"type": "linear"}
    )
    across: dict[str, Any] = {
        "title": "neighbours: originals that look like the released record",
        "scale": alt.Scale(domain=[-0.5, most + 0.5], nice=False, **kind),
        "axis": alt.Axis(format="~s", tickCount=8),
    }
    upwards: dict[str, Any] = {
        "title": "perturbation",
        "scale": alt.Scale(domain=[0, _top(result)], nice=False, clamp=True),
        "axis": alt.Axis(format="%", tickCount=6),
    }
    x, y = alt.X("neighbours:Q", **across), alt.Y("height:Q", **upwards)
    line = _line(result)
    zone = alt.Chart(line).mark_area(color=UNSAFE, opacity=0.10).encode(x=x, y=y, y2="floor:Q")
    edge = alt.Chart(line).mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1.2).encode(x=x, y=y)
    if result.limits.vertical:
        edge = (
            alt.Chart(frame.table({"neighbours": [result.limits.k]}))
            .mark_rule(color=INK, strokeDash=[4, 3])
            .encode(x=x)
        )
    layers = [zone, edge]
    if large:
        cells = confidentiality_cells(result)
        layers += [_cell_layer(cells, across, upwards, unsafe) for unsafe in (False, True)]
    layers += [_marks(points, x, y, name) for name in MARKS]
    title = alt.Title("Confidentiality plot", subtitle=_subtitle(result, points, large))
    return themed(alt.layer(*layers).properties(width=width, height=height, title=title))


def _cell_layer(cells: frame.Frame, across: Any, upwards: Any, unsafe: bool) -> Any:
    most = float(frame.numbers(cells, "records").max(initial=1.0))
    shade = alt.Scale(type="log", domain=[1, max(most, 2.0)], range=[0.12, 1])
    return (
        alt.Chart(cells.filter(cells["unsafe"] == unsafe))
        .mark_rect(color=UNSAFE if unsafe else SAFE)
        .encode(
            x=alt.X("left:Q", **across),
            x2="right:Q",
            y=alt.Y("low:Q", **upwards),
            y2="high:Q",
            opacity=alt.Opacity("records:Q", scale=shade, legend=None),
            tooltip=[alt.Tooltip("records:Q", format=",")],
        )
    )


def _marks(points: frame.Frame, x: Any, y: Any, name: str) -> Any:
    shape, filled, size = {
        MARKS[0]: ("circle", False, 14),
        MARKS[1]: ("cross", True, 26),
        MARKS[2]: ("square", False, 46),
        MARKS[3]: ("square", True, 90),
    }[name]
    return (
        alt.Chart(points.filter(points["mark"] == name))
        .mark_point(shape=shape, filled=filled, size=size, strokeWidth=1, opacity=0.8)
        .encode(
            x=x,
            y=y,
            color=alt.condition("datum.unsafe", alt.value(UNSAFE), alt.value(SAFE if name != MARKS[0] else QUIET)),
            tooltip=[
                alt.Tooltip("record:Q", format=","),
                "stratum:N",
                alt.Tooltip("neighbours:Q", format=","),
                alt.Tooltip("perturbation:Q", format=".1%"),
                alt.Tooltip("mark:N", title="link"),
            ],
        )
    )


def _subtitle(result: Any, points: frame.Frame, large: bool) -> list[str]:
    found, n = int(result.unsafe.sum()), len(result.record)
    limits = result.limits
    line = f"k = {limits.k}" if limits.vertical else f"k = {limits.k}, r = {100 * limits.r:g} %"
    first = f"{found:,} of {n:,} records in the unsafe zone ({line}); keys: {', '.join(result.keys)}"
    second = (
        "open squares: nearest original is the true one; crosses: true one among the neighbours; filled: largest unit"
    )
    notes = []
    far = int((result.perturbation > _top(result)).sum())
    if far:
        notes.append(f"{far:,} moved further than the axis shows")
    if large:
        notes.append(f"{points.height:,} drawn one by one, {n - points.height:,} as cells")
    return [first, second, *(["; ".join(notes)] if notes else [])]
