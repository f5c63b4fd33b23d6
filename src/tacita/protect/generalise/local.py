"""Local recoding: only the records that need it are generalised.

The nodes of the lattice are gone through from the least loss to the greatest. At each, the records that are still open
are put into the cells of the node, and the cells that fulfil the requirements on their own are released at its levels;
the rest goes on to the next node. A record is thus released at the first levels at which enough open records look like
it. Cells are judged by the open records alone: a released 20-39 and a released 25 are different values, and nobody
hides behind records that are released otherwise.

What is left at the end, if it is more than may be suppressed, is put together with the cells that were released last,
as few as will do.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.progress import Progress
from tacita.protect.generalise.cells import Cells, Node, rolled_up_from, some_cells
from tacita.protect.generalise.search import Limits, Problem, cheapest_path

MOST_NODES = 10_000
"""In larger lattices levels between the lowest and the highest are left out."""
MOST_SETTLING = 2_000
"""At most so many nodes are tried for what is left at the end."""


@dataclass(frozen=True, eq=False)
class Local:
    """The levels of every distinct key of the file."""

    levels: Ints
    """One row per raw cell, one column per key."""
    suppressed: Bools
    """By raw cell: whether it is suppressed."""
    nodes: int
    """How many different choices of levels occur in the release."""
    finished: bool
    """Whether all nodes were gone through."""


class _OpenCells:
    """The raw cells that are not released yet, and those that are with their turn."""

    def __init__(self, problem: Problem) -> None:
        count = len(problem.raw.codes)
        self.problem = problem
        self.levels = np.zeros((count, len(problem.top)), dtype=np.int64)
        self.open = np.ones(count, dtype=np.bool_)
        self.turn = np.zeros(count, dtype=np.int64)
        """In which order the cells were released: cells of one turn are one group of the release."""
        self.turns = 0
        self.cells = problem.raw

    def visit(self, node: Node) -> None:
        """Release the open cells that are good at a node."""
        cells, place = self._formed(node)
        good = ~self.problem.judge.judge(cells, cells.size).bad
        if good.any():
            self._release(np.flatnonzero(self.open), place, good, node)

    def _formed(self, node: Node) -> tuple[Cells, Ints]:
        """The open cells at a node, and for each raw one its place among them."""
        return rolled_up_from(self.cells, node, self.problem.ladders)

    def _release(self, rows: Ints, place: Ints, good: Bools, node: Node) -> None:
        out = good[place]
        self.levels[rows[out]] = node
        # Large groups first, so that small ones are taken back first.
        order = np.empty(len(good), dtype=np.int64)
        sizes = np.bincount(place, weights=self.cells.records)
        order[np.argsort(-sizes, kind="stable")] = np.arange(len(good))
        self.turn[rows[out]] = self.turns + 1 + order[place[out]]
        self.turns += len(good)
        self.open[rows[out]] = False
        self.cells = some_cells(self.cells, ~out)

    def left(self) -> int:
        """How many records are open."""
        return self.cells.size

    def take_back(self, groups: int) -> None:
        """Open the groups again that were released last."""
        last = np.unique(self.turn[~self.open])[-groups:]
        self.open |= np.isin(self.turn, last)
        self.cells = some_cells(self.problem.raw, self.open)

    def settle(self, order: list[Node]) -> bool:
        """Release all that is open at the first node at which all of it is good; whether there is one."""
        for node in order:
            cells, place = self._formed(node)
            bad = self.problem.judge.judge(cells, cells.size).bad
            if not bad.any():
                self._release(np.flatnonzero(self.open), place, ~bad, node)
                return True
        return False


def nodes_in_order(problem: Problem) -> list[Node]:
    """The nodes from the least loss to the greatest; in large lattices some of them."""
    levels = [list(range(low, high + 1)) for low, high in zip(problem.bottom, problem.top, strict=True)]
    while math.prod(map(len, levels)) > MOST_NODES and max(map(len, levels)) > 2:
        longest = max(levels, key=len)
        del longest[len(longest) // 2]
    if math.prod(map(len, levels)) > MOST_NODES:
        return cheapest_path(problem, problem.bottom)
    return sorted(itertools.product(*levels), key=lambda node: problem.rank(node, problem.loss.bound(node)))


def local_recoding(problem: Problem, limits: Limits, progress: Progress) -> Local | None:
    """For every distinct key of the file the levels at which it is released; None if the file cannot be made safe."""
    over = limits.started()
    state = _OpenCells(problem)
    order = nodes_in_order(problem)
    finished = True
    for number, node in enumerate(order):
        if state.left() == 0:
            break
        if over(number, number):
            finished = False
            break
        state.visit(node)
        share = 1.0 - state.left() / problem.raw.size
        progress(share, f"local recoding: {state.left():,} records open")
    if not finished:
        for node in cheapest_path(problem, problem.bottom):
            state.visit(node)
    return _closed(state, order, finished)


def _closed(state: _OpenCells, order: list[Node], finished: bool) -> Local | None:
    """What is left is suppressed if that is allowed, and otherwise put together with what was released last."""
    thinned = [*order[:: max(1, len(order) // MOST_SETTLING)], state.problem.top]
    groups = 1
    while state.left() > state.problem.allowed:
        if state.open.all():
            return None
        state.take_back(groups)
        if state.settle(thinned):
            break
        groups *= 2
    nodes = len(np.unique(state.levels[~state.open], axis=0))
    return Local(state.levels, state.open, nodes, finished)
