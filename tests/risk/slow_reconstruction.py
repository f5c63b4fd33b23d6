"""What a release gives back, slowly: plain loops over records, groups in dictionaries, as the page defines it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from scipy.stats import binom

LEVEL, HIT_RATE = 0.05, 0.9

Rows = list[dict[str, Any]]


class Found(NamedTuple):
    right: set[int]
    wrong: set[int]


def same(value: Any) -> Any:
    """2, 2.0 and '2' are one value."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value.strip()
    return None if value is None or value != value else float(value) if isinstance(value, int | float) else value


class Variable:
    """A protected variable: rows of the release, the truth, and what a right guess is."""

    def __init__(self, name: str, original: Rows, released: Rows):
        self.name = name
        self.shown = [same(row.get(name)) for row in released]
        truth = [same(row[name]) for row in original]
        self.cells = [at for at, value in enumerate(truth) if value is not None and value != self.shown[at]]
        became: dict[Any, Counter[Any]] = defaultdict(Counter)
        for was, now in zip(truth, self.shown, strict=True):
            if was is not None and now is not None:
                became[was][now] += 1
        self.truth = {at: truth[at] for at in self.cells}
        self.target = {}
        for at in self.cells:
            classes = became[truth[at]].most_common()
            most = [value for value, count in classes if count == classes[0][1]]
            self.target[at] = truth[at] if self.shown[at] is not None or len(most) != 1 else most[0]
        self.counts = Counter(value for value in self.shown if value is not None)
        self.total = sum(self.counts.values())
        self.most = max(self.counts.values(), default=0)

    def share(self, value: Any) -> float:
        return self.counts[value] / self.total if self.total else 0.0

    def accepted(self, at: int) -> set[Any]:
        return {self.truth[at], self.target[at]}

    def learnable(self, at: int) -> bool:
        return any(self.counts[value] for value in self.accepted(at))

    def chance(self, cells: Sequence[int], right: set[int]) -> float:
        drawn = sum(max(self.share(value) for value in self.accepted(at)) for at in cells) / len(cells)
        if len(right) == len(cells):
            return drawn
        modes = [value for value, count in self.counts.items() if count == self.most]
        by_mode = max(sum(mode in self.accepted(at) for at in cells) for mode in modes) / len(cells)
        return max(by_mode, drawn)


@cache
def at_least(hits: int, tries: int, chance: float) -> float:
    """The chance of so many hits or more."""
    return float(binom.sf(hits - 1, tries, chance))


def trusted(hits: int, tries: int, base: float, tried: int) -> bool:
    return tries > 0 and hits >= HIT_RATE * tries and at_least(hits, tries, base) <= LEVEL / tried


def justified(right: int, covered: int, chance: float, tried: int) -> bool:
    if not covered or right <= chance * covered:
        return False
    halfway = 2 * right >= (1 + chance) * covered
    return halfway or at_least(right, covered, chance) <= LEVEL / tried


Keys = list[tuple[Any, ...]]
"""By row the values of a set of columns."""


def keys_of(released: Rows, names: Sequence[str]) -> Keys:
    """2, 2.0 and '2' are one value."""
    return list(zip(*([same(row[name]) for row in released] for name in names), strict=True))


def by_set(
    variable: Variable,
    keys: Keys,
    names: tuple[str, ...],
    cells: set[int],
    tried: int,
    misled: dict[str, Found] | None = None,
) -> Found | None:
    """What one set of columns gives back of some cells; trusted guesses that are no better than others go to misled."""
    groups: dict[Any, Counter[Any]] = defaultdict(Counter)
    held = {keys[at] for at in cells}
    for at, value in enumerate(variable.shown):
        if value is not None and (len(names) == 1 or keys[at] in held):
            groups[keys[at]][value] += 1
    hits_of, total_of, top_of = {}, {}, {}
    for key, counts in groups.items():
        ranked = counts.most_common()
        second = ranked[1][1] if len(ranked) > 1 else 0
        total_of[key] = sum(counts.values())
        top_of[key] = ranked[0][0] if ranked[0][1] > second else None
        hits_of[key] = ranked[0][1] if ranked[0][1] - 1 > second else 0
    several = [key for key in groups if total_of[key] >= 2]
    tries, hits = sum(total_of[key] for key in several), sum(hits_of[key] for key in several)
    base = variable.most / variable.total
    if trusted(hits, tries, base, tried):
        trusty = set(groups)
    else:
        guessed: Counter[Any] = Counter()
        confirmed: Counter[Any] = Counter()
        for counts in groups.values():
            for value, count in counts.items():
                if len(counts) == 1:
                    guessed[value] += count if count > 1 else 0
                    confirmed[value] += count if count > 1 else 0
                    continue
                others = Counter(counts)
                others[value] -= 1
                ranked = [each for each in others.most_common() if each[1] > 0]
                if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
                    guessed[ranked[0][0]] += count
                    confirmed[value] += count if ranked[0][0] == value else 0
        guessed += Counter()  # without zeros
        good = {
            value
            for value in guessed
            if confirmed[value]
            and trusted(confirmed[value], guessed[value], variable.share(value), tried * len(guessed))
        }
        all_held = {keys[at] for at in variable.cells} if len(names) == 1 else set(groups)
        trusty = {key for key in groups if top_of[key] in good} | {
            key
            for key in several
            if hits_of[key] and trusted(hits_of[key], total_of[key], variable.share(top_of[key]), tried * len(all_held))
        }
    says = {key: top_of[key] for key in trusty if top_of[key] is not None}
    guess = {at: says[keys[at]] for at in cells if keys[at] in says}
    covered = {at for at, value in guess.items() if value != variable.shown[at]}
    right = {at for at in covered if guess[at] in variable.accepted(at)}
    # Of what is shown nobody knows what was changed: true values that are contradicted count as guessed wrong.
    true_rows = [at for at, value in enumerate(variable.shown) if value is not None and at not in variable.truth]
    contradicted = sum(keys[at] in says and says[keys[at]] != variable.shown[at] for at in true_rows)
    found = Found(set(), set())
    for blank, others in ((True, 0), (False, contradicted)):
        some = sorted(at for at in covered if (variable.shown[at] is None) == blank)
        told = right & set(some)
        chance = variable.chance(some, told) if some else 0.0
        if all(justified(len(told), count, chance, tried) for count in (len(some), len(some) + others)):
            found.right.update(told)
            found.wrong.update(set(some) - told)
        elif misled is not None and some:
            so_far = misled.setdefault(variable.name, Found(set(), set()))
            so_far.right.update(told)
            so_far.wrong.update(set(some) - told)
    return found if found.right else None


def usable(released: Rows) -> list[str]:
    return [name for name in released[0] if len({same(row[name]) for row in released}) > 1]


def views_of(released: Rows, name: str) -> dict[str, list[Any]]:
    """The first and last characters of whole numbers and texts with many values, and their parts, as columns."""
    values = [row[name] for row in released]
    there = {value for value in values if value is not None}
    if len(there) < max(20, len(released) // 50):
        return {}
    if not all(isinstance(value, str) or value == int(value) for value in there):
        return {}
    if there == set(range(1, len(there) + 1)):
        # Numbers without gaps hold no codes.
        return {}
    texts = [None if value is None else value if isinstance(value, str) else str(int(value)) for value in values]
    shown = [text for text in texts if text is not None]
    longest = max(map(len, shown))
    found = {}
    for size in range(1, min(4, longest - 1) + 1):
        found[f"{name} first {size}"] = ["" if text is None else text[:size] for text in texts]
        found[f"{name} last {size}"] = [
            "" if text is None else "!" * (size - len(text)) + text[-size:] for text in texts
        ]
    for size in range(1, min(3, longest - 1) + 1):
        found[f"{name} but last {size}"] = ["?" if text is None else text[:-size] for text in texts]
    return {label: column for label, column in found.items() if 2 <= len(set(column)) < len(there)}


def by_columns(
    original: Rows,
    released: Rows,
    threes: bool = True,
    gone: dict[str, set[int]] | None = None,
    views: bool = False,
    misled: dict[str, Found] | None = None,
) -> dict[tuple[str, tuple[str, ...]], Found]:
    """By variable and set of columns what is given back: single columns, pairs, and threes among at most 12."""
    columns = usable(released)
    parts = {label: (name, column) for name in columns if views for label, column in views_of(released, name).items()}
    wide = [row | {label: "*" + column[at] for label, (_, column) in parts.items()} for at, row in enumerate(released)]
    groups = [name for name in columns if len({same(row[name]) for row in released} - {None}) < len(released)]
    tried = len(columns) + len(parts) + comb(len(groups), 2) + (comb(min(12, len(groups)), 3) if threes else 0)
    found: dict[tuple[str, tuple[str, ...]], Found] = {}
    keys = cache(lambda names: keys_of(wide, names))
    for name in original[0]:
        variable = Variable(name, original, released)
        if variable.total < 2:
            continue
        every = {at for at in variable.cells if variable.learnable(at)}
        left = set(every) - (gone or {}).get(name, set())
        for size in (1, 2, 3) if threes else (1, 2):
            now = set()
            for names in combinations([*columns, *parts] if size == 1 else groups, size):
                cells = every if size == 1 else left
                if name in names or not cells or (names[0] in parts and parts[names[0]][0] == name):
                    continue
                one = by_set(variable, keys(names), names, cells, tried, misled)
                if one is not None:
                    found[name, names] = one
                    now |= one.right
            left -= now
    return found


def by_counting(variable: Variable, released: Rows, household: str) -> set[int]:
    """Cells that the number of records of the household is."""
    count = Counter(row[household] for row in released)
    return {at for at in variable.cells if float(count[released[at][household]]) == variable.truth[at]}


def by_neighbours(variable: Variable, released: Rows, name: str | None, tried: int) -> Found | None:
    """Cells that the records before and after agree on, by a column or in the order of the rows."""
    there = [at for at, row in enumerate(released) if name is None or row[name] is not None]
    order = sorted(there, key=lambda at: at if name is None else (released[at][name], at))
    shown = [at for at in order if variable.shown[at] is not None]
    tries = hits = 0
    for place, at in enumerate(shown):
        beside = {variable.shown[shown[next_to]] for next_to in (place - 1, place + 1) if 0 <= next_to < len(shown)}
        if len(beside) == 1:
            tries += 1
            hits += variable.shown[at] in beside
    if not trusted(hits, tries, variable.most / variable.total, tried):
        return None
    before = dict(zip(order, last_seen(variable, order), strict=True))
    after = dict(zip(reversed(order), last_seen(variable, order[::-1]), strict=True))
    guess = {}
    for at in set(variable.cells) & set(order):
        beside = {before[at], after[at]} - {None}
        if len(beside) == 1:
            (guess[at],) = beside
    covered = [at for at in guess if variable.learnable(at) and guess[at] != variable.shown[at]]
    right = {at for at in covered if guess[at] in variable.accepted(at)}
    if not covered or not justified(len(right), len(covered), variable.chance(covered, right), tried):
        return None
    return Found(right, set(covered) - right)


def last_seen(variable: Variable, order: list[int]) -> list[Any]:
    """For each record the last value that one before it shows."""
    seen, last = [], None
    for at in order:
        seen.append(last)
        last = last if variable.shown[at] is None else variable.shown[at]
    return seen


def by_housemates(variable: Variable, released: Rows, household: str, left: set[int]) -> set[int]:
    """Cells that are left and follow from what the other members of the household show, alone or with one column."""
    values: dict[Any, list[Any]] = defaultdict(list)
    for at, row in enumerate(released):
        if row[household] is not None:
            values[row[household]].append(variable.shown[at])
    wide = []
    for at, row in enumerate(released):
        others = list(values[row[household]]) if row[household] is not None else [variable.shown[at]]
        others.remove(variable.shown[at])
        wide.append(row | {"mates": "*" + repr(sorted(map(repr, others)))})
    columns = [
        name
        for name in released[0]
        if name != household and 1 < len({same(row[name]) for row in released} - {None}) < len(released)
    ]
    tried = 1 + len(columns)
    left = {at for at in left if variable.learnable(at)}
    found: set[int] = set()
    for size in (1, 2):
        now: set[int] = set()
        for names in [("mates",)] if size == 1 else [("mates", each) for each in columns if each != variable.name]:
            one = by_set(variable, keys_of(wide, names), names, left, tried) if left else None
            now |= set() if one is None else one.right
        found |= now
        left -= now
    return found
