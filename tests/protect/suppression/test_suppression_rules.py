"""Suppression under the other missing-value rules."""

import numpy as np
import pytest
import slow_suppression as twins
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_problems import REFUSED, RULES, codes_of, drawn, files, released, requirements, suppress, whole

from tacita.check import TacitaError
from tacita.protect.suppress.local_suppression import suppress as solve
from tacita.protect.suppress.problem import HouseholdVariables
from tacita.scenario import MissingRule


def test_wildcard_by_hand() -> None:
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2))
    found = suppress(codes, whole(2, 2), [1.0, 1.0], MissingRule("wildcard"))
    # One blank is enough: the other of the two could then be it. Under the default rule both must blank.
    assert int(found.gone.sum()) == 1
    assert found.violated.tolist() == [False, False, True, True]


def test_no_decoys_under_wildcard() -> None:
    """One blank record would hide the whole file; but nobody is blanked who does not need it."""
    codes = codes_of(*[(i, i) for i in range(1, 9)])
    found = suppress(codes, whole(2, 2), [1.0, 1.0], MissingRule("wildcard"))
    assert twins.unneeded(codes, found.gone, whole(2, 2), MissingRule("wildcard")) == []


def test_partial_by_hand() -> None:
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2))
    found = suppress(codes, whole(2, 2), [1.0, 1.0], MissingRule("partial", 0.0))
    # A complete record counts exact twins only: both must suppress one key, and then count who they could be.
    assert found.gone.sum(axis=1).tolist() == [0, 0, 1, 1]


def test_own_category_by_hand() -> None:
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2))
    found = suppress(codes, whole(2, 2), [1.0, 1.0], MissingRule("own_category"))
    assert released(codes, found.gone) == [(1, 1), (1, 1), (0, 2), (0, 2)]


def test_own_category_draws_in_others_that_violated_but_nobody_who_is_safe() -> None:
    codes = codes_of((1, 1), (1, 2), (2, 1), (2, 3), (3, 4), (5, 5), (5, 5))
    rule = MissingRule("own_category")
    found = suppress(codes, whole(2, 2), [1.0, 1.0], rule)
    # (3, 4) shares nothing with anybody: it needs company among those that are blanked anyway.
    assert not twins.unsafe(codes * ~found.gone, whole(2, 2), rule).any()
    assert found.gone[4].all()
    assert not found.gone[5:].any()
    with pytest.raises(TacitaError, match=r"^suppression could not bring 1 record to k under missing 'own_category'"):
        suppress(codes_of((1, 1), (1, 1), (1, 1), (2, 2)), whole(2, 2), [1.0, 1.0], rule)


@pytest.mark.parametrize("text", REFUSED)
def test_other_rules_are_refused(text: str) -> None:
    with pytest.raises(TacitaError) as caught:
        suppress(codes_of((1, 1), (1, 1)), whole(2, 2), [1.0, 1.0], MissingRule.parse(text))
    rule = str(MissingRule.parse(text))
    assert str(caught.value) == (
        f"suppression takes missing 'one_way', 'own_category', 'wildcard' or 'partial(c)' with a number c, not "
        f"{rule!r}; suppress under one of these, then assess the release under {rule!r}."
    )


@pytest.mark.parametrize("text", RULES[1:])
@settings(max_examples=40)
@given(data=st.data())
def test_every_record_is_safe_and_every_blank_needed(text: str, data: st.DataObject) -> None:
    rule = MissingRule.parse(text)
    codes = data.draw(files(most=12))
    n, q = codes.shape
    needs = data.draw(requirements(q))
    costs = data.draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=q, max_size=q))
    free = np.array(data.draw(st.lists(st.sampled_from([True, True, True, False]), min_size=n, max_size=n)))
    try:
        found = suppress(codes, needs, costs, rule, free=free)
    except TacitaError:
        assert rule.name == "own_category"
        return
    assert found.violated.tolist() == twins.unsafe(codes, needs, rule).tolist()
    still = twins.unsafe(codes * ~found.gone, needs, rule)
    assert not (still & free).any()
    assert found.left.tolist() == still.tolist()
    assert not (found.touched & ~free).any()
    # What its own record does not need is named, and nothing else.
    assert set(twins.unneeded(codes, found.gone, needs, rule)) <= set(zip(*np.nonzero(found.for_others), strict=True))


@pytest.mark.parametrize("text", ["wildcard", "partial(0.5)", "own_category"])
def test_households_share_blanks(text: str) -> None:
    draws = np.random.default_rng(3)
    codes = draws.integers(1, 4, (40, 3)).astype(np.uint32)
    household = np.repeat(np.arange(20), 2)
    codes[:, 0] = codes[household * 2, 0]
    rule = MissingRule.parse(text)
    found = suppress(codes, whole(3, 3), [1.0] * 3, rule, shared=HouseholdVariables(household, (0,)))
    assert found.gone.any()
    assert (found.gone[::2, 0] == found.gone[1::2, 0]).all()
    assert not twins.unsafe(codes * ~found.gone, whole(3, 3), rule).any()


@pytest.mark.parametrize("text", RULES[1:])
@settings(max_examples=30)
@given(data=st.data())
def test_every_blank_is_needed_with_households_too(text: str, data: st.DataObject) -> None:
    rule = MissingRule.parse(text)
    codes = data.draw(files(most=12))
    n, q = codes.shape
    household = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    shared = sorted(data.draw(st.sets(st.integers(0, q - 1), min_size=1)))
    needs = whole(q, data.draw(st.integers(2, 3)))
    try:
        found = suppress(codes, needs, [1.0] * q, rule, shared=HouseholdVariables(household, tuple(shared)))
    except TacitaError:
        assert rule.name == "own_category"
        return
    assert not twins.unsafe(codes * ~found.gone, needs, rule).any()
    unneeded = set(twins.unneeded(codes, found.gone, needs, rule))
    for record, key in zip(*np.nonzero(found.gone), strict=True):
        if found.for_others[record, key]:
            continue
        assert ((record, key) not in unneeded) == found.needed[record, key]
        if (record, key) in unneeded:
            # A household variable that some member needs: shown again to all of them, one is unsafe.
            assert key in shared
            members = (household == household[record]) & found.gone[:, key]
            again = found.gone.copy()
            again[members, key] = False
            assert twins.unsafe(codes * ~again, needs, rule)[members].any()


def test_a_member_for_whom_no_key_of_its_own_is_enough_suppresses_household_variables() -> None:
    """Once the error "could not bring 1 record to k", though records with nothing shown are safe under this rule."""
    rows = ["021", "021", "034", "043", "123", "022", "223", "341", "432", "003", "011", "032"]
    codes = np.array([[int(code) for code in row] for row in rows], dtype=np.uint32)
    shared = HouseholdVariables(np.array([0, 0, 0, 0, 0, 2, 0, 2, 1, 0, 0, 0]), (1, 2))
    rule = MissingRule("partial", 0.0)
    found = suppress(codes, whole(3, 3), [1.0] * 3, rule, shared=shared)
    assert not twins.unsafe(codes * ~found.gone, whole(3, 3), rule).any()
    assert int(found.gone.sum()) == 11
    assert not found.for_others.any()


@pytest.mark.parametrize("rule", RULES[:-1])
def test_an_error_means_that_showing_nothing_would_not_do_either(rule: str) -> None:
    """Of random requests with household variables; `own_category` apart, where nothing shown is not always safe."""
    done = 0
    for seed in range(150, 250):
        asked = drawn(seed, rule)
        if asked.shared is None:
            continue
        try:
            solve(asked)
        except TacitaError as error:
            nothing = asked.changeable[:, None] & (asked.codes > 0)
            refused = "could not" not in str(error)
            assert refused or (twins.violating(asked, nothing) & asked.changeable).any(), seed
        else:
            done += 1
    assert done > 15


def test_too_many_keys_for_pairs() -> None:
    codes = np.random.default_rng(1).integers(1, 3, (20, 15)).astype(np.uint32)
    with pytest.raises(TacitaError, match="takes at most 14 keys; got 15, use fewer or the rule 'one_way'"):
        suppress(codes, whole(15, 2), [1.0] * 15, MissingRule("wildcard"))
