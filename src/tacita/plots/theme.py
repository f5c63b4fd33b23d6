"""One look for all figures: quiet axes, one colour for what is safe and one for what is not."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita.arrays import Bools, Floats

SAFE = "#3b6ea5"
UNSAFE = "#c8452e"
BETWEEN = "#c98a1b"
"""Neither safe nor quite unsafe."""
INK = "#222222"
QUIET = "#8a8a8a"

PALE_SAFE = "#dde7f2"
"""Where there are fewest safe records."""
PALE_UNSAFE = "#f7d9d2"
"""Where there are fewest unsafe records."""

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


class Offline:
    """A chart that a notebook shows without a connection: Altair's own view loads its scripts from the web."""

    def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, str]:
        from tacita.plots.page import notebook

        return {"text/plain": "<figure>", "text/html": notebook(self)}


class Chart(Offline, alt.Chart):
    """One panel."""


class LayerChart(Offline, alt.LayerChart):
    """Layers in one panel."""


class ConcatChart(Offline, alt.ConcatChart):
    """Panels in rows and columns."""


class HConcatChart(Offline, alt.HConcatChart):
    """Panels beside each other."""


class VConcatChart(Offline, alt.VConcatChart):
    """Panels under each other."""


OFFLINE_CLASSES = {
    alt.Chart: Chart,
    alt.LayerChart: LayerChart,
    alt.ConcatChart: ConcatChart,
    alt.HConcatChart: HConcatChart,
    alt.VConcatChart: VConcatChart,
}
"""Our kind of each of Altair's charts."""


def shades(density: Floats, unsafe: Bools) -> list[str]:
    """A colour for each cell, on a log scale from the least density to the greatest: of red if unsafe, else of blue."""
    low, high = float(density.min(initial=1.0)), float(density.max(initial=1.0))
    share = np.log(density / low) / np.log(max(high, 1.001 * low) / low) if low > 0 else np.ones(len(density))
    ends = {True: (PALE_UNSAFE, UNSAFE), False: (PALE_SAFE, SAFE)}
    return [_between(*ends[bool(red)], float(at)) for at, red in zip(share, unsafe, strict=True)]


def _between(first: str, second: str, share: float) -> str:
    parts = [(int(first[at : at + 2], 16), int(second[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in parts)


def themed(chart: Any) -> Any:
    """The chart in the common look, shown by notebooks without a connection."""
    axis = alt.AxisConfig(
        grid=False, domainColor=QUIET, tickColor=QUIET, labelColor=INK, titleColor=INK, titleFontWeight="normal"
    )
    title = alt.TitleConfig(anchor="start", color=INK, fontSize=14, subtitleColor=QUIET, subtitleFontSize=11, offset=12)
    # In one call: each copies the whole chart.
    looked = chart.configure(font=FONT, background="white", view=alt.ViewConfig(stroke=None), axis=axis, title=title)
    # `configure` made a copy, which becomes our kind of chart; further copies of it are so too.
    object.__setattr__(looked, "__class__", OFFLINE_CLASSES[type(looked)])
    return looked
