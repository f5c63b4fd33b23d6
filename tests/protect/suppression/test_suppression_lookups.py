"""Compiled loops and tables of who agrees with a unit count what one would count record by record."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_problems import RULES, files, suppress, whole

from tacita.protect.suppress import wildcard_tables as loops
from tacita.protect.suppress.one_way_loops import check_on, counts_on
from tacita.protect.suppress.problem import Requirement, link_risk, suppressed, units_of
from tacita.protect.suppress.recount import frequencies
from tacita.protect.suppress.wildcard_turns import settle
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
    f, weight = counts_on(units.words, units.mask(members), shown, units.records, units.weights, members, wanted)
    assert f.tolist() == [sum(units.records[others]) for others in alike]
    assert weight.tolist() == [sum(units.weights[others]) for others in alike]
    k = np.array(data.draw(st.lists(st.integers(0, 5), min_size=3, max_size=3)))
    pattern, before = wanted % 3, wanted % 4 > 0
    safe = before.copy()
    check_on(units.words, units.mask(members), shown, units.records, members, wanted, pattern, k, safe)
    expected = [
        was and (k[kind] == 0 or sum(units.records[[*{*others, unit}]]) >= k[kind])
        for was, kind, others, unit in zip(before, pattern, alike, wanted, strict=True)
    ]
    assert safe.tolist() == expected


@pytest.mark.parametrize("rule", HELPFUL)
@settings(max_examples=30)
@given(data=st.data())
def test_tables_count_as_the_file_would(rule: str, data: st.DataObject) -> None:
    """Units change what they show, one after the other, and each counts what it would in the file."""
    codes = data.draw(files(most=9))
    n, q = codes.shape
    weights = np.array(data.draw(st.lists(st.sampled_from([1.0, 3.0, 10.0]), min_size=n, max_size=n)))
    units = units_of(codes, np.ones(n, dtype=bool), weights)
    size, every = len(units.codes), st.integers(0, (1 << q) - 1)
    shown = units.known & np.array(data.draw(st.lists(every, min_size=size, max_size=size)))
    factor = 1.0 if rule == "wildcard" else float(MissingRule.parse(rule).factor or 0.0)
    state = np.ones(size, dtype=bool), np.full(size, np.inf)
    tables = loops.tables_of(units, shown, units.known, units.weights, *state, loops.fewest_slots(units))
    costs = np.arange(float(1 << q))
    for unit, blanks, members in data.draw(
        st.lists(st.tuples(st.integers(0, size - 1), every, st.integers(1, (1 << q) - 1)), min_size=1, max_size=6)
    ):
        blanks &= int(units.known[unit])
        f, weight = loops.counted(tables, unit, blanks, members, factor, np.inf)
        trial = shown.copy()
        trial[unit] = units.known[unit] & ~blanks
        expected, sums = frequencies(suppressed(units.codes, trial), units, members, MissingRule.parse(rule))
        np.testing.assert_allclose([f, weight], [expected[unit], sums[unit]], rtol=1e-12)
        settle(tables, unit, blanks, 0.0, np.array([members]), costs)
        assert shown.tolist() == trial.tolist()


RECORDS = 70


def _suppressed(rule: str, **options: Any) -> list[list[bool]]:
    draws = np.random.default_rng(5)
    codes = np.minimum(draws.geometric(0.35, (RECORDS, 5)), 6).astype(np.uint32)
    codes[draws.random(codes.shape) < 0.02] = 0
    return suppress(
        codes, options.pop("needs", whole(5, 3)), [1.0] * 5, MissingRule.parse(rule), **options
    ).gone.tolist()


@pytest.mark.parametrize("rule", HELPFUL)
@pytest.mark.parametrize("limited", [False, True])
def test_small_tables_change_nothing(rule: str, limited: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that are emptied and grow, or are too many, so that everybody is looked at, or asked each time."""
    options: dict[str, Any] = {}
    if limited:
        limits = np.full(RECORDS, 0.02)
        options = {"weights": np.full(RECORDS, 10.0), "risk": link_risk(None)}
        options["needs"] = [Requirement(31, 2, limits), Requirement(3, 5)]
    expected = _suppressed(rule, **options)
    assert np.any(expected)
    made, tables_of = [], loops.tables_of

    def counted(*given: Any) -> loops.Tables:
        made.append(given[-1])
        return tables_of(*given)

    with monkeypatch.context() as changed:
        changed.setattr(loops, "fewest_slots", lambda units: 1 << 8)
        changed.setattr(loops, "tables_of", counted)
        assert _suppressed(rule, **options) == expected
        assert made.count(1 << 8) < made.count(1 << 9) + made.count(1 << 8) < len(made)
    with monkeypatch.context() as changed:
        # At most two tables for each pattern.
        changed.setattr(loops, "SLOTS", 7 * RECORDS)
        changed.setattr(loops, "fewest_slots", lambda units: 1 << 12)
        assert _suppressed(rule, **options) == expected
