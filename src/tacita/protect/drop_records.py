"""Dropping records: those of a condition, and households that are too large to hide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import AtLeast, Doc, Shape
from tacita.protect.only import checked_only, chosen_records, shown_only, undecided, unknown_numbers
from tacita.protect.step import Applied, Context, Step


class Dropped(NamedTuple):
    """Which records go, each for the first reason that it has."""

    condition: Bools
    """Those of the condition."""
    household_size: Bools
    """Others, whose household is too large."""
    household_members: Bools
    """Others, who live with somebody of the condition."""

    @property
    def any(self) -> Bools:
        """All that go."""
        return self.condition | self.household_size | self.household_members


def dropped(chosen: Bools, household: Ints | None, larger_than: int | None, whole: bool) -> Dropped:
    """The records that are chosen, those of households of more than so many, and with `whole` who lives with chosen.

    >>> dropped(np.array([True, False, False, False]), np.array([0, 0, 1, 1]), None, True).any.tolist()
    [True, True, False, False]
    """
    nobody = np.zeros(len(chosen), dtype=np.bool_)
    if household is None or not len(chosen):
        return Dropped(chosen, nobody, nobody)
    members = np.bincount(household)
    large = nobody if larger_than is None else members[household] > larger_than
    with_chosen = np.bincount(household, weights=chosen) > 0
    together = with_chosen[household] if whole else nobody
    return Dropped(chosen, large & ~chosen, together & ~large & ~chosen)


def _selection(what: str, given: Any) -> Any:
    return checked_only(given, what)


@dataclass(frozen=True)
class DropRecords(Step):
    """Drop records: those that meet a condition, and whole households with more than so many members.

    A household of eleven is known in its town whatever is blanked in it. What is dropped is lost to analysts, so this
    is for few records. It protects only those who are dropped: the rest counts fewer who look alike (f falls), while
    the population is what it was (F stays). Weights stay as they are; `Recalibrate` brings totals back.

    A record for which missing values leave the condition open stays, and is counted in the log.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"hid": [1, 1, 1, 2, 3], "age": [40, 38, 7, 101, 20]})
    >>> scenario = tc.Scenario(keys=["age"], household="hid")
    >>> release = tc.Plan([DropRecords("age > 100", larger_than=2)]).apply(people, scenario)
    >>> print(release.changes[0])
    drop_records: 4 records removed; 1 by the condition, 3 in households of more than 2
    """

    where: Annotated[
        Any,
        Shape("condition, measure, column or record numbers", _selection),
        Doc(
            "Who is dropped: a condition, as 'age > 100'; {'unsafe': 'k_anonymity'}, who is unsafe by a measure when "
            "the step runs; a column that is true for them; or record numbers. None: nobody by a condition."
        ),
    ] = None
    larger_than: Annotated[
        int | None, AtLeast(1), Doc("Households with more members than this are dropped; none: of any size stay.")
    ] = None
    whole_households: Annotated[
        bool, Doc("Whether all members of a household go with one that meets the condition.")
    ] = False

    def __post_init__(self) -> None:
        if self.where is None and self.larger_than is None:
            raise TacitaError("drop_records needs where (a condition) or larger_than (members of a household).")
        if self.where is None and self.whole_households:
            raise TacitaError("whole_households is for those who meet a condition; give where, or leave it out.")

    @property
    def keeps_records(self) -> bool:
        """Some are dropped."""
        return False

    def shown(self) -> dict[str, Any]:
        """The parameters as people read them: record numbers are counted."""
        given = super().shown()
        return given | {"where": shown_only(given["where"])} if "where" in given else given

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with the other records."""
        chosen = np.zeros(len(data), dtype=np.bool_)
        if self.where is not None:
            scenario, policy, original = context.scenario, context.policy, context.original
            chosen = chosen_records(self.where, data, scenario, policy, original, "where")
        household = self._households(data, context)
        found = dropped(chosen, household, self.larger_than, self.whole_households)
        gone = found.any
        if gone.all():
            raise TacitaError(f"{self.kind()} would leave no record; narrow the condition or raise larger_than.")
        figures = {name: int(rows.sum()) for name, rows in found._asdict().items()}
        figures |= {"undecided": undecided(self.where, data), "households_reduced": _reduced(gone, household)}
        asked = {"where": shown_only(self.where), "larger_than": self.larger_than}
        removal = Mechanism("removal", (), {**asked, "whole_households": self.whole_households, "dropped": figures})
        # The condition may name what nobody should know of those who are gone.
        public = Mechanism("removal", (), {"records": "some records", "larger_than": self.larger_than})
        said = (*self._remarks(figures), *unknown_numbers(self.where, data, "where"))
        return Applied(data.take(np.flatnonzero(~gone)), said, figures, (removal,), (public,))

    def _households(self, data: Data, context: Context) -> Ints | None:
        name = context.scenario.household
        if name is None and (self.larger_than is not None or self.whole_households):
            asked = "whole_households" if self.larger_than is None else "larger_than"
            raise TacitaError(f"{asked} needs the household identifier; pass household=... in the scenario.")
        return None if name is None else data.households(name)[0]

    def _remarks(self, figures: dict[str, int]) -> list[str]:
        """How many records were dropped for which reason, and how many were kept because a value is missing."""
        reasons = {
            "condition": "by the condition",
            "household_size": f"in households of more than {self.larger_than}",
            "household_members": "who live with them",
        }
        told = [f"{figures[name]:,} {words}" for name, words in reasons.items() if figures[name]]
        said = [", ".join(told)] if told else []
        if figures["undecided"]:
            stay = check.counted(figures["undecided"], "record stays", "records stay")
            said.append(f"{stay} because missing values leave the condition open")
        if figures["households_reduced"]:
            homes = check.counted(figures["households_reduced"], "household")
            said.append(f"{homes} lost some of their members and not all, which a household size in the file tells")
        return said


def _reduced(gone: Bools, household: Ints | None) -> int:
    """How many households lose some of their members and not all."""
    if household is None:
        return 0
    lost, members = np.bincount(household, weights=gone), np.bincount(household)
    return int(((lost > 0) & (lost < members)).sum())
