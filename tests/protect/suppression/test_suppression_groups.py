"""Strata, households, and keys that are never blanked."""

import numpy as np
import pytest
import slow_suppression as twins
from hypothesis import given
from hypothesis import strategies as st
from suppression_problems import codes_of, files, suppress, whole

from tacita.check import TacitaError
from tacita.protect.suppress.problem import HouseholdVariables
from tacita.scenario import MissingRule

ONE_WAY = MissingRule()


@pytest.mark.parametrize("text", ["one_way", "wildcard", "own_category"])
def test_strata_are_files_of_their_own(text: str) -> None:
    draws = np.random.default_rng(4)
    codes = draws.integers(1, 4, (60, 3)).astype(np.uint32)
    strata = draws.integers(1, 4, 60).astype(np.uint32)
    rule = MissingRule.parse(text)
    found = suppress(codes, whole(3, 2), [1.0] * 3, rule, strata=strata)
    assert found.gone.any()
    for each in np.unique(strata):
        here = strata == each
        assert not twins.unsafe((codes * ~found.gone)[here], whole(3, 2), rule).any()
        assert found.violated[here].tolist() == twins.unsafe(codes[here], whole(3, 2), rule).tolist()
        assert twins.unneeded(codes[here], found.gone[here], whole(3, 2), rule) == []


def test_strata_by_hand() -> None:
    codes = codes_of((1,), (2,), (1,), (2,))
    assert not suppress(codes, whole(1, 2), [1.0], ONE_WAY).gone.any()
    apart = suppress(codes, whole(1, 2), [1.0], ONE_WAY, strata=np.array([1, 1, 2, 2], dtype=np.uint32))
    assert apart.gone.all()


def test_small_strata_are_an_error() -> None:
    with pytest.raises(TacitaError, match=r"^every stratum must have at least k = 2 records; 1 stratum of 2 has fewer"):
        suppress(codes_of((1,), (1,), (1,)), whole(1, 2), [1.0], ONE_WAY, strata=np.array([1, 1, 2], dtype=np.uint32))


def test_keys_that_are_kept() -> None:
    codes = codes_of((1, 1), (1, 2), (2, 1), (2, 2))
    found = suppress(codes, whole(2, 2), [1.0, 5.0], ONE_WAY, kept=1)
    assert found.gone.tolist() == [[False, True]] * 4
    with pytest.raises(TacitaError, match="could not bring 1 record to k"):
        suppress(codes_of((1, 1), (1, 2), (3, 1)), whole(2, 2), [1.0, 1.0], ONE_WAY, kept=1)


@given(files(most=14, keys=4), st.data())
def test_a_household_variable_goes_for_all_members(codes: np.ndarray, data: st.DataObject) -> None:
    n, q = codes.shape
    household = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    shared = sorted(data.draw(st.sets(st.integers(0, q - 1))))
    found = suppress(codes, whole(q, 2), [1.0] * q, ONE_WAY, shared=HouseholdVariables(household, tuple(shared)))
    assert not twins.unsafe(codes * ~found.gone, whole(q, 2), ONE_WAY).any()
    for each in np.unique(household):
        for key in shared:
            cells = found.gone[(household == each) & (codes[:, key] > 0), key]
            assert cells.all() or not cells.any()
    # A blank is needed by its own record; one of a household variable by a member at least.
    for record, key in twins.unneeded(codes, found.gone, whole(q, 2), ONE_WAY):
        assert key in shared
        assert not found.needed[record, key]
        members = (household == household[record]) & found.gone[:, key]
        again = found.gone.copy()
        again[members, key] = False
        assert twins.unsafe(codes * ~again, whole(q, 2), ONE_WAY)[members].any()
    assert (found.needed <= found.gone).all()
    assert not (found.drawn_in & found.with_household).any()


def test_a_household_by_hand() -> None:
    # The first record must lose its region; its household member, safe as it is, follows.
    codes = codes_of((1, 1), (1, 2), (2, 1), (2, 1), (1, 2), (1, 2))
    household = np.array([0, 0, 1, 2, 3, 4])
    found = suppress(codes, whole(2, 2), [1.0, 9.0], ONE_WAY, shared=HouseholdVariables(household, (0,)))
    assert found.gone.tolist() == [[True, False], [True, False], *[[False, False]] * 4]
    assert found.with_household.tolist() == [False, True, False, False, False, False]
    assert not found.drawn_in.any()


def test_nobody_is_touched_whose_household_could_not_follow() -> None:
    codes = codes_of((1, 1), (1, 2), (2, 1), (2, 1), (1, 2), (1, 2))
    household = np.array([0, 0, 1, 2, 3, 4])
    free = np.array([True, False, True, True, True, True])
    found = suppress(codes, whole(2, 2), [1.0, 9.0], ONE_WAY, shared=HouseholdVariables(household, (0,)), free=free)
    assert not found.gone.any()
    assert found.left.tolist() == [True, False, False, False, False, False]


def test_blanks_spread_over_households() -> None:
    households = HouseholdVariables(np.array([0, 0, 1]), (0,))
    known, shown = np.array([3, 3, 3]), np.array([2, 3, 1])
    assert households.spread(known, shown).tolist() == [2, 2, 1]
