"""Estimated and true numbers of population uniques, where the population is known.

The population is that of the demo household survey. Two ways to draw from it: the survey's own (households, more of
them in small regions, some answers missing), and persons at random with nothing missing, which is what the models
assume. The table in `docs/measures/superpopulation.md` is from `python -m benchmarks.superpopulation`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tacita import frame
from tacita.data import Data
from tacita.data.demo import household
from tacita.risk.population.superpopulation.superpopulation import MODELS, Superpopulation, superpopulation
from tacita.scenario import Scenario

KEY_SETS = {
    "4 keys": ("region", "sex", "age", "marital"),
    "5 keys": household.KEYS,
    "8 keys": (*household.KEYS, "marital", "education", "size"),
}
HOUSEHOLDS = 60_000
FRACTIONS = (0.005, 0.01, 0.05, 0.1, 0.3)
SHORT = {
    "pitman": "Pitman",
    "zayatz": "Zayatz",
    "slide_negative_binomial": "SNB",
    "poisson_gamma": "P-gamma",
    "dirichlet_multinomial": "Dirichlet",
    "poisson_inverse_gaussian": "P-IG",
    "poisson_gamma_truncated": "P-gamma tr.",
    "poisson_inverse_gaussian_truncated": "P-IG tr.",
}


def population_counts(population: household.Table, keys: tuple[str, ...]) -> NDArray[np.int64]:
    """For each person of the population how many share the keys."""
    row = np.zeros(len(household.values_of(population, "person")), dtype=np.int64)
    for name in keys:
        values = np.unique(household.values_of(population, name), return_inverse=True)[1]
        row = np.unique(row * (values.max() + 1) + values, return_inverse=True)[1]
    return np.bincount(row)[row]


def survey_sample(population: household.Table, fraction: float, seed: int) -> tuple[Data, str]:
    """Households by the survey's own design, with its weights and missing answers."""
    households = int(household.values_of(population, "household").max())
    return Data(frame.table(household.draw_sample(population, round(fraction * households), seed))), "weight"


def random_sample(population: household.Table, fraction: float, seed: int) -> tuple[Data, str]:
    """Persons at random, nothing missing."""
    everybody = frame.table(population)
    chosen = np.random.default_rng(seed).choice(len(everybody), round(fraction * len(everybody)), replace=False)
    weight = np.full(len(chosen), len(everybody) / len(chosen))
    return Data(frame.take(everybody, np.sort(chosen))).with_columns({"weight": weight}), "weight"


DESIGNS = {"survey": survey_sample, "random": random_sample}


def compared(population: household.Table, seed: int) -> Iterator[tuple[str, str, float, int, int, Superpopulation]]:
    """Design, key set, fraction, true population uniques, those of them in the file, and the estimates."""
    truth = {name: population_counts(population, keys) for name, keys in KEY_SETS.items()}
    for design, draw in DESIGNS.items():
        samples = {fraction: draw(population, fraction, seed) for fraction in FRACTIONS}
        for name, keys in KEY_SETS.items():
            for fraction, (data, weight) in samples.items():
                found = superpopulation(data, Scenario(keys=keys, weight=weight), models=list(MODELS))
                unique = truth[name] == 1
                complete = ~np.any([frame.missing(data.table, key) for key in keys], axis=0)
                person = data.numbers("person")[complete].astype(np.int64) - 1
                yield design, name, fraction, int(unique.sum()), int(unique[person].sum()), found


def main() -> None:
    """Print a table: the true number, what each model says, and the one that the decision rule takes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="a smaller population")
    options.add_argument("--seed", type=int, default=1, help="of the population and of the samples")
    given = options.parse_args()
    start = time.perf_counter()
    population = household.population(10_000 if given.quick else HOUSEHOLDS, given.seed)
    print(f"{len(household.values_of(population, 'person')):,} persons; population uniques, true and estimated")
    print(" ".join(["design", "keys  ", "fraction", "   true", *(f"{SHORT[name]:>11}" for name in MODELS), "  rule"]))
    for design, name, fraction, true, both, found in compared(population, given.seed):
        figures = " ".join(f"{estimate.population_uniques:>11,.0f}" for estimate in found.estimates)
        print(f"{design} {name} {fraction:>8.1%} {true:>7,} {figures}   {SHORT[str(found.chosen)]}", end="")
        print(
            f"; in the file {both:,}, by the rule {found.estimate.sample_uniques:,.0f}, unique there {found.uniques:,}"
        )
    print(f"{time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
