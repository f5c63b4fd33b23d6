"""Compiled loops and tables of who agrees with a unit count what one would count record by record."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_problems import RULES, files, suppress, whole

from tacita.protect.suppress import wildcard
from tacita.protect.suppress import wildcard_loops as loops
from tacita.protect.suppress.problem import Problem, Requirement, link_risk, suppressed, units_of
from tacita.protect.suppress.recount import frequencies
from tacita.protect.suppress.requirements import counted
from tacita.protect.suppress.wildcard import Turn, turns_of
from tacita.scenario import MissingRule

HELPFUL = [rule for rule in RULES if rule not in ("one_way", "own_category")]
"""Rules by which missing values match any value."""


@settings(max_examples=60)
@given(data=st.data())
def test_one_way_loops_count_unit_by_unit(data: st.DataObject) -> None:
    codes = data.draw(files(most=12))
    n, q = codes.shape
    weights = np.array(data.draw(st.lists(st.sampled_from([1.0, 3.0, 10.0]), min_size=n, max_size=n)))
    units = units_of(codes, np.ones(n, dtype=bool), weights)
    size, members = len(units.codes), data.draw(st.integers(0, (1 << q) - 1))
    shown = units.known & np.array(data.draw(st.lists(st.integers(0, (1 << q) - 1), min_size=size, max_size=size)))
    wanted = np.array(sorted(data.draw(st.sets(st.integers(0, size - 1)))), dtype=np.int64)
    columns = [column for column in range(q) if members >> column & 1]
    showing = [other for other in range(size) if shown[other] & members == members]
    same = (units.codes[:, None, columns] == units.codes[None, :, columns]).all(axis=2)
    alike = [[other for other in showing if same[unit, other]] for unit in wanted]
    for unit, others in zip(wanted, alike, strict=True):
        if unit not in others:
            others.append(unit)
    f, weight = counted(units, shown, members, wanted)
    assert f.tolist() == [sum(units.records[others]) for others in alike]
    assert np.asarray(weight).tolist() == [sum(units.weights[others]) for others in alike]


@pytest.mark.parametrize("rule", HELPFUL)
@settings(max_examples=30)
@given(data=st.data())
def test_tables_and_turns_count_as_the_file_would(rule: str, data: st.DataObject) -> None:
    """Units change what they show, one after the other, and each counts what it would in the file."""
    codes = data.draw(files(most=9))
    n, q = codes.shape
    weights = np.array(data.draw(st.lists(st.sampled_from([1.0, 3.0, 10.0]), min_size=n, max_size=n)))
    units = units_of(codes, np.ones(n, dtype=bool), weights)
    size, every, parsed = len(units.codes), st.integers(0, (1 << q) - 1), MissingRule.parse(rule)
    shown = units.known & np.array(data.draw(st.lists(every, min_size=size, max_size=size)))
    factor = 1.0 if rule == "wildcard" else float(parsed.factor or 0.0)
    limited = [Requirement(members, 1, np.full(size, np.inf)) for members in range(1, 1 << q)]
    problem = Problem(units, limited, [1.0] * q, parsed)
    turns = turns_of(problem, shown)
    for unit, blanks, members in data.draw(
        st.lists(st.tuples(st.integers(0, size - 1), every, st.integers(1, (1 << q) - 1)), min_size=1, max_size=6)
    ):
        blanks &= int(units.known[unit])
        trial = shown.copy()
        trial[unit] = units.known[unit] & ~blanks
        expected, sums = frequencies(suppressed(units.codes, trial), units, members, parsed)
        mine = int(trial[unit]) & members
        f = loops.counted(turns, unit, mine, factor if mine == members else 1.0, np.inf)
        np.testing.assert_allclose(f, expected[unit], rtol=1e-12)
        found = Turn(problem, turns, unit).counted(np.array([blanks]), limited[members - 1])
        np.testing.assert_allclose(np.ravel(found), [expected[unit], sums[unit]], rtol=1e-12)
        loops.show(turns, unit, units.known[unit] & ~blanks)
        assert shown.tolist() == trial.tolist()


RECORDS = 70


def _suppressed(rule: str, needs: list[Requirement], **options: Any) -> list[list[bool]]:
    draws = np.random.default_rng(5)
    codes = np.minimum(draws.geometric(0.35, (RECORDS, 5)), 6).astype(np.uint32)
    codes[draws.random(codes.shape) < 0.02] = 0
    return suppress(codes, needs, [1.0] * 5, MissingRule.parse(rule), **options).gone.tolist()


@pytest.mark.parametrize("rule", HELPFUL)
def test_small_tables_change_nothing(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, also those that are emptied whenever another one is asked for, and comparing all at once."""
    needs = [*whole(5, 3), Requirement(3, 5)]
    expected = _suppressed(rule, needs)
    assert np.any(expected)
    monkeypatch.setattr(wildcard, "FEW_UNITS", 0)
    assert _suppressed(rule, needs) == expected
    monkeypatch.setattr(wildcard, "SLOTS", 1)
    assert _suppressed(rule, needs) == expected


@pytest.mark.parametrize("rule", HELPFUL)
def test_turns_one_by_one_are_those_of_all_at_once(rule: str) -> None:
    """A limit that nobody is above, and persons with one record each, change nothing."""
    needs = [*whole(5, 3), Requirement(3, 5)]
    expected = _suppressed(rule, needs)
    never = [need._replace(limits=np.full(RECORDS, np.inf)) for need in needs]
    assert _suppressed(rule, never, weights=np.full(RECORDS, 10.0), risk=link_risk(None)) == expected
    order = np.arange(RECORDS)
    one_each = _suppressed(rule, needs, person=order)
    assert np.sum(one_each) == np.sum(_suppressed(rule, never, person=order, risk=link_risk(1.0)))


@pytest.mark.parametrize("records", [30, 400])
def test_tables_never_overflow(records: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each change adds to every table: once the tables of files of few records and many keys were full, for ever."""
    draws = np.random.default_rng(1)
    codes = np.minimum(draws.geometric(0.3, (records, 9)), 9).astype(np.uint32)
    monkeypatch.setattr(wildcard, "FEW_UNITS", 0)
    found = suppress(codes, whole(9, 3), [1.0] * 9, MissingRule("wildcard"))
    assert found.violated.all()
    assert not found.left.any()
