"""Options of the command line: those of several values add up, the others are given once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer.main

import tacita as tc
from tacita.check import TacitaError
from tacita.cli import app
from tacita.cli.terminal import names, pieces

Run = Callable[..., tuple[int, str, str]]
PEOPLE = pl.DataFrame({"sex": ["f", "m"] * 6, "age": [1, 1, 2, 2] * 3, "a,b": ["x"] * 12, "income": list(range(12))})


@pytest.fixture
def people(tmp_path: Path) -> Path:
    tc.write(PEOPLE, tmp_path / "people.csv")
    return tmp_path / "people.csv"


def commands(group: Any, before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        inner = hasattr(command, "commands")
        found |= commands(command, f"{before}{name} ") if inner else {f"{before}{name}": command}
    return found


OPTIONS = [
    (name, option)
    for name, command in commands(typer.main.get_command(app)).items()
    for option in command.params
    if option.param_type_name == "option"
]


def test_every_list_may_be_repeated_and_nothing_else() -> None:
    """What is said to be separated by commas may also be repeated, and the other way round."""
    several = {
        (command, option.name): any(
            words in option.help for words in ("separated by commas", "for each key", "repeat it for more")
        )
        for command, option in OPTIONS
    }
    assert {(command, option.name): option.multiple for command, option in OPTIONS} == several


def test_repeated_keys_add_up(people: Path, run: Run) -> None:
    """The last --keys was kept and the others forgotten, so that a file could look safe."""
    expected = run("assess", people, "--keys", 'sex,age,"a,b"')
    assert expected[0] == 0 and "Keys: sex, age, a,b" in expected[1]
    assert run("assess", people, "--keys", "sex", "--keys", "age", "--keys", '"a,b"') == expected
    assert run("assess", people, "--keys", "sex, age", "--keys", '"a,b"') == expected
    assert run("assess", people, "--keys", "sex", "--keys", "sex")[2] == (
        "tacita: keys must be named once each; got 'sex' more than once.\n"
    )


def test_repeated_measures_add_up(people: Path, run: Run) -> None:
    words = ("assess", people, "--keys", "sex,age", "--sampling-fraction", "0.1")
    once = run(*words, "--measure", "presence,suda:largest=2;score=superset")
    assert once[0] == 0
    assert (
        run(*words, "--measure", "presence", "--measure", "suda:largest=2", "--measure", "suda:score=superset") == once
    )
    twice = run(*words, "--measure", "suda:largest=2", "--measure", "suda:largest=3")
    assert twice == (2, "", "tacita: largest of measure suda is given twice; give it once.\n")


def test_protect_can_be_told_of_intruder_and_policy_what_assess_can(people: Path, run: Run, tmp_path: Path) -> None:
    """Who had assessed with a risk, a rate or the size of the population could not protect with them."""
    (tmp_path / "plan.toml").write_text('format = 1\n[[plan.steps]]\nstep = "random_order"\n', encoding="utf-8")
    knows = ("--keys", "sex", "--population-size", "1e6")
    limits = ("--risk", "0.07", "--rate", "0.03", "--k", "2")
    where = ("--plan", tmp_path / "plan.toml", "--out", tmp_path / "out", "--verbose")
    said = run("protect", people, *where, *knows, *limits)[1]
    assert "k = 2, individual risk at most 0.07, re-identification rate at most 3 %" in said
    assert "F estimated by f N/n with N = 1,000,000" in said


def test_formats_and_rules_add_up(people: Path, run: Run, tmp_path: Path) -> None:
    tc.Plan().save(tmp_path / "plan.toml")
    words = ("protect", people, "--plan", tmp_path / "plan.toml", "--keys", "sex", "--policy", tmp_path / "policy.toml")
    tc.Policy(k=3, risk=None, rate=None).save(tmp_path / "policy.toml")
    rules = ("--rule", "income >= 1, age in (1, 2)", "--rule", "age > 1")
    code, out, err = run(*words, "--formats", "csv", "--formats", "parquet,tsv", *rules, "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    assert sorted(each.name for each in (tmp_path / "out" / "public").glob("data.*")) == [
        "data.csv",
        "data.parquet",
        "data.tsv",
    ]
    assert "the rule 'income >= 1' is broken 1 time" in out
    assert "the rule 'age > 1' is broken 6 times" in out


def test_key_sets_are_named_apart_from_keys(people: Path, run: Run) -> None:
    words = ("confidentiality", people, people, "--no-ratio")
    one = run(*words, "--keys", "income", "--keys", "age")
    assert one[0] == 0 and "income, age" in one[1]
    assert one == run(*words, "--key-set", "income,age")
    assert run(*words, "--key-set", "income", "--key-set", "age")[1] != one[1]


@pytest.mark.parametrize(
    ("words", "option", "times"),
    [
        (("--weight", "income", "--weight", "age"), "--weight", 2),
        (("--k", "3", "--k", "5", "--k", "7"), "--k", 3),
        (("--fail-if-unsafe", "--no-fail-if-unsafe"), "--fail-if-unsafe", 2),
    ],
)
def test_a_single_value_is_given_once(people: Path, run: Run, words: tuple[str, ...], option: str, times: int) -> None:
    code, out, err = run("assess", people, "--keys", "sex", *words)
    assert (code, out, err) == (2, "", f"tacita: {option} takes one value and is given {times} times; give it once.\n")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], ()),
        ([""], ()),
        (["a, b", "c"], ("a", "b", "c")),
        (["x in (1, 2), y = 'a,b'"], ("x in (1, 2)", "y = 'a,b'")),
        (["`a,b` > 1,c"], ("`a,b` > 1", "c")),
        (['t:tables={"a x b" = 10, "c" = 5};n=1,suda'], ('t:tables={"a x b" = 10, "c" = 5};n=1', "suda")),
        (["open (1, 2", "next"], ("open (1, 2", "next")),
        (["it's, so"], ("it's", "so")),
    ],
)
def test_texts_are_split_outside_quotes_and_brackets(given: list[str], expected: tuple[str, ...]) -> None:
    assert pieces(given) == expected


def test_names_of_several_texts() -> None:
    assert names(None) is None
    assert names([]) is None
    assert names([""]) == ()
    assert names(["a,b", '"c,d"']) == ("a", "b", "c,d")


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (1e300, "population_size must be at most 1e+10, more than any population has; got 1e+300."),
        (float("inf"), "population_size must be a number; got inf."),
    ],
)
def test_a_population_that_cannot_be_is_refused(size: float, message: str) -> None:
    """Any file is safe in a population of 1e300."""
    with pytest.raises(TacitaError) as refused:
        tc.Scenario(keys=["sex"], population_size=size)
    assert str(refused.value) == message


def test_nor_can_a_sampling_fraction_imply_one() -> None:
    who = tc.Scenario(keys=["sex"], sampling_fraction=1e-300)
    with pytest.raises(TacitaError) as refused:
        tc.assess(PEOPLE, who)
    assert str(refused.value) == (
        "sampling_fraction must leave at most 1e+10 units in the population, with 12 records at least 1.2e-09; "
        "got 1e-300."
    )


def test_a_policy_without_a_limit_has_no_verdict() -> None:
    profile = tc.assess(PEOPLE, tc.Scenario(keys=["sex"]), tc.Policy(k=None, risk=None, rate=None))
    assert not profile.safe
    assert profile.verdicts() == ()
    assert str(profile).startswith("NO VERDICT: the policy sets no limit")
