"""The levels that are released: for all records alike, or for some of them their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacita import check
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.progress import Progress
from tacita.protect.generalise.cells import places_at
from tacita.protect.generalise.file import File
from tacita.protect.generalise.local import local_recoding
from tacita.protect.generalise.loss import CellLoss, ValueLoss
from tacita.protect.generalise.released import Labelled, labelled, released_cells
from tacita.protect.generalise.search import Limits, Problem, Solution, search

RECODINGS = ("global", "outliers", "local")
"""Who may have levels of their own: nobody, those who would be suppressed, everybody."""


@dataclass(frozen=True, eq=False)
class Choice:
    """What is released."""

    levels: Ints
    """By raw cell and key."""
    suppressed: Bools
    """By raw cell."""
    suppressed_records: int
    keys: list[Labelled]
    """By key: what it shows."""
    loss: float
    best: Solution | None
    """What the search over the lattice found, where there was one."""
    finished: bool
    """Whether no limit stopped the work."""

    def records_by_level(self, file: File) -> dict[str, dict[str, int]]:
        """By key and level: how many records are released at it."""
        kept = ~self.suppressed
        out = {}
        for key, name in enumerate(file.keys):
            counts = np.bincount(self.levels[kept, key], weights=file.raw.records[kept])
            out[name] = {str(level): int(count) for level, count in enumerate(counts) if count}
        return out


def choose(problem: Problem, file: File, recoding: str, limits: Limits, progress: Progress) -> Choice:
    """The levels of least loss under which the file is safe; an error if no levels make it safe."""
    if recoding == "local":
        local = _local(problem, file, limits, progress)
        if local is not None:
            return local
    best = search(problem, limits, progress)
    if best is None:
        raise TacitaError(
            f"no choice of levels is safe with at most {check.counted(problem.allowed, 'record')} suppressed; allow "
            f"more with limit=..., allow higher levels (redact=True adds the highest), or ask for less."
        )
    if recoding != "global":
        local = _local(replace(problem, bottom=best.node), file, limits, progress, best)
        if local is not None:
            return local
    levels = np.tile(np.array(best.node, dtype=np.int64), (len(file.raw.codes), 1))
    suppressed = best.bad[places_at(file.raw, best.node, file.ladders)]
    return _choice(problem, file, levels, suppressed, best, best.proven)


def _local(
    problem: Problem, file: File, limits: Limits, progress: Progress, best: Solution | None = None
) -> Choice | None:
    """Local recoding, judged once more on what is released; None if it asks for more suppressions than allowed."""
    local = local_recoding(problem, limits, progress)
    if local is None:
        return None
    suppressed = local.suppressed
    while not suppressed.all():
        keys = _labels(file, local.levels, suppressed)
        cells, place = released_cells(file, keys, ~suppressed)
        bad = problem.judge.judge(cells, cells.size).bad
        if not bad.any():
            finished = local.finished and (best is None or best.proven)
            return _choice(problem, file, local.levels, suppressed, best, finished)
        # Records with blanks count others that are released at other levels too: together they may fall short.
        rows = np.flatnonzero(~suppressed)[bad[place]]
        suppressed = suppressed.copy()
        suppressed[rows] = True
        if int(file.raw.records[suppressed].sum()) > problem.allowed:
            return None
    return None


def _choice(
    problem: Problem, file: File, levels: Ints, suppressed: Bools, best: Solution | None, finished: bool
) -> Choice:
    keys = _labels(file, levels, suppressed)
    gone = int(file.raw.records[suppressed].sum())
    if isinstance(problem.loss, ValueLoss):
        loss = problem.loss.of_records(levels, suppressed)
    else:
        assert isinstance(problem.loss, CellLoss)
        kept = ~suppressed
        records = released_cells(file, keys, kept)[0].records if kept.any() else np.zeros(0, dtype=np.int64)
        loss = problem.loss.of_counts(records, gone)
    return Choice(levels, suppressed, gone, keys, loss, best, finished)


def _labels(file: File, levels: Ints, suppressed: Bools) -> list[Labelled]:
    return [labelled(file, key, levels[:, key], suppressed) for key in range(len(file.keys))]
