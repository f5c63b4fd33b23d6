"""Releases with other records than the original: some dropped, some added, all of them new."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita import frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Doc
from tacita.protect.step import Applied, Context, Step
from tacita.testing import check_step

LOOSE = tc.Policy(k=2, risk=None, rate=None)


@dataclass(frozen=True)
class Drop(Step):
    """Drop every record whose number leaves a rest."""

    every: Annotated[int, Doc("Records with this divisor stay.")] = 2

    @property
    def keeps_records(self) -> bool:
        """Some are gone."""
        return False

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with the others."""
        drop = (Mechanism("dropping", ()),)
        return Applied(data.take(np.flatnonzero(data.record % self.every == 0)), mechanisms=drop, public=drop)


@dataclass(frozen=True)
class Copies(Step):
    """Put copies of the first records behind the file."""

    count: Annotated[int, Doc("How many.")] = 3
    start: Annotated[int | None, Doc("The number of the first; beyond all others unless given.")] = None
    alone: Annotated[bool, Doc("Whether only the copies are released.")] = False

    @property
    def adds_records(self) -> bool:
        """The copies."""
        return True

    @property
    def keeps_records(self) -> bool:
        """Unless only copies are released."""
        return not self.alone

    def apply(self, data: Data, context: Context) -> Applied:
        """The data, and the copies behind it."""
        rows = np.argsort(data.record)[: self.count]
        beyond = int(max(context.original.record.max(), data.record.max())) + 1
        first = beyond if self.start is None else self.start
        numbers = np.arange(first, first + len(rows))
        kept = data.take(np.arange(0 if self.alone else len(data)))
        made = Data(
            frame.stacked([kept.table, data.table[rows]]),
            data.variables,
            numbers_of_records=np.concatenate([kept.record, numbers]),
        )
        added = (Mechanism("copies", ()),)
        return Applied(made, mechanisms=added, public=added)


@dataclass(frozen=True)
class Noise(Step):
    """Multiply numbers by factors."""

    variable: Annotated[str, Doc("The numbers.")]
    share: Annotated[float, Doc("The greatest change.")] = 0.3

    @property
    def draws(self) -> bool:
        """The factors."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with other numbers."""
        factor = 1 + self.share * (2 * context.draws.uniform(data.record) - 1)
        noise = (Mechanism("noise", (self.variable,), perturbs=True),)
        return Applied(data.with_columns({self.variable: data.numbers(self.variable) * factor}), mechanisms=noise)


def people(size: int = 40) -> Data:
    at = np.arange(size)
    return Data.of(
        pl.DataFrame(
            {
                "region": np.array(["north", "south"])[at % 2],
                "age": (at // 4 % 5) * 10,
                "income": 1000.0 + 37.0 * (at * 7 % size),
                "w": 10.0 + at % 3,
            }
        )
    )


WHO = tc.Scenario(keys=["region", "age"], weight="w", numeric_keys=["income"])
NEW = "3 released records are not in the original: what is compared record by record is compared for the others."


@pytest.mark.parametrize("step", [Drop(), Drop(4), Copies(), Copies(1), Copies(40), Copies(alone=True)])
def test_the_steps_keep_the_contract(step: Step) -> None:
    check_step(step, people(), tc.Scenario(keys=["region"], weight="w"))


def test_a_step_that_adds_records_must_say_so() -> None:
    @dataclass(frozen=True)
    class Silent(Copies):
        """It says nothing of records that it adds."""

        @property
        def adds_records(self) -> bool:
            """Not true."""
            return False

    with pytest.raises(AssertionError, match=r"^the step adds records without declaring it$"):
        check_step(Silent(), people(), WHO)


@pytest.mark.parametrize("start", [1, 40])
def test_a_new_record_must_not_have_the_number_of_another(start: int) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Plan([Drop(), Copies(start=start)]).apply(people(), WHO)
    assert str(error.value) == (
        "step 'copies' gives a record a number that another has or had; number records that it adds from 41 on."
    )


def slow_f(data: Data, weights: dict[int, float]) -> tuple[list[int], list[float]]:
    """f and F by record: one loop over all pairs, weights by record number."""
    rows = list(zip(data.record.tolist(), data.table.select("region", "age").rows(), strict=True))
    alike = [[number for number, key in rows if key == own] for _, own in rows]
    return [len(each) for each in alike], [sum(weights[number] for number in each) for each in alike]


@pytest.mark.parametrize("steps", [[Drop()], [Copies()], [Drop(), Copies()], [Copies(), Drop()]])
@pytest.mark.parametrize("then", [[], [tc.RoundWeights(digits=1)], [tc.Remove("w")], [tc.RandomOrder()]])
def test_f_counts_the_release_and_weights_come_from_the_original(steps: list[Step], then: list[Step]) -> None:
    release = tc.Plan([*steps, *then]).apply(people(), WHO, LOOSE, seed=1)
    found = release.assess()
    original = people()
    weights = dict(zip(original.record.tolist(), original.numbers("w").tolist(), strict=True))
    there = "w" in release.data.columns
    released = release.data.numbers("w").tolist() if there else [1.0] * len(release.data)
    # A record that is not in the original stands for its released weight.
    by_number = dict(zip(release.data.record.tolist(), released, strict=True)) | weights
    f, F = slow_f(release.data, by_number)
    assert found.records["f"].to_list() == f
    assert found.records["F"].to_list() == pytest.approx(F)
    assert found.records["record"].to_list() == release.data.record.tolist()


@pytest.mark.parametrize("person", [None, "who"])
def test_dropping_records_makes_nobody_else_safer(person: str | None) -> None:
    """With N units in the population each of the n of the file stands for N/n of them, also if some are dropped."""
    data = people().with_columns({"who": np.arange(40) // 2 * 2})
    data = data if person else data.without(["who"])
    who = tc.Scenario(keys=["region"], population_size=400, person=person)
    units = 20 if person else 40
    for steps in ([], [Drop()], [Drop(), tc.RandomOrder()], [Copies(2)], [Copies(2), tc.Round("income", base=10)]):
        release = tc.Plan(steps).apply(data, who, LOOSE, seed=1)
        risk = tc.risk.individual_risk(release, release.scenario).to_frame()
        assert risk["F"].to_list() == pytest.approx([each * 400 / units for each in risk["f"].to_list()])
        assert release.assess().records["F"].to_list() == risk["F"].to_list()


def test_more_records_than_the_population_has() -> None:
    who = tc.Scenario(keys=["region"], population_size=40)
    release = tc.Plan([Copies()]).apply(people(), who, LOOSE)
    found = release.assess()
    assert found.records["F"].to_list() == found.records["f"].to_list()
    with pytest.raises(TacitaError, match=r"^population_size must be at least the 40 units of the file; got 39\.$"):
        tc.assess(release, replace(who, population_size=39))


def test_units_come_from_the_original_by_record() -> None:
    data = people().with_columns({"firm": np.arange(40) // 4})
    who = tc.Scenario(keys=["region"], person="firm")
    release = tc.Plan([tc.Remove("firm"), Drop(), Copies(3)]).apply(data, who, LOOSE, seed=1)
    assert release.data.units is not None
    # Two records of each firm are left; those that were added are units of their own.
    assert len(np.unique(release.data.units)) == 10 + 3
    by_number = dict(zip(data.record.tolist(), (np.arange(40) // 4).tolist(), strict=True))
    kept = release.data.record <= 40
    assert release.data.units[kept].tolist() == [by_number[each] for each in release.data.record[kept].tolist()]


def test_every_measure_of_two_files_takes_the_records_that_both_have() -> None:
    """New records change no figure by record number, and are named in one sentence."""
    noise: list[Step] = [Noise("income")]
    with_new, without = (tc.Plan([*noise, *more]).apply(people(), WHO, LOOSE, seed=1) for more in ([Copies()], []))
    for name in ("confidentiality", "interval_disclosure", "rank_interval_disclosure", "robust_interval_disclosure"):
        measure = getattr(tc.risk, name)
        who = replace(WHO, numeric_keys=("income", "w")) if name.startswith("robust") else WHO
        found, plain = (measure(people(), release, who) for release in (with_new, without))
        assert found.to_dict() == plain.to_dict(), name
        assert found.record.tolist() == plain.record.tolist()
        assert NEW in found.cautions
        assert NEW in str(found)
        assert NEW not in plain.cautions
    for name in ("distance_linkage", "one_to_one_linkage", "probabilistic_linkage"):
        found = getattr(tc.risk, name)(people(), with_new, WHO)
        assert found.new == 3
        assert found.cautions == (NEW,)
        assert found.share_correct == pytest.approx(found.expected_correct / 40)
        assert found.correct[found.record > 40].tolist() == [0, 0, 0]


def test_dropped_records_are_not_compared() -> None:
    release = tc.Plan([Noise("income"), tc.RandomOrder(), Drop()]).apply(people(), WHO, LOOSE, seed=1)
    original = people()
    half = original.take(np.flatnonzero(original.record % 2 == 0))
    for name in ("confidentiality", "interval_disclosure", "categorical_confidentiality"):
        measure = getattr(tc.risk, name)
        assert measure(original, release, WHO).to_dict() == measure(half, release, WHO).to_dict()
    wide = tc.risk.interval_confidentiality(original, release, WHO, intervals={"income": ("w", "income")}, delta=0.2)
    assert len(wide.record) == 20


def test_categorical_confidentiality_counts_all_released_records() -> None:
    release = tc.Plan([Copies(4), tc.RandomOrder()]).apply(people(), WHO, LOOSE, seed=1)
    found = tc.risk.categorical_confidentiality(people(), release, WHO, k=2)
    by_number = dict(
        zip(release.data.record.tolist(), slow_f(release.data, dict.fromkeys(range(99), 1.0))[0], strict=True)
    )
    assert found.count.tolist() == [by_number[number] for number in range(1, 41)]
    assert "4 released records are not in the original" in str(found)


def test_reconstruction_looks_at_the_records_that_both_have() -> None:
    region = pl.Series(np.array(["north", "south"])[np.arange(80) // 3 % 2])
    table = people(80).table.with_columns(region=region, code=region.replace({"north": "N", "south": "S"}))
    data, who = Data.of(table), tc.Scenario(keys=["region", "age"])
    release = tc.Plan([Copies(), tc.RandomOrder(), Drop()]).apply(data, who, LOOSE, seed=1)
    blank = np.isin(release.data.record, [2, 8, 82])
    found = tc.risk.reconstruction(data, release.data.blanked({"region": blank}), who)
    # The code gives both regions back; record 82 is new, and what stood in it nobody's.
    assert (found.protected, found.given_back) == (2, 2)
    assert found.record.tolist() == release.data.record.tolist()
    here = [int(each in (2, 8)) for each in release.data.record.tolist()]
    assert found.to_frame()["cells_protected"].to_list() == here
    assert found.cells_by_record.tolist() == here
    assert any("1 released record is not in the original" in text for text in found.cautions)


def test_suppression_is_closed_in_a_file_with_new_records() -> None:
    table = people().table.with_columns(copy=pl.col("age"))
    one = table.with_columns(age=pl.when(pl.arange(0, 40) == 7).then(99).otherwise("age"))
    one = one.with_columns(copy=pl.col("age"))
    who = tc.Scenario(keys=["region", "age"])
    release = tc.Plan([Copies(), tc.RandomOrder(), tc.Suppress(k=2)]).apply(one, who, LOOSE, seed=1)
    # What was suppressed is not given back, but counts with added records in them are no verdict.
    assert [each.holds for each in release.assess().verdicts() if each.name == "given_back"] == [True]
    assert "not in the original" in str(release.verdict)
    at = release.data.record.tolist().index(8)
    assert release.data.table["age"][at] is None
    assert release.data.table["copy"][at] is None
    assert release.data.table["copy"].null_count() == release.data.table["age"].null_count()


def test_a_release_in_which_every_record_is_new() -> None:
    release = tc.Plan([Copies(40, alone=True)]).apply(people(), WHO, LOOSE, seed=1)
    found = release.assess()
    assert "no released record is in the original: nothing was compared record by record." in found.cautions
    assert set(found.further) == set()
    limited = tc.Plan([Copies(40, alone=True)]).apply(people(), WHO, replace(LOOSE, limits={"distance_linkage": 0.1}))
    assert limited.verdict == (
        "NOT ASSESSED under this policy: distance_linkage was not measured: it needs released records that are in the "
        "original, and none is"
    )
    with pytest.raises(TacitaError, match=r"^no released record is in the original, so there is nothing to compare"):
        tc.risk.interval_disclosure(people(), release, WHO)
    with pytest.raises(TacitaError, match=r"^distance_linkage needs released records that are in the original"):
        release.assess(measures="distance_linkage")


def test_the_table_of_records_is_missing_where_there_is_no_original() -> None:
    release = tc.Plan([Noise("income"), Copies()]).apply(people(), WHO, LOOSE, seed=1)
    found = release.assess(measures=["interval_disclosure", "distance_linkage"])
    columns = tc.risk.interval_disclosure(people(), release, WHO).record_columns()
    name = next(iter(columns))
    assert found.records[name].to_list() == [*list(columns[name]), None, None, None]


def test_records_of_all_measures_are_of_the_release() -> None:
    release = tc.Plan([Drop(), Copies(), tc.RandomOrder()]).apply(people(), WHO, LOOSE, seed=1)
    assert "3 records added" in str(release)
    assert "20 records removed" in str(release)
    found = release.assess()
    assert NEW in str(found).replace("\n    ", " ")
    assert found.records.height == 23
    assert release.checklist()
    assert found.to_json()


def test_a_release_of_a_release_is_held_against_the_first_file(tmp_path: Path) -> None:
    first = tc.Plan([Drop(), Copies()]).apply(people(), WHO, LOOSE, seed=1)
    second = tc.Plan([Copies(2)]).apply(first, first.scenario, LOOSE, seed=1)
    assert len(np.unique(second.data.record)) == len(second.data) == 25
    assert second.data.record.max() == 45
    assert "5 released records are not in the original" in " ".join(second.assess().cautions)
    second.save(tmp_path / "out", accept_unsafe="a test", report=False)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=12, unique=True),
    st.lists(st.integers(1, 30), min_size=1, max_size=12, unique=True),
)
def test_shared_records_are_those_with_the_same_number(was: list[int], now: list[int]) -> None:
    from tacita.distance.truth import shared_records

    original, released = (
        Data(pl.DataFrame({"x": numbers}), numbers_of_records=np.array(numbers, dtype=np.int64))
        for numbers in (was, now)
    )
    pairs = [(was.index(number), row) for row, number in enumerate(now) if number in was]
    if not pairs:
        with pytest.raises(TacitaError, match=r"^no released record is in the original"):
            shared_records(original, released, None)
        return
    found = shared_records(original, released, None)
    assert list(zip(found.original.tolist(), found.released.tolist(), strict=True)) == pairs
    assert found.new == len(now) - len(pairs)
