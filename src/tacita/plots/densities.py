"""The densities of z over true links (m) and over other pairs (u), with the critical distance."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.check import TacitaError
from tacita.plots.strata import MOST_POINTS, drawn_strata, panel, panels
from tacita.plots.theme import INK, UNSAFE

KINDS = ("true links (m)", "other pairs (u)")


def densities_points(result: Any) -> frame.Frame:
    """What is drawn: by stratum and kind of pair the density of log z at values of z; 5,000 rows at the most."""
    chosen = _with_curves(result)
    most = MOST_POINTS // (len(KINDS) * len(chosen))
    tables = []
    for place in chosen:
        curves = result.ratios[place].curves
        kept = np.unique(np.linspace(0, len(curves.log_z) - 1, min(most, len(curves.log_z))).astype(np.int64))
        for kind, density in ((1, curves.m), (2, curves.u)):
            tables.append(
                frame.table(
                    {
                        "stratum": [result.labels[place]] * len(kept),
                        "pairs": (np.full(len(kept), kind, np.uint32), KINDS),
                        "z": np.exp(curves.log_z[kept]),
                        "density": density[kept],
                    }
                )
            )
    return frame.stacked(tables)


def _with_curves(result: Any) -> list[int]:
    """Places of the strata that are drawn: those in which some pair has a finite z."""
    chosen = [place for place in drawn_strata(result) if len(result.ratios[place].curves.log_z)]
    if not chosen:
        raise TacitaError("no pair of records has a finite z, so there is nothing to draw; look at the released keys.")
    return chosen


def densities(result: Any, *, width: int | None = None, height: int | None = None) -> Any:
    """m and u of each stratum on the log scale of z, and a dashed line at the critical distance delta.

    The less they overlap, the better true links are told from other pairs. The area under u to the left of the line is
    alpha. Seri and Polettini (2003), figures 1 and 3.
    """
    points, chosen = densities_points(result), _with_curves(result)
    charts, alone = [], len(chosen) == 1
    for place in chosen:
        here = points.filter(points["stratum"] == result.labels[place])
        curve = (
            alt.Chart(here)
            .mark_line(strokeWidth=1.5)
            .encode(
                x=_across(here, alone),
                y=alt.Y("density:Q", title="density of log z" if alone else None, axis=alt.Axis(tickCount=3)),
                color=alt.Color("pairs:N", scale=alt.Scale(domain=list(KINDS), range=[UNSAFE, INK]), legend=None),
                tooltip=["pairs:N", alt.Tooltip("z:Q", format=".3~g"), alt.Tooltip("density:Q", format=".3f")],
            )
        )
        layers = [curve]
        if 0 < result.delta[place] < np.inf:
            at = frame.table({"z": [float(result.delta[place])]})
            layers.append(alt.Chart(at).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="z:Q"))
        charts.append(panel(layers, result, place, len(chosen), width, height))
    alpha = "given" if result.alpha is None else f"alpha = {result.alpha:g}"
    subtitle = [
        f"z of a released and an original record; keys: {result.compared_on}",
        f"red: true links (m); black: other pairs (u); dashed: critical distance, {alpha}",
    ]
    return panels(charts, result, "How far apart true links and other pairs are", subtitle)


def _across(here: frame.Frame, alone: bool) -> Any:
    z, seen = frame.numbers(here, "z"), frame.numbers(here, "density")
    # Where hardly any pair is, nothing would be seen: the axis begins and ends with the curves.
    shown = z[seen > 0.01 * seen.max(initial=0.0)]
    scale = alt.Scale(type="log", domain=[float(shown.min()), float(shown.max())], nice=False, clamp=True)
    powers = 10.0 ** np.arange(np.ceil(np.log10(shown.min())), np.floor(np.log10(shown.max())) + 1.0)
    ticks: dict[str, Any] = {"values": powers.tolist()} if len(powers) > 1 else {"tickCount": 4}
    return alt.X("z:Q", scale=scale, title="z (log scale)" if alone else None, axis=alt.Axis(format=".3~g", **ticks))
