"""Who belongs together is what the original says, whatever identifier a released file shows, and whether it has one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.risk.identity.original_groups import same_groups

pytestmark = pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")

MONTHS = tc.Scenario(keys=["region", "age"], person="code")
ALIKE = tc.Policy(k=3, risk=None, rate=None)
MEMBERS = tc.Scenario(keys=["region", "sex"], weight="w", household="hid")
TOGETHER = tc.Policy(k=None, risk=None, rate=None, household_risk=0.008)


def panel(persons: int = 200, months: int = 6) -> pl.DataFrame:
    """Persons with six records each, all of which agree in region and age."""
    draws = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "code": np.repeat(draws.permutation(persons), months),
            "region": np.repeat(draws.integers(0, 30, persons), months),
            "age": np.repeat(draws.integers(0, 10, persons), months),
            "income": draws.integers(0, 1000, persons * months),
        }
    )


def households(size: int = 300) -> pl.DataFrame:
    """Households of one to three members."""
    draws = np.random.default_rng(2)
    members = draws.integers(1, 4, size)
    together = members.sum()
    return pl.DataFrame(
        {
            "hid": np.repeat(draws.permutation(size), members),
            "region": np.repeat(draws.integers(0, 60, size), members),
            "sex": draws.choice(["f", "m"], together),
            "w": np.full(together, 20.0),
        }
    )


PANEL, HOUSEHOLDS = panel(), households()


def moved(file: pl.DataFrame) -> pl.DataFrame:
    """The same rows in another order."""
    return file.sample(fraction=1.0, shuffle=True, seed=5)


def shuffled(file: pl.DataFrame, name: str) -> pl.DataFrame:
    """One column shuffled among the records."""
    return file.with_columns(pl.Series(name, np.random.default_rng(3).permutation(file[name].to_numpy())))


def numbered(file: pl.DataFrame, name: str) -> pl.DataFrame:
    """An identifier of each record in place of that of its unit."""
    return file.with_columns(pl.int_range(pl.len()).alias(name))


def renamed_anew(file: pl.DataFrame, name: str) -> pl.DataFrame:
    """Other identifiers of the same units."""
    return file.with_columns((pl.col(name) * 7 + 3).alias(name))


def the(profile: tc.RiskProfile, name: str) -> bool | None:
    """What is said of one limit."""
    (found,) = (each for each in profile.verdicts() if each.name == name)
    return found.holds


@pytest.mark.parametrize("change", [numbered, shuffled, renamed_anew])
def test_units_are_those_of_the_original_row_by_row(change: Callable[[pl.DataFrame, str], pl.DataFrame]) -> None:
    """Six months of a person were six persons once each had a number of its own."""
    expected = tc.assess(PANEL, MONTHS, ALIKE)
    found = tc.assess(change(PANEL, "code"), MONTHS, ALIKE, original=PANEL)
    assert not expected.safe and found.failures == expected.failures
    assert np.array_equal(found.k_anonymity.table.sample_count, expected.k_anonymity.table.sample_count)


@pytest.mark.parametrize("change", [numbered, shuffled])
def test_in_another_order_nobody_knows_the_units(change: Callable[[pl.DataFrame, str], pl.DataFrame]) -> None:
    found = tc.assess(moved(change(PANEL, "code")), MONTHS, ALIKE, original=PANEL)
    assert not found.safe and the(found, "k") is None
    assert any("how many units look alike is not known" in each for each in found.not_assessed)


def test_in_another_order_units_that_nobody_touched_are_judged() -> None:
    coarse = PANEL.with_columns(region=pl.col("region") // 10 * 10 + 100, age=pl.lit(None, dtype=pl.Int64))
    for released in (PANEL, coarse):
        expected = tc.assess(released, MONTHS, ALIKE)
        found = tc.assess(moved(renamed_anew(released, "code")), MONTHS, ALIKE, original=PANEL)
        assert the(found, "k") is the(expected, "k") is not None


def test_units_under_another_name_are_not_taken_on_trust() -> None:
    released = numbered(PANEL.drop("code"), "pid").select("region", "age", "pid", "income")
    who = tc.Scenario(keys=["region", "age"], person="pid")
    assert the(tc.assess(released, who, ALIKE, original=PANEL), "k") is None


def test_a_comparison_counts_units_whose_identifier_was_left_out() -> None:
    """The scenario names it: the file without it was SAFE beside an original that was not."""
    before = tc.assess(PANEL, MONTHS, ALIKE)
    (found,) = tc.compare(PANEL, PANEL.drop("code"), MONTHS, policy=ALIKE).releases
    assert found.profile.failures == before.failures and not found.safe
    some = PANEL.with_columns(row=pl.int_range(pl.len())).filter(pl.int_range(pl.len()) % 2 == 0)
    by_number = PANEL.with_columns(row=pl.int_range(pl.len()))
    (part,) = tc.compare(by_number, some.drop("code"), MONTHS, policy=ALIKE, unit="row").releases
    assert part.profile.failures == tc.assess(some, MONTHS, ALIKE).failures and not part.safe


def test_households_that_fell_apart_have_no_risk() -> None:
    """A member alone in her household is found no longer by the others: 0.016 became 0.005."""
    assert the(tc.assess(HOUSEHOLDS, MEMBERS, TOGETHER), "household_risk") is False
    for change in (numbered, shuffled):
        for file in (change(HOUSEHOLDS, "hid"), moved(change(HOUSEHOLDS, "hid"))):
            found = tc.assess(file, MEMBERS, TOGETHER, original=HOUSEHOLDS)
            assert not found.safe and the(found, "household_risk") is None
    for file in (HOUSEHOLDS, renamed_anew(HOUSEHOLDS, "hid"), moved(renamed_anew(HOUSEHOLDS, "hid"))):
        assert the(tc.assess(file, MEMBERS, TOGETHER, original=HOUSEHOLDS), "household_risk") is False


def test_households_under_another_name_are_not_taken_on_trust() -> None:
    who = tc.Scenario(keys=["region", "sex"], weight="w", household="h")
    found = tc.assess(HOUSEHOLDS.rename({"hid": "h"}), who, TOGETHER, original=HOUSEHOLDS)
    assert the(found, "household_risk") is None and any("under the same name" in each for each in found.not_assessed)


def test_households_and_units_on_an_engine(tmp_path: Path) -> None:
    HOUSEHOLDS.write_parquet(tmp_path / "original.parquet")
    for change, holds in ((numbered, None), (shuffled, None), (renamed_anew, False)):
        change(HOUSEHOLDS, "hid").write_parquet(tmp_path / "release.parquet")
        with tc.LargeData.of(tmp_path / "release.parquet", memory="1GB") as large:
            found = tc.assess(large, MEMBERS, TOGETHER, original=tmp_path / "original.parquet")
        assert not found.safe and the(found, "household_risk") is holds
    PANEL.write_parquet(tmp_path / "panel.parquet")
    numbered(PANEL, "code").write_parquet(tmp_path / "months.parquet")
    with (
        tc.LargeData.of(tmp_path / "months.parquet", memory="1GB") as large,
        pytest.raises(TacitaError, match="units with several records"),
    ):
        tc.assess(large, MONTHS, ALIKE, original=tmp_path / "panel.parquet")


def test_groups_are_the_same_where_the_same_records_are_together() -> None:
    draws = np.random.default_rng(4)
    for _ in range(50):
        size = int(draws.integers(1, 8))
        before, after = ([None if each == 0 else int(each) for each in draws.integers(0, 4, size)] for _ in "ab")
        rows = draws.permutation(size)
        rows[draws.random(size) < 0.2] = -1
        one, other = (tc.Data.of(pl.DataFrame({"g": pl.Series(each, dtype=pl.Int64)})) for each in (before, after))
        pairs = [(i, j) for i in range(size) for j in range(i) if rows[i] >= 0 and rows[j] >= 0]

        def together(values: list[int | None], i: int, j: int) -> bool:
            return values[i] is not None and values[i] == values[j]

        slow = all(together(after, i, j) == together(before, int(rows[i]), int(rows[j])) for i, j in pairs)
        assert same_groups(other, one, "g", rows) == slow
