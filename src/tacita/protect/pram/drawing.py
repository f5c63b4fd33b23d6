"""What each record's category becomes: the inverse of the cumulated row of the matrix at one uniform number."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Floats, Ints


def drawn(codes: Ints, matrix: Floats, uniform: Floats) -> Ints:
    """By record the new category: the first whose cumulated probability exceeds the uniform number.

    A transition of probability 0 never happens, whatever the rounding of the sums.

    >>> drawn(np.array([0, 0, 1]), np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0.2, 0.7, 1e-9])).tolist()
    [0, 1, 1]
    """
    if not len(codes):
        return codes
    cumulated = np.cumsum(matrix, axis=1)
    last = matrix.shape[1] - 1 - np.argmax(matrix[:, ::-1] > 0, axis=1)
    # From the last category that is possible on, the sum is 1 whatever rounding made of it.
    cumulated[np.arange(matrix.shape[1])[None, :] >= last[:, None]] = 1.0
    small = codes.astype(np.uint16) if len(matrix) <= np.iinfo(np.uint16).max else codes
    order = np.argsort(small, kind="stable")
    sorted_uniform = uniform[order]
    found = np.empty(len(codes), dtype=np.int64)
    start = 0
    for category, count in enumerate(np.bincount(codes, minlength=len(matrix)).tolist()):
        part = slice(start, start + count)
        found[part] = np.searchsorted(cumulated[category], sorted_uniform[part], side="right")
        start += count
    fresh = np.empty_like(found)
    fresh[order] = found
    return fresh
