"""Robust interval disclosure in four panels: outlying records need wider intervals.

This figure **shows scaled values of the original file** and is for the office only; its title says so. It takes the
result and the files themselves: no result holds values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import number_columns
from tacita.distance.truth import shared_records
from tacita.plots.cloud import MOST_POINTS
from tacita.plots.internal.values import INTERNAL
from tacita.plots.theme import BETWEEN, INK, QUIET, UNSAFE, themed
from tacita.risk.interval.robust_interval_disclosure import WIDTH, scaled

TOLERANCE = (0.5, 0.975)
"""Shares of a normal population that the ellipses enclose."""
CIRCLES = 60
"""At most so many circles around unsafe records."""
LEAST = 1e-3
"""Changes of less than this many times the limit are drawn here."""
FAR = 6.0
"""With values beyond so many standard deviations the axes are compressed, or most records would be one spot."""
STATES = ("safe", "unsafe, others near", "unsafe, alone")
COLOURS = (QUIET, BETWEEN, UNSAFE)


class _Scaled(NamedTuple):
    """Compared records: scaled values of all variables, and the two that are drawn."""

    rows: Ints
    x: Floats
    y: Floats
    pair: tuple[int, int]


def _scaled(result: Any, original: Any, released: Any, pair: Any, unit: str | None) -> _Scaled:
    names = result.variables
    if len(names) < 2:
        raise TacitaError("the figure shows two variables; the result has one, measure at least two.")
    wanted = check.names("pair", pair) or names[:2]
    if len(wanted) != 2 or any(name not in names for name in wanted):
        raise TacitaError(
            f"pair must be two of the variables measured, {check.quoted(names)}; got {check.given(pair)}."
        )
    first, second = Data.of(original), Data.of(released)
    was, now, _ = shared_records(first, second, unit)
    if not np.array_equal(second.record[now], result.record):
        raise TacitaError("pass the files that were measured; the released records are others.")
    y = number_columns(second, names, "released")[now]
    x = number_columns(first, names, "original")[was]
    rows = np.flatnonzero(result.compared)
    by = x[rows] if result.scale == "original" else y[rows]
    drawn = (names.index(wanted[0]), names.index(wanted[1]))
    return _Scaled(rows, scaled(x[rows], x[rows], names), scaled(y[rows], by, names), drawn)


def robust_intervals_points(
    result: Any, original: Any, released: Any, *, pair: Any = None, unit: str | None = None
) -> frame.Frame:
    """What is drawn of each record: scaled values of two variables in both files, distance, change, state.

    `change` is the least over the variables of |y - x| / (k D): a record is unsafe below 1. Shows values.
    """
    found = _scaled(result, original, released, pair, unit)
    distance = result.distance[found.rows]
    limit = result.k * distance[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(limit > 0, np.abs(found.y - found.x) / limit, np.inf).min(axis=1)
    state = np.where(result.unsafe_alone[found.rows], 2, result.unsafe[found.rows].astype(np.int64))
    a, b = found.pair
    return frame.table(
        {
            "record": result.record[found.rows],
            "x": found.x[:, a],
            "y": found.x[:, b],
            "x_released": found.y[:, a],
            "y_released": found.y[:, b],
            "distance": distance,
            "change": np.maximum(change, LEAST),
            "state": (state.astype(np.uint32) + np.uint32(1), STATES),
        }
    )


def robust_intervals_ellipses(
    result: Any, original: Any, released: Any, *, pair: Any = None, unit: str | None = None, steps: int = 90
) -> frame.Frame:
    """The tolerance ellipses of two variables, by the robust covariance matrix behind the distances."""
    found = _scaled(result, original, released, pair, unit)
    matrix = covariance_behind(found.x, result.distance[found.rows] / WIDTH)
    tables = []
    turn = np.linspace(0.0, 2.0 * np.pi, steps)
    for share in TOLERANCE if matrix is not None else ():
        part = matrix[np.ix_(found.pair, found.pair)]  # type: ignore[index]
        # The chi-squared quantile of two variables has this closed form.
        radius = np.sqrt(-2.0 * np.log1p(-share))
        ring = radius * np.linalg.cholesky(part) @ np.stack([np.cos(turn), np.sin(turn)])
        tables.append(frame.table({"share": np.full(steps, share), "x": ring[0], "y": ring[1], "turn": turn}))
    empty = {name: np.array([], dtype=np.float64) for name in ("share", "x", "y", "turn")}
    return frame.stacked(tables) if tables else frame.table(empty)


def covariance_behind(x: Floats, distance: Floats) -> Floats | None:
    """The covariance matrix S for which distance_i^2 = x_i' S^-1 x_i: a linear system in the entries of S^-1.

    None if the records do not determine it. A result need not hold the matrix for this.

    >>> x = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> np.diag(covariance_behind(x, np.array([1.0, 1.0, np.sqrt(1.25)]))).round(6).tolist()
    [1.0, 4.0]
    """
    size = x.shape[1]
    i, j = np.triu_indices(size)
    terms = x[:, i] * x[:, j] * np.where(i == j, 1.0, 2.0)
    entries, _, rank, _ = np.linalg.lstsq(terms, distance**2, rcond=None)
    if rank < len(i):
        return None
    inverse = np.zeros((size, size))
    inverse[i, j] = inverse[j, i] = entries
    if np.linalg.eigvalsh(inverse).min() <= 0:
        return None
    return np.asarray(np.linalg.inv(inverse))


def robust_intervals(
    result: Any,
    original: Any,
    released: Any,
    *,
    pair: Any = None,
    unit: str | None = None,
    width: int = 300,
) -> Any:
    """Robust interval disclosure in four panels. **Shows scaled original values.**

    (a) the originals with robust tolerance ellipses: intervals grow with the distance from the middle; (b) where each
    record was moved; (c) the change of each record over its limit k D, unsafe below 1; (d) the unsafe records of the
    release: those with others within k2 are hidden (RMDID2), the rest are not. Templ and Meindl (2008).
    """
    every = robust_intervals_points(result, original, released, pair=pair, unit=unit)
    names = check.names("pair", pair) or result.variables[:2]
    points, hidden = _few(every, MOST_POINTS // 5)
    ellipses = robust_intervals_ellipses(result, original, released, pair=pair, unit=unit)
    ends = np.concatenate([frame.numbers(points, name) for name in ("x", "y", "x_released", "y_released")])
    far = float(np.abs(ends).max(initial=0.0)) > FAR
    look = _SharedLayout(names, _compressed() if far else alt.Scale(zero=False), far)
    size = {"width": width, "height": round(0.8 * width)}
    panels = [
        _originals(points, ellipses, look).properties(**size, title=_title("(a) originals and robust ellipses")),
        _moves(points, look).properties(**size, title=_title("(b) from original to released")),
        _changes(points, look).properties(**size, title=_title("(c) change over its limit k D")),
        _crowds(points, result, look).properties(**size, title=_title(f"(d) unsafe, within {result.k2:g} of others?")),
    ]
    found, alone = int(result.unsafe.sum()), int(result.unsafe_alone.sum())
    said = f"{found:,} of {result.size:,} records unsafe (RMDID1), {alone:,} alone (RMDID2)"
    more = ["axes compressed outwards"] if far else []
    more += [f"{hidden:,} safe or hidden records not drawn"] if hidden else []
    notes = [said, "; ".join([INTERNAL, "grey: safe; ochre: unsafe, others near; red: unsafe, alone", *more])]
    title = alt.Title("Robust interval disclosure", subtitle=notes)
    return themed(alt.concat(*panels, columns=2, spacing=24).properties(title=title))


class _SharedLayout(NamedTuple):
    """What the panels have in common."""

    names: tuple[str, ...]
    scale: Any
    far: bool


def _compressed() -> Any:
    return alt.Scale(type="symlog", constant=0.3, nice=False)


def _ticks(far: bool) -> Any:
    return alt.Axis(values=[-100, -30, -10, -3, -1, 0, 1, 3, 10, 30, 100]) if far else alt.Axis(tickCount=6)


def _title(text: str) -> Any:
    return alt.Title(text, fontSize=12, offset=4)


def _few(points: frame.Frame, most: int) -> tuple[frame.Frame, int]:
    """At most so many records: the unsafe first, of the others every so many-th."""
    n = points.height
    if n <= most:
        return points, 0
    state = np.array([STATES.index(each) for each in points["state"]])
    order = np.argsort(-state, kind="stable")
    unsafe = order[: int((state > 0).sum())][: most // 2]
    safe = order[int((state > 0).sum()) :]
    kept = safe[np.linspace(0, len(safe) - 1, min(most - len(unsafe), len(safe))).astype(np.int64)]
    rows = np.sort(np.concatenate([unsafe, kept]))
    return frame.take(points, rows), n - len(rows)


def _colour() -> Any:
    return alt.Color("state:N", scale=alt.Scale(domain=list(STATES), range=list(COLOURS)), legend=None)


def _hover() -> list[Any]:
    return [
        alt.Tooltip("record:Q", format=","),
        alt.Tooltip("distance:Q", format=".3g", title="D"),
        alt.Tooltip("change:Q", format=".3g", title="change over k D"),
        "state:N",
    ]


def _cloud(points: frame.Frame, look: _SharedLayout, ends: tuple[str, str]) -> Any:
    x, y = ({"title": f"{name} (scaled)", "scale": look.scale, "axis": _ticks(look.far)} for name in look.names)
    return (
        alt.Chart(points)
        .mark_point(filled=True, size=18, opacity=0.7)
        .encode(
            x=alt.X(f"{ends[0]}:Q", **x),
            y=alt.Y(f"{ends[1]}:Q", **y),
            color=_colour(),
            tooltip=_hover(),
        )
    )


def _originals(points: frame.Frame, ellipses: frame.Frame, look: _SharedLayout) -> Any:
    rings = (
        alt.Chart(ellipses)
        .mark_line(color=INK, strokeWidth=1)
        .encode(x="x:Q", y="y:Q", order="turn:Q", detail="share:N", strokeDash=alt.StrokeDash("share:N", legend=None))
    )
    return alt.layer(_cloud(points, look, ("x", "y")), rings)


def _moves(points: frame.Frame, look: _SharedLayout) -> Any:
    steps = (
        alt.Chart(points)
        .mark_rule(strokeWidth=0.7, opacity=0.6)
        .encode(x="x:Q", x2="x_released:Q", y="y:Q", y2="y_released:Q", color=_colour())
    )
    return alt.layer(steps, _cloud(points, look, ("x_released", "y_released")))


def _changes(points: frame.Frame, look: _SharedLayout) -> Any:
    positive = bool((frame.numbers(points, "distance") > 0).all())
    said = "D: 0.05 x robust distance of the original"
    across = alt.Scale(type="log", nice=False) if look.far and positive else alt.Scale(zero=False)
    cloud = (
        alt.Chart(points)
        .mark_point(filled=True, size=18, opacity=0.7)
        .encode(
            x=alt.X("distance:Q", title=said, scale=across, axis=alt.Axis(tickCount=4)),
            y=alt.Y(
                "change:Q",
                title="least change / (k D)",
                scale=alt.Scale(type="log", nice=True),
                axis=alt.Axis(format="~g", tickCount=6),
            ),
            color=_colour(),
            tooltip=_hover(),
        )
    )
    one = alt.Chart(frame.table({"change": [1.0]})).mark_rule(color=INK, strokeDash=[4, 3]).encode(y="change:Q")
    return alt.layer(cloud, one)


def _crowds(points: frame.Frame, result: Any, look: _SharedLayout) -> Any:
    # Those alone first: they get the circles if there are too many.
    unsafe = points.filter(points["state"] != STATES[0]).sort("state", maintain_order=True)
    turn = np.linspace(0.0, 2.0 * np.pi, 40)
    rows = min(unsafe.height, CIRCLES)
    middle = [frame.numbers(unsafe, name)[:rows, None] for name in ("x_released", "y_released")]
    circles = frame.table(
        {
            "x_released": (middle[0] + result.k2 * np.cos(turn)).reshape(-1),
            "y_released": (middle[1] + result.k2 * np.sin(turn)).reshape(-1),
            "turn": np.tile(turn, rows),
            "circle": np.repeat(np.arange(rows), len(turn)),
        }
    )
    rings = (
        alt.Chart(circles)
        .mark_line(color=INK, strokeWidth=0.6)
        .encode(x="x_released:Q", y="y_released:Q", order="turn:Q", detail="circle:N")
    )
    safe = alt.Chart(points).mark_point(size=6, color=QUIET, opacity=0.35, strokeWidth=0.7)
    safe = safe.encode(x="x_released:Q", y="y_released:Q")
    return alt.layer(safe, _cloud(unsafe, look, ("x_released", "y_released")), rings)
