"""The demonstration survey: the same everywhere, coherent, and a proper sample of its population."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacita.check import TacitaError
from tacita.data.demo import household
from tacita.data.demo.household import (
    CATEGORIES,
    KEYS,
    LABELS,
    NOT_APPLICABLE,
    SCALES,
    Table,
    allocation,
    choose,
    draw_sample,
    population,
    values_of,
)
from tacita.random import Draws

HOUSEHOLDS = 20_000


@pytest.fixture(scope="module")
def persons() -> Table:
    return population(HOUSEHOLDS, seed=1)


@pytest.fixture(scope="module")
def sample(persons: Table) -> Table:
    return draw_sample(persons, 6_000, seed=2)


def texts(table: Table, name: str) -> NDArray[Any]:
    """The labels of a categorical column, '' for missing."""
    codes, labels = table[name]
    return np.array(["", *labels])[codes]


def same(first: Table, second: Table) -> bool:
    assert list(first) == list(second)
    return all(
        np.array_equal(values_of(first, name), values_of(second, name), equal_nan=name == "income") for name in first
    )


def first_of_household(table: Table) -> NDArray[Any]:
    return np.unique(values_of(table, "household"), return_index=True)[1]


def test_the_same_seed_gives_the_same_population_and_sample() -> None:
    first, second, other = population(300, 5), population(300, 5), population(300, 6)
    assert same(first, second)
    assert len(other["age"]) != len(first["age"]) or not same(first, other)
    assert same(draw_sample(first, 60, 7), draw_sample(second, 60, 7))
    chosen, others = (set(values_of(draw_sample(first, 60, seed), "household")) for seed in (7, 8))
    assert chosen != others


def test_golden_values_stay() -> None:
    # A change here changes every documented figure of the demonstration survey.
    persons = population(4, seed=2024)
    assert {name: values_of(persons, name).tolist() for name in persons} == {
        "household": [1, 2, 2, 3, 3, 3, 4, 4],
        "person": [1, 2, 3, 4, 5, 6, 7, 8],
        "region": [1, 1, 1, 3, 3, 3, 2, 2],
        "size": [1, 2, 2, 3, 3, 3, 2, 2],
        "sex": [2, 2, 1, 2, 1, 1, 1, 2],
        "age": [98, 61, 60, 41, 41, 15, 48, 50],
        "citizenship": [1, 1, 1, 1, 1, 1, 1, 1],
        "status": [7, 6, 1, 1, 1, 9, 1, 1],
        "marital": [4, 4, 4, 2, 2, 1, 2, 2],
        "education": [2, 2, 5, 5, 4, 6, 3, 4],
        "income": [0.0, 10300.0, 21054.0, 31516.0, 11180.0, 0.0, 27416.0, 37736.0],
    }
    sample = draw_sample(population(200, seed=2024), 12, seed=1)
    assert np.unique(values_of(sample, "household")).tolist() == [16, 47, 63, 68, 82, 84, 139, 143, 171, 173, 177, 194]


def test_a_larger_population_begins_with_the_smaller_one(monkeypatch: pytest.MonkeyPatch) -> None:
    large = population(250, 3)
    monkeypatch.setattr(household, "BLOCK", 64)
    small, blocks = population(100, 3), population(250, 3)
    assert same(large, blocks)
    count = len(values_of(small, "person"))
    for name in small:
        np.testing.assert_array_equal(values_of(large, name)[:count], values_of(small, name))


def test_columns_have_labels_scales_and_codes_within_their_labels(persons: Table, sample: Table) -> None:
    assert list(persons) == [name for name in LABELS if name != "weight"]
    assert list(sample) == list(LABELS) == list(SCALES)
    assert set(SCALES.values()) == {"nominal", "ordinal", "numeric"}
    assert set(KEYS) < set(LABELS)
    for name, labels in CATEGORIES.items():
        for table, least in ((persons, 1), (sample, 0)):
            column = table[name]
            assert isinstance(column, tuple)
            assert column[1] == labels
            assert column[0].dtype == np.int32
            assert column[0].min() >= least
        assert np.unique(values_of(persons, name)).tolist() == list(range(1, len(labels) + 1))
        assert SCALES[name] == ("ordinal" if name == "education" else "nominal")
    for name, labels in NOT_APPLICABLE.items():
        assert set(labels) <= set(CATEGORIES[name])


def test_households_are_whole_and_lie_in_one_region(persons: Table, sample: Table) -> None:
    for table in (persons, sample):
        number, row = np.unique(values_of(table, "household"), return_inverse=True)
        np.testing.assert_array_equal(np.bincount(row)[row], values_of(table, "size"))
        region = values_of(table, "region")
        np.testing.assert_array_equal(region, region[first_of_household(table)][row])
        assert len(np.unique(values_of(table, "person"))) == len(row)
    assert number.min() >= 1
    size = values_of(persons, "size")
    assert (size.min(), size.max() <= 9) == (1, True)
    assert len(first_of_household(persons)) == HOUSEHOLDS
    assert 2.0 < len(size) / HOUSEHOLDS < 2.6


def test_children_and_adults_are_coherent(persons: Table) -> None:
    age, income = values_of(persons, "age"), values_of(persons, "income")
    status, education, marital = (texts(persons, name) for name in ("status", "education", "marital"))
    child = age < 16
    assert (age.min(), age.max() <= 99) == (0, True)
    for answers in (status, education):
        np.testing.assert_array_equal(answers == "not applicable", child)
    assert (marital[age < 18] == "never married").all()
    assert (income[child] == 0).all()
    assert (age[education == "tertiary"] >= 19).all()
    assert (age[status == "retired"] >= 55).all()
    assert age[status == "student"].max() < 40
    assert (income >= 0).all()
    np.testing.assert_array_equal(income, np.rint(income))


def test_every_household_is_headed_by_an_adult_and_parents_are_older(persons: Table) -> None:
    age, marital = values_of(persons, "age"), texts(persons, "marital")
    first = first_of_household(persons)
    row = np.cumsum(np.isin(np.arange(len(age)), first)) - 1
    head = age[first][row]
    assert age[first].min() >= 18
    assert (head[age < 16] - age[age < 16] >= 17).all()
    # Most married persons live with another one; the rest are separated from theirs.
    married = np.bincount(row, weights=marital == "married")
    assert np.mean(married[row][marital == "married"] >= 2) > 0.9
    assert np.median(age[marital == "widowed"]) > 65


def test_incomes_are_skewed_shared_in_the_household_and_follow_education(persons: Table) -> None:
    income, education, status = values_of(persons, "income"), texts(persons, "education"), texts(persons, "status")
    assert 0.15 < np.mean(income == 0) < 0.35
    assert income[income > 0].mean() > 1.1 * np.median(income[income > 0])
    full = status == "employed full time"
    medians = [np.median(income[full & (education == label)]) for label in CATEGORIES["education"][1:5]]
    assert medians == sorted(medians)
    rank = np.full(len(income), np.nan)
    rank[full] = np.argsort(np.argsort(income[full]))
    first, second = rank[:-1], rank[1:]
    pairs = ~np.isnan(first + second) & (np.diff(values_of(persons, "household")) == 0)
    assert np.corrcoef(first[pairs], second[pairs])[0, 1] > 0.15


def test_rare_citizenships_gather_in_regions_and_households(persons: Table) -> None:
    citizenship, region = values_of(persons, "citizenship"), values_of(persons, "region")
    shares = [
        np.bincount(region[citizenship == code], minlength=10)[1:] / (citizenship == code).sum() for code in (2, 4)
    ]
    assert shares[1][0] > 0.6  # overseas: the capital
    assert shares[0][3] > 0.25  # neighbouring country: the river valley, with an eighth of the population
    foreign = citizenship > 1
    assert 0.01 < foreign.mean() < 0.1
    neighbour = foreign[1:] & (np.diff(values_of(persons, "household")) == 0)
    assert foreign[:-1][neighbour].mean() > 10 * foreign.mean()


def test_weights_add_up_to_the_households_of_each_region(persons: Table, sample: Table) -> None:
    there, here = first_of_household(persons), first_of_household(sample)
    assert len(here) == 6_000
    count = np.bincount(values_of(persons, "region")[there])
    total = np.bincount(values_of(sample, "region")[here], weights=values_of(sample, "weight")[here])
    np.testing.assert_allclose(total, count, rtol=1e-12)
    # The smallest region is sampled the most.
    weight = [values_of(sample, "weight")[values_of(sample, "region") == code] for code in range(1, 10)]
    assert all(np.ptp(values) == 0 for values in weight)
    assert weight[8][0] < 0.5 * weight[0][0]


def test_the_sample_is_true_where_it_is_not_missing(persons: Table, sample: Table) -> None:
    row = np.searchsorted(values_of(persons, "person"), values_of(sample, "person"))
    for name in persons:
        true, found = values_of(persons, name)[row], values_of(sample, name)
        answered = (
            ~np.isnan(found) if name == "income" else found != 0 if name in CATEGORIES else np.full(len(row), True)
        )
        np.testing.assert_array_equal(found[answered], true[answered])
        assert answered.all() == (name not in household.MISSING)
        if name in NOT_APPLICABLE:
            assert answered[values_of(sample, "age") < 16].all()


def test_about_the_intended_shares_are_missing_and_more_from_some(persons: Table, sample: Table) -> None:
    expected = {"education": 0.02, "citizenship": 0.015, "marital": 0.01, "status": 0.03, "income": 0.05}
    missing = {name: values_of(sample, name) == 0 for name in expected if name != "income"}
    missing["income"] = np.isnan(values_of(sample, "income"))
    for name, share in expected.items():
        assert missing[name].mean() == pytest.approx(share, abs=0.004)
    row = np.searchsorted(values_of(persons, "person"), values_of(sample, "person"))
    self_employed = texts(persons, "status")[row] == "self-employed"
    assert missing["income"][self_employed].mean() > 1.4 * missing["income"].mean()


def test_the_population_is_left_as_it_was() -> None:
    persons = population(200, 4)
    before = {name: values_of(persons, name).copy() for name in persons}
    for name in persons:
        values_of(persons, name).flags.writeable = False
    draw_sample(persons, 50, 4)
    for name, values in before.items():
        np.testing.assert_array_equal(values_of(persons, name), values)
    assert "weight" not in persons


def test_the_order_of_the_persons_does_not_change_who_is_sampled() -> None:
    persons = population(200, 4)
    order = np.argsort(Draws(1).bits(values_of(persons, "person")))
    shuffled: Table = {
        name: (column[0][order], column[1]) if isinstance(column, tuple) else column[order]
        for name, column in persons.items()
    }
    first, second = draw_sample(persons, 50, 4), draw_sample(shuffled, 50, 4)
    back = np.argsort(values_of(second, "person"))
    for name in first:
        np.testing.assert_array_equal(values_of(second, name)[back], values_of(first, name))


def test_every_household_of_a_region_is_as_likely_to_be_chosen() -> None:
    persons = population(60, 1)
    region = values_of(persons, "region")[first_of_household(persons)]
    times = np.zeros(60)
    for seed in range(300):
        times[np.unique(values_of(draw_sample(persons, 20, seed), "household")) - 1] += 1
    for code in np.unique(region):
        inside = times[region == code]
        share = inside.mean() / 300
        deviation = np.sqrt(300 * share * (1 - share))
        assert np.abs(inside - inside.mean()).max() <= 4 * deviation


def test_one_household_and_a_sample_of_all() -> None:
    persons = population(1, 9)
    assert values_of(persons, "size").tolist() == [len(values_of(persons, "age"))] * len(values_of(persons, "age"))
    everyone = draw_sample(persons, 1, 9)
    np.testing.assert_array_equal(values_of(everyone, "person"), values_of(persons, "person"))
    assert (values_of(everyone, "weight") == 1).all()
    some = population(40, 9)
    assert (values_of(draw_sample(some, 40, 9), "weight") == 1).all()


@pytest.mark.parametrize(
    ("households", "message"),
    [
        (101, "households must be at most 100, the number in the population; got 101."),
        (3, "households must be at least 9, one for each region; got 3."),
        (0, "households must be at least 1; got 0."),
        (2.5, "households must be a whole number of at least 1; got 2.5."),
    ],
)
def test_impossible_sample_sizes_are_refused(households: Any, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        draw_sample(population(100, 1), households, 1)
    assert str(error.value) == message


def test_other_mistakes_are_refused() -> None:
    with pytest.raises(TacitaError, match=r"^households must be at least 1; got 0\.$"):
        population(0, 1)
    with pytest.raises(TacitaError, match=r"^seed must be a whole number of at least 0; fresh_seed\(\) gives one\.$"):
        population(1, -1)
    with pytest.raises(TacitaError, match=r"^population columns not in the data: 'household', "):
        draw_sample({"age": np.arange(3)}, 1, 1)


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=9).filter(any), st.data())
@settings(max_examples=200)
def test_allocation_uses_every_stratum_and_no_more_than_there_is(counts: list[int], data: st.DataObject) -> None:
    stratum = np.array(counts)
    sample = data.draw(st.integers(int(np.count_nonzero(stratum)), int(stratum.sum())))
    result = allocation(stratum, sample)
    assert result.sum() == sample
    assert (result <= stratum).all()
    assert ((result > 0) == (stratum > 0)).all()
    order = np.argsort(stratum)
    assert (np.diff(result[order]) >= -1).all()


def test_allocation_by_hand() -> None:
    # Roots 100, 20, 1.41: of the 119 left after one each, 98, 19 and 1 (no more there); the last goes to the largest.
    assert allocation(np.array([10_000, 400, 2]), 122).tolist() == [100, 20, 2]
    assert allocation(np.array([4, 0, 9]), 2).tolist() == [1, 0, 1]


def test_choose_follows_the_shares_of_the_row() -> None:
    records = np.arange(40_000)
    shares = np.array([[1, 0, 3], [0, 5, 5]])
    row = records % 2
    found = choose(Draws(3), records, shares, row)
    first, second = (np.bincount(found[row == code], minlength=3) / 20_000 for code in (0, 1))
    np.testing.assert_allclose(first, [0.25, 0, 0.75], atol=0.015)
    np.testing.assert_allclose(second, [0, 0.5, 0.5], atol=0.015)
    assert (first[1], second[0]) == (0, 0)


def test_the_spread_of_sample_uniques_is_that_of_a_real_survey() -> None:
    persons = population(174_000, seed=1)
    assert 380_000 < len(values_of(persons, "age")) < 420_000
    sample = draw_sample(persons, 6_000, seed=2)
    key = np.ravel_multi_index([values_of(persons, name) for name in KEYS], (10, 3, 100, 5, 10))
    mine = key[np.searchsorted(values_of(persons, "person"), values_of(sample, "person"))]
    in_population, in_sample = np.bincount(key, minlength=150_000), np.bincount(mine, minlength=150_000)
    unique = in_sample[mine] == 1
    assert 0.08 < unique.mean() < 0.15
    assert 0.02 < np.mean(in_population[mine[unique]] == 1) < 0.2
