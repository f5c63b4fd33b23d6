"""`check_measure` finds a measure that breaks its contract, in each way that it can be broken."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita import frame, measures
from tacita.check import TacitaError
from tacita.data import Data
from tacita.measures import at_most, find, measure, measure_names
from tacita.parameters import AtLeast, Doc, Share
from tacita.progress import Cancelled, Progress, no_progress
from tacita.result import Result
from tacita.scenario import Scenario
from tacita.testing import check_measure

PEOPLE = pl.DataFrame(
    {
        "town": ["here", "there", "there", "far", "here", "far", "here", "there", "here", "far"] * 2,
        "income": [10.5, 20.0, 31.0, 44.0, 57.5, 62.0, 71.0, 80.0, 99.0, 105.0, *range(10)],
    }
)
WHO = Scenario(keys=["town"], numeric_keys=["income"])


@pytest.fixture(autouse=True)
def no_measure_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_DECLARED_HERE", {})


@dataclass(frozen=True, eq=False)
class Towns(Result):
    """How many records the rarest town has."""

    least: int
    words: str = ""
    more: Any = None

    @property
    def headline(self) -> str:
        """The rarest town."""
        return f"the rarest town has {self.least:,} records{self.words}"

    def to_dict(self) -> dict[str, Any]:
        """The figure."""
        return {"least": self.least}

    def to_frame(self) -> frame.Frame:
        """One row."""
        return frame.table({"least": [self.least], "more": [self.more or 0.0]})


@dataclass(eq=False)
class Thawed(Result):
    """Not frozen."""

    least: int
    words: str = ""
    more: Any = None

    @property
    def headline(self) -> str:
        """The rarest town."""
        return "a town"


def rarest(data: Data) -> int:
    counts = np.bincount(data.coded("town" if "town" in data.columns else data.columns[0]).codes)
    return int(counts[counts > 0].min())


def declared(how: str) -> Any:
    """A measure that is careless in one way, or in none."""

    @measure(
        needs="keys",
        limit=at_most("least", "the records of the rarest town"),
        seed_matters=how in ("draws", "no draws"),
    )
    def towns(
        data: Any,
        scenario: Scenario,
        *,
        share: Annotated[float, Share(), Doc("A share.")] = 0.5,
        size: Annotated[int, AtLeast(1), *([Doc("A size.")] if how != "no doc" else [])] = 1,
        loose: Annotated[Any, Doc("Anything.")] = None,
        seed: Annotated[int, Doc("A seed.")] = 0,
        progress: Progress = no_progress,
    ) -> Towns:
        if loose is not None and how != "loose option":
            raise TacitaError("loose must be left out.")
        try:
            progress(2.0 if how == "far" else 0.5, "counting")
        except Cancelled:
            if how != "goes on":
                raise
        values = data.numbers(scenario.numeric_keys[0]) if how in ("order", "cell") else np.zeros(1)
        if how == "refusal" and len(data) == 1:
            raise TacitaError("too few")
        words = {
            "cell": f", and somebody earns {np.nanmax(values, initial=0):.2f}",
            "names": f" and {scenario.keys[0]}",
            "row": "  and  more",
        }.get(how, "")
        kind = Thawed if how == "thawed" else Towns
        more = {"order": float(values[0]), "names": float(len(scenario.keys[0]))}.get(how)
        more = float(seed) if how in ("draws", "undeclared draws") else more
        return kind(rarest(data), words, more)

    return towns


def test_a_measure_that_keeps_the_contract() -> None:
    check_measure(declared("not at all"), PEOPLE, WHO)
    check_measure("towns", PEOPLE, WHO, share=0.2)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("thawed", "the result is no frozen dataclass"),
        ("row", "the result has a headline that is a row of a table, not a sentence"),
        ("order", "the measure depends on the order of the records"),
        ("names", "the measure gives other figures for odd names of variables"),
        ("cell", "the measure shows a cell of the data"),
        ("no doc", "the measure has an option size without a line of documentation"),
        ("loose option", "the measure accepts a bad value of loose"),
        ("far", "the measure reports progress outside 0 to 1"),
        ("goes on", "the measure goes on after it was cancelled"),
        ("refusal", "the measure refuses in something else than a sentence"),
    ],
)
def test_a_measure_that_breaks_the_contract_is_found(how: str, message: str) -> None:
    with pytest.raises(AssertionError) as found:
        check_measure(declared(how), PEOPLE, WHO)
    assert str(found.value) == message


def test_another_seed_gives_another_result_where_the_measure_says_so() -> None:
    check_measure(declared("draws"), PEOPLE, WHO, seed=3)
    check_measure(declared("not at all"), PEOPLE, WHO, seed=3)
    with pytest.raises(AssertionError, match="the measure takes a seed, but another seed gives the same"):
        check_measure(declared("no draws"), PEOPLE, WHO, seed=3)
    with pytest.raises(AssertionError, match="gives other figures for another seed, but declares the same"):
        check_measure(declared("undeclared draws"), PEOPLE, WHO, seed=3)


def test_a_measure_of_two_files_needs_two() -> None:
    with pytest.raises(TacitaError, match="distance_linkage is a measure of two files: pass released="):
        check_measure("distance_linkage", PEOPLE, WHO)
    with pytest.raises(TacitaError, match="k_anonymity is a measure of one file: leave released out"):
        check_measure("k_anonymity", PEOPLE, WHO, released=PEOPLE)


def test_a_measure_of_the_session_is_known_by_its_name() -> None:
    declared("not at all")
    assert measure_names()[-1] == "towns"
    policy = tc.Policy(k=None, risk=None, rate=None, limits={"towns": 3})
    profile = tc.assess(PEOPLE, WHO, policy)
    assert [verdict.holds for verdict in profile.verdicts()] == [
        find("towns").limited_value(profile.further["towns"], {}) <= 3
    ]
    assert tc.risk.towns is find("towns").function


def test_a_name_of_tacita_is_taken() -> None:
    with pytest.raises(TacitaError) as error:

        @measure()
        def suda(data: Any, scenario: Scenario) -> Towns:
            return Towns(1)

    assert str(error.value) == "there is a measure 'suda' in Tacita; give yours another name."


def test_a_measure_can_need_any_field_of_the_scenario_and_no_other() -> None:
    @measure(needs="strata", limit=at_most("least", "the records"))
    def by_strata(data: Any, scenario: Scenario) -> Towns:
        return Towns(len(scenario.strata))

    profile = tc.assess(PEOPLE, WHO, tc.Policy(limits={"by_strata": 2}))
    (verdict,) = [each for each in profile.verdicts() if each.name == "by_strata"]
    assert (verdict.holds, verdict.why) == (None, "by_strata was not measured: it needs strata=... in the scenario")
    with pytest.raises(TacitaError, match="needs and called_for of nonsense must be one of"):

        @measure(needs="nonsense")
        def nonsense(data: Any, scenario: Scenario) -> Towns:
            return Towns(1)


def test_a_measure_of_the_session_is_called_for() -> None:
    @measure(called_for="numeric_keys")
    def unasked(data: Any, scenario: Scenario) -> Towns:
        return Towns(5)

    assert "unasked" in tc.assess(PEOPLE, WHO).further
    assert "unasked" not in tc.assess(PEOPLE, Scenario(keys=["town"])).further


def test_what_is_not_declared_is_no_measure() -> None:
    with pytest.raises(TacitaError, match="'rarest' is not declared as a measure"):
        check_measure(rarest, PEOPLE, WHO)
