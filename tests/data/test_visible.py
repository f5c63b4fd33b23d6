"""What a reader of a file can tell apart: codes declared missing, blanks that do not apply, spellings, mixed dates."""

import warnings
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaWarning
from tacita.data import Data, Variable
from tacita.data.visible import visible_categories

FORMATS = ("csv", "tsv", "parquet", "arrow", "xlsx", "sav", "zsav", "dta", "xpt")
K = tc.Policy(k=3, risk=None, rate=None)


def f_of(data: Any, scenario: tc.Scenario) -> list[float]:
    return tc.risk.individual_risk(data, scenario).to_frame()["f"].to_list()


def test_a_blank_that_does_not_apply_and_a_missing_code_stay_apart() -> None:
    data = Data.of(pl.DataFrame({"status": [None, 8, 1, 1]}), {"status": Variable(missing=(8,))})
    scenario = tc.Scenario(keys=["status"], not_applicable={"status": [""]})
    assert f_of(data, scenario) == [1, 1, 2, 2]
    assert tc.risk.k_anonymity(data, scenario, k=2).sample == (2,)
    # Of a sensitive variable a code declared missing is missing, and still no blank that does not apply.
    coded = data.coded("status", [""])
    assert coded.values == ("", 1)
    assert coded.codes.tolist() == [1, 0, 2, 2]
    assert data.coded("status").codes.tolist() == [0, 0, 1, 1]


def test_codes_declared_missing_are_categories_each_of_its_own() -> None:
    known = Variable(missing=(98,), missing_ranges=((-9, -1),), not_applicable=(99,), order=(1, 2), scale="ordinal")
    data = Data.of(pl.DataFrame({"job": [2, 1, 98, 99, -1, -2, -2, None]}), {"job": known})
    found = visible_categories(data, "job")
    assert found.codes[:2].tolist() == [2, 1]
    assert found.codes[-1] == 0
    assert len(set(found.codes[2:7].tolist())) == 4
    assert f_of(data, tc.Scenario(keys=["job"])) == [1, 1, 1, 1, 1, 2, 2, 8]


def test_an_empty_text_declared_missing_is_an_empty_cell() -> None:
    data = Data.of(pl.DataFrame({"job": ["a", "", None, "?"]}), {"job": Variable(missing=("", "?"))})
    assert visible_categories(data, "job").codes.tolist() == [2, 0, 0, 1]


@given(
    st.lists(st.sampled_from([1, 2, 3, 8, 9, None]), min_size=1, max_size=12),
    st.sets(st.sampled_from([3, 8, 9])),
    st.booleans(),
    st.sampled_from(["one_way", "wildcard", "own_category", "partial(0.5)"]),
)
def test_what_is_declared_missing_changes_no_count(cells: list[Any], codes: set[int], ranged: bool, rule: str) -> None:
    """A step, or a user, who declares codes missing makes nobody safer: the codes stand in the file."""
    frame = pl.DataFrame({"job": cells}, schema={"job": pl.Int64})
    known = Variable(missing_ranges=tuple((code, code) for code in codes)) if ranged else Variable(missing=tuple(codes))
    scenario = tc.Scenario(keys=["job"], missing=rule)
    assert f_of(Data.of(frame, {"job": known}), scenario) == f_of(frame, scenario)


def aged(unique: int = 30) -> Data:
    """Ages below 70 that many share, and ages from 70 on that are all different and declared missing."""
    ages = [20, 30, 40, 50] * 20 + list(range(70, 70 + unique))
    return Data.of(pl.DataFrame({"age": ages}), {"age": Variable(missing_ranges=((70, 150),))})


def test_unique_ages_declared_missing_are_not_safe(tmp_path: Path) -> None:
    tc.write(aged(), tmp_path / "old.sav")
    scenario = tc.Scenario(keys=["age"])
    for file in (aged(), tc.read(tmp_path / "old.sav")):
        found = tc.assess(file, scenario, K)
        assert not found.safe
        assert found.failures == ("30 records below k = 3",)
        assert any("30 codes declared missing, in 30 records that are unique" in text for text in found.cautions)
        assert not any("70" in text for text in found.cautions)


def test_suppression_blanks_codes_declared_missing() -> None:
    release = tc.Plan([tc.Suppress()]).apply(aged(), tc.Scenario(keys=["age"]), K)
    assert release.data.table["age"].null_count() == 30
    assert release.changes[0].suppressed == {"age": 30}
    assert tc.assess(release, release.scenario, K).safe


def survey() -> Data:
    """Every kind of cell that a file can show: codes declared missing in numbers and texts, blanks, letters."""
    frame = pl.DataFrame(
        {
            "status": [1, 1, 2, 2, 8, 9, 9, -3, None, None, 1, 2],
            "region": ["n", "n", "s", "s", "n", "?", "n", "x", None, "s", "n", "x"],
            "income": [1.5, 1.5, 2.5, 2.5, 99.0, 98.0, 1.5, 99.0, None, 2.5, 1.5, None],
            "born": [date(1980, 1, 1)] * 8 + [None, date(1990, 2, 3), date(1980, 1, 1), None],
            "asked": [1, 1, 2, 2, -9_000_001, -9_000_026, -9_000_026, 1, None, 2, 1, 2],
        }
    )
    known = {
        "status": Variable(missing=(8, 9), missing_ranges=((-5, -1),)),
        "region": Variable(missing=("?", "x")),
        "income": Variable(missing=(99.0,), not_applicable=(98.0,)),
        "asked": Variable(missing=(-9_000_001, -9_000_026)),
    }
    return Data.of(frame, known)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("rule", ["one_way", "wildcard", "own_category"])
@pytest.mark.parametrize("not_applicable", [{}, {"status": [""], "region": ["x"]}])
def test_a_release_is_as_risky_as_its_file(kind: str, rule: str, not_applicable: Any, tmp_path: Path) -> None:
    keys = ["status", "region", "income", "born", "asked"]
    scenario = tc.Scenario(keys=keys, missing=rule, not_applicable=not_applicable)
    release = tc.Plan([tc.Recode("region", mapping={"n": "north"})]).apply(survey(), scenario, K, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        file = tc.read(tc.write(release.data, tmp_path / f"public.{kind}"))
    for each in (keys, ["status"], ["region", "income"], ["asked"]):
        here, there = (
            tc.risk.individual_risk(data, release.scenario, keys=each).to_frame() for data in (release, file)
        )
        assert here.equals(there)
    assert tc.assess(release, release.scenario, K).failures == tc.assess(file, release.scenario, K).failures


@pytest.mark.parametrize("kind", FORMATS)
def test_an_empty_text_is_released_as_an_empty_cell(kind: str, tmp_path: Path) -> None:
    """Only some formats tell an empty text from no text: a release holds one of the two."""
    scenario = tc.Scenario(keys=["job"])
    frame = pl.DataFrame({"job": ["a", "a", "", None, "b"], "n": [1, 2, 3, 4, 5]})
    release = tc.Plan([tc.RandomOrder()]).apply(frame, scenario, seed=1)
    assert release.data.table["job"].null_count() == 2
    file = tc.read(tc.write(release.data, tmp_path / f"public.{kind}"))
    assert f_of(release, scenario) == f_of(file, scenario)


@pytest.mark.parametrize("kind", FORMATS)
def test_letters_of_stata_are_seen_where_a_format_has_them(kind: str, tmp_path: Path) -> None:
    codes = [-9_000_001, -9_000_002, -9_000_002, 1, 1, None]
    frame = pl.DataFrame({"job": codes, "n": list(range(6))})
    data = Data.of(frame, {"job": Variable(missing=(-9_000_001, -9_000_002))})
    scenario = tc.Scenario(keys=["job"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        file = tc.read(tc.write(data, tmp_path / f"public.{kind}"))
    assert f_of(data, scenario) == [1, 2, 2, 2, 2, 6]
    assert f_of(file, scenario) == f_of(data, scenario)


def test_dates_beside_datetimes_are_counted_as_they_are_released() -> None:
    days = [date(2020, 1, 1), datetime(2020, 1, 1, 13), datetime(2020, 1, 1, 14), datetime(2020, 1, 1, 14)]
    for cells in (days, days[::-1]):
        data = Data.of(pd.DataFrame({"day": pd.Series([*cells, None], dtype=object)}))
        released = tc.Plan([]).apply(data, tc.Scenario(keys=["day"]), seed=1).data
        assert len(set(released.table["day"].drop_nulls().to_list())) == 3
        assert sorted(f_of(data, tc.Scenario(keys=["day"]))) == [1, 1, 2, 2, 5]


def test_texts_that_differ_in_spelling_only_are_pointed_out() -> None:
    places = ["Nord", "nord", "Nord ", "S\u00fcd", "Su\u0308d", "west", "1"]
    cautions = tc.assess(pl.DataFrame({"place": places}), tc.Scenario(keys=["place"])).cautions
    found = [text for text in cautions if "spell" in text]
    assert found == [
        "key 'place' has 5 values, in 5 records, that differ only in upper and lower case, spaces or the form of "
        "accents and may be 2: they count as different; spell them alike."
    ]
    assert not [
        text
        for text in tc.assess(pl.DataFrame({"place": ["n", "s", None]}), tc.Scenario(keys=["place"])).cautions
        if "spell" in text
    ]
