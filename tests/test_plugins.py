"""A package outside the tree adds a step and a measure, each in one Python file: installed, and used everywhere."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tacita as tc

Ran = Callable[..., str]
PACKAGE = Path(__file__).parent / "plugin_package"
PLAN = 'format = 1\n\n[[plan.steps]]\nstep = "blur"\nvariables = ["income"]\nshare = 0.1\n'
LIMIT = "[policy]\nk = false\nrisk = false\nrate = false\nlimits = { rare_values = 0.5 }\n"
SCENARIO = '[scenario]\nkeys = ["region", "sex", "age"]\n'


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, installed by pip into a folder of its own, without network."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for path in PACKAGE.rglob("*"):
        if path.suffix in (".py", ".toml"):
            copy = source / path.relative_to(PACKAGE)
            copy.parent.mkdir(exist_ok=True)
            copy.write_text(path.read_text("utf-8"), "utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(target), str(source)]
    done = subprocess.run([*pip, *offline], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def ran(installed: Path, tmp_path: Path) -> Ran:
    """What a Python process with the package prints; it must end with the exit code."""
    survey = tc.household_survey(300, population=9000, seed=3)
    tc.write(survey.data, tmp_path / "survey.parquet")
    (tmp_path / "plan.toml").write_text(PLAN, "utf-8")
    (tmp_path / "policy.toml").write_text(f"format = 1\n\n{LIMIT}", "utf-8")
    (tmp_path / "scenario.toml").write_text(f"format = 1\n\n{SCENARIO}", "utf-8")
    home = str(Path(tc.__file__).parents[1])

    def run(*words: str, code: int = 0) -> str:
        paths = os.pathsep.join([home, str(installed), os.environ.get("PYTHONPATH", "")])
        known = {**os.environ, "PYTHONPATH": paths, "PYTHONUTF8": "1", "COLUMNS": "200"}
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=known, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout

    return run


CONTRACTS = """
import doctest
import tacita as tc, tacita_village.rare_values
from tacita.testing import check_measure, check_step
from tacita_village.blur import Blur
survey = tc.household_survey(200, population=6000, seed=3)
who = tc.Scenario(keys=["region", "sex", "age"], numeric_keys=["income"], weight=survey.scenario.weight)
check_step(Blur("income"), survey.data, who)
check_step(Blur(["income", "age"], share=0.3, only="age > 30", strata=["sex"]), survey.data, who)
check_measure("rare_values", survey.data, who)
check_measure(tc.risk.rare_values, survey.data, who, least=9)
for module in (tacita_village.blur, tacita_village.rare_values):
    assert doctest.testmod(module).attempted and not doctest.testmod(module).failed
print("kept")
"""


def test_the_step_and_the_measure_keep_the_public_contracts(ran: Ran) -> None:
    assert ran("-c", CONTRACTS) == "kept\n"


IN_PYTHON = """
import tacita as tc
from tacita.measures import find
data, who = tc.read("survey.parquet"), tc.Scenario.load("scenario.toml")
plan, policy = tc.Plan.load("plan.toml"), tc.Policy.load("policy.toml")
print(tc.Plan.from_toml(plan.to_toml()) == plan, tc.Policy.from_toml(policy.to_toml()) == policy)
profile = tc.assess(data, who, policy)
print([verdict.name for verdict in profile.verdicts()], profile.safe)
asked = tc.assess(data, who, measures={"rare_values": {"least": 5}}).further["rare_values"]
print(asked.least, asked.figures(), type(asked.plot()).__name__)
print(tc.assess(data, who, measures="all").further["rare_values"].least)
some = tc.Plan([tc.Round("income", base=100, only={"unsafe": "rare_values"})]).apply(data, who, policy)
print(0 < some.changes[0].records <= asked.any_rare.sum())
print("rare_values" in dir(tc.risk))
print(find("rare_values").page())
"""


def test_python_sees_them(ran: Ran) -> None:
    lines = ran("-c", IN_PYTHON).splitlines()
    assert lines[:3] == ["True True", "['rare_values'] True", "5 ('rare_values_bars',) Chart"]
    assert lines[3:6] == ["3", "True", "True"]
    page = "\n".join(lines[6:])
    assert page.startswith("# rare_values\n\nRecords with a value of a key that fewer than `least` records have.")
    assert "A policy can limit it: the share of records with a rare value must be at most the limit." in page
    assert "Missing values: A missing value is never rare." in page
    assert "| `least` | whole number at least 1 | `3` | A value is rare with fewer records. |" in page


def test_the_command_line_sees_the_measure(ran: Ran) -> None:
    command = ["-m", "tacita", "assess", "survey.parquet", "--scenario", "scenario.toml"]
    said = ran(*command, "--measure", "rare_values:least=5")
    assert "have a value that fewer than 5 records have" in said
    said = ran(*command, "--policy", "policy.toml", "--fail-if-unsafe")
    assert "SAFE under this policy" in said
    assert "rare_values 0.5" in said
    strict = ["--keys", "region,sex,age,income", "--policy", "policy.toml", "--fail-if-unsafe"]
    assert "NOT SAFE under this policy: rare_values" in ran(*command[:4], *strict, code=1)


def test_the_command_line_sees_the_step(ran: Ran, tmp_path: Path) -> None:
    inputs = ["--scenario", "scenario.toml", "--policy", "policy.toml", "--plan", "plan.toml"]
    said = ran("-m", "tacita", "protect", "survey.parquet", *inputs, "--out", "out")
    assert "blur income" in said
    before, after = (
        tc.read(tmp_path / name).numbers("income") for name in ("survey.parquet", "out/public/data.parquet")
    )
    assert (before != after).any()
    assert np.nanmax(abs(after - before) - 0.1 * before) <= 0


def test_a_project_sees_both(ran: Ran, tmp_path: Path) -> None:
    data = '[data]\nfile = "survey.parquet"\n\n'
    (tmp_path / "project.toml").write_text(f"{PLAN}\n{data}{SCENARIO}\n{LIMIT}", "utf-8")
    said = ran("-m", "tacita", "run", "project.toml", "--out", "release")
    assert "blur income" in said


def test_without_the_package_they_are_not_known() -> None:
    with pytest.raises(tc.TacitaError, match="there is no measure 'rare_values'"):
        tc.Policy.from_toml(f"format = 1\n{LIMIT}")
    with pytest.raises(tc.TacitaError, match="got 'blur'"):
        tc.Plan.from_toml(PLAN)
