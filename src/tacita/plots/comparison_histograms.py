"""Histograms of z over true links and over other pairs."""

from __future__ import annotations

from typing import Any

import altair as alt

from tacita import frame
from tacita.plots.strata import drawn_strata, panel, panels
from tacita.plots.theme import INK, QUIET, UNSAFE


def comparison_histograms_points(result: Any) -> frame.Frame:
    """What is drawn: by stratum and bar its limits in z, true links and other pairs in it, and their shares."""
    return frame.stacked([bars(result.labels[place], result.ratios[place].z) for place in drawn_strata(result)])


def bars(stratum: str, histogram: Any) -> frame.Frame:
    """The bars of one histogram: counts, and shares of all true links and of all other pairs."""
    size = len(histogram.true)
    links = int(histogram.true.sum()) + histogram.true_beyond
    others = float(histogram.others.sum()) + histogram.others_beyond
    return frame.table(
        {
            "stratum": [stratum] * size,
            "low": histogram.edges[:-1],
            "high": histogram.edges[1:],
            "true_links": histogram.true,
            "other_pairs": histogram.others,
            "true_share": histogram.true / max(links, 1),
            "other_share": histogram.others / max(others, 1.0),
        }
    )


def comparison_histograms(result: Any, *, width: int | None = None, height: int | None = None) -> Any:
    """Shares of the true links and of the other pairs by z, with the critical distance.

    Seri and Polettini (2003), figure 3 (a) and (b).
    """
    points, chosen = comparison_histograms_points(result), drawn_strata(result)
    charts = []
    for place in chosen:
        here = points.filter(points["stratum"] == result.labels[place])
        layers = bar_layers(here, "z", len(chosen) == 1)
        end = float(result.ratios[place].z.edges[-1])
        if 0 < result.delta[place] < end:
            layers.append(mark_at(float(result.delta[place])))
        charts.append(panel(layers, result, place, len(chosen), width, height))
    beyond = sum(result.ratios[place].z.others_beyond for place in chosen)
    everything = sum(float(result.records[place]) * (float(result.records[place]) - 1.0) for place in chosen)
    alpha = "given" if result.alpha is None else f"alpha = {result.alpha:g}"
    subtitle = [
        f"z of a released and an original record; keys: {result.compared_on}",
        f"red outline: true links; grey: other pairs; dashed: critical distance, {alpha}",
        f"{100 * beyond / max(everything, 1.0):.2g} % of the other pairs are further to the right",
    ]
    return panels(charts, result, "z of true links and of other pairs", subtitle)


def bar_layers(here: frame.Frame, title: str, alone: bool, *, log: bool = False) -> list[Any]:
    """Grey bars for other pairs, and the outline of the true links over them; `log`: z or t on a log scale."""
    ends = [float(frame.numbers(here, "low").min()), float(frame.numbers(here, "high").max())]
    # On a log scale powers of ten alone: ticks between them crowd a small panel.
    powers = [10.0**power for power in range(-9, 10) if ends[0] <= 10.0**power <= ends[1]]
    across: dict[str, Any] = {
        "title": title if alone else None,
        "scale": alt.Scale(domain=ends, nice=False, type="log" if log else "linear"),
        "axis": alt.Axis(format=".3~g", **({"values": powers} if log else {"tickCount": 4})),
    }
    upwards: dict[str, Any] = {"title": "share" if alone else None, "axis": alt.Axis(format="%", tickCount=3)}
    grey = (
        alt.Chart(here)
        .mark_bar(color=QUIET, opacity=0.8, stroke="white", strokeWidth=0.3)
        .encode(
            x=alt.X("low:Q", **across),
            x2="high:Q",
            y=alt.Y("other_share:Q", **upwards),
            y2=alt.datum(0),
            tooltip=[
                alt.Tooltip("low:Q", format=".3~g"),
                alt.Tooltip("high:Q", format=".3~g"),
                alt.Tooltip("true_links:Q", format=","),
                alt.Tooltip("other_pairs:Q", format=",.0f"),
            ],
        )
    )
    outline = (
        alt.Chart(here)
        .mark_line(color=UNSAFE, interpolate="step-after", strokeWidth=1.5)
        .encode(x=alt.X("low:Q", **across), y=alt.Y("true_share:Q", **upwards))
    )
    return [grey, outline]


def mark_at(value: float) -> Any:
    """A dashed line at a value."""
    at = frame.table({"low": [value]})
    return alt.Chart(at).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="low:Q")
