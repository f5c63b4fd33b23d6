"""One row per record of a file on an engine: what was found of its key and household, joined back and written there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita import frame
from tacita.assessment.households_on_engine import CERTAIN, SUMS, as_limbs
from tacita.check import TacitaError
from tacita.data import atomic
from tacita.engine import expressions
from tacita.frame import files as frame_files
from tacita.progress import Progress, checked_progress, part
from tacita.risk.identity.household_risk import of_sums

if TYPE_CHECKING:
    from tacita.assessment.on_engine import LargeProfile

OWN = "tacita_own_"
HALF = 50
"""Bits of the lower one of two whole numbers."""


def write_records(profile: LargeProfile, path: Any, overwrite: bool, progress: Progress | None) -> Path:
    """Write one row per record: its number and what was measured of it."""
    show = checked_progress(progress)
    large = profile.large
    if large is None or large.record is None:
        raise TacitaError(
            "the records have no numbers to write results by; name a column that numbers them, as in "
            "assess(LargeData.of(table, record='id'), ...)."
        )
    target = Path(path)
    if target.suffix.lower() not in (".parquet", ".pq"):
        raise TacitaError(f"{target.name} must end in .parquet: one row per record is written by the engine.")
    with atomic.new_file(target, overwrite=overwrite) as beside:
        expression = _expression(profile, part(show, 0.0, 0.3))
        large.database.write(expression, beside, part(show, 0.3, 1.0), "writing records")
        show(1.0, "done")
    return target


def _expression(profile: LargeProfile, progress: Progress) -> Any:
    """Every record with its number and what was found."""
    large, households = profile.large, profile.households
    assert large is not None and large.record is not None
    found = {_written(name): profile.by_row[name] for name in profile.by_row.columns if name != "record"}
    keys = {name: profile.rows.table[name] for name in profile.names}
    renamed = {f"{OWN}{at}": column for at, column in enumerate(found.values())}
    own = dict(zip(found, renamed, strict=True))
    names = list(renamed)
    columns: dict[str, Any] = dict(renamed)
    if households is not None:
        columns |= households.columns(profile.individual)
        names += [*SUMS, CERTAIN]
    table = large.database.load(frame_files.one_row_each(frame.table({**keys, **columns}), profile.names))
    given = large.table if households is None else households.with_place()
    kept = {expressions.RECORD: given[large.record]}
    given = given.mutate(**kept)
    of_record = [expressions.RECORD, *([] if households is None else [expressions.GROUP])]
    records = expressions.joined(given, profile.names, table, names, of_record)
    if households is None:
        return records.select(record=records[expressions.RECORD], **{name: records[own[name]] for name in found})
    sums = households.sums(profile.individual, progress)
    together = expressions.with_household(records, sums, expressions.GROUP, (*SUMS, CERTAIN))
    return _selected(together, own, profile.policy.household_risk)


def _written(name: str) -> str:
    """What a column is called in the file: engines take `f` and `F` for the same name."""
    first, colon, rest = name.partition(":")
    return {"f": "sample_count", "F": "population_count"}.get(first, first) + colon + rest


def _selected(records: Any, own: dict[str, str], limit: float | None) -> Any:
    """The columns as in memory: household risk before violations, which count it."""
    risk = expressions.household_risk(records, SUMS, CERTAIN, HALF)
    out: dict[str, Any] = {"record": records[expressions.RECORD]}
    for name, column in own.items():
        if name == "violations":
            out["household_risk"] = risk
            out[name] = records[column].cast("int64")
            if limit is not None:
                above = expressions.at_least(records, SUMS, CERTAIN, HALF, *least_above(limit))
                out[name] = out[name] + above.cast("int64")
            out[name] = out[name].cast("int16")
        else:
            out[name] = records[column]
    return records.select(**out)


def least_above(limit: float) -> tuple[int, int]:
    """The least sum of -log(1 - r), in two whole numbers, at which a household is above a limit of its risk.

    Found by halving with the function that is used in memory, so that no record is on another side of the limit here.
    """

    def above(total: int) -> bool:
        pair = np.array([[total >> HALF, total & ((1 << HALF) - 1)]], dtype=np.int64)
        return bool(of_sums(as_limbs(pair), np.zeros(1, dtype=np.bool_))[0] > limit)

    low, high = 0, 1 << 2 * HALF - 1
    if not above(high):
        return 1 << HALF, 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return high >> HALF, high & ((1 << HALF) - 1)
