"""Round numbers: to a multiple of a base, or to some significant digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.step import Applied, Context, Step, present, some_names


def to_multiple(values: Floats, base: float) -> Floats:
    """The nearest multiple of a base, halves away from zero; missing stays missing."""
    rounded: Floats = np.sign(values) * np.floor(np.abs(values) / base + 0.5) * base
    return rounded


def to_digits(values: Floats, digits: int) -> Floats:
    """Numbers with so many significant digits; 0 and missing as they are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.abs(values)))
    power = np.where(np.isfinite(power), power, 0.0)
    # A whole power of ten on the side where it is exact: 0.1 is not, 10 is.
    lift = digits - 1 - power
    up, down = 10.0 ** np.maximum(lift, 0), 10.0 ** np.maximum(-lift, 0)
    scaled = np.sign(values) * np.floor(np.abs(values) * up / down + 0.5)
    rounded: Floats = np.where(np.isfinite(values), scaled / up * down, values)
    return rounded


@dataclass(frozen=True)
class Round(Step):
    """Round numbers to a multiple of `base`, or to `digits` significant digits.

    Exact amounts are found again in any other file that has them; rounded ones are shared by many. Halves are rounded
    away from zero. Codes declared missing or not applicable are left as they are.

    >>> import tacita as tc, polars as pl
    >>> firms = pl.DataFrame({"turnover": [1234.5, 987.0, None], "nace": ["A", "A", "B"]})
    >>> plan = tc.Plan([Round("turnover", base=50)])
    >>> plan.apply(firms, tc.Scenario(keys=["nace"])).data.table["turnover"].to_list()
    [1250.0, 1000.0, None]
    """

    variables: tuple[str, ...]
    """The variables, which must hold numbers."""
    base: float | None = None
    """Round to multiples of this."""
    digits: int | None = None
    """Or to so many significant digits."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", some_names("variables", self.variables))
        if (self.base is None) == (self.digits is None):
            raise TacitaError("round needs either base (round to its multiples) or digits; give one of them.")
        if self.base is not None:
            object.__setattr__(self, "base", check.number("base", self.base))
            if self.base <= 0:
                raise TacitaError(f"base must be above 0; got {self.base!r}.")
        if self.digits is not None:
            object.__setattr__(self, "digits", check.whole("digits", self.digits, 1))

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with rounded numbers."""
        fresh = {}
        for name in present(self, self.variables, data):
            values, whole = data.numbers(name), frame.is_whole(data.table, name)
            rounded = to_multiple(values, self.base) if self.base is not None else to_digits(values, self.digits or 1)
            raw = frame.numbers(data.table, name)
            # Declared codes are no measurements: they stay.
            rounded = np.where(np.isnan(values), raw, rounded)
            keep_whole = whole and (self.base is None or self.base == round(self.base))
            fresh[name] = frame.whole_numbers(rounded) if keep_whole else rounded
        return Applied(data.with_columns(fresh))
