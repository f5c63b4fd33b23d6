"""Figures over rows that stand for several records are those of the records one by one."""

import numpy as np
import pytest

from tacita import repeats


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_rows_are_as_many_records(size: int) -> None:
    draw = np.random.Generator(np.random.Philox(size))
    for _ in range(20):
        codes, times = draw.integers(0, 5, size), draw.integers(1, 6, size)
        values = np.where(draw.random(size) < 0.3, 0.0, draw.integers(0, 4, size) / 3)
        records, every = np.repeat(codes, times), np.repeat(values, times)
        assert repeats.how_many(codes == 2, times) == int((records == 2).sum())
        assert repeats.counts(codes, times, 6).tolist() == np.bincount(records, minlength=6).tolist()
        for ours, theirs in zip(repeats.distinct(codes, times), repeats.distinct(records, None), strict=True):
            assert ours.tolist() == theirs.tolist()
        assert repeats.median(values, times) == np.median(every)
        assert repeats.mean(values, times) == pytest.approx(every.mean(), rel=1e-13)
        assert repeats.total(values, times) == pytest.approx(every.sum(), rel=1e-13)
        if len(every) > 1:
            assert repeats.sd(values, times) == pytest.approx(every.std(ddof=1), rel=1e-12, abs=1e-15)
