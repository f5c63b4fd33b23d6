"""Identifiers that a scenario declares, and which of them are none: nobody looks for a record by a class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacita.risk.release.reconstruction.cells import Files
from tacita.scenario import Scenario

MOST_TOGETHER = 8
"""Records of one household or person on average, at most; what has more, and of unlike people, is a class."""


def declared_identifiers(files: Files, scenario: Scenario) -> set[str]:
    """Columns of which the scenario says that they identify persons or households, and that look like it."""
    named = {*scenario.identifiers, *filter(None, (scenario.household, scenario.person))}
    return {name for name in named if name in files.columns and not _is_class(files, name, scenario.all_keys)}


def _is_class(files: Files, name: str, keys: Sequence[str]) -> bool:
    """Whether a column is one of classes whatever it is declared to be: many records in each, of different people."""
    codes, different = files.codes(name), files.distinct(name)
    if codes is None or not 0 < different * MOST_TOGETHER <= files.size:
        return False
    for key in (each for each in keys if each in files.columns and each != name):
        own = files.codes(key)
        assert own is not None
        pairs = np.unique(codes * (files.distinct(key) + 1) + own) // (files.distinct(key) + 1)
        if (np.bincount(pairs, minlength=different + 1)[1:] > 1).mean() > 0.5:
            return True
    return False
