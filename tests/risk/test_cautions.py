"""What a reader of the figures is told, and when."""

from datetime import date

import polars as pl
import pytest

import tacita as tc
from tacita.assessment import cautions
from tacita.data import Data, Variable
from tacita.keys.table import key_table
from tacita.scenario import Scenario


def told(frame: pl.DataFrame, scenario: Scenario) -> tuple[str, ...]:
    data = Data.of(frame)
    return cautions.cautions_of(key_table(data, scenario), data, scenario)


# Estimates that rest on few records.


def test_few_records_make_an_estimate_unreliable() -> None:
    """The relative error sqrt((1-p)/f) is above 1/2 up to f = 3 with p = 1/20: 3 of the 8 records."""
    frame = pl.DataFrame({"a": [1] * 3 + [2] * 5, "w": [20.0] * 8})
    assert told(frame, Scenario(keys=["a"], weight="w")) == (
        "F rests on so few records that its relative error is above 50 % for 3 of 8 records: the total is more "
        "reliable than a single risk, and recoding detailed keys (geography first) to the level at which estimates are "
        "significant helps.",
    )


def test_what_is_known_is_not_unreliable() -> None:
    frame = pl.DataFrame({"a": [1, 2], "w": [20.0, 20.0]})
    assert told(frame, Scenario(keys=["a"])) == ()
    data, scenario = Data.of(frame), Scenario(keys=["a"], weight="w")
    table = key_table(data, scenario, register=frame)
    assert cautions.cautions_of(table, data, scenario) == ()


def test_large_groups_and_large_samples_are_reliable() -> None:
    """f = 4 with any p has at most 1/2; f = 1 with p = 0.8 has sqrt(0.2) = 0.447."""
    assert told(pl.DataFrame({"a": [1] * 4 + [2] * 4, "w": [500.0] * 8}), Scenario(keys=["a"], weight="w")) == ()
    table = key_table(pl.DataFrame({"a": [1, 2], "w": [1.25, 1.25]}), Scenario(keys=["a"], weight="w"))
    assert list(cautions.unreliable_estimates(table)) == []


def test_many_uniques_make_the_model_too_low() -> None:
    """One of 20 records is unique: 5 %. One of 21 is less."""
    frame = pl.DataFrame({"a": [1] * 19 + [2], "w": [20.0] * 20})
    scenario = Scenario(keys=["a"], weight="w")
    (text,) = cautions.underestimated_risk(key_table(frame, scenario))
    assert text.startswith("1 of 20 records")
    assert list(cautions.underestimated_risk(key_table(pl.concat([frame.head(1), frame]), scenario))) == []
    assert list(cautions.underestimated_risk(key_table(frame, Scenario(keys=["a"])))) == []
    assert list(cautions.underestimated_risk(key_table(frame, scenario, register=frame))) == []


# Keys of very many values.


def test_a_key_of_many_values_is_named_with_a_recode() -> None:
    ages = pl.DataFrame({"age": list(range(60)), "sex": [1, 2] * 30})
    assert told(ages, Scenario(keys=["age", "sex"])) == (
        "key 'age' has 60 different values; without it 0 of 60 unique records would be unique: recode it, for example "
        "into classes of 5 or 10, or by their first digits if its numbers are codes.",
    )
    assert told(ages, Scenario(keys=["age"])) == (
        "key 'age' has 60 different values; 60 records are unique: recode it, for example into classes of 5 or 10, or "
        "by their first digits if its numbers are codes.",
    )
    jobs = ages.select(job=pl.col("age").cast(pl.String))
    assert told(jobs, Scenario(keys=["job"])) == (
        "key 'job' has 60 different values; 60 records are unique: recode it, for example to the next higher level of "
        "its code list, or group its rare values.",
    )


def test_codes_that_are_numbers_have_no_width() -> None:
    """Sixty codes of occupations, declared nominal, labelled or measured: only what is measured has classes."""
    jobs = pl.DataFrame({"job": [1100 + 7 * i for i in range(60)]})
    who = Scenario(keys=["job"])
    for known in (Variable(scale="nominal"), Variable(value_labels={1100: "chiefs"})):
        (text,) = told(Data.of(jobs, {"job": known}), who)
        assert text.endswith("for example to the next higher level of its code list, or group its rare values.")
    for label in ("Village ID", "Occupation (ISCO-08)", "Code of the occupation"):
        (text,) = told(Data.of(jobs, {"job": Variable(label=label)}), who)
        assert text.endswith("for example to the next higher level of its code list, or group its rare values."), label
    (text,) = told(Data.of(jobs, {"job": Variable(label="Idle hours, coding week")}), who)
    assert text.endswith("or by their first digits if its numbers are codes.")
    (text,) = told(Data.of(jobs, {"job": Variable(scale="numeric")}), who)
    assert text.endswith("for example into classes of 5 or 10.")


def test_a_blank_category_does_not_make_numbers_text() -> None:
    frame = pl.DataFrame({"age": [*range(60), None]})
    (text,) = told(frame, Scenario(keys=["age"], not_applicable={"age": [""]}))
    assert "recode it, for example into classes of 5 or 10" in text


def test_many_values_that_single_nobody_out_are_fine() -> None:
    assert told(pl.DataFrame({"age": list(range(60)) * 2, "x": [1, 2] * 60}), Scenario(keys=["age"])) == ()
    assert told(pl.DataFrame({"age": list(range(50))}), Scenario(keys=["age"])) == ()


def test_a_key_that_is_not_the_reason_is_not_named() -> None:
    """Everybody is unique by each of two keys alone: dropping one would not help."""
    frame = pl.DataFrame({"a": list(range(60)), "b": list(range(60))})
    assert told(frame, Scenario(keys=["a", "b"])) == ()


# Persons, blanks, constants.


@pytest.mark.parametrize(
    ("persons", "start"),
    [
        ([1, 1, 2, None, None], "5 records are of 4 units by 'pid': f, F and risk count units"),
        ([7, 7, 7, 7, 8], "5 records are of 2 units by 'pid'"),
    ],
)
def test_repeated_persons(persons: list[int | None], start: str) -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 2, 2], "pid": persons})
    (text,) = told(frame, Scenario(keys=["a"], person="pid"))
    assert text.startswith(start)
    assert told(frame.with_columns(pid=pl.Series([1, 2, 3, 4, None])), Scenario(keys=["a"], person="pid")) == ()
    unknown = Data.of(frame.with_columns(pid=pl.Series([1, 2, 3, 0, 0])), {"pid": Variable(missing=(0,))})
    assert told(unknown, Scenario(keys=["a"], person="pid")) == ()


def test_a_date_is_recoded_as_dates() -> None:
    """Classes of 5 or 10 were proposed for a date of birth, and refused when tried."""
    born = pl.DataFrame({"born": pl.date_range(date(1950, 1, 1), date(1950, 3, 31), "1d", eager=True)})
    (said,) = [each for each in told(born, Scenario(keys=["born"])) if "different values" in each]
    assert said.endswith("recode it, for example by Recode('born', dates='year').")
    assert len(tc.Plan([tc.Recode("born", dates="year")]).apply(born, Scenario(keys=["born"])).data) == 90


FOLLOWS = (
    "key 'job' is blank exactly where 'age' has certain values: an intruder knows that it does not apply; declare "
    "it not applicable so that the blank is a category (in the scenario not_applicable={'job': ['']}, in its file "
    "'job' = [''] under [scenario.not_applicable]), and give it a code by Recode('job', mapping={'': "
    "'not applicable'}) before Suppress, which else leaves this key as it is."
)


def test_blanks_that_follow_another_key_are_pointed_out() -> None:
    """Children have no job: five blanks at the ages 5 and 10, none at 40 and 50."""
    frame = pl.DataFrame({"age": [5, 5, 10, 10, 10, 40, 40, 50], "job": [None] * 5 + [1, 2, 1]})
    assert told(frame, Scenario(keys=["age", "job"])) == (FOLLOWS,)
    assert told(frame, Scenario(keys=["job", "age"])) == (FOLLOWS,)
    declared = Scenario(keys=["age", "job"], not_applicable={"job": [""]})
    assert told(frame, declared) == ()


def test_blanks_that_do_not_follow_are_not() -> None:
    scenario = Scenario(keys=["age", "job"])
    some = pl.DataFrame({"age": [5, 5, 10, 10, 10, 5, 40, 50], "job": [None] * 5 + [1, 2, 1]})
    assert told(some, scenario) == ()
    too_few = pl.DataFrame({"age": [5, 5, 40, 40, 40, 50, 50, 50], "job": [None] * 2 + [1, 2, 1, 1, 1, 2]})
    assert told(too_few, scenario) == ()


def test_a_key_that_tells_nothing_apart() -> None:
    frame = pl.DataFrame({"a": [1, 1], "b": pl.Series([None, None], dtype=pl.String), "c": [1, 2]})
    assert told(frame, Scenario(keys=["a", "b", "c"])) == (
        "key 'a' has the same value in every record and adds nothing; drop it, or check the file.",
        "key 'b' is missing in every record and adds nothing; drop it, or check the file.",
    )


def test_assess_prints_each_caution_once() -> None:
    """Two key sets with the same constant key."""
    frame = pl.DataFrame({"a": [1, 1], "b": [1, 2]})
    scenario = Scenario(keys=["a"], key_sets={"both": ["a", "b"]})
    profile = tc.assess(frame, scenario, tc.Policy(k=2))
    text = "key 'a' has the same value in every record and adds nothing; drop it, or check the file."
    assert profile.cautions.count(text) == 1
    assert " ".join(str(profile).split()).count(text) == 1
