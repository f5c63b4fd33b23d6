"""Verdicts: what is safe, what is not, and what was not assessed."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import tacita as tc
from tacita.check import TacitaError
from tacita.cli import app
from tacita.data import Data
from tacita.result import Verdict, all_hold, summary

PEOPLE = pl.DataFrame(
    {
        "region": ["north"] * 6 + ["south"] * 6,
        "disease": ["a", "b", "c", "a", "b", "c"] + ["a"] * 6,
        "income": [float(x) for x in range(100, 112)],
        "w": [500.0] * 12,
    }
)
WHO = tc.Scenario(keys=["region"], weight="w", sensitive=["disease"])
LOOSE = tc.Policy(k=3, risk=0.5, rate=0.5)


def verdict(profile: tc.RiskProfile, name: str) -> Verdict:
    (found,) = [each for each in profile.verdicts() if each.name == name]
    return found


def test_safe_needs_a_verdict_and_all_of_them_true() -> None:
    holds, fails, unknown = (Verdict("k", 3, 0, state, "x") for state in (True, False, None))
    assert all_hold([holds])
    assert not all_hold([])
    assert not all_hold([holds, unknown])
    assert not all_hold([holds, fails])
    assert summary([]) == "NO VERDICT: the policy sets no limit"
    assert summary([holds, unknown]) == "NOT ASSESSED under this policy: x"
    assert summary([fails, unknown]) == "NOT SAFE under this policy: x; not assessed: x"


def test_every_limit_has_a_verdict_with_value_and_limit() -> None:
    profile = tc.assess(PEOPLE, WHO, LOOSE)
    assert [(each.name, each.limit, each.holds) for each in profile.verdicts()] == [
        ("k", 3, True),
        ("risk", 0.5, True),
        ("rate", 0.5, True),
    ]
    assert verdict(profile, "k").value == 0
    assert verdict(profile, "rate").value == pytest.approx(profile.rate)
    assert profile.safe


def test_any_measure_can_have_a_limit() -> None:
    profile = tc.assess(PEOPLE, WHO, replace(LOOSE, limits={"l_diversity": 2}))
    found = verdict(profile, "l_diversity")
    assert (found.limit, found.value, found.holds) == (2, 1.0, False)
    assert found.why == "l_diversity: the smallest l of any variable is 1, at least 2 is safe"
    assert not profile.safe
    assert str(profile).startswith(f"NOT SAFE under this policy: {found.why}.")


def test_a_limit_can_have_options() -> None:
    frame = PEOPLE.with_columns(disease=pl.Series(["a", "a", "b", "a", "a", "b"] * 2))
    strict = tc.assess(frame, WHO, replace(LOOSE, limits={"l_diversity": {"limit": 2, "kind": "entropy"}}))
    assert verdict(strict, "l_diversity").value == pytest.approx(1.8898815748)
    assert not strict.safe
    assert tc.assess(frame, WHO, replace(LOOSE, limits={"l_diversity": 2})).safe
    # Options of the measure itself reach it.
    cells = tc.assess(frame, WHO, replace(LOOSE, limits={"unsafe_combinations": {"limit": 0, "threshold": 6}}))
    assert verdict(cells, "unsafe_combinations").value == 12


def test_a_limit_on_what_cannot_be_measured_is_not_assessed() -> None:
    plain = tc.Scenario(keys=["region"], weight="w")
    profile = tc.assess(PEOPLE, plain, replace(LOOSE, limits={"t_closeness": 0.3}))
    assert verdict(profile, "t_closeness").holds is None
    assert profile.not_assessed == ("t_closeness was not measured: it needs sensitive variables (sensitive=[...])",)
    assert not profile.safe
    assert str(profile).startswith("NOT ASSESSED under this policy: t_closeness was not measured")
    household = tc.assess(PEOPLE, plain, replace(LOOSE, household_risk=0.5))
    assert (verdict(household, "household_risk").holds, household.safe) == (None, False)


def test_perturbed_keys_are_not_assessed() -> None:
    data = Data.of(PEOPLE).with_perturbed(["region"])
    with pytest.warns(tc.TacitaWarning, match="was perturbed"):
        profile = tc.assess(data, WHO, LOOSE)
    assert [each.holds for each in profile.verdicts()] == [None, None, None]
    assert not profile.safe
    assert str(profile).startswith("NOT ASSESSED under this policy: the key 'region' was perturbed")


LINKED = {"limit": 0.9, "keys": ["income"]}


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_linkage_stands_for_counts_on_the_key_sets_that_were_perturbed_only() -> None:
    """A limit on linkage took the verdict from key sets that nobody had perturbed, and from keys that it ignores."""
    people = PEOPLE.with_columns(pl.Series("job", ["smith", *["clerk"] * 11]))
    who = tc.Scenario(keys=["region"], numeric_keys=["income"], weight="w", key_sets={"work": ["job"]})
    policy = replace(LOOSE, neighbours=None, limits={"distance_linkage": {"limit": 0.99, "distance": "gower"}})
    wrong = Data.of(people).with_perturbed(["region"])
    found = tc.assess(wrong, who, policy, original=people)
    named = {each.name: each.holds for each in found.verdicts()}
    assert (named["k:work"], named["distance_linkage"], "k" in named) == (False, False, False)
    assert "1 record below k = 3 on the key set 'work'" in found.failures
    # By income alone the linkage says nothing of who is found by region.
    ignoring = replace(policy, limits={"distance_linkage": LINKED})
    alone = tc.assess(wrong, replace(who, key_sets={}), ignoring, original=people)
    assert verdict(alone, "k").holds is None
    assert verdict(alone, "k").why.endswith(
        "distance_linkage must go by all of them, as with distance = 'gower' or keys = [...]"
    )
    assert not alone.safe


@pytest.mark.parametrize("limits", [{"l_diversity": 1}, {"t_closeness": 1}, {"likeness": 100}])
@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_perturbed_sensitive_values_are_not_assessed(limits: dict[str, float]) -> None:
    """One wrong illness in a group of one illness made it look diverse."""
    policy = replace(LOOSE, limits=limits)
    assert tc.assess(PEOPLE, WHO, policy).safe
    found = tc.assess(Data.of(PEOPLE).with_perturbed(["disease"]), WHO, policy)
    assert verdict(found, next(iter(limits))).holds is None
    assert "the sensitive variable 'disease' was perturbed" in found.not_assessed[0]
    alone = found.further[next(iter(limits))]
    assert "caution: the sensitive variable 'disease' was perturbed" in str(alone)
    assert "the sensitive variable &#x27;disease&#x27; was perturbed" in alone._repr_html_()


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_a_perturbed_household_identifier_voids_the_risk_of_households() -> None:
    people = PEOPLE.with_columns(pl.Series("hid", [row // 2 for row in range(12)]))
    who, policy = replace(WHO, household="hid"), replace(LOOSE, household_risk=0.9)
    assert tc.assess(people, who, policy).safe
    found = tc.assess(Data.of(people).with_perturbed(["hid"]), who, policy)
    assert (verdict(found, "household_risk").holds, found.safe) == (None, False)


def test_a_perturbed_weight_leaves_k_and_voids_the_risk() -> None:
    data = Data.of(PEOPLE).with_perturbed(["w"])
    with pytest.warns(tc.TacitaWarning, match="was perturbed"):
        profile = tc.assess(data, WHO, LOOSE)
    assert [(each.name, each.holds) for each in profile.verdicts()] == [("k", True), ("risk", None), ("rate", None)]
    assert not profile.safe


def test_noisy_weights_are_judged_by_the_original_ones(tmp_path: Path) -> None:
    """A plan with WeightNoise printed that the release keeps the policy, whatever the noise made of F."""
    release = tc.Plan([tc.WeightNoise(1.5)]).apply(PEOPLE, WHO, seed=1)
    before, after = tc.assess(PEOPLE, WHO, LOOSE), tc.assess(release, release.scenario, LOOSE)
    *same, given_back = after.verdicts()
    assert [each.value for each in same] == [each.value for each in before.verdicts()]
    assert (given_back.name, given_back.value) == ("given_back", 0)
    assert "the weights as they were before protection" in str(after)
    # The written file knows that its weights are wrong, not what they were.
    tc.write(release.data, tmp_path / "people.parquet")
    with pytest.warns(tc.TacitaWarning, match="was perturbed"):
        ran = CliRunner().invoke(
            app, ["assess", f"{tmp_path}/people.parquet", "--keys", "region", "--weight", "w", "--fail-if-unsafe"]
        )
    assert ran.exit_code == 1, ran.output
    assert "the weight 'w' was perturbed" in ran.output


def test_sensitive_variables_without_a_limit_are_worth_a_caution() -> None:
    said = "the policy limits no measure of what is learned about them"
    assert any(said in caution for caution in tc.assess(PEOPLE, WHO, LOOSE).cautions)
    limited = tc.assess(PEOPLE, WHO, replace(LOOSE, limits={"l_diversity": 1}))
    assert not any(said in caution for caution in limited.cautions)


def test_a_policy_with_limits_goes_to_toml_and_back() -> None:
    policy = tc.Policy(limits={"l_diversity": 2, "suda": {"limit": 0.2, "largest": 3}})
    assert tc.Policy.from_toml(policy.to_toml()) == policy
    assert str(policy).endswith("l_diversity 2, suda 0.2 (largest = 3)")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"l_diversty": 2}, "policy limits: there is no measure 'l_diversty'. Did you mean "
                            "'l_diversity'?"),
        ({"k_anonymity": 2}, "the limit of k_anonymity is the field k of the policy; set it there."),
        ({"suda": "low"}, "policy limit of suda must be a number; got 'low'."),
        ({"suda": {"largest": 3}}, "the limit of suda must be a number or a table with limit = ...; got "
                                   "{'largest': 3}."),
    ],
)  # fmt: skip
def test_bad_limits(limits: dict[str, object], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Policy(limits=limits)
    assert str(error.value) == message


def test_a_key_set_has_its_own_verdicts() -> None:
    who = tc.Scenario(keys=["region"], key_sets={"detail": {"keys": ["region", "disease"], "k": 2}})
    profile = tc.assess(PEOPLE, who, tc.Policy(k=3, risk=None, rate=None))
    assert [(each.name, each.limit, each.holds) for each in profile.verdicts()] == [
        ("k", 3, True),
        ("k:detail", 2, True),
    ]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "xlsx", "sav", "zsav", "dta", "xpt"])
def test_that_a_variable_was_perturbed_survives_every_format(suffix: str, tmp_path: Path) -> None:
    """In the file itself where it has room for a note, otherwise in the codebook beside it."""
    release = tc.Plan([tc.WeightNoise(1.5)]).apply(PEOPLE, WHO, seed=1)
    noteless = suffix in ("csv", "dta", "xpt")
    tc.write(release.codebook(), tmp_path / "codebook.csv")
    file = tmp_path / f"people.{suffix}"
    with pytest.warns(tc.TacitaWarning, match="'w' was perturbed; keep the codebook") if noteless else nullcontext():
        tc.write(release.data, file)
    assert tc.read(file).perturbed == {"w"}
    (tmp_path / "codebook.csv").unlink()
    assert tc.read(file).perturbed == (set() if noteless else {"w"})


def test_without_a_limit_on_neighbours_numeric_keys_have_no_verdict() -> None:
    """Assessing such a release stopped with an error."""
    who = replace(WHO, numeric_keys=("income",), sensitive=())
    policy = replace(LOOSE, neighbours=None)
    release = tc.Plan([tc.Round("income", base=100)]).apply(PEOPLE, who, policy)
    assert "confidentiality" not in release.assess().further
    assert "confidentiality" in tc.Plan([tc.Round("income", base=100)]).apply(PEOPLE, who, LOOSE).assess().further


def test_a_shuffled_file_with_other_weights_is_not_judged_by_them() -> None:
    """By position a take-all unit got the weight of somebody else, and its risk came out too low."""
    firms = pl.DataFrame({"size": ["large"] * 4 + ["small"] * 96, "w": [1.0] * 4 + [50.0] * 96, "id": list(range(100))})
    who = tc.Scenario(keys=["size"], weight="w", identifiers=["id"])
    policy = tc.Policy(k=3, risk=0.1, rate=0.01, given_back=None)
    rounded = firms.with_columns(w=pl.lit(100.0))
    aligned = tc.assess(rounded, who, policy, original=firms)
    assert aligned.failures[0] == "4 records above a risk of 0.1"
    with pytest.warns(tc.TacitaWarning, match="the weight 'w' was perturbed"):
        shuffled = tc.assess(rounded[::-1], who, policy, original=firms)
    not_known = [("risk", None), ("rate", None), ("given_back", None)]
    assert [(each.name, each.holds) for each in shuffled.verdicts()] == [("k", True), *not_known]
    assert not shuffled.safe


NO_COUNTS = replace(LOOSE, k=None, risk=None, rate=None)
VOID = [
    replace(NO_COUNTS, risk=1.0),
    replace(NO_COUNTS, rate=1.0),
    replace(NO_COUNTS, household_risk=1),
    *(
        replace(NO_COUNTS, limits={name: limit})
        for name, limit in (
            ("l_diversity", 1),
            ("l_diversity", {"limit": 1, "kind": "entropy"}),
            ("t_closeness", 1),
            ("presence", 1),
            ("suda", 1),
            ("weight_disclosure", 1.0),
            ("mixed_uniqueness", 1),
            ("unsafe_combinations", 12),
            ("superpopulation", 100),
            ("distance_linkage", 1),
            ("one_to_one_linkage", {"limit": 1, "of": "record"}),
            ("interval_disclosure", 1),
        )
    ),
]


@pytest.mark.parametrize("policy", VOID)
@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_a_limit_that_every_file_keeps_makes_nothing_safe(policy: tc.Policy) -> None:
    """Policies that nothing can break were kept by everything, and printed SAFE."""
    people = PEOPLE.with_columns(pl.Series("hid", [row // 2 for row in range(12)]))
    who = tc.Scenario(keys=["region"], sensitive=["disease"], numeric_keys=["income"], weight="w", household="hid")
    found = tc.assess(people, who, replace(policy, neighbours=None), original=people)
    assert not found.safe
    assert str(found).startswith("NO VERDICT: the policy sets no limit")
    said = [each for each in found.cautions if "is no limit, since every file keeps it" in each]
    assert len(said) == 1
    # Beside a limit that means something it changes nothing.
    both = tc.assess(people, who, replace(policy, k=2, neighbours=None), original=people)
    assert [each.name for each in both.verdicts()] == ["k", "given_back"]


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_a_void_limit_on_linkage_does_not_stand_for_counts() -> None:
    """A limit of 1 on the share of links took the place of k on perturbed keys."""
    wrong = Data.of(PEOPLE).with_perturbed(["region"])
    policy = replace(LOOSE, limits={"distance_linkage": {"limit": 1, "distance": "gower"}})
    found = tc.assess(wrong, WHO, policy, original=PEOPLE)
    assert verdict(found, "k").holds is None and not found.safe


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_few_records_that_are_found_for_certain_do_not_hide_in_a_small_share() -> None:
    """One unique record in forty is 2.5 % of the links, and SAFE at 5 %."""
    people = pl.DataFrame({"region": ["n"] * 20 + ["s"] * 19 + ["w"]})
    who, wrong = tc.Scenario(keys=["region"]), Data.of(people).with_perturbed(["region"])
    gower = {"distance": "gower", "keys": ["region"]}

    def assessed(k: int | None = None, **limit: object) -> tc.RiskProfile:
        policy = replace(NO_COUNTS, k=k, limits={"distance_linkage": {**limit, **gower}})
        return tc.assess(wrong, who, policy, original=people)

    counted = assessed(k=3, limit=0.1)
    assert not counted.safe and verdict(counted, "k").holds is None
    assert verdict(counted, "k").why.startswith("distance_linkage finds 1 record rightly for certain, which a limit")
    # Who limits nothing but the share says so.
    share = assessed(limit=0.1)
    assert share.safe
    assert verdict(share, "distance_linkage").why.endswith("; 1 record is linked rightly for certain")
    assert verdict(share, "distance_linkage").value == pytest.approx(3 / 40)
    record = assessed(limit=0.5, of="record")
    assert record.failures == (
        "distance_linkage: the greatest probability that a record is linked rightly is 1, at most 0.5 is safe; "
        "1 record is linked rightly for certain",
    )
    with pytest.raises(TacitaError, match=r"^of must be one of "):
        assessed(limit=0.1, of="files").verdicts()
