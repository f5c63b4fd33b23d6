"""How complete records are put into groups: one function for each method, all with the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.distance.distances import Metric, euclidean
from tacita.progress import Progress, no_progress, part
from tacita.protect.microaggregate import axes
from tacita.protect.microaggregate.along_order import best_groups, equal_groups
from tacita.protect.microaggregate.clusters import clusters
from tacita.protect.microaggregate.in_order import groups_in_order, variable_mdav
from tacita.protect.microaggregate.mdav import mdav


class Records(NamedTuple):
    """Records that have all of some variables, in the order of their numbers."""

    values: Floats
    """By record and variable."""
    number: Ints
    """By record: its number."""
    weight: Floats
    """By variable: 1 / standard deviation in the whole file, 0 if it is constant."""
    centre: Floats
    """By variable: its mean in the whole file."""

    @property
    def scaled(self) -> Floats:
        """Distances from the mean of the file in standard deviations."""
        return (self.values - self.centre) * self.weight

    @property
    def metric(self) -> Metric:
        """The Euclidean distance of standardised variables."""
        return euclidean(self.weight)

    def only(self, rows: Ints | Bools) -> Records:
        """Some of the records."""
        return self._replace(values=self.values[rows], number=self.number[rows])


class Choice(NamedTuple):
    """How groups are formed."""

    method: str
    k: int
    clusters: int | None = None
    """Clusters inside which groups are formed, none across them."""
    gamma: float = 0.2
    """How readily groups of variable size grow."""


def groups_of(given: Records, choice: Choice, progress: Progress = no_progress) -> Ints:
    """By record: its group of at least k records, from 0 on; there are at least k records."""
    method = METHODS[choice.method]
    if choice.clusters is None:
        return method(given, choice, progress)
    cluster = clusters(given.scaled, given.number, choice.clusters, choice.k)
    count = int(cluster.max()) + 1
    groups, formed = np.empty(len(cluster), np.int64), 0
    for each in range(count):
        rows = np.flatnonzero(cluster == each)
        groups[rows] = formed + method(given.only(rows), choice, part(progress, each / count, (each + 1) / count))
        formed = int(groups[rows].max()) + 1
    return groups


def column_groups(values: Floats, choice: Choice) -> Ints:
    """By record: its group on one variable, of neighbours in the order of the values."""
    order = axes.ascending(values)
    if choice.method == "individual":
        return equal_groups(order, choice.k)
    spread = np.ptp(values)
    return best_groups(order, (values - values.min())[:, None] / (spread or 1.0), choice.k)


def _mdav(given: Records, choice: Choice, progress: Progress) -> Ints:
    return mdav(given.values, choice.k, given.metric, progress)


def _variable_mdav(given: Records, choice: Choice, progress: Progress) -> Ints:
    return variable_mdav(given.values, choice.k, given.metric, choice.gamma, progress)


def _robust_distance(given: Records, choice: Choice, progress: Progress) -> Ints:
    order = axes.ascending(-axes.robust_distance(given.values, given.number))
    return groups_in_order(given.values, choice.k, given.metric, order, progress=progress)


def _along(scores: Callable[[Records], Floats]) -> Callable[[Records, Choice, Progress], Ints]:
    """The method that cuts the records into groups along the order of some scores."""

    def groups(given: Records, choice: Choice, progress: Progress) -> Ints:
        order = axes.ascending(scores(given))
        progress(0.5, "grouping records")
        return best_groups(order, given.scaled, choice.k)

    return groups


def _most_influential(given: Records) -> Floats:
    """The variable in which these records, a cluster, lie farthest from the mean of the file."""
    return given.scaled[:, int(np.abs(given.scaled.mean(axis=0)).argmax())]


METHODS: dict[str, Callable[[Records, Choice, Progress], Ints]] = {
    "mdav": _mdav,
    "variable_mdav": _variable_mdav,
    "robust_distance": _robust_distance,
    "principal_component": _along(lambda given: axes.principal_component(given.scaled)),
    "robust_component": _along(lambda given: axes.robust_component(given.scaled, given.number)),
    "projection_pursuit": _along(lambda given: axes.projection_pursuit(given.scaled, given.number)),
    "influence": _along(_most_influential),
    "first_variable": _along(lambda given: given.values[:, 0]),
    "record_number": _along(lambda given: given.number.astype(np.float64)),
}
"""By name: the method that forms groups of records."""
