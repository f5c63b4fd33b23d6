"""Numbers in intervals that become wider."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.protect.recode.hierarchies.base import Hierarchy, listed, true_or_false
from tacita.protect.recode.intervals import exact, number_text


@dataclass(frozen=True)
class IntervalHierarchy(Hierarchy):
    """Intervals of equal width at each level, with one group below `bottom` and one from `top` on."""

    kind: str = field(init=False, default="intervals")
    widths: tuple[float, ...]
    """The width of the intervals at level 1, 2, ...; each a multiple of the one before."""
    start: float = field(default=0, kw_only=True)
    """Where an interval begins."""
    bottom: float | None = field(default=None, kw_only=True)
    """Smaller numbers are one group."""
    top: float | None = field(default=None, kw_only=True)
    """From this number on there is one group."""
    whole: bool = field(default=True, kw_only=True)
    """Whether the numbers are whole: 20-24; with fractions the label is 20 to <25."""

    def __post_init__(self) -> None:
        super().__post_init__()
        true_or_false("whole", self.whole)
        widths = tuple(_number("widths", width, self.whole) for width in listed(self.widths))
        exact = [Fraction(str(width)) for width in widths]
        if not widths or min(exact) <= 0:
            raise TacitaError(f"widths must be one or more numbers above 0; got {check.given(list(widths))}.")
        pairs = itertools.pairwise(exact)
        if any((wide / narrow).denominator != 1 or wide == narrow for narrow, wide in pairs):
            raise TacitaError(
                f"every width must be a multiple of the one before, as in [5, 10, 20], or intervals would not nest; "
                f"got {check.given(list(widths))}."
            )
        object.__setattr__(self, "widths", widths)
        for name in ("start", "bottom", "top"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else _number(name, value, self.whole))
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            raise TacitaError(f"bottom must be below top; got {check.given(self.bottom)} and {self.top!r}.")

    @property
    def own_height(self) -> int:
        """One level per width."""
        return len(self.widths)

    def unknown(self, name: str, count: int) -> str:
        """What to say of values that cannot be put into intervals."""
        return (
            f"{name!r} has {check.counted(count, 'value')} that cannot be put into intervals of "
            f"{'whole numbers; pass whole=False if it has fractions' if self.whole else 'numbers; make them numbers'}."
        )

    def own_labels(self, values: Sequence[Any], level: int) -> list[Any]:
        """The interval of each number."""
        return [self._label(value, level) for value in values]

    def _exact(self, number: float | Decimal) -> Fraction | int:
        """Whole, or a fraction: 0.3 belongs to the interval that begins at 0.3, and narrow ones nest in wide ones."""
        return int(number) if self.whole else Fraction(str(number))

    def _label(self, value: Any, level: int) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or not math.isfinite(value):
            return None
        if self.whole and value != math.floor(value):
            return None
        if self.bottom is not None and value < self.bottom:
            return f"<{_text(self.bottom)}"
        if self.top is not None and value >= self.top:
            return f"{_text(self.top)}+"
        width, start = self._exact(self.widths[level - 1]), self._exact(self.start)
        low = start + (self._exact(value) - start) // width * width
        high = low + width
        if self.bottom is not None:
            low = max(low, self._exact(self.bottom))
        if self.top is not None:
            high = min(high, self._exact(self.top))
        if not self.whole:
            return f"{_text(low)} to <{_text(high)}"
        last = high - 1
        if low == last:
            return _text(low)
        return f"{_text(low)}-{_text(last)}" if low >= 0 else f"{_text(low)} to {_text(last)}"


def _number(what: str, value: Any, whole: bool) -> float:
    number = check.number(what, check.python_number(value))
    if whole and number != math.floor(number):
        raise TacitaError(f"{what} must be whole, or pass whole=False; got {check.given(value)}.")
    return int(number) if number == math.floor(number) else number


def _text(number: float | Fraction) -> str:
    return number_text(number if isinstance(number, Fraction) else exact(number))
