"""What could make risk look lower than it is: another order, lost digits, missing sizes, nothing to move from."""

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.plots.densities import densities_points
from tacita.risk.confidentiality_plot.confidentiality_alphas import confidentiality_alphas
from tacita.risk.confidentiality_plot.ranks import largest_units, ranks_kept
from tacita.risk.confidentiality_plot.scale import METRICS


def two_files(n: int = 40, seed: int = 2) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = np.random.default_rng(seed)
    x = pl.DataFrame({"a": draw.lognormal(3, 1, n), "b": draw.lognormal(2, 1, n), "g": ["u", "v"] * (n // 2)})
    return x, x.with_columns(pl.col("a") * draw.uniform(0.8, 1.2, n), pl.col("b") * draw.uniform(0.8, 1.2, n))


# Another order.


def test_a_released_file_in_another_order_is_a_caution() -> None:
    x, y = two_files()
    assert tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["a", "b"]), strata="g").cautions == ()
    shuffled = y.sample(len(y), shuffle=True, seed=1)
    found = tc.risk.confidentiality(x, shuffled, tc.Scenario(numeric_keys=["a", "b"]), strata="g")
    other = int((x["g"] != shuffled["g"]).sum())
    assert other > 0
    assert found.cautions[0] == (
        f"{other} records of 40 have other strata in the released file: check that both files have the same order, or "
        f"that strata were recoded; records are matched by their number."
    )
    assert found.cautions[1].startswith("released keys are no more like their own originals than chance would have it")
    assert all(f"caution: {text}" in str(found) for text in found.cautions)
    assert "caution: the files may not be in the same order; print the result" in subtitles(found.plot())
    # By keys alone, as where the released file has no strata.
    alone = tc.risk.confidentiality(x, shuffled.drop("g"), tc.Scenario(numeric_keys=["a", "b"]), strata="g")
    assert alone.cautions == found.cautions[1:]


def test_strata_of_another_kind_are_all_different() -> None:
    x, y = two_files()
    recoded = y.with_columns(g=pl.Series([1.5, 2.5] * 20))
    assert (
        tc.risk.confidentiality(x, recoded, tc.Scenario(numeric_keys=["a"]), strata="g")
        .cautions[0]
        .startswith("40 records of 40 have other strata")
    )


def test_few_records_and_constant_keys_say_nothing_about_the_order() -> None:
    x, y = two_files(8)
    assert tc.risk.confidentiality(x, y[::-1], tc.Scenario(numeric_keys=["a", "b"])).cautions == ()
    x, y = two_files()
    constant = y.with_columns(a=pl.lit(3.0))
    assert tc.risk.confidentiality(x, constant, tc.Scenario(numeric_keys=["a"]), delta=0.1).cautions == ()


def test_alphas_print_the_cautions() -> None:
    frame = pl.DataFrame({"x": [0.0] * 5 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]})
    text = str(confidentiality_alphas(frame, frame, tc.Scenario(numeric_keys=["x"]), alphas=(0.05, 0.5)))
    assert "caution: alpha 0.05: in the file more than alpha of the wrong pairs have distance 0" in text
    assert "alpha 0.5: caution" not in text
    x, y = two_files()
    shuffled = y.sample(len(y), shuffle=True, seed=1)
    text = str(confidentiality_alphas(x, shuffled, tc.Scenario(numeric_keys=["a", "b"]), alphas=(0.05, 0.5)))
    assert text.count("check that both files have the same order") == 1


# Very large and very small numbers.


@pytest.mark.parametrize("power", [600, -600])
@pytest.mark.parametrize("metric", METRICS)
def test_no_square_overflows_or_vanishes(metric: str, power: int) -> None:
    """A power of 2 changes no digit: nor may it change who is unsafe."""
    x, y = two_files()
    keys = ["a", "b"]
    far_x, far_y = (frame.with_columns(pl.col(keys) * 2.0**power) for frame in (x, y))
    plain = tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=keys), metric=metric, k=5, ratio=False)
    found = tc.risk.confidentiality(far_x, far_y, tc.Scenario(numeric_keys=keys), metric=metric, k=5, ratio=False)
    assert found.perturbation == pytest.approx(plain.perturbation, rel=1e-9)
    assert found.neighbours.tolist() == plain.neighbours.tolist()
    assert found.unsafe.tolist() == plain.unsafe.tolist()
    assert plain.unsafe.any()


# Nothing to move from.


def from_nothing() -> Any:
    """The third record has no size: its perturbation is infinite."""
    x = pl.DataFrame({"a": [5.0, 6.0, 0.0, 9.0], "b": [1.0, 2.0, 0.0, 3.0]})
    y = pl.DataFrame({"a": [5.5, 6.0, 0.1, 9.5], "b": [1.0, 2.5, 0.0, 3.0]})
    return x, y, tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["a", "b"]), delta=0.2)


def test_an_infinite_perturbation_is_said() -> None:
    x, y, found = from_nothing()
    assert found.perturbation[2] == math.inf
    assert not found.unsafe[2]
    note = "1 record moved from 0 in all keys on this scale: perturbation infinite, counted as safe"
    assert note in found.notes
    assert (
        note not in tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["a", "b"]), delta=0.2, vertical=True).notes
    )


@pytest.mark.parametrize("kind", ["png", "svg", "pdf", "html"])
def test_figures_with_infinite_figures_are_saved(kind: str, tmp_path: Path) -> None:
    x, y, found = from_nothing()
    for place, chart in enumerate(
        [
            found.plot(table=True),
            confidentiality_alphas(x, y, tc.Scenario(numeric_keys=["a", "b"]), alphas=(0.3, 0.5)).plot(),
        ]
    ):
        assert "Infinity" not in chart.to_json()
        assert tc.save(chart, tmp_path / f"{place}.{kind}").stat().st_size > 0
    assert '"infinite"' in json.dumps(found.plot().to_dict())
    cells = pl.DataFrame({"value": [0.0, 1.0, 2.0], "lower": [0.0, 0.0, 1.0], "upper": [2.0, 3.0, 4.0]})
    intervals = tc.risk.cell_confidentiality(cells, cells, tc.Scenario(numeric_keys=["value"]), delta=0.3, k=2)
    assert np.isinf(intervals.width).any()
    assert tc.save(intervals.plot(table=True), tmp_path / f"cells.{kind}").stat().st_size > 0


def test_without_a_finite_z_there_are_no_densities() -> None:
    x = pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    found = tc.risk.confidentiality(x, x * 0.0, tc.Scenario(numeric_keys=["a"]))
    with pytest.raises(tc.TacitaError, match="no pair of records has a finite z, so there is nothing to draw"):
        found.plot("densities")
    both = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "g": [0, 0, 1, 1]})
    moved = both.with_columns(a=pl.Series([0.0, 0.0, 3.1, 4.1]))
    points = densities_points(tc.risk.confidentiality(both, moved, tc.Scenario(numeric_keys=["a"]), strata="g"))
    assert points["stratum"].unique().to_list() == ["1"]


# What a figure holds.


def subtitles(chart: Any) -> list[str]:
    said = chart.to_dict()["title"]["subtitle"]
    return [said] if isinstance(said, str) else list(said)


def numbers_in(value: Any) -> list[float]:
    if isinstance(value, dict):
        return [number for each in value.values() for number in numbers_in(each)]
    if isinstance(value, list):
        return [number for each in value for number in numbers_in(each)]
    return [float(value)] if isinstance(value, int | float) and not isinstance(value, bool) else []


@pytest.mark.parametrize("log", [False, True, "unit_free"])
def test_a_figure_does_not_give_originals_away(log: Any) -> None:
    """With the released file an exact |y - x| / |x| tells x, and so would z; figures hold what they show."""
    x, y = two_files()
    found = tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["a"]), log=log)
    for chart in (found.plot(), found.plot(table=True), found.by_ratio().plot()):
        data = chart.to_dict()["datasets"]
        held = np.array(numbers_in(data))
        for secret in (found.perturbation, found.distance, x["a"].to_numpy(), y["a"].to_numpy()):
            apart = np.abs(secret[:, None] - held).min(axis=1)
            assert (apart > 1e-9).mean() > 0.9
        names = {name for rows in data.values() for row in rows for name in row}
        figures = {"record", "stratum", "neighbours", "mark", "unsafe", "moved", "height"}
        assert names <= figures | {"size", "rank", "line", "head", "floor"} | {
            "at",
            "colour",
            "word",
        }  # the key to marks
    rows = [row for part in data.values() for row in part if "moved" in row]
    by_number = dict(zip(found.record.tolist(), found.perturbation.tolist(), strict=True))
    assert rows
    assert all(row["moved"] == f"{by_number[row['record']]:.1%}" for row in rows)


def test_losses_in_a_figure_are_rounded() -> None:
    x, y = two_files()
    found = tc.risk.categorical_confidentiality(x, y, tc.Scenario(keys=("g",)), variables=["a"], k=30)
    data = found.plot(table=True).to_dict()["datasets"]
    losses = [row["loss"] for rows in data.values() for row in rows if "loss" in row]
    assert len(losses) >= 40
    assert all(loss == round(loss, 3) for loss in losses)


def test_the_caption_counts_who_is_left_out_and_says_when_delta_is_0() -> None:
    x, y = two_files()
    gaps = y.with_columns(a=pl.when(pl.int_range(40) < 3).then(None).otherwise(pl.col("a")))
    left = "3 records left out: a key is missing or has no logarithm"
    found = tc.risk.confidentiality(x, gaps, tc.Scenario(numeric_keys=["a"]), strata="g")
    assert left in subtitles(found.plot())
    assert left in subtitles(found.plot(by="stratum"))
    assert left in subtitles(confidentiality_alphas(x, gaps, tc.Scenario(numeric_keys=["a"])).plot())
    sets = tc.risk.confidentiality_sets(
        x, gaps, tc.Scenario(numeric_keys=["any"]), key_sets={"one": ["a"], "two": ["b"]}
    )
    assert f"one: {left}" in subtitles(sets.plot())
    zeros = pl.DataFrame({"x": [0.0] * 9 + [5.0]})
    tied = tc.risk.confidentiality(zeros, zeros, tc.Scenario(numeric_keys=["x"]))
    assert "caution: delta is 0, so nobody has neighbours; too many values are equal" in subtitles(tied.plot())


def test_the_caption_of_alphas_counts_what_is_not_drawn_one_by_one() -> None:
    x, y = two_files(2000)
    lines = subtitles(confidentiality_alphas(x, y, tc.Scenario(numeric_keys=["a"]), alphas=(0.01, 0.05, 0.1)).plot())
    for alpha in ("0.01", "0.05", "0.1"):
        said = next(line for line in lines if line.startswith(f"alpha {alpha}: "))
        counts = said.split(": ")[1].split("; ")[-1].split(", ")[:2]
        one, cells = (int(part.split()[0].replace(",", "")) for part in counts)
        assert one + cells == 2000


def test_the_caption_says_the_scale() -> None:
    x, y = two_files()
    found = tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["a", "b"]), log=True, metric="gower")
    assert subtitles(found.plot())[0].endswith("keys: a, b (log scale), gower distance")
    sets = tc.risk.confidentiality_sets(x, y, tc.Scenario(numeric_keys=["any"]), key_sets=[["a"], ["a", "b"]], log=True)
    assert subtitles(sets.plot())[0] == "records below the line are unsafe (k = 15, r = 15 %) (log scale)"


# Ranks without sizes.


def test_who_has_no_size_is_not_the_largest_and_keeps_no_rank() -> None:
    nothing = math.nan
    size, stratum = np.array([nothing, 4.0, 7.0, nothing, nothing]), np.array([0, 0, 0, 1, 1])
    record = np.arange(5)
    assert largest_units(size, stratum, record).tolist() == [False, False, True, False, False]
    assert ranks_kept(size, size, stratum, record, 2, top=3).tolist() == [[True, True, False], [False, False, False]]
    suppressed = np.array([nothing, nothing, 7.0, nothing, nothing])
    assert ranks_kept(size, suppressed, stratum, record, 2, top=3)[0].tolist() == [True, False, False]
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0], "s": size, "g": stratum}).with_columns(
        pl.col("s").fill_nan(None)
    )
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=["x"]), strata="g", size="s", delta=0.1)
    assert found.ranked.tolist() == [2, 0]
    assert [line.split() for line in found.rank_text().splitlines()[1:]] == [["0", "2", "X", "X"], ["1", "0"]]


# Notes and messages.


def test_the_error_of_d_is_a_number_beside_a_stratum_of_one() -> None:
    draw = np.random.default_rng(4)
    x = pl.DataFrame({"x": draw.lognormal(2, 1, 2101), "g": [0] + [1] * 2100})
    y = x.with_columns(x=pl.col("x") * draw.uniform(0.8, 1.2, 2101))
    found = tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["x"]), strata="g")
    note = next(note for note in found.notes if "D within" in note)
    assert "nan" not in note


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"delta": 0.0}, "delta must be above 0; got 0.0."),
        ({"delta": -1}, "delta must be above 0; got -1."),
        ({"zeros": "x"}, "zeros must be one of 'shift', 'exclude'; got 'x'."),
        ({"strata": ["g", "a"]}, "strata are shown by their values, so they must not be keys; leave out 'a'."),
    ],
)
def test_messages(words: dict[str, Any], message: str) -> None:
    x, y = two_files()
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["a"]), **words)
    assert str(error.value) == message


def test_many_small_strata_add_up() -> None:
    draw = np.random.default_rng(6)
    x = pl.DataFrame({"x": draw.lognormal(2, 1, 600), "g": draw.integers(0, 200, 600)})
    y = x.with_columns(x=pl.col("x") * draw.uniform(0.8, 1.2, 600))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tc.risk.confidentiality(x, y, tc.Scenario(numeric_keys=["x"]), strata="g", alpha=0.3, k=3)
    *rows, total = found.rows()
    for place, row in enumerate(rows):
        here = found.stratum == place
        assert row.stratum == found.labels[place]
        assert (row.records, row.unsafe) == (int(here.sum()), int(found.unsafe[here].sum()))
        assert row.mean_neighbours == pytest.approx(found.neighbours[here].mean())
        assert row.expected_neighbours == pytest.approx(0.3 * (here.sum() - 1))
        assert row.delta == found.delta[place]
    assert total.unsafe == sum(row.unsafe for row in rows) == int(found.unsafe.sum())
    assert total.delta == pytest.approx(np.mean([row.delta for row in rows if row.records > 1]))
