"""A synthetic survey of accidents at work, made from a seed.

No real person, company or accident is in it. The shape is that of the survey in Mlodak, Pietrzak and Jozefowski (2021),
The trade-off between the risk of disclosure and data utility in SDC: one record for each victim, 88,330 of them, and 34
variables, 9 of them categorical keys, 13 more for post-randomisation, 6 numeric and 6 not confidential. The survey is
exhaustive: there are no weights, and whoever is unique in the file is unique among all victims.

The names are those of the report, which skips P11, P12 and P16: these three are `INVENTED`, as is what every variable
of `MEANING_INVENTED` stands for, and all categories and shares. `accident`, beside the 34, numbers the accidents: the
few with several victims tie records together, so whoever recognises one victim may find the others.

The shares were adjusted, before any protection was tried on the file, until it was about as identifying as the one of
the report. There 3.6 per cent of the records were unique on the first seven keys (here 4.5), 12.9 per cent shared them
with fewer than four others (here 14.7), and 100 records had 62 different values of all nine keys (here 61).

Every value is drawn by accident or record number with `Draws` and worked out with whole numbers, divisions and square
roots only, so the file is the same on every machine; a longer file begins with the shorter one of that seed. Columns
are as in `drawing`, the shares that are drawn from in `accident_shares`.
"""

from __future__ import annotations

import numpy as np

from tacita import check
from tacita.data.demo import accident_shares as shares
from tacita.data.demo.accident_shares import CATEGORIES
from tacita.data.demo.drawing import Table, Whole, chance, choose, spread
from tacita.data.demo.drawing import values_of as values_of
from tacita.random import Draws

KEYS = ("LPB1", "P1", "P2", "P3", "P8", "P15", "P20", "PKD", "WOJW")
"""What an intruder is likely to know: categories. The report suppresses values of the first seven."""

NUMERIC_KEYS = ("P6", "P7", "P13", "P14", "P17", "data_d")
"""What an intruder is likely to know: numbers."""

RANDOMISED = ("P4", "P5", "P9", "P18", "P21", "P22", "P23", "P24", "P25", "P26", "P27_1", "P28", "P29")
"""Further identifying variables, for post-randomisation: those the report shows changed besides keys and numbers."""

NOT_CONFIDENTIAL = ("SEK", "P10", "P11", "P12", "P16", "P19")
"""Variables that identify nobody."""

INVENTED = ("P11", "P12", "P16")
"""Variables that the report does not name."""

MEANING_INVENTED = (*RANDOMISED, "P10", "P11", "P12", "P16", "P19")
"""Variables of which the report does not say what they stand for."""

SHARED = ("WOJW", "LPB1", "SEK", "P12", "P13", "P14", "P15", "P16", "P17", "P19", "P20", "PKD", "data_d")
"""What the victims of one accident have in common."""

LABELS: dict[str, str] = {
    "accident": "Accident number",
    "WOJW": "Province of the company",
    "LPB1": "Persons employed by the company",
    "SEK": "Sector of ownership of the company",
    "P1": "Sex of the victim",
    "P2": "Age group of the victim",
    "P3": "Citizenship of the victim",
    "P4": "Employment status of the victim",
    "P5": "Occupation of the victim",
    "P6": "Seniority, months",
    "P7": "Hours worked before the accident",
    "P8": "Injury",
    "P9": "Part of the body injured",
    "P10": "Outcome of the accident for the victim",
    "P11": "Days of incapacity",
    "P12": "Working pattern",
    "P13": "Working time lost by others, hours",
    "P14": "Estimated material losses",
    "P15": "Location of the accident",
    "P16": "Kind of accident in law",
    "P17": "Time of the accident, hours since midnight",
    "P18": "Working process",
    "P19": "Day of the week",
    "P20": "Place of the accident",
    "P21": "Activity of the victim",
    "P22": "Agent of the activity",
    "P23": "Deviation from the normal",
    "P24": "Agent of the deviation",
    "P25": "Contact that injured",
    "P26": "Agent of the contact",
    "P27_1": "Main cause",
    "P28": "Disability before the accident",
    "P29": "Protective equipment in use",
    "PKD": "Economic activity of the company, NACE group",
    "data_d": "Months from January 2000 to the accident",
}
"""Variable labels."""

SCALES: dict[str, str] = {
    name: "numeric" if name in NUMERIC_KEYS else "ordinal" if name in ("LPB1", "P2", "P11", "P28") else "nominal"
    for name in LABELS
}
"""Scale of each variable; the identifier is nominal."""

NOT_APPLICABLE: dict[str, tuple[str, ...]] = {"P11": ("not applicable",)}
"""Categories of those to whom the question does not apply: the dead have no days of incapacity."""

DIVISION: dict[str, str] = {group: group[:3] for group in CATEGORIES["PKD"]}
"""The NACE division of each group: the two levels of PKD."""

PROVINCE: dict[str, str] = {location: location.split(",")[0] for location in CATEGORIES["P15"]}
"""The province of each location: WOJW follows P15."""

BLOCK = 1 << 16
"""So many accidents are made at once, to hold few temporary arrays; the result does not depend on it."""


def population(records: int, seed: int) -> Table:
    """The true file: so many victims, in the order of their accidents, with nothing missing.

    Kinds of injury, place and activity are rare in places, so some victims are unique on `KEYS`: those an intruder
    could recognise with certainty. The last accident may have lost some of its victims to the number asked for.

    >>> victims = population(records=1_000, seed=1)
    >>> len(victims["accident"]), len(np.unique(victims["accident"]))
    (1000, 975)
    """
    records = check.whole("records", records, 1)
    draws = Draws(seed).step("accident survey")
    blocks: list[Table] = []
    accidents = made = 0
    while made < records:
        number = accidents + 1 + np.arange(min(BLOCK, records - made), dtype=np.int64)
        blocks.append(_block(draws, number, made, records))
        accidents, made = accidents + len(number), made + len(values_of(blocks[-1], "accident"))
    joined = {name: np.concatenate([values_of(block, name) for block in blocks]) for name in LABELS}
    return {name: (values, CATEGORIES[name]) if name in CATEGORIES else values for name, values in joined.items()}


def reported(population: Table, seed: int) -> Table:
    """The file as a survey institute would hold it: some answers are missing, those in `SHARED` for a whole accident.

    >>> victims = population(records=1_000, seed=1)
    >>> int(np.count_nonzero(np.isnan(reported(victims, seed=1)["P14"])))
    23
    """
    check.columns_exist("population columns", list(LABELS), list(population))
    draws, result = Draws(seed).step("accident survey").step("missing"), dict(population)
    record = np.arange(1, len(values_of(population, "accident")) + 1, dtype=np.int64)
    for name, rate in shares.MISSING.items():
        unit = values_of(population, "accident") if name in SHARED else record
        missing = draws.step(name).integers(unit, 100_000) < rate
        column = population[name]
        if isinstance(column, tuple):
            result[name] = (np.where(missing, np.int32(0), column[0]), column[1])
        else:
            result[name] = np.where(missing, np.nan, column)
    return result


def _block(draws: Draws, number: Whole, before: int, records: int) -> Table:
    """The victims of some accidents, when so many records came before them, up to the last record asked for."""
    event = _events(draws.step("accident"), number)
    row = np.repeat(np.arange(len(number)), 1 + event["victims"])[: records - before]
    event = {name: values[row] for name, values in event.items()} | {"accident": number[row]}
    record = before + 1 + np.arange(len(row), dtype=np.int64)
    step = draws.step("victim")
    drawn = _person(step, record, event)
    drawn |= _injury(step, record, drawn)
    drawn |= event | _course(step, record, event["kind"], drawn)
    numbers = _numbers(draws, record, drawn)
    coded: Table = {name: ((drawn[name] + 1).astype(np.int32), labels) for name, labels in CATEGORIES.items()}
    return coded | numbers


def _events(draws: Draws, number: Whole) -> dict[str, Whole]:
    """What the victims of an accident have in common, for each accident; categories from 0."""

    def draw(name: str, table: Whole, row: Whole | int = 0) -> Whole:
        return choose(draws.step(name), number, table, row)

    activity = draw("PKD", shares.GROUP)
    kind = shares.KIND[activity]
    location = draw("P15", shares.LOCATION, shares.LOCATION_ROW[kind])
    pattern = draw("P12", shares.PATTERN, kind)
    return {
        "kind": kind,
        "victims": draw("victims", shares.VICTIMS),
        "PKD": activity,
        "SEK": draw("SEK", shares.SECTOR, kind),
        "LPB1": draw("LPB1", shares.EMPLOYED, kind),
        "P12": pattern,
        "P15": location,
        "WOJW": shares.PROVINCE[location],
        "P16": chance(draws.step("P16"), number, 15).astype(np.int64),
        "P19": draw("P19", shares.DAY),
        "P20": draw("P20", shares.PLACE, kind),
        "data_d": 204 + draw("data_d", shares.MONTH),
        "start": draw("start", shares.START, pattern),
        "since": 12 * draw("since", shares.SINCE) + draws.step("minutes").integers(number, 12),
    }


def _person(draws: Draws, record: Whole, event: dict[str, Whole]) -> dict[str, Whole]:
    """Who the victim is."""

    def draw(name: str, table: Whole, row: Whole) -> Whole:
        return choose(draws.step(name), record, table, row)

    occupation = draw("P5", shares.OCCUPATION, event["kind"])
    work = shares.WORK[occupation]
    band = draw("P2", shares.AGE, work)
    migrants = 2 * shares.BORDER[event["P15"]] + shares.MIGRANTS[event["kind"]]
    return {
        "work": work,
        "P1": chance(draws.step("P1"), record, shares.FEMALE[occupation]).astype(np.int64),
        "P2": band,
        "P3": draw("P3", shares.CITIZENSHIP, migrants),
        "P4": draw("P4", shares.EMPLOYMENT, band),
        "P5": occupation,
        "P28": draw("P28", shares.DISABILITY, band),
        "age": shares.AGE_BANDS[band] + draws.step("age").integers(record, np.diff(shares.AGE_BANDS)[band]),
    }


def _injury(draws: Draws, record: Whole, person: dict[str, Whole]) -> dict[str, Whole]:
    """What the accident did to the victim."""
    injury = choose(draws.step("P8"), record, shares.INJURY, person["work"])
    outcome = choose(draws.step("P10"), record, shares.OUTCOME, injury)
    # Rows of DAYS: temporary incapacity has two, by the gravity of the injury.
    row = np.where(outcome == 1, 1 + shares.GRAVE[injury], outcome + (outcome > 1))
    return {
        "P8": injury,
        "P9": choose(draws.step("P9"), record, shares.BODY, injury),
        "P10": outcome,
        "P11": choose(draws.step("P11"), record, shares.DAYS, row),
    }


def _course(draws: Draws, record: Whole, kind: Whole, victim: dict[str, Whole]) -> dict[str, Whole]:
    """How the accident came about."""

    def draw(name: str, table: Whole, row: Whole) -> Whole:
        return choose(draws.step(name), record, table, row)

    activity = draw("P21", shares.ACTIVITY, victim["work"])
    deviation = draw("P23", shares.DEVIATION, activity)
    agent = draw("P22", shares.AGENT, activity)
    # The agent of one phase is mostly that of the phase before.
    second = np.where(chance(draws.step("same agent"), record, 600), agent, draw("P24", shares.DEVIATING, deviation))
    third = np.where(chance(draws.step("same again"), record, 550), second, draw("P26", shares.DEVIATING, deviation))
    return {
        "P18": draw("P18", shares.PROCESS, kind),
        "P21": activity,
        "P22": agent,
        "P23": deviation,
        "P24": second,
        "P25": draw("P25", shares.CONTACT, victim["P8"]),
        "P26": third,
        "P27_1": draw("P27_1", shares.CAUSE, deviation),
        "P29": draw("P29", shares.EQUIPMENT, victim["work"]),
    }


def _numbers(draws: Draws, record: Whole, drawn: dict[str, Whole]) -> Table:
    """The numeric variables and the accident number."""
    number, since = drawn["accident"], drawn["since"]
    step, shared = draws.step("victim").step, draws.step("accident").step
    share = step("P6").uniform(record)
    # Nobody began before the age of 16; contracts for a fixed term have lasted less long.
    lasting = np.where(np.isin(drawn["P4"], (0, 3)), share * (1 + 2 * share) / 3, share * share / 4)
    damage = chance(shared("damage"), number, 70)
    extent = spread(shared("P14"), number, 13)
    hours = 2 * spread(shared("P13"), number, 6) * np.where(damage, np.sqrt(extent), 1.0)
    lost = chance(shared("lost time"), number, np.where(damage, 600, 170))
    return {
        "accident": number,
        "P6": np.floor(12 * (drawn["age"] - 16) * lasting),
        "P7": (since // 12 + chance(step("P7"), record, 60)).astype(np.float64),
        "P13": np.where(lost, np.ceil(hours), 0.0),
        "P14": np.where(damage, np.ceil(600 * extent), 0.0),
        "P17": (12 * drawn["start"] + since) % 288 / 12,
        "data_d": drawn["data_d"],
    }
