"""Tables of who agrees with a unit count what the measures count, and decide nothing by their size."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_problems import RULES, files, suppress, whole

from tacita.protect.suppress import wildcard_tables as loops
from tacita.protect.suppress.problem import link_risk, suppressed, units_of
from tacita.protect.suppress.recount import frequencies
from tacita.protect.suppress.requirements import Requirement
from tacita.protect.suppress.wildcard_turns import settle
from tacita.scenario import MissingRule

HELPFUL = [rule for rule in RULES if rule not in ("one_way", "own_category")]
"""Rules by which missing values match any value."""


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


def _suppressed(rule: str, **options: Any) -> list[list[bool]]:
    draws = np.random.default_rng(5)
    codes = np.minimum(draws.geometric(0.35, (150, 5)), 6).astype(np.uint32)
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
        limits = np.full(150, 0.02)
        options = {"weights": np.full(150, 10.0), "risk": link_risk(None)}
        options["needs"] = [Requirement(31, 2, limits), Requirement(3, 5)]
    expected = _suppressed(rule, **options)
    assert np.any(expected)
    made = []

    def small(units: Any) -> int:
        made.append(1 << 8)
        return made[-1]

    with monkeypatch.context() as changed:
        changed.setattr(loops, "fewest_slots", small)
        assert _suppressed(rule, **options) == expected
        assert made
    with monkeypatch.context() as changed:
        changed.setattr(loops, "SLOTS", 1000)
        changed.setattr(loops, "fewest_slots", lambda units: 1 << 12)
        assert _suppressed(rule, **options) == expected
