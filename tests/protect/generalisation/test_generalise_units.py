"""Generalisation where units have several records: levels are chosen by units, and the assessment agrees."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.scenario import Scenario

HIERARCHIES = {
    "age": tc.Hierarchy.intervals([5, 10, 20], redact=True),
    "region": tc.Hierarchy.truncation([1], redact=True),
}
K = tc.Policy(k=3, risk=None, rate=None, given_back=None)


def panel(seed: int, size: int = 150) -> pl.DataFrame:
    """Persons in several waves: they grow older, now and then move, and keep their disease."""
    draws = np.random.default_rng(seed)
    person = np.sort(draws.integers(0, size // 4, size))
    wave = np.arange(size) - np.searchsorted(person, person)
    homes = draws.choice(["11", "12", "21", "22", "23"], size // 4)[person]
    moved = draws.random(size) < 0.1
    columns: dict[str, Any] = {
        "age": (20 + draws.integers(0, 40, size // 4))[person] + wave,
        "region": np.where(moved, "11", homes),
        "disease": draws.choice(["a", "b", "c"], size // 4)[person],
        "person": person,
    }
    blank = pl.Series(draws.random(size) < 0.03)
    return pl.DataFrame(columns).with_columns(region=pl.when(blank).then(None).otherwise(pl.col("region")))


def scenario(rule: str = "one_way") -> Scenario:
    return Scenario(keys=["region", "age"], sensitive=["disease"], person="person", missing=rule)


@pytest.mark.parametrize("rule", ["one_way", "wildcard", "partial(0.5)", "own_category"])
@pytest.mark.parametrize("recoding", ["global", "outliers", "local"])
@pytest.mark.parametrize("suppress", ["blank", "remove"])
def test_the_release_keeps_k_units(rule: str, recoding: str, suppress: str) -> None:
    # Where a blank is a category nobody is safer for it, and those who have one cannot be helped.
    limit, frame = 0.1, panel(1)
    if rule == "own_category" and suppress == "blank":
        limit, frame = 0.0, panel(1).drop_nulls()
    step = tc.Generalise(HIERARCHIES, recoding=recoding, suppress=suppress, limit=limit)
    plan = tc.Plan([tc.Remove(["person"]), step])
    release = plan.apply(frame, scenario(rule), K, seed=1)
    assert tc.assess(release.data, release.scenario, K).safe
    by_record = plan.apply(frame, replace(scenario(rule), person=None), K, seed=1)
    losses = [each.changes[1].figures["loss_value"] for each in (by_record, release)]
    assert losses[0] < losses[1] or (limit == 0 and losses[0] == losses[1])


@pytest.mark.parametrize("asked", [{"distinct_l": 2}, {"entropy_l": 2.0}, {"recursive_l": 2}, {"t": 0.3}])
def test_diversity_and_closeness_count_units(asked: dict[str, Any]) -> None:
    plan = tc.Plan([tc.Remove(["person"]), tc.Generalise(HIERARCHIES, limit=0.0, **asked)])
    release = plan.apply(panel(2), scenario(), K, seed=1)
    name, wanted = next(iter(asked.items()))
    if name == "t":
        found: Any = tc.risk.t_closeness(release.data, release.scenario)
        assert found.greatest <= wanted + 1e-12
    else:
        found = tc.risk.l_diversity(release.data, release.scenario)
        assert found.smallest(name.removesuffix("_l")) >= wanted * (1 - 1e-12)
    assert found.not_valid == ""


def test_by_hand_two_firms_with_many_months_need_the_next_level() -> None:
    """Firms 1 and 2 are in one town each, with three months; the county has both."""
    towns = pl.DataFrame({"town": ["11"] * 3 + ["12"] * 3, "firm": [1, 1, 1, 2, 2, 2]})
    step = tc.Generalise({"town": tc.Hierarchy.truncation([1])}, k=2, limit=0.0)
    by_unit = tc.Plan([step]).apply(towns, Scenario(keys=["town"], person="firm"))
    assert by_unit.data.table["town"].n_unique() == 1
    by_record = tc.Plan([step]).apply(towns, Scenario(keys=["town"]))
    assert by_record.data.table["town"].to_list() == towns["town"].to_list()
    with pytest.raises(TacitaError, match="k must be at most the number of units, 2; got 3"):
        tc.Plan([replace(step, k=3)]).apply(towns, Scenario(keys=["town"], person="firm"))
