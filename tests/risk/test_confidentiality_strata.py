"""Strata of the confidentiality plot: what alpha gives in each, and names that are all different."""

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.distance.scenario_keys import stratum_labels

DRAWS = np.random.default_rng(8)
FIRMS = pl.DataFrame({"x": DRAWS.lognormal(3, 1, 500), "town": ["a"] * 400 + ["b"] * 80 + ["c"] * 20})
MASKED = FIRMS.with_columns(x=pl.col("x") * DRAWS.lognormal(0, 0.3, 500))
WHO = tc.Scenario(numeric_keys=["x"])


def test_the_result_says_how_many_neighbours_alpha_gives() -> None:
    """0.05 times 499; by town 19.95, 3.95 and 0.95 neighbours, so that b and c are too small for k = 15."""
    whole = tc.risk.confidentiality(FIRMS, MASKED, WHO)
    assert whole.given_by_alpha == pytest.approx([24.95])
    assert whole.sentences()[-1] == "alpha = 0.05 gives a record alpha (n - 1) neighbours: 25, at least k = 15"
    by_town = tc.risk.confidentiality(FIRMS, MASKED, WHO, strata=["town"])
    assert by_town.given_by_alpha == pytest.approx([19.95, 3.95, 0.95])
    assert by_town.sentences()[-1] == (
        "alpha = 0.05 gives a record alpha (n - 1) neighbours: 0.95 to 20 by stratum, fewer than k = 15 in 2 of 3 "
        "strata with 100 records"
    )
    figures = by_town.to_dict()["neighbours_by_alpha"]
    assert (figures["strata_below_k"], figures["records_below_k"]) == (2, 100)
    # What is said of alpha is what is counted: neighbours are these and true links.
    mean = [by_town.neighbours[by_town.stratum == at].mean() for at in range(3)]
    inside = [by_town.inside[by_town.stratum == at].mean() for at in range(3)]
    assert np.subtract(mean, inside) == pytest.approx([19.95, 3.95, 0.95], abs=0.1)


def test_nothing_is_said_where_delta_was_given() -> None:
    found = tc.risk.confidentiality(FIRMS, MASKED, WHO, delta=0.1)
    assert found.given_by_alpha is None and "alpha" not in found.sentences()[-1]
    assert found.to_dict()["neighbours_by_alpha"] is None


def test_strata_of_several_columns_have_names_of_their_own() -> None:
    """'a x b' with 'c' and 'a' with 'b x c' were one row of every table."""
    split = pl.Series(["a x b", "a"] * 250), pl.Series(["c", "b x c"] * 250)
    files = [each.with_columns(one=split[0], two=split[1]) for each in (FIRMS, MASKED)]
    found = tc.risk.confidentiality(*files, WHO, strata=["one", "two"])
    assert found.labels == ("'a' x 'b x c'", "'a x b' x 'c'")
    assert found.to_frame()["stratum"].n_unique() == 2
    ranked = tc.risk.rank_linkage(*files, WHO, strata=["one", "two"])
    assert len(set(ranked.labels)) == 2


def test_a_text_that_looks_like_a_missing_value_is_another_stratum() -> None:
    assert stratum_labels([("(missing)",), (None,)]) == ("'(missing)'", "(missing)")
    assert stratum_labels([("x", "y"), ("x", None)]) == ("x x y", "x x (missing)")
    assert stratum_labels([]) == ()


def test_loss_goes_by_the_codes_of_the_scenario() -> None:
    """99 is not applicable: no number, so the range of the hours is 20, not 89."""
    hours = pl.DataFrame({"hours": [10.0, 99, 20, 30], "sex": list("ffmm")})
    moved = hours.with_columns(hours=pl.Series([10.0, 99, 30, 30]))
    who = tc.Scenario(keys=["hours", "sex"], not_applicable={"hours": [99]})
    found = tc.risk.categorical_confidentiality(hours, moved, who, k=2, unit="range")
    assert found.loss.tolist() == [0, 0, 0.25, 0]
