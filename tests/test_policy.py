"""Policies: what counts as safe."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.policy import PRESETS, Policy, checked_policy


def test_defaults() -> None:
    policy = Policy()
    assert (policy.k, policy.risk, policy.rate, policy.household_risk) == (3, 0.1, 0.001, None)
    assert (policy.neighbours, policy.perturbation) == (15, 0.15)
    assert str(policy) == "k = 3, individual risk at most 0.1, re-identification rate at most 0.1 %"


def test_printed() -> None:
    assert str(Policy(k=5, household_risk=0.25)) == (
        "k = 5, individual risk at most 0.1, re-identification rate at most 0.1 %, household risk at most 0.25"
    )
    assert str(Policy(k=None, risk=None, rate=None)) == "no limit at all"
    # The limits of the plot are no limits of an assessment; chosen ones are shown beside those.
    assert str(Policy(k=None, risk=None, rate=None, neighbours=3)) == "no limit at all"
    assert str(Policy(risk=None, rate=None, neighbours=10)) == "k = 3, confidentiality plot: k = 10, r = 15 %"
    assert str(Policy(risk=None, rate=None, perturbation=None)) == "k = 3, confidentiality plot: k = 15"
    assert str(Policy(risk=None, rate=None, neighbours=None)) == "k = 3, confidentiality plot: no limit"


def test_false_is_no_limit() -> None:
    """TOML has no null: false stands for a limit that is not applied."""
    assert Policy(k=False, risk=False, rate=False) == Policy(k=None, risk=None, rate=None)
    assert Policy.from_toml("[policy]\nk = false\n") == Policy(k=None)


limits = st.one_of(st.none(), st.floats(1e-9, 1))
policies = st.builds(
    Policy,
    k=st.one_of(st.none(), st.integers(2, 1000)),
    risk=limits,
    rate=limits,
    household_risk=limits,
    neighbours=st.one_of(st.none(), st.integers(1, 1000)),
    perturbation=st.one_of(st.none(), st.floats(1e-9, 10)),
)


@given(policies)
def test_to_toml_and_back(policy: Policy) -> None:
    assert Policy.from_toml(policy.to_toml()) == policy
    assert Policy.from_dict(policy.to_dict()) == policy


def test_what_is_written(tmp_path: Path) -> None:
    path = Policy(k=5).save(tmp_path / "policy.toml")
    assert path.read_text("utf-8") == (
        "format = 1\n\n[policy]\nk = 5\nrisk = 0.1\nrate = 0.001\nhousehold_risk = false\n"
        "given_back = 0\nneighbours = 15\nperturbation = 0.15\n"
    )
    assert Policy.load(path) == Policy(k=5)


def test_an_exception_keeps_its_reason_and_limits_nothing() -> None:
    policy = Policy(
        rate=0.01, limits={"l_diversity": 2}, exceptions={"rate": "agreed\n with  us", "l_diversity": "new"}
    )
    assert policy.exceptions == {"rate": "agreed with us", "l_diversity": "new"}
    assert Policy.from_toml(policy.to_toml()) == policy
    assert str(policy) == str(replace(policy, exceptions={}))


def test_numbers_of_numpy_become_pythons_own() -> None:
    policy = Policy(k=np.int64(4), risk=np.float64(0.2), rate=np.float32(0.5))  # type: ignore[arg-type]
    assert (type(policy.k), type(policy.risk), type(policy.rate)) == (int, float, float)
    assert Policy.from_toml(policy.to_toml()) == policy


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"k": 1}, "policy k must be at least 2; got 1."),
        ({"k": 2.5}, "policy k must be a whole number of at least 2; got 2.5."),
        ({"k": True}, "policy k must be a whole number of at least 2; got True."),
        ({"k": "3"}, "policy k must be a whole number of at least 2; got '3'."),
        ({"k": float("nan")}, "policy k must be a whole number of at least 2; got nan."),
        ({"k": float("inf")}, "policy k must be a whole number of at least 2; got inf."),
        ({"risk": 0}, "policy risk must be in (0, 1]; got 0."),
        ({"risk": 1.01}, "policy risk must be in (0, 1]; got 1.01."),
        ({"rate": -0.5}, "policy rate must be in (0, 1]; got -0.5."),
        ({"rate": "0.1"}, "policy rate must be in (0, 1]; got '0.1'."),
        ({"household_risk": float("nan")}, "policy household_risk must be in (0, 1]; got nan."),
        ({"neighbours": 0}, "policy neighbours must be at least 1; got 0."),
        ({"neighbours": 1.5}, "policy neighbours must be a whole number of at least 1; got 1.5."),
        ({"perturbation": 0}, "policy perturbation must be above 0; got 0."),
        ({"perturbation": float("inf")}, "policy perturbation must be a number; got inf."),
        ({"exceptions": {"k": " "}}, "policy exceptions: why k is one must be said in words; got ' '."),
        (
            {"exceptions": {"suda": "a reason"}, "limits": {"l_diversity": 2}},
            "policy exceptions must be one of 'k', 'risk', 'rate', 'rate_at', 'household_risk', 'given_back', "
            "'neighbours', 'perturbation', 'limits', 'l_diversity'; got 'suda'.",
        ),
    ],
)
def test_bad_policies(given: dict[str, object], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        Policy(**given)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_unknown_fields() -> None:
    with pytest.raises(TacitaError) as error:
        Policy.from_dict({"risks": 0.1})
    assert str(error.value) == "policy has no field 'risks'. Did you mean 'risk'?"


def test_one_file_can_hold_scenario_and_policy() -> None:
    assert Policy.from_toml("format = 1\n[scenario]\nkeys = ['a']\n[policy]\nk = 7\n").k == 7


def test_presets_are_policies_to_start_from() -> None:
    public = tc.Policy.preset("public use")
    assert (public.k, public.rate_at) == (5, "upper")
    assert tc.Policy.preset("public use", k=10) == replace(public, k=10)
    # The more people will see a file, the less may be found.
    files, contract, room = (tc.Policy.preset(name) for name in PRESETS)
    assert files.k > contract.k > room.k and files.risk < contract.risk < room.risk and files.rate < contract.rate
    assert (contract, room.rate) == (tc.Policy(), None)
    for name in PRESETS:
        preset = tc.Policy.preset(name)
        assert tc.Policy.from_toml(preset.to_toml()) == preset
        assert checked_policy(name) == preset


def test_a_preset_may_stand_in_a_file() -> None:
    said = 'format = 1\n[policy]\npreset = "public use"\nk = 10\nrate = false\n'
    assert tc.Policy.from_toml(said) == tc.Policy.preset("public use", k=10, rate=None)
    choices = "'public use', 'scientific use', 'secure use'"
    with pytest.raises(TacitaError, match=f"^preset must be one of {choices}; got 'puf'\\.$"):
        tc.Policy.from_toml('[policy]\npreset = "puf"\n')
    with pytest.raises(TacitaError, match=f"^preset must be one of {choices}; got 5\\.$"):
        tc.Policy.preset(5)  # type: ignore[arg-type]


def test_a_preset_is_chosen_on_the_command_line(run: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    pl.DataFrame({"sex": ["f", "m"] * 5, "w": [500.0] * 10}).write_csv(tmp_path / "people.csv")
    code, said, _ = run("assess", "people.csv", "--keys", "sex", "--weight", "w", "--policy", "public use", "--k", 6)
    assert code == 0
    assert "k = 6, individual risk at most 0.05" in " ".join(said.split())
    assert "10 records below k = 6" in " ".join(said.split())
