"""The choice of the model: how many classes, and what weight the chain has, by how well left-out cells are forecast."""

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
INDICES = (0.25, 0.5, 0.75)
"""Besides 0, the gamma law."""
SAME = 0.01
"""Laws whose parameters differ by less are one."""
LEAST_SHARE = 0.01
"""Laws that count less are left out."""


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
    """The best number of classes and blend, with laws of several kinds."""
    best, by_classes = _grown(cells, repeat, progress)
    for blend in BETWEEN[best.blend]:
        near = _fit(cells, best.forecast, blend, best.law)
        best = near if near.law.value > best.law.value else best
    other = by_classes.get(2 * best.forecast.classes) or by_classes.get(best.forecast.classes // 2)
    counts = best.forecast.counts(cells, best.blend)
    laws, shares = _weighed(_laws(best.law, counts), counts)
    return Selected(tuple(Fit(best.forecast, best.blend, each) for each in laws), shares, other, counts)


def _laws(gamma: Law, counts: Counts) -> list[Law]:
    """Laws of every index, and those in which cells cannot occur, of gamma and of the likeliest index."""
    laws = [gamma]
    for index in INDICES:
        begin = law.start(index)
        moved = begin._replace(mean=gamma.mean, shape=gamma.shape + np.log1p(-index))
        laws.append(law.fitted(counts, moved))
    likeliest = max(laws, key=lambda each: each.value).power
    return laws + [
        law.fitted(counts, law.start(index, steep=steep))
        for index in sorted({0.0, likeliest})
        for steep in (False, True)
    ]


def _weighed(laws: list[Law], counts: Counts) -> tuple[list[Law], tuple[float, ...]]:
    """The laws that count, and how much: by their evidence, those that end at the same top once."""
    different: list[Law] = []
    for each in laws:
        same = (
            other.power == each.power
            and len(other.parameters) == len(each.parameters)
            and np.abs(other.parameters - each.parameters).max() < SAME
            for other in different
        )
        if not any(same):
            different.append(each)
    evidence = np.array([law.evidence(each, law.curvature(each, counts)) for each in different])
    weight = np.exp(evidence - evidence.max())
    weight = np.where(weight < LEAST_SHARE * weight.sum(), 0.0, weight) / weight.sum()
    kept = [(each, float(share / weight.sum())) for each, share in zip(different, weight, strict=True) if share > 0]
    return [each for each, _ in kept], tuple(share for _, share in kept)


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
