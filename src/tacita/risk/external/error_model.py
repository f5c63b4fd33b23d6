"""Numbers that got errors: what an intruder expects to be released, and how far off that may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.mechanism import Mechanism
from tacita.risk.external.number_costs import Errors, moments
from tacita.risk.external.told import Told

TWO_SIDED = 11.0 / 6.0
"""The variance of a two-sided factor in squares of its amount."""


class Numbers(NamedTuple):
    """One variable with errors, by position in the ordered files."""

    name: str
    x: Floats
    y: Floats
    zero: Bools
    """By row of the intruder's file: whether the released number must be 0."""
    is_zero: Bools
    """By released row: whether it is."""
    told: Told
    logarithm: bool
    """Whether these are logarithms, which got the errors since numbers were multiplied."""
    measured: bool
    """Whether no method says how large the errors are, so that they are measured on the two files."""


def plain_numbers(name: str, x: Floats, y: Floats, told: Told, measured: bool) -> Numbers:
    """Numbers that got errors as they are; by noise zeros may have been kept."""
    kept = bool(told.exchanged) and all(each.parameters.get("keep_zeros") is True for each in told.exchanged)
    return Numbers(name, x, y, (x == 0) & kept, y == 0, told, False, measured)


def logarithms(name: str, x: Floats, y: Floats, told: Told) -> Numbers:
    """Numbers that were multiplied, as logarithms; zeros stay zeros."""
    sizes = np.abs(y[(y != 0) & ~np.isnan(y)])
    # A small whole number may have been rounded to 0.
    least = float(sizes.min()) / 2.0 if len(sizes) else 1.0
    logs = [np.log(np.maximum(np.abs(values), least)) for values in (x, y)]
    return Numbers(name, logs[0], logs[1], x == 0, y == 0, told, True, False)


def errors_of(numbers: Sequence[Numbers], mechanisms: Sequence[Mechanism], own: tuple[Ints, Ints]) -> Errors:
    """All of them together: the errors of several steps add up, and those of one step may go together.

    A step of noise releases m + a (x - m) + e: the deviations from the mean that an earlier step made are multiplied by
    a as well. Microaggregation moves numbers by what was lost of their variance, SSE/SST.
    """
    size = len(numbers)
    kept, covariance = np.ones(size), np.zeros((size, size))
    place = {each.name: at for at, each in enumerate(numbers)}
    for mechanism in mechanisms:
        own_names = [name for name in mechanism.variables if name in place and _known(numbers[place[name]], mechanism)]
        at = np.array([place[name] for name in own_names], dtype=np.int64)
        if not len(at):
            continue
        cells = np.ix_(at, at)
        if mechanism.kind == "microaggregation":
            spread = [float(mechanism.parameters["sse_share"]) * moments(numbers[j].x)[1] for j in at.tolist()]
            covariance[cells] += np.diag(spread)
            continue
        factor = float(mechanism.parameters.get("kept", 1.0))
        kept[at] *= factor
        covariance[at, :] *= factor
        covariance[:, at] *= factor
        there = [mechanism.variables.index(name) for name in own_names]
        covariance[cells] += np.array(mechanism.parameters["covariance"])[np.ix_(there, there)]
    expected = [
        moments(each.x)[0] + factor * (each.x - moments(each.x)[0]) for each, factor in zip(numbers, kept, strict=True)
    ]
    for at, each in enumerate(numbers):
        if each.logarithm:
            covariance[at, at] = _of_factors(each.told)
            expected[at] = each.x - covariance[at, at] / 2.0
        elif each.measured:
            covariance[at, at] = _measured(each, own)
    columns = (
        np.column_stack(part) for part in zip(*((each.y, each.zero, each.is_zero) for each in numbers), strict=True)
    )
    released, zero, is_zero = columns
    return Errors(tuple(place), np.column_stack(expected), released, covariance, zero, is_zero)


def _known(numbers: Numbers, mechanism: Mechanism) -> bool:
    """Whether the errors that a mechanism made of a variable are known by their covariance."""
    return not (numbers.logarithm or numbers.measured) and any(mechanism is each for each in numbers.told.exchanged)


def _of_factors(told: Told) -> float:
    """The variance of the logarithm of a factor of mean 1, over all steps."""
    total = 0.0
    for each in told.exchanged:
        amount = float(each.parameters["amount"])
        total += amount**2 if each.parameters["method"] == "multiplicative" else math.log1p(TWO_SIDED * amount**2)
    return total


def _measured(numbers: Numbers, own: tuple[Ints, Ints]) -> float:
    """The mean squared change of the records that show the variable in both files."""
    change = numbers.y[own[1]] - numbers.x[own[0]]
    shown = change[~np.isnan(change)]
    return math.fsum(shown**2) / len(shown) if len(shown) else 0.0
