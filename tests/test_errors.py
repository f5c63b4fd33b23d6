"""Bad input gets one clear sentence, exit code 2 and nothing written; what can be assessed is assessed.

Every message is checked whole. No message quotes a cell of the data.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacita as tc

Run = Callable[..., tuple[int, str, str]]

PEOPLE = """sex,age,region,w,hid
f,31,north,20,1
f,31,north,20,1
f,31,north,20,2
m,47,south,30,3
m,47,south,30,3
m,47,south,30,4
"""


def people(column: str = "", values: str = "") -> str:
    """The small survey with one column's values replaced."""
    rows = [line.split(",") for line in PEOPLE.splitlines()]
    if column:
        place = rows[0].index(column)
        for row, value in zip(rows[1:], values.split(","), strict=True):
            row[place] = value
    return "\n".join(",".join(row) for row in rows) + "\n"


def test_the_small_survey_itself_is_fine(run: Run) -> None:
    Path("s.csv").write_text(PEOPLE)
    code, out, err = run("assess", "s.csv", "--keys", "sex,age", "--weight", "w", "--household", "hid")
    assert (code, err) == (0, "")
    assert out.startswith("NOT SAFE under this policy: a re-identification rate above 0.1 %.")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (PEOPLE, ["--keys", "sex,agee"], "keys not in the data: 'agee'. Did you mean 'age'?"),
        (
            PEOPLE,
            ["--keys", "zzz"],
            "keys not in the data: 'zzz'. The columns are 'sex', 'age', 'region', 'w', 'hid'.",
        ),
        (PEOPLE, ["--keys", "sex,sex"], "keys must be named once each; got 'sex' more than once."),
        (PEOPLE, [], "say what an intruder could know: --keys sex,age,region, or --scenario FILE."),
        (
            PEOPLE,
            ["--keys", "sex", "--weight", "weight"],
            "weight not in the data: 'weight'. The columns are 'sex', 'age', 'region', 'w', 'hid'.",
        ),
        (
            "sex,sex\nf,m\n",
            ["--keys", "sex"],
            "s.csv has several columns of one name: 'sex' (1, 2); rename all but one of each in its header.",
        ),
        ("", ["--keys", "sex"], "s.csv is empty; check that it was saved or exported completely."),
        (
            "sex,age\n",
            ["--keys", "sex"],
            "s.csv has a header but no records; check that it was saved or exported completely.",
        ),
        (
            "sex,age\nf,31\n",
            ["--keys", "sex"],
            "k must be at most the number of records, 1; got 3. Choose a smaller k, or false in the policy for none.",
        ),
        (
            PEOPLE,
            ["--keys", "sex", "--k", "7"],
            "k must be at most the number of records, 6; got 7. Choose a smaller k, or false in the policy for none.",
        ),
        (PEOPLE, ["--keys", "sex", "--k", "1"], "policy k must be at least 2; got 1."),
        (PEOPLE, ["--keys", "sex", "--risk", "1.5"], "policy risk must be in (0, 1]; got 1.5."),
        (PEOPLE, ["--keys", "sex", "--attack", "M6"], "attack must be one of 'M1', 'M2', 'M3', 'M4', 'M5'; got 'M6'."),
        (
            PEOPLE,
            ["--keys", "sex", "--attack", "M5"],
            "attack 'M5' needs weights; pass --weight or choose another attack.",
        ),
        (
            PEOPLE,
            ["--keys", "sex", "--missing", "wild"],
            "missing must be one of 'one_way', 'wildcard', 'conservative', 'partial', 'no_match', 'own_category', "
            "'sdcmicro'; got 'wild'.",
        ),
        (
            PEOPLE,
            ["--keys", "sex", "--population-size", "5"],
            "population_size must be at least the 6 records of the file; got 5.0.",
        ),
        (
            PEOPLE,
            ["--keys", "sex", "--weight", "w", "--sampling-fraction", "0.5"],
            "give one of weight, population_size and sampling_fraction; got weight and sampling_fraction.",
        ),
        (
            PEOPLE,
            ["--keys", "sex,w", "--weight", "w"],
            "weight 'w' cannot be a key at the same time; drop it from the keys.",
        ),
        (
            people("w", "20,-3,20,30,30,30"),
            ["--keys", "sex", "--weight", "w"],
            "weight 'w' must be positive; 1 value is negative (record 2), correct the file.",
        ),
        (
            people("w", "0,20,0,0,0,30"),
            ["--keys", "sex", "--weight", "w"],
            "weight 'w' must be positive; 4 values are zero (records 1, 3, 4, ...), correct the file.",
        ),
        (
            people("w", "20,,20,30,,30"),
            ["--keys", "sex", "--weight", "w"],
            "weight 'w' must be positive; 2 values are missing (records 2, 5), correct the file.",
        ),
        (
            people("w", "20,inf,20,30,30,30"),
            ["--keys", "sex", "--weight", "w"],
            "weight 'w' must be positive; 1 value is infinite (record 2), correct the file.",
        ),
        (
            people("w", "20,twenty,20,30,30,30"),
            ["--keys", "sex", "--weight", "w"],
            "column 'w' must hold numbers; it holds text.",
        ),
        (
            people("w", ",,,,,"),
            ["--keys", "sex", "--weight", "w"],
            "weight 'w' must be positive; 6 values are missing (records 1, 2, 3, ...), correct the file.",
        ),
        (
            people("age", "31.5,inf,31,47,47,-inf"),
            ["--keys", "age"],
            "key 'age' must be finite; 2 values are infinite (records 2, 6), correct the file.",
        ),
        (
            "a,b\n1,2\n3\n4,5\n",
            ["--keys", "a"],
            "s.csv is ragged: record 2 (line 3) has 1 field where the header has 2 (1 such record); quote fields that "
            "contain the delimiter, or pass --delimiter with the right one.",
        ),
    ],
)
def test_one_sentence(run: Run, text: str, words: list[str], message: str) -> None:
    Path("s.csv").write_text(text)
    assert run("assess", "s.csv", *words, "--out", "out") == (2, "", f"tacita: {message}\n")
    assert [each.name for each in Path().iterdir()] == ["s.csv"]


def test_conflicting_household_values(run: Run) -> None:
    Path("s.csv").write_text(people("region", "north,south,north,south,south,south"))
    Path("scenario.toml").write_text(
        '[scenario]\nkeys = ["sex"]\nhousehold = "hid"\nhousehold_variables = ["region"]\n'
    )
    message = (
        "household variable 'region' must be the same for all members; it differs in 1 household, correct the file or "
        "drop it from household_variables."
    )
    assert run("assess", "s.csv", "--scenario", "scenario.toml") == (2, "", f"tacita: {message}\n")


def test_scenario_files(run: Run) -> None:
    Path("s.csv").write_text(PEOPLE)
    for text, message in [
        ("keys = [", "s.toml is not valid TOML: Invalid value (at end of document)."),
        ("format = 1\n", "s.toml has no [scenario] table; add one."),
        ("format = 2\n[scenario]\n", "s.toml has format 2; this version reads format 1, update Tacita."),
        ('[scenario]\nkeyz = ["sex"]\n', "scenario has no field 'keyz'. Did you mean 'keys'?"),
        ("[scenario]\n", "a scenario must name at least one key; pass --keys."),
        ("[scenario]\nkeys = [1]\n", "keys must be a list of column names; got 1 in it."),
    ]:
        Path("s.toml").write_text(text)
        assert run("assess", "s.csv", "--scenario", "s.toml") == (2, "", f"tacita: {message}\n")
    message = "none.toml cannot be read: no such file or directory; check the path of the scenario."
    assert run("assess", "s.csv", "--scenario", "none.toml") == (2, "", f"tacita: {message}\n")


def test_paths(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("folder").mkdir()
    Path("survey.csv").write_text(PEOPLE)
    Path("cut.parquet").write_bytes(b"PAR1 and no more")
    for path, message in [
        ("folder", "'folder' is a folder; give the path of a file in it."),
        ("surveys.csv", "surveys.csv does not exist; did you mean 'survey.csv'?"),
        ("cut.parquet", "cut.parquet is cut off; check that it was saved or copied completely."),
        (
            "survey.docx",
            "survey.docx does not exist; did you mean 'survey.csv'?",
        ),
    ]:
        assert run("assess", path, "--keys", "sex") == (2, "", f"tacita: {message}\n")

    def refuse(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    message = "no permission to read survey.csv; check its rights."
    assert run("assess", "survey.csv", "--keys", "sex") == (2, "", f"tacita: {message}\n")


def test_an_existing_folder_is_refused(run: Run) -> None:
    Path("s.csv").write_text(PEOPLE)
    Path("out").mkdir()
    Path("out/mine.txt").write_text("keep")
    code, _, err = run("assess", "s.csv", "--keys", "sex", "--out", "out")
    assert code == 2
    assert err == "tacita: folder 'out' exists already; choose another name, or --overwrite to replace it.\n"
    assert Path("out/mine.txt").read_text() == "keep"


def test_text_that_is_not_utf8_is_read_with_a_word_about_it(run: Run) -> None:
    Path("s.csv").write_bytes("region,age\nKärnten,3\nKärnten,3\nKärnten,3\n".encode("windows-1252"))
    code, out, err = run("assess", "s.csv", "--keys", "region,age")
    assert code == 0
    assert "0 of 3 records violate 3-anonymity" in out
    assert err == (
        "tacita: s.csv is not UTF-8 (line 2) and was read as windows-1252; pass --encoding to say what it is.\n"
    )
    message = "s.csv is not 'utf-8' (line 2); pass --encoding with the right one."
    assert run("assess", "s.csv", "--keys", "region", "--encoding", "utf-8") == (2, "", f"tacita: {message}\n")


def test_weights_below_one_are_a_caution(run: Run) -> None:
    Path("s.csv").write_text(people("w", "0.5,0.5,0.5,30,30,30"))
    code, out, err = run("assess", "s.csv", "--keys", "sex", "--weight", "w")
    assert (code, err) == (0, "")
    text = (
        "weight 'w' is below 1 in 3 records: a unit stands for at least itself; where F would be below f the risk is "
        "1/f."
    )
    assert text in " ".join(out.split())
    survey = tc.read("s.csv")
    with pytest.warns(tc.TacitaWarning, match="below 1 in 3 records") as told:
        profile = tc.assess(survey, tc.Scenario(keys=["sex"], weight="w"))
    assert str(told[0].message) == text
    assert text in profile.cautions
    assert profile.individual.risk[:3].tolist() == [1 / 3] * 3


def test_constant_and_empty_keys_are_cautions(run: Run) -> None:
    Path("s.csv").write_text(people("region", ",,,,,").replace("47", "31"))
    code, out, err = run("assess", "s.csv", "--keys", "sex,age,region")
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert "key 'age' has the same value in every record and adds nothing; drop it, or check the file." in words
    assert "key 'region' is missing in every record and adds nothing; drop it, or check the file." in words
    assert "0 of 6 records violate 3-anonymity" in words


def test_a_key_of_a_million_values_is_named() -> None:
    n = 1_000_000
    frame = pl.DataFrame({"id": np.arange(n) * 7 + 11, "sex": np.arange(n) % 2})
    profile = tc.assess(frame, tc.Scenario(keys=["id", "sex"]))
    assert profile.k_anonymity.sample == (n, n, n)
    assert (
        "key 'id' has 1,000,000 different values; without it 0 of 1,000,000 unique records would be unique: recode it, "
        "for example to the next higher level of its code list, or group its rare values."
    ) in profile.cautions


def test_what_was_counted_is_said_where_persons_repeat() -> None:
    frame = pl.DataFrame({"sex": ["f", "f", "m"], "pid": [1, 1, 2]})
    profile = tc.assess(frame, tc.Scenario(keys=["sex"], person="pid"), tc.Policy(k=2))
    assert profile.k_anonymity.below(2) == 3
    assert profile.cautions[0] == (
        "3 records are of 2 units by 'pid': f, F and risk count units, and expected re-identifications the riskiest "
        "record of each."
    )


@pytest.mark.parametrize("name", ["a b", "it's", 'say "x"', "two\nlines", "naïve", "🦉", "a,b", "f", "record", "risk"])
def test_odd_column_names_work(run: Run, name: str) -> None:
    frame = pl.DataFrame({name: ["x", "x", "x", "y"], "w": [2.0, 2.0, 2.0, 2.0]})
    profile = tc.assess(frame, tc.Scenario(keys=[name], weight="w"))
    assert profile.k_anonymity.sample == (1, 1)
    assert profile.riskiest(1, values=True).height == 1
    tc.write(frame, "odd.csv")
    quoted = '"' + name.replace('"', '""') + '"'
    code, out, err = run("assess", "odd.csv", "--keys", quoted, "--weight", "w")
    assert (code, err) == (0, "")
    assert "1 of 4 records violate 3-anonymity" in out


def test_a_scenario_must_be_one() -> None:
    message = "scenario must be a Scenario; got list, pass Scenario(keys=[...]) or the path of a file 'scenario.toml'."
    for measure in (tc.assess, tc.risk.k_anonymity, tc.risk.individual_risk):
        with pytest.raises(tc.TacitaError) as error:
            measure(pl.DataFrame({"sex": ["f"]}), ["sex"])  # type: ignore[operator]
        assert str(error.value) == message


def test_describe_shows_scales_and_no_values(run: Run) -> None:
    Path("s.csv").write_text(people("region", "north,,north,south,south,south"))
    code, out, err = run("describe", "s.csv")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "6 records, 5 variables"
    assert out.splitlines()[4].split() == ["region", "nominal", "(inferred)", "2", "1", "text"]
    assert "north" not in out
