"""t-closeness: how far is a group's distribution of a sensitive variable from that of the whole file?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.keys.table import KeyTable, key_table
from tacita.measures import at_most, measure
from tacita.parameters import Doc
from tacita.result import Repair, Result, Table
from tacita.risk.attribute.groups import Histogram, histogram, perturbed_values, several_values
from tacita.risk.attribute.l_diversity import sensitive_names
from tacita.scenario import Scenario


def file_shares(codes: Codes | Ints, unit: Ints | None = None, repeats: Ints | None = None) -> Floats:
    """The share of each value in the file, by code; where units have several records each of a unit's values once."""
    if repeats is not None:
        shares: Floats = np.bincount(codes, weights=repeats) / repeats.sum()
        return shares
    if unit is not None:
        units = int(unit.max()) + 1
        codes = np.unique(codes.astype(np.int64) * units + unit) // units
    return np.bincount(codes) / len(codes)


def nominal_distance(values: Histogram, file: Floats) -> Floats:
    """By group: 1/2 sum |p - q| over all values of the file."""
    share, whole = values.share, file[values.value]
    # Values that do not occur in the group add their file share, which is what the others leave of 1.
    inside = np.add.reduceat(np.abs(share - whole), values.start)
    absent = 1.0 - np.add.reduceat(whole, values.start)
    return 0.5 * (inside + np.maximum(absent, 0.0))


def ordered_distance(values: Histogram, file: Floats) -> Floats:
    """By group: the ordered earth mover's distance 1/(m-1) sum |P_i - Q_i| over the m values of the file.

    P only steps at values of the group, so between two of them |P - Q_i| is summed by prefix sums of Q, split where Q
    crosses P.
    """
    occurring = np.flatnonzero(file)
    if len(occurring) == 1:
        return np.zeros(values.groups)
    below = np.cumsum(file[occurring])
    prefix = np.concatenate([[0.0], np.cumsum(below)])
    place = np.searchsorted(occurring, values.value)
    last = np.append(values.group[1:] != values.group[:-1], True)
    end = np.where(last, len(occurring), np.append(place[1:], 0))
    running = np.cumsum(values.share)
    before = (running - values.share)[values.start]
    height = np.where(last, 1.0, running - before[values.group])
    first = values.start
    area: Floats = np.add.reduceat(_area(height, place, end, below, prefix), first)
    # Before its first value a group has P = 0.
    area = (area + prefix[place[first]]) / (len(occurring) - 1)
    return area


def _area(height: Floats, start: Any, end: Any, below: Floats, prefix: Floats) -> Floats:
    """Sum over i in [start, end) of |height - Q_i|, Q ascending with prefix sums."""
    cross = np.clip(np.searchsorted(below, height), start, end)
    under = height * (cross - start) - (prefix[cross] - prefix[start])
    over = (prefix[end] - prefix[cross]) - height * (end - cross)
    area: Floats = np.maximum(under, 0.0) + np.maximum(over, 0.0)
    return area


@dataclass(frozen=True, eq=False)
class TCloseness(Result):
    """The distance between each group's distribution of a sensitive variable and the file's."""

    table: KeyTable
    """The keys."""
    distance: dict[str, Floats]
    """By variable and key."""
    scale: dict[str, str]
    """How each variable was compared: nominal, ordinal or numeric."""
    not_valid: str = ""
    """Why groups of equal keys say nothing; empty if they do."""

    @property
    def greatest(self) -> float:
        """The greatest t of any variable."""
        return max(self.t.values())

    @property
    def t(self) -> dict[str, float]:
        """By variable: the greatest distance; the file is t-close for this t."""
        return {name: float(by_key.max()) for name, by_key in self.distance.items()}

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether its group is farther from the file than the policy's t, on any variable."""
        limited = policy.limit_of("t_closeness")
        return None if limited is None else self.table.per_record(self._farther(limited.limit))

    def _farther(self, limit: float) -> Bools:
        return np.asarray(np.any([by_key > limit for by_key in self.distance.values()], axis=0))

    def repair(self, policy: Any) -> Repair | None:
        """Joining the groups that are too far from the file with others."""
        limit = policy.limit_of("t_closeness").limit
        far = self._farther(limit)
        text = (
            f"{check.counted(int(self.table.records[far].sum()), 'record')} in "
            f"{check.counted(int(far.sum()), 'group')} farther than t = {limit:g}: "
            f"Generalise(hierarchies=..., t={limit:g}), or Recode of the keys, joins them with others"
        )
        return Repair("t_closeness", text, records=int(self.table.records[far].sum()))

    @property
    def headline(self) -> str:
        """The greatest t."""
        return f"t-closeness: the file is t-close for t = {self.greatest:.3g}"

    def tables(self) -> tuple[Table, ...]:
        """By variable: t, and how it was compared."""
        rows = tuple((name, f"{t:.3g}", self.scale[name]) for name, t in self.t.items())
        return (Table(("sensitive variable", "t", "compared as"), rows),)

    def to_frame(self) -> frame.Frame:
        """One row per record."""
        return frame.table(self.record_columns())

    def record_columns(self) -> dict[str, Any]:
        """The distance of each record's group."""
        return {f"{name}:t": self.table.per_record(by_key) for name, by_key in self.distance.items()}

    def to_dict(self) -> dict[str, Any]:
        """By variable: t, and how it was compared."""
        return {name: {"t": t, "compared_as": self.scale[name]} for name, t in self.t.items()}


@measure(
    by_key=True,
    needs=("keys", "sensitive"),
    called_for="sensitive",
    limit=at_most("greatest", "the greatest t of any variable", void=1.0),
)
def t_closeness(
    data: Any,
    scenario: Scenario,
    *,
    sensitive: Annotated[Any, Doc("Sensitive variables; the scenario's unless given.")] = None,
    keys: Annotated[Any, Doc("Key variables; the scenario's unless given.")] = None,
) -> TCloseness:
    """How much an intruder who finds a group learns about its sensitive values beyond what the whole file says.

    Nominal variables: 1/2 sum |p - q|. Ordinal and numeric ones: the earth mover's distance over their ordered values,
    1/(m-1) sum |P_i - Q_i|. The file's t is the greatest over groups. A missing value is one category, the lowest.

    Reference: Li, Li and Venkatasubramanian (2007).

    >>> import polars as pl
    >>> patients = pl.DataFrame({"sex": ["m", "m", "f", "f"], "disease": ["a", "b", "a", "a"]})
    >>> t_closeness(patients, Scenario(keys=["sex"], sensitive=["disease"])).t
    {'disease': 0.25}
    """
    names = sensitive_names(data, scenario, sensitive)
    table = key_table(data, scenario, keys)
    distance, scale, not_valid = {}, {}, table.keys_not_valid or perturbed_values(data, names)
    for name in names:
        codes = data.coded(name).codes
        scale[name] = data.scale(name)
        between = nominal_distance if scale[name] == "nominal" else ordered_distance
        values = histogram(table, codes)
        distance[name] = between(values, file_shares(codes, table.unit, table.repeats))
        not_valid = not_valid or several_values(table, values)
    return TCloseness(table, distance, scale, not_valid)
