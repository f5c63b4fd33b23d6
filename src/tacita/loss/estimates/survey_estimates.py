"""Estimates with their standard errors under a sampling design: means, totals, shares, quantiles."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.loss.estimates.survey_design import Design
from tacita.loss.measured import NOTHING, Measured, around

TIE = 1e-12
"""Shares that differ by less are the same: sums of weights are rounded."""


def total(design: Design, rows: Ints, values: Floats, reach: float) -> Measured:
    """The weighted total of the values of some rows."""
    if not len(rows):
        return NOTHING
    scores = design.weight[rows] * values
    value = float(scores.sum())
    if design.replicates is not None:
        return around(value, design.replicate_variance(value, values @ design.replicates[rows]), reach)
    return around(value, design.variance(rows, scores), reach)


def mean(design: Design, rows: Ints, values: Floats, reach: float) -> Measured:
    """The weighted mean of the values of some rows, by linearisation of the ratio."""
    if not len(rows):
        return NOTHING
    weight = design.weight[rows]
    size = float(weight.sum())
    first = float(values[0])
    value = first + float((weight * (values - first)).sum()) / size
    if design.replicates is not None:
        return around(value, design.replicate_variance(value, _replicated_mean(design, rows, values)), reach)
    return around(value, design.variance(rows, weight * (values - value) / size), reach)


def _replicated_mean(design: Design, rows: Ints, values: Floats) -> Floats:
    assert design.replicates is not None
    own = design.replicates[rows]
    sizes = own.sum(axis=0)
    found: Floats = np.divide(values @ own, sizes, out=np.full(len(sizes), np.nan), where=sizes > 0)
    return found


def shares(design: Design, rows: Ints, codes: Ints, count: int, reach: float) -> list[Measured]:
    """By code 0, 1, ... the weighted share of some rows that have it, all in one pass over the records."""
    if not len(rows):
        return [NOTHING] * count
    weight = design.weight[rows]
    p = np.bincount(codes, weights=weight, minlength=count) / weight.sum()
    if design.replicates is not None:
        own = design.replicates[rows]
        sizes = own.sum(axis=0)
        again = [np.bincount(codes, weights=each, minlength=count) for each in own.T]
        with np.errstate(invalid="ignore"):
            found = np.array(again).T / sizes
        variances = [design.replicate_variance(value, each) for value, each in zip(p.tolist(), found, strict=True)]
    else:
        variances = _share_variances(design, rows, codes, count, p)
    return [around(value, variance, reach) for value, variance in zip(p.tolist(), variances, strict=True)]


def _share_variances(design: Design, rows: Ints, codes: Ints, count: int, p: Floats) -> list[float]:
    """By code the variance of its share: with A the weight of a unit that has the code and B all of its weight, the
    score of the unit is (A - pB) / sum of B."""
    weight, units = design.weight[rows], design.cluster[rows]
    a, code, unit = _by_unit_and_code(weight, units, codes, (len(design.stratum), count))
    b = np.bincount(units, weights=weight, minlength=len(design.stratum))
    stratum, correction = design.stratum, design.correction
    of_cell = correction[stratum[unit]]
    squares = np.bincount(code, of_cell * a * a, count) - 2 * p * np.bincount(code, of_cell * a * b[unit], count)
    squares += p * p * float((correction[stratum] * b * b).sum())
    of_stratum = np.bincount(stratum[unit] * count + code, a, len(design.size) * count).reshape(-1, count)
    scores = of_stratum - np.bincount(stratum, b, len(design.size))[:, None] * p
    squares -= ((correction / design.size)[:, None] * scores**2).sum(axis=0)
    size = float(weight.sum())
    return [max(0.0, each / size / size) for each in squares.tolist()]


def _by_unit_and_code(weight: Floats, units: Ints, codes: Ints, shape: tuple[int, int]) -> tuple[Floats, Ints, Ints]:
    """Sums of weights by unit and code, where there are any: the sums, their codes, their units."""
    from scipy.sparse import csr_array

    table = csr_array((weight, (units, codes)), shape=shape)
    table.sum_duplicates()
    return table.data, table.indices.astype(np.int64), np.repeat(np.arange(shape[0]), np.diff(table.indptr))


def quantiles(design: Design, rows: Ints, values: Floats, at: tuple[float, ...], reach: float) -> Iterator[Measured]:
    """Weighted quantiles of the values of some rows, with the intervals of Woodruff (1952).

    A quantile is the least value up to which the share is reached. The interval of the share at it, turned back into
    values, is the interval of the quantile, and its width over twice the reach the standard error.
    """
    if not len(rows):
        yield from (NOTHING for _ in at)
        return
    order = np.argsort(values, kind="stable")
    ordered, weight = values[order], design.weight[rows]
    reached = np.cumsum(weight[order])
    size = float(reached[-1])
    for share in at:
        value = _quantile(ordered, reached, share)
        below = values <= value
        if design.replicates is not None:
            again = np.array([_quantile(ordered, np.cumsum(each[order]), share) for each in design.replicates[rows].T])
            yield around(value, design.replicate_variance(value, again), reach)
            continue
        here = float(weight[below].sum()) / size
        error = math.sqrt(design.variance(rows, weight * (below - here) / size))
        low, high = (_quantile(ordered, reached, share + sign * reach * error) for sign in (-1, 1))
        yield Measured(value, (high - low) / (2 * reach), low, high)


def _quantile(ordered: Floats, reached: Floats, share: float) -> float:
    """The least value up to which the share of the weight is reached; NaN without weight."""
    if reached[-1] <= 0:
        return math.nan
    wanted = min(max(share, 0.0), 1.0) * reached[-1] * (1.0 - TIE)
    place = int(np.searchsorted(reached, wanted, side="left"))
    if wanted <= 0:
        # The first that has any weight.
        place = int(np.flatnonzero(reached > 0)[0])
    return float(ordered[min(place, len(ordered) - 1)])
