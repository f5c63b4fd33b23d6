"""Recalibrate weights: to totals that are known, or to those of the original file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import survey_weights
from tacita.mechanism import Mechanism
from tacita.parameters import Doc, OneOf, Shape, Share
from tacita.protect.only import chosen_records, unknown_numbers
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.protect.weights.calibration import Calibrated, Distance, calibrate
from tacita.protect.weights.margins import (
    Margin,
    all_totals,
    check_agreement,
    crossed,
    design_of,
    given_margin,
    original_margin,
)
from tacita.protect.weights.units import (
    UnitWeights,
    WeightName,
    by_unit,
    constant,
    household_remarks,
    unit_weights,
    with_weights,
)
from tacita.scenario import Scenario

METHODS = ("raking", "linear")


def factor_bounds(what: str, given: Any) -> tuple[float, float]:
    """A factor below 1 and one above it."""
    try:
        low, high = (check.number(what, each) for each in given)
    except (TypeError, ValueError):
        raise TacitaError(f"{what} must be two numbers, as (0.5, 2); got {check.given(given)}.") from None
    if not 0 < low < 1 < high:
        raise TacitaError(f"{what} must be one number between 0 and 1 and one above 1; got {check.given(given)}.")
    return low, high


@dataclass(frozen=True)
class Recalibrate(CellStep):
    """Change weights as little as possible so that weighted totals come out as they should.

    Sampling, suppression of records, noise and trimming move every estimate; calibration puts those right that users
    check first. `variables` get the weighted totals of the original file, `totals` those given; `"sex x region"` is the
    margin of every combination of both. Raking (F = exp, never negative) or the linear method (the regression
    estimator); with `bounds` the nearest weights within them. A record whose value is missing takes no part in that
    variable's totals. Where all members of every household share one weight they still do: the household's mean stands
    for each of them (Lemaître and Dufour 1987).

    Deville and Särndal (1992), Calibration estimators in survey sampling. JASA 87, 376-382.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m"], "w": [10.0, 30.0, 20.0]})
    >>> plan = tc.Plan([Recalibrate(totals={"sex": {"f": 60, "m": 50}})])
    >>> plan.apply(people, tc.Scenario(keys=["sex"], weight="w")).data.table["w"].round(6).to_list()
    [15.0, 45.0, 50.0]
    """

    selects_itself: ClassVar[bool] = True

    variables: Annotated[
        tuple[str, ...],
        Doc("Variables whose weighted totals should be those of the original file; crossed: 'sex x region'."),
    ] = ()
    totals: Annotated[
        Mapping[str, Mapping[str, float]],
        Shape("table of totals by category, by variable", all_totals),
        Doc(
            "By variable the total of each category, as {'sex': {'f': 5000, 'm': 4800}}; crossed: {'sex x region': "
            "{'f x north': 900, ...}}."
        ),
    ] = field(default_factory=dict)
    method: Annotated[str, OneOf(METHODS), Doc("Raking, whose weights are never negative, or the linear method.")] = (
        "raking"
    )
    bounds: Annotated[
        tuple[float, float] | None,
        Shape("two numbers, one between 0 and 1 and one above 1", factor_bounds),
        Doc("Least and greatest factor by which a weight may change, as (0.5, 2)."),
    ] = None
    tolerance: Annotated[
        float, Share(zero=False, one=False), Doc("The greatest relative deviation from a total that counts as met.")
    ] = 1e-8
    weight: WeightName = None

    def __post_init__(self) -> None:
        if not self.variables and not self.totals:
            raise TacitaError("recalibrate needs variables (to keep the original's totals) or totals; give either.")
        both = [name for name in self.variables if name in self.totals]
        if both:
            raise TacitaError(f"give each variable once, in variables or in totals; got {check.quoted(both)} in both.")
        if self.strata:
            raise TacitaError(
                "recalibrate meets totals of the whole file; cross the strata with its variables, as 'region x sex'."
            )

    @property
    def usual_label(self) -> str:
        """The label unless one is given: all variables that it names."""
        return f"{self.kind()} {', '.join([*self.variables, *self.totals])}"

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with calibrated weights: totals of all records, met by changing the weights of those of `only`."""
        names = (*self.variables, *self.totals)
        present(self, tuple(dict.fromkeys(part for name in names for part in crossed(name, data.columns))), data)
        given = unit_weights(self, self.weight, (), data, context)
        before = _original_weights(given.name, context.original) if self.variables else np.empty(0)
        margins = [original_margin(name, data, context.original, before) for name in self.variables]
        margins += [given_margin(name, data, self.totals[name]) for name in self.totals]
        check_agreement(margins)
        chosen = chosen_records(self.only, data, context.scenario, context.policy, context.original)
        found = self._calibrated(margins, given, chosen_units(chosen, given), context)
        self._check(found, given)
        parameters = {"way": "calibration", "method": self.method, "margins": names, "bounds": self.bounds}
        calibration = Mechanism("weights", (given.name,), parameters)
        return Applied(
            with_weights(data, given, given.weight * found.factor),
            (*_remarks(names, margins, found), *household_remarks(given), *unknown_numbers(self.only, data)),
            _figures(found),
            (calibration,),
            (calibration.with_parameters("way", "method", "margins"),),
        )

    def _calibrated(self, margins: list[Margin], given: UnitWeights, chosen: Bools, context: Context) -> Calibrated:
        """Factors of all units, 1 of those that may not change: what they add to a total is taken off it."""
        low, high = self.bounds or ((0.0, np.inf) if self.method == "raking" else (-np.inf, np.inf))
        distance = Distance(self.method == "raking", low, high)
        design, totals = design_of(margins, given)
        mass = given.weight * given.size
        if chosen.all():
            return calibrate(design, mass, totals, distance, self.tolerance, context.progress)
        left = totals - design[~chosen].T @ mass[~chosen]
        reached = design[chosen].sum(axis=0) > 0
        met = np.abs(left) <= self.tolerance * totals
        beyond = int((np.where(reached, left <= 0, ~met)).sum())
        if beyond or not reached.any():
            raise TacitaError(
                f"the records of `only` cannot meet the totals of {check.counted(beyond, 'category', 'categories')} "
                f"alone; choose more records, or leave only out."
            )
        some = design[chosen][:, np.flatnonzero(reached)]
        found = calibrate(some, mass[chosen], left[reached], distance, self.tolerance, context.progress)
        factor = np.ones(len(mass))
        factor[chosen] = found.factor
        return found._replace(factor=factor)

    def _check(self, found: Calibrated, given: UnitWeights) -> None:
        if not found.deviation <= self.tolerance:
            way = "merge small categories, drop a variable" + (" or widen the bounds" if self.bounds else "")
            raise TacitaError(
                f"no weights meet these totals: the nearest are off by {100 * found.deviation:.2g} %; {way}."
            )
        wrong = int(given.size[found.factor <= 0].sum())
        if wrong:
            raise TacitaError(
                f"linear calibration would give {check.counted(wrong, 'record')} a weight of 0 or below; "
                f"use method='raking', or bounds=(0.1, 10)."
            )


def chosen_units(chosen: Bools, given: UnitWeights) -> Bools:
    """By unit: whether its weight may change; members of a household that share one weight are chosen together."""
    if not constant(chosen, given.units):
        raise TacitaError(
            "only must choose all members of a household or none, since they share one weight; choose by households."
        )
    return by_unit(chosen, given.units)


def _figures(found: Calibrated) -> dict[str, Any]:
    return {
        "rounds": found.rounds,
        "deviation": found.deviation,
        "least_factor": float(found.factor.min()),
        "greatest_factor": float(found.factor.max()),
    }


def _original_weights(name: str, original: Data) -> Floats:
    if name not in original.columns:
        raise TacitaError(f"the original has no weight {name!r}; give totals in place of variables.")
    weights = survey_weights(original, Scenario(numeric_keys=(name,), weight=name))
    assert weights is not None
    return weights


def _remarks(names: tuple[str, ...], margins: list[Margin], found: Calibrated) -> list[str]:
    said = [f"totals of {check.quoted(names)} met within {found.deviation:.0e} after {found.rounds} rounds"]
    for margin in margins:
        left = int((margin.codes < 0).sum())
        if left:
            said.append(f"{check.counted(left, 'record')} without {margin.name!r} left out of its totals")
    return said
