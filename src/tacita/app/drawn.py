"""A figure as a page holds it: its specification as text, and the tables that it draws.

Both are made where the figure is drawn, in the worker, so that the app itself only passes them on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tacita.result import Table

MOST_ROWS = 100
"""More rows of what a figure is drawn from are not listed."""
Rows = Sequence[Mapping[str, Any]]


class Listed(NamedTuple):
    """The first rows of a table, and how many there are."""

    table: Table
    rows: int


class Drawn(NamedTuple):
    """A figure."""

    specification: str
    """Vega-Lite as JSON that can stand in a page."""
    data: tuple[Listed, ...]
    """What it is drawn from."""


def drawn(specification: Mapping[str, Any]) -> Drawn:
    """A specification as a page holds it.

    >>> drawn({"data": {"values": [{"step": "</script>", "risk": 0.5}]}}).data[0].table.rows
    (('</script>', 0.5),)
    """
    text = json.dumps(specification, default=str).replace("<", "\\u003c")
    return Drawn(text, tuple(_listed(rows) for rows in _data(specification) if rows))


def _data(specification: Mapping[str, Any]) -> Iterable[Rows]:
    yield from specification.get("datasets", {}).values()
    given = specification.get("data")
    values = given.get("values") if isinstance(given, Mapping) else None
    if isinstance(values, list):
        yield values


def _listed(rows: Rows) -> Listed:
    names = list(dict.fromkeys(key for row in rows[:MOST_ROWS] for key in row))
    first = tuple(tuple(row.get(name) for name in names) for row in rows[:MOST_ROWS])
    return Listed(Table(tuple(each.replace("_", " ") for each in names), first), len(rows))
