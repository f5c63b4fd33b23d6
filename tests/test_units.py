"""Units with several records: what counts units, against pairs of records."""

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import slow
import tacita as tc
from tacita.data import Data, Variable
from tacita.keys import units as kernel
from tacita.keys.table import key_table
from tacita.protect.step import Applied, Context, Step
from tacita.scenario import MissingRule, Scenario

RULES = [
    "one_way",
    "wildcard",
    "conservative",
    "partial(0.25)",
    "partial(categories)",
    "partial(expected)",
    "no_match",
    "own_category",
    "sdcmicro(1)",
    "sdcmicro(0.5)",
]
value = st.sampled_from([1, 2, None])
record = st.tuples(value, value, value, st.sampled_from([1, 2, 3, 4, None]), st.sampled_from([1.0, 2.5, 7.0, 20.0]))
files = st.lists(record, min_size=1, max_size=16)
K = tc.Policy(k=3, risk=None, rate=None)


def table_of(rows: list[Any]) -> pl.DataFrame:
    names = {"a": pl.Int64, "b": pl.Int64, "c": pl.Int64, "pid": pl.Int64, "w": pl.Float64}
    return pl.DataFrame(rows, schema=names, orient="row")


@pytest.mark.parametrize("rule", RULES)
@given(rows=files)
def test_f_and_F_count_units(rule: str, rows: list[Any]) -> None:
    scenario = Scenario(keys=["a", "b", "c"], weight="w", person="pid", missing=rule)
    parsed = MissingRule.parse(rule)
    keys, pids, weights = [row[:3] for row in rows], [row[3] for row in rows], [row[4] for row in rows]
    c = parsed.factor if parsed.name == "partial" else None
    alpha = float(parsed.factor) if parsed.name == "sdcmicro" else None  # type: ignore[arg-type]
    f, F = slow.frequencies_of_units(keys, pids, weights, parsed.name, c, alpha)
    table = key_table(table_of(rows), scenario)
    np.testing.assert_allclose(table.per_record(table.sample_count), f, rtol=1e-12)
    np.testing.assert_allclose(table.per_record(table.population_count), F, rtol=1e-12)


@given(rows=files)
def test_pairs_in_small_blocks_and_in_one_are_the_same(rows: list[Any]) -> None:
    scenario = Scenario(keys=["a", "b", "c"], weight="w", person="pid", missing="wildcard")
    whole = key_table(table_of(rows), scenario)
    before = kernel.MOST_PAIRS
    kernel.MOST_PAIRS = 3
    try:
        parts = key_table(table_of(rows), scenario)
    finally:
        kernel.MOST_PAIRS = before
    assert (whole.sample_count == parts.sample_count).all()
    assert (whole.population_count == parts.population_count).all()


@given(rows=files, attack=st.sampled_from(["M1", "M2", "M3", "M5"]))
def test_expected_reidentifications_take_the_riskiest_record_of_each_unit(rows: list[Any], attack: str) -> None:
    scenario = Scenario(keys=["a", "b", "c"], weight="w", person="pid", attack=attack)
    risk = tc.risk.individual_risk(table_of(rows), scenario)
    found = tc.risk.reidentification(table_of(rows), scenario)
    pids = [row[3] for row in rows]
    assert found.size == len({pid for pid in pids if pid is not None}) + pids.count(None)
    assert found.expected == pytest.approx(slow.expected_units(risk.risk.tolist(), [1.0] * len(rows), pids), rel=1e-12)


def test_a_file_without_repeated_units_counts_as_without_units() -> None:
    frame = pl.DataFrame({"a": [1, 1, None, 2], "pid": [4, 3, 2, None]})
    scenario = Scenario(keys=["a"], person="pid")
    table = key_table(frame, scenario)
    assert table.unit is None
    assert (table.sample_count == key_table(frame, replace(scenario, person=None)).sample_count).all()


def months(firms: int = 2) -> pl.DataFrame:
    """Twelve months of each firm of a region."""
    rows = [("north", firm, month, 100.0 * (firm + 1)) for firm in range(firms) for month in range(12)]
    return pl.DataFrame(rows, schema=["region", "firm", "month", "turnover"], orient="row")


def test_twelve_months_of_two_firms_are_two_firms() -> None:
    scenario = Scenario(keys=["region"], person="firm", population_size=20)
    found = tc.assess(months(), scenario, K)
    assert not found.safe
    assert found.failures == ("24 records below k = 3",)
    assert found.records["f"].unique().to_list() == [2.0]
    assert found.records["F"].unique().to_list() == [20.0]
    assert found.reidentification.size == 2
    assert any(text.startswith("24 records are of 2 units by 'firm'") for text in found.cautions)
    assert tc.assess(months(3), scenario, K).safe
    # A population of 20 firms has 240 records of twelve months; of 1 it has fewer firms than the file.
    with pytest.raises(tc.TacitaError, match="at least the 2 units of the file; got 1"):
        tc.assess(months(), replace(scenario, population_size=1), K)


def test_codes_of_an_identifier_that_is_not_known_are_units_of_their_own() -> None:
    data = Data.of(pl.DataFrame({"a": [1] * 5, "pid": [7, 7, 0, 0, None]}), {"pid": Variable(missing=(0,))})
    assert key_table(data, Scenario(keys=["a"], person="pid")).sample_count.tolist() == [4]


def test_persons_numbered_inside_households_are_pointed_out() -> None:
    frame = pl.DataFrame({"a": [1] * 4, "pid": [1, 2, 1, 2], "hid": [1, 1, 2, 2]})
    found = tc.assess(frame, Scenario(keys=["a"], person="pid", household="hid"), K)
    assert any("2 units of 'pid' are in more than one 'hid'" in text for text in found.cautions)


def test_members_of_a_household_count_once() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 3], "pid": [1, 1, 2, 3], "hid": [1, 1, 1, 2], "w": [20.0] * 4})
    once = pl.DataFrame({"a": [1, 2, 3], "pid": [1, 2, 3], "hid": [1, 1, 2], "w": [20.0] * 3})
    scenario = Scenario(keys=["a"], person="pid", household="hid", weight="w")
    twice, single = (tc.risk.household_risk(each, scenario) for each in (frame, once))
    assert twice.by_household.tolist() == single.by_household.tolist()
    assert twice.members.tolist() == [2, 1]
    assert twice.expected_persons == single.expected_persons


@given(
    st.lists(
        st.tuples(st.sampled_from("xy"), st.sampled_from([1, 2, 3, None]), st.integers(0, 9)), min_size=1, max_size=12
    )
)
def test_dominance_adds_up_what_a_unit_contributes(rows: list[Any]) -> None:
    frame = pl.DataFrame(rows, schema={"cell": pl.String, "firm": pl.Int64, "x": pl.Float64}, orient="row")
    found = tc.risk.dominance(frame, Scenario(keys=["cell"], person="firm"), "x").cells
    for row in found.iter_rows(named=True):
        parts: dict[Any, float] = {}
        for at, (cell, firm, x) in enumerate(rows):
            if cell == row["cell"]:
                parts[("alone", at) if firm is None else firm] = parts.get(firm, 0.0) + x
        ranked = [*sorted(parts.values(), reverse=True), 0.0]
        assert (row["contributors"], row["total"], row["largest"]) == (len(parts), sum(ranked), ranked[0])
        assert row["dominated"] == (ranked[0] > 0.75 * sum(ranked))
        assert row["too_precise"] == (sum(ranked[2:]) < 0.15 * ranked[0] and ranked[0] > 0)


def test_two_firms_of_twelve_months_are_not_twenty_four_contributors() -> None:
    one = tc.risk.dominance(months(1), Scenario(keys=["region"]), "turnover")
    assert one.unsafe == 0
    assert tc.risk.dominance(months(1), Scenario(keys=["region"], person="firm"), "turnover").unsafe == 1


def test_cells_of_few_units_are_unsafe() -> None:
    frame = pl.DataFrame({"a": [1, 1, 1, 2, 2], "b": [1, 2, 3, 1, 1], "pid": [1, 1, 1, 2, 3]})
    found = tc.risk.unsafe_combinations(frame, Scenario(keys=["a", "b"], person="pid"), threshold=1, largest=1)
    # a = 1 has three records of one person; b = 1 has three persons, b = 2 and 3 one each.
    assert found.unsafe == (1, 2)
    assert found.per_record().tolist() == [1, 2, 2, 0, 0]


@pytest.mark.parametrize("name", ["suda", "superpopulation", "loglinear_risk"])
def test_measures_that_count_records_have_no_verdict_on_units(name: str) -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2, 3, 3] * 2, "s": ["x", "y", "z"] * 4, "pid": [1, 1, 2, 3, 4, 5] * 2})
    policy = tc.Policy(k=None, risk=None, rate=None, limits={name: 100})
    scenario = Scenario(keys=["a"], sensitive=["s"], person="pid", sampling_fraction=0.5)
    found = tc.assess(frame, scenario, policy)
    assert [verdict.holds for verdict in found.verdicts()] == [None]
    assert found.not_assessed[0].startswith("units have several records here, and this measure counts records")
    assert not found.safe


sensitive_records = st.tuples(value, value, st.sampled_from([1, 2, 3, 4, None]), st.sampled_from("xyz"))


@pytest.mark.parametrize("rule", ["one_way", "wildcard", "partial(0.25)", "own_category", "no_match"])
@given(rows=st.lists(sensitive_records, min_size=1, max_size=14))
def test_every_sensitive_value_of_a_unit_counts_once_in_a_group(rule: str, rows: list[Any]) -> None:
    """Shares of values among units, by the record that counts most; no verdict where a unit has several values."""
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64, "pid": pl.Int64, "s": pl.String}, orient="row")
    scenario = Scenario(keys=["a", "b"], sensitive=["s"], person="pid", missing=rule)
    parsed = MissingRule.parse(rule)
    factor = slow.rule_factor([row[:2] for row in rows], parsed.name, parsed.factor, None)
    unit = [("alone", at) if row[2] is None else ("unit", row[2]) for at, row in enumerate(rows)]
    repeated = len(set(unit)) < len(unit)
    whole = Counter(s for _, s in {(each, row[3]) for each, row in zip(unit, rows, strict=True)})
    found = tc.risk.l_diversity(frame, scenario)
    near, like = tc.risk.t_closeness(frame, scenario), tc.risk.likeness(frame, scenario)
    several = False
    for i in range(len(rows)):
        most: dict[Any, float] = {}
        for h, row in enumerate(rows):
            if factor(i, h) > 0:
                most[unit[h], row[3]] = max(most.get((unit[h], row[3]), 0.0), float(factor(i, h)))
        several |= len({each for each, _ in most}) < len(most)
        share = {s: sum(x for (_, v), x in most.items() if v == s) / sum(most.values()) for s in whole}
        row = found.table.row[i]
        assert found.distinct["s"][row] == sum(p > 0 for p in share.values())
        expected = math.exp(-sum(p * math.log(p) for p in share.values() if p > 0))
        assert found.entropy["s"][row] == pytest.approx(expected)
        gaps = [abs(share[s] - whole[s] / whole.total()) for s in whole]
        assert near.distance["s"][row] == pytest.approx(sum(gaps) / 2, abs=1e-12)
        assert like.alpha["s"][row] == pytest.approx(max(share.values()))
    for measured in (found, near, like):
        assert ("different sensitive values in one group" in measured.not_valid) == (several and repeated)


def test_a_unit_with_one_value_counts_once_and_has_a_verdict() -> None:
    """Region 1: firm 1 with three records of x, firm 2 with one of y: as many of each. By records x would be 3/4."""
    frame = pl.DataFrame({"a": [1] * 4, "s": ["x", "x", "x", "y"], "pid": [1, 1, 1, 2]})
    scenario = Scenario(keys=["a"], sensitive=["s"], person="pid")
    policy = tc.Policy(k=2, risk=None, rate=None, limits={"l_diversity": {"limit": 2, "kind": "entropy"}})
    assert tc.risk.likeness(frame, scenario).greatest("alpha") == {"s": 0.5}
    found = tc.assess(frame, scenario, policy)
    assert found.safe
    assert not tc.assess(frame, replace(scenario, person=None), policy).safe
    # A firm with both values in the group would hide behind itself.
    again = pl.concat([frame, pl.DataFrame({"a": [1], "s": ["y"], "pid": [1]})])
    assert [verdict.holds for verdict in tc.assess(again, scenario, policy).verdicts()] == [True, None]


def linked(rows: list[Any], person: list[int | None], masked: list[float]) -> tuple[Data, Data, Scenario]:
    original = Data.of(pl.DataFrame({"x": rows, "pid": person}, schema={"x": pl.Float64, "pid": pl.Int64}))
    return original, Data.of(pl.DataFrame({"x": masked})), Scenario(numeric_keys=["x"], person="pid")


numbers = st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([1, 2, 3, None]))


@given(st.lists(numbers, min_size=1, max_size=12))
def test_a_link_to_any_record_of_the_right_unit_is_right(rows: list[Any]) -> None:
    x, y, pids = ([row[at] for row in rows] for at in range(3))
    original, released, scenario = linked([float(each) for each in x], pids, [float(each) for each in y])
    found = tc.risk.distance_linkage(original, released, scenario, standardise=False)
    unit = [("alone", at) if pid is None else pid for at, pid in enumerate(pids)]
    for i in range(len(rows)):
        away = [abs(y[i] - each) for each in x]
        nearest = [h for h, each in enumerate(away) if each == min(away)]
        assert found.correct is not None
        assert found.correct[i] == pytest.approx(sum(unit[h] == unit[i] for h in nearest) / len(nearest))
    same = sum(unit[i] == unit[h] for i in range(len(rows)) for h in range(len(rows)))
    assert found.guessed == pytest.approx(same / len(rows))


def test_other_linkages_count_units_too() -> None:
    """The records of each firm are exchanged among each other: wrong records, right firms."""
    original, released, scenario = linked([1.0, 2.0, 7.0, 9.0], [1, 1, 2, 2], [2.0, 1.0, 9.0, 7.0])
    by_record = replace(scenario, person=None)
    assert tc.risk.one_to_one_linkage(original, released, by_record).expected_correct == 0
    assert tc.risk.one_to_one_linkage(original, released, scenario).expected_correct == 4
    frame = pl.DataFrame({"a": [1, 2, 3, 4] * 5, "b": [1, 2, 3, 4, 5] * 4, "pid": [1, 1, 2, 2] * 5})
    mixed = frame.with_columns(a=pl.Series([2, 1, 4, 3] * 5))
    keys = Scenario(keys=["a"], person="pid")
    right, wrong = (
        tc.risk.probabilistic_linkage(frame, mixed, each, block=["b"]) for each in (keys, replace(keys, person=None))
    )
    assert wrong.expected_correct == 0
    assert right.expected_correct == len(frame)


def test_suppression_counts_units() -> None:
    """Each region has one firm of its own: three records of one unit are safe by records, not by units."""
    frame = pl.DataFrame({"region": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4], "firm": [1, 1, 1, 2, 2, 2, 3, 3, 3, None]})
    scenario = Scenario(keys=["region"], person="firm")
    release = tc.Plan([tc.Suppress()]).apply(frame, scenario, K)
    assert release.changes[0].suppressed == {"region": 10}
    assert release.changes[0].remarks[0] == "10 unsafe records, cells suppressed in all of them"
    # That the released firm tells the suppressed regions of its other records is another matter.
    assert tc.assess(release, release.scenario, replace(K, given_back=None)).safe
    by_record = tc.Plan([tc.Suppress()]).apply(frame, replace(scenario, person=None), K)
    assert by_record.changes[0].suppressed == {"region": 1}


@dataclass(frozen=True)
class Anew(Step):
    """A step of somebody else, which makes the file anew and adds a record."""

    def apply(self, data: Data, context: Context) -> Applied:
        rows = pl.concat([data.table.drop("firm"), data.table.drop("firm").head(1)])
        return Applied(Data(rows, numbers_of_records=np.append(data.record, data.record.max() + 1)))


@pytest.mark.parametrize("step", [tc.Remove(["firm"]), tc.NewIdentifiers(), tc.RandomOrder(), Anew()])
def test_a_release_without_the_identifier_still_counts_units(step: Step) -> None:
    scenario = Scenario(keys=["region"], person="firm")
    release = tc.Plan([step, tc.Recode("region", mapping={"north": "N"})]).apply(months(), scenario, K, seed=5)
    added = isinstance(step, Anew)
    # The data alone: a record without an original cannot be held against it.
    found = tc.assess(release.data, release.scenario, K)
    assert found.records["f"].unique().to_list() == [3.0 if added else 2.0]
    assert found.safe == added
    assert any("24 records are of 2 units" in text for text in found.cautions) or added
