"""Groups by Gower's distance of records of which some have missing values, and the medoid of each group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.compiled import compiled
from tacita.distance.comparison import patterns
from tacita.progress import Progress, no_progress, part
from tacita.protect.microaggregate.gower_distance import Points, distances_from
from tacita.protect.microaggregate.gower_mdav import gower_mdav


class GowerGroups(NamedTuple):
    """Groups of records."""

    group: Ints
    """By record: its group, from 0 on; -1 if all of its values are missing."""
    core: Bools
    """By record: whether its group was formed of it; not, if it joined a group of records that show more."""
    medoid: Ints
    """By group: the row of the record of its core with the least sum of distances to the core."""

    def in_order(self, order: Ints) -> GowerGroups:
        """The same for records in another order, of which `order` has, by row here, the row there."""
        group, core = np.empty_like(self.group), np.empty_like(self.core)
        group[order], core[order] = self.group, self.core
        return GowerGroups(group, core, order[self.medoid])


def gower_groups(
    points: Points, shown: Bools, k: int, gamma: float = 0.0, progress: Progress = no_progress
) -> GowerGroups:
    """Groups of at least k records; `shown` says by record and variable what they have of the variables to be replaced.

    Records that show the same variables are grouped among themselves. Where fewer than k do, each joins the group with
    the nearest medoid, among the groups that show all of its variables and maybe more. So whatever a record shows, all
    of it together is shown alike by k records or more.

    >>> from tacita.protect.microaggregate.gower_distance import gower_points
    >>> points = gower_points([np.array([1.0, 2.0, 8.0, 9.0, 3.0])], [False], np.ones(1), [None])
    >>> has = np.array([[True, True]] * 4 + [[True, False]])
    >>> gower_groups(points, has, 2).group.tolist()
    [1, 1, 0, 0, 1]
    """
    group, done = np.full(len(shown), -1), 0
    for rows, pattern in patterns(np.where(shown, 0.0, np.nan)):
        if len(rows) >= k and pattern.any():
            share = part(progress, done / len(shown), (done + len(rows)) / len(shown))
            group[rows] = gower_mdav(points.only(rows), k, gamma, share) + group.max(initial=-1) + 1
            done += len(rows)
    medoid = medoids(points, group)
    few = np.flatnonzero(shown.any(axis=1) & (group < 0))
    core = group >= 0
    group[few] = _joined(points, shown, medoid, few, k)
    return GowerGroups(group, core, medoid)


def _joined(points: Points, shown: Bools, medoid: Ints, few: Ints, k: int) -> Ints:
    """By record of `few`: the group that it joins."""
    joined, alone = np.full(len(few), -1), 0
    centres, out, common = points.only(medoid), np.empty(len(medoid)), np.empty(len(medoid))
    for place, row in enumerate(few):
        possible = np.flatnonzero(shown[medoid][:, shown[row]].all(axis=1))
        if not len(possible):
            alone += 1
            continue
        distances_from(centres, points.columns, row, out, common)
        joined[place] = possible[out[possible].argmin()]
    if alone:
        raise TacitaError(
            f"{check.counted(alone, 'record shows', 'records show')} values that fewer than {k} records show together; "
            f"microaggregate fewer variables at once, choose a smaller k or larger strata."
        )
    return joined


def medoids(points: Points, group: Ints) -> Ints:
    """By group: the row with the least sum of distances to all members, the lowest of several; -1 is no group."""
    order = np.argsort(group, kind="stable")[np.count_nonzero(group < 0) :]
    size = np.bincount(group[order]) if len(order) else np.empty(0, np.int64)
    return _medoids(points, order, np.cumsum(size) - size, size)


@compiled
def _medoids(points: Points, order: Ints, start: Ints, size: Ints) -> Ints:
    found = np.empty(len(size), np.int64)
    for group in range(len(size)):
        rows = order[start[group] : start[group] + size[group]]
        total, least = _sums_within(points, rows), 0
        for place in range(1, len(rows)):
            if total[place] < total[least]:
                least = place
        found[group] = rows[least]
    return found


@compiled
def _sums_within(points: Points, rows: Ints) -> Floats:
    """By row: the sum of its distances to the others."""
    columns = np.empty((len(points.share), len(rows)))
    for i in range(len(rows)):
        for j in range(len(columns)):
            columns[j, i] = points.columns[j, rows[i]]
    own = Points(columns, points.share, points.partial)
    total, out, common = np.zeros(len(rows)), np.empty(len(rows)), np.empty(len(rows))
    for i in range(len(rows)):
        distances_from(own, columns, i, out, common)
        for k in range(len(rows)):
            total[k] += out[k]
    return total
