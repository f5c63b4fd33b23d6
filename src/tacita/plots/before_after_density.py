"""Numbers before and after: densities, or histograms, on a common axis."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.plots.before_after_panels import (
    COLOURS,
    FILES,
    before_and_after,
    chosen,
    counted_by,
    file_colour,
    laid_out,
    panel_title,
    scale_words,
    stacked,
    title,
    value_axis,
    value_scale,
)


def before_after_density_points(result: Any, *, variable: str | None = None) -> frame.Frame:
    """The curves: variable, group, file, value and density, which is missing where too few records are near.

    A density is per unit of the axis, on a log scale of the common logarithm.
    """
    tables = []
    for each in _drawn(result, variable):
        for name, side in zip(FILES, (each.original, each.released), strict=True) if len(each.grid) else ():
            tables.append(
                frame.table(
                    {
                        "variable": [each.variable] * len(each.grid),
                        "group": [each.group] * len(each.grid),
                        "file": [name] * len(each.grid),
                        "value": each.line.values(each.grid),
                        "density": np.asarray(side.density, dtype=np.float64),
                    }
                )
            )
    return stacked(tables, dict.fromkeys(("value", "density"), float))


def before_after_density_bins(result: Any, *, variable: str | None = None) -> frame.Frame:
    """The bars of a histogram: variable, group, file, bounds, the share of the values inside, and it by width."""
    tables = []
    for each in _drawn(result, variable):
        low, high = each.line.values(each.edges[:-1]), each.line.values(each.edges[1:])
        for name, side in zip(FILES, (each.original, each.released), strict=True) if len(low) else ():
            tables.append(
                frame.table(
                    {
                        "variable": [each.variable] * len(low),
                        "group": [each.group] * len(low),
                        "file": [name] * len(low),
                        "low": low,
                        "high": high,
                        "share": side.shares,
                        "density": side.shares / np.diff(each.edges),
                    }
                )
            )
    return stacked(tables, dict.fromkeys(("low", "high", "share", "density"), float))


def _drawn(result: Any, variable: str | None) -> list[Any]:
    return chosen(result, result.numbers, variable, "number", "before_after_bars")


def before_after_density(
    result: Any, *, variable: str | None = None, histogram: bool = False, width: int = 250, height: int = 150
) -> Any:
    """The distribution of each number before and after, grey and blue; of one variable that of each group.

    Skewed variables are on a log scale, where zeros stand apart and are told in words. Few whole numbers have bars in
    place of a density, and with `histogram=True` all have.
    """
    drawn = _drawn(result, variable)
    curves = before_after_density_points(result, variable=variable)
    bars = before_after_density_bins(result, variable=variable)
    ends = _ends(drawn)
    panels = []
    for each in drawn:
        below = _below(each)
        if not len(each.edges):
            empty = alt.Chart(frame.table({"text": ["fewer than 3 values"]})).mark_text().encode(text="text:N")
            panels.append(empty.properties(width=width, height=height, title=panel_title(each, below)))
            continue
        steps = histogram or not len(each.grid)
        x = {"scale": value_scale(each.line, *ends[each.variable]), "axis": value_axis(each.line, *ends[each.variable])}
        chart = _bars(_of(bars, each), x) if steps else _curves(_of(curves, each), x)
        panels.append(chart.properties(width=width, height=height, title=panel_title(each, below)))
    lines = [f"{counted_by(result)}; grey area: original, blue line: released"]
    return laid_out(panels, title(result, "Numbers before and after", drawn, lines))


def _below(each: Any) -> str:
    before, after = each.original, each.released
    parts = [scale_words(each.line)]
    parts.append(before_and_after("zeros", before.zeros, after.zeros))
    parts.append(before_and_after("missing", before.missing, after.missing))
    return "; ".join(part for part in parts if part)


def _of(rows: frame.Frame, each: Any) -> frame.Frame:
    return rows.filter((rows["variable"] == each.variable) & (rows["group"] == each.group)).drop("variable", "group")


def _ends(drawn: list[Any]) -> dict[str, tuple[float, float]]:
    """By variable the ends of the axis: one for all groups."""
    found: dict[str, tuple[float, float]] = {}
    for each in drawn:
        if len(each.edges):
            places = np.concatenate([each.edges[[0, -1]], each.grid[[0, -1]] if len(each.grid) else []])
            low, high = each.line.values(np.array([places.min(), places.max()])).tolist()
            before = found.get(each.variable, (low, high))
            found[each.variable] = min(low, before[0]), max(high, before[1])
    return found


def _curves(rows: frame.Frame, x: dict[str, Any]) -> Any:
    base = alt.Chart(rows).encode(
        x=alt.X("value:Q", title=None, **x), y=alt.Y("density:Q", title="density", axis=_no_labels(), stack=None)
    )
    before = base.transform_filter("datum.file == 'original'").mark_area(opacity=0.45, line=False)
    after = base.transform_filter("datum.file == 'released'").mark_line(strokeWidth=1.8)
    tooltip = [alt.Tooltip("file:N"), alt.Tooltip("value:Q", format=".3~s")]
    colour = file_colour()
    return alt.layer(*(each.encode(color=colour, tooltip=tooltip) for each in (before, after)))


def _bars(rows: frame.Frame, x: dict[str, Any]) -> Any:
    base = alt.Chart(rows).encode(
        x=alt.X("low:Q", title=None, **x),
        x2="high:Q",
        y=alt.Y("density:Q", title="density", axis=_no_labels(), stack=None),
        y2=alt.datum(0),
        color=file_colour(),
        tooltip=[
            alt.Tooltip("file:N"),
            alt.Tooltip("low:Q", format=".3~s"),
            alt.Tooltip("high:Q", format=".3~s"),
            alt.Tooltip("share:Q", format=".2%"),
        ],
    )
    before = base.transform_filter("datum.file == 'original'").mark_bar(opacity=0.6)
    after = base.transform_filter("datum.file == 'released'").mark_bar(
        fillOpacity=0, stroke=COLOURS[1], strokeWidth=1.4, strokeOpacity=1
    )
    return alt.layer(before, after)


def _no_labels() -> Any:
    return alt.Axis(labels=False, ticks=False, tickCount=0)
