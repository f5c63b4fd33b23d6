"""Gower's distance and the groups around the farthest records, against their slow twins and by hand."""

import numpy as np
import pytest
from slow_gower import mixed_files, slow_gower_mdav, table_of_distances

from tacita.check import TacitaError
from tacita.protect.microaggregate.gower_distance import UNIT, gower_distances, gower_points
from tacita.protect.microaggregate.gower_groups import gower_groups, medoids
from tacita.protect.microaggregate.gower_mdav import gower_mdav


def test_distances_and_groups_are_those_of_looking_at_all_pairs() -> None:
    for file, k in mixed_files(160):
        table, points = table_of_distances(file), file.points
        for row in range(len(table)):
            np.testing.assert_array_equal(gower_distances(points, row), table[row])
        groups = gower_mdav(points, k)
        assert groups.tolist() == slow_gower_mdav(table, k)
        sizes = np.bincount(groups)
        assert len(sizes) == 1 or (k <= sizes.min() and sizes.max() < 2 * k)
        assert sizes[:-1].tolist() == [k] * (len(sizes) - 1)


@pytest.mark.parametrize("gamma", [0.2, 1.1, 5.0])
def test_groups_that_grow_are_those_of_looking_at_all_pairs(gamma: float) -> None:
    grown = 0
    for file, k in mixed_files(60):
        groups = gower_mdav(file.points, k, gamma)
        assert groups.tolist() == slow_gower_mdav(table_of_distances(file), k, gamma)
        sizes = np.bincount(groups)
        assert len(sizes) == 1 or (k <= sizes.min() and sizes.max() < 2 * k)
        grown += int((sizes[:-1] > k).sum())
    assert grown > 0


def test_work_in_many_parts_gives_the_same_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums are added up, groups formed and empty points dropped a few at a time."""
    monkeypatch.setattr("tacita.protect.microaggregate.gower_mdav.PAIRS", 4)
    monkeypatch.setattr("tacita.protect.microaggregate.gower_mdav.SUMS", 32)
    draw = np.random.default_rng(3)
    values = [draw.normal(size=200).round(1), draw.integers(0, 3, 200).astype(float)]
    points = gower_points(values, [False, True], np.array([2.0, 1.0]), [None, None])
    table = np.stack([gower_distances(points, row) for row in range(200)])
    for gamma in (0.0, 1.1):
        assert gower_mdav(points, 3, gamma).tolist() == slow_gower_mdav(table, 3, gamma)


def test_more_records_than_sums_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacita.protect.microaggregate.gower_mdav.MOST", 4)
    points = gower_points([np.arange(5.0)], [False], np.ones(1), [None])
    with pytest.raises(TacitaError) as refused:
        gower_mdav(points, 2)
    assert str(refused.value) == "more than 4 records are too many to be grouped at once; choose strata."


def test_the_medoid_of_a_group_has_the_least_sum() -> None:
    for file, k in mixed_files(40):
        groups = gower_mdav(file.points, k)
        table = table_of_distances(file)
        for group, row in enumerate(medoids(file.points, groups)):
            members = np.flatnonzero(groups == group)
            sums = table[np.ix_(members, members)].sum(axis=1)
            assert row == members[sums.argmin()]


def test_a_distance_by_hand() -> None:
    """Age 20 to 70, three levels of schooling as ranks, sex; the last record misses its sex, the second its age."""
    age, schooling = np.array([20.0, np.nan, 45.0, 70.0]), np.array([1.0, 3.0, 2.0, 1.0])
    sex = np.array([1.0, 2.0, 1.0, np.nan])
    points = gower_points([age, schooling, sex], [False, False, True], np.array([2.0, 1.0, 1.0]), [None] * 3)
    found = gower_distances(points, 0) / UNIT
    # Schooling and sex; all, (2 * 0.5 + 0.5 + 0) / 4; age and schooling, (2 * 1 + 0) / 3.
    np.testing.assert_allclose(found, [0.0, 1.0, 0.375, 2 / 3], atol=1e-11)


def test_a_value_apart_is_a_category() -> None:
    """Incomes of 0 are no small incomes: at distance 1 from all others, whose range starts at 1,000."""
    points = gower_points([np.array([0.0, 1000.0, 3000.0, 0.0, 2000.0])], [False], np.ones(1), [0.0])
    assert (gower_distances(points, 0) / UNIT).tolist() == [0.0, 1.0, 1.0, 0.0, 1.0]
    assert (gower_distances(points, 1) / UNIT).tolist() == [1.0, 0.0, 1.0, 1.0, 0.5]


def test_many_categories_differ_by_one() -> None:
    points = gower_points([np.arange(100_000.0)], [True], np.ones(1), [None])
    found = gower_distances(points, 99_999)
    assert set(found[:-1]) == {UNIT}
    assert found[-1] == 0


def test_groups_by_hand() -> None:
    """Ages 1 2 3 7 8 20, k 2: the medoid is 3 (sum 30, as 7 has, but the lower row); farthest 20, with 8; farthest from
    20 is 1, with 2; the rest is 3 and 7."""
    age = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 20.0])
    groups = gower_mdav(gower_points([age], [False], np.ones(1), [None]), 2)
    assert groups.tolist() == [1, 1, 2, 2, 0, 0]


def test_records_that_show_the_same_are_grouped_among_themselves() -> None:
    draw = np.random.default_rng(5)
    for _ in range(20):
        shown = draw.random((80, 3)) < 0.85
        shown[:10] = True
        points = gower_points([draw.normal(size=80)], [False], np.ones(1), [None])
        found = gower_groups(points, shown, 3)
        assert ((found.group >= 0) == shown.any(axis=1)).all()
        for row in np.flatnonzero(found.group >= 0):
            alike = found.group == found.group[row]
            assert shown[alike][:, shown[row]].all(axis=1).sum() >= 3
            core = alike & found.core
            assert (shown[core] == shown[found.medoid[found.group[row]]]).all()
