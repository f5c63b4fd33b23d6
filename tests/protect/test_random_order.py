"""Random order: by record, by household, within households."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.random import Draws

PEOPLE = pl.DataFrame({"hid": [5, 5, 7, None, 9, 9, 9], "sex": ["f", "m", "m", "f", "f", "m", "m"]})
WHO = tc.Scenario(keys=["sex"], household="hid")


def records(how: str, data: object = PEOPLE, seed: int = 1) -> list[int]:
    return tc.Plan([tc.RandomOrder(how)]).apply(data, WHO, seed=seed).data.record.tolist()


def test_simple_order_sorts_by_the_draw_of_each_record() -> None:
    bits = Draws(1).step("random_order").bits(np.arange(1, 8))
    assert records("simple") == (np.argsort(bits) + 1).tolist()


def test_values_move_with_their_records() -> None:
    release = tc.Plan([tc.RandomOrder()]).apply(PEOPLE, WHO, seed=1)
    assert release.data.table.equals(PEOPLE[release.data.record - 1])
    (change,) = release.changes
    assert (change.reordered, dict(change.cells), change.records) == (True, {}, 0)
    assert str(change) == "random_order: records reordered"


def test_members_stay_together_and_in_order() -> None:
    for seed in range(20):
        found = records("households", seed=seed)
        groups = [
            list(group) for _, group in itertools.groupby(found, key=lambda r: {4: -1}.get(r, PEOPLE["hid"][r - 1]))
        ]
        assert sorted(groups) == [[1, 2], [3], [4], [5, 6, 7]]


def test_members_are_shuffled_within() -> None:
    seen = set()
    for seed in range(60):
        found = records("within_households", seed=seed)
        place = found.index(5)
        trio = [r for r in found if r in (5, 6, 7)]
        seen.add(tuple(trio))
        assert max(abs(found.index(r) - place) for r in trio) <= 2
        # The households come in the same order as without.
        heads = [r for r in records("households", seed=seed) if r in (1, 3, 4, 5)]
        first = {1: (1, 2), 3: (3,), 4: (4,), 5: (5, 6, 7)}
        assert [next(h for h in first if r in first[h]) for r in found if r not in (2, 6, 7)] == heads
    assert len(seen) == 6


def test_all_orders_of_households_occur() -> None:
    people = pl.DataFrame({"hid": [1, 2, 3], "sex": ["f", "m", "m"]})
    orders = [tuple(records("households", people, seed)) for seed in range(120)]
    assert len(set(orders)) == 6
    assert max(orders.count(order) for order in set(orders)) < 45


@given(st.lists(st.one_of(st.none(), st.integers(1, 4)), min_size=1, max_size=12), st.randoms())
def test_the_result_does_not_depend_on_the_order_of_the_rows(households: list[int | None], random: object) -> None:
    """With a slow twin: sort tuples of draws."""
    data = Data.of(pl.DataFrame({"hid": pl.Series(households, dtype=pl.Int64), "sex": ["f"] * len(households)}))
    order = np.array(random.sample(range(len(data)), len(data)))  # type: ignore[attr-defined]
    draws = Draws(2).step("random_order")
    first = {h: min(i + 1 for i, other in enumerate(households) if other == h) for h in households}
    for how in ("simple", "households", "within_households"):
        found = records(how, data, 2)
        assert found == records(how, data.take(order), 2)
        expected = []
        for record, household in zip(range(1, len(data) + 1), households, strict=True):
            head = record if household is None else first[household]
            own, member = int(draws.bits(record)), int(draws.bits(record, 1))
            keys = {
                "simple": (own, record),
                "households": (int(draws.bits(head)), head, record),
                "within_households": (int(draws.bits(head)), head, member, record),
            }
            expected.append((keys[how], record))
        assert found == [record for _, record in sorted(expected)]


def test_pandas_comes_back_without_the_old_index() -> None:
    given_table = PEOPLE.to_pandas().set_index(np.arange(100, 107))
    native = tc.Plan([tc.RandomOrder()]).apply(given_table, WHO, seed=1).to_native()
    assert native.index.tolist() == list(range(7))
    assert native["sex"].tolist() == PEOPLE["sex"][np.array(records("simple")) - 1].to_list()


def test_mistakes_are_said_in_one_sentence() -> None:
    with pytest.raises(TacitaError) as error:
        tc.RandomOrder("shuffled")
    assert str(error.value) == "how must be one of 'simple', 'households', 'within_households'; got 'shuffled'."
    with pytest.raises(TacitaError) as error:
        tc.Plan([tc.RandomOrder("within_households")]).apply(PEOPLE, tc.Scenario(keys=["sex"]))
    assert str(error.value) == (
        "how='within_households' needs the household identifier; pass household=... in the scenario, or how='simple'."
    )


def test_no_record_number_is_written(tmp_path: object) -> None:
    release = tc.Plan([tc.RandomOrder()]).apply(PEOPLE, WHO, seed=1)
    folder = release.save(tmp_path / "out", formats=["csv"], accept_unsafe="a test", report=False)  # type: ignore[operator]
    assert (folder / "not_for_publication" / "data.csv").read_text().splitlines()[0] == "hid,sex"
