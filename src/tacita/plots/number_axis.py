"""Axes for numbers of the data, even or logarithmic, and cells along them."""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt
import numpy as np

from tacita.arrays import Floats

SHORT = "format(datum.value, abs(datum.value) >= 1 || datum.value == 0 ? '~s' : '~g')"
"""A number as short as it can be: 0, 0.1, 10, 1k, 1M."""


class NumberAxis(NamedTuple):
    """How numbers lie along an axis."""

    low: float
    high: float
    kind: str
    """linear, log, or symlog where there are zeros or negative numbers."""

    def scale(self) -> Any:
        """The scale of the axis."""
        more: dict[str, Any] = {"type": self.kind} | ({"constant": 1} if self.kind == "symlog" else {})
        return alt.Scale(domain=[self.low, self.high], nice=False, clamp=True, **more)

    def axis(self) -> Any:
        """Ticks at round numbers: powers of ten on a log scale."""
        if self.kind == "linear":
            return alt.Axis(format="~s", tickCount=5)
        # Each tick by itself: a format for all of them would write 0, 1 and 10 as 0M beside a million.
        return alt.Axis(values=self.ticks(), labelExpr=SHORT)

    def ticks(self, most: int = 6) -> list[float]:
        """Powers of ten inside the axis, thinned."""
        powers = [10.0**power for power in range(-12, 19)]
        signed = [-each for each in reversed(powers) if each >= 1] + [0.0] + powers
        if self.kind == "symlog":
            signed = [each for each in signed if abs(each) >= 1 or each == 0]
        inside = [each for each in signed if self.low <= each <= self.high]
        return inside[:: -(-len(inside) // most)] if inside else []

    def edges(self, cells: int) -> Floats:
        """Borders of cells that are equally wide on the axis."""
        ends = self._along(np.array([self.low, self.high]))
        places = np.linspace(ends[0], ends[1], cells + 1)
        if self.kind == "linear":
            return places
        if self.kind == "log":
            return np.asarray(10.0**places)
        return np.asarray(np.sign(places) * np.expm1(np.abs(places)))

    def _along(self, values: Floats) -> Floats:
        if self.kind == "linear":
            return values
        if self.kind == "log":
            return np.asarray(np.log10(values))
        return np.asarray(np.sign(values) * np.log1p(np.abs(values)))


def number_axis(values: Floats, *, log: bool) -> NumberAxis:
    """An axis that all values fit on, with a little room."""
    if not len(values):
        return NumberAxis(0.0, 1.0, "linear")
    low, high = float(values.min()), float(values.max())
    if log and low > 0:
        room = (high / low) ** 0.03 if high > low else 1.5
        return NumberAxis(low / room, high * room, "log")
    if log:
        return NumberAxis(low * (1.2 if low < 0 else 0.8), high * (1.2 if high > 0 else 0.8) + 0.1, "symlog")
    room = 0.03 * (high - low) if high > low else 1.0
    return NumberAxis(low - room, high + room, "linear")
