"""An original and its releases side by side."""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.comparison.comparison import Comparison
from tacita.reports.comparison_page import comparison_page
from tacita.reports.parts import first_upper
from tacita.result import Percent, cell_text

# Cautions about perturbed keys are part of what is compared.
pytestmark = pytest.mark.filterwarnings("ignore::tacita.check.Caution")

Run = Callable[..., tuple[int, str, str]]
SURVEY = tc.household_survey(250, population=6000, seed=4)
COARSE = tc.Plan([tc.Recode("age", width=20), tc.GroupRare(["citizenship"], least_share=0.1), tc.Suppress()])
PERTURBED = tc.Plan([tc.Pram(["citizenship", "region"]), tc.Noise(["income"], 0.2)])


@pytest.fixture(scope="module")
def releases() -> dict[str, tc.Release]:
    plans = {"coarse": COARSE, "perturbed": PERTURBED}
    return {name: plan.apply(SURVEY.data, SURVEY.scenario, seed=7) for name, plan in plans.items()}


@pytest.fixture(scope="module")
def compared(releases: dict[str, tc.Release]) -> Comparison:
    return tc.compare(SURVEY.data, releases, SURVEY.scenario)


def cell(compared: Comparison, title: str, row: str, column: str) -> object:
    (table,) = [each for each in compared.tables() if each.title == title]
    (found,) = [cells for cells in table.rows if cells[0] == row]
    return found[table.columns.index(column)]


GAINS, CHANGED = "What an intruder gains", "What was changed"


def test_every_figure_is_that_of_its_own_assessment(compared: Comparison, releases: dict[str, tc.Release]) -> None:
    before, after = tc.assess(SURVEY.data, SURVEY.scenario), releases["coarse"].assess()
    for column, profile in (("original", before), ("coarse", after)):
        assert cell(compared, GAINS, "records below k = 3", column) == profile.k_anonymity.below(3)
        assert cell(compared, GAINS, "expected re-identifications", column) == profile.expected
        assert cell(compared, GAINS, "re-identification rate", column) == Percent(profile.rate)
        assert cell(compared, GAINS, "highest individual risk", column) == profile.individual.risk.max()
    assert compared["coarse"].verdict == releases["coarse"].verdict


def test_counts_of_perturbed_keys_stand_in_brackets_and_are_not_assessed(compared: Comparison) -> None:
    shown = cell(compared, GAINS, "records below k = 3", "perturbed")
    assert isinstance(shown, str) and shown.startswith("(") and shown.endswith(")")
    assert not compared["perturbed"].safe and "were perturbed" in compared["perturbed"].verdict
    assert "Figures in brackets" in str(compared)
    assert compared.to_frame()["records below k = 3"].to_list()[2] is None


def test_changes_are_those_of_the_log(compared: Comparison, releases: dict[str, tc.Release]) -> None:
    (suppression,) = [each for each in releases["coarse"].changes if each.step.startswith("suppress")]
    assert cell(compared, CHANGED, "cells suppressed", "coarse") == sum(suppression.suppressed.values())
    assert cell(compared, CHANGED, "cells suppressed", "perturbed") == 0
    noisy = next(each for each in compared["perturbed"].changes if each.name == "income")
    assert noisy.changed == sum(change.cells.get("income", 0) for change in releases["perturbed"].changes)


def test_the_published_layout_stands_behind_the_first_screen(compared: Comparison) -> None:
    titles = [table.title for table in compared.tables()]
    assert titles[: len(compared.first_screen())] == [table.title for table in compared.first_screen()]
    behind = ["Records that violate k-anonymity", "Individual risk", "Global risk", "Cells changed and suppressed"]
    assert set(behind) <= set(titles)
    assert set(compared.frames()) == set(titles) - {table.title for table in compared.first_screen()}
    spread = compared.original.individual.spread
    assert cell(compared, "Individual risk", "First quartile", "original") == f"{spread.lower_quartile:.6f}"
    below = compared.original.k_anonymity.below(5)
    levels = next(table for table in compared.tables() if table.title == behind[0])
    assert levels.rows[2][1:3] == (below, f"{100 * below / len(SURVEY.data):.3f}")


def test_the_original_stands_beside_its_releases_by_what_an_intruder_finds_in_it(compared: Comparison) -> None:
    itself = tc.risk.external_risk(SURVEY.data, SURVEY.data, SURVEY.scenario)
    assert cell(compared, GAINS, "guesses right (expected)", "original") == Percent(itself.limited())
    assert compared.risk_utility().risks_before == (itself.limited(),)
    few = {"external_risk": {"variables": ["region", "sex"]}}
    asked = tc.compare(SURVEY.data, compared.released_data, SURVEY.scenario, measures=few)
    less = tc.risk.external_risk(SURVEY.data, SURVEY.data, SURVEY.scenario, variables=["region", "sex"])
    assert asked.risk_utility().risks_before == (less.limited(),) != (itself.limited(),)


def test_losses_are_shares(compared: Comparison) -> None:
    (table,) = [each for each in compared.first_screen() if each.title == "What a researcher loses"]
    assert all(isinstance(each, Percent) for row in table.rows for each in row[2:] if each is not None)


def test_the_page_says_which_release_is_safe_and_shows_every_figure(compared: Comparison) -> None:
    page = comparison_page(compared)
    safe = [each.name for each in compared.releases if each.safe]
    assert ("None of 2 releases keeps the policy" in page) == (not safe)
    assert all(f"of 2 releases keeps the policy: {name}" in page for name in safe)
    for table in compared.first_screen():
        for words, *cells in table.rows:
            if words != "verdict":
                assert first_upper(words) in page
                assert all(cell_text(each) in page for each in cells)
    for release in compared.releases:
        assert all(first_upper(each.why) in html.unescape(page) for each in release.verdicts if each.holds is False)
    assert "<script" not in page and "https://" not in page and page.count("http://") == page.count("http://www.w3.org")
    widths = [float(each) for each in re.findall(r'<i style="width: ([\d.]+)%', page)]
    assert widths and max(widths) == 100 and min(widths) >= 0


def test_a_removed_variable_is_not_suppressed_and_more_diversity_has_no_bar() -> None:
    people = SURVEY.data.take(np.arange(60))
    who = tc.Scenario(keys=["sex"], sensitive=["status"])
    policy = tc.Policy(k=2, risk=None, rate=None, limits={"l_diversity": 2})
    compared = tc.compare(people, {"less": people.without(["income"])}, who, policy)
    page = comparison_page(compared)
    assert "<dt>cells suppressed</dt><dd>0</dd>" in page
    (row,) = re.findall(r"<tr><th[^>]*>The smallest l.*?</tr>", page, flags=re.DOTALL)
    assert row.count("<td") == 2 and "<i " not in row


def test_many_releases_stand_below_each_other_on_the_page(releases: dict[str, tc.Release]) -> None:
    named = {f"copy {number}": releases["coarse"].data for number in range(6)}
    page = comparison_page(tc.compare(SURVEY.data, named, tc.Scenario(keys=["sex", "citizenship"])))
    assert page.count('<table class="bars">') == 6
    assert all(f"copy {number}" in page for number in range(6))


def test_the_original_is_taken_from_the_release_and_names_are_made(releases: dict[str, tc.Release]) -> None:
    compared = tc.compare(None, list(releases.values()))
    assert [each.name for each in compared.releases] == ["release", "release 2"]
    assert compared.scenario == SURVEY.scenario
    short = releases["coarse"].compare()
    assert short["release"].verdict == compared["release"].verdict


def test_a_release_gives_the_same_as_the_file_it_was_written_to(
    releases: dict[str, tc.Release], tmp_path: Path
) -> None:
    """Row by row, where the records kept their order."""
    tc.write(releases["perturbed"].data, tmp_path / "file.parquet")
    known = tc.compare(SURVEY.data, releases["perturbed"], SURVEY.scenario)
    read = tc.compare(SURVEY.data, tmp_path / "file.parquet", SURVEY.scenario)
    assert read.releases[0].name == "file"
    assert read.releases[0].changes == known.releases[0].changes
    for name in ("records", "dropped", "added"):
        assert getattr(read.releases[0], name) == getattr(known.releases[0], name)


def test_records_in_another_order_belong_together_by_a_column() -> None:
    original = pl.DataFrame({"id": range(30), "sex": ["f", "m", "m"] * 10, "age": list(range(30))})
    released = original.with_columns(age=pl.col("age") // 10).sample(fraction=1.0, shuffle=True, seed=1)[:25]
    released = pl.concat([released, pl.DataFrame({"id": [99], "sex": ["f"], "age": [1]})])
    compared = tc.compare(original, released, tc.Scenario(keys=["sex", "age"]), unit="id")
    (found,) = compared.releases
    assert (found.records, found.dropped, found.added) == (26, 5, 1)
    ages = next(each for each in found.changes if each.name == "age")
    kept = released.filter(pl.col("id") < 30)["id"]
    assert ages.changed == sum(age != age // 10 for age in kept)
    assert next(each for each in found.changes if each.name == "sex").changed == 0
    with pytest.raises(TacitaError, match="name a column that identifies them in both with unit="):
        tc.compare(original, released, tc.Scenario(keys=["sex", "age"]))


def test_relations_that_a_release_breaks_are_said(releases: dict[str, tc.Release]) -> None:
    compared = tc.compare(SURVEY.data, releases, SURVEY.scenario, rules=["income >= 0"])
    rows = {column: cell(compared, CHANGED, "declared relations broken", column) for column in releases}
    assert rows["coarse"] == "0 of 1"
    broken = compared["perturbed"].broken
    assert rows["perturbed"] == f"{len(broken)} of 1"
    assert all(str(each) in str(compared) for each in broken)


def test_a_limit_on_loss_says_nothing_of_safety(releases: dict[str, tc.Release]) -> None:
    nothing = {"k": None, "risk": None, "rate": None, "given_back": None}
    only_loss = tc.Policy(**nothing, limits={"value_loss": 0.9})
    alone = tc.compare(SURVEY.data, releases["coarse"], SURVEY.scenario, only_loss).releases[0]
    assert alone.word.startswith("NO VERDICT") and not alone.safe
    small = tc.Policy(k=None, risk=0.9, rate=None, given_back=None, limits={"value_loss": 1e-9})
    found = tc.compare(SURVEY.data, releases["coarse"], SURVEY.scenario, small).releases[0]
    assert found.loses_too_much and "it loses more than the policy allows" in found.verdict
    assert found.safe and found.verdict.startswith("SAFE under this policy; it loses more")


def test_what_cannot_be_compared_is_refused(releases: dict[str, tc.Release]) -> None:
    with pytest.raises(TacitaError, match="there is no release to compare"):
        tc.compare(SURVEY.data, [], SURVEY.scenario)
    with pytest.raises(TacitaError, match="a comparison needs a scenario"):
        tc.compare(SURVEY.data, SURVEY.data.table)
    with pytest.raises(TacitaError, match="needs the original file"):
        tc.compare(None, SURVEY.data.table, SURVEY.scenario)
    with pytest.raises(TacitaError, match="suda is a measure of one file"):
        tc.compare(SURVEY.data, releases, SURVEY.scenario, measures="suda")
    with pytest.raises(TacitaError, match="has none of the keys"):
        tc.compare(SURVEY.data, SURVEY.data.table.select("income"), SURVEY.scenario)
    with pytest.raises(TacitaError, match="release must be one of 'coarse', 'perturbed'"):
        _ = tc.compare(SURVEY.data, releases, SURVEY.scenario)["other"]


def test_nothing_that_is_printed_shows_a_cell_and_json_is_whole(compared: Comparison) -> None:
    text = json.loads(compared.to_json())
    assert set(text["releases"]) == {"coarse", "perturbed"}
    incomes = [str(value) for value in SURVEY.data.table["income"].to_list() if value and value > 100]
    said = compared.details() + compared.to_json() + compared._repr_html_() + repr(compared)
    assert not any(income in said for income in incomes)
    assert compared.to_frame()["file"].to_list() == ["original", "coarse", "perturbed"]


def test_many_releases_stand_below_each_other(releases: dict[str, tc.Release]) -> None:
    many = {f"plan {number}": releases["coarse"] for number in range(7)}
    compared = tc.compare(SURVEY.data, many, SURVEY.scenario)
    gains = [table for table in compared.first_screen() if table.title == GAINS]
    assert [len(table.columns) for table in gains] == [7, 4]
    assert compared.to_frame().height == 8


def test_the_map_places_every_release(compared: Comparison) -> None:
    found = compared.risk_utility(risk="rate")
    assert [each.name for each in found.points] == ["coarse", "perturbed"]
    assert found.points[0].risk == compared["coarse"].profile.rate
    assert found.points[1].risk != found.points[1].risk  # not measured by counts of perturbed keys
    assert found.points[0].risk_before == compared.original.rate
    assert found.risk_limit == tc.Policy().rate


def test_a_map_of_releases_whose_values_are_all_of_another_kind(run: Run, tmp_path: Path) -> None:
    """`tacita compare --out` ended in "loss must be one of ...; got 'value_loss'" where all was recoded to texts."""
    original = pl.DataFrame({"age": [20, 21, 30, 31] * 10, "income": [1, 2, 3, 4] * 10})
    plan = tc.Plan([tc.Recode("age", width=10), tc.Recode("income", breaks=[3])])
    release = plan.apply(original, tc.Scenario(keys=["age"]))
    for name, table in {"original": original, "released": release.data}.items():
        tc.write(table, tmp_path / f"{name}.parquet")
    files = (tmp_path / "original.parquet", tmp_path / "released.parquet")
    code, _, err = run("compare", *files, "--keys", "age", "--out", tmp_path / "out")
    assert (code, err) == (0, "")
    assert (tmp_path / "out" / "internal" / "risk_utility_map.png").exists()
