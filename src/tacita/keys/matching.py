"""Which records count for which: the rules for missing key values, on distinct keys, never on pairs of records.

A key is a row of codes, 0 for missing. Keys that are missing on the same variables share a *pattern*. Two keys can only
agree on the variables that both show, so for two patterns all matches are found by one sort of the keys cut down to
those variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys.source import combined
from tacita.keys.source import patterns as patterns

MOST_KEYS = 62
"""A pattern is one bit per key in an int64."""


FEW_PARTS = 8
PAIRS_PER_PART = 20_000
"""So many comparisons of values take as long as one sort."""
MOST_PAIRS = 50_000_000
"""More comparisons at once take too much memory."""


class Keys(NamedTuple):
    """Distinct keys, one per row, each with the columns of numbers that matching adds up."""

    codes: Codes
    totals: Ints


class Contribution(NamedTuple):
    """How keys of one pattern count for targets: those that agree on `shared`, times a factor."""

    sources: tuple[int, ...]
    shared: int
    factor: float | Floats


CLOSE = 4
"""Numbers below so many times their number are close together."""
Rule = Callable[[int, Ints, list[int]], Iterator[Contribution]]
"""What counts for the target rows of one pattern, given the patterns that occur among the sources."""


def matched_counts(
    targets: Codes,
    sources: Keys,
    rule: Rule,
    as_counts: Callable[[Ints], Floats],
) -> Floats:
    """What counts for each target key under a rule; whole matches are added as integers and rounded once."""
    whole = np.zeros((len(targets), sources.totals.shape[1]), dtype=np.int64)
    fractional = as_counts(whole)
    target_patterns, source_patterns = patterns(targets), patterns(sources.codes)
    occurring = [int(p) for p in np.unique(source_patterns)]
    rows_of_source = {p: np.flatnonzero(source_patterns == p) for p in occurring}
    project = projector(targets, sources.codes)
    for pattern in map(int, np.unique(target_patterns)):
        rows = np.flatnonzero(target_patterns == pattern)
        parts = list(rule(pattern, rows, occurring))
        if _better_by_pairs(len(rows) * sources.codes.size, parts, len(occurring)):
            whole[rows] += _sums_by_pairs(targets[rows], sources, pattern & source_patterns)
            continue
        for part in parts:
            found = np.concatenate([rows_of_source[p] for p in part.sources])
            wanted, given = project(rows, found, part.shared)
            matched = _sums_where_equal(wanted, given, sources.totals[found])
            if isinstance(part.factor, float) and part.factor == 1.0:
                whole[rows] += matched
            else:
                fractional[rows] += np.reshape(part.factor, (-1, 1)) * as_counts(matched)
    return rounded_to_whole(as_counts(whole) + fractional, fractional > 0)


def _better_by_pairs(comparisons: int, parts: list[Contribution], occurring: int) -> bool:
    """Whether comparing all pairs is less work than a sort for each part: where nearly every key has its own pattern.

    Only where all keys count, and those that agree count fully, as under the wildcard rule.
    """
    fully = all(isinstance(part.factor, float) and part.factor == 1.0 for part in parts)
    everybody = sum(len(part.sources) for part in parts) == occurring
    return fully and everybody and len(parts) > FEW_PARTS and comparisons < min(PAIRS_PER_PART * len(parts), MOST_PAIRS)


def _sums_by_pairs(targets: Codes, sources: Keys, shared: Ints) -> Ints:
    """For each target key, the totals of the sources that agree with it on the variables that both show."""
    agree = np.ones((len(targets), len(sources.codes)), dtype=np.bool_)
    for column in range(targets.shape[1]):
        agree &= (targets[:, column, None] == sources.codes[:, column]) | (shared >> column & 1 == 0)
    return agree.astype(np.int64) @ sources.totals


def rounded_to_whole(counts: Floats, added: Bools) -> Floats:
    """Counts with rounding errors removed: sums of fractions within 1e-13 of a whole number become that number.

    Otherwise ten matches of 0.3 would be a little less than 3, and a record would fall below k.
    """
    nearest = np.rint(counts)
    return np.where(added & (np.abs(counts - nearest) <= 1e-13 * counts), nearest, counts)


class Pairs(NamedTuple):
    """Keys that count for keys: row `source` counts for row `target` by `factor`."""

    target: Ints
    source: Ints
    factor: Floats


def matched_pairs(codes: Codes, rule: Rule) -> Pairs:
    """All pairs of keys that count for each other under a rule, in the order of the targets.

    Distinct keys that show little are few, and keys that show much match few: there are not many pairs.
    """
    key_patterns = patterns(codes)
    occurring = [int(p) for p in np.unique(key_patterns)]
    rows_of = {p: np.flatnonzero(key_patterns == p) for p in occurring}
    project = projector(codes, codes)
    found: list[Pairs] = []
    for pattern in occurring:
        rows = rows_of[pattern]
        for part in rule(pattern, rows, occurring):
            sources = np.concatenate([rows_of[p] for p in part.sources])
            wanted, given = project(rows, sources, part.shared)
            target, source = equal_pairs(wanted, given, np.argsort(given, kind="stable"))
            factor = np.broadcast_to(part.factor, len(rows)).astype(np.float64)[target]
            kept = factor > 0
            found.append(Pairs(rows[target[kept]], sources[source[kept]], factor[kept]))
    joined = Pairs(*(np.concatenate([getattr(each, name) for each in found]) for name in Pairs._fields))
    order = np.argsort(joined.target, kind="stable")
    return Pairs(joined.target[order], joined.source[order], joined.factor[order])


def equal_pairs(wanted: Ints, given: Ints, order: Ints) -> tuple[Ints, Ints]:
    """All pairs of places with equal numbers; `order` sorts the given ones."""
    ordered = given[order]
    first = np.searchsorted(ordered, wanted, side="left")
    count = np.searchsorted(ordered, wanted, side="right") - first
    target = np.repeat(np.arange(len(wanted), dtype=np.int64), count)
    within = np.arange(len(target), dtype=np.int64) - np.repeat(np.cumsum(count) - count, count)
    return target, order[np.repeat(first, count) + within]


def projector(targets: Codes, sources: Codes) -> Callable[[Ints, Ints, int], tuple[Ints, Ints]]:
    """A function that cuts keys down to some variables and makes one comparable number of each."""
    sizes = [int(max(targets[:, j].max(initial=0), sources[:, j].max(initial=0))) + 1 for j in range(targets.shape[1])]

    def project(target_rows: Ints, source_rows: Ints, shared: int) -> tuple[Ints, Ints]:
        columns = [j for j in range(len(sizes)) if shared >> j & 1]
        cut = [np.concatenate([targets[target_rows, j], sources[source_rows, j]]) for j in columns]
        numbers = combined(cut, [sizes[j] for j in columns], len(target_rows) + len(source_rows))
        return numbers[: len(target_rows)], numbers[len(target_rows) :]

    return project


def _sums_where_equal(wanted: Ints, given: Ints, totals: Ints) -> Ints:
    """For each wanted number, the totals of the given rows that equal it; the smaller side is sorted.

    Numbers close together need no sort: they are the rows of a table of totals.
    """
    size = max(int(wanted.max(initial=0)), int(given.max(initial=0))) + 1
    if size <= CLOSE * (len(wanted) + len(given)):
        return _column_sums(given, totals, size)[wanted]
    if len(wanted) < len(given):
        different, inverse = np.unique(wanted, return_inverse=True)
        place = np.minimum(np.searchsorted(different, given), len(different) - 1)
        hit = different[place] == given
        return _column_sums(place[hit], totals[hit], len(different))[inverse]
    different, inverse = np.unique(given, return_inverse=True)
    sums = _column_sums(inverse, totals, len(different))
    place = np.minimum(np.searchsorted(different, wanted), len(different) - 1)
    return np.where((different[place] == wanted)[:, None], sums[place], 0)


def _column_sums(groups: Ints, totals: Ints, count: int) -> Ints:
    # Limb sums and counts stay far below 2^53, so the doubles inside bincount are exact.
    sums = np.zeros((count, totals.shape[1]), dtype=np.int64)
    for j in range(totals.shape[1]):
        # The highest limbs are mostly 0.
        if totals[:, j].any():
            sums[:, j] = np.bincount(groups, weights=totals[:, j], minlength=count)
    return sums


def equal(pattern: int, rows: Ints, occurring: list[int]) -> Iterator[Contribution]:
    """Equal keys match, missing being one more category."""
    if pattern in occurring:
        yield Contribution((pattern,), pattern, 1.0)


def no_match(complete: int) -> Rule:
    """Equal complete keys match; a missing value matches nothing."""

    def rule(pattern: int, rows: Ints, occurring: list[int]) -> Iterator[Contribution]:
        return equal(pattern, rows, occurring if pattern == complete else [])

    return rule


def one_way(pattern: int, rows: Ints, occurring: list[int]) -> Iterator[Contribution]:
    """Keys match that have the same value on every variable that the target shows."""
    wider = tuple(p for p in occurring if p & pattern == pattern)
    if wider:
        yield Contribution(wider, pattern, 1.0)


def wildcard(pattern: int, rows: Ints, occurring: list[int]) -> Iterator[Contribution]:
    """Keys match that agree on the variables that both show."""
    by_shared: dict[int, list[int]] = {}
    for other in occurring:
        by_shared.setdefault(pattern & other, []).append(other)
    for shared in sorted(by_shared):
        yield Contribution(tuple(by_shared[shared]), shared, 1.0)


def conservative(complete: int) -> Rule:
    """A complete key matches equal keys only; an incomplete one matches every key that it could be."""

    def rule(pattern: int, rows: Ints, occurring: list[int]) -> Iterator[Contribution]:
        return (one_way if pattern == complete else wildcard)(pattern, rows, occurring)

    return rule


def partial(complete: int, factor: Callable[[int, Ints], Floats]) -> Rule:
    """As wildcard, but for a complete key a match with an incomplete key counts by a factor.

    `factor(blanks, rows)` gives it for the target rows and the bits of the variables that the other key does not show.
    """

    def rule(pattern: int, rows: Ints, occurring: list[int]) -> Iterator[Contribution]:
        if pattern != complete:
            yield from wildcard(pattern, rows, occurring)
            return
        for other in occurring:
            blanks = complete & ~other
            yield Contribution((other,), other, factor(blanks, rows) if blanks else 1.0)

    return rule


def sdcmicro(complete: int, alpha: float) -> Rule:
    """The reference program's rule, quirks included, to reproduce its figures and for nothing else.

    With several keys: a complete key counts others with blanks by alpha, but not those that are blank on all keys; a
    key with blanks counts its own twins and complete keys fully and other keys with blanks by alpha; a key that is
    blank throughout counts everybody. With a single key the all-blank records do count by alpha.
    """
    single = complete == 1

    def rule(pattern: int, rows: Ints, occurring: list[int]) -> Iterator[Contribution]:
        for other in occurring:
            if pattern == 0 or other == complete:
                factor = 1.0
            elif pattern == complete and other == 0 and not single:
                continue
            else:
                factor = float(alpha)
            if other == pattern not in (0, complete):
                # Own twins fully, other keys of the same pattern cannot match a different key.
                factor = 1.0
            yield Contribution((other,), pattern & other, factor)

    return rule
