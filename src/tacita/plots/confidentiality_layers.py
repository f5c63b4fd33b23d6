"""What one panel of a confidentiality plot is made of: records as points, layers of marks, what hovering shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.plots import cloud as clouds
from tacita.plots.cloud import Cloud, Extent
from tacita.plots.linked_table import Selections, ring, unsafe_rows
from tacita.plots.theme import INK, SAFE, UNSAFE

if TYPE_CHECKING:
    from tacita.plots.internal.values import Values

MARKS = ("no link", "true link among neighbours", "nearest is the true link", "largest unit")
MARKS_TEXT = (
    "red: unsafe; open squares: nearest original is the true one; crosses: true one among the neighbours; filled "
    "square: largest unit"
)
SHAPES = ("circle", "cross", "square", "square")
SIZES = (16, 26, 50, 90)
FILLED = (0.0, 1.0, 0.0, 1.0)
"""How much of the colour is inside a mark."""
LETTER, BESIDE = 6.4, 22.0
"""Room for a letter of the key to the marks in the widest of the usual fonts, and for a mark."""
STEPS = 1000
"""Heights are rounded to so many steps of the axis."""
PLAIN = ("record", "stratum", "neighbours", "mark", "unsafe", "rank")
"""What a figure holds as it is."""
TITLES = ("neighbours: originals that look like the released record", "perturbation")


def cloud_of(result: Any, values: Values | None = None) -> Cloud:
    """The records of a result as points; values of the data only if they are given."""
    kinds = np.where(result.correct > 0, 2, np.where(result.inside, 1, 0))
    kinds = np.where(result.largest, 3, kinds).astype(np.uint32)
    table = frame.beside(result.to_frame(), frame.table({"mark": (kinds + np.uint32(1), MARKS)}))
    if values is not None:
        table = frame.beside(table, values.table)
    found = result.unsafe.astype(np.float64) * np.where(result.correct > 0, 2.0, 1.0)
    return Cloud(
        table=table,
        across=result.neighbours.astype(np.float64),
        upwards=result.perturbation,
        unsafe=result.unsafe,
        notable=np.where(result.largest, 3.0, found),
        limits=result.limits,
        names=("neighbours", "perturbation"),
        titles=TITLES,
    )


def panel_layers(
    result: Any,
    cloud: Cloud,
    shown: Extent,
    chosen: Selections | None = None,
    values: Values | None = None,
    *,
    titles: bool = True,
) -> list[Any]:
    """The layers of one panel: zone, line, cells of a large file, marks."""
    across, upwards = clouds.axes(cloud, shown, titles=titles)
    zone, line = clouds.zone_layers(cloud, shown, across, upwards)
    layers = [zone, *(clouds.cell_layers(cloud, shown, across, upwards) if cloud.large else []), line]
    points = drawn(clouds.points(cloud, shown), shown)
    x, y = alt.X("neighbours:Q", **across), alt.Y("height:Q", **upwards)
    marks = _marks(points, x, y, _hover(result, values), over_cells=cloud.large)
    if chosen is None:
        return [*layers, marks]
    return [
        *layers,
        ring(drawn(unsafe_rows(cloud, shown), shown), x, y, chosen),
        marks.add_params(chosen.brush, chosen.point),
    ]


def drawn(rows: frame.Frame, shown: Extent) -> frame.Frame:
    """What the figure holds of its rows: no more digits than it shows, since |y - x| / |x| in full gives x away.

    Whoever has the released file could work out originals from an exact perturbation, and exactly from it and z. It
    becomes a text, which an infinite one has too: a figure can only hold finite numbers.
    """
    texts = {"moved": _shares(frame.numbers(rows, "perturbation"))}
    if "width" in rows.columns:
        texts["wide"] = _shares(frame.numbers(rows, "width"))
    step = shown.top / STEPS
    height = np.round(frame.numbers(rows, "height") / step) * step
    kept = [name for name in rows.columns if name in PLAIN or (name[:1] == "v" and name[1:].isdigit())]
    return frame.beside(rows.select(kept), frame.table(texts | {"height": height}))


def _shares(values: Floats) -> list[str]:
    return [f"{value:.1%}" if np.isfinite(value) else "infinite" for value in values.tolist()]


def _hover(result: Any, values: Values | None) -> list[Any]:
    strata = [alt.Tooltip("stratum:N")] if result.labels != ("",) else []
    widths = [alt.Tooltip("wide:N", title="interval width")] if hasattr(result, "width") else []
    return [
        alt.Tooltip("record:Q", format=","),
        *strata,
        alt.Tooltip("neighbours:Q", format=","),
        alt.Tooltip("moved:N", title="perturbation"),
        *widths,
        alt.Tooltip("mark:N", title="link"),
        *([] if values is None else values.hover()),
    ]


def left_text(result: Any) -> list[str]:
    """What the counts of the figure leave out, and whether they say anything."""
    found = [] if result.sampled is None else [*result.sampled.words]
    if result.left_out:
        found.append(f"{check.counted(result.left_out, 'record')} left out: a key is missing or has no logarithm")
    if result.tied:
        where = "" if len(result.labels) == 1 else f" in {check.counted(result.tied, 'stratum', 'strata')}"
        found.append(f"caution: delta is 0{where}, so nobody has neighbours; too many values are equal")
    if result.pairing_cautions:
        found.append("caution: the files may not be in the same order; print the result")
    return found


def neighbours_text(result: Any) -> str:
    """What makes an original a neighbour: nearer than delta, which alpha gives, or likelier than tau."""
    alpha = "" if result.alpha is None else f" (alpha = {result.alpha:g})"
    if result.by_the_ratio:
        taus = _span([each.densities.tau for each in result.ratios], len(result.labels))
        return f"neighbours: by the likelihood ratio, t above tau = {taus} (alpha = {result.level:g})"
    weighed = ", counted by their weight" if result.weighted else ""
    what = "originals" if result.archive is None else f"{result.archive:,} records of an archive"
    return f"neighbours: {what} nearer than delta = {_span(result.delta, len(result.labels))}{alpha}{weighed}"


def _span(values: Any, strata: int) -> str:
    numbers = np.asarray(values, dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return "undefined"
    low, high = float(numbers.min()), float(numbers.max())
    return f"{low:.3g}" if strata == 1 or low == high else f"{low:.3g} to {high:.3g} by stratum"


def _look(ordered: list[str]) -> dict[str, Any]:
    """Shape, size and inside of the marks by kind; their key is drawn below, since a legend cannot show all three."""
    scales: dict[str, Any] = {"shape": SHAPES, "size": SIZES, "fillOpacity": FILLED}
    kinds = {"shape": alt.Shape, "size": alt.Size, "fillOpacity": alt.FillOpacity}
    return {
        name: kinds[name]("mark:N", legend=None, scale=alt.Scale(type="ordinal", domain=ordered, range=list(drawn_as)))
        for name, drawn_as in scales.items()
    }


def _marks(points: frame.Frame, x: Any, y: Any, hover: list[Any], *, over_cells: bool) -> Any:
    """All marks in one layer, the notable kinds over the others; over cells hollow ones are white inside."""
    seen = np.array([MARKS.index(mark) for mark in points["mark"]], dtype=np.int64)
    ordered = frame.take(points, np.argsort(seen, kind="stable"))
    colour = alt.when("datum.unsafe").then(alt.value(UNSAFE)).otherwise(alt.value(SAFE))
    # The inside of a hollow mark is there, though not seen: it can be pointed at.
    look = {"stroke": colour, "fill": colour, **_look(list(MARKS))}
    if over_cells:
        # Hollow marks are white inside, full ones have a white border: cells below are of their colour.
        full = " || ".join(f"datum.mark == '{mark}'" for mark, filled in zip(MARKS, FILLED, strict=True) if filled)
        red = f"datum.unsafe && ({full})"
        look["stroke"] = alt.when(full).then(alt.value("white")).when("datum.unsafe").then(alt.value(UNSAFE))
        look["stroke"] = look["stroke"].otherwise(alt.value(SAFE))
        look["fill"] = alt.when(red).then(alt.value(UNSAFE)).when(full).then(alt.value(SAFE))
        look["fill"] = look["fill"].otherwise(alt.value("white"))
        look["fillOpacity"] = alt.value(1.0)
    return alt.Chart(ordered).mark_point(strokeWidth=1, opacity=0.9).encode(x=x, y=y, tooltip=hover, **look)


def key_to_marks(width: int) -> Any:
    """Two lines below the plot: what each mark stands for, and the two colours."""
    room = np.array([LETTER * len(mark) + BESIDE for mark in MARKS])
    at = BESIDE / 3 + np.concatenate([[0.0], np.cumsum(room)[:-1]]) * min(1.0, width / room.sum())
    rows = frame.table({"mark": list(MARKS), "at": at})
    place = alt.X("at:Q", scale=alt.Scale(domain=[0, width], nice=False), axis=None)
    upper, lower = alt.value(7), alt.value(25)
    marks = alt.Chart(rows).mark_point(strokeWidth=1, opacity=1).encode(x=place, y=upper, **_look(list(MARKS)))
    texts = _texts(rows, place, upper, "mark:N")
    marks = marks.encode(stroke=alt.value(INK), fill=alt.value(INK))
    far = BESIDE / 3 + LETTER * len("unsafe") + BESIDE
    colours = frame.table({"at": [BESIDE / 3, far], "colour": [UNSAFE, SAFE], "word": ["unsafe", "safe"]})
    spots = (
        alt.Chart(colours)
        .mark_square(size=90, opacity=1)
        .encode(x=place, y=lower, color=alt.Color("colour:N", scale=None))
    )
    words = _texts(colours, place, lower, "word:N")
    return alt.layer(marks, texts, spots, words).properties(width=width, height=34)


def _texts(rows: frame.Frame, x: Any, y: Any, words: str) -> Any:
    return alt.Chart(rows).mark_text(align="left", dx=9, fontSize=11, color=INK).encode(x=x, y=y, text=words)
