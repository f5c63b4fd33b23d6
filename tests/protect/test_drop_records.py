"""Dropping records: who goes, for which reason, and what that does to the risk of the others."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.growth import growth_by_dropping
from tacita.protect.drop_records import dropped

LOOSE = tc.Policy(k=2, risk=None, rate=None)
PEOPLE = pl.DataFrame(
    {
        "hid": [1, 1, 1, 2, 2, 3, None, None],
        "sex": ["f", "m", "f", "f", "m", "m", "f", "m"],
        "age": [40, 41, 9, 70, None, 88, 23, 24],
        "old": [False, False, False, True, None, True, False, False],
    }
)
WHO = tc.Scenario(keys=["sex"], household="hid")


def slow_dropped(chosen: list[bool], household: list[int] | None, larger: int | None, whole: bool) -> list[str]:
    """By record the reason, one at a time."""
    found = []
    for row, own in enumerate(chosen):
        home = [row] if household is None else [at for at, each in enumerate(household) if each == household[row]]
        if own:
            found.append("condition")
        elif household is not None and larger is not None and len(home) > larger:
            found.append("household_size")
        elif whole and any(chosen[at] for at in home):
            found.append("household_members")
        else:
            found.append("")
    return found


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=12),
    st.booleans(),
    st.none() | st.integers(1, 4),
    st.booleans(),
)
def test_who_goes_equals_looking_at_one_after_the_other(
    rows: list[tuple[bool, int]], homes: bool, larger: int | None, whole: bool
) -> None:
    chosen, household = [each[0] for each in rows], [each[1] for each in rows] if homes else None
    places = None if household is None else np.array(household, dtype=np.int64)
    found = dropped(np.array(chosen, dtype=np.bool_), places, larger, whole)
    reason = ["".join(name for name, on in found._asdict().items() if on[row]) for row in range(len(rows))]
    assert reason == slow_dropped(chosen, household, larger, whole)
    assert found.any.tolist() == [bool(each) for each in reason]


@pytest.mark.parametrize(
    ("step", "left", "said"),
    [
        (
            tc.DropRecords("age > 65"),
            [1, 2, 3, 5, 7, 8],
            "drop_records: 2 records removed; 2 by the condition; 1 record stays because missing values leave the "
            "condition open; 1 household lost some of their members and not all, which a household size in the file "
            "tells",
        ),
        (
            tc.DropRecords("age > 65", whole_households=True),
            [1, 2, 3, 7, 8],
            "drop_records: 3 records removed; 2 by the condition, 1 who live with them; 1 record stays because missing "
            "values leave the condition open",
        ),
        (
            tc.DropRecords(larger_than=2),
            [4, 5, 6, 7, 8],
            "drop_records: 3 records removed; 3 in households of more than 2",
        ),
        (
            tc.DropRecords("old", larger_than=1),
            [7, 8],
            "drop_records: 6 records removed; 2 by the condition, 4 in households of more than 1; 1 record stays "
            "because missing values leave the condition open",
        ),
        (
            tc.DropRecords([6, 99]),
            [1, 2, 3, 4, 5, 7, 8],
            "drop_records: 1 record removed; 1 by the condition; 1 record number of `where` not in the file",
        ),
        (tc.DropRecords("age > 99 and sex = 'f'"), [1, 2, 3, 4, 5, 6, 7, 8], "drop_records: nothing changed"),
        (tc.DropRecords({"unsafe": "k_anonymity"}), [1, 2, 3, 4, 5, 6, 7, 8], "drop_records: nothing changed"),
    ],
    ids=str,
)
def test_by_hand(step: tc.DropRecords, left: list[int], said: str) -> None:
    release = tc.Plan([step]).apply(PEOPLE, WHO, LOOSE)
    assert release.data.record.tolist() == left
    assert str(release.changes[0]) == said
    assert not step.draws
    assert not step.keeps_records


def test_unsafe_records_can_be_dropped() -> None:
    who = tc.Scenario(keys=["sex", "age"])
    release = tc.Plan([tc.DropRecords({"unsafe": "k_anonymity"})]).apply(
        pl.DataFrame({"sex": ["f", "f", "m"], "age": [3, 3, 3]}), who, LOOSE
    )
    assert release.data.record.tolist() == [1, 2]
    assert release.safe


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda: tc.DropRecords(), "drop_records needs where (a condition) or larger_than (members of a household)."),
        (
            lambda: tc.DropRecords(larger_than=3, whole_households=True),
            "whole_households is for those who meet a condition; give where, or leave it out.",
        ),
        (
            lambda: tc.DropRecords(" "),
            "where must be a condition, as 'income > 1000'; got an empty text, leave it out.",
        ),
        (
            lambda: tc.DropRecords({"k": 3}),
            "where must name one measure, as {'unsafe': 'k_anonymity'}; got a table of 'k'.",
        ),
        (lambda: tc.DropRecords("agee"), "where not in the data: 'agee'. Did you mean 'age'?"),
        (
            lambda: tc.DropRecords("sex = 'f' or sex = 'm'"),
            "drop_records would leave no record; narrow the condition or raise larger_than.",
        ),
    ],
)
def test_mistakes_are_one_sentence(step: object, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Plan([step()]).apply(PEOPLE, WHO)  # type: ignore[operator]
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("given", "name"),
    [({"larger_than": 2}, "larger_than"), ({"where": "age > 1", "whole_households": True}, "whole_households")],
)
def test_households_must_be_known(given: dict[str, object], name: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Plan([tc.DropRecords(**given)]).apply(PEOPLE, tc.Scenario(keys=["sex"]))
    assert str(error.value) == f"{name} needs the household identifier; pass household=... in the scenario."


def test_neither_record_numbers_nor_the_condition_are_told_to_the_public() -> None:
    for where in ([4, 6], "age > 65"):
        (change,) = tc.Plan([tc.DropRecords(where)]).apply(PEOPLE, WHO).changes
        assert change.public[0]["parameters"] == {"records": "some records", "larger_than": None}
    (change,) = tc.Plan([tc.DropRecords([4, 6])]).apply(PEOPLE, WHO).changes
    assert change.step == "drop_records(where = '2 records')"
    assert change.mechanisms[0]["parameters"]["where"] == "2 records"


def slow_growth(cell: list[int], weight: list[float], kept: list[bool]) -> list[float]:
    """The factor of every record, by going through its cell."""
    found = []
    for own in cell:
        before = sum(each for each, at in zip(weight, cell, strict=True) if at == own)
        after = sum(each for each, at, here in zip(weight, cell, kept, strict=True) if at == own and here)
        found.append(before / after if after else 1.0)
    return found


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([1.0, 1.5, 4.0]), st.booleans()),
        min_size=1,
        max_size=14,
    )
)
def test_what_the_kept_stand_for_equals_a_slow_count(rows: list[tuple[int, float, bool]]) -> None:
    cell, weight, kept = [each[0] for each in rows], [each[1] for each in rows], [each[2] for each in rows]
    found = growth_by_dropping(np.array(cell), np.array(weight), np.array(kept))
    assert found.tolist() == pytest.approx(slow_growth(cell, weight, kept))


def file(size: int = 240) -> Data:
    random = np.random.default_rng(4)
    firm = random.integers(0, size // 2, size)
    return Data.of(
        pl.DataFrame(
            {
                "region": random.choice(["a", "b", "c"], size).tolist(),
                "age": random.choice([1, 2, 3, None], size).tolist(),
                "firm": firm,
                "w": 1.5 + firm % 7,
                "x": random.uniform(0, 1, size),
            },
            schema_overrides={"age": pl.Int64},
        )
    )


SCENARIOS: dict[str, tc.Scenario] = {
    "weight": tc.Scenario(keys=["region", "age"], weight="w", missing="own_category"),
    "none": tc.Scenario(keys=["region", "age"], missing="own_category"),
    "population": tc.Scenario(keys=["region", "age"], population_size=5000, missing="own_category"),
    "fraction": tc.Scenario(keys=["region", "age"], sampling_fraction=0.1, missing="own_category"),
    "units": tc.Scenario(keys=["region", "age"], weight="w", person="firm", missing="own_category"),
}


@pytest.mark.parametrize("name", ["weight", "none", "population", "fraction"])
@pytest.mark.parametrize(
    "steps",
    [
        [tc.DropRecords("x > 0.5")],
        [tc.DropRecords("x > 0.7"), tc.RandomOrder(), tc.DropRecords("x > 0.4")],
        [tc.DropRecords("x > 0.5"), tc.Round("x", base=0.1)],
    ],
    ids=len,
)
def test_f_falls_and_F_stays(name: str, steps: list[tc.Step]) -> None:
    """The population does not shrink because records are not released."""
    who, data = SCENARIOS[name], file()
    before = dict(zip(data.record.tolist(), tc.assess(data, who).records["F"].to_list(), strict=True))
    release = tc.Plan(steps).apply(data, who, LOOSE, seed=1)
    found = release.assess().records
    assert found["F"].to_list() == pytest.approx([before[number] for number in release.data.record.tolist()])
    was = dict(zip(data.record.tolist(), tc.assess(data, who).records["f"].to_list(), strict=True))
    assert sum(found["f"].to_list()) < sum(was[number] for number in release.data.record.tolist())


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("rule", ["one_way", "wildcard", "own_category", "partial(0.5)"])
def test_dropping_makes_nobody_who_stays_safer(name: str, rule: str) -> None:
    """Fewer look alike, and no more stand behind them than before, whatever the rule and the recoding after."""
    who, data = replace(SCENARIOS[name], missing=rule), file()
    recode = tc.Recode("region", mapping={"a": "b"})
    for more in ([], [recode]):
        reference = tc.Plan(more).apply(data, who, LOOSE, seed=1).assess().records
        release = tc.Plan([tc.DropRecords("x > 0.6"), *more]).apply(data, who, LOOSE, seed=1)
        before, after = (
            dict(zip(each["record"].to_list(), each.select("F", "risk").rows(), strict=True))
            for each in (reference, release.assess().records)
        )
        for number, (stands_for, risk) in after.items():
            assert stands_for <= before[number][0] * (1 + 1e-9)
            assert risk >= before[number][1] * (1 - 1e-9)


def test_other_keys_are_not_hidden_by_those_who_were_dropped() -> None:
    """Growth holds for the keys at that time: on others the records stand for themselves."""
    data = file().with_columns({"job": np.arange(240) % 40})
    release = tc.Plan([tc.DropRecords("x > 0.5")]).apply(data, SCENARIOS["none"], LOOSE)
    other = tc.Scenario(keys=["job"])
    table = tc.key_table(release, other)
    assert table.source == "census"
    assert table.population_count.tolist() == table.sample_count.tolist()
    assert tc.key_table(release, SCENARIOS["none"]).source == "original_file"
    assert tc.key_table(release, tc.Scenario(keys=["region"])).source == "original_file"
    assert "F counted before records were dropped" in str(release.assess()).replace("\n    ", " ")


def test_a_second_plan_knows_who_was_dropped_by_the_first() -> None:
    who, data = SCENARIOS["weight"], file()
    first = tc.Plan([tc.DropRecords("x > 0.6")]).apply(data, who, LOOSE, seed=1)
    second = tc.Plan([tc.RoundWeights(base=5)]).apply(first, first.scenario, LOOSE, seed=1)
    assert second.assess().records["F"].to_list() == pytest.approx(first.assess().records["F"].to_list())
