"""Round weights so that their total is kept as nearly as can be (controlled rounding)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Above, AtLeast, AtMost, Doc
from tacita.protect.step import Applied, CellStep, Context
from tacita.protect.weights.totals import greatest_change
from tacita.protect.weights.units import UnitWeights, WeightName, household_remarks, unit_weights, with_weights
from tacita.random import Draws

SNAP = 1e-9
"""A quotient this near to a whole number is that number: 0.3 / 0.1 is not 2.9999999999999996."""

MOST_DIGITS = 15


def quotients(weight: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Whole multiples of the step and the part above, from 0 to 1; below one step the multiple is 1, the part negative.

    A weight of 0 would take the record out of every estimate.
    """
    quotient = weight / step
    whole = np.rint(quotient)
    quotient = np.where(np.abs(quotient - whole) <= SNAP * np.maximum(1.0, quotient), whole, quotient)
    low = np.maximum(np.floor(quotient), 1.0)
    return low, quotient - low


def nearest_ups(part: Floats, size: Floats, cell: Ints, cells: int) -> Bools:
    """Which to round up: the greatest parts, as many as bring each cell's total nearest.

    A unit of `size` adds that much to the total when it goes up. The largest sizes are settled first and hand what is
    left to the next smaller, so that the last, smallest ones make the total fit.
    """
    up = np.zeros(len(part), dtype=np.bool_)
    left = np.zeros(cells)
    for each in np.unique(size)[::-1]:
        members = np.flatnonzero(size == each)
        left += np.bincount(cell[members], weights=part[members] * each, minlength=cells)
        can = members[part[members] > 0]
        # Units stand by record number, which breaks ties.
        can = can[np.lexsort((-part[can], cell[can]))]
        many = np.bincount(cell[can], minlength=cells)
        wanted = np.clip(np.rint(left / each), 0, many)
        rank = np.arange(len(can)) - (np.cumsum(many) - many)[cell[can]]
        up[can[rank < wanted[cell[can]]]] = True
        left -= wanted * each
    return up


def random_ups(part: Floats, size: Floats, cell: Ints, first: Ints, draws: Draws) -> Bools:
    """Which to round up: each with the probability of its part, so many that every total stays within one step.

    Systematic sampling with unequal probabilities, in random order, by cell and size: the running sum of the parts
    moves on from a random start, and whoever takes it past a whole number goes up.
    """
    up = np.zeros(len(part), dtype=np.bool_)
    for each in np.unique(size):
        members = np.flatnonzero((size == each) & (part > 0))
        members = members[np.lexsort((draws.bits(first[members]), cell[members]))]
        running = np.cumsum(part[members])
        begins = np.flatnonzero(np.diff(cell[members], prepend=-1))
        lengths = np.diff(np.append(begins, len(members)))
        before = np.repeat(running[begins] - part[members][begins], lengths)
        start = np.repeat(draws.uniform(first[members][begins], 1), lengths)
        reach = running - before + start
        up[members] = np.floor(reach) > np.floor(reach - part[members])
    return up


def steps_of(weight: Floats, base: float | None, digits: int | None) -> tuple[Floats, Floats]:
    """The step of each weight as a fraction a / b of numbers that are exact: 1/10 rather than 0.1."""
    if digits is None:
        base = base or 1.0
        inverse = round(1 / base)
        top, under = (1.0, float(inverse)) if base < 1 and abs(inverse * base - 1) < SNAP else (base, 1.0)
        return np.full(len(weight), top), np.full(len(weight), under)
    power = np.floor(np.log10(weight)) - digits + 1
    return 10.0 ** np.maximum(power, 0), 10.0 ** np.maximum(-power, 0)


@dataclass(frozen=True)
class RoundWeights(CellStep):
    """Round weights to multiples of `base`, or to `digits` significant digits, and keep their total.

    Exact weights are fingerprints of strata and of single records; rounded ones are shared. The weights with the
    greatest remainders are rounded up, as many as bring the total nearest to what it was. With `random` a weight is
    rounded up with the probability of its remainder, so that every estimate stays unbiased. No weight becomes 0.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "m", "m"], "w": [2.4, 3.4, 4.2]})
    >>> release = tc.Plan([RoundWeights()]).apply(people, tc.Scenario(keys=["sex"], weight="w"))
    >>> release.data.table["w"].to_list()
    [3.0, 3.0, 4.0]
    """

    base: Annotated[float | None, Above(0), Doc("Round to multiples of this; 1 unless digits are given.")] = None
    digits: Annotated[int | None, AtLeast(1), AtMost(MOST_DIGITS), Doc("Or to so many significant digits.")] = None
    keep_total: Annotated[bool, Doc("Whether the total is kept; otherwise each weight is rounded by itself.")] = True
    within: Annotated[
        tuple[str, ...], Doc("Variables in whose groups the total is kept; none: in the whole file.")
    ] = ()
    random: Annotated[bool, Doc("Whether up or down is drawn, without bias.")] = False
    weight: WeightName = None

    def __post_init__(self) -> None:
        if self.base is not None and self.digits is not None:
            raise TacitaError("round_weights takes either base (round to its multiples) or digits; give one of them.")

    @property
    def draws(self) -> bool:
        """Weights are rounded up or down at random if `random` is set."""
        return self.random

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with rounded weights."""
        given = unit_weights(self, self.weight, self.within, data, context)
        if (self.base or 0.0) > float(given.weight @ given.size):
            raise TacitaError(f"base must be at most the total of the weights; got {check.given(self.base)}.")
        fresh = self._rounded(given, context.draws)
        change = greatest_change(given.weight, fresh, given.size, given.cell, given.cells)
        where = "the greatest total of a group" if given.cells > 1 else "the total"
        said = f"{where} changed by {100 * change:.2g} %" if change > SNAP else f"{where} is as it was"
        whole = frame.is_whole(data.table, given.name) and bool((fresh == np.rint(fresh)).all())
        to = {"base": self.base or 1.0} if self.digits is None else {"digits": self.digits}
        rounding = Mechanism("weights", (given.name,), {"way": "rounding", **to, "random": self.random})
        told = (said, *household_remarks(given))
        made = with_weights(data, given, fresh, whole)
        return Applied(made, told, {"change_of_total": change}, (rounding,), (rounding,))

    def _rounded(self, given: UnitWeights, draws: Draws) -> Floats:
        top, under = steps_of(given.weight, self.base, self.digits)
        low, part = quotients(given.weight * under, top)
        size = given.size * top / under
        first = given.units.first
        if self.keep_total and self.random:
            up = random_ups(part, size, given.cell, first, draws)
        elif self.keep_total:
            up = nearest_ups(part, size, given.cell, given.cells)
        else:
            up = part >= 0.5 if not self.random else draws.uniform(first) < part
        return (low + up) * top / under
