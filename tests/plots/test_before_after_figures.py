"""Figures before and after: their points by hand, and that they can be drawn whatever the data are."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.comparison.before_after import BeforeAfter, before_after
from tacita.plots.before_after_bars import before_after_bars_points
from tacita.plots.before_after_boxes import before_after_boxes_points
from tacita.plots.before_after_correlations import MAPS, before_after_correlations_points
from tacita.plots.before_after_density import before_after_density_bins, before_after_density_points
from tacita.plots.before_after_lorenz import before_after_lorenz_points
from tacita.plots.before_after_mosaic import before_after_mosaic_points, pushed_apart
from tacita.plots.before_after_panels import round_numbers
from tacita.plots.internal.note import for_internal_use

NOTE = "for internal use only"
FIGURES = (
    "before_after_density",
    "before_after_bars",
    "before_after_boxes",
    "before_after_mosaic",
    "before_after_correlations",
    "before_after_lorenz",
)


def titles(chart: Any) -> list[str]:
    """The lines under the title."""
    given = chart.to_dict()["title"]["subtitle"]
    return [given] if isinstance(given, str) else list(given)


def twelve() -> BeforeAfter:
    """Twelve records: a number, two categories, one of them recoded."""
    before = pl.DataFrame(
        {
            "x": [float(each) for each in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 30]],
            "sex": list("ffffffmmmmmm"),
            "area": ["n"] * 3 + ["s"] * 6 + ["w"] * 3,
        }
    )
    after = before.with_columns(
        x=pl.col("x").clip(upper_bound=9),
        area=pl.when(pl.col("area") == "w").then(pl.lit("s")).otherwise(pl.col("area")),
        sex=pl.Series(["f"] * 3 + [None] * 3 + ["m"] * 6),
    )
    return before_after(before, after, tc.Scenario(keys=["sex", "area"]), bins=4)


def test_bars_by_hand() -> None:
    points = before_after_bars_points(twelve())
    assert points.filter(pl.col("variable") == "sex").drop("variable", "group").rows() == [
        ("f", "original", 0.5), ("m", "original", 0.5), ("(missing)", "original", 0.0),
        ("f", "released", 0.25), ("m", "released", 0.5), ("(missing)", "released", 0.25),
    ]  # fmt: skip
    area = points.filter(pl.col("variable") == "area").drop("variable", "group").rows()
    assert area == [("s", "original", 0.75), ("n", "original", 0.25), ("s", "released", 0.75), ("n", "released", 0.25)]


def test_boxes_by_hand() -> None:
    # A quarter is reached at 2, half at 5, three quarters at 8: means of three. 30 lies beyond 8 + 1.5 * 6.
    assert before_after_boxes_points(twelve()).drop("variable", "group").rows() == [
        ("original", 1.0, 2.0, 5.0, 8.0, 9.0, 0, 1),
        ("released", 1.0, 2.0, 5.0, 8.0, 9.0, 0, 0),
    ]


def test_bins_and_densities_hold_all_values() -> None:
    found = twelve()
    bins = before_after_density_bins(found)
    # From 1, the mean of the least three, to 49 / 3, that of the greatest: four bins of five whole numbers. The last,
    # with one record, is joined with the one before it, and so is that.
    assert bins["low"].to_list() == [0.5, 5.5] * 2
    assert bins["high"].to_list() == [5.5, 20.5] * 2
    assert bins["share"].to_list() == [0.5] * 4
    assert (bins["density"] * (bins["high"] - bins["low"])).to_list() == pytest.approx(bins["share"].to_list())
    points = before_after_density_points(found)
    # Few whole numbers have bars alone.
    assert points.height == 0
    assert points.columns == ["variable", "group", "file", "value", "density"]


def test_a_density_is_one_in_all() -> None:
    x = np.concatenate([np.linspace(0, 50, 400), np.linspace(40, 60, 300)]) + 0.25
    data = pl.DataFrame({"x": x, "sex": ["f", "m"] * 350})
    points = before_after_density_points(
        before_after(data, data.with_columns(x=pl.col("x") + 1), tc.Scenario(keys=["sex"]))
    )
    for file in ("original", "released"):
        here = points.filter(pl.col("file") == file)
        step = here["value"][1] - here["value"][0]
        assert here["density"].sum() * step == pytest.approx(1, abs=0.01)


def test_the_mosaic_tiles_the_square() -> None:
    points = before_after_mosaic_points(twelve())
    first = points.filter(pl.col("file") == "original").drop("file").rows()
    assert first == [
        ("f", "n", 0.0, 0.5, 0.0, 0.5, 0.25, 0.5), ("f", "s", 0.0, 0.5, 0.5, 1.0, 0.25, 0.5),
        ("m", "s", 0.5, 1.0, 0.0, 1.0, 0.5, 1.0),
    ]  # fmt: skip
    areas = points.select(area=(pl.col("right") - pl.col("left")) * (pl.col("high") - pl.col("low")), share="share")
    assert areas["area"].to_list() == pytest.approx(areas["share"].to_list())
    assert points.group_by("file").agg(pl.col("share").sum())["share"].to_list() == pytest.approx([1, 1])


def test_correlations_by_hand() -> None:
    data = pl.DataFrame({"x": [1.5, 2, 3, 4], "y": [3.0, 4, 6, 8.5], "sex": list("ffmm")})
    after = data.with_columns(y=-pl.col("y"))
    points = before_after_correlations_points(before_after(data, after, tc.Scenario(keys=["sex"])))
    assert points.height == 3 * 3
    r = float(np.corrcoef(data["x"], data["y"])[0, 1])
    found = points.filter((pl.col("row") == "y") & (pl.col("column") == "x"))
    assert found["map"].to_list() == list(MAPS)
    assert found["value"].to_list() == pytest.approx([r, -r, -2 * r])


def test_lorenz_by_hand() -> None:
    data = pl.DataFrame({"x": [0.5, 0.5, 0.5, 0.5, 2, 2], "sex": list("ffffmm")})
    equal = data.with_columns(x=pl.lit(1.0))
    points = before_after_lorenz_points(before_after(data, equal, tc.Scenario(keys=["sex"])))
    assert points.drop("variable", "group").rows() == [
        ("original", 0.0, 0.0), ("original", 0.5, 0.25), ("original", 1.0, 1.0),
        ("released", 0.0, 0.0), ("released", 0.5, 0.5), ("released", 1.0, 1.0),
    ]  # fmt: skip


# Whatever the data are.


def awkward() -> dict[str, tuple[pl.DataFrame, pl.DataFrame]]:
    size = 60
    place = np.arange(size)
    base = {"sex": ["f"] * 30 + ["m"] * 30}
    skewed = pl.DataFrame({**base, "x": np.where(place % 2, 0.0, np.exp(place / 6))})
    long = pl.DataFrame(
        {**base, "area": [f"an area with a name that is much too long to be shown, number {at}" for at in place]}
    )
    signed = pl.DataFrame({**base, "x": np.where(place % 2, -1, 1) * np.exp(place / 6)})
    one = pl.DataFrame({"sex": ["f"] * size, "x": np.full(size, 7.5)})
    gone = pl.DataFrame({**base, "x": [None] * size}, schema_overrides={"x": pl.Float64})
    two = pl.DataFrame({"sex": ["f", "m"], "x": [1.5, 2.5]})
    halves = long.with_columns(area=pl.when(pl.col("sex") == "f").then(None).otherwise(pl.col("area")))
    return {
        "zeros and heavy skew": (skewed, skewed.with_columns(pl.col("x") * 1.5)),
        "zeros after": (skewed, skewed.with_columns(x=pl.lit(0.0))),
        "both signs": (signed, signed.with_columns(pl.col("x") - 20)),
        "one category and value": (one, one),
        "sixty long names": (long, halves),
        "nothing there": (gone, gone),
        "nothing after": (skewed, gone),
        "two records": (two, two),
    }


PUBLIC = ("zeros and heavy skew", "sixty long names", "nothing after")


@pytest.mark.parametrize(("name", "public"), [(name, False) for name in awkward()] + [(name, True) for name in PUBLIC])
def test_every_figure_is_drawn_or_says_why_not(name: str, public: bool) -> None:
    before, after = awkward()[name]
    found = before_after(before, after, tc.Scenario(keys=["sex"]), public=public)
    assert found.figures() == FIGURES
    for figure in FIGURES:
        try:
            chart = found.plot(figure).to_dict(validate=False)
        except TacitaError as error:
            assert "draw" in str(error) or "name one" in str(error) or "Lorenz" in str(error)
            continue
        assert "Infinity" not in json.dumps(chart, allow_nan=False)
        lines = chart["title"]["subtitle"]
        assert (NOTE in ([lines] if isinstance(lines, str) else lines)) == found.office_only


def test_the_note_is_there_once() -> None:
    before, after = awkward()["two records"]
    chart = before_after(before, after, tc.Scenario(keys=["sex"])).plot("before_after_bars")
    assert titles(for_internal_use(chart)).count(NOTE) == titles(chart).count(NOTE) == 1


def test_one_variable_is_drawn_by_group() -> None:
    data = pl.DataFrame(
        {
            "area": [f"area {at % 14}" for at in range(280)],
            "x": [float(at % 97) + 0.5 for at in range(280)],
            "sex": ["f", "m", "m", "f", "m"] * 56,
        }
    )
    found = before_after(data, data.with_columns(x=pl.col("x") + 3), tc.Scenario(keys=["sex"]), by="area")
    # Twelve groups at most, the smallest together.
    assert len(found.groups) == 12
    assert found.groups[-1] == "(other)"
    for figure, variable in (("before_after_density", "x"), ("before_after_boxes", "x"), ("before_after_bars", "sex")):
        chart = found.plot(figure, variable=variable).to_dict()
        assert chart["title"]["text"].endswith(f"{variable} by area")
        rows = [row for rows in chart["datasets"].values() for row in rows]
        assert "area 3" in json.dumps(chart)
        assert rows
    with pytest.raises(TacitaError, match="variable must be one of 'x'; got 'y'"):
        found.plot(variable="y")
    with pytest.raises(TacitaError, match="variable and second must name a pair"):
        before_after(data, data, tc.Scenario(keys=["sex", "area"])).plot("before_after_mosaic", variable="x")


def test_the_rest_of_many_panels_is_counted() -> None:
    data = pl.DataFrame({f"c{at}": ["a", "b"] * 5 for at in range(15)})
    chart = before_after(data, data, tc.Scenario(keys=["c0"])).plot("before_after_bars")
    assert len(chart.to_dict()["concat"]) == 12
    assert titles(chart)[-1] == "3 panels not drawn; name one with variable=..."


@pytest.mark.parametrize(
    ("kind", "constant", "low", "high", "ticks"),
    [
        ("log", 1.0, 3.0, 4000.0, [10, 100, 1000]),
        ("log", 1.0, 3.0, 40.0, [5, 10, 20]),
        ("symlog", 800.0, -2e4, 1e6, [-1e4, -1e3, 0, 1e3, 1e4, 1e5, 1e6]),
    ],
)
def test_ticks_are_round(kind: str, constant: float, low: float, high: float, ticks: list[float]) -> None:
    class Line:
        pass

    line = Line()
    line.kind, line.constant = kind, constant  # type: ignore[attr-defined]
    assert round_numbers(line, low, high) == ticks


def test_names_of_narrow_columns_are_pushed_apart() -> None:
    moved = pushed_apart(np.array([1.0, 2, 3, 99, 100]), 10, 100)
    assert np.diff(moved).min() >= 10
    assert moved.max() <= 100


def test_a_figure_is_written(tmp_path: Path) -> None:
    path = tc.save(twelve().plot("before_after_mosaic"), tmp_path / "mosaic.svg")
    assert "sex" in path.read_text("utf-8")
