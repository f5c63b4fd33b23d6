"""Minimal sample uniques: the kernel against the definition."""

import subprocess
import sys

import numpy as np
import pytest
import slow_suda
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacita.arrays import Codes
from tacita.compiled import compiled
from tacita.risk.identity.suda import minimal_uniques as module
from tacita.risk.identity.suda.minimal_uniques import MinimalUniques, minimal_uniques, word_count
from tacita.risk.identity.suda.shared_sets import LOW, SMALL_GROUP, high_sets, sets_up_to, shared_sets, subsets


def random_codes(seed: int, rows: int, keys: int, categories: int, *, missing: bool = False) -> Codes:
    generator = np.random.default_rng(seed)
    return generator.integers(0 if missing else 1, categories + 1, (rows, keys)).astype(np.uint32)


def alone(codes: Codes, wildcard: bool = False) -> NDArray[np.bool_]:
    """Which rows are unique on all keys that they show."""
    keys = as_keys(codes)
    shown = [tuple(j for j, value in enumerate(key) if value is not None) for key in keys]
    return np.array(
        [bool(members) and slow_suda.is_unique(keys, i, members, wildcard) for i, members in enumerate(shown)]
    )


def as_keys(codes: Codes) -> list[tuple[int | None, ...]]:
    return [tuple(code or None for code in row) for row in codes.tolist()]


def assert_right(codes: Codes, found: MinimalUniques, largest: int, wildcard: bool) -> None:
    """Weights 2^s - 1 tell sizes apart well enough: equal sums, equal counts, equal parts."""
    keys, wanted = as_keys(codes), alone(codes, wildcard)
    for i, row in enumerate(codes):
        sets = slow_suda.minimal_uniques(keys, i, largest, wildcard) if wanted[i] else []
        assert found.msus[i] == len(sets)
        assert found.smallest[i] == min(map(len, sets), default=0)
        assert found.score[i] == sum(2 ** len(members) - 1 for members in sets)
        for j in range(len(row)):
            assert found.parts[i, j] == sum(2 ** len(members) - 1 for members in sets if j in members)


def weights(largest: int) -> NDArray[np.float64]:
    return np.array([2.0**size - 1 for size in range(largest + 1)])


@pytest.mark.parametrize("wildcard", [False, True])
@pytest.mark.parametrize(
    ("rows", "keys", "categories"),
    [
        (1, 1, 1),
        (1, 4, 2),
        (2, 1, 2),
        (2, 2, 1),
        (9, 2, 3),
        (30, 5, 2),
        (90, 3, 9),
        (120, 5, 3),
        (25, 8, 2),
        (12, 9, 3),
    ],
)
def test_equals_the_definition(rows: int, keys: int, categories: int, wildcard: bool) -> None:
    """Few rows are compared in pairs, more than 32 are split first; more than six keys need several words."""
    for seed, missing in ((1, False), (2, True), (3, True)):
        codes = random_codes(seed, rows, keys, categories, missing=missing)
        for largest in {1, max(1, keys - 1), keys}:
            found = minimal_uniques(codes, alone(codes, wildcard), weights(largest), wildcard=wildcard)
            assert_right(codes, found, largest, wildcard)


@given(st.data(), st.booleans())
@settings(max_examples=80)
def test_equals_the_definition_on_any_small_file(data: st.DataObject, wildcard: bool) -> None:
    keys = data.draw(st.integers(1, 7))
    largest = data.draw(st.integers(1, keys))
    rows = data.draw(st.lists(st.lists(st.integers(0, 2), min_size=keys, max_size=keys), min_size=1, max_size=14))
    codes = np.array(rows, dtype=np.uint32)
    assert_right(
        codes, minimal_uniques(codes, alone(codes, wildcard), weights(largest), wildcard=wildcard), largest, wildcard
    )


def test_by_hand() -> None:
    """Row 0 is alone with its first value, row 3 with its pair of the second and third."""
    codes = np.array([[2, 1, 1], [1, 1, 1], [1, 2, 2], [1, 2, 1], [1, 1, 2], [1, 1, 2]], dtype=np.uint32)
    found = minimal_uniques(codes, alone(codes), weights(3))
    assert found.msus.tolist() == [1, 1, 1, 1, 0, 0]
    assert found.smallest.tolist() == [1, 3, 2, 2, 0, 0]
    assert found.parts.tolist() == [[1, 0, 0], [7, 7, 7], [0, 3, 3], [0, 3, 3], [0, 0, 0], [0, 0, 0]]


def test_many_keys_and_small_sets() -> None:
    """Thirty keys, sets of two: 301 words for the sets of high keys, not two to the 24th."""
    codes = random_codes(5, 12, 30, 3, missing=True)
    assert word_count(30, 2) == 1 + 24 + 276
    assert_right(codes, minimal_uniques(codes, alone(codes), weights(2)), 2, False)


def test_blocks_do_not_change_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = random_codes(6, 150, 8, 3, missing=True)
    for wildcard in (False, True):
        wanted = alone(codes, wildcard)
        whole = minimal_uniques(codes, wanted, weights(8), wildcard=wildcard)
        with monkeypatch.context() as patched:
            patched.setattr(module, "WORDS_AT_ONCE", 4 * 7)
            pieces = minimal_uniques(codes, wanted, weights(8), wildcard=wildcard)
        for one, other in zip(whole, pieces, strict=True):
            np.testing.assert_array_equal(one, other)


def test_order_of_rows_and_keys_does_not_matter() -> None:
    codes = random_codes(7, 80, 7, 4, missing=True)
    found = minimal_uniques(codes, alone(codes), weights(7))
    generator = np.random.default_rng(8)
    rows, keys = generator.permutation(80), generator.permutation(7)
    moved = np.ascontiguousarray(codes[rows][:, keys])
    again = minimal_uniques(moved, alone(moved), weights(7))
    np.testing.assert_array_equal(found.score[rows], again.score)
    np.testing.assert_array_equal(found.parts[rows][:, keys], again.parts)


def test_rows_that_are_not_marked_only_count_for_others() -> None:
    """A row that stands for two records has no minimal unique, but keeps others from being unique."""
    codes = np.array([[1, 1], [1, 2], [2, 2]], dtype=np.uint32)
    found = minimal_uniques(codes, np.array([True, False, True]), weights(2))
    assert found.msus.tolist() == [1, 0, 1]
    assert found.parts.tolist() == [[0, 1], [0, 0], [1, 0]]


def test_without_parts_and_without_uniques() -> None:
    codes = random_codes(9, 40, 4, 3)
    found = minimal_uniques(codes, alone(codes), weights(4), parts=False)
    assert found.parts.shape == (40, 0)
    np.testing.assert_array_equal(found.score, minimal_uniques(codes, alone(codes), weights(4)).score)
    nothing = minimal_uniques(codes, np.zeros(40, dtype=np.bool_), weights(4))
    assert not nothing.score.any()
    assert not nothing.msus.any()


def test_input_is_untouched() -> None:
    codes = random_codes(10, 50, 7, 3)
    before = codes.copy()
    minimal_uniques(codes, alone(codes), weights(7), wildcard=True)
    np.testing.assert_array_equal(codes, before)


def test_progress_runs_from_nothing_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = random_codes(11, 60, 8, 4)
    monkeypatch.setattr(module, "WORDS_AT_ONCE", 4 * 20)
    seen: list[float] = []
    minimal_uniques(codes, alone(codes), weights(8), progress=seen.append)
    assert len(seen) > 16
    assert seen == sorted(seen)
    assert 0 < seen[0] < 0.02
    assert seen[-1] == pytest.approx(1)


def test_shared_sets_by_hand() -> None:
    """Two rows that agree on keys 0 and 2 share the sets {}, {0}, {2} and {0, 2}: bits 0, 1, 4 and 5."""
    codes = np.array([[1, 1, 1], [1, 2, 1]], dtype=np.uint32)
    assert shared_sets(codes, np.array([0, 1]), 3, False).tolist() == [[0b110011], [0b110011]]


def test_words_of_sets() -> None:
    assert int(subsets()[0b101]) == 0b110011
    assert int(subsets()[63]) == 2**64 - 1
    assert high_sets(3, 3).tolist() == list(range(8))
    assert high_sets(3, 1).tolist() == [0, 1, 2, 4]
    assert sets_up_to(10, 2) == 1 + 10 + 45
    assert len(high_sets(9, 4)) == sets_up_to(9, 4) == word_count(9 + LOW, 4)
    assert SMALL_GROUP < 90  # so that the cases above do split groups of six keys and less


def test_no_folder_for_a_cache() -> None:
    """A function that no file holds cannot be cached; it is compiled all the same."""
    space: dict[str, object] = {}
    exec("def twice(x):\n    return 2 * x", space)  # noqa: S102
    twice = compiled(space["twice"])  # type: ignore[type-var]
    assert twice(21) == 42  # type: ignore[operator]


def test_the_public_module_does_not_load_numba() -> None:
    code = "import sys, tacita.risk.identity.suda, tacita.compiled; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_kept_machine_code_gives_the_same() -> None:
    """Another process, which finds the code that this one has compiled."""
    codes = random_codes(12, 300, 8, 3)
    expected = minimal_uniques(codes, np.ones(300, dtype=np.bool_), weights(8)).score.sum()
    code = (
        "import numpy as np; from tacita.risk.identity.suda.minimal_uniques import minimal_uniques; "
        "codes = np.random.default_rng(12).integers(1, 4, (300, 8)).astype(np.uint32); "
        "weights = 2.0 ** np.arange(9) - 1; "
        "print(minimal_uniques(codes, np.ones(300, dtype=bool), weights).score.sum())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) == expected > 0
