"""What the confidentiality plot draws: line and zone, marks and cells, table, panels, and never values by accident."""

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.plots import cloud
from tacita.plots.categorical_confidentiality import (
    categorical_confidentiality_cells,
    categorical_confidentiality_points,
)
from tacita.plots.confidentiality import (
    MARKS,
    MOST_POINTS,
    confidentiality_cells,
    confidentiality_points,
    confidentiality_rows,
)
from tacita.plots.confidentiality_layers import cloud_of
from tacita.plots.confidentiality_panels import MOST_PANELS, confidentiality_panels
from tacita.risk.confidentiality_plot.limits import Limits


def firms(n: int = 300, **options: Any) -> tuple[tc.Data, Any]:
    data = tc.business_survey(n, population=2 * n).data
    return data, tc.risk.confidentiality(
        data, tc.log_noise(data, ["turnover"], sd=0.4), tc.Scenario(numeric_keys=["turnover"]), log=True, **options
    )


def large(n: int = 30_000, **options: Any) -> Any:
    draw = np.random.default_rng(5)
    frame = pl.DataFrame({"x": draw.lognormal(5, 1, n), "g": draw.integers(0, 4, n)})
    return tc.risk.confidentiality(
        frame, tc.log_noise(frame, ["x"]), tc.Scenario(numeric_keys=["x"]), alpha=0.001, **options
    )


def drawn_rows(chart: Any) -> int:
    """Rows of all data sets of a chart."""
    return sum(map(len, chart.to_dict().get("datasets", {}).values()))


@pytest.mark.parametrize("g", [0.5, 1.0, 2.0])
def test_the_line_parts_safe_from_unsafe(g: float) -> None:
    _, found = firms(g=g)
    points = cloud_of(found)
    line = cloud.line(points, cloud.extent(points))
    limits = found.limits
    x, y = line["neighbours"].to_numpy(), line["height"].to_numpy()
    assert (x[0], y[0]) == (0.0, pytest.approx(limits.r))
    assert (x[-1], y[-1]) == (pytest.approx(limits.k), pytest.approx(0.0, abs=1e-9))
    assert np.allclose((x / limits.k) ** g + (y / limits.r) ** g, 1.0)
    # Just below it is unsafe, just above it is not.
    inner = slice(5, -5)
    assert limits.unsafe(x[inner], 0.999 * y[inner]).all()
    assert not limits.unsafe(x[inner], 1.001 * y[inner]).any()


def test_a_vertical_line_shades_everything_left_of_it() -> None:
    _, found = firms(vertical=True, k=4)
    points = cloud_of(found)
    shown = cloud.extent(points)
    line = cloud.line(points, shown)
    assert line["height"].to_list() == [shown.top] * line.height
    # Whole counts: the line stands between the last unsafe and the first safe one.
    assert line["neighbours"].max() == 3.5
    rules = [each for each in found.plot().to_dict()["vconcat"][0]["layer"] if each["mark"]["type"] == "rule"]
    assert len(rules) == 1
    assert (found.unsafe == (found.neighbours < 4)).all()


def test_the_zone_is_counted_in_the_subtitle() -> None:
    _, found = firms()
    subtitle = found.plot().to_dict()["title"]["subtitle"]
    assert subtitle[0].startswith(f"{int(found.unsafe.sum()):,} of 300 records in the unsafe zone (k = 15, r = 15 %)")
    _, bent = firms(g=2.0)
    assert "(k = 15, r = 15 %, g = 2)" in bent.plot().to_dict()["title"]["subtitle"][0]


@pytest.mark.parametrize("k", [2, 15, 300])
def test_marks_of_a_large_file_are_few_and_count_all(k: int) -> None:
    found = large(k=k)
    points, cells = confidentiality_points(found), confidentiality_cells(found)
    assert points.height + cells.height <= MOST_POINTS
    assert points.height + int(cells["records"].sum()) == 30_000
    unsafe = int(points["unsafe"].sum()) + int(cells.filter(cells["unsafe"])["records"].sum())
    assert unsafe == int(found.unsafe.sum())
    text = found.plot().to_dict()["title"]["subtitle"]
    assert any(f"{points.height:,} drawn one by one, {30_000 - points.height:,} as cells" in line for line in text)


def test_every_record_lies_in_its_cell() -> None:
    found = large()
    points, cells = confidentiality_points(found), confidentiality_cells(found)
    top = cloud.extent(cloud_of(found)).top
    apart = np.isin(found.record, points["record"].to_numpy())
    height = np.minimum(found.perturbation, top)
    assert cells.height > 100
    for left, right, low, high, records, unsafe in cells.rows()[::25]:
        inside = ~apart & (found.neighbours > left) & (found.neighbours < right) & (found.unsafe == unsafe)
        inside &= (height >= low) & ((height < high) | ((high == pytest.approx(top)) & (height <= high)))
        assert inside.sum() == records


def test_infinite_perturbation_is_drawn_at_the_top() -> None:
    frame = pl.DataFrame({"x": [0.0, 0.0, 0.0, 5.0, 6.0]})
    moved = pl.DataFrame({"x": [1.0, 2.0, 3.0, 5.0, 6.0]})
    found = tc.risk.confidentiality(frame, moved, tc.Scenario(numeric_keys=["x"]), delta=0.1)
    assert np.isinf(found.perturbation).sum() == 3
    points = confidentiality_points(found)
    assert np.isfinite(points["height"].to_numpy()).all()
    assert "3 moved further than the axis shows" in found.plot().to_dict()["title"]["subtitle"][-1]


def test_rows_of_the_table() -> None:
    _, found = firms()
    rows = confidentiality_rows(found)
    assert rows.height == int(found.unsafe.sum())
    assert rows["rank"].to_list() == list(range(1, rows.height + 1))
    pairs = list(zip(rows["neighbours"].to_list(), rows["perturbation"].to_list(), strict=True))
    assert pairs == sorted(pairs)
    many = large(k=300)
    assert confidentiality_rows(many).height == cloud.MARKED < many.unsafe.sum()
    listed = many.plot(table=True).to_dict()["hconcat"][1]["title"]["subtitle"]
    assert listed.startswith(f"1,000 of {int(many.unsafe.sum()):,}, the most exposed")


def test_nothing_unsafe_still_has_a_table() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0]})
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=["x"]), delta=2.0, k=1)
    assert not found.unsafe.any()
    assert found.plot(table=True).to_dict()["hconcat"][1]["title"]["subtitle"] == "none"


# Values.


def test_values_are_shown_only_if_the_file_is_handed_over() -> None:
    data, found = firms(60)
    # Digits that no figure of the plot has.
    secret = [f"{value:.10g}" for value in data.numbers("turnover")[:5]]
    for chart in (found.plot(), found.plot(table=True)):
        text = chart.to_json()
        assert not any(value in text for value in secret)
        assert "internal" not in text
    shown = found.plot(table=True, values=data)
    text = json.dumps(shown.to_dict())
    assert all(str(value) in text for value in data.numbers("turnover")[:5].tolist())
    assert shown.to_dict()["title"]["subtitle"][-1] == "internal: shows original values"
    assert "original turnover" in text


def test_values_go_with_their_record() -> None:
    frame = pl.DataFrame({"x": [5.0, 1.0, None, 9.0]})
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=["x"]), delta=0.1)
    data = tc.Data.of(frame).take(np.array([3, 2, 1, 0]))
    rows = found.plot(values=data).to_dict()["datasets"]
    values = {each["record"]: each["v0"] for rows in rows.values() for each in rows if "v0" in each}
    assert values == {1: 5.0, 2: 1.0, 4: 9.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"values": True},
            "a result holds no values; pass the file whose values are to be shown, values=original.",
        ),
        (
            {"values": pl.DataFrame({"turnover": [1.0]})},
            "values must have the records of the result; pass the file that was compared.",
        ),
        ({"values": pl.DataFrame({"a": [1.0]})}, "keys not in the data: 'turnover'. The columns are 'a'."),
        ({"by": "region"}, "by must be one of 'stratum'; got 'region'."),
        ({"by": "stratum"}, "the result has no strata; pass strata=[...] to the measure, or leave out by."),
        (
            {"by": "stratum", "table": True},
            "a table and values go with one panel; leave out by, or table and values.",
        ),
    ],
)
def test_messages(options: dict[str, Any], message: str) -> None:
    _, found = firms(30)
    with pytest.raises(tc.TacitaError) as error:
        found.plot(**options)
    assert str(error.value) == message


# Panels.


def test_panels_by_stratum_count_their_own_records() -> None:
    _, found = firms(400, strata="industry")
    chart = found.plot(by="stratum").to_dict()
    assert len(chart["concat"]) == 8
    for place, panel in enumerate(chart["concat"]):
        here = found.stratum == place
        assert panel["title"]["text"] == found.labels[place]
        assert panel["title"]["subtitle"] == f"{int(found.unsafe[here].sum()):,} of {int(here.sum()):,} unsafe"
    domains = {json.dumps(panel["layer"][-1]["encoding"]["x"]["scale"]["domain"]) for panel in chart["concat"]}
    assert len(domains) == 1


def test_panels_of_a_large_file_draw_few_marks() -> None:
    found = large(40_000, strata="g")
    chart = found.plot(by="stratum")
    # Four policy lines of 60 points each besides.
    assert drawn_rows(chart) <= MOST_POINTS + 4 * 60
    assert "drawn as cells" in chart.to_dict()["title"]["subtitle"][-1]


def test_of_very_many_strata_the_most_unsafe_are_drawn() -> None:
    frame = pl.DataFrame({"x": [1.0, 1.01, 50.0] * 15, "g": [place // 3 for place in range(45)]})
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=["x"]), strata="g", delta=0.1, k=2)
    chart = found.plot(by="stratum").to_dict()
    assert len(chart["concat"]) == MOST_PANELS
    # All have the same share of unsafe records, and nothing else is said of those left out.
    assert chart["title"]["subtitle"][0].endswith("3 strata not drawn, none with a larger share of them")


def test_panels_by_key_set() -> None:
    data = tc.business_survey(200).data
    masked = tc.log_noise(data, ["turnover", "employees"], sd=0.4)
    sets = {"one": ["turnover"], "two": ["turnover", "employees"]}
    found = tc.risk.confidentiality_sets(data, masked, tc.Scenario(numeric_keys=["any"]), key_sets=sets, log=True)
    chart = confidentiality_panels(found).to_dict()
    titles = [panel["title"] for panel in chart["concat"]]
    assert [title["text"] for title in titles] == ["one: turnover", "two: turnover, employees"]
    assert [title["subtitle"] for title in titles] == [
        f"{int(part.unsafe.sum()):,} of 200 unsafe" for part in found.parts.values()
    ]


# Categorical data.


def people(n: int = 500) -> Any:
    draw = np.random.default_rng(8)
    frame = pl.DataFrame({name: draw.integers(0, 4, n) for name in "abc"})
    blanked = frame.with_columns(
        pl.when(pl.Series(draw.random(n) < 0.2)).then(None).otherwise(pl.col(name)).alias(name) for name in "abc"
    )
    return tc.risk.categorical_confidentiality(frame, blanked, tc.Scenario(keys=["a", "b", "c"]), k=5)


def test_one_mark_for_all_records_at_a_place() -> None:
    found = people()
    points = categorical_confidentiality_points(found)
    assert int(points["records"].sum()) == 500
    places = set(zip(found.count.tolist(), found.loss.tolist(), strict=True))
    assert set(zip(points["count"].to_list(), points["loss"].to_list(), strict=True)) == places
    assert points.height == len(places)
    assert int(points.filter(points["unsafe"])["records"].sum()) == int(found.unsafe.sum())
    for count, loss, _, records, _, named in points.rows():
        here = found.record[(found.count == count) & (found.loss == loss)]
        expected = ", ".join(f"{number:,}" for number in here[:3].tolist()) + (", ..." if records > 3 else "")
        assert (named, records) == (expected, len(here))


def test_very_many_places_cannot_be_pointed_at() -> None:
    draw = np.random.default_rng(8)
    n = 20_000
    frame = pl.DataFrame({"a": draw.integers(0, 900, n), "x": draw.normal(0, 5, n)})
    moved = frame.with_columns(x=pl.col("x") + draw.normal(0, 1, n))
    found = tc.risk.categorical_confidentiality(frame, moved, tc.Scenario(keys=["a"]), variables=["x"], k=20)
    assert categorical_confidentiality_points(found).height == 0
    cells = categorical_confidentiality_cells(found)
    assert cells.height <= MOST_POINTS
    assert int(cells["records"].sum()) == n
    assert int(cells.filter(cells["unsafe"])["records"].sum()) == int(found.unsafe.sum())
    # The line, and two margins besides.
    assert drawn_rows(found.plot()) <= MOST_POINTS + 200


def test_marks_have_the_kinds_of_the_references() -> None:
    _, found = firms()
    points = confidentiality_points(found)
    for record, mark in zip(points["record"].to_list(), points["mark"].to_list(), strict=True):
        at = int(np.flatnonzero(found.record == record)[0])
        kind = 3 if found.largest[at] else 2 if found.correct[at] > 0 else 1 if found.inside[at] else 0
        assert mark == MARKS[kind]


def test_ticks_of_a_compressed_axis() -> None:
    assert cloud._ticks(15.0, 120_000.0)[:2] == [0.0, 15.0]
    ticks = cloud._ticks(15.0, 120_000.0)
    assert len(ticks) <= 8
    assert all(math.log10(tick) % 1 == pytest.approx(0.0) or str(tick)[0] in "25" for tick in ticks[2:])
    assert Limits().k == 15


def test_a_line_with_g_below_one_is_bent_near_zero_too() -> None:
    _, found = firms(g=0.5)
    points = cloud_of(found)
    line = cloud.line(points, cloud.extent(points))
    x, y = line["neighbours"].to_numpy(), line["height"].to_numpy()
    # No stretch of the line is long: neither across nor upwards.
    assert np.diff(x).max() < 0.06 * found.limits.k
    assert np.abs(np.diff(y)).max() < 0.06 * found.limits.r


def test_the_plot_says_what_a_neighbour_is() -> None:
    _, found = firms(strata="industry")
    low, high = f"{found.delta.min():.3g}", f"{found.delta.max():.3g}"
    said = found.plot().to_dict()["title"]["subtitle"]
    assert said[1] == f"neighbours: originals nearer than delta = {low} to {high} by stratum (alpha = 0.05)"
    by_ratio = firms(ratio=True)[1].by_ratio()
    assert by_ratio.plot().to_dict()["title"]["subtitle"][1].startswith("neighbours: by the likelihood ratio, t above")
    assert by_ratio.headline.endswith(", by the likelihood ratio")
    assert not found.by_the_ratio


@pytest.mark.parametrize(
    ("top", "end"), [(0.165, 0.2), (0.6, 0.6), (1.3, 1.5), (0.04, 0.04), (7.2, 8.0), (0.011, 0.015)]
)
def test_axes_end_at_round_numbers(top: float, end: float) -> None:
    assert cloud._round_top(top) == pytest.approx(end)


def test_four_thousand_records_are_cells_with_the_unsafe_ones_on_top() -> None:
    found = large(4000, k=5)
    points = confidentiality_points(found)
    drawn = np.isin(found.record, points["record"].to_numpy())
    assert 0 < drawn.sum() < 4000
    cells = confidentiality_cells(found)
    assert points.height + int(cells["records"].sum()) == 4000
    # An unsafe record is drawn, or lies below the mark of another one.
    shown = cloud.extent(cloud_of(found))
    height = np.minimum(found.perturbation, shown.top) / shown.top
    for record in np.flatnonzero(found.unsafe & ~drawn):
        beside = np.abs(found.neighbours[drawn] - found.neighbours[record]) <= (shown.right + 1) / cloud.ROOM[0]
        assert (np.abs(height[drawn] - height[record])[beside] <= 1.001 / cloud.ROOM[1]).any()


def test_marks_over_cells_neither_hide_each_other_nor_vanish() -> None:
    """Three hundred red squares lay over each other on red cells."""
    found = large(30_000, k=300)
    points, shown = confidentiality_points(found), cloud.extent(cloud_of(found))
    drawn = cloud_of(found)
    across = cloud._along(points["neighbours"].to_numpy(), drawn, shown)
    share = across / cloud._along(np.array([shown.right + 1.0]), drawn, shown)
    places = zip(share, points["height"] / shown.top, strict=True)
    spots = {(int(x * cloud.ROOM[0]), int(y * cloud.ROOM[1])) for x, y in places}
    assert len(spots) == points.height
    marks = found.plot().to_dict()["vconcat"][0]["layer"][-1]["encoding"]
    assert marks["fill"]["value"] == marks["stroke"]["condition"][0]["value"] == "white"
    # In a small file nothing lies below a mark.
    assert "white" not in json.dumps(firms()[1].plot().to_dict()["vconcat"][0]["layer"][-1])


def test_margins_of_categorical_data_count_every_record() -> None:
    found = people()
    above, lower = found.plot().to_dict()["vconcat"]
    beside = lower["hconcat"][1]
    data = found.plot().to_dict()["datasets"]
    for margin in (above, beside):
        bars = data[margin["data"]["name"]]
        assert sum(bar["records"] for bar in bars) == 500
        assert sum(bar["records"] for bar in bars if bar["unsafe"]) == int(found.unsafe.sum())
