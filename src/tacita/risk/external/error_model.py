"""Numbers that got errors: what an intruder expects to be released, and how far off that may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.mechanism import Mechanism
from tacita.risk.external.known_mechanisms import KnownMechanisms
from tacita.risk.external.number_costs import Errors, moments

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
    known: KnownMechanisms
    logarithm: bool
    """Whether these are logarithms, which got the errors since numbers were multiplied."""
    measured: bool
    """Whether no method says how large the errors are, so that they are measured on the two files."""


def plain_numbers(name: str, x: Floats, y: Floats, known: KnownMechanisms, measured: bool) -> Numbers:
    """Numbers that got errors as they are; by noise zeros may have been kept."""
    kept = bool(known.exchanged) and all(each.parameters.get("keep_zeros") is True for each in known.exchanged)
    return Numbers(name, x, y, (x == 0) & kept, y == 0, known, False, measured)


def logarithms(name: str, x: Floats, y: Floats, known: KnownMechanisms) -> Numbers:
    """Numbers that were multiplied, as logarithms; zeros stay zeros."""
    sizes = np.abs(y[(y != 0) & ~np.isnan(y)])
    # A small whole number may have been rounded to 0.
    least = float(sizes.min()) / 2.0 if len(sizes) else 1.0
    logs = [np.log(np.maximum(np.abs(values), least)) for values in (x, y)]
    return Numbers(name, logs[0], logs[1], x == 0, y == 0, known, True, False)


def errors_of(numbers: Sequence[Numbers], mechanisms: Sequence[Mechanism], own: tuple[Ints, Ints]) -> Errors:
    """All of them together: the errors of several steps add up, and those of one step may go together."""
    kept, covariance = _added_up(numbers, mechanisms)
    expected = []
    for at, each in enumerate(numbers):
        mean, _ = moments(each.x)
        if each.logarithm:
            covariance[at, at] = _of_factors(each.known)
            expected.append(each.x - covariance[at, at] / 2.0)
            continue
        if each.measured:
            covariance[at, at] = _measured(each, own)
        expected.append(mean + kept[at] * (each.x - mean))
    return Errors(
        tuple(each.name for each in numbers),
        np.column_stack(expected),
        np.column_stack([each.y for each in numbers]),
        covariance,
        np.column_stack([each.zero for each in numbers]),
        np.column_stack([each.is_zero for each in numbers]),
    )


def _added_up(numbers: Sequence[Numbers], mechanisms: Sequence[Mechanism]) -> tuple[Floats, Floats]:
    """What deviations from the mean were multiplied by, and the covariance of the errors, over all steps.

    A step of noise releases m + a (x - m) + e: the errors of an earlier step are multiplied by a as well.
    Microaggregation moves numbers by what was lost of their variance, SSE/SST.
    """
    kept, covariance = np.ones(len(numbers)), np.zeros((len(numbers), len(numbers)))
    place = {each.name: at for at, each in enumerate(numbers)}
    for mechanism in mechanisms:
        names = [name for name in mechanism.variables if name in place and _known(numbers[place[name]], mechanism)]
        at = np.array([place[name] for name in names], dtype=np.int64)
        if mechanism.kind == "microaggregation":
            lost = float(mechanism.parameters["sse_share"]) if names else 0.0
            covariance[at, at] += [lost * moments(numbers[place[name]].x)[1] for name in names]
        elif names:
            factor = float(mechanism.parameters.get("kept", 1.0))
            kept[at] *= factor
            covariance[at, :] *= factor
            covariance[:, at] *= factor
            there = [mechanism.variables.index(name) for name in names]
            covariance[np.ix_(at, at)] += np.array(mechanism.parameters["covariance"])[np.ix_(there, there)]
    return kept, covariance


def _known(numbers: Numbers, mechanism: Mechanism) -> bool:
    """Whether the errors that a mechanism made of a variable are known by their covariance."""
    return not (numbers.logarithm or numbers.measured) and any(mechanism is each for each in numbers.known.exchanged)


def _of_factors(known: KnownMechanisms) -> float:
    """The variance of the logarithm of a factor of mean 1, over all steps."""
    total = 0.0
    for each in known.exchanged:
        amount = float(each.parameters["amount"])
        total += amount**2 if each.parameters["method"] == "multiplicative" else math.log1p(TWO_SIDED * amount**2)
    return total


def _measured(numbers: Numbers, own: tuple[Ints, Ints]) -> float:
    """The mean squared change of the records that show the variable in both files."""
    change = numbers.y[own[1]] - numbers.x[own[0]]
    shown = change[~np.isnan(change)]
    return math.fsum(shown**2) / len(shown) if len(shown) else 0.0
