"""A random sample of the file, with weights that make up for those who are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import repeated_units, survey_weights
from tacita.mechanism import Mechanism
from tacita.parameters import COLUMN, AtLeast, Doc, OneOf, Share
from tacita.protect.step import Applied, Context, Step, present
from tacita.protect.weights.totals import cell_totals
from tacita.protect.weights.units import Units, WeightName, by_unit, cells_of, constant, household_units, units
from tacita.scenario import Scenario

ALLOCATIONS = ("proportional", "equal")


def shares_of(size: int, there: Ints, allocation: str) -> Floats:
    """By stratum how many units it should give, as a fraction: in proportion, or as many each as far as it has them.

    >>> shares_of(10, np.array([2, 30, 50]), "equal").tolist()
    [2.0, 4.0, 4.0]
    """
    if allocation == "proportional":
        return np.asarray(size * there / there.sum(), dtype=np.float64)
    ordered = np.sort(there)
    before = np.cumsum(ordered) - ordered
    # The level at which the strata from each one on share what the smaller ones leave.
    level = (size - before) / np.arange(len(there), 0, -1)
    enough = np.flatnonzero(level <= ordered)
    return np.asarray(np.minimum(there, level[enough[0]] if len(enough) else there.max()), dtype=np.float64)


def allocated(size: int, there: Ints, quota: Floats) -> Ints:
    """By stratum the whole number of units to draw, nearest to the quota: at least one, at most those there, `size` in
    all. The greatest remainders are rounded up; of equal ones the first.

    >>> allocated(5, np.array([10, 10, 1]), np.array([2.4, 2.4, 0.2])).tolist()
    [2, 2, 1]
    """
    wanted = np.clip(np.floor(quota), 1, there).astype(np.int64)
    while left := size - int(wanted.sum()):
        change = 1 if left > 0 else -1
        free = np.flatnonzero(wanted < there if left > 0 else wanted > 1)
        first = free[np.argsort(-change * (quota - wanted)[free], kind="stable")][: abs(left)]
        wanted[first] += change
    return wanted


def drawn_units(stratum: Ints, wanted: Ints, bits: Any) -> Bools:
    """By unit whether it is drawn: in each stratum as many as wanted, those with the smallest random numbers."""
    order = np.lexsort((bits, stratum))
    count = np.bincount(stratum, minlength=len(wanted))
    rank = np.empty(len(stratum), dtype=np.int64)
    rank[order] = np.arange(len(stratum)) - np.repeat(np.cumsum(count) - count, count)
    chosen: Bools = rank < wanted[stratum]
    return chosen


@dataclass(frozen=True)
class Sample(Step):
    """Release a random sample of the file, drawn by strata if they are named, with weights adjusted.

    Who is in the sample is not known to an intruder: one who finds a single record that fits cannot be sure that the
    person is in the file at all. Fewer records share a key (f falls), and the population is what it was (F stays). Who
    is unique in the population stays so, and is found if drawn.

    In each stratum h, m_h of its n_h units are drawn without replacement, each with the probability m_h/n_h, and the
    weight of a record becomes w n_h/m_h, so that every total is estimated without bias (Horvitz and Thompson 1952).
    With `keep_totals` it becomes w W_h/W'_h, W_h and W'_h being the stratum's weights before and after, which keeps the
    total of every stratum exactly. Households are drawn whole, and so are persons with several records.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"region": ["n"] * 6 + ["s"] * 4, "w": [10.0] * 6 + [5.0] * 4})
    >>> plan = tc.Plan([Sample(0.5, strata="region")])
    >>> release = plan.apply(people, tc.Scenario(keys=["region"], weight="w"), seed=1)
    >>> release.data.table["w"].to_list()
    [20.0, 20.0, 20.0, 10.0, 10.0]
    """

    fraction: Annotated[
        float | None,
        Share(zero=False, one=False),
        Doc("The sampling fraction: the share of units that are drawn; or give `size`."),
    ] = None
    size: Annotated[int | None, AtLeast(1), Doc("The number of units that are drawn; or give `fraction`.")] = None
    strata: Annotated[tuple[str, ...], Doc("Variables: units are drawn from each group that agrees in them.")] = ()
    allocation: Annotated[
        str, OneOf(ALLOCATIONS), Doc("How `size` is divided: by the size of strata, or as many from each.")
    ] = "proportional"
    households: Annotated[bool, Doc("Whether the scenario's households are drawn whole.")] = True
    keep_totals: Annotated[bool, Doc("Whether weights add up to what they did in each stratum, exactly.")] = False
    weight: WeightName = None
    new_weight: Annotated[
        str | None, COLUMN, Doc("A new variable for adjusted weights, as in a file without; none: the weight itself.")
    ] = None

    def __post_init__(self) -> None:
        if (self.fraction is None) == (self.size is None):
            raise TacitaError("sample takes either fraction (of the units) or size (their number); give one of them.")
        if self.fraction is not None and self.allocation != "proportional":
            raise TacitaError("allocation is for size; with fraction every stratum gives the same share.")

    @property
    def draws(self) -> bool:
        """Who is in the sample is drawn."""
        return True

    @property
    def keeps_records(self) -> bool:
        """The others are dropped."""
        return False

    def apply(self, data: Data, context: Context) -> Applied:
        """The sample."""
        name, weights = self._weights(data, context.scenario)
        groups = self._units(data, context.scenario)
        strata = units(cells_of(data, present(self, self.strata, data))[0], data.record)
        if not constant(strata.unit, groups):
            raise TacitaError(
                f"strata must be the same for all records that are drawn together; drop {check.quoted(self.strata)} or "
                f"what differs among them, or pass households=False."
            )
        stratum = by_unit(strata.unit, groups)
        there = np.bincount(stratum)
        wanted, raised = self._wanted(there)
        rows = np.flatnonzero(drawn_units(stratum, wanted, context.draws.bits(groups.first))[groups.unit])
        factor = self._factor(weights, strata.unit, rows, there / wanted)
        made = data.take(rows)
        if name is not None:
            made = made.with_columns({name: weights[rows] * factor[strata.unit[rows]]})
        figures = {"units": len(groups.first), "drawn": int(wanted.sum()), "strata": len(there), "raised": raised}
        asked = {"fraction": self.fraction, "size": self.size, "strata": self.strata, "allocation": self.allocation}
        sampling = Mechanism(
            "sampling", () if name is None else (name,), {**asked, "units": there, "drawn": wanted, **self._adjusted()}
        )
        public = sampling.with_parameters(*asked, "keep_totals")
        return Applied(made, self._remarks(figures, data, name), figures, (sampling,), (public,))

    def _adjusted(self) -> dict[str, Any]:
        return {"households": self.households, "keep_totals": self.keep_totals}

    def _weights(self, data: Data, scenario: Scenario) -> tuple[str | None, Floats]:
        """The column of the weights that are released, and the weights before, 1 in a file that has none."""
        name = self.weight or scenario.weight
        if self.new_weight is not None and self.new_weight in data.columns:
            raise TacitaError(f"new_weight must be a new name, and {self.new_weight!r} is in the file; choose another.")
        if name is None:
            return self.new_weight, np.ones(len(data))
        present(self, (name,), data)
        weights = survey_weights(data, Scenario(numeric_keys=(name,), weight=name))
        assert weights is not None
        return self.new_weight or name, weights

    def _units(self, data: Data, scenario: Scenario) -> Units:
        """What is drawn together: households, else persons, else records."""
        if self.households and scenario.household is not None:
            return household_units(data, scenario.household)
        unit = repeated_units(data, scenario)
        return units(np.arange(len(data)) if unit is None else unit, data.record)

    def _wanted(self, there: Ints) -> tuple[Ints, int]:
        """By stratum how many units are drawn, and how many strata would have had none."""
        every = int(there.sum())
        size = max(round((self.fraction or 0.0) * every), len(there)) if self.size is None else self.size
        if size > every:
            raise TacitaError(f"size must be at most the {check.counted(every, 'unit')} of the file; got {size:,}.")
        if size < len(there):
            raise TacitaError(
                f"size must be at least the {check.counted(len(there), 'stratum', 'strata')}, or some would be gone; "
                f"got {size:,}, or name fewer strata."
            )
        quota = shares_of(size, there, self.allocation) if self.fraction is None else np.float64(self.fraction) * there
        wanted = allocated(size, there, quota)
        return wanted, int((np.rint(quota) < 1).sum())

    def _factor(self, weights: Floats, stratum: Ints, rows: Ints, inverse: Floats) -> Floats:
        """By stratum what its weights are multiplied by."""
        if not self.keep_totals:
            return inverse
        before, after = (
            cell_totals(weights[which], stratum[which], len(inverse)) for which in (np.arange(len(weights)), rows)
        )
        return before / after

    def _remarks(self, figures: dict[str, int], data: Data, name: str | None) -> tuple[str, ...]:
        what = "units" if figures["units"] < len(data) else "records"
        where = f" in {check.counted(figures['strata'], 'stratum', 'strata')}" if self.strata else ""
        said = [f"{figures['drawn']:,} of {figures['units']:,} {what} drawn{where}"]
        if figures["raised"]:
            said.append(f"{check.counted(figures['raised'], 'stratum', 'strata')} would have had none and kept one")
        if name is None:
            said.append("no weight was adjusted, since there is none; name one in new_weight for analysts")
        return tuple(said)
