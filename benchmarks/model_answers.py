"""What each model of risk says of one sample, and how far that is from the truth."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_legendre
from scipy.stats import rankdata

from benchmarks import populations
from benchmarks.populations import Sample

Floats = NDArray[np.float64]

LIMIT = 0.1
"""An individual risk above this is unsafe under the default policy; AUC is about finding such records."""
MOST_CELLS = 200_000
"""Choosing a log-linear model takes minutes beyond this many combinations of values."""


@dataclass(frozen=True)
class Answer:
    """What a model says of one sample; None where it says nothing."""

    expected: float | None = None
    """ER."""
    interval: tuple[float, float] | None = None
    """The 95 % interval of ER."""
    risk: Floats | None = None
    """By record: E(1/F)."""
    uniques: float | None = None
    """tau_1: how many of the records are unique in the population."""


def _scenario(sample: Sample) -> Any:
    import tacita as tc

    household = {"household": "household"} if sample.households else {}
    return tc.Scenario(keys=sample.keys, weight="weight", missing="one_way", **household)


def benedetti_franconi(sample: Sample) -> Answer:
    """The individual risk from f and the weights of a key alone."""
    found = _individual(sample, "benedetti_franconi")
    keys = found[0].table
    alone = keys.sample_count == 1
    uniques = float((keys.sampling_probability * keys.records)[alone].sum())
    return _answer(*found, uniques)


def latent(sample: Sample) -> Answer:
    """The latent model: the other records say how many should have a key."""
    individual, er = _individual(sample, "latent")
    return _answer(individual, er, er.population_uniques)


def _individual(sample: Sample, model: str) -> tuple[Any, Any]:
    import tacita as tc
    from tacita.risk.identity.reidentification import Reidentification

    individual = tc.risk.individual_risk(sample.table, _scenario(sample), model=model)
    return individual, Reidentification.of(individual)


def _answer(individual: Any, er: Any, uniques: float | None) -> Answer:
    return Answer(er.expected, er.interval, individual.risk, uniques)


def loglinear(sample: Sample) -> Answer:
    """The log-linear model with the interactions that B_2 chooses, from complete records.

    The literature's tau_2 is about sample uniques. The same Poisson counts say as much of every other record, so ER is
    the sum over all of them: with v others expected, E(1/F | f) is the integral of s^(f-1) exp(-v (1-s)) over (0, 1).
    """
    from tacita.risk.population.loglinear_risk.loglinear_risk import loglinear_risk

    cells = np.prod([float(sample.table[name].drop_nulls().n_unique()) for name in sample.keys])
    if cells > MOST_CELLS:
        return Answer()
    found = loglinear_risk(sample.table, _scenario(sample), choose_by="B2")
    specification, table = found.estimate.specification, found.estimate.specification.table
    pi = specification.table.sampling_fraction
    others = found.estimate.fit.mean.reshape(-1)[table.index] * (1.0 - pi) / pi
    by_key = poisson_risk(table.count, others)
    return Answer(expected=float((by_key * table.count).sum()), uniques=found.tau_1)


def poisson_risk(f: Floats, others: Floats) -> Floats:
    """E(1/F) of keys with f records and a Poisson number of others in the population, of a mean of `others`.

    >>> poisson_risk(np.array([1.0, 2.0]), np.array([1e-12, 1e-12])).round(9).tolist()
    [1.0, 0.5]
    """
    place, weight = roots_legendre(40)
    # s = 1 - gone, with gone on a log scale: most of the integral lies where it is below 1 / (f + others).
    logarithm = np.log1p(others + f)[:, None] * (place + 1) / 2
    gone = np.expm1(logarithm) / (others + f)[:, None]
    inside = np.maximum(1.0 - gone, 0.0) ** (f - 1)[:, None] * np.exp(-others[:, None] * gone)
    slope = np.exp(logarithm) / (others + f)[:, None]
    return np.asarray((inside * slope) @ weight * np.log1p(others + f) / 2)


def superpopulation(sample: Sample) -> Answer:
    """Population uniques by the model that the rule of Dankar et al. takes, from complete records."""
    from tacita.risk.population.superpopulation.superpopulation import superpopulation as estimated

    return Answer(uniques=estimated(sample.table, _scenario(sample)).population_uniques)


def truth(sample: Sample) -> Answer:
    """A model that knows the truth: a control of the harness itself."""
    true = 1.0 / sample.F
    f, _ = _counts(sample)
    return Answer(true.sum(), (true.sum(), true.sum()), true, float(((f == 1) & (sample.F == 1)).sum()))


MODELS: dict[str, Callable[[Sample], Answer]] = {
    "benedetti_franconi": benedetti_franconi,
    "loglinear": loglinear,
    "superpopulation": superpopulation,
    "latent": latent,
    "truth": truth,
}
SHOWN = ("benedetti_franconi", "loglinear", "superpopulation", "latent")
"""The models in the tables."""
COMPLETE_ONLY = ("loglinear", "superpopulation")
"""Models that leave records with a missing key out: they are held against the truth about the others."""


def _counts(sample: Sample) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """f by record under the rule `one_way`, and which records are complete."""
    shown = sample.table.select(sample.keys)
    complete = ~shown.select(gap=_any_null(shown))["gap"].to_numpy()
    return populations.true_count(shown, shown), complete


def _any_null(shown: Any) -> Any:
    import polars as pl

    return pl.any_horizontal(pl.col(name).is_null() for name in shown.columns)


def compared(sample: Sample, models: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """The figures of each model beside the true ones."""
    f, complete = _counts(sample)
    true = 1.0 / sample.F
    certain = (f == 1) & (sample.F == 1)
    out: dict[str, dict[str, float | None]] = {}
    for name in models:
        start = time.perf_counter()
        try:
            answer, failed = MODELS[name](sample), None
        except Exception as error:  # a model that gives up on a sample must not hide what the others say
            answer, failed = Answer(), f"{type(error).__name__}: {error}"[:200]
        about = complete if name in COMPLETE_ONLY else np.ones(len(true), dtype=bool)
        out[name] = {
            "seconds": time.perf_counter() - start,
            "records": float(len(true)),
            "share of uniques": float((f == 1).mean()),
            "true": float(true[about].sum()),
            "expected": answer.expected,
            "low": None if answer.interval is None else answer.interval[0],
            "high": None if answer.interval is None else answer.interval[1],
            "true uniques": float(certain[about].sum()),
            "uniques": answer.uniques,
            "auc": None if answer.risk is None else auc(answer.risk, true > LIMIT),
            "found": None if answer.risk is None else found_share(answer.risk, true > LIMIT),
            "failed": failed,  # type: ignore[dict-item]
        }
    return out


def auc(risk: Floats, risky: NDArray[np.bool_]) -> float | None:
    """The chance that a risky record has a higher risk than another, ties counting half; None without both kinds.

    >>> auc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False]))
    0.875
    """
    many = int(risky.sum())
    if not 0 < many < len(risk):
        return None
    ranks = rankdata(risk)[risky].sum()
    return float((ranks - many * (many + 1) / 2) / (many * (len(risk) - many)))


def found_share(risk: Floats, risky: NDArray[np.bool_]) -> float | None:
    """The share of the risky records whose risk is above the limit."""
    return float((risk[risky] > LIMIT).mean()) if risky.any() else None
