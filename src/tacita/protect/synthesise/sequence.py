"""Sequential trees: every variable drawn from the leaves of a tree on the variables before it.

The first variable is drawn from its observed distribution. A number is drawn in two steps: whether there is one, or a
zero, a missing value or a code, and then which. Models are fitted once and drawn from as often as wanted.

Reiter (2005), Using CART to generate partially synthetic public use microdata. Journal of Official Statistics 21(3).
Nowok, Raab and Dibben (2016), synthpop: bespoke creation of synthetic data in R. Journal of Statistical Software 74.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.protect.synthesise.columns import Column, stacked
from tacita.protect.synthesise.smoothing import bandwidths, often, smoothed
from tacita.trees.tree import (
    Donors,
    Features,
    Growth,
    Response,
    Tree,
    donors,
    drawn,
    grown,
    leaves_of,
)

Uniform = Callable[[str, str], Floats]
"""Uniform numbers in (0, 1) for the records to be drawn, by variable and what they are for: `kind` or `value`."""
Normal = Callable[[str, str], Floats]
"""Standard normal numbers in the same way."""


class Sample(NamedTuple):
    """The records that models are fitted to."""

    rows: Mapping[str, Ints]
    """By variable: records, perhaps some of them several times."""
    weight: Floats
    """By record of the file: what it counts for."""


class Model(NamedTuple):
    """A tree and the donors in its leaves."""

    tree: Tree
    rows: Ints
    """By donor: its record."""
    given: Donors
    bandwidth: Floats
    """By leaf: how far numbers are moved; empty where they are not."""
    same: int
    """Leaves, holding two donors or more, in which all have the same value."""

    def drawn(self, features: Features, uniform: Floats) -> tuple[Ints, Ints]:
        """By record a donor, and the leaf that it is drawn from."""
        leaf = leaves_of(self.tree, features)
        return self.rows[drawn(self.given, leaf, uniform)], leaf


class Fitted(NamedTuple):
    """The models of one variable."""

    column: Column
    kinds: Model | None
    """Categories, or for numbers which kind of cell; none where all are numbers."""
    numbers: Model | None
    """Which number; none for categories."""

    def trees(self) -> dict[str, Any]:
        """The trees as plain lists."""
        models = {"kinds": self.kinds, "numbers": self.numbers}
        return {name: each.tree.to_dict() for name, each in models.items() if each is not None}


class Synthetic(NamedTuple):
    """One variable, drawn."""

    donors: Ints
    """By record drawn: the record whose value it gets."""
    numbers: Floats | None
    """Numbers in place of the donors', NaN where there is none; none: the donors' own."""


def fitted(
    given: Sequence[Column],
    columns: Sequence[Column],
    sample: Sample,
    growth: Growth,
    smooth: bool,
    known: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Callable[[float], None] = lambda done: None,
) -> list[Fitted]:
    """The models of all columns in turn, each on those given and those before it.

    `known` has by variable trees that were kept: they are then used in place of new ones.
    """
    found = []
    everybody = np.arange(len(sample.weight))
    parts = [part for column in given for part in column.features(everybody)]
    for place, column in enumerate(columns):
        progress(place / len(columns))
        features = stacked(parts, len(everybody))
        trees = {name: Tree.from_dict(each) for name, each in (known or {}).get(column.name, {}).items()}
        found.append(_fitted(column, features, sample, growth, smooth, trees))
        parts += column.features(everybody)
    return found


def _fitted(
    column: Column, features: Features, sample: Sample, growth: Growth, smooth: bool, trees: Mapping[str, Tree]
) -> Fitted:
    rows, kinds, numbers = sample.rows[column.name], None, None
    labels = column.labels.astype(np.float64)
    if not column.numeric or column.labels[rows].any():
        # That all children have no income is no disclosure: only numbers must differ within a leaf.
        one = growth._replace(least_distinct=1)
        kinds = _model(features, rows, (labels, column.classes), sample.weight, one, trees.get("kinds"))
    values = rows[column.labels[rows] == 0]
    if column.numeric and len(values):
        numbers = _model(features, values, (column.values, 0), sample.weight, growth, trees.get("numbers"))
        if smooth and column.measured:
            numbers = numbers._replace(bandwidth=bandwidths(numbers.given, column.values[values]))
            column = column._replace(shared=often(column.values, growth.least_leaf))
    return Fitted(column, kinds, numbers)


def _model(
    features: Features, rows: Ints, response: tuple[Floats, int], weight: Floats, growth: Growth, tree: Tree | None
) -> Model:
    values, classes = response[0][rows], response[1]
    own = features.of(rows)
    tree = grown(own, Response(values, classes, weight[rows]), growth) if tree is None else tree
    given = donors(leaves_of(tree, own), values, weight[rows])
    ordered, several = values[given.rows], given.end - given.start > 1
    same = several & (ordered[np.minimum(given.start, len(rows) - 1)] == ordered[given.end - 1])
    return Model(tree, rows, given, np.empty(0), int(same.sum()))


def draw_sequence(
    given: Sequence[Column], models: Sequence[Fitted], rows: Ints, uniform: Uniform, normal: Normal
) -> dict[str, Synthetic]:
    """All variables of some records, drawn in turn; each sees the values drawn before it, never the records' own."""
    parts = [part for column in given for part in column.features(rows)]
    made = {}
    for model in models:
        features = stacked(parts, len(rows))
        made[model.column.name] = found = _drawn(model, features, uniform, normal)
        parts += model.column.features(found.donors, found.numbers)
    return made


def _drawn(model: Fitted, features: Features, uniform: Uniform, normal: Normal) -> Synthetic:
    column, count = model.column, features.values.shape[1]
    donor = np.zeros(count, np.int64)
    chosen = np.ones(count, np.bool_)
    if model.kinds is not None:
        donor, _ = model.kinds.drawn(features, uniform(column.name, "kind"))
        chosen = column.labels[donor] == 0
    if not column.numeric or model.numbers is None:
        return Synthetic(donor, None)
    where = np.flatnonzero(chosen)
    donor[where], leaf = model.numbers.drawn(features.of(where), uniform(column.name, "value")[where])
    if not len(model.numbers.bandwidth):
        return Synthetic(donor, None)
    numbers = column.values[donor]
    moved = smoothed(
        model.numbers.given,
        column.values[model.numbers.rows],
        model.numbers.bandwidth,
        leaf,
        numbers[where],
        normal(column.name, "smooth")[where],
    )
    moved = np.rint(moved) if column.whole else moved
    numbers[where] = np.where(column.shared[donor[where]], numbers[where], moved)
    return Synthetic(donor, numbers)
