"""Minimum, quartiles, mean and maximum of values that stand for several records each."""

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.risk.identity.individual_risk import Spread, mean, quantiles, spread

values_and_counts = st.lists(st.tuples(st.floats(0, 1), st.integers(1, 6)), min_size=1, max_size=15)


def test_by_hand() -> None:
    """1, 2, 2, 4: positions 0.75, 1.5 and 2.25 of 0 to 3."""
    assert spread(np.array([4.0, 1.0, 2.0]), np.array([1, 1, 2])) == Spread(1.0, 1.75, 2.0, 2.25, 2.5, 4.0)
    assert spread(np.array([1.0, 2.0, 2.0, 4.0])) == Spread(1.0, 1.75, 2.0, 2.25, 2.5, 4.0)
    assert spread(np.array([0.3])) == Spread(0.3, 0.3, 0.3, 0.3, 0.3, 0.3)


@given(values_and_counts)
def test_counts_stand_for_repeated_values(pairs: list[tuple[float, int]]) -> None:
    values, counts = np.array([v for v, _ in pairs]), np.array([c for _, c in pairs])
    written_out = np.repeat(values, counts)
    shares = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
    found = quantiles(values, shares, counts)
    assert found == pytest.approx(np.quantile(written_out, shares).tolist(), rel=1e-12, abs=1e-300)
    assert found == quantiles(written_out, shares)
    assert found[3] == pytest.approx(median(written_out.tolist()), rel=1e-12, abs=1e-300)
    assert mean(values, counts) == pytest.approx(math.fsum(written_out) / len(written_out), rel=1e-12, abs=1e-300)


@given(values_and_counts, st.randoms(use_true_random=False))
def test_order_does_not_matter(pairs: list[tuple[float, int]], random: object) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = (
        spread(np.array([v for v, _ in each]), np.array([c for _, c in each])) for each in (pairs, shuffled)
    )
    assert first == second
