"""The distinct keys of a file on an engine, as data in memory: one row per combination of values.

All measures of the key table work on these rows as on the records of a small file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.data.stands_for import Condensed
from tacita.engine import expressions
from tacita.engine.memory import shown
from tacita.frame import files as frame_files
from tacita.keys.source import LIMB_BITS, LIMBS, WEIGHT_BITS, as_float, carried
from tacita.keys.table import GREATEST_TOTAL, GREATEST_WEIGHT, LEAST_WEIGHT
from tacita.progress import Progress, no_progress, part

BYTES_PER_VALUE = 130
"""Memory that measures need for each value of a distinct key, the latent model with its rounds among them, about."""


def condensed(
    large: LargeData,
    names: Sequence[str],
    weight: str | None = None,
    *,
    progress: Progress = no_progress,
) -> Data:
    """One row per combination of some variables, with the number of its records and the sum of their weights.

    Unless the weight is one of the variables, the column of that name has its mean.
    """
    check.columns_exist("variables", names, large.columns)
    below_one, greatest = (0, 1.0) if weight is None else checked_weights(large, weight)
    grouped = list(names)
    if not grouped:
        raise TacitaError("the scenario has no categorical keys; pass keys=[...].")
    found = distinct(large, expressions.groups(large.table, grouped, weight, greatest), grouped, progress)
    records = found[expressions.RECORDS].to_numpy().astype(np.int64)
    columns: dict[str, Any] = {name: found[name] for name in grouped}
    limbs = squares = means = None
    if weight is not None:
        limbs, squares = weights_of_parts(found, "", records, greatest)
        if weight not in columns:
            means = weight
            columns[weight] = as_float(limbs, WEIGHT_BITS) / records
    known = {name: said for name, said in large.variables.items() if name in columns}
    return Data(frame.table(columns), known, condensed=Condensed(records, limbs, below_one, squares, means))


def distinct(large: LargeData, groups: Any, names: Sequence[str], progress: Progress) -> frame.Frame:
    """The groups of an engine in memory, if they fit; in the order of their values."""
    database = large.database
    kept = database.keep(groups, part(progress, 0.0, 0.9), "grouping records by their keys")
    try:
        counted = database.collect(kept.aggregate(n=kept.count()))
        check_fits(int(counted["n"][0].as_py()), names, large.room)
        found = frame_files.from_arrow(database.collect(kept, part(progress, 0.9, 1.0), "reading the distinct keys"))
    finally:
        database.drop(kept)
    return frame_files.like(found, large.like, names)


def bytes_needed(rows: int, columns: int) -> int:
    """Memory that grouping and measuring so many rows of so many values need, about."""
    return rows * (columns + 4) * BYTES_PER_VALUE


def fits(rows: int, columns: int, memory: int) -> bool:
    """Whether so many rows of so many values may be measured in memory."""
    return bytes_needed(rows, columns) <= memory


def check_fits(rows: int, names: Sequence[str], memory: int) -> None:
    """An error where the combinations of some variables do not fit what is left of the memory budget."""
    if not fits(rows, len(names), memory):
        needs = bytes_needed(rows, len(names))
        raise TacitaError(
            f"{check.quoted(names, most=8)} have {rows:,} different combinations, whose measures need about "
            f"{shown(needs)} of memory, and {shown(memory)} of the budget are left; recode the most detailed of them "
            f"first, or give more memory (--memory)."
        )


def weights_of_parts(found: frame.Frame, start: str, records: Ints, greatest: float) -> tuple[Ints, Floats]:
    """By row the limbs of the sum of weights, and the sum of squared deviations from their mean, of sums of an engine.

    The sums stand in columns whose names begin with `start`.
    """
    whole = [found[start + name].to_numpy().astype(np.int64) for name in expressions.ALL_SUMS]
    parts = len(expressions.SUMS)
    return limbs_of_parts(*whole[:parts]), squared_deviations(whole[parts:], records, greatest)


def squared_deviations(parts: Sequence[Ints], records: Ints, greatest: float) -> Floats:
    """By row the sum of squared deviations from the mean: n sum V^2 - (sum V)^2 in whole numbers, over n."""
    digits = [each.astype(object) for each in parts]
    squares = ((digits[0] * (1 << 26) + digits[1]) * (1 << 26) + digits[2]) * (1 << 26) + digits[3]
    totals = digits[4] * (1 << 26) + digits[5]
    unit = 2.0 ** (math.frexp(greatest)[1] - 52)
    spread: Floats = (records * squares - totals * totals).astype(np.float64) / records * unit**2
    return spread


def limbs_of_parts(whole: Ints, high: Ints, low: Ints) -> Ints:
    """Limbs of sums that an engine gives in three parts: whole numbers, and 26 bits of the rest twice."""
    limbs = np.zeros((len(whole), LIMBS), dtype=np.int64)
    limbs[:, 1], limbs[:, 2], limbs[:, 3] = whole, high, low
    # 2^52 = 2^2 2^50 and 2^26 = 2^1 2^25: the parts begin inside limbs.
    limbs[:, 1] <<= WEIGHT_BITS - 2 * LIMB_BITS
    limbs[:, 2] <<= WEIGHT_BITS // 2 - LIMB_BITS
    return carried(limbs)


def checked_weights(large: LargeData, name: str) -> tuple[int, float]:
    """How many weights are below 1, and the greatest; an error where some are not positive, finite and there."""
    kind = large.table[name].type()
    if not (kind.is_numeric() or kind.is_boolean()):
        raise TacitaError(f"column {name!r} must hold numbers; it holds text.")
    checks = expressions.weight_checks(large.table, name, LEAST_WEIGHT)
    found = large.database.collect(checks, what="checking the weights").to_pylist()[0]
    for adjective in ("missing", "infinite", "negative", "zero", "next_to_zero"):
        if found[adjective]:
            records = check.counted(int(found[adjective]), "record")
            raise TacitaError(
                f"weight {name!r} must be positive; it is {adjective.replace('_', ' ')} in {records}, correct the file."
            )
    for what, most in (("greatest", GREATEST_WEIGHT), ("total", GREATEST_TOTAL)):
        if (found[what] or 0) > most:
            verb = "add up to" if what == "total" else "be"
            raise TacitaError(f"weight {name!r} must {verb} at most {most:.0e}; check that it is a sampling weight.")
    return int(found["below_one"] or 0), float(found["greatest"] or 1.0)


def apart(data: Data, names: Sequence[str], memory: int) -> Data:
    """Condensed data with a row for every record that has a missing value, as rule `no_match` counts them."""
    assert data.condensed is not None
    incomplete = np.any([data.missing(name) for name in names], axis=0)
    times = np.where(incomplete, data.condensed.records, 1)
    needs = bytes_needed(int(times.sum()), len(names))
    if needs > memory:
        raise TacitaError(
            f"under rule 'no_match' each of the {int(times[incomplete].sum()):,} records with a missing value is a key "
            f"of its own, which needs about {shown(needs)} of memory; choose another rule, or give more (--memory)."
        )
    rows = np.repeat(np.arange(len(data), dtype=np.int64), times)
    records = np.where(incomplete, 1, data.condensed.records)[rows]
    weights, squares = data.condensed.weights, data.condensed.squares
    if weights is not None:
        single = _of_one(weights, data.condensed.records)
        weights = np.where(incomplete[:, None], single, weights)[rows]
    if squares is not None:
        squares = np.where(incomplete, 0.0, squares)[rows]
    stands_for = Condensed(records, weights, data.condensed.below_one, squares, data.condensed.means)
    return replace(data, table=frame.take(data.table, rows), condensed=stands_for)


def _of_one(weights: Ints, records: Ints) -> Ints:
    """Limbs of the weight of one record, of sums over records that have all the same."""
    out, rest = np.empty_like(weights), np.zeros(len(weights), dtype=np.int64)
    for limb in range(LIMBS):
        whole = weights[:, limb] + (rest << LIMB_BITS)
        out[:, limb], rest = whole // records, whole % records
    return out
