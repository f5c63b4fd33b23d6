import numpy as np
import pytest
import slow_linkage as slow

from tacita.distance import histogram as h
from tacita.distance.distances import manhattan
from tacita.distance.sweep import pairs


def others(y: slow.Floats, x: slow.Floats, relative: bool = True) -> slow.Floats:
    z = slow.z(y, x, relative=relative)
    return np.sort(z[~np.eye(len(y), dtype=np.bool_)])


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("n", [1, 2, 300])
@pytest.mark.parametrize("relative", [False, True])
def test_bins_against_all_pairs(kind: str, n: int, relative: bool) -> None:
    y, x = slow.files(kind, n, 2, seed=n)
    z = others(y, x, relative)
    given = pairs(y, x, relative=relative)
    for digits in (0, 3, 8):
        expected = np.bincount(z.view(np.int64) >> (h.FRACTION - digits), minlength=(0x7FF << digits) + 1)
        assert h.histogram(given, digits).tolist() == expected.tolist()
        limit = 0.35
        last = np.float64(limit).view(np.int64) >> (h.FRACTION - digits)
        found = h.histogram(given, digits, limit)
        assert found[: last + 1].tolist() == expected[: last + 1].tolist()
        assert not found[last + 1 :].any()


def test_other_distance() -> None:
    y, x = slow.files("ties", 200, 2, seed=2)
    metric = manhattan(np.ones(2))
    z = slow.z(y, x, metric)[~np.eye(200, dtype=np.bool_)]
    expected = np.bincount(z.view(np.int64) >> (h.FRACTION - 4), minlength=(0x7FF << 4) + 1)
    assert h.histogram(pairs(y, x, metric), 4).tolist() == expected.tolist()


@pytest.mark.parametrize("kind", slow.KINDS)
def test_distribution(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    y, x = slow.files(kind, 200, 2, seed=5)
    z, given = others(y, x), pairs(y, x)
    listed = h.distribution(given, 0.1)
    assert np.repeat(listed.z, listed.count.astype(np.int64)).tolist() == z.tolist()
    assert (listed.pairs, listed.width, listed.error) == (200 * 199, 0.0, 0.0)
    monkeypatch.setattr(h, "FEW", 0)
    binned = h.distribution(given, 0.1)
    assert binned.width == 0.0625
    assert binned.count.sum() == binned.pairs == 200 * 199
    assert (np.diff(binned.z) > 0).all()
    for value, count, low, high in zip(binned.z, binned.count, binned.low, binned.high, strict=True):
        assert count == np.count_nonzero((z >= low) & (z <= high))
        assert low <= value <= high
        assert low == high or np.log(high / low) <= binned.width


def test_sample() -> None:
    y, x = slow.files("plain", 300, 2, seed=5)
    z = others(y, x)
    found = h.distribution(pairs(y, x), 0.1, sample=4000)
    assert found.count.sum() == pytest.approx(found.pairs)
    assert found.error == pytest.approx(np.sqrt(np.log(40) / 2 / 4000), rel=0.01)
    share = np.cumsum(found.count) / found.pairs
    true_share = np.searchsorted(z, found.z, side="right") / len(z)
    assert np.abs(share - true_share).max() < found.error


@pytest.mark.parametrize("kind", slow.KINDS)
@pytest.mark.parametrize("room", [0, 2, 1 << 20])
def test_smallest_positive(kind: str, room: int) -> None:
    for n in (1, 2, 150):
        y, x = slow.files(kind, n, 2, seed=n)
        z = slow.z(y, x)
        expected = np.min(z[z > 0], initial=np.inf)
        assert h.smallest_positive(pairs(y, x), room=room) == expected
