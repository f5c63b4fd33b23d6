import numpy as np
import pytest
import slow_linkage as slow

from tacita.distance import sweep as s

LIMITS = [(0.0, np.inf), (0.1, 0.3), (0.2, 0.2), (0.0, 0.0), (np.inf, np.inf), (5e-324, 0.4)]


def in_order(given: s.Pairs, values: slow.Floats) -> slow.Floats:
    return values[given.released.order]


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("room", [0, 5, 1 << 20])
def test_against_all_pairs(kind: str, relative: bool, room: int) -> None:
    y, x = slow.files(kind, 150, 2, seed=5)
    z = slow.z(y, x, relative=relative)
    given = s.pairs(y, x, relative=relative)
    assert given.true.tolist() == in_order(given, np.diag(z)).tolist()
    others = z.copy()
    np.fill_diagonal(others, -1.0)
    for low, high in LIMITS:
        swept = s.sweep(given, low, high, room=room)
        assert swept.below.tolist() == in_order(given, (z < low).sum(axis=1)).tolist()
        between = np.sort(others[(others >= low) & (others <= high)])
        shift = s.bin_shift(low, high)
        bins = (between.view(np.int64) - s.bits(low)) >> shift
        assert swept.between.tolist() == np.bincount(bins, minlength=len(swept.between)).tolist()
        assert len(swept.between) <= s.BINS
        for place in np.unique(bins):
            assert swept.greatest[place] == between[bins == place].max()
        if swept.complete:
            assert np.sort(np.repeat(swept.z, swept.times)).tolist() == between.tolist()
            near = np.bincount(swept.place, swept.times, minlength=len(y))
            assert near.tolist() == in_order(given, ((others >= low) & (others <= high)).sum(axis=1)).tolist()
        assert swept.complete or len(swept.z) <= 2 * room
    assert s.sweep(given, 0.25).below.tolist() == in_order(given, (z < 0.25).sum(axis=1)).tolist()


def test_equal_originals_are_listed_once() -> None:
    x = np.repeat([[1.0], [3.0]], 100, axis=0)
    swept = s.sweep(s.pairs(x, x), 0.0, np.inf)
    assert swept.complete
    # For each of 200 records: the 99 equal to it, and the 100 others.
    assert sorted(zip(swept.z.round(2).tolist(), swept.times.tolist(), strict=True)) == (
        [(0.0, 99)] * 200 + [(0.67, 100)] * 100 + [(2.0, 100)] * 100
    )


def test_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = slow.files("ties", 500, 2, seed=6)
    alone = s.sweep(s.pairs(y, x), 0.1, 0.3)
    monkeypatch.setattr(s, "BLOCK", 10)
    given = s.pairs(y, x)
    blocks = s.leaf_blocks(given.released)
    assert len(blocks) > 1
    together = s.sweep(given, 0.1, 0.3)
    assert together.below.tolist() == alone.below.tolist()
    assert together.between.tolist() == alone.between.tolist()
    assert sorted(np.repeat(together.z, together.times)) == sorted(np.repeat(alone.z, alone.times))


def test_strata() -> None:
    assert [rows.tolist() for rows in s.strata(np.array([2, 0, 2, 0]), 4)] == [[1, 3], [], [0, 2]]
    assert [rows.tolist() for rows in s.strata(None, 3)] == [[0, 1, 2]]


def test_sample_has_pairs_of_different_records_only() -> None:
    y, x = slow.files("unchanged", 40, 2, seed=7)
    z = slow.z(y, x)
    sample = s.sample_z(s.pairs(y, x), 5000)
    assert 4800 < len(sample) < 5000
    assert set(sample) <= set(z[~np.eye(40, dtype=np.bool_)])
    assert abs((sample < 0.5).mean() - (z[~np.eye(40, dtype=np.bool_)] < 0.5).mean()) < 0.02


def test_far_ends_of_the_scale() -> None:
    y, x = np.array([[1e200], [1e-200], [2e200]]), np.array([[1e200], [3e-200], [4e200]])
    given = s.pairs(y, x)
    assert in_order(given, np.arange(3.0)).tolist() == given.released.order.tolist()
    z = given.true[np.argsort(given.released.order)]
    assert z[[0, 2]].tolist() == [0.0, 1.0]
