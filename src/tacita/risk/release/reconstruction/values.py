"""Values that are to be the same in two files: numbers but for their last bits, texts of numbers, dates as days."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from tacita import frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data

ROUNDING = 2.0**36
"""Numbers that agree in this many parts of their mantissa are the same: formats differ in the last bits."""
MOST_DECIMALS = 6
"""Decimals up to which numbers count as rounded."""


DATE = re.compile(
    r"^\s*(?:(?P<year>\d{4})[-./])?(?P<one>\d{1,2})[-./](?P<two>\d{1,2})(?(year)|[-./](?P<last>\d{4}))(?:[T ].*)?$"
)
"""A day written as a text, with its year first or last."""


def is_number(data: Data, name: str) -> bool:
    """Whether a column holds numbers."""
    kinds = (frame.is_float, frame.is_whole, frame.is_boolean, frame.is_decimal)
    return any(kind(data.table, name) for kind in kinds)


def numbers_of(data: Data, name: str) -> Floats | None:
    """A column as numbers, days for dates, texts of dates too, NaN where missing; None for anything else."""
    if is_number(data, name):
        values = data.numbers(name)
        return np.where(np.isfinite(values), values, np.nan)
    try:
        codes, values_of = data.coded(name)
    except TacitaError:
        return None
    if values_of and all(isinstance(value, date) for value in values_of):
        days = np.array([np.nan, *(_days(value) for value in values_of)])
        return np.asarray(days[codes], dtype=np.float64)
    if values_of and all(isinstance(value, str) and _as_number(value) is not None for value in values_of):
        parsed = np.array([np.nan, *(float(value) for value in values_of)])
        return np.asarray(parsed[codes], dtype=np.float64)
    days_of = _days_of_texts(values_of)
    return None if days_of is None else np.asarray(np.array([np.nan, *days_of])[codes], dtype=np.float64)


def _days_of_texts(values: tuple[Any, ...]) -> list[float] | None:
    """Texts that all are dates as days: 1987-03-02, 2.3.1987 or 3/2/1987, by whether some month would be above 12.

    >>> _days_of_texts(("1987-03-02", "1.3.1987")), _days_of_texts(("north",))
    ([725432.0, 725431.0], None)
    """
    found = [DATE.match(value) if isinstance(value, str) else None for value in values]
    if not found or None in found:
        return None
    parts = [(match["year"] or match["last"], int(match["one"]), int(match["two"])) for match in found if match]
    month_first = any(not match["year"] and int(match["two"]) > 12 for match in found if match)
    days = []
    for match, (year, one, two) in zip(found, parts, strict=True):
        month, day = (one, two) if (match and match["year"]) or month_first else (two, one)
        try:
            days.append(float(date(int(year), month, day).toordinal()))
        except ValueError:
            return None
    return days


def _days(value: Any) -> float:
    seconds = getattr(value, "hour", 0) * 3600 + getattr(value, "minute", 0) * 60 + getattr(value, "second", 0)
    return float(value.toordinal()) + seconds / 86400


def _as_number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def unit_of(values: Floats) -> float:
    """The last digit that numbers are given to: 1 for whole numbers, 0.01 for cents, 0 if there is none."""
    there = values[~np.isnan(values)][:20_000]
    for decimals in range(MOST_DECIMALS + 1):
        scaled = there * 10.0**decimals
        if (np.abs(scaled - np.round(scaled)) <= 1e-6 * np.maximum(1e-3, np.abs(scaled) * 1e-6)).all():
            return float(10.0**-decimals)
    return 0.0


def same_number(values: Floats) -> Floats:
    """Numbers without their last bits."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(mantissa * ROUNDING) / ROUNDING, exponent), dtype=np.float64)


def plain_value(value: Any) -> Any:
    """A value such that 2, 2.0 and the text '2' are the same."""
    if isinstance(value, str):
        number = _as_number(value.strip())
        return value.strip() if number is None else number
    return float(value) if isinstance(value, int | float | Decimal) else value


def plain_text(value: Any) -> str:
    """A value as a text, whole numbers without a point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
