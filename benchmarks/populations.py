"""Populations whose every member is known, samples of them, and the true F of every sampled record.

Here are the invented ones of the demonstration surveys; `real_files` has others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Population:
    """Everybody: one row per member and one column per key, nothing missing."""

    records: pl.DataFrame
    """Key variables, whole numbers or text."""
    household: Ints | None = None
    """Number of the household of each member, where members of one are sampled together."""

    def of(self, keys: tuple[str, ...]) -> Population:
        """The same with fewer keys."""
        return replace(self, records=self.records.select(keys))


@dataclass(frozen=True)
class Sample:
    """Sampled records as an office would hold them, and what it does not know."""

    table: pl.DataFrame
    """The keys, what was not answered being missing, `weight`, and `household` where there are any."""
    keys: tuple[str, ...]
    F: Ints
    """By record: members of the population who agree with what the record shows."""

    @property
    def households(self) -> bool:
        """Whether the file says which records are of one household."""
        return "household" in self.table.columns


def true_count(shown: pl.DataFrame, population: pl.DataFrame) -> Ints:
    """F by record: members of the population who agree with everything that the record shows.

    That is the truth under the rule `one_way`: the register has no gaps, and a gap in the file agrees with anybody.

    >>> everybody = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 31, 31]})
    >>> true_count(pl.DataFrame({"sex": ["f", "f", None], "age": [30, None, 31]}), everybody).tolist()
    [1, 2, 2]
    """
    names = shown.columns
    pattern = np.zeros(len(shown), dtype=np.int64)
    for place, name in enumerate(names):
        pattern |= shown[name].is_not_null().to_numpy().astype(np.int64) << place
    F = np.full(len(shown), len(population), dtype=np.int64)
    for found in np.unique(pattern[pattern > 0]):
        rows = np.flatnonzero(pattern == found)
        given = [name for place, name in enumerate(names) if found >> place & 1]
        counts = population.group_by(given).agg(F=pl.len())
        joined = shown[rows].select(given).join(counts, on=given, how="left", maintain_order="left")
        F[rows] = joined["F"].to_numpy()
    return F


def simple_sample(population: Population, fraction: float, seed: int) -> tuple[Ints, Floats]:
    """Rows of a simple random sample without replacement, and the equal weights N/n."""
    size = len(population.records)
    records = round(fraction * size)
    rows = np.sort(np.random.default_rng(seed).choice(size, records, replace=False))
    return rows, np.full(records, size / records)


def unequal_sample(population: Population, fraction: float, seed: int) -> tuple[Ints, Floats]:
    """Rows of a sample with unequal chances, and their weights 1/chance, which add up to N.

    Small groups by the first key are sampled more heavily, up to three times, as surveys do with small regions. On
    top of that the chances differ from one to the next as after a correction for non-response (a lognormal factor with
    a standard deviation of 0.4 on the log scale), so that weights also differ between records that look alike.
    """
    size, draws = len(population.records), np.random.default_rng(seed)
    _, group, count = np.unique(population.records.to_series(0).to_numpy(), return_inverse=True, return_counts=True)
    heavily = np.clip(np.sqrt(count.mean() / count), 0.5, 3.0)[group]
    chance = heavily * np.exp(0.4 * draws.standard_normal(size))
    chance = np.minimum(1.0, fraction * size * chance / chance.sum())
    rows = np.flatnonzero(draws.random(size) < chance)
    weight = 1.0 / chance[rows]
    return rows, np.maximum(1.0, weight * (size / weight.sum()))


DESIGNS = {"simple": simple_sample, "unequal": unequal_sample}


def sampled(population: Population, design: str, fraction: float, seed: int) -> Sample:
    """A sample of a population with nothing missing."""
    rows, weight = DESIGNS[design](population, fraction, seed)
    shown = population.records[rows]
    return Sample(
        shown.with_columns(weight=pl.Series(weight)), tuple(shown.columns), true_count(shown, population.records)
    )


# The household demo -------------------------------------------------------------------------------------------------

HOUSEHOLDS = 174_000
"""Households of the population; that of the demonstration survey."""
READY = ("region", "sex", "age", "citizenship", "status")
HOUSEHOLD_KEYS = {
    "detailed": (*READY, "marital", "education"),
    "ready": READY,
    "age5": ("region", "sex", "age_5", "citizenship", "status"),
    "coarse": ("region", "sex", "age_10", "national", "status_5"),
}
"""From detailed to coarse; the ready set is that of the demonstration survey's scenario."""
STATUS_5 = np.array([0, 1, 1, 1, 2, 3, 4, 2, 2, 5])
"""In work, not in work, in education, retired, not applicable; 0 for missing."""


@cache
def household_population() -> tuple[object, pl.DataFrame]:
    """The population of the household demo, and its keys."""
    from tacita.data.demo import household

    table = household.population(HOUSEHOLDS, seed=1)
    return table, household_keys(table)


def household_keys(table: object) -> pl.DataFrame:
    """Every variable of the key sets, by record, as numbers; missing where it was not answered."""
    from tacita.data.demo import household

    names = ("region", "sex", "citizenship", "status", "marital", "education")
    codes = {name: household.values_of(table, name).astype(np.int64) for name in names}  # type: ignore[arg-type]
    codes |= {"national": np.minimum(codes["citizenship"], 2), "status_5": STATUS_5[codes["status"]]}
    shown = pl.DataFrame(codes).select(pl.when(pl.all() > 0).then(pl.all()))
    age = pl.Series("age", household.values_of(table, "age").astype(np.int64))  # type: ignore[arg-type]
    return shown.with_columns(age, (age // 5).alias("age_5"), (age // 10).alias("age_10"))


def household_sample(keys: str, households: int, missing: bool, seed: int) -> Sample:
    """A sample by the design of the demonstration survey: households, small regions more heavily.

    With `missing` the answers that the survey did not get are missing; without, it got them all.
    """
    from tacita.data.demo import household

    table, everybody = household_population()
    drawn = household.draw_sample(table, households, seed)  # type: ignore[arg-type]
    names, person = HOUSEHOLD_KEYS[keys], household.values_of(drawn, "person") - 1
    shown = (household_keys(drawn) if missing else everybody[person]).select(names)
    F = true_count(shown, everybody.select(names))
    columns = {name: pl.Series(household.values_of(drawn, name)) for name in ("weight", "household")}
    return Sample(shown.with_columns(**columns), names, F)


# The accident demo --------------------------------------------------------------------------------------------------

VICTIMS = 88_330
ACCIDENT_KEYS = {
    "nine keys": ("LPB1", "P1", "P2", "P3", "P8", "P15", "P20", "PKD", "WOJW"),
    "person and company": ("WOJW", "LPB1", "P1", "P2", "P5", "PKD"),
    "person and injury": ("WOJW", "P1", "P2", "P3", "P5", "P8", "P9"),
    "coarse": ("WOJW", "LPB1", "P1", "P2", "P20"),
}


@cache
def accident_population(keys: str) -> Population:
    """The population of the survey of accidents at work."""
    from tacita.data.demo import accident

    table = accident.population(VICTIMS, seed=1)
    names = ACCIDENT_KEYS[keys]
    return Population(pl.DataFrame({name: accident.values_of(table, name).astype(np.int64) for name in names}))
