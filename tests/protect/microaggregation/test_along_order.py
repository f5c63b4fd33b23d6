"""Groups along an order: equal sizes, and the cuts that lose least."""

import numpy as np
from slow_microaggregation import least_loss, least_loss_of_all, small_files, within

from tacita.protect.microaggregate.along_order import best_groups, equal_groups


def loss(values: np.ndarray, groups: np.ndarray) -> float:
    return sum(within(values[groups == group]) for group in np.unique(groups))


def test_no_other_cuts_lose_less() -> None:
    for values, k in small_files(150, most=16):
        if len(values) >= k >= 2:
            order = np.argsort(values[:, 0], kind="stable")
            groups = best_groups(order, values, k)
            assert (np.diff(groups[order]) >= 0).all()
            sizes = np.bincount(groups)
            assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
            np.testing.assert_allclose(loss(values, groups), least_loss(values[order], k), atol=1e-9)


def test_of_one_variable_no_other_partition_loses_less() -> None:
    """Hansen and Mukherjee: the best groups of all are groups of neighbours."""
    for values, k in small_files(60, columns=1, most=9):
        if len(values) >= k >= 2:
            groups = best_groups(np.argsort(values[:, 0], kind="stable"), values, k)
            np.testing.assert_allclose(loss(values, groups), least_loss_of_all(values, k), atol=1e-9)


def test_by_hand() -> None:
    """1 2 | 10 11 12 loses 0.5 + 2; 1 2 10 | 11 12 would lose 48.7 + 0.5."""
    values = np.array([12.0, 1.0, 10.0, 2.0, 11.0])[:, None]
    assert best_groups(np.argsort(values[:, 0]), values, 2).tolist() == [1, 0, 1, 0, 1]


def test_equal_groups_follow_the_order() -> None:
    """As sdcMicro: k records each, the last group takes the rest."""
    for n in range(1, 20):
        order = np.random.default_rng(n).permutation(n)
        for k in range(1, n + 1):
            expected = np.empty(n, int)
            groups = [order[i : i + k] for i in range(0, n, k)]
            if len(groups) > 1 and len(groups[-1]) < k:
                groups[-2:] = [np.concatenate(groups[-2:])]
            for number, rows in enumerate(groups):
                expected[rows] = number
            assert equal_groups(order, k).tolist() == expected.tolist()
