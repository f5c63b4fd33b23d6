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
        counts[0, int(response[row])] = 0.0
        counts[1, int(response[row])] = 0.0
    return best, cut


@compiled
def in_rising_order(keys: Any) -> Any:
    """The places of numbers from the smallest on, equal ones as they stand: what is merged is twice as long each time.

    A loop of our own: NumPy's sorting takes longer to compile than all the rest.
    """
    size, width = len(keys), 1
    order, other = np.empty(size, np.int64), np.empty(size, np.int64)
    for place in range(size):
        order[place] = place
    while width < size:
        for first in range(0, size, 2 * width):
            middle, last = min(first + width, size), min(first + 2 * width, size)
            i, k = first, middle
            for place in range(first, last):
                if i < middle and (k >= last or not keys[order[k]] < keys[order[i]]):
                    other[place] = order[i]
                    i += 1
                else:
                    other[place] = order[k]
                    k += 1
        order, other = other, order
        width *= 2
    return order


@compiled
def labels_of(rows: Any, response: Any, places: Any) -> Any:
    """The classes of some records, by number; `places` is zero everywhere, and then the place of each among them."""
    found, count = np.empty(len(places)), 0
    for row in rows:
        label = int(response[row])
        if places[label] == 0:
            places[label] = 1
            found[count] = label
            count += 1
    labels = np.empty(count, np.int64)
    order = in_rising_order(found[:count])
    for number in range(count):
        labels[number] = int(found[order[number]])
        places[labels[number]] = number
    return labels


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
    labels = labels_of(rows, response, places)
    table, total = np.zeros((groups, len(labels) + 1)), np.zeros(len(labels))
    for group in range(groups):
        for place in range(runs[group], runs[group + 1]):
            row = rows[place]
            table[group, places[int(response[row])]] += weight[row]
            table[group, len(labels)] += weight[row]
    for label in labels:
        places[label] = 0
    for number in range(len(labels)):
        for group in range(groups):
            total[number] -= table[group, number]
    frequent = in_rising_order(total)
    sorted_table = np.zeros((groups, len(labels) + 1))
    for group in range(groups):
        for number in range(len(labels)):
            sorted_table[group, number] = table[group, frequent[number]]
        sorted_table[group, len(labels)] = table[group, len(labels)]
    return sorted_table


@compiled
def side_scores(left: Any, total: Any) -> float:
    """The sum over both sides of a division of the squares of what they hold, over their weights, which are last."""
    last, squares, others = len(left) - 1, 0.0, 0.0
    for number in range(last):
        squares += left[number] * left[number]
        others += (total[number] - left[number]) * (total[number] - left[number])
    return float(squares / left[last] + others / (total[last] - left[last]))


@compiled
def nominal(rows: Any, runs: Any, table: Any, least: int, orders: int) -> tuple[float, Any]:
    """The best division of categories: its score, and by category whether it goes left.

    Categories are put in the order of their means, or of their shares of a class, and cut.
    """
    groups, width = table.shape
    best, goes_left = -1.0, np.zeros(groups, np.bool_)
    total, left, shares = np.zeros(width), np.zeros(width), np.empty(groups)
    for group in range(groups):
        for number in range(width):
            total[number] += table[group, number]
    for column in range(orders):
        for group in range(groups):
            shares[group] = table[group, column] / table[group, width - 1]
        order, count, cut = in_rising_order(shares), 0, 0
        for number in range(width):
            left[number] = 0.0
        for place in range(groups - 1):
            group = order[place]
            for number in range(width):
                left[number] += table[group, number]
            count += runs[group + 1] - runs[group]
            if count < least or len(rows) - count < least:
                continue
            score = side_scores(left, total)
            if score > best:
                best, cut = score, place + 1
        if cut:
            for place in range(groups):
                goes_left[order[place]] = place < cut
    return best, goes_left


@compiled
def best_split(
    x: Any,
    order: Any,
    start: int,
    end: int,
    categories: Any,
    response: Any,
    classes: int,
    weight: Any,
    least: int,
    counts: Any,
    places: Any,
) -> tuple[float, int, int, Any]:
    """The best split of a node, a stretch of every order.

    Score, feature, records on the left of a cut, and which of its categories go left.
    """
    best, feature, cut, goes_left = -1.0, -1, 0, np.zeros(0, np.bool_)
    for place in range(len(categories)):
        rows = order[place, start:end]
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
