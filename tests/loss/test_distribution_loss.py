"""Distances of distributions: against loops over the definitions, by hand, recoded and awkward data."""

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.data import Data
from tacita.loss.distributions.distribution_loss import number_distances

value = st.sampled_from(["a", "b", "c", None])
amount = st.sampled_from([-1.5, 0.0, 2.0, 2.0, 7.25, None])
weight = st.sampled_from([1.0, 2.5, 4.0])
rows = st.lists(st.tuples(value, amount, weight), min_size=1, max_size=9)
NUMERIC = {"n": tc.Variable(scale="numeric")}


def file(records: list[tuple[Any, ...]]) -> Data:
    schema = {"c": pl.String, "n": pl.Float64, "w": pl.Float64}
    return Data.of(pl.DataFrame(records, schema=schema, orient="row"), NUMERIC)


def shares(records: list[tuple[Any, ...]]) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for category, _, w in records:
        found[category] += w / sum(row[2] for row in records)
    return found


def slow_classes(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> tuple[float, float, float]:
    p, q = shares(before), shares(after)
    hellinger = variation = divergence = 0.0
    for each in {*p, *q}:
        hellinger += (math.sqrt(p[each]) - math.sqrt(q[each])) ** 2 / 2
        variation += abs(p[each] - q[each]) / 2
        for one in (p, q):
            if one[each]:
                divergence += one[each] / 2 * math.log2(2 * one[each] / (p[each] + q[each]))
    return math.sqrt(hellinger), variation, math.sqrt(max(divergence, 0.0))


def slow_numbers(x: list[tuple[float, float]], y: list[tuple[float, float]]) -> tuple[float, float, float]:
    """Kolmogorov-Smirnov, Wasserstein and the energy coefficient, each pair of records looked at."""

    def up_to(side: list[tuple[float, float]], limit: float) -> float:
        return sum(w for number, w in side if number <= limit) / sum(w for _, w in side)

    def apart(one: list[tuple[float, float]], other: list[tuple[float, float]]) -> float:
        total = sum(w for _, w in one) * sum(w for _, w in other)
        return sum(w * v * abs(a - b) for a, w in one for b, v in other) / total

    ends = sorted({number for number, _ in [*x, *y]})
    gaps = [abs(up_to(x, end) - up_to(y, end)) for end in ends]
    moved = sum(gap * (high - low) for gap, low, high in zip(gaps, ends, ends[1:], strict=False))
    between = apart(x, y)
    energy = (2 * between - apart(x, x) - apart(y, y)) / (2 * between) if between else 0.0
    return max(gaps), moved, energy


@given(rows, rows)
def test_against_the_definitions(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> None:
    # Another length, so that nothing is taken for a recoding.
    after = [*after, *([after[0]] if len(before) == len(after) else [])]
    who = tc.Scenario(keys=["c"], weight="w")
    found = tc.loss.distribution_loss(file(before), file(after), who)
    categories, numbers = found.variables
    wanted = slow_classes(before, after)
    assert categories[4:7] == pytest.approx(wanted, abs=1e-7)
    assert categories.loss == categories.hellinger
    x, y = ([(number, w) for _, number, w in side if number is not None] for side in (before, after))
    gap = abs(numbers.missing_before - numbers.missing_after)
    if x and y:
        ks, moved, energy = slow_numbers(x, y)
        middle = sum(a * w for a, w in x) / sum(w for _, w in x)
        sd = math.sqrt(sum(w * (a - middle) ** 2 for a, w in x) / sum(w for _, w in x))
        assert numbers.kolmogorov_smirnov == pytest.approx(ks, abs=1e-12)
        assert numbers.energy == pytest.approx(energy, abs=1e-9)
        if sd > 1e-9:
            assert numbers.wasserstein == pytest.approx(moved / sd, abs=1e-9)
        assert numbers.loss == pytest.approx(max(ks, gap), abs=1e-12)
    else:
        assert numbers.loss == float(bool(x) != bool(y))
    assert found.mean == pytest.approx((categories.loss + numbers.loss) / 2)


@settings(max_examples=20)
@given(rows)
def test_the_same_file_loses_nothing(records: list[tuple[Any, ...]]) -> None:
    found = tc.loss.distribution_loss(file(records), file(records), tc.Scenario(keys=["c"], weight="w"))
    assert found.mean == 0


def test_numbers_by_hand() -> None:
    one, other = np.array([0.0, 1.0]), np.array([1.0, 5.0])
    found = number_distances(one, np.ones(2), other, np.ones(2))
    # F - G is 1/2 on [0, 1), 1/2 on [1, 5).
    assert found == (0.5, 2.5, pytest.approx((2 * 2.5 - 0.5 - 2.0) / (2 * 2.5)))


def test_weights_count_where_both_files_have_them() -> None:
    before = pl.DataFrame({"c": ["a", "b"], "w": [1.0, 3.0]})
    after = pl.DataFrame({"c": ["a", "b"], "w": [3.0, 1.0]})
    who = tc.Scenario(keys=["c"], weight="w")
    assert tc.loss.distribution_loss(before, after, who).variables[0].total_variation == 0.5
    assert tc.loss.distribution_loss(before, after, who, weighted=False).mean == 0
    without = tc.loss.distribution_loss(before, after.drop("w"), who)
    assert without.mean == 0
    assert without.cautions[0].startswith("the release has no weight 'w'")


def test_a_recoded_variable_is_compared_on_the_classes_of_the_release() -> None:
    ages = [20, 25, 31, 38, 44, 44]
    before = pl.DataFrame({"age": ages, "sex": ["f", "m"] * 3})
    classes = ["20-29", "20-29", "30-39", "30-39", None, "40-49"]
    after = pl.DataFrame({"age": classes, "sex": ["f", "m"] * 3})
    found = tc.loss.distribution_loss(before, after, tc.Scenario(keys=["age"]))
    age = found.variables[0]
    assert (age.compared, age.missing_after) == ("classes of the release", pytest.approx(1 / 6))
    # One of six records has no class any more.
    assert age.total_variation == pytest.approx(1 / 6)
    assert "recoded, and compared on the classes of the release: 'age'" in str(found)


def test_exchanged_values_are_no_recoding() -> None:
    before, after = pl.DataFrame({"c": ["a", "a", "b"]}), pl.DataFrame({"c": ["b", "b", "a"]})
    (found,) = tc.loss.distribution_loss(before, after, tc.Scenario(keys=["c"])).variables
    assert found.compared == "values"
    assert found.total_variation == pytest.approx(1 / 3)


def test_a_variable_that_a_step_perturbed_is_never_taken_for_recoded() -> None:
    before, after = pl.DataFrame({"c": ["a", "a", "b"]}), pl.DataFrame({"c": ["a", "a", "a"]})
    for perturbed, compared in ((False, "classes of the release"), (True, "values")):
        released = Data.of(after, {"c": tc.Variable(perturbed=perturbed)})
        (found,) = tc.loss.distribution_loss(before, released, tc.Scenario(keys=["c"])).variables
        assert found.compared == compared


def test_a_variable_that_is_gone_is_lost() -> None:
    before = pl.DataFrame({"c": ["a", "b"], "d": ["x", "y"]})
    found = tc.loss.distribution_loss(before, before.drop("d"), tc.Scenario(keys=["c"]))
    assert (found.mean, found.greatest.variable, found.greatest.compared) == (0.5, "d", "removed")
    assert "not in the release, and counted as lost: 'd'." in found.cautions
