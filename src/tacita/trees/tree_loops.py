"""Growing a tree: loops over nodes, features and records.

Records are sorted once by every feature. A node is the same stretch of all these orders, and a split keeps the order
within either child, so that nothing is sorted again: time grows with records, features and depth.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacita.compiled import compiled
from tacita.trees.split_loops import best_split


@compiled
def midpoint(low: float, high: float) -> float:
    """A number from `low` to below `high`, in the middle if there is one."""
    if low == -np.inf:
        return low
    middle = low + (high - low) / 2
    return middle if middle < high else low


@compiled
def few_distinct(response: Any, rows: Any, least: int) -> bool:
    """Whether some records have fewer than so many different values."""
    found, count = np.empty(least), 0
    for row in rows:
        new = True
        for place in range(count):
            new = new and found[place] != response[row]
        if new:
            found[count] = response[row]
            count += 1
            if count == least:
                return False
    return True


@compiled
def own_score(rows: Any, response: Any, classes: int, weight: Any, counts: Any) -> float:
    """The score of a node that is not split."""
    total, summed, squares = 0.0, 0.0, 0.0
    for row in rows:
        total += weight[row]
        if classes:
            label, w = int(response[row]), weight[row]
            squares += w * (2 * counts[0, label] + w)
            counts[0, label] += w
        else:
            summed += weight[row] * response[row]
    if not classes:
        return summed * summed / total
    for row in rows:
        counts[0, int(response[row])] = 0.0
    return squares / total


@compiled
def partition(order: Any, start: int, end: int, side: Any, buffer: Any) -> None:
    """Put the records that go left first in every order, either side in the order in which it was."""
    for place in range(order.shape[0]):
        at, others = start, 0
        for index in range(start, end):
            row = order[place, index]
            if side[row]:
                order[place, at] = row
                at += 1
            else:
                buffer[others] = row
                others += 1
        for index in range(others):
            order[place, at + index] = buffer[index]


@compiled
def mark_sides(x: Any, rows: Any, cut: int, goes_left: Any, side: Any) -> int:
    """Mark which records of a node go left, and count them."""
    if len(goes_left) == 0:
        for place in range(len(rows)):
            side[rows[place]] = place < cut
        return cut
    group, count = -1, 0
    for place in range(len(rows)):
        if place == 0 or x[rows[place]] != x[rows[place - 1]]:
            group += 1
        side[rows[place]] = goes_left[group]
        count += goes_left[group]
    return count


@compiled
def left_set(x: Any, rows: Any, goes_left: Any, categories: int, larger_left: bool) -> Any:
    """By category whether it goes left; one that the node does not have goes to the larger child."""
    found, group = np.empty(categories, np.uint8), -1
    for category in range(categories):
        found[category] = np.uint8(larger_left)
    for place in range(len(rows)):
        if place == 0 or x[rows[place]] != x[rows[place - 1]]:
            group += 1
            found[int(x[rows[place]])] = np.uint8(goes_left[group])
    return found


@compiled
def with_set(sets: Any, used: int, found: Any) -> Any:
    """Sets of categories with another one behind those in use, in a longer array where it does not fit."""
    if used + len(found) > len(sets):
        longer = np.zeros(2 * (used + len(found)), np.uint8)
        for place in range(used):
            longer[place] = sets[place]
        sets = longer
    for place in range(len(found)):
        sets[used + place] = found[place]
    return sets


@compiled
def allowed(response: Any, left: Any, right: Any, distinct: int) -> bool:
    """Whether both sides of a split hold enough different values."""
    if distinct <= 1:
        return True
    return not (few_distinct(response, left, distinct) or few_distinct(response, right, distinct))


class Room(NamedTuple):
    """Room for the nodes of a tree, made before it is grown: in a loop what makes an array takes long to compile."""

    feature: Any
    threshold: Any
    left: Any
    right: Any
    start_of_set: Any
    stretch: Any
    """By node where its records begin and end in every order."""
    counts: Any
    """Two rows of zeros, one column per class."""
    places: Any
    """A zero per class."""
    side: Any
    """By record whether it goes left."""
    buffer: Any
    """One number by record."""

    @classmethod
    def of(cls, most: int, classes: int, size: int) -> Room:
        """Room for so many nodes, none of them split."""
        feature, left, right, start_of_set = (np.full(most, -1, np.int64) for _ in range(4))
        stretch, counts = np.zeros((most, 2), np.int64), np.zeros((2, max(classes, 1)))
        stretch[0, 1] = size
        nodes = (feature, np.zeros(most), left, right, start_of_set, stretch)
        return cls(*nodes, counts, np.zeros(classes, np.int64), np.zeros(size, np.bool_), np.empty(size, np.int32))


@compiled
def grow(
    x: Any,
    order: Any,
    categories: Any,
    response: Any,
    classes: int,
    weight: Any,
    least: int,
    distinct: int,
    needed: float,
    room: Room,
) -> tuple[int, Any]:
    """Fill in the nodes of a tree; how many there are, and the sets; `order` is used up.

    A split must decrease the impurity by more than what is needed.
    """
    # Of one type from the beginning: what a literal 0 is passed to would be compiled a second time.
    used: int = np.int64(0)  # type: ignore[assignment]
    sets = np.zeros(64, np.uint8)
    stretch, counts, places, side = room.stretch, room.counts, room.places, room.side
    nodes, node = 1, -1
    while node + 1 < nodes and len(categories) > 0:
        node += 1
        start, end = stretch[node, 0], stretch[node, 1]
        if end - start < 2 * least:
            continue
        score, chosen, cut, sides = best_split(
            x, order, start, end, categories, response, classes, weight, least, counts, places
        )
        if chosen < 0 or score - own_score(order[0, start:end], response, classes, weight, counts) <= needed:
            continue
        rows = order[chosen, start:end].copy()
        on_left = mark_sides(x[chosen], rows, cut, sides, side)
        partition(order, start, end, side, room.buffer)
        middle = start + on_left
        if not allowed(response, order[0, start:middle], order[0, middle:end], distinct):
            continue
        room.feature[node], room.left[node], room.right[node] = chosen, nodes, nodes + 1
        if len(sides):
            found = left_set(x[chosen], rows, sides, categories[chosen], 2 * on_left >= end - start)
            sets = with_set(sets, used, found)
            room.start_of_set[node], used = used, used + len(found)
        else:
            room.threshold[node] = midpoint(x[chosen, rows[cut - 1]], x[chosen, rows[cut]])
        stretch[nodes, 0], stretch[nodes, 1] = start, middle
        stretch[nodes + 1, 0], stretch[nodes + 1, 1] = middle, end
        nodes += 2
    return nodes, sets[:used]


@compiled
def find_leaves(feature: Any, threshold: Any, left: Any, right: Any, start: Any, sets: Any, x: Any, found: Any) -> None:
    """By record: the leaf that it falls into."""
    for record in range(x.shape[1]):
        node = 0
        while feature[node] >= 0:
            value = x[feature[node], record]
            among = start[node] >= 0
            goes_left = sets[start[node] + int(value)] == 1 if among else value <= threshold[node]
            node = left[node] if goes_left else right[node]
        found[record] = node
