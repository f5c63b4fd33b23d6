"""A released file is judged by the weights that its records were drawn with, whatever stands beside them now."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.risk.identity.weight_pairing import went_to_one_class

pytestmark = pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")

WHO = tc.Scenario(keys=["sex", "region"], weight="w")
LIMITS = tc.Policy(k=None, risk=None, rate=0.001)


def persons(size: int = 6000, seed: int = 3) -> pl.DataFrame:
    """Nine of sixty regions were surveyed in full, of the others one person in 2,000."""
    draws = np.random.default_rng(seed)
    region = draws.integers(0, 60, size)
    return pl.DataFrame(
        {
            "sex": draws.choice(["f", "m"], size),
            "region": region,
            "age": draws.integers(0, 90, size),
            "income": draws.integers(0, 400, size),
            "w": np.where(region < 9, 1.0, 2000.0),
        }
    )


PEOPLE = persons()


def moved(people: pl.DataFrame, seed: int = 7) -> pl.DataFrame:
    """The weights shuffled among the records."""
    return people.with_columns(w=pl.Series(np.random.default_rng(seed).permutation(people["w"].to_numpy())))


def rows_moved(people: pl.DataFrame) -> pl.DataFrame:
    """The same rows in another order."""
    return people.sample(fraction=1.0, shuffle=True, seed=5)


def shown(profile: tc.RiskProfile) -> bool | None:
    """What is said of the rate."""
    (rate,) = (each for each in profile.verdicts(LIMITS) if each.name == "rate")
    return rate.holds


def test_weights_shuffled_among_the_records_do_not_make_a_file_safe() -> None:
    """18 expected re-identifications became 0.07: the shuffled weights are the same numbers when sorted."""
    before = tc.assess(PEOPLE, WHO, LIMITS)
    assert not before.safe and before.expected > 10
    # Row by row the other columns tell whose weight was whose.
    assert tc.assess(moved(PEOPLE), WHO, LIMITS, original=PEOPLE).expected == pytest.approx(before.expected)
    # In another order nothing does.
    after = tc.assess(rows_moved(moved(PEOPLE)), WHO, LIMITS, original=PEOPLE)
    assert not after.safe and shown(after) is None
    assert any("stands beside other records than in the original" in each.why for each in after.verdicts(LIMITS))


def test_keys_shuffled_in_place_of_weights_neither() -> None:
    """Weights and rows stay where they were; the keys move together."""
    keys = PEOPLE.select("sex", "region").sample(fraction=1.0, shuffle=True, seed=1)
    after = tc.assess(PEOPLE.with_columns(keys), WHO, LIMITS, original=PEOPLE)
    assert not after.safe and shown(after) is None


CHANGED: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "nothing": lambda people: people,
    "recoded": lambda people: people.with_columns(region=pl.col("region") // 10 * 10),
    "new labels": lambda people: people.with_columns(region=pl.format("from {}", pl.col("region") // 10 * 10)),
    "suppressed": lambda people: people.with_columns(
        region=pl.when(pl.int_range(pl.len()) % 50 != 0).then("region"), sex=pl.when(pl.col("age") < 80).then("sex")
    ),
    "recoded here and there": lambda people: people.with_columns(
        region=pl.when(pl.col("age") < 60).then(pl.col("region")).otherwise(100 + pl.col("region") // 10)
    ),
    "no other column": lambda people: people.select("sex", "region", "w"),
    "numbers masked": lambda people: people.with_columns(income=pl.col("income") + 0.5),
}


@pytest.mark.parametrize("name", CHANGED)
def test_weights_that_nobody_moved_are_taken_as_they_are_in_any_order(name: str) -> None:
    for who in (WHO, tc.Scenario(keys=["sex", "region", "age"], weight="w")):
        released = CHANGED[name](PEOPLE)
        if set(who.keys) <= set(released.columns):
            expected = tc.assess(released, who, LIMITS).expected
            for file in (released, rows_moved(released), released.sort("region", "sex", maintain_order=True)):
                profile = tc.assess(file, who, LIMITS, original=PEOPLE)
                assert profile.expected == pytest.approx(expected) and shown(profile) is not None


@pytest.mark.parametrize("name", [name for name in CHANGED if name != "no other column"])
def test_shuffled_weights_are_found_whatever_else_was_done(name: str) -> None:
    released = CHANGED[name](PEOPLE)
    after = tc.assess(rows_moved(moved(released)), WHO, LIMITS, original=PEOPLE)
    assert not after.safe and shown(after) is None


def test_identifiers_given_out_again_do_not_stand_in_the_way() -> None:
    numbered = PEOPLE.with_columns(row=pl.int_range(pl.len()))
    again = rows_moved(numbered).with_columns(row=pl.int_range(pl.len()))
    profile = tc.assess(again, WHO, LIMITS, original=numbered)
    assert profile.expected == pytest.approx(tc.assess(PEOPLE, WHO, LIMITS).expected)


def test_by_record_number_shuffled_weights_are_told_apart() -> None:
    survey = tc.Data.of(PEOPLE)
    numbers = np.random.default_rng(2).permutation(len(PEOPLE))
    released = tc.Data(moved(PEOPLE[numbers]), numbers_of_records=numbers + 1)
    assert tc.assess(released, WHO, LIMITS, original=survey).expected == pytest.approx(
        tc.assess(PEOPLE, WHO, LIMITS).expected
    )


def slow(before: list[int], after: list[int], labels: tuple[list[int], list[int]]) -> list[bool]:
    """The definition, one value after the other."""
    found = []
    for value in sorted({each for each in before if each}):

        def of(file: int, label: int, code: int) -> int:
            codes = (before, after)[file]
            return sum(c == code and at == label for c, at in zip(codes, labels[file], strict=True))

        under = {label for code, label in zip(before, labels[0], strict=True) if code == value}
        classes = {each for each in after if each} | {-1}
        found.append(
            any(
                all(of(0, at, value) <= of(1, at, other) + of(1, at, 0) for at in under)
                or (
                    other not in before
                    and all(of(0, at, value) <= of(1, at, other) + of(1, at, value) + of(1, at, 0) for at in under)
                )
                for other in classes
            )
        )
    return found


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=9
    )
)
def test_values_that_went_to_one_class_equal_the_definition(rows: list[tuple[int, int, int, int]]) -> None:
    before, after, first, second = ([row[at] for row in rows] for at in range(4))
    fast = went_to_one_class(*(np.array(each) for each in (before, after, first, second)))
    assert fast.tolist() == slow(before, after, (first, second))


def test_rows_of_files_on_an_engine_are_held_against_each_other_by_their_keys(tmp_path: Path) -> None:
    """Without a unit they belong together in their order: of rows in another one the rate was that of strangers."""
    PEOPLE.write_parquet(tmp_path / "original.parquet")
    expected = tc.assess(PEOPLE, WHO, LIMITS, model="benedetti_franconi").expected
    files = {"in place": moved(PEOPLE), "anywhere": rows_moved(moved(PEOPLE)), "rows": rows_moved(PEOPLE)}
    for name, file in files.items():
        file.write_parquet(tmp_path / "release.parquet")
        with tc.LargeData.of(tmp_path / "release.parquet", memory="1GB") as large:
            profile = tc.assess(large, WHO, LIMITS, original=tmp_path / "original.parquet", model="benedetti_franconi")
        if name == "in place":
            assert profile.expected == pytest.approx(expected)
        else:
            assert shown(profile) is None and not profile.safe


RENAMED = tc.Scenario(keys=["sex", "region"], weight="design")
NO_WEIGHT = "the original has no weight 'design' to hold that of the release against"


@pytest.mark.parametrize("original", [PEOPLE, PEOPLE.drop("w")], ids=["another name", "none"])
@pytest.mark.parametrize("change", [lambda people: people, moved, rows_moved], ids=["same", "moved", "rows moved"])
def test_weights_that_the_original_does_not_have_are_not_taken_on_trust(
    original: pl.DataFrame, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    """Shuffled and renamed, the weights made 18 expected re-identifications 0.07 without a word."""
    released = change(PEOPLE).rename({"w": "design"})
    profile = tc.assess(released, RENAMED, LIMITS, original=original)
    assert not profile.safe and shown(profile) is None
    assert NO_WEIGHT in profile.not_assessed[0] and "one name in both files" in profile.not_assessed[0]
    # Under one name the verdict is there again.
    named = original.rename({"w": "design"}) if "w" in original.columns else None
    if named is not None and change is not moved:
        assert shown(tc.assess(released, RENAMED, LIMITS, original=named)) is False


def test_weights_that_the_original_does_not_have_on_an_engine(tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "original.parquet")
    moved(PEOPLE).rename({"w": "design"}).write_parquet(tmp_path / "release.parquet")
    with tc.LargeData.of(tmp_path / "release.parquet", memory="1GB") as large:
        profile = tc.assess(large, RENAMED, LIMITS, original=tmp_path / "original.parquet")
    assert not profile.safe and shown(profile) is None and NO_WEIGHT in profile.not_assessed[0]


def test_total_risk_has_no_internal_part_by_weights_that_the_original_does_not_have() -> None:
    found = tc.risk.total_risk(PEOPLE, moved(PEOPLE).rename({"w": "design"}), RENAMED)
    assert NO_WEIGHT in found.not_valid and found.to_dict()["total"] is None


def test_weights_that_the_original_does_not_have_on_the_command_line(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    PEOPLE.write_csv(tmp_path / "original.csv")
    moved(PEOPLE).rename({"w": "design"}).write_csv(tmp_path / "release.csv")
    files = (tmp_path / "release.csv", "--original", tmp_path / "original.csv")
    limits = ("--keys", "sex,region", "--weight", "design", "--k", "2", "--risk", "0.5", "--rate", "0.001")
    code, said, _ = run("assess", *files, *limits, "--fail-if-unsafe")
    assert code == 1 and "NOT ASSESSED" in said and "one name in both files" in " ".join(said.split())
