"""How well does the model do? Expected re-identifications and their interval, held against a known population.

One synthetic population, many samples of it (one per seed). For each sample the model's ER is compared with the true
one, the sum over the sampled persons of 1/F, F being the persons of the population who agree with what the record
shows. As a control the same is done with populations made as the model assumes, where it must be right.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

import tacita as tc
from benchmarks import measure
from tacita.data.demo import household
from tacita.risk.identity.individual_risk import base_risk
from tacita.risk.identity.reidentification import Reidentification

HOUSEHOLDS = 174_000
"""Households of the population; that of the demonstration survey."""
SAMPLES = (2_000, 6_000, 20_000)
READY = ("region", "sex", "age", "citizenship", "status")
KEY_SETS = {
    "detailed: ready set, marital, education": (*READY, "marital", "education"),
    "ready set": READY,
    "age in classes of 5": ("region", "sex", "age_5", "citizenship", "status"),
    "coarse: age 10, national, status in 5": ("region", "sex", "age_10", "national", "status_5"),
}
"""From detailed to coarse; the ready set is that of the demonstration survey's scenario."""
STATUS_5 = np.array([0, 1, 1, 1, 2, 3, 4, 2, 2, 5])
"""In work, not in work, in education, retired, not applicable; 0 for missing."""
FEW = 0.05
"""The low quantile of F that gives a cautious risk."""
LIMIT = 0.1
"""An individual risk above this is unsafe under the default policy."""
CLASSES = {"f = 1": (1, 1), "f = 2": (2, 2), "f = 3 to 5": (3, 5), "f = 6 to 20": (6, 20), "f above 20": (21, 1 << 40)}

Codes = dict[str, NDArray[np.int64]]
Floats = NDArray[np.float64]


def values_of(table: household.Table, name: str) -> NDArray[np.generic]:
    """The numbers of a column, or its codes."""
    column = table[name]
    return column[0] if isinstance(column, tuple) else column


def recoded(table: household.Table, rows: slice | NDArray[np.int64] = slice(None)) -> Codes:
    """Codes of every variable of the key sets, from 1, 0 for missing."""
    names = ("region", "sex", "citizenship", "status", "marital", "education")
    codes = {name: values_of(table, name)[rows].astype(np.int64) for name in names}
    age = values_of(table, "age")[rows].astype(np.int64)
    codes |= {"age": age + 1, "age_5": age // 5 + 1, "age_10": age // 10 + 1}
    codes["national"] = np.minimum(codes["citizenship"], 2)
    codes["status_5"] = STATUS_5[codes["status"]]
    return codes


@cache
def population() -> tuple[household.Table, Codes]:
    """The population and its codes, made once in each process."""
    table = household.population(HOUSEHOLDS, seed=1)
    return table, recoded(table)


@cache
def persons_with(shown: tuple[str, ...]) -> NDArray[np.int64]:
    """How many persons of the population have each combination of some variables."""
    everybody = population()[1]
    return np.bincount(_numbers(everybody, shown), minlength=1)


def _numbers(codes: Codes, shown: tuple[str, ...], rows: slice | NDArray[np.int64] = slice(None)) -> NDArray[np.int64]:
    """One number per record for its values on some variables, the same numbers in sample and population."""
    everybody = population()[1]
    numbers = np.zeros(len(next(iter(codes.values()))[rows]), dtype=np.int64)
    for name in shown:
        numbers = numbers * (everybody[name].max() + 1) + codes[name][rows]
    return numbers


def true_count(codes: Codes, keys: tuple[str, ...]) -> Floats:
    """F by record: persons of the population who agree with what the record shows."""
    pattern = sum((codes[name] > 0).astype(np.int64) << place for place, name in enumerate(keys))
    F = np.zeros(len(pattern))
    for found in np.unique(pattern):
        rows = np.flatnonzero(pattern == found)
        shown = tuple(name for place, name in enumerate(keys) if found >> place & 1)
        F[rows] = persons_with(shown)[_numbers(codes, shown, rows)]
    return F


def compare(columns: Codes, weight: Floats, F: Floats) -> dict[str, float]:
    """The model's figures of one sample beside the true ones."""
    table = pl.DataFrame(columns).select(pl.when(pl.all() > 0).then(pl.all())).with_columns(weight=pl.Series(weight))
    scenario = tc.Scenario(keys=tuple(columns), weight="weight", missing="one_way")
    individual = tc.risk.individual_risk(table, scenario)
    er = Reidentification.of(individual)  # what tacita.reidentification gives, without counting twice
    keys = individual.table
    f, risk, truth = keys.per_record(keys.sample_count), individual.risk, 1.0 / F
    cautious = keys.per_record(base_risk(keys, quantile=FEW))
    alone, risky, certain = f == 1, truth > LIMIT, F == 1
    found = {
        "records": len(f), "expected": er.expected, "low": er.interval[0], "high": er.interval[1],
        "true": truth.sum(), "uniques": alone.sum(), "risk of uniques": risk[alone].sum(),
        "truth of uniques": truth[alone].sum(), "cautious": cautious.sum(),
        "risky": risky.sum(), "risky by risk": (risk[risky] > LIMIT).sum(), "risky by k": (f[risky] < 3).sum(),
        "risky by cautious": (cautious[risky] > LIMIT).sum(),
        "certain": certain.sum(), "risk of certain": risk[certain].sum(),
        "truth above cautious": (truth > cautious * (1 + 1e-9)).sum(),
    }  # fmt: skip
    for name, (least, most) in CLASSES.items():
        here = (f >= least) & (f <= most)
        found |= {f"risk {name}": risk[here].sum(), f"truth {name}": truth[here].sum()}
    return {name: float(value) for name, value in found.items()}


def one_sample(households: int, seed: int) -> Iterator[tuple[str, bool, dict[str, float]]]:
    """One sample under every key set, with the true values of its persons and with what they answered."""
    table = population()[0]
    sample = household.draw_sample(table, households, seed)
    person = values_of(sample, "person") - 1
    weight = values_of(sample, "weight")
    answered, true = recoded(sample), recoded(table, person)
    for name, keys in KEY_SETS.items():
        for missing, codes in ((False, true), (True, answered)):
            columns = {key: codes[key] for key in keys}
            yield name, missing, compare(columns, weight, true_count(codes, keys))


def control_sample(seed: int, keys: int = 20_000, greatest: int = 3_000, share: float = 0.03) -> dict[str, float]:
    """A sample of a population as the model has it: P(F) proportional to 1/F, each person sampled with `share`."""
    draws = np.random.default_rng(seed)
    ends = np.cumsum(1.0 / np.arange(1, greatest + 1))
    F = 1 + np.searchsorted(ends / ends[-1], draws.random(keys))
    f = draws.binomial(F, share)
    number = np.repeat(np.arange(1, keys + 1), f)
    return compare({"key": number}, np.full(len(number), 1.0 / share), F[number - 1].astype(np.float64))


def random_sample(seed: int, persons: int = 13_668) -> dict[str, float]:
    """Persons drawn at random with equal weights, on the ready keys: no households, no strata."""
    everybody = population()[1]
    size = len(everybody["age"])
    rows = np.random.default_rng(seed).choice(size, persons, replace=False)
    codes = {name: everybody[name][rows] for name in READY}
    return compare(codes, np.full(persons, size / persons), true_count(codes, READY))


def register_agrees(households: int, seed: int = 1) -> bool:
    """Whether the true ER counted here is the one that Tacita gives when the population is its register."""
    table, everybody = population()
    sample = household.draw_sample(table, households, seed)
    codes, same = recoded(sample), []
    for keys in KEY_SETS.values():
        here, register = (
            pl.DataFrame({key: given[key] for key in keys}).select(pl.when(pl.all() > 0).then(pl.all()))
            for given in (codes, everybody)
        )
        er = tc.risk.reidentification(here, tc.Scenario(keys=keys), register=register).expected
        same.append(bool(np.isclose(er, (1.0 / true_count(codes, keys)).sum(), rtol=1e-12)))
    return all(same)


def _samples(job: tuple[int, list[int]]) -> list[tuple[str, bool, dict[str, float]]]:
    households, seeds = job
    return [row for seed in seeds for row in one_sample(households, seed)]


def _controls(seeds: list[int]) -> list[tuple[dict[str, float], dict[str, float]]]:
    return [(control_sample(seed), random_sample(seed)) for seed in seeds]


Figures = dict[str, Floats]


def gather(rows: list[dict[str, float]]) -> Figures:
    """Figures of all samples by name."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


MAIN = ("keys", "true ER", "model ER", "bias", "covered", "too low", "width", "uniques", "true 1/F", "model", "bias")


def main_row(name: str, figures: Figures) -> tuple[str, ...]:
    """Bias of ER, coverage and width of its interval, and the bias among sample uniques."""
    expected, true = figures["expected"], figures["true"]
    low, high = figures["low"], figures["high"]
    with np.errstate(invalid="ignore"):
        model, truth = (np.nanmean(figures[f"{what} of uniques"] / figures["uniques"]) for what in ("risk", "truth"))
    return (
        name,
        f"{true.mean():,.1f}",
        f"{expected.mean():,.1f}",
        f"{100 * (expected / true - 1).mean():+.0f} %",
        f"{100 * ((low <= true) & (true <= high)).mean():.1f} %",
        f"{100 * (true > high).mean():.1f} %",
        f"{100 * ((high - low) / expected).mean():.0f} %",
        f"{100 * (figures['uniques'] / figures['records']).mean():.1f} %",
        f"{truth:.3f}",
        f"{model:.3f}",
        f"{100 * (model / truth - 1):+.0f} %",
    )


SINGLE = ("keys", "risky", "by risk", "by k = 3", "by cautious", "F = 1", "their risk", "cautious ER", "exceeded")


def single_row(name: str, figures: Figures) -> tuple[str, ...]:
    """What becomes of single records: those truly above the limit, and those unique in the population."""
    total = {what: values.sum() for what, values in figures.items()}
    risky = max(total["risky"], 1.0)
    return (
        name,
        f"{figures['risky'].mean():,.1f}",
        *(f"{100 * total[what] / risky:.0f} %" for what in ("risky by risk", "risky by k", "risky by cautious")),
        f"{figures['certain'].mean():,.1f}",
        f"{total['risk of certain'] / max(total['certain'], 1.0):.3f}",
        f"{(figures['cautious'] / figures['true']).mean():.2f}",
        f"{100 * total['truth above cautious'] / total['records']:.0f} %",
    )


def class_rows(figures: Figures) -> Iterator[tuple[str, ...]]:
    """Where the bias sits: ER of the model and the true one by f."""
    for name in CLASSES:
        risk, truth = figures[f"risk {name}"].mean(), figures[f"truth {name}"].mean()
        if truth:
            yield name, f"{truth:,.1f}", f"{risk:,.1f}", f"{100 * (risk / truth - 1):+.0f} %"


def report(quick: bool) -> None:
    """Print the tables."""
    count, sizes = (20, SAMPLES[:2]) if quick else (200, SAMPLES)
    os.environ["POLARS_MAX_THREADS"] = "1"  # for the workers: small frames, and two of them
    chunks = [list(range(start, start + 10)) for start in range(1, count + 1, 10)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        controls = [row for rows in pool.map(_controls, chunks) for row in rows]
        for size in sizes:
            jobs = [(size, chunk) for chunk in chunks]
            found = [row for rows in pool.map(_samples, jobs) for row in rows]
            _show_size(size, count, found)
    _show_controls(count, [gather(list(rows)) for rows in zip(*controls, strict=True)])


def _show_size(size: int, count: int, found: list[tuple[str, bool, dict[str, float]]]) -> None:
    title = f"{size:,} of {HOUSEHOLDS:,} households, {count} samples"
    singles: list[tuple[str, ...]] = [SINGLE]
    for missing, what in ((False, "complete keys"), (True, "with missing values, one_way")):
        by_set = {
            name: gather([row for key, gone, row in found if (key, gone) == (name, missing)]) for name in KEY_SETS
        }
        notes = [f"{by_set['ready set']['records'].mean():,.0f} records per sample"]
        if missing:
            notes.append(f"the same truth with the population as register: {'yes' if register_agrees(size) else 'NO'}")
        measure.show(f"{title}, {what}", [MAIN, *(main_row(*given) for given in by_set.items())], notes)
        if not missing:
            singles += [single_row(*given) for given in by_set.items()]
            rows = [("ready set", "true ER", "model ER", "bias"), *class_rows(by_set["ready set"])]
            measure.show(f"{title}, complete keys, by f", rows)
    measure.show(f"{title}, complete keys, single records", singles)


def _show_controls(count: int, controls: list[Figures]) -> None:
    names = ("population as the model assumes, 3 % of the persons", "this population, persons at random, ready set")
    rows = [MAIN, *(main_row(*given) for given in zip(names, controls, strict=True))]
    measure.show(f"Controls, {count} samples", rows, (*_rare_keys(), _LEGEND))


def _rare_keys() -> Iterator[str]:
    """How many keys of the population are held by 1, 2, 3 and 10 persons, beside the model's proportions."""
    for name, keys in KEY_SETS.items():
        counts = np.bincount(persons_with(keys))
        share = [f"{counts[1] / counts[F]:.1f}" for F in (2, 3, 10)]
        yield f"keys held by 1 person for each held by 2, 3, 10 (model: 2, 3, 10): {', '.join(share)} ({name})"


_LEGEND = f"""
  true ER    sum over the sampled records of 1/F, F counted in the population
  bias       mean over samples of model ER / true ER - 1; negative: the model says too little
  covered    samples in which the 95 % interval holds the true ER; too low: the true ER is above the interval
  width      of the interval, against the model ER
  uniques    records with f = 1, and their mean true 1/F beside their mean risk by the model
  risky      records per sample whose true 1/F is above {LIMIT:g}; how many of them have a model risk above {LIMIT:g},
             how many f < 3, how many a cautious risk (quantile={FEW:g}) above {LIMIT:g}
  F = 1      records per sample that are unique in the population (true risk 1), and their mean risk by the model
  cautious ER  sum of the risks with quantile={FEW:g} against the true ER; exceeded: records whose true 1/F is higher"""


if __name__ == "__main__":
    measure.main({}, report)
