"""Slow twins: every node of the lattice, record by record, from the definitions; and small problems to try them on."""

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Node = tuple[int, ...]
Cell = int | None


@dataclass(frozen=True)
class Small:
    """A small file with nested groups for every key."""

    rows: list[tuple[Cell, ...]]
    """The keys of each record, None for missing, else a value from 0."""
    groups: list[list[list[int]]]
    """By key, level and value: the group."""
    sensitive: list[int]
    k: int
    limit: float
    distinct_l: int | None = None
    entropy_l: float | None = None
    recursive_l: int | None = None
    c: float = 2.0
    t: float | None = None
    ordered: bool = False
    rule: str = "one_way"
    unit: list[int] | None = None
    """Whose record it is, where units are counted."""

    @property
    def top(self) -> Node:
        return tuple(len(levels) - 1 for levels in self.groups)

    @property
    def nodes(self) -> list[Node]:
        return list(itertools.product(*(range(high + 1) for high in self.top)))

    @property
    def allowed(self) -> int:
        return math.floor(self.limit * len(self.rows) + 1e-9)

    def at(self, node: Node) -> list[tuple[Cell, ...]]:
        """The keys of each record at a node."""
        return [
            tuple(None if value is None else self.groups[key][node[key]][value] for key, value in enumerate(row))
            for row in self.rows
        ]


def counts_for(i: int, h: int, keys: list[tuple[Any, ...]], rule: str) -> bool:
    """Whether record h counts for record i."""
    if rule == "own_category":
        return keys[i] == keys[h]
    if rule == "no_match":
        return i == h or (None not in keys[i] and keys[i] == keys[h])
    if rule == "wildcard":
        return all(a is None or b is None or a == b for a, b in zip(keys[i], keys[h], strict=True))
    return all(a is None or a == b for a, b in zip(keys[i], keys[h], strict=True))


def group_is_good(small: Small, members: list[int], *, whole: bool) -> bool:
    """Whether a group fulfils the requirements; `whole` with those that may be lost on the way up."""
    whose = list(range(len(small.rows))) if small.unit is None else small.unit
    if len({whose[h] for h in members}) < small.k:
        return False
    values = values_once(small, members)
    shares = [count / values.total() for count in values.values()]
    asked = (small.distinct_l, small.entropy_l, small.recursive_l)
    least = max([1, *(math.ceil(limit) for limit in asked if limit is not None)])
    if len(values) < least:
        return False
    if not whole:
        return True
    if small.entropy_l is not None and math.exp(-sum(p * math.log(p) for p in shares)) < small.entropy_l - 1e-9:
        return False
    if small.recursive_l is not None:
        ranked = sorted(values.values(), reverse=True)
        if not ranked[0] < small.c * sum(ranked[small.recursive_l - 1 :]):
            return False
    return small.t is None or distance(small, members) <= small.t + 1e-9


def values_once(small: Small, members: list[int]) -> Counter[int]:
    """The sensitive values of some records; of a unit with several each value once."""
    if small.unit is None:
        return Counter(small.sensitive[h] for h in members)
    return Counter(value for value, _ in {(small.sensitive[h], small.unit[h]) for h in members})


def distance(small: Small, members: list[int]) -> float:
    """Nominal or ordered distance between a group and the file."""
    file, here = values_once(small, list(range(len(small.rows)))), values_once(small, members)
    values = sorted(file)
    gaps = [here[value] / here.total() - file[value] / file.total() for value in values]
    if not small.ordered:
        return sum(map(abs, gaps)) / 2
    return 0.0 if len(values) == 1 else sum(abs(sum(gaps[: i + 1])) for i in range(len(values) - 1)) / (len(values) - 1)


def suppressed(small: Small, keys: list[tuple[Any, ...]], open_records: list[int]) -> set[int]:
    """The records that fall short, and those that do once the others are gone: first k and numbers of values."""
    kept = set(open_records)
    if small.rule == "no_match":
        kept = {i for i in kept if None not in keys[i]}
    for whole in (False, True):
        while True:
            short = {
                i
                for i in kept
                if not group_is_good(small, [h for h in kept if counts_for(i, h, keys, small.rule)], whole=whole)
            }
            if not short:
                break
            kept -= short
    return set(open_records) - kept


def node_loss(small: Small, node: Node, gone: set[int], loss: str, weights: list[float]) -> float:
    """The loss of a node with some records suppressed, from its definition."""
    size = len(small.rows)
    keys = small.at(node)
    if loss in ("discernibility", "class_size"):
        cells = Counter(keys[i] for i in range(size) if i not in gone)
        if loss == "class_size":
            return 1 / (len(cells) + bool(gone))
        return (sum(n * n for n in cells.values()) + size * len(gone)) / size**2
    levels = [[node[key] for key in range(len(node))] for _ in range(size)]
    return record_loss(small, levels, gone, loss, weights)


def record_loss(small: Small, levels: list[list[int]], gone: set[int], loss: str, weights: list[float]) -> float:
    """The loss where every record has levels of its own."""
    total = whole = 0.0
    for key, by_level in enumerate(small.groups):
        column = [row[key] for row in small.rows]
        shown = [value for value in column if value is not None]
        for i, value in enumerate(column):
            most = 1.0 if loss != "entropy" else 0.0 if value is None else -math.log2(shown.count(value) / len(shown))
            whole += weights[key] * most
            if value is None:
                continue
            groups = by_level[levels[i][key]]
            if i in gone:
                lost = most
            elif loss == "precision":
                lost = levels[i][key] / max(len(by_level) - 1, 1)
            else:
                inside = [other for other in set(shown) if groups[other] == groups[value]]
                if loss == "granularity":
                    lost = (len(inside) - 1) / max(len(set(shown)) - 1, 1)
                elif loss == "lambda":
                    lost = float(len(inside) > 1)
                else:
                    lost = -math.log2(shown.count(value) / sum(shown.count(other) for other in inside))
            total += weights[key] * lost
    return total / (whole or 1.0)


def best_loss(small: Small, loss: str, weights: list[float]) -> float | None:
    """The least loss of all nodes that are safe; None if none is."""
    found = []
    for node in small.nodes:
        gone = suppressed(small, small.at(node), list(range(len(small.rows))))
        if len(gone) <= small.allowed:
            found.append(node_loss(small, node, gone, loss, weights))
    return min(found, default=None)


@st.composite
def nested_groups(draw: st.DrawFn, values: int) -> list[list[int]]:
    """Levels of groups of the values, each level of the groups below; the last may tell everything apart or nothing."""
    levels = [list(range(values))]
    for _ in range(draw(st.integers(0, 3))):
        count = max(levels[-1]) + 1
        moved = draw(st.lists(st.integers(0, count - 1), min_size=count, max_size=count))
        places = {group: place for place, group in enumerate(dict.fromkeys(moved[each] for each in levels[-1]))}
        levels.append([places[moved[each]] for each in levels[-1]])
    return levels


@st.composite
def small_files(draw: st.DrawFn, *, missing: bool = False, attributes: bool = False, units: bool = False) -> Small:
    """A file of a few records whose keys come from a small pool."""
    keys = draw(st.integers(1, 3))
    values = [draw(st.integers(1, 5)) for _ in range(keys)]
    cell = [st.one_of(st.none(), st.integers(0, v - 1)) if missing else st.integers(0, v - 1) for v in values]
    pool = draw(st.lists(st.tuples(*cell), min_size=1, max_size=8))
    rows = draw(st.lists(st.sampled_from(pool), min_size=3, max_size=16))
    sensitive = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    asked: dict[str, Any] = {}
    if attributes:
        asked = {
            "distinct_l": draw(st.sampled_from([None, 2, 3])),
            "entropy_l": draw(st.sampled_from([None, 1.5, 2.0])),
            "recursive_l": draw(st.sampled_from([None, 2, 3])),
            "c": draw(st.sampled_from([0.8, 2.0])),
            "t": draw(st.sampled_from([None, 0.2, 0.5])),
            "ordered": draw(st.booleans()),
        }
    return Small(
        rows=rows,
        groups=[draw(nested_groups(v)) for v in values],
        sensitive=sensitive,
        k=draw(st.integers(2, 3)),
        limit=draw(st.sampled_from([0.0, 0.1, 0.3, 0.6])),
        unit=draw(st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows))) if units else None,
        rule=draw(st.sampled_from(["one_way", "wildcard", "own_category", "no_match"])) if missing else "one_way",
        **asked,
    )
