"""Variances after protection: by hand, and against loops over records."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.loss.numbers.variance import variance_of_mean, variance_parts

number = st.one_of(st.just(math.nan), st.sampled_from([0.0, 1.0, 2.5, -7.0, 1000.0]))
row = st.tuples(number, st.integers(0, 3), st.sampled_from([1.0, 4.0, 2.5]))


@settings(max_examples=60)
@given(st.lists(row, min_size=1, max_size=12), st.booleans())
def test_parts_against_loops(rows: list[Any], weighted: bool) -> None:
    values, group = np.array([each[0] for each in rows]), np.array([each[1] for each in rows])
    weights = np.array([each[2] for each in rows]) if weighted else None
    found = variance_parts(values, group, weights)
    kept = [(v, g, w if weighted else 1.0) for v, g, w in rows if v == v and g > 0]

    def mean(of: list[Any]) -> float:
        return math.fsum(v * w for v, _, w in of) / math.fsum(w for _, _, w in of)

    groups = {g: mean([each for each in kept if each[1] == g]) for _, g, _ in kept}
    between = math.fsum(w * (groups[g] - mean(kept)) ** 2 for _, g, w in kept)
    within = math.fsum(w * (v - groups[g]) ** 2 for v, g, w in kept)
    assert (found.between, found.within) == pytest.approx((between, within), abs=1e-6)
    assert (found.groups, found.records) == (len(groups), len(kept))
    shown = [(v, 0, w if weighted else 1.0) for v, _, w in rows if v == v]
    slow = math.nan
    if len(shown) > 1:
        n, whole = len(shown), math.fsum(w for _, _, w in shown)
        slow = n / (n - 1) * math.fsum((w * (v - mean(shown))) ** 2 for v, _, w in shown) / whole**2
    assert variance_of_mean(values, weights) == pytest.approx(slow, nan_ok=True, abs=1e-9)


def test_by_hand() -> None:
    """Firms of two sectors: their means move together, and the values in each to its mean."""
    first = pl.DataFrame({"sector": ["a", "a", "b", "b"], "sales": [1.0, 3.0, 5.0, 7.0]})
    closer = first.with_columns(sales=pl.Series([2.0, 2.0, 6.0, 6.0]))
    found = tc.loss.variance_loss(first, closer, tc.Scenario(keys=["sector"]))
    (one,) = found.explained
    assert (one.before.explained, one.after.explained, one.difference) == pytest.approx((0.8, 1.0, 0.2))
    assert found.explained_loss == pytest.approx(0.2)
    assert found.variance_ratio == pytest.approx(16 / 20)
    assert found.to_frame().row(0) == pytest.approx(("sales", "sector", 0.8, 1.0, 1.0, 0.0, 0.8))
    assert "sales by sector" in str(found)
    alone = tc.loss.variance_loss(first, closer, tc.Scenario(keys=["sector"]), by=[])
    assert (alone.explained, alone.explained_loss, alone.to_frame().height) == ((), 0.0, 1)


def test_groups_of_both_files_and_weights() -> None:
    """A sector that was suppressed leaves its record out; other weights give other means."""
    first = pl.DataFrame({"sector": ["a", "a", "b", "b"], "sales": [1.0, 3.0, 5.0, 7.0], "w": [1.0, 1.0, 1.0, 3.0]})
    second = first.with_columns(sector=pl.Series(["a", "a", "b", None]))
    who = tc.Scenario(keys=["sector"], weight="w")
    found = tc.loss.variance_loss(first, second, who)
    before, after = found.explained[0].before, found.explained[0].after
    assert (before.records, after.records) == (4, 3)
    # Means 2 and 6.5, the whole 5: squares 2 times 9 and 4 times 2.25 between; 2 and 3 within.
    assert (before.between, before.within) == pytest.approx((27.0, 5.0))
    plain = tc.loss.variance_loss(first, second, who, weighted=False)
    assert plain.explained[0].before.explained == pytest.approx(0.8)
    with pytest.raises(tc.TacitaError) as error:
        tc.loss.variance_loss(first, second, who, by=["sectr"])
    assert "variables of the original file not in the data: 'sectr'. Did you mean 'sector'?" in str(error.value)


def test_identifiers_make_no_groups() -> None:
    n = 3000
    first = pl.DataFrame(
        {"code": [f"c{at % 1500}" for at in range(n)], "sex": ["f", "m"] * 1500, "x": np.arange(n) / 7}
    )
    found = tc.loss.variance_loss(first, first, tc.Scenario(keys=["sex"]))
    assert [each.by for each in found.explained] == ["sex"]
    assert (found.explained_loss, found.variance_ratio) == (0.0, pytest.approx(1.0))
    named = tc.loss.variance_loss(first, first, tc.Scenario(keys=["sex"]), by=["code"])
    assert [each.by for each in named.explained] == ["code"]
