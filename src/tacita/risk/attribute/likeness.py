"""beta-likeness, delta-disclosure and (alpha, k)-anonymity: how much more likely does a group make a value?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats
from tacita.keys.table import KeyTable, key_table
from tacita.measures import at_most, measure
from tacita.parameters import Doc
from tacita.result import Result, Table
from tacita.risk.attribute.groups import Histogram, histogram, perturbed_values, several_values
from tacita.risk.attribute.l_diversity import sensitive_categories
from tacita.risk.attribute.t_closeness import file_shares
from tacita.scenario import Scenario

KINDS = ("beta", "enhanced", "delta", "delta_present", "alpha")


def relative_gain(values: Histogram, file: Floats) -> Floats:
    """By group: the greatest (p - q)/q of a value."""
    whole = file[values.value]
    return np.maximum(0.0, np.maximum.reduceat((values.share - whole) / whole, values.start))


def enhanced_gain(values: Histogram, file: Floats) -> Floats:
    """By group: the same, infinite where a gain exceeds -ln q, which no beta allows under enhanced beta-likeness."""
    whole = file[values.value]
    gain = (values.share - whole) / whole
    # A value that everybody has cannot gain; rounding must not say so.
    beyond = (gain > -np.log(whole) * (1 + 1e-12)) & (gain > 1e-12)
    return np.maximum(0.0, np.maximum.reduceat(np.where(beyond, np.inf, gain), values.start))


def log_ratio(values: Histogram, file: Floats) -> Floats:
    """By group: the greatest |ln(p/q)| over the values that occur in it."""
    ratio = np.abs(np.log(values.share / file[values.value]))
    return np.maximum.reduceat(ratio, values.start)


def lacks_a_value(values: Histogram, file: Floats) -> Any:
    """By group: whether a value of the file does not occur in it, so that an intruder can rule it out."""
    present = np.diff(np.append(values.start, len(values.group)))
    return present < np.count_nonzero(file)


def greatest_share(values: Histogram) -> Floats:
    """By group: the share of its most frequent value."""
    return np.maximum.reduceat(values.share, values.start)


@dataclass(frozen=True, eq=False)
class Likeness(Result):
    """How much more (or less) likely a group makes a sensitive value than the whole file does."""

    table: KeyTable
    """The keys."""
    beta: dict[str, Floats]
    """By variable and key: basic beta-likeness, the greatest relative gain (p - q)/q."""
    enhanced: dict[str, Floats]
    """By variable and key: enhanced beta-likeness; infinite where a gain exceeds -ln q."""
    delta: dict[str, Floats]
    """By variable and key: delta-disclosure, the greatest |ln(p/q)|; infinite where a value is ruled out."""
    delta_present: dict[str, Floats]
    """By variable and key: the same over the values that occur in the group, as other programs report it."""
    alpha: dict[str, Floats]
    """By variable and key: the share of the most frequent value, the alpha of (alpha, k)-anonymity."""
    not_valid: str = ""
    """Why groups of equal keys say nothing; empty if they do."""

    @property
    def k(self) -> float:
        """The smallest group: the k of (alpha, k)-anonymity."""
        return float(self.table.sample_count.min())

    def worst(self, kind: str = "beta") -> float:
        """The greatest value of a kind of any variable."""
        check.one_of("kind", kind, tuple(KINDS))
        return max(self.greatest(kind).values())

    def greatest(self, kind: str) -> dict[str, float]:
        """By variable: the value of the file, the greatest over its groups."""
        return {name: float(by_key.max()) for name, by_key in getattr(self, kind).items()}

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether its group is above the policy's limit, on any variable."""
        limited = policy.limit_of("likeness")
        if limited is None:
            return None
        kind = limited.options.get("kind", "beta")
        return self.table.per_record(np.any([each > limited.limit for each in getattr(self, kind).values()], axis=0))

    @property
    def headline(self) -> str:
        """The greatest beta."""
        times = f"{1 + self.worst():.3g} times"
        return f"beta-likeness: a sensitive value is up to {times} as frequent in a group as in the whole file"

    def tables(self) -> tuple[Table, ...]:
        """By variable: the greatest of each kind over the groups."""
        heads = ("greatest over groups", "beta", "enhanced", "delta", "delta, present values", "alpha")
        rows = tuple((name, *(f"{self.greatest(kind)[name]:.3g}" for kind in KINDS)) for name in self.beta)
        return (Table(heads, rows),)

    def to_frame(self) -> frame.Frame:
        """One row per record."""
        return frame.table(self.record_columns())

    def record_columns(self) -> dict[str, Any]:
        """The figures of each record's group."""
        return {
            f"{name}:{kind}": self.table.per_record(getattr(self, kind)[name]) for name in self.beta for kind in KINDS
        }

    def to_dict(self) -> dict[str, Any]:
        """By variable: the greatest of each kind; null where it is infinite."""
        found = {name: {kind: self.greatest(kind)[name] for kind in KINDS} for name in self.beta}
        return {name: {kind: x if np.isfinite(x) else None for kind, x in row.items()} for name, row in found.items()}


@measure(
    by_key=True,
    needs=("keys", "sensitive"),
    called_for="sensitive_categories",
    limit=at_most(
        "worst",
        "the greatest beta of any variable",
        void="records",
        moved_by="Recode or Generalise the keys, so that groups grow more like the file, or GroupRare of the sensitive "
        "variable",
    ),
)
def likeness(
    data: Any,
    scenario: Scenario,
    *,
    sensitive: Annotated[Any, Doc("Sensitive variables; the scenario's unless given.")] = None,
    keys: Annotated[Any, Doc("Key variables; the scenario's unless given.")] = None,
) -> Likeness:
    """beta-likeness (basic and enhanced), delta-disclosure and the alpha of (alpha, k)-anonymity.

    With p the share of a sensitive value in a group and q its share in the file: basic beta is the greatest
    (p - q)/q; enhanced beta also wants every gain within -ln q; delta is the greatest |ln(p/q)| over all values of the
    file, infinite when a group rules one out; alpha is the greatest p. A missing value is one category.

    References: Cao and Karras (2012); Brickell and Shmatikov (2008); Wong et al. (2006).

    >>> import polars as pl
    >>> patients = pl.DataFrame({"sex": ["m", "m", "f", "f"], "disease": ["a", "b", "a", "a"]})
    >>> found = likeness(patients, Scenario(keys=["sex"], sensitive=["disease"]))
    >>> found.greatest("beta"), found.greatest("alpha")
    ({'disease': 1.0}, {'disease': 1.0})
    """
    names = sensitive_categories(data, scenario, sensitive)
    table = key_table(data, scenario, keys)
    parts: dict[str, dict[str, Floats]] = {kind: {} for kind in KINDS}
    not_valid = table.keys_not_valid or perturbed_values(data, names)
    for name in names:
        codes = data.coded(name).codes
        values, file = histogram(table, codes), file_shares(codes, table.unit, table.repeats)
        not_valid = not_valid or several_values(table, values)
        parts["beta"][name] = relative_gain(values, file)
        parts["enhanced"][name] = enhanced_gain(values, file)
        parts["delta_present"][name] = log_ratio(values, file)
        parts["delta"][name] = np.where(lacks_a_value(values, file), np.inf, parts["delta_present"][name])
        parts["alpha"][name] = greatest_share(values)
    return Likeness(table, **parts, not_valid=not_valid)
