"""Suppression to a limit of risk by the latent model, which speaks of the whole file and not of one key.

The model cannot be fitted anew for every cell that might go. So it is fitted to the file as it is, and what it says of
a record is kept as a multiple of the risk by f and weights alone, which can be recounted at once. In the end it is
fitted to what is left; where that puts records above the limit, their multiples are raised and suppression starts over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats
from tacita.data import Data
from tacita.keys.table import key_table
from tacita.result import number
from tacita.risk.identity.individual_risk import risk_of_keys
from tacita.scenario import KeySet, Scenario

CLOSE = 1e-9


def multiples(data: Data, sets: Mapping[str, KeySet], scenario: Scenario) -> dict[str, Floats]:
    """By key set and record: the risk by the latent model over that of f and weights; empty where it does not apply."""
    found = {}
    for name, key_set in sets.items():
        risk = risk_of_keys(data, scenario, key_table(data, scenario, key_set.keys))
        if risk.model is not None:
            found[name] = risk.table.per_record(risk.base / risk.without_model.base)
    return found


class Refitted(NamedTuple):
    """The model fitted to what suppression left of a key set."""

    multiple: Floats
    """By record, as above."""
    above: Bools
    """Which records are above the limit."""
    expected: float
    """Expected re-identifications."""
    expected_before: float
    """The same by the model as it was before."""
    unsafe: int
    """How many records are above the limit."""

    @classmethod
    def of(cls, data: Data, scenario: Scenario, keys: tuple[str, ...], kept: Floats, limit: float) -> Refitted:
        """The model of what is left, which knows the file before; `kept` are the multiples of the model before."""
        risk = risk_of_keys(data, scenario, key_table(data, scenario, keys))
        plain = risk.without_model
        before = kept * plain.risk
        multiple = risk.table.per_record(risk.base / plain.base)
        above = risk.risk > limit * (1 + CLOSE)
        # Rows can stand for many records each.
        times = 1 if data.condensed is None else data.condensed.records
        expected, earlier = (float((each * times).sum()) for each in (risk.risk, np.minimum(before, 1.0)))
        return cls(multiple, above, expected, earlier, int((above * times).sum()))

    def remark(self, name: str, limit: float) -> str:
        """Both figures, and who is above the limit."""
        above = check.counted(self.unsafe, "record") if self.unsafe else "no record"
        left = f"{above} above {limit:g} by it"
        return (
            f"key set {name!r}: {number(self.expected_before)} expected re-identifications by the latent model of the "
            f"file before suppression, {number(self.expected)} by that of what is left; {left}"
        )


def refitted(
    begin: Mapping[str, Floats], limits: Mapping[str, float], sets: Mapping[str, KeySet], data: Data, scenario: Scenario
) -> dict[str, Refitted]:
    """By key set with a limit the model of what is left; `begin` are the multiples by the model of the whole file."""
    names = [name for name in limits if name in begin]
    return {name: Refitted.of(data, scenario, sets[name].keys, begin[name], limits[name]) for name in names}
