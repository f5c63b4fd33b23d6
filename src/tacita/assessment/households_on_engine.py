"""Household risk of records on an engine: it adds up whole numbers by household, and what follows is done in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.engine import expressions
from tacita.frame import files as frame_files
from tacita.keys.source import LIMB_BITS, LIMBS, SMALL_BITS, carried, limbs_of
from tacita.progress import Progress
from tacita.risk.identity.household_risk import HouseholdRisk, households_not_known, of_sums, survival
from tacita.risk.identity.individual_risk import IndividualRisk
from tacita.scenario import Scenario

SUMS = ("tacita_log_0", "tacita_log_1")
"""50 bits each, of which a household of 8,192 members can add up without leaving 63."""
CERTAIN = "tacita_certain"
MOST_MEMBERS = 1 << 13
HOUSEHOLDS = "tacita_households"
ONE = "tacita_one"
BATCH = 1 << 20
"""Sums at once."""


class Risks(NamedTuple):
    """Households with the same risk."""

    risk: Floats
    members: Ints
    alike: Ints
    """How many households there are."""


NO_RISKS = Risks(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class HouseholdsOnEngine:
    """The household risk of individual risks by distinct key."""

    large: LargeData
    scenario: Scenario
    names: tuple[str, ...]
    """The variables that records were grouped by."""
    rows: Data
    """The distinct keys."""
    progress: Progress
    not_valid: str = ""
    """Why households say nothing; empty if they do."""
    kept: list[Any] = field(default_factory=list)
    """The sums by household, a table of the engine that serves the figures and the records."""

    def __call__(self, risk: IndividualRisk) -> HouseholdRisk:
        """Sums by household, counted: households with the same sum have the same risk."""
        self._check_constant()
        alike = [*SUMS, CERTAIN, expressions.RECORDS]
        sums = expressions.counted(self.sums(risk, self.progress), alike, HOUSEHOLDS)
        found = list(self._risks(sums, (*SUMS, CERTAIN, expressions.RECORDS, HOUSEHOLDS)))
        greatest = max((int(each.members.max(initial=0)) for each in found), default=0)
        if greatest > MOST_MEMBERS:
            raise TacitaError(
                f"a household of {self.household!r} has {greatest:,} members; check that it identifies households."
            )
        alone = list(self._risks(self._alone(risk), (*SUMS, CERTAIN, ONE, HOUSEHOLDS)))
        risks, members, counts = (np.concatenate(each) for each in zip(NO_RISKS, *found, *alone, strict=True))
        nobody = np.empty(0, dtype=np.int64)
        lone = sum(int(each.alike.sum()) for each in alone)
        return HouseholdRisk(risks, nobody, lone, members, risk.not_valid or self.not_valid, counts)

    @property
    def household(self) -> str:
        """The identifier of households."""
        assert self.scenario.household is not None
        return self.scenario.household

    def sums(self, risk: IndividualRisk, progress: Progress) -> Any:
        """The sums by household, kept on the engine."""
        if not self.kept:
            found = expressions.households(self._records(risk, self.with_place()), expressions.GROUP, SUMS, CERTAIN)
            self.kept.append(self.large.database.keep(found, progress, "adding up by household"))
        return self.kept[0]

    def with_place(self) -> Any:
        """Every record with its household, missing where a code says that it is in none."""
        return with_place(self.large, self.household)

    def columns(self, risk: IndividualRisk) -> dict[str, Any]:
        """What each distinct key adds to a household."""
        logarithm, certain = survival(risk.risk)
        pairs = as_pairs(limbs_of(logarithm, SMALL_BITS))
        return dict(zip(SUMS, pairs.T, strict=True)) | {CERTAIN: certain.astype(np.int64)}

    def _records(self, risk: IndividualRisk, table: Any) -> Any:
        columns = self.columns(risk)
        keys = {name: self.rows.table[name] for name in self.names}
        found = self.large.database.load(frame_files.one_row_each(frame.table({**keys, **columns}), self.names))
        return expressions.joined(table, self.names, found, list(columns), [expressions.GROUP])

    def _alone(self, risk: IndividualRisk) -> Any:
        """The same of records that are in no household: each is one of its own."""
        table = self.with_place()
        nowhere = self._records(risk, table.filter(table[expressions.GROUP].isnull()))
        return expressions.alone(expressions.counted(nowhere, [*SUMS, CERTAIN], HOUSEHOLDS), ONE)

    def _risks(self, expression: Any, names: Sequence[str]) -> Iterator[Risks]:
        """The risk of households with the same sums, some at a time: there can be as many as tens of millions."""
        for at, batch in enumerate(self.large.database.batches(expression, BATCH)):
            self.progress(min(at / 100, 0.99), "adding up by household")
            table = frame_files.from_arrow(batch)
            first, second, certain, members, count = (table[name].to_numpy().astype(np.int64) for name in names)
            risk = of_sums(as_limbs(np.column_stack([first, second])), certain > 0)
            yield Risks(risk, members, count)

    def _check_constant(self) -> None:
        """A household variable must not differ inside a household."""
        known = self.large.variables
        names = [each for each in self.scenario.household_variables if not (each in known and known[each].perturbed)]
        if not names:
            return
        table = expressions.plain(self.with_place(), names)
        counts = expressions.differing(table, expressions.GROUP, names)
        found = self.large.database.collect(counts, what="checking households").to_pylist()[0]
        for name in names:
            if found[name]:
                raise TacitaError(
                    f"household variable {name!r} must be the same for all members; it differs in "
                    f"{check.counted(int(found[name]), 'household')}, correct the file or drop it from "
                    f"household_variables."
                )


def with_place(large: LargeData, household: str) -> Any:
    """Every record with its household, missing where a code says that it is in none."""
    known = large.variables.get(household)
    codes = () if known is None else (*known.missing, *known.not_applicable)
    return large.table.mutate(**{expressions.GROUP: expressions.household_place(large.table, household, codes)})


def households_differ(released: LargeData, original: LargeData, scenario: Scenario) -> str:
    """Why households of a release say nothing: others live together than in the original; empty if none is seen to.

    There must be as many of the same sizes, and none may have more values of a key, of which recoding leaves fewer.
    """
    household = scenario.household
    if household is None or household not in released.columns:
        return ""
    if household not in original.columns:
        return households_not_known(household)
    keys = [name for name in scenario.all_keys if name in released.columns and name in original.columns]
    before, after = (
        large.database.collect(
            expressions.in_groups(with_place(large, household), expressions.GROUP, keys), what="looking at households"
        ).to_pylist()[0]
        for large in (original, released)
    )
    same = all(before[name] == after[name] for name in ("groups", "records", "squares"))
    fewer = all(after[name] <= before[name] for name in before if name.startswith("v"))
    return "" if same and fewer else households_not_known(household)


def as_pairs(limbs: Ints) -> Ints:
    """Limbs as two whole numbers of 50 bits each."""
    return np.column_stack([(limbs[:, 0] << LIMB_BITS) + limbs[:, 1], (limbs[:, 2] << LIMB_BITS) + limbs[:, 3]])


def as_limbs(pairs: Ints) -> Ints:
    """Sums of such pairs as limbs."""
    limbs = np.zeros((len(pairs), LIMBS), dtype=np.int64)
    limbs[:, 1], limbs[:, 3] = pairs[:, 0], pairs[:, 1]
    return carried(limbs)
