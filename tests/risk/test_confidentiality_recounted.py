"""Neighbours by weight, and among the records of an archive: against loops over all pairs."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError

SEEDS = st.integers(0, 10_000)
WHO = tc.Scenario(numeric_keys=["p", "q"], weight="w")


def files(n: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Firms in two industries with zeros, ties and blanks, as released, and an archive of others."""
    draw = np.random.default_rng(seed)

    def one(size: int) -> pl.DataFrame:
        values = draw.integers(0, 5, (size, 2)) * 1.0
        gone = draw.random(size) < 0.1
        return pl.DataFrame(
            {
                "p": [None if blank else value for blank, value in zip(gone, values[:, 0].tolist(), strict=True)],
                "q": values[:, 1].tolist(),
                "nace": [("A", "B")[at] for at in draw.integers(0, 2, size)],
                "w": draw.uniform(0.5, 40.0, size).round(3).tolist(),
            },
            schema_overrides={"p": pl.Float64},
        )

    original = one(n)
    noise = draw.choice([0.0, 0.5, 1.0], (2, n))
    released = original.with_columns(p=pl.col("p") + pl.Series(noise[0]), q=pl.col("q") + pl.Series(noise[1]))
    return original, released, one(n + 3)


def slow(released: pl.DataFrame, crowd: pl.DataFrame, delta: float, strata: bool, weighted: bool) -> list[float]:
    found = []
    for mine in released.iter_rows(named=True):
        total = 0.0
        for other in crowd.iter_rows(named=True):
            if other["p"] is None or other["q"] is None or (strata and other["nace"] != mine["nace"]):
                continue
            size = np.hypot(mine["p"], mine["q"])
            away = np.hypot(mine["p"] - other["p"], mine["q"] - other["q"])
            z = away / size if size > 0 else (np.inf if away > 0 else 0.0)
            total += (other["w"] if weighted else 1.0) * (z < delta)
        found.append(total)
    return found


@settings(max_examples=30)
@given(st.integers(4, 20), SEEDS, st.booleans(), st.booleans(), st.booleans())
def test_neighbours_are_those_of_all_pairs(n: int, seed: int, strata: bool, weighted: bool, archived: bool) -> None:
    original, released, archive = files(n, seed)
    if not (weighted or archived) or original["p"].null_count() == n or archive["p"].null_count() == n + 3:
        return
    options: dict[str, Any] = {"delta": 0.437, "strata": ["nace"] if strata else [], "weighted": weighted}
    found = tc.risk.confidentiality(original, released, WHO, archive=archive if archived else None, **options)
    shown = original["p"].is_not_null()
    crowd = archive if archived else original.filter(shown)
    expected = slow(released.filter(shown), crowd, 0.437, strata, weighted)
    np.testing.assert_allclose(found.neighbours, expected, rtol=1e-12)
    plain = tc.risk.confidentiality(original, released, WHO, ratio=False, delta=0.437, strata=options["strata"])
    assert found.correct.tolist() == plain.correct.tolist()
    assert found.perturbation.tolist() == plain.perturbation.tolist()


def test_delta_stays_that_of_the_two_files() -> None:
    original, released, archive = files(60, 5)
    plain = tc.risk.confidentiality(original, released, WHO, ratio=False)
    found = tc.risk.confidentiality(original, released, WHO, archive=archive)
    assert found.delta.tolist() == plain.delta.tolist()
    again = tc.risk.confidentiality(original, released, WHO, archive=original)
    assert again.neighbours.tolist() == plain.neighbours.tolist()
    ones = original.with_columns(w=pl.lit(1.0))
    alike = tc.risk.confidentiality(ones, released, WHO, weighted=True)
    assert alike.neighbours.tolist() == plain.neighbours.tolist()
    assert alike.unsafe.tolist() == plain.unsafe.tolist()


def test_what_is_printed() -> None:
    original, released, archive = files(30, 7)
    found = tc.risk.confidentiality(original, released, WHO, archive=archive, weighted=True, delta=0.3)
    text = str(found)
    assert "right one among the neighbours" not in text
    assert "neighbours are counted among" in text
    assert "neighbours count by their sampling weight" in text
    assert found.to_dict()["true_link_inside"] is None
    assert found.rows()[0].true_link_inside is None


def test_on_the_log_scale() -> None:
    original, released, archive = files(40, 8)
    found = tc.risk.confidentiality(original, released, WHO, archive=archive, log=True, delta=0.2)
    logs = [data.with_columns(p=pl.col("p").log1p(), q=pl.col("q").log1p()) for data in (released, archive)]
    assert found.neighbours.tolist() == slow(logs[0].filter(original["p"].is_not_null()), logs[1], 0.2, False, False)


def test_errors() -> None:
    original, released, archive = files(20, 9)
    with pytest.raises(TacitaError, match="the likelihood ratio counts originals one by one; leave out ratio"):
        tc.risk.confidentiality(original, released, WHO, weighted=True, ratio=True)
    with pytest.raises(
        TacitaError, match="an archive can be compared by relative, euclidean, manhattan, gower distance"
    ):
        tc.risk.confidentiality(original, released, WHO, archive=archive, metric="mahalanobis")
    with pytest.raises(TacitaError, match="weighted neighbours need weights; pass weight="):
        tc.risk.confidentiality(original, released, tc.Scenario(numeric_keys=["p"]), weighted=True)
    with pytest.raises(TacitaError, match="keys of the archive not in the data: 'p'"):
        tc.risk.confidentiality(original, released, WHO, archive=archive.drop("p"))
    lighter = original.with_columns(w=-pl.col("w"))
    with pytest.raises(TacitaError, match="weight 'w' must be positive; 20 values are negative"):
        tc.risk.confidentiality(lighter, released, WHO, weighted=True)
