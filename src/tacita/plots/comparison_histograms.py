"""Histograms of z over true links and over other pairs."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.arrays import Floats
from tacita.plots.number_axis import SHORT
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
    charts, alone = [], len(chosen) == 1
    for place in chosen:
        here = points.filter(points["stratum"] == result.labels[place])
        log = on_log_scale(result.ratios[place].z.edges)
        shown, title = (without_zero(here), "z (log scale)") if log else (here, "z")
        layers = bar_layers(shown, title, alone, log=log)
        end = float(result.ratios[place].z.edges[-1])
        if 0 < result.delta[place] < end:
            layers.append(mark_at(float(result.delta[place])))
        charts.append(panel(layers, result, place, len(chosen), width, height))
    beyond = sum(result.ratios[place].z.others_beyond for place in chosen)
    everything = sum(float(result.records[place]) * (float(result.records[place]) - 1.0) for place in chosen)
    alpha = "given" if result.alpha is None else f"alpha = {result.alpha:g}"
    uneven = any(on_log_scale(result.ratios[place].z.edges) for place in chosen)
    scale = " on a log scale, the first bar: all smaller z" if uneven else ""
    subtitle = [
        f"z of a released and an original record{scale}; keys: {result.compared_on}",
        f"red outline: true links; grey: other pairs; dashed: critical distance, {alpha}",
        f"{100 * beyond / max(everything, 1.0):.2g} % of the other pairs are further to the right",
    ]
    return panels(charts, result, "z of true links and of other pairs", subtitle)


def on_log_scale(edges: Floats) -> bool:
    """Whether bars after the first grow as on a log scale."""
    return len(edges) > 3 and bool(edges[-1] - edges[-2] > 1.5 * (edges[2] - edges[1]))


def without_zero(bars_of_one: frame.Frame) -> frame.Frame:
    """The bars of a log scale: the first, which begins at 0, as wide as the others."""
    low, high = frame.numbers(bars_of_one, "low"), frame.numbers(bars_of_one, "high")
    columns = {name: bars_of_one[name] for name in bars_of_one.columns}
    return frame.table(columns | {"low": np.concatenate([high[:1] ** 2 / high[1], low[1:]])})


def bar_layers(here: frame.Frame, title: str, alone: bool, *, log: bool = False) -> list[Any]:
    """Grey bars for other pairs, and the outline of the true links over them; `log`: z or t on a log scale."""
    ends = [float(frame.numbers(here, "low").min()), float(frame.numbers(here, "high").max())]
    # On a log scale powers of ten alone: ticks between them crowd a small panel.
    powers = [10.0**power for power in range(-9, 10) if ends[0] <= 10.0**power <= ends[1]]
    across: dict[str, Any] = {
        "title": title if alone else None,
        "scale": alt.Scale(domain=ends, nice=False, type="log" if log else "linear"),
        "axis": alt.Axis(labelExpr=SHORT, values=powers) if log else alt.Axis(format=".3~g", tickCount=4),
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
