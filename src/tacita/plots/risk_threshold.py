"""The figure of a risk threshold: what every threshold would mean, and the one that was chosen."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.plots.theme import INK, SAFE, UNSAFE, themed
from tacita.result import number_of, percent

MOST_POINTS = 400
"""So many thresholds are drawn at most; with more different risks, evenly spread ones on the log scale."""
LEAST = 1e-12
"""Thresholds below this are not drawn: nothing below it means anything."""


def risk_threshold_points(result: Any) -> frame.Frame:
    """The curves: thresholds, records above each, expected re-identifications once no record is above it.

    Thresholds are the observed risks, or some between the least and the greatest if there are very many; the chosen one
    is always among them.
    """
    observed = np.maximum(result.curve.risk, LEAST)
    if len(observed) > MOST_POINTS:
        observed = np.geomspace(observed[0], observed[-1], MOST_POINTS)
    thresholds = np.union1d(observed, max(result.risk, LEAST))
    points = [result.curve.at(float(threshold)) for threshold in thresholds]
    return frame.table(
        {
            "threshold": thresholds,
            "unsafe": [point.unsafe for point in points],
            "expected": [point.expected for point in points],
        }
    )


def risk_threshold(result: Any, *, width: int = 560) -> Any:
    """Records above a threshold and expected re-identifications once they are protected, against the threshold."""
    points = risk_threshold_points(result)
    ends = float(points["threshold"][0]), float(points["threshold"][-1])
    # With one observed risk the axis still needs a width.
    domain = ends if ends[1] > ends[0] else (ends[0] / 10, ends[0] * 10)
    scale = alt.Scale(type="log", domain=list(domain), nice=False)
    above = _panel(points, "unsafe", "records above", "step-after", UNSAFE, scale, last=False)
    left = _panel(points, "expected", "expected re-identifications", "linear", SAFE, scale, last=True)
    expected = number_of(result.expected, "expected re-identification")
    subtitle = [
        f"threshold {result.risk:.3g}: {result.unsafe:,} of {result.size:,} records above it;",
        f"once they are brought down to it, at most {expected} ({percent(result.rate)})",
    ]
    upper, lower = (each + _chosen(result.risk, scale) for each in (above, left))
    chart = alt.vconcat(
        upper.properties(width=width, height=150), lower.properties(width=width, height=150), spacing=14
    ).properties(title=alt.Title("What a threshold on the risk means", subtitle=subtitle))
    return themed(chart)


def _panel(points: frame.Frame, column: str, title: str, line: Any, colour: str, scale: Any, *, last: bool) -> Any:
    axis = alt.Axis(format="~g", tickCount=8, labelOverlap=True)
    return (
        alt.Chart(points)
        .mark_area(interpolate=line, line={"color": colour, "strokeWidth": 1.5}, color=colour, opacity=0.15)
        .encode(
            x=alt.X("threshold:Q", scale=scale, axis=axis, title="threshold on the risk (log scale)" if last else None),
            y=alt.Y(f"{column}:Q", title=title, axis=alt.Axis(format=",.12~g", tickCount=5)),
            tooltip=[
                alt.Tooltip("threshold:Q", format=".3g"),
                alt.Tooltip("unsafe:Q", title="records above", format=","),
                alt.Tooltip("expected:Q", title="expected re-identifications", format=",.3~g"),
            ],
        )
    )


def _chosen(threshold: float, scale: Any) -> Any:
    mark = alt.Chart(frame.table({"threshold": [max(threshold, LEAST)]}))
    return mark.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("threshold:Q", scale=scale))
