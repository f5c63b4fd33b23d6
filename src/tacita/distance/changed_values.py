"""How a release changed the values of a variable: the parts of the information loss lambda.

A perturbed value loses by how far it was moved (`change`); a recoded one by the share of the variable that its class
covers (`covered`), and that is learnt from the two files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacita import frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.change import nominal_change, numeric_change, numeric_unit, ordinal_change, range_change
from tacita.distance.comparison import check_sizes, common_codes
from tacita.distance.covered import class_losses, follows_rule

RECODES = ("recoding", "top coding", "bottom coding", "rounding")
"""Mechanisms after which a released value stands for a class of original ones."""


class Change(NamedTuple):
    """How one variable was changed."""

    variable: str
    scale: str
    """nominal, ordinal or numeric; recoded where released values stand for classes; removed."""
    changed: int
    """Records with another value, suppressed ones included."""
    suppressed: int
    """Records with a value in the original file and none in the released one."""
    loss: float
    """The mean of d over all records: lambda_j."""


class Values(NamedTuple):
    """A variable of both files as numbers that mean the same in both, NaN where missing."""

    x: Floats
    y: Floats
    scale: str
    size: int = 0
    """Of ordered values: how many there are."""


def changed_values(first: Data, second: Data, name: str, unit: str, classes: bool | None = None) -> tuple[Change, Floats]:
    """How a variable was changed, and d by record; the records of both files side by side.

    `classes`: whether released values stand for classes; None: as the mechanisms of the release or the files say.
    """
    values = values_of_both(first, second, name)
    if values is None or (classes is None and _was_recoded(second, name, values)) or classes:
        return _recoded(first, second, name, values)
    x, y, scale = values.x, values.y, values.scale
    if scale == "nominal":
        loss, scale = _nominal(first, second, name, values)
    elif scale == "ordinal":
        loss = ordinal_change(x, y, values.size)
    else:
        loss = numeric_loss_of(name, x, y, unit)
    return _change(name, scale, x, y, loss), loss


def numeric_loss_of(name: str, x: Floats, y: Floats, unit: str) -> Floats:
    """By record: how far a number was moved, measured in the unit; an error where the variable has no such spread."""
    spread = numeric_unit(x, unit)
    if not spread > 0:
        if _same(x, y).all():
            return np.zeros(len(x))
        raise TacitaError(f"column {name!r} has no spread to measure its changes in; choose unit='value'.")
    return range_change(x, y) if unit == "range" else numeric_change(x, y, spread)


def values_of_both(first: Data, second: Data, name: str) -> Values | None:
    """A variable of both files as numbers that mean the same in both; None where the files hold other kinds of value.

    Classes written as text have no value in common with numbers; ordered categories with new names have no rank in the
    order.
    """
    scale: str = first.scale(name)
    applied = _not_applicable(first, second, name)
    if scale == "ordinal" and applied:
        # Whoever the question does not apply to has no rank in the order of the answers.
        first, second = (_missing_too(data, name, applied) for data in (first, second))
    if scale == "ordinal" and frame.is_ordered(first.table, name):
        known = set(first.coded(name).values)
        if any(value not in known for value in second.coded(name).values):
            return None
    try:
        if scale == "numeric":
            x, y = first.numbers(name), second.numbers(name)
        else:
            x, y = common_codes(first, second, name, ordered=scale == "ordinal")
    except TacitaError:
        return None
    for values in (x, y):
        check_sizes(name, values)
    highest = max(float(np.nanmax(values, initial=0.0)) for values in (x, y)) if scale == "ordinal" else 0.0
    return Values(x, y, scale, max(len(first.variable(name).order), int(highest) + 1))


def _was_recoded(second: Data, name: str, values: Values) -> bool:
    """Whether released values of the same kind stand for classes, by what steps did, or by the values themselves."""
    done = [each for each in second.mechanisms if name in each.variables]
    if second.variable(name).perturbed or any(each.perturbs for each in done):
        return False
    if any(each.kind in RECODES for each in done):
        return True
    codes = _places(values.x, values.y)
    return follows_rule(*codes, ordered=values.scale != "nominal")


def _places(x: Floats, y: Floats) -> tuple[Ints, Ints]:
    """Numbers as codes of the values of both columns, 0 where missing."""
    both = np.concatenate([x, y])
    shown = ~np.isnan(both)
    codes = np.zeros(len(both), dtype=np.int64)
    codes[shown] = np.unique(both[shown], return_inverse=True)[1].reshape(-1) + 1
    return codes[: len(x)], codes[len(x) :]


def _codes(x: Floats) -> tuple[Ints, Floats]:
    """Numbers as codes of their sorted values, 0 where missing, and the values."""
    shown = ~np.isnan(x)
    values, place = np.unique(x[shown], return_inverse=True)
    codes = np.zeros(len(x), dtype=np.int64)
    codes[shown] = place.reshape(-1) + 1
    return codes, values


def _nominal(first: Data, second: Data, name: str, values: Values) -> tuple[Floats, str]:
    """0 or 1; a category that the original does not have covers what stands behind it."""
    x, y = values.x, values.y
    loss = nominal_change(x, y)
    (own, _), (codes, categories) = _codes(x), _codes(y)
    fresh = ~np.isin(categories, x)
    if not fresh.any() or second.variable(name).perturbed:
        return loss, "nominal"
    new = np.concatenate([[False], fresh])[codes]
    pairs = np.unique(codes[new & (own > 0)] * (int(own.max(initial=0)) + 1) + own[new & (own > 0)])
    several = np.bincount(pairs // (int(own.max(initial=0)) + 1), minlength=len(categories) + 1)[codes] > 1
    if not (new & several).any():
        return loss, "nominal"
    return np.where(new & several & (own > 0), class_losses(own, codes), loss), "recoded"


def _recoded(first: Data, second: Data, name: str, values: Values | None) -> tuple[Change, Floats]:
    """What the classes of a recoded variable cover."""
    scale = first.scale(name)
    applied = _not_applicable(first, second, name)
    positions, whole = None, 0.0
    if scale == "nominal":
        x = first.coded(name, applied).codes.astype(np.int64)
        y = second.coded(name, applied).codes.astype(np.int64)
    else:
        numbers = first.numbers(name) if scale == "numeric" else _ranks(_missing_too(first, name, applied), name)
        check_sizes(name, numbers)
        x, positions = _codes(numbers)
        y = _class_codes(second, name, applied)
        whole = float(np.ptp(positions)) if len(positions) else 0.0
        if scale == "ordinal":
            whole = float(max(len(first.variable(name).order) - 1, whole))
    loss = class_losses(x, y, positions, whole)
    if values is not None:
        return _change(name, "recoded", values.x, values.y, loss), loss
    return _change(name, "recoded", np.where(x > 0, 0.0, np.nan), np.where(y > 0, 1.0, np.nan), loss), loss


def _ranks(data: Data, name: str) -> Floats:
    """Ordered categories as their place in the order, NaN where missing."""
    codes, values = data.coded(name)
    order = data.variable(name).order
    place = [float(order.index(value) if value in order else at) for at, value in enumerate(values)]
    ranks: Floats = np.array([np.nan, *place])[codes]
    return ranks


def _class_codes(data: Data, name: str, applied: tuple[Any, ...]) -> Ints:
    """Released classes as codes; whoever a question does not apply to is in none."""
    known = replace(data.variable(name), order=())
    plain = replace(data, variables={**data.variables, name: known})
    codes: Ints = _missing_too(plain, name, applied).coded(name).codes.astype(np.int64)
    return codes


def _change(name: str, scale: str, x: Floats, y: Floats, loss: Floats) -> Change:
    gone = int((~np.isnan(x) & np.isnan(y)).sum())
    return Change(name, scale, int((~_same(x, y)).sum()), gone, float(loss.mean()))


def _same(x: Floats, y: Floats) -> Any:
    return (x == y) | (np.isnan(x) & np.isnan(y))


def _not_applicable(first: Data, second: Data, name: str) -> tuple[Any, ...]:
    """The codes that either file declares not applicable."""
    return (*first.variable(name).not_applicable, *second.variable(name).not_applicable)


def _missing_too(data: Data, name: str, codes: tuple[Any, ...]) -> Data:
    """The data with codes for not applicable as missing values."""
    known = data.variable(name)
    declared = replace(known, missing=(*known.missing, *codes), not_applicable=())
    return replace(data, variables={**data.variables, name: declared})
