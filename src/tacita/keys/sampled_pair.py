"""A stratified sample of the records of two files on an engine, for what needs records one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.engine import expressions
from tacita.engine.expressions import RECORDS
from tacita.frame import files as frame_files
from tacita.keys.condensed_pair import both_sides, check_records
from tacita.scenario import Scenario, with_codes

SAMPLE = 20_000
"""Records of each stratum that are drawn, about; of smaller strata all."""
MOST_STRATA = 200
"""Strata that a sample is drawn of, at most."""


class Sampled(NamedTuple):
    """Records of both files, the same in each."""

    original: Data
    released: Data


def sampled_pair(
    original: LargeData, released: LargeData, scenario: Scenario, variables: Sequence[str], strata: Sequence[str]
) -> Sampled:
    """Some variables of the same records of both files; each stands for as many as were not drawn of its stratum."""
    check_records(original, released, None)
    first, second = both_sides(original, released, None)
    if not original.table[first.record].type().is_integer():
        raise TacitaError(
            "a sample is drawn by whole record numbers; name such a column with LargeData.of(..., record=...)."
        )
    for what, large in (("original", original), ("released", released)):
        check.columns_exist(f"variables of the {what} file", variables, large.columns)
    check.columns_exist("strata", strata, original.columns)
    limits = _limits(original, strata)
    some = expressions.drawn(first.table, strata, first.record, limits)
    names = list(dict.fromkeys([*variables, *strata]))
    laid = expressions.laid_by_record(first._replace(table=some, names=names), second._replace(names=list(variables)))
    there = laid["a_record"].notnull() & laid["b_record"].notnull()
    found = original.database.collect(laid.filter(there).order_by("a_record"), what="reading a sample")
    rows = frame_files.from_arrow(found)
    numbers = rows["a_record"].to_numpy().astype(np.int64)
    data = []
    for letter, large, own in (("a", original, names), ("b", released, list(variables))):
        table = frame.table({name: rows[f"{letter}{at}"] for at, name in enumerate(own)})
        known = {name: said for name, said in large.variables.items() if name in own}
        typed = frame_files.of_kinds(table, large.like, own)
        data.append(with_codes(Data(typed, known, numbers_of_records=numbers), scenario))
    stands_for = _stands_for(data[0], original, strata)
    return Sampled(data[0], replace(data[1], stands_for=stands_for))


def _sizes(large: LargeData, strata: Sequence[str]) -> frame.Frame:
    """By stratum how many records it has."""
    groups = expressions.groups(large.table, strata, None)
    found = frame_files.from_arrow(large.database.collect(groups, what="counting strata"))
    if found.height > MOST_STRATA:
        raise TacitaError(
            f"{check.quoted(strata)} make {found.height:,} strata, and a sample is drawn of at most {MOST_STRATA}; "
            f"name fewer strata."
        )
    return found


def _limits(large: LargeData, strata: Sequence[str]) -> Any:
    """Up to which share of 2^32 records are drawn: one number, or a table of them by stratum."""
    if not strata:
        return _limit(np.array([large.size]))[0].item()
    sizes = _sizes(large, strata)
    columns: dict[str, Any] = {f"tacita_by_{at}": sizes[name] for at, name in enumerate(strata)}
    columns["tacita_limit"] = _limit(sizes[RECORDS].to_numpy())
    return large.database.load(frame_files.plain_arrow(frame.table(columns)))


def _limit(sizes: Any) -> Any:
    return np.minimum(np.ceil(2.0**32 * SAMPLE / np.maximum(sizes, 1)), 2.0**32).astype(np.int64)


def _stands_for(data: Data, large: LargeData, strata: Sequence[str]) -> Floats:
    """By record how many of its stratum it stands for."""
    if not strata:
        return np.full(len(data), large.size / max(len(data), 1))
    sizes = _sizes(large, strata)
    place = frame_files.places(data.table, sizes, strata)
    drawn = np.bincount(place, minlength=sizes.height)
    found: Floats = (sizes[RECORDS].to_numpy() / np.maximum(drawn, 1))[place]
    return found
