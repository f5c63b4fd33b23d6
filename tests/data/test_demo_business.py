"""The synthetic business survey: counts, shape, strata, and that everything follows from the seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacita.check import TacitaError
from tacita.data.demo import business
from tacita.data.demo.business import CATEGORIES, KEYS, LABELS, NUMERIC_KEYS, SCALES, draw_sample, population
from tacita.data.demo.drawing import Table, power, quotas, spread, take, values_of
from tacita.random import Draws

COUNTS = [222, 157, 205, 214, 185, 338, 528, 274]


@pytest.fixture(scope="module")
def everything() -> Table:
    return population(12_000, seed=1)


@pytest.fixture(scope="module")
def sample(everything: Table) -> Table:
    return draw_sample(everything, 2_123, seed=1)


def texts(table: Table, name: str) -> NDArray[Any]:
    codes, labels = table[name]
    return np.array(["", *labels])[codes]


def same(first: Table, second: Table) -> bool:
    assert list(first) == list(second)
    return all(np.array_equal(values_of(first, name), values_of(second, name)) for name in first)


def logs(table: Table, first: str, second: str, rows: Any = slice(None)) -> float:
    """The correlation of the logarithms where both are positive."""
    one, other = values_of(table, first)[rows], values_of(table, second)[rows]
    both = (one > 0) & (other > 0)
    return float(np.corrcoef(np.log(one[both]), np.log(other[both]))[0, 1])


def test_the_same_seed_gives_the_same_population_and_sample() -> None:
    first, second, other = population(300, 5), population(300, 5), population(300, 6)
    assert same(first, second)
    assert not same(first, other)
    assert same(draw_sample(first, 60, 7), draw_sample(second, 60, 7))
    assert not np.array_equal(draw_sample(first, 60, 7)["enterprise"], draw_sample(first, 60, 8)["enterprise"])


def test_golden_values_stay() -> None:
    # A change here changes every documented figure of the demonstration survey.
    units = population(6, seed=2024)
    assert {name: values_of(units, name).tolist() for name in units} == {
        "enterprise": [1, 2, 3, 4, 5, 6],
        "industry": [4, 5, 2, 4, 4, 4],
        "region": [3, 5, 1, 4, 4, 1],
        "size_class": [3, 3, 1, 1, 2, 2],
        "group": [2, 2, 2, 1, 1, 1],
        "innovation": [2, 2, 1, 1, 2, 2],
        "employees": [118, 78, 10, 17, 25, 31],
        "turnover": [63437.0, 44081.0, 2053.0, 7266.0, 20098.0, 9945.0],
        "exports": [19865.0, 2657.0, 0.0, 522.0, 2702.0, 2960.0],
        "rd_expenditure": [657.0, 503.0, 0.0, 0.0, 260.0, 226.0],
    }
    sample = draw_sample(population(100, seed=2024), 12, seed=1)
    assert sample["enterprise"].tolist() == [1, 19, 40, 57, 58, 61, 66, 68, 71, 79, 89, 99]


def test_a_larger_population_begins_with_the_smaller_one() -> None:
    small, large = population(100, 3), population(250, 3)
    assert same(small, take(large, np.arange(100)))


def test_the_published_counts_by_industry(sample: Table) -> None:
    assert np.bincount(values_of(sample, "industry"))[1:].tolist() == COUNTS
    assert CATEGORIES["industry"] == ("15", "18", "24", "25", "26", "28", "29", "36")
    for seed in (2, 3):
        assert (
            np.bincount(values_of(draw_sample(population(12_000, seed), 2_123, 9), "industry"))[1:].tolist() == COUNTS
        )


@pytest.mark.parametrize("times", [2, 3])
def test_other_sizes_are_proportional(everything: Table, times: int) -> None:
    half = draw_sample(everything, 2_123 // times, seed=1)
    np.testing.assert_allclose(np.bincount(values_of(half, "industry"))[1:], np.array(COUNTS) / times, atol=1)


def test_columns_have_labels_scales_and_codes_within_their_labels(everything: Table, sample: Table) -> None:
    assert list(everything) == [name for name in LABELS if name != "weight"]
    assert list(sample) == list(LABELS) == list(SCALES)
    assert [name for name in SCALES if SCALES[name] == "numeric"] == [
        *sorted(NUMERIC_KEYS, key=[*LABELS].index),
        "weight",
    ]
    assert set(KEYS) == {"industry", "region", "size_class"}
    for name, labels in CATEGORIES.items():
        for table in (everything, sample):
            column = table[name]
            assert isinstance(column, tuple)
            assert (column[1], column[0].dtype) == (labels, np.int32)
            assert np.unique(column[0]).tolist() == list(range(1, len(labels) + 1))
        assert list(labels) == sorted(labels) or SCALES[name] == "nominal"
    assert tuple(business.VALUE_LABELS["industry"]) == CATEGORIES["industry"]


def test_every_enterprise_is_coherent(everything: Table) -> None:
    employees, turnover, exports, spent = (
        everything[name] for name in ("employees", "turnover", "exports", "rd_expenditure")
    )
    assert employees.dtype == np.int64
    assert (employees.min(), employees.max() < business.LARGEST) == (10, True)
    np.testing.assert_array_equal(
        values_of(everything, "size_class"), 1 + np.searchsorted([20, 50, 250], employees, "right")
    )
    for values in (turnover, exports, spent):
        np.testing.assert_array_equal(values, np.rint(values))
    assert turnover.min() >= 1
    assert ((exports >= 0) & (exports <= turnover)).all()
    assert ((spent >= 0) & (spent <= turnover)).all()
    assert (spent[texts(everything, "innovation") == "no"] == 0).all()
    assert 0.7 < np.mean(spent[texts(everything, "innovation") == "yes"] > 0) < 0.95


def test_numbers_grow_together(everything: Table, sample: Table) -> None:
    assert 0.80 < logs(sample, "turnover", "employees") < 0.93
    assert 0.85 < logs(sample, "turnover", "exports") < 0.97
    assert 0.75 < logs(sample, "turnover", "rd_expenditure") < 0.93
    assert logs(sample, "turnover", "rd_expenditure") < logs(sample, "turnover", "exports")
    industry = values_of(sample, "industry")
    for code in range(1, 9):
        assert 0.75 < logs(sample, "turnover", "employees", industry == code) < 0.95
    assert logs(everything, "turnover", "employees") < logs(sample, "turnover", "employees")


def test_zeros_depend_on_size_and_industry(sample: Table) -> None:
    exports, spent = sample["exports"], sample["rd_expenditure"]
    assert np.mean(exports == 0) == pytest.approx(0.35, abs=0.04)
    assert np.mean(spent == 0) == pytest.approx(0.55, abs=0.04)
    for values in (exports, spent):
        by_class = [np.mean(values[values_of(sample, "size_class") == code] == 0) for code in range(1, 5)]
        assert by_class == sorted(by_class, reverse=True)
        assert by_class[0] > by_class[3] + 0.25
    industry = texts(sample, "industry")
    assert np.mean(exports[industry == "15"] == 0) > np.mean(exports[industry == "29"] == 0) + 0.1
    assert np.mean(spent[industry == "18"] == 0) > np.mean(spent[industry == "24"] == 0) + 0.2


def test_few_large_enterprises_dominate_each_industry(sample: Table) -> None:
    industry, turnover = values_of(sample, "industry"), sample["turnover"]
    for code in range(1, 9):
        ordered = np.sort(turnover[industry == code])[::-1]
        assert 0.15 < ordered[:3].sum() / ordered.sum() < 0.85
        assert ordered.mean() > 2 * np.median(ordered)
        # The logarithm takes nearly all of the skewness away.
        skewness = [np.mean((z - z.mean()) ** 3) / z.std() ** 3 for z in (ordered, np.log(ordered))]
        assert skewness[0] > 4
        assert abs(skewness[1]) < 1.5
    # The ranks of the largest are not the same by every number.
    largest = [np.argsort(-sample[name], kind="stable")[:10].tolist() for name in NUMERIC_KEYS]
    assert len({tuple(rows) for rows in largest}) == 4


def test_the_first_stands_apart_and_large_enterprises_vary_less(everything: Table) -> None:
    ahead = []
    for seed in range(1, 7):
        units = population(12_000, seed)
        for code in range(1, 9):
            sizes = np.sort(units["employees"][values_of(units, "industry") == code])[::-1]
            ahead.append(sizes[0] / sizes[1])
    assert 1.4 < np.median(ahead) < 2.5
    each = everything["turnover"] / everything["employees"]
    spread_by_class = [np.log(each[everything["employees"] >= least]).std() for least in (10, 50, 250)]
    assert spread_by_class == sorted(spread_by_class, reverse=True)
    assert each.min() > 0.1 * np.median(each)


def test_groups_and_regions_follow_size_and_industry(everything: Table) -> None:
    group = [
        np.mean(texts(everything, "group")[values_of(everything, "size_class") == code] == "yes")
        for code in (1, 2, 3, 4)
    ]
    assert group == sorted(group)
    assert group[0] < 0.15 < 0.8 < group[3]
    region, industry = values_of(everything, "region"), texts(everything, "industry")
    assert np.mean(region[industry == "24"] == 1) > 2 * np.mean(region[industry == "18"] == 1)


def test_weights_add_up_in_every_stratum_and_the_large_are_all_taken(everything: Table, sample: Table) -> None:
    there, here = (values_of(table, "industry") * 5 + values_of(table, "size_class") for table in (everything, sample))
    np.testing.assert_allclose(np.bincount(here, weights=sample["weight"]), np.bincount(there), rtol=1e-12)
    large = everything["employees"] >= 250
    assert set(everything["enterprise"][large]) <= set(sample["enterprise"])
    assert (sample["weight"][sample["employees"] >= 250] == 1).all()
    assert sample["weight"].min() == 1
    assert all(np.ptp(sample["weight"][here == code]) == 0 for code in np.unique(here))


def test_the_sample_is_a_part_of_the_population(everything: Table, sample: Table) -> None:
    rows = sample["enterprise"] - 1
    assert len(np.unique(rows)) == 2_123
    assert same(take(everything, rows), {name: column for name, column in sample.items() if name != "weight"})


def test_some_are_unique_on_the_keys(everything: Table, sample: Table) -> None:
    there, here = (
        np.ravel_multi_index([values_of(table, name) for name in KEYS], (9, 6, 5)) for table in (everything, sample)
    )
    in_sample = np.bincount(here, minlength=270)[here]
    assert 3 <= np.count_nonzero(in_sample == 1) <= 40
    assert 1 <= np.count_nonzero(np.bincount(there, minlength=270)[here] == 1) <= np.count_nonzero(in_sample == 1)
    # Every turnover is nearly unique: numbers identify where categories do not.
    assert len(np.unique(sample["turnover"])) > 0.9 * 2_123


def test_every_enterprise_of_a_stratum_is_as_likely_to_be_chosen() -> None:
    units = population(120, 1)
    stratum = values_of(units, "industry") * 5 + values_of(units, "size_class")
    times = np.zeros(120)
    for seed in range(300):
        times[draw_sample(units, 60, seed)["enterprise"] - 1] += 1
    for code in np.unique(stratum):
        inside = times[stratum == code]
        share = inside.mean() / 300
        assert np.abs(inside - inside.mean()).max() <= 4 * np.sqrt(300 * share * (1 - share))


def test_the_order_of_the_population_does_not_change_who_is_sampled() -> None:
    units = population(400, 4)
    shuffled = take(units, np.argsort(Draws(1).bits(units["enterprise"])))
    first, second = draw_sample(units, 90, 4), draw_sample(shuffled, 90, 4)
    assert same(first, take(second, np.argsort(second["enterprise"])))


def test_the_population_is_left_as_it_was() -> None:
    units = population(200, 4)
    before = {name: values_of(units, name).copy() for name in units}
    for name in units:
        values_of(units, name).flags.writeable = False
    draw_sample(units, 50, 4)
    for name, values in before.items():
        np.testing.assert_array_equal(values_of(units, name), values)
    assert "weight" not in units


@given(st.integers(1, 400), st.integers(0, 50), st.data())
@settings(max_examples=100, deadline=None)
def test_any_size_is_met_and_the_weights_add_up(enterprises: int, seed: int, data: st.DataObject) -> None:
    units = population(enterprises, seed)
    industry = values_of(units, "industry")
    size = data.draw(st.integers(len(np.unique(industry)), enterprises))
    sample = draw_sample(units, size, seed)
    assert len(sample["weight"]) == size
    assert (sample["weight"] >= 1).all()
    np.testing.assert_allclose(
        np.bincount(values_of(sample, "industry"), weights=sample["weight"], minlength=9),
        np.bincount(industry, minlength=9),
        rtol=1e-12,
    )


def test_one_enterprise_and_a_sample_of_all() -> None:
    assert draw_sample(population(1, 9), 1, 9)["weight"].tolist() == [1.0]
    units = population(300, 9)
    everyone = draw_sample(units, 300, 9)
    assert (everyone["weight"] == 1).all()
    np.testing.assert_array_equal(everyone["enterprise"], units["enterprise"])


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (301, "size must be at most 300, the enterprises in the population; got 301."),
        (7, "size must be at least 8, one for each industry; got 7."),
        (0, "size must be at least 1; got 0."),
        (2.5, "size must be a whole number of at least 1; got 2.5."),
    ],
)
def test_impossible_sizes_are_refused(size: Any, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        draw_sample(population(300, 1), size, 1)
    assert str(error.value) == message


def test_other_mistakes_are_refused() -> None:
    with pytest.raises(TacitaError, match=r"^enterprises must be at least 1; got 0\.$"):
        population(0, 1)
    with pytest.raises(TacitaError, match=r"^seed must be a whole number of at least 0; fresh_seed\(\) gives one\.$"):
        population(1, -1)
    with pytest.raises(TacitaError, match=r"^population columns not in the data: 'enterprise', "):
        draw_sample({"turnover": np.arange(3)}, 1, 1)


def test_quotas_by_hand() -> None:
    # Of 40, the third can give 5; the other 35 are 23.3 and 11.7 by two to one.
    assert quotas(np.array([100, 100, 5]), np.array([6, 3, 3]), 40).tolist() == [23, 12, 5]
    # One each, whatever the share, and none where there is nothing.
    assert quotas(np.array([50, 50, 0]), np.array([99, 1, 50]), 2).tolist() == [1, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 99)), min_size=1, max_size=8), st.data())
def test_quotas_use_every_stratum_and_no_more_than_there_is(strata: list[tuple[int, int]], data: st.DataObject) -> None:
    present, shares = (np.array(column) for column in zip(*strata, strict=True))
    sample = data.draw(st.integers(int(np.count_nonzero(present)), int(present.sum())))
    result = quotas(present, shares, sample)
    assert result.sum() == sample
    assert (result <= present).all()
    assert ((result > 0) == (present > 0)).all()


@given(st.floats(1e-9, 1e9), st.integers(0, 15))
def test_powers_by_square_roots(base: float, sixteenths: int) -> None:
    assert power(np.array([base]), sixteenths)[0] == pytest.approx(base ** (sixteenths / 16), rel=1e-14)


def test_powers_of_their_own() -> None:
    by_record = power(np.array([16.0, 81.0, 16.0]), np.array([12, 8, 0]))
    assert by_record.tolist() == [8.0, 9.0, 1.0]


def test_spread_is_symmetric_on_the_log_scale() -> None:
    factors = np.log(spread(Draws(1), np.arange(40_000), 8))
    assert abs(np.median(factors)) < 0.02
    assert factors.std() == pytest.approx(np.pi / np.sqrt(3) / 2, rel=0.02)
    assert np.quantile(factors, 0.9) == pytest.approx(np.log(9) / 2, rel=0.03)
