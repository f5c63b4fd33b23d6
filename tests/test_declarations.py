"""Import asks: what was understood is shown, and everything can be said otherwise, in the same way everywhere."""

import re
import shlex
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import tacita as tc
from tacita.check import TacitaError, TacitaWarning
from tacita.cli import WITHOUT_FILES, command
from tacita.cli.reading import reading_options
from tacita.release.project import Project

Run = Callable[..., tuple[int, str, str]]
R_FILE = "work,age\nNA,31\nyes,NA\nno,47\n"


def quiet(text: str, **options: object) -> tc.Data:
    Path("a.csv").write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        return tc.read("a.csv", **options)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- R's NA ---


def test_na_of_a_file_of_r_is_missing_among_texts_too() -> None:
    Path("a.csv").write_text(R_FILE)
    with pytest.warns(TacitaWarning) as caught:
        data = tc.read("a.csv")
    assert data.table.rows() == [(None, 31), ("yes", None), ("no", 47)]
    assert [str(each.message) for each in caught] == [
        "a.csv: 'NA' is missing, as in files of R: 1 text of 'work'; pass missing=[] (--na '') if it is a value."
    ]
    assert tc.read("a.csv", missing=[]).table["work"].to_list() == ["NA", "yes", "no"]


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ('"work","age"\nNA,31\n"yes",5\n', [None, "yes"]),  # R quotes texts, and not its missing values
        ('"work","age"\n"NA",31\n"yes",NA\n', ["NA", "yes"]),  # in quotes it is Namibia
        ("work,age\nNA,31\nyes,5\n", ["NA", "yes"]),  # nothing says that R wrote it
        ('"work",age\nNA,31\nyes,5\n', ["NA", "yes"]),
        ("work,age\nNA,31\nyes,.\n", ["NA", "yes"]),
    ],
)
def test_na_is_missing_where_the_file_says_so(text: str, work: list[str | None]) -> None:
    assert quiet(text).table["work"].to_list() == work


def test_names_of_rows_do_not_stand_in_the_way() -> None:
    """`write.csv` of R and `to_csv` of pandas write a first column without a name."""
    Path("a.csv").write_text('"","work"\n"1","yes"\n"2","no"\n')
    with pytest.warns(TacitaWarning, match=r"a\.csv has no name for column 1, as R and pandas write") as caught:
        data = tc.read("a.csv")
    assert len(caught) == 1
    assert data.table.rows() == [(1, "yes"), (2, "no")]
    assert data.columns == ("row", "work")


# --- missing values and scales, said ---


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".xlsx", ".sav", ".dta"])
def test_missing_values_are_said_of_every_format(suffix: str) -> None:
    table = pl.DataFrame({"age": [31, -9, 47], "share": [0.5, -9.0, 1.5], "work": ["yes", "refused", "-9"]})
    tc.write(table, f"a{suffix}")
    found = tc.read(f"a{suffix}", missing=["-9", "refused"])
    assert found.table.rows() == [(31, 0.5, "yes"), (None, None, None), (47, 1.5, None)]
    shown = dict(found.describe()["variable", "understood"].rows())
    assert shown["age"] == "whole numbers; '-9' is missing (1 time)"


def test_a_scale_is_said_in_python_on_the_command_line_and_in_files(run: Run) -> None:
    Path("a.csv").write_text("region,age\n" + "".join(f"{n},{n + 1}\n" for n in range(30)))
    assert tc.read("a.csv").scale("region") == "numeric"
    assert tc.read("a.csv", scale={"region": "nominal"}).scale("region") == "nominal"
    code, out, _ = run("describe", "a.csv", "--scale", "region=nominal,age=ordinal")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[2:4]] == [["region", "nominal"], ["age", "ordinal"]]
    Path("s.toml").write_text('[scenario]\nkeys = ["region"]\n[variables.region]\nscale = "ordinal"\nmissing = [3]\n')
    code, out, _ = run("describe", "a.csv", "--scenario", "s.toml")
    assert out.splitlines()[2].split() == ["region", "ordinal", "30", "1", "whole", "numbers;", "missing:", "3"]
    # The command line stands in place of the file.
    code, out, _ = run("describe", "a.csv", "--scenario", "s.toml", "--scale", "region=nominal")
    assert out.splitlines()[2].split()[:2] == ["region", "nominal"]


def test_a_declaration_means_the_same_on_the_command_line_in_files_and_in_python(run: Run) -> None:
    """Codes of SPSS with decimals: declared in each of the ways, the assessment is the same to the last figure."""
    codes = pd.DataFrame({"region": [1.0, 2.0, 7.0, 9.0] * 15 + [8.0], "age": [31.0, 47.0, 25.0] * 20 + [60.0]})
    pyreadstat.write_sav(codes, "a.sav", variable_format={"region": "F8.1", "age": "F8.1"})
    understood = "numbers; all of them whole (codes? --scale region=nominal)"
    assert tc.read("a.sav").describe().row(0, named=True)["understood"] == understood
    who = "[scenario]\nkeys = ['age']\nsensitive = ['region']\n"
    limit, said = "[policy.limits]\nt_closeness = 0.2\n", "[variables.region]\nscale = 'nominal'\n"
    for name, text in {"who": who, "said": who + said, "policy": limit}.items():
        Path(f"{name}.toml").write_text(text)
    plan = "[[plan.steps]]\nstep = 'random_order'\n"
    Path("project.toml").write_text(f"format = 1\n[data]\nfile = 'a.sav'\n{said}{who}{limit}{plan}")
    plain = tc.Scenario(keys=["age"], sensitive=["region"])
    policy, declared = tc.Policy(limits={"t_closeness": 0.2}), {"region": tc.Variable(scale="nominal")}
    found = str(tc.assess(tc.read("a.sav", scale={"region": "nominal"}), plain, policy))
    assert str(tc.assess("a.sav", replace(plain, variables=declared), policy)) == found
    assert str(Project.load("project.toml").run(seed=1).before) == found
    words = ("assess", "a.sav", "--policy", "policy.toml", "--scenario")
    assert run(*words, "who.toml", "--scale", "region=nominal")[1] == f"{found}\n"
    assert run(*words, "said.toml")[1] == f"{found}\n"
    assert run(*words, "who.toml")[1] != f"{found}\n", "as measured, the distances between regions count"


def test_what_a_scenario_says_of_variables_goes_to_a_file_and_back() -> None:
    said = {"region": tc.Variable(scale="nominal", missing=(9,), value_labels={1: "north"})}
    scenario = tc.Scenario(keys=["region"], variables=said)
    assert tc.Scenario.from_toml(scenario.to_toml()) == scenario
    assert "[variables.region]" in scenario.to_toml()
    assert (
        tc.Scenario(keys=["region"], variables={"region": {"scale": "nominal"}}).variables["region"].scale == "nominal"
    )
    with pytest.raises(TacitaError, match=r"variables not in the data: 'regoin'. Did you mean 'region'\?"):
        tc.assess(pl.DataFrame({"region": [1, 2]}), tc.Scenario(keys=["region"], variables={"regoin": {}}))
    with pytest.raises(TacitaError, match=r"\[variables.region\] has no field 'scal'"):
        tc.Scenario(keys=["region"], variables={"region": {"scal": "nominal"}})


def test_what_a_scenario_says_reaches_a_step() -> None:
    """Codes with decimals, as SPSS shows them, become whole numbers where they are said to be categories."""
    people = pl.DataFrame({"region": [1.0] * 5 + [2.0] * 5 + [7.0]})
    plan = tc.Plan([tc.GroupRare("region", least=3)])
    with pytest.raises(TacitaError, match="column 'region' holds numbers, not categories"):
        plan.apply(people, tc.Scenario(keys=["region"]))
    release = plan.apply(people, tc.Scenario(keys=["region"], variables={"region": {"scale": "nominal"}}))
    assert release.data.table["region"].dtype == pl.Int64


def test_what_a_project_says_leaves_the_rest_of_what_the_file_says(tmp_path: Path) -> None:
    """A scale in [variables] took the labels and missing codes of the file away."""
    known = {"region": tc.Variable(label="Region", value_labels={1: "north"}, missing=(9,))}
    tc.write(tc.Data.of(pl.DataFrame({"region": [1, 2, 9] * 5}), known), "a.sav")
    Path("p.toml").write_text(
        '[data]\nfile = "a.sav"\n[variables.region]\nscale = "ordinal"\n[scenario]\nkeys = ["region"]\n'
    )
    data = Project.load("p.toml").run(seed=1).release.data
    assert data.variable("region") == tc.Variable(
        label="Region", value_labels={1: "north"}, missing=(9,), scale="ordinal"
    )


def test_whole_numbers_of_spss_in_f8_2(run: Run) -> None:
    """The usual format says nothing of the numbers; of another one with decimals `--scale` makes codes."""
    values = pd.DataFrame({"region": [1.0, 2.0, 7.0] * 4})
    pyreadstat.write_sav(values, "c.sav", variable_format={"region": "F8.2"})
    said = "whole numbers; few, so taken for codes (measured? --scale region=numeric)"
    assert tc.read("c.sav").describe().row(0, named=True)["understood"] == said
    assert run("convert", "c.sav", "c.csv")[0] == 0 and Path("c.csv").read_text().startswith("region\n1\n2\n7\n")
    pyreadstat.write_sav(values, "a.sav", variable_format={"region": "F8.1"})
    shown = tc.read("a.sav").describe().row(0, named=True)
    assert shown["understood"] == "numbers; all of them whole (codes? --scale region=nominal)"
    assert run("convert", "a.sav", "a.csv", "--scale", "region=nominal")[0] == 0
    assert Path("a.csv").read_text().splitlines()[:4] == ["region", "1", "2", "7"]
    pyreadstat.write_sav(values, "b.sav", variable_format={"region": "F8.1"}, variable_measure={"region": "nominal"})
    assert tc.read("b.sav").table["region"].dtype == pl.Int64, "the file says that they are categories"


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("0301\n1103\n", "text; numbers with leading zeros, kept as they are"),
        ("2020-01-31\n1999-12-01\n", "text; dates, as they are written"),
        ("31.1.2020\n1.12.1999\n", "text; dates, as they are written"),
        ("31\n47\nold\n", "text; mixed: 2 values of 3 are numbers"),
        ("yes\nNA\nno\n", "text; 'NA' 1 time, a value (missing? --na NA)"),
        ("1\n2\n3\n", "whole numbers; few, so taken for codes (measured? --scale x=numeric)"),
        ("1.5\n2\n", "numbers"),
        ("17.5\n22\n27\n" * 10, "numbers; few, with fractions, so taken for measured (codes? --scale x=nominal)"),
        ("1\nNA\n", "whole numbers; 'NA' is missing (1 time)"),
        ('""\n""\n', "nothing"),
    ],
)
def test_describe_says_what_was_understood(text: str, understood: str) -> None:
    assert quiet(f"x\n{text}").describe()["understood"].to_list() == [understood]


def test_describe_says_what_tells_every_record_apart(run: Run) -> None:
    n = 100
    people = {"person id": range(1, n + 1), "code": [f"c{i}" for i in range(n)], "age": [*range(n - 1), 5]}
    people |= {"income": [i + 0.5 for i in range(n)], "whole": [float(i) for i in range(n)]}
    tc.write(pl.DataFrame(people), "a.parquet")
    understood = dict(tc.read("a.parquet").describe().select("variable", "understood").rows())
    own = {name: "another value in every record" in said for name, said in understood.items()}
    assert own == {"person id": True, "code": True, "age": False, "income": False, "whole": True}
    option = re.search(r"an identifier\? (--identifiers [^)]+)\)", understood["person id"])
    assert option is not None
    told = run("assess", "a.parquet", "--keys", "age", *shlex.split(option[1]))[1]
    assert "look like direct identifiers are not declared: 'person id'" not in told
    few = tc.Data.of(pl.DataFrame(people)[: n - 1])
    assert "every record" not in "".join(few.describe()["understood"])


def test_the_option_that_is_shown_works_as_it_stands(run: Run) -> None:
    for name in ("age", "age of head", "age, years", "it's"):
        data = tc.Data.of(pl.DataFrame({name: range(30)}))
        tc.write(data, "a.parquet", overwrite=True)
        option = re.search(r"codes\? (--scale .+)\)$", data.describe()["understood"][0])
        assert option is not None
        code, out, err = run("describe", "a.parquet", *shlex.split(option[1]))
        assert (code, err) == (0, "")
        assert " nominal  " in out


def test_a_file_of_spss_that_calls_its_codes_measured(run: Run) -> None:
    """Old files call everything `scale`; and questions of a survey are labels that no terminal is wide enough for."""
    labels = {1: "yes", 2: "no"}
    answer = tc.Variable(label="Would you say that " + "you are " * 20, value_labels=labels, scale="numeric")
    data = tc.Data.of(pl.DataFrame({"answer": [1, 2, 1], "income": [1, 2, 3]}), {"answer": answer})
    tc.write(data, "a.sav")
    code, out, _ = run("describe", "a.sav")
    assert code == 0
    assert "whole numbers; few, with labels, declared as measured (codes? --scale answer=nominal)" in out
    assert "Would you say that you are you are..." in out


def test_names_that_differ_in_capitals_are_suggested() -> None:
    people = pl.DataFrame({"GENDER": [1, 2], "EDUC": [1, 2], "gander": [1, 2]})
    with pytest.raises(tc.TacitaError, match=r"Did you mean 'GENDER', 'EDUC'\?$"):
        tc.assess(people, tc.Scenario(keys=["gender", "educ"]))


def test_describe_says_codes_and_no_values(run: Run) -> None:
    known = tc.Variable(missing=(8, 9), missing_ranges=((-99, -1),), not_applicable=(0, ""))
    data = tc.Data.of(pl.DataFrame({"work": [1, 2, 8, 9, 0]}), {"work": known})
    shown = data.describe()["understood"][0]
    assert shown.endswith("; missing: 8, 9, -99 to -1; not applicable: 0, blank")
    tc.write(pl.DataFrame({"name": ["zq-canary", "zq-other"]}), "n.parquet")
    code, out, _ = run("describe", "n.parquet")
    assert code == 0
    assert "zq" not in out
    assert "[variables.NAME]" in out


# --- the command line ---


FIGURES = command().commands["plot"].commands
COMMANDS = {name: each for name, each in command().commands.items() if name not in (*WITHOUT_FILES, "plot")} | FIGURES


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_reads_can_be_told_how(name: str) -> None:
    options = COMMANDS[name].params
    assert all(any(each is option for option in options) for each in reading_options())
    named = [each.name for each in options]
    assert len(set(named)) == len(named)


def test_options_of_reading_are_for_the_files_that_they_fit(run: Run) -> None:
    """A release in another format stands beside the original."""
    Path("a.csv").write_text("x|y\n1|2\n2|3\n3|5\n")
    tc.write(pl.DataFrame({"x": [1, 2, 3], "y": [2, 3, 5]}), "b.parquet")
    words = ("--variables", "x,y", "--delimiter", "|")
    assert run("link", "a.csv", "b.parquet", *words)[0] == 0
    code, _, err = run("link", "b.parquet", "a.csv", *words)
    assert (code, err) == (2, "tacita: delimiter is for text files only; leave it out for b.parquet.\n")


def test_what_is_wrong_with_a_declaration(run: Run) -> None:
    Path("a.csv").write_text("age\n1\n2\n")
    for words, said in [
        (("--scale", "agee=nominal"), "scale not in the data: 'agee'. Did you mean 'age'?"),
        (("--scale", "age"), "--scale is written variable=scale, as in region=nominal; got 'age'."),
        (("--scale", "age=metric"), "scale of 'age' must be one of 'nominal', 'ordinal', 'numeric'; got 'metric'."),
    ]:
        assert run("describe", "a.csv", *words) == (2, "", f"tacita: {said}\n")


def test_join_takes_scales_of_either_file(run: Run) -> None:
    Path("h.csv").write_text("hid,region\n1,5\n2,6\n")
    Path("p.csv").write_text("hid,age\n1,31\n2,47\n")
    words = ("join", "h.csv", "p.csv", "--on", "hid", "--out", "j.parquet", "--overwrite", "--scale")
    assert run(*words, "age=nominal,region=ordinal")[0] == 0
    data = tc.read("j.parquet")
    assert (data.variable("age").scale, data.variable("region").scale) == ("nominal", "ordinal")
    assert "no file has 'agee'" in run(*words, "agee=nominal")[2]


# --- tables in memory ---


def test_a_column_of_several_types_blocks_no_other() -> None:
    mixed = [1, "zq-canary", None, 2.5, float("nan")]
    for table in (
        pd.DataFrame({"age": [1, 2, 3, 4, 5], "mixed": mixed}),
        pl.DataFrame({"age": [1, 2, 3, 4, 5], "mixed": pl.Series(mixed, dtype=pl.Object)}),
    ):
        with pytest.warns(TacitaWarning) as caught:
            data = tc.Data.of(table)
        said = "column 'mixed' mixes several types and is read as text; make it all text or all numbers."
        assert [str(each.message) for each in caught] == [said]
        assert data.table["mixed"].to_list() == ["1", "zq-canary", None, "2.5", None]
        assert list(data.to_native()["mixed"])[:2] == ["1", "zq-canary"], "given back as it was counted"
        assert tc.assess(data, tc.Scenario(keys=["age"])).safe is False
        assert "several types, read as text" in data.describe()["understood"][1]


def test_data_share_no_memory_with_a_table_of_pandas() -> None:
    people = pd.DataFrame({"age": [31, 47, 25], "share": [0.5, 1.5, 2.5]})
    data = tc.Data.of(people)
    people.loc[0, "share"] = 99.0
    people.iloc[1, 0] = 99
    assert data.table.rows() == [(31, 0.5), (47, 1.5), (25, 2.5)]
    back = data.to_native()
    assert back["share"].to_list() == [0.5, 1.5, 2.5]
    back.iloc[0, 1] = 99.0
    assert data.table["share"][0] == 0.5
    assert data.to_native()["share"][0] == 0.5


def test_recoded_categories_of_pandas_keep_their_order() -> None:
    people = pd.DataFrame({"age": [9, 25, 35, 105] * 5})
    release = tc.Plan([tc.Recode("age", breaks=[10, 30, 100])]).apply(people, tc.Scenario(keys=["age"]))
    age = release.data.to_native()["age"]
    assert age.cat.ordered
    assert list(age.cat.categories) == list(release.data.variable("age").order)
    assert list(age.cat.categories) != sorted(age.cat.categories)
    assert age.sort_values().iloc[0] == age.iloc[0]
