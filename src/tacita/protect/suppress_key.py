"""Suppress one key in the records whose individual risk is above a threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from tacita import check
from tacita.arrays import Bools
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import key_table
from tacita.mechanism import Mechanism
from tacita.parameters import Doc
from tacita.protect.only import chosen_records, unknown_numbers
from tacita.protect.shapes import RISK_LIMIT
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.risk.identity.individual_risk import risk_of_keys
from tacita.scenario import Scenario


@dataclass(frozen=True)
class SuppressKey(CellStep):
    """Suppress one named key in all records whose individual risk is above a threshold (sdcMicro's localSupp).

    Where it is known which variable makes records stand out, and which one analysts can spare, this takes it from those
    at risk and leaves every other cell. It is done once and promises nothing: who is still above the threshold
    afterwards is counted in the log. `Suppress` chooses the cells itself and goes on until everybody is safe.

    The risk is that of the main keys, or of the first key set with the variable. A variable of households is suppressed
    for all members. Missing cells stay as they are.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [30, 30, 30, 81]})
    >>> release = tc.Plan([SuppressKey("age", risk=0.6)]).apply(people, tc.Scenario(keys=["sex", "age"]))
    >>> release.data.table["age"].to_list()
    [30, 30, None, None]
    """

    variable: Annotated[str, Doc("The key that is suppressed.")]
    risk: Annotated[
        float | bool, RISK_LIMIT, Doc("Suppressed in records with a higher individual risk; true: the policy's.")
    ] = field(default=True, kw_only=True)

    selects_itself: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.strata:
            raise TacitaError("suppress_key goes by the risk in the whole file; use only in place of strata.")

    @property
    def adds_missing(self) -> bool:
        """Suppressed cells are missing."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with the key suppressed where the risk is above the threshold."""
        (name,) = present(self, (self.variable,), data)
        scenario, threshold = context.scenario, self._threshold(context)
        keys = self._keys(scenario)
        if "" in data.variable(name).not_applicable:
            raise TacitaError(
                f"a blank of {name!r} stands for not applicable, so it cannot be suppressed; give blanks a code first, "
                f"as Recode({name!r}, mapping={{'': 'not applicable'}})."
            )
        above = self._above(data, scenario, keys, threshold)
        free = np.ones(len(data), dtype=np.bool_)
        if self.only is not None:
            free = chosen_records(self.only, data, scenario, context.policy, context.original)
        where = self._with_household(above & free, data, scenario) & ~data.missing(name)
        made = data.blanked({name: where}) if where.any() else data
        left = self._above(made, scenario, keys, threshold)
        cells = _number(where, data)
        suppression = Mechanism("suppression", (name,), {"risk": threshold, "cells": {name: cells}})
        figures = {"threshold": threshold, "above": _number(above, data), "cells": cells}
        figures["left"] = _number(left, data)
        remarks = (*_remarks(above, left, where, threshold, data), *unknown_numbers(self.only, data))
        return Applied(made, remarks, figures, (suppression,), (suppression.with_parameters(),))

    def _threshold(self, context: Context) -> float:
        if self.risk is not True:
            return float(self.risk)
        if context.policy.risk is None:
            raise TacitaError("the policy has no risk; pass risk=0.1 to the step.")
        return context.policy.risk

    def _keys(self, scenario: Scenario) -> tuple[str, ...]:
        """The keys that the risk is measured on."""
        for key_set in scenario.sets.values():
            if self.variable in key_set.keys:
                return key_set.keys
        raise TacitaError(
            f"suppress_key takes a key of the scenario; {self.variable!r} is none of "
            f"{check.quoted(scenario.all_keys) or 'them'}."
        )

    def _above(self, data: Data, scenario: Scenario, keys: tuple[str, ...], threshold: float) -> Bools:
        above: Bools = risk_of_keys(data, scenario, key_table(data, scenario, keys)).risk > threshold
        return above

    def _with_household(self, where: Bools, data: Data, scenario: Scenario) -> Bools:
        """All members of their households, where the variable is one of households: housemates would tell it."""
        if scenario.household is None or self.variable not in scenario.household_variables:
            return where
        household, count, _ = data.households(scenario.household)
        return (np.bincount(household, weights=where, minlength=count) > 0)[household]


def _number(where: Bools, data: Data) -> int:
    """How many records are meant: rows can stand for many records each."""
    return int(where.sum() if data.condensed is None else data.condensed.records[where].sum())


def _remarks(above: Bools, left: Bools, where: Bools, threshold: float, data: Data) -> list[str]:
    """Who was above the threshold, and who still is."""
    if not above.any():
        return [f"no record above a risk of {threshold:g}"]
    said = [f"{check.counted(_number(above, data), 'record')} above a risk of {threshold:g}"]
    fresh = _number(left & ~above, data)
    if left.any():
        since = f", {fresh:,} of them only since others no longer show the key" if fresh else ""
        said.append(f"{check.counted(_number(left, data), 'record')} above it afterwards{since}")
    with_others = _number(where & ~above, data)
    if with_others:
        said.append(f"{check.counted(with_others, 'cell')} of their housemates with them")
    return said
