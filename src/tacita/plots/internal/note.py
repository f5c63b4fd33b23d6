"""A figure that says in the picture that it is for the office only."""

from __future__ import annotations

from typing import Any

import altair as alt

from tacita.data.atomic import OFFICE_ONLY


def for_internal_use(chart: Any) -> Any:
    """The figure with a line under its title that says that it is for internal use only."""
    given = chart.to_dict().get("title", "")
    title = dict(given) if isinstance(given, dict) else {"text": given}
    below = title.pop("subtitle", [])
    lines = [below] if isinstance(below, str) else list(below)
    return chart.properties(
        title=alt.Title(**title, subtitle=[OFFICE_ONLY, *(line for line in lines if line != OFFICE_ONLY)])
    )
