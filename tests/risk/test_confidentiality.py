"""The confidentiality of released numbers: against all pairs, by hand, and what the figure draws."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.plots.confidentiality import MARKS, MOST_POINTS, confidentiality_cells, confidentiality_points
from tacita.risk.confidentiality_plot.limits import Limits

number = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.0, 3.0, 10.0, 100.0]), st.floats(0.5, 50))
row = st.tuples(st.sampled_from(["a", "b"]), number, number, number, number)


Row = tuple[str, float | None, float | None, float | None, float | None]


def distance(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return math.sqrt(sum((p - q) * (p - q) for p, q in zip(a, b, strict=True)))


def z_of(y: tuple[float, ...], x: tuple[float, ...]) -> float:
    norm = distance(y, (0.0,) * len(y))
    if norm > 0:
        return distance(y, x) / norm
    return 0.0 if y == x else math.inf


@given(st.lists(row, min_size=1, max_size=25), st.sampled_from([0.05, 0.3, 0.7]))
def test_against_all_pairs(
    rows: list[tuple[str, float | None, float | None, float | None, float | None]], alpha: float
) -> None:
    full = [each for each in rows if None not in each]
    original = pl.DataFrame([(g, p, q) for g, p, q, _, _ in rows], schema=["g", "p", "q"], orient="row", strict=False)
    released = pl.DataFrame([(g, p, q) for g, _, _, p, q in rows], schema=["g", "p", "q"], orient="row", strict=False)
    original, released = (each.with_columns(pl.col("p", "q").cast(pl.Float64)) for each in (original, released))
    if not full:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys=["p", "q"]))
        assert str(error.value) == "no record has all keys in both files; there is nothing to compare."
        return
    found = tc.risk.confidentiality(
        original, released, tc.Scenario(numeric_keys=["p", "q"]), strata="g", alpha=alpha, k=3
    )
    assert found.left_out == len(rows) - len(full)
    for place, label in enumerate(found.labels):
        inside = [each for each in full if each[0] == label]
        x = [(each[1], each[2]) for each in inside]
        y = [(each[3], each[4]) for each in inside]
        wrong = sorted(z_of(y[i], x[h]) for i in range(len(x)) for h in range(len(x)) if h != i)  # type: ignore[arg-type]
        delta = found.delta[place]
        if wrong:
            counted = sum(z < delta for z in wrong)
            assert counted <= alpha * len(wrong) + 1e-9
            later = [z for z in wrong if z >= delta]
            # No more could be counted: all pairs with the next z would be too many.
            assert not later or sum(z <= later[0] for z in wrong) > alpha * len(wrong)
        here = np.flatnonzero(found.stratum == place)
        for i, at in enumerate(here):
            near = [z_of(y[i], each) for each in x]  # type: ignore[arg-type]
            assert found.neighbours[at] == sum(z < delta for z in near)
            assert found.inside[at] == (near[i] < delta)
            steps = [distance(y[i], each) for each in x]  # type: ignore[arg-type]
            best = min(steps)
            assert found.correct[at] == pytest.approx((steps[i] == best) / steps.count(best))


def test_limits() -> None:
    x, y = np.array([0.0, 0.0, 5.0, 10.0, 10.0, 20.0]), np.array([0.0, 0.15, 0.1, 0.0, 0.049, 0.0])
    assert Limits(15, 0.15).unsafe(x, y).tolist() == [True, False, False, True, True, False]
    assert Limits(15, 0.15, g=2.0).unsafe(x, y).tolist() == [True, False, True, True, True, False]
    assert Limits(15, 0.15, vertical=True).unsafe(x, y).tolist() == [True, True, True, True, True, False]


def test_largest_unit_and_ranks() -> None:
    original = pl.DataFrame({"g": [1, 1, 1, 2], "x": [5.0, 9.0, 7.0, 1.0]})
    released = pl.DataFrame({"g": [1, 1, 1, 2], "x": [8.5, 9.5, 8.0, 1.0]})
    found = tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys=["x"]), strata="g", delta=0.1)
    assert found.largest.tolist() == [False, True, False, True]
    ranks = found.rank_table()
    assert ranks["preserved"].to_list() == [1, 1]
    assert ranks["rank_1"].to_list() == [True, True]
    assert ranks["rank_2"].to_list() == [False, False]


def test_log_scale_and_what_is_left_out() -> None:
    original = pl.DataFrame({"x": [0.0, math.e, math.e**2, None]})
    found = tc.risk.confidentiality(
        original, original, tc.Scenario(numeric_keys=["x"]), log=True, zeros="exclude", delta=0.6
    )
    assert (found.record.tolist(), found.left_out) == ([2, 3], 2)
    # On the log scale 1 and 2: z = 1/1 for the first, 1/2 for the second.
    assert found.neighbours.tolist() == [1, 2]
    assert (
        tc.risk.confidentiality(original, original, tc.Scenario(numeric_keys=["x"]), log=True, delta=0.6).left_out == 1
    )


def test_records_are_matched_by_number() -> None:
    data = tc.Data.of(pl.DataFrame({"x": [1.0, 2.0, 30.0]}))
    shuffled = data.take(np.array([2, 0, 1]))
    found = tc.risk.confidentiality(data, shuffled, tc.Scenario(numeric_keys=["x"]), delta=0.1)
    assert found.perturbation.tolist() == [0.0, 0.0, 0.0]
    # A record that is not released is not compared; without numbers nobody knows which one it is.
    some = tc.risk.confidentiality(data, data.take(np.array([2, 0])), tc.Scenario(numeric_keys=["x"]), delta=0.1)
    assert some.record.tolist() == [1, 3]
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.confidentiality(data, pl.DataFrame({"x": [1.0, 2.0]}), tc.Scenario(numeric_keys=["x"]))
    assert str(error.value) == (
        "the released file must have the records of the original; it has 2 for 3, compare files of the same units."
    )


def test_key_sets_in_one_call() -> None:
    survey = tc.business_survey(300)
    masked = tc.log_noise(survey.data, ["turnover", "employees"], sd=0.3)
    sets = {"case 1": ["turnover"], "case 2": ["turnover", "employees"]}
    found = tc.risk.confidentiality_sets(
        survey.data, masked, tc.Scenario(numeric_keys=["any"]), key_sets=sets, strata="industry", log=True
    )
    table = found.to_frame()
    assert table["keys"].to_list() == ["case 1"] * 9 + ["case 2"] * 9
    assert table.filter(table["stratum"] == "all")["records"].to_list() == [300, 300]
    part = found.parts["case 2"]
    assert part.table()["unsafe"].to_list()[-1] == int(part.unsafe.sum())


def test_figure_of_a_small_file_draws_every_record() -> None:
    survey = tc.business_survey(200)
    found = tc.risk.confidentiality(
        survey.data, tc.log_noise(survey.data, ["turnover"]), tc.Scenario(numeric_keys=["turnover"]), log=True
    )
    points = confidentiality_points(found)
    assert points.height == 200
    assert set(points["mark"].to_list()) <= set(MARKS)
    assert (points["mark"] == MARKS[3]).sum() == 1
    assert "turnover" not in points.columns
    plot, key = found.plot().to_dict()["vconcat"]
    assert plot["layer"]
    assert key["layer"]


def test_figure_of_a_large_file_draws_few_marks_and_counts_all() -> None:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"x": rng.lognormal(5, 1, 20_000)})
    found = tc.risk.confidentiality(frame, tc.log_noise(frame, ["x"]), tc.Scenario(numeric_keys=["x"]), alpha=0.001)
    points, cells = confidentiality_points(found), confidentiality_cells(found)
    assert points.height + cells.height <= MOST_POINTS
    assert points.height + int(cells["records"].sum()) == 20_000
    unsafe = int(points["unsafe"].sum()) + int(cells.filter(cells["unsafe"])["records"].sum())
    assert unsafe == int(found.unsafe.sum())


def test_messages() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0], "t": ["a", "b"], "i": [1.0, math.inf]})
    for keys, words, message in [
        (["y"], {}, "keys not in the data: 'y'. The columns are 'x', 't', 'i'."),
        ([], {}, "a scenario must name at least one key; pass keys=[...]."),
        (["t"], {}, "column 't' must hold numbers; it holds text."),
        (["i"], {}, "keys must be finite; 'i' has infinite values, correct the file."),
        (["x"], {"alpha": 0}, "alpha must be in (0, 1); got 0."),
        (["x"], {"r": 0}, "r must be above 0; got 0."),
        (["x"], {"k": 0}, "k must be at least 1; got 0."),
        (["x"], {"log": True, "zeros": "x"}, "zeros must be one of 'shift', 'exclude'; got 'x'."),
        (["x"], {"strata": "z"}, "strata not in the data: 'z'. The columns are 'x', 't', 'i'."),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=keys), **words)  # type: ignore[arg-type]
        assert str(error.value) == message


def test_equal_values_are_a_caution() -> None:
    frame = pl.DataFrame({"x": [0.0] * 9 + [5.0]})
    found = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=["x"]))
    assert found.delta.tolist() == [0.0]
    assert found.cautions[0].startswith("in the file more than alpha of the wrong pairs have distance 0")
    assert found.cautions[0] in str(found)
    assert tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=["x"]), delta=0.1).cautions == ()


def test_where_sensitive_variables_are_named_neighbours_alone_decide_unless_told_otherwise() -> None:
    firms = pl.DataFrame({"turnover": [10.0, 11.0, 12.0, 300.0], "debt": [1.0, 2.0, 3.0, 4.0]})
    masked = firms.with_columns(turnover=pl.col("turnover") * 3)
    plain = tc.Scenario(numeric_keys=["turnover"])
    sensitive = tc.Scenario(numeric_keys=["turnover"], sensitive=["debt"])

    def unsafe(who: tc.Scenario, **options: Any) -> list[bool]:
        found = tc.risk.confidentiality(firms, masked, who, delta=0.2, k=3, **options)
        return found.unsafe.tolist()  # type: ignore[no-any-return]

    few = unsafe(plain, vertical=True)
    assert any(few) and not any(unsafe(plain))
    assert unsafe(sensitive) == few
    assert unsafe(sensitive, vertical=False) == unsafe(sensitive, r=0.15) == unsafe(plain)
