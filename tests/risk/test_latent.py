"""The latent model of a file: what must hold whatever the file is like, and how near it comes to a known truth."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita import threads
from tacita.keys.table import key_table
from tacita.risk.population.latent.model import LatentModel, applies, digest, latent_model

pytestmark = pytest.mark.latent
KEYS = ("region", "sex", "age", "status")


def population(size: int = 30_000, seed: int = 1) -> pl.DataFrame:
    """People whose keys depend on each other."""
    draws = np.random.default_rng(seed)
    region = draws.choice(8, size, p=np.arange(1, 9) / 36)
    age = np.clip(draws.gamma(4, 10, size) + 2 * region, 0, 99).astype(int)
    status = (age > 20).astype(int) + (age > 62) + (draws.random(size) < 0.1) * draws.integers(0, 3, size)
    return pl.DataFrame({"region": region, "sex": draws.integers(0, 2, size), "age": age, "status": status})


def sample(size: int = 900, seed: int = 2, everybody: int = 30_000) -> pl.DataFrame:
    rows = np.random.default_rng(seed).choice(everybody, size, replace=False)
    return population(everybody)[np.sort(rows)].with_columns(w=pl.lit(everybody / size))


def with_missing(table: pl.DataFrame, share: float = 0.05) -> pl.DataFrame:
    draws = np.random.default_rng(3)
    return table.with_columns(
        pl.when(pl.Series(draws.random(len(table)) >= share)).then(pl.col(name)) for name in ("age", "status")
    )


def scenario(**more: Any) -> tc.Scenario:
    return tc.Scenario(**({"keys": KEYS, "weight": "w"} | more))


def by_record(model: LatentModel) -> np.ndarray:
    return model.table.per_record(model.risk)


def test_the_true_figure_lies_in_the_interval_and_the_estimate_is_near() -> None:
    everybody = population()
    table = sample(1500)
    truth = table.join(everybody.group_by(KEYS).len(), on=KEYS, how="left")["len"].to_numpy()
    model = latent_model(table, scenario())
    true = (1 / truth).sum()
    low, high = model.interval()
    assert low <= true <= high
    assert model.expected() == pytest.approx(true, rel=0.12)
    assert tc.risk.reidentification(table, scenario(), model="benedetti_franconi").expected < 0.8 * true
    assert model.population_uniques == pytest.approx((truth == 1).sum(), rel=0.35)
    few = model.table.per_record(model.quantile(0.05))
    assert (truth < few).mean() < 0.05
    assert (truth > model.table.per_record(model.quantile(0.95))).mean() < 0.08


def test_independent_keys_give_the_analytic_value() -> None:
    # Known shares: the expected number of others with the key of each record is N times its share.
    draws, size, everybody = np.random.default_rng(4), 2000, 100_000
    shares = [draws.dirichlet(np.full(values, 0.6)) for values in (30, 12, 9)]
    codes = np.column_stack([draws.choice(len(share), size, p=share) for share in shares])
    table = pl.DataFrame({f"k{j}": [f"v{code}" for code in codes[:, j]] for j in range(3)})
    m = (everybody - size) * np.prod([share[codes[:, j]] for j, share in enumerate(shares)], axis=0)
    model = latent_model(table, tc.Scenario(keys=["k0", "k1", "k2"], population_size=everybody))
    f = model.table.per_record(model.table.sample_count)
    # E 1/(f + Poisson(m)), integrated plainly.
    z = (np.arange(20_000) + 0.5) / 20_000
    analytic = sum(float((z ** (each - 1) * np.exp(-mean * (1 - z))).mean()) for each, mean in zip(f, m, strict=True))
    low, high = model.interval()
    assert low <= analytic <= high
    assert model.expected() == pytest.approx(analytic, rel=0.08)


def test_an_interval_is_that_of_the_attack_asked_for() -> None:
    """The last one is kept: not for another attack, and not for the same one changed in place."""
    model = latent_model(sample(400), scenario())
    every = model.table.records.astype(np.float64)
    half = every / 2
    of_all, of_half = model.interval(), model.interval(half)
    assert model.interval(every) == of_all == model.interval()
    assert model.interval(half) == of_half != of_all
    half *= 2
    assert model.interval(half) == of_all
    assert model.interval(np.zeros(len(every))) == (0.0, 0.0)


@pytest.mark.parametrize("rule", ["one_way", "wildcard", "no_match", "own_category", "conservative", "partial(0.5)"])
def test_records_in_another_order_have_the_same_risk(rule: str) -> None:
    table = with_missing(sample(400))
    order = np.random.default_rng(5).permutation(len(table))
    weights = pl.Series("w", np.random.default_rng(6).gamma(8, 4, len(table)))
    table = table.with_columns(weights)
    first, second = (latent_model(each, scenario(missing=rule)) for each in (table, table[order]))
    np.testing.assert_array_equal(by_record(first)[order], by_record(second))
    assert first.interval() == second.interval()
    risk = by_record(first)
    assert ((risk > 0) & (risk <= 1 / first.table.per_record(first.table.sample_count) + 1e-12)).all()


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = sample(400)
    usual = latent_model(table, scenario())
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 1)
    alone = latent_model(table, scenario())
    np.testing.assert_array_equal(usual.risk, alone.risk)
    assert usual.interval() == alone.interval()


def test_a_census_by_weights_has_risk_one_in_f() -> None:
    model = latent_model(with_missing(sample()).with_columns(w=pl.lit(1.0)), scenario())
    np.testing.assert_array_equal(model.risk, 1 / model.table.sample_count)


def test_under_no_match_a_blank_is_alone_as_the_rule_says() -> None:
    table = with_missing(sample())
    model = latent_model(table, scenario(missing="no_match"))
    plain = tc.risk.individual_risk(table, scenario(missing="no_match"), model="benedetti_franconi")
    blank = ~model.table.complete
    assert blank.any()
    np.testing.assert_allclose(model.risk[blank], plain.base[blank], rtol=1e-12)
    assert not np.allclose(model.risk[~blank], plain.base[~blank], rtol=0.1)


def test_missing_values_do_not_move_the_risk_of_those_who_answered_far() -> None:
    table = sample(1500)
    blanked = with_missing(table, 0.1)
    whole, part = latent_model(table, scenario()), latent_model(blanked, scenario())
    complete = blanked.select(pl.all_horizontal(pl.col(KEYS).is_not_null())).to_series().to_numpy()
    assert by_record(part)[complete].sum() == pytest.approx(by_record(whole)[complete].sum(), rel=0.1)


@pytest.mark.parametrize(
    "keys",
    [
        {"k": np.zeros(150)},
        {"k": np.arange(150) // 2},
        {"k": np.arange(150)},
        {"k": np.arange(150), "l": np.arange(150)[::-1]},
        {"k": np.arange(150) % 7, "l": [None if i % 50 == 0 else "x" for i in range(150)]},
        {f"k{j}": np.random.default_rng(j).integers(0, 3, 150) for j in range(30)},
    ],
    ids=["one cell", "one key", "all unique", "two identifiers", "one value", "30 keys"],
)
def test_odd_files_have_a_risk(keys: dict[str, Any]) -> None:
    table = pl.DataFrame(keys, strict=False).with_columns(w=pl.lit(10.0))
    model = latent_model(table, tc.Scenario(keys=list(keys), weight="w"))
    f = model.table.sample_count
    assert (model.risk <= 1 / f).all()
    assert (model.risk > 0).all()
    low, high = model.interval()
    assert 0 < low <= model.expected() <= high


def test_a_unit_counts_once() -> None:
    table = sample(500).with_row_index("person")
    twice = pl.concat([table, table[:200]])
    single = latent_model(table, scenario())
    double = latent_model(twice, scenario(person="person"))
    np.testing.assert_allclose(double.risk, single.risk, rtol=1e-9)


def test_too_few_or_known_files_are_left_to_the_other_model() -> None:
    from tacita.keys.table import key_table

    assert applies(key_table(sample(100), scenario()))
    assert not applies(key_table(sample(99), scenario()))
    assert not applies(key_table(sample(500), scenario(weight=None)))
    assert not applies(key_table(sample(500), scenario(), register=population()))
    assert not applies(key_table(sample(150).with_columns(age=pl.lit(None, pl.Int64)), scenario()))


def test_progress_rises_to_the_end() -> None:
    heard: list[float] = []
    latent_model(sample(300), scenario(), progress=lambda done, what: heard.append(done))
    assert heard == sorted(heard)
    assert 0 <= heard[0] < 0.01
    assert len(heard) >= 4


def test_files_of_numbers_and_of_yes_and_no_have_models_of_their_own() -> None:
    """0 and 1 are neighbours on a scale, no and yes are not: the second file was given the model of the first."""
    numbers = pl.DataFrame({"x": [0, 1] * 60, "y": [1, 2, 3] * 40})
    tables = [
        key_table(tc.Data.of(table), tc.Scenario(keys=["x", "y"]))
        for table in (numbers, numbers.clone(), numbers.with_columns(pl.col("x").cast(pl.Boolean)))
    ]
    first, same, other = (digest(each, None) for each in tables)
    assert first == same != other
