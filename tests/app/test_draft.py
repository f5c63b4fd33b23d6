"""What is decided in the app: drafts, undo, the script and the project file that do the same. No browser."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tacita as tc
from tacita.app.draft import Draft
from tacita.app.history import History
from tacita.app.project_file import project_text, restored
from tacita.app.script import script
from tacita.check import TacitaError


def draft(path: Path) -> Draft:
    """A small file with missing values, on disk, with roles and three steps of which one is off."""
    survey = tc.household_survey(150, population=9000, seed=2)
    tc.write(survey.data, path / "survey.csv")
    opened = Draft(name="survey.csv", path=str(path / "survey.csv"), opened=tc.read(path / "survey.csv"), seed=1 << 70)
    for name in ("region", "sex", "age"):
        opened = opened.with_role(name, "keys")
    opened = opened.with_role("weight", "weight").with_role("income", "sensitive")
    opened = opened.with_step(tc.Recode("age", width=20)).with_step(tc.Round("income", base=10))
    return opened.with_step(tc.Noise("income", 0.2)).switched(1)


def applied(given: Draft) -> pl.DataFrame:
    assert given.scenario is not None
    return given.plan.apply(given.data, given.scenario, given.policy, seed=given.seed).data.table


def test_a_variable_has_one_of_the_roles_that_exclude_each_other(tmp_path: Path) -> None:
    given = draft(tmp_path)
    assert given.roles["keys"] == ("region", "sex", "age")
    numeric = given.with_role("age", "numeric_keys")
    assert (numeric.roles["keys"], numeric.roles["numeric_keys"]) == (("region", "sex"), ("age",))
    # Once more takes it away; a stratum it may be besides.
    assert "numeric_keys" not in numeric.with_role("age", "numeric_keys").roles
    assert given.with_role("region", "strata").roles["keys"] == ("region", "sex", "age")
    assert given.with_role("size", "weight").roles["weight"] == "size"
    assert given.with_role("weight", "weight").roles.get("weight") is None
    assert Draft(opened=given.opened).scenario is None


def test_steps_move_and_are_switched_and_equal_ones_get_labels_of_their_own(tmp_path: Path) -> None:
    given = draft(tmp_path)
    assert [each.on for each in given.entries] == [True, False, True]
    assert [step.label for step in given.steps] == ["recode age", "noise income"]
    again = given.with_step(tc.Round("income", base=50))
    assert again.entries[3].step.label == "round income 2"
    assert [each.step.label for each in given.moved(2, -1).entries] == ["recode age", "noise income", "round income"]
    assert given.moved(0, -1) is given
    changed = given.with_step(tc.Recode("age", width=5), 0)
    assert str(changed.entries[0].step) == str(tc.Recode("age", width=5)) and len(changed.entries) == 3
    assert [each.step.label for each in given.without_step(0).entries] == ["round income", "noise income"]


def test_keys_differ_exactly_where_results_may(tmp_path: Path) -> None:
    given = draft(tmp_path)
    key = given.key(given.steps)
    assert key == given.switched(0).switched(0).key(given.steps)
    others = [
        given.switched(1),
        given.with_step(tc.Recode("age", width=5), 0),
        replace(given, policy=tc.Policy(k=5)),
        replace(given, seed=3),
        given.with_role("income", "sensitive"),
        given.with_variable("income", tc.Variable(missing=(0,))),
        replace(given, rules=("age >= 0",)),
    ]
    keys = {other.key(other.steps) for other in others}
    assert len(keys) == len(others) and key not in keys


def test_undo_goes_back_to_the_beginning_and_forward_again(tmp_path: Path) -> None:
    given = draft(tmp_path)
    history = History()
    drafts = [given, given.switched(0), given.switched(1), given.without_step(0)]
    for at, each in enumerate(drafts):
        history = history.do(each, f"change {at}")
    for each in reversed(drafts[:-1]):
        history = history.undo()
        assert history.draft is each
    assert history.undo().undo().undo().draft.opened is None
    assert history.redo().redo().draft is drafts[2]
    # What was undone is gone once something else is done.
    assert history.do(drafts[3], "another").redo().draft is drafts[3]


def test_the_script_writes_the_same_bytes(tmp_path: Path) -> None:
    given = draft(tmp_path).with_variable("income", tc.Variable(label="Income", missing=(0,)))
    given = replace(given, policy=tc.Policy(k=2, exceptions={"k": "a test\nof two lines"}), rules=("age >= 0",))
    (tmp_path / "same.py").write_text(script(given, str(tmp_path / "released.csv")), encoding="utf-8")
    subprocess.run([sys.executable, tmp_path / "same.py"], check=True, capture_output=True)
    assert given.scenario is not None
    release = given.plan.apply(given.data, given.scenario, given.policy, seed=given.seed)
    release.save(tmp_path / "saved", formats=["csv"], accept_unsafe="a test", report=False)
    written = tmp_path / "saved" / "not_for_publication" / "data.csv"
    assert (tmp_path / "released.csv").read_bytes() == written.read_bytes()
    assert "# off: tc.Round" in script(given)


def test_the_project_file_restores_everything(tmp_path: Path) -> None:
    given = draft(tmp_path).set_aside("first").with_variable("income", tc.Variable(missing=(0,), label="Income"))
    given = replace(given, policy=tc.Policy(k=4, exceptions={"k": "a test"}), preset="public use", rules=("age >= 0",))
    path = tmp_path / "work.toml"
    path.write_text(project_text(given), encoding="utf-8")
    back = restored(path)
    for name in ("name", "path", "variables", "policy", "preset", "rules", "entries", "saved", "seed"):
        assert getattr(back, name) == getattr(given, name), name
    assert back.scenario == given.scenario
    assert applied(replace(back, opened=given.opened)).equals(applied(given))
    # The command line takes the same file.
    assert tc.Project.load(path).plan == given.plan


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    given = draft(tmp_path)
    with pytest.raises(TacitaError, match=r"^a plan that is set aside must have a name; write one\.$"):
        given.set_aside(" ")
    with pytest.raises(TacitaError, match=r"^no file is open; open one on the page Data\.$"):
        _: Any = Draft().data
    with pytest.raises(TacitaError, match="needs at least one key"):
        project_text(Draft())
