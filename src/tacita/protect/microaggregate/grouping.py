"""Groups of records of which some have missing values: never across what is missing, unless few share it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.distance.distances import distances, euclidean, standard_weight
from tacita.progress import Progress, no_progress, part
from tacita.protect.microaggregate.diversity import merged_until_diverse
from tacita.protect.microaggregate.methods import Choice, Records, groups_of


class Grouped(NamedTuple):
    """Groups of records."""

    group: Ints
    """By record: its group, from 0 on; -1 if all of its values are missing."""
    joined: int
    """Records that too few others share what is missing with, and that joined a group of records that show more."""
    merged: int
    """Groups that were merged with another, for want of different values of the sensitive variable."""


def grouped(
    values: Floats,
    number: Ints,
    choice: Choice,
    sensitive: Ints | None = None,
    distinct: int = 1,
    progress: Progress = no_progress,
) -> Grouped:
    """Groups of at least k records, of NaN where missing, with `distinct` values of a sensitive variable in each.

    Records that miss the same variables are grouped among themselves, on the variables that they show. Where fewer than
    k miss the same, or all of them have too few values of the sensitive variable, each joins the group whose mean is
    nearest on the variables that it shows, among the groups that show them all and maybe more. So whatever a record
    shows, all of it together is shown alike by k records or more.
    """
    weight, centre = scales(values)
    shown = ~np.isnan(values)
    group = np.full(len(values), -1)
    merged, done = 0, 0
    for rows in _alike(shown):
        columns = np.flatnonzero(shown[rows[0]])
        if not len(columns) or len(rows) < choice.k or not _diverse(sensitive, rows, distinct):
            continue
        given = Records(values[np.ix_(rows, columns)], number[rows], weight[columns], centre[columns])
        share = part(progress, done / len(values), (done + len(rows)) / len(values))
        own = groups_of(given, choice, share)
        if sensitive is not None:
            own, fewer = merged_until_diverse(given.values, own, given.metric, sensitive[rows], distinct)
            merged += fewer
        group[rows] = own + group.max() + 1
        done += len(rows)
    few = np.flatnonzero(shown.any(axis=1) & (group < 0))
    group[few] = _joined(values, weight, shown, group, few, choice.k)
    return Grouped(group, len(few), merged)


def _diverse(sensitive: Ints | None, rows: Ints, distinct: int) -> bool:
    """Whether some records have enough different values of the sensitive variable, if there is one."""
    return sensitive is None or len(np.unique(sensitive[rows])) >= distinct


def _alike(shown: Bools) -> list[Ints]:
    """The rows of each pattern of missing values."""
    pattern = np.zeros(len(shown), np.int64)
    for column in shown.T:
        pattern = np.unique(2 * pattern + column, return_inverse=True)[1].reshape(-1)
    order = np.argsort(pattern, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(pattern[order])) + 1)


def scales(values: Floats) -> tuple[Floats, Floats]:
    """By variable: 1 / standard deviation and mean of the values that are not missing; 0 and 0 if there are none."""
    columns = [column[~np.isnan(column)] for column in values.T]
    weight = [float(standard_weight(column[:, None])[0]) for column in columns]
    return np.array(weight), np.array([float(column.mean()) if len(column) else 0.0 for column in columns])


def _joined(values: Floats, weight: Floats, shown: Bools, group: Ints, few: Ints, k: int) -> Ints:
    """By record of `few`: the group that it joins."""
    if not len(few):
        return np.empty(0, np.int64)
    there = np.flatnonzero(group >= 0)
    first = there[np.unique(group[there], return_index=True)[1]]
    size = np.bincount(group[there])
    means = np.stack([np.bincount(group[there], column[there]) for column in values.T], axis=1) / size[:, None]
    joined = np.full(len(few), -1)
    for place, row in enumerate(few):
        columns = np.flatnonzero(shown[row])
        possible = np.flatnonzero(shown[first][:, columns].all(axis=1))
        if len(possible):
            near, own = (
                means[np.ix_(possible, columns)],
                np.broadcast_to(values[row, columns], (len(possible), len(columns))),
            )
            joined[place] = possible[distances(near, own, euclidean(weight[columns])).argmin()]
    alone = int((joined < 0).sum())
    if alone:
        raise TacitaError(
            f"{check.counted(alone, 'record shows', 'records show')} numbers that too few records show together for "
            f"groups of {k}; microaggregate fewer variables at once, choose a smaller k or larger strata."
        )
    return joined
