"""Lorenz curves before and after: how a total is shared among those who have it."""

from __future__ import annotations

from typing import Any

import altair as alt

from tacita import frame
from tacita.check import TacitaError
from tacita.plots.before_after_panels import (
    FILES,
    QUIET_RULE,
    chosen,
    counted_by,
    file_colour,
    laid_out,
    panel_title,
    title,
)


def before_after_lorenz_points(result: Any, *, variable: str | None = None) -> frame.Frame:
    """The curves: variable, group, file, share of the units, the smallest first, and the share that they have."""
    tables = []
    for each in _drawn(result, variable):
        for name, side in zip(FILES, (each.original, each.released), strict=True):
            if side.lorenz is not None:
                size = len(side.lorenz.population)
                tables.append(
                    frame.table(
                        {
                            "variable": [each.variable] * size,
                            "group": [each.group] * size,
                            "file": [name] * size,
                            "units": side.lorenz.population,
                            "total": side.lorenz.value,
                        }
                    )
                )
    return frame.stacked(tables)


def _drawn(result: Any, variable: str | None) -> list[Any]:
    all_of = chosen(result, result.numbers, variable, "number", "before_after_bars")
    drawn = [each for each in all_of if each.original.lorenz is not None or each.released.lorenz is not None]
    if not drawn:
        raise TacitaError("a Lorenz curve needs values that are not negative and not all 0; none of the numbers has.")
    return drawn


def before_after_lorenz(result: Any, *, variable: str | None = None, width: int = 200) -> Any:
    """The Lorenz curve of each number without negative values, before and after, with its Gini coefficient.

    Dashed: everybody has the same. The further below, the more unequal.
    """
    drawn = _drawn(result, variable)
    rows = before_after_lorenz_points(result, variable=variable)
    panels = []
    for each in drawn:
        here = rows.filter((rows["variable"] == each.variable) & (rows["group"] == each.group))
        chart = _panel(here.drop("variable", "group"))
        panels.append(chart.properties(width=width, height=width, title=panel_title(each, _gini(each))))
    lines = [f"{counted_by(result)}; grey: original, blue: released; dashed: all have the same"]
    return laid_out(panels, title(result, "Lorenz curves before and after", drawn, lines))


def _gini(each: Any) -> str:
    shown = ["none" if side.lorenz is None else f"{side.lorenz.gini:.3f}" for side in (each.original, each.released)]
    return f"Gini {' → '.join(shown)}"


def _panel(rows: frame.Frame) -> Any:
    axis = alt.Axis(format=".0~%", values=[0, 0.25, 0.5, 0.75, 1])
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("units:Q", title="units, the smallest first", axis=axis, scale=scale)
    y = alt.Y("total:Q", title="share of the total", axis=axis, scale=scale)
    ends = frame.table({"units": [0.0, 1.0], "total": [0.0, 1.0]})
    equal = alt.Chart(ends).mark_line(**QUIET_RULE).encode(x=x, y=y)
    base = alt.Chart(rows).encode(
        x=x,
        y=y,
        color=file_colour(symbol="stroke"),
        tooltip=["file:N", alt.Tooltip("units:Q", format=".0%"), alt.Tooltip("total:Q", format=".1%")],
    )
    # The original is wider and below, so that it is seen where both agree.
    before = base.transform_filter(f"datum.file == '{FILES[0]}'").mark_line(strokeWidth=4.5, strokeCap="round")
    after = base.transform_filter(f"datum.file == '{FILES[1]}'").mark_line(strokeWidth=1.8)
    return alt.layer(equal, before, after)
