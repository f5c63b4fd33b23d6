"""Project files, `tacita protect` and `tacita run`."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
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


def test_a_plan_without_its_table_is_shown_how_it_begins() -> None:
    with pytest.raises(TacitaError) as refused:
        tc.Plan.from_toml('[[steps]]\nstep = "suppress"\n', "plan.toml")
    assert str(refused.value) == (
        "plan.toml has no [plan] table; add one: each step stands below [[plan.steps]], as step = 'suppress' and k = 3."
    )


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
    assert "SAFE under this policy" in out and "before   after" in out and "Before" not in out
    code, out, _ = run("run", home / "project.toml", "--verbose", "--overwrite")
    assert code == 0 and "Before" in out and "After" in out
    assert (home / "out" / "public" / "data.csv").exists()
    code, _, err = run("run", home / "project.toml")
    assert code == 2
    assert err == "tacita: folder 'out' exists already; choose another name, or --overwrite to replace it.\n"
    assert run("run", home / "project.toml", "--overwrite")[0] == 0
    assert run("run", home / "project.toml", "--out", home / "elsewhere")[0] == 0
    assert (home / "elsewhere" / "internal" / "seed.txt").exists()


def test_tacita_protect_repeats_with_a_seed_file(home: Path, run: Run) -> None:
    tc.Policy(k=None, risk=0.9999, rate=None).save(home / "policy.toml")
    arguments = [home / "people.csv", "--plan", home / "plan.toml", "--scenario", home / "scenario.toml"]
    arguments += ["--policy", home / "policy.toml"]
    code, _, err = run(
        "protect", *arguments, "--out", home / "one", "--formats", "csv,parquet", "--rule", "income >= 0"
    )
    assert (code, err) == (0, "")
    seed = home / "one" / "internal" / "seed.txt"
    assert seed.read_text().startswith("# for internal use only: whoever knows this seed can undo the protection\n")
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


def test_overwriting_deletes_no_input_and_nothing_added_by_hand(home: Path, run: Run) -> None:
    """Files put into the folder by hand went with it, and so did the input where it lay there."""
    assert run("run", home / "project.toml")[0] == 0
    seed = home / "out" / "internal" / "seed.txt"
    code, _, err = run("run", home / "project.toml", "--overwrite", "--seed-file", seed)
    assert (code, err) == (
        2,
        "tacita: folder 'out' holds 'internal/seed.txt', which this run reads and replacing the folder would delete; "
        "choose another folder.\n",
    )
    words = ["protect", home / "out" / "public" / "data.csv", "--plan", home / "plan.toml", "--keys", "sex"]
    code, _, err = run(*words, "--out", home / "out", "--overwrite")
    assert code == 2 and "holds 'public/data.csv', which this run reads" in err
    (home / "out" / "public" / "letter.txt").write_text("from the minister")
    code, _, err = run("run", home / "project.toml", "--overwrite")
    assert (code, err) == (
        2,
        "tacita: folder 'out' also holds 'public/letter.txt', which replacing it would delete and Tacita did not "
        "write; move that away, or choose another folder.\n",
    )
    assert (home / "out" / "public" / "letter.txt").read_text() == "from the minister"
    code, _, err = run("assess", home / "people.csv", "--keys", "sex", "--out", home / "risk")
    assert (code, err) == (0, "")
    (home / "risk" / "scenario.toml").write_bytes((home / "scenario.toml").read_bytes())
    words = ["assess", home / "people.csv", "--scenario", home / "risk" / "scenario.toml"]
    code, _, err = run(*words, "--out", home / "risk", "--overwrite")
    assert code == 2 and "holds 'scenario.toml', which this run reads" in err


ROUND = "[[plan.steps]]\nstep = 'round'\nvariables = ['income']\nbase = 10\n"
REFUSED = (
    "tacita: nothing written, since the release is not safe; change the plan, or give the reason with --accept-unsafe "
    "to write it as not for publication.\n"
)


@pytest.fixture
def unsafe(home: Path) -> list[object]:
    (home / "round.toml").write_text(ROUND)
    words = ["protect", home / "people.csv", "--plan", home / "round.toml", "--keys", "sex,income"]
    return [*words, "--formats", "csv", "--out", home / "bad"]


def test_a_release_that_breaks_the_policy_is_not_written(home: Path, unsafe: list[object], run: Run) -> None:
    """It was written as for publication, with exit code 0."""
    code, out, err = run(*unsafe)
    assert (code, err) == (1, REFUSED)
    assert out.startswith("The release is NOT SAFE under this policy: 8 records below k = 3")
    assert not (home / "bad").exists()
    code, _, err = run(*unsafe, "--accept-unsafe", " ")
    assert code == 2
    assert err == "tacita: accept_unsafe must be the reason in words, as 'for the safe centre only'; got ' '.\n"


def test_an_accepted_one_says_that_it_is_not_for_publication(home: Path, unsafe: list[object], run: Run) -> None:
    code, out, err = run(*unsafe, "--accept-unsafe", "for the\nsafe centre")
    assert (code, err) == (0, "")
    bad = home / "bad"
    assert out.endswith(f"written: {bad / 'not_for_publication'} and {bad / 'internal'}, both to stay in the office\n")
    assert sorted(each.name for each in bad.iterdir()) == ["internal", "not_for_publication"]
    assert sorted(each.name for each in (bad / "not_for_publication").iterdir()) == [
        "README.txt",
        "codebook.csv",
        "codebook.xml",
        "data.csv",
        "methods.json",
        "report.html",
    ]
    said = (bad / "not_for_publication" / "README.txt").read_text()
    assert said.startswith("NOT FOR PUBLICATION: this release does not keep the policy of the office.\nNOT SAFE under")
    assert said.endswith("Written all the same, since: for the safe centre\n")
    assert "\naccepted though not safe: for the safe centre\n" in (bad / "internal" / "log.txt").read_text()
    log = json.loads((bad / "internal" / "log.json").read_text())
    assert log["accepted_unsafe"] == "for the safe centre"
    assert log["verdict"].startswith("NOT SAFE under this policy")
    if os.name != "nt":
        for each in (bad / "internal", bad / "not_for_publication"):
            assert stat.S_IMODE(each.stat().st_mode) == 0o700
            assert {stat.S_IMODE(file.stat().st_mode) for file in each.iterdir()} == {0o600}


def test_a_policy_without_a_limit_is_no_leave_to_publish(home: Path, unsafe: list[object], run: Run) -> None:
    tc.Policy(k=None, risk=None, rate=None).save(home / "policy.toml")
    code, out, err = run(*unsafe, "--policy", home / "policy.toml")
    assert (code, err) == (1, REFUSED)
    assert out.startswith("The release is NO VERDICT: the policy sets no limit")
    assert not (home / "bad").exists()


def test_a_project_may_give_the_reason(home: Path, run: Run) -> None:
    text = PROJECT.replace("k = 2", "k = 5")
    (home / "project.toml").write_text(text, encoding="utf-8")
    assert run("run", home / "project.toml")[0] == 1
    assert not (home / "out").exists()
    (home / "project.toml").write_text(text + 'accept_unsafe = "contract 12"\n', encoding="utf-8")
    project = Project.load(home / "project.toml")
    assert project.accept_unsafe == "contract 12"
    assert Project.from_toml(project.to_toml()) == project
    assert run("run", home / "project.toml")[0] == 0
    assert "since: contract 12" in (home / "out" / "not_for_publication" / "README.txt").read_text()
    code, *_ = run("run", home / "project.toml", "--overwrite", "--accept-unsafe", "contract 13")
    assert code == 0
    assert "since: contract 13" in (home / "out" / "not_for_publication" / "README.txt").read_text()
    # Safe again: the reason does not count, and the folder is the usual one.
    (home / "project.toml").write_text(PROJECT + 'accept_unsafe = "contract 12"\n', encoding="utf-8")
    assert run("run", home / "project.toml", "--overwrite")[0] == 0
    assert sorted(each.name for each in (home / "out").iterdir()) == ["internal", "public"]
    assert "contract" not in (home / "out" / "internal" / "log.txt").read_text()
    with pytest.raises(TacitaError, match=r"^accept_unsafe must be the reason in words"):
        Project.from_toml(PROJECT + "accept_unsafe = true\n")


def test_the_checklist_is_printed_and_kept(home: Path, run: Run) -> None:
    _, out, _ = run("run", home / "project.toml")
    kept = (home / "out" / "internal" / "checklist.txt").read_text("utf-8").split("\n", 1)
    assert kept[0] == "for internal use only: to go through before publication"
    assert kept[1] in out
    assert "[ ] record order (not done): records stand in the order of the original; add RandomOrder()." in kept[1]


STOPPED = """
import os, signal, sys, time
import tacita.release.written as written
from tacita import cli
def stop(*_, **__):
    os.kill(os.getpid(), NUMBER)
    time.sleep(20)
written.write_internal = stop
cli.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_nothing_and_says_so(home: Path, number: signal.Signals) -> None:
    """SIGTERM left a readable part with seed and data, Ctrl-C said nothing."""
    program = STOPPED.replace("NUMBER", str(int(number)))
    words = [sys.executable, "-c", program, "run", str(home / "project.toml")]
    before = sorted(each.name for each in home.iterdir())
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (128 + number, "tacita: stopped; nothing half-written is left.\n")
    assert sorted(each.name for each in home.iterdir()) == before


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
        ("folder =", "folde =", "[release] has folder, formats and accept_unsafe; got 'folde'."),
        (
            '["csv"]',
            '["pdf"]',
            "formats must be one of 'parquet', 'csv', 'tsv', 'arrow', 'xlsx', 'sav', 'dta', 'xpt'; got 'pdf'.",
        ),
        (
            "missing = [-9]",
            "mising = [-9]",
            "[variables.age] has no field 'mising'. The fields are label, value_labels, "
            "missing, missing_ranges, not_applicable, scale, order, perturbed.",
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
