"""Information loss by variable: the largest first, and the mean over all of them as a line."""

from __future__ import annotations

from typing import Any

import altair as alt

from tacita import frame
from tacita.plots.theme import INK, QUIET, themed
from tacita.result import percent

SCALES = {"nominal": "#3b6ea5", "ordinal": "#6fa0c8", "numeric": "#1f3f63", "recoded": "#c9923e", "removed": "#c8452e"}
"""The colour of a variable of each scale."""


def value_loss_points(result: Any) -> frame.Frame:
    """The bars: one per variable, the largest loss first."""
    rows = sorted(result.changes, key=lambda each: -each.loss)
    return frame.table(
        {
            "variable": [each.variable for each in rows],
            "scale": [each.scale for each in rows],
            "changed": [each.changed for each in rows],
            "suppressed": [each.suppressed for each in rows],
            "loss": [each.loss for each in rows],
        }
    )


def value_loss(result: Any, *, width: int = 420) -> Any:
    """lambda_j by variable, the largest first, with lambda as a line."""
    points = value_loss_points(result)
    names = points["variable"].to_list()
    there = [scale for scale in SCALES if scale in set(points["scale"].to_list())]
    y = alt.Y("variable:N", sort=names, title=None, axis=alt.Axis(ticks=False, labelPadding=6))
    x = alt.X("loss:Q", title="information loss", axis=alt.Axis(format="%", tickCount=6), scale=alt.Scale(domainMin=0))
    colour = alt.Color(
        "scale:N",
        title=None,
        scale=alt.Scale(domain=there, range=[SCALES[scale] for scale in there]),
        legend=alt.Legend(orient="bottom"),
    )
    tooltip = [
        "variable:N",
        "scale:N",
        alt.Tooltip("changed:Q", format=","),
        alt.Tooltip("suppressed:Q", format=","),
        alt.Tooltip("loss:Q", format=".2%", title="information loss"),
    ]
    bars = alt.Chart(points).mark_bar().encode(x=x, y=y, color=colour, tooltip=tooltip)
    figures = (
        alt.Chart(points)
        .mark_text(align="right", fontSize=10, color=QUIET)
        .encode(x=alt.value(width + 42), y=y, text=alt.Text("loss:Q", format=".1%"))
    )
    mean = frame.table({"overall": [result.overall]})
    line = alt.Chart(mean).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="overall:Q")
    subtitle = f"{percent(result.overall)} over all {len(names)} (dashed); 0 unchanged, 100 % as far as can be"
    chart = alt.layer(bars, line, figures).properties(
        width=width, height=max(60, 17 * len(names)), title=alt.Title("Information loss by variable", subtitle=subtitle)
    )
    return themed(chart)
