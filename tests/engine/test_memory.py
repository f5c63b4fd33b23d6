"""The memory budget: what the engine may hold, what is left for the distinct keys, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from test_assess_on_engine import people, scenario

import tacita as tc
from tacita.check import TacitaError
from tacita.engine import memory
from tacita.engine.memory import LIBRARIES, Room, budget

pytestmark = pytest.mark.filterwarnings(
    "ignore::tacita.check.Caution", "ignore::DeprecationWarning", "ignore::ResourceWarning"
)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes that the process holds, for the tests to set."""
    bytes_held = [LIBRARIES]
    monkeypatch.setattr(memory, "resident", lambda: bytes_held[0])
    return bytes_held


def limit_of(large: tc.LargeData) -> float:
    """The bytes that the engine may hold."""
    (said,) = large.database.ibis.con.execute("SELECT current_setting('memory_limit')").fetchone()
    size, unit = re.fullmatch(r"([\d.]+) (\w+)", said).groups()  # type: ignore[union-attr]
    return float(size) * {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit]


def test_what_is_left_of_a_budget(held: list[int]) -> None:
    held[0] = LIBRARIES + 700
    room = Room(LIBRARIES + 10_000)
    assert room.left() == 10_000  # what others held before is theirs
    held[0] += 3_000
    assert (room.left(), room.left(engine=1_000)) == (7_000, 8_000)
    held[0] += 90_000
    assert room.left() == 0


def test_where_the_system_does_not_say_what_the_process_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "resident", lambda: None)
    assert Room(LIBRARIES + 10_000).left() == 10_000


def test_this_system_says_what_the_process_holds() -> None:
    found = memory.resident()
    assert found is None or found > 10_000_000


def test_the_engine_holds_half_of_the_budget_or_what_is_left_of_it(tmp_path: Path, held: list[int]) -> None:
    people(50).write_parquet(tmp_path / "a.parquet")
    with tc.LargeData.of(tmp_path / "a.parquet", memory="4GB") as large:
        assert large.size == 50
        assert limit_of(large) == pytest.approx(2e9, rel=0.05)  # shown as 1.8 GiB
        held[0] = LIBRARIES + 2_500_000_000
        assert large.different["sex"] == 2
        left = 4e9 - LIBRARIES - 2.5e9
        assert limit_of(large) == pytest.approx(0.6 * left, rel=0.01)
        assert large.room == left - 120e6
        assert limit_of(large) == pytest.approx(60e6, rel=0.01)  # until the next query


def test_keys_that_do_not_fit_what_is_left_are_refused(tmp_path: Path, held: list[int]) -> None:
    """800 keys need about 800 kB: there are 100 kB besides the least that the engine needs."""
    pl.DataFrame({"number": range(800), "sex": ["f", "m"] * 400}).write_parquet(tmp_path / "a.parquet")
    who = tc.Scenario(keys=["number", "sex"])
    with tc.LargeData.of(tmp_path / "a.parquet", memory="1GB") as large:
        tc.assess(large, who)
        held[0] = 1_000_000_000 - 120_000_000 - 100_000
        with pytest.raises(TacitaError) as error:
            tc.assess(large, who)
    assert str(error.value) == (
        "'number', 'sex' have 800 different combinations, whose measures need about 624 KB of memory, and 100 KB of "
        "the budget are left; recode the most detailed of them first, or give more memory (--memory)."
    )


def test_figures_do_not_depend_on_the_budget(tmp_path: Path, held: list[int]) -> None:
    """With hardly anything left the engine works on disk, and batches are small."""
    survey = people(3_000)
    survey.write_parquet(tmp_path / "a.parquet")
    plan, found = tc.Plan([tc.Recode("age", width=3), tc.Suppress(k=3, closed=False), tc.Pram("sex")]), []
    for size in ("700MB", "8GB"):
        held[0] = LIBRARIES
        with tc.LargeData.of(tmp_path / "a.parquet", memory=size, temporary=tmp_path) as large:
            held[0] += 100_000_000
            assessed = tc.assess(large, scenario(household="hid"), tc.Policy(household_risk=0.2))
            release = plan.apply(large, scenario(), seed=2**100).write(tmp_path / f"{size}.parquet")
        found.append((assessed.to_dict(), pl.read_parquet(release).rows()))
    assert found[0] == found[1]


@pytest.mark.parametrize("given", ["699MB", 5, "0.1GB"])
def test_a_budget_that_is_too_small(given: int | str) -> None:
    with pytest.raises(TacitaError, match="memory must be at least 700MB; got"):
        budget(given)
