"""What a release gives back: protected cells by variable, told rightly, guessed wrong, and not told."""

from __future__ import annotations

from typing import Any

import altair as alt

from tacita import check, frame
from tacita.plots.theme import INK, QUIET, SAFE, UNSAFE, themed

PARTS = ("given back", "guessed wrong", "not told")
COLOURS = (UNSAFE, "#e3b505", SAFE)
MOST_VARIABLES = 30
"""Variables that are drawn; the others are counted."""


def reconstruction_points(result: Any) -> frame.Frame:
    """What is drawn: by protected variable and part of its cells, how many, and which share; the most told first."""
    drawn = _ordered(result)[:MOST_VARIABLES]
    rows = [
        (variable.name, part, count, count / variable.protected, variable.protected)
        for variable in drawn
        for part, count in zip(PARTS, _counts(variable), strict=True)
    ]
    kinds: dict[str, Any] = {"variable": str, "part": str, "cells": int, "share": float, "protected": int}
    return frame.rows(kinds, rows)


def _counts(variable: Any) -> tuple[int, int, int]:
    return variable.given_back, variable.guessed_wrong, variable.not_disclosed


def _ordered(result: Any) -> list[Any]:
    return sorted(result.variables, key=lambda each: (-each.given_back / each.protected, each.name))


def reconstruction(result: Any, *, width: int | None = None, height: int | None = None) -> Any:
    """One bar per protected variable: the shares of its cells that are given back, guessed wrong and not told."""
    drawn = _ordered(result)[:MOST_VARIABLES]
    names = [each.name for each in drawn]
    labels = frame.table({"variable": names, "label": [f"{each.given_back:,} of {each.protected:,}" for each in drawn]})
    counts = (
        alt.Chart(labels)
        .mark_text(align="left", dx=6, color=INK)
        .encode(y=alt.Y("variable:N", sort=names, title=None), x=alt.datum(1.0, type="quantitative"), text="label:N")
    )
    more = len(result.variables) - len(names)
    how = f"by {check.counted(len(result.leaks), 'leak')}" if result.leaks else "no leak found"
    lines = [
        f"{result.given_back:,} of {check.counted(result.protected, 'protected cell')} can be told from the rest of "
        f"the release, {how}",
        "at the right: cells given back, of all that are protected",
        *([f"{check.counted(more, 'variable')} not drawn, none with a larger share"] if more > 0 else []),
    ]
    heading = alt.Title("What the release gives back", subtitle=lines, subtitleColor=QUIET)
    size = {"width": width or 420, "height": height or max(60, 30 * len(names))}
    return themed(alt.layer(_bars(result, names), counts).properties(title=heading, **size))


def _bars(result: Any, names: list[str]) -> Any:
    points = reconstruction_points(result)
    order = frame.table({"order": [PARTS.index(part) for part in points["part"].to_list()]})
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    return (
        alt.Chart(frame.beside(points, order))
        .mark_bar(height={"band": 0.7})
        .encode(
            y=alt.Y("variable:N", sort=names, title=None, axis=alt.Axis(labelLimit=220, ticks=False, domain=False)),
            x=alt.X("share:Q", stack="zero", title="share of the protected cells", axis=axis),
            color=alt.Color(
                "part:N",
                sort=list(PARTS),
                scale=alt.Scale(domain=list(PARTS), range=list(COLOURS)),
                legend=alt.Legend(title=None, orient="top", labelColor=INK),
            ),
            order=alt.Order("order:Q"),
            tooltip=["variable:N", "part:N", "cells:Q", "protected:Q"],
        )
    )
