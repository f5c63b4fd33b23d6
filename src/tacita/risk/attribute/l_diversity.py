"""l-diversity: does a group give its members' sensitive values away?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import KeyTable, key_table
from tacita.result import Result, columns
from tacita.risk.attribute.groups import Histogram, histogram, sub_histogram
from tacita.scenario import Scenario, with_codes


def distinct(values: Histogram) -> Floats:
    """By group: the number of different sensitive values."""
    return np.diff(np.append(values.start, len(values.group))).astype(np.float64)


def entropy(values: Histogram) -> Floats:
    """By group: exp(-sum p ln p), the number of equally frequent values that would be as diverse."""
    share = values.share
    return np.exp(-np.add.reduceat(share * np.log(share), values.start))


def recursive(values: Histogram, c: float) -> Floats:
    """By group: the greatest l with r_1 < c (r_l + ... + r_m), counts in descending order; at least 1."""
    order = np.lexsort((-values.amount, values.group))
    amount, start = values.amount[order], values.start
    # r_l + ... + r_m: what is left of the group from each row on.
    before = np.cumsum(amount) - amount
    tail = values.total[values.group] - (before - before[start][values.group])
    holds = amount[start][values.group] < c * tail
    return np.maximum(1.0, np.add.reduceat(holds.astype(np.float64), start))


@dataclass(frozen=True, eq=False)
class LDiversity(Result):
    """l-diversity of every sensitive variable, and of all of them together."""

    table: KeyTable
    """The keys."""
    c: float
    """The constant of recursive (c, l)-diversity."""
    distinct: dict[str, Floats]
    """By variable and key: number of different values."""
    entropy: dict[str, Floats]
    """By variable and key: exponential of the entropy."""
    recursive: dict[str, Floats]
    """By variable and key: recursive (c, l)."""
    multi_entropy: Floats | None
    """By key: the least entropy l over variables, inside sub-groups that agree on all the others; None for one
    variable."""
    multi_recursive: Floats | None
    """The same for recursive (c, l)."""

    def least(self, kind: str = "distinct") -> dict[str, float]:
        """By variable: the smallest l of the file."""
        return {name: float(by_key.min()) for name, by_key in getattr(self, kind).items()}

    def records_below(self, name: str, limit: float = 2, kind: str = "distinct") -> int:
        """How many records are in groups with a smaller l."""
        return int(self.table.records[getattr(self, kind)[name] < limit].sum())

    def __str__(self) -> str:
        size = self.table.size
        kinds = ("distinct", "entropy", f"recursive (c = {self.c:g})")
        rows: list[tuple[str, ...]] = [("l-diversity, smallest l", *kinds, "records with one value")]
        for name in self.distinct:
            smallest = (self.least(kind)[name] for kind in ("distinct", "entropy", "recursive"))
            rows.append((name, *(f"{value:.3g}" for value in smallest), f"{self.records_below(name):,} of {size:,}"))
        return columns(rows, indent="")

    def to_frame(self) -> frame.Frame:
        """One row per record."""
        return frame.table(self.record_columns())

    def figures(self) -> dict[str, Any]:
        """By variable: the smallest l of each kind, and the records in groups with one value."""
        return {
            name: {kind: self.least(kind)[name] for kind in ("distinct", "entropy", "recursive")}
            | {"c": self.c, "records_with_one_value": self.records_below(name)}
            for name in self.distinct
        }

    def record_columns(self) -> dict[str, Any]:
        """The l of each record's group."""
        out = {
            f"{name}:{kind}": self.table.per_record(getattr(self, kind)[name])
            for name in self.distinct
            for kind in ("distinct", "entropy", "recursive")
        }
        if self.multi_entropy is not None and self.multi_recursive is not None:
            out["multi:entropy"] = self.table.per_record(self.multi_entropy)
            out["multi:recursive"] = self.table.per_record(self.multi_recursive)
        return out


def l_diversity_of(table: KeyTable, data: Data, sensitive: tuple[str, ...], c: float = 2.0) -> LDiversity:
    """l-diversity of a key table."""
    if check.number("c", c) <= 0:
        raise TacitaError(f"c must be above 0; got {c!r}.")
    codes = {name: data.coded(name).codes for name in sensitive}
    values = {name: histogram(table, codes[name]) for name in sensitive}
    multi = None
    if len(sensitive) > 1:
        multi = [_least_inside(table, codes, kind) for kind in (entropy, lambda each: recursive(each, c))]
    return LDiversity(
        table=table,
        c=c,
        distinct={name: distinct(each) for name, each in values.items()},
        entropy={name: entropy(each) for name, each in values.items()},
        recursive={name: recursive(each, c) for name, each in values.items()},
        multi_entropy=None if multi is None else multi[0],
        multi_recursive=None if multi is None else multi[1],
    )


def _least_inside(table: KeyTable, codes: dict[str, Any], kind: Any) -> Floats:
    """By key: the least l of any variable inside the sub-groups that agree on all other sensitive variables."""
    least = np.full(len(table.codes), np.inf)
    for name in codes:
        values, owner = sub_histogram(table, codes[name], [codes[other] for other in codes if other != name])
        np.minimum.at(least, owner, kind(values))
    return least


def sensitive_names(scenario: Scenario, sensitive: Any) -> tuple[str, ...]:
    """The sensitive variables asked for, or the scenario's; none of them may be a key."""
    chosen = scenario.sensitive if sensitive is None else check.names("sensitive", sensitive)
    if not chosen:
        raise TacitaError("name at least one sensitive variable; pass sensitive=[...].")
    both = [name for name in chosen if name in scenario.keys]
    if both:
        raise TacitaError(f"a sensitive variable cannot be a key at the same time: {check.quoted(both)}.")
    return chosen


def l_diversity(data: Any, scenario: Scenario, *, sensitive: Any = None, c: float = 2.0) -> LDiversity:
    """How diverse the sensitive values are among the records that share a key.

    k-anonymity does not help a group in which everybody has the same disease: whoever finds the group knows it.
    Distinct l: different values; entropy l: exp(-sum p ln p); recursive (c, l): the greatest l with
    r_1 < c (r_l + ... + r_m). A missing sensitive value is one category, a code for not applicable another. With
    several sensitive variables also the least l of any of them inside the sub-groups that agree on all the others.

    Reference: Machanavajjhala et al. (2007).

    >>> import polars as pl
    >>> patients = pl.DataFrame({"sex": ["m", "m", "m", "f", "f"], "disease": ["a", "b", "b", "a", "a"]})
    >>> l_diversity(patients, Scenario(keys=["sex"], sensitive=["disease"])).to_frame()["disease:distinct"].to_list()
    [2.0, 2.0, 2.0, 1.0, 1.0]
    """
    data = Data.of(data)
    names = sensitive_names(scenario, sensitive)
    check.columns_exist("sensitive", names, data.columns)
    return l_diversity_of(key_table(data, scenario), with_codes(data, scenario), names, c)
