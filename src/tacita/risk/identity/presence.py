"""k-map and delta-presence: does the file give away that somebody is in it?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats
from tacita.data import Data
from tacita.keys.register import register_keys
from tacita.keys.table import KeyTable, key_table, population_weights
from tacita.measures import at_least, measure
from tacita.result import Repair, Result, number, percent, step_call
from tacita.risk.identity.options import Keys, Register
from tacita.scenario import Scenario

SAME_FOR_ALL = ("census", "population_size", "sampling_fraction")
"""Where F comes from if every record stands for as many units of the population."""
ROUNDING = 1e-9
"""A limit that is met up to a rounding error is not taken for met."""


@dataclass(frozen=True, eq=False)
class Presence(Result):
    """How many units of the population share a record's key, and how likely they are to be in the file."""

    table: KeyTable
    """The keys."""
    share: Floats
    """By key: f/F, the probability that a unit of the population with that key is in the file."""
    absent: int | None
    """Keys of the register that no record has; None without a register."""
    least_weight: float | None = None
    """So many units of the population every record stands for at least; None where a register counts them."""

    @property
    def k_map(self) -> float:
        """The smallest F: every record shares its key with at least so many units of the population."""
        return float(self.table.population_count.min())

    @property
    def delta(self) -> tuple[float, float]:
        """Least and greatest probability of being in the file; least 0 where the register has keys the file lacks."""
        least = 0.0 if self.absent else float(self.share.min())
        return least, float(self.share.max())

    @property
    def not_valid(self) -> str:
        """Why f and F say nothing; empty if they do."""
        return self.table.not_valid

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether fewer units of the population share its key than the policy asks for."""
        limited = policy.limit_of("presence")
        return None if limited is None else self.table.per_record(self.table.population_count < limited.limit)

    def repair(self, policy: Any) -> Repair | None:
        """Suppressing until so many look alike in the file that as many as the limit asks do in the population."""
        limit, options = (limited := policy.limit_of("presence")).limit, limited.options
        small = self.table.population_count < limit
        records = int(self.table.records[small].sum())
        who = f"{check.counted(records, 'record')} with a smaller F: "
        if not self.least_weight or self.table.rule.name != "one_way" or options.get("keys"):
            return self._without(who, records)
        k = max(2, math.ceil(limit / self.least_weight * (1.0 + ROUNDING)))
        if k > self.table.units:
            return self._without(who, records)
        call = step_call("suppress", {"k": k})
        why = f"every record stands for {number(self.least_weight)} of the population or more"
        touched = int(self.table.records[self.table.sample_count < k].sum())
        text = f"{who}{call} is enough, since {why}; it suppresses cells in {check.counted(touched, 'record')}"
        return Repair(
            "presence", f"{text}, and Recode of the keys leaves less to suppress", "suppress", {"k": k}, touched
        )

    def _without(self, who: str, records: int) -> Repair:
        """Recoding or, where that takes nothing from others, leaving the records out."""
        text = f"{who}Recode or Generalise the keys, so that each stands for more of the population"
        if records == self.table.size or self.table.has_missing or self.table.unit is not None:
            return Repair("presence", text, records=records)
        where = {"where": {"unsafe": "presence"}}
        text += f"; {step_call('drop_records', where)} leaves {'it' if records == 1 else 'them'} out"
        return Repair("presence", text, "drop_records", where, records)

    @property
    def headline(self) -> str:
        """k-map and delta-presence."""
        least, greatest = self.delta
        source = "known from the register" if self.table.source == "register" else "estimated"
        return (
            f"k-map: every key is shared by {number(self.k_map)} or more units of the population ({source}); "
            f"delta-presence: who has a key is in the file with probability {percent(least)} to {percent(greatest)}"
        )

    def to_frame(self) -> frame.Frame:
        """One row per record: F and the probability of being in the file."""
        table = self.table
        return frame.table({"F": table.per_record(table.population_count), "presence": table.per_record(self.share)})

    def record_columns(self) -> dict[str, Any]:
        """The probability that a unit with the record's key is in the file."""
        return {"presence": self.table.per_record(self.share)}

    def to_dict(self) -> dict[str, Any]:
        """k-map and delta."""
        return {"k_map": self.k_map, "delta": list(self.delta), "keys_absent_from_the_file": self.absent}


@measure(
    needs="keys",
    limit=at_least(
        "k_map",
        "the smallest F",
        void=1.0,
        moved_by="Recode or Generalise the keys, so that each stands for more of the population",
    ),
)
def presence(
    data: Any,
    scenario: Scenario,
    *,
    keys: Keys = None,
    register: Register = None,
) -> Presence:
    """k-map (the smallest F) and delta-presence (the range of f/F), with a register or estimated from the weights.

    Being in the file can itself be sensitive: a register of patients, of the convicted, of the poor.

    References: Sweeney (2001) for k-map; Nergiz, Atzori and Clifton (2007) for delta-presence.

    >>> import polars as pl
    >>> file = pl.DataFrame({"region": ["north", "north", "south"]})
    >>> everybody = pl.DataFrame({"region": ["north"] * 8 + ["south"] * 5 + ["west"]})
    >>> found = presence(file, Scenario(keys=["region"]), register=everybody)
    >>> found.k_map, found.delta
    (5.0, (0.0, 0.25))
    """
    table = key_table(data, scenario, keys, register)
    share = np.minimum(1.0, table.sample_count / table.population_count)
    if register is not None:
        return Presence(table, share, _absent(table, Data.of(register), scenario))
    return Presence(table, share, None, _least_weight(table, Data.of(data), scenario))


def _least_weight(table: KeyTable, data: Data, scenario: Scenario) -> float:
    """How many units of the population a record stands for at least: the least weight, or N/n for all."""
    weights = None if data.condensed is not None else population_weights(data, scenario, table.keys)
    if weights is None or table.unit is not None:
        return float((table.population_count / table.sample_count).min()) if table.source in SAME_FOR_ALL else 0.0
    return float(weights.min())


def _absent(table: KeyTable, register: Data, scenario: Scenario) -> int:
    """Complete keys of the register that no record of the file has."""
    of_register = register_keys(table, register, scenario).codes
    both = np.concatenate([table.codes[table.complete], of_register[np.all(of_register > 0, axis=1)]])
    different = len(np.unique(both, axis=0))
    return different - int(table.complete.sum())
