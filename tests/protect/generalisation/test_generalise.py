"""The step: what is released is safe by the measures, says what it did, and keeps types and labels."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacita as tc
from strategies import Survey, quietly, surveys
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.generalise.loss import LOSSES

PEOPLE = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "m", "m", "m", "f", "m"],
        "age": [31, 34, 46, 48, 52, 57, 85, 33],
        "town": ["Graz", "Vienna", "Graz", "Bern", "Bern", "Bern", "Graz", "Vienna"],
        "income": [1, 2, 3, 4, 5, 6, 7, 8],
    }
)
AGES = tc.Hierarchy.intervals([10, 30, 90])
TOWNS = tc.Hierarchy.mappings({"Graz": "AT", "Vienna": "AT", "Bern": "CH"})
WHO = tc.Scenario(keys=["sex", "age", "town"])


def made(step: tc.Generalise, data: Any = PEOPLE, who: tc.Scenario = WHO, **more: Any) -> tc.Release:
    return tc.Plan([step]).apply(data, who, **more)


def test_by_hand() -> None:
    """k = 2 and at most two suppressed. Thirty years and countries would suppress the last two: (6 ages that lost 6 of
    7 others, 3 towns that lost 1 of 2, and 6 cells) / 24 = 0.527. No ages but towns suppress the two of Vienna:
    (6 + 6) / 24 = 0.5, which is less. Of equal losses the lower level is taken: 0-89, not the star."""
    release = made(tc.Generalise({"age": AGES, "town": TOWNS}, k=2, limit=0.25))
    rows = release.data.table.select("sex", "age", "town").rows()
    assert rows[0] == rows[2] == rows[6] == ("f", "0-89", "Graz")
    assert rows[3] == rows[4] == rows[5] == ("m", "0-89", "Bern")
    assert rows[1] == rows[7] == (None, None, None)
    (change,) = release.changes
    assert change.figures["records_by_level"] == {"sex": {"0": 6}, "age": {"3": 6}, "town": {"0": 6}}
    assert change.figures["suppressed"] == 2
    assert change.figures["finished"] is True
    assert change.figures["loss_value"] == pytest.approx(0.5)
    text = str(change)
    assert "levels: age 3, town 0; all keys of 2 records blanked; loss (granularity) 0.5; proven best (" in text
    assert release.data.table["income"].to_list() == PEOPLE["income"].to_list()


def test_suppressed_records_can_be_removed() -> None:
    release = made(tc.Generalise({"age": AGES, "town": TOWNS}, k=2, limit=0.25, suppress="remove"))
    assert release.data.record.tolist() == [1, 3, 4, 5, 6, 7]
    assert release.changes[0].records_removed == 2
    assert "2 records suppressed" in str(release.changes[0])


def test_weights_choose_what_is_given_up() -> None:
    """Where ages matter most and towns not at all, towns go."""
    step = tc.Generalise({"age": AGES, "town": TOWNS}, k=2, limit=0.25, weights={"age": 3, "town": 0})
    levels = made(step).changes[0].figures["records_by_level"]
    assert levels["age"] == {"2": 7}
    assert levels["town"] == {"2": 7}


def test_outliers_get_coarser_levels() -> None:
    """The two that would be suppressed share their key once sex goes too."""
    hierarchies = {"age": AGES, "town": TOWNS, "sex": tc.Hierarchy.redaction()}
    release = made(tc.Generalise(hierarchies, k=2, limit=0.25, recoding="outliers"))
    rows = release.data.table.select("sex", "age", "town").rows()
    assert rows[0] == rows[2] == rows[6] == ("f", "0-89", "Graz")
    assert rows[3] == rows[4] == rows[5] == ("m", "0-89", "Bern")
    assert rows[1] == rows[7] == ("*", "0-89", "Vienna")
    assert release.changes[0].figures["suppressed"] == 0
    assert "levels (records): age 3, town 0, sex 0 (6) / 1 (2); " in str(release.changes[0])
    assert "coarser levels for outliers" in str(release.changes[0])


def test_local_recoding_keeps_who_is_safe_as_they_are() -> None:
    table = pl.DataFrame({"sex": ["f"] * 4 + ["m"] * 2, "age": [31, 31, 46, 48, 52, 57]})
    release = made(
        tc.Generalise({"age": AGES}, k=2, limit=0, recoding="local"), table, tc.Scenario(keys=["sex", "age"])
    )
    assert release.data.table["age"].to_list() == ["31", "31", "40-49", "40-49", "50-59", "50-59"]
    assert "levels (records): age 0 (2) / 1 (4); " in str(release.changes[0])


def test_k_is_the_policys_unless_told() -> None:
    step = tc.Generalise({"age": AGES, "town": TOWNS}, limit=0.5)
    assert made(step, policy=tc.Policy(k=3)).changes[0].figures["k"] == 3
    assert made(tc.Generalise({"age": AGES}, k=2, limit=1), policy=tc.Policy(k=3)).changes[0].figures["k"] == 2
    with pytest.raises(
        TacitaError, match=r"^the policy has no k; pass k=... to say how many records must look alike.$"
    ):
        made(step, policy=tc.Policy(k=None))


# Measured on the release.

RULES = [
    "one_way",
    "wildcard",
    "conservative",
    "partial(0.5)",
    "partial(categories)",
    "partial(expected)",
    "sdcmicro(1)",
]


def coarse(survey: Survey) -> dict[str, tc.Hierarchy]:
    """Pairs of values, then nothing."""
    return {name: tc.Hierarchy.intervals([2], start=1) for name in survey.columns}


@given(
    surveys(most=14, variables=3),
    st.sampled_from([*RULES, "own_category", "no_match"]),
    st.sampled_from(["global", "outliers", "local"]),
    st.sampled_from(["blank", "remove"]),
    st.sampled_from([0.0, 0.3, 0.7]),
    st.sampled_from(LOSSES),
)
@settings(max_examples=250)
def test_every_release_is_k_anonymous(
    survey: Survey, rule: str, recoding: str, suppress: str, limit: float, loss: str
) -> None:
    assume(len(survey.weights) >= 2)
    if rule in ("own_category", "no_match"):
        suppress = "remove"
    assume(all(any(value is not None for value in column) for column in survey.columns.values()))
    step = tc.Generalise(coarse(survey), k=2, limit=limit, suppress=suppress, recoding=recoding, loss=loss)
    who = survey.scenario(rule, weight=None)
    with quietly():
        try:
            release = made(step, survey.frame, who)
        except TacitaError as error:
            assert "no choice of levels is safe" in str(error)
            return
        gone = release.changes[0].figures["suppressed"]
        assert gone <= limit * len(survey.weights) + 1e-9
        if len(release.data):
            assert tc.risk.k_anonymity(release, who, k=2).sample == (0,) if len(release.data) >= 2 else gone


@given(surveys(most=14, variables=2), st.sampled_from(["global", "outliers", "local"]), st.sampled_from([0.0, 0.4]))
@settings(max_examples=150)
def test_every_release_is_diverse_and_close(survey: Survey, recoding: str, limit: float) -> None:
    assume(all(any(value is not None for value in column) for column in survey.columns.values()))
    assume(len(set(survey.households)) > 1)
    step = tc.Generalise(
        coarse(survey), k=2, limit=limit, recoding=recoding, distinct_l=2, entropy_l=1.5, recursive_l=2, c=3, t=0.5
    )
    who = survey.scenario("one_way", weight=None, sensitive=["hid"])
    assume(len(survey.weights) >= 2)
    with quietly():
        try:
            release = made(step, survey.frame, who)
        except TacitaError as error:
            assert "no choice of levels is safe" in str(error) or "all records together do not" in str(error)
            return
        diversity = tc.risk.l_diversity(release, who, c=3)
        assert diversity.least("distinct")["hid"] >= 2
        assert diversity.least("entropy")["hid"] >= 1.5 - 1e-9
        assert diversity.least("recursive")["hid"] >= 2
        assert tc.risk.t_closeness(release, who).t["hid"] <= 0.5 + 1e-9


def test_local_recoding_of_the_demo_survey_loses_least() -> None:
    survey = tc.household_survey(400, population=9000)
    hierarchies = {name: tc.Hierarchy.redaction() for name in ("region", "citizenship", "status")}
    hierarchies["age"] = tc.Hierarchy.intervals([5, 10, 20, 40])
    losses = []
    for recoding in ("global", "outliers", "local"):
        release = made(tc.Generalise(hierarchies, recoding=recoding), survey.data, survey.scenario)
        assert tc.risk.k_anonymity(release, release.scenario, k=3).sample == (0,)
        losses.append(release.changes[0].figures["loss_value"])
    assert losses == sorted(losses, reverse=True)
    assert losses[2] < 0.5 * losses[0]


# Types, labels, order.


def test_ordered_values_stay_ordered_and_labels_of_old_codes_go() -> None:
    known = {
        "age": Variable(label="Age in years", value_labels={-9: "does not apply", 31: "odd"}, not_applicable=(-9,)),
        "sex": Variable(label="Sex", value_labels={"f": "female", "m": "male"}),
    }
    table = PEOPLE.with_columns(pl.Series("age", [31, 31, -9, -9, 52, 57, 52, 57]))
    data = Data.of(table, known | {"town": Variable(scale="ordinal", order=("Vienna", "Graz", "Bern"))})
    step = tc.Generalise({"age": AGES, "town": TOWNS}, k=2, limit=0.5, levels={"age": (1, 1), "town": (1, 1)})
    released = made(step, data).data
    assert released.variable("age").label == "Age in years"
    # A code that no record has any more leaves with its last value.
    assert released.variable("age").not_applicable == (("-9",) if "-9" in released.table["age"].to_list() else ())
    assert released.variable("age").value_labels in ({"-9": "does not apply"}, {})
    assert released.variable("sex") == known["sex"]
    assert released.variable("town").order == tuple(v for v in ("AT", "CH") if v in released.table["town"].to_list())
    assert released.scale("town") == "ordinal"


def test_a_key_that_stays_at_level_0_keeps_its_type() -> None:
    table = pl.DataFrame({"age": [31, 31, 40, 40, 55], "sex": ["f", "f", "m", "m", "m"]})
    release = made(tc.Generalise({"age": AGES}, k=2, limit=0.2), table, tc.Scenario(keys=["sex", "age"]))
    assert release.data.table["age"].to_list() == [31, 31, 40, 40, None]
    assert release.data.table["age"].dtype == pl.Int64


def test_missing_codes_become_missing() -> None:
    table = pl.DataFrame({"age": [31, 34, 999, 999]})
    data = Data.of(table, {"age": Variable(missing=(999,))})
    release = made(tc.Generalise({"age": AGES}, k=2, limit=0), data, tc.Scenario(keys=["age"]))
    assert release.data.table["age"].to_list() == ["30-39", "30-39", None, None]


def test_labels_that_mean_two_things_are_refused_where_levels_mix() -> None:
    """Code 1 and group 1 = {1, 2} could not be told apart."""
    table = pl.DataFrame({"v": [1, 1, 2, 3, 3, 4]})
    clashing = tc.Hierarchy.mappings({1: 1, 2: 1, 3: 2, 4: 2})
    who = tc.Scenario(keys=["v"])
    assert made(tc.Generalise({"v": clashing}, k=2, limit=0), table, who).data.table["v"].to_list() == [
        1,
        1,
        1,
        2,
        2,
        2,
    ]
    with pytest.raises(
        TacitaError, match=r"^the hierarchy of 'v' has 2 labels that mean different groups at different"
    ):
        made(tc.Generalise({"v": clashing}, k=2, limit=0, recoding="local"), table, who)


@pytest.mark.parametrize("recoding", ["global", "outliers", "local"])
@pytest.mark.parametrize("loss", LOSSES)
def test_keys_that_nobody_shows_and_codes_among_numbers(recoding: str, loss: str) -> None:
    """A key that is missing throughout, and ages of which the blank is a category."""
    table = pl.DataFrame({"none": pl.Series([None] * 30, dtype=pl.Int64), "age": [*range(20, 48), None, None]})
    who = tc.Scenario(keys=["none", "age"], not_applicable={"age": [""]})
    step = tc.Generalise({"none": AGES, "age": AGES}, k=2, recoding=recoding, loss=loss)
    release = made(step, table, who)
    assert tc.risk.k_anonymity(release, who, k=2).sample == (0,)
    assert release.data.table["age"].to_list()[-2:] == [None, None]


def test_levels_are_kept_to() -> None:
    step = tc.Generalise({"age": AGES, "town": TOWNS}, k=2, limit=1, levels={"age": (1, 2), "town": (0, 0)})
    levels = made(step).changes[0].figures["records_by_level"]
    assert set(levels["age"]) <= {"1", "2"}
    assert set(levels["town"]) <= {"0"}


def test_a_search_that_is_stopped_says_so() -> None:
    (change,) = made(tc.Generalise({"age": AGES, "town": TOWNS}, k=2, limit=0.25, checks=1)).changes
    assert change.figures["finished"] is False
    assert "best found before the limit (1 of 15 choices tried)" in str(change)


def test_progress_is_told_and_may_stop_the_work() -> None:
    told: list[tuple[float, str]] = []
    for recoding in ("global", "local"):
        step = tc.Generalise({"age": AGES, "town": TOWNS}, k=2, limit=0.3, recoding=recoding)
        made(step, progress=lambda done, what: told.append((done, what)))
    assert any("of 15 choices looked at" in what for _, what in told)
    assert any("records open" in what for _, what in told)
    assert all(0.0 <= done <= 1.0 for done, _ in told)

    class StoppedError(Exception):
        pass

    def stop(done: float, what: str) -> None:
        if "choices" in what:
            raise StoppedError

    with pytest.raises(StoppedError):
        made(tc.Generalise({"age": AGES}, k=2, limit=0.3), progress=stop)


def test_the_rows_of_a_hierarchy_are_in_the_plan_not_in_the_log() -> None:
    step = tc.Generalise({"town": TOWNS}, k=2, limit=1)
    assert "Vienna" not in str(step)
    assert "Vienna" in tc.Plan([step]).to_toml()
    assert str(step) == "generalise(hierarchies = {'town': 'table'}, k = 2, limit = 1.0)"


def test_household_variables_that_part_are_pointed_out() -> None:
    who = tc.Scenario(keys=["sex", "age", "town"], household_variables=["town"])
    said = "members of a household may now differ in 'town'"
    assert said in str(made(tc.Generalise({"age": AGES, "town": TOWNS}, k=2, limit=0.25), who=who).changes[0])


# Mistakes.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hierarchies": {}}, "hierarchies must be given for at least one key, as {'age': Hierarchy.intervals([5])}."),
        ({"k": 1}, "k must be at least 2; got 1."),
        ({"limit": 1.5}, "limit must be in [0, 1]; got 1.5."),
        ({"loss": "sum"}, "loss must be one of 'precision', 'granularity', 'entropy', 'lambda', 'discernibility', "),
        ({"recoding": "none"}, "recoding must be one of 'global', 'outliers', 'local'; got 'none'."),
        ({"suppress": "drop"}, "suppress must be one of 'blank', 'remove'; got 'drop'."),
        ({"weights": {"age": -1}}, "weights must be at least 0."),
        (
            {"weights": {"age": 2}, "loss": "class_size"},
            "weights of keys are not for the loss 'class_size', which only",
        ),
        ({"levels": {"age": (2, 1)}}, "the least level of 'age' must not be above the greatest; got 2 and 1."),
        ({"levels": {"age": (0, 9)}}, "the level of 'age' must be at most 4, the height of its hierarchy; got 9."),
        ({"levels": {"age": 2}}, "levels of 'age' must be the least and the greatest, as (0, 2); got 2."),
        ({"levels": {"sex": (0, 1)}}, "levels are of keys with a hierarchy; 'sex' has none."),
        ({"t": 0.1, "suppress": "remove"}, "t is the distance from the whole file, which changes when records are"),
        ({"entropy_l": 1}, "entropy_l must be above 1; got 1."),
        ({"checks": 0}, "checks must be at least 1; got 0."),
        ({"seconds": 0}, "seconds must be above 0; got 0."),
    ],
)
def test_wrong_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as caught:
        tc.Generalise(**{"hierarchies": {"age": AGES}, **options})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("step", "who", "message"),
    [
        (
            tc.Generalise({"agee": AGES}),
            WHO,
            "hierarchies of 'generalise' not in the data: 'agee'. Did you mean 'age'?",
        ),
        (tc.Generalise({"income": AGES}), WHO, "hierarchies must be of keys of the scenario; 'income' is not a key."),
        (tc.Generalise({"age": AGES}, weights={"income": 1}), WHO, "weights must be of keys of the scenario; 'income'"),
        (tc.Generalise({"age": AGES}, k=9), WHO, "k must be at most the number of records, 8; got 9."),
        (
            tc.Generalise({"age": AGES}, distinct_l=2),
            WHO,
            "name at least one sensitive variable; pass sensitive=[...].",
        ),
        (
            tc.Generalise({"age": AGES}, k=3, limit=0),
            WHO,
            "no choice of levels is safe with at most 0 records suppressed; allow more with limit=..., allow higher "
            "levels (redact=True adds the highest), or ask for less.",
        ),
        (
            tc.Generalise({"age": AGES}, k=2, distinct_l=9, sensitive=["income"]),
            WHO,
            "all records together do not fulfil what is asked for; ask for less, or a smaller k.",
        ),
        (
            tc.Generalise({"age": AGES}),
            tc.Scenario(keys=["age"], missing="no_match"),
            "under the missing-value rule 'no_match' a record is not safer for being blank; pass suppress='remove' or",
        ),
        (
            tc.Generalise({"age": AGES}, t=0.2, sensitive=["income"]),
            tc.Scenario(keys=["age"], missing="wildcard"),
            "under the missing-value rule 'wildcard' blank records join every group, and l or t may be lost; pass",
        ),
        (
            tc.Generalise({"age": AGES}, weights={"sex": 0, "age": 0, "town": 0}),
            WHO,
            "at least one key must have a weight above 0.",
        ),
    ],
)
def test_wrong_for_the_data(step: tc.Generalise, who: tc.Scenario, message: str) -> None:
    with pytest.raises(TacitaError) as caught:
        made(step, who=who)
    assert str(caught.value).startswith(message)


def test_values_the_hierarchy_lacks_are_counted() -> None:
    with pytest.raises(TacitaError, match=r"^the hierarchy of 'town' does not have 1 value of the data; add them"):
        made(tc.Generalise({"town": tc.Hierarchy.mappings({"Graz": "AT", "Vienna": "AT"})}))


def test_a_hierarchy_in_a_plan_file_may_be_a_csv_file(tmp_path: Any) -> None:
    (tmp_path / "town.csv").write_text("Graz;AT\nVienna;AT\nBern;CH\n", encoding="utf-8")
    step = tc.Generalise({"town": str(tmp_path / "town.csv")}, k=2)  # type: ignore[dict-item]
    assert step == tc.Generalise({"town": TOWNS}, k=2)


def test_many_keys_are_searched_up_to_the_limit() -> None:
    """3^16 choices: the search ends by its limit with something safe."""
    draws = np.random.RandomState(4)
    table = pl.DataFrame({f"v{j}": draws.randint(0, 6, 200) for j in range(16)})
    hierarchies = {name: tc.Hierarchy.intervals([3]) for name in table.columns}
    who = tc.Scenario(keys=table.columns)
    release = made(tc.Generalise(hierarchies, k=3, limit=0.1, checks=60), table, who)
    assert release.changes[0].figures["choices"] == 3**16
    assert release.changes[0].figures["finished"] is False
    assert tc.risk.k_anonymity(release, who, k=3).sample == (0,)


@pytest.mark.parametrize("recoding", ["global", "outliers", "local"])
def test_nobody_is_blanked_where_a_blank_is_a_category(recoding: str) -> None:
    """A blank that means not applicable would tell the one blanked record from all others."""
    table = pl.DataFrame({"age": [20] * 5 + [30] * 5 + [40], "town": ["Graz"] * 11})
    step = tc.Generalise({"age": tc.Hierarchy.redaction()}, k=2, limit=0.2, recoding=recoding)
    for data, who in (
        (Data.of(table, {"town": Variable(not_applicable=("",))}), tc.Scenario(keys=["age", "town"])),
        (Data.of(table), tc.Scenario(keys=["age", "town"], not_applicable={"town": [""]})),
    ):
        release = made(step, data, who)
        assert release.changes[0].figures["suppressed"] == 0
        assert "a blank of 'town' stands for not applicable, so nobody is blanked" in str(release)
        assert tc.risk.k_anonymity(release, who, k=2).sample == (0,)
        stuck = tc.Generalise({"age": tc.Hierarchy.intervals([2], redact=False)}, k=2, limit=0.2)
        with pytest.raises(TacitaError, match=r"^a blank of 'town' stands .* Or pass suppress='remove'\.$"):
            made(stuck, data, who)
        left_out = tc.Generalise({"age": AGES}, k=2, limit=0.2, suppress="remove", levels={"age": (0, 0)})
        assert len(made(left_out, data, who).data) == 10


def test_records_can_be_removed_for_entropy_where_blanks_match_anything() -> None:
    table = pl.DataFrame({"age": [20] * 4 + [30] * 4 + [40, 40], "s": ["a", "b"] * 4 + ["a", "a"]})
    who = tc.Scenario(keys=["age"], missing="wildcard", sensitive=["s"])
    step = tc.Generalise({"age": AGES}, k=2, entropy_l=1.5, limit=0.2, suppress="remove", levels={"age": (0, 0)})
    assert made(step, table, who).data.record.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    blanking = tc.Generalise({"age": AGES}, k=2, entropy_l=1.5, limit=0.2)
    with pytest.raises(TacitaError, match="pass suppress='remove', limit=0 or the rule 'one_way'"):
        made(blanking, table, who)


def test_a_sensitive_code_for_not_applicable_is_a_value() -> None:
    """The file takes "child" for missing, as it takes a blank: the groups would look alike, and be 0-close."""
    table = pl.DataFrame({"age": [10, 11, 20, 21], "s": ["x", None, "x", "child"]})
    data = Data.of(table, {"s": Variable(missing=("child",))})
    step = tc.Generalise({"age": tc.Hierarchy.intervals([10, 40], redact=False)}, t=0.1, k=2, limit=0)
    for codes, expected in (((), ["10-19", "20-29"]), (("child",), ["0-39", "0-39"])):
        who = tc.Scenario(keys=["age"], sensitive=["s"], not_applicable={"s": codes})
        assert made(step, data, who).data.table["age"].to_list()[::2] == expected


def generalised(column: list[Any], hierarchy: tc.Hierarchy, known: Variable, **options: Any) -> Data:
    """A key x at the first level of a hierarchy."""
    step = tc.Generalise({"x": hierarchy}, k=2, limit=0, levels={"x": (1, 1)}, **options)
    return made(step, Data.of(pl.DataFrame({"x": column}), {"x": known}), tc.Scenario(keys=["x"])).data


@pytest.mark.parametrize("recoding", ["global", "local"])
@pytest.mark.parametrize(("column", "code"), [([9911, 9912, 99, 99], 99), (["9911", "9912", "99", "99"], "99")])
def test_a_group_that_reads_like_a_code_for_not_applicable_is_refused(
    recoding: str, column: list[Any], code: object
) -> None:
    """In the release nobody could tell them apart, though they were counted apart."""
    known, hierarchy = Variable(not_applicable=(code,), scale="nominal"), tc.Hierarchy.truncation([2])
    with pytest.raises(TacitaError) as error:
        generalised(column, hierarchy, known, recoding=recoding)
    assert str(error.value) == (
        "the hierarchy of 'x' has 1 label that reads like a code for not applicable at level 1; rename them, or "
        "declare other codes."
    )
    assert generalised(column, hierarchy, Variable(scale="nominal")).table["x"].to_list() == ["99"] * 4


def test_a_blank_that_is_a_category_stays_blank() -> None:
    known = Variable(not_applicable=("",))
    data = generalised([1, 2, 11, 12, None, None], tc.Hierarchy.intervals([10]), known)
    assert data.table["x"].to_list() == ["0-9", "0-9", "10-19", "10-19", None, None]
    assert data.variable("x").not_applicable == ("",)
    assert tc.risk.k_anonymity(data, tc.Scenario(keys=["x"], missing="no_match"), k=2).sample == (0,)


def test_codes_for_not_applicable_have_no_place_in_the_order() -> None:
    known = Variable(scale="numeric", not_applicable=(-1,))
    data = generalised([1, 2, 11, 12, -1, -1], tc.Hierarchy.intervals([10]), known)
    assert data.variable("x") == Variable(not_applicable=("-1",), scale="ordinal", order=("0-9", "10-19", "-1"))


def test_groups_that_are_no_stretches_have_no_order() -> None:
    hierarchy = tc.Hierarchy.mappings({1: "odd", 2: "even", 3: "odd", 4: "even"})
    assert generalised([1, 2, 3, 4], hierarchy, Variable(scale="ordinal")).variable("x") == Variable(scale="nominal")
    low = tc.Hierarchy.mappings({1: "low", 2: "low", 3: "high", 4: "high"})
    assert generalised([1, 2, 3, 4], low, Variable(scale="ordinal")).variable("x").order == ("low", "high")


def test_infinite_numbers_among_the_keys_are_refused() -> None:
    """As by every measure: nothing could say how far they are from others."""
    table = pl.DataFrame({"x": [1.5, 1.5, math.inf, -math.inf], "y": [1, 2, 3, 4]})
    step = tc.Generalise({"y": tc.Hierarchy.intervals([2, 4, 8])}, k=2, limit=0.5, loss="lambda")
    with pytest.raises(TacitaError) as error:
        made(step, Data.of(table, {"x": Variable(scale="numeric")}), tc.Scenario(keys=["x", "y"]))
    assert str(error.value) == "key 'x' must be finite; 2 values are infinite (records 3, 4), correct the file."


def test_at_least_one_record_is_left() -> None:
    table = pl.DataFrame({"x": [1, 2, 3, 4, 50, 60]})
    step = tc.Generalise({"x": tc.Hierarchy.intervals([2], redact=False)}, k=4, limit=1, suppress="remove")
    with pytest.raises(TacitaError, match=r"^no choice of levels is safe with at most 5 records suppressed;"):
        made(step, table, tc.Scenario(keys=["x"]))
