"""An original and a release read for comparison: the variables of both as numbers or common classes, with weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.comparison.associations import Associations, association_matrix, cuts_of
from tacita.comparison.classes import Classes, common_classes, pooled
from tacita.comparison.distributions import LEAST_RECORDS
from tacita.comparison.number_line import NumberLine, number_line
from tacita.data import Data
from tacita.distance.comparison import check_sizes
from tacita.distance.truth import shared_records
from tacita.keys.table import survey_weights
from tacita.scenario import Scenario

MOST_GROUPS = 12
"""So many classes of the variable of the groups are compared apart."""
MOST_ASSOCIATED = 30
"""Associations of at most so many variables are worked out, numbers first."""
MOST_ASSOCIATED_CLASSES = 30
"""A categorical variable enters them with at most so many classes."""
UNCLEAR = 0.02
"""A larger share of records in other classes than most with their value is told of."""


@dataclass(frozen=True, eq=False)
class BothFiles:
    """The variables of two files, the rows of each sorted by what they hold: no sum depends on their order."""

    numbers: Mapping[str, tuple[Floats, Floats]]
    """By name the values in both files, NaN where missing."""
    classes: Mapping[str, Classes]
    """By name the categorical variables in common classes."""
    group: Classes | None
    """The groups that are compared apart."""
    weights: tuple[Floats, Floats]
    lines: Mapping[str, NumberLine]
    """By number its axis."""
    group_labels: tuple[str, ...]
    weighted: bool
    removed: tuple[str, ...]
    unweighted_because: str

    def groups(self) -> Iterator[tuple[str, tuple[Ints, Ints]]]:
        """The rows of both files: all of them, and then those of each group."""
        before, after = (np.arange(len(each)) for each in self.weights)
        yield "", (before, after)
        if self.group is not None:
            for at, label in enumerate(self.group_labels):
                yield label, (np.flatnonzero(self.group.original == at), np.flatnonzero(self.group.released == at))

    def weights_of(self, rows: tuple[Ints, Ints]) -> tuple[Floats, Floats]:
        """The weights of some rows."""
        return self.weights[0][rows[0]], self.weights[1][rows[1]]

    @property
    def unclear(self) -> tuple[str, ...]:
        """Recoded variables whose equal original values are in several released classes."""
        return tuple(name for name, each in self.classes.items() if each.mixed > UNCLEAR * max(len(each.released), 1))

    def associations(self) -> Associations:
        """Correlations and Cramér's V of the variables in both files."""
        numbers = list(self.numbers)[:MOST_ASSOCIATED]
        names = [*numbers, *list(self.classes)[: MOST_ASSOCIATED - len(numbers)]]
        cuts = [cuts_of(self.numbers[name][0]) for name in numbers]
        codes = [_few_classes(self.classes[name]) for name in names[len(numbers) :]]
        found = []
        for file, weights in enumerate(self.weights):
            columns = [self.numbers[name][file] for name in numbers]
            values = np.column_stack(columns) if columns else np.empty((len(weights), 0))
            found.append(association_matrix(values, [each[file] for each in codes], weights, cuts))
        return Associations(tuple(names), len(numbers), found[0], found[1])


def _few_classes(given: Classes) -> tuple[Ints, Ints]:
    """The codes of the classes with most records, the others together, missing as -1."""
    size = len(given.labels)
    counts = np.stack([np.bincount(each, minlength=size) for each in (given.original, given.released)])
    into = pooled(given.labels, counts, MOST_ASSOCIATED_CLASSES, False).into.copy()
    into[-1] = -1
    return into[given.original], into[given.released]


def both_files(
    original: Data,
    released: Data,
    scenario: Scenario,
    variables: tuple[str, ...] | None,
    by: str | None,
    unit: str | None,
    weighted: bool | None,
    public: bool,
) -> BothFiles:
    """The variables of two files that are compared, and what is to be said of the others."""
    _check_files(original, released, by, public)
    names, removed = _names(original, released, scenario, variables, by)
    weights, because = _weights(original, released, scenario, weighted)
    was, now = _shared(original, released, unit)
    numbers: dict[str, tuple[Floats, Floats]] = {}
    classes: dict[str, Classes] = {}
    for name in names:
        if _are_numbers(original, released, name):
            numbers[name] = original.numbers(name), released.numbers(name)
            for values in numbers[name]:
                check_sizes(name, values)
        else:
            classes[name] = common_classes(original, released, name, was, now)
    group = None if by is None else _grouped(common_classes(original, released, by, was, now), public)
    used = weights if weights is not None else (np.ones(len(original)), np.ones(len(released)))
    every = [*classes.values(), *([] if group is None else [group])]
    first = np.lexsort([*(each[0] for each in numbers.values()), *(each.original for each in every), used[0]])
    second = np.lexsort([*(each[1] for each in numbers.values()), *(each.released for each in every), used[1]])
    return BothFiles(
        numbers={name: (both[0][first], both[1][second]) for name, both in numbers.items()},
        classes={name: _sorted(each, first, second) for name, each in classes.items()},
        group=None if group is None else _sorted(group, first, second),
        weights=(used[0][first], used[1][second]),
        lines={name: number_line(*both) for name, both in numbers.items()},
        group_labels=() if group is None else group.labels,
        weighted=weights is not None,
        removed=removed,
        unweighted_because=because,
    )


def _check_files(original: Data, released: Data, by: str | None, public: bool) -> None:
    for what, data in (("original", original), ("released", released)):
        if not len(data):
            raise TacitaError(f"the {what} file has no records.")
        if public and len(data) < LEAST_RECORDS:
            raise TacitaError(f"the {what} file has fewer than {LEAST_RECORDS} records, too few for public figures.")
        if by is not None:
            check.columns_exist(f"by, of the {what} file,", (check.column_name("by", by),), data.columns)


def _names(
    original: Data, released: Data, scenario: Scenario, variables: tuple[str, ...] | None, by: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that are compared, and those that the release does not have."""
    apart = {scenario.weight, scenario.household, scenario.person, by, *scenario.identifiers}
    if variables is not None:
        check.columns_exist("variables", variables, original.columns)
    wanted = tuple(name for name in original.columns if name not in apart) if variables is None else variables
    there = tuple(name for name in wanted if name in released.columns)
    if not there:
        raise TacitaError("the files have no variable in common to be compared; name some with variables=[...].")
    # Keys first: they are paired, and looked at first.
    ranked = sorted(there, key=[*scenario.all_keys, *there].index) if variables is None else there
    return tuple(ranked), tuple(name for name in wanted if name not in released.columns)


def _weights(
    original: Data, released: Data, scenario: Scenario, weighted: bool | None
) -> tuple[tuple[Floats, Floats] | None, str]:
    """The weights of both files, None where records are counted; and why they are, though there is a weight."""
    name = scenario.weight
    absent = [what for what, data in (("original", original), ("release", released)) if name not in data.columns]
    if weighted is None and name is not None and absent:
        return None, f"records are counted, since the {' and the '.join(absent)} has no weight {name!r}."
    if weighted is False or name is None:
        if weighted:
            raise TacitaError("weighted shares need a weight; name it in the scenario, or pass weighted=False.")
        return None, ""
    if absent:
        raise TacitaError(f"weight {name!r} is not in the {absent[0]}; pass weighted=False to count records.")
    before, after = survey_weights(original, scenario), survey_weights(released, scenario)
    return (None, "") if before is None or after is None else ((before, after), "")


def _shared(original: Data, released: Data, unit: str | None) -> tuple[Ints, Ints]:
    """The rows of the records that both files have; none where they are not known, as in a synthetic file."""
    try:
        was, now, _ = shared_records(original, released, unit)
    except TacitaError:
        if unit is not None:
            raise
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return was, now


def _are_numbers(original: Data, released: Data, name: str) -> bool:
    """Whether a variable is a number before, and holds numbers after."""
    table = released.table
    holds = frame.is_float(table, name) or frame.is_whole(table, name) or frame.is_decimal(table, name)
    return holds and original.scale(name) == "numeric"


def _grouped(given: Classes, public: bool) -> Classes:
    """The classes of the groups, the smallest together."""
    size = len(given.labels)
    counts = np.stack([np.bincount(each, minlength=size) for each in (given.original, given.released)])
    pool = pooled(given.labels, counts, MOST_GROUPS, public)
    return given._replace(labels=pool.labels, original=pool.into[given.original], released=pool.into[given.released])


def _sorted(given: Classes, first: Ints, second: Ints) -> Classes:
    return given._replace(original=given.original[first], released=given.released[second])
