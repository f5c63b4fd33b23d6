"""k-anonymity: how many records share their key with too few others?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import KeyTable, key_table
from tacita.result import Result, percent
from tacita.scenario import Scenario

LEVELS = (2, 3, 5)


def violations(count: Floats, records: Ints, k: int) -> int:
    """Records whose key counts fewer than k."""
    return int(records[count < k].sum())


@dataclass(frozen=True, eq=False)
class KAnonymity(Result):
    """How many records violate k-anonymity, in the sample and in the estimated population."""

    size: int
    """Number of records."""
    levels: tuple[int, ...]
    """The values of k."""
    sample: tuple[int, ...]
    """Records with f < k."""
    population: tuple[int, ...]
    """Records with F < k."""
    least: float
    """The smallest f: the file is k-anonymous for this k."""
    rule: str
    """The missing-value rule."""

    def __str__(self) -> str:
        parts = [
            f"{found:,} of {self.size:,} records violate {k}-anonymity ({percent(found / self.size)})"
            for k, found in zip(self.levels, self.sample, strict=True)
        ]
        parts = parts or [f"{check.counted(self.size, 'record')}: too few for any k"]
        return "\n".join(parts) + f"\nmissing values: {self.rule}"

    def to_frame(self) -> frame.Frame:
        """One row per k."""
        return frame.table({"k": self.levels, "sample": self.sample, "population": self.population})


def k_anonymity_of(table: KeyTable, levels: Iterable[int] = LEVELS) -> KAnonymity:
    """k-anonymity of a key table."""
    chosen = tuple(sorted({check.whole("k", k, 2) for k in levels}))
    if chosen and chosen[-1] > table.size:
        raise TacitaError(
            f"k must be at most the number of records, {table.size:,}; got {chosen[-1]:,}. "
            f"Choose a smaller k, or false in the policy for none."
        )
    return KAnonymity(
        size=table.size,
        levels=chosen,
        sample=tuple(violations(table.sample_count, table.records, k) for k in chosen),
        population=tuple(violations(table.population_count, table.records, k) for k in chosen),
        least=float(np.min(table.sample_count)),
        rule=str(table.rule),
    )


def k_anonymity(data: Any, scenario: Scenario, k: int | Iterable[int] = LEVELS, register: Any = None) -> KAnonymity:
    """How many records share their key with fewer than k - 1 others, for each k.

    A record that violates k-anonymity stands out: whoever knows its key is left with fewer than k candidates.

    Reference: Samarati and Sweeney (1998).

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "region": ["north", "north", "south", "south"]})
    >>> k_anonymity(people, Scenario(keys=["sex", "region"]), k=2).sample
    (2,)
    """
    table = key_table(Data.of(data), scenario, register=register)
    if k is LEVELS:
        # Nobody asked for a k above the number of records.
        return k_anonymity_of(table, [level for level in LEVELS if level <= table.size])
    levels = tuple(k) if isinstance(k, Iterable) else (k,)
    if not levels:
        raise TacitaError("k must be one or more whole numbers of at least 2; got none.")
    return k_anonymity_of(table, levels)
