"""The methods of noise: arrays in, arrays out.

Each takes complete rows of numbers and standard normal draws of the same shape. The first kind treats cells one by
one, the second draws from the covariance of the variables, the third needs all records at once, since it keeps their
mean and covariance exactly.
"""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats
from tacita.protect.noise.moments import Moments


def additive(values: Floats, sd: Floats, amount: float, normal: Floats) -> Floats:
    """x + c s z, with the standard deviation s of each variable.

    >>> additive(np.array([[10.0]]), np.array([4.0]), 0.5, np.array([[1.0]])).tolist()
    [[12.0]]
    """
    return values + amount * sd * normal


def multiplicative(values: Floats, sd: Floats, amount: float, normal: Floats) -> Floats:
    """x exp(c z - c^2/2): a factor of mean 1, never negative; the standard deviation does not matter."""
    return values * np.exp(amount * normal - amount * amount / 2.0)


def two_sided(values: Floats, sd: Floats, amount: float, normal: Floats) -> Floats:
    """x (1 + d) or x (1 - d), with d between c and 2c, most often near c (a falling triangle).

    No value stays nearly the same. Reference: Evans, Zayatz and Slanta (1998), Using noise for disclosure limitation of
    establishment tabular data. Journal of Official Statistics 14.

    >>> two_sided(np.full((3, 1), 100.0), np.ones(1), 0.1, np.array([[-8.0], [0.1], [8.0]])).round(3).tolist()
    [[90.0], [110.407], [120.0]]
    """
    from scipy.special import ndtr

    up = normal > 0
    chance = 2.0 * ndtr(normal) - up
    change = amount * (2.0 - np.sqrt(1.0 - chance))
    noisy: Floats = values * np.where(up, 1.0 + change, 1.0 - change)
    return noisy


def correlated(values: Floats, moments: Moments, amount: float, normal: Floats) -> Floats:
    """x + e, e ~ N(0, c^2 S)."""
    return values + amount * _spread(moments, normal)


def restricted(values: Floats, moments: Moments, amount: float, normal: Floats) -> Floats:
    """m + (x - m + e)/sqrt(1 + c^2), e ~ N(0, c^2 S): mean and covariance are kept in expectation.

    Reference: Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation.
    Proceedings of the Section on Survey Research Methods, American Statistical Association.
    """
    moved = values - moments.centre + amount * _spread(moments, normal)
    noisy: Floats = moments.centre + moved / np.sqrt(1.0 + amount * amount)
    return noisy


def delta(values: Floats, moments: Moments, amount: float, normal: Floats) -> Floats:
    """m + sqrt(1 - d^2)(x - m) + d e, e ~ N(0, S): the same as `restricted` with c = d/sqrt(1 - d^2)."""
    kept = np.sqrt(1.0 - amount * amount) * (values - moments.centre)
    noisy: Floats = moments.centre + kept + amount * _spread(moments, normal)
    return noisy


def _spread(moments: Moments, normal: Floats) -> Floats:
    """Draws with the covariance of the data, mean 0."""
    drawn: Floats = normal[:, : moments.root.shape[1]] @ moments.root.T
    return drawn


def exact(values: Floats, moments: Moments, weight: Floats, amount: float, normal: Floats) -> Floats:
    """As `restricted`, with noise whose mean is 0, whose covariance is c^2 S and which is uncorrelated with x, exactly.

    Of the draws what 1 and x explain is taken away, and what is left is brought to covariance 1, all under the weights.
    At least 2p + 2 records are needed.
    """
    mass = np.sqrt(weight)[:, None]
    explained = _orthonormal(mass * np.column_stack([np.ones(len(values)), _standard(values, moments)]))[0]
    left = mass * normal[:, : moments.root.shape[1]]
    for _ in range(2):  # once more takes away what rounding left of it
        left = left - explained @ (explained.T @ left)
    free = _orthonormal(left)[0] * np.sqrt(weight.sum() * (1.0 - 1.0 / len(values))) / mass
    return restricted(values, moments, amount, free)


def rotated(values: Floats, moments: Moments, weight: Floats, amount: float, normal: Floats) -> Floats:
    """Random orthogonal matrix masking (ROMM): x rotated at random around the mean, which keeps mean and covariance.

    Centred X = Q R; Z = Q + c E, E centred N(0, 1/n); Z = Q* R* with a positive diagonal; Y = m + Q* R: no matrix is
    larger than the data. References: Ting, Fienberg and Trottini (2008), Random orthogonal matrix masking methodology
    for microdata release. International Journal of Information and Computer Security 2; Langsrud (2019), Information
    preserving regression-based tools for statistical disclosure control. Statistics and Computing 29.
    """
    mass = np.sqrt(weight / weight.mean())[:, None]
    unit = _units(moments)
    first, upper = _orthonormal(mass * _standard(values, moments))
    moved = first + amount * mass * normal / np.sqrt(len(values))
    moved -= mass * (mass.T @ moved) / len(values)
    noisy: Floats = moments.centre + _orthonormal(moved)[0] @ upper * unit / mass
    return noisy


def _units(moments: Moments) -> Floats:
    """The standard deviations, 1 where there is none."""
    spread = np.sqrt((moments.root**2).sum(axis=1))
    units: Floats = np.where(spread > 0, spread, 1.0)
    return units


def _standard(values: Floats, moments: Moments) -> Floats:
    return (values - moments.centre) / _units(moments)


def _orthonormal(columns: Floats) -> tuple[Floats, Floats]:
    """The columns as Q R: Q orthonormal, R upper triangular with a diagonal that is not negative."""
    found, upper = np.linalg.qr(columns)
    turn = np.where(np.diag(upper) < 0, -1.0, 1.0)
    return found * turn, upper * turn[:, None]


BY_CELL = {"additive": additive, "multiplicative": multiplicative, "two_sided": two_sided}
TOGETHER = {"correlated": correlated, "restricted": restricted, "delta": delta}
EXACT = {"exact": exact, "romm": rotated}
