"""Correlations before and after, and their difference, as three heat maps."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.check import TacitaError
from tacita.plots.before_after_panels import counted_by, title
from tacita.plots.theme import INK, SAFE, UNSAFE, themed
from tacita.result import number

MAPS = ("original", "released", "released − original")
WRITTEN = 12
"""With at most so many variables the figures are written into the cells."""


def before_after_correlations_points(result: Any) -> frame.Frame:
    """The cells below the diagonal: map, the two variables and the association, missing where there is none."""
    found = result.associations
    row, column = np.tril_indices(len(found.names), -1)
    maps = (found.original, found.released, found.change)
    tables = [
        frame.table(
            {
                "map": [name] * len(row),
                "row": [found.names[at] for at in row],
                "column": [found.names[at] for at in column],
                "value": np.asarray(matrix[row, column], dtype=np.float64),
            }
        )
        for name, matrix in zip(MAPS, maps, strict=True)
    ]
    return frame.stacked(tables)


def before_after_correlations(result: Any, *, size: int | None = None) -> Any:
    """Pearson's r of numbers and Cramér's V with categories, in the original, in the release, and what changed.

    The first two have one scale from -1 to 1; the difference has its own, as wide as the greatest change.
    """
    names = list(result.associations.names)
    if len(names) < 2:
        raise TacitaError("correlations need two variables; compare more of them with variables=[...].")
    points = before_after_correlations_points(result)
    cell = size or (34 if len(names) <= WRITTEN else max(9, 300 // len(names)))
    change = points.filter(points["map"] == MAPS[2])
    widest = float(np.nanmax(np.append(np.abs(frame.numbers(change, "value")), 1e-9)))
    panels = [_panel(points, name, names, cell, widest, first=at == 0) for at, name in enumerate(MAPS)]
    said = "Pearson's r of numbers"
    if result.associations.numbers < len(names):
        said += ", Cramér's V (0 to 1) with categories, numbers then cut into fifths"
    lines = [f"{counted_by(result)}; {said}", f"greatest change: {number(result.associations.largest_change)}"]
    heading = title(result, "Correlations before and after", [], lines if widest > 1e-9 else lines[:1])
    return themed(alt.hconcat(*panels, spacing=16).resolve_scale(color="independent").properties(title=heading))


def _panel(points: frame.Frame, name: str, names: list[str], cell: int, widest: float, *, first: bool) -> Any:
    rows = points.filter(points["map"] == name)
    top = widest if name == MAPS[2] else 1.0
    scale = alt.Scale(domain=[-top, 0, top], range=[UNSAFE, "#f7f7f7", SAFE])
    # One legend for the first two maps, which have one scale.
    legend = alt.Legend(title=None, gradientLength=90, format=".2~f", tickCount=3) if name != MAPS[0] else None
    base = alt.Chart(rows).encode(
        x=alt.X("column:N", sort=names[:-1], title=None, axis=_axis(angle=-45), scale=alt.Scale(domain=names[:-1])),
        y=alt.Y("row:N", sort=names[1:], title=None, axis=_axis(shown=first), scale=alt.Scale(domain=names[1:])),
    )
    heat = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color("value:Q", scale=scale, legend=legend),
        tooltip=["row:N", "column:N", alt.Tooltip("value:Q", title=name, format="+.3f")],
    )
    layers = [heat]
    if len(names) <= WRITTEN:
        dark = f"abs(datum.value) > {0.6 * top!r}"
        colour = alt.condition(dark, alt.value("white"), alt.value(INK))
        written = base.transform_filter("isValid(datum.value)").mark_text(fontSize=9 if cell < 40 else 10)
        layers.append(written.encode(text=alt.Text("value:Q", format=".2f"), color=colour))
    width = cell * (len(names) - 1)
    heading = alt.Title(name, fontSize=12, offset=6, anchor="start", frame="group")
    return alt.layer(*layers).properties(width=width, height=width, title=heading)


def _axis(*, angle: int = 0, shown: bool = True) -> Any:
    return alt.Axis(labelAngle=angle, labelLimit=130, labels=shown, ticks=False, domain=False)
