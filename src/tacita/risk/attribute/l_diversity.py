"""l-diversity: does a group give its members' sensitive values away?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import KeyTable, key_table
from tacita.measures import at_least, measure
from tacita.parameters import Above, Doc
from tacita.result import Repair, Result, Table
from tacita.risk.attribute.groups import Histogram, histogram, perturbed_values, several_values, sub_histogram
from tacita.scenario import Scenario

KINDS = ("distinct", "entropy", "recursive")
NEARLY = 1e-9
"""Sums of parts of records that differ by less, relatively, are added up again as fractions."""


def distinct(values: Histogram) -> Floats:
    """By group: the number of different sensitive values."""
    return np.diff(np.append(values.start, len(values.group))).astype(np.float64)


def entropy(values: Histogram) -> Floats:
    """By group: exp(-sum p ln p), the number of equally frequent values that would be as diverse."""
    share = values.share
    return np.exp(-np.add.reduceat(share * np.log(share), values.start))


def recursive(values: Histogram, c: float) -> Floats:
    """By group: the greatest l with r_1 < c (r_l + ... + r_m), counts in descending order; at least 1.

    Equal is not less: a tie is decided exactly, c being the decimal number that was written.
    """
    order = np.lexsort((-values.amount, values.group))
    amount, start = values.amount[order], values.start
    # r_l + ... + r_m: what is left of the group from each row on.
    before = np.cumsum(amount) - amount
    tail = values.total[values.group] - (before - before[start][values.group])
    largest, exact_c = amount[start][values.group], Fraction(str(float(c)))
    if (amount == np.rint(amount)).all():
        holds = _exactly_less(largest, tail, exact_c)
    else:
        holds = largest < c * tail
        rounding = NEARLY * (largest + c * tail) + NEARLY * 1e-6 * (c + 1) * amount.sum()
        ends = np.append(start, len(amount))
        for row in np.flatnonzero(np.abs(largest - c * tail) <= rounding):
            group = values.group[row]
            shares = [
                Fraction(each).limit_denominator(10**6) for each in amount[ends[group] : ends[group + 1]].tolist()
            ]
            holds[row] = shares[0] < exact_c * sum(shares[row - ends[group] :])
    return np.maximum(1.0, np.add.reduceat(holds.astype(np.float64), start))


def _exactly_less(largest: Floats, tail: Floats, c: Fraction) -> Bools:
    """Where a whole number is below c times another, in whole numbers."""
    room = max(c.numerator, c.denominator) * float(tail.max(initial=1.0)) < 2.0**62
    kind: Any = np.int64 if room else object
    left, right = (np.rint(each).astype(np.int64).astype(kind) for each in (largest, tail))
    less: Bools = np.asarray(left * c.denominator < right * c.numerator, dtype=np.bool_)
    return less


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
    not_valid: str = ""
    """Why groups of equal keys say nothing; empty if they do."""

    def least(self, kind: str = "distinct") -> dict[str, float]:
        """By variable: the smallest l of the file."""
        return {name: float(by_key.min()) for name, by_key in getattr(self, kind).items()}

    def records_below(self, name: str, limit: float = 2, kind: str = "distinct") -> int:
        """How many records are in groups with a smaller l."""
        return int(self.table.records[getattr(self, kind)[name] < limit].sum())

    def smallest(self, kind: str = "distinct") -> float:
        """The smallest l of any variable."""
        check.one_of("kind", kind, KINDS)
        return min(self.least(kind).values())

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether its group has a smaller l than the policy's, of any variable."""
        limited = policy.limit_of("l_diversity")
        if limited is None:
            return None
        kind = limited.options.get("kind", "distinct")
        small = [by_key < limited.limit for by_key in getattr(self, kind).values()]
        return self.table.per_record(np.any(small, axis=0))

    def repair(self, policy: Any) -> Repair | None:
        """Joining groups with others, or dropping the records of those that are not diverse enough."""
        limited = policy.limit_of("l_diversity")
        kind = limited.options.get("kind", "distinct")
        below = np.any([by_key < limited.limit for by_key in getattr(self, kind).values()], axis=0)
        records = int(self.table.records[below].sum())
        text = (
            f"{check.counted(records, 'record')} in {check.counted(int(below.sum()), 'group')} below l = "
            f"{limited.limit:g}: Generalise(hierarchies=..., {kind}_l={limited.limit:g}), or Recode of the keys, joins "
            f"them with others"
        )
        # Without missing values a group that goes takes nothing from the others.
        if records == self.table.size or self.table.has_missing:
            return Repair("l_diversity", text, records=records)
        where = {"unsafe": "l_diversity"}
        text += f"; DropRecords(where={where}) leaves {'it' if records == 1 else 'them'} out"
        return Repair("l_diversity", text, "drop_records", {"where": where}, records)

    @property
    def headline(self) -> str:
        """Different values in the least diverse group, by variable."""
        least = ", ".join(f"{value:g} of {name!r}" for name, value in self.least().items())
        return f"different sensitive values in the least diverse group: {least}"

    def tables(self) -> tuple[Table, ...]:
        """By variable the smallest l of each kind, and the records in groups with one value."""
        heads = ("l-diversity, smallest l", "distinct", "entropy", f"recursive (c = {self.c:g})")
        rows = [
            (
                name,
                *(f"{self.least(kind)[name]:.3g}" for kind in KINDS),
                f"{self.records_below(name):,} of {self.table.size:,}",
            )
            for name in self.distinct
        ]
        return (Table((*heads, "records with one value"), tuple(rows)),)

    def to_frame(self) -> frame.Frame:
        """One row per record."""
        return frame.table(self.record_columns())

    def to_dict(self) -> dict[str, Any]:
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


def _least_inside(table: KeyTable, codes: dict[str, Any], kind: Any) -> Floats:
    """By key: the least l of any variable inside the sub-groups that agree on all other sensitive variables."""
    least = np.full(len(table.codes), np.inf)
    for name in codes:
        values, owner = sub_histogram(table, codes[name], [codes[other] for other in codes if other != name])
        np.minimum.at(least, owner, kind(values))
    return least


def sensitive_names(data: Data, scenario: Scenario, sensitive: Any) -> tuple[str, ...]:
    """The sensitive variables asked for, or the scenario's; none of them may be a key."""
    chosen = scenario.sensitive if sensitive is None else check.names("sensitive", sensitive)
    if not chosen:
        raise TacitaError("name at least one sensitive variable; pass sensitive=[...].")
    both = [name for name in chosen if name in scenario.keys]
    if both:
        raise TacitaError(f"a sensitive variable cannot be a key at the same time: {check.quoted(both)}.")
    check.columns_exist("sensitive", chosen, data.columns)
    return chosen


def sensitive_categories(data: Data, scenario: Scenario, sensitive: Any) -> tuple[str, ...]:
    """The same, without measured numbers unless they are asked for or there is nothing else: each is its own value."""
    names = sensitive_names(data, scenario, sensitive)
    categories = tuple(name for name in names if data.scale(name) != "numeric")
    return names if sensitive is not None else categories or names


@measure(
    by_key=True,
    needs=("keys", "sensitive"),
    called_for="sensitive_categories",
    limit=at_least("smallest", "the smallest l of any variable", void=1.0),
)
def l_diversity(
    data: Any,
    scenario: Scenario,
    *,
    sensitive: Annotated[Any, Doc("Sensitive variables; the scenario's unless given.")] = None,
    c: Annotated[float, Above(0), Doc("The constant of recursive (c, l)-diversity.")] = 2.0,
    keys: Annotated[Any, Doc("Key variables; the scenario's unless given.")] = None,
) -> LDiversity:
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
    names = sensitive_categories(data, scenario, sensitive)
    table = key_table(data, scenario, keys)
    codes = {name: data.coded(name).codes for name in names}
    values = {name: histogram(table, codes[name]) for name in names}
    multi = None
    if len(names) > 1:
        multi = [_least_inside(table, codes, kind) for kind in (entropy, lambda each: recursive(each, c))]
    return LDiversity(
        table=table,
        c=c,
        distinct={name: distinct(each) for name, each in values.items()},
        entropy={name: entropy(each) for name, each in values.items()},
        recursive={name: recursive(each, c) for name, each in values.items()},
        multi_entropy=None if multi is None else multi[0],
        multi_recursive=None if multi is None else multi[1],
        not_valid=table.keys_not_valid
        or perturbed_values(data, names)
        or max(several_values(table, each) for each in values.values()),
    )
