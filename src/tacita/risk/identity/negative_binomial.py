"""The negative binomial population count behind the individual risk of Benedetti and Franconi.

A key held by `f` sample records is held by F >= f persons of the population. Given f, F is negative binomial with
success probability p (the share of the population that is in the sample), and an intruder who picks one of the F at
random is right with probability 1/F. This module has the mean and the variance of 1/F and the quantiles of F, for
arrays of f > 0 (fractional where missing values are shared out) and p in (0, 1].

Write z = 1 - p, w = p / z, r_f = E[1/F | f] and s_f = E[1/F^2 | f]. Two ways of computing cover everything:

* For p >= 1/2 or large f, power series in z with positive terms only: no cancellation, and they converge fast there.
* For p < 1/2 and small f, the recurrences r_{f+1} = w (1/f - r_f) and s_{f+1} = w (r_f/f - s_f). An error is
  multiplied by about -w at each step and w < 1 there, so going up is stable. They start from f in [1/2, 3/2), which
  is f = 1 for whole numbers (closed form).

References: Benedetti and Franconi (1998); Franconi and Polettini (2004). The first series is Euler's transformation
of the risk, r_f = (p/f) 2F1(1, 1; f+1; z).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, exprel, spence, zeta

from tacita.check import TacitaError

_Floats: TypeAlias = NDArray[np.float64]

_SERIES_FROM_P = 0.5
# About as many recurrence steps as the series has terms.
_SERIES_FROM_F = 30.0
# Against a sum of at least 1: what is left off is below rounding.
_SMALLEST_TERM = 1e-17
# The working arrays of one block stay in the processor's cache.
_BLOCK = 8192


def expected_reciprocal(f: ArrayLike, p: ArrayLike) -> _Floats:
    """Individual risk r = E[1/F | f] = (p/f) 2F1(1, 1; f+1; 1-p), exact to 1e-12 (for f above 0.01).

    The probability that an intruder who knows the key, and that the person is in the sample, picks the right one
    of the F persons sharing it. For f = 1 it is p ln(1/p) / (1-p); for p = 1 it is 1/f.

    >>> expected_reciprocal([1, 1, 2], [1.0, 0.5, 0.01]).round(6).tolist()
    [1.0, 0.693147, 0.009631]
    """
    f, p = _checked(f, p)
    return _blockwise(_expected_block, f, p)


def approximate_reciprocal(f: ArrayLike, p: ArrayLike) -> _Floats:
    """Approximate individual risk p / (f - (1-p)) for f > 2, the exact one up to f = 2.

    What older programs print; kept for comparison with published figures. It is above the exact risk, by up to 12%
    just above f = 2 and by less and less as f grows.

    >>> approximate_reciprocal([2, 3, 3], [0.1, 0.1, 1.0]).round(6).tolist()
    [0.082684, 0.047619, 0.333333]
    """
    f, p = _checked(f, p)
    small = f <= 2
    risk = np.asarray(p / np.where(small, 1.0, f - (1 - p)))
    risk[small] = expected_reciprocal(f[small], p[small])
    return risk


def reciprocal_variance(f: ArrayLike, p: ArrayLike) -> _Floats:
    """Var(1/F | f): how far the individual risk itself is uncertain because F is not known.

    Never negative; 0 for p = 1, where F = f. For f = 1 it is (p/z) Li2(z) - r^2.

    >>> reciprocal_variance([1, 1, 5], [1.0, 0.5, 0.1]).round(6).tolist()
    [0.0, 0.101788, 0.000147]
    """
    f, p = _checked(f, p)
    return _blockwise(_variance_block, f, p)


def population_quantile(f: ArrayLike, p: ArrayLike, q: ArrayLike) -> _Floats:
    """The q-quantile of F | f: the smallest value of F that is not exceeded with probability q or more.

    F runs over f, f + 1, f + 2, ...; p = 1 gives f, and q = 1 gives infinity for every other p.

    >>> population_quantile([1, 2, 3], [0.1, 0.1, 1.0], 0.5).tolist()
    [7.0, 17.0, 3.0]
    """
    f, p = _checked(f, p)
    q = np.asarray(q, dtype=np.float64)
    if not np.all((q >= 0) & (q <= 1)):
        raise TacitaError("q must be a probability in [0, 1]; give 0.95 for the 95% quantile.")
    # scipy.stats takes a second to import, and only this function needs it.
    from scipy.stats import nbinom

    f, p, q = np.broadcast_arrays(f, p, q)
    absent = np.where(p == 1, 0.0, nbinom.ppf(q, f, p))
    # SciPy puts the 0-quantile one below the smallest value.
    return np.asarray(f + np.maximum(absent, 0.0), dtype=np.float64)


def _checked(f: ArrayLike, p: ArrayLike) -> tuple[_Floats, _Floats]:
    """The two as float arrays of one shape, inside the ranges where the distribution exists."""
    counts, shares = np.broadcast_arrays(np.asarray(f, dtype=np.float64), np.asarray(p, dtype=np.float64))
    wrong = np.count_nonzero(~((counts > 0) & (counts < np.inf) & (shares > 0) & (shares <= 1)))
    if wrong:
        raise TacitaError(
            f"f must be a positive number and p must be in (0, 1]; {wrong:,} of {counts.size:,} pairs are not: "
            "leave out empty keys and take p as min(1, f / population count)."
        )
    return counts, shares


def _blockwise(kernel: Callable[[_Floats, _Floats], _Floats], f: _Floats, p: _Floats) -> _Floats:
    """Run a kernel over cache-sized pieces."""
    flat_f, flat_p = f.ravel(), p.ravel()
    result = np.empty(flat_f.size)
    for start in range(0, flat_f.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        result[part] = kernel(flat_f[part], flat_p[part])
    return result.reshape(f.shape)


def _expected_block(f: _Floats, p: _Floats) -> _Floats:
    """r_f, each pair by the way that suits it."""
    series = (p >= _SERIES_FROM_P) | (f >= _SERIES_FROM_F)
    if not series.any():
        return _moments_upwards(f, p, second=False)[0]
    result = np.empty_like(f)
    result[series] = _expected_series(f[series], p[series])
    result[~series] = _moments_upwards(f[~series], p[~series], second=False)[0]
    return result


def _variance_block(f: _Floats, p: _Floats) -> _Floats:
    """Var(1/F | f), each pair by the way that suits it."""
    result = np.empty_like(f)
    series = (p >= _SERIES_FROM_P) | (f >= _SERIES_FROM_F)
    result[series] = _variance_series(f[series], p[series])
    # The relative variance is about z/f, above 1/60 here: the difference loses two digits of fifteen at most.
    first, second = _moments_upwards(f[~series], p[~series], second=True)
    result[~series] = second - first**2
    return result


def _expected_series(f: _Floats, p: _Floats) -> _Floats:
    """r_f = (p/f) sum_n c_n z^n with c_n = n! / ((f+1)...(f+n))."""
    z = 1 - p
    term = np.ones_like(f)
    total = np.ones_like(f)
    n = 0
    while term.max(initial=0.0) > _SMALLEST_TERM:
        n += 1
        term *= n * z / (f + n)
        total += term
    return p * (total / f)


def _variance_series(f: _Floats, p: _Floats) -> _Floats:
    """Var(1/F | f) = (p/f)^2 sum_n v_n z^n, all v_n >= 0, so that it stays exact where it is tiny (p near 1, large f).

    With S = f r / p = sum c_n z^n, d/dz of the sums over F gives z(1-z) S' + (f-z) S = f, and for V = f^2 Var / p^2
    z(1-z) V' + (f-2z) V = f D with D = S(S-1), z(1-z) D' + 2(f-z) D = (f+z) S - f. Comparing powers of z:
    c_n (f+n) = n c_{n-1}, d_n (2f+n) = (n+1) d_{n-1} + f c_n + c_{n-1}, v_n (f+n) = (n+1) v_{n-1} + f d_n.
    The loop carries each coefficient times z^n.
    """
    z = 1 - p
    c = np.ones_like(f)
    d, v, total = np.zeros_like(f), np.zeros_like(f), np.zeros_like(f)
    n = 0
    while n == 0 or np.any(v > _SMALLEST_TERM * total):
        n += 1
        previous = c * z
        c = previous * (n / (f + n))
        d = ((n + 1) * z * d + f * c + previous) / (2 * f + n)
        v = ((n + 1) * z * v + f * d) / (f + n)
        total += v
    return (p / f) ** 2 * total


def _moments_upwards(f: _Floats, p: _Floats, *, second: bool) -> tuple[_Floats, _Floats]:
    """r_f and (if asked for) s_f by the upward recurrences, for p < 1/2."""
    steps = np.maximum(np.rint(f) - 1, 0)
    start = f - steps
    r, s = _start_moments(start, p, second=second)
    w = p / (1 - p)
    for step in range(int(steps.max(initial=0))):
        going = np.flatnonzero(steps > step)
        at = start[going] + step
        if second:
            s[going] = w[going] * (r[going] / at - s[going])
        r[going] = w[going] * (1 / at - r[going])
    return r, s


def _start_moments(a: _Floats, p: _Floats, *, second: bool) -> tuple[_Floats, _Floats]:
    """r_a and s_a for 0 < a < 3/2 and p < 1/2: closed form at a = 1, else the reflected series."""
    w = p / (1 - p)
    r = -w * np.log(p)
    s = w * spence(p) if second else np.zeros_like(p)
    fractional = a != 1
    if fractional.any():
        r[fractional], s[fractional] = _reflected_moments(1 - a[fractional], p[fractional])
    return r, s


def _reflected_moments(e: _Floats, p: _Floats) -> tuple[_Floats, _Floats]:
    """r_a and s_a at a = 1 - e, |e| < 1, by series in p instead of z.

    r_a = integral_0^1 u^(a-1) / (1 + u/w) du is the integral to infinity, w^a pi/sin(pi a), less the rest, a series
    in p; s_a follows from w ds/dw = a s - p r, with s/w^a -> pi/sin(pi a) (psi(1) - psi(a)) for w -> 0.
    The poles at e = 0 cancel. They are taken out by hand (exprel, `_cosecant_rest`, `_digamma_slope`), so that f next
    to a whole number is as exact as any other.
    """
    w = p / (1 - p)
    log_w = np.log(w)
    sinc = np.sinc(e)
    cosecant_rest = _cosecant_rest(e)
    first_rest, second_rest = _reflected_rests(e, p)
    r = w * (cosecant_rest - log_w * exprel(-e * log_w) / sinc + first_rest)
    bracket = _digamma_slope(e) / sinc + np.log1p(-p) * (cosecant_rest - log_w * exprel(e * log_w))
    s = w * (np.exp(-e * log_w) * bracket - second_rest)
    return r, s


def _reflected_rests(e: _Floats, p: _Floats) -> tuple[_Floats, _Floats]:
    """sum_n b_n p^n and sum_n g_n p^n over n >= 1, all terms positive, p < 1/2.

    b_n = (n-1)! / ((1+e)...(n+e)) and g_n (n+e) = (n-1) g_{n-1} + 1/n + b_{n-1}, with b_0 = g_0 = 0.
    """
    power = np.array(p)
    b = p / (1 + e)
    g = b.copy()
    first, second = b.copy(), g.copy()
    n = 1
    while (g + b).max(initial=0.0) > _SMALLEST_TERM:
        n += 1
        power *= p
        g = ((n - 1) * p * g + power / n + p * b) / (n + e)
        b = b * ((n - 1) * p / (n + e))
        first += b
        second += g
    return first, second


def _cosecant_rest(e: _Floats) -> _Floats:
    """pi/sin(pi e) - 1/e without the pole at 0: sum_k (-1)^k [1/(k+1-e) - 1/(k+1+e)]."""
    half = e / 2
    rest = digamma(1 - half) - digamma(0.5 - half) - digamma(1 + half) + digamma(0.5 + half)
    return np.asarray(rest / 2, dtype=np.float64)


def _digamma_slope(e: _Floats) -> _Floats:
    """(psi(1) - psi(1-e)) / e; near 0, where the quotient cancels, by its Taylor series sum_n zeta(n+2) e^n."""
    near = np.abs(e) < 0.01
    slope = (digamma(1.0) - digamma(1 - e)) / np.where(near, 1.0, e)
    slope[near] = np.polynomial.polynomial.polyval(e[near], zeta(np.arange(2.0, 11.0)))
    return np.asarray(slope, dtype=np.float64)
