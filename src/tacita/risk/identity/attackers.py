"""Prosecutor, journalist and marketer: three intruders with three aims."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import frame
from tacita.keys.table import KeyTable, key_table
from tacita.measures import measure
from tacita.parameters import Doc, Share
from tacita.result import Percent, Result, Table, percent
from tacita.risk.identity.options import Keys, Model, Register
from tacita.risk.population.latent.model import LatentModel, latent_model_of
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

    @classmethod
    def of(cls, table: KeyTable, threshold: float = 0.1, model: LatentModel | None = None) -> Attackers:
        """What the attackers can do with the keys of a file; 1/F by the latent model, if there is one."""
        size = table.units
        prosecutor = 1.0 / table.sample_count
        # F is at least f, since the file is part of the population.
        journalist = 1.0 / np.maximum(table.population_count, table.sample_count) if model is None else model.risk
        tried, wanted = table.units_by_key(prosecutor), table.units_by_key(journalist)
        mean_journalist = math.fsum(wanted * journalist) / size
        return cls(
            prosecutor_maximum=float(prosecutor.max()),
            prosecutor_mean=math.fsum(tried * prosecutor) / size,
            prosecutor_share=int(tried[prosecutor > threshold].sum()) / size,
            journalist_maximum=float(journalist.max()),
            journalist_mean=mean_journalist,
            journalist_share=int(wanted[journalist > threshold].sum()) / size,
            marketer=mean_journalist,
            threshold=threshold,
        )

    @property
    def headline(self) -> str:
        """What the marketer gets right."""
        return f"a marketer is expected to match {percent(self.marketer)} of the records correctly"

    def tables(self) -> tuple[Table, ...]:
        """One row per attacker."""
        heads = ("attackers", "highest", "mean", f"records above {self.threshold:g}")
        rows = (
            ("prosecutor (1/f)", *_shown(self.prosecutor_maximum, self.prosecutor_mean, self.prosecutor_share)),
            ("journalist (1/F)", *_shown(self.journalist_maximum, self.journalist_mean, self.journalist_share)),
            ("marketer", "", f"{self.marketer:.3g}", ""),
        )
        return (Table(heads, rows),)

    def to_dict(self) -> dict[str, Any]:
        """All figures."""
        return dict(vars(self))

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


def _shown(highest: float, mean: float, share: float) -> tuple[Any, ...]:
    return f"{highest:.3g}", f"{mean:.3g}", Percent(share)


@measure(by_key=True, needs="keys")
def attackers(
    data: Any,
    scenario: Scenario,
    *,
    threshold: Annotated[float, Share(), Doc("Records above this risk are counted.")] = 0.1,
    model: Model = None,
    keys: Keys = None,
    register: Register = None,
) -> Attackers:
    """How well the prosecutor, the journalist and the marketer do.

    Prosecutor: 1/f. Journalist: 1/F, F from a register or estimated; by the latent model E(1/F). Marketer: the mean
    of 1/F over records, which without missing values is (1/n) sum f_k/F_k.

    Reference: Dankar and El Emam (2010).

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north", "north", "south"], "w": [20.0, 20.0, 20.0]})
    >>> attackers(people, Scenario(keys=["region"], weight="w")).prosecutor_mean.__round__(4)
    0.6667
    """
    table = key_table(data, scenario, keys, register)
    latent = latent_model_of(data, scenario, table) if (model or scenario.model) == "latent" else None
    return Attackers.of(table, threshold, latent)
