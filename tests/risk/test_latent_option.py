"""Where the latent model shows: measures, verdicts, assessment, suppression, command line."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.risk.identity.individual_risk import IndividualRisk
from tacita.risk.population.latent import fit
from tacita.risk.population.latent import model as latent_models

pytestmark = pytest.mark.latent

SCENARIO = tc.Scenario(keys=["region", "sex", "age"], weight="w")
PLAIN = replace(SCENARIO, model="benedetti_franconi")


def people(size: int = 400, seed: int = 1) -> pl.DataFrame:
    draws = np.random.default_rng(seed)
    region = draws.choice(6, size, p=np.arange(1, 7) / 21)
    age = np.clip(draws.gamma(4, 9, size) + 3 * region, 0, 95).astype(int)
    return pl.DataFrame({
        "region": region, "sex": draws.integers(0, 2, size), "age": age, "w": np.full(size, 15.0),
        "household": np.arange(size) // 2,
    })  # fmt: skip


@pytest.fixture(scope="module")
def risk() -> IndividualRisk:
    return tc.risk.individual_risk(people(), SCENARIO)


def test_the_model_is_chosen_by_scenario_or_option(risk: IndividualRisk) -> None:
    plain = tc.risk.individual_risk(people(), PLAIN)
    assert plain.model is None
    assert risk.model is not None
    assert SCENARIO.model == "latent"
    np.testing.assert_array_equal(tc.risk.individual_risk(people(), PLAIN, model="latent").risk, risk.risk)
    np.testing.assert_array_equal(
        tc.risk.individual_risk(people(), SCENARIO, model="benedetti_franconi").risk, plain.risk
    )
    np.testing.assert_array_equal(risk.without_model.risk, plain.risk)
    assert risk.to_dict()["model"] == "latent"
    approximate = tc.risk.individual_risk(people(), SCENARIO, method="approximate")
    np.testing.assert_array_equal(approximate.risk, tc.risk.individual_risk(people(), PLAIN, method="approximate").risk)


def test_a_method_of_the_other_model_is_an_error() -> None:
    with pytest.raises(TacitaError, match=r"^method 'approximate' is of model 'benedetti_franconi'; choose that model"):
        tc.risk.individual_risk(people(), SCENARIO, model="latent", method="approximate")
    with pytest.raises(TacitaError, match=r"^model must be one of 'latent', 'benedetti_franconi'; got 'poisson'\.$"):
        tc.Scenario(keys=["a"], model="poisson")


def test_small_and_known_files_have_the_usual_figures() -> None:
    small = people(99)
    np.testing.assert_array_equal(
        tc.risk.individual_risk(small, SCENARIO).risk, tc.risk.individual_risk(small, PLAIN).risk
    )
    assert tc.risk.reidentification(small, SCENARIO).benedetti_franconi is None
    known = tc.risk.individual_risk(people(), SCENARIO, register=pl.concat([people(), people(900, 2)]))
    assert known.model is None


@pytest.mark.parametrize("attack", [{"attack": "M1"}, {"attack": "M2"}, {"attack": "M4", "attack_probability": 0.1}])
def test_expected_reidentifications_follow_the_attack(attack: dict[str, Any], risk: IndividualRisk) -> None:
    found = tc.risk.reidentification(people(), replace(SCENARIO, **attack))
    probability = tc.risk.individual_risk(people(), replace(PLAIN, **attack)).attack
    assert found.expected == pytest.approx((risk.table.records * probability * risk.base).sum())
    assert found.interval[0] < found.expected < found.interval[1]
    if attack["attack"] == "M4":
        whole = tc.risk.reidentification(people(), SCENARIO)
        assert found.interval[0] == pytest.approx(0.1 * whole.interval[0], rel=1e-6)


def test_the_other_model_is_printed_beside_with_the_reason() -> None:
    found = tc.risk.reidentification(people(), SCENARIO)
    plain = tc.risk.reidentification(people(), PLAIN)
    assert found.benedetti_franconi == pytest.approx(plain.expected)
    assert found.to_dict()["expected_benedetti_franconi"] == found.benedetti_franconi
    assert found.population_uniques is not None and found.matched_uniques is not None
    assert 0 < found.population_uniques < found.matched_uniques < found.sample_uniques
    text = str(found)
    assert "sample uniques are expected to be unique in the population, and " in text
    outside = not found.interval[0] <= plain.expected <= found.interval[1]
    assert ("many keys are rarer in the population" in text) == outside
    assert "F by the latent model: " in text
    assert "has 400 complete records to go by" in text
    assert "Benedetti" not in str(plain)
    above = replace(found, benedetti_franconi=2 * found.interval[1])
    assert "more frequent in the population" in above.sentences()[1]
    near = replace(found, benedetti_franconi=found.expected)
    assert near.sentences()[1].endswith("by the model of Benedetti and Franconi")


def test_quantiles_follow_the_model(risk: IndividualRisk) -> None:
    cautious = tc.risk.individual_risk(people(), SCENARIO, quantile=0.05)
    np.testing.assert_allclose(cautious.risk, 1 / risk.population_quantile(0.05))
    assert (risk.population_quantile(0.05) <= risk.population_quantile(0.95)).all()
    at = tc.risk.reidentification(people(), SCENARIO, quantile=0.05)
    assert at.interval == (at.expected, at.expected)
    assert at.population_uniques is None


def test_what_builds_on_it_follows(risk: IndividualRisk) -> None:
    household = tc.risk.household_risk(people(), replace(SCENARIO, household="household"))
    first = risk.risk.reshape(-1, 2)
    np.testing.assert_allclose(household.by_household, 1 - (1 - first).prod(axis=1))
    assert tc.risk.attackers(people(), SCENARIO).marketer == pytest.approx(risk.risk.mean())
    threshold = tc.risk.risk_threshold(people(), SCENARIO, threshold=0.1)
    assert threshold.chosen.unsafe == (risk.risk > 0.1).sum()
    assert tc.risk.benchmark(people(), SCENARIO).found != tc.risk.benchmark(people(), PLAIN).found


def test_a_policy_may_judge_the_upper_end() -> None:
    found = tc.risk.reidentification(people(), SCENARIO)
    between = (found.rate + found.rate_interval[1]) / 2
    (usual,) = found.verdicts(tc.Policy(rate=between))
    (upper,) = found.verdicts(tc.Policy(rate=between, rate_at="upper"))
    assert (usual.holds, upper.holds) == (True, False)
    assert upper.value == pytest.approx(found.rate_interval[1])
    assert "at the upper end of its interval" in upper.why
    assert str(tc.Policy(rate_at="upper")).endswith(
        "re-identification rate at the upper end of its interval at most 0.1 %"
    )
    assert tc.Policy.from_toml(tc.Policy(rate_at="upper").to_toml()).rate_at == "upper"
    with pytest.raises(TacitaError, match="policy rate_at must be"):
        tc.Policy(rate_at="lower")


def test_an_assessment_says_which_model_and_why() -> None:
    profile = tc.assess(people(), SCENARIO, tc.Policy(rate=0.01))
    assert profile.main.reidentification.benedetti_franconi is not None
    assert "F by the latent model" in str(profile)
    assert "by the model of Benedetti and Franconi" in str(profile)
    assert not any("75 % too low" in caution for caution in profile.cautions)
    assert any("complete records to go by" in caution for caution in profile.cautions)
    assert profile.main.attackers.marketer == pytest.approx(profile.individual.risk.mean())
    by_option = tc.assess(people(), PLAIN, tc.Policy(rate=0.01), model="latent")
    assert by_option.main.reidentification.expected == profile.main.reidentification.expected
    assert max(len(line) for line in str(profile).splitlines()) <= 100


def test_where_the_upper_end_is_judged_the_threshold_is_lower() -> None:
    usual, upper = (tc.assess(people(), SCENARIO, tc.Policy(rate=0.01, rate_at=at)) for at in ("expected", "upper"))
    assert upper.main.threshold.risk < usual.main.threshold.risk


def test_suppression_keeps_to_the_model_refitted_on_what_is_left() -> None:
    data = people()
    release = tc.Plan([tc.Suppress(risk=0.2, closed=False)]).apply(data, SCENARIO)
    said = [remark for entry in release.changes for remark in entry.remarks if "latent model" in remark]
    assert len(said) == 1
    assert "by that of what is left" in said[0]
    after = tc.risk.individual_risk(release.data, SCENARIO)
    above = int((after.risk > 0.2).sum())
    assert ("no record above 0.2" in said[0]) == (above == 0)
    assert above < 0.02 * len(data)
    before = tc.risk.individual_risk(data, SCENARIO)
    assert (before.risk > 0.2).sum() > 10 * max(above, 1)


def test_the_command_line_chooses_the_model(tmp_path: Path, run: Callable[..., tuple[int, str, str]]) -> None:
    people().write_csv(tmp_path / "people.csv")
    command = ["assess", "people.csv", "--keys", "region,sex,age", "--weight", "w"]
    code, said, _ = run(*command, "--rate-at", "upper")
    assert code == 0
    assert "F by the latent model" in said
    assert "at the upper end of its interval" in " ".join(said.split())
    assert "latent" not in run(*command, "--model", "benedetti_franconi")[1]


def test_a_file_is_fitted_once_whatever_is_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    fits, fitted = [], fit.fitted

    def counted(table: Any, *rest: Any) -> Any:
        fits.append(table)
        return fitted(table, *rest)

    monkeypatch.setattr(fit, "fitted", counted)
    monkeypatch.setattr(latent_models, "_kept", OrderedDict())
    data, with_household = people(300, 5), replace(SCENARIO, household="household")
    profile = tc.assess(data, with_household, measures={"risk_threshold": {"threshold": 0.1}})
    assert profile.individual.model is not None
    assert len(fits) == 1
    assert tc.risk.reidentification(data, with_household).expected == profile.main.reidentification.expected
    assert len(fits) == 1
    # Other weights, another rule or another file is another model.
    tc.risk.individual_risk(data.with_columns(w=pl.col("w") * 2), SCENARIO)
    tc.risk.individual_risk(data, replace(SCENARIO, missing="own_category"))
    tc.risk.individual_risk(people(300, 6), SCENARIO)
    assert len(fits) == 4


def test_only_so_many_models_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latent_models, "_kept", OrderedDict())
    monkeypatch.setattr(latent_models, "MOST_KEYS", 300)
    for seed in (7, 8, 9):
        tc.risk.individual_risk(people(200, seed), SCENARIO)
    assert sum(len(each.table.codes) for each in latent_models._kept.values()) <= 300


def test_where_suppression_left_nobody_alone_counts_do_not_stray() -> None:
    # Counts below k are gone: what is left says nothing of how they stray.
    data = people()
    release = tc.Plan([tc.Suppress(k=3, closed=False)]).apply(data, PLAIN)
    assert tc.risk.individual_risk(release.data, SCENARIO).model is None
    assert tc.risk.individual_risk(data, SCENARIO).model is not None


def test_suppression_to_a_rate_keeps_the_end_that_the_policy_judges() -> None:
    data, policy = people(), tc.Policy(k=None, risk=None, rate=0.1, rate_at="upper")
    release = tc.Plan([tc.Suppress(rate=True, closed=False)]).apply(data, SCENARIO, policy)
    found = release.assess().main.reidentification
    assert found.model == "latent"
    assert found.judged_rate(policy) <= 0.1
    usual = tc.Plan([tc.Suppress(rate=True, closed=False)]).apply(data, SCENARIO, replace(policy, rate_at="expected"))
    assert usual.assess().main.reidentification.rate > found.rate


def test_the_internal_part_is_the_rate_that_an_assessment_of_the_release_gives() -> None:
    """By the latent model blanks are given back what the original had there; the page printed another rate."""
    survey = tc.household_survey(1200, population=60_000)
    who = tc.Scenario(keys=["region", "sex", "age", "citizenship"], weight="weight")
    release = tc.Plan([tc.Suppress(k=3)]).apply(survey.data, who)
    assert tc.risk.total_risk(survey.data, release, who).internal == pytest.approx(release.assess().rate)
