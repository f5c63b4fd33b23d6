"""A saved release made again from its plan and seed, and `tacita compare`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import tacita as tc
from tacita.check import TacitaError
from tacita.cli import app
from tacita.data.atomic import OFFICE_ONLY
from tacita.release.saved import is_saved_release, saved_release

SURVEY = tc.household_survey(150, population=4000, seed=2)
PLAN = tc.Plan([tc.Recode("age", width=20), tc.RandomOrder("households"), tc.Suppress(closed=False)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("saved")
    tc.write(SURVEY.data, home / "survey.parquet")
    release = PLAN.apply(tc.read(home / "survey.parquet"), SURVEY.scenario)
    release.save(home / "release", formats=["csv", "parquet"], accept_unsafe="a test", report=False)
    return home


def test_a_saved_release_is_made_again_record_by_record(folder: Path) -> None:
    original = tc.Data.of(tc.read(folder / "survey.parquet"))
    assert is_saved_release(folder / "release") and not is_saved_release(folder)
    again = saved_release(folder / "release", original)
    known = PLAN.apply(original, SURVEY.scenario, seed=again.seed)
    assert again.data.record.tolist() == known.data.record.tolist()
    assert again.data.record.tolist() != original.record.tolist()
    assert again.data.table.equals(known.data.table)


def test_another_original_is_noticed(folder: Path) -> None:
    other = tc.household_survey(150, population=4000, seed=3).data
    with pytest.raises(TacitaError, match="does not make its data from this original"):
        saved_release(folder / "release", other)


def run(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(done.exception, TacitaError):
        return 2, str(done.exception)
    return done.exit_code, done.output


def test_the_command_compares_a_folder_and_a_file(folder: Path) -> None:
    tc.write(PLAN.undo().undo().apply(SURVEY.data, SURVEY.scenario).data, folder / "coarse.csv", overwrite=True)
    code, said = run(
        "compare", folder / "survey.parquet", folder / "release", folder / "coarse.csv", "--fail-if-unsafe"
    )
    assert code == 1, said
    assert "What an intruder gains" in said and "release" in said and "coarse" in said
    assert "--verbose shows them" in said and "Individual risk" not in said
    code, more = run("compare", folder / "survey.parquet", folder / "release", "--verbose")
    assert code == 0 and "Individual risk" in more


def test_the_command_writes_one_page_for_the_office(folder: Path) -> None:
    out = folder / "compared"
    code, said = run("compare", folder / "survey.parquet", folder / "release", "--out", out)
    assert code == 0, said
    files = {path.name for path in (out / "internal").iterdir()} - {"files.txt"}
    assert files == {
        "comparison.html",
        "comparison.json",
        "comparison.txt",
        "comparison.parquet",
        "risk_utility_map.png",
    }
    assert (out / "internal").stat().st_mode & 0o077 == 0
    page = (out / "internal" / "comparison.html").read_text("utf-8")
    assert OFFICE_ONLY in page and "https://" not in page.split("<script>")[0]
    code, said = run("compare", folder / "survey.parquet", folder / "release", "--out", out)
    assert code == 2 and "--overwrite" in said


def test_the_command_writes_figures_of_each_release(folder: Path) -> None:
    out = folder / "figures"
    code, said = run("compare", folder / "survey.parquet", folder / "release", "--figures")
    assert code == 2 and "--out" in said
    code, said = run("compare", folder / "survey.parquet", folder / "release", "--out", out, "--figures")
    assert code == 0, said
    drawn = {path.name for path in (out / "internal").glob("release_1_*.png")}
    kinds = ("density", "bars", "boxes", "mosaic", "correlations", "lorenz")
    assert drawn == {*(f"release_1_before_after_{kind}.png" for kind in kinds), "release_1_confidentiality.png"}
