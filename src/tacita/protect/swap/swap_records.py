"""Targeted record swapping: households at risk change places with similar ones of other areas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import COLUMN, AtLeast, Doc, NotEmpty, Shape, Share
from tacita.protect.only import chosen_records, unknown_numbers
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.protect.swap.exchange import exchanged, movable, patterns, rounded_at_random
from tacita.protect.swap.household_problem import (
    areas,
    declared_risk,
    joined,
    key_codes,
    shared_codes,
    swapping_units,
    tells_area,
    whole_households,
)
from tacita.protect.swap.household_swaps import Problem, Swaps, household_swaps, smallest_counts
from tacita.protect.weights.units import Units, by_unit
from tacita.random import Draws

LEAST = 3
"""k where neither the step nor the policy names one."""


def profiles_of(what: str, given: Any) -> tuple[tuple[str, ...], ...]:
    """Lists of names; one list of names is one profile."""
    if given is None or isinstance(given, str):
        given = () if given is None else (given,)
    if not isinstance(given, Iterable):
        raise TacitaError(f"{what} must be a list of column names, or several such lists; got {check.given(given)}.")
    listed = tuple(given)
    if all(isinstance(each, str) for each in listed):
        return (check.names(what, listed),) if listed else ()
    return tuple(check.names(what, each) for each in listed)


@dataclass(frozen=True)
class SwapRecords(CellStep):
    """Let households at risk change places with similar households of other areas.

    A family of seven in a small town is found by anybody who knows the town. Swapped, it stands in the file as if it
    lived elsewhere, and a similar family in its place. All variables of the hierarchy move with the household, and
    those carried along; everything else stays where it was.

    With c_ih the number of persons who equal person i in the risk variables and in levels 1 to h of the hierarchy, the
    risk of a household at level h is the greatest 1/c_ih of its members. From the highest level down, a household with
    c_ih < k must swap, with an unused household of another area at that level that equals it in the first profile of
    `similar`, else the second, ...; donors are drawn with probability proportional to risk. Who finds no donor tries
    again at the next level. At the lowest level each area is filled up to rate/2 swaps per household, drawn in
    proportion to risk; a swap moves two households. Households that must swap do so whatever the rate.

    Shlomo, Tudor and Groom (2010), Data swapping for protecting census tables. Privacy in Statistical Databases.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({
    ...     "hid": [1, 1, 2, 2, 3, 3, 4, 4], "town": ["A"] * 4 + ["B"] * 4,
    ...     "job": ["smith", "none", "clerk", "none", "clerk", "none", "clerk", "none"],
    ... })
    >>> plan = tc.Plan([SwapRecords("town", risk_variables="job", k=2, rate=0)])
    >>> release = plan.apply(people, tc.Scenario(keys=["job"], household="hid"), seed=1)
    >>> release.data.table["town"].to_list()
    ['B', 'B', 'B', 'B', 'A', 'A', 'A', 'A']
    """

    hierarchy: Annotated[tuple[str, ...], NotEmpty(), Doc("The areas that are swapped, from the highest level down.")]
    similar: Annotated[
        Any,
        Shape("list of variables, or several such lists", profiles_of),
        Doc("Variables in which a household and its donor agree: a profile, or several, of which the first is best."),
    ] = ()
    risk_variables: Annotated[
        tuple[str, ...], Doc("Variables that make persons rare; none: the scenario's keys outside the hierarchy.")
    ] = ()
    k: Annotated[
        int | None,
        AtLeast(1),
        Doc("Households with a person that fewer than k equal must swap; none: the policy's, 1: no household must."),
    ] = None
    rate: Annotated[float, Share(), Doc("The share of households that are swapped at least.")] = 0.05
    carry_along: Annotated[tuple[str, ...], Doc("Variables that move with the hierarchy, such as smaller areas.")] = ()
    within: Annotated[
        tuple[str, ...],
        Doc("Variables in which a household and its donor always agree, as a region not to leave."),
    ] = ()
    same_size: Annotated[bool, Doc("Whether a donor has as many members, so that areas keep their persons.")] = True
    risk: Annotated[
        tuple[str, ...], Doc("Columns that hold a risk, one or one per level, in place of risk variables and k.")
    ] = ()
    threshold: Annotated[
        float | None, AtLeast(0), Doc("Households with a risk above this must swap; needed with `risk`.")
    ] = None
    household: Annotated[
        str | None, COLUMN, Doc("The identifier of households; none: the scenario's, or every record by itself.")
    ] = None

    selects_itself: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if bool(self.risk) != (self.threshold is not None):
            raise TacitaError("risk and threshold belong together; give both or none of them.")
        if self.risk and (self.risk_variables or self.k is not None):
            raise TacitaError("risk takes the place of risk_variables and k; leave those out.")
        twice = [name for name in self.carry_along if name in self.hierarchy]
        if twice:
            raise TacitaError(f"the hierarchy is always swapped; leave {check.quoted(twice)} out of carry_along.")

    @property
    def draws(self) -> bool:
        """Donors are drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with areas exchanged between households."""
        present(self, self._named(), data)
        household = self.household or context.scenario.household
        groups = swapping_units(data, None if household is None else present(self, (household,), data)[0])
        cells = {name: movable(data, name) for name in (*self.hierarchy, *self.carry_along)}
        shared_codes(data, "carry_along", self.carry_along, groups)
        problem = self._problem(data, groups, cells, context)
        found = household_swaps(problem, context.progress)
        member = by_unit(np.arange(len(data)), groups)
        made = exchanged(data, member[found.partner][groups.unit], cells)
        figures = self._figures(found, problem)
        leaks = self._telling(data, problem.area[-1], groups, household, context)
        swapping = Mechanism("swapping", tuple(cells), {**self._asked(context), "found": figures}, perturbs=True)
        return Applied(
            made,
            (*self._remarks(figures, found, groups), *leaks, *unknown_numbers(self.only, data)),
            figures,
            (swapping,),
            (swapping.with_parameters("method", "rate", "hierarchy"),),
        )

    def _named(self) -> tuple[str, ...]:
        similar = (name for profile in self.similar for name in profile)
        others = (*self.carry_along, *self.within, *self.strata, *self.risk_variables, *self.risk)
        return tuple(dict.fromkeys((*self.hierarchy, *similar, *others)))

    def _problem(self, data: Data, groups: Units, cells: dict[str, Bools], context: Context) -> Problem:
        count = len(groups.first)
        stratum = shared_codes(data, "strata", self.strata, groups)
        area = areas(data, self.hierarchy, stratum, groups)
        risk, must = self._risks(data, area, groups, context)
        agreed = joined(
            stratum,
            shared_codes(data, "within", self.within, groups),
            by_unit(patterns(cells.values(), len(data)), groups),
            np.bincount(groups.unit, minlength=count) if self.same_size else np.zeros(count, dtype=np.int64),
        )
        similar = [shared_codes(data, "similar", profile, groups) for profile in self.similar or ((),)]
        chosen = chosen_records(self.only, data, context.scenario, context.policy, context.original)
        homes = np.bincount(area[-1])
        return Problem(
            area=area,
            profile=np.stack([joined(agreed, codes) for codes in similar]),
            risk=risk,
            must=must,
            free=whole_households(chosen, groups),
            quota=rounded_at_random(homes * self.rate / 2, _first_uniform(context.draws, groups.first)),
            asking=_uniforms(context.draws.step("asking"), groups.first, len(area)),
            giving=_uniforms(context.draws.step("giving"), groups.first, len(area)),
        )

    def _risks(self, data: Data, area: Ints, groups: Units, context: Context) -> tuple[Floats, Bools]:
        """By level and household: the risk, and whether it is too high."""
        if self.threshold is not None:
            given = declared_risk(data, self.risk, len(area), groups)
            return given, np.asarray(given > self.threshold)
        keys = tuple(name for name in context.scenario.keys if name not in (*self.hierarchy, *self.carry_along))
        names = self.risk_variables or keys
        if not names:
            raise TacitaError("swap_records needs variables that make persons rare; pass risk_variables=[...].")
        key, k = key_codes(data, names), self._least(context)
        counts = [smallest_counts(key, each[groups.unit], groups.unit, len(groups.first)) for each in area]
        return 1 / np.stack(counts), np.stack(counts) < k

    def _least(self, context: Context) -> int:
        return self.k or context.policy.k or LEAST

    def _asked(self, context: Context) -> dict[str, Any]:
        risk = {"threshold": self.threshold} if self.risk else {"k": self._least(context)}
        named = {"hierarchy": self.hierarchy, "similar": self.similar, "within": self.within, "strata": self.strata}
        return {"method": "targeted record swapping", "rate": self.rate, **risk, **named, "same_size": self.same_size}

    def _figures(self, found: Swaps, problem: Problem) -> dict[str, Any]:
        """Counts of households, by level and by profile."""
        swapped, levels = found.level >= 0, len(self.hierarchy)
        by_level = {
            name: {
                "had_to_swap": int((found.first == level).sum()),
                "swapped": int((found.level == level).sum()),
                "without_donor": int(found.without_donor[level]),
            }
            for level, name in enumerate(self.hierarchy)
        }
        had_to = found.first < levels
        return {
            "households": len(swapped),
            "had_to_swap": int(had_to.sum()),
            "swapped": int(swapped.sum()),
            "share": float(swapped.mean()) if len(swapped) else 0.0,
            "without_donor": int((had_to & ~swapped & problem.free).sum()),
            "not_chosen": int((had_to & ~problem.free).sum()),
            "swapped_to_reach_the_rate": int((found.level == levels).sum()),
            "levels": by_level,
            "profiles": [int((found.profile == number).sum()) for number in range(len(problem.profile))],
        }

    def _remarks(self, figures: dict[str, Any], found: Swaps, groups: Units) -> list[str]:
        """What the log says: who had to swap, who did, and what that means."""
        swapped, share = figures["swapped"], figures["share"]
        every = check.counted(figures["households"], "household")
        said = [f"{figures['had_to_swap']:,} of {every} had to swap", f"{swapped:,} swapped ({share:.1%})"]
        for name, level in figures["levels"].items():
            if level["had_to_swap"] or level["without_donor"]:
                numbers = ", ".join(f"{level[what]:,} {what.replace('_', ' ')}" for what in level)
                said.append(f"across {name!r}: {numbers}")
        if figures["without_donor"]:
            said.append(f"{check.counted(figures['without_donor'], 'household')} at risk found no donor and stayed")
        if figures["not_chosen"]:
            said.append(f"{check.counted(figures['not_chosen'], 'household')} at risk not chosen by `only`, or in part")
        if swapped > self.rate * figures["households"] + 2 and figures["had_to_swap"]:
            said.append("more than the rate, since households at risk swap whatever it is; recode what makes them rare")
        if not swapped:
            said.append("nothing swapped")
        size = np.bincount(groups.unit, minlength=len(groups.first))
        moved = int((size != size[found.partner]).sum())
        if moved:
            said.append(
                f"{check.counted(moved, 'household')} swapped with one of another size: areas changed in persons"
            )
        return said

    def _telling(self, data: Data, area: Ints, groups: Units, household: str | None, context: Context) -> list[str]:
        """Columns that do not move and tell the true area."""
        moved = (*self.hierarchy, *self.carry_along, *self.within, *self.strata, household, context.scenario.person)
        names = [name for name in data.columns if name not in moved and tells_area(data, name, area, groups)]
        if not names:
            return []
        return [f"columns that stay, go with the areas and tell the true ones: {check.quoted(names)}; carry them along"]


def _uniforms(draws: Draws, first: Ints, levels: int) -> Floats:
    return np.stack([draws.uniform(first, level) for level in range(levels)])


def _first_uniform(draws: Draws, first: Ints) -> float:
    return float(draws.step("rounding").uniform(first.min(initial=np.iinfo(np.int64).max)))
