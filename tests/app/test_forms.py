"""Forms: every parameter of every registered step and measure has its field, and what is filled in comes back."""

from typing import Any

import polars as pl
import pytest

import tacita as tc
from tacita.app import forms, suggest
from tacita.app.desk import Desk
from tacita.app.draft import Draft
from tacita.app.pages import protect, risk
from tacita.data import Data
from tacita.measures import find, measure_names
from tacita.parameters import REQUIRED
from tacita.protect.steps import find_step, own_steps, step_names, step_of

COLUMNS = ("sex", "age", "income")


@pytest.fixture(scope="module")
def desk() -> Desk:
    made = Desk()
    people = Data.of(
        pl.DataFrame({"sex": ["f", "m"] * 5, "age": list(range(10)), "income": [1.5 * at for at in range(10)]})
    )
    made.do(Draft(name="people", opened=people).with_role("sex", "keys"), "open")
    return made


def test_every_registered_step_is_in_the_app_with_all_its_parameters(desk: Desk) -> None:
    for name in step_names():
        kind = find_step(name)
        for way in kind.ways or (None,):
            desk.view |= {"kind": name, "way": way}
            text = str(protect.fragments(desk)["second"])
            assert f'<option value="{name}" selected="">' in text, name
            for parameter in forms.step_parameters(kind, way):
                assert f'name="{parameter.name}"' in text, (name, parameter.name)


def test_every_registered_measure_is_in_the_app_with_all_its_options(desk: Desk) -> None:
    for name in measure_names():
        desk.view["measure"] = name
        text = str(risk.measures_card(desk))
        assert f'<option value="{name}" selected="">' in text, name
        for parameter in find(name).parameters:
            assert f'name="{parameter.name}"' in text, (name, parameter.name)


def filled(values: dict[str, Any]) -> dict[str, Any]:
    """What the browser sends of values that were written into their fields; names as the tuple that Shiny makes."""
    return {
        name: tuple(value) if isinstance(value, list) and all(isinstance(each, str) for each in value)
        else str(value).lower() if isinstance(value, bool) else forms.written(value)
        for name, value in values.items()
    }  # fmt: skip


STEPS = [
    tc.Recode("age", breaks=[3, 6]),
    tc.Recode("sex", mapping={"f": "x", "m": "y"}),
    tc.Suppress(k=4, importance={"sex": 1}, combs={2: 3}),
    tc.Noise("income", 0.25, method="correlated", keep_zeros=False, only="income > 3", strata=["sex"]),
    tc.Microaggregate("income", k=3, only=(1, 2, 5)),
    tc.TopCode("income", at=9.5, value="mean"),
    tc.DropRecords({"unsafe": "k_anonymity"}),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.kind())
def test_what_was_filled_in_is_the_step(step: Any) -> None:
    given = step.to_dict()
    way = next((name for name in type(step).ways if name in given), None)
    read = forms.read(forms.step_parameters(type(step), way), filled(given))
    assert step_of({"step": step.kind(), **read}) == step


def test_an_empty_form_is_as_usual() -> None:
    for kind in own_steps():
        for way in kind.ways or (None,):
            parameters = forms.step_parameters(kind, way)
            assert forms.read(parameters, {each.name: "" for each in parameters}) == {}
    assert any(each.default is REQUIRED for each in forms.step_parameters(tc.Round, None))


def test_roles_are_suggested_from_names_and_values() -> None:
    survey = tc.household_survey(100, population=5000)
    found = {each.variable: each.role for each in suggest.suggestions(survey.data)}
    assert {name: found.get(name) for name in ("household", "person", "weight", "sex", "income")} == {
        "household": "household", "person": "person", "weight": "weight", "sex": "keys", "income": "sensitive"
    }  # fmt: skip
    assert {"region", "size"} <= set(suggest.household_variables(survey.data, "household"))
    firms = tc.business_survey(80)
    told = {each.variable: each.role for each in suggest.suggestions(firms.data)}
    assert {told[name] for name in ("turnover", "employees", "exports")} == {"numeric_keys"}
    assert (told["enterprise"], told["industry"]) == ("identifiers", "keys")


def test_what_one_variable_says_of_another_is_found() -> None:
    area = [1, 1, 2, 2, 3, 3, None, None] * 4
    region = ["a", "a", "a", "a", "b", "b", None, None] * 4
    data = Data.of(pl.DataFrame({"area": area, "region": region, "sex": ["f", "m"] * 16}))
    assert suggest.derived(data, data.columns) == (("area", "region"),)
