"""A synthetic innovation survey of enterprises and the true population behind it, made from a seed.

No real enterprise is in it. The shape is that of the survey in Seri and Polettini (2003), CASC deliverable 5-D5: eight
industries by two-digit NACE code, and numbers that grow together, are heavily skewed, and are dominated by a few very
large enterprises in each industry. Those are unique on any number one knows of them: size alone identifies. The largest
stand far apart, and what an enterprise sells, exports and spends for its size varies less among the large, so that it
is one and the same enterprise which leads by most numbers.

Every value is drawn by the number of the enterprise with `Draws` and worked out with whole numbers, divisions and
square roots only, so the files are the same on every machine; a larger population begins with the smaller one of that
seed. Columns are as in `drawing`. Nothing is missing; zeros are true zeros.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita import check
from tacita.check import TacitaError
from tacita.data.demo.drawing import Real, Table, Whole, allocation, chance, choose, power, quotas, spread, take
from tacita.data.demo.drawing import values_of as values_of
from tacita.random import Draws

KEYS = ("industry", "region", "size_class")
"""What an intruder is likely to know of an enterprise: categories."""

NUMERIC_KEYS = ("turnover", "employees", "exports", "rd_expenditure")
"""What an intruder is likely to know of an enterprise: numbers, in the order of cases 1 to 4 of the report."""

LABELS: dict[str, str] = {
    "enterprise": "Enterprise number",
    "industry": "Main economic activity, two-digit NACE code (revision 1)",
    "region": "Geographical area",
    "size_class": "Size class by number of employees",
    "group": "Belongs to a group of enterprises",
    "innovation": "Introduced a new product or process in the last three years",
    "employees": "Number of employees",
    "turnover": "Turnover in a year, thousands",
    "exports": "Exports in a year, thousands",
    "rd_expenditure": "Expenditure for research and innovation in a year, thousands",
    "weight": "Sampling weight of the enterprise",
}
"""Variable labels."""

SCALES: dict[str, str] = {
    name: "numeric" if name in (*NUMERIC_KEYS, "weight") else "ordinal" if name == "size_class" else "nominal"
    for name in LABELS
}
"""Scale of each variable; the identifier is nominal."""

NOT_APPLICABLE: dict[str, tuple[str, ...]] = {}
"""Every question applies to every enterprise."""

VALUE_LABELS: dict[str, dict[str, str]] = {
    "industry": {
        "15": "food products and beverages",
        "18": "wearing apparel and dressing",
        "24": "chemicals and chemical products",
        "25": "rubber and plastic products",
        "26": "other non-metallic mineral products",
        "28": "fabricated metal products, except machinery and equipment",
        "29": "machinery and equipment n.e.c.",
        "36": "furniture; manufacturing n.e.c.",
    }
}
"""What the codes stand for."""

CATEGORIES: dict[str, tuple[str, ...]] = {
    "industry": tuple(VALUE_LABELS["industry"]),
    "region": ("Upper valley", "Lake country", "Middle hills", "Lower coast", "Outer islands"),
    "size_class": ("1: 10 to 19", "2: 20 to 49", "3: 50 to 249", "4: 250 or more"),
    "group": ("no", "yes"),
    "innovation": ("no", "yes"),
}
"""Labels of the categorical variables, in the order of their codes."""

SAMPLE = 2_123
POPULATION = 12_000
"""Enterprises in the survey and behind it, unless asked otherwise."""

# fmt: off
# Invented shares and factors, by industry unless it is said otherwise.
SAMPLED = np.array([222, 157, 205, 214, 185, 338, 528, 274])  # the only published figures
INDUSTRY = np.array([[150, 95, 55, 85, 90, 255, 155, 115]])  # in the population
REGION = np.array([
    [240, 260, 200, 205, 95], [235, 210, 300, 230, 25], [550, 180, 190, 60, 20], [420, 270, 160, 125, 25],
    [230, 300, 240, 150, 80], [430, 300, 150, 95, 25], [450, 370, 120, 50, 10], [270, 400, 230, 85, 15],
])
STAFF = np.array([120, 100, 220, 145, 130, 95, 155, 105])  # growth above 10 employees, per cent
CLASSES = np.array([20, 50, 250])
GROUP = np.array([90, 240, 590, 900])  # per mille, by size class
TURNOVER = np.array([590, 230, 630, 360, 340, 265, 330, 255])  # median for each employee, thousands
EXPORTER = np.array([480, 640, 810, 930])  # per mille, by size class
EXPORTS = np.array([78, 98, 112, 106, 84, 84, 124, 106])  # per cent: how many export, and how much
INNOVATOR = np.array([390, 510, 680, 830])  # per mille, by size class
INNOVATION = np.array([92, 66, 130, 112, 86, 92, 124, 92])  # per cent: how many innovate, and how much is spent
SPENDER = np.array([780, 830, 900, 970])  # per mille of the innovators, by size class
TURNOVER_SPREAD = np.array([8, 7, 6, 4])  # sixteenths (see `spread`), by size class; so the two that follow
EXPORTS_SPREAD = np.array([12, 11, 10, 7])
EXPENDITURE_SPREAD = np.array([14, 13, 12, 10])
# fmt: on

LARGEST = 20_000
"""No enterprise has more employees, however many are drawn."""


def population(enterprises: int, seed: int) -> Table:
    """The true population: so many enterprises with 10 or more employees, in the order of their numbers.

    >>> units = population(enterprises=200, seed=1)
    >>> int(units["employees"].min()), int(np.count_nonzero(units["exports"] == 0))
    (10, 87)
    """
    number = np.arange(1, check.whole("enterprises", enterprises, 1) + 1, dtype=np.int64)
    draws = Draws(seed).step("business survey").step("population")
    industry = choose(draws.step("industry"), number, INDUSTRY)
    employees = _employees(draws, number, industry)
    size_class = np.searchsorted(CLASSES, employees, side="right")
    group = chance(draws.step("group"), number, GROUP[size_class])
    innovation = chance(draws.step("innovation"), number, INNOVATOR[size_class] * INNOVATION[industry] // 100)
    turnover = _turnover(draws, number, industry, employees, group)
    coded = {
        "industry": industry,
        "region": choose(draws.step("region"), number, REGION, industry),
        "size_class": size_class,
        "group": group,
        "innovation": innovation,
    }
    columns: Table = {name: ((codes + 1).astype(np.int32), CATEGORIES[name]) for name, codes in coded.items()}
    columns |= {"enterprise": number, "employees": employees, "turnover": turnover}
    columns["exports"] = _exports(draws, number, industry, size_class, turnover)
    columns["rd_expenditure"] = np.where(innovation, _expenditure(draws, number, industry, size_class, turnover), 0.0)
    return {name: columns[name] for name in LABELS if name != "weight"}


def draw_sample(population: Table, size: int, seed: int) -> Table:
    """A stratified simple random sample of `size` enterprises, with `weight` N_h / n_h.

    Strata are industry by size class. Each industry has a share of the sample that grows with its count in the
    published survey (see `quotas`); inside an industry all enterprises of the largest size class are taken, unless they
    would fill more than half of its share, and the rest is allocated as in `allocation`. So the large ones, easiest to
    recognise, are surely in the file: their weight is 1. Size classes are one stratum where there are fewer places than
    size classes.

    >>> sample = draw_sample(population(enterprises=2_000, seed=1), size=300, seed=2)
    >>> float(sample["weight"].sum().round(6))
    2000.0
    """
    check.columns_exist("population columns", [name for name in LABELS if name != "weight"], list(population))
    draws = Draws(seed).step("business survey").step("sample")
    number, industry = values_of(population, "enterprise"), values_of(population, "industry") - 1
    stratum, places = _strata(industry, values_of(population, "size_class") - 1, size)
    present = np.bincount(stratum, minlength=len(places))
    order = np.lexsort((number, draws.bits(number), stratum))
    chosen = np.zeros(len(number), dtype=bool)
    chosen[order] = np.arange(len(number)) < (np.cumsum(present) - present + places)[stratum[order]]
    sample = take(population, chosen)
    sample["weight"] = (present / np.maximum(places, 1))[stratum[chosen]]
    return sample


def _employees(draws: Draws, number: Whole, industry: Whole) -> Whole:
    """Pareto-like sizes from 10 on, with exponent 4/3, among the largest 2/3; they level off towards `LARGEST`."""
    rarity = 1 / draws.step("employees").uniform(number)
    above = 10 * (power(rarity, 12) - 1 + (rarity * np.sqrt(rarity) - 1) / 100) * STAFF[industry] / 100
    return np.asarray(10 + np.floor(above / (1 + above / (LARGEST - 10))), dtype=np.int64)


def _turnover(draws: Draws, number: Whole, industry: Whole, employees: Whole, group: NDArray[np.bool_]) -> Real:
    """A median for each employee, more in large enterprises and in groups, times a factor of 1/5 or more.

    The factor is log-logistic but for its floor: employees have to be paid.
    """
    size_class = np.searchsorted(CLASSES, employees, side="right")
    by_size = power(employees / 50, 1)
    typical = TURNOVER[industry] * employees * by_size * np.where(group, 1.3, 1.0)
    factor = (1 + 4 * spread(draws.step("turnover"), number, TURNOVER_SPREAD[size_class])) / 5
    return np.maximum(np.rint(typical * factor), 1.0)


def _exports(draws: Draws, number: Whole, industry: Whole, size_class: Whole, turnover: Real) -> Real:
    """Part of the turnover of those who export; whole thousands, at least 1."""
    exporter = chance(draws.step("exporter"), number, np.minimum(EXPORTER[size_class] * EXPORTS[industry] // 100, 985))
    factor = spread(draws.step("exports"), number, EXPORTS_SPREAD[size_class])
    ratio = factor * EXPORTS[industry] / 100 * (2 + size_class) / 8
    return np.where(exporter, np.clip(np.rint(turnover * (ratio / (1 + ratio))), 1.0, turnover), 0.0)


def _expenditure(draws: Draws, number: Whole, industry: Whole, size_class: Whole, turnover: Real) -> Real:
    """About two per cent of the turnover of those who spend anything; whole thousands, at least 1."""
    spender = chance(draws.step("spender"), number, SPENDER[size_class])
    factor = spread(draws.step("expenditure"), number, EXPENDITURE_SPREAD[size_class])
    ratio = factor * INNOVATION[industry] / 5000
    return np.where(spender, np.maximum(np.rint(turnover * (ratio / (1 + ratio))), 1.0), 0.0)


def _strata(industry: Whole, size_class: Whole, size: int) -> tuple[Whole, Whole]:
    """The stratum of each enterprise and the sample size of each stratum."""
    classes = len(CATEGORIES["size_class"])
    count = np.bincount(industry * classes + size_class, minlength=len(SAMPLED) * classes).reshape(-1, classes)
    share = quotas(count.sum(axis=1), SAMPLED, _sample_size(size, count))
    places = np.zeros_like(count)
    for row, (present, sample) in enumerate(zip(count, share.tolist(), strict=True)):
        large = present[-1] if 2 * present[-1] <= sample else 0
        rest = present if large == 0 else np.append(present[:-1], 0)
        if sample - large >= np.count_nonzero(rest):
            places[row] = allocation(rest, sample - large)
            places[row, -1] += large
        else:
            places[row, 0] = sample  # fewer places than size classes: the industry is one stratum
            size_class = np.where(industry == row, 0, size_class)
    return industry * classes + size_class, places.reshape(-1)


def _sample_size(size: int, count: Whole) -> int:
    size = check.whole("size", size, 1)
    present, industries = int(count.sum()), int(np.count_nonzero(count.sum(axis=1)))
    if size > present:
        raise TacitaError(f"size must be at most {present}, the enterprises in the population; got {size}.")
    if size < industries:
        raise TacitaError(f"size must be at least {industries}, one for each industry; got {size}.")
    return size
