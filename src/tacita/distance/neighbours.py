"""Neighbours and links: which originals a released record could come from, and which one it comes closest to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.compiled import compiled
from tacita.distance.distances import Metric
from tacita.distance.remaining import Remaining, remaining
from tacita.distance.remaining import nearest as nearest_points
from tacita.distance.sweep import Pairs, leaf_blocks, own_sums, pairs, strata, sweep
from tacita.distance.tree import Tree
from tacita.threads import in_threads


@dataclass(frozen=True, eq=False)
class Neighbours:
    """By released record: the originals near enough to pass for the same unit."""

    count: Ints
    """How many: #{h: z(y_i, x_h) < delta}, its own original included if it is among them."""
    true: Floats
    """z of the record and its own original."""
    true_link_inside: Bools
    """Whether its own original is among them."""

    @property
    def empty(self) -> Bools:
        """Whether no original is near enough."""
        return np.equal(self.count, 0)


def neighbour_counts(
    y: Floats,
    x: Floats,
    delta: Floats | float,
    *,
    metric: Metric | None = None,
    relative: bool = True,
    groups: Ints | None = None,
) -> Neighbours:
    """How many originals of its group have z = d(y, x) / ||y|| < delta, for one delta or one for each record.

    Row i of y masks row i of x. Not `relative`: z is the distance itself.

    >>> x = np.array([[10.0], [11.0], [14.0]])
    >>> neighbour_counts(x, x, 0.15).count.tolist()
    [2, 2, 1]
    """
    limit = np.broadcast_to(np.asarray(delta, dtype=np.float64), len(y))
    count, true = np.zeros(len(y), np.int64), np.zeros(len(y))
    for rows in filter(len, strata(groups, len(y))):
        given = pairs(y[rows], x[rows], metric, relative=relative)
        order = rows[given.released.order]
        count[order], true[order] = sweep(given, limit[order]).below, given.true
    return Neighbours(count, true, true < limit)


@dataclass(frozen=True, eq=False)
class Links:
    """By released record: the originals it comes closest to."""

    row: Ints
    """By rank: the row of the nearest, second nearest, ... original, the lowest row first of equally near ones; -1 if
    the group has no more."""
    distance: Floats
    """By rank: its distance, infinite if there is none."""
    ties: Ints
    """How many originals are nearest."""
    true_is_nearest: Bools
    """Whether its own original is one of them."""

    @property
    def correct(self) -> Floats:
        """The probability that the intruder, who takes one of the nearest, takes its own: 0 or 1 / ties."""
        return self.true_is_nearest / self.ties


def nearest(y: Floats, x: Floats, *, k: int = 2, metric: Metric | None = None, groups: Ints | None = None) -> Links:
    """The k nearest originals of each released record inside its group, row i of y masking row i of x.

    Originals are equally near if the sums behind their distances are equal to the bit.

    >>> links = nearest(np.array([[10.0], [12.0]]), np.array([[11.0], [13.0]]))
    >>> links.row.tolist(), links.ties.tolist(), links.correct.tolist()
    ([[0, 1], [0, 1]], [1, 2], [1.0, 0.5])
    """
    row, distance = np.full((len(y), k), -1), np.full((len(y), k), np.inf)
    ties, true = np.zeros(len(y), np.int64), np.zeros(len(y), np.bool_)
    for rows in filter(len, strata(groups, len(y))):
        found = links_of(pairs(y[rows], x[rows], metric, relative=False), k)
        row[rows], distance[rows] = np.where(found.row < 0, -1, rows[found.row]), found.distance
        ties[rows], true[rows] = found.ties, found.true_is_nearest
    return Links(row, distance, ties, true)


def links_of(given: Pairs, k: int = 2) -> Links:
    """The k nearest originals of each released record of one group, whatever distances are divided by."""
    n, rooted = len(given.norm), given.metric.rooted
    left, order = remaining(given.original), given.released.order
    row, sums, ties = np.full((n, k), -1), np.full((n, k), np.inf), np.empty(n, np.int64)

    def one(leaves: Ints) -> None:
        # Records of a leaf are near each other: what one needs of the tree the next finds in the cache.
        begin, end = given.released.start[leaves[0]], given.released.stop[leaves[-1]]
        _nearest(given.original, left, given.values, begin, end, given.metric, row, sums, ties)

    in_threads(one, leaf_blocks(given.released))
    own = own_sums(given)
    back = np.argsort(order)
    distance = (np.sqrt(sums) if rooted else sums) / given.unit
    return Links(row[back], distance[back], ties[back], (own == sums[:, 0])[back])


@compiled
def _nearest(
    tree: Tree,
    left: Remaining,
    values: Floats,
    begin: int,
    end: int,
    metric: Metric,
    found: Ints,
    sums: Floats,
    ties: Ints,
) -> None:
    for place in range(begin, end):
        ties[place] = nearest_points(tree, left, values, place, metric, False, found[place], sums[place])[1]
