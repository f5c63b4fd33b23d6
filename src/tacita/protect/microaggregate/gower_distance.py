"""Gower's distance between records of numbers, ordered and unordered categories, in whole units.

Every variable contributes min(|u - v|, share): of numbers and ranks u is the place in the range, from 0 to the share of
the variable; categories lie farther apart than any share. Places and shares are whole numbers of units, so sums of
distances are exact, whatever the order of the records, and equal distances are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.compiled import compiled

UNIT = 2.0**40
"""Units in a distance of 1. Sums over eight million records fit into 64 bits."""


class Points(NamedTuple):
    """Records as points between which Gower's distance is taken."""

    columns: Floats
    """By variable and record: its place, in units; NaN where missing."""
    share: Floats
    """By variable: what it contributes at most, in units."""
    partial: Bools
    """By variable: whether some records miss it."""

    def only(self, rows: Ints) -> Points:
        """Some of the records."""
        return self._replace(columns=np.ascontiguousarray(self.columns[:, rows]))


def gower_points(
    values: Sequence[Floats], nominal: Sequence[bool], weight: Floats, constant: Sequence[float | None]
) -> Points:
    """Variables, NaN where missing, as places for Gower's distance.

    d = sum w_j d_j / sum w_j over the variables that both records have; d_j = |x - y| / range, or 1 if two categories
    (given as codes) differ. Two records without a variable in common are at distance 1. A number that equals the
    `constant` of its variable is a category: at distance 1 from all other numbers, and no part of the range.

    Reference: Gower (1971), A general coefficient of similarity and some of its properties. Biometrics 27.

    >>> age, sex = np.array([20.0, 70.0, 45.0]), np.array([1.0, 2.0, 1.0])
    >>> points = gower_points([age, sex], [False, True], np.ones(2), [None, None])
    >>> (gower_distances(points, 0) / UNIT).tolist()
    [0.0, 1.0, 0.25]
    """
    share = np.maximum(np.rint(weight / weight.sum() * UNIT), 1.0)
    places = [
        column * 2 * UNIT if of_categories else _places(column, most, special)
        for column, of_categories, most, special in zip(values, nominal, share, constant, strict=True)
    ]
    columns = np.ascontiguousarray(np.stack(places))
    return Points(columns, share, np.asarray(np.isnan(columns).any(axis=1)))


def _places(column: Floats, share: float, constant: float | None) -> Floats:
    """Places of numbers in their range; the constant lies beyond all of them."""
    special = np.zeros(len(column), np.bool_) if constant is None else column == constant
    measured = column[~special & ~np.isnan(column)]
    places = np.where(np.isnan(column), np.nan, 0.0)
    if len(measured) and np.ptp(measured) > 0:
        places = np.rint((column - measured.min()) / np.ptp(measured) * share)
    places[special] = -2 * UNIT
    return places


def gower_distances(points: Points, row: int) -> Floats:
    """By record: its distance from the record in one row, in units."""
    out, common = np.empty(points.columns.shape[1]), np.empty(points.columns.shape[1])
    distances_from(points, points.columns, row, out, common)
    return out


@compiled
def distances_from(points: Points, columns: Floats, one: int, out: Floats, common: Floats) -> None:
    """Fill in the distance of every point from one of some columns of places; `common` is room to work in."""
    complete, both, whole = True, 0.0, 0.0
    out[:] = 0.0
    for j in range(len(points.share)):
        whole += points.share[j]
        if np.isnan(columns[j, one]) or points.partial[j]:
            complete = False
        else:
            _add(points.columns[j], columns[j, one], points.share[j], out)
            both += points.share[j]
    if complete:
        return
    for i in range(len(out)):
        common[i] = both
    for j in range(len(points.share)):
        if points.partial[j] and not np.isnan(columns[j, one]):
            _add_shown(points.columns[j], columns[j, one], points.share[j], out, common)
    for i in range(len(out)):
        out[i] = np.rint(out[i] * (whole / common[i])) if common[i] > 0.0 else whole


@compiled
def _add(column: Floats, own: float, share: float, out: Floats) -> None:
    for i in range(len(out)):
        difference = abs(column[i] - own)
        out[i] += difference if difference < share else share


@compiled
def _add_shown(column: Floats, own: float, share: float, out: Floats, common: Floats) -> None:
    """The same where some points miss the variable: these are not compared on it."""
    for i in range(len(out)):
        difference = abs(column[i] - own)
        if not np.isnan(difference):
            out[i] += difference if difference < share else share
            common[i] += share
