"""How many classes, and how much of the chain: what forecasts left-out cells best."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacita.risk.population.latent import law
from tacita.risk.population.latent.cells import Cells
from tacita.risk.population.latent.forecasts import Forecast, Repeat
from tacita.risk.population.latent.law import Counts, Law

BLENDS = (1.0, 0.5, 0.0, -0.5)
BETWEEN = {1.0: (0.75, -0.75), 0.5: (0.75, 0.25), 0.0: (0.25, -0.25), -0.5: (-0.75, -0.25)}


class Fit(NamedTuple):
    """A law around a forecast."""

    forecast: Forecast
    blend: float
    law: Law


class Selected(NamedTuple):
    """What one repeat found."""

    fits: tuple[Fit, ...]
    """The best law, or two where the likelihood has two tops."""
    shares: tuple[float, ...]
    """How much each of them counts."""
    other: Fit | None
    """The best fit with twice as many classes, or with half."""
    counts: Counts


def selected(cells: Cells, repeat: Repeat, progress: Callable[[int], None]) -> Selected:
    """The best number of classes and blend, with laws in which some cells cannot occur."""
    best, by_classes = _grown(cells, repeat, progress)
    for blend in BETWEEN[best.blend]:
        near = _fit(cells, best.forecast, blend, best.law)
        best = near if near.law.value > best.law.value else best
    other = by_classes.get(2 * best.forecast.classes) or by_classes.get(best.forecast.classes // 2)
    counts = best.forecast.counts(cells, best.blend)
    laws = [law.fitted(counts, law.start(steep=steep)) for steep in (False, True)]
    fits = tuple(Fit(best.forecast, best.blend, each) for each in laws)
    weights = np.exp(np.array([each.value for each in laws]) - max(each.value for each in laws))
    if np.abs(laws[0].parameters - laws[1].parameters).max() < 0.01:
        return Selected(fits[:1], (1.0,), other, counts)
    first, second = (float(weight) for weight in weights / weights.sum())
    return Selected(fits, (first, second), other, counts)


def _grown(cells: Cells, repeat: Repeat, progress: Callable[[int], None]) -> tuple[Fit, dict[int, Fit]]:
    """Forecasts with more and more classes, until neither the classes alone nor the best blend gains."""
    laws = dict.fromkeys(BLENDS, law.start())
    best, best_alone, by_classes = None, -np.inf, {}
    for forecast in repeat.forecasts(progress):
        fits = [_fit(cells, forecast, blend, laws[blend]) for blend in BLENDS]
        laws = {fit.blend: fit.law for fit in fits}
        here = max(fits, key=lambda fit: fit.law.value)
        by_classes[forecast.classes] = here
        better = best is None or here.law.value > best.law.value
        if not better and laws[1.0].value <= best_alone:
            break
        best = here if best is None or better else best
        best_alone = max(best_alone, laws[1.0].value)
    assert best is not None
    return best, by_classes


def _fit(cells: Cells, forecast: Forecast, blend: float, start: Law) -> Fit:
    return Fit(forecast, blend, law.fitted(forecast.counts(cells, blend), start))
