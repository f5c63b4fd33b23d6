"""Loops of the propensity model: a design matrix of which each record has few columns, held as places and values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled


@compiled
def predictor(place: Any, value: Any, coefficients: Any) -> Any:
    """X b by record; a place of -1 is no column."""
    out = np.zeros(place.shape[0])
    for record in range(place.shape[0]):
        total = 0.0
        for at in range(place.shape[1]):
            column = place[record, at]
            if column >= 0:
                total += value[record, at] * coefficients[column]
        out[record] = total
    return out


@compiled
def gradient(place: Any, value: Any, residual: Any, size: int) -> Any:
    """X'r."""
    out = np.zeros(size)
    for record in range(place.shape[0]):
        for at in range(place.shape[1]):
            column = place[record, at]
            if column >= 0:
                out[column] += value[record, at] * residual[record]
    return out


@compiled
def information(place: Any, value: Any, weight: Any, size: int) -> Any:
    """X'WX."""
    out = np.zeros((size, size))
    for record in range(place.shape[0]):
        for at in range(place.shape[1]):
            column = place[record, at]
            if column < 0:
                continue
            weighted = value[record, at] * weight[record]
            for other in range(at + 1):
                row = place[record, other]
                if row >= 0:
                    # Columns come in order, so that this is the lower triangle.
                    out[column, row] += weighted * value[record, other]
    for column in range(size):
        for row in range(column):
            out[row, column] = out[column, row]
    return out
