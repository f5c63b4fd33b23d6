"""Special uniques: how they are spread over DIS-SUDA scores, and which variables make them unique."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.plots.theme import SAFE, UNSAFE, themed

BINS = 30


def suda_points(result: Any) -> frame.Frame:
    """The bars of the left panel: bounds of the DIS-SUDA score and unique records inside."""
    scores = result.dis[result.score > 0]
    top = float(scores.max(initial=0.0)) or 1.0
    counts, edges = np.histogram(scores, bins=BINS, range=(0.0, top))
    return frame.table({"low": edges[:-1], "high": edges[1:], "records": counts})


def suda_contributions_points(result: Any) -> frame.Frame:
    """The bars of the right panel: the share of the total score from sets with each key."""
    shares = result.variable_contributions
    return frame.table({"variable": list(result.table.keys)[: len(shares)], "share": shares})


def suda(result: Any, *, width: int = 300) -> Any:
    """Unique records by DIS-SUDA score, and what each key contributes to the scores."""
    height = max(120, 26 * len(result.table.keys))
    bars = (
        alt.Chart(suda_points(result))
        .mark_bar(stroke="white", strokeWidth=0.5, color=UNSAFE)
        .encode(
            x=alt.X("low:Q", title="DIS-SUDA score", axis=alt.Axis(format="~g", tickCount=6)),
            x2="high:Q",
            y=alt.Y("records:Q", title="unique records", axis=alt.Axis(format=",.0f", tickCount=5, tickMinStep=1)),
            y2=alt.datum(0),
            tooltip=[alt.Tooltip("low:Q", format=".3g"), alt.Tooltip("high:Q", format=".3g"), "records:Q"],
        )
    )
    shares = (
        alt.Chart(suda_contributions_points(result))
        .mark_bar(color=SAFE)
        .encode(
            x=alt.X("share:Q", title="share of the score from sets with the key", axis=alt.Axis(format="%")),
            y=alt.Y("variable:N", sort="-x", title=None),
            tooltip=["variable:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    panels = [bars] if not len(result.variable_contributions) else [bars, shares]
    of = f"{result.uniques:,} of {result.table.size:,} records are unique"
    subtitle = f"{of}, {result.special:,} on fewer keys than they show"
    chart = alt.hconcat(*(each.properties(width=width, height=height) for each in panels), spacing=30).properties(
        title=alt.Title("Special uniques", subtitle=subtitle)
    )
    return themed(chart)
