"""A release is modelled as it was before cells were suppressed, as far as its original tells."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.data import Data
from tacita.keys.refilled import Refilled, refilled
from tacita.keys.table import key_table

pytestmark = pytest.mark.latent
KEYS = ("region", "age")


def of(release: Any, original: Any, **more: Any) -> Refilled | None:
    scenario = tc.Scenario(**({"keys": KEYS} | more))
    data = Data.of(release).released_from(Data.of(original))
    return refilled(data, scenario, key_table(data, scenario))


def records(found: Refilled) -> list[tuple[Any, ...]]:
    """What the filled table says of each record."""
    table = found.table
    return [
        tuple(None if code == 0 else values[code - 1] for code, values in zip(key, table.values, strict=True))
        for key in table.codes[table.row].tolist()
    ]


def test_blanks_are_filled_as_the_same_value_was_released_elsewhere() -> None:
    original = pl.DataFrame({"region": ["n", "n", "s", "w", None], "age": [31, 34, 38, 52, 31]})
    release = pl.DataFrame({"region": ["n", None, "s", None, None], "age": [30, 30, None, None, 30]})
    found = of(release, original)
    assert found is not None
    # 38 and 52, and "w", are released nowhere: each is a category of its own. Nobody knew the region of the last.
    assert records(found) == [("n", 30), ("n", 30), ("s", ("age", 38)), ("w", ("age", 52)), (None, 30)]
    # The second, of whom 30 is known, counts the three who are 30; before suppression as after it.
    f = found.sample_count[key_table(release, tc.Scenario(keys=KEYS)).row]
    assert f.tolist() == [2, 3, 1, 5, 3]


def test_numbers_that_were_not_recoded_stay_numbers_in_order() -> None:
    original = pl.DataFrame({"region": ["n", "n", "s"], "age": [40, 20, 30]})
    release = original.with_columns(age=pl.Series([40, None, 30]))
    found = of(release, original)
    assert found is not None
    assert found.table.values == (("n", "s"), (20, 30, 40))
    assert records(found) == [("n", 40), ("n", 20), ("s", 30)]


@pytest.mark.parametrize("rule", ["wildcard", "own_category", "no_match"])
def test_where_a_blank_says_something_nothing_is_filled(rule: str) -> None:
    original = pl.DataFrame({"region": ["n", "n", "s"], "age": [40, 20, 30]})
    assert of(original.with_columns(age=pl.Series([40, None, 30])), original, missing=rule) is None


def test_values_that_were_released_as_several_are_not_filled() -> None:
    original = pl.DataFrame({"region": ["n"] * 4, "age": [20, 20, 30, 30]})
    assert of(original.with_columns(age=pl.Series([19, 21, 30, None])), original) is None
    # Without a way to tell which record is which there is nothing to fill in.
    assert of(original.with_columns(age=pl.Series([20, 20, 30, None]))[1:], original) is None
    assert of(original, original) is None


@pytest.mark.parametrize("person", [None, "person"])
@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_the_file_before(seed: int, person: str | None) -> None:
    draws = np.random.default_rng(seed)
    size = 60
    original = pl.DataFrame({
        "region": draws.choice(["n", "s", "w"], size), "age": draws.integers(0, 5, size),
        "w": draws.integers(1, 9, size) * 1.0, "person": draws.integers(0, 40, size),
    }).with_columns(pl.when(pl.Series(draws.random(size) < 0.9)).then("region"))  # fmt: skip
    shown = {name: pl.when(pl.Series(draws.random(size) < 0.7)).then(name) for name in KEYS}
    release = original.with_columns(**shown)
    found = of(release, original, weight="w", person=person)
    assert found is not None
    row = key_table(release, tc.Scenario(keys=KEYS)).row
    for at, wanted in enumerate(release.select(KEYS).iter_rows(named=True)):
        shows = {name: value for name, value in wanted.items() if value is not None}
        agree = original.filter(**shows) if shows else original
        by_unit = agree.group_by("person").agg(pl.col("w").mean()) if person else agree
        assert found.sample_count[row[at]] == len(by_unit)
        assert found.population_count[row[at]] == pytest.approx(max(by_unit["w"].sum(), len(by_unit)))


def test_the_risk_after_suppression_is_near_the_true_one() -> None:
    everybody = people(20_000, 1)
    sample = everybody.sample(1_200, seed=2).with_columns(w=pl.lit(20_000 / 1_200))
    scenario = tc.Scenario(keys=["region", "age", "status"], weight="w")
    release = tc.Plan([tc.Suppress(k=3, closed=False)]).apply(sample, scenario, seed=1)
    true = tc.risk.reidentification(release, scenario, register=everybody).expected
    found = tc.risk.reidentification(release, scenario)
    assert found.model == "latent"
    assert found.interval[0] <= true <= found.interval[1]
    assert found.expected == pytest.approx(true, rel=0.1)
    # The same by every way to the same release; without its original there is nothing to model.
    assert release.assess().main.reidentification.expected == found.expected
    assert tc.assess(release.data, scenario, original=sample).main.reidentification.expected == found.expected
    assert tc.risk.reidentification(release.data, scenario).model == "benedetti_franconi"


def people(size: int, seed: int) -> pl.DataFrame:
    draws = np.random.default_rng(seed)
    region = draws.choice(8, size, p=np.arange(1, 9) / 36)
    age = np.clip(draws.gamma(4, 10, size) + 2 * region, 0, 99).astype(int)
    status = (age > 20).astype(int) + (age > 62) + (draws.random(size) < 0.1) * draws.integers(0, 3, size)
    return pl.DataFrame({"region": region, "age": age, "status": status})


def test_what_a_release_is_of_is_forgotten_by_copies() -> None:
    data = Data.of(people(10, 1))
    known = data.released_from(data)
    assert known.remembering().before is data
    assert known.take(np.arange(3)).before is None
    assert known.rebuilt().before is None
    assert data.before is None
