"""Files on an engine: which attacks rows can be tried with that stand for many records each."""

from __future__ import annotations

from typing import Any

from tacita.check import TacitaError
from tacita.data import Data


def possible_files(original: Data, released: Data, other: Any, rules: Any, learner: bool) -> tuple[Data, Data]:
    """Both files as they can be attacked; an error where rows that stand for many records cannot be attacked so."""
    if released.condensed is None:
        return original, released
    if other is not None or rules or learner:
        raise TacitaError(
            "other=..., rules=... and learner=... need all records in memory; pass them with a sample of the records "
            "of both files."
        )
    return _without_means(original), _without_means(released)


def _without_means(data: Data) -> Data:
    """The data without mean weights of rows, which no record has."""
    means = None if data.condensed is None else data.condensed.means
    return data if means is None else data.without([means])
