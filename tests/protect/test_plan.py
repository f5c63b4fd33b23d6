"""Plans: data that go to files and back, whose steps draw independently, and that leave nothing behind."""

import json
import tomllib
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.step import Applied, Context, Step
from tacita.random import fit_for_release

PEOPLE = pl.DataFrame(
    {
        "name": ["Ann", "Bo", "Cy", "Di"],
        "sex": ["f", "m", "m", "f"],
        "income": [1010.0, 2490.0, None, 505.0],
        "w": [10.0, 20.0, 30.0, 40.0],
    }
)
WHO = tc.Scenario(keys=["sex"], weight="w", identifiers=["name"])


@dataclass(frozen=True)
class Noise(Step):
    """A step that draws, for these tests."""

    variable: str

    def apply(self, data: Data, context: Context) -> Applied:
        noise = context.draws.normal(data.record)
        return Applied(
            data.with_columns({self.variable: data.numbers(self.variable) + noise}),
            remarks=("noise added",),
            figures={"sd": 1.0},
            perturbed=(self.variable,),
        )


@dataclass(frozen=True)
class Reverse(Step):
    """A step that reorders and drops records, for these tests."""

    drop: int = 0

    def apply(self, data: Data, context: Context) -> Applied:
        return Applied(data.take(np.arange(len(data))[::-1][self.drop :]))


def test_a_plan_is_applied_step_by_step_and_counted() -> None:
    release = tc.Plan([tc.Remove(), tc.Round("income", base=100)]).apply(PEOPLE, WHO)
    assert release.data.columns == ("sex", "income", "w")
    assert release.data.table["income"].to_list() == [1000.0, 2500.0, None, 500.0]
    removed, rounded = release.changes
    assert (removed.variables_removed, dict(removed.cells)) == (("name",), {})
    assert (dict(rounded.cells), rounded.records, dict(rounded.suppressed)) == ({"income": 3}, 3, {})
    assert str(release).splitlines() == [
        "4 records, 3 variables after 2 steps",
        "  1. remove: removed 'name'",
        "  2. round income: 3 cells of 3 records changed (income 3)",
    ]
    assert release.log().rows() == [("round income", "income", 3, 0)]
    assert release.scenario == tc.Scenario(keys=["sex"], weight="w")
    assert release.original_scenario == WHO


def test_the_data_given_are_not_changed() -> None:
    before = PEOPLE.clone()
    tc.Plan([tc.Remove(), tc.Round("income", base=100)]).apply(PEOPLE, WHO)
    assert PEOPLE.equals(before)


def test_an_empty_plan_changes_nothing() -> None:
    release = tc.Plan().apply(PEOPLE, WHO)
    assert release.data.table.equals(PEOPLE)
    assert release.changes == ()
    assert str(tc.Plan()) == "no steps"
    assert release.log().columns == ["step", "variable", "cells", "suppressed"]


def test_dropping_a_step_leaves_the_draws_of_the_others() -> None:
    plan = tc.Plan([Noise("w"), Noise("income")])
    both = plan.apply(PEOPLE, WHO, seed=5).data
    one = plan.without("noise w").apply(PEOPLE, WHO, seed=5).data
    assert both.table["income"].equals(one.table["income"])
    assert one.table["w"].equals(PEOPLE["w"])
    assert not both.table["w"].equals(PEOPLE["w"])
    twice = tc.Plan([Noise("w"), Noise("w")])
    assert twice.labels == ("noise w", "noise w 2")
    assert twice.without("noise w").labels == ("noise w 2",)
    second = twice.without("noise w").apply(PEOPLE, WHO, seed=5).data.numbers("w")
    first = twice.undo().apply(PEOPLE, WHO, seed=5).data.numbers("w")
    assert not np.array_equal(first, second)


def test_a_seed_repeats_a_release_and_none_draws_a_secret_one() -> None:
    plan = tc.Plan([Noise("w")])
    assert plan.apply(PEOPLE, WHO, seed=5).data.table.equals(plan.apply(PEOPLE, WHO, seed=5).data.table)
    one, other = plan.apply(PEOPLE, WHO), plan.apply(PEOPLE, WHO)
    assert one.seed != other.seed and fit_for_release(one.seed)
    assert not one.data.table.equals(other.data.table)
    assert plan.apply(PEOPLE, WHO, seed=one.seed).data.table.equals(one.data.table)
    assert any("seed" in text for text in plan.apply(PEOPLE, WHO, seed=5).cautions)
    assert not any("seed" in text for text in one.cautions)


def test_draws_belong_to_records_not_to_rows() -> None:
    plan = tc.Plan([Noise("w")])
    data = Data.of(PEOPLE)
    order = np.array([2, 0, 3, 1])
    straight = plan.apply(data, WHO, seed=5).data.numbers("w")
    assert plan.apply(data.take(order), WHO, seed=5).data.numbers("w").tolist() == straight[order].tolist()


def test_records_dropped_and_reordered_are_counted() -> None:
    release = tc.Plan([Reverse(drop=1)]).apply(PEOPLE, WHO)
    (change,) = release.changes
    assert (change.records_removed, change.reordered, dict(change.cells)) == (1, True, {})
    assert release.data.record.tolist() == [3, 2, 1]
    assert str(change) == "reverse: 1 record removed; records reordered"


def test_then_without_undo() -> None:
    plan = tc.Plan([tc.Remove()]).then(tc.Round("income", base=100))
    assert len(plan) == 2
    assert plan.undo() == tc.Plan([tc.Remove()])
    assert plan.without("remove").labels == ("round income",)
    with pytest.raises(TacitaError, match=r"^the plan has no step 'mask'; its steps are 'remove', 'round income'.$"):
        plan.without("mask")
    with pytest.raises(TacitaError, match=r"^the plan has no steps; there is nothing to undo.$"):
        tc.Plan().undo()


def test_steps_are_frozen_and_comparable() -> None:
    step = tc.Round("income", base=100)
    with pytest.raises(FrozenInstanceError):
        step.base = 5.0  # type: ignore[misc]
    assert step == tc.Round(["income"], base=100.0)
    assert tc.Plan([step]) == tc.Plan((tc.Round("income", base=100),))


def test_a_plan_goes_to_toml_and_back(tmp_path: Path) -> None:
    plan = tc.Plan([tc.Remove("name", label="names"), tc.Round("income", base=100), tc.Round("income", digits=2)])
    text = plan.to_toml()
    assert tomllib.loads(text) == {
        "format": 1,
        "plan": {
            "steps": [
                {"step": "remove", "label": "names", "variables": ["name"]},
                {"step": "round", "variables": ["income"], "base": 100.0},
                {"step": "round", "label": "round income 2", "variables": ["income"], "digits": 2},
            ]
        },
    }
    assert tc.Plan.load(plan.save(tmp_path / "plan.toml")) == plan
    assert tc.Plan.from_toml(tc.Plan().to_toml()) == tc.Plan()
    own = tc.Plan([Noise("w")])
    assert tc.Plan.from_dict(own.to_dict(), known=[Noise]) == own


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[plan]\nstep = 1", "plan has no field 'step'. The fields are steps."),
        ("[plan]\nsteps = 3", "the steps of a plan are tables, each headed [[plan.steps]]."),
        (
            "[[plan.steps]]\nstep = 'rond'",
            "a step of a plan must say which it is, as step = 'suppress'; got 'rond'. Did you mean 'round'?",
        ),
        ("[[plan.steps]]\nstep = 'round'\nbas = 3", "round has no field 'bas'. Did you mean 'base'?"),
        ("[[plan.steps]]\nstep = 'round'\nbase = 3", "round must name 'variables'."),
    ],
)
def test_plan_files_with_mistakes(text: str, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Plan.from_toml(text)
    assert str(error.value) == message


def test_mistakes_in_a_plan() -> None:
    with pytest.raises(TacitaError, match=r"^a plan is a list of steps, as Plan\(\[Suppress\(\)\]\); got str in it.$"):
        tc.Plan("round")  # type: ignore[arg-type]
    with pytest.raises(
        TacitaError, match=r"^labels of a plan's steps must be named once each; got 'a' more than once.$"
    ):
        tc.Plan([tc.Remove("a", label="a"), tc.Remove("b", label="a")])
    with pytest.raises(
        TacitaError, match=r"^step 'remove sex' removes every key of the scenario; keep at least one key.$"
    ):
        tc.Plan([tc.Remove("sex")]).apply(PEOPLE, WHO)
    with pytest.raises(
        TacitaError, match=r"^variables of 'round incme' not in the data: 'incme'. Did you mean 'income'?"
    ):
        tc.Plan([tc.Round("incme", base=1)]).apply(PEOPLE, WHO)
    with pytest.raises(TacitaError, match=r"^scenario must be a Scenario; got str"):
        tc.Plan().apply(PEOPLE, "sex")  # type: ignore[arg-type]


def test_progress_is_told_and_may_stop_the_work(tmp_path: Path) -> None:
    told: list[tuple[float, str]] = []
    tc.Plan([tc.Remove(), tc.Round("income", base=100)]).apply(PEOPLE, WHO, progress=lambda d, w: told.append((d, w)))
    assert told == [(0.0, "remove"), (0.5, "round income"), (1.0, "release")]

    def stop(done: float, what: str) -> None:
        if done >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tc.Plan([tc.Remove(), tc.Round("income", base=100)]).apply(PEOPLE, WHO, progress=stop)


def test_what_the_caller_passed_is_what_he_gets_back() -> None:
    plan = tc.Plan([tc.Remove(), tc.Round("income", base=100)])
    frame = PEOPLE.to_pandas().set_index(pd.Index([7, 8, 9, 10])).astype({"sex": "category"})
    back = plan.apply(frame, WHO).to_native()
    assert isinstance(back, pd.DataFrame)
    assert back.index.tolist() == [7, 8, 9, 10]
    assert back["sex"].dtype == "category"
    assert back["income"].tolist()[:2] == [1000.0, 2500.0]
    assert isinstance(plan.apply(PEOPLE.to_arrow(), WHO).to_native(), pa.Table)
    # An index would tell the old order.
    shuffled = tc.Plan([Reverse(drop=1)]).apply(frame, WHO).to_native()
    assert isinstance(shuffled, pd.DataFrame)
    assert shuffled.index.tolist() == [0, 1, 2]
    assert shuffled["sex"].tolist() == ["m", "m", "f"]


def test_a_perturbed_key_is_flagged() -> None:
    who = tc.Scenario(keys=["sex", "income"])
    release = tc.Plan([Noise("income")]).apply(PEOPLE, who)
    assert release.data.perturbed == {"income"}
    assert any("'income' were perturbed" in text for text in release.cautions)
    assert tc.Plan([Noise("income"), tc.Remove("income")]).apply(PEOPLE, who).data.perturbed == frozenset()


def test_what_is_saved(tmp_path: Path) -> None:
    plan = tc.Plan([tc.Remove(), tc.Round("income", base=100)])
    release = plan.apply(PEOPLE, WHO, seed=255)
    folder = release.save(tmp_path / "out", formats=["csv", "parquet"])
    assert sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()) == [
        "internal/log.json",
        "internal/log.txt",
        "internal/plan.toml",
        "internal/policy.toml",
        "internal/scenario.toml",
        "internal/seed.txt",
        "public/codebook.csv",
        "public/data.csv",
        "public/data.parquet",
    ]
    assert tc.read(folder / "public" / "data.csv").table.equals(release.data.table)
    assert tc.Plan.load(folder / "internal" / "plan.toml") == plan
    assert (folder / "internal" / "seed.txt").read_text() == "ff\n"
    assert json.loads((folder / "internal" / "log.json").read_text())["records"] == 4
    for each in folder.rglob("*"):
        if each.is_file() and each.name != "seed.txt":
            assert b"Ann" not in each.read_bytes()
            assert "seed" not in each.name
    with pytest.raises(TacitaError, match=r"exists already"):
        release.save(tmp_path / "out")
    release.save(tmp_path / "out", overwrite=True)
    with pytest.raises(TacitaError, match=r"^formats must be one of 'parquet', .*; got 'pdf'.$"):
        release.save(tmp_path / "other", formats="pdf")
    with pytest.raises(TacitaError, match=r"^formats must name at least one"):
        release.save(tmp_path / "other", formats=[])
    assert not (tmp_path / "other").exists()


def test_a_release_repr_shows_no_values_and_no_seed() -> None:
    release = tc.Plan([tc.Round("income", base=100)]).apply(PEOPLE, WHO, seed=123456789)
    assert "123456789" not in repr(release) + str(release)
    assert "1010" not in repr(release) and "Ann" not in repr(release)


def test_no_category_or_label_survives_its_last_record() -> None:
    kinds = pl.Enum(["farmer", "smith", "zookeeper"])
    people = pl.DataFrame({"job": pl.Series(["farmer", "zookeeper", "smith"], dtype=kinds), "sex": [1, 2, 9]})
    known = {"sex": Variable(value_labels={1: "male", 2: "female", 9: "hermaphrodite"})}
    release = tc.Plan([Reverse(drop=1)]).apply(Data.of(people, known), tc.Scenario(keys=["job", "sex"]))
    assert release.data.table["job"].dtype == pl.Enum(["farmer", "zookeeper"])
    assert release.data.variable("sex").value_labels == {1: "male", 2: "female"}
    native = tc.Plan([Reverse(drop=1)]).apply(
        people.to_pandas().astype({"job": "category"}), tc.Scenario(keys=["job", "sex"])
    )
    assert native.to_native()["job"].dtype.categories.tolist() == ["farmer", "zookeeper"]
