"""Histogram of the likelihood ratio t = m/u over pairs that are no true links, with its critical value tau."""

from __future__ import annotations

from typing import Any

from tacita import check, frame
from tacita.plots.comparison_histograms import bar_layers, bars, mark_at, without_zero
from tacita.plots.strata import drawn_strata, panel, panels


def likelihood_ratio_points(result: Any) -> frame.Frame:
    """What is drawn: by stratum and bar its limits in t, true links and other pairs in it, and their shares."""
    return frame.stacked([bars(result.labels[place], result.ratios[place].t) for place in drawn_strata(result)])


def likelihood_ratio(result: Any, *, width: int | None = None, height: int | None = None) -> Any:
    """Shares of the other pairs, and of the true links, by their likelihood ratio; dashed: tau.

    To the right of tau are alpha of the other pairs, and the true links that an intruder who goes by the ratio has on
    his list. Seri and Polettini (2003), figure 3 (d).
    """
    points, chosen = likelihood_ratio_points(result), drawn_strata(result)
    charts = []
    for place in chosen:
        here = without_zero(points.filter(points["stratum"] == result.labels[place]))
        layers = bar_layers(here, "t = m(z)/u(z) (log scale)", len(chosen) == 1, log=True)
        tau = float(result.ratios[place].densities.tau)
        if tau < float(result.ratios[place].t.edges[-1]):
            layers.append(mark_at(tau))
        charts.append(panel(layers, result, place, len(chosen), width, height))
    beyond = sum(result.ratios[place].t.true_beyond for place in chosen)
    subtitle = [
        f"t of a released and an original record on a log scale, the first bar: all smaller t; keys: "
        f"{result.compared_on}",
        f"red outline: true links; grey: other pairs; dashed: critical value tau, alpha = {result.level:g}",
        *([f"greater t than is drawn: {check.counted(beyond, 'true link')}"] if beyond else []),
    ]
    return panels(charts, result, "Likelihood ratio of true links and of other pairs", subtitle)
