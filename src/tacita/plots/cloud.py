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
from tacita.plots.theme import INK, SAFE, UNSAFE

MOST_POINTS = 5000
"""At most so many marks are drawn; dense areas are drawn as cells, and the subtitle counts what is in them."""
MARKED = 1000
"""At most so many records are drawn one by one in a large file."""
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
    """By record: 0, or more the more it deserves a mark of its own in a large file."""
    limits: Any
    """k, r, g, vertical."""
    names: tuple[str, str]
    """Columns of the table with the two coordinates."""
    titles: tuple[str, str]
    """What the axes say."""
    most: int = MOST_POINTS
    """Marks that may be drawn."""

    def __len__(self) -> int:
        return len(self.across)

    def take(self, rows: Ints, most: int) -> Cloud:
        """Some of the records, with fewer marks."""
        each = (self.across[rows], self.upwards[rows], self.unsafe[rows], self.notable[rows])
        across, upwards, unsafe, notable = each
        table = frame.take(self.table, rows)
        return replace(
            self, table=table, across=across, upwards=upwards, unsafe=unsafe, notable=notable, most=max(most, 50)
        )

    @property
    def large(self) -> bool:
        """Whether dense areas are drawn as cells."""
        return len(self) > self.most


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
        return Extent(right, max(0.05, 1.05 * greatest if greatest <= 1.0 else 1.1 * shown))
    return Extent(right, float(min(TOP * limits.r, max(1.25 * limits.r, 1.1 * shown))))


def single_records(cloud: Cloud) -> Ints:
    """The records drawn one by one: all, or in a large file the most notable ones in the order of the file."""
    if not cloud.large:
        return np.arange(len(cloud), dtype=np.int64)
    notable = np.flatnonzero(cloud.notable > 0)
    order = np.lexsort((cloud.across[notable], -cloud.notable[notable]))
    return np.sort(notable[order[: min(MARKED, cloud.most // 5)]])


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
    across, upwards = _edges(cloud.limits.k, shown, size)
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


def _edges(k: float, shown: Extent, size: int) -> tuple[Floats, Floats]:
    """Borders of the cells as the axis goes, half a record beside whole numbers: k is a border less one half."""
    right = shown.right + 1.0
    below = np.unique(np.round(np.linspace(0, k, min(int(k), size) + 1)))
    spaced = np.geomspace if _compressed(k, shown) else np.linspace
    beyond = spaced(k, max(right, 2.0 * k), size)
    across = np.unique(np.concatenate([below, np.round(beyond)])) - 0.5
    return np.append(across, across[-1] + 1.0), np.linspace(0.0, shown.top, size + 1)


def axes(cloud: Cloud, shown: Extent, *, titles: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the two axes are: across even, or compressed to the right where some records have very many neighbours."""
    k, right = float(cloud.limits.k), shown.right
    kind: dict[str, Any] = {"type": "linear"}
    ticks: dict[str, Any] = {"tickCount": 8}
    if _compressed(k, shown):
        kind, ticks = {"type": "symlog", "constant": k}, {"values": _ticks(k, right)}
    across: dict[str, Any] = {
        "title": cloud.titles[0] if titles else None,
        "scale": alt.Scale(domain=[-0.5, right + 0.5], nice=False, **kind),
        "axis": alt.Axis(labelExpr=LABEL, **ticks),
    }
    upwards: dict[str, Any] = {
        "title": cloud.titles[1] if titles else None,
        "scale": alt.Scale(domain=[0, shown.top], nice=False, clamp=True),
        "axis": alt.Axis(format="%", tickCount=6),
    }
    return across, upwards


def _compressed(k: float, shown: Extent) -> bool:
    """Whether some records have so many neighbours that an even axis would hide the line."""
    return shown.right > 8 * k


def _ticks(k: float, right: float, most: int = 5) -> list[float]:
    """0, k, and round numbers beyond."""
    powers = range(int(np.floor(np.log10(k))), int(np.ceil(np.log10(right))) + 1)
    beyond = [each * 10.0**power for power in powers for each in (1, 2, 5) if 2 * k < each * 10.0**power <= right]
    step = -(-len(beyond) // most) if beyond else 1
    return [0.0, k, *beyond[::-1][::step][::-1]]


def line(cloud: Cloud, shown: Extent, steps: int = 60) -> frame.Frame:
    """The policy line, (x/k)^g + (y/r)^g = 1, or the whole height up to the vertical at k."""
    limits = cloud.limits
    # Denser towards k, where a bent line falls steeply.
    x = limits.k * (1.0 - np.linspace(1.0, 0.0, steps) ** 3)
    y = limits.r * (1.0 - (x / limits.k) ** limits.g) ** (1.0 / limits.g)
    if limits.vertical:
        y = np.full(steps, shown.top)
    return frame.table({cloud.names[0]: x, "height": np.minimum(y, shown.top), "floor": np.zeros(steps)})


def zone_layers(cloud: Cloud, shown: Extent, across: dict[str, Any], upwards: dict[str, Any]) -> list[Any]:
    """The unsafe zone, shaded, and the policy line."""
    x, y = alt.X(f"{cloud.names[0]}:Q", **across), alt.Y("height:Q", **upwards)
    bent = line(cloud, shown)
    zone = alt.Chart(bent).mark_area(color=UNSAFE, opacity=0.10).encode(x=x, y=y, y2="floor:Q")
    if cloud.limits.vertical:
        at = frame.table({cloud.names[0]: [float(cloud.limits.k)]})
        return [zone, alt.Chart(at).mark_rule(color=INK, strokeDash=[4, 3]).encode(x=x)]
    return [zone, alt.Chart(bent).mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1.2).encode(x=x, y=y)]


def cell_layers(cloud: Cloud, shown: Extent, across: dict[str, Any], upwards: dict[str, Any]) -> list[Any]:
    """The cells of a large file, the darker the more records."""
    found = cells(cloud, shown)
    wide = frame.numbers(found, "right") - frame.numbers(found, "left")
    density = frame.numbers(found, "records") / wide
    # By what is in a cell for its width: cells are wider where there are few records.
    found = frame.beside(found, frame.table({"density": density}))
    low = float(density.min(initial=1.0))
    shade = alt.Scale(type="log", domain=[low, max(float(density.max(initial=1.0)), 2.0 * low)], range=[0.12, 1])
    return [
        alt.Chart(found.filter(found["unsafe"] == unsafe))
        .mark_rect(color=UNSAFE if unsafe else SAFE)
        .encode(
            x=alt.X("left:Q", **across),
            x2="right:Q",
            y=alt.Y("low:Q", **upwards),
            y2="high:Q",
            opacity=alt.Opacity("density:Q", scale=shade, legend=None),
            tooltip=[alt.Tooltip("records:Q", format=",")],
        )
        for unsafe in (False, True)
    ]


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
        notes.append(f"{one_by_one:,} drawn one by one, {len(cloud) - one_by_one:,} as cells")
    return ["; ".join(notes)] if notes else []
