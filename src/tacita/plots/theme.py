"""One look for all figures: quiet axes, one colour for what is safe and one for what is not."""

from __future__ import annotations

from typing import Any

SAFE = "#3b6ea5"
UNSAFE = "#c8452e"
INK = "#222222"
QUIET = "#8a8a8a"

FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"


def themed(chart: Any) -> Any:
    """The chart in the common look."""
    return (
        chart.configure(font=FONT, background="white")
        .configure_view(stroke=None)
        .configure_axis(
            grid=False, domainColor=QUIET, tickColor=QUIET, labelColor=INK, titleColor=INK, titleFontWeight="normal"
        )
        .configure_title(anchor="start", color=INK, fontSize=14, subtitleColor=QUIET, subtitleFontSize=11, offset=12)
    )
