"""New identifiers: same old value, same new number, and nothing of the old."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable

PEOPLE = pl.DataFrame(
    {
        "hid": [70311, 70311, None, 70312, 70399, 70312],
        "pid": [1, 2, 1, 1, 1, 2],
        "sex": ["f", "m", "m", "f", "f", "m"],
    }
)
WHO = tc.Scenario(keys=["sex"], household="hid", person="pid")


def made(step: tc.NewIdentifiers, data: object = PEOPLE, who: tc.Scenario = WHO, seed: int = 3) -> pl.DataFrame:
    return tc.Plan([step]).apply(data, who, seed=seed).data.table


def test_households_get_the_numbers_one_to_m() -> None:
    new = made(tc.NewIdentifiers("hid"))["hid"].to_list()
    assert new[2] is None
    assert new[0] == new[1] and new[3] == new[5]
    assert {new[0], new[3], new[4]} == {1, 2, 3}


def test_household_and_person_are_the_default() -> None:
    release = tc.Plan([tc.NewIdentifiers()]).apply(PEOPLE, WHO, seed=3)
    (change,) = release.changes
    assert change.figures == {"identifiers": {"hid": 3, "pid": 2}}
    assert set(release.data.table["pid"].to_list()) == {1, 2}
    assert change.remarks == (
        "2 values of 'pid' are in more than one 'hid': if persons are numbered inside households, pass "
        "within_households = true",
    )
    alone = tc.Plan([tc.NewIdentifiers()]).apply(PEOPLE, tc.Scenario(keys=["sex"], person="pid"), seed=3)
    assert alone.data.table["hid"].equals(PEOPLE["hid"])
    assert alone.changes[0].remarks == ()


def test_persons_are_numbered_inside_their_household() -> None:
    table = made(tc.NewIdentifiers(within_households=True))
    assert table["pid"].to_list()[2] == 1, "a record without a household is one of its own"
    for rows in ([0, 1], [3, 5]):
        assert sorted(table["pid"].to_list()[row] for row in rows) == [1, 2]
    assert table["pid"].to_list()[4] == 1
    # Over many draws either member comes first.
    firsts = {made(tc.NewIdentifiers(within_households=True), seed=seed)["pid"].to_list()[0] for seed in range(20)}
    assert firsts == {1, 2}


def test_a_person_in_two_waves_keeps_one_number_inside_the_household() -> None:
    panel = pl.DataFrame({"hid": [8, 8, 8, 8], "pid": [1, 2, 1, 2], "sex": ["f", "m", "f", "m"]})
    new = made(tc.NewIdentifiers(within_households=True), panel)["pid"].to_list()
    assert new[0] == new[2] and new[1] == new[3] and set(new) == {1, 2}


def test_all_orders_of_the_new_numbers_occur() -> None:
    people = pl.DataFrame({"hid": [1, 2, 3], "sex": ["f", "m", "m"]})
    who = tc.Scenario(keys=["sex"], household="hid")
    orders = [tuple(made(tc.NewIdentifiers(), people, who, seed)["hid"].to_list()) for seed in range(120)]
    assert len(set(orders)) == 6
    assert max(orders.count(order) for order in set(orders)) < 45, "about 20 each"


def test_neither_value_nor_place_is_visible() -> None:
    """The new numbers correlate neither with the old ones nor with the rows, nor with those of another identifier."""
    n = 4000
    people = pl.DataFrame({"hid": range(10_000, 10_000 + n), "pid": range(n), "sex": ["f", "m"] * (n // 2)})
    table = made(tc.NewIdentifiers(), people)
    hid, pid = (table[name].to_numpy() for name in ("hid", "pid"))
    assert abs(np.corrcoef(hid, np.arange(n))[0, 1]) < 0.08
    assert abs(np.corrcoef(hid, pid)[0, 1]) < 0.08
    assert sorted(hid) == list(range(1, n + 1))


def test_codes_for_missing_and_not_applicable_become_blank_and_are_forgotten() -> None:
    known = Variable(label="Household", missing=(-9,), not_applicable=(99,), value_labels={-9: "refused", 5: "five"})
    people = Data.of(pl.DataFrame({"hid": [-9, 5, 99, 5, 7], "sex": ["f"] * 5}), {"hid": known})
    data = tc.Plan([tc.NewIdentifiers()]).apply(people, tc.Scenario(keys=["sex"], household="hid"), seed=1).data
    new = data.table["hid"].to_list()
    assert new[0] is None and new[2] is None and new[1] == new[3] != new[4]
    assert data.variable("hid") == Variable(label="Household", scale="nominal")
    who = tc.Scenario(keys=["sex"], household="hid", not_applicable={"hid": [5]})
    assert made(tc.NewIdentifiers(), pl.DataFrame({"hid": [5, 6], "sex": ["f", "m"]}), who)["hid"].to_list() == [
        None,
        1,
    ]


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["a", "b"]), pl.Float64, pl.Date])
def test_identifiers_of_any_kind(kind: object) -> None:
    values = {pl.Float64: [1.5, 2.5, None, 1.5], pl.Date: [1, 2, None, 1]}.get(kind, ["a", "b", None, "a"])  # type: ignore[call-overload]
    series = pl.Series(values).cast(pl.Int32).cast(pl.Date) if kind == pl.Date else pl.Series(values, dtype=kind)  # type: ignore[arg-type]
    new = made(tc.NewIdentifiers("id"), pl.DataFrame({"id": series, "sex": ["f"] * 4}), tc.Scenario(keys=["sex"]))
    assert new["id"].to_list() in ([1, 2, None, 1], [2, 1, None, 2])
    assert new["id"].dtype == pl.Int64


def test_a_blank_identifier_stays_blank() -> None:
    people = pl.DataFrame({"id": pl.Series([None, None], dtype=pl.Int64), "sex": ["f", "m"]})
    assert made(tc.NewIdentifiers("id"), people, tc.Scenario(keys=["sex"]))["id"].to_list() == [None, None]


@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(1, 4)), st.integers(1, 3)), min_size=1), st.randoms())
def test_the_partition_is_kept_whatever_the_order(rows: list[tuple[int | None, int]], random: object) -> None:
    """A slow twin: two records have the same number exactly if they had the same value; rows may be permuted."""
    table = pl.DataFrame({"hid": [hid for hid, _ in rows], "pid": [pid for _, pid in rows], "sex": ["f"] * len(rows)})
    table = table.with_columns(pl.col("hid").cast(pl.Int64))
    data = Data.of(table)
    order = np.array(random.sample(range(len(rows)), len(rows)))  # type: ignore[attr-defined]
    for within in (False, True):
        plan = tc.Plan([tc.NewIdentifiers(within_households=within)])
        one, other = plan.apply(data, WHO, seed=4).data, plan.apply(data.take(order), WHO, seed=4).data
        assert one.take(order).table.equals(other.table)
        hid, pid = one.table["hid"].to_list(), one.table["pid"].to_list()
        for i, (household, person) in enumerate(rows):
            assert (hid[i] is None) == (household is None)
            for j, (household_j, person_j) in enumerate(rows):
                assert (hid[i] == hid[j]) == (household == household_j)
                if not within or (household is not None and household == household_j):
                    assert (pid[i] == pid[j]) == (person == person_j)
        counts = {household: len({p for h, p in rows if h == household}) for household, _ in rows}
        for i, (household, _) in enumerate(rows):
            if within:
                assert 1 <= pid[i] <= (1 if household is None else counts[household])


@pytest.mark.parametrize(
    ("step", "who", "message"),
    [
        (
            lambda: tc.NewIdentifiers(),
            tc.Scenario(keys=["sex"]),
            "the scenario names no household or person to number anew; pass NewIdentifiers(['hid', ...]).",
        ),
        (
            lambda: tc.NewIdentifiers("pid", within_households=True),
            tc.Scenario(keys=["sex"]),
            "within_households needs the household identifier; pass household=... in the scenario.",
        ),
        (
            lambda: tc.NewIdentifiers("hidd"),
            WHO,
            "variables of 'new_identifiers hidd' not in the data: 'hidd'. Did you mean 'hid'?",
        ),
        (lambda: tc.NewIdentifiers(3), WHO, "variables must be a list of column names; got 3."),
        (
            lambda: tc.NewIdentifiers(within_households="yes"),
            WHO,
            "within_households must be true or false; got 'yes'.",
        ),
    ],
)
def test_mistakes_are_said_in_one_sentence(step: object, who: tc.Scenario, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Plan([step()]).apply(PEOPLE, who)  # type: ignore[operator]
    assert str(error.value) == message
