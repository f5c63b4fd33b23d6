"""The model check: true population counts of the keys beside draws from the model, and where the truth lies in it."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.arrays import Ints
from tacita.plots.theme import INK, SAFE, UNSAFE, themed

MOST_POINTS = 5000
"""At most so many keys are drawn; the subtitle counts the rest."""


def model_check_points(result: Any) -> frame.Frame:
    """What the left panel draws: for each key f, the true F, a draw from the model, and the position of F in it.

    Of very many keys every so many-th is drawn, in the order of F.
    """
    points: frame.Frame = result.to_frame()
    if points.height <= MOST_POINTS:
        return points
    rows = np.argsort(result.F, kind="stable")[np.linspace(0, points.height - 1, MOST_POINTS).astype(np.int64)]
    return frame.take(points, rows)


def model_check(result: Any, *, width: int = 280) -> Any:
    """True F against one draw of it for each key, and the histogram of positions: flat if the model is right.

    With f/F known the forecast of each key has the truth in its middle, so that there are no positions to be shown.
    """
    points = model_check_points(result)
    drawn = "" if points.height == len(result.f) else f", {points.height:,} of them drawn"
    subtitle = f"{len(result.f):,} keys{drawn}; {result.about}; dashed: equality"
    title = f"{result.model[0].upper()}{result.model[1:]}"
    cloud = _cloud(points, float(max(result.F.max(), result.draw.max()))).properties(width=width, height=width)
    if result.probability == "known":
        more = "each forecast has its true F as its mean; probability='estimated' shows whether forecasts are right"
        return themed(cloud.properties(title=alt.Title(title, subtitle=[subtitle, more])))
    positions = _positions(result.histogram).properties(width=width, height=width)
    subtitle += ", and an even spread"
    return themed(alt.hconcat(cloud, positions, spacing=30).properties(title=alt.Title(title, subtitle=subtitle)))


def _cloud(points: frame.Frame, top: float) -> Any:
    """True F against the draw, with the line of equality."""
    scale = alt.Scale(type="log", domain=[1, top], nice=False)
    cloud = (
        alt.Chart(points)
        .mark_circle(size=14, opacity=0.35, color=SAFE)
        .encode(
            x=alt.X("F:Q", scale=scale, title="true F", axis=alt.Axis(format="~s", tickCount=5)),
            y=alt.Y("draw:Q", scale=scale, title="draw from the model", axis=alt.Axis(format="~s", tickCount=5)),
            tooltip=[
                alt.Tooltip("f:Q", format=",.3~f"),
                alt.Tooltip("F:Q", format=","),
                alt.Tooltip("draw:Q", format=","),
            ],
        )
    )
    ends = frame.table({"end": np.array([1.0, top])})
    return cloud + alt.Chart(ends).mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1).encode(x="end:Q", y="end:Q")


def _positions(counts: Ints) -> Any:
    """The histogram of positions, with the height of an even one."""
    edges = np.linspace(0, 1, len(counts) + 1)
    bars = frame.table(
        {"low": edges[:-1], "high": edges[1:], "keys": counts, "even": np.full(len(counts), counts.mean())}
    )
    histogram = (
        alt.Chart(bars)
        .mark_bar(stroke="white", strokeWidth=0.5, color=SAFE)
        .encode(
            x=alt.X("low:Q", title="position of F in the model", scale=alt.Scale(domain=[0, 1])),
            x2="high:Q",
            y=alt.Y("keys:Q", title="keys", axis=alt.Axis(format=",.0f", tickCount=5)),
            y2=alt.datum(0),
            tooltip=[alt.Tooltip("keys:Q", format=",")],
        )
    )
    return histogram + alt.Chart(bars).mark_rule(color=UNSAFE, strokeDash=[4, 3]).encode(y="mean(even):Q")
