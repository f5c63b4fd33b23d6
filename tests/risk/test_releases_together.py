"""Two releases attacked together: against loops over all pairs, and by hand."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.risk.external.releases_together import releases_together

WHO = tc.Scenario(keys=["job", "town"], numeric_keys=["size"])
SCHEMA = {"job": pl.String, "town": pl.Int64, "size": pl.Float64}
SEEDS = st.integers(0, 10_000)


def file(n: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    sizes = [-200.0, -190.0, 0.0, 3.0, 100.0, 104.0, 105.0, 111.0]
    rows = {
        # Every job that can be released is one of the original: another would be taken for a recoded one.
        "job": ["b", *([None, "a", "b", "c"][at] for at in draw.integers(0, 4, n - 1))],
        "town": draw.integers(1, 4, n).tolist(),
        "size": [None if at < 0 else sizes[at] for at in draw.integers(-1, len(sizes), n)],
    }
    return pl.DataFrame(rows, schema=SCHEMA)


def changed(original: pl.DataFrame, seed: int, blanks: float) -> Data:
    """Some values wrong, some suppressed; all variables perturbed, so that nothing is recoded."""
    draw = np.random.default_rng(seed)
    mixed = original.with_columns(
        job=pl.Series(
            [
                value if keep else "b"
                for value, keep in zip(original["job"], draw.random(len(original)) < 0.8, strict=True)
            ]
        ),
        size=pl.Series(
            [
                None if value is None else value * factor
                for value, factor in zip(original["size"], draw.choice([1, 1.04, 1.3], len(original)), strict=True)
            ],
            dtype=pl.Float64,
        ),
    )
    gone = {name: draw.random(len(original)) < blanks for name in original.columns}
    return Data.of(mixed).blanked(gone).with_perturbed(original.columns)


def agrees(x: Any, y: Any, name: str, column: list[Any], anything: bool) -> bool:
    """The definition for one cell; y is None where it is suppressed."""
    if name != "size":
        if y is None:
            return x is None or anything
        return bool(x == y)
    if x is None:
        return False
    shown = [value for value in column if value is not None]
    if y is None:
        if anything or not shown:
            return anything
        nearest = min(abs(value - x) for value in shown)
        return any(near(x, value) for value in shown if abs(value - x) == nearest)
    return near(x, y)


def near(x: float, y: float) -> bool:
    return abs(x - y) <= 0.05 * abs(y) * (1 + 1e-9)


def slow(original: pl.DataFrame, releases: list[list[dict[str, Any] | None]], anything: bool) -> list[tuple[int, int]]:
    """By record how many records of all releases agree, and whether the own one does; None: not in that release."""
    found = []
    columns = [{name: [row and row[name] for row in rows] for name in original.columns} for rows in releases]
    for i, mine in enumerate(original.iter_rows(named=True)):
        pairs = right = 0
        for h in range(len(releases[0])):
            cells = [[rows[h] and rows[h][name] for rows in releases] for name in original.columns]
            good = any(rows[h] is not None for rows in releases)
            for name, values in zip(original.columns, cells, strict=True):
                shown = [(value, at) for at, value in enumerate(values) if value is not None]
                if not shown:
                    shown = [(None, at) for at in range(len(releases))]
                good &= all(agrees(mine[name], value, name, columns[at][name], anything) for value, at in shown)
            pairs, right = pairs + good, right + (good and h == i)
        found.append((pairs, right))
    return found


def rows_of(data: Data) -> list[dict[str, Any]]:
    return list(data.table.iter_rows(named=True))


@settings(max_examples=40)
@given(st.integers(1, 18), SEEDS, st.booleans())
def test_pairs_are_those_of_all_pairs(n: int, seed: int, anything: bool) -> None:
    original = file(n, seed)
    first, second = changed(original, seed + 1, 0.3), changed(original, seed + 2, 0.4)
    found = releases_together(original, first, WHO, other=second, suppressed="any" if anything else "level")
    rows = [rows_of(first), rows_of(second)]
    for given_rows, pairing in (([rows[0]], found.alone[0]), ([rows[1]], found.alone[1]), (rows, found.together)):
        expected = slow(original, given_rows, anything)
        assert list(zip(pairing.pairs.tolist(), pairing.right.tolist(), strict=True)) == expected
    pairs = [pair for pair, _ in slow(original, rows, anything)]
    assert found.share_paired == np.mean([pair > 0 for pair in pairs])
    assert found.share_expected == math.fsum(found.together.expected) / n


@settings(max_examples=15)
@given(st.integers(3, 14), SEEDS)
def test_releases_of_different_records(n: int, seed: int) -> None:
    original = Data(file(n, seed), numbers_of_records=np.arange(1, n + 1))
    first, second = (
        Data(changed(original.table, seed + at, 0.3).table, numbers_of_records=original.record).with_perturbed(SCHEMA)
        for at in (1, 2)
    )
    order = np.random.default_rng(seed).permutation(n)
    left, right = np.arange(0, n - 1), order[order > 0]
    found = releases_together(original, first.take(left), WHO, other=second.take(right))
    rows = [[row if at in set(kept.tolist()) else None for at, row in enumerate(rows_of(each))]
            for each, kept in ((first, left), (second, right))]  # fmt: skip
    expected = slow(original.table, rows, False)
    assert list(zip(found.together.pairs.tolist(), found.together.right.tolist(), strict=True)) == expected
    assert found.joined == n - 2


def test_by_hand() -> None:
    people = pl.DataFrame({"job": ["a", "a", "b", "b"], "town": [1, 2, 1, 2]})
    who = tc.Scenario(keys=["job", "town"])
    first, second = (
        people.with_columns(town=pl.Series([None, 2, None, 2])),
        people.with_columns(job=pl.lit(None, pl.String)),
    )
    level = releases_together(people, first, who, other=[second])
    assert level.alone[0].pairs.tolist() == [0, 1, 0, 1]
    assert level.alone[1].pairs.tolist() == [0, 0, 0, 0]
    assert level.together.pairs.tolist() == [1, 1, 1, 1]
    assert level.together.figures == (1.0, 1.0, 1.0, 1.0)
    assert level.headline == (
        "an intruder with 2 releases finds a matching record for 100 % of the units, the right one among them for "
        "100 %, guesses 100 % right, 100 % beyond doubt; with the most telling release alone he guesses 50 % right"
    )
    either = releases_together(people, first, who, other=second, suppressed="any")
    assert either.alone[0].expected.tolist() == [1.0, 0.5, 1.0, 0.5]
    assert "all together" in str(level)
    assert level.cautions == ()


def test_one_release_is_attacked_alone() -> None:
    people = pl.DataFrame({"job": ["a", "a", "b"]})
    found = releases_together(people, people, tc.Scenario(keys=["job"]))
    assert found.together.expected.tolist() == found.alone[0].expected.tolist() == [0.5, 0.5, 1.0]
    assert found.headline.startswith("an intruder with 1 release finds")
    assert "most telling" not in found.headline
    assert found.cautions == ()


def test_recoded_and_rounded_values_are_coded_alike() -> None:
    people = pl.DataFrame({"job": ["a", "b", "c", "c"], "size": [12.0, 18.0, 31.0, 44.0]})
    who = tc.Scenario(keys=["job"], numeric_keys=["size"])
    steps = [tc.Recode("job", mapping={"a": "ab", "b": "ab", "c": "c"}), tc.Round("size", base=10)]
    release = tc.Plan(steps).apply(people, who)
    found = releases_together(people, people.drop("size"), who, other=release)
    assert found.alone[0].pairs.tolist() == [1, 1, 2, 2]
    assert found.alone[1].pairs.tolist() == [1, 1, 1, 1]
    assert found.together.pairs.tolist() == [1, 1, 1, 1]
    assert found.cautions == (
        "'job', 'size': recoded, rounded or cut off in a release; the intruder is taken to code his own values alike.",
    )


def test_errors() -> None:
    people = pl.DataFrame({"job": ["a", "b"], "town": [1, 2]})
    who = tc.Scenario(keys=["job", "town"])
    with pytest.raises(TacitaError, match=r"tolerance must be in \[0, 1\); got 1"):
        releases_together(people, people, who, other=people, tolerance=1.0)
    with pytest.raises(TacitaError, match="unit of the original file not in the data: 'id'"):
        releases_together(people, people, who, unit="id")
    with pytest.raises(TacitaError, match="keys of the released files not in the data: 'town'"):
        releases_together(people, people.drop("town"), who, other=people.drop("town"))
