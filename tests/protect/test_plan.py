"""Plans: data that go to files and back, whose steps draw independently, and that leave nothing behind."""

import json
import tomllib
from dataclasses import FrozenInstanceError, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacita as tc
from tacita import frame
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.mechanism import Mechanism
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
            mechanisms=(Mechanism("noise", (self.variable,), perturbs=True),),
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
    folder = release.save(tmp_path / "out", formats=["csv", "parquet"], accept_unsafe="a test")
    assert sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()) == [
        "internal/checklist.txt",
        "internal/files.txt",
        "internal/log.json",
        "internal/log.txt",
        "internal/plan.toml",
        "internal/policy.toml",
        "internal/report.html",
        "internal/scenario.toml",
        "internal/seed.txt",
        "not_for_publication/README.txt",
        "not_for_publication/codebook.csv",
        "not_for_publication/codebook.xml",
        "not_for_publication/data.csv",
        "not_for_publication/data.parquet",
        "not_for_publication/methods.json",
        "not_for_publication/report.html",
    ]
    assert tc.read(folder / "not_for_publication" / "data.csv").table.equals(release.data.table)
    assert tc.Plan.load(folder / "internal" / "plan.toml") == plan
    assert (folder / "internal" / "seed.txt").read_text().splitlines()[1:] == ["ff"]
    assert json.loads((folder / "internal" / "log.json").read_text())["records"] == 4
    for each in folder.rglob("*"):
        if each.is_file() and each.name != "seed.txt":
            assert b"Ann" not in each.read_bytes()
            assert "seed" not in each.name
    with pytest.raises(TacitaError, match=r"exists already"):
        release.save(tmp_path / "out")
    release.save(tmp_path / "out", overwrite=True, accept_unsafe="a test")
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


@pytest.mark.parametrize("name", ["", "*", "a.b", "x\ny", "label", "record", '"', "^a"])
@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_odd_names_of_columns_mean_themselves(name: str, kind: str) -> None:
    """Polars takes `*` for every column, and gives a column without a name one."""
    table: object = pl.DataFrame({name: [1, 1, 1, 2], "sex": ["f", "f", "m", "m"], "age": [30, 31, 32, 33]})
    table = {"polars": table, "pandas": table.to_pandas(), "arrow": table.to_arrow()}[kind]  # type: ignore[attr-defined]
    who = tc.Scenario(keys=["sex", name])
    rounded = tc.Plan([tc.Round(name, base=2)]).apply(table, who)
    assert rounded.data.table[name].to_list() == [2, 2, 2, 2]
    assert dict(rounded.changes[0].cells) == {name: 3}
    removed = tc.Plan([tc.Remove([name])]).apply(table, who)
    assert removed.data.columns == ("sex", "age")
    blanked = Data.of(table).blanked({name: np.array([True, False, False, False])})
    assert blanked.table.rows()[0] == (None, "f", 30)
    assert blanked.table["sex"].null_count() == blanked.table["age"].null_count() == 0


def test_names_that_are_patterns_are_refused() -> None:
    with pytest.raises(TacitaError, match=r"^names of columns must not go from \^ to \$; rename '\^s\.\*\$'\.$"):
        tc.Plan().apply(pl.DataFrame({"^s.*$": [1], "sex": ["f"]}), tc.Scenario(keys=["sex"]))


def test_a_missing_number_that_becomes_a_missing_text_is_no_change() -> None:
    """NaN is missing in a frame of Polars too."""
    table = pl.DataFrame({"x": [1.5, float("nan"), None, 2.5], "sex": ["f"] * 4})
    (change,) = tc.Plan([tc.Recode("x", breaks=[2])]).apply(table, tc.Scenario(keys=["sex"])).changes
    assert (dict(change.cells), change.records) == ({"x": 2}, 2)


def test_a_whole_number_that_a_float_cannot_hold_is_a_change() -> None:
    big = pl.Series([2**53, 2**53 + 1, None])
    assert frame.different(big, big.cast(pl.Float64)).tolist() == [False, True, False]
    assert frame.different(big.cast(pl.Float64), big).tolist() == [False, True, False]


def test_codes_for_not_applicable_are_followed_where_they_become_texts() -> None:
    """The file declares 99 missing, the scenario knows that it means not applicable: a category, also as '99'."""
    data = Data.of(pl.DataFrame({"x": [1, 2, 3, 4, 99]}), {"x": Variable(missing=(99,))})
    who = tc.Scenario(keys=["x"], not_applicable={"x": [99]})
    for step in (
        tc.Recode("x", breaks=[3]),
        tc.TopCode("x", at=2, value="3+"),
        tc.Recode("x", breaks=[3], as_codes=True),
    ):
        release = tc.Plan([step]).apply(data, who)
        assert release.original_scenario.not_applicable == {"x": (99,)}
        (code,) = release.scenario.not_applicable["x"]
        assert code == release.data.table["x"][4]
        # One record, told apart from all others: it must not pass for a missing value, which could be anybody.
        coded = release.data.coded("x", (code,))
        assert (coded.codes == coded.codes[4]).sum() == 1
        assert coded.codes[4] > 0


STATUS = Data.of(
    pl.DataFrame({"x": [1, 2, 3, 4, 99, 98, 97, 1, 2, 3, 4, None, 99], "sex": ["f"] * 13}),
    {"x": Variable(missing=(98, 99), missing_ranges=((97.0, 97.0),))},
)


def figures(data: Any, scenario: tc.Scenario) -> tuple[list[float], list[float]]:
    """How many records each one looks like, and its risk."""
    table = tc.key_table(data, scenario)
    return table.per_record(table.sample_count).tolist(), tc.risk.individual_risk(data, scenario).risk.tolist()


@pytest.mark.parametrize(
    "step",
    [
        tc.Recode("x", breaks=[3]),
        tc.Recode("x", breaks=[3], as_codes=True),
        tc.Recode("x", mapping={1: "a", 2: "a", 3: "b", 4: "b"}),
        tc.Recode("x", scheme="1:1-2\n2:3-4\n<MISSING> 9\n"),
        tc.Recode("x", scheme="1:1-2\n2:3-4\n<MISSING> 8 9\n"),
        tc.TopCode("x", at=2, value="3+"),
        tc.GroupRare("x", least=3),
        tc.Recode("x", hierarchy=tc.Hierarchy.intervals([2, 10])),
        tc.Round("x", base=2),
        tc.Remove("w"),
    ],
    ids=str,
)
@pytest.mark.parametrize("codes", [[99], [99, 97], [97, 98, 99], [99, ""]], ids=str)
@pytest.mark.parametrize("rule", ["one_way", "wildcard", "no_match"])
def test_a_release_tells_any_scenario_what_is_not_applicable(
    step: Step, codes: list[Any], rule: str, tmp_path: Path
) -> None:
    """The file declares 97 to 99 missing, the scenario knows that some of them mean not applicable."""
    data = STATUS.with_columns({"w": np.full(13, 3.0)})
    who = tc.Scenario(keys=["x", "sex"], weight="w", not_applicable={"x": codes}, missing=rule)
    unweighted = replace(who, weight=None)
    if isinstance(step, tc.Remove):
        who = unweighted
    release = tc.Plan([step]).apply(data, who)
    counts, risk = figures(release, release.scenario)
    bare = replace(release.scenario, not_applicable={})
    # Nobody takes a record that is not applicable for anybody.
    assert counts[4] < len(data) / 2
    for scenario in (replace(who, weight=release.scenario.weight), bare):
        assert figures(release, scenario) == (counts, risk)
    release.save(tmp_path / "out", formats=["parquet", "arrow", "xlsx"], accept_unsafe="a test")
    for kind in ("parquet", "arrow", "xlsx"):
        read = tc.read(tmp_path / "out" / "not_for_publication" / f"data.{kind}")
        for scenario in (replace(who, weight=release.scenario.weight), bare):
            assert figures(read, scenario) == (counts, risk)


def test_a_generalised_key_tells_what_is_not_applicable() -> None:
    who = tc.Scenario(keys=["x", "sex"], not_applicable={"x": [99]})
    step = tc.Generalise({"x": tc.Hierarchy.intervals([2, 10], redact=False)}, k=2, limit=0)
    data = Data.of(pl.DataFrame({"x": [2, 3, 4, 5, 98, 99, 99], "sex": ["f"] * 7}), {"x": Variable(missing=(98, 99))})
    release = tc.Plan([step, tc.Recode("sex", mapping={"f": "any"})]).apply(data, who)
    assert release.data.table["x"].to_list() == ["2-3", "2-3", "4-5", "4-5", None, "99", "99"]
    expected = figures(release, release.scenario)
    assert expected[0] == [2.0, 2.0, 2.0, 2.0, 7.0, 2.0, 2.0]
    assert figures(release, who) == figures(release, tc.Scenario(keys=["x", "sex"])) == expected


@dataclass(frozen=True)
class BothMissing(Step):
    """A step of somebody else, which makes 9 of 98 and 99, and declares that missing."""

    def apply(self, data: Data, context: Context) -> Applied:
        made = [9 if value in (98, 99) else value for value in data.table["x"]]
        return Applied(data.with_columns({"x": made}, {"x": Variable(missing=(9,))}))


def test_codes_for_not_applicable_that_become_one_code_are_followed() -> None:
    """Both are not applicable, and so is what they become: a code that the step declares missing."""
    data = Data.of(pl.DataFrame({"x": [1, 2, 98, 99]}), {"x": Variable(missing=(98, 99))})
    who = tc.Scenario(keys=["x"], not_applicable={"x": [98, 99]})
    release = tc.Plan([BothMissing()]).apply(data, who)
    assert release.data.table["x"].to_list() == [1, 2, 9, 9]
    assert release.scenario.not_applicable == {"x": (9,)}
    assert release.data.variable("x").not_applicable == (9,)
    assert figures(release, who)[0] == figures(release, release.scenario)[0] == [1.0, 1.0, 2.0, 2.0]


def test_a_scheme_with_new_codes_for_missing_leaves_codes_for_not_applicable_alone() -> None:
    data = Data.of(pl.DataFrame({"x": [1, 2, 97, 98, 99]}), {"x": Variable(missing=(97, 98, 99))})
    who = tc.Scenario(keys=["x"], not_applicable={"x": [98, 99]})
    release = tc.Plan([tc.Recode("x", scheme="1:1-2\n<MISSING> 9\n")]).apply(data, who)
    assert release.data.table["x"].to_list() == [1, 1, 9, 98, 99]
    assert release.scenario.not_applicable == {"x": (98, 99)}


def test_codes_that_are_categories_anyway_are_not_declared() -> None:
    """Measured numbers stay measured numbers: what the file does not declare missing needs no declaration."""
    table = pl.DataFrame({"x": [1, 2, 3, 99], "y": ["a", None, "b", "b"]})
    who = tc.Scenario(keys=["x", "y"], not_applicable={"x": [99, ""], "y": [""]})
    release = tc.Plan([]).apply(table, who)
    assert release.data.numbers("x").tolist() == [1.0, 2.0, 3.0, 99.0]
    assert release.data.variable("x") == Variable()
    assert release.data.variable("y").not_applicable == ("",)


def test_rules_are_judged_as_the_file_declares_its_values() -> None:
    """A blank that the scenario takes for a category is missing for a rule, before and after."""
    table = pl.DataFrame({"age": [5, 40], "job": [None, "baker"]})
    who = tc.Scenario(keys=["age", "job"], not_applicable={"job": [""]})
    release = tc.Plan([]).apply(table, who, rules=["age >= 15 or job is missing"])
    assert release.broken == ()


def test_rules_are_judged_so_after_a_variable_was_recoded() -> None:
    table = pl.DataFrame({"age": [5, 40, 41], "job": [None, "baker", "cook"], "hours": [99, 40, 38]})
    who = tc.Scenario(keys=["age", "job"], not_applicable={"job": [""], "hours": [99]})
    plan = tc.Plan([tc.Recode("job", mapping={"baker": "food", "cook": "food"}), tc.Recode("hours", mapping={38: 40})])
    release = plan.apply(table, who, rules=["age >= 15 or job is missing", "age >= 15 or hours = 99"])
    assert release.broken == ()
    # A key whose blank is a category says so in the release; what the scenario alone says of others stays there.
    assert release.data.variable("job").not_applicable == ("",)
    assert release.data.variable("hours").not_applicable == ()


def test_what_the_file_and_the_scenario_say_of_codes_are_told_apart() -> None:
    data = Data.of(pl.DataFrame({"x": [1, 2, 7, 8, 9]}), {"x": Variable(not_applicable=(7, 8))})
    who = tc.Scenario(keys=["x"], not_applicable={"x": [8, 9]})
    release = tc.Plan([tc.Recode("x", breaks=[2]), tc.Recode("x", mapping={"<2": "any", "2+": "any"})]).apply(data, who)
    assert release.data.table["x"].to_list() == ["any", "any", "7", "8", "9"]
    assert release.data.variable("x").not_applicable == ("7", "8")
    assert release.scenario.not_applicable == {"x": ("8", "9")}
    together = tc.Plan([tc.Recode("x", mapping={8: 0, 9: 0})]).apply(data, who)
    assert together.data.variable("x").not_applicable == (7, 0)
    assert together.scenario.not_applicable == {"x": (0,)}


def test_direct_identifiers_that_are_still_there_are_a_caution() -> None:
    (caution,) = tc.Plan().apply(PEOPLE, WHO).cautions
    assert caution == "the direct identifiers 'name' are still there; take them out with Remove()."
    for step in (tc.Remove(), tc.NewIdentifiers(["name"])):
        assert tc.Plan([step]).apply(PEOPLE, WHO).cautions == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tc.Plan(5), "a plan is a list of steps, as Plan([Suppress()]); got int."),  # type: ignore[arg-type]
        (
            lambda: tc.Plan.from_dict(5),  # type: ignore[arg-type]
            "a plan is a table with steps, each headed [[plan.steps]]; got int.",
        ),
        (
            lambda: tc.Plan().apply(PEOPLE, WHO, 5),  # type: ignore[arg-type]
            "policy must be a Policy, as Policy(k=3); got int.",
        ),
        (
            lambda: tc.Plan().apply(PEOPLE, WHO, progress=5),  # type: ignore[arg-type]
            "progress must be a function of two arguments; got int.",
        ),
        (
            lambda: tc.Plan().apply(PEOPLE, WHO).save(5),  # type: ignore[arg-type]
            "folder must be the path of a folder; got 5.",
        ),
        (lambda: tc.Plan().apply(PEOPLE, WHO).save("a\0b"), r"folder must be the path of a folder; got 'a\x00b'."),
    ],
)
def test_what_is_no_plan_or_no_folder_is_said(call: Any, message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        call()
    assert str(refused.value) == message


def test_a_name_that_the_system_refuses_is_said(tmp_path: Path) -> None:
    with pytest.raises(TacitaError, match=r"^folder 'x+' could not be written \(.*\); nothing was changed\.$"):
        tc.Plan().apply(PEOPLE, WHO).save(tmp_path / ("x" * 5000))


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
def test_what_analysts_may_know_lies_beside_the_data(tmp_path: Path) -> None:
    """Methods, amounts and rates of what is still there; neither seed, nor values, nor what the office alone knows."""
    survey = tc.household_survey(200, population=4000)
    plan = tc.Plan(
        [
            tc.Noise("income", 0.25, method="correlated", only="age >= 20"),
            tc.Microaggregate("weight", k=4),
            tc.RandomSwap("marital", rate=0.125, within="region"),
            tc.Pram("citizenship", strata="region"),
            tc.Round("size", base=2),
            tc.Remove(["person", "size"]),
            tc.Sample(fraction=0.9),
        ]
    )
    seed = 0x1234567890ABCDEF1234567890ABCDEF
    folder = plan.apply(survey.data, survey.scenario, seed=seed).save(tmp_path / "out", accept_unsafe="a test")
    text = (folder / "not_for_publication" / "methods.json").read_text("utf-8")
    told = {(each["kind"], *each["variables"]): each for each in json.loads(text)["methods"]}
    assert set(told) == {
        ("noise", "income"), ("microaggregation", "weight"), ("swapping", "marital"), ("transition", "citizenship"),
        ("sampling", "weight"),
    }  # fmt: skip
    assert told["noise", "income"]["parameters"] == {"method": "correlated", "amount": 0.25, "only": "some records"}
    assert told["noise", "income"]["what"].startswith("noise of 'income' (method = 'correlated', amount = 0.25")
    assert told["microaggregation", "weight"]["parameters"]["k"] == 4
    assert told["swapping", "marital"]["parameters"]["rate"] == 0.125
    assert told["sampling", "weight"]["parameters"]["fraction"] == 0.9
    assert not {"matrix", "categories", "stratum"} & set(told["transition", "citizenship"]["parameters"])
    hidden = [f"{seed:x}", str(seed), "age >= 20", "seed", "swapped", *survey.data.table["region"].unique()]
    assert not [each for each in hidden if each in text]


def test_small_counts_of_suppressed_cells_are_withheld_from_the_public(tmp_path: Path) -> None:
    people = pl.DataFrame(
        {"sex": ["f", "m"] * 30, "job": ["clerk"] * 55 + ["smith", "judge", "cook", "clerk", "clerk"]}
    )
    plan = tc.Plan([tc.Suppress(k=3, closed=False)])
    release = plan.apply(people, tc.Scenario(keys=["sex", "job"]), seed=1)
    assert 0 < sum(release.changes[0].suppressed.values()) < 10
    folder = release.save(tmp_path / "out", accept_unsafe="a test")
    (told,) = json.loads((folder / "not_for_publication" / "methods.json").read_text("utf-8"))["methods"]
    assert told["kind"] == "suppression" and not set(told["parameters"]["cells"].values()) & set(range(1, 10))


def test_where_nothing_was_done_there_is_no_file_of_methods(tmp_path: Path) -> None:
    folder = tc.Plan().apply(PEOPLE, WHO).save(tmp_path / "out", accept_unsafe="a test")
    assert not list(folder.rglob("methods.json"))
