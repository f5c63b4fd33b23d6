"""Small things at which users stopped trusting: one test for each that has no better place."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.protect.steps import own_steps

Run = Callable[..., tuple[int, str, str]]


def test_pairs_and_triples_take_no_more_cells_than_all_four_keys() -> None:
    """Suppressed to pairs and triples these six records lost 14 cells, to all four keys, which is more, only 12."""
    rows = ["1322", "2312", "1232", "1213", "3323", "2122"]
    people = pl.DataFrame({f"k{place}": [int(row[place]) for row in rows] for place in range(4)})
    who = tc.Scenario(keys=people.columns)
    steps = tc.Suppress(combs={2: 2, 3: 2}, closed=False), tc.Suppress(k=2, closed=False)
    some, every = (sum(tc.Plan([step]).apply(people, who).changes[0].suppressed.values()) for step in steps)
    assert some <= every == 12


PEOPLE = pl.DataFrame({"x": np.random.default_rng(5).permutation(400) + 1.0, "k": ["a", "b"] * 200})
SHARES = {
    "top_code": lambda share: tc.TopCode("x", share=share),
    "bottom_code": lambda share: tc.BottomCode("x", share=share),
    "trim_weights": lambda share: tc.TrimWeights(share=share),
}


def test_share_means_the_share_of_records_touched_in_every_step() -> None:
    """In one step it was a quantile, in another a rarity, the width of a window or a sampling fraction."""
    assert {step.kind() for step in own_steps() if "share" in {each.name for each in step.parameters()}} == set(SHARES)
    ways = [each.name for step in own_steps() for way in step.ways.values() for each in way.parameters()]
    assert "share" not in ways


@pytest.mark.parametrize("share", [0.01, 0.1, 0.25])
@pytest.mark.parametrize("kind", SHARES)
def test_a_step_touches_the_share_of_the_records_that_it_is_given(kind: str, share: float) -> None:
    release = tc.Plan([SHARES[kind](share)]).apply(PEOPLE, tc.Scenario(keys=["k"], weight="x"))
    change = release.changes[0]
    touched = change.figures["above"] if kind == "trim_weights" else change.records
    assert touched == share * len(PEOPLE)


def test_units_and_identifiers_are_declared_on_the_command_line(run: Run, tmp_path: Path) -> None:
    """The advice was "declare person = 'nr'" and "name them in identifiers", for which no option was there."""
    years = pl.concat([pl.DataFrame({"nr": range(60), "ssn": [f"{at:09}" for at in range(60)]})] * 3)
    years.with_columns(sex=pl.when(pl.col("nr") < 2).then(pl.lit("f")).otherwise(pl.lit("m"))).write_csv(
        tmp_path / "panel.csv"
    )
    words = ["--keys", "sex", "--population-size", "90000", "--k", "3"]
    said = [run("assess", tmp_path / "panel.csv", *words, *more)[1] for more in ([], ["--person", "nr"])]
    assert said[0].startswith("NOT ASSESSED") and "person = 'nr'" in said[0]
    assert said[1].startswith("NOT SAFE under this policy: 6 records below k = 3")
    assert "direct identifiers are not declared" in " ".join(said[1].split())
    (tmp_path / "plan.toml").write_text('format = 1\n[[plan.steps]]\nstep = "remove"\n')
    declared = ["--person", "nr", "--identifiers", "ssn", "--plan", tmp_path / "plan.toml", "--out", tmp_path / "out"]
    code, out, _ = run("protect", tmp_path / "panel.csv", *words, *declared)
    assert code == 1 and "removed 'ssn'" in out and "not declared" not in out
