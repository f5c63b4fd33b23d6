"""Associations: against loops over the definitions, by hand, the reference figures."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tacita as tc
from conftest import Reference
from tacita.data import Data

category = st.sampled_from(["a", "b", "c", None])
amount = st.sampled_from([-1.5, 0.0, 2.0, 7.25, 8.0, None])
rows = st.lists(
    st.tuples(category, st.sampled_from(["x", "y"]), amount, amount, st.sampled_from([1.0, 2.0, 3.5])),
    min_size=1,
    max_size=9,
)
SCHEMA = {"c": pl.String, "d": pl.String, "m": pl.Float64, "n": pl.Float64, "w": pl.Float64}
WHO = tc.Scenario(keys=["c", "d"], numeric_keys=["m", "n"], weight="w")
NUMERIC = {name: tc.Variable(scale="numeric") for name in "mn"}


def file(records: list[tuple[Any, ...]]) -> Data:
    return Data.of(pl.DataFrame(records, schema=SCHEMA, orient="row"), NUMERIC)


def same(found: float, wanted: float) -> bool:
    return bool(found == pytest.approx(wanted, abs=1e-6, nan_ok=True))


def slow_table(pairs: list[tuple[Any, Any, float]]) -> tuple[float, float, float]:
    """Cramer's V, normalised information, p-value with Kish's number of records."""
    total = sum(w for _, _, w in pairs)
    cells, row, column = Counter(), Counter(), Counter()  # type: ignore[var-annotated]
    for one, other, w in pairs:
        cells[one, other] += w / total
        row[one] += w / total
        column[other] += w / total
    if min(len(row), len(column)) < 2:
        return math.nan, math.nan, math.nan
    phi = sum((cells[one, other] - row[one] * column[other]) ** 2 / (row[one] * column[other])
              for one in row for other in column)  # fmt: skip
    information = sum(p * math.log(p / row[one] / column[other]) for (one, other), p in cells.items())
    entropy = min(-sum(p * math.log(p) for p in side.values()) for side in (row, column))
    records = total**2 / sum(w * w for _, _, w in pairs)
    degrees = (len(row) - 1) * (len(column) - 1)
    return (
        math.sqrt(phi / (min(len(row), len(column)) - 1)),
        information / entropy,
        stats.chi2.sf(records * phi, degrees),
    )


def slow_correlation(pairs: list[tuple[float, float, float]]) -> float:
    total = sum(w for *_, w in pairs)
    if not pairs or any(len({pair[at] for pair in pairs}) < 2 for at in (0, 1)):
        return math.nan
    x, y = (sum(pair[at] * pair[2] for pair in pairs) / total for at in (0, 1))
    both = sum(w * (a - x) * (b - y) for a, b, w in pairs)
    return both / math.sqrt(sum(w * (a - x) ** 2 for a, _, w in pairs) * sum(w * (b - y) ** 2 for _, b, w in pairs))


def slow_ranks(pairs: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    def rank(own: float, at: int) -> float:
        return sum(pair[2] * ((pair[at] < own) + (pair[at] == own) / 2) for pair in pairs)

    return [(rank(a, 0), rank(b, 1), w) for a, b, w in pairs]


def slow_ratio(pairs: list[tuple[Any, float, float]]) -> float:
    groups = {one for one, _, _ in pairs}
    if len(groups) < 2 or len({value for _, value, _ in pairs}) < 2:
        return math.nan
    mean = sum(w * value for _, value, w in pairs) / sum(w for *_, w in pairs)
    between = 0.0
    for group in groups:
        own = [(value, w) for one, value, w in pairs if one == group]
        size = sum(w for _, w in own)
        between += size * (sum(w * value for value, w in own) / size - mean) ** 2
    return math.sqrt(between / sum(w * (value - mean) ** 2 for _, value, w in pairs))


@given(rows, rows)
def test_against_the_definitions(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> None:
    # Another length, so that nothing is taken for a recoding.
    after = [*after, *([after[0]] if len(before) == len(after) else [])]
    found = {(pair.first, pair.second): pair for pair in tc.loss.association_loss(file(before), file(after), WHO).pairs}
    for side, records in (("before", before), ("after", after)):

        def of(pair: Any, kind: str = "", side: str = side) -> float:
            return float(getattr(pair, f"{kind}{side}"))

        v, information, p = slow_table([(row[0], row[1], row[4]) for row in records])
        pair = found["c", "d"]
        assert same(of(pair), v)
        assert same(of(pair, "further_"), information)
        assert same(of(pair, "p_"), p)
        numbers = [(row[2], row[3], row[4]) for row in records if None not in row[2:4]]
        assert same(of(found["m", "n"]), slow_correlation(numbers))
        assert same(of(found["m", "n"], "further_"), slow_correlation(slow_ranks(numbers)))
        for one, at in itertools.product("cd", (2, 3)):
            mixed = [(row["cd".index(one)], row[at], row[4]) for row in records if row[at] is not None]
            assert same(of(found[one, "mn"[at - 2]]), slow_ratio(mixed))


def test_by_hand() -> None:
    before = pl.DataFrame({"sex": ["f", "f", "m", "m"] * 10, "work": ["y", "y", "n", "n"] * 10})
    after = before.with_columns(work=pl.Series(["y", "n", "y", "n"] * 10))
    found = tc.loss.association_loss(before, after, tc.Scenario(keys=["sex", "work"]))
    assert (found.mean, found.greatest, found.tested, found.answers_changed) == (1.0, 1.0, 1, 1)
    assert found.pairs[0].further_before == pytest.approx(1.0)


def test_bias_correction_by_hand() -> None:
    """Bergsma (2013): phi^2 less (r-1)(c-1)/(n-1), sides less (r-1)^2/(n-1)."""
    table = pl.DataFrame({"a": ["x"] * 6 + ["y"] * 4, "b": ["p"] * 5 + ["q"] * 5})
    pair = tc.loss.association_loss(table, table, tc.Scenario(keys=["a", "b"]), corrected=True).pairs[0]
    phi = 10 * (25 / 30 + 1 / 30 + 16 / 20) / 10 - 1
    assert pair.before == pytest.approx(math.sqrt((phi - 1 / 9) / (2 - 1 / 9 - 1)))


def test_only_so_many_variables_are_paired_and_it_says_so() -> None:
    table = pl.DataFrame({name: ["x", "y"] for name in "abcd"})
    found = tc.loss.association_loss(table, table, tc.Scenario(keys=list("abcd")), most=2)
    assert found.variables == ("a", "b")
    assert found.cautions == ("only the first 2 of 4 variables are paired; name others, or set most=4.",)


@pytest.mark.parametrize("case", ["additive", "correlated"])
def test_correlations_of_the_reference(reference: Reference, case: str) -> None:
    data = reference.data("Tarragona")
    wanted = pl.read_csv(reference.folder / "cases" / f"distribution_Tarragona_addNoise_{case}__cor_in.csv")
    names = [name for name in data.columns if data[name].dtype == pl.Float64][:4]
    found = tc.loss.association_loss(data, data, tc.Scenario(numeric_keys=names))
    matrix = wanted.select(pl.selectors.numeric()).to_numpy()
    columns = [name for name in wanted.columns if wanted[name].dtype == pl.Float64]
    for pair in found.pairs:
        assert pair.before == pytest.approx(matrix[columns.index(pair.first), columns.index(pair.second)], rel=1e-9)
    assert found.mean == 0
    assert np.isfinite(matrix).all()
