"""The door of the latent model: whether it applies to a file, and the models that were fitted lately.

A file is asked for its risk, its households and its thresholds, one after the other.

A model takes seconds to fit and depends on nothing but the key table and the weights, so the last ones are kept, by a
digest of what they were fitted to.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from tacita.arrays import Floats
from tacita.keys.refilled import Refilled
from tacita.keys.table import KeyTable
from tacita.progress import Progress, no_progress

if TYPE_CHECKING:
    from tacita.risk.population.latent.fit import LatentModel

LEAST_RECORDS = 100
"""Fewer complete records say too little for a model; they are left to that of Benedetti and Franconi."""
MOST_KEYS = 200_000
"""So many keys all models that are kept may have together: a few hundred megabytes at most."""
_kept: OrderedDict[bytes, LatentModel] = OrderedDict()


def applies(table: KeyTable) -> bool:
    """Whether a key table has enough to go by: F is not known, there are at least 100 complete records, none cut off.

    Where cells were suppressed until nobody was alone, counts say how many were left, and not how they stray.
    """
    complete = table.complete
    cut_off = table.has_missing and not (table.sample_count[complete] < 2).any()
    enough = int(table.records[complete].sum()) >= LEAST_RECORDS
    return table.source not in ("register", "census") and enough and not cut_off


def lately_fitted(
    table: KeyTable, weights: Floats | None, whole: Refilled | None = None, progress: Progress = no_progress
) -> LatentModel:
    """The latent model of a key table, fitted unless it was lately; `weights` by record, where there are weights.

    Where the table is of a release, `whole` is that table before cells were suppressed, to which the model is fitted.
    """
    # Numba loads with the first model that is fitted.
    from tacita.risk.population.latent.fit import model_of_release, model_of_table

    if whole is not None:
        return model_of_release(lately_fitted(whole.table, weights, progress=progress), table, whole, weights)
    key = digest(table, weights)
    model = _kept.pop(key, None) or model_of_table(table, weights, progress)
    _kept[key] = model
    while sum(len(each.table.codes) for each in list(_kept.values())) > MOST_KEYS:
        _kept.popitem(last=False)
    return model


def forget() -> None:
    """Let go of all models that are kept."""
    _kept.clear()


def digest(table: KeyTable, weights: Floats | None) -> bytes:
    """A digest of all that a model depends on."""
    numbers = [all(isinstance(value, int | float) for value in each) for each in table.values]
    found = hashlib.blake2b(repr((table.rule, table.source, list(map(len, table.values)), numbers)).encode())
    by_record = [each for each in (weights, table.unit, table.repeats, table.squares) if each is not None]
    arrays = [table.codes, table.records, table.sample_count, table.population_count, *by_record]
    for each in [*arrays, *([table.row] if by_record else [])]:
        found.update(repr((each.shape, each.dtype.str)).encode())
        found.update(np.ascontiguousarray(each).data)
    return found.digest()
