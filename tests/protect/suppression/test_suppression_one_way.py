"""Suppression under the default rule: by hand, by brute force, against the optimum."""

import numpy as np
import pytest
import slow_suppression as twins
from hypothesis import given
from hypothesis import strategies as st
from suppression_problems import codes_of, files, released, requirements, suppress, whole

from tacita.check import TacitaError
from tacita.protect.suppress import requirements as requirements_module
from tacita.protect.suppress.problem import Problem, Requirement, columns_of, units_of
from tacita.protect.suppress.requirements import Demands, all_sets, essential, in_order, of_sizes, sets_to_try
from tacita.scenario import MissingRule

ONE_WAY = MissingRule()


def test_a_lone_value_goes() -> None:
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2))
    found = suppress(codes, whole(2, 2), [1.0, 1.0], ONE_WAY)
    # The third and the fourth record are alone; both keep what they share.
    assert released(codes, found.gone) == [(1, 1), (1, 1), (0, 2), (0, 2)]
    assert found.violated.tolist() == [False, False, True, True]
    assert not found.drawn_in.any()


def test_who_counted_on_a_blanked_record_is_touched_too_and_counted_apart() -> None:
    codes = codes_of((3, 1), (3, 0), (0, 1))
    found = suppress(codes, whole(2, 2), [1.0, 1.0], ONE_WAY)
    # The first record is alone on both keys. Whichever it blanks, the record that counted on that value is alone then.
    assert found.violated.tolist() == [True, False, False]
    assert int(found.gone.sum()) == 2
    assert int(found.gone[0].sum()) == 1
    assert found.drawn_in.sum() == 1
    assert not found.drawn_in[0]
    assert twins.optimum(codes, 2, [1.0, 1.0]) == 2


def test_costs_decide_what_goes() -> None:
    codes = codes_of((1, 1), (1, 2), (2, 1), (2, 2))
    first = suppress(codes, whole(2, 2), [1.0, 2.0], ONE_WAY)
    last = suppress(codes, whole(2, 2), [2.0, 1.0], ONE_WAY)
    assert first.gone.tolist() == [[True, False]] * 4
    assert last.gone.tolist() == [[False, True]] * 4


def test_with_nothing_in_common_everything_goes() -> None:
    codes = codes_of((1, 1), (2, 2), (3, 3))
    assert suppress(codes, whole(2, 3), [1.0, 1.0], ONE_WAY).gone.all()


def test_nothing_is_done_to_a_safe_file() -> None:
    codes = codes_of((1, 1), (1, 1), (0, 0))
    found = suppress(codes, whole(2, 2), [1.0, 1.0], ONE_WAY)
    assert not found.gone.any()
    assert not found.violated.any()


def test_k_above_the_number_of_records_is_an_error() -> None:
    with pytest.raises(TacitaError, match=r"^k must be at most the 3 records of the file; got 4\.$"):
        suppress(codes_of((1, 1), (1, 1), (1, 1)), whole(2, 4), [1.0, 1.0], ONE_WAY)


@given(st.data())
def test_every_record_is_safe_and_every_blank_needed(data: st.DataObject) -> None:
    codes = data.draw(files())
    n, q = codes.shape
    needs = data.draw(requirements(q))
    costs = data.draw(st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=q, max_size=q))
    free = np.array(data.draw(st.lists(st.sampled_from([True, True, True, False]), min_size=n, max_size=n)))
    before = codes.copy()
    found = suppress(codes, needs, costs, ONE_WAY, free=free)
    assert (codes == before).all()
    assert not (found.gone & (codes == 0)).any()
    assert found.violated.tolist() == twins.unsafe(codes, needs, ONE_WAY).tolist()
    still = twins.unsafe(codes * ~found.gone, needs, ONE_WAY)
    assert not (still & free).any()
    assert found.left.tolist() == still.tolist()
    assert not (found.touched & ~free).any()
    assert twins.unneeded(codes, found.gone, needs, ONE_WAY) == []
    assert (found.drawn_in == (found.touched & ~found.violated)).all()


@given(files(), st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(codes: np.ndarray, random: object) -> None:
    order = np.random.default_rng(random.getrandbits(32)).permutation(len(codes))  # type: ignore[attr-defined]
    costs = [1.0] * codes.shape[1]
    one = suppress(codes, whole(codes.shape[1], 2), costs, ONE_WAY).gone
    other = suppress(codes[order], whole(codes.shape[1], 2), costs, ONE_WAY).gone
    assert (one[order] == other).all()


def random_file(draws: np.random.Generator, blanks: bool) -> tuple[np.ndarray, int]:
    n, q, k = int(draws.integers(4, 13)), int(draws.integers(2, 5)), int(draws.integers(2, 4))
    codes = draws.integers(1, int(draws.integers(3, 5)), (n, q))
    if blanks:
        codes = codes * (draws.random((n, q)) > 0.15)
    return codes.astype(np.uint32), k


@pytest.mark.parametrize("ranked", [False, True], ids=["equal costs", "importance"])
def test_nearly_the_optimum(ranked: bool) -> None:
    """200 small random files, half of them with blanks: 1.06 times the optimum at most, none far above it."""
    draws = np.random.default_rng(5)
    ours = best = 0.0
    for case in range(200):
        codes, k = random_file(draws, blanks=case % 2 == 1)
        q = codes.shape[1]
        costs = (1.0 + draws.permutation(q)).tolist() if ranked else [1.0] * q
        found = suppress(codes, whole(q, k), costs, ONE_WAY)
        cost, least = float((found.gone * costs).sum()), twins.optimum(codes, k, costs)
        assert least - 1e-6 <= cost <= max(1.5 * least, least + max(costs)) + 1e-6
        ours, best = ours + cost, best + least
    assert best > 1000
    assert ours <= 1.02 * best


def test_many_keys() -> None:
    """Beyond twelve keys not all sets are tried; the outcome is safe and needed all the same."""
    draws = np.random.default_rng(2)
    codes = draws.integers(1, 4, (12, 14)).astype(np.uint32)
    needs = whole(14, 2)
    found = suppress(codes, needs, [1.0] * 14, ONE_WAY)
    assert not twins.unsafe(codes * ~found.gone, needs, ONE_WAY).any()
    assert twins.unneeded(codes, found.gone, needs, ONE_WAY) == []


def naive_clusters(codes: np.ndarray) -> int:
    """The cells that go when each record in turn is joined with its nearest one, and then with any group."""
    left, cells = list(range(len(codes))), 0
    while len(left) > 1:
        apart = (codes[left] != codes[left[0]]).sum(axis=1)
        apart[0] = codes.shape[1] + 1
        cells += 2 * int(apart.min())
        left = [each for place, each in enumerate(left) if place not in (0, int(apart.argmin()))]
    return cells


@pytest.mark.parametrize(("records", "keys", "values"), [(3, 13, 4), (60, 13, 3), (400, 20, 3), (400, 20, 6)])
def test_many_keys_against_naive_clusters(records: int, keys: int, values: int) -> None:
    codes = np.random.default_rng(7).integers(1, values + 1, (records, keys)).astype(np.uint32)
    found = suppress(codes, whole(keys, 2), [1.0] * keys, ONE_WAY)
    assert not twins.unsafe(codes * ~found.gone, whole(keys, 2), ONE_WAY).any()
    if records % 2 == 0:
        assert int(found.gone.sum()) <= naive_clusters(codes)
    else:
        # At least one key on which two agree stays, for both.
        assert int(found.gone.sum()) < records * keys


def test_combinations_never_cost_more_than_all_keys() -> None:
    rows = [(1, 3, 2, 2), (2, 3, 1, 2), (1, 2, 3, 2), (1, 2, 1, 3), (3, 3, 2, 3), (2, 1, 2, 2)]
    codes = codes_of(*rows)
    together = suppress(codes, whole(4, 2), [1.0] * 4, ONE_WAY)
    apart = suppress(codes, of_sizes(range(4), {2: 2, 3: 2}), [1.0] * 4, ONE_WAY)
    assert int(together.gone.sum()) == 12
    assert int(apart.gone.sum()) <= 12


@pytest.mark.parametrize("rule", ["one_way", "wildcard", "partial(0.5)", "own_category"])
@given(data=st.data())
def test_no_combinations_cost_more_than_all_keys(rule: str, data: st.DataObject) -> None:
    codes = data.draw(files())
    q, k, asked = codes.shape[1], data.draw(st.integers(2, 3)), MissingRule.parse(rule)
    needs = of_sizes(range(q), dict.fromkeys(data.draw(st.sets(st.integers(1, q), min_size=1)), k))
    try:
        together = suppress(codes, whole(q, k), [1.0] * q, asked)
    except TacitaError:
        return
    if not twins.unsafe(codes * ~together.gone, needs, asked).any():
        assert suppress(codes, needs, [1.0] * q, asked).gone.sum() <= together.gone.sum()


def test_many_keys_with_blanks() -> None:
    """Two records that are blank on six of sixteen keys and differ on one of the others lose that one only."""
    codes = np.ones((4, 16), dtype=np.uint32)
    codes[:2, [0, 3, 6, 9, 12, 15]] = 0
    codes[0, 7] = 2
    codes[2:, [1, 2, 4, 5, 8, 10]] = 0
    codes[2, 14] = 2
    codes[2:, 11] = 3
    found = suppress(codes, whole(16, 2), [1.0] * 16, ONE_WAY)
    # The second and the fourth record violate as well: nobody else shows what they show.
    assert found.gone.sum(axis=1).tolist() == [1, 1, 1, 1]
    assert found.gone[:2, 7].all()
    assert found.gone[2:, 14].all()


def test_more_keys_than_fit() -> None:
    codes = np.ones((4, 63), dtype=np.uint32)
    with pytest.raises(TacitaError, match=r"^suppression takes at most 62 keys, strata counted as one; got 63"):
        suppress(codes, whole(63, 2), [1.0] * 63, ONE_WAY)
    strata = np.ones(4, dtype=np.uint32)
    with pytest.raises(TacitaError, match="strata counted as one; got 63"):
        suppress(codes[:, :62], whole(62, 2), [1.0] * 62, ONE_WAY, strata=strata)
    assert not suppress(codes[:, :62], whole(62, 2), [1.0] * 62, ONE_WAY).gone.any()


@pytest.mark.parametrize("variant", range(4))
@pytest.mark.parametrize("keys", [13, 16])
def test_sets_of_many_keys(variant: int, keys: int) -> None:
    """Those that are shown, those on which records agree, and the least; each after all that show more."""
    every = (1 << keys) - 1
    codes = np.random.default_rng(1).integers(1, 3, (6, keys)).astype(np.uint32)
    codes[:, 8] = 1
    units = units_of(codes, np.ones(6, dtype=bool))
    shown = np.array([every, every & ~0b1111, every & ~0b1010_0000, every & ~0b1111, every, every])
    problem = Problem(units, whole(keys, 2), [1.0, 2.0] * keys, fixed=1 << 8)
    order = list(sets_to_try(problem, shown, np.arange(6), variant))
    assert len(order) == len(set(order))
    assert {*shown.tolist(), 1 << 8} <= set(order)
    assert all(each >> 8 & 1 for each in order)
    agree = [
        int(np.packbits((units.codes[one] == units.codes[other]) & (shown[one] & shown[other]) >> np.arange(keys) & 1,
            bitorder="little").view(np.uint16)[0])
        for one in range(6) for other in range(one)
    ]  # fmt: skip
    assert set(agree) & set(order)
    for later, one in enumerate(order):
        assert not any(other & one == one for other in order[later + 1 :])


@given(st.data())
def test_demands(data: st.DataObject) -> None:
    """Of all requirements those that decide, for whatever is shown."""
    q = data.draw(st.integers(1, 5))
    pairs = data.draw(st.lists(st.tuples(st.integers(1, (1 << q) - 1), st.integers(1, 6)), min_size=1, max_size=12))
    shown = data.draw(st.integers(0, (1 << q) - 1))
    wide = [(members * 2, k) for members, k in pairs]
    for most in (1000, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(requirements_module, "MOST_COMPARED", most)
            found = Demands(wide).of(shown * 2)
        assert [each for each, _ in found] == sorted(dict(found), key=lambda each: (-each.bit_count(), each))
        counts = {part: data.draw(st.integers(1, 7)) for part in range(0, 2 << q, 2)}
        # Whoever shows less counts no fewer.
        f = {part: max(count for other, count in counts.items() if other & part == part) for part in counts}
        meets = all(f[shown * 2 & members] >= k for members, k in wide)
        assert all(f[part] >= k for part, k in found) == meets


@pytest.mark.parametrize("variant", range(4))
def test_sets_come_after_all_that_show_more(variant: int) -> None:
    costs = [3.0, 1.0, 2.0, 1.0, 2.5]
    order = list(in_order(all_sets(0b11111, 0b100), 0b11011, costs, variant))
    assert len(order) == len(set(order)) == 16
    assert all(each & 0b100 for each in order)
    for later, one in enumerate(order):
        assert not any(other & one == one for other in order[later + 1 :])


def test_requirements_that_others_imply_are_left_out() -> None:
    asked = of_sizes(range(4), {2: 5, 3: 3, 4: 3})
    kept = essential(asked, "one_way")
    assert [(len(columns_of(each.members)), each.k) for each in kept] == [(4, 3), *[(2, 5)] * 6]
    assert len(essential(asked, "partial")) == len(asked) == 6 + 4 + 1


def test_the_same_keys_asked_twice_get_the_stricter_limits() -> None:
    twice = [Requirement(3, 2, np.array([0.1, 0.3])), Requirement(3, 4, np.array([0.2, 0.2]))]
    (kept,) = essential(twice, "one_way")
    assert kept.k == 4
    assert kept.limits is not None
    assert kept.limits.tolist() == [0.1, 0.2]


def test_sizes_must_fit() -> None:
    with pytest.raises(TacitaError, match=r"^combs must be sizes up to the 3 keys; got 4\.$"):
        of_sizes(range(3), {4: 3})
    with pytest.raises(TacitaError, match=r"^combs asks for 155,117,520 combinations, more than 20,000"):
        of_sizes(range(30), {15: 3})
