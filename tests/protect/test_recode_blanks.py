"""Blanks that stand for not applicable get a code of their own; codes that are merged leave the scenario."""

import polars as pl
import pytest

import tacita as tc

PEOPLE = pl.DataFrame({"age": [5, 5, 5, 40, 40, 50, 51], "status": [None, None, None, "work", "work", "home", "home"]})
WHO = tc.Scenario(keys=["age", "status"], not_applicable={"status": [""]})
CODED = tc.Recode("status", mapping={"": "not applicable"})


def test_blanks_get_a_code_and_the_key_can_be_suppressed() -> None:
    release = tc.Plan([CODED]).apply(PEOPLE, WHO)
    assert release.data.table["status"].to_list() == ["not applicable"] * 3 + ["work", "work", "home", "home"]
    assert release.scenario.not_applicable == {"status": ("not applicable",)}
    before, after = (tc.risk.k_anonymity(data, who, k=2) for data, who in ((PEOPLE, WHO), (release, release.scenario)))
    assert before.sample == after.sample == (2,)
    ranked = tc.Suppress(k=2, importance={"age": 1, "status": 2}, closed=False)
    assert "not suppressed, since a blank there means not applicable: 'status'; give blanks a code first" in str(
        tc.Plan([ranked]).apply(PEOPLE, WHO)
    )
    # The one at home is like those at work only once the status is blank.
    alike = PEOPLE.head(6).with_columns(age=pl.Series([5, 5, 5, 40, 40, 40]))
    freed = tc.Plan([CODED, tc.Suppress(k=2, closed=False)]).apply(alike, WHO)
    assert freed.changes[1].suppressed == {"status": 1}
    assert not any("not suppressed" in each for each in freed.changes[1].remarks)


def test_other_values_are_mapped_besides_and_missing_blanks_stay() -> None:
    both = tc.Recode("status", mapping={"": "none", "work": "active"})
    assert (
        tc.Plan([both]).apply(PEOPLE, WHO).data.table["status"].to_list()
        == ["none"] * 3 + ["active"] * 2 + ["home"] * 2
    )
    missing = tc.Plan([both]).apply(PEOPLE, tc.Scenario(keys=["age", "status"]))
    assert missing.data.table["status"].to_list() == [None] * 3 + ["active"] * 2 + ["home"] * 2


def test_numbers_keep_their_type_where_the_code_is_one() -> None:
    hours = pl.DataFrame({"hours": [None, 10, 20], "sex": ["f", "m", "m"]})
    who = tc.Scenario(keys=["sex", "hours"], not_applicable={"hours": [""]})
    made = tc.Plan([tc.Recode("hours", mapping={"": -1})]).apply(hours, who)
    assert made.data.table["hours"].to_list() == [-1, 10, 20]
    assert made.scenario.not_applicable == {"hours": (-1,)}


def test_a_code_that_was_merged_is_not_in_the_scenario_any_more() -> None:
    people = pl.DataFrame({"job": [1, 2, 9, 9], "sex": ["f", "f", "m", "m"]})
    who = tc.Scenario(keys=["job", "sex"], not_applicable={"job": [9, 8]})
    release = tc.Plan([tc.Recode("job", mapping={9: 2})]).apply(people, who)
    assert release.data.table["job"].to_list() == [1, 2, 2, 2]
    assert release.scenario.not_applicable == {"job": (8,)}


JOBS = pl.DataFrame({"job": ["", "1", "2", "2", "1", "", ""] * 10 + ["9"], "sex": ["m", "f"] * 35 + ["m"]})
ASKED = tc.Scenario(keys=["job", "sex"], not_applicable={"job": [""]}, population_size=900)


@pytest.mark.parametrize("blank", ["", None])
def test_the_empty_text_is_a_blank_like_a_cell_without_a_value(blank: str | None) -> None:
    """Item 16: the way out that is named did nothing where a blank was an empty text."""
    people = JOBS.with_columns(pl.col("job").replace({"": blank}))
    with pytest.raises(
        tc.TacitaError,
        match=r"could not bring 1 record to k .*; not suppressed, since a blank there means not applicable: .job.; "
        r"give blanks a code first, as Recode\('job', mapping=\{'': 'not applicable'\}\)\.$",
    ):
        tc.Plan([tc.Suppress(k=3)]).apply(people, ASKED)
    release = tc.Plan([tc.Recode("job", mapping={"": "not applicable"}), tc.Suppress(k=3)]).apply(people, ASKED)
    assert release.changes[1].suppressed == {"job": 1}
    assert release.data.table["job"].to_list() == [job or "not applicable" for job in JOBS["job"][:-1]] + [None]
    assert release.scenario.not_applicable == {"job": ("not applicable",)}
