"""MDAV with Gower's distance: groups around the records farthest from the medoid of those that are left.

Records that are equal on all variables of the distance are one point, which knows how many of them are left, and the
sum of its distances to all records left. The sums are whole numbers and are updated when records leave.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.compiled import compiled
from tacita.distance.equal_rows import row_groups
from tacita.progress import Progress, no_progress
from tacita.protect.microaggregate.gower_distance import Points, distances_from

PAIRS = 64
"""Pairs of groups that are formed between two calls of the progress."""
SUMS = 1024
"""Points whose distances to all others are added up between two calls of the progress."""
BEFORE = 0.3
"""The share of the work that is done when all sums are there."""
MOST = 2**23 - 1
"""Sums of distances of more records do not fit into 64 bits."""
LEFT, FORMED = 0, 1
LEAST, GREATEST = 1, -1
NONE = -1


class Ungrouped(NamedTuple):
    """Records that wait for a group, by distinct points; `_form_group` changes it."""

    points: Points
    """One for all records that are equal."""
    sums: Ints
    """By point: the sum of its distances to all records left."""
    start: Ints
    """By point: where its first record that is left stands in `rows`."""
    stop: Ints
    """By point: one after its last record."""
    rows: Ints
    """The rows of the records, point by point, ascending."""
    groups: Ints
    """By row: its group, counted from 0 in the order in which they are formed; -1 if it has none."""
    counts: Ints
    """How many records are left, and how many groups are formed."""


class Room(NamedTuple):
    """Arrays to work in."""

    near: Floats
    """By point: its distance from the record that a group is formed around."""
    other: Floats
    common: Floats
    point: Ints
    """By member of the group: its point."""
    row: Ints
    """By member of the group: its row."""
    distance: Floats
    """By member of the group: its distance from the first one."""


def gower_mdav(points: Points, k: int, gamma: float = 0.0, progress: Progress = no_progress) -> Ints:
    """By record: its group of k to 2k - 1 records, by maximum distance to the medoid.

    While 3k or more records are left: the medoid is the record with the least sum of distances to all that are left; r,
    the record farthest from it, forms a group with its k - 1 nearest; s, the record farthest from r, forms one with its
    k - 1 nearest of those still left. Of 2k to 3k - 1 records the farthest from the medoid forms a group of k, and the
    rest is the last one; fewer than 2k are one group. Of equal distances and sums the lowest row counts first.

    With `gamma` above 0 groups of pairs grow, as in V-MDAV: the record that is nearest to a member, at a distance d,
    joins if d < gamma d', where d' is its distance from the nearest other record left; again, until none joins, the
    group has 2k - 1 records, or too few would be left for others.

    References: Domingo-Ferrer and Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation. Data Mining and Knowledge Discovery 11; Solanas and Martinez-Balleste (2006), V-MDAV: a
    multivariate microaggregation with variable group size. COMPSTAT.

    >>> from tacita.protect.microaggregate.gower_distance import gower_points
    >>> age, sex = np.array([20.0, 70.0, 21.0, 71.0, 22.0]), np.array([1.0, 2.0, 1.0, 2.0, 1.0])
    >>> gower_mdav(gower_points([age, sex], [False, True], np.ones(2), [None, None]), 2).tolist()
    [1, 0, 1, 0, 1]
    """
    if points.columns.shape[1] > MOST:
        raise TacitaError(f"more than {MOST:,} records are too many to be grouped at once; choose strata.")
    given = _ungrouped(points)
    room = _room(given, k)
    count = len(given.sums)
    for begin in range(0, count, SUMS):
        progress(BEFORE * begin / count, "comparing records")
        _add_sums(given, room, begin, min(begin + SUMS, count))
    while given.counts[LEFT] > 0:
        progress(1.0 - (1.0 - BEFORE) * given.counts[LEFT] / len(given.groups), "grouping records")
        _form_pairs(given, room, k, gamma, PAIRS)
        if 2 * np.count_nonzero(given.start < given.stop) < len(given.sums):
            given = _without_empty_points(given)
            room = _room(given, k)
    return given.groups


def _ungrouped(points: Points) -> Ungrouped:
    """All records, without groups."""
    # Missing is equal to missing; no place is as low as this.
    filled = np.where(np.isnan(points.columns), -1e300, points.columns).T
    point, _ = row_groups(filled, filled[:0])
    rows = np.argsort(point, kind="stable")
    size = np.bincount(point)
    stop = np.cumsum(size)
    distinct = points.only(rows[stop - size])
    groups = np.full(len(point), -1)
    return Ungrouped(
        distinct, np.zeros(len(size), np.int64), stop - size, stop, rows, groups, np.array([len(point), 0])
    )


def _without_empty_points(given: Ungrouped) -> Ungrouped:
    """The same without points of which no record is left."""
    kept = np.flatnonzero(given.start < given.stop)
    return given._replace(
        points=given.points.only(kept), sums=given.sums[kept], start=given.start[kept], stop=given.stop[kept]
    )


def _room(given: Ungrouped, k: int) -> Room:
    count = len(given.sums)
    by_member = np.empty(2 * k, np.int64), np.empty(2 * k, np.int64), np.empty(2 * k)
    return Room(np.empty(count), np.empty(count), np.empty(count), *by_member)


@compiled
def _add_sums(given: Ungrouped, room: Room, begin: int, end: int) -> None:
    """Add the distances from some points to the sums of all."""
    for point in range(begin, end):
        size = given.stop[point] - given.start[point]
        distances_from(given.points, given.points.columns, point, room.other, room.common)
        for i in range(len(given.sums)):
            given.sums[i] += size * np.int64(room.other[i])


@compiled
def _form_pairs(given: Ungrouped, room: Room, k: int, gamma: float, pairs: int) -> None:
    """Form some pairs of groups; the last groups too, when so few records are left."""
    for _ in range(pairs):
        left = given.counts[LEFT]
        if left < 2 * k:
            break
        medoid = _first(given, given.sums, LEAST, NONE)
        distances_from(given.points, given.points.columns, medoid, room.near, room.common)
        pair = left >= 3 * k
        _form_group(given, room, _first(given, room.near, GREATEST, NONE), k, gamma if pair else 0.0, 2 * k)
        if pair:
            # From the record that the first group was formed around.
            _form_group(given, room, _first(given, room.near, GREATEST, NONE), k, gamma, k)
    if 0 < given.counts[LEFT] < 2 * k:
        for row in range(len(given.groups)):
            if given.groups[row] < 0:
                given.groups[row] = given.counts[FORMED]
        given.counts[LEFT] = 0


@compiled
def _first(given: Ungrouped, score: Any, sign: int, but: int) -> int:
    """The point with a record left that has the least `sign` * score, that of the lowest row of several; not `but`."""
    best = -1
    for point in range(len(score)):
        if given.start[point] == given.stop[point] or point == but:
            continue
        difference = sign * (score[point] - score[best]) if best >= 0 else -1
        if difference < 0 or (difference == 0 and _row(given, point) < _row(given, best)):
            best = point
    return best


@compiled
def _row(given: Ungrouped, point: int) -> int:
    """The lowest row of a point that is left."""
    return int(given.rows[given.start[point]])


@compiled
def _form_group(given: Ungrouped, room: Room, point: int, k: int, gamma: float, least: int) -> None:
    """A new group of the lowest row of a point and the k - 1 nearest ones; it grows while `least` records stay.

    Afterwards `room.near` has the distances from that record.
    """
    group = given.counts[FORMED]
    distances_from(given.points, given.points.columns, point, room.near, room.common)
    room.point[0], room.row[0] = point, _row(given, point)
    # Its own record is taken first: another at distance 0, for want of a common variable, may have a lower row.
    _join(given, room, point, group)
    _nearest(given, room, k)
    for i in range(1, k):
        _join(given, room, room.point[i], group)
    size = k
    while gamma > 0.0 and size < 2 * k - 1 and given.counts[LEFT] > least:
        more = _next_member(given, room, size, gamma)
        if more < 0:
            break
        room.point[size] = more
        _join(given, room, more, group)
        size += 1
    given.counts[FORMED] += 1


@compiled
def _join(given: Ungrouped, room: Room, point: int, group: int) -> None:
    """Put the lowest row of a point into a group, and take its distances out of all sums."""
    given.groups[_row(given, point)] = group
    given.start[point] += 1
    given.counts[LEFT] -= 1
    distances_from(given.points, given.points.columns, point, room.other, room.common)
    for i in range(len(given.sums)):
        given.sums[i] -= np.int64(room.other[i])


@compiled
def _nearest(given: Ungrouped, room: Room, k: int) -> None:
    """Fill in the points and rows of the k - 1 records nearest by `room.near`, the lowest row first of ties."""
    found = 1
    for point in range(len(room.near)):
        for place in range(given.start[point], given.stop[point]):
            distance, row = room.near[point], given.rows[place]
            if found == k:
                last = room.distance[k - 1]
                if distance > last or (distance == last and row > room.row[k - 1]):
                    break
                found -= 1
            i = found
            while i > 1 and (
                distance < room.distance[i - 1] or (distance == room.distance[i - 1] and row < room.row[i - 1])
            ):
                room.point[i], room.row[i] = room.point[i - 1], room.row[i - 1]
                room.distance[i] = room.distance[i - 1]
                i -= 1
            room.point[i], room.row[i], room.distance[i] = point, row, distance
            found += 1


@compiled
def _next_member(given: Ungrouped, room: Room, size: int, gamma: float) -> int:
    """The point of the record that joins a group; -1 if none does."""
    best, inside = -1, np.inf
    for member in room.point[:size]:
        distances_from(given.points, given.points.columns, member, room.other, room.common)
        point = _first(given, room.other, LEAST, NONE)
        distance = room.other[point]
        if distance < inside or (distance == inside and _row(given, point) < _row(given, best)):
            best, inside = point, distance
    distances_from(given.points, given.points.columns, best, room.other, room.common)
    alone = given.stop[best] - given.start[best] == 1
    outside = _first(given, room.other, LEAST, best if alone else NONE)
    return best if inside < gamma * room.other[outside] else -1
