"""Released intervals and cells of tables: midpoints by hand, what is left out, and messages."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.plots.confidentiality import confidentiality_rows
from tacita.risk.confidentiality_plot.result import Confidentiality

ENDS = {"turnover": ("from", "to")}


def firms() -> tuple[pl.DataFrame, pl.DataFrame]:
    original = pl.DataFrame({"turnover": [10.0, 12.0, 14.0, 300.0, 20.0], "size": [1.0, 2.0, 3.0, 9.0, 4.0]})
    released = pl.DataFrame({"from": [10.0, 10.0, 15.0, 200.0, 20.0], "to": [15.0, 15.0, 19.0, 500.0, None]})
    return original, released


def test_by_hand() -> None:
    found = tc.risk.interval_confidentiality(
        *firms(), tc.Scenario(numeric_keys=["any"]), intervals=ENDS, delta=0.2, k=2
    )
    assert isinstance(found, Confidentiality)
    assert found.record.tolist() == [1, 2, 3, 4]
    assert found.left_out == 1
    # Midpoints 12.5, 12.5, 17 and 350; within 20 % of 17 are 14 and no other, of 12.5 are 10.1 to 14.9.
    assert found.neighbours.tolist() == [2, 2, 1, 1]
    assert found.perturbation.tolist() == pytest.approx([0.25, 0.5 / 12, 3 / 14, 50 / 300])
    assert found.width.tolist() == pytest.approx([0.5, 5 / 12, 4 / 14, 1.0])
    assert found.covered.tolist() == [True, True, False, True]
    assert "1 interval without the original value in it" in str(found)
    figures = found.to_dict()
    assert (figures["covered"], figures["without_width"]) == (3, 0)
    assert figures["median_width"] == pytest.approx((0.5 + 5 / 12) / 2)
    assert {"width", "covered"} <= set(found.to_frame().columns)


@given(st.lists(st.tuples(st.floats(1, 100), st.floats(0, 20), st.floats(0, 20)), min_size=2, max_size=20))
def test_intervals_are_the_confidentiality_of_their_midpoints(rows: list[tuple[float, float, float]]) -> None:
    x = [value for value, _, _ in rows]
    low, high = (
        [value + sign * step for value, *steps in rows for step in [steps[at]]] for at, sign in ((0, -1), (1, 1))
    )
    original, released = pl.DataFrame({"x": x}), pl.DataFrame({"low": low, "high": high})
    found = tc.risk.interval_confidentiality(
        original, released, tc.Scenario(numeric_keys=["any"]), intervals={"x": ("low", "high")}, alpha=0.3
    )
    middle = pl.DataFrame({"x": [a / 2 + b / 2 for a, b in zip(low, high, strict=True)]})
    plain = tc.risk.confidentiality(original, middle, tc.Scenario(numeric_keys=["x"]), alpha=0.3)
    assert found.neighbours.tolist() == plain.neighbours.tolist()
    assert found.perturbation.tolist() == plain.perturbation.tolist()
    assert found.unsafe.tolist() == plain.unsafe.tolist()
    # Half the width is as wrong as the midpoint of an interval around the value can be.
    assert (found.perturbation <= found.width / 2 + 1e-9).all()


def test_values_without_width_are_released_as_they_are() -> None:
    original, _ = firms()
    same = original.with_columns(low=pl.col("turnover"), high=pl.col("turnover"))
    found = tc.risk.interval_confidentiality(
        original, same, tc.Scenario(numeric_keys=["any"]), intervals={"turnover": ("low", "high")}, size="size"
    )
    assert found.perturbation.tolist() == [0.0] * 5
    assert found.width.tolist() == [0.0] * 5
    assert found.size == "size"
    assert "5 of 5 without width" in str(found)


def cells() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "industry": ["a", "a", "a", "b", "b"],
            "value": [40.0, 42.0, 90.0, 40.0, 7.0],
            "lower": [30.0, 35.0, 88.0, 0.0, None],
            "upper": [54.0, 47.0, 96.0, 100.0, None],
        }
    )


def test_cells_by_hand() -> None:
    found = tc.risk.cell_confidentiality(
        cells(), cells(), tc.Scenario(numeric_keys=["value"]), delta=0.1, k=2, strata="industry"
    )
    # Midpoints 42, 41, 92 and 50: within 10 % of 42 are 40 and 42, of 41 too, of 92 only 90, of 50 none in industry b.
    assert found.neighbours.tolist() == [2, 2, 1, 0]
    assert found.perturbation.tolist() == pytest.approx([0.05, 1 / 42, 2 / 90, 0.25])
    assert found.width.tolist() == pytest.approx([0.6, 12 / 42, 8 / 90, 2.5])
    assert found.unsafe.tolist() == [False, False, True, False]
    assert found.left_out == 1
    assert found.keys == ("value",)


def test_the_plot_shows_the_width() -> None:
    found = tc.risk.cell_confidentiality(
        cells(), cells(), tc.Scenario(numeric_keys=["value"]), delta=0.1, k=2, strata="industry"
    )
    rows = confidentiality_rows(found)
    assert rows["record"].to_list() == [3]
    assert rows["width"].to_list() == pytest.approx([8 / 90])
    assert "interval width" in str(found.plot(table=True).to_dict())


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ({}, "name at least one interval; pass intervals={'turnover': ('lower', 'upper')}."),
        ({"turnover": "from"}, "the interval of 'turnover' must be the names of two columns; got 'from'."),
        ({"turnover": ("from", "too")}, "intervals not in the data: 'too'. Did you mean 'to'?"),
        ({"turnovr": ("from", "to")}, "keys not in the data: 'turnovr'. Did you mean 'turnover'?"),
        (
            {"turnover": ("to", "from")},
            "lower ends of intervals must be at most their upper one; 4 records (1, 2, 3, ...), correct the file.",
        ),
    ],
)
def test_messages(ends: Any, message: str) -> None:
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.interval_confidentiality(*firms(), tc.Scenario(numeric_keys=["any"]), intervals=ends)
    assert str(error.value) == message


def test_messages_of_cells() -> None:
    for frame, message in [
        (cells().clear(), "the table has no cells; there is nothing to compare."),
        (
            cells().drop("upper"),
            "lower and upper not in the data: 'upper'. The columns are 'industry', 'value', 'lower'.",
        ),
        (
            cells().with_columns(upper=pl.lit(np.inf)),
            "ends of intervals must be finite or missing; 5 records (1, 2, 3, ...), correct the file.",
        ),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.cell_confidentiality(frame, frame, tc.Scenario(numeric_keys=["value"]))
        assert str(error.value) == message
