"""Draws: Philox against two other implementations, and what the plan relies on."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.random import Draws, Words, fit_for_release, fresh_seed, high_word, philox

WORD = st.integers(0, 2**64 - 1)
RECORD = st.integers(-(2**63), 2**63 - 1)
GOLDEN = Draws(20240229, "golden")
NOT_TEXT: Any = 3
RECORDS = np.array([0, 1, 2, -1, 2**40])


def word(value: int) -> Words:
    return np.array([value], dtype=np.uint64)


def numpy_philox(key: tuple[int, int], counter: tuple[int, int, int, int]) -> np.random.Philox:
    """NumPy's generator, about to give the block of `counter`: it adds one before its first output."""
    number = sum(part << (64 * place) for place, part in enumerate(counter))
    return np.random.Philox(key=key[0] + (key[1] << 64), counter=(number - 1) % 2**256)


@given(WORD, WORD)
def test_the_high_word_is_that_of_the_exact_product(first: int, second: int) -> None:
    assert int(high_word(word(first), word(second))[0]) == first * second >> 64
    assert int(high_word(word(first), second)[0]) == first * second >> 64


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # kat_vectors of Random123, the authors' own implementation
        ("0 0 0 0", "0 0", "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
        (
            "ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff",
            "ffffffffffffffff ffffffffffffffff",
            "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0",
        ),
        (
            "243f6a8885a308d3 13198a2e03707344 a4093822299f31d0 082efa98ec4e6c89",
            "452821e638d01377 be5466cf34e90c6c",
            "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
        ),
    ],
)
def test_philox_gives_the_published_words(counter: str, key: str, expected: str) -> None:
    first, second, third, fourth = (word(int(part, 16)) for part in counter.split())
    key_first, key_second = (int(part, 16) for part in key.split())
    result = philox((first, second, third, fourth), (key_first, key_second))
    assert [f"{int(part[0]):x}" for part in result] == expected.split()


@given(st.tuples(WORD, WORD, WORD, WORD), st.tuples(WORD, WORD))
def test_philox_is_numpys(counter: tuple[int, int, int, int], key: tuple[int, int]) -> None:
    first, second, third, fourth = map(word, counter)
    result = np.concatenate(philox((first, second, third, fourth), key))
    np.testing.assert_array_equal(result, numpy_philox(key, counter).random_raw(4))


@given(st.integers(0, 2**200), st.text(), RECORD, WORD)
def test_bits_are_the_first_word_of_numpys_block(seed: int, label: str, record: int, draw: int) -> None:
    draws = Draws(seed, label)
    expected = numpy_philox(draws.key, (record % 2**64, draw, 0, 0)).random_raw()
    assert int(draws.bits(record, draw)) == expected


@given(RECORD, WORD)
def test_uniforms_are_numpys_doubles(record: int, draw: int) -> None:
    generator = np.random.Generator(numpy_philox(GOLDEN.key, (record % 2**64, draw, 0, 0)))
    assert float(GOLDEN.uniform(record, draw)) == max(generator.random(), 2.0**-54)


def test_golden_values_stay() -> None:
    # A change here breaks every certificate written before it.
    assert GOLDEN.key == (0x3F752C9D57F264E3, 0x162559F3C0298EC3)
    assert GOLDEN.step("a").key == (9224193932142434677, 5404227455337985149)
    assert GOLDEN.bits(RECORDS).tolist() == [
        0x4D6900A0D82F3018,
        0x544FC48BCB511A85,
        0x0E387DF322E9E0B0,
        0x2EA684E1B9A8A329,
        0x74B8A8D265293F92,
    ]
    assert GOLDEN.bits(RECORDS[:2], 3).tolist() == [0x4E6728B4626C05ED, 0xF27F02CFED2D3117]
    assert GOLDEN.integers(RECORDS, 1000).tolist() == [302, 329, 55, 182, 455]
    uniform = [0.302383460301084, 0.32934215939468847, 0.05554949937769704, 0.18222837935323577, 0.45594267975426284]
    assert GOLDEN.uniform(RECORDS).tolist() == uniform
    normal = [-0.5175576723537998, -0.441730385826051, -1.5932728314977411, -0.9069055259446437, -0.11066076539569453]
    # ndtri is SciPy's: its last bits may differ between builds.
    np.testing.assert_allclose(GOLDEN.normal(RECORDS), normal, rtol=1e-13)


def test_permuted_records_get_permuted_draws_also_across_blocks() -> None:
    records = np.arange(-25_000, 25_000)
    order = np.argsort(GOLDEN.bits(records, 9))
    np.testing.assert_array_equal(GOLDEN.bits(records)[order], GOLDEN.bits(records[order]))
    np.testing.assert_array_equal(GOLDEN.normal(records)[order], GOLDEN.normal(records[order]))
    np.testing.assert_array_equal(GOLDEN.bits(records)[40_000:], GOLDEN.bits(records[40_000:]))


def test_another_seed_label_step_or_draw_gives_other_draws() -> None:
    records = np.arange(100)
    steps = [
        Draws(1),
        Draws(2),
        Draws(1, "1"),
        Draws(11),
        Draws(1, "a"),
        Draws(1).step("a"),
        Draws(1).step("a").step("b"),
        Draws(1).step("a/b"),
        Draws(1).step("a~1b"),
        Draws(1).step(""),
        Draws(1).step("").step(""),
    ]
    drawn = [step.bits(records, draw) for step in steps for draw in (0, 1, 2**64 - 1)]
    assert len(np.unique(np.concatenate(drawn))) == len(steps) * 3 * 100
    assert Draws(1).step("a") == Draws(1).step("a")


@given(st.lists(st.text("a/~01", max_size=3), max_size=3), st.lists(st.text("a/~01", max_size=3), max_size=3))
def test_different_paths_of_steps_have_different_labels(first: list[str], second: list[str]) -> None:
    def path(labels: list[str]) -> Draws:
        draws = Draws(1)
        for label in labels:
            draws = draws.step(label)
        return draws

    assert (path(first) == path(second)) == (first == second)
    assert (path(first).key == path(second).key) == (first == second)


def test_uniforms_are_uniform_and_normals_normal() -> None:
    from scipy.stats import kstest

    records = np.arange(200_000)
    for draw in (0, 1):
        uniform = GOLDEN.uniform(records, draw)
        assert uniform.min() > 0
        assert uniform.max() < 1
        assert kstest(uniform, "uniform").pvalue > 0.01
        assert kstest(GOLDEN.normal(records, draw), "norm").pvalue > 0.01
    assert abs(np.corrcoef(GOLDEN.uniform(records), GOLDEN.uniform(records, 1))[0, 1]) < 0.01
    assert abs(np.corrcoef(GOLDEN.uniform(records), GOLDEN.uniform(records + 1))[0, 1]) < 0.01


@pytest.mark.parametrize(("bits", "expected"), [(0, 2.0**-54), (2**11 - 1, 2.0**-54), (2**64 - 1, 1 - 2.0**-53)])
def test_uniforms_never_reach_zero_or_one(monkeypatch: pytest.MonkeyPatch, bits: int, expected: float) -> None:
    monkeypatch.setattr(Draws, "bits", lambda *_: word(bits))
    assert Draws(1).uniform([0]).tolist() == [expected]
    assert np.isfinite(Draws(1).normal([0])).all()


@given(st.lists(st.tuples(RECORD, st.integers(1, 2**63)), min_size=1, max_size=20))
def test_integers_are_the_scaled_bits(pairs: list[tuple[int, int]]) -> None:
    records, below = np.array([record for record, _ in pairs]), np.array([limit for _, limit in pairs], dtype=np.uint64)
    expected = [int(bits) * int(limit) >> 64 for bits, limit in zip(GOLDEN.bits(records), below, strict=True)]
    result = GOLDEN.integers(records, below)
    assert result.dtype == np.int64
    assert result.tolist() == expected


def test_integers_take_every_value_about_equally_often() -> None:
    counts = np.bincount(GOLDEN.integers(np.arange(60_000), 6), minlength=6)
    assert counts.sum() == 60_000
    assert np.abs(counts - 10_000).max() < 400  # standard deviation 91
    assert GOLDEN.integers(np.arange(5), 1).tolist() == [0] * 5


def test_shapes_follow_the_records_and_broadcast_with_draw_and_below() -> None:
    assert GOLDEN.bits(3).shape == ()
    assert GOLDEN.normal(3).shape == ()
    assert GOLDEN.bits([]).shape == (0,)
    assert GOLDEN.uniform(np.zeros((2, 3), dtype=int)).shape == (2, 3)
    table = GOLDEN.bits(np.arange(4)[:, None], np.arange(3))
    assert table.shape == (4, 3)
    assert table[2, 1] == GOLDEN.bits(2, 1)
    assert GOLDEN.integers(np.arange(4)[:, None], [1, 2, 3]).shape == (4, 3)


@given(st.integers(-128, 127))
def test_the_type_of_the_record_numbers_does_not_matter(record: int) -> None:
    expected = GOLDEN.bits(np.int64(record))
    assert GOLDEN.bits(np.int8(record)) == expected
    assert GOLDEN.bits(np.array(record % 2**64, dtype=np.uint64)) == expected


def test_the_input_stays_as_it_was() -> None:
    records = np.arange(5)
    records.flags.writeable = False
    GOLDEN.uniform(records)
    assert records.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "seed",
    [0, 1, 2**64 - 1, 2**64, 2**128 + 5, 1 << 20_000, np.int64(3)],
    ids=lambda seed: f"{int(seed).bit_length()} bits",
)
def test_seeds_of_any_length_are_accepted(seed: Any) -> None:
    assert Draws(seed).bits(0) == Draws(int(seed)).bits(0)
    assert Draws(seed).bits(0) != Draws(int(seed) + 1).bits(0)


@pytest.mark.parametrize("seed", [-1, -(2**70), 1.0, "1", None, True, float("nan")])
def test_other_seeds_are_refused_without_showing_them(seed: Any) -> None:
    with pytest.raises(TacitaError) as error:
        Draws(seed)
    assert str(error.value) == "seed must be a whole number of at least 0; fresh_seed() gives one."


def test_the_seed_is_not_shown_but_travels() -> None:
    draws = Draws(987654321, "a")
    assert repr(draws) == "Draws(label='a')"
    assert pickle.loads(pickle.dumps(draws)) == draws
    assert draws != Draws(987654322, "a")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GOLDEN.bits([0.5]), "records must be whole numbers of 64 bits; got values of type float64."),
        (lambda: GOLDEN.bits([True]), "records must be whole numbers of 64 bits; got values of type bool."),
        (lambda: GOLDEN.bits([2**64]), "records must be whole numbers of 64 bits; got values of type object."),
        (lambda: GOLDEN.bits(0, -1), "draw must be at least 0; 1 of 1 given are smaller."),
        (lambda: GOLDEN.integers([0, 1], [0, 4]), "below must be at least 1; 1 of 2 given are smaller."),
        (lambda: GOLDEN.integers(0, 2**63 + 1), "below must be at most 2**63, for the draws to be 64-bit integers."),
        (lambda: GOLDEN.step(NOT_TEXT), "label must be a text; got 3."),
        (lambda: Draws(1, NOT_TEXT), "label must be a text; got 3."),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        call()
    assert str(error.value) == message


def test_fresh_seeds_are_long_and_differ() -> None:
    seeds = {fresh_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**128 for seed in seeds)
    assert max(seeds) >= 2**120


def test_a_seed_is_fit_for_release_from_64_bits_on() -> None:
    assert not fit_for_release(0)
    assert not fit_for_release(2**64 - 1)
    assert fit_for_release(2**64)
    assert fit_for_release(2**128)


def test_a_generator_is_a_function_of_seed_label_and_record() -> None:
    def first(draws: Draws, record: int = 0) -> list[int]:
        return draws.generator(record).integers(0, 2**62, size=5).tolist()

    assert first(GOLDEN, 3) == first(Draws(20240229, "golden"), 3)
    others = [GOLDEN, GOLDEN.step("a"), Draws(1, "golden")]
    found = {tuple(first(draws, record)) for draws in others for record in (0, 1, -1, 2**40)}
    assert len(found) == 12
    assert GOLDEN.generator().bit_generator.random_raw() not in GOLDEN.bits(np.arange(100)).tolist()
