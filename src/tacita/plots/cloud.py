"""Records as points, whatever their coordinates: what every confidentiality plot is drawn from.

Few records are drawn one by one. In a large file dense areas become cells, and only what is notable stays a point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import numpy as np

from tacita import frame
from tacita.arrays import Bools, Floats, Ints
from tacita.plots.theme import INK, UNSAFE, shades

MOST_POINTS = 5000
"""At most so many marks are drawn; dense areas are drawn as cells, and the subtitle counts what is in them."""
CROWDED = 1500
"""More records than this are drawn as cells, with what is notable one by one."""
MARKED = 1000
"""At most so many unsafe records are listed, or drawn one by one; of more, only those that an intruder finds."""
EXPOSED = 300
"""At most so many of those that an intruder finds."""
ROOM = (70, 45)
"""Marks that fit beside each other along each axis: of those that would hide each other one is drawn."""
CELLS = 36
"""Cells along each axis in a large file, at most."""
TOP = 4.0
"""Perturbations above so many times r are drawn at that height: a record moved so far is safe."""

LABEL = (
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + 'M' : "
    "datum.value >= 1e4 ? format(datum.value / 1e3, '~g') + 'k' : format(datum.value, ',~g')"
)
"""Numbers on the axis across, short."""


@dataclass(frozen=True, eq=False)
class Cloud:
    """Records by two coordinates, and the line between safe and unsafe. No values of the data."""

    table: frame.Frame
    """By record: its number and figures, for hovering."""
    across: Floats
    """By record: how many look like it."""
    upwards: Floats
    """By record: how much it was changed."""
    unsafe: Bools
    """By record: whether it lies in the unsafe zone."""
    notable: Floats
    """By record: 0, or more the more it deserves a mark of its own in a large file; unsafe ones at least 1."""
    limits: Any
    """k, r, g, vertical."""
    names: tuple[str, str]
    """Columns of the table with the two coordinates."""
    titles: tuple[str, str]
    """What the axes say."""
    rows: int = CELLS
    """Cells upwards, at most."""
    first: float = 0.0
    """Where the axis across begins: the least count there can be."""
    most: int = MOST_POINTS
    """Marks that may be drawn."""
    crowded: int = CROWDED
    """Records that may be drawn one by one."""
    room: tuple[int, int] = ROOM
    """Marks that fit beside each other, across and upwards."""

    def __len__(self) -> int:
        return len(self.across)

    def take(self, rows: Ints, most: int) -> Cloud:
        """Some of the records, with fewer marks."""
        each = (self.across[rows], self.upwards[rows], self.unsafe[rows], self.notable[rows])
        across, upwards, unsafe, notable = each
        table = frame.take(self.table, rows)
        crowded = max(min(most, self.crowded), 50)
        some = replace(self, table=table, across=across, upwards=upwards, unsafe=unsafe, notable=notable)
        # A panel among others is half as wide and half as high.
        return replace(some, most=max(most, 50), crowded=crowded, room=(ROOM[0] // 2, ROOM[1] // 2))

    @property
    def large(self) -> bool:
        """Whether dense areas are drawn as cells."""
        return len(self) > self.crowded

    @property
    def border(self) -> float:
        """Where a vertical line stands: at k, or between whole counts right below it."""
        whole = bool(np.all(self.across == np.round(self.across)))
        return float(self.limits.k) - (0.5 if whole else 0.0)


@dataclass(frozen=True)
class Extent:
    """How far the axes go: one extent for several panels makes them comparable."""

    right: float
    top: float


def extent(cloud: Cloud) -> Extent:
    """Far enough for the line and for all records across, and for nearly all upwards."""
    limits = cloud.limits
    right = max(float(cloud.across.max(initial=0.0)), 1.5 * limits.k)
    finite = cloud.upwards[np.isfinite(cloud.upwards)]
    shown = float(np.quantile(finite, 0.995)) if len(finite) else 0.0
    if limits.vertical:
        # Whatever the height: all of it if it is a share, else most of it.
        greatest = float(finite.max(initial=0.0))
        return Extent(right, _round_top(max(0.05, greatest if greatest <= 1.0 else 1.1 * shown)))
    return Extent(right, _round_top(float(min(TOP * limits.r, max(1.1 * limits.r, 1.1 * shown)))))


def _round_top(top: float) -> float:
    """The end of an axis at a round number: the next multiple of a round step of about a fifth of it."""
    power = 10.0 ** np.floor(np.log10(top / 5.0))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= 0.999 * top / 5.0)
    return float(np.ceil(top / step - 1e-9) * step)


def single_records(cloud: Cloud) -> Ints:
    """The records drawn one by one: all, or in a large file the most notable ones in the order of the file.

    Those are the unsafe ones if they are not too many, else only those of them that an intruder finds; of marks that
    would hide each other the most notable one.
    """
    if not cloud.large:
        return np.arange(len(cloud), dtype=np.int64)
    notable = np.flatnonzero(cloud.notable > 0)
    most = min(MARKED, cloud.most // 5)
    if len(notable) > most:
        notable, most = np.flatnonzero(cloud.notable > 1), min(EXPOSED, most)
    ordered = notable[np.lexsort((cloud.across[notable], -cloud.notable[notable]))]
    return np.sort(ordered[_apart(cloud, ordered)[:most]])


def _apart(cloud: Cloud, rows: Ints) -> Ints:
    """Places of records none of whose marks lies over another: the first of some that share a spot."""
    shown = extent(cloud)
    across = _along(cloud.across[rows], cloud, shown) / _along(np.array([shown.right + 1.0]), cloud, shown)
    upwards = np.minimum(cloud.upwards[rows], shown.top) / shown.top
    spots = (across * cloud.room[0]).astype(np.int64) * (cloud.room[1] + 1) + (upwards * cloud.room[1]).astype(np.int64)
    return np.sort(np.unique(spots, return_index=True)[1])


def points(cloud: Cloud, shown: Extent | None = None) -> frame.Frame:
    """What is drawn one by one: the table of these records, and the height at which each is drawn."""
    rows = single_records(cloud)
    height = np.minimum(cloud.upwards[rows], (shown or extent(cloud)).top)
    return frame.beside(frame.take(cloud.table, rows), frame.table({"height": height}))


def cells(cloud: Cloud, shown: Extent | None = None) -> frame.Frame:
    """Cells of a large file: bounds, records inside of those that are not drawn one by one, and whether unsafe.

    Coarser and coarser until no more marks are drawn than may be.
    """
    shown = shown or extent(cloud)
    apart = single_records(cloud)
    rest = np.ones(len(cloud), dtype=np.bool_)
    rest[apart] = False
    size = CELLS
    found = _cells(cloud, rest, shown, size)
    while found.height + len(apart) > cloud.most and size > 2:
        size = size * 3 // 4
        found = _cells(cloud, rest, shown, size)
    return found


def _cells(cloud: Cloud, rest: Bools, shown: Extent, size: int) -> frame.Frame:
    half = float(cloud.limits.k) - cloud.border if cloud.limits.vertical else 0.5
    across = _edges(cloud.limits.k, shown, size, half)
    upwards = np.linspace(0.0, shown.top, min(size, cloud.rows) + 1)
    tables = []
    for unsafe in (False, True):
        here = rest & (cloud.unsafe == unsafe)
        height = np.minimum(cloud.upwards[here], shown.top)
        counts = np.histogram2d(cloud.across[here], height, [across, upwards])[0]
        i, j = np.nonzero(counts)
        bounds = {"left": across[i], "right": across[i + 1], "low": upwards[j], "high": upwards[j + 1]}
        tables.append(
            frame.table(bounds | {"records": counts[i, j].astype(np.int64), "unsafe": np.full(len(i), unsafe)})
        )
    return frame.stacked(tables)


def _edges(k: float, shown: Extent, size: int, half: float) -> Floats:
    """Borders of the cells as the axis goes, half a record beside whole numbers: k is a border less one half."""
    right = shown.right + 1.0
    spaced = np.geomspace if _compressed(k, shown) else np.linspace
    # As wide below k as beyond it, as far as whole counts allow.
    share = np.log(2.0) / np.log1p(right / k) if _compressed(k, shown) else k / max(right, k)
    few = int(np.clip(np.ceil(size * share), 1, k))
    below = np.unique(np.round(np.linspace(0, k, few + 1)))
    beyond = spaced(k, max(right, 2.0 * k), max(size - few, 2))
    across = np.unique(np.concatenate([below, np.round(beyond)])) - half
    return np.append(across, across[-1] + 1.0)


def axes(cloud: Cloud, shown: Extent, *, titles: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the two axes are: across even, or compressed to the right where some records have very many neighbours."""
    k, right = float(cloud.limits.k), shown.right
    kind: dict[str, Any] = {"type": "linear"}
    ticks: dict[str, Any] = {"tickCount": 8}
    if _compressed(k, shown):
        kind, ticks = {"type": "symlog", "constant": k}, {"values": [cloud.first, *_ticks(k, right)[1:]]}
    scale = " (log scale beyond k)" if _compressed(k, shown) else ""
    across: dict[str, Any] = {
        "title": f"{cloud.titles[0]}{scale}" if titles else None,
        "scale": alt.Scale(domain=[cloud.first - 0.5, right + 0.5], nice=False, **kind),
        "axis": alt.Axis(labelExpr=LABEL, **ticks),
    }
    upwards: dict[str, Any] = {
        "title": cloud.titles[1] if titles else None,
        "scale": alt.Scale(domain=[0, shown.top], nice=False, clamp=True),
        "axis": alt.Axis(format="~%", tickCount=6),
    }
    return across, upwards


def _compressed(k: float, shown: Extent) -> bool:
    """Whether some records have so many neighbours that an even axis would hide the line."""
    return shown.right > 8 * k


def _ticks(k: float, right: float, most: int = 5) -> list[float]:
    """0, k, and round numbers beyond, none so near to k that the two would be one."""
    powers = range(int(np.floor(np.log10(k))), int(np.ceil(np.log10(right))) + 1)
    beyond = [each * 10.0**power for power in powers for each in (1, 2, 5) if 2 * k < each * 10.0**power <= right]
    step = -(-len(beyond) // most) if beyond else 1
    return [0.0, k, *beyond[::-1][::step][::-1]]


def line(cloud: Cloud, shown: Extent, steps: int = 60) -> frame.Frame:
    """The policy line, (x/k)^g + (y/r)^g = 1, or the whole height up to the vertical at k."""
    limits = cloud.limits
    # By the angle: dense at both ends, where a bent line is steep or flat.
    turn = np.linspace(0.5 * np.pi, 0.0, steps)
    x = limits.k * (np.cos(turn) ** (2.0 / limits.g)).round(12)
    y = limits.r * (np.sin(turn) ** (2.0 / limits.g)).round(12)
    if limits.vertical:
        x, y = np.linspace(cloud.first - 0.5, cloud.border, steps), np.full(steps, shown.top)
    return frame.table({cloud.names[0]: x, "height": np.minimum(y, shown.top), "floor": np.zeros(steps)})


def zone_layers(cloud: Cloud, shown: Extent, across: dict[str, Any], upwards: dict[str, Any]) -> list[Any]:
    """The unsafe zone, shaded, and the policy line."""
    x, y = alt.X(f"{cloud.names[0]}:Q", **across), alt.Y("height:Q", **upwards)
    bent = line(cloud, shown)
    zone = alt.Chart(bent).mark_area(color=UNSAFE, opacity=0.10).encode(x=x, y=y, y2="floor:Q")
    if cloud.limits.vertical:
        at = frame.table({cloud.names[0]: [cloud.border]})
        return [zone, alt.Chart(at).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x)]
    return [zone, alt.Chart(bent).mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1.2).encode(x=x, y=y)]


def cell_layers(cloud: Cloud, shown: Extent, across: dict[str, Any], upwards: dict[str, Any]) -> list[Any]:
    """The cells of a large file, the darker the more records."""
    found = cells(cloud, shown)
    # By what is in a cell for its width on the axis: cells are wider where whole counts are far apart.
    wide = _along(frame.numbers(found, "right"), cloud, shown) - _along(frame.numbers(found, "left"), cloud, shown)
    density = frame.numbers(found, "records") / wide
    found = frame.beside(found, frame.table({"shade": shades(density, found["unsafe"].to_numpy())}))
    return [
        alt.Chart(found)
        .mark_rect(strokeWidth=0.6)
        .encode(
            x=alt.X("left:Q", **across),
            x2="right:Q",
            y=alt.Y("low:Q", **upwards),
            y2="high:Q",
            fill=alt.Fill("shade:N", scale=None),
            # Of the same colour, or the background shines through between cells.
            stroke=alt.Stroke("shade:N", scale=None),
            tooltip=[alt.Tooltip("records:Q", format=",")],
        )
    ]


def _along(values: Floats, cloud: Cloud, shown: Extent) -> Floats:
    """Where values lie on the axis across, in lengths of it."""
    k = float(cloud.limits.k)
    if _compressed(k, shown):
        values = np.sign(values) * np.log1p(np.abs(values) / k)
    return np.asarray(values)


def zone_text(limits: Any) -> str:
    """The policy line in words."""
    if limits.vertical:
        return f"k = {limits.k}"
    bend = "" if limits.g == 1.0 else f", g = {limits.g:g}"
    return f"k = {limits.k}, r = {100 * limits.r:g} %{bend}"


def drawn_text(cloud: Cloud, shown: Extent) -> list[str]:
    """What is drawn other than as it is: records beyond the axis, and records in cells."""
    notes = []
    far = int((cloud.upwards > shown.top).sum())
    if far:
        notes.append(f"{far:,} moved further than the axis shows")
    if cloud.large:
        one_by_one = len(single_records(cloud))
        darkest = int(frame.numbers(cells(cloud, shown), "records").max(initial=0.0))
        notes.append(
            f"{one_by_one:,} drawn one by one, {len(cloud) - one_by_one:,} as cells, the darker the more (up to "
            f"{darkest:,})"
        )
    return ["; ".join(notes)] if notes else []
