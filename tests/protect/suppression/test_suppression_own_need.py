"""Every cell is needed by its own record, or counted as one that only others need, by brute force."""

import numpy as np
import polars as pl
import pytest
import slow_suppression as twins
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_problems import RULES, codes_of, drawn, files, suppress, whole

import tacita as tc
from strategies import quietly
from tacita.check import TacitaError
from tacita.protect.suppress import local_suppression
from tacita.protect.suppress.problem import Problem, suppressed, units_of
from tacita.protect.suppress.recount import (
    Rows,
    cells_to_restore,
    counts_in_trials,
    frequencies,
    restored,
    safe_in_trials,
)
from tacita.scenario import MissingRule


@pytest.mark.parametrize("seed", range(0, 60, 10))
@pytest.mark.parametrize("rule", RULES)
def test_safe_and_no_cell_wasted_unsaid(rule: str, seed: int) -> None:
    done = few = 0
    for number in range(seed, seed + 10):
        asked = drawn(number, rule)
        try:
            found = local_suppression.suppress(asked)
        except TacitaError as error:
            assert "could not" in str(error) or "at least k" in str(error) or "at most the" in str(error)
            continue
        done += 1
        nothing = np.zeros(asked.codes.shape, dtype=bool)
        assert found.violated.tolist() == twins.violating(asked, nothing).tolist()
        still = twins.violating(asked, found.gone)
        assert found.left.tolist() == still.tolist()
        if asked.goal is None:
            assert not (still & asked.changeable).any()
        assert not (found.touched & ~asked.changeable).any()
        assert not (found.gone & (asked.codes == 0)).any()
        wasted = twins.wasted(asked, found.gone)
        assert {(record, key) for record, key in wasted if key >= 0} <= set(
            zip(*np.nonzero(found.for_others), strict=True)
        )
        assert {record for record, _ in wasted} <= set(np.flatnonzero(found.for_others.any(axis=1)))
        assert (found.for_others <= found.gone).all()
        few += len(wasted) > 0
        # The second kind is counted apart, and those who only follow their household.
        assert not (found.drawn_in & (found.violated | found.with_household)).any()
        assert (found.touched <= (found.violated | found.drawn_in | found.with_household)).all()
    assert done > 2
    assert few <= 3


def test_company_that_could_leave_is_said() -> None:
    """Records that keep another company, but could join a group that is safe, stay, and their cells are counted."""
    codes = codes_of((3, 9), (2, 7), (1, 7), (1, 7), (1, 1), (1, 2), (1, 3), (1, 4), (8, 8), (8, 8), (8, 8))
    rule = MissingRule("own_category")
    found = suppress(codes, whole(2, 3), [1.0, 1.0], rule)
    assert not twins.unsafe(codes * ~found.gone, whole(2, 3), rule).any()
    # (3, 9) shares nothing with anybody, so others must go all the way with it.
    assert found.gone[0].all()
    assert not found.gone[8:].any()
    assert set(twins.unneeded(codes, found.gone, whole(2, 3), rule)) <= set(
        zip(*np.nonzero(found.for_others), strict=True)
    )
    assert found.for_others.any()


def test_where_only_others_need_a_cell_that_is_said() -> None:
    # (2, 1) and (1, 1) must lose the first key. With the second key, which their household shares, they are alike
    # then, but the first record is alone. Without it the first has company, which none of the three needs.
    people = pl.DataFrame({"sex": [None, None, 2, 1], "region": [None, 1, 1, 1], "hid": [0, 1, 1, 1]})
    who = tc.Scenario(keys=["sex", "region"], household="hid", household_variables=["region"], missing="own_category")
    (change,) = tc.Plan([tc.Suppress(k=2, importance={"region": 1, "sex": 2})]).apply(people, who).changes
    assert change.figures["only_others_need"] == 3
    assert "3 cells suppressed only to protect other records" in str(change)


def test_a_wasted_cell_is_shown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the search finds: what nobody needs is shown again, what only others need is named."""
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2), (2, 1))
    rule, needs = MissingRule("wildcard"), whole(2, 2)
    monkeypatch.setitem(local_suppression.SEARCHES, "wildcard", lambda problem, progress: problem.units.known * 0)
    found = suppress(codes, needs, [1.0, 1.0], rule)
    assert 0 < found.gone.sum() < 5
    assert set(twins.unneeded(codes, found.gone, needs, rule)) <= set(zip(*np.nonzero(found.for_others), strict=True))
    assert not twins.unsafe(codes * ~found.gone, needs, rule).any()


def test_it_can_be_stopped_at_every_count() -> None:
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2), (2, 1))
    units = units_of(codes, np.ones(5, dtype=bool))
    problem = Problem(units, whole(2, 2), [1.0, 1.0], MissingRule("wildcard"))
    seen: list[float] = []
    restored(problem, units.known * 0, lambda done, what: seen.append(done))
    assert len(seen) > 3
    assert all(0 <= each <= 1 for each in seen)

    def stop(done: float, what: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restored(problem, units.known * 0, stop)


def test_what_is_shown_again_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever showing cells again leads to: an unsafe record is an error, never released."""
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2), (2, 1))
    monkeypatch.setattr(local_suppression, "restored", lambda problem, shown, progress: (problem.units.known, shown))
    with pytest.raises(TacitaError, match="could not bring"):
        suppress(codes, whole(2, 2), [1.0, 1.0], MissingRule("wildcard"))


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=30)
@given(data=st.data())
def test_trials_count_as_the_file_would(rule: str, data: st.DataObject) -> None:
    """What is counted in many trials at once is what is counted in each, done by itself."""
    codes = data.draw(files(most=9))
    n, q = codes.shape
    asked = MissingRule.parse(rule)
    weights = np.array(data.draw(st.lists(st.sampled_from([1.0, 3.0, 10.0]), min_size=n, max_size=n)))
    units = units_of(codes, np.ones(n, dtype=bool), weights, np.arange(n))
    some = st.integers(0, (1 << q) - 1)
    shown = units.known & np.array(data.draw(st.lists(some, min_size=n, max_size=n)))
    cells = data.draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, n - 1), some), min_size=1, unique_by=lambda each: each[:2])
    )
    trial, unit, shows = (np.array(each) for each in zip(*sorted(cells), strict=True))
    rows = Rows(unit, shows & units.known[unit], trial)
    members = data.draw(st.integers(1, (1 << q) - 1))
    f, weight = counts_in_trials(units, shown, rows, rows, members, asked)
    for number in np.unique(trial):
        here = rows.some(trial == number)
        after = shown.copy()
        after[here.unit] = here.shows
        expected, sums = frequencies(suppressed(units.codes, after), units, members, asked)
        np.testing.assert_allclose(f[trial == number], expected[here.unit], rtol=1e-12)
        np.testing.assert_allclose(weight[trial == number], sums[here.unit], rtol=1e-12)


@pytest.mark.parametrize("rule", ["wildcard", "one_way", "own_category", "partial(0.5)"])
@settings(max_examples=30)
@given(data=st.data())
def test_what_is_not_needed_is_found(rule: str, data: st.DataObject) -> None:
    """Of any blanks, safe or not, exactly those are named that a record alone could show again."""
    codes = data.draw(files(most=9, keys=3))
    n, q = codes.shape
    asked, needs = MissingRule.parse(rule), whole(q, 2)
    units = units_of(codes, np.ones(n, dtype=bool))
    shown = units.known & np.array(
        data.draw(st.lists(st.integers(0, (1 << q) - 1), min_size=len(units.codes), max_size=len(units.codes)))
    )
    problem = Problem(units, needs, [1.0] * q, asked)
    rows = cells_to_restore(problem, shown)
    rows = rows.trials(np.flatnonzero(safe_in_trials(problem, shown, rows)))
    more = rows.shows & ~shown[rows.unit]
    single = {(int(u), int(b).bit_length() - 1) for u, b in zip(rows.unit, more, strict=True) if b & (b - 1) == 0}
    gone = (units.known & ~shown)[units.row, None] >> np.arange(q) & 1 > 0
    by_hand = {(int(units.row[record]), key) for record, key in twins.unneeded(codes, gone, needs, asked)}
    assert single == by_hand


@pytest.mark.parametrize("rule", RULES)
def test_the_whole_step(rule: str) -> None:
    """With strata, ranks, several key sets, a ghost and a household variable at once."""
    draws = np.random.default_rng(8)
    n = 32
    columns = {name: draws.integers(1, 4, n) for name in ("sex", "age", "job")}
    people = pl.DataFrame(
        {**columns, "st": np.repeat([1, 2], n // 2), "hid": np.arange(n) // 2, "born": columns["age"] + 1}
    )
    people = people.with_columns(age=pl.when(pl.col("born") % 5 > 0).then("age"))
    options = {"strata": ["st"], "household": "hid", "household_variables": ["job"], "missing": rule}
    who = tc.Scenario(keys=["sex", "age", "job"], key_sets={"two": ["sex", "job"]}, **options)
    with quietly():
        applied = tc.Plan([tc.Suppress(k=2, importance={"job": 1}, ghosts={"age": ["born"]})]).apply(people, who)
    release, for_others = applied.data, applied.changes[0].figures["only_others_need"]
    assert (release.missing("born") == (release.missing("age") & people["age"].is_not_null().to_numpy())).all()
    after = np.column_stack([release.numbers(name) for name in ("sex", "age", "job")])
    shown = np.nan_to_num(after).astype(np.uint32)
    codes = people.select("sex", "age", "job").fill_null(0).to_numpy().astype(np.uint32)
    needs = [*whole(3, 2), whole(3, 2)[0]._replace(members=5)]
    assert (shown != codes).any()
    assert not for_others or rule == "own_category"
    for stratum in (slice(0, n // 2), slice(n // 2, n)):
        here, asked = codes[stratum], MissingRule.parse(rule)
        gone = shown[stratum] != here
        assert not twins.unsafe(here * ~gone, needs, asked).any()
        for record, key in () if for_others else twins.unneeded(here, gone, needs, asked):
            household = people["hid"].to_numpy()[stratum]
            members = np.flatnonzero((household == household[record]) & gone[:, 2])
            again = gone.copy()
            again[members, key] = False
            assert key == 2
            assert twins.unsafe(here * ~again, needs, asked)[members].any()
