"""Survey estimates and their errors: against loops over units and strata, by hand, replicate weights."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.data import Data
from tacita.loss.measured import interval_overlap, mean_overlap

rows = st.lists(
    st.tuples(
        st.sampled_from([-1.5, 0.0, 2.0, 7.25, 8.0, None]),
        st.sampled_from(["x", "y", None]),
        st.sampled_from(["one", "two"]),
        st.sampled_from([1, 2, 3, 4]),
        st.sampled_from(["p", "q"]),
        st.sampled_from([1.0, 2.0, 3.5]),
    ),
    min_size=2,
    max_size=10,
)
SCHEMA = {"n": pl.Float64, "c": pl.String, "s": pl.String, "u": pl.Int64, "d": pl.String, "w": pl.Float64}
WHO = tc.Scenario(keys=["c"], weight="w", strata=["s"])
NUMERIC = {"n": tc.Variable(scale="numeric")}
REACH = 1.959963984540054


def slow_variance(records: list[tuple[Any, ...]], scores: list[float]) -> float:
    """Between units within strata: n/(n-1) times the squared differences from the mean of the stratum."""
    found = 0.0
    for stratum in {row[2] for row in records}:
        units = sorted({row[3] for row in records if row[2] == stratum})
        totals = [
            sum(score for row, score in zip(records, scores, strict=True) if row[2] == stratum and row[3] == unit)
            for unit in units
        ]
        if len(units) > 1:
            mean = sum(totals) / len(units)
            found += len(units) / (len(units) - 1) * sum((total - mean) ** 2 for total in totals)
    return found


def slow_mean(records: list[tuple[Any, ...]], values: list[float | None]) -> tuple[float, float]:
    shown = [(value, row[5]) for value, row in zip(values, records, strict=True) if value is not None]
    if not shown:
        return math.nan, math.nan
    size = sum(w for _, w in shown)
    mean = sum(w * value for value, w in shown) / size
    scores = [
        0.0 if value is None else row[5] * (value - mean) / size for value, row in zip(values, records, strict=True)
    ]
    return mean, math.sqrt(slow_variance(records, scores))


def slow_quantile(records: list[tuple[Any, ...]], values: list[float | None], share: float) -> tuple[float, float]:
    shown = sorted((value, row[5]) for value, row in zip(values, records, strict=True) if value is not None)
    if not shown:
        return math.nan, math.nan
    size = sum(w for _, w in shown)

    def at(wanted: float) -> float:
        reached = 0.0
        for value, w in shown:
            reached += w
            if reached >= min(max(wanted, 0.0), 1.0) * size * (1 - 1e-12):
                return value
        return shown[-1][0]

    value = at(share)
    below = [None if each is None else float(each <= value) for each in values]
    _, error = slow_mean(records, below)
    return value, (at(share + REACH * error) - at(share - REACH * error)) / (2 * REACH)


def in_domain(records: list[tuple[Any, ...]], values: list[Any], domain: str) -> list[Any]:
    return [value if row[4] == domain else None for value, row in zip(values, records, strict=True)]


@given(rows, rows, st.booleans())
def test_against_the_definitions(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]], by: bool) -> None:
    # Another length, so that nothing is taken for a recoding.
    after = [*after, *([after[0]] if len(before) == len(after) else [])]
    files = [Data.of(pl.DataFrame(records, schema=SCHEMA, orient="row"), NUMERIC) for records in (before, after)]
    found = tc.loss.estimate_loss(
        *files, WHO, variables=["n", "c"], clusters=["u"], by=["d"] if by else [], quantiles=[0.3, 0.5]
    )
    domains = sorted({row[4] for row in [*before, *after]}) if by else [None]
    categories = sorted({row[1] for row in [*before, *after] if row[1] is not None})
    for each in found.estimates:
        for records, value, error in ((before, each.before, each.error_before), (after, each.after, each.error_after)):
            numbers, classes = ([row[at] for row in records] for at in (0, 1))
            # Domains are numbered in their order; one that only the release has comes behind.
            place = None if each.domain is None else _domain(before, after, each.domain)
            if each.statistic == "share":
                wanted_class = categories_in_order(before, after, categories)[each.category]
                hits = [float(one == wanted_class) for one in classes]
                wanted = slow_mean(records, hits if place is None else in_domain(records, hits, place))
            else:
                own = numbers if place is None else in_domain(records, numbers, place)
                wanted = (
                    slow_mean(records, own)
                    if each.statistic == "mean"
                    else slow_quantile(records, own, float(each.statistic.split()[1]))
                )
            assert value == pytest.approx(wanted[0], abs=1e-9, nan_ok=True)
            assert error == pytest.approx(wanted[1], abs=1e-6, nan_ok=True)
    assert len([each for each in found.estimates if each.statistic == "mean"]) == len(domains)


def categories_in_order(before: list[Any], after: list[Any], known: list[str]) -> list[str | None]:
    first = sorted({row[1] for row in before if row[1] is not None})
    return [None, *first, *(each for each in known if each not in first)]


def _domain(before: list[Any], after: list[Any], place: int) -> str:
    first = sorted({row[4] for row in before})
    behind = sorted({row[4] for row in after} - set(first))
    return str([*first, *behind][place - 1])


def test_a_mean_by_hand() -> None:
    """Four records, no design: the error is sd / sqrt n, and the interval one and a half units further."""
    before = pl.DataFrame({"n": [1.0, 2.0, 3.0, 4.0], "c": ["a"] * 4})
    after = before.with_columns(pl.col("n") + 1.0)
    who = tc.Scenario(keys=["c"])
    found = tc.loss.estimate_loss(before, after, who, variables=["n"], statistics=["mean", "total"])
    mean, total = found.estimates
    error = math.sqrt(5 / 3 / 4)
    assert (mean.before, mean.error_before) == (2.5, pytest.approx(error))
    assert mean.standardised == pytest.approx(1 / error)
    width = 2 * REACH * error
    assert mean.overlap == pytest.approx((width - 1) / width)
    assert (total.before, total.error_before) == (10.0, pytest.approx(4 * error))
    assert found.loss == pytest.approx(1 - found.overlap)


def test_overlaps_by_hand() -> None:
    """Karr et al. (2006): the mean of the shares of both intervals that both cover."""
    assert interval_overlap((0, 4), (2, 4)) == pytest.approx((2 / 4 + 2 / 2) / 2)
    assert interval_overlap((0, 1), (2, 4)) == pytest.approx((-1 / 1 - 1 / 2) / 2)
    assert interval_overlap((1, 1), (1, 1)) == 1
    assert interval_overlap((1, 1), (0, 2)) == 0.5
    assert math.isnan(interval_overlap((math.nan, 1), (0, 2)))
    assert math.isnan(mean_overlap([math.nan]))


@settings(max_examples=20)
@given(
    st.lists(st.tuples(*(st.sampled_from([0.0, 1.0, 2.0]) for _ in range(4))), min_size=2, max_size=6),
    st.sampled_from([("jackknife", 2 / 3), ("brr", 1 / 3), ("bootstrap", 1 / 3)]),
)
def test_replicate_weights_against_loops(numbers: list[tuple[float, ...]], how: tuple[str, float]) -> None:
    frame = pl.DataFrame([(value, *(w + 0.5 for w in weights)) for value, *weights in numbers],
                         schema=["n", "rw1", "rw2", "rw3"], orient="row")  # fmt: skip
    data = Data.of(frame.with_columns(w=1.0 + pl.col("n")), NUMERIC)
    found = tc.loss.estimate_loss(
        data, data, tc.Scenario(numeric_keys=["n"], weight="w"), variables=["n"], replicate_weights="rw*",
        replicate_method=how[0], statistics=["mean", "total"],
    )  # fmt: skip
    mean, total = found.estimates

    def of(weights: list[float]) -> tuple[float, float]:
        amount = sum(w * row[0] for w, row in zip(weights, numbers, strict=True))
        return amount / sum(weights), amount

    full = of([1.0 + row[0] for row in numbers])
    again = [of([row[at] + 0.5 for row in numbers]) for at in (1, 2, 3)]
    for each, place in ((mean, 0), (total, 1)):
        variance = how[1] * sum((value[place] - full[place]) ** 2 for value in again)
        assert each.before == pytest.approx(full[place])
        assert each.error_before == pytest.approx(math.sqrt(variance), abs=1e-9)


def test_no_cell_is_printed_and_values_are_had_on_request() -> None:
    table = pl.DataFrame({"c": ["secret", "other"] * 4, "n": np.arange(8.0)})
    found = tc.loss.estimate_loss(table, table, tc.Scenario(keys=["c"]), variables=["c"])
    assert "secret" not in f"{found}{found.to_json()}{found.to_frame()}"
    assert set(found.to_frame(values=True)["value"]) == {"secret", "other"}


def test_what_the_release_cannot_give() -> None:
    before = pl.DataFrame({"n": [1.0, 2.5, 3.0, 4.0], "c": ["a", "a", "b", "b"], "u": [1, 1, 2, 2]})
    after = before.with_columns(n=pl.when(pl.col("c") == "a").then("n")).drop("u")
    found = tc.loss.estimate_loss(
        before, after, tc.Scenario(keys=["c"]), variables=["n"], by=["c"], statistics=["mean"], clusters=["u"]
    )
    assert found.lost == 1
    assert "1 estimate of the original cannot be had from the release." in str(found)
    assert any(caution.startswith("the release has no 'u'") for caution in found.cautions)
