"""The minimum covariance determinant (MCD): mean and covariance of the core of the data, whatever the outliers do.

Of all subsets of h records the one whose covariance matrix has the smallest determinant is looked for: from many
random starts, by concentration steps that never make the determinant larger. Its covariance, corrected to be right for
normal data, tells outlying records from the rest; the final estimate is the ordinary one of the records that do not
lie out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError, counted
from tacita.random import Draws

STARTS = 500
GROUP = 300
"""Records in each of the groups in which the first steps are made, in files of more than two groups."""
GROUPS = 5
KEPT = 10
"""Solutions that are carried on from each stage to the next."""
FINISHED = 5
"""Solutions that are carried on to the end."""
STEPS = 200
"""Concentration steps at most; they end by themselves after a few."""
OUTLYING = 0.975
"""Records beyond this quantile of the chi-squared distribution do not count for the final estimate."""


class Core(NamedTuple):
    """Robust mean and covariance."""

    centre: Floats
    """Mean of the records that do not lie out."""
    covariance: Floats
    """Their covariance, with its corrections."""
    used: Bools
    """By record: whether it counts for them."""
    raw_centre: Floats
    """Mean of the best subset."""
    raw_covariance: Floats
    """Its covariance, with its corrections."""
    best: Ints
    """The rows of the best subset."""
    criterion: float
    """The logarithm of the determinant of its covariance, uncorrected: what is made as small as possible."""


def mcd(values: Floats, draws: Draws, *, share: float = 0.5, starts: int = STARTS, records: Ints | None = None) -> Core:
    """Minimum covariance determinant of the rows, reweighted, with consistency and small-sample factors.

    `share` of the records, and at least (n + p + 1)/2 of them, make up a subset. The starts are drawn by record number,
    so the order of the rows does not matter.

    References: Rousseeuw and Van Driessen (1999), A fast algorithm for the minimum covariance determinant estimator.
    Technometrics 41; Pison, Van Aelst and Willems (2002), Small sample corrections for LTS and MCD. Metrika 55.

    >>> numbers = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [1000.0]])
    >>> mcd(numbers, Draws(seed=1)).centre.tolist()
    [3.5]
    """
    from scipy.special import chdtri

    n, p = values.shape
    if n <= 2 * p:
        raise TacitaError(f"a robust covariance of {p} variables needs more than {2 * p} complete records; got {n}.")
    middle, spread = values.mean(axis=0), values.std(axis=0)
    if not (spread > 0).all():
        raise TacitaError("a robust covariance needs variables that vary; leave out constant ones.")
    scaled = (values - middle) / spread
    least = (n + p + 1) // 2
    size = min(n, int(2 * least - n + 2 * (n - least) * share))
    records = np.arange(n) if records is None else records
    best = _shortest(scaled[:, 0], size) if p == 1 else _best_subset(scaled, size, draws, starts, records)
    centre, covariance = _moments(scaled[best][None])
    raw = covariance[0] * _consistency(p, size / n) * small_sample_factor(p, n, share, reweighted=False)
    used: Bools = squared_distance(scaled, centre[0], raw) < chdtri(p, 1.0 - OUTLYING)
    count = int(used.sum())
    if count <= p:
        raise TacitaError(_collinear(p))
    factor = _consistency(p, count / n) * small_sample_factor(p, n, share, reweighted=True)
    final_centre, final = _moments(scaled[used][None])
    unit = np.outer(spread, spread)
    return Core(
        middle + spread * final_centre[0],
        unit * (final[0] * factor),
        used,
        middle + spread * centre[0],
        unit * raw,
        best,
        float(np.linalg.slogdet(covariance[0])[1] + 2 * np.log(spread).sum()),
    )


def squared_distance(values: Floats, centre: Floats, covariance: Floats) -> Floats:
    """By row: the squared Mahalanobis distance from the centre; an error where the covariance is singular."""
    unit = np.sqrt(np.diag(covariance))
    if not (unit > 0).all() or _singular((covariance / np.outer(unit, unit))[None])[0]:
        raise TacitaError(_collinear(len(covariance)))
    moved = values - centre
    distance: Floats = np.einsum("ij,ij->i", moved, np.linalg.solve(covariance, moved.T).T)
    return distance


def _collinear(variables: int) -> str:
    return (
        f"the robust covariance of {counted(variables, 'variable')} is singular: in most records some of them are "
        "equal, constant or a sum of others; leave those out."
    )


def _shortest(values: Floats, size: int) -> Ints:
    """Of one variable: the rows of the subset of least variance, which are neighbours in order."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    squares = np.concatenate([[0.0], np.cumsum(ordered**2)])
    variance = (squares[size:] - squares[:-size]) - (sums[size:] - sums[:-size]) ** 2 / size
    start = int(variance.argmin())
    if ordered[start + size - 1] == ordered[start]:
        raise TacitaError(_collinear(1))
    return order[start : start + size]


def _best_subset(values: Floats, size: int, draws: Draws, starts: int, records: Ints) -> Ints:
    """The rows of the subset of least determinant that was found."""
    n, p = values.shape
    # Rows in the order of a draw: the first ones are a random sample.
    drawn = np.lexsort((records, draws.step("sample").bits(records)))
    if n <= 2 * GROUP:
        first = _starting(values[drawn], records[drawn], draws, starts)
        solutions = _concentrated(values[drawn], *first, size, steps=2)
    else:
        sample = drawn[: min(n, GROUP * GROUPS)]
        parts = np.array_split(sample, len(sample) // GROUP)
        found = [_in_group(values[part], records[part], draws, -(-starts // len(parts)), size / n) for part in parts]
        centres, covariances = (np.concatenate(each) for each in zip(*found, strict=True))
        solutions = _concentrated(values[sample], centres, covariances, _part(size / n, len(sample), p), steps=2)
    kept = _smallest(solutions[2])
    centre, covariance, logarithm = _concentrated(values[drawn], solutions[0][kept], solutions[1][kept], size, steps=2)
    kept = _smallest(logarithm)[:FINISHED]
    ends = [_converged(values[drawn], centre[i], covariance[i], size) for i in kept]
    rows, least = min(ends, key=lambda end: end[1])
    if not np.isfinite(least):
        raise TacitaError(_collinear(p))
    return np.sort(drawn[rows])


def _part(share: float, n: int, p: int) -> int:
    """How many records of a part make up a subset."""
    return min(n, max(p + 1, round(share * n)))


def _in_group(values: Floats, records: Ints, draws: Draws, starts: int, share: float) -> tuple[Floats, Floats]:
    first = _starting(values, records, draws, starts)
    centre, covariance, logarithm = _concentrated(values, *first, _part(share, *values.shape), steps=2)
    kept = _smallest(logarithm)
    return centre[kept], covariance[kept]


def _smallest(logarithm: Floats) -> Ints:
    """The best solutions."""
    return np.argsort(logarithm, kind="stable")[:KEPT]


def _starting(values: Floats, records: Ints, draws: Draws, starts: int) -> tuple[Floats, Floats]:
    """Means and covariances of p + 1 records drawn at random, or more of them where those lie in a plane."""
    n, p = values.shape
    keys = draws.step("start").bits(records, np.arange(starts)[:, None])
    order = np.argsort(keys, axis=1, kind="stable")
    centre, covariance = _moments(values[order[:, : p + 1]])
    for size in range(p + 2, n + 1):
        flat = np.flatnonzero(_singular(covariance))
        if not len(flat):
            break
        centre[flat], covariance[flat] = _moments(values[order[flat, :size]])
    whole = ~_singular(covariance)
    if not whole.any():
        raise TacitaError(_collinear(p))
    return centre[whole], covariance[whole]


def _concentrated(
    values: Floats, centre: Floats, covariance: Floats, size: int, steps: int
) -> tuple[Floats, Floats, Floats]:
    """Every solution after some concentration steps, and the logarithm of its determinant."""
    for _ in range(steps):
        going = ~_singular(covariance)
        inverse = np.linalg.inv(covariance[going])
        moved = values[None] - centre[going, None]
        distance = np.einsum("snp,snp->sn", moved @ inverse, moved)
        nearest = np.argpartition(distance, size - 1, axis=1)[:, :size]
        centre[going], covariance[going] = _moments(values[nearest])
    with np.errstate(divide="ignore"):
        return centre, covariance, np.where(_singular(covariance), -np.inf, np.linalg.slogdet(covariance)[1])


def _converged(values: Floats, centre: Floats, covariance: Floats, size: int) -> tuple[Ints, float]:
    """Concentration steps until nothing changes: the rows, and the logarithm of the determinant."""
    rows, last = np.arange(0), np.inf
    for _ in range(STEPS):
        if _singular(covariance[None])[0]:
            return rows, -np.inf
        moved = values - centre
        distance = np.einsum("ij,ij->i", moved @ np.linalg.inv(covariance), moved)
        rows = np.sort(np.argpartition(distance, size - 1)[:size])
        centres, covariances = _moments(values[rows][None])
        centre, covariance = centres[0], covariances[0]
        logarithm = float(np.linalg.slogdet(covariance)[1])
        if not logarithm < last:
            break
        last = logarithm
    return rows, last


def _moments(samples: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of each sample (sample, record, variable)."""
    centre = samples.mean(axis=1)
    moved = samples - centre[:, None]
    return centre, moved.transpose(0, 2, 1) @ moved / (samples.shape[1] - 1)


def _singular(covariance: Floats) -> Bools:
    """Which covariances have no inverse to speak of; variables are about on one scale."""
    values = np.linalg.eigvalsh(covariance)
    singular: Bools = values[:, 0] <= 1e-13 * np.maximum(values[:, -1], 0.0)
    return singular


def _consistency(p: int, share: float) -> float:
    """What makes the covariance of the inner share of normal data that of all: share / P(chi2_{p+2} <= q)."""
    from scipy.special import chdtr, gammaincinv

    return 1.0 if share >= 1.0 else float(share / chdtr(p + 2, 2.0 * gammaincinv(p / 2.0, share)))


# Fitted by Pison, Van Aelst and Willems: for p = 1 and 2 the factor is 1 - exp(a) / n^b; for more variables two points
# (q = 2 and 3) of the curve come from 1 + a / p^b. By share of the subset, 0.5 and 0.875, raw and reweighted.
FEW: dict[tuple[bool, int], tuple[tuple[float, float], tuple[float, float]]] = {
    (False, 1): ((0.262024211897096, 0.604756680630497), (-0.351584646688712, 1.01646567502486)),
    (False, 2): ((0.673292623522027, 0.691365864961895), (0.446537815635445, 1.06690782995919)),
    (True, 1): ((1.11098143415027, 1.5182890270453), (-0.66046776772861, 0.88939595831888)),
    (True, 2): ((3.11101712909049, 1.91401056721863), (0.79473550581058, 1.10081930350091)),
}
MANY: dict[bool, tuple[tuple[float, float, float, float], tuple[float, float, float, float]]] = {
    False: (
        (-1.42764571687802, 1.26263336932151, -1.06141115981725, 1.28907991440387),
        (-0.455179464070565, 1.11192541278794, -0.294241208320834, 1.09649329149811),
    ),
    True: (
        (-1.02842572724793, 1.67659883081926, -0.26800273450853, 1.35968562893582),
        (-0.544482443573914, 1.25994483222292, -0.343791072183285, 1.25159004257133),
    ),
}


def small_sample_factor(p: int, n: int, share: float, *, reweighted: bool) -> float:
    """What a covariance from n records of p variables is multiplied by, since small files give too small ones."""
    at = []
    for place in range(2):
        if p <= 2:
            a, b = FEW[reweighted, p][place]
        else:
            first, power, second, other = MANY[reweighted][place]
            y = np.log([-first / p**power, -second / p**other])
            # y = a - b log(q p^2) at q = 2 and q = 3
            b = float((y[0] - y[1]) / (np.log(3.0) - np.log(2.0)))
            a = float(y[0] + b * np.log(2.0 * p**2))
        at.append(1.0 - np.exp(a) / n**b)
    half, most = at
    if share <= 0.875:
        factor = half + (most - half) / 0.375 * (share - 0.5)
    else:
        factor = most + (1.0 - most) / 0.125 * (share - 0.875)
    # The fit was made for files of at least twice as many records as variables; below it can leave (0, 1].
    return float(1.0 / factor) if 0.1 < factor <= 1.0 else 1.0
