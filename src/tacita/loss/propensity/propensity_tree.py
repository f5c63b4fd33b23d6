"""A tree of which file a record is from, and its propensity scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats
from tacita.loss.propensity.propensity_classes import Stacked, dense
from tacita.trees.tree import Features, Growth, Response, Tree, grown, leaves_of


class TreeFit(NamedTuple):
    """A tree with the scores of its leaves."""

    tree: Tree
    score: Floats
    """By record the share of the release in its leaf."""


def tree_features(columns: Sequence[Stacked]) -> Features:
    """Numbers as they are, missing below all others; categories as such."""
    rows, categories = [], []
    for column in columns:
        if column.numbers is not None:
            rows.append(np.where(np.isnan(column.numbers), -math.inf, column.numbers))
            categories.append(0)
            continue
        codes, size = dense(column.categories)
        rows.append(codes.astype(np.float64))
        categories.append(size)
    return Features(np.array(rows), np.array(categories, np.int64))


def tree_fit(features: Features, released: Floats, least_leaf: int) -> TreeFit:
    """A tree that is split as long as its leaves hold so many records."""
    response = Response(released, 2, np.ones(len(released)))
    tree = grown(features, response, Growth(least_leaf=least_leaf))
    leaf = leaves_of(tree, features)
    size = np.bincount(leaf)
    shares = np.bincount(leaf, weights=released) / np.maximum(size, 1)
    return TreeFit(tree, shares[leaf])


def shares_of_splits(fit: TreeFit, features: Features, released: Floats) -> Floats:
    """By feature its share in the decrease of Gini's index by all splits."""
    tree = fit.tree
    leaf = leaves_of(tree, features)
    count = np.bincount(leaf, minlength=len(tree.feature)).astype(np.float64)
    positive = np.bincount(leaf, weights=released, minlength=len(tree.feature))
    decrease = np.zeros(len(features.categories))
    # Children come behind their parents.
    for node in range(len(tree.feature) - 1, -1, -1):
        if tree.feature[node] < 0:
            continue
        sides = [int(tree.left[node]), int(tree.right[node])]
        count[node], positive[node] = count[sides].sum(), positive[sides].sum()
        gained = sum(positive[side] ** 2 / count[side] for side in sides) - positive[node] ** 2 / count[node]
        decrease[tree.feature[node]] += gained
    total = decrease.sum()
    return decrease / total if total > 0 else decrease
