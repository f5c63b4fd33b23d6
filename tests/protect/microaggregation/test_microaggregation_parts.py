"""Averages, axes, clusters, missing values and sensitive variables, each against its definition."""

import math
import statistics

import numpy as np
import pytest
from slow_microaggregation import small_files

from tacita.check import TacitaError
from tacita.distance.distances import euclidean, standard_weight
from tacita.protect.microaggregate import axes
from tacita.protect.microaggregate.averages import AVERAGES, averages
from tacita.protect.microaggregate.clusters import clusters
from tacita.protect.microaggregate.diversity import merged_until_diverse
from tacita.protect.microaggregate.grouping import grouped
from tacita.protect.microaggregate.methods import METHODS, Choice, Records, groups_of
from tacita.protect.microaggregate.microaggregate import METHODS as NAMES
from tacita.protect.microaggregate.microaggregate import lost_share


def slow_average(members: list[float], average: str, trim: float, weights: list[float]) -> float:
    """The average of one group."""
    ordered = sorted(members)
    median = statistics.median(ordered)
    if average == "median":
        return median
    if average == "trimmed_mean":
        cut = math.floor(trim * len(ordered))
        return statistics.fmean(ordered[cut : len(ordered) - cut])
    if average == "one_step":
        reach = 3 * 1.4826 / 1.486 * statistics.median(abs(value - median) for value in ordered)
        return statistics.fmean(min(max(value, median - reach), median + reach) for value in ordered)
    return math.fsum(w * value for w, value in zip(weights, members, strict=True)) / math.fsum(weights)


@pytest.mark.parametrize("average", AVERAGES)
def test_every_member_gets_the_average_of_those_who_have_a_value(average: str) -> None:
    draw = np.random.default_rng(1)
    for values, _ in small_files(80, columns=1):
        n = len(values)
        column = np.where(draw.random(n) < 0.2, np.nan, values[:, 0])
        groups = draw.integers(0, 4, n)
        weights = draw.lognormal(size=n) if average == "mean" else None
        found = averages(column, groups, average, 0.25, weights)
        for row in range(n):
            if math.isnan(column[row]):
                assert math.isnan(found[row])
                continue
            rows = [r for r in range(n) if groups[r] == groups[row] and not math.isnan(column[r])]
            own = [1.0 if weights is None else float(weights[r]) for r in rows]
            expected = slow_average(column[rows].tolist(), average, 0.25, own)
            assert found[row] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_equal_numbers_stay_to_the_last_digit() -> None:
    """0.1 + 0.1 + 0.1 is more than 0.3; the mean of three times 0.1 is 0.1."""
    values = np.repeat([0.1, 0.7, 1e-300, 1e150], 3)
    for average in AVERAGES:
        assert averages(values, np.repeat(np.arange(4), 3), average).tolist() == values.tolist()


def test_the_trimmed_mean_of_three_is_the_mean_unless_a_third_is_cut() -> None:
    values, groups = np.array([1.0, 2.0, 9.0]), np.zeros(3, np.int64)
    assert averages(values, groups, "trimmed_mean", 0.2).tolist() == [4.0] * 3
    assert averages(values, groups, "trimmed_mean", 0.34).tolist() == [2.0] * 3


def test_scores_on_the_first_principal_component() -> None:
    """Against the singular value decomposition, which takes no covariance."""
    for values, _ in small_files(60, columns=3):
        if len(values) > 3 and np.linalg.matrix_rank(values - values.mean(axis=0)) > 1:
            scores = axes.principal_component(values)
            centred = values - values.mean(axis=0)
            lengths, directions = np.linalg.svd(centred, full_matrices=False)[1:]
            if lengths[0] > 1.001 * lengths[1]:
                expected = values @ directions[0]
                expected *= np.sign(directions[0][np.abs(directions[0]).argmax()])
                np.testing.assert_allclose(scores, expected, atol=1e-7)


def test_projection_pursuit_takes_the_direction_of_largest_spread() -> None:
    """Of all directions through a record; an outlier does not draw it, as it draws the principal component."""
    for values, _ in small_files(60, columns=3):
        centred = values - np.median(values, axis=0)
        spreads = [0.0]
        for row in centred:
            length = math.hypot(*row)
            if length > 0:
                projected = centred @ (row / length)
                spreads.append(float(np.median(np.abs(projected - np.median(projected)))))
        scores = axes.projection_pursuit(values, np.arange(len(values)))
        assert np.median(np.abs(scores - np.median(scores))) == pytest.approx(max(spreads), abs=1e-12)
    draw = np.random.default_rng(1)
    cloud = np.concatenate([draw.normal(size=(100, 2)) * [5.0, 1.0], [[0.0, 400.0]]])
    robust, plain = axes.projection_pursuit(cloud, np.arange(101)), axes.principal_component(cloud)
    assert abs(np.corrcoef(robust[:-1], cloud[:-1, 0])[0, 1]) > 0.99
    assert abs(np.corrcoef(plain[:-1], cloud[:-1, 0])[0, 1]) < 0.5


def test_the_robust_component_does_not_follow_outliers_and_takes_sums() -> None:
    """The third variable is the sum of two: sdcMicro's mcdpca stops there."""
    draw = np.random.default_rng(4)
    two = np.concatenate([draw.normal(size=(100, 2)) * [4.0, 1.0], [[0.0, 300.0]]])
    values = np.column_stack([two, two.sum(axis=1)])
    scores = axes.robust_component(values, np.arange(101))
    assert abs(np.corrcoef(scores[:-1], values[:-1, 0])[0, 1]) > 0.95
    distance = axes.robust_distance(values, np.arange(101))
    assert distance.argmax() == 100
    assert distance[100] > 1000
    np.testing.assert_allclose(distance, axes.robust_distance(two, np.arange(101)), rtol=1e-6)
    assert axes.robust_distance(np.ones((5, 2)), np.arange(5)).tolist() == [0.0] * 5


def test_clusters_are_at_least_k_and_no_record_is_nearer_to_another() -> None:
    draw = np.random.default_rng(6)
    centres = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])
    truth = np.repeat(np.arange(3), [50, 40, 30])
    values = centres[truth] + draw.normal(size=(120, 2))
    found = clusters(values, np.arange(120), 3, 3)
    assert len({*zip(found.tolist(), truth.tolist(), strict=True)}) == 3
    for values, k in small_files(60):
        label = clusters(values, np.arange(len(values)), 4, k)
        assert sorted(set(label)) == list(range(label.max() + 1))
        assert len(values) < k or np.bincount(label).min() >= k
    many = draw.normal(size=(300, 2))
    label = clusters(many, np.arange(300), 5, 3)
    means = np.stack([many[label == each].mean(axis=0) for each in range(5)])
    assert (((many[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) == label).all()


def test_clusters_do_not_depend_on_the_order_of_the_rows() -> None:
    values, order = np.random.default_rng(8).normal(size=(200, 2)), np.random.default_rng(9).permutation(200)
    here, there = clusters(values, np.arange(200), 4, 3), clusters(values[order], order, 4, 3)
    assert len({*zip(here[order].tolist(), there.tolist(), strict=True)}) == 4


@pytest.mark.parametrize("method", METHODS)
def test_no_group_runs_across_clusters(method: str) -> None:
    """sdcMicro sorts inside clusters, puts these behind one another, and groups across their borders."""
    draw = np.random.default_rng(2)
    values = np.concatenate(
        [draw.normal(size=(20, 2)), draw.normal(size=(31, 2)) + 50.0, draw.normal(size=(13, 2)) - 50]
    )
    where = np.repeat([0, 1, 2], [20, 31, 13])
    given = Records(values, np.arange(64), standard_weight(values), values.mean(axis=0))
    groups = groups_of(given, Choice(method, 3, clusters=3))
    assert np.bincount(groups).min() >= 3
    assert all(len(set(where[groups == group])) == 1 for group in range(groups.max() + 1))
    assert method in NAMES


def test_influence_sorts_each_cluster_by_the_variable_in_which_it_lies_out() -> None:
    """One cluster lies out in the first variable, one in the second; their groups are neighbours in it."""
    draw = np.random.default_rng(3)
    first = np.column_stack([100 + np.arange(12) * 2.0, draw.permutation(12) * 0.1])
    second = np.column_stack([draw.permutation(12) * 0.1, 100 + np.arange(12) * 2.0])
    values = np.concatenate([first, second, np.zeros((12, 2)), np.zeros((12, 2))])
    given = Records(values, np.arange(48), standard_weight(values), values.mean(axis=0))
    groups = groups_of(given, Choice("influence", 3, clusters=3))
    for rows in (groups[:12], groups[12:24]):
        assert (np.bincount(rows - rows.min()) == 3).all()
        assert (np.diff(rows) >= 0).all()


def slow_grouped(values: np.ndarray, k: int) -> list[int]:
    """Records with the same missing values grouped among themselves, others with the nearest group that shows more."""
    n, p = values.shape
    shown = [frozenset(j for j in range(p) if not math.isnan(values[i, j])) for i in range(n)]
    weight = []
    for j in range(p):
        there = [values[i, j] for i in range(n) if j in shown[i]]
        spread = statistics.stdev(there) if len(there) > 1 else 0.0
        weight.append(1 / spread if spread > 0 else 0.0)
    groups: list[list[int]] = []
    for pattern in sorted(set(shown), key=lambda each: [j in each for j in range(p)]):
        rows, columns = [i for i in range(n) if shown[i] == pattern], sorted(pattern)
        if columns and len(rows) >= k:
            scale = [weight[j] for j in columns]
            given = Records(values[np.ix_(rows, columns)], np.array(rows), np.array(scale), np.zeros(len(columns)))
            own = groups_of(given, Choice("mdav", k)).tolist()
            groups += [[row for row, group in zip(rows, own, strict=True) if group == g] for g in range(max(own) + 1)]
    joins = {}
    for i in range(n):
        if shown[i] and not any(i in group for group in groups):
            able = [g for g, group in enumerate(groups) if shown[i] <= shown[group[0]]]
            joins[i] = min(
                able,
                key=lambda g: sum(
                    ((values[i, j] - statistics.fmean(values[m, j] for m in groups[g])) * weight[j]) ** 2
                    for j in shown[i]
                ),
            )
    for row, group in joins.items():
        groups[group].append(row)
    return [next((g for g, group in enumerate(groups) if i in group), -1) for i in range(n)]


def test_records_with_missing_values_are_grouped_with_their_like() -> None:
    draw = np.random.default_rng(5)
    joined = 0
    for _ in range(60):
        values = draw.normal(size=(30, 3))
        values[draw.random((30, 3)) < 0.15] = np.nan
        values[:4] = draw.normal(size=(4, 3))
        found = grouped(values, np.arange(30), Choice("mdav", 3))
        assert found.group.tolist() == slow_grouped(values, 3)
        joined += found.joined
        for row in range(30):
            shows = ~np.isnan(values[row])
            alike = (found.group == found.group[row]) & ~np.isnan(values[:, shows]).any(axis=1)
            assert not shows.any() or alike.sum() >= 3
    assert joined > 50


def test_numbers_that_too_few_show_together_are_an_error() -> None:
    values = np.array([[1.0, np.nan]] * 5 + [[np.nan, 2.0]] * 5 + [[1.0, 2.0]])
    with pytest.raises(TacitaError) as refused:
        grouped(values, np.arange(11), Choice("mdav", 3))
    assert str(refused.value) == (
        "1 record shows numbers that too few records show together for groups of 3; microaggregate fewer variables at "
        "once, choose a smaller k or larger strata."
    )


def test_groups_are_merged_until_they_have_enough_values() -> None:
    draw = np.random.default_rng(11)
    for number in range(60):
        values = draw.normal(size=(40, 2))
        groups = np.repeat(np.arange(10), 4)
        sensitive = draw.integers(0, 3, 40)
        distinct = 2 + number % 2
        found, fewer = merged_until_diverse(values, groups, euclidean(np.ones(2)), sensitive, distinct)
        means = np.stack([values[groups == g].mean(axis=0) for g in range(10)])
        own = {g: [g] for g in range(10)}
        for g in range(10):
            if len(set(sensitive[np.isin(groups, own[g])])) < distinct:
                near = min((h for h in own if h != g), key=lambda h: ((means[h] - means[g]) ** 2).sum())
                own[near] += own.pop(g)
        expected = {frozenset(np.flatnonzero(np.isin(groups, each)).tolist()) for each in own.values()}
        assert {frozenset(np.flatnonzero(found == g).tolist()) for g in range(found.max() + 1)} == expected
        assert fewer == 10 - len(own)
        assert min(len(set(sensitive[found == g])) for g in range(found.max() + 1)) >= distinct


def test_the_share_lost_by_hand() -> None:
    """0, 2, 10, 12: means 1 and 11 lose 4 of 104; the constant column has nothing to lose."""
    values = np.array([[0.0, 5.0], [2.0, 5.0], [10.0, 5.0], [12.0, 5.0], [np.nan, 5.0]])
    fresh = np.array([[1.0, 5.0], [1.0, 5.0], [11.0, 5.0], [11.0, 5.0], [np.nan, 5.0]])
    assert lost_share(values, fresh) == pytest.approx(4 / 104)
    assert lost_share(np.ones((3, 1)), np.ones((3, 1))) == 0.0
