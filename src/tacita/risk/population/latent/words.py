"""What a reader should know of a fitted latent model: how it was chosen, and where it stands on little."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacita.arrays import Floats
from tacita.result import percent

if TYPE_CHECKING:
    from tacita.risk.population.latent.fit import Component, LatentModel

FEW_RECORDS = 1000
NEARLY_IMPOSSIBLE = 0.1
"""A key that the model expects fewer persons of the population to have than this."""
MUCH = 0.2
"""From this share of the expected re-identifications on a caution is due."""
MOST = 99.5
"""From this percentage on there is nothing beside."""
AROUND = np.array([-3.0, -1.5, 0.0])
"""Forecasts, in logarithms, of keys that could be in the sample or not: where cells that cannot occur matter."""


def notes(components: Sequence[tuple[float, Component]]) -> tuple[str, ...]:
    """How many classes were chosen, and how much of the chain."""
    classes = sorted({each.fit.forecast.classes for _, each in components})
    share = 100 * sum(weight * abs(each.fit.blend) for weight, each in components)
    counted = f"{' and '.join(str(each) for each in classes)} {'class' if classes == [1] else 'classes'}"
    if share > MOST:
        return (f"F by the latent model: the forecast is that of {counted} alone, without the back-off chain",)
    if share < 100 - MOST:
        return ("F by the latent model: the back-off chain alone makes the forecast",)
    weigh = "weighs" if classes == [1] else "weigh"
    return (f"F by the latent model: {counted} {weigh} {share:.0f} % of the forecast, the back-off chain the rest",)


def cautions(model: LatentModel) -> Iterator[str]:
    """Where the model stands on little, and what to do."""
    complete = int(model.table.records[model.table.complete].sum())
    if complete < FEW_RECORDS:
        yield (
            f"the latent model has {complete:,} complete records to go by: below {FEW_RECORDS:,} single estimates were "
            f"10 to 20 % off on populations with known counts; go by the upper end of the interval, or recode the keys."
        )
    impossible = _share_of_impossible(model)
    if impossible >= MUCH:
        yield (
            f"{percent(impossible)} of the expected re-identifications come from keys that the model thinks nearly "
            f"impossible: look for coding errors among them, and for combinations that only a few can have."
        )
    possible = sum(share * _possible(each) for share, each in model.components)
    if possible < 1 - MUCH:
        yield (
            f"up to {percent(1 - possible)} of the combinations that the latent model would expect do not occur: "
            f"on such files expected re-identifications were up to 10 % off, and population uniques are not safe."
        )
    if model.table.unit is not None:
        yield (
            "units have several records: on such files the latent model gave expected re-identifications 9 to 22 % too "
            "high; one record per unit is estimated better."
        )


def _share_of_impossible(model: LatentModel) -> float:
    """The share of the sum of risks from keys that nearly nobody should have."""
    total: Floats = model.table.records * model.risk
    forecast = sum((weight * each.log_m for weight, each in model.components), np.zeros(len(total)))
    expected = np.exp(forecast) * model.sample.mean_weight
    return math.fsum(total[expected < NEARLY_IMPOSSIBLE]) / math.fsum(total)


def _possible(component: Component) -> float:
    """The least share of cells that can occur, where the sample may or may not have them."""
    return float(component.fit.law.at(AROUND)[2].min())
