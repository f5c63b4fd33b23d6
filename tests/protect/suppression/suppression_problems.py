"""Small files and requirements to suppress."""

import numpy as np
from hypothesis import strategies as st

from tacita.protect.suppression.combinations import Requirement, bits, of_sizes


def codes_of(*rows: tuple[int, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.uint32)


def whole(q: int, k: int) -> list[Requirement]:
    return [Requirement((1 << q) - 1, k)]


def released(codes: np.ndarray, gone: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(row) for row in (codes * ~gone).tolist()]


@st.composite
def files(draw: st.DrawFn, most: int = 14, keys: int = 4) -> np.ndarray:
    q = draw(st.integers(1, keys))
    values = draw(st.integers(1, 4))
    row = st.tuples(*[st.integers(draw(st.sampled_from([0, 1])), values)] * q)
    return codes_of(*draw(st.lists(row, min_size=3, max_size=most)))


@st.composite
def requirements(draw: st.DrawFn, q: int) -> list[Requirement]:
    """k on all keys, k by size of combination, or several key sets."""
    kind = draw(st.sampled_from(["all", "sizes", "sets"]))
    if kind == "all":
        return whole(q, draw(st.integers(2, 3)))
    if kind == "sizes":
        return of_sizes(range(q), draw(st.dictionaries(st.integers(1, q), st.integers(2, 3), min_size=1)))
    sets = draw(st.lists(st.sets(st.integers(0, q - 1), min_size=1), min_size=1, max_size=3))
    return [Requirement(bits(each), draw(st.integers(2, 3))) for each in sets]
