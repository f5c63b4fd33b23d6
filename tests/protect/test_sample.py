"""Samples: who is drawn, with what probability, and weights that make up for the others."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.sample import allocated, drawn_units, shares_of

LOOSE = tc.Policy(k=2, risk=None, rate=None)
WHO = tc.Scenario(keys=["region"], weight="w")


def people(size: int = 120) -> Data:
    at = np.arange(size)
    return Data.of(
        pl.DataFrame(
            {
                "hid": at // 3,
                "region": np.array(["a", "b", "c", "c"])[at // 3 % 4],
                "sex": np.array(["f", "m"])[at % 2],
                "w": 1.0 + at % 5,
                "y": (at * 37 % 101).astype(np.float64),
            }
        )
    )


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 60), st.sampled_from(["proportional", "equal"])
)
def test_allocation_is_the_nearest_of_all(there: list[int], size: int, allocation: str) -> None:
    """Of all whole numbers within the limits the nearest to the shares; among all ways to divide, one by one."""
    size = min(max(size, len(there)), sum(there))
    counts = np.array(there)
    quota = shares_of(size, counts, allocation)
    assert quota.sum() == pytest.approx(size)
    assert (quota <= counts + 1e-9).all()
    found = allocated(size, counts, quota)
    assert found.sum() == size
    assert ((found >= 1) & (found <= counts)).all()
    best = {0: 0.0}
    for place, most in enumerate(there):
        step: dict[int, float] = {}
        for total, cost in best.items():
            for take in range(1, most + 1):
                loss = cost + (take - quota[place]) ** 2
                step[total + take] = min(step.get(total + take, np.inf), loss)
        best = step
    assert ((found - quota) ** 2).sum() == pytest.approx(best[size], abs=1e-9)


def test_equal_shares_by_hand() -> None:
    assert shares_of(10, np.array([2, 30, 50]), "equal").tolist() == [2.0, 4.0, 4.0]
    assert shares_of(12, np.array([4, 4, 4]), "equal").tolist() == [4.0, 4.0, 4.0]
    assert shares_of(8, np.array([2, 3, 3]), "equal").tolist() == [2.0, 3.0, 3.0]
    assert shares_of(8, np.array([10, 30]), "proportional").tolist() == [2.0, 6.0]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**64 - 1)), min_size=1, max_size=20), st.data())
def test_the_drawn_have_the_smallest_numbers_of_their_stratum(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    stratum = np.unique([each[0] for each in rows], return_inverse=True)[1]
    bits = np.array([each[1] for each in rows], dtype=np.uint64)
    there = np.bincount(stratum)
    wanted = np.array([data.draw(st.integers(1, int(most))) for most in there])
    expected = []
    for row, own in enumerate(stratum):
        before = [at for at in range(len(rows)) if stratum[at] == own and (bits[at], at) < (bits[row], row)]
        expected.append(len(before) < wanted[own])
    assert drawn_units(stratum, wanted, bits).tolist() == expected


def test_households_are_drawn_whole_and_weights_make_up_for_the_others() -> None:
    who = tc.Scenario(keys=["region"], weight="w", household="hid")
    release = tc.Plan([tc.Sample(0.5, strata="region")]).apply(people(), who, seed=3)
    assert len(release.data) == 60
    assert release.data.table.group_by("hid").len()["len"].to_list() == [3] * 20
    was = dict(zip(people().record.tolist(), people().numbers("w").tolist(), strict=True))
    assert release.data.numbers("w").tolist() == [2 * was[number] for number in release.data.record.tolist()]
    assert str(release.changes[0]) == (
        "sample: 60 cells of 60 records changed (weight 60); 60 records removed; 20 of 40 units drawn in 3 strata"
    ).replace("weight", "w")


def test_persons_with_several_records_are_drawn_whole() -> None:
    who = tc.Scenario(keys=["region"], person="hid")
    release = tc.Plan([tc.Sample(size=7)]).apply(people(), who, seed=3)
    assert release.data.table.group_by("hid").len()["len"].to_list() == [3] * 7


@pytest.mark.parametrize("strata", [(), ("region",), ("region", "sex")])
def test_totals_of_strata_are_kept_on_request(strata: tuple[str, ...]) -> None:
    release = tc.Plan([tc.Sample(0.3, strata=strata, keep_totals=True)]).apply(people(), WHO, seed=3)
    before, after = (
        table.group_by(strata or pl.lit(1)).agg(pl.col("w").sum()).sort(pl.all())["w"].to_list()
        for table in (people().table, release.data.table)
    )
    assert after == pytest.approx(before, rel=1e-14)


def test_estimates_are_unbiased_over_seeds() -> None:
    """The mean of the estimated total over 400 samples lies within 4 standard errors, and strata have their share."""
    data, plan = people(), tc.Plan([tc.Sample(size=24, strata="region", allocation="equal")])
    from tacita.protect.step import Context
    from tacita.random import Draws

    (step,) = plan.steps
    totals = []
    drawn = np.zeros(len(data))
    for seed in range(400):
        made = step.apply(data, Context(WHO, tc.Policy(), Draws(seed), data)).data
        totals.append(float(made.numbers("w") @ made.numbers("y")))
        drawn[made.record - 1] += 1
    true = float(data.numbers("w") @ data.numbers("y"))
    assert abs(np.mean(totals) - true) < 4 * np.std(totals) / 20
    share = np.where(data.table["region"].to_numpy() == "c", 8 / 60, 8 / 30)
    assert (np.abs(drawn / 400 - share) < 4.5 * np.sqrt(share * (1 - share) / 400)).all()


def test_f_falls_and_F_stays() -> None:
    """Take-all units stay at risk though the weight of those drawn is four times what it was."""
    data = people()
    before = dict(zip(data.record.tolist(), tc.assess(data, WHO).records["F"].to_list(), strict=True))
    for who in (WHO, tc.Scenario(keys=["region"]), tc.Scenario(keys=["region"], population_size=9000)):
        first = tc.assess(data, who).records
        before = dict(zip(first["record"].to_list(), first["F"].to_list(), strict=True))
        for steps in ([tc.Sample(0.25)], [tc.Sample(0.5), tc.RandomOrder(), tc.Sample(size=30)]):
            release = tc.Plan(steps).apply(data, who, LOOSE, seed=5)
            found = release.assess().records
            assert len(release.data) == 30
            assert found["F"].to_list() == pytest.approx([before[each] for each in found["record"].to_list()])


def test_a_unique_of_a_census_stays_certain_and_others_gain() -> None:
    census = pl.DataFrame({"job": ["mayor"] + ["clerk"] * 39})
    who = tc.Scenario(keys=["job"])
    release = tc.Plan([tc.Sample(size=39)]).apply(census, who, LOOSE, seed=2)
    found = release.assess().records
    risk = dict(zip(release.data.table["job"].to_list(), found["risk"].to_list(), strict=True))
    assert risk["mayor"] == 1.0
    few = tc.Plan([tc.Sample(size=4)]).apply(census.slice(1), who, LOOSE, seed=2).assess().records
    assert few["f"].to_list() == [4.0] * 4
    assert few["F"].to_list() == pytest.approx([39.0] * 4)
    assert max(few["risk"].to_list()) < 0.25


def test_weights_of_a_file_without() -> None:
    who = tc.Scenario(keys=["region"])
    data = people().without(["w"])
    release = tc.Plan([tc.Sample(size=30, new_weight="weight")]).apply(data, who, seed=1)
    assert set(release.data.table["weight"].to_list()) == {4.0}
    assert "added 'weight'" in str(release.changes[0])
    bare = tc.Plan([tc.Sample(size=30)]).apply(data, who, seed=1)
    assert str(bare.changes[0]) == (
        "sample: 90 records removed; 30 of 120 records drawn; no weight was adjusted, since there is none; name one in "
        "new_weight for analysts"
    )


def test_every_stratum_keeps_one() -> None:
    data = people().with_columns({"rare": np.arange(120) // 110})
    release = tc.Plan([tc.Sample(0.04, strata="rare")]).apply(data, WHO, seed=1)
    assert sorted(release.data.table["rare"].to_list()) == [0, 0, 0, 0, 1]
    assert "1 stratum would have had none and kept one" in str(release.changes[0])


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda: tc.Sample(), "sample takes either fraction (of the units) or size (their number); give one of them."),
        (
            lambda: tc.Sample(0.5, 3),
            "sample takes either fraction (of the units) or size (their number); give one of them.",
        ),
        (
            lambda: tc.Sample(0.5, allocation="equal"),
            "allocation is for size; with fraction every stratum gives the same share.",
        ),
        (lambda: tc.Sample(size=121), "size must be at most the 120 units of the file; got 121."),
        (
            lambda: tc.Sample(size=2, strata="region"),
            "size must be at least the 3 strata, or some would be gone; got 2, or name fewer strata.",
        ),
        (
            lambda: tc.Sample(0.5, new_weight="sex"),
            "new_weight must be a new name, and 'sex' is in the file; choose another.",
        ),
    ],
)
def test_mistakes_are_one_sentence(step: object, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Plan([step()]).apply(people(), WHO)  # type: ignore[operator]
    assert str(error.value) == message


def test_strata_must_not_cut_households() -> None:
    who = tc.Scenario(keys=["region"], weight="w", household="hid")
    with pytest.raises(
        TacitaError, match=r"^strata must be the same for all records that are drawn together; drop 'sex'"
    ):
        tc.Plan([tc.Sample(0.5, strata="sex")]).apply(people(), who)
    assert len(tc.Plan([tc.Sample(0.5, strata="sex", households=False)]).apply(people(), who).data) == 60


def test_one_record_and_bad_weights() -> None:
    one = people().take(np.array([4]))
    assert len(tc.Plan([tc.Sample(0.1)]).apply(one, WHO).data) == 1
    bad = people().with_columns({"w": np.where(np.arange(120) == 3, np.nan, 2.0)})
    with pytest.raises(TacitaError, match=r"^weight 'w' must be positive; 1 value is missing"):
        tc.Plan([tc.Sample(0.1)]).apply(bad, WHO)
