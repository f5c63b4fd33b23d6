"""The user's own statistic: called with a table of the user's kind, its figures by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.frame.native import native_rows
from tacita.loss.estimates.resampling import times_drawn
from tacita.progress import Progress
from tacita.random import Draws

Statistic = Callable[[Any], Any]


def table_in_order(data: Data) -> Any:
    """The caller's kind of table, in the order of the record numbers."""
    return native_rows(data.to_native(), np.argsort(data.record, kind="stable"))


def figures_of(statistic: Statistic, table: Any, what: str) -> dict[str, float]:
    """What the statistic gives for a table, by name; an array is numbered from 1."""
    try:
        given = statistic(table)
    except Exception as error:
        # The message of another library may quote cells.
        raise TacitaError(
            f"the statistic failed on the {what} file ({type(error).__name__}); try it on that table by itself."
        ) from None
    found = _named(given)
    if not found:
        raise TacitaError("the statistic must return a number, a mapping of names to numbers, or an array of numbers.")
    return found


def _named(given: Any) -> dict[str, float]:
    """The figures by name; empty if they are none."""
    if not isinstance(given, Mapping) and callable(getattr(given, "to_dict", None)) and hasattr(given, "items"):
        # A series of pandas.
        given = given.to_dict()
    try:
        if isinstance(given, Mapping):
            return {str(name): _number(value) for name, value in given.items()}
        array = np.asarray(given)
        if array.dtype == object and array.ndim == 0:
            return {}
        if array.ndim == 0:
            return {"statistic": _number(given)}
        return {str(at + 1): _number(value) for at, value in enumerate(array.reshape(-1).tolist())}
    except (TypeError, ValueError):
        return {}


def _number(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError
    return math.nan if value is None else float(value)


def bootstrapped(
    statistic: Statistic,
    tables: tuple[Any, Any],
    units: list[Ints],
    names: list[str],
    replicates: int,
    draws: Draws,
    progress: Progress,
) -> Floats:
    """The statistic of both files in each bootstrap sample: samples, files, figures; the same units in both files."""
    found = np.full((replicates, 2, len(names)), np.nan)
    for draw in range(replicates):
        for place, (table, unit, what) in enumerate(zip(tables, units, ("original", "released"), strict=True)):
            progress((draw + place / 2) / replicates, "drawing bootstrap samples")
            rows = np.repeat(np.arange(len(unit)), times_drawn(draws, unit, draw))
            if len(rows):
                given = figures_of(statistic, native_rows(table, rows), what)
                found[draw, place] = [given.get(name, math.nan) for name in names]
    return found


def shows_values(names: list[str], data: Data) -> bool:
    """Whether some name is a cell of the data, as where figures are by category."""
    wanted = set(names)
    return any(wanted & {str(value) for value in data.coded(column).values} for column in data.columns)
