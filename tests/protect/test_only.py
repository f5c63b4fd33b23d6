"""Steps on some of the records, or on each stratum apart: nothing is lost, nobody else is touched."""

from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect import steps
from tacita.protect.put_together import put_together
from tacita.release.advance import advance, start

PEOPLE = Data.of(
    pl.DataFrame(
        {
            "sex": ["f", "f", "f", "m", "m", None],
            "age": [31, 34, 80, 41, 99, None],
            "income": [900.0, 1510.0, 2490.0, 5000.0, None, 40.0],
            "w": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
        }
    ),
    {"age": Variable(label="Age", missing=(99,), value_labels={99: "unknown"})},
)
WHO = tc.Scenario(keys=["sex", "age"], weight="w")


def made(step: tc.Step, data: Data = PEOPLE, **options: Any) -> tc.Release:
    return tc.Plan([step]).apply(data, WHO, seed=1, **options)


@pytest.mark.parametrize(
    "only", ["income > 1000", [2, 3, 4], np.array([2, 3, 4]), "sex is not missing and income >= 1510"]
)
def test_only_those_chosen_are_changed(only: Any) -> None:
    release = made(tc.Round("income", base=1000, only=only))
    assert release.data.table["income"].to_list() == [900.0, 2000.0, 2000.0, 5000.0, None, 40.0]
    assert "for 3 of 6 records" in str(release)
    assert tc.Plan.from_toml(release.plan.to_toml()) == release.plan


def test_record_numbers_are_counted_not_shown() -> None:
    release = made(tc.Round("income", base=1000, only=[2, 3, 104729]))
    assert "only = '3 records'" in release.changes[0].step
    assert "104729" not in str(release) + str(release.to_dict())
    assert "1 record number of `only` not in the file" in str(release)


def test_unsafe_records_are_found_when_the_step_runs() -> None:
    release = made(tc.Round("age", base=10, only={"unsafe": "k_anonymity"}), policy=tc.Policy(k=2))
    assert release.data.table["age"].to_list()[:4] == [30, 30, 80, 40]
    nobody = made(tc.Round("age", base=10, only={"unsafe": "individual_risk"}), policy=tc.Policy(risk=1.0))
    assert nobody.data.table.equals(PEOPLE.table)
    with pytest.raises(
        TacitaError, match=r"^the policy has no k, so no record is unsafe by k_anonymity; give it one\.$"
    ):
        made(tc.Round("age", base=10, only={"unsafe": "k_anonymity"}), policy=tc.Policy(k=None))


def test_what_becomes_text_keeps_labels_and_missing_values() -> None:
    release = made(tc.Recode("age", width=10, only="sex = 'f'"))
    assert release.data.table["age"].to_list() == ["30-39", "30-39", "80-89", "41", "99", None]
    known = release.data.variable("age")
    assert (known.label, known.missing, dict(known.value_labels)) == ("Age", ("99",), {"99": "unknown"})
    assert release.data.missing("age").tolist() == [False, False, False, False, True, True]


def test_strata_are_treated_apart() -> None:
    release = made(tc.TopCode("income", share=0.5, strata="sex"))
    assert release.data.table["income"].to_list() == [900.0, 1510.0, 1510.0, 5000.0, None, 40.0]
    assert release.changes[0].figures["strata"] == 3
    with pytest.raises(TacitaError, match=r"^in one of the strata of 'sex': column 'age' holds numbers"):
        made(tc.GroupRare("age", strata="sex"), Data.of(PEOPLE.table, {"age": Variable(scale="numeric")}))
    with pytest.raises(TacitaError, match=r"not in the data: 'sx'\. Did you mean 'sex'\?$"):
        made(tc.Round("income", base=10, strata="sx"))


def test_a_code_with_two_meanings_is_refused() -> None:
    table = pl.DataFrame({"region": [1, 2, 3, 1], "sex": ["f", "f", "f", "m"]})
    data = Data.of(table, {"region": Variable(value_labels={1: "north", 2: "east", 3: "south"})})
    step = tc.Recode("region", mapping={1: 1, 2: 1}, labels={1: "north or east"}, only="sex = 'f'")
    with pytest.raises(TacitaError, match=r"^1 code of 'region' would mean one thing in the records"):
        tc.Plan([step]).apply(data, tc.Scenario(keys=["region"]))


def test_putting_together_gives_what_was_taken_apart() -> None:
    order = np.array([4, 0, 5, 2, 3, 1])
    back = put_together(PEOPLE, [PEOPLE.take(order[:2]), PEOPLE.take(order[2:])])
    assert back.table.equals(PEOPLE.table)
    assert back.record.tolist() == PEOPLE.record.tolist()
    assert dict(back.variables) == dict(PEOPLE.variables)
    assert len(put_together(PEOPLE, [PEOPLE.take(order[:2])])) == 2
    with pytest.raises(TacitaError, match=r"^a step that adds records cannot be limited"):
        put_together(PEOPLE, [PEOPLE, PEOPLE.take(order[:1])])


def test_steps_that_need_all_records_say_so() -> None:
    with pytest.raises(TacitaError, match=r"^generalise is for all records"):
        tc.Generalise({"age": tc.Hierarchy.redaction()}, only=[1])
    with pytest.raises(TacitaError, match=r"^recalibrate meets totals of the whole file"):
        tc.Recalibrate("sex", strata="age")
    step = tc.Recalibrate(totals={"sex": {"f": 100, "m": 90}}, only="income < 2000 or sex = 'm'")
    weights = made(step, PEOPLE.take(np.arange(5))).data.numbers("w")
    assert weights[2] == 30.0
    assert weights[:3].sum() == pytest.approx(100)


@pytest.mark.parametrize(
    ("only", "message"),
    [
        ({"safe": "k"}, "only must name one measure, as {'unsafe': 'k_anonymity'}; got a table of 'safe'."),
        (" ", "only must be a condition, as 'income > 1000'; got an empty text, leave it out for all."),
        (3, "only must be a column, record numbers or a result with an unsafe zone; got int."),
        ([1.5], "a record number of only must be a whole number of at least 0; got 1.5."),
    ],
)
def test_mistakes(only: Any, message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        tc.Round("income", base=10, only=only)
    assert str(refused.value) == message


def test_states_can_be_kept_and_gone_on_from() -> None:
    plan = tc.Plan([tc.Round("income", base=1000), tc.WeightNoise(0.2)])
    first, second, third = plan.states(PEOPLE, WHO, seed=3)
    assert third.data.table.equals(plan.apply(PEOPLE, WHO, seed=3).data.table)
    assert advance(second, tc.WeightNoise(0.2)).data.table.equals(third.data.table)
    assert advance(start(PEOPLE, WHO, seed=3), plan.steps[0]).data.table.equals(second.data.table)
    assert first.data.table.equals(PEOPLE.table)
    assert third.data.perturbed == {"w"}
    assert third.changes[1].version == 1
    assert third.changes[1].mechanisms[0]["kind"] == "noise"


def test_steps_of_installed_packages_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    good = EntryPoint("remove_all", "tacita.protect.remove:Remove", steps.GROUP)
    broken = EntryPoint("my_noise", "no_such_package:MyNoise", steps.GROUP)
    monkeypatch.setattr(steps, "entry_points", lambda group: [good, broken])
    with pytest.raises(TacitaError, match=r"^the entry point 'remove_all' of tacita\.steps is no step of that kind"):
        steps.step_of({"step": "remove_all"})
    with pytest.raises(TacitaError, match=r"^the step 'my_noise' of an installed package cannot be loaded"):
        steps.step_of({"step": "my_noise"})
    monkeypatch.delitem(steps.OWN, "remove")
    monkeypatch.setattr(steps, "entry_points", lambda group: [EntryPoint("remove", good.value, steps.GROUP)])
    assert tc.Plan.from_dict({"steps": [{"step": "remove", "variables": ["x"]}]}) == tc.Plan([tc.Remove("x")])
