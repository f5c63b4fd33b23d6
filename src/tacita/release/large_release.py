"""LargeRelease: what a plan makes of a file on an engine, made as it is written and never held in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tacita import frame
from tacita.arrays import Bools, Ints
from tacita.assessment.assess import USUALLY, profile_on_engine
from tacita.assessment.on_engine import LargeProfile, release_on_engine
from tacita.check import TacitaError
from tacita.data import Data, Variable, atomic
from tacita.data.large_data import LargeData
from tacita.data.variable import among_codes
from tacita.frame import Frame
from tacita.frame import files as frame_files
from tacita.policy import Policy
from tacita.progress import Progress, checked_progress, part
from tacita.release.advance import State, with_declared_codes
from tacita.release.checklist import Checklist
from tacita.release.judged import Judged, account_of, identifier_cautions, seed_cautions
from tacita.release.large_beside import assessed_beside, write_batches
from tacita.release.large_checklist import large_checklist
from tacita.release.large_members import APART, Rows, check_whole, not_one_each, place_of_records
from tacita.release.large_steps import Streamed
from tacita.release.step_log import Changes, changes
from tacita.rules import Rules
from tacita.scenario import Scenario, restricted

BATCH = 1 << 20
"""Records at once, ..."""
BYTES_PER_CELL = 400
"""... or fewer, where the budget has no room for so many bytes for each cell of theirs, ..."""
LEAST_BATCH = 1 << 16
"""... but so many."""
UNSAFE_ANYWAY = "what other columns give back is measured once nothing else is against the release"
BESIDE = "what other columns give back of protected cells could not be measured:"


@dataclass(frozen=True, eq=False)
class LargeRelease(Judged):
    """What a plan makes of a file on an engine: made as it is written, record by record, and never held in memory."""

    large: LargeData = field(repr=False)
    """The original."""
    original_scenario: Scenario = field(repr=False)
    """The scenario that the plan was applied with."""
    rows: Rows = field(repr=False)
    """The distinct keys of the original, or its records."""
    state: State = field(repr=False)
    """The distinct keys as they are released, with what every step on them changed."""
    streamed: tuple[Streamed, ...] = field(default=(), repr=False)
    """Steps that are done record by record, with what they need of the whole file."""
    removed: tuple[str, ...] = ()
    """Variables that are not released."""
    labels: tuple[str, ...] = ()
    """The labels of all steps, in their order."""
    plan: Any = field(default=None, repr=False)
    """The plan."""
    again: Callable[[int], Any] | None = field(default=None, repr=False)
    """The release with another seed."""
    counted: tuple[Changes, ...] = field(default=(), repr=False)
    """What the steps that are done record by record changed, once the records were written."""

    rules = Rules()
    """Relations between variables are checked in memory only."""

    @property
    def original_keys(self) -> Frame:
        """The values that records are found by: the distinct keys of the original."""
        return self.rows.originals

    @property
    def policy(self) -> Policy:
        """What counts as safe."""
        return self.state.policy

    @property
    def seed(self) -> int:
        """The seed of all draws: whoever knows it can undo the protection."""
        return self.state.draws.seed

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables that are released."""
        return tuple(name for name in self.large.columns if name not in self.removed)

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario for the released data: without variables that are no longer there."""
        codes = {**self.original_scenario.not_applicable, **self.state.scenario.not_applicable}
        found = restricted(replace(self.original_scenario, not_applicable=codes), self.columns)
        assert found is not None, "no plan takes out every key"
        return found

    @property
    def changes(self) -> tuple[Changes, ...]:
        """What the steps changed, in records; of those that are done record by record, once these were written."""
        known = {each.label: each for each in (*self.state.changes, *self.counted)}
        return tuple(known[label] for label in self.labels if label in known)

    @property
    def size(self) -> int:
        """The number of records that are released."""
        return self.state.data.size

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the custodian should know before publishing."""
        there = [name for name in self.original_scenario.identifiers if name in self.columns]
        found = [*seed_cautions(self.seed, self.state.seed_given), *identifier_cautions(there)]
        if any(each.records_removed for each in self.state.changes):
            found.append(
                "records were dropped, and F fell with f: the risk of the others is put too high, never too low."
            )
        return tuple(found)

    def __str__(self) -> str:
        known = {each.label: str(each) for each in self.changes}
        lines = [known.get(label, f"{label}: done record by record as the release is written") for label in self.labels]
        return "\n".join([*(lines or ["no steps"]), *(f"caution: {each}" for each in self.cautions)])

    @cached_property
    def _profile(self) -> LargeProfile:
        return self.measured()

    def assess(self, *, measures: Any = (), progress: Progress | None = None) -> LargeProfile:
        """The risk profile of the release: of its distinct keys, and then beside the original, if it may be safe.

        For that its records are made once, in the private folder of the engine. Worked out once and kept, unless
        further `measures` are asked for.
        """
        return self.measured(measures, progress) if measures or progress is not None else self._profile

    def measured(self, measures: Any = (), progress: Progress | None = None) -> LargeProfile:
        """The risk profile, worked out anew."""
        show, weight = checked_progress(progress), self.state.scenario.weight
        of_keys = part(show, 0.0, 0.3)
        file = release_on_engine(self.rows.large, self.original_keys, self._keys, self.scenario, weight, of_keys)
        found = profile_on_engine(file, self.policy, USUALLY, measures, part(of_keys, 0.0, 0.5))
        if any(each.holds is False for each in found.verdicts()):
            found = found.with_open("given_back", self.policy.given_back, UNSAFE_ANYWAY)
        else:
            try:
                found = assessed_beside(self, measures, part(show, 0.3, 1.0))
            except TacitaError as error:
                found = found.with_open("given_back", self.policy.given_back or 0, f"{BESIDE} {error}")
        if not measures:
            self.__dict__["_profile"] = found
        return found

    def checklist(self) -> Checklist:
        """What to look at before publication: each item done, not done or not applicable, with the way out."""
        return large_checklist(self)

    def to_dict(self) -> dict[str, Any]:
        """The account as plain numbers and texts: no values of the data, no seed."""
        return account_of(self.size, self.columns, self.changes, (), self.cautions)

    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False, progress: Progress | None = None) -> Path:
        """Write the released records to a Parquet file, in the order of the original, whole or not at all."""
        show, target = checked_progress(progress), Path(path)
        if target.suffix.lower() not in (".parquet", ".pq"):
            raise TacitaError(f"{target.name} must end in .parquet: the release is written batch by batch.")
        with atomic.new_file(target, overwrite=overwrite) as beside:
            write_batches(self, beside, numbered=False, progress=show)
            show(1.0, "done")
        return target

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        accept_unsafe: str | None = None,
        progress: Progress | None = None,
    ) -> Path:
        """Write `public/`, for publication, and `internal/`, which never leaves the office; all or nothing.

        public: the data as Parquet, in several files if there are many records, a codebook, also as DDI-Codebook XML,
        the methods as JSON, and transition matrices of PRAM that are to be published. internal: plan, scenario,
        policy, seed, log and checklist. A release that does not keep its policy is refused unless `accept_unsafe` gives
        the reason for writing it all the same, as not for publication.

        The parts lie in `folder.unfinished` until all are there. If the work is stopped, the same call goes on from
        there, with the seed that the first parts were drawn with, unless another was given.
        """
        from tacita.release.large_written import save

        return save(self, folder, overwrite, accept_unsafe, checked_progress(progress))

    def made(self, after: int | None = None) -> Iterator[tuple[Data, tuple[Changes, ...]]]:
        """The released records, some at a time, with what was changed in them; `after` a record with a number."""
        large, number = self.large, self.large.numbered
        check_whole(large)
        keys = self.original_keys
        names = [name for name in keys.columns if name != APART]
        used = [name for name in large.columns if name in {*self.columns, *names, *self._read}]
        table = large.table.select([*used, *([number] if number not in used else [])])
        table = table if after is None else table.filter(table[number] > after)
        ordered = table if large.database.name == "DuckDB" and number not in large.columns else table.order_by(number)
        kept = _by_number(self.state.data.record, keys.height)
        last = after
        size = min(BATCH, max(large.memory // (BYTES_PER_CELL * len(used)), LEAST_BATCH))
        for batch in large.database.batches(ordered, size):
            records = frame_files.from_arrow(batch)
            if not records.height:
                continue
            last = _last_of(records[number], last, large)
            place = kept[place_of_records(records, records[number].to_numpy().astype(np.int64), keys, names)]
            if (place < 0).any():
                records, place = frame.take(records, np.flatnonzero(place >= 0)), place[place >= 0]
            yield self._released(records, place, number)

    @property
    def _read(self) -> set[str]:
        """Variables that steps go by though they may not be released."""
        return {name for each in self.streamed for name in (*each.reads, *each.changes)}

    @cached_property
    def _keys(self) -> Data:
        """The distinct keys as they are released, with nothing of values that no record has."""
        declared = with_declared_codes(self.state.data, self.state.scenario)
        household = self.original_scenario.household
        if household in declared.columns and household not in self.original_keys.columns:
            # Who lives together the engine knows.
            declared = declared.without((household,))
        return replace(declared.rebuilt(), numbers_of_records=self.state.data.record)

    def _released(self, records: Frame, place: Ints, number: str) -> tuple[Data, tuple[Changes, ...]]:
        fresh = frame.take(self.state.data.table, place)
        # Other columns of the distinct keys, as the mean weight, are of no record.
        grouped = [name for name in self.original_keys.columns if name in fresh.columns]
        columns = {name: fresh[name] if name in grouped else records[name] for name in self._columns_of(records)}
        data = Data(
            frame.table(columns),
            {name: known for name in columns if (known := self._variable(name, name in grouped)) is not None},
            numbers_of_records=records[number].to_numpy().astype(np.int64),
        )
        found = []
        for each in self.streamed:
            made = each.applied(data, self.state)
            found.append(_changed(each, data, made))
            data = made.data.with_perturbed(data.perturbed | made.perturbed)
        weight = self.original_scenario.weight
        # A file has no room for the weights as they were: nobody must take those that it shows for them.
        data = data.with_perturbed(name for each in self.streamed for name in each.changes if name == weight)
        data = data.without(tuple(name for name in data.columns if name not in self.columns))
        # As in every release: some formats tell an empty text from no text.
        empty = {name: where for name in data.columns if (where := frame.empty_texts(data.table, name)).any()}
        return data.blanked(empty) if empty else data, tuple(found)

    def _columns_of(self, records: Frame) -> list[str]:
        wanted = {*self.columns, *self._read}
        gone = set(self.original_keys.columns) - set(self.state.data.columns)
        return [name for name in self.large.columns if name in wanted and name in records.columns and name not in gone]

    def _variable(self, name: str, grouped: bool) -> Variable | None:
        """What is known of a released variable: nothing of values that may no longer be there."""
        if grouped:
            return self._keys.variables.get(name)
        known = self.large.variables.get(name)
        changed = any(name in each.changes for each in self.streamed) or self.size < len(self.original_keys)
        if known is None or not changed:
            return known
        codes = {*known.missing, *known.not_applicable}
        labels = {code: label for code, label in known.value_labels.items() if code in codes or _in(known, code)}
        return replace(known, value_labels=labels, order=())


def _in(known: Variable, code: Any) -> bool:
    """Whether a code is in a range of codes for missing."""
    if isinstance(code, str) or not known.missing_ranges:
        return False
    found: Bools = among_codes(np.array([float(code)]), (), tuple(known.missing_ranges))
    return bool(found[0])


def _last_of(numbers: Any, before: int | None, large: LargeData) -> int:
    """The last of the numbers of some records, which must be one each and in their order: draws go by them."""
    values = np.empty(0, dtype=np.int64) if numbers.null_count() else numbers.to_numpy().astype(np.int64)
    after = values if before is None else np.concatenate([[before], values])
    if not len(values) or (np.diff(after) <= 0).any():
        raise not_one_each(large)
    return int(values[-1])


def _by_number(numbers: Ints, count: int) -> Ints:
    """By distinct key of the original its row among those that are released, -1 for none; the last is for no key."""
    rows = np.full(count + 1, -1, dtype=np.int64)
    rows[numbers - 1] = np.arange(len(numbers))
    return rows


def _changed(each: Streamed, before: Data, made: Any) -> Changes:
    """What a step changed in some records."""
    names = [name for name in before.columns if name in each.changes]
    left, right = (
        Data(frame.table({name: data.table[name] for name in names}), numbers_of_records=data.record)
        for data in (before, made.data)
    )
    return changes(left, right, each.step, made)
