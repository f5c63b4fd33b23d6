"""Small multiples of the confidentiality plot: one panel for each stratum, or for each key set."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.plots import cloud as clouds
from tacita.plots.cloud import MOST_POINTS, Cloud, Extent
from tacita.plots.confidentiality_layers import MARKS_TEXT, cloud_of, left_text, neighbours_text, panel_layers
from tacita.plots.theme import QUIET, themed

MOST_PANELS = 12
"""At most so many panels; the subtitle counts the rest."""


def panels_by_stratum(result: Any, *, width: int | None = None, height: int | None = None) -> Any:
    """One panel for each stratum on the same axes, those with the largest share of unsafe records first."""
    if result.labels == ("",):
        raise TacitaError("the result has no strata; pass strata=[...] to the measure, or leave out by.")
    whole = cloud_of(result)
    strata = [np.flatnonzero(result.stratum == place) for place in range(len(result.labels))]
    share = np.array([result.unsafe[rows].mean() if len(rows) else -1.0 for rows in strata])
    chosen = np.argsort(-share, kind="stable")[:MOST_PANELS]
    if len(result.labels) <= MOST_PANELS:
        chosen = np.arange(len(result.labels))
    budget = MOST_POINTS // max(len(chosen), 1)
    named = [(result.labels[place], result, whole.take(strata[place], budget)) for place in chosen]
    rest = len(result.labels) - len(chosen)
    more = f"; {check.counted(rest, 'stratum', 'strata')} not drawn, none with a larger share of them" if rest else ""
    found, n = int(result.unsafe.sum()), len(whole)
    zone = clouds.zone_text(result.limits)
    subtitle = f"{found:,} of {n:,} records in the unsafe zone ({zone}); keys: {result.compared_on}{more}"
    return _panels(named, clouds.extent(whole), [subtitle, neighbours_text(result), *left_text(result)], width, height)


def confidentiality_panels(result: Any, *, width: int | None = None, height: int | None = None) -> Any:
    """One panel for each key set of a `ConfidentialitySets`, on the same axes."""
    parts = list(result.parts.items())[:MOST_PANELS]
    budget = MOST_POINTS // max(len(parts), 1)
    whole = [(name, part, cloud_of(part)) for name, part in parts]
    extents = [clouds.extent(cloud) for _, _, cloud in whole]
    shown = Extent(max(each.right for each in extents), max(each.top for each in extents))
    named = [
        (f"{name}: {', '.join(part.keys)}", part, cloud.take(np.arange(len(cloud)), budget))
        for name, part, cloud in whole
    ]
    rest = len(result.parts) - len(parts)
    more = f"; {rest:,} key sets are not drawn" if rest else ""
    zone = clouds.zone_text(parts[0][1].limits)
    scale = parts[0][1].compared_on.removeprefix(", ".join(parts[0][1].keys))
    left = [f"{name}: {text}" for name, part in parts for text in left_text(part)]
    return _panels(named, shown, [f"records below the line are unsafe ({zone}){scale}{more}", *left], width, height)


def _panels(
    named: list[tuple[str, Any, Cloud]], shown: Extent, subtitle: list[str], width: int | None, height: int | None
) -> Any:
    columns = min(len(named), 2 if len(named) in (2, 4) else 3)
    panels = []
    for name, result, cloud in named:
        layers = panel_layers(result, cloud, shown, titles=False)
        unsafe = int(cloud.unsafe.sum())
        title = alt.Title(name, subtitle=f"{unsafe:,} of {len(cloud):,} unsafe", fontSize=12, offset=4)
        panels.append(alt.layer(*layers).properties(width=width or 250, height=height or 170, title=title))
    cells = sum(len(cloud) - len(clouds.single_records(cloud)) for _, _, cloud in named if cloud.large)
    far = sum(int((cloud.upwards > shown.top).sum()) for _, _, cloud in named)
    notes = [f"{far:,} moved further than the axis shows, drawn at its top"] if far else []
    notes += [f"{cells:,} drawn as cells"] if cells else []
    lines = [
        *subtitle,
        "neighbours across, perturbation upwards; " + MARKS_TEXT,
        *(["; ".join(notes)] if notes else []),
    ]
    chart = alt.concat(*panels, columns=columns, spacing={"row": 18, "column": 24})
    return themed(chart.properties(title=alt.Title("Confidentiality plot", subtitle=lines, subtitleColor=QUIET)))
