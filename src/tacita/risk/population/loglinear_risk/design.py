"""The cells of a cross-classification and the design of a model on them, without a design matrix.

Every column of the design is an indicator of levels of some factors, times the values of some linear variables. So what
it does to an array with one axis per variable is marginal sums, and a million cells are no hardship.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacita.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Cells:
    """A cross-classification of which only the occupied cells are listed."""

    shape: tuple[int, ...]
    """Levels of each variable."""
    index: Ints
    """The occupied cells, as places in the flattened array, ascending."""
    response: Floats
    """What is modelled: the count of each of them."""

    def margin(self, axes: Sequence[int]) -> Floats:
        """Sums of the response over all other axes, with those kept at length 1."""
        kept = [length if axis in axes else 1 for axis, length in enumerate(self.shape)]
        places = np.unravel_index(self.index, self.shape)
        flat = np.zeros(len(self.index), dtype=np.int64)
        for axis in sorted(axes):
            flat = flat * self.shape[axis] + places[axis]
        sums: Floats = np.bincount(flat, weights=self.response, minlength=math.prod(kept)).astype(np.float64)
        return sums.reshape(kept)


class Effect(NamedTuple):
    """One effect of a model, as axes: indicators of levels of factors, times the values of linear variables."""

    factors: tuple[int, ...]
    linear: tuple[int, ...] = ()


def margin(array: Floats, axes: Collection[int]) -> Floats:
    """Sums over all other axes, with those kept at length 1."""
    others = tuple(axis for axis in range(array.ndim) if axis not in axes)
    return np.sum(array, axis=others, keepdims=True) if others else array


class Design:
    """The design matrix X of some effects, by what it does to arrays and vectors; the first level of a factor is 0.

    A constant comes first; a covariate, any array with one value per cell, may come last.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        effects: Sequence[Effect],
        values: Mapping[int, Floats] | None = None,
        covariate: Floats | None = None,
    ):
        self.shape, self.covariate = shape, covariate
        self.effects = [Effect(()), *(effect for effect in effects if effect != Effect(()))]
        self.values = {axis: self._along(axis, scaled) for axis, scaled in _scaled(effects, values or {}).items()}
        sizes = [math.prod(shape[axis] - 1 for axis in effect.factors) for effect in self.effects]
        ends = np.cumsum(sizes).tolist()
        self.slices = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
        self.size = ends[-1] + (covariate is not None)

    def _along(self, axis: int, values: Floats) -> Floats:
        return values.reshape([-1 if place == axis else 1 for place in range(len(self.shape))])

    def predictor(self, coefficients: Floats) -> Floats:
        """X b, one axis per variable."""
        out = np.zeros(self.shape)
        for effect, part in zip(self.effects, self.slices, strict=True):
            inner = tuple(self.shape[axis] - 1 if axis in effect.factors else 1 for axis in range(len(self.shape)))
            padding = [(1, 0) if axis in effect.factors else (0, 0) for axis in range(len(self.shape))]
            array = np.pad(coefficients[part].reshape(inner), padding)
            for axis in effect.linear:
                array = array * self.values[axis]
            out += array
        if self.covariate is not None:
            out += coefficients[-1] * self.covariate
        return out

    def sums(self, source: Cells | Floats) -> Floats:
        """X' of an array, or of the response of cells."""
        margins = _Margins(source)
        out = np.empty(self.size)
        for effect, part in zip(self.effects, self.slices, strict=True):
            out[part] = self._block_sums(margins, effect.factors, effect.linear).reshape(-1)
        if self.covariate is not None:
            out[-1] = self._with_covariate(source)
        return out

    def _with_covariate(self, source: Cells | Floats) -> float:
        assert self.covariate is not None
        if isinstance(source, Cells):
            return math.fsum(source.response * self.covariate.reshape(-1)[source.index])
        return float(np.sum(source * self.covariate))

    def _block_sums(self, margins: _Margins, factors: Collection[int], linear: Sequence[int]) -> Floats:
        """Sums by levels of factors (without their first), weighted by linear variables; all axes are kept."""
        array = margins.over(frozenset(factors) | frozenset(linear))
        for axis in linear:
            array = array * self.values[axis]
        array = margin(array, factors)
        return array[tuple(slice(1, None) if axis in factors else slice(None) for axis in range(array.ndim))]

    def diagonal(self, weights: Floats) -> Floats:
        """The diagonal of X' diag(weights) X."""
        margins = _Margins(weights)
        out = np.empty(self.size)
        for effect, part in zip(self.effects, self.slices, strict=True):
            out[part] = self._block_sums(margins, effect.factors, (*effect.linear, *effect.linear)).reshape(-1)
        if self.covariate is not None:
            out[-1] = np.sum(weights * self.covariate**2)
        return out

    def cross_product(self, weights: Floats) -> Floats:
        """X' diag(weights) X."""
        margins = _Margins(weights)
        out = np.empty((self.size, self.size))
        for place, (left, rows) in enumerate(zip(self.effects, self.slices, strict=True)):
            for right, columns in zip(self.effects[: place + 1], self.slices[: place + 1], strict=True):
                factors = sorted({*left.factors, *right.factors})
                block = self._block_sums(margins, factors, (*left.linear, *right.linear))
                out[rows, columns] = _spread(block, left.factors, right.factors)
                out[columns, rows] = out[rows, columns].T
        if self.covariate is not None:
            # The sums of weights times the covariate are the last column.
            out[:, -1] = out[-1] = self.sums(weights * self.covariate)
        return out


def _spread(block: Floats, left: Sequence[int], right: Sequence[int]) -> Floats:
    """Sums by the levels of two sets of factors as a matrix; on a factor in both sets the levels must agree."""
    common = [axis for axis in left if axis in right]
    only_left = [axis for axis in left if axis not in right]
    only_right = [axis for axis in right if axis not in left]
    dimensions = [[block.shape[axis] for axis in axes] for axes in (only_left, common, only_right)]
    rows, shared, columns = (math.prod(lengths) for lengths in dimensions)
    others = [axis for axis in range(block.ndim) if axis not in left and axis not in right]
    out = np.zeros((rows, shared, columns, shared))
    np.einsum("icjc->icj", out)[...] = block.transpose(*only_left, *common, *only_right, *others).reshape(
        rows, shared, columns
    )
    # Back from (own factors, shared factors) to the order of the axes.
    full = out.reshape([*dimensions[0], *dimensions[1], *dimensions[2], *dimensions[1]])
    row_axes, column_axes = [*only_left, *common], [*only_right, *common]
    order = [*np.argsort(row_axes), *(len(row_axes) + np.argsort(column_axes))]
    return full.transpose(order).reshape(rows * shared, columns * shared)


class _Margins:
    """Marginal sums of one array or of listed cells, each computed once."""

    def __init__(self, source: Cells | Floats):
        self.source = source
        self.known: dict[frozenset[int], Floats] = {}

    def over(self, axes: frozenset[int]) -> Floats:
        if axes not in self.known:
            if isinstance(self.source, Cells):
                self.known[axes] = self.source.margin(sorted(axes))
            else:
                larger = [array for known, array in self.known.items() if axes <= known]
                self.known[axes] = margin(min(larger, key=np.size, default=self.source), axes)
        return self.known[axes]


def _scaled(effects: Sequence[Effect], values: Mapping[int, Floats]) -> dict[int, Floats]:
    """Linear variables with a standard deviation of 1; centred where that does not change the model."""
    out = {}
    for axis, given in values.items():
        # The squares of the largest numbers that there are would be beyond them.
        raw = given / (np.abs(given).max(initial=0.0) or 1.0)
        centre = raw.mean() if _may_move(effects, axis) else 0.0
        spread = raw.std() or 1.0
        out[axis] = (raw - centre) / spread
    return out


def _may_move(effects: Sequence[Effect], axis: int) -> bool:
    """Whether every effect with this variable stands beside the same effect without it."""
    known = {*effects, Effect(())}
    return all(
        Effect(effect.factors, tuple(other for other in effect.linear if other != axis)) in known
        for effect in effects
        if axis in effect.linear
    )
