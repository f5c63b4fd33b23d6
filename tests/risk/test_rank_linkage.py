"""The rank attack: against every order that equal sizes can have, by hand, and against table 6."""

from itertools import pairwise, permutations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.risk.linkage.rank_linkage import rank_linkage

WHO = tc.Scenario(numeric_keys=["size"])
SIZES = st.lists(st.sampled_from([None, 1.0, 2.0, 2.0, 3.0, 7.0]), min_size=1, max_size=5)


def orders(sizes: list[float | None]) -> list[list[int]]:
    """Every order of the units by size, the largest first, that could be drawn."""
    there = [at for at, size in enumerate(sizes) if size is not None]
    return [
        list(order) for order in permutations(there)
        if all(sizes[one] >= sizes[two] for one, two in pairwise(order))  # type: ignore[operator]
    ]  # fmt: skip


def slow(before: list[float | None], after: list[float | None], units: list[int], largest: int) -> tuple[float, float]:
    """Right links over all orders; released record h is unit `units[h]`."""
    right, among, count = 0, 0, 0
    for first, second in product(orders(before), orders(after)):
        hits = [one == units[two] for one, two in zip(first, second, strict=False)]
        right, among, count = right + sum(hits), among + sum(hits[:largest]), count + 1
    return right / count, among / count


@settings(max_examples=30)
@given(SIZES, st.data())
def test_links_are_those_of_every_order(before: list[float | None], data: st.DataObject) -> None:
    n = len(before)
    after = data.draw(st.lists(st.sampled_from([None, 1.0, 2.0, 3.0, 3.0]), min_size=n, max_size=n))
    largest = data.draw(st.integers(1, 4))
    files = [pl.DataFrame({"size": sizes}, schema={"size": pl.Float64}) for sizes in (before, after)]
    found = rank_linkage(*files, WHO, largest=largest)
    right, among = slow(before, after, list(range(n)), largest)
    assert found.expected_correct == pytest.approx(right)
    assert found.expected_largest == pytest.approx(among)


@settings(max_examples=20)
@given(SIZES, SIZES, st.integers(0, 5))
def test_files_of_different_rows(before: list[float | None], after: list[float | None], shift: int) -> None:
    original = pl.DataFrame({"id": range(len(before)), "size": before}, schema={"id": pl.Int64, "size": pl.Float64})
    ids = [at + shift for at in range(len(after))]
    released = pl.DataFrame({"id": ids, "size": after}, schema={"id": pl.Int64, "size": pl.Float64})
    if shift >= len(before):
        with pytest.raises(TacitaError, match="no released record is in the original"):
            rank_linkage(original, released, WHO, unit="id")
        return
    found = rank_linkage(original, released, WHO, unit="id", largest=2)
    right, among = slow(before, after, ids, 2)
    assert found.expected_correct == pytest.approx(right)
    assert found.expected_largest == pytest.approx(among)
    assert found.linked.sum() == min(sum(each is not None for each in sizes) for sizes in (before, after))


def test_by_hand_in_strata() -> None:
    firms = pl.DataFrame({"nace": ["A", "A", "A", "B", "B"], "size": [9.0, 5.0, 1.0, 4.0, 4.0]})
    masked = firms.with_columns(size=pl.Series([8.0, 2.0, 3.0, 6.0, 5.0]))
    found = rank_linkage(firms, masked, WHO, strata=["nace"], largest=1)
    assert found.correct.tolist() == [1.0, 0.0, 0.0, 0.5, 0.5]
    assert found.correct_largest.tolist() == [1.0, 0.0, 0.0, 0.5, 0.0]
    assert found.headline == (
        "by rank on size, 2 of 5 units (40 %) are expected to be linked rightly, 2 by guessing; of the 1 largest of "
        "each stratum 1.5 of 2 (75 %)"
    )
    assert found.guessed == 2.0
    (table,) = found.tables()
    assert [row[0] for row in table.rows] == ["A", "B"]


def test_without_ties_the_largest_are_those_of_table_6() -> None:
    firms = tc.business_survey(seed=3).data
    name = next(each for each in firms.columns if firms.scale(each) == "numeric" and firms.numbers(each).min() > 0)
    draw = np.random.default_rng(1)
    exact = firms.with_columns({name: firms.numbers(name) * (1 + 1e-9 * draw.random(len(firms)))})
    noisy = exact.with_columns({name: exact.numbers(name) * draw.lognormal(0, 0.05, len(firms))})
    plot = tc.risk.confidentiality(exact, noisy, tc.Scenario(numeric_keys=[name]), ratio=False)
    assert rank_linkage(exact, noisy, tc.Scenario(numeric_keys=[name])).expected_largest == plot.ranks.sum()


def test_released_records_that_are_new_are_said() -> None:
    firms = Data(pl.DataFrame({"size": [1.0, 2.0]}), numbers_of_records=np.array([1, 2]))
    more = Data(pl.DataFrame({"size": [1.0, 2.0, None]}), numbers_of_records=np.array([1, 3, 2]))
    found = rank_linkage(firms, more, WHO)
    assert found.cautions[0].startswith("1 released record is not in the original")
    assert found.notes == ("1 record without a size in one of the files, and not linked",)
    assert found.record.tolist() == [1, 2]
