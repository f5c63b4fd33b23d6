"""Agreement patterns, EM and cut-offs: against all pairs, by hand, and against Splink."""

import logging
import socket
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.distance.probabilistic import (
    AGREE,
    UNKNOWN,
    Blocks,
    Mixture,
    best_links,
    blocks,
    count_patterns,
    cutoffs,
    digits,
    em_step,
    expectation_maximisation,
    expected_matches,
    pair_weights,
    pattern_weights,
    starting_mixture,
)
from tacita.distance.splink_model import _trained, splink_mixture

value = st.sampled_from([0.0, 1.0, 1.5, 3.0, float("nan")])
row = st.tuples(value, value, st.integers(-1, 2))
rows = st.lists(row, min_size=1, max_size=25)
TOLERANCE = np.array([0.0, 0.5])


def state(x: float, y: float, width: float) -> int:
    if np.isnan(x) or np.isnan(y):
        return UNKNOWN
    return AGREE if abs(x - y) <= width else 0


def files(first: Any, second: Any) -> tuple[Blocks, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    x, y = (np.array([each[:2] for each in part]) for part in (first, second))
    x_block, y_block = (np.array([each[2] for each in part]) for part in (first, second))
    return blocks(x, y, x_block, y_block), x, y, x_block, y_block


@given(rows, rows)
def test_patterns_and_best_links_against_all_pairs(first: Any, second: Any) -> None:
    given_blocks, x, y, x_block, y_block = files(first, second)
    counts = np.zeros(9, dtype=int)
    weight = np.round(np.random.default_rng(1).normal(size=9), 1)
    best = best_links(given_blocks, TOLERANCE, weight)
    for i in range(len(y)):
        others: dict[int, float] = {}
        for h in range(len(x)):
            if x_block[h] == y_block[i] >= 0:
                pattern = sum(state(x[h, j], y[i, j], TOLERANCE[j]) * 3**j for j in range(2))
                counts[pattern] += 1
                others[h] = weight[pattern]
        most = max(others.values(), default=-np.inf)
        equal = [h for h, each in others.items() if each == most]
        assert best.weight[i] == most
        assert best.ties[i] == len(equal)
        assert best.row[i] == min(equal, default=-1)
    assert count_patterns(given_blocks, TOLERANCE).tolist() == counts.tolist()
    assert given_blocks.pairs == counts.sum()


def test_digits_and_weights_by_hand() -> None:
    assert digits(2).tolist() == [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1], [0, 2], [1, 2], [2, 2]]
    m, u = np.array([0.9, 0.8]), np.array([0.1, 0.4])
    weight = pattern_weights(m, u)
    assert weight[4] == pytest.approx(np.log2(9) + 1)
    assert weight[0] == pytest.approx(np.log2(1 / 9) + np.log2(1 / 3))
    assert weight[8] == 0.0
    assert pair_weights(np.array([[1.0, 2.0]]), np.array([[1.0, 2.4]]), TOLERANCE, weight)[0] == weight[4]


def mixed_counts(share: float, m: Any, u: Any, pairs: int) -> np.ndarray:
    """How many pairs have each pattern by the model itself."""
    states = digits(len(m))
    one, other = (np.prod(np.where(states == AGREE, p, 1 - np.array(p)), axis=1) for p in (m, u))
    expected = pairs * (share * one + (1 - share) * other)
    return np.where((states == UNKNOWN).any(axis=1), 0, np.round(expected)).astype(np.int64)


def test_em_finds_what_made_the_patterns() -> None:
    m, u = [0.95, 0.9, 0.8, 0.85], [0.1, 0.02, 0.3, 0.05]
    found = expectation_maximisation(mixed_counts(0.01, m, u, 10**9), 0.02)
    assert found.converged
    assert found.share == pytest.approx(0.01, rel=1e-3)
    assert found.m == pytest.approx(m, rel=1e-3)
    assert found.u == pytest.approx(u, rel=1e-3)


@given(st.lists(st.integers(0, 40), min_size=27, max_size=27).filter(sum), st.floats(0.01, 0.5))
def test_every_step_raises_the_likelihood_within_the_limit(counts: list[int], most: float) -> None:
    given_counts, model, last = np.array(counts), starting_mixture(np.array(counts), most), -np.inf
    for _ in range(30):
        model = em_step(given_counts, model, most)
        assert model.log_likelihood >= last - 1e-9 * abs(last) if np.isfinite(last) else True
        assert 0 < model.share <= most
        last = model.log_likelihood


def test_the_share_of_matches_is_limited() -> None:
    counts = mixed_counts(0.2, [0.9, 0.9, 0.9], [0.1, 0.1, 0.1], 10**6)
    assert expectation_maximisation(counts, 0.05).share == 0.05
    assert expectation_maximisation(counts, 0.5).share == pytest.approx(0.2, rel=1e-2)


def test_expected_matches_by_hand() -> None:
    """One variable: of 100 pairs that show it 30 agree, 10 do not show it. Half are matches, nine in ten agree."""
    model = Mixture(0.5, np.array([0.9]), np.array([0.1]), 0.0, 1, True)
    # 50 matches: 45 would agree, but there are only 30 pairs that do; 5 differ; of the 10 unknown ones 5.
    assert expected_matches(np.array([70, 30, 10]), model) == pytest.approx([5.0, 30.0, 5.0])


@given(st.lists(st.integers(0, 40), min_size=9, max_size=9).filter(sum), st.floats(0.01, 0.5))
def test_expected_matches_keep_to_the_share(counts: list[int], most: float) -> None:
    model = expectation_maximisation(np.array(counts), most, steps=50)
    matches = expected_matches(np.array(counts), model)
    assert (matches >= 0).all()
    assert (matches <= counts).all()
    assert matches.sum() <= model.share * sum(counts) * (1 + 1e-9)


PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 9), st.integers(0, 9)), min_size=1)


@given(PAIRS, st.floats(0, 1), st.floats(0, 1))
def test_cutoffs_keep_to_the_error_rates(given_pairs: Any, false_links: float, missed_links: float) -> None:
    weight, matches, others = (np.array(column, dtype=float) for column in zip(*given_pairs, strict=True))
    cut = cutoffs(weight, matches, others, false_links, missed_links)

    def kept(limit: float) -> bool:
        above = weight >= limit
        return bool(others[above].sum() <= false_links * (matches + others)[above].sum())

    def missed(limit: float) -> bool:
        return bool(matches[weight < limit].sum() <= missed_links * matches.sum() + 1e-9)

    levels = sorted(set(weight.tolist()))
    assert cut.upper == min((level for level in levels if kept(level)), default=np.inf)
    assert cut.lower <= cut.upper
    assert missed(cut.lower)
    assert cut.lower == min(cut.upper, max(level for level in levels if missed(level)))


# Splink.

AGREEMENT = 1e-9
"""Both engines make the same EM steps from the same start: m, u and the share agree to this."""


def two_files(seed: int, n: int = 300, values: int = 15) -> tuple[Any, ...]:
    draw = np.random.default_rng(seed)
    x = draw.integers(0, values, (n, 3)).astype(float)
    y = x.copy()
    changed = draw.random((n, 3)) < 0.15
    y[changed] = draw.integers(0, values, changed.sum())
    y[draw.random((n, 3)) < 0.05] = np.nan
    block = draw.integers(-1, 3, n)
    return x, y, block, block


@pytest.mark.usual(width=1)
@pytest.mark.parametrize("width", [1.0, 0.0])
def test_splink_estimates_the_same_model(width: float) -> None:
    pytest.importorskip("splink")
    x, y, x_block, y_block = two_files(1)
    tolerance = np.array([0.0, width, 0.0])
    given_blocks = blocks(x, y, x_block, y_block)
    counts, most = count_patterns(given_blocks, tolerance), 0.02
    other = splink_mixture(x, y, x_block, y_block, tolerance, counts, most)
    own = starting_mixture(counts, most)
    for _ in range(3000):
        own = em_step(counts, own)
    assert other.converged
    close = {"rel": 1e-5, "abs": 1e-6}  # where each of them stops
    assert other.m == pytest.approx(own.m, **close)
    assert other.u == pytest.approx(own.u, **close)
    assert other.share == pytest.approx(own.share, **close)


def test_splink_gives_pairs_the_same_weights() -> None:
    """Weights follow from m and u by pattern; Splink's own, pair by pair, are the same."""
    pytest.importorskip("splink")
    x, y, x_block, y_block = two_files(3, n=80)
    tolerance = np.zeros(3)
    counts = count_patterns(blocks(x, y, x_block, y_block), tolerance)
    linker = _trained(x, y, x_block, y_block, tolerance, counts, 0.02)
    pairs = linker.inference.predict().as_duckdbpyrelation().fetchnumpy()
    model = splink_mixture(x, y, x_block, y_block, tolerance, counts, 0.02)
    weight = pattern_weights(model.m, model.u) + np.log2(model.share / (1 - model.share))
    first, second = pairs["unique_id_l"], pairs["unique_id_r"]
    assert len(first) == counts.sum()
    assert pairs["match_weight"] == pytest.approx(pair_weights(x[first], y[second], tolerance, weight), abs=1e-8)


def test_splink_is_silent_and_stays_at_home(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("splink")

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    x, y, x_block, y_block = two_files(4, n=60)
    counts = count_patterns(blocks(x, y, x_block, y_block), np.zeros(3))
    level = logging.getLogger("splink").level
    with caplog.at_level(logging.DEBUG):
        linker = _trained(x, y, x_block, y_block, np.zeros(3), counts, 0.02)
    assert [record for record in caplog.records if record.name.startswith("splink")] == []
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("splink").level == level
    database = linker._db_api._con
    for name in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_external_access"):
        assert str(database.execute(f"SELECT current_setting('{name}')").fetchall()[0][0]).lower() == "false"


def test_without_splink_there_is_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "splink", None)
    x, y, x_block, y_block = two_files(5, n=30)
    counts = count_patterns(blocks(x, y, x_block, y_block), np.zeros(3))
    with pytest.raises(TacitaError) as error:
        splink_mixture(x, y, x_block, y_block, np.zeros(3), counts, 0.02)
    assert str(error.value) == 'engine="splink" needs Splink; install it with pip install "tacita[linkage]".'


def test_an_error_of_splink_quotes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    splink = pytest.importorskip("splink")

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("Conversion Error: could not convert 'zq-canary'")

    monkeypatch.setattr(splink, "SettingsCreator", fail)
    x, y, x_block, y_block = two_files(5, n=30)
    counts = count_patterns(blocks(x, y, x_block, y_block), np.zeros(3))
    with pytest.raises(TacitaError) as error:
        splink_mixture(x, y, x_block, y_block, np.zeros(3), counts, 0.02)
    assert str(error.value) == (
        "Splink could not estimate the model (ValueError); leave engine out or choose other variables."
    )
    assert error.value.__suppress_context__


@pytest.mark.usual(seed=1)
@pytest.mark.parametrize("seed", [3, 581])
def test_splink_and_the_own_engine_step_by_step(seed: int) -> None:
    """What Splink ends with after its steps is what as many own steps give."""
    pytest.importorskip("splink")
    x, y, x_block, y_block = two_files(seed, n=60, values=6)
    counts = count_patterns(blocks(x, y, x_block, y_block), np.zeros(3))
    linker = _trained(x, y, x_block, y_block, np.zeros(3), counts, 0.02)
    history = linker._em_training_sessions[0]._core_model_settings_history
    own: Mixture = starting_mixture(counts, 0.02)
    for step in history[1:]:
        own = em_step(counts, own)
        m, u = (
            [getattr(each.comparison_levels[1], name) for each in step.comparisons]
            for name in ("m_probability", "u_probability")
        )
        assert step.probability_two_random_records_match == pytest.approx(own.share, abs=AGREEMENT)
        assert m == pytest.approx(own.m, abs=AGREEMENT)
        assert u == pytest.approx(own.u, abs=AGREEMENT)
