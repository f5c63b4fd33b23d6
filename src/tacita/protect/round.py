"""Round numbers: to a multiple of a base, or to some significant digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Above, AtLeast, Doc, NotEmpty
from tacita.protect.numeric_column import numbers_of, written
from tacita.protect.step import Applied, CellStep, Context, present

HALF = Fraction(1, 2)
NEAR = 1e-9
"""Closer than this to a half, relatively, floats do not decide: the decimal number that is written does."""
EXACT = 2.0**52
"""Beyond this the halves between whole numbers are no floats."""


def nearest(value: float, unit: Fraction) -> float:
    """The multiple of a unit nearest to a number as it is written, halves away from zero.

    >>> nearest(0.15, Fraction(1, 10)), nearest(-2.5, Fraction(1))
    (0.2, -3.0)
    """
    number = Fraction(str(value))
    size = math.floor(abs(number) / unit + HALF) * unit
    try:
        return math.copysign(float(size), value)
    except OverflowError:
        return math.copysign(math.inf, value)


def to_multiple(values: Floats, base: float) -> Floats:
    """The nearest multiple of a base, halves away from zero; missing and infinite stay as they are.

    Numbers count as they are written: 0.15 is a half of 0.1 beyond 0.1, though its float is a little less.

    >>> to_multiple(np.array([0.15, 0.3, -0.25, np.nan]), 0.1).tolist()
    [0.2, 0.3, -0.3, nan]
    """
    unit = Fraction(str(base))
    up, down = float(unit.denominator), float(unit.numerator)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.abs(values) * up / down
        k = np.floor(scaled + 0.5)
        # One rounding: k times a whole number is exact, and only the division rounds.
        rounded = np.sign(values) * (k * down) / up
        doubtful = _near_half(scaled) | (k * down >= EXACT)
    return _with_exact_halves(values, rounded, doubtful, lambda value: nearest(value, unit))


def to_digits(values: Floats, digits: int) -> Floats:
    """Numbers with so many significant digits, halves away from zero; 0, missing and infinite stay as they are.

    >>> to_digits(np.array([1234.5, 0.00125, -99.6, 0.0]), 2).tolist()
    [1200.0, 0.0013, -100.0, 0.0]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        power = np.floor(np.log10(np.abs(values)))
        power = np.where(np.isfinite(power), power, 0.0)
        # A power of ten on the side where it is exact: 0.1 is not, 10 is.
        lift = digits - 1 - power
        up, down = 10.0 ** np.maximum(lift, 0), 10.0 ** np.maximum(-lift, 0)
        scaled = np.abs(values) * up / down
        rounded = np.sign(values) * np.floor(scaled + 0.5) / up * down
        # Near a power of ten the logarithm may be a digit too high or too low, and above 10^22 powers are not exact.
        edge = (scaled <= 10.0 ** (digits - 1) * (1 + NEAR)) | (scaled >= 10.0**digits * (1 - NEAR))
        doubtful = (_near_half(scaled) | edge | (np.abs(lift) > 22) | (digits > 15)) & (values != 0)
    return _with_exact_halves(values, rounded, doubtful, lambda value: nearest(value, _last_digit(value, digits)))


def _last_digit(value: float, digits: int) -> Fraction:
    """The unit of the last significant digit."""
    power = int(f"{abs(value):e}".split("e")[1]) if value else 0
    number = Fraction(str(abs(value)))
    # The format rounds: 9.9999999 is not 1e1.
    power -= number < Fraction(10) ** power
    return Fraction(10) ** (power - digits + 1)


def _near_half(scaled: Floats) -> Bools:
    """Where a number lies so near a half that rounding errors could decide."""
    away: Bools = np.abs(scaled - np.floor(scaled) - 0.5) <= NEAR * np.maximum(1.0, scaled)
    return away


def _with_exact_halves(values: Floats, rounded: Floats, doubtful: Bools, decide: Any) -> Floats:
    """The rounded numbers, the doubtful ones decided one by one."""
    doubtful = (doubtful | ~np.isfinite(rounded)) & np.isfinite(values)
    if doubtful.any():
        different, where = np.unique(values[doubtful], return_inverse=True)
        rounded[doubtful] = np.array([decide(value) for value in different.tolist()])[where]
    # Adding 0 makes 0 of -0.
    finished: Floats = np.where(np.isfinite(values), rounded + 0.0, values)
    return finished


def whole_to_multiple(values: Ints, base: int | Ints) -> Ints:
    """The nearest multiple of a whole base, halves away from zero, in whole numbers of any size.

    >>> whole_to_multiple(np.array([2**53 + 3, -5, 4]), 10).tolist()
    [9007199254741000, -10, 0]
    """
    numbers: NDArray[Any] = values.astype(object)
    highest = int(np.max(base, initial=0))
    if len(values) and max(int(values.max()), -int(values.min())) < 1 << 62 and highest < 1 << 62:
        numbers = values
    size = np.abs(numbers)
    times, rest = size // base, size % base
    rounded = np.where(numbers < 0, -1, 1) * (times + (rest >= base - rest)) * base
    if rounded.dtype == object and any(not -(1 << 63) <= number < 1 << 63 for number in rounded.tolist()):
        raise TacitaError("rounding takes numbers beyond 64 bits; choose a smaller base or more digits.")
    whole: Ints = rounded.astype(np.int64)
    return whole


def whole_to_digits(values: Ints, digits: int) -> Ints:
    """Whole numbers with so many significant digits.

    >>> whole_to_digits(np.array([1234, -96, 7]), 1).tolist()
    [1000, -100, 7]
    """
    powers = [10**power for power in range(19)]
    # The lowest number of 64 bits has no positive counterpart.
    size = np.abs(np.maximum(values, -(2**63 - 1)))
    length = np.searchsorted(np.array(powers, dtype=np.int64), size, side="right")
    return whole_to_multiple(values, np.array(powers, dtype=np.int64)[np.maximum(length - digits, 0)])


@dataclass(frozen=True)
class Round(CellStep):
    """Round numbers to a multiple of `base`, or to `digits` significant digits.

    Exact amounts are found again in any other file that has them; rounded ones are shared by many. Halves are rounded
    away from zero, numbers as they are written: 0.15 to 0.2. Codes declared missing or not applicable are left as they
    are. Whole numbers stay whole, unless the base has a fraction.

    >>> import tacita as tc, polars as pl
    >>> firms = pl.DataFrame({"turnover": [1234.5, 987.0, None], "nace": ["A", "A", "B"]})
    >>> plan = tc.Plan([Round("turnover", base=50)])
    >>> plan.apply(firms, tc.Scenario(keys=["nace"])).data.table["turnover"].to_list()
    [1250.0, 1000.0, None]
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, which must hold numbers.")]
    base: Annotated[float | None, Above(0), Doc("Round to multiples of this.")] = None
    digits: Annotated[int | None, AtLeast(1), Doc("Or to so many significant digits.")] = None

    def __post_init__(self) -> None:
        if (self.base is None) == (self.digits is None):
            raise TacitaError("round needs either base (round to its multiples) or digits; give one of them.")

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with rounded numbers."""
        fresh = {}
        for name in present(self, self.variables, data):
            column = numbers_of(data, name)
            # What is no measurement is not rounded: a code could not even be rounded without overflow.
            values = np.where(column.there, column.values, 0)
            fresh[name] = written(data, name, column, self._rounded(values))
        given = {"base": self.base} if self.digits is None else {"digits": self.digits}
        rounding = (Mechanism("rounding", self.variables, given),)
        return Applied(data.with_columns(fresh), mechanisms=rounding, public=rounding)

    def _rounded(self, values: NDArray[Any]) -> NDArray[Any]:
        whole = bool(np.issubdtype(values.dtype, np.integer))
        if self.base is None:
            digits = self.digits or 1
            return whole_to_digits(values, digits) if whole else to_digits(values, digits)
        if whole and self.base.is_integer():
            return whole_to_multiple(values, int(self.base))
        return to_multiple(values.astype(np.float64), self.base)
