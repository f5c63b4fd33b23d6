"""Round: as a person rounds the number that is written, and whole numbers in whole numbers."""

import math
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.protect.round import to_digits, to_multiple, whole_to_digits, whole_to_multiple


def rounded(column: Any, known: Variable | None = None, **options: Any) -> pl.Series:
    data = Data.of(pl.DataFrame({"x": column}), {"x": known} if known else {})
    return tc.Plan([tc.Round("x", **options)]).apply(data, tc.Scenario(keys=["x"])).data.table["x"]


def slow_multiple(value: float, base: float) -> float:
    """In exact fractions of the decimal numbers that are written."""
    number, unit = Fraction(repr(value)), Fraction(repr(base))
    size = math.floor(abs(number) / unit + Fraction(1, 2)) * unit
    return float(size if number >= 0 else -size)


def slow_digits(value: float, digits: int) -> float:
    if value == 0:
        return 0.0
    number = Decimal(repr(value))
    with localcontext() as context:
        context.prec = 800
        return float(number.quantize(Decimal((0, (1,), number.adjusted() - digits + 1)), ROUND_HALF_UP))


FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
DECIMALS = st.decimals(-10000, 10000, places=3).map(float)


@given(st.lists(DECIMALS | FLOATS, max_size=20), st.sampled_from([0.1, 0.05, 0.25, 0.3, 1.0, 2.5, 10.0, 1000.0]))
@example([0.15, 0.25, 0.35, 2.675, 1.005, -0.5, 0.3, 1e22], 0.1)
@example([2.5, 3.5, -2.5, 0.49999999999999994, 4503599627370497.5], 1.0)
def test_multiples_against_exact_fractions(values: list[float], base: float) -> None:
    found = to_multiple(np.array(values), base).tolist()
    assert found == [slow_multiple(value, base) for value in values]
    assert not any(math.copysign(1, value) < 0 for value in found if value == 0)


@given(st.lists(DECIMALS | FLOATS, max_size=20), st.integers(1, 17))
@example([0.00125, 1234.5, 999.5, 99.6, 1000.0, 0.001, 5e-324, 1.7e308], 2)
@example([0.1 + 0.2, 2.5, 0.15], 1)
def test_digits_against_decimals(values: list[float], digits: int) -> None:
    assert to_digits(np.array(values), digits).tolist() == [slow_digits(value, digits) for value in values]


WHOLE = st.integers(-(2**62), 2**62)


@given(st.lists(WHOLE, max_size=20), st.integers(1, 10**6))
@example([2**53 + 3, 2**53 + 5, -(2**53) - 5], 10)
def test_whole_numbers_against_exact_fractions(values: list[int], base: int) -> None:
    found = whole_to_multiple(np.array(values, dtype=np.int64), base).tolist()
    half = Fraction(1, 2)
    assert found == [int(math.copysign(1, v)) * math.floor(Fraction(abs(v), base) + half) * base for v in values]


@given(st.lists(WHOLE, max_size=20), st.integers(1, 20))
def test_digits_of_whole_numbers_against_decimals(values: list[int], digits: int) -> None:
    def slow(value: int) -> int:
        unit = 10 ** max(0, len(str(abs(value))) - digits)
        return int(math.copysign(1, value)) * math.floor(Fraction(abs(value), unit) + Fraction(1, 2)) * unit

    assert whole_to_digits(np.array(values, dtype=np.int64), digits).tolist() == [slow(value) for value in values]


def test_halves_go_away_from_zero() -> None:
    assert rounded([0.5, 1.5, -0.5, -1.5, None], base=1).to_list() == [1.0, 2.0, -1.0, -2.0, None]
    assert rounded([5, 15, -5, -15, None], base=10).to_list() == [10, 20, -10, -20, None]
    assert rounded([25, 35, -25], digits=1).to_list() == [30, 40, -30]


def test_decimals_are_free_of_noise() -> None:
    assert rounded([0.31, 0.72, 1.14], base=0.1).to_list() == [0.3, 0.7, 1.1]
    assert rounded([0.31, 0.72, 1.14], base=0.1).cast(pl.String).to_list() == ["0.3", "0.7", "1.1"]


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int32, pl.UInt16, pl.Int64, pl.UInt64])
def test_whole_columns_stay_whole_and_of_their_type(dtype: pl.DataType) -> None:
    made = rounded(pl.Series([1, 14, 16, None, 101], dtype=dtype), base=10)
    assert made.to_list() == [0, 10, 20, None, 100]
    assert made.dtype == dtype
    assert rounded(pl.Series([14, 101], dtype=dtype), digits=1).dtype == dtype


def test_a_type_too_small_gives_way() -> None:
    made = rounded(pl.Series([127, 3], dtype=pl.Int8), base=100)
    assert made.to_list() == [100, 0]
    assert made.dtype == pl.Int8
    beyond = rounded(pl.Series([127, 3], dtype=pl.Int8), base=50)
    assert beyond.to_list() == [150, 0]
    assert beyond.dtype == pl.Int64


def test_whole_numbers_beyond_floats_are_exact() -> None:
    assert rounded([2**60 + 1, 2**60 + 6, None], base=1).to_list() == [2**60 + 1, 2**60 + 6, None]
    assert rounded([2**53 + 1, None], digits=16).to_list() == [2**53 + 1, None]
    assert rounded([-(2**63), 2**63 - 2], base=2).to_list() == [-(2**63), 2**63 - 2]


def test_a_fraction_as_base_makes_fractions() -> None:
    assert rounded([1, 2, 4, None], base=2.5).to_list() == [0.0, 2.5, 5.0, None]


def test_floats_keep_their_width() -> None:
    assert rounded(pl.Series([1.4, 2.6], dtype=pl.Float32), base=1).dtype == pl.Float32


def test_declared_codes_and_blanks_stay() -> None:
    known = Variable(missing=(-99,), missing_ranges=((991.0, 999.0),), not_applicable=(-7,))
    assert rounded([12, -99, -7, 995, None], known, base=10).to_list() == [10, -99, -7, 995, None]
    assert rounded([12.0, -99.0, -7.0, 995.0, None], known, digits=1).to_list() == [10.0, -99.0, -7.0, 995.0, None]


def test_infinite_stays_infinite() -> None:
    assert rounded([math.inf, -math.inf, 1.2], base=1).to_list() == [math.inf, -math.inf, 1.0]
    assert rounded([math.inf, 1.26], digits=2).to_list() == [math.inf, 1.3]


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        (["a"], {"base": 1}, "column 'x' must hold numbers; it holds text."),
        (
            [2**63 - 1], {"base": 10},
            "rounding takes numbers beyond 64 bits; choose a smaller base or more digits.",
        ),
    ],
)  # fmt: skip
def test_files_that_do_not_fit(column: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        rounded(column, **options)
    assert str(error.value) == message


EITHER = "round needs either base (round to its multiples) or digits; give one of them."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, EITHER),
        ({"base": 1, "digits": 1}, EITHER),
        ({"base": 0}, "base must be above 0; got 0."),
        ({"base": "10"}, "base must be a number; got '10'."),
        ({"digits": 0}, "digits must be at least 1; got 0."),
        ({"digits": 1.5}, "digits must be a whole number of at least 1; got 1.5."),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.Round("x", **options)
    assert str(error.value) == message


def test_a_number_is_not_rounded_to_a_code_for_missing() -> None:
    """40 would become 0, which means no answer, and nobody could tell it from those who gave none."""
    known = Variable(missing=(0,))
    with pytest.raises(TacitaError) as refused:
        rounded([40, 160, 0], known, base=100)
    assert str(refused.value) == (
        "1 record of 'x' would get a number that is declared missing or not applicable; choose other parameters, or "
        "other codes."
    )
    assert rounded([60, 160, 0], known, base=100).to_list() == [100, 200, 0]
    with pytest.raises(TacitaError, match=r"^2 records of 'x' would get a number that is declared missing"):
        rounded([-3.0, -4.0, 8.0], Variable(missing_ranges=((-10, -5),)), base=5)


def test_identifiers_are_not_changed_by_the_way() -> None:
    """Beside fractions whole numbers must be floats, of which there are fewer beyond 2^53."""
    with pytest.raises(TacitaError) as refused:
        rounded([2**53 + 1, 5], base=0.5)
    assert str(refused.value) == (
        "column 'x' holds whole numbers beyond 2^53, which cannot stand beside fractions; choose a whole number."
    )
    assert rounded([2**53 + 1, 5], base=1).to_list() == [2**53 + 1, 5]


def test_decimal_numbers_stay_decimal_and_their_codes_missing() -> None:
    prices = pl.Series([Decimal("1.14"), Decimal("-9.00"), None], dtype=pl.Decimal(10, 2))
    for known in (Variable(missing=(Decimal("-9"),)), Variable(missing=(-9,)), Variable(missing_ranges=((-9, -1),))):
        made = rounded(prices, known, base=0.1)
        assert made.to_list() == [Decimal("1.10"), Decimal("-9.00"), None]
        assert Data.of(pl.DataFrame({"x": made}), {"x": known}).missing("x").tolist() == [False, True, True]


def test_true_and_false_are_no_numbers() -> None:
    with pytest.raises(TacitaError, match=r"^column 'x' holds true and false, which are no numbers; use Recode"):
        rounded([True, False], base=2)
