"""Generalisation of a key set other than the main one."""

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.scenario import KeySet

DRAWS = np.random.default_rng(2)
PEOPLE = pl.DataFrame(
    {
        "sex": DRAWS.choice(["f", "m"], 120),
        "age": DRAWS.integers(0, 90, 120),
        "job": DRAWS.integers(1000, 1090, 120),
    }
)
AGES, JOBS = tc.Hierarchy.intervals([10, 30, 90]), tc.Hierarchy.intervals([10, 50, 100])
WHO = tc.Scenario(keys=["sex", "age"], key_sets={"work": KeySet(("sex", "job"), k=4)})


def least(release: tc.Release, keys: list[str]) -> float:
    return float(tc.key_table(release, release.scenario, keys).sample_count.min())


def test_one_step_for_each_key_set() -> None:
    first = tc.Generalise({"age": AGES}, k=3, limit=0)
    second = tc.Generalise({"job": JOBS}, key_set="work", limit=0)
    release = tc.Plan([first]).apply(PEOPLE, WHO)
    assert least(release, ["sex", "age"]) >= 3 and least(release, ["sex", "job"]) < 3
    assert release.changes[0].remarks[-1] == "key sets not looked at: 'work'; a step with key_set makes each safe"
    both = tc.Plan([first, second]).apply(PEOPLE, WHO)
    assert least(both, ["sex", "age"]) >= 3
    # The key set's own k, as no other was given.
    assert least(both, ["sex", "job"]) >= 4
    assert both.changes[1].figures["k"] == 4


def test_mistakes() -> None:
    with pytest.raises(TacitaError, match="key_set must be one of the scenario's, 'keys', 'work'; got 'home'"):
        tc.Plan([tc.Generalise({"job": JOBS}, key_set="home")]).apply(PEOPLE, WHO)
    with pytest.raises(TacitaError, match="hierarchies must be of keys of the scenario; 'age' is not a key"):
        tc.Plan([tc.Generalise({"age": AGES}, key_set="work")]).apply(PEOPLE, WHO)
    with pytest.raises(TacitaError, match="a sensitive variable cannot be a key at the same time: 'job'"):
        tc.Plan([tc.Generalise({"job": JOBS}, key_set="work", sensitive=["job"], distinct_l=2)]).apply(PEOPLE, WHO)
