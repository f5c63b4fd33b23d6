"""Suppress without parameters keeps what the policy asks, as far as suppression can, and says what it cannot."""

import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError

SURVEY = tc.household_survey(400, population=9000, seed=5)
DATA = SURVEY.data.with_columns({"age": SURVEY.data.numbers("age") // 20})
KEYS = ["region", "sex", "age"]
WEIGHTED = tc.Scenario(keys=KEYS, weight="weight")
CENSUS = tc.Scenario(keys=KEYS)


def released(step: tc.Suppress, who: tc.Scenario, policy: tc.Policy | None = None) -> tc.Release:
    return tc.Plan([step]).apply(DATA, who, policy)


def kept(release: tc.Release) -> dict[str, bool | None]:
    found = tc.assess(release.data, release.scenario, release.policy)
    return {verdict.name: verdict.holds for verdict in found.verdicts()}


def test_without_weights_the_risk_of_the_policy_is_kept_and_the_rate_is_said() -> None:
    """A risk of 0.1 is k = 10 in a census, and a rate of 0.1 % asks for groups of a thousand."""
    assert kept(released(tc.Suppress(k=3, closed=False), CENSUS))["risk"] is False
    release = released(tc.Suppress(closed=False), CENSUS)
    assert kept(release) == {"k": True, "risk": True, "rate": False}
    assert tc.key_table(release, release.scenario).sample_count.min() >= 10
    (said,) = [each for each in release.changes[0].remarks if each.startswith("not kept: ")]
    assert said.startswith("not kept: the re-identification rate of 0.1 %")


def test_with_weights_every_limit_is_kept() -> None:
    policy = tc.Policy(k=3, risk=0.02, rate=0.003)
    assert kept(released(tc.Suppress(k=3, closed=False), WEIGHTED, policy))["rate"] is False
    release = released(tc.Suppress(closed=False), WEIGHTED, policy)
    assert set(kept(release).values()) == {True}
    assert not any("not kept" in each for each in release.changes[0].remarks)


def test_the_rate_alone() -> None:
    release = released(tc.Suppress(rate=0.003, closed=False), WEIGHTED)
    assert tc.risk.reidentification(release, release.scenario).rate <= 0.003
    by_policy = released(tc.Suppress(rate=True, closed=False), WEIGHTED, tc.Policy(rate=0.003))
    assert by_policy.data.table.equals(release.data.table)
    with pytest.raises(TacitaError, match="suppression cannot do this: not kept: the re-identification rate"):
        released(tc.Suppress(rate=0.001), CENSUS)


def test_a_file_too_small_for_the_policy_keeps_k_and_says_why_no_more() -> None:
    few = pl.DataFrame({"sex": ["f", "f", "f", "m"], "town": ["a", "a", "b", "b"]})
    release = tc.Plan([tc.Suppress()]).apply(few, tc.Scenario(keys=["sex", "town"]))
    assert tc.risk.k_anonymity(release, release.scenario, k=[3]).sample == (0,)
    census = "in a file of 4 records, which without weights are the whole population"
    assert [each for each in release.changes[0].remarks if "not kept" in each] == [
        f"not kept: the individual risk of 0.1; with every key of 'keys' missing it is 0.25 {census}",
        f"not kept: the re-identification rate of 0.1 %; with every key of 'keys' missing it is 25 % {census}",
    ]


def test_limits_that_suppression_does_not_look_at_are_named() -> None:
    policy = tc.Policy(k=3, risk=None, rate=None, limits={"l_diversity": 2, "value_loss": 0.5})
    release = released(tc.Suppress(closed=False), CENSUS, policy)
    assert release.changes[0].remarks[-1] == (
        "not looked at, since suppression goes by counts of equal keys: the limits on 'l_diversity'"
    )
    assert "not looked at" not in str(released(tc.Suppress(k=3, closed=False), CENSUS, policy))


def test_the_household_risk_of_the_policy_is_kept_too() -> None:
    who = tc.Scenario(keys=KEYS, weight="weight", household="household")
    policy = tc.Policy(k=3, risk=None, rate=None, household_risk=0.1)
    assert kept(released(tc.Suppress(k=3, closed=False), who, policy))["household_risk"] is False
    assert kept(released(tc.Suppress(closed=False), who, policy)) == {"k": True, "household_risk": True}
