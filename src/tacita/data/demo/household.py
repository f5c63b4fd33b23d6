"""A synthetic household survey and the true population behind it, made from a seed.

Nobody in it exists. Because the population is known, estimated disclosure risks can be held against the true ones: the
number of persons who share a sampled person's keys, and who is unique in the population. `person` links the two files.

Every value is drawn by household or person number with `Draws` and worked out with whole numbers, divisions and square
roots only, so the files are the same on every machine; a larger population begins with the smaller one of that seed.

A column is an array of numbers (NaN for missing) or a pair `(codes, labels)`: code 0 is missing, code c is
`labels[c - 1]`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita import check
from tacita.check import TacitaError
from tacita.random import Draws

Whole = NDArray[np.int64]
Column = NDArray[np.int64] | NDArray[np.float64] | tuple[NDArray[np.int32], tuple[str, ...]]
Table = dict[str, Column]

KEYS = ("region", "sex", "age", "citizenship", "status")
"""What an intruder is likely to know of a person."""

LABELS: dict[str, str] = {
    "household": "Household number",
    "person": "Person number",
    "region": "Region of residence",
    "size": "Number of persons in the household",
    "sex": "Sex",
    "age": "Age in completed years",
    "citizenship": "Citizenship",
    "status": "Main economic status",
    "marital": "Legal marital status",
    "education": "Highest level of education completed",
    "income": "Personal net income in a year",
    "weight": "Sampling weight of the household",
}
"""Variable labels."""

SCALES: dict[str, str] = {
    name: "numeric" if name in ("size", "age", "income", "weight") else "ordinal" if name == "education" else "nominal"
    for name in LABELS
}
"""Scale of each variable; the two identifiers are nominal."""

NOT_APPLICABLE: dict[str, tuple[str, ...]] = {"status": ("not applicable",), "education": ("not applicable",)}
"""Categories of those who were not asked: a known answer, unlike a missing one."""

CATEGORIES: dict[str, tuple[str, ...]] = {
    "region": (
        "Capital", "Central plain", "North coast", "River valley", "South hills",
        "East lakes", "West moors", "High mountains", "Outer islands",
    ),
    "sex": ("male", "female"),
    "citizenship": ("national", "neighbouring country", "other country nearby", "overseas"),
    "status": (
        "employed full time", "employed part time", "self-employed", "unemployed", "student", "retired",
        "domestic tasks", "disabled", "not applicable",
    ),
    "marital": ("never married", "married", "widowed", "divorced"),
    "education": ("below primary", "primary", "lower secondary", "upper secondary", "tertiary", "not applicable"),
}  # fmt: skip
"""Labels of the categorical variables, in the order of their codes."""

ADULT = 16
"""From this age on status, education and income are asked."""

BLOCK = 1 << 16
"""So many households are made at once, to hold few temporary arrays; the result does not depend on it."""

# fmt: off
# Shares in any unit, a row for each group; rows are read with `choose`.
REGION = np.array([[262, 198, 146, 121, 94, 73, 55, 33, 18]])
AGEING = np.array([0, 1, 1, 1, 2, 1, 2, 2, 2])  # row of HEAD_AGE by region
CITIZENSHIP = np.array([  # by region
    [936, 12, 3, 49], [979, 16, 2, 3], [981, 1, 17, 1], [961, 36, 2, 1], [994, 3, 2, 1],
    [966, 1, 32, 1], [996, 2, 1, 1], [982, 16, 1, 1], [988, 1, 1, 10],
])
HEAD_BANDS = np.array([18, 25, 35, 45, 55, 65, 75, 85, 100])
HEAD_AGE = np.array([
    [75, 205, 200, 180, 145, 105, 65, 25], [45, 150, 185, 195, 175, 135, 85, 30],
    [30, 115, 160, 190, 195, 165, 105, 40],
])
ALONE, COUPLE, FAMILY, ONE_PARENT, GENERATIONS, SHARING = range(6)
HOUSEHOLD_TYPE = np.array([  # by age band of the head
    [560, 210, 75, 35, 0, 120], [310, 255, 305, 65, 10, 55], [200, 130, 515, 110, 25, 20], [225, 165, 430, 125, 40, 15],
    [305, 390, 205, 60, 30, 10], [360, 545, 60, 25, 0, 10], [475, 480, 10, 30, 0, 5], [700, 265, 0, 30, 0, 5],
])
FEMALE_ALONE = np.array([450, 430, 400, 430, 520, 600, 720, 780])  # per mille, by age band
FEMALE_HEAD = np.array([0, 380, 380, 830, 420, 480])  # per mille, by type
CHILDREN = np.array([[430, 400, 125, 35, 10], [590, 310, 75, 20, 5]])  # 1 to 5; with one parent
MEANS = np.array([[300, 450, 250]])  # low, middle, high
MARRIED_COUPLES = np.array([150, 430, 740, 850, 900, 930, 960, 970])  # per mille, by age band of the head
HEAD, PARTNER, OTHER, CHILD, GRANDPARENT = range(5)
EDUCATION_AGES = np.array([19, 22, 45, 65])
EDUCATION = np.array([  # by means, then age
    [15, 185, 780, 20, 0], [10, 60, 450, 480, 0], [12, 48, 250, 590, 100], [20, 90, 350, 470, 70],
    [70, 330, 330, 250, 20], [4, 56, 900, 40, 0], [3, 17, 220, 757, 3], [3, 12, 95, 570, 320], [5, 25, 160, 590, 220],
    [25, 165, 300, 400, 110], [2, 28, 915, 55, 0], [1, 6, 110, 873, 10], [1, 4, 35, 330, 630], [2, 8, 70, 420, 500],
    [8, 52, 190, 440, 310],
])
STATUS_AGES = np.array([19, 25, 35, 55, 65, 75])
STATUS = np.array([  # by age, then sex
    [50, 10, 0, 20, 919, 0, 0, 1], [25, 20, 0, 15, 938, 0, 2, 0],
    [470, 50, 10, 80, 383, 0, 1, 6], [320, 115, 4, 60, 470, 0, 27, 4],
    [825, 28, 55, 60, 20, 0, 1, 11], [545, 220, 20, 45, 20, 0, 142, 8],
    [820, 14, 110, 36, 0, 0, 1, 19], [505, 290, 38, 34, 0, 0, 117, 16],
    [560, 20, 100, 38, 0, 230, 1, 51], [300, 215, 28, 25, 0, 262, 130, 40],
    [8, 6, 22, 0, 0, 960, 1, 3], [3, 7, 4, 0, 0, 884, 100, 2],
    [1, 0, 4, 0, 0, 994, 0, 1], [0, 0, 1, 0, 0, 946, 52, 1],
])
MARITAL_AGES = np.array([25, 35, 50, 65, 80])
MARITAL = np.array([  # without a spouse in the household, by age, then sex
    [995, 3, 0, 2], [985, 10, 0, 5], [935, 25, 1, 39], [890, 35, 4, 71], [650, 65, 10, 275], [560, 60, 30, 350],
    [380, 75, 70, 475], [240, 60, 180, 520], [190, 60, 430, 320], [110, 25, 600, 265],
    [70, 50, 790, 90], [70, 10, 855, 65],
])
INCOME = np.array([27_000, 14_500, 22_000, 9_800, 5_200, 17_500, 4_800, 12_600, 0])  # median by status
NO_INCOME = np.array([0, 0, 30, 260, 560, 10, 720, 25, 1000])  # per mille, by status
INCOME_BY_EDUCATION = np.array([72, 78, 86, 100, 142, 100])  # per cent
INCOME_BY_MEANS = np.array([88, 100, 118])  # per cent
INCOME_AGES = np.array([25, 35, 45, 65])
INCOME_BY_AGE = np.array([72, 92, 106, 112, 100])  # per cent
MISSING = {  # not answered, per hundred thousand, by status
    "education": [2000, 2200, 2300, 2900, 1500, 2500, 2600, 3200, 0],
    "citizenship": [1350, 1400, 1500, 2100, 1600, 1350, 1600, 1700, 1500],
    "marital": [1100, 1100, 1200, 1600, 1000, 1050, 1100, 1400, 800],
    "status": [3100, 3700, 4000, 5400, 3500, 3400, 4500, 4500, 0],
    "income": [6200, 5400, 11500, 5900, 4000, 4700, 4300, 5000, 0],
}
# fmt: on


def population(households: int, seed: int) -> Table:
    """The true population: all persons of so many households, in the order of their numbers.

    Rare citizenships gather in some regions and households and some regions are small, so some persons are unique on
    `KEYS`: those an intruder could recognise with certainty.

    >>> persons = population(households=100, seed=1)
    >>> len(persons["person"]), int(persons["age"].max())
    (223, 94)
    """
    households = check.whole("households", households, 1)
    draws = Draws(seed).step("household survey").step("population")
    blocks: list[Table] = []
    persons = 0
    for start in range(0, households, BLOCK):
        number = np.arange(start, min(start + BLOCK, households), dtype=np.int64) + 1
        blocks.append(_block(draws, number, persons))
        persons += len(values_of(blocks[-1], "person"))
    joined = {name: np.concatenate([values_of(block, name) for block in blocks]) for name in blocks[0]}
    return {name: (values, CATEGORIES[name]) if name in CATEGORIES else values for name, values in joined.items()}


def draw_sample(population: Table, households: int, seed: int) -> Table:
    """A stratified simple random sample of households, with all their persons, and its item non-response.

    Regions are the strata; see `allocation`. `weight` is N_h / n_h, households in the region over those in the sample.
    Persons of small regions have small weights: they are easier to find. Some answers are missing, in the sample only:
    the population stays true, and `person` links to it.

    >>> persons = population(households=500, seed=1)
    >>> sample = draw_sample(persons, households=50, seed=2)
    >>> len(np.unique(sample["household"]))
    50
    """
    check.columns_exist("population columns", [name for name in LABELS if name != "weight"], list(population))
    draws = Draws(seed).step("household survey").step("sample")
    number, first, row = np.unique(values_of(population, "household"), return_index=True, return_inverse=True)
    region = values_of(population, "region")[first] - 1
    stratum = np.bincount(region, minlength=len(CATEGORIES["region"])).astype(np.int64)
    allocated = allocation(stratum, _sample_size(households, stratum))
    order = np.lexsort((number, draws.step("households").bits(number), region))
    chosen = np.zeros(len(number), dtype=bool)
    chosen[order] = np.arange(len(number)) < (np.cumsum(stratum) - stratum + allocated)[region[order]]
    kept = chosen[row]
    sample: Table = {
        name: (column[0][kept], column[1]) if isinstance(column, tuple) else column[kept]
        for name, column in population.items()
    }
    sample["weight"] = (stratum / np.maximum(allocated, 1))[region[row[kept]]]
    return _unanswered(draws, sample)


def allocation(stratum: Whole, sample: int) -> Whole:
    """Sample sizes of strata: one each, the rest by the square root of the stratum, never more than there are.

    Power allocation with power 1/2: Bankier (1988), Power allocations, The American Statistician 42(3).

    >>> allocation(np.array([10_000, 400, 2]), 122).tolist()
    [100, 20, 2]
    """
    root = np.array([math.isqrt(count * 10**6) for count in stratum.tolist()], dtype=np.int64)
    result = np.minimum(stratum, 1)
    while (left := sample - int(result.sum())) > 0:
        share = np.where(result < stratum, root, 0)
        whole = np.minimum(left * share // share.sum(), stratum - result)
        if not whole.any():  # fewer left than strata: one more for those with the largest part
            whole[np.argsort(-share, kind="stable")[:left]] = 1
        result = result + whole
    return result


def choose(draws: Draws, records: Whole, shares: Whole, row: Whole | int = 0) -> Whole:
    """A category, from 0, for each record, drawn by the shares in its row of a table."""
    ends = np.cumsum(shares)
    total = shares.sum(axis=1)[row]
    start = (np.cumsum(shares.sum(axis=1)) - shares.sum(axis=1))[row]
    # The rows lie end to end on one line, so that a single search serves them all.
    found = np.searchsorted(ends, start + draws.integers(records, total), side="right")
    return np.asarray(found - row * shares.shape[1], dtype=np.int64)


def values_of(table: Table, name: str) -> NDArray[Any]:
    """The numbers of a column, or its codes."""
    column = table[name]
    return column[0] if isinstance(column, tuple) else column


def _chance(draws: Draws, records: Whole, per_mille: Whole | int) -> NDArray[np.bool_]:
    return draws.integers(records, 1000) < per_mille


def _peaked(draws: Draws, records: Whole, most: Whole | int) -> Whole:
    """Whole numbers from 0 to `most`, those in the middle more often."""
    half = np.asarray(most) // 2
    return draws.integers(records, half + 1) + draws.integers(records, most - half + 1, draw=1)


def _block(draws: Draws, number: Whole, persons: int) -> Table:
    """The persons of some households, when so many persons came before them."""
    homes = _homes(draws, number)
    size = homes["adults"] + homes["children"] + homes["grandparents"]
    row = np.repeat(np.arange(len(number)), size)
    home = {name: values[row] for name, values in homes.items()} | {"household": number[row], "size": size[row]}
    place = np.arange(len(row), dtype=np.int64) - (np.cumsum(size) - size)[row]
    return _persons(draws, persons + 1 + np.arange(len(row), dtype=np.int64), place, home)


def _homes(draws: Draws, number: Whole) -> dict[str, Whole]:
    """What the members of a household share, for each household."""
    step = draws.step("household").step
    region = choose(step("region"), number, REGION)
    band = choose(step("age band"), number, HEAD_AGE, AGEING[region])
    width = np.diff(HEAD_BANDS)[band]
    age, other = (step("age").integers(number, width, draw=draw) for draw in (0, 1))
    age = HEAD_BANDS[band] + np.where(band == 7, np.minimum(age, other), age)  # fewer and fewer from 85 on
    kind = choose(step("type"), number, HOUSEHOLD_TYPE, band)
    sex = _chance(step("sex"), number, np.where(kind == ALONE, FEMALE_ALONE[band], FEMALE_HEAD[kind]))
    partner = np.isin(kind, (COUPLE, FAMILY)) | ((kind == GENERATIONS) & _chance(step("partner"), number, 800))
    gap = _peaked(step("partner age"), number, 14) - np.where(sex, 5, 9)
    children = 1 + choose(step("children"), number, CHILDREN, (kind == ONE_PARENT).astype(np.int64))
    grandparents = 1 + _chance(step("grandparents"), number, 300)
    return {
        "region": region,
        "band": band,
        "means": choose(step("means"), number, MEANS),
        "citizenship": choose(step("citizenship"), number, CITIZENSHIP, region),
        "head age": age,
        "partner age": np.clip(age + gap, 18, 99),
        "head sex": sex.astype(np.int64),
        "partner sex": (sex == _chance(step("same sex"), number, 20)).astype(np.int64),
        "grandparent sex": _chance(step("grandparent sex"), number, 750).astype(np.int64),
        "partner": partner.astype(np.int64),
        "married": (partner & _chance(step("married"), number, MARRIED_COUPLES[band])).astype(np.int64),
        "adults": 1 + partner + np.where(kind == SHARING, 1 + step("sharing").integers(number, 3), 0),
        "children": np.where(np.isin(kind, (FAMILY, ONE_PARENT, GENERATIONS)), children, 0),
        "grandparents": np.where(kind == GENERATIONS, grandparents, 0),
    }


def _persons(draws: Draws, person: Whole, place: Whole, home: dict[str, Whole]) -> Table:
    """The persons of a population, from what their households share and their place in the household."""
    step = draws.step("person").step
    ends = [np.ones_like(place), 1 + home["partner"], home["adults"], home["adults"] + home["children"]]
    role = np.add.reduce([place >= end for end in ends], axis=0, dtype=np.int64)
    second = place - ends[3]  # 0 and 1 for the grandparents
    drawn = _chance(step("sex"), person, 490).astype(np.int64)
    sex = np.choose(role, [home["head sex"], home["partner sex"], drawn, drawn, (home["grandparent sex"] + second) % 2])
    age = _ages(draws, person, role, home)
    education = _education(draws, person, age, home["means"])
    status = _status(draws, person, age, sex, education)
    spouse = (home["married"] == 1) & (role <= PARTNER) | (role == GRANDPARENT) & (home["grandparents"] == 2)
    coded = {
        "region": home["region"] + 1,
        "sex": sex + 1,
        "citizenship": _citizenship(draws, person, role, home),
        "status": status,
        "marital": _marital(draws, person, age, sex, spouse),
        "education": education,
    }
    columns: Table = {name: (codes.astype(np.int32), CATEGORIES[name]) for name, codes in coded.items()}
    columns |= {"household": home["household"], "person": person, "size": home["size"], "age": age}
    columns["income"] = _income(draws, person, age, status, education, home)
    return {name: columns[name] for name in LABELS if name != "weight"}


def _ages(draws: Draws, person: Whole, role: Whole, home: dict[str, Whole]) -> Whole:
    """Ages: parents are 17 to 42 years older than children, who have mostly left when the parents are old."""
    step, head = draws.step("person").step, home["head age"]
    parent = np.where(home["partner"] == 1, np.minimum(head, home["partner age"]), head)
    least = np.where(parent < 60, np.maximum(17, parent - 32), 20)
    child = parent - least - _peaked(step("child age"), person, np.minimum(42, parent) - least)
    oldest = np.maximum(np.minimum(38, 99 - head), 18)
    grandparent = head + 18 + _peaked(step("grandparent age"), person, oldest - 18)
    other = np.clip(head + _peaked(step("other age"), person, 12) - 6, 18, 99)
    return np.choose(role, [head, home["partner age"], other, child, grandparent])


def _citizenship(draws: Draws, person: Whole, role: Whole, home: dict[str, Whole]) -> Whole:
    """Mostly that of the household; some members of foreign households are nationals, few the other way round."""
    step, shared = draws.step("person").step, home["citizenship"]
    foreign = 1 + choose(step("foreign"), person, CITIZENSHIP[:, 1:], home["region"])
    own = _chance(step("citizenship"), person, np.where(shared > 0, 150, np.where(role == CHILD, 0, 12)))
    return 1 + np.where(own, np.where(shared > 0, 0, foreign), shared)


def _education(draws: Draws, person: Whole, age: Whole, means: Whole) -> Whole:
    row = means * 5 + np.searchsorted(EDUCATION_AGES, age, side="right")
    return np.where(age < ADULT, 6, 1 + choose(draws.step("person").step("education"), person, EDUCATION, row))


def _status(draws: Draws, person: Whole, age: Whole, sex: Whole, education: Whole) -> Whole:
    step = draws.step("person").step
    status = choose(step("status"), person, STATUS, 2 * np.searchsorted(STATUS_AGES, age, side="right") + sex)
    # Half of the graduates who would be unemployed, at home or disabled work full time instead.
    moved = (education == 5) & (age < 65) & np.isin(status, (3, 6, 7)) & _chance(step("graduate"), person, 500)
    return np.where(age < ADULT, 9, np.where(moved, 1, status + 1))


def _marital(draws: Draws, person: Whole, age: Whole, sex: Whole, spouse: NDArray[np.bool_]) -> Whole:
    row = 2 * np.searchsorted(MARITAL_AGES, age, side="right") + sex
    alone = 1 + choose(draws.step("person").step("marital"), person, MARITAL, row)
    return np.where(age < 18, 1, np.where(spouse, 2, alone))


def _income(
    draws: Draws, person: Whole, age: Whole, status: Whole, education: Whole, home: dict[str, Whole]
) -> NDArray[np.float64]:
    """Log-logistic incomes: median times (u / (1 - u)) ** (1 / c), c = 4 for a person, 8 for the household.

    Fisk (1961), The graduation of income distributions, Econometrica 29(2). The powers are square roots of square
    roots, since those, unlike powers and logarithms, are the same on every machine.
    """
    step = draws.step("person").step
    own, shared = step("income").uniform(person), draws.step("household").step("income").uniform(home["household"])
    fourth = np.sqrt(np.sqrt(own / (1 - own)))
    eighth = np.sqrt(np.sqrt(np.sqrt(shared / (1 - shared))))
    spread = fourth * np.where(status == 3, np.sqrt(fourth), 1.0) * eighth  # the self-employed vary more
    by_age = INCOME_BY_AGE[np.searchsorted(INCOME_AGES, age, side="right")]
    percent = INCOME_BY_EDUCATION[education - 1] * INCOME_BY_MEANS[home["means"]] * by_age
    nothing = _chance(step("no income"), person, NO_INCOME[status - 1])
    return np.where(nothing, 0.0, np.rint(INCOME[status - 1] * percent / 1e6 * spread))


def _sample_size(households: int, stratum: Whole) -> int:
    households = check.whole("households", households, 1)
    present, strata = int(stratum.sum()), int(np.count_nonzero(stratum))
    if households > present:
        raise TacitaError(f"households must be at most {present}, the number in the population; got {households}.")
    if households < strata:
        raise TacitaError(f"households must be at least {strata}, one for each region; got {households}.")
    return households


def _unanswered(draws: Draws, sample: Table) -> Table:
    """Answers missing more often from the old and by status; nobody leaves out what does not apply."""
    status, person, result = values_of(sample, "status"), values_of(sample, "person"), dict(sample)
    tenths = np.where(values_of(sample, "age") >= 65, 13, 10)
    for name, by_status in MISSING.items():
        rate = np.array(by_status)[status - 1] * tenths // 10
        missing = draws.step("missing").step(name).integers(person, 100_000) < rate
        column = sample[name]
        if isinstance(column, tuple):
            result[name] = (np.where(missing, np.int32(0), column[0]), column[1])
        else:
            result[name] = np.where(missing, np.nan, column)
    return result
