"""The search for the best node of the lattice: optimal, or the best found so far when time is up.

Nodes wait in the order of their bound, the loss that neither they nor any coarser node can fall below. The search ends
when the next bound is no better than the best loss found: then nothing that is left can be better. Two things keep the
number of nodes low whose cells are really formed. What is infeasible at a node (too many records fall short of what
only grows with a cell) is infeasible at all finer ones. And before a node is formed, a path from it up to the top is
halved again and again for the lowest node that is feasible, which finds good solutions early and rules out many nodes.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.progress import Progress
from tacita.protect.generalise.cells import Cells, Ladder, Node, rolled_up
from tacita.protect.generalise.loss import Loss
from tacita.protect.generalise.requirements import Judge

SNAPSHOTS = 400
"""How many nodes' cells are kept to roll coarser ones up from."""
SNAPSHOT_CELLS = 20_000_000
"""How many cells they may have together."""
Rank = tuple[float, float, Node]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is searched: the file, the levels, what must hold, what is lost."""

    raw: Cells
    """The distinct keys of the file as it is, at level 0 of every key."""
    ladders: tuple[Ladder, ...]
    bottom: Node
    """The least level of each key."""
    top: Node
    """The greatest level of each key."""
    judge: Judge
    loss: Loss
    allowed: int
    """How many records may be suppressed."""

    def rank(self, node: Node, loss: float) -> Rank:
        """What nodes are compared by: their loss, of equal ones how high they are, and then level by level."""
        high = sum(level / each.height for level, each in zip(node, self.ladders, strict=True) if each.height)
        return loss, high, node

    @property
    def nodes(self) -> int:
        """How many nodes the lattice has."""
        count = 1
        for low, high in zip(self.bottom, self.top, strict=True):
            count *= high - low + 1
        return count


VISITS_PER_CHECK = 50
"""For every node that may be formed so many may be looked at, most of which are known to be infeasible."""


@dataclass(frozen=True)
class Limits:
    """When the search is given up."""

    seconds: float | None = None
    checks: int | None = None
    """How many nodes' cells may be formed: unlike time the same on every machine."""
    clock: Callable[[], float] = time.monotonic

    def started(self) -> Callable[[int, int], bool]:
        """From now on: whether a limit is reached after so many nodes formed and so many looked at."""
        start = self.clock()

        def over(formed: int, looked_at: int) -> bool:
            late = self.seconds is not None and self.clock() - start >= self.seconds
            return late or (
                self.checks is not None and (formed >= self.checks or looked_at >= VISITS_PER_CHECK * self.checks)
            )

        return over


def above(node: Node, top: Node, first: int = 0) -> Iterator[Node]:
    """Nodes that are one level higher in one key, from the first on."""
    for key in range(first, len(node)):
        if node[key] < top[key]:
            yield (*node[:key], node[key] + 1, *node[key + 1 :])


def cheapest_path(problem: Problem, node: Node) -> list[Node]:
    """From a node to the top, each time by the step to the least bound."""
    path = [node]
    while node != problem.top:
        node = min(above(node, problem.top), key=lambda each: problem.rank(each, problem.loss.bound(each)))
        path.append(node)
    return path


@dataclass(frozen=True, eq=False)
class Solution:
    """The best node found."""

    node: Node
    loss: float
    bad: Bools
    """Which of the node's cells are suppressed."""
    suppressed: int
    """How many records they hold."""
    proven: bool
    """Whether no other node is better."""
    checked: int
    """How many nodes' cells were formed."""
    nodes: int
    """How many nodes there are."""


class _Search:
    def __init__(self, problem: Problem, limits: Limits, progress: Progress) -> None:
        self.problem = problem
        self.progress = progress
        self.passed = limits.started()
        self.best: Solution | None = None
        self.checked = 0
        self.looked_at = 0
        self.seen: set[Node] = set()
        self.bounds: dict[Node, float] = {}
        """Of nodes whose cells were formed."""
        self.infeasible: Ints = np.zeros((0, len(problem.top)), dtype=np.int64)
        """The highest nodes that are known to be infeasible."""
        self.snapshots = [problem.raw]
        self.snapshot_nodes: Ints = np.array([problem.raw.node], dtype=np.int64)

    def over(self) -> bool:
        """Whether a limit is reached."""
        return self.passed(self.checked, self.looked_at)

    def is_infeasible(self, node: Node) -> bool:
        """Whether the node is known to be infeasible: at most as coarse as an infeasible one."""
        return bool((self.infeasible >= node).all(axis=1).any())

    def bound(self, node: Node) -> float:
        known = self.bounds.get(node)
        return self.problem.loss.bound(node) if known is None else known

    def cannot_improve(self, rank: Rank) -> bool:
        """Whether neither a node of this rank nor a coarser one can be better: all three parts grow on the way up."""
        return self.best is not None and rank >= self.problem.rank(self.best.node, self.best.loss)

    def form(self, node: Node) -> Cells:
        """The cells of a node, rolled up from the smallest finer ones at hand."""
        finer = np.flatnonzero((self.snapshot_nodes <= node).all(axis=1))
        source = min((self.snapshots[place] for place in finer), key=lambda each: len(each.codes))
        cells = rolled_up(source, node, self.problem.ladders)
        # Cells that are hardly fewer than those they came from are not worth keeping.
        if len(cells.codes) < 0.8 * len(source.codes):
            self._keep(cells)
        return cells

    def _keep(self, cells: Cells) -> None:
        self.snapshots.append(cells)
        while len(self.snapshots) > SNAPSHOTS or sum(len(each.codes) for each in self.snapshots) > SNAPSHOT_CELLS:
            if len(self.snapshots) == 1:
                break
            # The oldest after the raw file itself.
            del self.snapshots[1]
        self.snapshot_nodes = np.array([each.node for each in self.snapshots], dtype=np.int64)

    def check(self, node: Node) -> bool:
        """Form a node and judge it; whether it is infeasible."""
        self.checked += 1
        self.seen.add(node)
        problem = self.problem
        cells = self.form(node)
        self.bounds[node] = problem.loss.bound_of(cells)
        judged = problem.judge.judge(cells, problem.allowed)
        if judged.infeasible:
            below = (self.infeasible <= node).all(axis=1)
            self.infeasible = np.vstack([self.infeasible[~below], np.array([node], dtype=np.int64)])
            return True
        if judged.suppressed <= problem.allowed and not self.cannot_improve(problem.rank(node, self.bounds[node])):
            loss = problem.loss.of(cells, judged.bad)
            if not self.cannot_improve(problem.rank(node, loss)):
                self.best = Solution(node, loss, judged.bad, judged.suppressed, False, 0, problem.nodes)
        return False

    def halve(self, node: Node) -> None:
        """Search a path by halving for the lowest node that is not infeasible."""
        path = cheapest_path(self.problem, node)
        low, high = 0, len(path) - 1
        while low < high and not self.over():
            middle = (low + high) // 2
            if self.is_infeasible(path[middle]) or (path[middle] not in self.seen and self.check(path[middle])):
                low = middle + 1
            else:
                high = middle

    def children(self, node: Node) -> Iterator[Node]:
        """Nodes one level up, each from one parent only: no key before the last raised one is raised."""
        raised = [key for key, level in enumerate(node) if level > self.problem.bottom[key]]
        return above(node, self.problem.top, raised[-1] if raised else 0)

    def run(self) -> Solution | None:
        problem = self.problem
        if self.check(problem.top):
            return None
        waiting = [problem.rank(problem.bottom, self.bound(problem.bottom))]
        finished = True
        while waiting:
            rank = heapq.heappop(waiting)
            bound, _, node = rank
            if self.cannot_improve(rank):
                break
            if self.over():
                finished = False
                break
            self.looked_at += 1
            self.say(bound)
            if node not in self.seen and not self.is_infeasible(node):
                self.halve(node)
                if node not in self.seen and not self.is_infeasible(node):
                    if self.over():
                        finished = False
                        break
                    self.check(node)
            bound = max(bound, self.bound(node))
            for child in self.children(node):
                rank = problem.rank(child, max(bound, self.bound(child)))
                if not self.cannot_improve(rank):
                    heapq.heappush(waiting, rank)
        best = self.best
        if best is None:
            return None
        return Solution(best.node, best.loss, best.bad, best.suppressed, finished, self.checked, problem.nodes)

    def say(self, bound: float) -> None:
        best = "none" if self.best is None else f"{self.best.loss:.4g}"
        base = self.problem.loss.bound(self.problem.bottom)
        width = 1.0 if self.best is None else max(self.best.loss - base, 1e-300)
        share = min(max((bound - base) / width, 0.0), 1.0)
        self.progress(share, f"levels: {self.checked:,} of {self.problem.nodes:,} choices looked at, least loss {best}")


def search(problem: Problem, limits: Limits, progress: Progress) -> Solution | None:
    """The node of least loss among those that fulfil the requirements; None if there is none.

    `proven` says whether the search came to its end: then no node has a smaller loss.
    """
    return _Search(problem, limits, progress).run()
