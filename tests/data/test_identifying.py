"""Columns that look like direct identifiers are found, and ordinary ones are not."""

import datetime
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.data import Data
from tacita.data.check_digits import SCHEMES, check_digit_scheme, iban, luhn, mod_10, mod_11, mod_11_cyclic
from tacita.data.identifying import suspects, undeclared_identifiers

N = 60
DRAW = random.Random(7)
FIRST = ("Ada", "Bo", "Cem", "Dora", "Eli", "Fay", "Gus", "Hana")
LAST = ("Berg", "Costa", "Dahl", "Eder", "Funk", "Gray", "Holm", "Ivanov", "Jung")
TOWNS = ("Oak", "Elm", "Fir", "Ash")


def issued(test: Callable[[str], bool], size: int) -> list[str]:
    """Made-up numbers whose check digits are right."""
    found: set[str] = set()
    while len(found) < N:
        number = "".join(DRAW.choice("0123456789") for _ in range(size))
        if number[0] != "0" and test(number):
            found.add(number)
    return sorted(found)


def accounts() -> list[str]:
    found = []
    while len(found) < N:
        body = "".join(DRAW.choice("0123456789") for _ in range(16))
        found += [text for check in range(98) if iban(text := f"DE{check:02d}{body}")][:1]
    return found


SENTENCE = "The respondent said that he had {} problems since {} and would rather not go on"
IDENTIFYING = {
    "full_name": ([f"{a} {b}" for a in FIRST for b in LAST][:N], "names"),
    "SSN": ([f"{DRAW.randrange(10**8, 10**9)}" for _ in range(N)], "personal numbers"),
    "patientID": (DRAW.sample(range(1000), N), "personal numbers"),
    "contact": ([f"{a}.{b}@example.org".lower() for a in FIRST for b in LAST][:N], "e-mail addresses"),
    "reach": ([f"+43 660 {DRAW.randrange(10**5, 10**6)}" for _ in range(N)], "telephone numbers"),
    "home_phone": ([DRAW.randrange(10**6, 10**7) for _ in range(N)], "telephone numbers"),
    "Home-Address": ([f"{DRAW.choice(TOWNS)} street {at}" for at in range(N)], "addresses"),
    "card": (issued(luhn, 16), "numbers with check digits, Luhn"),
    "number": ([int(each) for each in issued(luhn, 12)], "numbers with check digits, Luhn"),
    "book": ([f"{each[:3]}-{each[3:]}" for each in issued(mod_11, 10)], "numbers with check digits, mod 11"),
    "article": (issued(mod_10, 13), "numbers with check digits, mod 10"),
    "payer": (issued(mod_11_cyclic, 11), "numbers with check digits, mod 11, cyclic"),
    "bank": (accounts(), "numbers with check digits, IBAN"),
    "machine": ([f"10.0.{at // 250}.{at % 250}" for at in range(N)], "network addresses"),
    "remark": ([SENTENCE.format(DRAW.randrange(9), at) for at in range(N)], "free text"),
    "who": ([f"{b}{at}" for at in range(7) for b in LAST][:N], "every record has a text of its own"),
    "nearly": ([f"x{at}" for at in range(N - 2)] + ["x0", "x1"], "nearly every record has a text of its own"),
    "tax_id": ([float(each) for each in DRAW.sample(range(1000), N)], "personal numbers"),
    "insured": ([float(each) for each in issued(luhn, 12)], "numbers with check digits, Luhn"),
    "row": (list(range(101, 101 + N)), "numbers the records"),
    "steuernr": (DRAW.sample(range(10**5, 10**6), N), "personal numbers"),
    "subject_id": (DRAW.sample(range(10**5, 10**6), N), "personal numbers"),
    "begun": (
        [datetime.datetime(2021, 3, 1) + datetime.timedelta(minutes=at) for at in DRAW.sample(range(10**6), N)],
        "every record has a moment of its own",
    ),
    "lat": ([47 + DRAW.random() for _ in range(N)], "addresses"),
}


@pytest.mark.parametrize("name", IDENTIFYING)
def test_what_looks_like_a_direct_identifier_is_found(name: str) -> None:
    values, look = IDENTIFYING[name]
    data = Data.of(pl.DataFrame({"sex": ["f", "m"] * (N // 2), name: values}))
    assert suspects(data) == ((name, look),)
    assert suspects(data, {name}) == ()
    if name != "row":
        # A few gaps hide nothing, but numbers with gaps do not number the records.
        assert suspects(data.blanked({name: np.arange(N) % 7 == 3}))[0].column == name


ORDINARY = {
    "region_name": [DRAW.choice(TOWNS) for _ in range(N)],
    "phone": ["yes", "no"] * (N // 2),
    "id_card": [1, 2] * (N // 2),
    "income": [float(DRAW.randrange(10**9)) / 7 for _ in range(N)],
    "sales": [float(DRAW.randrange(10**8, 10**9)) for _ in range(N)],
    "turnover": [DRAW.randrange(10**8, 10**9) for _ in range(N)],
    "employees": [DRAW.randrange(5000) for _ in range(N)],
    "year": [1940 + DRAW.randrange(60) for _ in range(N)],
    "occupation": [f"{DRAW.randrange(1000, 1030)}" for _ in range(N)],
    "price as text": [f"{DRAW.random() * 1000:.7f}" for _ in range(N)],
    "age": [DRAW.randrange(90) for _ in range(N)],
    "nothing": [None] * N,
    "school_id": [DRAW.randrange(12) for _ in range(N)],
    "month": [datetime.datetime(2021, DRAW.randrange(1, 13), 1) for _ in range(N)],
    "flag": [True, False] * (N // 2),
    "long category": ["a long description of a category, number one", "and of category number two, as long"] * (N // 2),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_columns_are_left_in_peace(name: str) -> None:
    assert suspects(Data.of(pl.DataFrame({name: ORDINARY[name]}))) == ()


@pytest.mark.parametrize("make", [tc.household_survey, tc.business_survey, tc.accident_survey])
def test_the_demo_surveys_raise_no_alarm(make: Callable[..., tc.DemoSurvey]) -> None:
    survey = make()
    assert suspects(survey.data) == ()
    assert suspects(survey.data, survey.scenario.roles) == ()


@pytest.mark.parametrize("name", ["eusilc", "testdata", "Tarragona", "casc1", "francdat"])
def test_nor_do_surveys_that_others_made(reference: Any, name: str) -> None:
    """But for the number of the person, which is read as a text."""
    found = [each.column for each in suspects(Data.of(reference.data(name)))]
    assert found == (["rb030"] if name == "eusilc" else [])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_random_numbers_keep_no_scheme(scheme: str) -> None:
    draw = random.Random(scheme)
    for _ in range(50):
        size = draw.randrange(8, 16)
        assert check_digit_scheme([f"{draw.randrange(10**size):0{size}d}" for _ in range(12)]) == ""


def test_an_assessment_and_a_release_say_so() -> None:
    """All-unique texts such as names went out without a word."""
    people = pl.DataFrame({"sex": ["f", "m"] * (N // 2), "ssn": IDENTIFYING["SSN"][0], "who": IDENTIFYING["who"][0]})
    who = tc.Scenario(keys=["sex"])
    said = (
        "columns that look like direct identifiers are not declared: 'ssn' (personal numbers), 'who' (every record has "
        "a text of its own); name them in identifiers of the scenario and take them out with Remove()."
    )
    assert said in tc.assess(people, who).cautions
    assert tc.Plan().apply(people, who).cautions == (said,)
    declared = tc.Scenario(keys=["sex"], identifiers=["ssn", "who"])
    assert list(undeclared_identifiers(Data.of(people), declared)) == []
    assert not any("look like" in each for each in tc.assess(people, declared).cautions)
    assert tc.Plan([tc.Remove()]).apply(people, declared).cautions == ()
    for value in (*people["ssn"][:5], *people["who"][:5]):
        assert value not in said


def test_all_of_some_columns_are_named() -> None:
    """Of nine columns of court records four were "and 4 more", and nobody could declare them."""
    data = Data.of(pl.DataFrame({f"{name}_id": range(1000, 1000 + N) for name in "abcdefghi"}))
    (said,) = undeclared_identifiers(data, tc.Scenario(keys=["sex"]))
    assert all(f"'{name}_id'" in said for name in "abcdefghi") and "more" not in said


@pytest.mark.parametrize("name", ["seqn", "pidnum", "caseid_no", "serial_no"])
def test_numbers_of_persons_are_known_by_what_they_are_called(name: str) -> None:
    numbers = [1000 + 7 * at * at for at in range(N)]
    people = pl.DataFrame({name: numbers, "sex": [1, 2] * (N // 2)})
    assert [each.column for each in suspects(Data.of(people))] == [name]


@pytest.mark.parametrize(
    ("label", "found"),
    [("UNIQUE PERSONAL IDENTIFIER", True), ("Case serial number", True), ("Income of the identified earner", False)],
)
def test_numbers_of_persons_are_known_by_their_label(label: str, found: bool) -> None:
    """A health survey called them `seqn`, and said in the label what that is."""
    data = Data(
        pl.DataFrame({"v1": [1000 + 7 * at * at for at in range(N)]}), variables={"v1": tc.Variable(label=label)}
    )
    assert bool(suspects(data)) == found
