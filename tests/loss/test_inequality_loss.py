"""Inequality: against loops over pairs of records, by hand, the bootstrap."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.loss.estimates.resampling import sampling_units, times_drawn
from tacita.random import Draws

rows = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 2.0, 2.0, 7.25, None]), st.sampled_from([1.0, 2.0, 3.5])),
    min_size=1,
    max_size=9,
)
WHO = tc.Scenario(numeric_keys=["n"], weight="w")
NUMERIC = {"n": tc.Variable(scale="numeric")}


def file(records: list[tuple[float | None, float]]) -> Data:
    return Data.of(pl.DataFrame(records, schema={"n": pl.Float64, "w": pl.Float64}, orient="row"), NUMERIC)


def slow_figures(records: list[tuple[float | None, float]], anchor: float | None = None) -> dict[str, float]:
    shown = sorted((value, w) for value, w in records if value is not None)
    size, amount = sum(w for _, w in shown), sum(value * w for value, w in shown)
    found = dict.fromkeys(("gini", "bottom 20 %", "top 20 %", "s80/s20"), math.nan)
    if shown and amount > 0:
        # Half the mean difference of all pairs, over the mean.
        differences = sum(w * v * abs(a - b) for a, w in shown for b, v in shown) / size**2
        found["gini"] = differences / 2 / (amount / size)
        bottom, top = (_poorest(shown, share * size) / amount for share in (0.2, 0.8))
        found |= {"bottom 20 %": bottom, "top 20 %": 1 - top}
        found["s80/s20"] = (1 - top) / bottom if bottom > 1e-15 else math.nan
    line = slow_line(records)
    for name, limit in (("poverty rate", line), ("poverty rate, first line", line if anchor is None else anchor)):
        poor = sum(w for value, w in shown if value < limit)
        found[name] = poor / size if shown and not math.isnan(limit) else math.nan
    return found


def _poorest(shown: list[tuple[float, float]], size: float) -> float:
    """What the poorest have, of a given weight in all."""
    amount = 0.0
    for value, w in shown:
        amount += value * min(w, size)
        size -= min(w, size)
    return amount


def slow_line(records: list[tuple[float | None, float]]) -> float:
    shown = sorted((value, w) for value, w in records if value is not None)
    reached, half = 0.0, sum(w for _, w in shown) / 2
    for value, w in shown:
        reached += w
        if reached >= half:
            return 0.6 * value
    return math.nan


@given(rows, rows)
def test_against_the_definitions(
    before: list[tuple[float | None, float]], after: list[tuple[float | None, float]]
) -> None:
    found = tc.loss.inequality_loss(file(before), file(after), WHO)
    one, other = slow_figures(before), slow_figures(after, slow_line(before))
    for each in found.indicators:
        assert each.before == pytest.approx(one[each.statistic], abs=1e-12, nan_ok=True)
        assert each.after == pytest.approx(other[each.statistic], abs=1e-12, nan_ok=True)


def test_by_hand() -> None:
    before = pl.DataFrame({"n": [1.0, 3.0]})
    after = pl.DataFrame({"n": [2.0, 2.0]})
    found = tc.loss.inequality_loss(before, after, tc.Scenario(numeric_keys=["n"]))
    assert (found.gini[0].before, found.gini[0].after, found.mean) == (0.25, 0.0, 0.25)
    curve = found.lorenz_points()
    assert curve.filter(pl.col("population") == 0.5)["before"].item() == 0.25
    assert curve["after"].to_numpy() == pytest.approx(np.linspace(0, 1, 101))


def test_a_bootstrap_of_the_same_file_has_intervals_of_no_width() -> None:
    """The same units are drawn in both files, so that nothing differs."""
    table = pl.DataFrame({"n": np.random.default_rng(1).gamma(2.0, 10.0, 200)})
    found = tc.loss.inequality_loss(table, table, tc.Scenario(numeric_keys=["n"]), replicates=20)
    gini = found.gini[0]
    assert (gini.low, gini.high) == (0.0, 0.0)
    # Of a gamma distribution with shape 2 Gini is 0.375, and its error about 0.3 / sqrt n.
    assert gini.before == pytest.approx(0.375, abs=0.05)
    assert 0.005 < gini.error_before < 0.05


def test_the_bootstrap_against_loops() -> None:
    before = [(1.0, 2.0), (3.0, 1.0), (7.25, 3.5), (2.0, 1.0), (5.0, 1.0)]
    after = [(2.0, 2.0), (3.0, 1.0), (6.0, 3.5), (2.5, 1.0), (4.0, 1.0)]
    found = tc.loss.inequality_loss(file(before), file(after), WHO, replicates=6, seed=3, confidence=0.9)
    gaps = []
    for draw in range(6):
        times = times_drawn(Draws(3).step("inequality"), np.arange(1, 6), draw)
        one, other = (
            slow_figures([(value, w * time) for (value, w), time in zip(side, times.tolist(), strict=True) if time])
            for side in (before, after)
        )
        gaps.append(other["gini"] - one["gini"])
    gini = found.gini[0]
    assert gini.high - gini.low == pytest.approx(2 * 1.6448536269514722 * np.std(gaps, ddof=1))


def test_units_are_named_by_their_first_record() -> None:
    data = Data(pl.DataFrame({"hid": [5, 7, 5, None]}), numbers_of_records=np.array([4, 2, 3, 9]))
    assert sampling_units(data, ("hid",)).tolist() == [3, 2, 3, 9]
    assert sampling_units(data, ()).tolist() == [4, 2, 3, 9]


def test_draws_are_poisson() -> None:
    times = times_drawn(Draws(5), np.arange(20_000), 0)
    assert times.mean() == pytest.approx(1.0, abs=0.03)
    assert times.var() == pytest.approx(1.0, abs=0.05)
    assert (times == 0).mean() == pytest.approx(math.exp(-1), abs=0.01)


def test_negative_numbers_and_no_numbers() -> None:
    table = pl.DataFrame({"n": [-1.5, 2.0, 3.25], "c": ["a", "b", "c"]})
    found = tc.loss.inequality_loss(table, table, tc.Scenario(numeric_keys=["n"]))
    assert found.cautions == ("'n' has negative values: its Gini and shares are no longer between 0 and 1.",)
    with pytest.raises(TacitaError, match="no variable holds measured numbers in both files"):
        tc.loss.inequality_loss(table.drop("n"), table.drop("n"), tc.Scenario(keys=["c"]))
