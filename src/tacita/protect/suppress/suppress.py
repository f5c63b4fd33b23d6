"""Suppress: blank single cells of the keys until every record is safe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tacita import check
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.mechanism import Mechanism
from tacita.protect.only import chosen_records, unknown_numbers
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.protect.suppress.household_risk import suppress_to_household_risk
from tacita.protect.suppress.kernel import Suppression, suppress
from tacita.protect.suppress.reporting import Report, rising
from tacita.protect.suppress.strata import by_stratum, is_one_more_key
from tacita.protect.suppress.task import Asked, Task, only_keys, prepared
from tacita.scenario import Scenario


@dataclass(frozen=True)
class Suppress(CellStep):
    """Blank as few cells of the keys as it takes until every record is safe (local suppression).

    Every record must count at least `k` records under the scenario's missing-value rule, on all keys of every key set,
    or with `combs` on every combination of so many keys. With `risk` or `household_risk` no record or household may be
    easier to re-identify than that instead (give `k` too to have both). Only records that violate are touched: from
    the start, or because a record that they counted on was blanked. Every blank is needed by its own record, so nobody
    is blanked to hide others. The outcome is counted again, and a record that is still unsafe is an error.

    Which cells go: those that cost least. Without `importance` every cell costs 1; with it, q + 1 - rank.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "region": ["north", "north", "south", "south"]})
    >>> release = tc.Plan([Suppress(k=2)]).apply(people, tc.Scenario(keys=["sex", "region"]))
    >>> release.data.table.rows()
    [('f', 'north'), ('f', 'north'), (None, 'south'), (None, 'south')]
    """

    k: int | None = None
    """Every record must count so many; None: the key set's k, else the policy's, unless a risk is asked for."""
    importance: Mapping[str, int] | str = field(default_factory=dict, kw_only=True)
    """By key its rank, 1 the most important, which is suppressed last; `suda`: by contribution to the SUDA scores."""
    combs: Any = field(default=(), kw_only=True)
    """Sizes of combinations of the main keys, as [3, 4], or with a k each, as {3: 10, 4: 5}; none: all keys."""
    key_sets: tuple[str, ...] = field(default=(), kw_only=True)
    """The key sets to protect, `keys` the main one; none: all of the scenario."""
    strata: tuple[str, ...] | None = field(default=None, kw_only=True)  # type: ignore[assignment]
    """Records count inside these groups only; None: the scenario's strata."""
    ghosts: Mapping[str, tuple[str, ...]] = field(default_factory=dict, kw_only=True)
    """By key the variables that would give it away: they are blanked with it."""
    household_variables: tuple[str, ...] | None = field(default=None, kw_only=True)
    """Keys that are blanked for a whole household or not at all; None: the scenario's."""
    risk: float | bool | None = field(default=None, kw_only=True)
    """The greatest individual risk; true: the policy's."""
    household_risk: float | bool | None = field(default=None, kw_only=True)
    """The greatest household risk; true: the policy's."""

    selects_itself: ClassVar[bool] = True

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.k is not None:
            put(self, "k", check.whole("k", self.k, 2))
        if isinstance(self.importance, str):
            check.one_of("importance", self.importance, ("suda",))
        else:
            ranks = check.mapping("importance", self.importance)
            put(self, "importance", {n: check.whole(f"importance of {n!r}", rank, 1) for n, rank in ranks.items()})
        put(self, "combs", _sizes(self.combs))
        put(self, "key_sets", check.names("key_sets", self.key_sets))
        for name in ("strata", "household_variables"):
            if getattr(self, name) is not None:
                put(self, name, check.names(name, getattr(self, name)))
        ghosts = check.mapping("ghosts", self.ghosts)
        put(self, "ghosts", {name: check.names(f"ghosts of {name!r}", each) for name, each in ghosts.items()})
        for name in ("risk", "household_risk"):
            value = check.python_number(getattr(self, name))
            put(self, name, None if value is False else value)
            if value is not None and not isinstance(value, bool):
                check.share(name, value, zero=False)

    @property
    def adds_missing(self) -> bool:
        """Cells are blanked."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with cells blanked."""
        # By record number, so that the order of the file does not matter.
        order = np.argsort(data.record, kind="stable")
        sorted_data = data if (np.diff(order) == 1).all() else data.take(order)
        task = prepared(self._asked(context), sorted_data, context.scenario, context.policy)
        self._check_ghosts(task, data, context.scenario)
        report = rising(lambda done: context.progress(done, "suppressing"))
        found = _suppressed(task, self._free(sorted_data, context), report)
        gone = np.empty_like(found.gone)
        gone[order] = found.gone
        cells = {name: gone[:, place] for place, name in enumerate(task.keys) if gone[:, place].any()}
        for key, followers in self.ghosts.items():
            for name in followers if key in cells else ():
                cells[name] = cells.get(name, np.zeros(len(data), dtype=bool)) | cells[key]
        remarks = (*_remarks(found, task), *task.remarks, *unknown_numbers(self.only, data))
        figures = _figures(found, task)
        blanking = Mechanism("suppression", tuple(cells), {"rule": figures["rule"], "cells": figures["cells"]})
        return Applied(data.blanked(cells), remarks, figures, (blanking,), (blanking.told("cells"),))

    def _asked(self, context: Context) -> Asked:
        policy = context.policy
        limits = []
        for name in ("risk", "household_risk"):
            value, known = getattr(self, name), getattr(policy, name)
            if value is True and known is None:
                raise TacitaError(f"the policy has no {name}; pass {name}=0.1 to the step.")
            limits.append(known if value is True else value)
        return Asked(
            k=self.k,
            importance=self.importance,
            combs=self.combs,
            key_sets=self.key_sets,
            strata=self.strata,
            household_variables=self.household_variables,
            risk=limits[0],
            household_risk=limits[1],
            risk_by_policy=self.risk is True,
        )

    def _check_ghosts(self, task: Task, data: Data, scenario: Scenario) -> None:
        """Blanking a ghost must not undo what suppression and measures rest on."""
        roles = {
            "a key": task.keys,
            "a stratum": scenario.strata if self.strata is None else self.strata,
            "the weight": (scenario.weight,),
            "the household": (scenario.household,),
        }
        only_keys("ghosts", self.ghosts, task.keys)
        for followers in self.ghosts.values():
            present(self, followers, data)
            for role, names in roles.items():
                both = [name for name in followers if name in names]
                if both:
                    raise TacitaError(f"a ghost variable cannot be {role} at the same time: {check.quoted(both)}.")

    def _free(self, data: Data, context: Context) -> Bools | None:
        """Which records may be touched; None: all."""
        if self.only is None:
            return None
        return chosen_records(self.only, data, context.scenario, context.policy, context.original)


def _suppressed(task: Task, free: Bools | None, report: Report) -> Suppression:
    if task.strata is not None and not is_one_more_key(task.rule):
        return by_stratum(task, free, _suppressed, report)
    common: dict[str, Any] = {
        "strata": task.strata, "free": free, "weights": task.weights, "shared": task.shared, "kept": task.kept,
        "report": report,
    }  # fmt: skip
    if task.goal is None:
        return suppress(task.codes, task.needs, task.costs, task.rule, risk=task.risk, **common)
    assert task.risk is not None
    return suppress_to_household_risk(task.codes, task.needs, task.costs, task.rule, task.goal, task.risk, **common)


def _sizes(given: Any) -> Any:
    """Sizes of combinations: a tuple, or with k a dictionary; a file has them as texts."""
    if isinstance(given, Mapping):
        numbers = {int(size) if isinstance(size, str) and size.isdecimal() else size: k for size, k in given.items()}
        return {check.whole("a size of combs", size, 1): check.whole("k of combs", k, 2) for size, k in numbers.items()}
    listed = given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    return tuple(check.whole("a size of combs", size, 1) for size in listed)


def _remarks(found: Suppression, task: Task) -> list[str]:
    touched = int(found.touched.sum())
    if not found.violated.any():
        return ["no record violates"]
    followed, shared = int(found.followed.sum()), int(found.with_household.sum())
    parts = [
        f"{check.counted(int(found.violated.sum()), 'record')} violated",
        f"{check.counted(touched - followed - shared, 'of them', 'of them')} touched",
    ]
    if followed:
        parts.append(f"{check.counted(followed, 'record')} touched because one that they counted on was blanked")
    if shared:
        parts.append(f"{check.counted(shared, 'record')} touched with their household")
    if found.left.any():
        member = ", or with a member of their household outside," if task.shared or task.goal else ""
        parts.append(f"{check.counted(int(found.left.sum()), 'record')} outside `only`{member} still violate")
    return [", ".join(parts)]


def _figures(found: Suppression, task: Task) -> dict[str, Any]:
    by_key: Ints = found.gone.sum(axis=0)
    return {
        "rule": str(task.rule),
        "violating": int(found.violated.sum()),
        "touched": int(found.touched.sum()),
        "touched_because_of_others": int(found.followed.sum()),
        "touched_with_household": int(found.with_household.sum()),
        "left": int(found.left.sum()),
        "cells": {name: int(count) for name, count in zip(task.keys, by_key, strict=True)},
    }
