"""The confidentiality plot at several alphas."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.plots import cloud as clouds
from tacita.plots.cloud import MOST_POINTS, Cloud, Extent
from tacita.plots.confidentiality import MARKS_TEXT, cloud_of, panel_layers
from tacita.plots.confidentiality_layers import left_text
from tacita.plots.theme import QUIET, themed


def alphas_points(result: Any) -> frame.Frame:
    """What is drawn one by one: alpha, and the neighbours, perturbation and kind of mark of each record at that alpha.

    In a file that is too large for that only notable records are drawn so, the others as cells: see `alphas_cells`.
    """
    whole, shown = _clouds(result)
    return frame.stacked([_with_alpha(alpha, clouds.points(cloud, shown)) for alpha, cloud in whole.items()])


def alphas_cells(result: Any) -> frame.Frame:
    """The cells of a file that is too large: alpha, bounds, records inside, and whether they are unsafe."""
    whole, shown = _clouds(result)
    return frame.stacked([_with_alpha(alpha, clouds.cells(cloud, shown)) for alpha, cloud in whole.items()])


def _with_alpha(alpha: float, drawn: frame.Frame) -> frame.Frame:
    return frame.beside(frame.table({"alpha": np.full(drawn.height, alpha)}), drawn)


def _clouds(result: Any) -> tuple[dict[float, Cloud], Extent]:
    """By alpha the records as points, few enough for one figure; and axes that are the same for all."""
    most = MOST_POINTS // len(result.parts)
    whole = {alpha: cloud_of(part) for alpha, part in result.parts.items()}
    extents = [clouds.extent(cloud) for cloud in whole.values()]
    shown = Extent(max(each.right for each in extents), max(each.top for each in extents))
    return {alpha: cloud.take(np.arange(len(cloud)), most) for alpha, cloud in whole.items()}, shown


def alphas(result: Any, *, width: int | None = None, height: int | None = None) -> Any:
    """One panel for each alpha on the same axes. Seri and Polettini (2003), figures 6 and 10."""
    whole, shown = _clouds(result)
    charts = []
    for alpha, cloud in whole.items():
        part = result.parts[alpha]
        row = part.rows()[-1]
        said = f"{row.unsafe:,} of {row.records:,} unsafe; alpha (n-1) = {row.expected_neighbours:.1f}"
        title = alt.Title(f"alpha = {alpha:g}", subtitle=said, fontSize=12, offset=4)
        layers = panel_layers(part, cloud, shown, titles=False)
        charts.append(alt.layer(*layers).properties(width=width or 250, height=height or 190, title=title))
    first, *_ = result.parts.values()
    lines = [
        f"records below the line are unsafe ({clouds.zone_text(first.limits)}); keys: {first.compared_on}",
        "neighbours across, perturbation upwards; " + MARKS_TEXT,
        *(f"alpha {alpha:g}: {text}" for alpha, cloud in whole.items() for text in clouds.drawn_text(cloud, shown)),
        *dict.fromkeys(text for part in result.parts.values() for text in left_text(part)),
    ]
    columns = 2 if len(charts) in (2, 4) else 3
    chart = alt.concat(*charts, columns=min(columns, len(charts)), spacing={"row": 18, "column": 24})
    heading = alt.Title("Confidentiality plot at several alphas", subtitle=lines, subtitleColor=QUIET)
    return themed(chart.properties(title=heading))
