"""Random swapping: pairs of records drawn at random change values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tacita import check
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Doc, NotEmpty, Share
from tacita.protect.step import Applied, CellStep, Context, present
from tacita.protect.swap.exchange import exchanged, movable, patterns, rounded_at_random
from tacita.protect.weights.units import cells_of
from tacita.random import Draws


def random_pairs(group: Ints, pairs: Ints, bits: Ints) -> Ints:
    """By record the record that it is paired with, itself where it is in no pair; pairs are inside groups.

    The first 2 `pairs` records of each group, by their random bits, are paired one after the other.
    """
    order = np.lexsort((bits, group))
    sizes = np.bincount(group, minlength=len(pairs))
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rank = np.arange(len(group)) - start
    inside = rank < 2 * np.repeat(pairs, sizes)
    partner = np.arange(len(group))
    partner[order[inside]] = order[(start + (rank ^ 1))[inside]]
    return partner


def swapped_rows(group: Ints, rate: float, record: Ints, draws: Draws) -> Ints:
    """By record the record that it changes values with, for a share of the records of each group."""
    sizes = np.bincount(group)
    # Strata that are swapped one after the other must not all be rounded alike: each has a first record of its own.
    uniform = float(draws.step("rounding").uniform(record.min(initial=np.iinfo(np.int64).max)))
    pairs = np.minimum(rounded_at_random(sizes * rate / 2, uniform), sizes // 2)
    return random_pairs(group, pairs, draws.bits(record).view(np.int64))


@dataclass(frozen=True)
class RandomSwap(CellStep):
    """Exchange the values of some variables between pairs of records drawn at random.

    Nobody can be sure any more that a value belongs to the record beside which it stands; how often each value occurs
    stays as it was. `rate` is the share of records that take part. With `within`, pairs agree in those variables, whose
    relations to the swapped ones are thereby kept. The variables move together, or each between pairs of its own.
    Missing values and codes stay: records change values with others that have an answer in the same variables.

    Dalenius and Reiss (1982), Data-swapping: a technique for disclosure control. Journal of Statistical Planning and
    Inference 6.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m", "m", "m"], "area": [1, 2, 3, 4, 5, None]})
    >>> plan = tc.Plan([RandomSwap("area", rate=0.7, within="sex")])
    >>> plan.apply(people, tc.Scenario(keys=["sex", "area"]), seed=1).data.table["area"].to_list()
    [3, 2, 1, 5, 4, None]
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables to swap, of any kind.")]
    rate: Annotated[float, Share(zero=False), Doc("The share of records that change values with another.")]
    within: Annotated[tuple[str, ...], Doc("Variables in which the two records of a pair agree.")] = ()
    together: Annotated[
        bool, Doc("Whether a pair changes all of the variables; else each is swapped by itself, in other pairs.")
    ] = True

    def __post_init__(self) -> None:
        both = [name for name in self.variables if name in self.within]
        if both:
            raise TacitaError(f"pairs that agree in {check.quoted(both)} cannot change it; name it in one place only.")

    @property
    def draws(self) -> bool:
        """The pairs are drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with values exchanged in pairs."""
        names = present(self, self.variables, data)
        cell, _ = cells_of(data, present(self, self.within, data))
        blocks = [names] if self.together else [(name,) for name in names]
        swapped, made = {}, data
        for block in blocks:
            cells = {name: movable(data, name) for name in block}
            source = self._source(data, cell, cells, context.draws.step(block[0]))
            swapped.update(dict.fromkeys(block, int((source != np.arange(len(data))).sum())))
            made = exchanged(made, source, cells)
        given = {"method": "random swapping", "rate": self.rate, "within": self.within, "together": self.together}
        swapping = Mechanism("swapping", names, {**given, "records": len(data), "swapped": swapped}, perturbs=True)
        return Applied(
            made, _remarks(swapped, len(data)), {"swapped": swapped}, (swapping,), (swapping.with_parameters(*given),)
        )

    def _source(self, data: Data, cell: Ints, cells: dict[str, Bools], draws: Draws) -> Ints:
        """By row the row that its values come from."""
        order = np.argsort(data.record, kind="stable")
        able = order[np.logical_or.reduce(list(cells.values()))[order]]
        pattern = patterns(cells.values(), len(data))[able]
        _, group = np.unique(cell[able] * (int(pattern.max(initial=0)) + 1) + pattern, return_inverse=True)
        source = np.arange(len(data))
        source[able] = able[swapped_rows(group, self.rate, data.record[able], draws)]
        return source


def _remarks(swapped: dict[str, int], records: int) -> tuple[str, ...]:
    few = [name for name, count in swapped.items() if not count]
    if few:
        return (f"{check.quoted(few)}: nothing swapped in {check.counted(records, 'record')}; choose a higher rate",)
    counts = ", ".join(f"{name} {count:,}" for name, count in swapped.items())
    return (f"records in pairs: {counts}",)
