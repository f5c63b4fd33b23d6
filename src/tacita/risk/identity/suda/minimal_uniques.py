"""Minimal sample uniques: the smallest sets of keys on which a record is unique (the kernel of SUDA).

A record is unique on a set of keys if no other record agrees with it on all of them, and the set is minimal if the
record shares every smaller part of it with somebody. Both are read off the sets that it shares, 64 sets at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.compiled import compiled
from tacita.risk.identity.suda.shared_sets import LOW, Words, high_sets, sets_up_to, shared_sets, subsets

WORDS_AT_ONCE = 1 << 25
"""So many words of shared sets (256 MB) are held at a time."""
MOST_WORDS = 1 << 14
"""So many words per record are searched at most: those of 20 keys."""


class MinimalUniques(NamedTuple):
    """What the minimal sample uniques of each row add up to."""

    score: Floats
    """Sum of the weights of its minimal sample uniques."""
    msus: Ints
    """Their number."""
    smallest: Ints
    """The size of the smallest, 0 if there is none."""
    parts: Floats
    """By row and key: the sum over those that contain the key; without columns if not wanted."""


class _Sets(NamedTuple):
    """The sets of keys by word."""

    members: Ints
    """The high keys of a word, one bit each."""
    sizes: Ints
    """Their number."""
    below: Ints
    """The words of the sets with one high key less, as many as there are high keys."""
    down: Words
    """By set of low keys: all its subsets."""
    up_to: Words
    """By size: the sets of at most so many low keys."""
    without: Words
    """By low key: the sets that do not contain it."""


def word_count(keys: int, largest: int) -> int:
    """Words that a search for sets of at most `largest` keys holds for each record."""
    return sets_up_to(max(keys - LOW, 0), largest)


def minimal_uniques(
    codes: Codes,
    unique: Bools,
    weights: Floats,
    *,
    wildcard: bool = False,
    parts: bool = True,
    progress: Callable[[float], None] = lambda done: None,
) -> MinimalUniques:
    """The minimal sample uniques of the rows that are marked as unique on the keys they show.

    `codes` holds 0 for missing. A row that stands for several records is not marked. `weights[s]` is what a set of s
    keys adds to the score; sets of `len(weights)` keys and more are not looked for. A row is never unique on a set with
    one of its missing values; a missing value of another row agrees with nothing, or with everything under `wildcard`.
    """
    rows, keys = codes.shape
    largest = len(weights) - 1
    whole = MinimalUniques(
        np.zeros(rows), np.zeros(rows, np.int64), np.zeros(rows, np.int64), np.zeros((rows, keys if parts else 0))
    )
    if not largest:
        # A single key under a score of sets with fewer keys than there are.
        return whole
    # Keys with few categories first: these are the low ones.
    order = np.argsort(codes.max(axis=0, initial=0), kind="stable")
    ordered = np.ascontiguousarray(codes[:, order])
    sets = _sets(max(keys - LOW, 0), largest)
    targets = np.flatnonzero(unique)
    step = max(1, WORDS_AT_ONCE // len(sets.members))
    for start in range(0, len(targets), step):
        block = targets[start : start + step]
        inside = _inside(progress, start / len(targets), len(block) / len(targets))
        shared = shared_sets(ordered, block, largest, wildcard, inside)
        shown = (ordered[block] > 0) @ (np.int64(1) << np.arange(keys, dtype=np.int64))
        found = np.zeros((len(block), keys if parts else 0))
        score, (msus, smallest) = np.zeros(len(block)), np.zeros((2, len(block)), np.int64)
        _totals(shared, shown, sets, weights, score, msus, smallest, found)
        whole.score[block], whole.msus[block], whole.smallest[block] = score, msus, smallest
        whole.parts[block[:, None], order[: found.shape[1]]] = found
    return whole


def _inside(progress: Callable[[float], None], before: float, share: float) -> Callable[[float], None]:
    """The progress of a part of the work."""
    return lambda done: progress(before + share * done)


def _sets(high: int, largest: int) -> _Sets:
    members = high_sets(high, largest)
    word_of = {int(one): word for word, one in enumerate(members)}
    below = np.zeros((len(members), max(1, min(high, largest))), dtype=np.int64)
    for word, one in enumerate(members.tolist()):
        smaller = [word_of[one & ~(1 << key)] for key in range(high) if one >> key & 1]
        below[word, : len(smaller)] = smaller
    low = np.arange(1 << LOW, dtype=np.uint64)
    bits, sizes = np.uint64(1) << low, np.bitwise_count(low)
    up_to = [bits[sizes <= size].sum(dtype=np.uint64) for size in range(largest + 1)]
    without = [bits[low >> np.uint64(key) & np.uint64(1) == 0].sum(dtype=np.uint64) for key in range(LOW)]
    counts = np.bitwise_count(members).astype(np.int64)
    return _Sets(members, counts, below, subsets(), np.array(up_to), np.array(without))


@compiled
def _totals(
    shared: Words,
    shown: Ints,
    sets: _Sets,
    weights: Floats,
    score: Floats,
    msus: Ints,
    smallest: Ints,
    parts: Floats,
) -> None:
    """Add up score, number and smallest size of the minimal uniques of each row; what each key adds goes to `parts`.

    `shared` is overwritten by the sets on which the row is unique.
    """
    rows, words = shared.shape
    largest = len(weights) - 1
    for row in range(rows):
        # Nobody is unique on no keys at all, not even the only record of a file.
        shared[row, 0] |= np.uint64(1)
        shown_low = sets.down[shown[row] & ((1 << LOW) - 1)]
        shown_high = shown[row] >> LOW
        for word in range(words):
            size = sets.sizes[word]
            unique = np.uint64(0)
            if sets.members[word] & ~shown_high == 0:
                unique = ~shared[row, word] & shown_low & sets.up_to[largest - size]
            shared[row, word] = unique
            if unique == 0:
                continue
            minimal = unique & ~_not_minimal(shared[row], word, size, sets)
            if minimal != 0:
                _add(row, minimal, sets.members[word], size, weights, score, msus, smallest, parts)


@compiled
def _not_minimal(unique: Words, word: int, size: int, sets: _Sets) -> np.uint64:
    """The sets of a word that are unique with one key less."""
    found = np.uint64(0)
    for at in range(size):
        found |= unique[sets.below[word, at]]
    for key in range(LOW):
        found |= (unique[word] & sets.without[key]) << np.uint64(1 << key)
    return found


@compiled
def _add(
    row: int,
    minimal: np.uint64,
    members: int,
    size: int,
    weights: Floats,
    score: Floats,
    msus: Ints,
    smallest: Ints,
    parts: Floats,
) -> None:
    """Add the minimal uniques of a word to the totals of a row."""
    total, columns = 0.0, parts.shape[1]
    low_columns = LOW if columns > LOW else columns
    for low in range(1 << LOW):
        if minimal >> np.uint64(low) & np.uint64(1) == 0:
            continue
        keys = size
        for key in range(LOW):
            keys += low >> key & 1
        total += weights[keys]
        msus[row] += 1
        if smallest[row] == 0 or keys < smallest[row]:
            smallest[row] = keys
        for key in range(low_columns):
            if low >> key & 1:
                parts[row, key] += weights[keys]
    score[row] += total
    for key in range(LOW, columns):
        if members >> (key - LOW) & 1:
            parts[row, key] += total
