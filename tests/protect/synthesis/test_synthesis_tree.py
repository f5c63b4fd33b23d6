"""Trees: equal to a slow and obvious twin, and worked by hand."""

import itertools
import json
from typing import Any

import numpy as np
import pytest
from slow_tree import score, slow_tree

from tacita.trees.tree import Features, Growth, Response, Tree, donors, drawn, grown, leaves_of


def nested(tree: Tree, features: Features, rows: list[int], node: int = 0) -> Any:
    """A tree as the twin gives it; categories that the node does not have are left out."""
    feature = int(tree.feature[node])
    if feature < 0:
        return rows
    x = features.values[feature]
    if tree.start[node] >= 0:
        there = {x[row] for row in rows}
        where: Any = {c for c in there if tree.sets[tree.start[node] + int(c)]}
        left = [row for row in rows if x[row] in where]
    else:
        where = tree.threshold[node]
        left = [row for row in rows if x[row] <= where]
    right = [row for row in rows if row not in set(left)]
    return (
        feature,
        where,
        nested(tree, features, left, int(tree.left[node])),
        nested(tree, features, right, int(tree.right[node])),
    )


def random_file(seed: int) -> tuple[Features, Response, Growth]:
    """Few values, so that there are ties; missing values, one category, one record and duplicates among them."""
    draw = np.random.default_rng(seed)
    n = int(draw.choice([1, 2, 7, 20, 40]))
    ordered = draw.integers(0, int(draw.choice([1, 3, 12])), (2, n)).astype(float)
    ordered[draw.random((2, n)) < 0.2] = -np.inf
    sizes = draw.choice([1, 2, 4, 6], 2)
    codes = np.array([draw.integers(0, size, n) for size in sizes], dtype=float)
    classes = int(draw.choice([0, 0, 1, 2, 3, 12]))
    y = draw.integers(0, classes or 9, n).astype(float)
    if seed % 5 == 0 and n > 1:  # duplicate rows
        half = np.arange(n) % (n // 2)
        ordered, codes, y = ordered[:, half], codes[:, half], y[half]
    weight = draw.integers(1, 4, n).astype(float) if seed % 3 == 0 else np.ones(n)
    growth = Growth(int(draw.choice([1, 2, 5])), int(draw.choice([1, 1, 2])))
    mixed = np.vstack([ordered[:1], codes[:1], ordered[1:], codes[1:]])
    return Features(mixed, np.array([0, sizes[0], 0, sizes[1]])), Response(y, classes, weight), growth


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_trees_equal_the_slow_ones(start: int) -> None:
    for seed in range(start, start + 20):
        features, response, growth = random_file(seed)
        tree = grown(features, response, growth)
        rows = list(range(len(response.values)))
        assert nested(tree, features, rows) == slow_tree(features, response, growth), seed


def test_a_tree_by_hand() -> None:
    """Incomes 1, 1, 1, 9, 9, 9 by age: one cut between 30 and 40, then nothing to gain."""
    features = Features(np.array([[20.0, 25.0, 30.0, 40.0, 50.0, 60.0]]), np.array([0]))
    response = Response(np.array([1.0, 1.0, 1.0, 9.0, 9.0, 9.0]), 0, np.ones(6))
    tree = grown(features, response, Growth(least_leaf=1))
    assert tree.feature.tolist() == [0, -1, -1]
    assert tree.threshold[0] == 35
    assert leaves_of(tree, features).tolist() == [1, 1, 1, 2, 2, 2]
    assert tree.leaves == 2


def test_a_leaf_has_records_and_values_enough() -> None:
    features = Features(np.arange(12.0)[None], np.array([0]))
    response = Response(np.arange(12.0) // 4, 0, np.ones(12))
    assert np.bincount(leaves_of(grown(features, response, Growth(5)), features)).max() == 7
    two = leaves_of(grown(features, response, Growth(1, 2)), features)
    assert all(len(set(response.values[two == leaf])) >= 2 for leaf in set(two.tolist()))
    assert grown(features, response, Growth(1, 4)).leaves == 1


@pytest.mark.parametrize("classes", [0, 2])
def test_categories_are_divided_in_the_best_of_all_ways(classes: int) -> None:
    """The order of means gives the best subset (Breiman and others 1984, theorem 4.5)."""
    for seed in range(20):
        draw = np.random.default_rng(seed)
        codes = draw.integers(0, 5, 30).astype(float)
        y = draw.integers(0, classes or 20, 30).astype(float)
        features, weight = Features(codes[None], np.array([5])), np.ones(30)
        tree = grown(features, Response(y, classes, weight), Growth(1))
        shifted = y if classes else y - np.sort(y)[15]

        def both(left: np.ndarray, y: np.ndarray = shifted, weight: np.ndarray = weight) -> float:
            sides = [np.flatnonzero(side).tolist() for side in (left, ~left)]
            return sum(score(side, y, classes, weight) for side in sides)

        best = max(
            both(np.isin(codes, chosen)) for size in range(1, 5) for chosen in itertools.combinations(range(5), size)
        )
        assert both(tree.sets[: len(tree.sets)][tree.start[0] :][codes.astype(int)] == 1) == pytest.approx(best)


def test_a_category_that_a_node_does_not_have_goes_to_the_larger_child() -> None:
    features = Features(np.array([[0.0, 0.0, 0.0, 1.0]]), np.array([3]))
    tree = grown(features, Response(np.array([1.0, 1.0, 1.0, 5.0]), 0, np.ones(4)), Growth(1))
    leaf = leaves_of(tree, Features(np.array([[0.0, 1.0, 2.0]]), np.array([3])))
    assert leaf[2] == leaf[0] != leaf[1]


def test_a_tree_goes_to_a_file_and_back() -> None:
    for seed in range(10):
        features, response, growth = random_file(seed)
        tree = grown(features, response, growth)
        again = Tree.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))
        assert all(np.array_equal(one, other) for one, other in zip(tree, again, strict=True))


def test_draws_are_in_proportion_to_weights() -> None:
    """Donors of leaf 0 are 5 and 7 with weights 1 and 3, of leaf 1 only 6."""
    leaf, values = np.array([0, 1, 0]), np.array([7.0, 6.0, 5.0])
    given = donors(leaf, values, np.array([3.0, 2.0, 1.0]))
    uniform = np.array([0.01, 0.24, 0.26, 0.99])
    assert values[drawn(given, np.zeros(4, int), uniform)].tolist() == [5, 5, 7, 7]
    assert values[drawn(given, np.ones(4, int), uniform)].tolist() == [6, 6, 6, 6]
