"""The pairs of one stratum: critical distance, neighbours, links, and what the likelihood ratio says of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.distance.critical import critical_of
from tacita.distance.densities import (
    Densities,
    densities_and_pairs,
    kolmogorov_smirnov,
    likely_neighbours,
    smoothed,
)
from tacita.distance.histogram import Distribution
from tacita.distance.neighbours import links_of
from tacita.distance.sweep import Pairs, sweep

BINS = 40
"""Bars of the histograms that are kept for figures."""
SHOWN = 0.95
"""The histogram of z ends where this share of the pairs of different records does, or later for all true links."""
CURVE = 400
"""At most so many points of each density are kept for figures."""
SPREAD = 20.0
"""The histogram of z is on a log scale where it ends further out than so many times nine of ten true links are."""
RATIO_BEGIN, RATIO_END = 1 / 300, (2.5, 1000.0)
"""Beyond its first bar the histogram of t goes from the first times tau to the greatest t of a true link, within
these times tau."""


class Neighbourhoods(NamedTuple):
    """Which originals are near each released record of a stratum."""

    delta: float
    """The critical distance."""
    neighbours: Ints
    """By row: originals with z < delta."""
    inside: Bools
    """By row: whether its own original is one of them."""


class Histogram(NamedTuple):
    """How many pairs have which value."""

    edges: Floats
    """Limits of the bars, one more than there are bars."""
    true: Ints
    """By bar: true links."""
    others: Floats
    """By bar: pairs of different records; parts of a pair where pairs were counted in coarser bins."""
    true_beyond: int
    """True links with a greater value."""
    others_beyond: float
    """Pairs of different records with a greater value."""


class Curves(NamedTuple):
    """The densities of log z over its whole range, for figures."""

    log_z: Floats
    m: Floats
    """By point: density over the true links."""
    u: Floats
    """By point: density over the pairs of different records."""


class LikelihoodRatio(NamedTuple):
    """How z is distributed in a stratum over true links and over other pairs, and what follows from the ratio."""

    densities: Densities
    """m, u, tau and the region of z in which t = m/u is above tau."""
    distance: float
    """Kolmogorov-Smirnov distance D between the two distributions; NaN if there are no pairs of different records."""
    error: float
    """D is at most this much greater, where pairs were counted in bins."""
    log_p: float
    """ln p of D. Nominal, since the z of pairs that share a record depend."""
    z: Histogram
    """z of true links and of other pairs."""
    t: Histogram
    """t of true links and of other pairs."""
    curves: Curves
    """m and u wherever there are pairs."""


def z_of_own(given: Pairs) -> Floats:
    """By row: z of the record and its own original."""
    z = np.empty(len(given.norm))
    z[given.released.order] = given.true
    return z


def neighbourhoods(given: Pairs, alpha: float, delta: float | None = None) -> Neighbourhoods:
    """Neighbours within the critical distance of alpha, or within a given one."""
    own = z_of_own(given)
    if delta is not None:
        near = np.empty(len(own), np.int64)
        near[given.released.order] = sweep(given, delta).below
        return Neighbourhoods(delta, near, own < delta)
    if len(own) < 2:  # no wrong pair: nothing but the record itself could be near
        return Neighbourhoods(0.0, np.zeros(len(own), np.int64), np.zeros(len(own), np.bool_))
    cut, near = critical_of(given, alpha)
    return Neighbourhoods(cut.delta, near, own < cut.delta)


def correct_links(given: Pairs) -> Floats:
    """By row: the probability that an intruder who takes the nearest original takes the right one."""
    return links_of(given, 1).correct


def likelihood_ratio(given: Pairs, alpha: float) -> tuple[LikelihoodRatio, Ints, Bools]:
    """The likelihood ratio of a stratum, and by row the originals with t > tau and whether its own is one of them."""
    found, others = densities_and_pairs(given, alpha)
    distance = kolmogorov_smirnov(given, others)
    count, inside = likely_neighbours(given, found.region)
    alone = not others.pairs
    ratio = LikelihoodRatio(
        densities=found,
        distance=np.nan if alone else distance.distance,
        error=np.nan if alone else distance.error,
        log_p=np.nan if alone else distance.log_p,
        z=_histogram_of_z(given.true, others),
        t=_histogram_of_t(given.true, others, found),
        curves=_curves(given.true, others, found),
    )
    return ratio, count, inside


def _curves(true: Floats, others: Distribution, found: Densities) -> Curves:
    z, count = others.spread()
    seen = np.isfinite(z) & (count > 0)
    far, near = (np.log(np.where(each == 0, found.zero, each)) for each in (z[seen], np.sort(true[np.isfinite(true)])))
    both = np.concatenate([far, near])
    if not len(both):
        return Curves(np.empty(0), np.empty(0), np.empty(0))
    step, margin = found.bandwidth / 4.0, 3.0 * found.bandwidth
    first = float(both.min()) - margin
    size = int((float(both.max()) + margin - first) / step) + 2
    grid = np.asarray(first + step * np.arange(size), dtype=np.float64)
    m = smoothed(near, np.ones(len(near)), grid, found.bandwidth) / len(true)
    u = smoothed(far, count[seen], grid, found.bandwidth) / max(others.pairs, 1)
    kept = np.unique(np.linspace(0, len(grid) - 1, CURVE).astype(np.int64))
    return Curves(grid[kept], m[kept], u[kept])


def _histogram_of_z(true: Floats, others: Distribution) -> Histogram:
    z, count = others.spread()
    order = np.argsort(z, kind="stable")
    z, count = z[order], count[order]
    far = int(np.searchsorted(np.cumsum(count), SHOWN * others.pairs))
    ends = [float(np.max(true[np.isfinite(true)], initial=0.0))]
    if far < len(z) and np.isfinite(z[far]):
        ends.append(float(z[far]))
    return _histogram(true, z, count, others.pairs, _edges_of_z(true, max(ends) or 1.0))


def _edges_of_z(true: Floats, end: float) -> Floats:
    """Even steps; on a log scale, after one bar for the least, where all true links would be in the first few."""
    near = true[np.isfinite(true) & (true > 0)]
    typical = float(np.quantile(near, 0.9)) if len(near) else end
    if end <= SPREAD * typical:
        return np.linspace(0.0, end, BINS + 1)
    return np.concatenate([[0.0], np.geomspace(max(float(np.quantile(near, 0.02)), 1e-6 * end), end, BINS)])


def _histogram_of_t(true: Floats, others: Distribution, found: Densities) -> Histogram:
    z, count = others.spread()
    # Pairs that were not counted are further apart than any true link: there m is 0, and so is t.
    t, count = np.append(found.ratio(z), 0.0), np.append(count, max(others.pairs - count.sum(), 0.0))
    own = found.ratio(true)
    tau = found.tau if np.isfinite(found.tau) and found.tau > 0 else 1.0
    least, most = (times * tau for times in RATIO_END)
    # A hair above the greatest, so that it is in the last bar.
    end = min(max(1.001 * float(np.max(own[np.isfinite(own)], initial=0.0)), least), most)
    # Ratios are read as multiples: equal steps on a log scale, and one bar for all that is next to nothing.
    edges = np.concatenate([[0.0], np.geomspace(RATIO_BEGIN * tau, end, BINS)])
    return _histogram(own, t, count, others.pairs, edges)


def _histogram(true: Floats, values: Floats, count: Floats, pairs: int, edges: Floats) -> Histogram:
    own, _ = np.histogram(true, edges)
    other, _ = np.histogram(values, edges, weights=count)
    # Sums of parts of pairs are whole up to rounding; those beyond the last bin were never listed.
    beyond = max(float(pairs) - float(other.sum()), 0.0)
    return Histogram(edges, own.astype(np.int64), other.astype(np.float64), len(true) - int(own.sum()), beyond)
