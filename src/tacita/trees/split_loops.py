"""The best split of a node of a tree: loops over the records of the node, sorted by each feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled

MOST_ORDERS = 10
"""With more than two classes, categories are ordered by the shares of this many of the most frequent classes."""


@compiled
def ordered_numbers(x: Any, rows: Any, response: Any, weight: Any, least: int) -> tuple[float, int]:
    """The best cut of records in the order of a feature, for numbers: its score and the records on its left.

    The score is the sum over both sides of (sum of w y)^2 / (sum of w), the greater the better; -1 if there is no cut.
    """
    size, all_weight, all_sum = len(rows), 0.0, 0.0
    for row in rows:
        all_weight += weight[row]
        all_sum += weight[row] * response[row]
    best, cut, left_weight, left_sum = -1.0, 0, 0.0, 0.0
    for place in range(size - least):
        row = rows[place]
        left_weight += weight[row]
        left_sum += weight[row] * response[row]
        if place + 1 >= least and x[row] < x[rows[place + 1]]:
            right_weight, right_sum = all_weight - left_weight, all_sum - left_sum
            score = left_sum * left_sum / left_weight + right_sum * right_sum / right_weight
            if score > best:
                best, cut = score, place + 1
    return best, cut


@compiled
def ordered_classes(x: Any, rows: Any, response: Any, weight: Any, least: int, counts: Any) -> tuple[float, int]:
    """The same for classes: the score is the sum over both sides of sum of (weight of class)^2 / weight.

    `counts` has two rows of zeros, one column per class, and is zero again afterwards.
    """
    size, right_weight, right_squares = len(rows), 0.0, 0.0
    for row in rows:
        right_weight += weight[row]
        counts[1, int(response[row])] += weight[row]
    for row in rows:
        # Each class once: its square is added where it is met first.
        label = int(response[row])
        if counts[0, label] == 0.0:
            counts[0, label] = 1.0
            right_squares += counts[1, label] ** 2
    for row in rows:
        counts[0, int(response[row])] = 0.0
    best, cut, left_weight, left_squares = -1.0, 0, 0.0, 0.0
    for place in range(size - least):
        row = rows[place]
        label, w = int(response[row]), weight[row]
        left_squares += w * (2 * counts[0, label] + w)
        right_squares -= w * (2 * counts[1, label] - w)
        counts[0, label] += w
        counts[1, label] -= w
        left_weight += w
        right_weight -= w
        if place + 1 >= least and x[row] < x[rows[place + 1]]:
            score = left_squares / left_weight + right_squares / right_weight
            if score > best:
                best, cut = score, place + 1
    for row in rows:
        counts[:, int(response[row])] = 0.0
    return best, cut


@compiled
def category_runs(x: Any, rows: Any) -> Any:
    """Where each category of a nominal feature begins among records sorted by it, and at last their number."""
    runs = np.empty(len(rows) + 1, np.int64)
    count = 0
    for place in range(len(rows)):
        if place == 0 or x[rows[place]] != x[rows[place - 1]]:
            runs[count] = place
            count += 1
    runs[count] = len(rows)
    return runs[: count + 1]


@compiled
def class_tables(rows: Any, runs: Any, response: Any, weight: Any, places: Any) -> Any:
    """Weights by category and class of a node, its classes from the most frequent on, equal ones by number.

    For numbers (`places` empty) one column of sums beside the weights, which are the last column.
    """
    groups = len(runs) - 1
    if len(places) == 0:
        table = np.zeros((groups, 2))
        for group in range(groups):
            for place in range(runs[group], runs[group + 1]):
                row = rows[place]
                table[group, 0] += weight[row] * response[row]
                table[group, 1] += weight[row]
        return table
    labels = np.unique(response[rows])
    for number in range(len(labels)):
        places[int(labels[number])] = number
    table = np.zeros((groups, len(labels) + 1))
    for group in range(groups):
        for place in range(runs[group], runs[group + 1]):
            row = rows[place]
            table[group, places[int(response[row])]] += weight[row]
            table[group, -1] += weight[row]
    frequent = np.argsort(-table[:, :-1].sum(axis=0), kind="mergesort")
    sorted_table = np.zeros_like(table)
    for number in range(len(labels)):
        sorted_table[:, number] = table[:, frequent[number]]
    sorted_table[:, -1] = table[:, -1]
    return sorted_table


@compiled
def nominal(rows: Any, runs: Any, table: Any, least: int, orders: int) -> tuple[float, Any]:
    """The best division of categories: its score, and by category whether it goes left.

    Categories are put in the order of their means, or of their shares of a class, and cut.
    """
    groups, width = len(runs) - 1, table.shape[1] - 1
    best, goes_left = -1.0, np.zeros(groups, np.bool_)
    total = table.sum(axis=0)
    for column in range(orders):
        order = np.argsort(table[:, column] / table[:, -1], kind="mergesort")
        left, count = np.zeros(width + 1), 0
        for place in range(groups - 1):
            group = order[place]
            left += table[group]
            count += runs[group + 1] - runs[group]
            if count < least or len(rows) - count < least:
                continue
            right = total - left
            score = (left[:-1] ** 2).sum() / left[-1] + (right[:-1] ** 2).sum() / right[-1]
            if score > best:
                best = score
                goes_left[:] = False
                goes_left[order[: place + 1]] = True
    return best, goes_left


@compiled
def best_split(
    x: Any,
    segment: Any,
    categories: Any,
    response: Any,
    classes: int,
    weight: Any,
    least: int,
    counts: Any,
    places: Any,
) -> tuple[float, int, int, Any]:
    """The best split of a node: score, feature, records on the left of a cut, and which of its categories go left."""
    best, feature, cut, goes_left = -1.0, -1, 0, np.zeros(0, np.bool_)
    for place in range(len(categories)):
        rows = segment[place]
        if x[place, rows[0]] == x[place, rows[-1]]:
            continue
        if categories[place] == 0:
            if classes:
                score, at = ordered_classes(x[place], rows, response, weight, least, counts)
            else:
                score, at = ordered_numbers(x[place], rows, response, weight, least)
            if score > best:
                best, feature, cut, goes_left = score, place, at, goes_left[:0]
        else:
            runs = category_runs(x[place], rows)
            table = class_tables(rows, runs, response, weight, places)
            found = table.shape[1] - 1
            score, sides = nominal(rows, runs, table, least, 1 if found <= 2 else min(found, MOST_ORDERS))
            if score > best:
                best, feature, goes_left = score, place, sides
    return best, feature, cut, goes_left
