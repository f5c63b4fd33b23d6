"""Columns of a file on an engine that look like direct identifiers though nobody declared them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

from tacita.data.identifying import SAMPLE_SIZE, Column, Suspect, caution, looks_like
from tacita.data.large_data import LargeData
from tacita.engine import expressions
from tacita.scenario import Scenario

ALL_DIFFERENT = 0.95
"""About so many different values of all, as an engine counts them, are taken for as many as there are."""


def undeclared_on_engine(large: LargeData, scenario: Scenario) -> Iterator[str]:
    """A caution about columns that look like direct identifiers and have no role in the scenario.

    Some values of each are looked at, from all over the file, and different ones are counted about.
    """
    numbering = () if large.record is None else (large.record,)
    names = [name for name in large.columns if name not in scenario.roles and name not in numbering]
    if names:
        yield from caution([Suspect(each.name, look) for each in _columns(large, names) if (look := looks_like(each))])


def _columns(large: LargeData, names: list[str]) -> Iterator[Column]:
    table, database = large.table, large.database
    found = database.collect(expressions.looked_at(table, names), what="looking for identifiers").to_pylist()[0]
    some = database.collect(expressions.spread_out(table, names, large.record, SAMPLE_SIZE), what="reading").to_pydict()
    for at, name in enumerate(names):
        kind = table[name].type()
        text, whole, known = kind.is_string(), kind.is_integer(), int(found[f"known_{at}"])
        values = [value for value in some[name] if value is not None]
        different = large.different[name]
        about = known if different >= ALL_DIFFERENT * known else min(different, known)
        yield Column(
            name,
            "",
            text,
            whole,
            [str(value) for value in values] if text or whole or kind.is_floating() else [],
            known,
            functools.partial(bool, whole or (known > 0 and found.get(f"fractions_{at}") == 0)),
            functools.partial(int, about),
            functools.partial(_span, found.get(f"span_{at}")),
        )


def _span(span: float | None) -> int:
    return int(span) if span is not None and math.isfinite(span) else 0
