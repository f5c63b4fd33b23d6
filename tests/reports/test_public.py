"""The public edition tells how to use the data, and nothing that helps an intruder."""

import dataclasses
import logging
import re
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.mechanism import KINDS
from tacita.protect.steps import own_steps
from tacita.release.public_account import PublicChange

CANARIES = ("Quetzalcoatlus", "Paraceratherium")
NUMBER = 7_351_994_623.25
"""A number that stands nowhere by chance."""
WHO = tc.Scenario(keys=["job", "town", "sex"], numeric_keys=["income"], weight="w")
FIRST_RECORD = 81_735_000_000
SEED = 0x5EEDED0FF1CE5EEDED0FF1CE


def people(records: int, seed: int) -> pl.DataFrame:
    """A file in which one person has a job, a town and an income that nobody else has."""
    draws = np.random.default_rng(seed)
    income = np.round(draws.lognormal(10, 1, records), 2)
    income[3] = NUMBER
    job = draws.choice(["baker", "smith", "farmer"], records)
    town = draws.choice(["north", "south"], records)
    table = {"job": job.astype(object), "town": town.astype(object), "sex": draws.choice(["f", "m"], records)}
    table["job"][3], table["town"][3] = CANARIES
    return pl.DataFrame(
        {name: list(column) for name, column in table.items()} | {"income": income, "w": [20.0] * records}
    )


PLANS = {
    "removed": [tc.Remove(["job", "town", "income"])],
    "grouped": [
        tc.GroupRare(["job", "town"], least=2),
        tc.TopCode("income", share=0.1, value="mean"),
        tc.RoundWeights(),
    ],
    "averaged": [tc.Suppress(k=3), tc.Microaggregate(["income"], k=5), tc.RandomOrder()],
    "synthetic": [tc.Remove(["job", "town"]), tc.Noise(["income"], 0.5), tc.TopCode("income", share=0.2)],
}


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=st.sampled_from(sorted(PLANS)), records=st.integers(30, 120), seed=st.integers(0, 99))
def test_no_original_value_is_in_what_is_published_or_logged(
    plan: str, records: int, seed: int, caplog: pytest.LogCaptureFixture, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("release")
    with caplog.at_level(logging.DEBUG):
        release = tc.Plan(PLANS[plan]).apply(people(records, seed), WHO, seed=SEED)
        out = release.save(folder / "out", accept_unsafe="a test", formats=["csv"])
    published = "public" if release.safe else "not_for_publication"
    marks = (*CANARIES, f"{NUMBER:.2f}", f"{NUMBER:,.2f}", f"{NUMBER:g}", f"{NUMBER:.0f}")
    for name in (f"{published}/report.html", f"{published}/codebook.xml", f"{published}/codebook.csv"):
        text = (out / name).read_text("utf-8")
        assert [mark for mark in marks if mark in text] == []
    for text in (caplog.text, (out / "internal/log.txt").read_text("utf-8"), (out / "internal/log.json").read_text()):
        assert [mark for mark in marks if mark in text] == []
    told = (out / published / "report.html").read_text("utf-8")
    assert f"{SEED:x}" not in told
    assert str(SEED) not in told


@pytest.fixture(scope="module")
def survey() -> tc.DemoSurvey:
    return tc.household_survey(400, population=10_000)


@pytest.fixture(scope="module")
def release(survey: tc.DemoSurvey) -> tc.Release:
    plan = tc.Plan(
        [
            tc.Remove("person"),
            tc.Recode("age", width=20),
            tc.Pram(["region"], pd=0.8, publish_matrix=True),
            tc.Noise(["income"], 0.2),
            tc.RoundWeights(),
            tc.Suppress(k=3),
        ]
    )
    numbered = dataclasses.replace(survey.data, numbers_of_records=np.arange(len(survey.data)) + FIRST_RECORD)
    made = plan.apply(numbered, survey.scenario, seed=SEED)
    with warnings.catch_warnings():
        # Counts of a perturbed key are no risk, and say so when they are first worked out.
        warnings.simplefilter("ignore", tc.TacitaWarning)
        made.compare()
    return made


def test_what_users_are_told(release: tc.Release) -> None:
    text = tc.report(release, edition="public").html
    for said in (
        "Person: taken out of the file.",
        "Age: recoded into coarser classes (width).",
        "exchanged at random for other categories with known probabilities (PRAM)",
        "Use weight in every estimate",
        "transition_matrices.json beside the data holds the probabilities",
        KINDS["noise"].advice,
        "Values of region, income are not those of real units",
        "Information loss in values (lambda): ",
        "It was changed to protect those in it from being recognised.",
        "0 % every value as it was, 100 % none left",
        "Codebook",
    ):
        assert said in text.replace("&#39;", "'"), said


def test_no_seed_no_record_number_no_risk(release: tc.Release) -> None:
    text = tc.report(release, edition="public").html
    assert str(SEED) not in text
    assert f"{SEED:x}" not in text
    assert release.data.record[0] >= FIRST_RECORD
    assert str(FIRST_RECORD)[:6] not in text.replace(",", "")
    words = text.partition("<body")[2]
    for word in (
        "seed",
        "record number",
        "re-identif",
        "k-anonymity",
        "riskiest",
        "household risk",
        "intruder",
        "unsafe",
    ):
        assert word not in words.lower()
    # The threshold of suppression stands nowhere.
    assert not re.search(r"\bk\s*=?\s*3\b", words)


def test_the_public_edition_does_not_know_more_than_its_account(release: tc.Release) -> None:
    """It is handed names, released counts and rounded losses: nothing that could be shown by mistake."""
    told = release.account(internal=False).public
    assert set(vars(told)) == {"file", "steps", "advice", "losses", "loss_by_variable", "matrices", "safe"}
    assert all(re.fullmatch(r"-?\d+(\.\d+)?( %)?", each.value) for each in told.losses)


@pytest.mark.parametrize(
    ("gone", "shown"), [(0, None), (4, None), (9, None), (10, 10), (60, 60), (195, None), (200, 200)]
)
def test_small_counts_are_withheld(gone: int, shown: int | None) -> None:
    """Of 200 records; with 195 suppressed only 5 are as they were, which the difference would tell."""
    table = pl.DataFrame({"x": ["rare"] * gone + ["common"] * (200 - gone), "y": ["a", "b"] * 100})
    plan = tc.Plan([tc.Recode("x", mapping={"rare": "other"})]) if gone else tc.Plan([])
    told = plan.apply(table, tc.Scenario(keys=["x"])).account(internal=False).public
    changes = [change for step in told.steps for change in step.changes]
    expected = [] if not gone else [PublicChange("x", "recoded into coarser classes (mapping)", shown, 0)]
    assert changes == expected


@pytest.mark.parametrize("step", own_steps(), ids=lambda step: step.kind())
def test_what_is_public_of_every_kind_has_words(step: type[tc.Step]) -> None:
    """Kinds that steps name in their source are known to `KINDS`, with a sentence that goes on after the names."""
    source = Path(__import__("sys").modules[step.__module__].__file__ or "").read_text("utf-8")
    for kind in re.findall(r'Mechanism\(\s*"([a-z ]+)"', source):
        assert kind in KINDS
    assert all(kind.done and not kind.done.endswith(".") for kind in KINDS.values())
    assert all(not kind.advice or kind.advice.endswith(".") for kind in KINDS.values())


def test_a_kind_from_elsewhere_is_named() -> None:
    from tacita.release.public_account import _sentences
    from tacita.release.step_log import Changes

    mechanism = {
        "kind": "blurring",
        "variables": ["x"],
        "parameters": {"width": 3, "cells": {"x": 2}},
        "perturbs": True,
    }
    change = Changes("blur", "blur()", {"x": 20}, {}, 20, 0, 0, (), (), False, public=(mechanism,))
    # A count in a table of counts has no place in a sentence.
    assert list(_sentences(change)) == ["x: changed by blurring (width 3)."]
