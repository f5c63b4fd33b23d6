"""Figures as pictures inside a page: no script, and no names that two of them could share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def inline_svg(chart: Any, name: str) -> tuple[str, str]:
    """The figure as an SVG element, and what it shows in words; `name` sets its inner names apart from others' on the
    page."""
    import vl_convert

    # Our own charts are checked by their tests; checking them again takes longer than drawing.
    specification = chart.to_dict(validate=False)
    drawn: str = vl_convert.vegalite_to_svg(specification)
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', drawn)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", drawn), _words(specification.get("title", ""))


def _words(title: Any) -> str:
    """What a figure shows, for those who do not see it: its title and the lines under it."""
    if not isinstance(title, Mapping):
        return str(title)
    lines = title.get("subtitle", [])
    below = [lines] if isinstance(lines, str) else list(lines)
    return ". ".join(str(line) for line in (title.get("text", ""), *below) if line)
