"""The risk histogram: how many records have which risk, on a log scale, with threshold and cumulative count."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.arrays import Floats
from tacita.plots.theme import INK, SAFE, UNSAFE, themed

BINS_PER_DECADE = 10
LEAST = 1e-12
"""Risks below this are drawn here: nothing below it means anything."""


def _risk(result: Any) -> tuple[Floats, float | None, str]:
    """The risks of a result, the limit that holds for them, and what they are."""
    if hasattr(result, "individual"):
        return result.individual.risk, result.main.risk_limit, "Risk of re-identification"
    households = hasattr(result, "by_household")
    return result.risk, None, "Risk that a household is re-identified" if households else "Risk of re-identification"


def risk_histogram_points(result: Any, *, threshold: float | None = None) -> frame.Frame:
    """The bars: bounds, records inside, records at or above the lower bound, and whether all of them are unsafe.

    The threshold is always a bound, so no bar is half safe.
    """
    risk, limit, _ = _risk(result)
    limit = threshold if threshold is not None else limit
    shown = np.maximum(risk, LEAST)
    first = np.floor(np.log10(shown.min()) * BINS_PER_DECADE)
    bounds = 10.0 ** (np.arange(first, 1) / BINS_PER_DECADE)
    if limit is not None:
        # A bound right above the limit: a record at the limit is safe.
        bounds = np.union1d(bounds[np.abs(bounds / limit - 1) > 1e-9], np.nextafter(limit, 2))
    bounds = np.union1d(bounds, [1.0])
    inside = np.histogram(shown, np.append(bounds[:-1], np.nextafter(1.0, 2)))[0]
    at_least = len(risk) - np.concatenate([[0], np.cumsum(inside)[:-1]])
    return frame.table(
        {
            "low": bounds[:-1],
            "high": bounds[1:],
            "records": inside,
            "at_least": at_least,
            "unsafe": bounds[:-1] > limit if limit is not None else np.zeros(len(inside), dtype=bool),
        }
    )


def risk_histogram(result: Any, *, threshold: float | None = None, width: int = 560) -> Any:
    """How many records have which risk, and how many have at least that risk, with the threshold.

    Takes a `RiskProfile`, an `IndividualRisk` or a `HouseholdRisk`. The upper panel counts records per bar, the lower
    one all records at or above a risk, on a log scale, so that the few riskiest can be seen.
    """
    risk, limit, title = _risk(result)
    limit = threshold if threshold is not None else limit
    points = risk_histogram_points(result, threshold=threshold)
    scale = alt.Scale(type="log", domain=[float(points["low"][0]), 1.0], nice=False)
    axis = alt.Axis(format="~g", tickCount=8, labelOverlap=True)
    x = alt.X("low:Q", scale=scale, title=None, axis=axis)
    colour = alt.Color("unsafe:N", scale=alt.Scale(domain=[False, True], range=[SAFE, UNSAFE]), legend=None)
    tooltip = [
        alt.Tooltip("low:Q", title="risk from", format=".3g"),
        alt.Tooltip("high:Q", title="to", format=".3g"),
        alt.Tooltip("records:Q", title="records", format=","),
        alt.Tooltip("at_least:Q", title="records at or above", format=","),
    ]
    base = alt.Chart(points)
    bars = base.mark_bar(stroke="white", strokeWidth=0.5).encode(
        x=x,
        x2="high:Q",
        y=alt.Y("records:Q", title="records", axis=alt.Axis(format="~s")),
        color=colour,
        tooltip=tooltip,
    )
    occupied = alt.Chart(points.filter(points["at_least"] > 0))
    steps = occupied.mark_area(interpolate="step-after", opacity=0.18, color=SAFE, line={"color": SAFE}).encode(
        x=alt.X("low:Q", scale=scale, title="risk (log scale)", axis=axis),
        y=alt.Y(
            "at_least:Q",
            title="records at or above",
            scale=alt.Scale(type="log", domainMin=1, nice=False),
            axis=alt.Axis(format="~s", tickCount=5),
        ),
        tooltip=tooltip,
    )
    upper, lower = [bars], [steps]
    subtitle = f"{len(risk):,} records; highest risk {risk.max():.3g}"
    if limit is not None:
        unsafe = int((risk > limit).sum())
        subtitle += f"; {unsafe:,} above {limit:g}"
        mark = alt.Chart(frame.table({"limit": [limit], "text": [f"threshold {limit:g}"]}))
        rule = mark.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("limit:Q", scale=scale))
        name = mark.mark_text(align="left", dx=5, dy=8, color=INK, fontSize=11).encode(
            x=alt.X("limit:Q", scale=scale), y=alt.value(0), text="text:N"
        )
        upper += [rule, name]
        lower += [rule]
    chart = alt.vconcat(
        alt.layer(*upper).properties(width=width, height=190),
        alt.layer(*lower).properties(width=width, height=120),
        spacing=14,
    ).properties(title=alt.Title(title, subtitle=subtitle))
    return themed(chart)


__all__ = ["risk_histogram", "risk_histogram_points"]
