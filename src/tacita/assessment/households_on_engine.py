"""Household risk of records on an engine: it adds up whole numbers by household, and what follows is done in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.engine import expressions
from tacita.frame import files as frame_files
from tacita.keys.source import LIMB_BITS, LIMBS, SMALL_BITS, carried, limbs_of
from tacita.progress import Progress
from tacita.risk.identity.household_risk import HouseholdRisk, of_sums, survival
from tacita.risk.identity.individual_risk import IndividualRisk
from tacita.scenario import Scenario

SUMS = ("tacita_log_0", "tacita_log_1")
"""50 bits each, of which a household of 8,192 members can add up without leaving 63."""
CERTAIN = "tacita_certain"
MOST_MEMBERS = 1 << 13
HOUSEHOLDS = "tacita_households"


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
    kept: list[Any] = field(default_factory=list)
    """The sums by household, a table of the engine that serves the figures and the records."""

    def __call__(self, risk: IndividualRisk) -> HouseholdRisk:
        """Sums by household, counted: households with the same sum have the same risk."""
        self._check_constant()
        alike = [*SUMS, CERTAIN, expressions.RECORDS]
        counted = expressions.counted(self.sums(risk, self.progress), alike, HOUSEHOLDS)
        found = self._whole_numbers(counted, (*alike, HOUSEHOLDS))
        if found[3].max(initial=0) > MOST_MEMBERS:
            raise TacitaError(
                f"a household of {self.household!r} has {int(found[3].max()):,} members; check that it identifies "
                f"households."
            )
        alone = self._alone(risk)
        nobody = np.empty(0, dtype=np.int64)
        together = [np.concatenate(pair) for pair in zip(found, alone, strict=True)]
        by_household = of_sums(as_limbs(np.column_stack(together[:2])), together[2] > 0)
        return HouseholdRisk(by_household, nobody, int(alone[4].sum()), together[3], risk.not_valid, together[4])

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
        known = self.large.variables.get(self.household)
        codes = () if known is None else (*known.missing, *known.not_applicable)
        place = expressions.household_place(self.large.table, self.household, codes)
        return self.large.table.mutate(**{expressions.GROUP: place})

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

    def _alone(self, risk: IndividualRisk) -> list[Ints]:
        """The same of records that are in no household: each is one of its own."""
        table = self.with_place()
        nowhere = table.filter(table[expressions.GROUP].isnull())
        counted = expressions.counted(self._records(risk, nowhere), [*SUMS, CERTAIN], HOUSEHOLDS)
        first, second, certain, count = self._whole_numbers(counted, (*SUMS, CERTAIN, HOUSEHOLDS))
        return [first, second, certain, np.ones(len(count), dtype=np.int64), count]

    def _whole_numbers(self, expression: Any, names: Sequence[str]) -> list[Ints]:
        found = self.large.database.collect(expression, self.progress, "adding up by household")
        return [frame_files.from_arrow(found)[name].to_numpy().astype(np.int64) for name in names]

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


def as_pairs(limbs: Ints) -> Ints:
    """Limbs as two whole numbers of 50 bits each."""
    return np.column_stack([(limbs[:, 0] << LIMB_BITS) + limbs[:, 1], (limbs[:, 2] << LIMB_BITS) + limbs[:, 3]])


def as_limbs(pairs: Ints) -> Ints:
    """Sums of such pairs as limbs."""
    limbs = np.zeros((len(pairs), LIMBS), dtype=np.int64)
    limbs[:, 1], limbs[:, 3] = pairs[:, 0], pairs[:, 1]
    return carried(limbs)
