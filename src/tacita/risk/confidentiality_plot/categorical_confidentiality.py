"""The confidentiality plot of categorical data: how many share a released key, and what did that cost the record?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.change import UNITS, nominal_change, numeric_change, numeric_unit, ordinal_change
from tacita.distance.comparison import check_sizes, common_codes
from tacita.distance.truth import new_records_caution
from tacita.keys.table import key_table
from tacita.measures import measure
from tacita.parameters import AtLeast, Doc, OneOf
from tacita.policy import checked_policy
from tacita.progress import Progress, no_progress
from tacita.result import Result, Table, percent
from tacita.risk.confidentiality_plot.files import aligned
from tacita.risk.confidentiality_plot.limits import Limits
from tacita.risk.confidentiality_plot.options import PolicyLimits
from tacita.scenario import Scenario, checked


class Change(NamedTuple):
    """How one variable was changed."""

    variable: str
    scale: str
    """nominal, ordinal or numeric; recoded where the released file holds another kind of value."""
    changed: int
    """Records with another value, suppressed ones included."""
    suppressed: int
    """Records with a value in the original file and none in the released one."""
    loss: float
    """The mean of d over all records: lambda_j."""


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
            f"{check.quoted(recoded)} has values of another kind or order than in the original file (recoded?), so a "
            f"value counts as kept (d = 0) or changed (d = 1), not by how far it was moved.",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How the figures came about."""
        numeric = [each.variable for each in self.changes if each.scale == "numeric"]
        units = {
            "value": "in their own unit, on which the loss depends",
            "sd": "in standard deviations",
            "mad": "in median absolute deviations",
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
    deviations (`mad`). A suppressed value counts 1, or as far as the farther end. A value where there was
    none counts 1.

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
    parts = [_change(first, second, name, unit) for name in names]
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


def _change(first: Data, second: Data, name: str, unit: str) -> tuple[Change, Floats]:
    """How a variable was changed, and d by record."""
    scale: str = first.scale(name)
    x, y, kind = _values(first, second, name, scale)
    if kind == "nominal" or kind == "recoded":
        loss = nominal_change(x, y)
    elif kind == "ordinal":
        highest = max(float(np.nanmax(values, initial=0.0)) for values in (x, y))
        loss = ordinal_change(x, y, max(len(first.variable(name).order), int(highest) + 1))
    else:
        for values in (x, y):
            check_sizes(name, values)
        spread = numeric_unit(x, unit)
        if not spread > 0:
            raise TacitaError(f"column {name!r} has no spread to measure its changes in; choose unit='value'.")
        loss = numeric_change(x, y, spread)
    gone = int((~np.isnan(x) & np.isnan(y)).sum())
    different = int(((x != y) & ~(np.isnan(x) & np.isnan(y))).sum())
    return Change(name, kind, different, gone, float(loss.mean())), loss


def _values(first: Data, second: Data, name: str, scale: str) -> tuple[Floats, Floats, str]:
    """A variable of both files as numbers that mean the same in both, NaN where missing, and its kind.

    A released file that holds another kind of value, as classes written as text do, has no value in common with the
    original: its values are then set apart from all of the original's. So are ordered categories with new names,
    whose rank in the order is not known.
    """
    applied = (*first.variable(name).not_applicable, *second.variable(name).not_applicable)
    if scale == "ordinal" and applied:
        # Whoever the question does not apply to has no rank in the order of the answers.
        first, second = (_missing_too(data, name, applied) for data in (first, second))
    if scale == "ordinal" and frame.is_ordered(first.table, name):
        known = set(first.coded(name).values)
        if any(value not in known for value in second.coded(name).values):
            return *common_codes(first, second, name), "recoded"
    try:
        if scale == "numeric":
            return first.numbers(name), second.numbers(name), scale
        return *common_codes(first, second, name, ordered=scale == "ordinal"), scale
    except TacitaError:
        x, y = (np.where(data.missing(name), np.nan, float(file)) for file, data in enumerate((first, second)))
        return x, y, "recoded"


def _missing_too(data: Data, name: str, codes: tuple[Any, ...]) -> Data:
    """The data with codes for not applicable as missing values."""
    known = data.variable(name)
    declared = replace(known, missing=(*known.missing, *codes), not_applicable=())
    return replace(data, variables={**data.variables, name: declared})
