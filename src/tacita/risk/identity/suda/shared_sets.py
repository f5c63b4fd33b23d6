"""On which sets of keys does a record agree with another one? (the search behind SUDA)

Two records that agree on some keys agree on every subset of these. One 64-bit word holds the answers for the 64 subsets
of six keys, the *low* ones, and there is one word for each set of the other, *high* keys.

The search walks down the tree of sets and splits a group of records that agree on a set by one more key at a time. A
group of one is unique and needs no more work. Inside a small group all pairs are compared, which settles up to 64 sets
at once. The caller makes the keys with few categories the low ones, so that groups become small early.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Codes, Ints
from tacita.compiled import compiled

LOW = 6
"""Keys whose subsets one word holds."""
SMALL_GROUP = 32
"""In groups of up to so many rows all pairs are compared."""

Words = NDArray[np.uint64]
Rows = NDArray[np.int32]
Places = NDArray[Any]
"""Places on a stack, as 64-bit integers."""

_FIELDS = ("low", "high", "other_low", "other_high", "blank_low", "blank_high", "key", "keys", "bit", "word", "left")
TASK = np.dtype([(name, np.int64) for name in _FIELDS])
"""A group of rows that agree on a set of keys, and what is still to be done with it.

Its targets, its others and the rows that join it by a missing value are pieces of the stacks of rows. The set, given by
its word and bit, is to grow by `left` keys, the last of them one of [key, keys)."""


class Search(NamedTuple):
    """What all steps of a search share."""

    codes: Codes
    """Rows of codes, 0 for missing."""
    wildcard: bool
    """Whether a missing value of another row agrees with everything; otherwise it agrees with nothing."""
    wild: Ints
    """Under wildcard, by row: one bit for each low key that is missing."""
    place: Rows
    """By row: its place among the targets, -1 if it is none."""
    shared: Words
    """By target and set of high keys: the sets of low keys on which another row agrees with it too."""
    steps: Ints
    """By high key and keys still allowed: how many words further the set with this key is."""
    down: Words
    """By set of low keys: all its subsets."""
    tasks: NDArray[Any]
    """The stack of what is still to be done; the last task has the top of the two stacks of rows."""
    targets: Rows
    """A stack of rows for which the shared sets are wanted, group by group, ..."""
    others: Rows
    """... and one of the other rows that agree with them."""
    found: Rows
    """The codes that the targets of a group show."""
    target_count: Places
    """By code: number of targets, then place of the next one; 0 between splits."""
    other_count: Places
    """The same of the others."""
    members: Rows
    """The rows of a small group, targets first, ..."""
    marks: Words
    """... and the sets of low keys that each of them shares."""


def shared_sets(
    codes: Codes, targets: Ints, largest: int, wildcard: bool, progress: Callable[[float], None] = lambda done: None
) -> Words:
    """For each target row one bit per set of at most `largest` keys: whether another row agrees with it on the set.

    Bits of larger sets may or may not be set, and those of sets with a missing value of the target mean nothing.
    """
    rows, keys = codes.shape
    high = max(keys - LOW, 0)
    place = np.full(rows, -1, dtype=np.int32)
    place[targets] = np.arange(len(targets))
    others = np.flatnonzero(place < 0)
    missing = (codes[:, :LOW] == 0) @ (np.int64(1) << np.arange(min(keys, LOW), dtype=np.int64))
    most = int(codes.max(initial=0)) + 1
    # A level of the search holds a part of the level above and, under wildcard, a copy of what joins several groups.
    deepest = (largest + 1) * len(targets)
    search = Search(
        codes=codes,
        wildcard=wildcard,
        wild=missing if wildcard else np.zeros(rows, dtype=np.int64),
        place=place,
        shared=np.zeros((len(targets), sets_up_to(high, largest)), dtype=np.uint64),
        steps=_steps(high, largest),
        down=subsets(),
        tasks=np.empty(deepest + largest + 1, dtype=TASK),
        targets=_stack(targets, deepest),
        others=_stack(others, 2 * (largest + 1) * rows),
        found=np.empty(most, dtype=np.int32),
        target_count=np.zeros(most, dtype=np.int64),
        other_count=np.zeros(most, dtype=np.int64),
        members=np.zeros(SMALL_GROUP, dtype=np.int32),
        marks=np.zeros(SMALL_GROUP, dtype=np.uint64),
    )
    for last in range(keys):
        # The sets whose last key this is: as many as all sets before.
        search.tasks[0] = (0, len(targets), 0, len(others), 0, 0, last, last + 1, 0, 0, largest)
        _walk(search)
        progress(sets_up_to(last + 1, largest) / sets_up_to(keys, largest))
    return search.shared


def _stack(rows: Ints, size: int) -> Rows:
    stack = np.empty(max(size, len(rows)) + 1, dtype=np.int32)
    stack[: len(rows)] = rows
    return stack


def sets_up_to(keys: int, largest: int) -> int:
    """The number of sets of at most `largest` keys, the empty one included."""
    return sum(comb(keys, size) for size in range(largest + 1))


def subsets() -> Words:
    """For each set of low keys the word of all its subsets."""
    sets = np.arange(1 << LOW, dtype=np.uint64)
    inside = (sets[None, :] & ~sets[:, None]) == 0
    words: Words = np.bitwise_or.reduce(np.where(inside, np.uint64(1) << sets[None, :], np.uint64(0)), axis=1)
    return words


def high_sets(high: int, largest: int) -> Ints:
    """The sets of high keys, one bit per key, in the order of their words: subsets before supersets."""
    found: list[int] = []

    def grow(members: int, keys: int, left: int) -> None:
        found.append(members)
        for key in range(keys if left else 0):
            grow(members | 1 << key, key, left - 1)

    grow(0, high, largest)
    return np.array(found, dtype=np.int64)


def _steps(high: int, largest: int) -> Ints:
    """How many words lie between a set and the same set with one more high key, in the order of `high_sets`."""
    steps = np.zeros((high, largest + 1), dtype=np.int64)
    for key in range(high):
        for left in range(1, largest + 1):
            steps[key, left] = 1 + sum(sets_up_to(below, left - 1) for below in range(key))
    return steps


@compiled
def _walk(search: Search) -> None:
    """Mark what the targets of the first task share."""
    tasks = search.tasks
    pending = 1
    while pending > 0:
        pending -= 1
        _join_blanks(search, tasks[pending])
        task = tasks[pending]
        size = task.high - task.low + task.other_high - task.other_low
        if size == 1:
            continue
        if task.key == 0:
            if size <= SMALL_GROUP and task.keys <= LOW:
                _compare(search, task)
                continue
            for at in range(task.low, task.high):
                search.shared[search.place[search.targets[at]], task.word] |= np.uint64(1) << np.uint64(task.bit)
        if task.left > 0 and task.key < task.keys:
            pending = _split(search, pending)


@compiled
def _join_blanks(search: Search, task: Any) -> None:
    """Copy the others of a task and the rows that join them by a missing value to the top of the stack."""
    if task.blank_low == task.blank_high:
        return
    top = task.blank_high
    for at in range(task.other_low, task.other_high):
        search.others[top] = search.others[at]
        top += 1
    for at in range(task.blank_low, task.blank_high):
        search.others[top] = search.others[at]
        top += 1
    task.other_low, task.other_high = task.blank_high, top
    task.blank_low = task.blank_high


@compiled
def _split(search: Search, at: int) -> int:
    """Split the group of a task by its next key: a task for each part goes above it; gives the new number of tasks.

    The parts are the targets that show the same value, with the others that show it too. Missing values are left out,
    but under wildcard these rows join each part.
    """
    tasks, found, target_count, other_count = search.tasks, search.found, search.target_count, search.other_count
    task = tasks[at]
    key = task.key
    task.key += 1
    first = at + 1
    parts = _count(search, task, key)
    free, other_free = task.high, task.other_high
    for part in range(parts):
        code = found[part]
        new = tasks[first + part]
        new.low, new.other_low = free, other_free
        free, other_free = free + target_count[code], other_free + other_count[code]
        new.high, new.other_high = free, other_free
        target_count[code], other_count[code] = new.low, new.other_low
        new.key, new.keys, new.left = 0, key, task.left - 1
        new.bit = task.bit + (1 << key) if key < LOW else task.bit
        new.word = task.word if key < LOW else task.word + search.steps[key - LOW, task.left]
    blank_high = _place(search, task, key, other_free)
    for part in range(parts):
        tasks[first + part].blank_low, tasks[first + part].blank_high = other_free, blank_high
        target_count[found[part]] = 0
        other_count[found[part]] = 0
    return first + parts


@compiled
def _count(search: Search, task: Any, key: int) -> int:
    """Count the rows of a group by their value of a key, others only where a target has it; gives the number found."""
    parts = 0
    for at in range(task.low, task.high):
        code = search.codes[search.targets[at], key]
        if code > 0:
            if search.target_count[code] == 0:
                search.found[parts] = code
                parts += 1
            search.target_count[code] += 1
    for at in range(task.other_low, task.other_high):
        code = search.codes[search.others[at], key]
        if search.target_count[code] > 0:
            search.other_count[code] += 1
    return parts


@compiled
def _place(search: Search, task: Any, key: int, free: int) -> int:
    """Write the rows of a group to the places that the counts now hold, and the missing ones to where it is free."""
    for at in range(task.low, task.high):
        row = search.targets[at]
        code = search.codes[row, key]
        if code > 0:
            search.targets[search.target_count[code]] = row
            search.target_count[code] += 1
        elif search.wildcard:
            search.others[free] = row
            free += 1
    for at in range(task.other_low, task.other_high):
        row = search.others[at]
        code = search.codes[row, key]
        if search.target_count[code] > 0:
            search.others[search.other_count[code]] = row
            search.other_count[code] += 1
        elif code == 0 and search.wildcard:
            search.others[free] = row
            free += 1
    return free


@compiled
def _compare(search: Search, task: Any) -> None:
    """Mark what the targets of a small group share on the first keys, pair by pair."""
    codes, members, marks, wild, down = search.codes, search.members, search.marks, search.wild, search.down
    low, other_low, keys = task.low, task.other_low, task.keys
    targets = task.high - low
    size = targets + task.other_high - other_low
    within = (1 << keys) - 1
    for at in range(size):
        marks[at] = 0
        members[at] = search.targets[low + at] if at < targets else search.others[other_low + at - targets]
    for at in range(targets):
        row, mark = members[at], marks[at]
        for other_at in range(at + 1, size):
            other = members[other_at]
            agree = 0
            for key in range(keys):
                code = codes[row, key]
                agree |= (code == codes[other, key] and code != 0) << key
            if search.wildcard:
                mark |= down[agree | (wild[other] & within)]
                marks[other_at] |= down[agree | (wild[row] & within)]
            else:
                mark |= down[agree]
                marks[other_at] |= down[agree]
        search.shared[search.place[row], task.word] |= mark << np.uint64(task.bit)
