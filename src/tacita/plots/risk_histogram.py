"""The risk histogram: how many records have which risk, on a log scale, with threshold and cumulative count."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.arrays import Floats
from tacita.plots.theme import INK, SAFE, UNSAFE, themed
from tacita.result import number_of, percent

BINS_PER_DECADE = 10
LEAST = 1e-12
"""Risks below this are drawn here: nothing below it means anything."""


def _risk(result: Any) -> tuple[Floats, float | None, str]:
    """The risks of a result, the limit that holds for them, and what they are."""
    if hasattr(result, "individual"):
        return result.individual.risk, result.main.risk_limit, "Risk of re-identification"
    households = hasattr(result, "by_household")
    return result.risk, None, "Risk that a household is re-identified" if households else "Risk of re-identification"


def _expected(result: Any) -> str:
    """The expected re-identifications, if an intruder tries every record."""
    found = getattr(result, "reidentification", None)
    if found is None or found.not_valid:
        return ""
    return f"; {number_of(found.expected, 'expected re-identification')} ({percent(found.rate)})"


def _records(result: Any, rows: int) -> Any:
    """How many records each risk is of: more than one where records are on an engine."""
    if getattr(result, "alike", None) is not None:
        return result.members * result.alike
    table = getattr(getattr(result, "individual", result), "table", None)
    repeats = getattr(table, "repeats", None)
    return np.ones(rows, dtype=np.int64) if repeats is None else repeats


def risk_histogram_points(result: Any, *, threshold: float | None = None) -> frame.Frame:
    """The bars: bounds, records inside, records at or above the lower bound, and whether all of them are unsafe.

    The threshold is always a bound, so no bar is half safe.
    """
    risk, limit, _ = _risk(result)
    limit = threshold if threshold is not None else limit
    shown = np.maximum(risk, LEAST)
    # Where every risk is 1 there is one bar, below 1.
    first = min(np.floor(np.log10(shown.min()) * BINS_PER_DECADE), -1.0)
    bounds = 10.0 ** (np.arange(first, 1) / BINS_PER_DECADE)
    if limit is not None:
        # A bound right above the limit: a record at the limit is safe.
        bounds = np.union1d(bounds[np.abs(bounds / limit - 1) > 1e-9], np.nextafter(limit, 2))
    bounds = np.union1d(bounds, [1.0])
    counts = _records(result, len(risk))
    inside = np.histogram(shown, np.append(bounds[:-1], np.nextafter(1.0, 2)), weights=counts)[0]
    at_least = int(counts.sum()) - np.concatenate([[0], np.cumsum(inside)[:-1]])
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
    upper, lower = _bars(points, scale), _steps(points, scale)
    counts = _records(result, len(risk))
    subtitle = [f"{int(counts.sum()):,} records{_expected(result)}", f"highest risk {risk.max():.3g}"]
    if limit is not None:
        subtitle[1] += f"; {int(counts[risk > limit].sum()):,} above {limit:g}"
        upper, lower = upper + _limit(limit, scale, named=True), lower + _limit(limit, scale, named=False)
    chart = alt.vconcat(
        upper.properties(width=width, height=190), lower.properties(width=width, height=120), spacing=14
    ).properties(title=alt.Title(title, subtitle=subtitle))
    return themed(chart)


TOOLTIP = [
    alt.Tooltip("low:Q", title="risk from", format=".3g"),
    alt.Tooltip("high:Q", title="to", format=".3g"),
    alt.Tooltip("records:Q", title="records", format=","),
    alt.Tooltip("at_least:Q", title="records at or above", format=","),
]


def _x(column: str, scale: Any, title: str | None) -> Any:
    return alt.X(f"{column}:Q", scale=scale, title=title, axis=alt.Axis(format="~g", tickCount=8, labelOverlap=True))


def _bars(points: frame.Frame, scale: Any) -> Any:
    return (
        alt.Chart(points.filter(points["records"] > 0))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=_x("low", scale, None),
            x2="high:Q",
            y=alt.Y("records:Q", title="records", axis=alt.Axis(format=",.0f", tickCount=5, tickMinStep=1)),
            y2=alt.datum(0),
            color=alt.Color("unsafe:N", scale=alt.Scale(domain=[False, True], range=[SAFE, UNSAFE]), legend=None),
            tooltip=TOOLTIP,
        )
    )


def _steps(points: frame.Frame, scale: Any) -> Any:
    return (
        alt.Chart(points.filter(points["at_least"] > 0))
        .mark_bar(opacity=0.85)
        .encode(
            x=_x("low", scale, "risk (log scale)"),
            x2="high:Q",
            y=alt.Y(
                "at_least:Q",
                title="records at or above",
                scale=alt.Scale(type="log", domainMin=0.7, nice=False),
                axis=alt.Axis(format=",", values=[1, 10, 100, 1000, 10**4, 10**5, 10**6, 10**7, 10**8]),
            ),
            y2=alt.datum(0.7),
            color=alt.Color("unsafe:N", scale=alt.Scale(domain=[False, True], range=[SAFE, UNSAFE]), legend=None),
            tooltip=TOOLTIP,
        )
    )


def _limit(limit: float, scale: Any, *, named: bool) -> Any:
    mark = alt.Chart(frame.table({"limit": [limit], "text": [f"threshold {limit:g}"]}))
    rule = mark.mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("limit:Q", scale=scale))
    if not named:
        return rule
    return rule + mark.mark_text(align="left", dx=5, dy=8, color=INK, fontSize=11).encode(
        x=alt.X("limit:Q", scale=scale), y=alt.value(0), text="text:N"
    )


__all__ = ["risk_histogram", "risk_histogram_points"]
