"""Prosecutor, journalist and marketer: three intruders with three aims."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.data import Data
from tacita.keys.table import KeyTable, key_table
from tacita.result import Result, columns, percent
from tacita.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Attackers(Result):
    """Success of the prosecutor (knows that his target is in the file), the journalist (wants any one of the
    population) and the marketer (wants as many as possible)."""

    prosecutor_maximum: float
    """Greatest 1/f."""
    prosecutor_mean: float
    """Mean of 1/f over records."""
    prosecutor_share: float
    """Share of records with 1/f above the threshold."""
    journalist_maximum: float
    """Greatest 1/F."""
    journalist_mean: float
    """Mean of 1/F over records."""
    journalist_share: float
    """Share of records with 1/F above the threshold."""
    marketer: float
    """Expected share of records matched correctly, the mean of 1/F over records."""
    threshold: float
    """The threshold."""

    def __str__(self) -> str:
        return self.rows()

    def rows(self) -> str:
        """The table for a printed page."""
        return columns(
            [
                ("attackers", "highest", "mean", f"records above {self.threshold:g}"),
                (
                    "prosecutor (1/f)",
                    f"{self.prosecutor_maximum:.3g}",
                    f"{self.prosecutor_mean:.3g}",
                    percent(self.prosecutor_share),
                ),
                (
                    "journalist (1/F)",
                    f"{self.journalist_maximum:.3g}",
                    f"{self.journalist_mean:.3g}",
                    percent(self.journalist_share),
                ),
                ("marketer", "", f"{self.marketer:.3g}", ""),
            ]
        )

    def to_frame(self) -> frame.Frame:
        """One row per attacker."""
        return frame.table(
            {
                "attacker": ["prosecutor", "journalist", "marketer"],
                "maximum": [self.prosecutor_maximum, self.journalist_maximum, None],
                "mean": [self.prosecutor_mean, self.journalist_mean, self.marketer],
                "share_above": [self.prosecutor_share, self.journalist_share, None],
            }
        )


def attackers_of(table: KeyTable, threshold: float = 0.1) -> Attackers:
    """The three attackers on a key table; F is at least f, since the file is part of the population."""
    limit = check.share("threshold", threshold)
    known, size = table.records, table.size
    prosecutor = 1.0 / table.sample_count
    journalist = 1.0 / np.maximum(table.population_count, table.sample_count)
    mean_journalist = math.fsum(known * journalist) / size
    return Attackers(
        prosecutor_maximum=float(prosecutor.max()),
        prosecutor_mean=math.fsum(known * prosecutor) / size,
        prosecutor_share=int(known[prosecutor > limit].sum()) / size,
        journalist_maximum=float(journalist.max()),
        journalist_mean=mean_journalist,
        journalist_share=int(known[journalist > limit].sum()) / size,
        marketer=mean_journalist,
        threshold=limit,
    )


def attackers(data: Any, scenario: Scenario, *, threshold: float = 0.1, register: Any = None) -> Attackers:
    """How well the prosecutor, the journalist and the marketer do.

    Prosecutor: 1/f. Journalist: 1/F, F from a register or estimated. Marketer: the mean of 1/F over records, which
    without missing values is (1/n) sum f_k/F_k.

    Reference: Dankar and El Emam (2010).

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})
    >>> attackers(people, Scenario(keys=["region"], weight="w")).prosecutor_mean.__round__(4)
    0.6667
    """
    return attackers_of(key_table(Data.of(data), scenario, register=register), threshold)
