"""Compiled loops count who agrees with a unit as one would record by record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_problems import RULES, files

from tacita.protect.suppress.one_way_loops import check_on, counts_on
from tacita.protect.suppress.problem import suppressed, units_of
from tacita.protect.suppress.recount import frequencies
from tacita.protect.suppress.wildcard_turns import State, counts_of, settle
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
def test_units_count_as_the_file_would(rule: str, data: st.DataObject) -> None:
    """Units change what they show, one after the other, and each counts what it would in the file."""
    codes = data.draw(files(most=9))
    n, q = codes.shape
    weights = np.array(data.draw(st.lists(st.sampled_from([1.0, 3.0, 10.0]), min_size=n, max_size=n)))
    units = units_of(codes, np.ones(n, dtype=bool), weights)
    size, every = len(units.codes), st.integers(0, (1 << q) - 1)
    shown = units.known & np.array(data.draw(st.lists(every, min_size=size, max_size=size)))
    factor = 1.0 if rule == "wildcard" else float(MissingRule.parse(rule).factor or 0.0)
    state = State.of(units, shown, units.known, factor)
    costs = np.arange(float(1 << q))
    for unit, blanks, members in data.draw(
        st.lists(st.tuples(st.integers(0, size - 1), every, st.integers(1, (1 << q) - 1)), min_size=1, max_size=6)
    ):
        blanks &= int(units.known[unit])
        (f,), (weight,) = counts_of(state, unit, np.array([blanks]), members)
        trial = state.shown.astype(np.int64)
        trial[unit] = units.known[unit] & ~blanks
        expected, sums = frequencies(suppressed(units.codes, trial), units, members, MissingRule.parse(rule))
        np.testing.assert_allclose([f, weight], [expected[unit], sums[unit]], rtol=1e-12)
        settle(state, unit, blanks, 0.0, np.array([members]), costs)
        assert state.shown.tolist() == trial.tolist()
