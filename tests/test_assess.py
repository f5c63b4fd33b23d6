"""`assess`: the parts fit together, the verdict follows the policy, and one screen says it all."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from strategies import RULES, Rule, Survey, quietly, surveys
from tacita import measures
from tacita.check import TacitaError
from tacita.data import Data
from tacita.measures import measure
from tacita.result import Result

PEOPLE = pl.DataFrame(
    {
        "sex": ["f"] * 5 + ["m"] * 3,
        "region": ["north", "north", "north", "north", "south", "south", "south", "south"],
        "hid": [1, 1, 2, 2, 3, 3, None, 4],
        "w": [10.0] * 8,
    }
)
"""f by sex and region: 4 of (f, north), 1 of (f, south), 3 of (m, south)."""
SCENARIO = tc.Scenario(keys=["sex", "region"], weight="w", household="hid")


def test_by_hand() -> None:
    profile = tc.assess(PEOPLE, SCENARIO)
    assert profile.size == 8
    assert profile.k_anonymity.sample == (1, 1, 8)
    assert profile.records.columns == ["record", "f", "F", "risk", "household_risk", "violations"]
    assert profile.records["record"].to_list() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert profile.records["f"].to_list() == [4, 4, 4, 4, 1, 3, 3, 3]
    assert profile.records["F"].to_list() == [40, 40, 40, 40, 10, 30, 30, 30]
    # One record below k = 3; its risk 0.1 ln(10) / 0.9 = 0.2558 is above 0.1 too.
    assert profile.records["violations"].to_list() == [0, 0, 0, 0, 2, 0, 0, 0]
    assert profile.failures == (
        "1 record below k = 3",
        "1 record above a risk of 0.1",
        "a re-identification rate above 0.1 %",
    )
    assert not profile.safe
    assert profile.to_frame() is profile.records
    assert profile.expected == profile.reidentification.expected
    assert profile.rate == profile.expected / 8


def test_the_parts_are_those_of_the_single_measures() -> None:
    profile = tc.assess(PEOPLE, SCENARIO)
    assert vars(profile.reidentification) == vars(tc.risk.reidentification(PEOPLE, SCENARIO))
    assert vars(profile.main.attackers) == vars(tc.risk.attackers(PEOPLE, SCENARIO))
    assert profile.k_anonymity.to_dict() == tc.risk.k_anonymity(PEOPLE, SCENARIO).to_dict()
    assert profile.main.threshold == tc.risk.risk_threshold(PEOPLE, SCENARIO, rate=0.001).chosen
    assert profile.individual.risk.tolist() == tc.risk.individual_risk(PEOPLE, SCENARIO).risk.tolist()
    assert profile.household is not None
    assert profile.household.risk.tolist() == tc.risk.household_risk(PEOPLE, SCENARIO).risk.tolist()


def test_screen() -> None:
    """Verdict first, assumptions last; the counts are those worked out above."""
    text = str(tc.assess(PEOPLE, SCENARIO))
    parts = text.split("\n\n")
    assert [part.splitlines()[0].split(":")[0] for part in (*parts[:2], *parts[3:])] == [
        "NOT SAFE under this policy",
        "Keys",
        "Cautions",
        "Assumptions",
    ]
    assert " ".join(parts[0].split()).startswith(
        "NOT SAFE under this policy: 1 record below k = 3; 1 record above a risk of 0.1; a re-identification rate "
        "above 0.1 %. To keep the policy (Suppress() without parameters aims at all of k, risk and rate): - k: "
        "Suppress(k=3) suppresses at least 1 cell in 1 record;"
    )
    assert "\n1 of 8 records violate 3-anonymity (12.5 %).\n0.522 expected re-identifications (6.53 %" in parts[0]
    assert parts[1].splitlines()[:5] == [
        "Keys: sex, region",
        "  records with fewer than  k = 2  k = 3  k = 5",
        "  in the sample (f)            1      1      8",
        "  in the population (F)        0      0      0",
        "  1 record above an individual risk of 0.1",
    ]
    assert "  prosecutor (1/f)        1   0.375              100 %" in parts[2].splitlines()
    assert parts[3].splitlines()[-1] == (
        "  - 1 record without a household identifier: each is taken as a household of its own."
    )
    assert parts[4].splitlines() == [
        "Assumptions",
        "  - policy: k = 3, individual risk at most 0.1, re-identification rate at most 0.1 %",
        "  - population counts F estimated by sums of 'w'",
        "  - the intruder tries every record (M3)",
    ]


def test_no_bullet_is_wider_than_the_screen() -> None:
    lines = str(tc.assess(PEOPLE, SCENARIO)).split("Cautions\n")[1].splitlines()
    assert max(map(len, lines)) <= 100


def test_a_safe_file() -> None:
    policy = tc.Policy(k=2, risk=0.5, rate=0.5)
    profile = tc.assess(pl.DataFrame({"a": [1, 1, 1, 1], "w": [50.0] * 4}), tc.Scenario(keys=["a"], weight="w"), policy)
    assert (profile.safe, profile.failures) == (True, ())
    assert str(profile).startswith("SAFE under this policy: 4 records.\n0 of 4 records violate 2-anonymity (0 %).\n")


def test_limits_of_the_policy_one_by_one() -> None:
    none = {"k": None, "risk": None, "rate": None}
    for limit, failure in [
        ({"k": 4}, "4 records below k = 4"),
        ({"risk": 0.2}, "1 record above a risk of 0.2"),
        ({"rate": 0.05}, "a re-identification rate above 5 %"),
        ({"household_risk": 0.25}, "2 records above a household risk of 0.25"),
    ]:
        assert tc.assess(PEOPLE, SCENARIO, tc.Policy(**{**none, **limit})).failures == (failure,)  # type: ignore[arg-type]


def test_key_sets_have_their_own_limits_and_columns() -> None:
    scenario = tc.Scenario(
        keys=["sex"], weight="w", key_sets={"both": {"keys": ["sex", "region"], "k": 2, "risk": 0.9}, "r": ["region"]}
    )
    profile = tc.assess(PEOPLE, scenario, tc.Policy(rate=None))
    assert [part.name for part in profile.sets] == ["keys", "both", "r"]
    assert [(part.k, part.risk_limit) for part in profile.sets] == [(3, 0.1), (2, 0.9), (3, 0.1)]
    assert profile.failures == ("1 record below k = 2 on the key set 'both'",)
    assert profile.records.columns == [
        "record", "f", "F", "risk", "f:both", "F:both", "risk:both", "f:r", "F:r", "risk:r", "violations",
    ]  # fmt: skip
    assert profile.records["f:both"].to_list() == [4, 4, 4, 4, 1, 3, 3, 3]
    assert profile.records["violations"].to_list() == [0, 0, 0, 0, 1, 0, 0, 0]
    assert "Key set 'both': sex, region" in str(profile)


def test_riskiest() -> None:
    profile = tc.assess(PEOPLE, SCENARIO)
    assert profile.riskiest(3)["record"].to_list() == [5, 6, 7]
    assert profile.riskiest(100).height == 8
    assert profile.riskiest(2.0).height == 2  # type: ignore[arg-type]
    shown = profile.riskiest(2, values=True)
    assert shown.select("record", "sex", "region").rows() == [(5, "f", "south"), (6, "m", "south")]
    for wrong, message in [
        (0, "most must be at least 1; got 0."),
        (1.5, "most must be a whole number of at least 1; got 1.5."),
    ]:
        with pytest.raises(TacitaError) as error:
            profile.riskiest(wrong)  # type: ignore[arg-type]
        assert str(error.value) == message


def test_riskiest_with_keys_named_like_its_own_columns() -> None:
    frame = pl.DataFrame({"f": [1, 2, 2], "f (key)": [1, 2, 2], "record": ["x", "y", "z"]})
    profile = tc.assess(frame, tc.Scenario(keys=["f", "f (key)", "record"]))
    shown = profile.riskiest(1, values=True)
    assert shown.columns == ["record", "f", "F", "risk", "violations", "f (key)'", "f (key)", "record (key)"]
    assert shown.rows() == [(1, 1.0, 1.0, 1.0, 2, 1, 1, "x")]


def test_riskiest_shows_a_blank_category_beside_numbers() -> None:
    frame = pl.DataFrame({"job": [1, None, 2, 2]})
    profile = tc.assess(frame, tc.Scenario(keys=["job"], not_applicable={"job": [""]}))
    assert profile.riskiest(3, values=True)["job"].to_list() == ["1", "", "2"]


HEADS = ["record", "alike", "in", "the", "file", "(f)", "in", "the", "population", "(F)", "risk", "limits", "broken"]


def test_riskiest_in_words() -> None:
    """Codes came without labels, under the heads of the frame library."""
    people = pl.DataFrame({"sex": [1, 1, 1, 2], "town": ["a", "a", "a", None]})
    data = tc.Data.of(people, {"sex": tc.Variable(value_labels={1: "male", 2: "female"})})
    profile = tc.assess(data, tc.Scenario(keys=["sex", "town"]), tc.Policy(rate=None))
    assert profile.riskiest(2, values=True)["sex"].to_list() == ["female (2)", "male (1)"]
    lines = profile.riskiest_table(2, values=True).text().splitlines()
    assert [line.split() for line in lines if line] == [
        ["Riskiest", "records"],
        [*HEADS, "sex", "town"],
        ["4", "1", "1", "1", "2", "female", "(2)"],
        ["1", "3", "3", "0.333", "1", "male", "(1)", "a"],
    ]
    assert "dtype" not in str(profile.riskiest_table(1)) and "female" not in profile.riskiest_table(2).text()


def test_spread_table() -> None:
    table = tc.assess(PEOPLE, SCENARIO).spread_table()
    assert table.columns == ["risk", "minimum", "lower_quartile", "median", "mean", "upper_quartile", "maximum"]
    assert table["risk"].to_list() == ["individual", "household"]
    risks = np.sort(tc.risk.individual_risk(PEOPLE, SCENARIO).risk)
    expected = [*np.quantile(risks, [0, 0.25, 0.5]), risks.mean(), *np.quantile(risks, [0.75, 1])]
    assert list(table.row(0)[1:]) == pytest.approx(expected, rel=1e-12)


def test_json_has_all_figures() -> None:
    profile = tc.assess(PEOPLE, SCENARIO)
    figures = json.loads(profile.to_json())
    assert (figures["records"], figures["safe"]) == (8, False)
    main = figures["key_sets"]["keys"]
    assert main["k_anonymity"]["sample"] == {"2": 1, "3": 1, "5": 8}
    assert main["expected_reidentifications"] == profile.expected
    assert main["risk"]["maximum"] == profile.individual.spread.maximum
    assert figures["household"]["expected_persons"] == profile.household.expected_persons  # type: ignore[union-attr]
    assert tc.Scenario.from_dict(figures["scenario"]) == SCENARIO
    assert tc.Policy.from_dict(figures["policy"]) == tc.Policy()


def test_missing_values_are_shown_under_other_rules() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, None], "b": [1, 1, 1, 1]})
    profile = tc.assess(frame, tc.Scenario(keys=["a", "b"]), tc.Policy(k=2, risk=None, rate=None))
    assert {name: result.sample for name, result in profile.main.other_rules.items()} == {
        "wildcard": (0, 1),
        "own_category": (2, 4),
    }
    assert profile.k_anonymity.sample == (1, 3)
    assert "in the sample, wildcard" in str(profile)
    assert "verdict on k = 2 rests on the rule for missing values" in " ".join(profile.cautions)


def test_attack_and_method_are_said() -> None:
    scenario = tc.Scenario(keys=["sex"], sampling_fraction=0.5, attack="M4", attack_probability=0.2)
    text = str(tc.assess(PEOPLE, scenario, method="approximate"))
    assert "  - population counts F estimated by f / 0.5\n" in text
    assert "  - the intruder tries each record with probability 0.2 (M4)\n" in text
    assert text.endswith("  - individual risk: approximate")


def test_key_errors_are_said() -> None:
    scenario = tc.Scenario(keys=["sex"], weight="w", error_rates={"sex": 0.5})
    profile = tc.assess(PEOPLE, scenario)
    assert profile.reidentification.lower_with_errors == profile.expected / 2
    assert "If a key error always prevents a link: " in str(profile)
    assert "  - keys can be in error: 'sex'" in str(profile)


def test_a_register() -> None:
    register = pl.DataFrame({"sex": ["f"] * 50 + ["m"] * 40, "region": ["north"] * 45 + ["south"] * 45})
    profile = tc.assess(PEOPLE, SCENARIO, register=register)
    assert profile.records["F"].to_list() == [45] * 4 + [5] + [40] * 3
    assert profile.individual.risk.tolist() == [1 / 45] * 4 + [1 / 5] + [1 / 40] * 3
    assert "population counts F from the register" in str(profile)


def test_one_record() -> None:
    """With the default policy k = 3 is refused; without it one record can be assessed."""
    frame = pl.DataFrame({"a": [1]})
    with pytest.raises(TacitaError) as error:
        tc.assess(frame, tc.Scenario(keys=["a"]))
    assert str(error.value) == (
        "k must be at most the number of records, 1; got 3. Choose a smaller k, or false in the policy for none."
    )
    profile = tc.assess(frame, tc.Scenario(keys=["a"]), tc.Policy(k=None))
    assert profile.individual.risk.tolist() == [1.0]
    assert "1 record above a risk of 0.1" in profile.failures
    assert "NOT SAFE" in str(profile)


def test_progress_goes_from_0_to_1() -> None:
    seen: list[float] = []
    tc.assess(PEOPLE, SCENARIO, progress=lambda done, what: seen.append(done))
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (tc.Scenario(numeric_keys=["ww"]), "numeric_keys not in the data: 'ww'. Did you mean 'w'?"),
        (
            tc.Scenario(keys=["sex"], weight="ww", attack="M5"),
            "weight not in the data: 'ww'. Did you mean 'w'?",
        ),
    ],
)
def test_bad_scenarios(scenario: tc.Scenario, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.assess(PEOPLE, scenario)
    assert str(error.value) == message


def test_record_numbers_are_kept() -> None:
    data = Data(PEOPLE, numbers_of_records=np.arange(101, 109))
    profile = tc.assess(data, SCENARIO)
    assert profile.records["record"].to_list() == list(range(101, 109))
    assert profile.riskiest(1)["record"].to_list() == [105]


@settings(max_examples=40)
@given(surveys(), st.sampled_from(RULES))
def test_violations_and_failures_agree(survey: Survey, rule: Rule) -> None:
    policy = tc.Policy(k=2 if len(survey.keys) > 1 else None, risk=0.3, rate=0.2, household_risk=0.4)
    with quietly():
        profile = tc.assess(survey.frame, survey.scenario(rule.text, household="hid"), policy)
    records = profile.records
    broken = (
        (records["f"] < (policy.k or 0)).cast(int) + (records["risk"] > 0.3).cast(int)
        + (records["household_risk"] > 0.4).cast(int)
    )  # fmt: skip
    assert records["violations"].to_list() == broken.to_list()
    by_records = [text for text in profile.failures if not text.startswith("a re-identification rate")]
    assert bool(by_records) == bool(broken.sum())
    assert any(text.startswith("a re-identification rate") for text in profile.failures) == (profile.rate > 0.2)
    assert profile.safe == (not profile.failures)
    assert str(profile).startswith("SAFE" if profile.safe else "NOT SAFE")
    json.loads(profile.to_json())


def test_without_a_limit_nothing_is_called_safe() -> None:
    frame = pl.DataFrame({"sex": ["f", "m"]})
    profile = tc.assess(frame, tc.Scenario(keys=["sex"]), tc.Policy(k=None, risk=None, rate=None))
    assert str(profile).startswith("NO VERDICT: the policy sets no limit; 2 records.")


def test_the_page_has_the_tables_of_the_screen() -> None:
    """The verdict first, each figure in a table, further results below; nothing as one block of text."""
    given = tc.Scenario(keys=["sex"], weight="w", household="hid", sensitive=["region"])  # type: ignore[arg-type]
    profile = tc.assess(PEOPLE, given)
    page = profile._repr_html_()
    assert page.startswith(f"<div><p><strong>{profile.headline}</strong></p>")
    assert "<pre" not in page
    assert page.count("<table>") == len(profile.tables()) + sum(len(each.tables()) for each in profile.further.values())
    assert "<caption>Keys: sex</caption>" in page
    assert all(each.headline.split(":")[0] in page for each in profile.further.values())
    assert all(note in page for note in ("the intruder tries every record (M3)", "sums of"))
    assert [table.columns[0] for table in profile.tables()] == ["records with fewer than", "", "attackers"]
    assert json.loads(profile.to_json())["headline"] == profile.headline


def test_a_measure_of_another_package_is_called_for_by_what_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name = "many_values"

        def load(self) -> object:
            return many_values

    monkeypatch.setattr("tacita.measures._plugins", lambda: {"many_values": Point()})
    profile = tc.assess(PEOPLE, tc.Scenario(keys=["sex"], sensitive=["region"]))  # type: ignore[arg-type]
    assert str(profile.further["many_values"]) == "1 sensitive variable"
    assert "many_values" not in tc.assess(PEOPLE, tc.Scenario(keys=["sex"])).further  # type: ignore[arg-type]


class ManyValues(Result):
    """How many sensitive variables there are."""

    def __init__(self, count: int) -> None:
        self.count = count

    @property
    def headline(self) -> str:
        return f"{self.count} sensitive variable"


@measure(called_for="sensitive")
def many_values(data: object, scenario: tc.Scenario) -> ManyValues:
    return ManyValues(len(scenario.sensitive))


# As if it came from another package: no other test should find it among the measures declared in this process.
measures._DECLARED_HERE.pop("many_values")


@pytest.mark.parametrize("register", [None, PEOPLE])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantile": 5}, "quantile must be in (0, 1); got 5."),
        ({"quantile": 0.0}, "quantile must be in (0, 1); got 0.0."),
        ({"quantile": True}, "quantile must be in (0, 1); got True."),
        ({"method": "guess"}, "method must be one of 'exact', 'approximate'; got 'guess'."),
    ],
)
def test_bad_options_are_errors_with_a_register_too(options: dict[str, object], message: str, register: object) -> None:
    with pytest.raises(TacitaError) as error:
        tc.assess(PEOPLE, SCENARIO, register=register, **options)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_no_quantile_may_be_written_false() -> None:
    assert tc.assess(PEOPLE, SCENARIO, quantile=False).to_dict() == tc.assess(PEOPLE, SCENARIO).to_dict()
