"""MDAV: the groups of the plain algorithm, to the record."""

import numpy as np
import pytest
from slow_microaggregation import numbered, slow_in_order, slow_mdav, small_files, squared

from tacita.distance.distances import chebyshev, euclidean, manhattan, standard_weight
from tacita.protect.microaggregate.in_order import groups_in_order, variable_mdav
from tacita.protect.microaggregate.mdav import mdav
from tacita.protect.microaggregate.outermost import farthest_from_centre, outermost


def test_groups_are_those_of_the_plain_algorithm() -> None:
    for values, k in small_files(400):
        if len(values) >= k >= 2:
            weight = standard_weight(values)
            assert mdav(values, k, euclidean(weight)).tolist() == slow_mdav(values.tolist(), k, weight.tolist())


@pytest.mark.parametrize("kind", ["normal", "log-normal", "whole numbers"])
def test_groups_of_larger_files_too(kind: str) -> None:
    """Large enough that the list of the outermost records is made anew, and that it does not hold all."""
    draw = np.random.default_rng(3)
    for k in (2, 3, 7):
        values = draw.normal(size=(700, 3))
        values = {"normal": values, "log-normal": np.exp(values), "whole numbers": np.rint(3 * values)}[kind]
        weight = standard_weight(values)
        assert mdav(values, k, euclidean(weight)).tolist() == slow_mdav(values.tolist(), k, weight.tolist())


def test_by_hand() -> None:
    """Eleven numbers with mean 12, k 3: 60 is farthest and takes 24 and 15; farthest from it is 1, which takes 2 and 3.
    The five left are one group."""
    values = np.array([60, 1, 2, 3, 4, 5, 6, 7, 5, 24, 15], dtype=float)[:, None]
    groups = mdav(values, 3, euclidean(np.ones(1)))
    assert groups.tolist() == [0, 1, 1, 1, 2, 2, 2, 2, 2, 0, 0]


def test_ties_go_to_the_lowest_row() -> None:
    """-1 and 1 are equally far from 0, and of the four records at -1 the first two are taken."""
    values = np.array([0, 1, -1, 1, -1, -1, 1, -1, 1], dtype=float)[:, None]
    assert mdav(values, 3, euclidean(np.ones(1))).tolist() == [2, 0, 1, 0, 1, 1, 0, 2, 2]
    equal = mdav(np.ones((10, 2)), 3, euclidean(np.ones(2)))
    assert equal.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("n", range(2, 30))
def test_sizes(n: int) -> None:
    """k records in each group but the last, which has k to 2k - 1."""
    values = np.random.default_rng(n).normal(size=(n, 2))
    for k in range(2, min(n, 8) + 1):
        sizes = np.bincount(mdav(values, k, euclidean(np.ones(2))))
        assert len(sizes) == max(n // k, 1)
        assert set(sizes[:-1]) <= {k}
        assert k <= sizes[-1] <= 2 * k - 1


def test_numbers_of_any_size() -> None:
    """Neither overflow nor rounding of the mean changes the groups: powers of 2 change no digit."""
    values = np.random.default_rng(5).normal(size=(200, 2))
    groups = mdav(values, 3, euclidean(standard_weight(values))).tolist()
    for power in (-900, -300, 300, 450):
        moved = np.ldexp(values, power)
        assert mdav(moved, 3, euclidean(standard_weight(moved))).tolist() == groups


@pytest.mark.parametrize("metric", [euclidean, manhattan, chebyshev])
def test_the_farthest_from_a_moving_centre(metric: type) -> None:
    """Whatever way the centre goes, and whoever leaves, it is the one that looking at all finds."""
    draw = np.random.default_rng(2)
    values = np.rint(draw.normal(size=(1000, 2)) * 20)
    how = metric(np.array([1.0, 0.5]))
    columns, groups, outer = np.ascontiguousarray(values.T), np.full(1000, -1), outermost(1000, 2)
    centre = np.zeros((1, 2))
    for turn in range(900):
        centre += draw.normal(size=(1, 2)) * (30.0 if turn % 100 == 99 else 0.3)
        row = farthest_from_centre(outer, columns, groups, int((groups < 0).sum()), centre, how)
        contribution = np.abs(values - centre) * how.weight
        total = {euclidean: (contribution**2).sum(axis=1), manhattan: contribution.sum(axis=1)}.get(
            metric, contribution.max(axis=1)
        )
        assert row == np.where(groups < 0, total, -1.0).argmax()
        groups[row] = 0


def test_groups_in_an_order_are_those_of_the_definition() -> None:
    for number, (values, k) in enumerate(small_files(300)):
        if len(values) >= k >= 2:
            weight = standard_weight(values)
            order = np.random.default_rng(number).permutation(len(values))
            gamma = (0.0, 0.2, 1.1, 3.0)[number % 4]
            found = groups_in_order(values, k, euclidean(weight), order, gamma)
            assert found.tolist() == slow_in_order(values.tolist(), k, weight.tolist(), order.tolist(), gamma)


def test_groups_of_variable_size_start_far_out_and_grow() -> None:
    for values, k in small_files(100):
        if len(values) >= k >= 2:
            weight = standard_weight(values)
            centre = values.mean(axis=0).tolist()
            order = sorted(range(len(values)), key=lambda row: (-(squared(values[row], centre, weight) ** 0.5), row))
            found = variable_mdav(values, k, euclidean(weight), 1.1)
            assert found.tolist() == slow_in_order(values.tolist(), k, weight.tolist(), order, 1.1)


def test_variable_size_follows_the_data() -> None:
    """Clumps of three, four and five records are found as they are, where groups of equal size would break them up."""
    values = np.array([0, 1, 2, 100, 101, 102, 103, 260, 261, 262, 263, 264], dtype=float)[:, None]
    groups = variable_mdav(values, 3, euclidean(np.ones(1)), 5.0).tolist()
    assert groups == numbered([[0, 1, 2], [7, 8, 9, 10, 11], [3, 4, 5, 6]], 12)
    assert mdav(values, 3, euclidean(np.ones(1))).tolist() != groups
