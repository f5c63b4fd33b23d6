"""Whose category a group gets, against slow twins and by hand."""

import numpy as np
from slow_gower import slow_median, slow_mode

from tacita.protect.microaggregate.gower_donors import (
    combinations,
    drawn_donors,
    median_donors,
    mode_donors,
    unseen,
)
from tacita.random import Draws


def small_groups() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Codes with 0 for missing, groups with -1 for none, weights; one record, one category, nothing at all."""
    draw, files = np.random.default_rng(2), []
    for number in range(120):
        n = int(draw.integers(1, 30))
        codes = draw.integers(0, 2 if number % 5 == 0 else 5, n)
        groups = np.unique(draw.integers(0, 6, n), return_inverse=True)[1].reshape(-1) - (number % 3 == 1)
        weights = np.ones(n) if number % 2 else draw.integers(1, 4, n) / 4
        files.append((codes, groups, weights))
    return files


def test_modes_and_medians_are_those_of_looking_at_each_group() -> None:
    for codes, groups, weights in small_groups():
        records = np.arange(100, 100 + len(codes))
        modes = mode_donors(codes, groups, weights, records, Draws(1))
        medians = median_donors(codes, groups, weights)
        drawn = drawn_donors(codes, groups, records, Draws(1))
        assert len(modes) == len(medians) == len(drawn) == groups.max() + 1
        for group in range(len(modes)):
            rows = np.flatnonzero(groups == group)
            if not codes[rows].any():
                assert (modes[group], medians[group], drawn[group]) == (-1, -1, -1)
                continue
            assert {modes[group], medians[group], drawn[group]} <= set(rows)
            assert codes[modes[group]] in slow_mode(codes[rows].tolist(), weights[rows].tolist())
            assert codes[medians[group]] == slow_median(codes[rows].tolist(), weights[rows].tolist())
            assert codes[drawn[group]] > 0


def test_ties_are_drawn_evenly_and_by_the_lowest_record_number() -> None:
    """9,000 groups a a b b c: a or b, each half of the time; of members drawn, c a fifth."""
    groups, codes = np.repeat(np.arange(9000), 5), np.tile([1, 1, 2, 2, 3], 9000)
    records = np.arange(len(codes))
    modes = codes[mode_donors(codes, groups, np.ones(len(codes)), records, Draws(4))]
    assert set(modes.tolist()) == {1, 2}
    assert abs((modes == 1).mean() - 0.5) < 0.02
    drawn = codes[drawn_donors(codes, groups, records, Draws(4))]
    assert abs((drawn == 3).mean() - 0.2) < 0.02
    order = np.random.default_rng(1).permutation(len(codes))
    again = codes[order][mode_donors(codes[order], groups[order], np.ones(len(codes)), records[order], Draws(4))]
    np.testing.assert_array_equal(again, modes)
    again = codes[order][drawn_donors(codes[order], groups[order], records[order], Draws(4))]
    np.testing.assert_array_equal(again, drawn)


def test_weights_decide_the_mode_and_the_median() -> None:
    codes, groups = np.array([1, 2, 2, 3]), np.zeros(4, np.int64)
    weights = np.array([5.0, 1.0, 1.0, 1.0])
    assert codes[mode_donors(codes, groups, weights, np.arange(4), Draws(1))].tolist() == [1]
    assert codes[median_donors(codes, groups, weights)].tolist() == [1]
    assert codes[median_donors(codes, groups, np.ones(4))].tolist() == [2]


def test_combinations_are_equal_where_all_codes_are() -> None:
    draw = np.random.default_rng(3)
    codes = draw.integers(0, 3, (200, 4))
    number = combinations(codes)
    for row in range(200):
        np.testing.assert_array_equal(number == number[row], (codes == codes[row]).all(axis=1))


def test_a_combination_is_new_if_nobody_had_it_on_what_is_shown() -> None:
    draw = np.random.default_rng(4)
    for highest in (2, 4):
        codes = draw.integers(0, highest, (60, 3))
        donors = draw.integers(0, 60, (60, 3))
        after = [[int(codes[donor, place]) for place, donor in enumerate(row)] for row in donors]
        new = [
            any(row) and not any(all(code in (0, had) for code, had in zip(row, other, strict=True)) for other in codes)
            for row in after
        ]
        assert unseen(codes, donors).tolist() == new
