"""The account of features, docs/coverage.md, is complete and true."""

import dataclasses
import importlib
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main

import tacita
from tacita.assessment.assess import CORE, OF_NUMBERS
from tacita.cli import app
from tacita.cli.reading import reading_options
from tacita.data.files import SUFFIXES
from tacita.measure_index import MEASURES
from tacita.measures import called_for, find
from tacita.protect.steps import own_steps
from tacita.scenario import ATTACKS, RULES

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "coverage.md"
NOT_OURS = ("--help",)
APP = ("Data", "Scenario", "Risk", "Protect", "Compare", "Release", "every page", "no")
"""Where something is in the app."""


def all_commands(group: Any, before: str = "") -> dict[str, Any]:
    """By name every command, those of groups as `plot confidentiality`."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        inner = hasattr(command, "commands")
        found |= all_commands(command, f"{before}{name} ") if inner else {f"{before}{name}": command}
    return found


COMMANDS = all_commands(typer.main.get_command(app))


class Row(NamedTuple):
    feature: str
    python: str
    command_line: str
    page: str
    report: str
    app: str


def account() -> list[Row]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert {len(row) for row in cells} == {len(Row._fields)}, "every row has six cells"
    return [Row(*row) for row in cells if row[-1] != "app" and set(row[0]) != {"-"}]


ROWS = account()


def in_code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def options(command: str) -> list[str]:
    longest = (max(parameter.opts, key=len) for parameter in COMMANDS[command].params)
    return [name for name in longest if name.startswith("--") and name not in NOT_OURS]


def public_names() -> list[str]:
    return [*tacita._HOMES, *(f"{home.split('.')[1]}.{name}" for name, home in MEASURES.items())]


def resolve(dotted: str) -> Any:
    """The object of a name such as `Scenario.load`; a field of a dataclass counts as there."""
    first, *others = dotted.split(".")
    found = getattr(tacita, first)
    for name in others:
        fields = {field.name: field for field in dataclasses.fields(found)} if dataclasses.is_dataclass(found) else {}
        found = fields[name] if name in fields else getattr(found, name)
    return found


REFERENCE = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)


def test_every_public_name_has_a_row_and_is_in_the_reference() -> None:
    named = {name for row in ROWS for name in in_code(row.python)}
    for name in public_names():
        assert name in named
        _, _, own = name.rpartition(".")
        home = MEASURES[own] if own in MEASURES else tacita._HOMES[own]
        assert f"{home}.{own}" in REFERENCE


def test_every_name_of_the_reference_exists() -> None:
    for name in REFERENCE:
        module, _, own = name.rpartition(".")
        assert hasattr(importlib.import_module(module), own), name


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_row_and_is_on_its_page_with_every_option(command: str) -> None:
    said = {words for row in ROWS for words in in_code(row.command_line)}
    page = (DOCS / "command-line.md").read_text("utf-8")
    assert any(words == f"tacita {command}" or words.startswith(f"tacita {command} --") for words in said)
    assert re.search(rf"^## tacita {command}( [A-Z ]+)?$", page, re.MULTILINE)
    section = page.partition(f"\n## tacita {command}")[2].partition("\n## ")[0]
    reading = page.partition("\n## How files are read")[2].partition("\n## ")[0]
    of_files = {f"--{each.name}" for each in reading_options()}
    for option in options(command):
        assert f"| `{option}` |" in (section, reading)[option in of_files], option


@pytest.mark.parametrize("name", [*RULES, *ATTACKS])
def test_every_rule_and_attack_model_has_a_row_and_is_on_its_page(name: str) -> None:
    rows = [row for row in ROWS if in_code(row.feature)[:1] == [name]]
    assert len(rows) == 1
    (target,) = re.findall(r"\]\(([^)]+)\)", rows[0].page)
    assert f"`{name}" in (DOCS / target).read_text("utf-8")


@pytest.mark.parametrize(("declared", "page"), [(tacita.Scenario, "scenario.md"), (tacita.Policy, "policy.md")])
def test_every_field_of_a_declaration_has_a_row_and_is_on_its_page(declared: Any, page: str) -> None:
    said = {named for row in ROWS for named in in_code(row.python)}
    text = (DOCS / page).read_text("utf-8")
    for field in dataclasses.fields(declared):
        assert f"{declared.__name__}.{field.name}" in said
        assert f"\n| `{field.name}` |" in text


def test_what_the_rows_name_exists() -> None:
    for row in ROWS:
        what_a_row_names_exists(row)


def what_a_row_names_exists(row: Row) -> None:
    names = in_code(row.python)
    assert names
    for name in names:
        resolve(name)
    for words in in_code(row.command_line):
        program, *others = words.split()
        assert program == "tacita"
        command = " ".join(word for word in others if not word.startswith("--"))
        assert {word for word in others if word.startswith("--")} <= set(options(command))
    pages = re.findall(r"\]\(([^)]+)\)", row.page)
    assert pages
    for page in pages:
        assert (DOCS / page).is_file()
    assert row.report in ("shown", "on request", "no")
    assert row.app in APP


IN_EVERY_REPORT = {*CORE, *OF_NUMBERS, "risk_threshold", "suda", "categorical_confidentiality"}
"""What an assessment has, and what a report measures besides; what else is called for appears by itself."""


def test_a_measure_is_in_the_report_where_something_calls_for_it() -> None:
    """Its first row says so; results that are handed in appear by themselves (tests/reports)."""
    for name in MEASURES:
        (first, *_) = [row for row in ROWS if in_code(row.python)[0].split(".")[-1] == name]
        by_itself = name in IN_EVERY_REPORT or called_for(name) is not None
        assert first.report == ("shown" if by_itself else "on request"), name


def test_every_step_is_in_the_report() -> None:
    for step in own_steps():
        assert {row.report for row in ROWS if step.__name__ in in_code(row.python)} == {"shown"}, step


def test_every_field_of_a_variable_is_on_the_page_of_files() -> None:
    page = (DOCS / "files.md").read_text("utf-8")
    assert [each.name for each in dataclasses.fields(tacita.Variable) if f"\n| `{each.name}` |" not in page] == []


def test_every_format_is_on_the_page_of_files() -> None:
    formats = (DOCS / "files.md").read_text("utf-8").partition("## Formats")[2].partition("\n```")[0]
    assert [each for suffixes in SUFFIXES.values() for each in suffixes if f"`{each}`" not in formats] == []


FURTHER = [name for name in MEASURES if name not in CORE and find(name).files == 1]


@pytest.mark.parametrize("name", FURTHER)
def test_every_further_measure_is_in_the_overview_and_has_a_line_for_the_command_line(name: str) -> None:
    overview = (DOCS / "measures" / "index.md").read_text("utf-8")
    (target,) = re.findall(rf"\]\(([^)]+)\) \| `{name}` \|", overview)
    page = (DOCS / "measures" / target).read_text("utf-8")
    assert re.search(rf"^\$ tacita assess .*--(measure [\"']?{name}\b|sensitive )", page, re.MULTILINE)


def test_commands_of_groups_are_found() -> None:
    assert {"assess", "convert", "join", "split", "plot confidentiality", "demo"} <= set(COMMANDS)
    assert "--vertical" in options("plot confidentiality")


def test_a_name_that_does_not_exist_is_found() -> None:
    with pytest.raises(AttributeError):
        resolve("Scenario.nonsense")
    with pytest.raises(AttributeError):
        resolve("nonsense")
