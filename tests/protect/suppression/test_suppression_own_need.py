"""Every blank is needed by its own record, under every rule and with every option, by brute force."""

import numpy as np
import polars as pl
import pytest
import slow_suppression as twins
from hypothesis import given, settings
from hypothesis import strategies as st
from suppression_problems import RULES, codes_of, drawn, files, released, whole

import tacita as tc
from strategies import quietly
from tacita.check import TacitaError
from tacita.protect.suppress import kernel, settle
from tacita.protect.suppress.kernel import Shared, suppress
from tacita.protect.suppress.own_need import unneeded
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.trials import Rows, counted_in_trials
from tacita.protect.suppress.units import blanked, units_of
from tacita.protect.suppress.verify import frequencies
from tacita.scenario import MissingRule


@pytest.mark.parametrize("seed", range(0, 60, 10))
@pytest.mark.parametrize("rule", RULES)
def test_safe_and_no_blank_wasted(rule: str, seed: int) -> None:
    done = 0
    for number in range(seed, seed + 10):
        asked = drawn(number, rule)
        try:
            found = asked.suppressed()
        except TacitaError as error:
            assert "could not" in str(error) or "at least k" in str(error) or "at most the" in str(error)
            continue
        done += 1
        nothing = np.zeros(asked.codes.shape, dtype=bool)
        assert found.violated.tolist() == twins.violating(asked, nothing).tolist()
        still = twins.violating(asked, found.gone)
        assert found.left.tolist() == still.tolist()
        if asked.goal is None:
            assert not (still & asked.touchable).any()
        assert not (found.touched & ~asked.touchable).any()
        assert not (found.gone & (asked.codes == 0)).any()
        assert twins.wasted(asked, found.gone) == []
        # The second kind is counted apart, and those who only follow their household.
        assert not (found.followed & (found.violated | found.with_household)).any()
        assert (found.touched <= (found.violated | found.followed | found.with_household)).all()
    assert done > 2


# Files on which blanks remained that only others needed, before these were looked for.
@pytest.mark.parametrize(
    ("rule", "seed"),
    [
        ("partial(categories)", 275),
        ("partial(expected)", 0),
        ("partial(expected)", 232),
        ("own_category", 169),
        ("own_category", 220),
        ("conservative", 0),
    ],
)
def test_files_that_once_failed(rule: str, seed: int) -> None:
    asked = drawn(seed, rule)
    found = asked.suppressed()
    assert found.gone.any()
    assert twins.wasted(asked, found.gone) == []


def test_company_that_could_leave_leaves() -> None:
    """Records that are blanked to keep another company, but could join a group that is safe, do so."""
    codes = codes_of((3, 9), (2, 7), (1, 7), (1, 7), (1, 1), (1, 2), (1, 3), (1, 4), (8, 8), (8, 8), (8, 8))
    rule = MissingRule("own_category")
    found = suppress(codes, whole(2, 3), [1.0, 1.0], rule)
    # (3, 9) shares nothing with anybody. The first key alone would keep six records together, but then only (2, 7) is
    # left to hide with it; so nobody but those that are alike can show anything.
    assert released(codes, found.gone) == [(0, 0)] * 8 + [(8, 8)] * 3
    assert twins.unneeded(codes, found.gone, whole(2, 3), rule) == []


def test_where_it_cannot_be_had_it_is_said() -> None:
    codes = codes_of((0, 0), (0, 1), (2, 1), (1, 1))
    shared = Shared(np.array([0, 1, 1, 1]), (1,))
    rule = MissingRule("own_category")
    # (2, 1) and (1, 1) must blank the first key. With the second key, which their household shares, they are alike
    # then, but the first record is alone. Without it the first has company, which none of the three needs.
    with pytest.raises(TacitaError) as caught:
        suppress(codes, whole(2, 2), [1.0, 2.0], rule, shared=shared)
    assert str(caught.value) == (
        "suppression under missing 'own_category' could not make every record safe without blanks that its own record "
        "does not need; recode first, ask for less, or choose the rule 'one_way'."
    )
    for text in ("one_way", "wildcard", "partial(categories)"):
        assert not twins.unsafe(
            codes * ~suppress(codes, whole(2, 2), [1.0, 2.0], MissingRule.parse(text), shared=shared).gone,
            whole(2, 2),
            MissingRule.parse(text),
        ).any()


def test_a_wasted_blank_is_never_released(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the search finds: what a record does not need is shown again."""
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2), (2, 1))
    rule, needs = MissingRule("wildcard"), whole(2, 2)
    monkeypatch.setattr(kernel, "suppress_by_responses", lambda problem, report: problem.units.known * 0)
    found = suppress(codes, needs, [1.0, 1.0], rule)
    assert found.gone.any()
    assert twins.unneeded(codes, found.gone, needs, rule) == []
    assert not twins.unsafe(codes * ~found.gone, needs, rule).any()


def test_a_circle_is_left_when_it_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two households that each undo what the other needs: no state is looked at twice."""
    counts = []
    count = settle.violating
    monkeypatch.setattr(settle, "violating", lambda *given: counts.append(1) or count(*given))
    asked = drawn(3155, "sdcmicro(1)")
    assert twins.wasted(asked, asked.suppressed().gone) == []
    assert 0 < len(counts) < 300


def test_it_can_be_stopped_at_every_count() -> None:
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2), (2, 1))
    units = units_of(codes, np.ones(5, dtype=bool))
    problem = Problem(units, whole(2, 2), [1.0, 1.0], MissingRule("wildcard"))
    told: list[float] = []
    found = settle.settled(problem, units.known * 0, np.ones(len(units.codes), dtype=bool), told.append)
    assert found is not None
    assert len(told) > 5
    assert all(0 <= each <= 1 for each in told)

    def stop(done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        settle.settled(problem, units.known * 0, np.ones(len(units.codes), dtype=bool), stop)


def test_what_is_settled_is_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever showing blanks again leads to: an unsafe record is an error, never released."""
    codes = codes_of((1, 1), (1, 1), (1, 2), (2, 2), (2, 1))
    monkeypatch.setattr(kernel, "settled", lambda problem, shown, start, report: problem.units.known)
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
    rows = Rows(unit, shows & units.known[unit], trial, np.ones(len(unit), dtype=np.int64))
    members = data.draw(st.integers(1, (1 << q) - 1))
    f, weight = counted_in_trials(units, shown, rows, rows, members, asked)
    for number in np.unique(trial):
        here = rows.some(trial == number)
        after = shown.copy()
        after[here.unit] = here.shows
        expected, sums = frequencies(blanked(units.codes, after), units.records, units.weights, members, asked)
        np.testing.assert_allclose(f[trial == number], expected[here.unit], rtol=1e-12)
        np.testing.assert_allclose(weight[trial == number], sums[here.unit], rtol=1e-12)


@pytest.mark.parametrize("rule", ["wildcard", "one_way", "own_category", "partial(expected)", "sdcmicro(0.5)"])
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
    found = unneeded(Problem(units, needs, [1.0] * q, asked), shown)
    single = {
        (int(u), int(b).bit_length() - 1) for u, b in zip(found.unit, found.bits, strict=True) if b & (b - 1) == 0
    }
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
        release = tc.Plan([tc.Suppress(k=2, importance={"job": 1}, ghosts={"age": ["born"]})]).apply(people, who).data
    assert (release.missing("born") == (release.missing("age") & people["age"].is_not_null().to_numpy())).all()
    after = np.column_stack([release.numbers(name) for name in ("sex", "age", "job")])
    shown = np.nan_to_num(after).astype(np.uint32)
    codes = people.select("sex", "age", "job").fill_null(0).to_numpy().astype(np.uint32)
    needs = [*whole(3, 2), whole(3, 2)[0]._replace(members=5)]
    assert (shown != codes).any()
    for stratum in (slice(0, n // 2), slice(n // 2, n)):
        here, asked = codes[stratum], MissingRule.parse(rule)
        gone = shown[stratum] != here
        assert not twins.unsafe(here * ~gone, needs, asked).any()
        for record, key in twins.unneeded(here, gone, needs, asked):
            household = people["hid"].to_numpy()[stratum]
            members = np.flatnonzero((household == household[record]) & gone[:, 2])
            again = gone.copy()
            again[members, key] = False
            assert key == 2
            assert twins.unsafe(here * ~again, needs, asked)[members].any()
