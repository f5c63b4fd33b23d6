"""Suppression on the keys as other released columns tell them: classes finer than the released ones are keys as well.

Whoever knows somebody's age finds him among the records of his age group, and of those among the ones without a status,
if nobody under 16 has one. The columns that tell so much stay; what they tell is counted as a key that is never
suppressed, and the keys themselves are suppressed until enough records are alike in both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Codes, Ints
from tacita.data import Data
from tacita.protect.suppress.problem import Request, Requirement, bits
from tacita.risk.release.reconstruction.attacks import files_of
from tacita.risk.release.reconstruction.cells import protected_variables
from tacita.risk.release.reconstruction.finer import beside_another_key, finer_columns, narrowing_columns
from tacita.risk.release.reconstruction.order import ROWS
from tacita.scenario import Scenario


class Told(NamedTuple):
    """What other columns tell of a key."""

    keys: frozenset[str]
    """The key, and another one that an intruder has to know as well."""
    classes: Ints
    """By record the class that it is told to be of."""


def told_classes_of_keys(
    original: Data, released: Data, scenario: Scenario, keys: Collection[str], aside: Collection[str]
) -> Iterator[Told]:
    """What columns tell of keys that are recoded or suppressed, were the columns `aside` and the order not there."""
    files = files_of(original, released, scenario)
    variables = tuple(protected_variables(files, keys))
    left_out = {*aside, ROWS}
    finer = finer_columns(files, variables, scenario.all_keys, left_out)
    narrowed = narrowing_columns(files, variables, scenario.all_keys, left_out)
    beside = beside_another_key(files, variables, scenario.all_keys, left_out, finer)
    for found in (finer, narrowed):
        yield from (Told(frozenset({key}), each.classes) for key, each in found.items() if not each.identifiers)
    yield from (Told(frozenset(both), each.classes) for both, each in beside.items() if not each.identifiers)


def with_told_keys(request: Request, keys: tuple[str, ...], told: tuple[Told, ...]) -> tuple[Request, Bools]:
    """The request with what is told as further keys that are never suppressed; and who cannot be made safe so.

    Who is of a class of too few records stays unsafe whatever is suppressed: only the columns that tell it help.
    """
    size, first = len(request.codes), request.codes.shape[1]
    codes = np.column_stack([request.codes, *(each.classes + 1 for each in told)]).astype(request.codes.dtype)
    needs, hopeless = [], np.zeros(size, dtype=np.bool_)
    for need in request.needs:
        known = {name for at, name in enumerate(keys) if need.members >> at & 1}
        more = [first + at for at, each in enumerate(told) if each.keys <= known]
        needs.append(Requirement(need.members | bits(more), need.k, need.limits))
        if more:
            hopeless |= _alike(codes[:, more]) < need.k
    free = np.ones(size, dtype=np.bool_) if request.free is None else request.free
    costs = [*request.costs, *[max(request.costs)] * len(told)]
    kept = request.kept | bits(range(first, codes.shape[1]))
    return request._replace(codes=codes, needs=needs, costs=costs, kept=kept, free=free & ~hopeless), hopeless & free


def _alike(codes: Codes) -> Ints:
    """By record how many have the same codes."""
    _, place, count = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(count[place.ravel()], dtype=np.int64)
