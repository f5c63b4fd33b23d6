"""Noise on the Tarragona file beside the reference program's: the same where it is right, and not where it is wrong."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc

RUNS = 40
"""Other draws; the reference has 200, with the spread of every figure over them."""


def averages(table: pl.DataFrame, step: tc.Noise) -> dict[str, np.ndarray]:
    """Means, standard deviations and correlations of the noisy file, averaged over the draws."""
    who = tc.Scenario(numeric_keys=list(table.columns))
    files = [tc.Plan([step]).apply(table, who, seed=seed).data.table.to_numpy() for seed in range(RUNS)]
    return {
        "mean": np.mean([each.mean(axis=0) for each in files], axis=0),
        "sd": np.mean([each.std(axis=0, ddof=1) for each in files], axis=0),
        "cor": np.mean([np.corrcoef(each, rowvar=False) for each in files], axis=0),
    }


def correlations(reference: Any, case: str) -> np.ndarray:
    return pl.read_csv(reference.folder / "cases" / f"{case}.csv").drop("variable").to_numpy()


def step(table: pl.DataFrame, amount: float, method: str) -> tc.Noise:
    return tc.Noise(list(table.columns), amount, method=method, keep_zeros=False)


@pytest.mark.parametrize(("method", "amount"), [("additive", 0.2), ("correlated", np.sqrt(0.2))])
def test_means_deviations_and_correlations_are_the_reference_s(reference: Any, method: str, amount: float) -> None:
    """Its `noise = 20` is 0.2 of the standard deviation, but for correlated noise of the variance: 0.447 of the sd."""
    table = reference.data("Tarragona")
    case = f"distribution_Tarragona_addNoise_{method}"
    ours = averages(table, step(table, amount, method))
    theirs = pl.read_csv(reference.folder / "cases" / f"{case}.csv")
    assert theirs["variable"].to_list() == table.columns
    for name in ("mean", "sd"):
        allowed = 5 * theirs[f"{name}_out_sd"].to_numpy() * np.sqrt(1 / RUNS + 1 / 200)
        assert (np.abs(ours[name] - theirs[f"{name}_out_avg"].to_numpy()) < allowed).all(), name
    spread = correlations(reference, f"{case}__cor_out_sd")
    apart = np.abs(ours["cor"] - correlations(reference, f"{case}__cor_out_avg"))
    assert (apart <= 5 * spread * np.sqrt(1 / RUNS + 1 / 200) + 1e-9).all()


def test_delta_keeps_the_correlations_that_the_reference_loses(reference: Any) -> None:
    table = reference.data("Tarragona")
    ours = averages(table, step(table, 0.5, "delta"))
    before = correlations(reference, "distribution_Tarragona_addNoise_correlated2_d5__cor_in")
    theirs = correlations(reference, "distribution_Tarragona_addNoise_correlated2_d5__cor_out_avg")
    names = table.columns
    pair = names.index("SALES"), names.index("LABOR.COSTS")
    assert before[pair] == pytest.approx(0.649, abs=0.001)
    assert theirs[pair] == pytest.approx(0.490, abs=0.01)
    assert ours["cor"][pair] == pytest.approx(0.649, abs=0.01)
    assert np.abs(ours["cor"] - before).max() < 0.03
    moments = pl.read_csv(reference.folder / "cases" / "distribution_Tarragona_addNoise_correlated2_d5.csv")
    assert ours["sd"] == pytest.approx(moments["sd_out_avg"].to_numpy(), rel=0.02)


@pytest.mark.parametrize("method", ["exact", "romm"])
def test_means_and_covariances_are_kept_exactly(reference: Any, method: str) -> None:
    """All 834 records and 13 variables, some of them sums of others; the reference's ROMM takes 70 s and keeps none."""
    table = reference.data("Tarragona")
    who = tc.Scenario(numeric_keys=list(table.columns))
    made = tc.Plan([step(table, 0.5, method)]).apply(table, who, seed=1).data.table.to_numpy()
    was = table.to_numpy()
    sd = was.std(axis=0)
    assert np.abs((made.mean(axis=0) - was.mean(axis=0)) / sd).max() < 1e-10
    assert np.abs((np.cov(made, rowvar=False) - np.cov(was, rowvar=False)) / np.outer(sd, sd)).max() < 1e-10
    theirs = pl.read_csv(reference.folder / "cases" / "numeric_Tarragona_noise_ROMM__masked.csv").to_numpy()
    assert np.abs((theirs.mean(axis=0) - was.mean(axis=0)) / sd).max() > 1e-3


def test_restricted_noise_moves_records_and_not_means(reference: Any) -> None:
    """The reference adds none, and takes the mean of TREASURY from 19353 to 26664."""
    table = reference.data("Tarragona")
    ours = averages(table, step(table, 0.2, "restricted"))
    place = table.columns.index("TREASURY")
    assert ours["mean"][place] == pytest.approx(19353, rel=0.01)
    theirs = pl.read_csv(reference.folder / "cases" / "numeric_Tarragona_noise_restr__masked.csv")
    assert theirs["TREASURY"].mean() == pytest.approx(26664, abs=1)


def test_outliers_are_hidden(reference: Any) -> None:
    """The reference's noise for outliers is 1.4 % of the standard deviation for noise = 20; ours is 20 %."""
    table = reference.data("Tarragona")
    who = tc.Scenario(numeric_keys=list(table.columns))
    made = tc.Plan([step(table, 0.2, "outliers")]).apply(table, who, seed=1).data.table.to_numpy()
    was = table.to_numpy()
    moved = np.array([(made - was)[made[:, j] != was[:, j], j].std() for j in range(was.shape[1])]) / was.std(axis=0)
    assert moved == pytest.approx(0.2, rel=0.15)
    theirs = pl.read_csv(reference.folder / "cases" / "numeric_Tarragona_noise_outdect__masked.csv").to_numpy()
    assert ((theirs - was).std(axis=0) / was.std(axis=0)).max() < 0.03
