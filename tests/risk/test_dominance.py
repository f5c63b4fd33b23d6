import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc

amount = st.one_of(st.none(), st.integers(-50, 1000).map(float))


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), amount), min_size=1, max_size=25), st.integers(1, 3))
def test_against_the_definition(rows: list[tuple[str, float | None]], n: int) -> None:
    frame = pl.DataFrame(rows, schema={"cell": pl.String, "x": pl.Float64}, orient="row")
    found = tc.risk.dominance(frame, tc.Scenario(keys=["cell"]), "x", n=n, k=60, p=20)
    cells = found.to_frame()
    assert sorted(cells["cell"].to_list()) == sorted({cell for cell, _ in rows})
    for row in cells.iter_rows(named=True):
        sizes = sorted((abs(x) for cell, x in rows if cell == row["cell"] and x is not None), reverse=True)
        first, second = (*sizes, 0.0, 0.0)[:2]
        total = math.fsum(sizes)
        assert row["contributors"] == len(sizes)
        assert row["total"] == total
        assert row["dominated"] == (sum(sizes[:n]) > 0.6 * total)
        assert row["too_precise"] == (first > 0 and total - first - second < 0.2 * first)


def test_by_hand() -> None:
    """90, 6, 4: the largest has 90 % of the total; the second knows it to within 4/90."""
    firms = pl.DataFrame({"industry": ["a", "a", "a"], "turnover": [6.0, 90.0, 4.0]})
    found = tc.risk.dominance(firms, tc.Scenario(keys=["industry"]), "turnover", k=90)
    assert (found.dominated.tolist(), found.too_precise.tolist(), found.unsafe) == ([False], [True], 1)
    assert tc.risk.dominance(firms, tc.Scenario(keys=["industry"]), "turnover", k=89).dominated.tolist() == [True]
    assert tc.risk.dominance(firms, tc.Scenario(keys=["industry"]), "turnover", p=4).too_precise.tolist() == [False]


def test_a_code_for_not_applicable_is_no_contribution() -> None:
    firms = pl.DataFrame({"industry": ["a"] * 4, "turnover": [6.0, 90.0, 4.0, 9999.0]})
    for codes in ({}, {"turnover": [9999]}):
        cells = tc.risk.dominance(firms, tc.Scenario(keys=["industry"], not_applicable=codes), "turnover").to_frame()
        expected = (4, 10099.0) if not codes else (3, 100.0)
        assert (cells["contributors"][0], cells["total"][0]) == expected


@pytest.mark.parametrize("wrong", [math.inf, -1.7e308])
def test_amounts_that_cannot_be_added_are_refused(wrong: float) -> None:
    firms = pl.DataFrame({"industry": ["a"] * 3, "turnover": [wrong, wrong, 4.0]})
    with pytest.raises(tc.TacitaError, match=r"'turnover' (has infinite values|are not, declare such codes missing)"):
        tc.risk.dominance(firms, tc.Scenario(keys=["industry"]), "turnover")


def test_cells_can_be_named_and_missing_amounts_are_left_out() -> None:
    firms = pl.DataFrame({"a": [1, 1, 2], "b": ["x", "x", "x"], "turnover": [1.0, None, 2.0]})
    found = tc.risk.dominance(firms, tc.Scenario(keys=["a"]), "turnover", by=["b"])
    assert found.to_frame()["contributors"].to_list() == [2]
    assert found.row.tolist() == [0, -1, 0]


def test_messages() -> None:
    firms = pl.DataFrame({"a": ["x"], "turnover": [1.0]})
    for words, message in [
        ({"k": 101}, "k must be a percentage above 0, at most 100; got 101."),
        ({"p": 0}, "p must be a percentage above 0, at most 100; got 0."),
        ({"n": 0}, "n must be at least 1; got 0."),
        ({"by": ["zz"]}, "by not in the data: 'zz'. The columns are 'a', 'turnover'."),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.dominance(firms, tc.Scenario(keys=["a"]), "turnover", **words)  # type: ignore[arg-type]
        assert str(error.value) == message
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.dominance(firms, tc.Scenario(keys=["a"]), "a")
    assert str(error.value) == "column 'a' must hold numbers; it holds text."
