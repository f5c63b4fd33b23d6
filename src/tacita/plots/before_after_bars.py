"""Categories before and after: the share of each class, missing values among them."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.plots.before_after_panels import FILES, chosen, counted_by, file_colour, laid_out, panel_title, title

LAST = ("(other)", "(missing)")
"""Classes that stand behind the others."""
LONGEST = 260
"""Longer labels are cut, in pixels."""


def before_after_bars_points(result: Any, *, variable: str | None = None) -> frame.Frame:
    """The bars: variable, group, class, file and share, in the order in which they stand."""
    tables = []
    for each in _drawn(result, variable):
        order = _order(each)
        for name, shares in zip(FILES, (each.original, each.released), strict=True):
            tables.append(
                frame.table(
                    {
                        "variable": [each.variable] * len(order),
                        "group": [each.group] * len(order),
                        "label": [each.labels[at] for at in order],
                        "file": [name] * len(order),
                        "share": shares[order],
                    }
                )
            )
    return frame.stacked(tables)


def _drawn(result: Any, variable: str | None) -> list[Any]:
    return chosen(result, result.categories, variable, "category", "before_after_density")


def _order(each: Any) -> list[int]:
    """Ordered classes as they stand, others by their share in the original; other and missing ones behind."""
    at = list(range(len(each.labels)))
    ranked = at if each.ordered else [int(place) for place in np.argsort(-each.original, kind="stable")]
    behind = [place for label in LAST for place in at if each.labels[place] == label]
    return [*(place for place in ranked if place not in behind), *behind]


def before_after_bars(result: Any, *, variable: str | None = None, width: int = 220) -> Any:
    """The shares of the classes of each categorical variable before and after; of one variable those of each group.

    What was recoded is shown in the classes of the release, rare classes are put together, and missing values are a
    class of their own.
    """
    drawn = _drawn(result, variable)
    rows = before_after_bars_points(result, variable=variable)
    panels = []
    for each in drawn:
        here = rows.filter((rows["variable"] == each.variable) & (rows["group"] == each.group))
        below = f"{check.counted(each.pooled, 'class', 'classes')} put together" if each.pooled else ""
        panels.append(_panel(here.drop("variable", "group"), width).properties(title=panel_title(each, below)))
    longest = max((len(label) for each in drawn for label in each.labels), default=0)
    lines = [f"shares, {counted_by(result)}; grey, above: original; blue, below: released"]
    columns = 1 if longest > 34 else 2 if longest > 12 or len(panels) in (2, 4) else 3
    return laid_out(panels, title(result, "Categories before and after", drawn, lines), columns)


def _panel(rows: frame.Frame, width: int) -> Any:
    labels = list(dict.fromkeys(rows["label"].to_list()))
    return (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title=None, axis=alt.Axis(format=".0~%", tickCount=4)),
            y=alt.Y("label:N", sort=labels, title=None, axis=alt.Axis(labelLimit=LONGEST, ticks=False, domain=False)),
            yOffset=alt.YOffset("file:N", sort=list(FILES)),
            color=file_colour(),
            tooltip=["label:N", "file:N", alt.Tooltip("share:Q", format=".2%")],
        )
        .properties(width=width, height=max(30, 22 * len(labels)))
    )
