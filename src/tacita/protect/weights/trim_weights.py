"""Trim weights: none below a least or above a most, the total kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Above, Doc, Share
from tacita.protect.step import Applied, CellStep, Context
from tacita.protect.weights.totals import cell_totals, check_limits, scaled_between
from tacita.protect.weights.units import UnitWeights, WeightName, household_remarks, unit_weights, with_weights

ROUNDING = 1e-6
"""0.29 of 100 records are 29, not 28.999999999999996."""


def limit_of_share(weight: Floats, size: Floats, share: float) -> float:
    """The weight that the records of the greatest weights are cut to, if they are at most this share of all."""
    order = np.argsort(-weight, kind="stable")
    above = np.cumsum(size[order])
    # At least the smallest weight is there to be cut to.
    cut = min(int(np.searchsorted(above, share * above[-1] + ROUNDING, side="right")), len(order) - 1)
    return float(weight[order[cut]])


@dataclass(frozen=True)
class TrimWeights(CellStep):
    """Bring weights between `least` and `most`, and spread what is cut off over the others so that the total stays.

    A very large weight marks a rare kind of unit, and a few of them carry the estimates. Those inside the limits are
    multiplied by one factor c, found so that the total stays: w' = min(max(c w, least), most). Without weights outside
    the limits nothing changes. Trimming biases estimates for what the large weights stand for: recalibrate afterwards.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "m", "m"], "w": [1.0, 3.0, 8.0]})
    >>> release = tc.Plan([TrimWeights(most=6)]).apply(people, tc.Scenario(keys=["sex"], weight="w"))
    >>> release.data.table["w"].to_list()
    [1.5, 4.5, 6.0]
    """

    least: Annotated[float | None, Above(0), Doc("No weight below this.")] = None
    most: Annotated[float | None, Above(0), Doc("No weight above this.")] = None
    share: Annotated[
        float | None,
        Share(zero=False, one=False),
        Doc(
            "In place of `most`: at most this share of the records, those of the greatest weights, is cut"
            " down to the next greatest weight."
        ),
    ] = None
    within: Annotated[
        tuple[str, ...], Doc("Variables in whose groups the total is kept; none: in the whole file.")
    ] = ()
    weight: WeightName = None

    def __post_init__(self) -> None:
        if self.most is not None and self.share is not None:
            raise TacitaError("trim_weights takes either most or share as its upper limit; give one of them.")
        if self.least is None and self.most is None and self.share is None:
            raise TacitaError("trim_weights needs a limit; give least, most or share.")
        if self.least is not None and self.most is not None and self.least >= self.most:
            raise TacitaError(f"least must be below most; got {check.given(self.least)} and {self.most!r}.")

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with trimmed weights."""
        given = unit_weights(self, self.weight, self.within, data, context)
        least = self.least or 0.0
        most = np.inf if self.most is None else self.most
        if self.share is not None:
            most = limit_of_share(given.weight, given.size, self.share)
            if most < least:
                raise TacitaError(f"share = {self.share!r} would cut weights to below least; lower one of them.")
        fresh, low, high = _trimmed(given, least, most, self.share is not None)
        found = {"above": high, "below": low}
        remarks = [f"{check.counted(count, 'weight')} {word} the limit" for word, count in found.items() if count]
        limits = {"least": self.least, "most": self.most, "share": self.share, "within": self.within}
        trimming = Mechanism("weights", (given.name,), {"way": "trimming", **limits, "weights": found})
        said = (*remarks, *household_remarks(given))
        return Applied(with_weights(data, given, fresh), said, found, (trimming,), (trimming.with_parameters("way"),))


def _trimmed(given: UnitWeights, least: float, most: float, by_share: bool) -> tuple[Floats, int, int]:
    low, high = given.weight < least, given.weight > most
    cells = np.unique(given.cell[low | high])
    if not len(cells):
        return given.weight, 0, 0
    # Groups in which every weight is inside the limits stay as they are, to the last bit.
    inside = np.isin(given.cell, cells)
    place = np.searchsorted(cells, given.cell[inside])
    weight, size = given.weight[inside], given.size[inside]
    total = cell_totals(weight * size, place, len(cells))
    check_limits(size, place, total, least, most, "share" if by_share else "most")
    fresh = given.weight.copy()
    fresh[inside] = scaled_between(weight, size, place, total, least, most)
    return fresh, int(given.size[low].sum()), int(given.size[high].sum())
