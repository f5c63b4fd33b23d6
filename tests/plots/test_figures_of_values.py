"""Figures that show values: released against original, two units, robust intervals."""

import json
import re
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.plots.cloud import MOST_POINTS
from tacita.plots.internal.released import released, released_cells, released_points
from tacita.plots.internal.robust_intervals import (
    STATES,
    covariance_behind,
    robust_intervals,
    robust_intervals_ellipses,
    robust_intervals_points,
)
from tacita.plots.internal.units import KINDS, chosen_units, units, units_points
from tacita.plots.number_axis import number_axis
from tacita.plots.svg import inline_svg
from tacita.risk.confidentiality_plot.scale import METRICS
from tacita.risk.interval.robust_interval_disclosure import robust_interval_disclosure

INTERNAL = "internal: shows original values"
KEYS = ["turnover", "employees"]


def firms(industry: str = "15", sd: float = 0.3) -> tuple[tc.Data, tc.Data]:
    data = tc.business_survey().data
    masked = tc.log_noise(data, KEYS, sd=sd)
    rows = (data.table["industry"] == industry).arg_true().to_numpy()
    return data.take(rows), masked.take(rows)


def subtitle(chart: Any) -> str:
    given = chart.to_dict()["title"]["subtitle"]
    return given if isinstance(given, str) else " ".join(given)


# Released against original.


def test_released_points_are_the_values() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0, None, 4.0], "b": [0.0, 5.0, 6.0, 7.0]})
    moved = pl.DataFrame({"a": [1.5, 2.0, 3.0, None], "b": [0.0, 5.0, 6.0, 70.0]})
    points = released_points(frame, moved, ["a", "b"])
    assert points.rows() == [
        ("a", 1, 1.0, 1.5), ("a", 2, 2.0, 2.0),
        ("b", 1, 0.0, 0.0), ("b", 2, 5.0, 5.0), ("b", 3, 6.0, 6.0), ("b", 4, 7.0, 70.0),
    ]  # fmt: skip
    chart = released(frame, moved, ["a", "b"], log=True)
    assert subtitle(chart).startswith(INTERNAL)
    assert "2 values missing in a file not drawn" in subtitle(chart)


def test_many_values_are_drawn_as_cells() -> None:
    data = tc.business_survey(8000, population=20_000).data
    masked = tc.log_noise(data, KEYS, sd=0.3)
    assert released_points(data, masked, KEYS).height == 0
    cells = released_cells(data, masked, KEYS, log=True)
    assert {name: int(part["records"].sum()) for (name,), part in cells.group_by("variable")} == dict.fromkeys(
        KEYS, 8000
    )
    x, y = data.numbers("turnover"), masked.numbers("turnover")
    for _, left, right, low, high, records in cells.filter(cells["variable"] == "turnover").rows()[::20]:
        assert ((x >= left) & (x < right) & (y >= low) & (y < high)).sum() == records
    chart = released(data, masked, KEYS, log=True)
    assert sum(map(len, chart.to_dict()["datasets"].values())) <= MOST_POINTS
    assert "16,000 values drawn as cells" in subtitle(chart)


def test_axes_hold_all_values() -> None:
    for values, log, kind in [
        ([1.0, 100.0], True, "log"),
        ([0.0, 100.0], True, "symlog"),
        ([-5.0, 100.0], True, "symlog"),
        ([-5.0, 100.0], False, "linear"),
        ([7.0, 7.0], False, "linear"),
        ([7.0, 7.0], True, "log"),
    ]:
        axis = number_axis(np.array(values), log=log)
        assert axis.kind == kind
        assert axis.low <= min(values) <= max(values) <= axis.high
        assert axis.low < axis.high
        edges = axis.edges(10)
        assert edges[0] == pytest.approx(axis.low)
        assert edges[-1] == pytest.approx(axis.high)
        assert (np.diff(edges) > 0).all()
        assert all(axis.low <= tick <= axis.high for tick in axis.ticks())


def test_a_log_axis_with_a_zero_writes_each_tick_by_itself() -> None:
    """It was 0k 0k 0k 1k."""
    axis = number_axis(np.array([0.0, 3.0, 40_000.0]), log=True)
    shown = alt.X("x:Q", scale=axis.scale(), axis=axis.axis())
    svg, _ = inline_svg(alt.Chart(alt.Data(values=[{"x": 3.0}])).mark_point().encode(x=shown), "a")
    assert re.findall(r"<text[^>]*>([\d.k]+)</text>", svg) == ["0", "1", "10", "100", "1k", "10k"]


# Two units.


def test_two_units_moved_alike_one_alone_and_one_in_a_crowd() -> None:
    original, masked = firms()
    found = tc.risk.confidentiality(original, masked, tc.Scenario(numeric_keys=KEYS), log=True)
    first, second = chosen_units(found)
    assert found.unsafe[first]
    assert found.correct[first] > 0
    assert found.perturbation[second] == pytest.approx(found.perturbation[first], rel=0.1001)
    assert found.neighbours[second] > found.neighbours[first]


def test_neighbours_drawn_are_the_neighbours_counted() -> None:
    original, masked = firms()
    for log in (True, "unit_free", False):
        found = tc.risk.confidentiality(original, masked, tc.Scenario(numeric_keys=KEYS), log=log)
        points = units_points(found, original, masked)
        for place, row in enumerate(chosen_units(found), start=1):
            part = points.filter(points["unit"] == place)
            near = int((part["kind"] == KINDS[1]).sum()) + bool(found.inside[row])
            assert near == found.neighbours[row]
            assert part.height == len(found.record) + 1
            assert part.filter(part["kind"] == KINDS[2])["record"].to_list() == [int(found.record[row])]
            assert part.filter(part["kind"] == KINDS[3])["zoomed"].to_list() == [True]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("by_ratio", [False, True])
def test_neighbours_are_drawn_whatever_decides_on_them(metric: str, by_ratio: bool) -> None:
    original, masked = firms()
    found = tc.risk.confidentiality(original, masked, tc.Scenario(numeric_keys=KEYS), log=True, metric=metric)
    found = found.by_ratio() if by_ratio else found
    points = units_points(found, original, masked)
    for place, row in enumerate(chosen_units(found), start=1):
        part = points.filter(points["unit"] == place)
        near = int((part["kind"] == KINDS[1]).sum()) + bool(found.inside[row])
        assert near == found.neighbours[row]
    circles = [len(panel["layer"]) > 1 for panel in units(found, original, masked).to_dict()["hconcat"][1:]]
    assert circles == [metric in ("relative", "euclidean") and not by_ratio] * 2


def test_units_without_a_size_or_a_finite_delta(tmp_path: Path) -> None:
    x = pl.DataFrame({"a": [0.0, 0.0, 0.0], "b": [0.0, 0.0, 0.0]})
    y = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 1.0, 1.0]})
    found = tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["a", "b"]))
    assert chosen_units(found) == (0, 1)
    assert tc.save(units(found, x, y), tmp_path / "units.png").stat().st_size > 0
    # Most released records are 0, so most z are infinite, and so is delta.
    x = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 1.0, 1.0, 2.0]})
    y = pl.DataFrame({"a": [0.0, 0.0, 0.0, 4.0], "b": [0.0, 0.0, 0.0, 2.0]})
    found = tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["a", "b"]), alpha=0.3)
    assert np.isinf(found.delta[0])
    assert tc.save(units(found, x, y, records=[1, 4]), tmp_path / "far.png").stat().st_size > 0


def test_units_by_number_and_by_stratum() -> None:
    data = tc.business_survey(300).data
    masked = tc.log_noise(data, KEYS, sd=0.3)
    found = tc.risk.confidentiality(data, masked, tc.Scenario(numeric_keys=KEYS), strata="industry", log=True)
    first, second = chosen_units(found)
    assert found.stratum[first] == found.stratum[second]
    points = units_points(found, data, masked, records=[5, 9])
    named = points.filter(points["kind"] == KINDS[3])["record"].to_list()
    assert named == [5, 9]
    own = int((found.stratum == found.stratum[4]).sum())
    assert points.filter(points["unit"] == 1).height == own + 1
    chart = units(found, data, masked, records=[5, 9])
    assert subtitle(chart).startswith(INTERNAL)
    assert len(chart.to_dict()["hconcat"]) == 3


def test_messages_of_two_units() -> None:
    original, masked = firms()
    found = tc.risk.confidentiality(original, masked, tc.Scenario(numeric_keys=KEYS), log=True)
    one = tc.risk.confidentiality(original, masked, tc.Scenario(numeric_keys=KEYS[:1]), log=True)
    for result, file, options, message in [
        (one, original, {}, "the figure shows two keys; the result has 1, compare on two."),
        (found, original, {"records": 5}, "records must be the numbers of two records; got 5."),
        (found, original, {"records": [1, 10**9]}, "records must be compared in the result; '1', '1000000000' is not."),
        (
            found,
            original.take(np.arange(5)),
            {},
            "pass the files that were compared, with the same zeros; their records are others.",
        ),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            units(result, file, masked, **options)  # type: ignore[arg-type]
        assert str(error.value) == message


# Robust intervals.


def logs(spread: float = 0.05, n: int | None = None) -> tuple[tc.Data, tc.Data]:
    original, _ = firms() if n is None else (tc.business_survey(n, population=3 * n).data, None)
    draw = np.random.default_rng(3)
    original = original.with_columns({name: np.log1p(original.numbers(name)) for name in KEYS})
    moved = {name: original.numbers(name) + draw.normal(0, spread, len(original)) for name in KEYS}
    return original, original.with_columns(moved)


def test_states_and_changes_agree_with_the_result() -> None:
    original, masked = logs()
    found = robust_interval_disclosure(original, masked, tc.Scenario(numeric_keys=KEYS), k=0.2, k2=0.1)
    points = robust_intervals_points(found, original, masked)
    states = points["state"].to_list()
    assert [state != STATES[0] for state in states] == found.unsafe.tolist()
    assert [state == STATES[2] for state in states] == found.unsafe_alone.tolist()
    assert ((points["change"].to_numpy() < 1) == found.unsafe).all()
    assert points["distance"].to_list() == found.distance.tolist()


def test_the_matrix_behind_the_distances() -> None:
    draw = np.random.default_rng(1)
    matrix = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 0.7]])
    x = draw.normal(size=(40, 3))
    distance = np.sqrt(np.einsum("ij,jk,ik->i", x, np.linalg.inv(matrix), x))
    assert np.allclose(covariance_behind(x, distance), matrix)  # type: ignore[arg-type]
    assert covariance_behind(x[:2], distance[:2]) is None


def test_ellipses_enclose_their_share_of_the_matrix() -> None:
    original, masked = logs()
    found = robust_interval_disclosure(
        original, masked, tc.Scenario(numeric_keys=KEYS), covariance=[[2.0, 0.5], [0.5, 1.0]]
    )
    rings = robust_intervals_ellipses(found, original, masked)
    inverse = np.linalg.inv(np.array([[2.0, 0.5], [0.5, 1.0]]))
    for share, part in rings.group_by("share"):
        at = part.select("x", "y").to_numpy()
        squared = np.einsum("ij,jk,ik->i", at, inverse, at)
        assert np.allclose(squared, -2.0 * np.log(1.0 - share[0]))


def test_the_figure_of_robust_intervals() -> None:
    original, masked = logs()
    found = robust_interval_disclosure(original, masked, tc.Scenario(numeric_keys=KEYS), k=0.2)
    chart = robust_intervals(found, original, masked, pair=["employees", "turnover"])
    assert len(chart.to_dict()["concat"]) == 4
    assert INTERNAL in subtitle(chart)
    assert f"{int(found.unsafe.sum())} of 222 records unsafe (RMDID1)" in subtitle(chart)


def test_a_large_file_is_thinned_and_said_so() -> None:
    original, masked = logs(n=4000)
    found = robust_interval_disclosure(
        original, masked, tc.Scenario(numeric_keys=KEYS), covariance=[[1.0, 0.0], [0.0, 1.0]], k=0.2
    )
    chart = robust_intervals(found, original, masked)
    drawn = {json.dumps(rows) for rows in chart.to_dict()["datasets"].values()}
    assert max(len(json.loads(rows)) for rows in drawn) <= MOST_POINTS
    assert "3,000 safe or hidden records not drawn" in subtitle(chart)


def test_messages_of_robust_intervals() -> None:
    original, masked = logs()
    found = robust_interval_disclosure(original, masked, tc.Scenario(numeric_keys=KEYS))
    one = robust_interval_disclosure(original, masked, tc.Scenario(numeric_keys=KEYS[:1]))
    for result, file, options, message in [
        (one, masked, {}, "the figure shows two variables; the result has one, measure at least two."),
        (
            found,
            masked,
            {"pair": ["turnover", "x"]},
            "pair must be two of the variables measured, 'turnover', 'employees'; got ['turnover', 'x'].",
        ),
        (found, masked.take(np.arange(5)), {}, "pass the files that were measured; the released records are others."),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            robust_intervals(result, original, file, **options)  # type: ignore[arg-type]
        assert str(error.value) == message
