import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.data import Data

number = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, -1.0, 10.0]), st.floats(-5, 5))
row = st.tuples(st.sampled_from(["a", "b", None]), number, number)


def candidates(
    rows: list[tuple[str | None, float | None, float | None]], tol: tuple[float, float], relative: bool
) -> list[int]:
    """Pairs of records, straight from the definition."""
    out = []
    for i in rows:
        found = 0
        for h in rows:
            agree = i[0] is None or i[0] == h[0]
            for x, y, width in zip(i[1:], h[1:], tol, strict=True):
                if x is not None:
                    agree = agree and y is not None and abs(y - x) <= (width * abs(x) if relative else width)
            found += agree
        out.append(found)
    return out


@given(st.lists(row, min_size=1, max_size=40), st.sampled_from([(0.1, 0.2), (0.0, 1.0), (0.3, 0.0)]), st.booleans())
def test_against_pairs(
    rows: list[tuple[str | None, float | None, float | None]], tol: tuple[float, float], relative: bool
) -> None:
    frame = pl.DataFrame(rows, schema={"g": pl.String, "x": pl.Float64, "y": pl.Float64}, orient="row")
    scenario = tc.Scenario(keys=["g"], numeric_keys=["x", "y"])
    found = tc.risk.mixed_uniqueness(frame, scenario, {"x": tol[0], "y": tol[1]}, relative=relative)
    assert found.count.tolist() == candidates(rows, tol, relative)


@given(st.lists(row, min_size=1, max_size=40), st.booleans(), st.booleans())
def test_codes_for_not_applicable_are_no_blanks(
    rows: list[tuple[str | None, float | None, float | None]], relative: bool, in_scenario: bool
) -> None:
    """Against pairs, with -1 a value that agrees with itself only and a blank of y a category."""
    frame = pl.DataFrame(rows, schema={"g": pl.String, "x": pl.Float64, "y": pl.Float64}, orient="row")
    codes = {"x": (-1,), "y": (-1.0, "")}
    known = {} if in_scenario else {name: tc.Variable(not_applicable=each) for name, each in codes.items()}
    scenario = tc.Scenario(keys=["g"], numeric_keys=["x", "y"], not_applicable=codes if in_scenario else {})
    found = tc.risk.mixed_uniqueness(Data.of(frame, known), scenario, 0.3, relative=relative)
    expected = []
    for i in rows:
        near = 0
        for h in rows:
            agree = i[0] is None or i[0] == h[0]
            for place in (1, 2):
                x, y = i[place], h[place]
                if x == -1.0 or y == -1.0 or (place == 2 and None in (x, y)):
                    agree = agree and (x == y or (x is None and place == 1))
                elif x is not None:
                    agree = agree and y is not None and abs(y - x) <= (0.3 * abs(x) if relative else 0.3)
            near += agree
        expected.append(near)
    assert found.count.tolist() == expected


def test_many_records_and_groups() -> None:
    rng = np.random.default_rng(5)
    g, x, y = rng.integers(0, 5, 700), rng.normal(size=700).round(2), rng.exponential(size=700)
    frame = pl.DataFrame({"g": g, "x": x, "y": y})
    found = tc.risk.mixed_uniqueness(frame, tc.Scenario(keys=["g"], numeric_keys=["x", "y"]), 0.25)
    near = (g[:, None] == g) & (np.abs(x[:, None] - x) <= 0.25) & (np.abs(y[:, None] - y) <= 0.25)
    assert found.count.tolist() == near.sum(axis=1).tolist()
    assert found.unique == int((near.sum(axis=1) == 1).sum())
    assert found.below(3) == int((near.sum(axis=1) < 3).sum())


def test_without_categorical_keys() -> None:
    frame = pl.DataFrame({"x": [1.0, 1.5, 9.0]})
    found = tc.risk.mixed_uniqueness(frame, tc.Scenario(numeric_keys=["x"]), 0.5)
    assert found.count.tolist() == [2, 2, 1]
    assert str(found) == "1 of 3 records are unique (33.3 %) on no categorical keys and x +- 0.5 (absolute)"


def test_messages() -> None:
    frame = pl.DataFrame({"a": ["x"], "n": [1.0], "m": [float("inf")], "h": [-1e300]})
    for scenario, tolerance, message in [
        (tc.Scenario(keys=["a"]), 1.0, "mixed uniqueness needs numeric keys; pass numeric_keys=[...] in the scenario."),
        (tc.Scenario(numeric_keys=["n"]), -1.0, "a tolerance must not be negative; got -1."),
        (tc.Scenario(numeric_keys=["n"]), {}, "give a tolerance for every numeric key; 'n' has none."),
        (tc.Scenario(numeric_keys=["n"]), "x", "tolerance of 'n' must be a number; got 'x'."),
        (
            tc.Scenario(numeric_keys=["m"]),
            1.0,
            "variables must be finite; 'm' has infinite values, correct the file.",
        ),
        (
            tc.Scenario(numeric_keys=["h"]),
            1.0,
            "numbers must be below 1e+150 in size to be compared; those of 'h' are not, declare such codes missing.",
        ),
        (tc.Scenario(numeric_keys=["a"]), 1.0, "column 'a' must hold numbers; it holds text."),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.mixed_uniqueness(frame, scenario, tolerance)
        assert str(error.value) == message
