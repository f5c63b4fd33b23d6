"""The figure of external risk: among how many released records does the intruder look for each of his?"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.plots.theme import QUIET, SAFE, UNSAFE, themed

BOUNDS = (0, 1, 2, 3, 6, 11, 101)
"""The least number of pairs of each bar."""
LABELS = ("none", "1", "2", "3 to 5", "6 to 10", "11 to 100", "over 100")
RIGHT, WRONG, UNKNOWN = "the right one among them", "the right one is not", "right or not is not known"


def external_risk_points(result: Any) -> frame.Frame:
    """The bars: released records that agree, whether the right one is among them, records and their share."""
    found = result.found
    bar = np.searchsorted(BOUNDS, found.pairs, side="right") - 1
    kinds = {UNKNOWN: np.ones(len(bar), dtype=bool)}
    if found.right is not None:
        kinds = {RIGHT: found.right > 0, WRONG: found.right == 0}
    counts = {kind: np.bincount(bar[where], minlength=len(BOUNDS)) for kind, where in kinds.items()}
    records = np.concatenate(list(counts.values()))
    return frame.table(
        {
            "pairs": list(LABELS) * len(counts),
            "kind": [kind for kind in counts for _ in LABELS],
            "records": records,
            "share": records / len(bar),
        }
    )


def external_risk(result: Any, *, width: int = 420, height: int = 200) -> Any:
    """The intruder's records by the number of released ones that agree, the right one among them or not."""
    points = external_risk_points(result)
    kinds = [kind for kind in (RIGHT, WRONG, UNKNOWN) if kind in set(points["kind"].to_list())]
    colours = {RIGHT: UNSAFE, WRONG: SAFE, UNKNOWN: QUIET}
    known = f"{len(result.variables)} variable{'' if len(result.variables) == 1 else 's'} known"
    subtitle = f"{len(result.record):,} records of the intruder's file, {known}"
    if result.found.right is not None:
        share = 100 * result.limited("expected")
        subtitle += f"; {share:.3g} % guessed right (expected)"
    bars = (
        alt.Chart(points)
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("pairs:N", sort=list(LABELS), title="released records that agree", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", title="share of his records", axis=alt.Axis(format="%", tickCount=5)),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=[colours[kind] for kind in kinds]),
                legend=alt.Legend(title=None, orient="top", labelLimit=0),
            ),
            order=alt.Order("kind:N", sort="ascending"),
            tooltip=["pairs:N", "kind:N", alt.Tooltip("records:Q", format=","), alt.Tooltip("share:Q", format=".2%")],
        )
        .properties(width=width, height=height, title=alt.Title("External risk", subtitle=subtitle))
    )
    return themed(bars)
