"""The latent model of a file, as the rest of Tacita knows it: whether it applies, and what it says of F and of risks.

A file is asked for its risk, its households and its thresholds, one after the other. A model takes seconds to fit and
depends on nothing but the key table and the weights, so the last ones are kept, by a digest of what they were fitted
to. How a model is fitted stands in the other modules of this folder, from `fit` on.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita.arrays import Floats
from tacita.data import Data
from tacita.keys.refilled import Refilled, refilled
from tacita.keys.source import are_numbers
from tacita.keys.table import KeyTable, key_table, population_weights
from tacita.progress import Progress, no_progress
from tacita.scenario import Scenario

if TYPE_CHECKING:
    from tacita.risk.population.latent.fit import Mixture

LEAST_RECORDS = 100
"""Fewer complete records say too little for a model; they are left to that of Benedetti and Franconi."""
MOST_KEYS = 200_000
"""So many keys all models that are kept may have together: a few hundred megabytes at most."""
WIDENED = 1.4
"""Intervals are wider than the model says by this, for clustering and lack of fit."""
NORMAL = 1.959963984540054


@dataclass(frozen=True, eq=False)
class LatentModel:
    """F given the sample, by key: what an intruder meets who looks for somebody of the file in the population."""

    mixture: Mixture
    """What was fitted."""

    @property
    def table(self) -> KeyTable:
        """The keys."""
        return self.mixture.table

    @cached_property
    def risk(self) -> Floats:
        """By key: E(1/F)."""
        return self.mixture.risk

    @cached_property
    def unique(self) -> Floats:
        """By key: the probability that F = 1."""
        return self.mixture.unique

    @property
    def mean_count(self) -> Floats:
        """By key: E(F)."""
        return self.mixture.mean_count

    def at_most(self, count: Floats) -> Floats:
        """By key: P(F <= count)."""
        return self.mixture.at_most(count)

    def quantile(self, share: float | Floats) -> Floats:
        """By key the quantile of F."""
        return self.mixture.quantile(share)

    def expected(self, attack: Floats | None = None) -> float:
        """The sum of risks, each key counting by its records or by what is given."""
        return math.fsum(self._attack(attack) * self.risk)

    def interval(self, attack: Floats | None = None) -> tuple[float, float]:
        """95 % interval of the sum of risks; the last one is kept, since a file is asked for it again and again."""
        attack = self._attack(attack)
        asked = attack.tobytes()
        found = self._intervals.get(asked) or self._interval(attack)
        self._intervals.clear()
        self._intervals[asked] = found
        return found

    @property
    def population_uniques(self) -> float:
        """tau_1: how many sample uniques are expected to be unique in the population."""
        return math.fsum(self.table.records * self.unique)

    @property
    def matched_uniques(self) -> float:
        """tau_2: how many sample uniques are expected to be matched correctly if all are tried."""
        alone = self.table.sample_count <= 1
        return math.fsum((self.table.records * self.risk)[alone])

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """How many classes were chosen, and how much of the chain."""
        return self.mixture.notes

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Where the model stands on little, and what to do."""
        return self.mixture.cautions

    @cached_property
    def _intervals(self) -> dict[bytes, tuple[float, float]]:
        return {}

    def _attack(self, attack: Floats | None) -> Floats:
        return self.table.records.astype(np.float64) if attack is None else attack

    def _interval(self, attack: Floats) -> tuple[float, float]:
        expected = self.expected(attack)
        if expected <= 0:
            return expected, expected
        ratio = math.exp(NORMAL * WIDENED * math.sqrt(self.mixture.variance(attack)) / expected)
        return expected / ratio, expected * ratio


def latent_model(data: Any, scenario: Scenario, keys: Any = None, progress: Progress = no_progress) -> LatentModel:
    """The latent model of a file under a scenario, fitted anew, however little the file has to go by."""
    from tacita.risk.population.latent.fit import fitted

    data = Data.of(data)
    table = key_table(data, scenario, keys)
    return LatentModel(fitted(table, population_weights(data, scenario, table.keys), progress))


def latent_model_of(
    data: Data, scenario: Scenario, table: KeyTable, progress: Progress = no_progress
) -> LatentModel | None:
    """The latent model of a file whose key table is known, fitted once; None where it has too little to go by."""
    return data.once(("latent", id(table)), lambda: _model_of(data, scenario, table, progress))  # type: ignore[no-any-return]


def _model_of(data: Data, scenario: Scenario, table: KeyTable, progress: Progress) -> LatentModel | None:
    whole = None if data.before is None else refilled(data, scenario, table)
    if not applies(table if whole is None else whole.table):
        return None
    return kept_or_fitted(table, population_weights(data, scenario, table.keys), whole, progress)


def applies(table: KeyTable) -> bool:
    """Whether a key table has enough to go by: F is not known, there are at least 100 complete records, none cut off.

    Where cells were suppressed until nobody was alone, counts say how many were left, and not how they stray.
    """
    complete = table.complete
    cut_off = table.has_missing and not (table.sample_count[complete] < 2).any()
    enough = int(table.records[complete].sum()) >= LEAST_RECORDS
    return table.source not in ("register", "census") and enough and not cut_off


_kept: OrderedDict[bytes, LatentModel] = OrderedDict()


def kept_or_fitted(
    table: KeyTable, weights: Floats | None, whole: Refilled | None = None, progress: Progress = no_progress
) -> LatentModel:
    """The latent model of a key table, fitted unless it is still kept; `weights` by record, where there are weights.

    Where the table is of a release, `whole` is that table before cells were suppressed, to which the model is fitted.
    """
    # Numba loads with the first model that is fitted.
    from tacita.risk.population.latent.fit import fitted, fitted_to_release

    if whole is not None:
        before = kept_or_fitted(whole.table, weights, progress=progress)
        return LatentModel(fitted_to_release(before.mixture, table, whole, weights))
    key = digest(table, weights)
    model = _kept.pop(key, None) or LatentModel(fitted(table, weights, progress))
    _kept[key] = model
    while sum(len(each.table.codes) for each in list(_kept.values())) > MOST_KEYS:
        _kept.popitem(last=False)
    return model


def forget() -> None:
    """Drop all models that are kept."""
    _kept.clear()


def digest(table: KeyTable, weights: Floats | None) -> bytes:
    """A digest of all that a model depends on."""
    said = table.rule, table.source, list(map(len, table.values)), list(map(are_numbers, table.values))
    found = hashlib.blake2b(repr(said).encode())
    by_record = [each for each in (weights, table.unit, table.repeats, table.squares) if each is not None]
    arrays = [table.codes, table.records, table.sample_count, table.population_count, *by_record]
    for each in [*arrays, *([table.row] if by_record else [])]:
        found.update(repr((each.shape, each.dtype.str)).encode())
        found.update(np.ascontiguousarray(each).data)
    return found.digest()
