"""The R-U confidentiality map: releases by risk and loss, the tolerable risk, and the releases that no other beats."""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.plots.labels import Place, placed
from tacita.plots.theme import INK, QUIET, SAFE, UNSAFE, themed

ORIGINAL = "original"
KINDS = ("safe", "not safe", "not assessed", ORIGINAL)
SHAPES = ("circle", "triangle-up", "diamond", "square")
COLOURS = (SAFE, UNSAFE, QUIET, INK)
DECADES = 1.5
"""Risks that span more powers of ten than this are drawn on a log scale."""
LONGEST = 34
"""Longer names are cut in the figure; hovering shows all of them."""
FOOT = 1.35
"""How far above the foot of a log scale its dotted line is drawn, as a factor."""
CLOSE = 7.0
"""Points within so many pixels of each other have one label."""


def risk_utility_map_points(result: Any) -> frame.Frame:
    """The points: name, kind (a verdict, or the original), risk, loss, and whether no other release beats it.

    Releases without risk or loss have no point. The original stands at loss 0, once for each risk it was measured with.
    """
    releases = result.to_frame()
    known = ~np.isnan(frame.numbers(releases, "risk")) & ~np.isnan(frame.numbers(releases, "loss"))
    shown = frame.take(releases, np.flatnonzero(known))
    before = result.risks_before
    own = {
        "name": [ORIGINAL] * len(before),
        "kind": [ORIGINAL] * len(before),
        "risk": np.array(before, dtype=np.float64),
        "loss": np.zeros(len(before)),
        "frontier": np.zeros(len(before), dtype=np.bool_),
    }
    drawn = {
        "name": shown["release"].to_list(),
        "kind": shown["verdict"].to_list(),
        "risk": frame.numbers(shown, "risk"),
        "loss": frame.numbers(shown, "loss"),
        "frontier": shown["frontier"].to_list(),
    }
    tables = [table for table in (frame.table(own), frame.table(drawn)) if table.height]
    if not tables:
        raise TacitaError("no release has both a risk and a loss, so there is nothing to draw.")
    return frame.stacked(tables)


def risk_utility_map_frontier(result: Any) -> frame.Frame:
    """The corners of the frontier by ascending loss: the least risk to be had at no more than a loss.

    It begins with the original, at loss 0, if its risk is known and the release of least loss lowers it.
    """
    releases = [(each.loss, each.risk) for each in result.frontier()]
    first = max(result.risks_before, default=np.nan)
    start = [(0.0, first)] if releases and releases[0][0] > 0 and first >= releases[0][1] else []
    corners = list(dict.fromkeys([*start, *releases]))
    return frame.table({"loss": [each[0] for each in corners], "risk": [each[1] for each in corners]})


class _Plane(NamedTuple):
    """How risk and loss lie on the figure, in pixels from its upper left corner."""

    width: float
    height: float
    right: float
    low: float
    high: float
    floor: float | None
    """Where a risk of 0 is drawn on a log scale."""
    format: str = "~g"
    """How risks are written."""

    @property
    def log(self) -> bool:
        """Whether risks are on a log scale."""
        return self.floor is not None

    @property
    def zero(self) -> bool:
        """Whether the log scale has a foot where risks of 0 are drawn."""
        return self.floor is not None and self.low < self.floor

    def drawn(self, risk: Floats) -> Floats:
        """Risks as they are drawn: 0 at the floor."""
        return risk if self.floor is None else np.maximum(risk, self.floor)

    def pixels(self, loss: Floats, risk: Floats) -> Floats:
        """Places of points."""
        along = np.log(self.drawn(risk) / self.low) / np.log(self.high / self.low) if self.log else risk / self.high
        return np.column_stack([loss / self.right * self.width, (1 - along) * self.height])

    def values(self, x: float, y: float) -> tuple[float, float]:
        """The loss and the risk of a place."""
        along = 1 - y / self.height
        risk = self.low * (self.high / self.low) ** along if self.log else along * self.high
        return x / self.width * self.right, risk

    def axis(self) -> Any:
        """Ticks at powers of ten on a log scale, and 0 at its floor."""
        if self.floor is None:
            return alt.Axis(format=self.format, tickCount=6)
        powers = np.arange(np.ceil(np.log10(self.low) - 1e-9), np.log10(self.high) + 1e-9)
        ticks = [10.0**power for power in powers if 10.0**power > self.floor * 1.01]
        thinned = ticks[:: -(-len(ticks) // 8)] if ticks else []
        if not self.zero:
            return alt.Axis(values=thinned, format=self.format, labelOverlap=False)
        shown = f"datum.value <= {self.floor * 1.01!r} ? '0' : format(datum.value, '{self.format}')"
        return alt.Axis(values=[self.floor, *thinned], labelExpr=shown, labelOverlap=False)

    def scale(self) -> Any:
        """The scale of the risk."""
        if self.log:
            return alt.Scale(type="log", domain=[self.low, self.high], nice=False)
        return alt.Scale(domain=[0, self.high], nice=False)


def _plane(points: frame.Frame, limit: float | None, width: int, height: int) -> _Plane:
    risk, loss = frame.numbers(points, "risk"), frame.numbers(points, "loss")
    right = float(loss.max()) * 1.12 or 1.0
    seen = np.append(risk, [] if limit is None else [limit])
    positive = seen[seen > 0]
    if not len(positive) or np.log10(positive.max() / positive.min()) < DECADES:
        return _Plane(width, height, right, 0.0, float(seen.max(initial=0.0)) * 1.12 or 1.0, None)
    least, high = float(positive.min()), float(positive.max()) * 1.6
    if (risk > 0).all():
        low = least / 1.6
        return _Plane(width, height, right, low, high, low)
    floor = 10.0 ** (np.floor(np.log10(least)) - (1 if least < 2 * 10.0 ** np.floor(np.log10(least)) else 0))
    return _Plane(width, height, right, floor / 1.6, high, float(floor))


def risk_utility_map(result: Any, *, width: int = 560, height: int = 380) -> Any:
    """Releases by what they cost and what they risk, with the tolerable risk and the frontier (Duncan et al. 2001).

    The nearer to the lower left the better. The line joins the releases that no other beats: above it and to its right
    there is a release with no more of either. Risks that span powers of ten are on a log scale, with 0 at its foot.
    """
    points = risk_utility_map_points(result)
    plane = _plane(points, result.risk_limit, width, height)._replace(format=_written(result.risk_is_share))
    labels, hidden = _labels(points, plane, result)
    scale, axis = plane.scale(), plane.axis()
    y = alt.Y("risk:Q", scale=scale, axis=axis, title=f"risk: {result.risk_label}")
    across = alt.Axis(format=_written(result.loss_is_share), tickCount=6, labelFlush=False)
    loss = alt.Scale(domain=[0, plane.right], nice=False)
    x = alt.X("loss:Q", scale=loss, axis=across, title=f"loss: {result.loss_label}")
    layers = [*_limit(result, plane, y, x), *_frontier(result, plane, y, x)]
    layers += [*_leaders(labels, y, x), _marks(points, plane, result, y, x), _names(labels, y, x)]
    chart = alt.layer(*layers).properties(
        width=width,
        height=height,
        title=alt.Title("Risk and loss of the releases", subtitle=_notes(result, plane, hidden)),
    )
    return themed(chart)


def _written(share: bool, precision: str = "") -> str:
    """How numbers are written: shares in percent."""
    return f"{precision}~%" if share else f"{precision}~g"


def _notes(result: Any, plane: _Plane, hidden: int) -> list[str]:
    """What the figure says under its title."""
    shown = len(result.points) - len(result.not_measured)
    notes = [f"{check.counted(shown, 'release')}, better to the lower left; line: those that no other beats"]
    more = ["risk on a log scale" + (", 0 below the dotted line" if plane.zero else "")]
    more = more if plane.log else []
    if result.not_measured:
        more.append(f"{check.counted(len(result.not_measured), 'release')} without risk or loss not drawn")
    if hidden:
        more.append(f"{check.counted(hidden, 'name')} not drawn for want of room")
    return [*notes, "; ".join(more)] if more else notes


def _marks(points: frame.Frame, plane: _Plane, result: Any, y: Any, x: Any) -> Any:
    kinds = [each for each in KINDS if each in points["kind"].to_list()]
    at = [KINDS.index(each) for each in kinds]
    colour = alt.Scale(domain=kinds, range=[COLOURS[each] for each in at])
    shape = alt.Scale(domain=kinds, range=[SHAPES[each] for each in at])
    legend = alt.Legend(title=None, orient="bottom", symbolSize=90, symbolOpacity=1)
    rows = points.with_columns(_drawn_apart(points, plane).get_columns())
    return (
        alt.Chart(rows)
        .mark_point(filled=True, size=90, opacity=1, stroke="white", strokeWidth=0.8)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N", scale=colour, legend=legend),
            shape=alt.Shape("kind:N", scale=shape, legend=legend),
            tooltip=[
                alt.Tooltip("name:N", title="release"),
                alt.Tooltip("measured:Q", title="risk", format=_written(result.risk_is_share, ".3")),
                alt.Tooltip("cost:Q", title="loss", format=_written(result.loss_is_share, ".3")),
                alt.Tooltip("kind:N", title="verdict"),
            ],
        )
    )


def _drawn_apart(points: frame.Frame, plane: _Plane) -> frame.Frame:
    """Where points are drawn: those of one place and different verdicts beside each other, so that each is seen."""
    loss, risk = frame.numbers(points, "loss"), frame.numbers(points, "risk")
    places = plane.pixels(loss, risk)
    kinds = points["kind"].to_list()
    rounded = [tuple(each) for each in np.round(places).tolist()]
    x = places[:, 0].copy()
    for place in set(rounded):
        here = [at for at, each in enumerate(rounded) if each == place]
        different = sorted({kinds[at] for at in here}, key=KINDS.index)
        for at in here:
            x[at] += 9 * (different.index(kinds[at]) - (len(different) - 1) / 2)
    moved = np.abs(x - places[:, 0]) > 1e-9
    shown = np.where(moved, x / plane.width * plane.right, loss)
    return frame.table({"loss": shown, "risk": plane.drawn(risk), "cost": loss, "measured": risk})


def _frontier(result: Any, plane: _Plane, y: Any, x: Any) -> list[Any]:
    corners = risk_utility_map_frontier(result)
    if not corners.height:
        return []
    loss, risk = frame.numbers(corners, "loss"), plane.drawn(frame.numbers(corners, "risk"))
    # On to the edge: whatever costs more than the last has no less risk to be had.
    rows = frame.table({"loss": np.append(loss, plane.right), "risk": np.append(risk, risk[-1])})
    return [alt.Chart(rows).mark_line(interpolate="step-after", color=QUIET, strokeWidth=1.2).encode(x=x, y=y)]


def _limit(result: Any, plane: _Plane, y: Any, x: Any) -> list[Any]:
    """The tolerable risk, what lies below it, and the foot of a log scale that has a 0."""
    layers, limit = [], result.risk_limit
    if limit is not None:
        shown = float(plane.drawn(np.array([limit]))[0])
        rows = frame.table(
            {
                "risk": [shown],
                "loss": [plane.right],
                "text": [f"tolerable\nrisk {result.limit_text}"],
                "foot": [plane.low],
            }
        )
        base = alt.Chart(rows)
        layers.append(
            base.mark_rect(color=SAFE, opacity=0.07).encode(x=alt.value(0), x2=alt.value(plane.width), y=y, y2="foot:Q")
        )
        layers.append(base.mark_rule(color=INK, strokeDash=[5, 3]).encode(y=y))
        text = base.mark_text(align="left", baseline="middle", dx=6, color=INK, fontSize=11, lineBreak="\n")
        layers.append(text.encode(x=alt.value(plane.width), y=y, text="text:N"))
    if plane.floor is not None and plane.zero:
        between = frame.table({"risk": [plane.floor * FOOT]})
        layers.append(alt.Chart(between).mark_rule(color=QUIET, strokeDash=[1, 3]).encode(y=y))
    return layers


class _Label(NamedTuple):
    """A name, where it stands, and the point it belongs to."""

    text: str
    place: Place
    loss: float
    risk: float
    end: tuple[float, float]
    """Where its line ends, if it has one."""
    point: tuple[float, float]


def _labels(points: frame.Frame, plane: _Plane, result: Any) -> tuple[list[_Label], int]:
    """The names with their places, and how many releases have none: the original and the frontier choose first."""
    places = plane.pixels(frame.numbers(points, "loss"), frame.numbers(points, "risk"))
    names, kinds, best = (points[each].to_list() for each in ("name", "kind", "frontier"))
    order = sorted(range(len(names)), key=lambda at: (kinds[at] != ORIGINAL, not best[at], at))
    groups: list[list[int]] = []
    for at in order:
        near = (each for each in groups if np.hypot(*(places[each[0]] - places[at])) < CLOSE)
        group = next(near, None)
        groups.append([at]) if group is None else group.append(at)
    texts = [_text([names[at] for at in group]) for group in groups]
    here = np.array([places[group[0]] for group in groups])
    found = placed(here, texts, _obstacles(result, plane), (plane.width, plane.height))
    labels, hidden = [], 0
    for group, text, point, place in zip(groups, texts, here, found, strict=True):
        if place is None:
            hidden += sum(kinds[at] != ORIGINAL for at in group)
            continue
        nearest = (min(max(point[0], place.x), place.x + place.width), place.y + 6 * np.sign(point[1] - place.y))
        labels.append(
            _Label(text, place, *plane.values(place.x, place.y), plane.values(*nearest), plane.values(*point))
        )
    return labels, hidden


def _text(names: list[str]) -> str:
    """The label of the releases at one place."""
    shown = names if len(names) < 4 else names[:2]
    text = ", ".join(each if len(each) <= LONGEST else f"{each[: LONGEST - 1]}…" for each in shown)
    return text if len(shown) == len(names) else f"{text} and {len(names) - 2} more"


def _obstacles(result: Any, plane: _Plane) -> Floats:
    """The lines of the figure as thin rectangles."""
    boxes = []
    corners = risk_utility_map_frontier(result)
    places = plane.pixels(frame.numbers(corners, "loss"), frame.numbers(corners, "risk")).tolist()
    ends = [*places[1:], [plane.width, places[-1][1]]] if places else []
    for (x, y), (next_x, next_y) in zip(places, ends, strict=True):
        boxes += [[x, y - 2, next_x, y + 2], [next_x - 2, min(y, next_y), next_x + 2, max(y, next_y)]]
    if result.risk_limit is not None:
        y = float(plane.pixels(np.zeros(1), np.array([result.risk_limit]))[0, 1])
        boxes.append([0, y - 2, plane.width, y + 2])
    if plane.floor is not None and plane.zero:
        y = float(plane.pixels(np.zeros(1), np.array([plane.floor * FOOT]))[0, 1])
        boxes.append([0, y - 2, plane.width, y + 2])
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)


def _names(labels: list[_Label], y: Any, x: Any) -> Any:
    rows = {"text": [each.text for each in labels], "loss": [each.loss for each in labels]}
    table = frame.table(rows | {"risk": [each.risk for each in labels]})
    text = alt.Chart(table).mark_text(align="left", baseline="middle", fontSize=11, color=INK)
    return text.encode(x=x, y=y, text="text:N")


def _leaders(labels: list[_Label], y: Any, x: Any) -> list[Any]:
    far = [each for each in labels if each.place.far]
    if not far:
        return []
    ends = {"loss": [each.point[0] for each in far], "risk": [each.point[1] for each in far]}
    table = frame.table(ends | {"to_loss": [each.end[0] for each in far], "to_risk": [each.end[1] for each in far]})
    rule = alt.Chart(table).mark_rule(color=QUIET, strokeWidth=0.6)
    return [rule.encode(x=x, y=y, x2="to_loss:Q", y2="to_risk:Q")]
