"""Strata under rules that look at the whole file: each is suppressed as a file of its own.

A stratum can count as one more key that everybody shows, except where the rule asks how many categories a key has, or
whether a record is blank on all of its keys.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacita.arrays import Bools
from tacita.check import TacitaError
from tacita.protect.suppress.kernel import Suppression, check_size
from tacita.protect.suppress.reporting import Report, part
from tacita.protect.suppress.task import Task
from tacita.scenario import MissingRule


def is_one_more_key(rule: MissingRule) -> bool:
    """Whether a stratum may be handed on as a key that is always shown."""
    return rule.name != "sdcmicro" and rule.factor != "categories"


def by_stratum(
    task: Task, free: Bools | None, found: Callable[[Task, Bools | None, Report], Suppression], report: Report
) -> Suppression:
    """Every stratum as a file of its own, put together again."""
    assert task.strata is not None
    check_size(max((need.k for need in task.needs), default=1), len(task.codes), task.strata)
    _check_households(task)
    numbers = np.unique(task.strata)
    parts: list[Suppression] = []
    rows = [np.flatnonzero(task.strata == number) for number in numbers]
    for place, here in enumerate(rows):
        told = part(report, place / len(rows), (place + 1) / len(rows))
        parts.append(found(task.rows(here), None if free is None else free[here], told))
    order = np.argsort(np.concatenate(rows), kind="stable")
    return Suppression(*(np.concatenate([each[field] for each in parts])[order] for field in range(len(parts[0]))))


def _check_households(task: Task) -> None:
    """What goes for a whole household cannot be settled in one stratum if the household is in several."""
    assert task.strata is not None
    for each in (task.shared, task.goal):
        if each is None:
            continue
        pairs = np.unique(np.column_stack([each.household, task.strata]), axis=0)
        if len(pairs) > len(np.unique(each.household)):
            raise TacitaError(
                f"under missing {str(task.rule)!r} every household must be in one stratum; choose other strata or the "
                f"rule 'one_way'."
            )
