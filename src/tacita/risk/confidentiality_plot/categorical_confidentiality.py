"""The confidentiality plot of categorical data: how many share a released key, and what did that cost the record?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.aligned import aligned
from tacita.distance.change import UNITS
from tacita.distance.changed_values import Change, changed_values
from tacita.distance.truth import new_records_caution
from tacita.keys.table import key_table
from tacita.measures import measure
from tacita.parameters import AtLeast, Doc, OneOf
from tacita.policy import checked_policy
from tacita.progress import Progress, no_progress
from tacita.result import Result, Table, percent
from tacita.risk.confidentiality_plot.limits import Limits
from tacita.risk.confidentiality_plot.options import PolicyLimits
from tacita.scenario import Scenario, checked


@dataclass(frozen=True, eq=False, kw_only=True)
class CategoricalConfidentiality(Result):
    """Every record by how many share its released key and by how much it was changed."""

    figure: ClassVar[str | None] = "categorical_confidentiality"

    keys: tuple[str, ...]
    """The categorical keys."""
    record: Ints
    """The number of each record."""
    count: Floats
    """By record: f of its released key, or F where the population counts."""
    population: bool
    """Whether the count is F, units of the population, and not f, records of the file."""
    source: str
    """Where F comes from, as in `KeyTable.source`."""
    rule: str
    """How records with a missing key value count."""
    loss: Floats
    """By record: mean over the variables of d, 0 unchanged, 1 as far as can be."""
    changes: tuple[Change, ...]
    """By variable: how it was changed."""
    unit: str
    """What numeric differences are measured in: value, sd or mad."""
    limits: Limits
    """What counts as unsafe: fewer than k."""
    count_cautions: tuple[str, ...] = ()
    """Cautions about weights or register."""

    @cached_property
    def unsafe(self) -> Bools:
        """By record: whether fewer than k share its released key."""
        return self.limits.unsafe(self.count, self.loss)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the reader should know."""
        recoded = [each.variable for each in self.changes if each.scale == "recoded"]
        if not recoded:
            return self.count_cautions
        return (
            *self.count_cautions,
            f"{check.quoted(recoded)} was recoded: a value loses the share of the variable that its class covers, as "
            f"the two files show it (0: one value, 1: all of them).",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How the figures came about."""
        numeric = [each.variable for each in self.changes if each.scale == "numeric"]
        units = {
            "value": "in their own unit, on which the loss depends",
            "sd": "in standard deviations",
            "mad": "in median absolute deviations",
            "range": "as a share of its range",
        }
        differences = (f"numeric differences of {', '.join(numeric)} {units[self.unit]}",) if numeric else ()
        return (*differences, f"missing values: {self.rule}")

    @property
    def headline(self) -> str:
        """Records in the unsafe zone."""
        n, found = len(self.record), int(self.unsafe.sum())
        what = f"units of the population (F, {self.source})" if self.population else "records (f)"
        return (
            f"{found:,} of {check.counted(n, 'record')} in the unsafe zone ({percent(found / n)}): fewer than "
            f"{self.limits.k} {what} share the released key on {', '.join(self.keys)}"
        )

    def sentences(self) -> list[str]:
        """What the protection cost, in the unsafe zone and in the file."""
        lost = float(self.loss[self.unsafe].mean()) if self.unsafe.any() else 0.0
        return [
            f"information loss of a record {float(self.loss.mean()):.3g} on average, {lost:.3g} in the unsafe "
            f"zone; {int((self.loss > 0).sum()):,} changed (0 unchanged, 1 as far as can be)"
        ]

    def tables(self) -> tuple[Table, ...]:
        """One row per variable."""
        heads = ("variable", "scale", "changed", "suppressed", "information loss")
        rows = tuple(
            (each.variable, each.scale, each.changed, each.suppressed, f"{each.loss:.3g}") for each in self.changes
        )
        return (Table(heads, rows, indent=""),)

    def to_frame(self) -> frame.Frame:
        """One row per record: its number and figures, no values."""
        return frame.table({"record": self.record, **self.record_columns()})

    def record_columns(self) -> dict[str, Any]:
        """Count, loss, and whether it is unsafe."""
        return {"count": self.count, "loss": self.loss, "unsafe": self.unsafe}

    def table(self) -> frame.Frame:
        """One row per variable: how it was changed."""
        return frame.table({name: [getattr(each, name) for each in self.changes] for name in Change._fields})

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file."""
        return {
            "keys": list(self.keys),
            "records": len(self.record),
            "unsafe": int(self.unsafe.sum()),
            "k": self.limits.k,
            "population": self.population,
            "information_loss": float(self.loss.mean()),
            "by_variable": {each.variable: each.loss for each in self.changes},
            "changed": int((self.loss > 0).sum()),
        }


@measure(files=2, needs="keys", figure="categorical_confidentiality")
def categorical_confidentiality(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: Annotated[tuple[str, ...] | None, Doc("Categorical keys; the scenario's.")] = None,
    population: Annotated[bool, Doc("Count units of the population, F, not records of the file, f.")] = False,
    register: Annotated[Any, Doc("File of the population with the same keys.")] = None,
    variables: Annotated[tuple[str, ...] | None, Doc("Variables whose change counts; the keys.")] = None,
    unit: Annotated[str, OneOf(UNITS), Doc("What numeric changes are measured in.")] = "value",
    k: Annotated[int | None, AtLeast(1), Doc("Count that makes a record safe; the policy's k.")] = None,
    policy: PolicyLimits = None,
    progress: Progress = no_progress,
) -> CategoricalConfidentiality:
    """How many share the released key of each record, and how far the record was changed to get there.

    Across stands f, the records of the released file with the same key under the scenario's rule for missing values,
    or with `population=True` F, the units of the population; fewer than k (the policy's unless given) is unsafe,
    whatever was changed. Upwards stands the record's information loss, the mean of d over the `variables`, by
    default the keys: nominal 0 or 1, ordinal |difference of categories|/(categories - 1), numeric
    (2/pi) arctan|difference|, in the variable's own `unit`, in standard deviations (`sd`) or in median absolute
    deviations (`mad`), or |difference| as a share of the `range`. A suppressed value counts 1, or as far as the farther
    end. A value where there was none counts 1. A recoded value counts the share of the variable that its class covers.

    Records far up in the safe zone paid for their safety; unsafe ones at the bottom were never touched.

    Reference: Seri, A graphical framework to evaluate risk assessment and information loss at individual level.

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "f", "m"], "region": ["north", "north", "south", "south"]})
    >>> masked = pl.DataFrame({"sex": ["f", "f", None, "m"], "region": ["north", "north", "south", "south"]})
    >>> found = categorical_confidentiality(people, masked, Scenario(keys=["sex", "region"]), k=2)
    >>> found.count.tolist(), found.loss.tolist(), found.unsafe.tolist()
    ([2.0, 2.0, 2.0, 1.0], [0.0, 0.0, 0.5, 0.0], [False, False, False, True])
    """
    first, second, new, rows = aligned(original, released)
    keyed = checked(scenario).keys if keys is None else check.names("keys", keys)
    names = check.names("variables", variables) or keyed
    check.one_of("unit", unit, UNITS)
    usual = checked_policy(policy).k
    limit = usual if k is None else check.whole("k", k, 1)
    if limit is None:
        raise TacitaError("the policy has no k, so nothing is unsafe; pass k=.")
    progress(0.0, "counting keys")
    # A record hides among all released ones, whether they have an original or not.
    table = key_table(released, scenario, keyed, register=None if register is None else Data.of(register))
    progress(0.5, "comparing variables")
    check.columns_exist("variables of the original file", names, first.columns)
    check.columns_exist("variables of the released file", names, second.columns)
    parts = [changed_values(first, second, name, unit) for name in names]
    return CategoricalConfidentiality(
        keys=table.keys,
        record=first.record,
        count=table.per_record(table.population_count if population else table.sample_count)[rows],
        population=population,
        source=table.source,
        rule=str(table.rule),
        loss=np.mean([loss for _, loss in parts], axis=0),
        changes=tuple(change for change, _ in parts),
        unit=unit,
        limits=Limits(k=limit, vertical=True),
        count_cautions=(*table.cautions, *new_records_caution(new)),
    )
