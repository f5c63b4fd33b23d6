"""k-map and delta-presence: does the file give away that somebody is in it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import frame
from tacita.arrays import Floats
from tacita.data import Data
from tacita.keys.register import register_keys
from tacita.keys.table import KeyTable, key_table
from tacita.measures import at_least, measure
from tacita.result import Result, number, percent
from tacita.risk.identity.options import Keys, Register
from tacita.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Presence(Result):
    """How many units of the population share a record's key, and how likely they are to be in the file."""

    table: KeyTable
    """The keys."""
    share: Floats
    """By key: f/F, the probability that a unit of the population with that key is in the file."""
    absent: int | None
    """Keys of the register that no record has; None without a register."""

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
    return Presence(table, share, None if register is None else _absent(table, Data.of(register), scenario))


def _absent(table: KeyTable, register: Data, scenario: Scenario) -> int:
    """Complete keys of the register that no record of the file has."""
    of_register = register_keys(table, register, scenario).codes
    both = np.concatenate([table.codes[table.complete], of_register[np.all(of_register > 0, axis=1)]])
    different = len(np.unique(both, axis=0))
    return different - int(table.complete.sum())
