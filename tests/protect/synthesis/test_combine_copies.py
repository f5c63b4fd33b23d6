"""Combining copies: worked by hand, and covering what they should."""

import numpy as np
import pytest
from scipy.stats import t

import tacita as tc
from tacita.check import TacitaError


def test_partly_synthetic_copies_by_hand() -> None:
    """q = 12, b = 4, u = 3, m = 3: T = 4/3 + 3 = 13/3, freedom 2 (1 + 3/(4/3))^2 = 2 * 3.25^2."""
    found = tc.combine_copies([10, 12, 14], [2, 3, 4])
    assert found.estimate == 12
    assert found.variance == pytest.approx(13 / 3)
    assert found.freedom == pytest.approx(21.125)
    half = t.ppf(0.975, 21.125) * np.sqrt(13 / 3)
    assert (found.lower.item(), found.upper.item()) == pytest.approx((12 - half, 12 + half))


def test_fully_synthetic_copies_by_hand() -> None:
    """b = 4, u = 3, m = 3: T = 4/3 * 4 - 3 = 7/3, freedom 2 (1 - 3/(16/3))^2 = 2 * (7/16)^2."""
    found = tc.combine_copies([10, 12, 14], [2, 3, 4], kind="full", level=0.9)
    assert found.variance == pytest.approx(7 / 3)
    assert found.freedom == pytest.approx(2 * (7 / 16) ** 2)
    assert not found.adjusted
    lowest = tc.combine_copies([10, 10.1, 9.9], [2, 3, 4], kind="full")
    assert (lowest.variance, lowest.adjusted) == (3, True)


def test_several_estimates_and_copies_that_agree() -> None:
    found = tc.combine_copies([[1, 10], [1, 12]], [[4, 1], [4, 1]])
    assert found.estimate.tolist() == [1, 11]
    assert found.variance.tolist() == [4, 2]
    assert found.freedom.tolist() == [np.inf, 4]
    assert found.upper[0] == pytest.approx(1 + 1.959964 * 2)


@pytest.mark.parametrize(
    ("estimates", "variances", "kind", "message"),
    [
        ([1], [1], "partial", "combining needs two copies or more; synthesise with copies=5."),
        ([1, 2], [1, -1], "partial", "variances must be at least 0; pass squares of standard errors."),
        ([1, 2], [1], "full", "estimates and variances must have one row per copy and the same columns."),
        ([1, None], [1, 1], "full", "estimates must be numbers that are not missing, one row per copy."),
        (["a", "b"], [1, 1], "full", "estimates must be numbers, one row per copy."),
    ],
)
def test_what_cannot_be_combined(estimates: list, variances: list, kind: str, message: str) -> None:
    with pytest.raises(TacitaError) as found:
        tc.combine_copies(estimates, variances, kind=kind)
    assert str(found.value) == message


def test_intervals_of_synthetic_copies_cover_the_truth() -> None:
    """The mean of 200 records with true mean 5: of 60 files about 95 % of the intervals hold it, 88 % at the least."""
    covered = {"partial": 0, "full": 0}
    for seed in range(60):
        values = np.random.default_rng(seed).normal(5, 2, 200)
        for kind in covered:
            step = tc.Synthesise("x", given=(), copies=5, proper=kind == "full")
            file = {"x": values, "k": ["a", "b"] * 100}
            made = tc.Plan([step]).apply(_table(file), tc.Scenario(keys=["k"]), seed=seed).data
            copies = made.numbers("x").reshape(5, 200)
            found = tc.combine_copies(copies.mean(axis=1), copies.var(axis=1, ddof=1) / 200, kind=kind)
            covered[kind] += bool(found.lower <= 5 <= found.upper)
    assert all(count >= 53 for count in covered.values()), covered


def _table(columns: dict) -> object:
    import polars as pl

    return pl.DataFrame(columns)
