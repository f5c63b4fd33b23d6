"""Sums without rounding errors, beside sums of fractions."""

from __future__ import annotations

import statistics
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacita.protect.noise.exact_sums import ExactSum, deviation

FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1, max_size=20)


@given(FLOATS, st.integers(0, 20))
def test_sums_are_those_of_fractions_whatever_the_parts(values: list[float], cut: int) -> None:
    total = ExactSum()
    for part in (values[cut:], values[:cut]):
        total.add(np.array(part))
    exact = sum(map(Fraction, values))
    if abs(exact / len(values)) < Fraction(1.7e308):
        assert total.over(len(values)) == float(exact / len(values))


@given(st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=12), st.integers(0, 12))
def test_the_deviation_does_not_depend_on_the_parts(values: list[float], cut: int) -> None:
    numbers = np.array(values, dtype=np.float64)
    whole, parts = deviation(lambda: [numbers]), deviation(lambda: [numbers[cut:], numbers[:cut]])
    assert whole == parts
    expected = statistics.stdev(values) if len(set(values)) > 1 else 0.0
    assert np.isclose(whole, expected, rtol=1e-9, atol=1e-150)
