"""Boxplots of numbers before and after; what lies beyond the whiskers is counted, not drawn."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.check import TacitaError
from tacita.plots.before_after_panels import (
    FILES,
    MOST_PANELS,
    chosen,
    counted_by,
    file_colour,
    laid_out,
    panel_title,
    scale_words,
    title,
    value_axis,
    value_scale,
)
from tacita.plots.theme import INK

PARTS = ("low", "quarter", "median", "three_quarters", "high")


def before_after_boxes_points(result: Any, *, variable: str | None = None) -> frame.Frame:
    """The boxes: variable, group, file, the five values, each a mean of three records, and how many lie beyond.

    In public one or two records beyond a whisker are not counted.
    """
    rows = []
    for each in _drawn(result, variable):
        for name, side in zip(FILES, (each.original, each.released), strict=True):
            if side.box is not None:
                five = each.line.values(np.array([getattr(side.box, part) for part in PARTS])).tolist()
                beyond = [_told(count, result.public) for count in (side.box.below, side.box.above)]
                rows.append((each.variable, each.group, name, *five, *beyond))
    kinds = {"variable": str, "group": str, "file": str} | dict.fromkeys(PARTS, float) | {"below": int, "above": int}
    return frame.rows(kinds, rows)


def _told(count: int, public: bool) -> int | None:
    return None if public and 0 < count < 3 else count


def _drawn(result: Any, variable: str | None) -> list[Any]:
    return chosen(result, result.numbers, variable, "number", "before_after_bars")


def before_after_boxes(result: Any, *, variable: str | None = None, width: int = 300) -> Any:
    """Quartiles and whiskers of each number before and after; of one variable side by side for each group.

    Whiskers reach as far as 1.5 times the middle spread on the axis that is drawn; the records beyond are counted.
    """
    drawn = _drawn(result, variable)
    points = before_after_boxes_points(result, variable=variable)
    if not points.height:
        raise TacitaError(
            "no number has three values, so there is no box to draw; plot('before_after_bars') draws bars."
        )
    panels = []
    for name in dict.fromkeys(points["variable"].to_list()):
        here = [each for each in drawn if each.variable == name]
        shown = {each.group for each in here[:MOST_PANELS]}
        rows = points.filter((points["variable"] == name) & points["group"].is_in(sorted(shown)))
        chart = _panel(rows, here[0].line, width)
        panels.append(chart if here[0].group else chart.properties(title=panel_title(here[0], _below(here[0]))))
    lines = [f"{counted_by(result)}; box: quartiles and median; small figures: records beyond the whiskers"]
    return laid_out(panels, title(result, "Numbers before and after", drawn, lines), 2 if len(panels) > 1 else 1)


def _below(each: Any) -> str:
    zeros = each.line.kind == "log" and (each.original.zeros > 0 or each.released.zeros > 0)
    return scale_words(each.line) + (", without zeros" if zeros else "")


def _panel(rows: frame.Frame, line: Any, width: int) -> Any:
    low, high = _room(line, float(frame.numbers(rows, "low").min()), float(frame.numbers(rows, "high").max()))
    groups = [group for group in dict.fromkeys(rows["group"].to_list()) if group]
    x = {"scale": value_scale(line, low, high), "axis": value_axis(line, low, high), "title": None}
    base = alt.Chart(rows)
    where = (
        {"y": alt.Y("group:N", sort=groups, title=None, axis=alt.Axis(labelLimit=200, ticks=False, domain=False))}
        | {"yOffset": alt.YOffset("file:N", sort=list(FILES))}
        if groups
        else {"y": alt.Y("file:N", sort=list(FILES), title=None, axis=alt.Axis(ticks=False, domain=False))}
    )
    tooltip = [alt.Tooltip("file:N")] + [alt.Tooltip(f"{part}:Q", format=".3~s") for part in PARTS]
    colour = file_colour(legend=bool(groups))
    whisker = base.mark_rule(strokeWidth=1.2).encode(x=alt.X("low:Q", **x), x2="high:Q", color=colour, **where)
    body = base.mark_bar(size=11).encode(
        x=alt.X("quarter:Q", **x), x2="three_quarters:Q", color=colour, tooltip=tooltip, **where
    )
    median = base.mark_tick(thickness=2, size=11, color=INK).encode(x=alt.X("median:Q", **x), **where)
    sides: list[tuple[str, str, Any, int]] = [("below", "low", "right", -4), ("above", "high", "left", 4)]
    counts = [
        base.transform_filter(f"datum.{beyond} > 0")
        .mark_text(align=align, dx=shift, fontSize=9, color="#555555")
        .encode(x=alt.X(f"{end}:Q", **x), text=alt.Text(f"{beyond}:Q", format=","), **where)
        for beyond, end, align, shift in sides
    ]
    height = max(56, 40 * len(groups)) if groups else 56
    return alt.layer(whisker, body, median, *counts).properties(width=width, height=height)


def _room(line: Any, low: float, high: float) -> tuple[float, float]:
    """The ends of the axis with room for the counts."""
    along = line.along(np.array([low, high]))
    room = 0.1 * (along[1] - along[0]) or 0.5
    ends = line.values(np.array([along[0] - room, along[1] + room])).tolist()
    return ends[0], ends[1]
