"""Sums by group that do not depend on the order of the records, and are rounded once."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.keys import source

weights = st.floats(1, 2.0**40)
below_one = st.floats(2.0**-40, 1)
probabilities = st.floats(0, 1)


def by_group(values: list[float], groups: list[int], count: int, bits: int) -> list[float]:
    limbs = source.group_sums(np.array(values, dtype=float), np.array(groups, dtype=np.int64), count, bits)
    return source.as_float(limbs, bits).tolist()


def totals(values: list[float], groups: list[int], count: int) -> list[Fraction]:
    """The sums as they are."""
    found = [Fraction(0)] * count
    for value, group in zip(values, groups, strict=True):
        found[group] += Fraction(value)
    return found


def exact(values: list[float], groups: list[int], count: int) -> list[float]:
    """The sums rounded once."""
    return [float(total) for total in totals(values, groups, count)]


def grouped(value: st.SearchStrategy[float]) -> st.SearchStrategy[list[tuple[float, int]]]:
    return st.lists(st.tuples(value, st.integers(0, 3)), max_size=60)


def test_by_hand() -> None:
    assert by_group([0.1, 0.2, 0.3, 1e9], [0, 0, 1, 1], 3, source.WEIGHT_BITS) == [
        0.30000000000000004,
        1000000000.3,
        0,
    ]


def test_a_plain_sum_would_depend_on_the_order() -> None:
    """The case for all this: 1 + 2^-53 twice is lost from the left, kept from the right."""
    values = [1.0, 2.0**-53, 2.0**-53]
    assert sum(values) != sum(reversed(values))
    bits = source.SMALL_BITS
    assert by_group(values, [0, 0, 0], 1, bits) == by_group(values[::-1], [0, 0, 0], 1, bits) == [1 + 2.0**-52]


@given(grouped(weights))
def test_weights_are_summed_exactly_and_rounded_once(rows: list[tuple[float, int]]) -> None:
    values, groups = [value for value, _ in rows], [group for _, group in rows]
    assert by_group(values, groups, 4, source.WEIGHT_BITS) == exact(values, groups, 4)


@pytest.mark.parametrize(("bits", "value"), [(source.WEIGHT_BITS, below_one), (source.SMALL_BITS, probabilities)])
@given(data=st.data())
def test_smaller_values_lose_only_what_is_below_the_last_bit(
    bits: int, value: st.SearchStrategy[float], data: st.DataObject
) -> None:
    """Every value is rounded to 2^-bits, the sum once more; nothing else is lost."""
    rows = data.draw(grouped(value))
    values, groups = [value for value, _ in rows], [group for _, group in rows]
    for found, right in zip(by_group(values, groups, 4, bits), totals(values, groups, 4), strict=True):
        lost = Fraction(len(values), 2 ** (bits + 1)) + Fraction(math.ulp(found)) / 2
        assert abs(Fraction(found) - right) <= lost


@given(grouped(st.one_of(weights, below_one)), st.randoms(use_true_random=False), st.sampled_from([52, 80]))
def test_any_order_gives_the_same_bits(rows: list[tuple[float, int]], random: object, bits: int) -> None:
    if bits == source.SMALL_BITS:
        rows = [(value / 2.0**41, group) for value, group in rows]
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = (by_group([v for v, _ in each], [g for _, g in each], 4, bits) for each in (rows, shuffled))
    assert first == second


@given(grouped(weights), st.integers(0, 60))
def test_parts_of_a_file_add_up_to_the_whole(rows: list[tuple[float, int]], cut: int) -> None:
    """Limbs of two parts can be added: other engines sum partitions apart."""
    values, groups = np.array([v for v, _ in rows]), np.array([g for _, g in rows], dtype=np.int64)
    parts = [
        source.group_sums(values[part], groups[part], 4, source.WEIGHT_BITS) for part in (slice(cut), slice(cut, None))
    ]
    whole = source.group_sums(values, groups, 4, source.WEIGHT_BITS)
    assert np.array_equal(parts[0] + parts[1], whole)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    values, groups = np.random.default_rng(1).uniform(1, 500, 1000), np.arange(1000) % 7
    whole = source.group_sums(values, groups, 7, source.WEIGHT_BITS)
    monkeypatch.setattr(source, "BLOCK", 64)
    assert np.array_equal(source.group_sums(values, groups, 7, source.WEIGHT_BITS), whole)


def test_the_greatest_total_is_still_rounded_once() -> None:
    """Totals up to 2^51, which `key_table` allows: 16 weights of 2^47 less 1/32 each."""
    values = [2.0**47 - 2.0**-5] * 16
    assert by_group(values, [0] * 16, 1, source.WEIGHT_BITS) == exact(values, [0] * 16, 1) == [2.0**51 - 0.5]


def test_the_input_is_not_changed() -> None:
    values, groups = np.array([1.5, 2.5]), np.array([0, 0])
    limbs = source.group_sums(values, groups, 1, source.WEIGHT_BITS)
    before = limbs.copy()
    source.as_float(limbs, source.WEIGHT_BITS)
    assert values.tolist() == [1.5, 2.5]
    assert np.array_equal(limbs, before)
