"""Panels by stratum: which strata are drawn, and how many points each may have."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.plots.theme import QUIET, themed

MOST_POINTS = 5000
"""At most so many rows are drawn."""
MOST_PANELS = 12
"""At most so many strata are drawn, those with most records; the subtitle counts the rest."""


def drawn_strata(result: Any) -> list[int]:
    """Places of the strata that are drawn: those with pairs to compare, the largest if there are many."""
    if result.ratios is None:
        raise TacitaError("the distributions of z were not worked out; ask for them with ratio=True.")
    there = np.flatnonzero(result.records > 1)
    if not len(there):
        raise TacitaError("no stratum has two records to compare; there is nothing to draw.")
    chosen = there[np.argsort(-result.records[there], kind="stable")[:MOST_PANELS]]
    return sorted(chosen.tolist())


def panels(charts: list[Any], result: Any, title: str, subtitle: list[str]) -> Any:
    """One chart or several beside each other, with one title."""
    rest = len(result.labels) - len(charts)
    if rest:
        subtitle = [*subtitle, f"{check.counted(rest, 'stratum', 'strata')} not drawn, none with more records"]
    columns = 1 if len(charts) == 1 else 2 if len(charts) in (2, 4) else 4 if len(charts) > 6 else 3
    chart = charts[0] if len(charts) == 1 else alt.concat(*charts, columns=columns, spacing={"row": 18, "column": 24})
    return themed(chart.properties(title=alt.Title(title, subtitle=subtitle, subtitleColor=QUIET)))


def panel(layers: list[Any], result: Any, place: int, strata: int, width: int | None, height: int | None) -> Any:
    """The layers of one stratum under its name: large for one stratum, small for several."""
    alone = strata == 1
    chart = alt.layer(*layers).properties(
        width=width or (480 if alone else 190), height=height or (260 if alone else 120)
    )
    return chart if alone else chart.properties(title=alt.Title(result.labels[place], fontSize=12, offset=4))
