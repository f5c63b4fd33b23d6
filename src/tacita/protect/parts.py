"""A step on some of the records, or on each stratum apart, and what it says of itself then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Bools, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.protect.only import chosen_records, shown_only, unknown_numbers
from tacita.protect.put_together import put_together
from tacita.protect.step import Applied, CellStep, Context, Step, present
from tacita.protect.weights.units import cells_of
from tacita.work import allow

MOST_REMARKS = 10
"""So many different remarks of strata are told; the rest are counted."""


def applied(step: Step, data: Data, context: Context) -> Applied:
    """What a step makes of the records that it is for: all, those of `only`, each stratum apart."""
    if not isinstance(step, CellStep) or step.selects_itself or (step.only is None and not step.strata):
        return _one_part(step, data, context)
    chosen = chosen_records(step.only, data, context.scenario, context.policy, context.original)
    return in_parts(step, data, strata_of(step, data, chosen), lambda rows: _one_part(step, data.take(rows), context))


def _one_part(step: Step, data: Data, context: Context) -> Applied:
    """A step on all records given, unless it would not end in reasonable time."""
    if len(data):
        allow(f"step {step.label!r}", step.work(data, context))
    return step.apply(data, context)


def strata_of(step: CellStep, data: Data, chosen: Bools) -> list[Ints]:
    """The rows of each stratum that are chosen; a missing value is a stratum like any other."""
    names = tuple(step.strata)
    cell, count = cells_of(data, present(step, names, data))
    rows = [np.flatnonzero(chosen & (cell == place)) for place in range(count)]
    return [each for each in rows if len(each)]


def in_parts(step: CellStep, data: Data, parts: Sequence[Ints], apply: Callable[[Ints], Applied]) -> Applied:
    """What a step made of some rows, and then of others, as one account; rows of no part stay as they are."""
    made = []
    for rows in parts:
        try:
            made.append(apply(rows))
        except TacitaError as error:
            if not step.strata:
                raise
            raise TacitaError(f"in one of the strata of {check.quoted(step.strata)}: {error}") from None
    count = sum(map(len, parts))
    said = (*_chosen_remark(step, count, len(data)), *unknown_numbers(step.only, data))
    rest = np.setdiff1d(np.arange(len(data)), np.concatenate(parts) if parts else [])
    if not made:
        return Applied(data, said, {"records_chosen": 0})
    sides = [each.data for each in made] + ([data.take(rest)] if len(rest) else [])
    return Applied(
        put_together(data, sides),
        (*_remarks(made), *said),
        _figures(step, made, count),
        _mechanisms((each.mechanisms for each in made), {"only": shown_only(step.only), "strata": step.strata}),
        _mechanisms((each.public for each in made), {"only": step.only and "some records", "strata": step.strata}),
        tuple(dict.fromkeys(name for each in made for name in each.renewed)),
    )


def _chosen_remark(step: CellStep, count: int, size: int) -> tuple[str, ...]:
    return () if step.only is None else (f"for {count:,} of {check.counted(size, 'record')}",)


def _remarks(made: Sequence[Applied]) -> tuple[str, ...]:
    """What was said of the parts: the same thing once, with the number of strata."""
    said = Counter(text for each in made for text in dict.fromkeys(each.remarks))
    told = [text if len(made) == 1 else f"{text} (in {check.counted(times, 'stratum', 'strata')})"
            for text, times in said.items()]  # fmt: skip
    more = len(told) - MOST_REMARKS
    return tuple(told) if more <= 0 else (*told[:MOST_REMARKS], f"{check.counted(more, 'further remark')} of strata")


def _figures(step: CellStep, made: Sequence[Applied], count: int) -> dict[str, Any]:
    if not step.strata:
        return {**made[0].figures, "records_chosen": count}
    return {"records_chosen": count, "strata": len(made), "by_stratum": [dict(each.figures) for each in made]}


def _mechanisms(of_parts: Iterable[Sequence[Mechanism]], where: dict[str, Any]) -> tuple[Mechanism, ...]:
    """The mechanisms of all parts, equal ones once, with the records that they are of."""
    added = {name: value for name, value in where.items() if value}
    found: list[Mechanism] = []
    for each in (one for several in of_parts for one in several):
        told = replace(each, parameters={**each.parameters, **added})
        if told not in found:
            found.append(told)
    return tuple(found)
