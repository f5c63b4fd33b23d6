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
from tacita.distance.covered import class_losses, follows_rule, pairs_of_codes
from tacita.repeats import how_many, mean

RECODES = ("recoding", "top coding", "bottom coding", "rounding")
"""Mechanisms after which a released value stands for a class of original ones."""
MISSING = ("published", "sdcmicro")
"""What a missing ordinal or numeric value counts: as published, or as in sdcMicro, where a value in one file and none
in the other are as far apart as any two of the variable, whichever is missing."""


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


def changed_values(
    first: Data, second: Data, name: str, unit: str, classes: bool | None = None, missing: str = "published"
) -> tuple[Change, Floats]:
    """How a variable was changed, and d by record; the records of both files side by side.

    `classes`: whether released values stand for classes; None: as the mechanisms of the release or the files say.
    `missing`: what missing values count, as in `MISSING`.
    """
    scale: str = first.scale(name)
    # Numbers are compared faster than this, and looked at for infinite ones.
    if classes is None and scale != "numeric" and _untouched(first, second, name):
        return Change(name, scale, 0, 0, 0.0), np.zeros(len(first))
    values = values_of_both(first, second, name)
    if values is None or (classes is None and _was_recoded(second, name, values)) or classes:
        return _recoded(first, second, name, values)
    x, y, scale = values.x, values.y, values.scale
    if scale == "nominal":
        loss, scale = _nominal(second, name, values)
    elif scale == "ordinal":
        loss = ordinal_change(x, y, values.size)
    else:
        loss = numeric_loss_of(name, x, y, unit, first.repeats)
    if missing == "sdcmicro" and scale in ("ordinal", "numeric"):
        loss = np.where(
            np.isnan(x) ^ np.isnan(y), 1.0 if scale == "ordinal" else _farthest(x, y, unit, first.repeats), loss
        )
    return _change(name, scale, values, loss, first.repeats), loss


def _untouched(first: Data, second: Data, name: str) -> bool:
    """Whether the column is the same in both files, and means the same."""
    known = first.variable(name), second.variable(name)
    told = [(each.missing, each.missing_ranges, each.not_applicable, each.order) for each in known]
    return told[0] == told[1] and not frame.different(first.table[name], second.table[name]).any()


def numeric_loss_of(name: str, x: Floats, y: Floats, unit: str, repeats: Ints | None = None) -> Floats:
    """By record: how far a number was moved, measured in the unit; an error where the variable has no such spread."""
    spread = numeric_unit(x, unit, repeats)
    if not spread > 0:
        if _same(x, y).all():
            return np.zeros(len(x))
        raise TacitaError(f"column {name!r} has no spread to measure its changes in; choose unit='value'.")
    return range_change(x, y) if unit == "range" else numeric_change(x, y, spread, repeats)


def _farthest(x: Floats, y: Floats, unit: str, repeats: Ints | None) -> float:
    """The loss between the ends of both columns that are farthest apart."""
    shown = [each[~np.isnan(each)] for each in (x, y)]
    if not all(map(len, shown)):
        return 1.0
    (low, high), (least, most) = ((each.min(), each.max()) for each in shown)
    reach = max(abs(least - high), abs(most - low)) / (numeric_unit(x, unit, repeats) or 1.0)
    return float(min(reach, 1.0) if unit == "range" else 2.0 / np.pi * np.arctan(reach))


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
    x, y = values.x, values.y
    if values.scale == "numeric":
        codes, _ = _codes(np.concatenate([x, y]))
        return follows_rule(codes[: len(x)], codes[len(x) :], ordered=True, repeats=second.repeats)
    return follows_rule(_from_one(x), _from_one(y), ordered=values.scale == "ordinal", repeats=second.repeats)


def _codes(x: Floats) -> tuple[Ints, Floats]:
    """Numbers as codes of their sorted values, 0 where missing, and the values."""
    shown = ~np.isnan(x)
    values, place = np.unique(x[shown], return_inverse=True)
    codes = np.zeros(len(x), dtype=np.int64)
    codes[shown] = place.reshape(-1) + 1
    return codes, values


def _from_one(places: Floats) -> Ints:
    """Places from 0, NaN where missing, as codes from 1, 0 where missing."""
    return np.nan_to_num(places + 1.0, nan=0.0).astype(np.int64)


def _nominal(second: Data, name: str, values: Values) -> tuple[Floats, str]:
    """0 or 1; a category that the original does not have covers those that stand behind it, if they are several."""
    x, y = values.x, values.y
    loss = nominal_change(x, y)
    if second.variable(name).perturbed:
        return loss, "nominal"
    own, codes = _from_one(x), _from_one(y)
    size = int(max(own.max(initial=0), codes.max(initial=0))) + 1
    fresh = (np.bincount(own, minlength=size) == 0) & (np.bincount(codes, minlength=size) > 0)
    fresh[0] = False
    if not fresh.any():
        return loss, "nominal"
    classes = fresh & (np.bincount(pairs_of_codes(own, codes)[1], minlength=size) > 1)
    if not classes.any():
        return loss, "nominal"
    of_classes = class_losses(_dense(own), codes, repeats=second.repeats)
    return np.where(classes[codes] & (own > 0), of_classes, loss), "recoded"


def _dense(codes: Ints) -> Ints:
    """Codes without gaps, 0 still 0: categories that only the other file has are not counted."""
    occurs = np.bincount(codes) > 0
    occurs[0] = True
    dense: Ints = (np.cumsum(occurs) - 1)[codes]
    return dense


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
    loss = class_losses(x, y, positions, whole, first.repeats)
    if values is None:
        values = Values(np.where(x > 0, 0.0, np.nan), np.where(y > 0, 1.0, np.nan), "recoded")
    return _change(name, "recoded", values, loss, first.repeats), loss


def _ranks(data: Data, name: str) -> Floats:
    """Ordered categories as their place in the order, NaN where missing."""
    codes, values = data.coded(name)
    order = data.variable(name).order
    place = [float(order.index(value) if value in order else at) for at, value in enumerate(values)]
    ranks: Floats = np.array([np.nan, *place])[codes]
    return ranks


def _class_codes(data: Data, name: str, applied: tuple[Any, ...]) -> Ints:
    """Released classes as codes; records that a question does not apply to are in no class."""
    known = replace(data.variable(name), order=())
    plain = replace(data, variables={**data.variables, name: known})
    codes: Ints = _missing_too(plain, name, applied).coded(name).codes.astype(np.int64)
    return codes


def _change(name: str, scale: str, values: Values, loss: Floats, repeats: Ints | None) -> Change:
    x, y = values.x, values.y
    gone = how_many(~np.isnan(x) & np.isnan(y), repeats)
    return Change(name, scale, how_many(~_same(x, y), repeats), gone, mean(loss, repeats))


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
