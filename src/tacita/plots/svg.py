"""Figures as pictures inside a page: no script, and no names that two of them could share."""

from __future__ import annotations

import re
from typing import Any


def inline_svg(chart: Any, name: str) -> str:
    """The figure as an SVG element; `name` sets its inner names apart from those of other figures on the page."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(chart.to_json(indent=None))
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', drawn)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", drawn)


def words_of(chart: Any) -> str:
    """What a figure shows, for those who do not see it: its title and the lines under it."""
    given = chart.to_dict().get("title", "")
    if not isinstance(given, dict):
        return str(given)
    lines = given.get("subtitle", [])
    below = [lines] if isinstance(lines, str) else list(lines)
    return ". ".join(str(line) for line in (given.get("text", ""), *below) if line)
