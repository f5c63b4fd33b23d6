"""A synthetic household survey and the true population behind it, made from a seed.

Nobody in it exists. Because the population is known, estimated disclosure risks can be held against the true ones: the
number of persons who share a sampled person's keys, and who is unique in the population. `person` links the two files.

Every value is drawn by household or person number with `Draws` and worked out with whole numbers, divisions and square
roots only, so the files are the same on every machine; a larger population begins with the smaller one of that seed.

Columns are as in `drawing`, the shares that are drawn from in `household_shares`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacita import check
from tacita.check import TacitaError
from tacita.data.demo import household_shares as shares
from tacita.data.demo.drawing import Table, Whole, allocation, chance, choose, peaked, take, values_of
from tacita.data.demo.household_shares import MISSING
from tacita.random import Draws

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
    sample = take(population, kept)
    sample["weight"] = (stratum / np.maximum(allocated, 1))[region[row[kept]]]
    return _unanswered(draws, sample)


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
    region = choose(step("region"), number, shares.REGION)
    band = choose(step("age band"), number, shares.HEAD_AGE, shares.AGEING[region])
    width = np.diff(shares.HEAD_BANDS)[band]
    age, other = (step("age").integers(number, width, draw=draw) for draw in (0, 1))
    age = shares.HEAD_BANDS[band] + np.where(band == 7, np.minimum(age, other), age)  # fewer and fewer from 85 on
    kind = choose(step("type"), number, shares.HOUSEHOLD_TYPE, band)
    sex = chance(
        step("sex"), number, np.where(kind == shares.ALONE, shares.FEMALE_ALONE[band], shares.FEMALE_HEAD[kind])
    )
    partner = np.isin(kind, (shares.COUPLE, shares.FAMILY)) | (
        (kind == shares.GENERATIONS) & chance(step("partner"), number, 800)
    )
    gap = peaked(step("partner age"), number, 14) - np.where(sex, 5, 9)
    children = 1 + choose(step("children"), number, shares.CHILDREN, (kind == shares.ONE_PARENT).astype(np.int64))
    grandparents = 1 + chance(step("grandparents"), number, 300)
    return {
        "region": region,
        "band": band,
        "means": choose(step("means"), number, shares.MEANS),
        "citizenship": choose(step("citizenship"), number, shares.CITIZENSHIP, region),
        "head age": age,
        "partner age": np.clip(age + gap, 18, 99),
        "head sex": sex.astype(np.int64),
        "partner sex": (sex == chance(step("same sex"), number, 20)).astype(np.int64),
        "grandparent sex": chance(step("grandparent sex"), number, 750).astype(np.int64),
        "partner": partner.astype(np.int64),
        "married": (partner & chance(step("married"), number, shares.MARRIED_COUPLES[band])).astype(np.int64),
        "adults": 1 + partner + np.where(kind == shares.SHARING, 1 + step("sharing").integers(number, 3), 0),
        "children": np.where(np.isin(kind, (shares.FAMILY, shares.ONE_PARENT, shares.GENERATIONS)), children, 0),
        "grandparents": np.where(kind == shares.GENERATIONS, grandparents, 0),
    }


def _persons(draws: Draws, person: Whole, place: Whole, home: dict[str, Whole]) -> Table:
    """The persons of a population, from what their households share and their place in the household."""
    step = draws.step("person").step
    ends = [np.ones_like(place), 1 + home["partner"], home["adults"], home["adults"] + home["children"]]
    role = np.add.reduce([place >= end for end in ends], axis=0, dtype=np.int64)
    second = place - ends[3]  # 0 and 1 for the grandparents
    drawn = chance(step("sex"), person, 490).astype(np.int64)
    sex = np.choose(role, [home["head sex"], home["partner sex"], drawn, drawn, (home["grandparent sex"] + second) % 2])
    age = _ages(draws, person, role, home)
    education = _education(draws, person, age, home["means"])
    status = _status(draws, person, age, sex, education)
    spouse = (home["married"] == 1) & (role <= shares.PARTNER) | (role == shares.GRANDPARENT) & (
        home["grandparents"] == 2
    )
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
    child = parent - least - peaked(step("child age"), person, np.minimum(42, parent) - least)
    oldest = np.maximum(np.minimum(38, 99 - head), 18)
    grandparent = head + 18 + peaked(step("grandparent age"), person, oldest - 18)
    other = np.clip(head + peaked(step("other age"), person, 12) - 6, 18, 99)
    return np.choose(role, [head, home["partner age"], other, child, grandparent])


def _citizenship(draws: Draws, person: Whole, role: Whole, home: dict[str, Whole]) -> Whole:
    """Mostly that of the household; some members of foreign households are nationals, few the other way round."""
    step, shared = draws.step("person").step, home["citizenship"]
    foreign = 1 + choose(step("foreign"), person, shares.CITIZENSHIP[:, 1:], home["region"])
    own = chance(step("citizenship"), person, np.where(shared > 0, 150, np.where(role == shares.CHILD, 0, 12)))
    return 1 + np.where(own, np.where(shared > 0, 0, foreign), shared)


def _education(draws: Draws, person: Whole, age: Whole, means: Whole) -> Whole:
    row = means * 5 + np.searchsorted(shares.EDUCATION_AGES, age, side="right")
    return np.where(age < ADULT, 6, 1 + choose(draws.step("person").step("education"), person, shares.EDUCATION, row))


def _status(draws: Draws, person: Whole, age: Whole, sex: Whole, education: Whole) -> Whole:
    step = draws.step("person").step
    status = choose(
        step("status"), person, shares.STATUS, 2 * np.searchsorted(shares.STATUS_AGES, age, side="right") + sex
    )
    # Half of the graduates who would be unemployed, at home or disabled work full time instead.
    moved = (education == 5) & (age < 65) & np.isin(status, (3, 6, 7)) & chance(step("graduate"), person, 500)
    return np.where(age < ADULT, 9, np.where(moved, 1, status + 1))


def _marital(draws: Draws, person: Whole, age: Whole, sex: Whole, spouse: NDArray[np.bool_]) -> Whole:
    row = 2 * np.searchsorted(shares.MARITAL_AGES, age, side="right") + sex
    alone = 1 + choose(draws.step("person").step("marital"), person, shares.MARITAL, row)
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
    by_age = shares.INCOME_BY_AGE[np.searchsorted(shares.INCOME_AGES, age, side="right")]
    percent = shares.INCOME_BY_EDUCATION[education - 1] * shares.INCOME_BY_MEANS[home["means"]] * by_age
    nothing = chance(step("no income"), person, shares.NO_INCOME[status - 1])
    return np.where(nothing, 0.0, np.rint(shares.INCOME[status - 1] * percent / 1e6 * spread))


def _sample_size(households: int, stratum: Whole) -> int:
    households = check.whole("households", households, 1)
    present, strata = int(stratum.sum()), int(np.count_nonzero(stratum))
    if households > present:
        raise TacitaError(f"households must be at most {present}, the number in the population; got {households}.")
    if households < strata:
        raise TacitaError(f"households must be at least {strata}, one for each region; got {households}.")
    return households


def _unanswered(draws: Draws, sample: Table) -> Table:
    """Which answers are missing: more often of the old and by status; never where a question does not apply."""
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
