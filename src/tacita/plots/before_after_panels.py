"""What the figures before and after have in common: which variables they draw, colours, axes and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data.atomic import OFFICE_ONLY
from tacita.plots.theme import INK, QUIET, SAFE, themed
from tacita.result import percent

FILES = ("original", "released")
COLOURS = ("#9a9a9a", SAFE)
MOST_PANELS = 12
"""At most so many variables or groups are drawn; the subtitle counts the rest."""

LONGEST = 270
"""Longer names of panels are cut, in pixels."""


def chosen(result: Any, what: Sequence[Any], variable: str | None, kind: str, other: str) -> list[Any]:
    """What is drawn of the variables of a kind: one panel each, or of one variable a panel for each group."""
    if not what:
        raise TacitaError(f"no {kind} was compared, so there is nothing to draw; plot({other!r}) draws the others.")
    names = list(dict.fromkeys(each.variable for each in what))
    if variable is None:
        return [each for each in what if not each.group]
    check.one_of("variable", variable, names)
    here = [each for each in what if each.variable == variable]
    return [each for each in here if each.group] if result.groups else here


def stacked(tables: Sequence[frame.Frame], kinds: Mapping[str, type]) -> frame.Frame:
    """Rows of several variables under each other; with no rows the columns alone, those of `kinds` behind the names."""
    if tables:
        return frame.stacked(tables)
    return frame.rows({"variable": str, "group": str, "file": str, **kinds}, [])


def named(each: Any) -> str:
    """What a panel is called."""
    return str(each.group or each.variable)


def title(result: Any, text: str, drawn: Sequence[Any], lines: Sequence[str]) -> Any:
    """The title of a figure: what the office must not give away says so."""
    group = next((each for each in drawn if each.group), None)
    whole = text if group is None else f"{text}: {group.variable} by {result.by}"
    rest = len(drawn) - MOST_PANELS
    more = [f"{check.counted(rest, 'panel')} not drawn; name one with variable=..."] if rest > 0 else []
    office = [OFFICE_ONLY] if result.office_only else []
    return alt.Title(whole, subtitle=[*office, *lines, *more])


def counted_by(result: Any) -> str:
    """How records count in a figure."""
    return "weighted" if result.weighted else "unweighted"


def panel_title(each: Any, below: str = "") -> Any:
    """The title of a panel."""
    more: dict[str, Any] = {"subtitle": below, "subtitleFontSize": 10, "subtitleColor": QUIET} if below else {}
    return alt.Title(named(each), fontSize=12, offset=6, anchor="start", frame="group", limit=LONGEST, **more)


def scale_words(line: Any) -> str:
    """What is said of an axis that is not even."""
    return {"linear": "", "log": "log scale", "symlog": "log scale of both signs"}[line.kind]


def before_and_after(what: str, before: float, after: float) -> str:
    """A share before and after, empty if there is none: `missing 2 % → 5 %`."""
    if before == 0 and after == 0:
        return ""
    shown = ("few" if np.isnan(share) else percent(share) for share in (before, after))
    return f"{what} {' → '.join(shown)}"


def file_colour(*, legend: bool = True, symbol: str = "square") -> Any:
    """The colour of each file, with the legend of the figure below it."""
    # The outlines of bars are none of the legend.
    plain: dict[str, Any] = {"symbolStrokeWidth": 0} if symbol == "square" else {}
    shown = alt.Legend(title=None, orient="bottom", symbolType=symbol, symbolOpacity=1, **plain) if legend else None
    return alt.Color("file:N", scale=alt.Scale(domain=list(FILES), range=list(COLOURS)), legend=shown)


def laid_out(panels: Sequence[Any], heading: Any, columns: int | None = None) -> Any:
    """Panels beside and under each other, under one title."""
    shown = list(panels[:MOST_PANELS])
    beside = columns or (len(shown) if len(shown) < 4 else 2 if len(shown) == 4 else 3)
    spacing = {"row": 22, "column": 26}
    whole = shown[0] if len(shown) == 1 else alt.concat(*shown, columns=min(beside, len(shown)), spacing=spacing)
    if len(shown) == 1:
        # The one panel has its name in the title of the figure; what stands below it there, too.
        own = shown[0].to_dict().get("title", {})
        name, below = own.get("text", ""), own.get("subtitle", "")
        given = heading.to_dict()
        lines = [*given["subtitle"], *([below] if below else [])]
        text = given["text"] if given["text"].endswith(name) else f"{given['text']}: {name}"
        heading = alt.Title(text, subtitle=lines)
    return themed(whole.properties(title=heading))


def value_scale(line: Any, low: float, high: float) -> Any:
    """The scale of the values of a variable from one end to the other."""
    more = {"constant": line.constant} if line.kind == "symlog" else {}
    return alt.Scale(type=line.kind, domain=[low, high], nice=False, **more)


def value_axis(line: Any, low: float, high: float) -> Any:
    """Ticks at round numbers: 1, 2 and 5 times powers of ten on a log scale, powers alone where it is long."""
    # Not the format of the axis, which gives all ticks one unit: 0 would be 0k, and 0.3 would be 300m.
    shown = "format(datum.value, abs(datum.value) < 1000 ? '.6~g' : '~s')"
    if line.kind == "linear":
        return alt.Axis(labelExpr=shown, tickCount=5, labelOverlap=True)
    return alt.Axis(values=round_numbers(line, low, high), labelExpr=shown, labelOverlap=True)


def round_numbers(line: Any, low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers between two ends, spread along a log scale.

    >>> from types import SimpleNamespace
    >>> round_numbers(SimpleNamespace(kind="log", constant=1.0), 3.0, 4000.0)
    [10.0, 100.0, 1000.0]
    """
    powers = [10.0**power for power in range(-12, 19)]
    if line.kind == "symlog":
        powers = [each for each in powers if each >= line.constant / 2]
        powers = [*(-each for each in reversed(powers)), 0.0, *powers]
    inside = [each for each in powers if low <= each <= high]
    if len(inside) < 3 and line.kind == "log":
        finer = [times * each for each in powers for times in (1, 2, 5)]
        inside = [each for each in finer if low <= each <= high]
    if line.kind == "symlog" and len(inside) > most:
        # About zero, which stays.
        middle = inside.index(0.0) if 0.0 in inside else 0
        step = -(-len(inside) // most)
        return [each for at, each in enumerate(inside) if (at - middle) % step == 0]
    return inside[:: -(-len(inside) // most)] if inside else []


QUIET_RULE: dict[str, Any] = {"color": INK, "strokeDash": [4, 3], "strokeWidth": 1}
"""How a line of reference is drawn."""
