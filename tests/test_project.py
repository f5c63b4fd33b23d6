"""Project files, `tacita protect` and `tacita run`."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Variable
from tacita.release.project import Project, protect

PEOPLE = pl.DataFrame(
    {
        "name": [f"person {place}" for place in range(8)],
        "sex": ["f", "m"] * 4,
        "age": [1, 2, 1, 2, -9, -9, -9, -9],
        "income": [1010.0, 2490.0, 730.0, 505.0, 0.0, 60.0, 90.0, 95.0],
    }
)
WHO = tc.Scenario(keys=["sex", "age"], identifiers=["name"], population_size=100)
PLAN = tc.Plan([tc.Remove(), tc.Round("income", base=100)])

PROJECT = """
format = 1

[data]
file = "people.csv"
delimiter = ","

[variables.age]
missing = [-9]
value_labels = [[1, "young"], [2, "old"], [-9, "refused"]]

[scenario]
keys = ["sex", "age"]
identifiers = ["name"]
population_size = 100

[policy]
k = 2
risk = false
rate = false

[[plan.steps]]
step = "remove"

[[plan.steps]]
step = "round"
variables = ["income"]
base = 100

[[rules]]
rule = "income >= 100"

[release]
folder = "out"
formats = ["csv"]
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tc.write(PEOPLE, tmp_path / "people.csv")
    (tmp_path / "project.toml").write_text(PROJECT, encoding="utf-8")
    WHO.save(tmp_path / "scenario.toml")
    PLAN.save(tmp_path / "plan.toml")
    return tmp_path


def test_a_project_goes_to_toml_and_back(home: Path) -> None:
    project = Project.load(home / "project.toml")
    assert project.variables["age"] == Variable(missing=(-9,), value_labels={1: "young", 2: "old", -9: "refused"})
    assert project.plan == PLAN
    assert project.scenario == WHO
    assert project.policy.k == 2
    assert [rule.text for rule in project.rules] == ["income >= 100"]
    assert (project.folder, project.formats, project.reading) == ("out", ("csv",), {"delimiter": ","})
    again = Project.load(project.save(home / "again.toml"))
    assert again == project


def test_running_a_project_assesses_before_and_after(home: Path) -> None:
    done = Project.load(home / "project.toml").run(seed=3)
    assert done.release.data.columns == ("sex", "age", "income")
    assert done.before.scenario.identifiers == ("name",)
    # Declared missing, and seen by whoever reads the file: two of each sex have it.
    assert done.safe
    assert str(done).startswith("The release is SAFE under this policy (k = 2")
    assert [each.rule for each in done.release.broken] == ["income >= 100"]
    direct = protect(PEOPLE, WHO, tc.Policy(k=2), PLAN, seed=3)
    assert direct.release.data.table["income"].to_list() == done.release.data.table["income"].to_list()


def test_tacita_run(home: Path, run: Run) -> None:
    code, out, err = run("run", home / "project.toml")
    assert (code, err) == (0, "")
    assert "SAFE under this policy" in out and "Before" in out and "After" in out
    assert (home / "out" / "public" / "data.csv").exists()
    code, _, err = run("run", home / "project.toml")
    assert code == 2
    assert (
        err
        == "tacita: folder 'out' exists already; choose another name, or overwrite=True (--overwrite) to replace it.\n"
    )
    assert run("run", home / "project.toml", "--overwrite")[0] == 0
    assert run("run", home / "project.toml", "--out", home / "elsewhere")[0] == 0
    assert (home / "elsewhere" / "internal" / "seed.txt").exists()


def test_tacita_protect_repeats_with_a_seed_file(home: Path, run: Run) -> None:
    arguments = [home / "people.csv", "--plan", home / "plan.toml", "--scenario", home / "scenario.toml"]
    code, _, err = run(
        "protect", *arguments, "--out", home / "one", "--formats", "csv,parquet", "--rule", "income >= 0"
    )
    assert (code, err) == (0, "")
    seed = home / "one" / "internal" / "seed.txt"
    code, *_ = run("protect", *arguments, "--out", home / "two", "--formats", "csv", "--seed-file", seed)
    assert code == 0
    one, two = (home / name / "public" / "data.csv" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert seed.read_text() == (home / "two" / "internal" / "seed.txt").read_text()
    code, _, err = run("protect", *arguments, "--out", home / "three", "--seed-file", home / "people.csv")
    assert (code, err) == (
        2,
        "tacita: people.csv must be a file with a seed in hexadecimal digits, as internal/seed.txt of a release.\n",
    )


def test_a_release_that_breaks_the_policy_is_not_written(home: Path, run: Run) -> None:
    code, out, _ = run(
        "protect", home / "people.csv", "--plan", home / "plan.toml", "--keys", "sex,income", "--out", home / "bad",
        "--fail-if-unsafe",
    )  # fmt: skip
    assert code == 2, "the scenario names no identifiers"
    (home / "round.toml").write_text("[[plan.steps]]\nstep = 'round'\nvariables = ['income']\nbase = 10\n")
    code, out, _ = run(
        "protect", home / "people.csv", "--plan", home / "round.toml", "--keys", "sex,income", "--out", home / "bad",
        "--fail-if-unsafe",
    )  # fmt: skip
    assert code == 1
    assert out.endswith("nothing written: the release does not keep the policy\n")
    assert not (home / "bad").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[scenario]",
            "[scenarios]",
            "project.toml has a section 'scenarios'; a project has data, variables, scenario, "
            "policy, plan, rules, release.",
        ),
        (
            "[data]",
            "[policies]",
            "project.toml has a section 'policies'; a project has data, variables, scenario, policy, "
            "plan, rules, release.",
        ),
        (
            "file =",
            "fil =",
            "[data] names the file, and if need be delimiter, encoding, decimal, missing, sheet, catalog; "
            "got ['delimiter', 'fil'].",
        ),
        ("format = 1", "format = 2", "project.toml has format 2; this version reads format 1, update Tacita."),
        ("folder =", "folde =", "[release] has folder and formats; got 'folde'."),
        (
            '["csv"]',
            '["pdf"]',
            "formats must be one of 'parquet', 'csv', 'tsv', 'arrow', 'xlsx', 'sav', 'dta', 'xpt'; got 'pdf'.",
        ),
        (
            "missing = [-9]",
            "mising = [-9]",
            "[variables.age] has no field 'mising'. The fields are label, value_labels, "
            "missing, missing_ranges, not_applicable, scale, order.",
        ),
        (
            'value_labels = [[1, "young"], ',
            "value_labels = [1, ",
            "[variables.age] value_labels are pairs of a code and its label, as [[1, 'male'], [2, 'female']].",
        ),
        ("[variables.age]", "[variables.aeg]", "variables not in the data: 'aeg'. Did you mean 'age'?"),
        ("people.csv", "peple.csv", "peple.csv does not exist; did you mean 'people.csv'?"),
    ],
)
def test_project_files_with_mistakes(home: Path, old: str, new: str, message: str, run: Run) -> None:
    text = PROJECT.replace(old, new, 1)
    (home / "project.toml").write_text(text, encoding="utf-8")
    code, _, err = run("run", home / "project.toml")
    assert (code, err) == (2, f"tacita: {message}\n")


def test_projects_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(
        TacitaError, match=r"^none.toml cannot be read: no such file or directory; check the path of the "
    ):
        Project.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TacitaError, match=r"^bad.toml is not valid TOML: it is not UTF-8 text; save it as UTF-8.$"):
        Project.load(tmp_path / "bad.toml")
    with pytest.raises(TacitaError, match=r"^the text has no \[data\] table; add one.$"):
        Project.from_toml("format = 1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('folder = "out"', "folder = 5", "folder in [release] must be the path of a folder; got 5."),
        ('folder = "out"', 'folder = ""', "folder in [release] must be the path of a folder; got ''."),
        (
            'formats = ["csv"]',
            "formats = []",
            "formats in [release] must name at least one, as formats = ['parquet'].",
        ),
        ('delimiter = ","', "catalog = 5", "catalog in [data] must be the path of a file; got 5."),
        (
            "missing = [-9]",
            "label = 5",
            "[variables.age] has a text as label, and lists of codes as missing or order.",
        ),
        (
            "missing = [-9]",
            "order = [[1], [2]]",
            "[variables.age] has a text as label, and lists of codes as missing or order.",
        ),
        (
            '[2, "old"]',
            "[2, 3]",
            "[variables.age] value_labels are pairs of a code and its label, as [[1, 'male'], [2, 'female']].",
        ),
    ],
)
def test_damaged_projects_are_told_in_one_sentence(old: str, new: str, message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        Project.from_toml(PROJECT.replace(old, new))
    assert str(refused.value) == message


@pytest.mark.parametrize("section", ["policy", "plan"])
def test_sections_that_are_no_tables_are_refused(section: str) -> None:
    with pytest.raises(TacitaError) as refused:
        Project.from_toml(f'{section} = 5\n[data]\nfile = "a.csv"\n[scenario]\nkeys = ["sex"]\n')
    assert str(refused.value) == f"[{section}] must be a table of names, as in {{'age': ...}}; got 5."


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--formats", "zip"), "tacita: formats must be one of 'parquet', 'csv'"),
        (("--formats", ""), "tacita: formats must name at least one, as formats=['parquet']."),
    ],
)
def test_formats_are_checked_before_the_work(home: Path, run: Run, options: tuple[str, ...], said: str) -> None:
    arguments = [home / "people.csv", "--plan", home / "plan.toml", "--keys", "sex", "--out", home / "no"]
    code, out, err = run("protect", *arguments, *options)
    assert (code, out) == (2, "")
    assert err.startswith(said)
    assert not (home / "no").exists()


def test_folders_that_the_system_refuses_are_a_mistake_of_the_user(home: Path, run: Run) -> None:
    arguments = [home / "people.csv", "--plan", home / "plan.toml", "--keys", "sex"]
    code, _, err = run("protect", *arguments, "--out", home / ("x" * 5000))
    assert code == 2
    assert err.startswith("tacita: folder 'xxx")
    assert err.endswith(f" could not be written ({os.strerror(errno.ENAMETOOLONG)}); nothing was changed.\n")
    assert err.count("\n") == 1
