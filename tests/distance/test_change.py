"""How far a released value is from the original one: by hand, bounds, and against the definition in words."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.distance.change import nominal_change, numeric_change, numeric_unit, ordinal_change

NAN = float("nan")
code = st.one_of(st.just(NAN), st.integers(0, 4).map(float))
value = st.one_of(st.just(NAN), st.floats(-50, 50))


def test_ordinal_by_hand() -> None:
    # Four categories 0 to 3: a step is 1/3; suppressed 1 is 2/3 from the farther end, suppressed 0 is 1.
    x = np.array([0.0, 3.0, 1.0, 0.0, NAN, NAN])
    y = np.array([1.0, 0.0, NAN, NAN, 2.0, NAN])
    assert ordinal_change(x, y, 4).tolist() == pytest.approx([1 / 3, 1.0, 2 / 3, 1.0, 1.0, 0.0])


def test_one_category_cannot_change() -> None:
    assert ordinal_change(np.array([0.0, 0.0]), np.array([0.0, NAN]), 1).tolist() == [0.0, 1.0]


def test_numeric_by_hand() -> None:
    # The median of 1, 2, 10 is 2: suppressed 2 is 8 from the maximum, suppressed 10 is 9 from the minimum.
    x = np.array([1.0, 2.0, 10.0, NAN])
    arctan = [2 / math.pi * math.atan(step) for step in (1.0, 8.0, 9.0)]
    assert numeric_change(x, np.array([2.0, NAN, NAN, NAN])).tolist() == pytest.approx([*arctan, 0.0])
    halves = [2 / math.pi * math.atan(step / 2.0) for step in (1.0, 8.0, 9.0)]
    assert numeric_change(x, np.array([2.0, NAN, NAN, 7.0]), 2.0).tolist() == pytest.approx([*halves, 1.0])


def test_units() -> None:
    x = np.array([1.0, 2.0, 3.0, 10.0, NAN])
    assert numeric_unit(x, "value") == 1.0
    assert numeric_unit(x, "sd") == pytest.approx(np.std([1, 2, 3, 10], ddof=1))
    # Deviations from the median 2.5 are 1.5, 0.5, 0.5, 7.5, with the median 1.
    assert numeric_unit(x, "mad") == pytest.approx(1.4826)
    assert numeric_unit(np.array([4.0, 4.0]), "sd") == 0.0
    assert math.isnan(numeric_unit(np.array([4.0]), "mad"))


def slow_ordinal(x: float, y: float, categories: int) -> float:
    if math.isnan(x):
        return 0.0 if math.isnan(y) else 1.0
    width = max(categories - 1, 1)
    if math.isnan(y):
        return min(max(x, width - x) / width, 1.0)
    return abs(x - y) / width


@given(st.lists(st.tuples(code, code), min_size=1, max_size=20))
def test_categories_against_the_definition(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array(each) for each in zip(*pairs, strict=True))
    assert ordinal_change(x, y, 5).tolist() == pytest.approx([slow_ordinal(a, b, 5) for a, b in pairs])
    same = [0.0 if a == b or (math.isnan(a) and math.isnan(b)) else 1.0 for a, b in pairs]
    assert nominal_change(x, y).tolist() == same


@given(st.lists(st.tuples(value, value), min_size=1, max_size=20), st.floats(0.1, 10))
def test_numbers_against_the_definition(pairs: list[tuple[float, float]], unit: float) -> None:
    x, y = (np.array(each) for each in zip(*pairs, strict=True))
    shown = sorted(a for a, _ in pairs if not math.isnan(a))

    def slow(a: float, b: float) -> float:
        if math.isnan(a):
            return 0.0 if math.isnan(b) else 1.0
        if math.isnan(b):
            b = shown[-1] if a <= np.median(shown) else shown[0]
        return 2 / math.pi * math.atan(abs(a - b) / unit)

    found = numeric_change(x, y, unit)
    assert found.tolist() == pytest.approx([slow(a, b) for a, b in pairs])
    assert ((found >= 0) & (found <= 1)).all()
