"""Noise on weights: each multiplied by a random factor, the total kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Above, AtLeast, AtMost, Doc
from tacita.protect.step import Applied, CellStep, Context
from tacita.protect.weights.totals import cell_totals, check_limits, scaled_between
from tacita.protect.weights.units import UnitWeights, WeightName, household_remarks, unit_weights, with_weights
from tacita.random import Draws


def noisy(given: UnitWeights, sd: float, least: float, draws: Draws) -> Floats:
    """Weights times exp(sd z - sd^2/2), z standard normal, scaled so that each group keeps its total."""
    factor = np.exp(sd * draws.normal(given.units.first) - sd * sd / 2)
    total = cell_totals(given.weight * given.size, given.cell, given.cells)
    check_limits(given.size, given.cell, total, least, np.inf)
    return scaled_between(given.weight * factor, given.size, given.cell, total, least)


@dataclass(frozen=True)
class WeightNoise(CellStep):
    """Multiply weights by random factors of mean 1 and standard deviation of about `sd`; the total stays.

    A weight is often the same for all of a stratum, and whoever knows the design reads the stratum off it
    (`weight_disclosure`). The noise hides that once it is about as large as the differences between strata. The factors
    are log-normal, so that weights stay positive: w' = max(c w exp(sd z - sd^2/2), least), with c such that the total
    is kept.

    The weight then counts as perturbed. The risk of the release comes from the weights as they were.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "m"] * 50, "w": [10.0] * 50 + [30.0] * 50})
    >>> release = tc.Plan([WeightNoise(0.2)]).apply(people, tc.Scenario(keys=["sex"], weight="w"))
    >>> weights = release.data.table["w"]
    >>> round(weights.sum(), 6), weights.n_unique()
    (2000.0, 100)
    """

    sd: Annotated[
        float, Above(0), AtMost(5), Doc("Standard deviation of the factors; 0.1 changes weights by about 10 %.")
    ]
    least: Annotated[float, AtLeast(0), Doc("No weight is put below this: a unit stands for at least itself.")] = 1.0
    within: Annotated[
        tuple[str, ...], Doc("Variables in whose groups the total is kept; none: in the whole file.")
    ] = ()
    weight: WeightName = None

    @property
    def draws(self) -> bool:
        """The noise is drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with noise on the weights."""
        given = unit_weights(self, self.weight, self.within, data, context)
        fresh = noisy(given, self.sd, self.least, context.draws)
        ratio = fresh / given.weight
        lowest = int(given.size[fresh == self.least].sum())
        said = (f"{check.counted(lowest, 'weight is', 'weights are')} at the least",) if lowest else ()
        parameters = {"distribution": "log-normal factor", "sd": self.sd, "least": self.least, "within": self.within}
        noise = Mechanism("noise", (given.name,), parameters, perturbs=True)
        return Applied(
            with_weights(data, given, fresh),
            (*said, *household_remarks(given)),
            {"spread": float(np.std(ratio)), "at_least": lowest},
            (noise,),
            (noise.with_parameters("distribution", "sd"),),
        )
