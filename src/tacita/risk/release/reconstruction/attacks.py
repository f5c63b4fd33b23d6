"""What a release is attacked with: every attack in turn, each on the cells that are left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tacita.arrays import Bools
from tacita.data import Data
from tacita.distance.truth import shared_records
from tacita.progress import Progress, no_progress, part
from tacita.risk.release.reconstruction.arithmetic import arithmetic_leaks
from tacita.risk.release.reconstruction.bounds import bound_leaks
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.columns import column_leaks, without_found_cells
from tacita.risk.release.reconstruction.copies import copy_leaks
from tacita.risk.release.reconstruction.households import household_leaks
from tacita.risk.release.reconstruction.housemates import housemate_leaks
from tacita.risk.release.reconstruction.leak import Leak
from tacita.risk.release.reconstruction.order import order_cautions, order_leaks
from tacita.risk.release.reconstruction.other_release import (
    other_release_leaks,
)
from tacita.risk.release.reconstruction.relations import relation_leaks
from tacita.risk.release.reconstruction.runs import run_leaks
from tacita.rules import Rules
from tacita.scenario import Scenario


def files_of(original: Data, released: Data, scenario: Scenario, unit: str | None = None, rules: Any = ()) -> Files:
    """The records that both files have, in the order of the released one."""
    was, now, _ = shared_records(original, released, unit)
    household, weight = (name if name in released.columns else None for name in (scenario.household, scenario.weight))
    known = Rules.of(rules)
    known.check_against(original)
    there = released if len(now) == len(released) else released.take(now)
    return Files(original.take(was), there, was, now, len(released), household, weight, known)


@np.errstate(all="ignore")
def attacked(
    files: Files,
    variables: Sequence[Protected],
    remaining: dict[str, Bools],
    other: Any = None,
    unit: str | None = None,
    threes: str = "telling",
    progress: Progress = no_progress,
) -> tuple[list[Leak], tuple[str, ...]]:
    """Every leak, and what else is to be said; formulas that are tried may divide by zero or overflow."""
    found: list[Leak] = []
    for at, attack in enumerate(_first_attacks(files, variables, remaining, other, unit)):
        progress(0.05 + 0.04 * at, "copies, functions, households, order")
        for leak in attack:
            remaining[leak.variable][leak.right_cells] = False
            found.append(leak)
    found += column_leaks(files, variables, remaining, threes=threes, progress=part(progress, 0.3, 0.9))
    if files.repeats is not None:
        return found, ()
    progress(0.9, "housemates")
    found += without_found_cells(list(housemate_leaks(files, variables, remaining)), remaining)
    found += without_found_cells(list(bound_leaks(files, variables, remaining)), remaining)
    return found, tuple(order_cautions(files, variables))


def _first_attacks(
    files: Files, variables: Sequence[Protected], remaining: dict[str, Bools], other: Any, unit: str | None
) -> Iterator[Iterator[Leak]]:
    """Every attack but the search among columns, which then only looks at what is left."""
    yield copy_leaks(files, variables)
    if files.repeats is not None:
        return
    yield household_leaks(files, variables)
    yield arithmetic_leaks(files, variables, remaining)
    yield order_leaks(files, variables)
    yield run_leaks(files, variables)
    yield relation_leaks(files, variables)
    if other is not None:
        yield other_release_leaks(files, variables, Data.of(other), unit)
