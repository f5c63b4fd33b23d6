"""Suppress: replace single cells of the keys by missing values until every record is safe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check
from tacita.arrays import Bools
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import AtLeast, Doc
from tacita.progress import Progress, no_progress, part, rising
from tacita.protect.closing import Cells, Scope, added, closed, joined, more_cells
from tacita.protect.only import chosen_records, unknown_numbers
from tacita.protect.shapes import NAMES_BY_KEY, RANKS, RISK_LIMIT, SIZES
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.protect.suppress.latent_limits import multiples, refitted
from tacita.protect.suppress.local_suppression import Suppression, suppress
from tacita.protect.suppress.task import File, Task, check_keys, key_sets_of, task_of
from tacita.protect.suppress.wanted import Wanted, lower_limits, possible, wanted_of
from tacita.scenario import KeySet, Scenario
from tacita.work import Work

ROUNDS = 5
"""How often limits of risk are lowered, or records taken for riskier, so that the rate and the risks are kept."""


@dataclass(frozen=True)
class Suppress(CellStep):
    """Suppress as few cells of the keys as it takes until every record is safe (local suppression).

    Every record must count at least `k` records (units, where the scenario's `person` repeats) under the scenario's
    missing-value rule, on all keys of every key set, or with `combs` on every combination of so many keys. With `risk`,
    `household_risk` or `rate` no record, household or file may be easier to re-identify than that instead (give `k`
    too to have both). With none of them the step keeps every limit of the policy on k, risk, rate and household risk
    that suppression can keep; the log says which it cannot, and why. Cells are suppressed only in records that are
    unsafe: from the start, or since cells of a record with the same keys were suppressed. The outcome is counted again,
    and a record that is still unsafe is an error.

    Which cells go: those that cost least. Without `importance` every cell costs 1; with it, q + 1 - rank. The
    missing-value rule must be `one_way`, `own_category`, `wildcard` or `partial(c)` with a number.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "region": ["north", "north", "south", "south"]})
    >>> release = tc.Plan([Suppress(k=2)]).apply(people, tc.Scenario(keys=["sex", "region"]))
    >>> release.data.table.rows()
    [('f', 'north'), ('f', 'north'), (None, 'south'), (None, 'south')]
    """

    k: Annotated[int | None, AtLeast(2), Doc("What every record must count; none: what the policy asks.")] = None
    importance: Annotated[
        Mapping[str, int] | str, RANKS, Doc("By key its rank, 1 is suppressed last; `suda`: by SUDA scores.")
    ] = field(default_factory=dict, kw_only=True)
    combs: Annotated[
        Any, SIZES, Doc("Sizes of combinations of the main keys, as [3], or with a k each, as {3: 10}; none: all keys.")
    ] = field(default=(), kw_only=True)
    key_sets: Annotated[
        tuple[str, ...], Doc("The key sets to protect, `keys` the main one; none: all of the scenario.")
    ] = field(default=(), kw_only=True)
    strata: Annotated[
        tuple[str, ...] | None, Doc("Records count inside these groups only; none: the scenario's strata.")
    ] = field(default=None, kw_only=True)  # type: ignore[assignment]
    ghosts: Annotated[
        Mapping[str, tuple[str, ...]],
        NAMES_BY_KEY,
        Doc("By key the variables that would give it away: they are suppressed with it."),
    ] = field(default_factory=dict, kw_only=True)
    household_variables: Annotated[
        tuple[str, ...] | None, Doc("Keys suppressed for a whole household or not at all; none: the scenario's.")
    ] = field(default=None, kw_only=True)
    risk: Annotated[float | bool | None, RISK_LIMIT, Doc("The greatest individual risk; true: the policy's.")] = field(
        default=None, kw_only=True
    )
    household_risk: Annotated[
        float | bool | None, RISK_LIMIT, Doc("The greatest household risk, on the first key set; true: policy's.")
    ] = field(default=None, kw_only=True)
    rate: Annotated[
        float | bool | None, RISK_LIMIT, Doc("The greatest re-identification rate of each key set; true: the policy's.")
    ] = field(default=None, kw_only=True)
    closed: Annotated[
        bool, Doc("Whether to suppress on until the rest of the file does not give suppressed cells back.")
    ] = field(default=True, kw_only=True)

    as_told: Annotated[
        bool, Doc("Whether records must be safe on the keys as finely as other released columns tell them.")
    ] = field(default=False, kw_only=True)

    selects_itself: ClassVar[bool] = True
    version: ClassVar[int] = 7

    @property
    def adds_missing(self) -> bool:
        """Suppressed cells are missing."""
        return True

    def work(self, data: Data, context: Context) -> Work | None:
        """Under the wildcard rule every record may try all sets of keys, in several rounds."""
        if context.scenario.missing.name not in ("wildcard", "partial"):
            return None
        keys = min(len(context.scenario.all_keys), 40)
        return Work(4e-8 * len(data) * keys * 2.0**keys, "name fewer keys, or choose missing='one_way'")

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with cells suppressed."""
        # By record number, so that the order of the file does not matter.
        order = np.argsort(data.record, kind="stable")
        ordered = data if (np.diff(order) == 1).all() else data.take(order)
        scenario, sets, free = context.scenario, key_sets_of(self, context.scenario), None
        if self.only is not None:
            free = chosen_records(self.only, ordered, scenario, context.policy, context.original)
        file = File(ordered, np.argsort(order), free, context)
        wanted = wanted_of(self, sets, scenario, context.policy)
        if wanted.rate is not None or wanted.whole_policy:
            wanted = possible(wanted, sets, file.data, scenario)
        if not wanted.whole_policy and wanted.not_kept:
            raise TacitaError(f"suppression cannot do this: {'; '.join(wanted.not_kept)}.")
        if wanted.limits_risk:
            wanted = wanted._replace(multiples=multiples(file.data, sets, scenario))
        made, cells = self._reaching(wanted, sets, file)
        others = unknown_numbers(self.only, data)
        changed = data.blanked({name: where[file.row] for name, where in cells.items()})
        return made._replace(data=changed, remarks=(*made.remarks, *others))

    def _reaching(self, wanted: Wanted, sets: Mapping[str, KeySet], file: File) -> tuple[Applied, Cells]:
        """What suppression makes until the rate is kept too, and risks by the model of what is left; and its cells."""
        begin, scenario = wanted.multiples, file.context.scenario
        made, cells, wanted = self._within_reach(wanted, file)
        for left in range(ROUNDS, -1, -1):
            left_over = made.data.released_from(file.data).remembering()
            lower, too_much = lower_limits(wanted, sets, left_over, scenario)
            refits = refitted(begin, wanted.risk, sets, left_over, scenario)
            harder = wanted.harder(lower, refits)
            if harder is None or not left:
                break
            made, cells, wanted = self._within_reach(harder, file)
        still = (f"not kept: the re-identification rate on {check.quoted(lower)}",) if lower else ()
        said = [each.remark(name, wanted.risk[name]) for name, each in refits.items()]
        return made._replace(remarks=(*made.remarks, *said, *wanted.not_kept, *too_much, *still)), cells

    def _within_reach(self, wanted: Wanted, file: File) -> tuple[Applied, Cells, Wanted]:
        """The outcome, and what it reaches: where the whole policy is out of reach, what of it is not."""
        try:
            return *self._applied(wanted, file), wanted
        except TacitaError as error:
            if not wanted.whole_policy or not wanted.has_less:
                raise
            return self._within_reach(wanted.less(str(error).rstrip(".")), file)

    def _applied(self, wanted: Wanted, file: File) -> tuple[Applied, Cells]:
        """What one set of limits asks for."""
        task = task_of(self, file, wanted)
        self._check_ghosts(task, file.data, file.context.scenario)
        progress = rising(file.context.progress)
        found = task.suppressed(part(progress, 0.0, 0.5) if self.closed else progress)
        first = cells = self._cells(found, task)
        open_leaks: tuple[str, ...] = ()
        if self.closed and first:
            cells, left, open_leaks = self._closed(first, task, file, part(progress, 0.5, 1.0))
            found = found._replace(left=found.left if left is None else left)
        before = cells
        if self.as_told:
            cells, open_told = self._as_told(cells, task, file)
            open_leaks = (*open_leaks, *open_told)
        besides, by_told = added(first, before), added(before, cells)
        figures = {**_figures(found, task, cells, (*besides, *by_told)), "closing": besides}
        figures |= {"as_told": by_told} if self.as_told else {}
        said = more_cells(besides, "other values of the file would reveal suppressed ones")
        told = more_cells(by_told, "other columns tell keys more finely")
        suppression = Mechanism("suppression", tuple(cells), {"rule": figures["rule"], "cells": figures["cells"]})
        public = (suppression.with_parameters("cells"),)
        remarks = (*_remarks(found, task), *said, *told, *open_leaks, *task.remarks)
        return Applied(file.data.blanked(cells), remarks, figures, (suppression,), public), cells

    def _cells(self, found: Suppression, task: Task) -> Cells:
        """By column the cells to suppress, ghosts with their keys."""
        cells = {name: found.gone[:, at] for at, name in enumerate(task.keys) if found.gone[:, at].any()}
        followers = [dict.fromkeys(names, cells[key]) for key, names in self.ghosts.items() if key in cells]
        return reduce(joined, followers, cells)

    def _closed(
        self, first: Cells, task: Task, file: File, progress: Progress = no_progress
    ) -> tuple[Cells, Bools | None, tuple[str, ...]]:
        """The cells and others, until suppression can close no more leaks, all records safe; who is left unsafe by
        what was suppressed for that; and the leaks that stay open."""
        left: Bools | None = None

        def make_safe(cells: Cells) -> Cells:
            nonlocal left
            found = suppress(task.without(cells))
            left = found.left
            return joined(cells, self._cells(found, task))

        strata = (*file.context.scenario.strata, *(self.strata or ()))
        cells, open_leaks = closed(first, file.data, scope_of(task, file, strata), make_safe, progress)
        return cells, left, open_leaks

    def _as_told(self, cells: Cells, task: Task, file: File) -> tuple[Cells, tuple[str, ...]]:
        """The cells and others, until records are safe with what other columns show too; and what stays open."""
        # Looking for finer classes loads much, and few ask for it.
        from tacita.protect.suppress.as_told import told_classes_of_keys, with_told_keys

        original, scenario = file.context.original, file.context.scenario
        aside = scope_of(task, file).fixed | {scenario.household or ""}
        for _ in range(ROUNDS):
            told = tuple(told_classes_of_keys(original, file.data.blanked(cells), scenario, task.keys, aside))
            request, hopeless = with_told_keys(task.without(cells), task.keys, told)
            if not told:
                break
            try:
                found = suppress(request)
            except TacitaError as error:
                return cells, (f"not safe with what other columns show of the keys: {str(error).rstrip('.')}",)
            if not found.gone[:, : len(task.keys)].any():
                break
            cells = joined(cells, self._cells(found, task))
            if self.closed:
                cells, _, _ = self._closed(cells, task, file)
        return cells, _hopeless_remark(hopeless)

    def _check_ghosts(self, task: Task, data: Data, scenario: Scenario) -> None:
        """Suppressing a ghost must not undo what suppression and measures rest on."""
        roles = {
            "a key": task.keys,
            "a stratum": scenario.strata if self.strata is None else self.strata,
            "the weight": (scenario.weight,),
            "the household": (scenario.household,),
        }
        check_keys("ghosts", self.ghosts, task.keys)
        for followers in self.ghosts.values():
            present(self, followers, data)
            for role, names in roles.items():
                both = [name for name in followers if name in names]
                if both:
                    raise TacitaError(f"a ghost variable cannot be {role} at the same time: {check.quoted(both)}.")


def scope_of(task: Task, file: File, strata: tuple[str, ...] = ()) -> Scope:
    """What a closing starts from."""
    free = np.ones(len(file.data), dtype=np.bool_) if file.free is None else file.free
    return Scope(file.context.original, file.context.scenario, task.keys, strata, free, file.row)


def _hopeless_remark(hopeless: Bools) -> tuple[str, ...]:
    few = int(hopeless.sum())
    if not few:
        return ()
    return (
        f"{check.counted(few, 'record')} unsafe with what other columns show of the keys, whatever keys are "
        "suppressed; recode, suppress or remove those columns",
    )


def number_of(where: Bools, task: Task) -> int:
    """How many records, or cells, are meant: rows can stand for many records each."""
    repeats = task.request.repeats
    return int(where.sum() if repeats is None else (where.T * repeats).sum())


def _remarks(found: Suppression, task: Task) -> list[str]:
    """What the log says of records and cells: what became of every unsafe record, and who else lost cells."""
    unsafe = number_of(found.violated, task)
    if not unsafe:
        return ["no record is unsafe"]
    own = number_of(found.needed.any(axis=1) & found.violated, task)
    helped = number_of(found.violated & ~found.touched & ~found.left, task)
    drawn_in, housemates = number_of(found.drawn_in, task), number_of(found.with_household, task)
    share = {0: "none", unsafe: "all"}.get(own, f"{own:,}")
    which = "it" if own == unsafe == 1 else f"{share} of them"
    parts = [f"{check.counted(unsafe, 'unsafe record')}, cells suppressed in {which}"]
    if drawn_in:
        parts[0] += f" and in {drawn_in:,} more that became unsafe when cells of others were suppressed"
    if helped:
        parts.append(f"{helped:,} of them safe through what was suppressed in other records")
    if housemates:
        parts.append(f"cells suppressed in {check.counted(housemates, 'record')} only because housemates need it")
    if found.for_others.any():
        parts.append(
            f"{check.counted(number_of(found.for_others, task), 'cell')} suppressed only to protect other records"
        )
    if found.left.any():
        member = ", or with a member of their household outside," if task.request.shared or task.request.goal else ""
        parts.append(f"{check.counted(number_of(found.left, task), 'record')} outside `only`{member} still unsafe")
    return [", ".join(parts)]


def _figures(found: Suppression, task: Task, cells: Cells, besides: Iterable[str]) -> dict[str, Any]:
    """The same as numbers."""
    names = dict.fromkeys((*task.keys, *besides))
    return {
        "rule": str(task.request.rule),
        "violating": number_of(found.violated, task),
        "touched": number_of(found.touched, task),
        "touched_because_of_others": number_of(found.drawn_in, task),
        "touched_with_household": number_of(found.with_household, task),
        "only_others_need": number_of(found.for_others, task),
        "left": number_of(found.left, task),
        "cells": {name: number_of(cells[name], task) if name in cells else 0 for name in names},
    }
