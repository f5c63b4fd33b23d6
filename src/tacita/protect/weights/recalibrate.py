"""Recalibrate weights: to totals that are known, or to those of the original file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.frame import Coded
from tacita.keys.table import survey_weights
from tacita.protect.mechanism import Mechanism
from tacita.protect.only import chosen_records, unknown_numbers
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.protect.weights.calibration import Calibrated, Distance, calibrate
from tacita.protect.weights.totals import cell_totals
from tacita.protect.weights.units import (
    Weighed,
    by_unit,
    checked_weight_name,
    constant,
    said_of_households,
    weighed,
    with_weights,
)
from tacita.scenario import Scenario

METHODS = ("raking", "linear")
AGREE = 1e-6
"""Totals of two variables that differ by a greater share cannot both be met."""


class Margin(NamedTuple):
    """One variable's categories and the totals that they should have."""

    name: str
    codes: Ints
    """For each row the place of its category, -1 where the value is missing."""
    totals: Floats
    """By category."""


@dataclass(frozen=True)
class Recalibrate(CellStep):
    """Change weights as little as possible so that weighted totals come out as they should.

    Sampling, suppression of records, noise and trimming move every estimate; calibration puts those right that users
    check first. `variables` get the weighted totals of the original file, `totals` those given. Raking (F = exp, never
    negative) or the linear method (the regression estimator); with `bounds` the nearest weights within them. A record
    whose value is missing takes no part in that variable's totals. Where all members of every household share one
    weight they still do: the household's mean stands for each of them (Lemaître and Dufour 1987).

    Deville and Särndal (1992), Calibration estimators in survey sampling. JASA 87, 376-382.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m"], "w": [10.0, 30.0, 20.0]})
    >>> plan = tc.Plan([Recalibrate(totals={"sex": {"f": 60, "m": 50}})])
    >>> plan.apply(people, tc.Scenario(keys=["sex"], weight="w")).data.table["w"].round(6).to_list()
    [15.0, 45.0, 50.0]
    """

    selects_itself: ClassVar[bool] = True

    variables: tuple[str, ...] = ()
    """Variables whose weighted totals should be those of the original file."""
    totals: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By variable the total of each category."""
    method: str = "raking"
    """raking or linear."""
    bounds: tuple[float, float] | None = None
    """Least and greatest factor by which a weight may change, as (0.5, 2)."""
    tolerance: float = 1e-8
    """The greatest relative deviation from a total that counts as met."""
    weight: str | None = None
    """The weight; none: the scenario's."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "variables", check.names("variables", self.variables))
        put(
            self, "totals", {name: _totals(name, given) for name, given in check.mapping("totals", self.totals).items()}
        )
        if not self.variables and not self.totals:
            raise TacitaError("recalibrate needs variables (to keep the original's totals) or totals; give either.")
        both = [name for name in self.variables if name in self.totals]
        if both:
            raise TacitaError(f"give each variable once, in variables or in totals; got {check.quoted(both)} in both.")
        check.one_of("method", self.method, METHODS)
        if self.bounds is not None:
            put(self, "bounds", _bounds(self.bounds))
        if not 0 < check.number("tolerance", self.tolerance) < 1:
            raise TacitaError(f"tolerance must be above 0 and below 1; got {self.tolerance!r}.")
        checked_weight_name(self.weight)
        if self.strata:
            raise TacitaError(
                "recalibrate meets totals of the whole file; name the strata among its variables, or a variable that "
                "combines both."
            )

    @property
    def usual_label(self) -> str:
        """The label unless one is given: all variables that it names."""
        return f"{self.kind()} {', '.join([*self.variables, *self.totals])}"

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with calibrated weights: totals of all records, met by changing the weights of those of `only`."""
        names = present(self, (*self.variables, *self.totals), data)
        given = weighed(self, self.weight, (), data, context)
        before = _original_weights(given.name, context.original) if self.variables else np.empty(0)
        margins = [original_margin(name, data, context.original, before) for name in self.variables]
        margins += [given_margin(name, data, self.totals[name]) for name in self.totals]
        _check_agreement(margins)
        chosen = chosen_records(self.only, data, context.scenario, context.policy, context.original)
        found = self._calibrated(margins, given, chosen_units(chosen, given), context)
        self._check(found, given)
        parameters = {"way": "calibration", "method": self.method, "margins": names, "bounds": self.bounds}
        calibration = Mechanism("weights", (given.name,), parameters)
        return Applied(
            with_weights(data, given, given.weight * found.factor),
            (*_said(names, margins, found), *said_of_households(given), *unknown_numbers(self.only, data)),
            _figures(found),
            (calibration,),
            (calibration.told("way", "method", "margins"),),
        )

    def _calibrated(self, margins: list[Margin], given: Weighed, chosen: Bools, context: Context) -> Calibrated:
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

    def _check(self, found: Calibrated, given: Weighed) -> None:
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


def chosen_units(chosen: Bools, given: Weighed) -> Bools:
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


def _totals(name: str, given: Any) -> dict[str, float]:
    """Totals by category; categories as texts, which is how a file has them."""
    if not isinstance(given, Mapping) or not given:
        raise TacitaError(f"totals of {name!r} must be a table of categories, as in {{'f': 100}}; got {given!r}.")
    labels = [_label(category) for category in given]
    check.unique_names(f"categories of {name!r}", labels)
    found = {}
    for label, total in zip(labels, given.values(), strict=True):
        found[label] = check.number(f"the total of {label!r} in {name!r}", total)
        if found[label] < 0:
            raise TacitaError(f"the total of {label!r} in {name!r} must be at least 0; got {total!r}.")
    return found


def _label(category: Any) -> str:
    """A category as text: 1 and 1.0 are the same."""
    return str(int(category)) if isinstance(category, float) and category.is_integer() else str(category)


def _bounds(given: Any) -> tuple[float, float]:
    try:
        low, high = (check.number("bounds", each) for each in given)
    except (TypeError, ValueError):
        raise TacitaError(f"bounds must be two numbers, as (0.5, 2); got {given!r}.") from None
    if not 0 < low < 1 < high:
        raise TacitaError(f"bounds must be one number between 0 and 1 and one above 1; got {given!r}.")
    return low, high


def _original_weights(name: str, original: Data) -> Floats:
    if name not in original.columns:
        raise TacitaError(f"the original has no weight {name!r}; give totals in place of variables.")
    weights = survey_weights(original, Scenario(numeric_keys=(name,), weight=name))
    assert weights is not None
    return weights


def given_margin(name: str, data: Data, totals: Mapping[str, float]) -> Margin:
    """A variable whose totals were given."""
    coded = data.coded(name)
    labels = [_label(value) for value in coded.values]
    unknown = sum(label not in totals for label in labels)
    if unknown:
        raise TacitaError(
            f"totals of {name!r} leave out {check.counted(unknown, 'category', 'categories')} of the data; "
            f"give a total for each."
        )
    empty = [label for label, total in totals.items() if label not in labels and total > 0]
    if empty:
        raise TacitaError(
            f"no record has the {'categories' if len(empty) > 1 else 'category'} {check.quoted(empty)} of {name!r}, "
            f"so its total cannot be met; merge it with another."
        )
    wanted = np.array([totals[label] for label in labels])
    return _margin(name, coded.codes.astype(np.int64) - 1, wanted)


def original_margin(name: str, data: Data, original: Data, weights: Floats) -> Margin:
    """A variable whose totals are those of the original file, added up where categories were merged since."""
    if name not in original.columns:
        raise TacitaError(f"the original has no variable {name!r}; give its totals.")
    now, was = data.coded(name), original.coded(name)
    known = was.codes > 0
    before = cell_totals(weights[known], was.codes[known].astype(np.int64) - 1, len(was.values))
    target = _targets(name, data, original, now, was)
    gone = int((target < 0).sum())
    if gone:
        raise TacitaError(
            f"no record has {check.counted(gone, 'category', 'categories')} of {name!r} that the original has, "
            f"so its total cannot be met; merge categories first."
        )
    totals: Floats = np.zeros(len(now.values))
    np.add.at(totals, target, before)
    return _margin(name, now.codes.astype(np.int64) - 1, totals)


def _targets(name: str, data: Data, original: Data, now: Coded, was: Coded) -> Ints:
    """For each category of the original the one that it became, -1 if none.

    The records tell, where all of a category went to the same one. Where they were exchanged, or none is left, a
    category is the one with the same value.
    """
    places = {value: place for place, value in enumerate(now.values)}
    alike = np.array([places.get(value, -1) for value in was.values], dtype=np.int64)
    _, there, here = np.intersect1d(original.record, data.record, assume_unique=True, return_indices=True)
    before, after = was.codes[there].astype(np.int64) - 1, now.codes[here].astype(np.int64) - 1
    both = (before >= 0) & (after >= 0)
    pairs = np.unique(before[both] * len(now.values) + after[both])
    source, found = np.divmod(pairs, max(len(now.values), 1))
    if len(np.unique(source)) == len(source):
        alike[source] = found
    elif not set(now.values) <= set(was.values):
        raise TacitaError(
            f"the categories of {name!r} are not those of the original, nor a recoding of them; give its totals."
        )
    return alike


def _margin(name: str, codes: Ints, totals: Floats) -> Margin:
    if not len(totals):
        raise TacitaError(f"every value of {name!r} is missing, so its totals cannot be met; drop it.")
    zero = int((totals <= 0).sum())
    if zero:
        raise TacitaError(
            f"{check.counted(zero, 'category', 'categories')} of {name!r} with records should have a total of 0; "
            f"remove the records, or merge categories."
        )
    return Margin(name, codes, totals)


def _check_agreement(margins: list[Margin]) -> None:
    """Variables without missing values all count the same people."""
    complete = [margin for margin in margins if (margin.codes >= 0).all()]
    for other in complete[1:]:
        one, two = complete[0].totals.sum(), other.totals.sum()
        if abs(one - two) > AGREE * max(one, two):
            raise TacitaError(
                f"the totals of {complete[0].name!r} and {other.name!r} add up to different sums, so no weights "
                f"meet both; make them agree."
            )


def design_of(margins: list[Margin], given: Weighed) -> tuple[Any, Floats]:
    """By unit the share of its records in each category, as a sparse matrix, and the totals of all categories."""
    from scipy.sparse import csr_array

    rows, columns, offset = [], [], 0
    for margin in margins:
        known = np.flatnonzero(margin.codes >= 0)
        rows.append(given.units.unit[known])
        columns.append(margin.codes[known] + offset)
        offset += len(margin.totals)
    row = np.concatenate(rows)
    shape = (len(given.weight), offset)
    matrix = csr_array((1.0 / given.size[row], (row, np.concatenate(columns))), shape=shape)
    matrix.sum_duplicates()
    return matrix, np.concatenate([margin.totals for margin in margins])


def _said(names: tuple[str, ...], margins: list[Margin], found: Calibrated) -> list[str]:
    said = [f"totals of {check.quoted(names)} met within {found.deviation:.0e} after {found.rounds} rounds"]
    for margin in margins:
        left = int((margin.codes < 0).sum())
        if left:
            said.append(f"{check.counted(left, 'record')} without {margin.name!r} left out of its totals")
    return said
