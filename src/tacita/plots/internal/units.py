"""Two released units over the cloud of originals: why the same perturbation protects one and not the other.

This figure **shows values of the original file** and is for the office only; its title says so. It takes the files
themselves: no result holds values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.distance.densities import in_region
from tacita.distance.distances import distances, norms, without_overflow
from tacita.plots.cloud import MOST_POINTS
from tacita.plots.internal.values import INTERNAL
from tacita.plots.theme import INK, QUIET, SAFE, UNSAFE, themed
from tacita.risk.confidentiality_plot.files import compared
from tacita.risk.confidentiality_plot.scale import Space

KINDS = ("another original", "neighbour", "its own original", "released unit")
COLOURS = (QUIET, SAFE, INK, UNSAFE)
ROOM = 2.5
"""A zoom is so many times as wide as the neighbourhood, or as the step from the original to the released unit."""


FARTHEST = 1e300
"""Stands for an infinite perturbation."""


class _Unit(NamedTuple):
    """A released unit among the originals of its stratum, in the coordinates of the comparison."""

    row: int
    x: Floats
    """Originals of its stratum."""
    own: int
    """The place of its own original among them."""
    y: Floats
    """The released unit."""
    near: Floats
    """By original: whether it is a neighbour (1) or not (0)."""
    radius: float
    """How far neighbours can be; NaN where the neighbourhood is no circle."""


def chosen_units(result: Any) -> tuple[int, int]:
    """The rows of two units: one that is found although it was moved, and one moved about as far that is not.

    The first, of the unsafe records whose nearest original is the true one, has that for a neighbour and few others;
    the second, of its stratum, the most neighbours of those moved nearly as far (within a tenth of the perturbation, or
    the nearest).
    """
    found = result.unsafe & (result.correct > 0)
    candidates = np.flatnonzero(found if found.any() else np.ones(len(result.record), dtype=bool))
    alone = result.inside[candidates]
    order = np.lexsort((candidates, result.perturbation[candidates], result.neighbours[candidates], ~alone))
    first = int(candidates[order[0]])
    others = np.flatnonzero((result.stratum == result.stratum[first]) & (np.arange(len(result.record)) != first))
    if not len(others):
        raise TacitaError("two units of one stratum are needed; the stratum has a single record.")
    moved = np.minimum(result.perturbation, FARTHEST)  # differences of infinite ones are not defined
    apart = np.abs(moved[others] - moved[first])
    near = others[apart <= max(0.1 * float(moved[first]), float(apart.min()))]
    return first, int(near[np.argmax(result.neighbours[near])])


def units_points(
    result: Any, original: Any, released: Any, *, records: Any = None, zeros: str = "shift"
) -> frame.Frame:
    """What is drawn: for each of two units the originals of its stratum and itself, with their kind. Shows values.

    Columns: unit (1 or 2), record, the two coordinates, kind, and whether the point lies in the zoom.
    """
    units = _units(result, original, released, records, zeros)
    numbers = result.record
    tables = []
    for place, unit in enumerate(units, start=1):
        there = np.flatnonzero(result.stratum == result.stratum[unit.row])
        kinds = np.where(np.arange(len(unit.x)) == unit.own, 2, unit.near.astype(np.int64))
        across = np.append(unit.x[:, 0], unit.y[0])
        upwards = np.append(unit.x[:, 1], unit.y[1])
        reach = _reach(unit)
        inside = (np.abs(across - unit.y[0]) <= reach) & (np.abs(upwards - unit.y[1]) <= reach)
        tables.append(
            frame.table(
                {
                    "unit": np.full(len(across), place),
                    "record": np.append(numbers[there], numbers[unit.row]),
                    "across": across,
                    "upwards": upwards,
                    "kind": (np.append(kinds, 3).astype(np.uint32) + np.uint32(1), KINDS),
                    "zoomed": inside,
                }
            )
        )
    return frame.stacked(tables)


def _reach(unit: _Unit) -> float:
    step = float(np.abs(unit.x[unit.own] - unit.y).max())
    reach = ROOM * max(step, 0.0 if np.isnan(unit.radius) else unit.radius)
    return reach if reach > 0 else max(1e-9, 0.01 * float(np.abs(unit.y).max()))


def _units(result: Any, original: Any, released: Any, records: Any, zeros: str) -> list[_Unit]:
    if len(result.keys) != 2:
        raise TacitaError(f"the figure shows two keys; the result has {len(result.keys)}, compare on two.")
    log = "unit_free" if result.unit_free else result.log
    files = compared(original, released, result.keys, (), "euclidean", log, zeros, None)
    where = compared(original, released, result.keys, (), result.metric, log, zeros, None).where
    if not np.array_equal(files.record, result.record):
        raise TacitaError("pass the files that were compared, with the same zeros; their records are others.")
    y, x, *_ = files.where
    found = []
    for row in chosen_units(result) if records is None else _rows(result, records):
        there = np.flatnonzero(result.stratum == result.stratum[row])
        radius = _radius(result, float(result.delta[result.stratum[row]]), y[row])
        near = _near(result, int(result.stratum[row]), _z(where, row, there))
        found.append(_Unit(row, x[there], int(np.searchsorted(there, row)), y[row], near.astype(float), radius))
    return found


def _z(where: Space, row: int, there: Ints) -> Floats:
    """z of a released record and some originals."""
    metric, unit = without_overflow(where.metric, where.y, where.x)
    y = np.repeat(where.y[row : row + 1], len(there), axis=0)
    away = distances(y, where.x[there], metric)
    size = norms(y, metric) if where.relative else np.full(len(there), unit)
    return np.divide(away, size, out=np.where(away > 0, np.inf, 0.0), where=size > 0)


def _near(result: Any, stratum: int, z: Floats) -> Bools:
    if result.by_the_ratio:
        return in_region(z, result.ratios[stratum].densities.region)
    near: Bools = z < result.delta[stratum]
    return near


def _radius(result: Any, delta: float, y: Floats) -> float:
    """The radius of the neighbourhood, where it is a circle."""
    if result.by_the_ratio or not np.isfinite(delta):
        return float("nan")
    if result.metric == "euclidean":
        return delta
    if result.metric != "relative":
        return float("nan")
    return delta * float(np.sqrt(2.0) if result.unit_free else np.sqrt((y**2).sum()))


def _rows(result: Any, records: Any) -> list[int]:
    given = list(records) if isinstance(records, list | tuple) else []
    if len(given) != 2:
        raise TacitaError(f"records must be the numbers of two records; got {check.given(records)}.")
    rows = [np.flatnonzero(result.record == check.whole("records", each, 0)) for each in given]
    absent = [each for each, row in zip(given, rows, strict=True) if not len(row)]
    if absent:
        raise TacitaError(f"records must be compared in the result; {check.quoted(absent)} is not.")
    return [int(row[0]) for row in rows]


def units(
    result: Any, original: Any, released: Any, *, records: Any = None, zeros: str = "shift", width: int = 250
) -> Any:
    """Two released units over the cloud of originals, and a zoom on each with its neighbours. **Shows values.**

    Two units that were moved about equally far are chosen, unless `records` names them: one alone with its original,
    one in a crowd. The circle is the neighbourhood. Seri, A graphical framework, figure 1.
    """
    points = units_points(result, original, released, records=records, zeros=zeros)
    found = _units(result, original, released, records, zeros)
    names = _axis_names(result, zeros)
    first = _cloud(points, found, names, width)
    zooms = [_zoom(points, unit, place, result, names, width) for place, unit in enumerate(found, start=1)]
    title = alt.Title("Two released units among the originals", subtitle=f"{INTERNAL}; triangles: released units")
    return themed(alt.hconcat(first, *zooms, spacing=24).properties(title=title))


def _axis_names(result: Any, zeros: str) -> list[str]:
    if not result.log:
        return list(result.keys)
    how = "log, unit-free" if result.unit_free else "log(1 + x)" if zeros == "shift" else "log"
    return [f"{name} ({how})" for name in result.keys]


def _thinned(points: frame.Frame, most: int) -> tuple[frame.Frame, int]:
    """Every so many-th of the points that are only background."""
    back = np.flatnonzero((points["kind"] == KINDS[0]).to_numpy())
    if len(back) <= most:
        return points, 0
    kept = back[np.linspace(0, len(back) - 1, most).astype(np.int64)]
    rest = np.flatnonzero((points["kind"] != KINDS[0]).to_numpy())[:most]
    return frame.take(points, np.sort(np.concatenate([kept, rest]))), len(back) - most


def _cloud(points: frame.Frame, found: list[_Unit], names: list[str], width: int) -> Any:
    one = points.filter(points["unit"] == 1)
    shown, hidden = _thinned(one.filter(one["kind"] != KINDS[3]), MOST_POINTS // 3)
    x, y = (_encoded(field, name) for field, name in zip(("across", "upwards"), names, strict=True))
    cloud = (
        alt.Chart(shown).mark_point(size=10, color=QUIET, opacity=0.6, strokeWidth=1).encode(x=alt.X(**x), y=alt.Y(**y))
    )
    marks = frame.table(
        {
            "across": [float(unit.y[0]) for unit in found],
            "upwards": [float(unit.y[1]) for unit in found],
            "name": ["1", "2"],
        }
    )
    base = alt.Chart(marks).encode(x=alt.X(**x), y=alt.Y(**y))
    triangles = base.mark_point(shape="triangle-up", filled=True, size=110, color=UNSAFE, opacity=1)
    numbers = base.mark_text(dx=10, dy=-8, fontWeight="bold", color=UNSAFE).encode(text="name:N")
    more = f"; {hidden:,} more not drawn" if hidden else ""
    title = alt.Title("(a) all", subtitle=f"{len(found[0].x):,} originals{more}", fontSize=12, offset=4)
    return alt.layer(cloud, triangles, numbers).properties(width=width, height=width, title=title)


def _encoded(field: str, name: str, domain: list[float] | None = None) -> dict[str, Any]:
    scale = alt.Scale(zero=False) if domain is None else alt.Scale(zero=False, nice=False, domain=domain)
    return {"shorthand": f"{field}:Q", "title": name, "scale": scale, "axis": alt.Axis(tickCount=5)}


def _circle(unit: _Unit) -> frame.Frame:
    """Points of the circle around the released record inside which it would have to lie."""
    turn = np.linspace(0.0, 2.0 * np.pi, 90)
    across, upwards = unit.y[0] + unit.radius * np.cos(turn), unit.y[1] + unit.radius * np.sin(turn)
    return frame.table({"across": across, "upwards": upwards, "turn": turn})


def _zoom(points: frame.Frame, unit: _Unit, place: int, result: Any, names: list[str], width: int) -> Any:
    reach = _reach(unit)
    inside = points.filter((points["unit"] == place) & points["zoomed"])
    shown, hidden = _thinned(inside, MOST_POINTS // 3)
    ends = [[float(at) - reach, float(at) + reach] for at in unit.y]
    x, y = (
        _encoded(field, name, ends[at])
        for at, (field, name) in enumerate(zip(("across", "upwards"), names, strict=True))
    )
    shapes = alt.Scale(domain=list(KINDS), range=["circle", "circle", "circle", "triangle-up"])
    colours = alt.Scale(domain=list(KINDS), range=list(COLOURS))
    legend = alt.Legend(title=None, orient="bottom", columns=2) if place == 1 else None
    marks = (
        alt.Chart(shown)
        .mark_point(filled=True, size=44, opacity=0.85, clip=True)
        .encode(
            x=alt.X(**x),
            y=alt.Y(**y),
            shape=alt.Shape("kind:N", scale=shapes, legend=legend),
            color=alt.Color("kind:N", scale=colours, legend=legend),
            tooltip=[alt.Tooltip("record:Q", format=","), alt.Tooltip("kind:N")],
        )
    )
    layers = [marks]
    if not np.isnan(unit.radius):
        circle = alt.Chart(_circle(unit)).mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1, clip=True)
        layers.append(circle.encode(x=alt.X(**x), y=alt.Y(**y), order="turn:Q"))
    letter = "bc"[place - 1]
    more = f"; {hidden:,} more not drawn" if hidden else ""
    near = check.counted(int(result.neighbours[unit.row]), "neighbour")
    said = f"{near}, moved by {100 * float(result.perturbation[unit.row]):.2g} %"
    title = alt.Title(f"({letter}) unit {place}", subtitle=f"{said}{more}", fontSize=12, offset=4)
    return alt.layer(*layers).properties(width=width, height=width, title=title)
