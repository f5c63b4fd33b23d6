"""Rare values: who has a value of a single key that hardly anybody else has?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import frame
from tacita.arrays import Bools, Ints
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc
from tacita.progress import Progress, no_progress
from tacita.result import Percent, Result, Table, percent
from tacita.scenario import Scenario


def rare(codes: Ints, least: int) -> Bools:
    """By record: whether fewer than `least` records have its code; a missing value, code 0, is never rare."""
    found: Bools = (np.bincount(codes)[codes] < least) & (codes > 0)
    return found


def rare_values_bars(result: Any, *, width: int = 300) -> Any:
    """Records with a rare value, by key."""
    import altair as alt

    rows = result.tables()[0].to_dict()["rows"]
    points = [{"key": name, "records": records} for name, records, _ in rows]
    return alt.Chart(alt.Data(values=points)).mark_bar().encode(x="records:Q", y="key:N").properties(width=width)


@dataclass(frozen=True, eq=False)
class RareValues(Result):
    """Records that a single key already sets apart."""

    least: int
    """A value is rare with fewer records."""
    by_key: dict[str, Bools]
    """By key and record: whether its value is rare."""

    @property
    def any_rare(self) -> Bools:
        """By record: whether one of its values is rare."""
        found: Bools = np.any(list(self.by_key.values()), axis=0)
        return found

    @property
    def share(self) -> float:
        """The share of records with a rare value."""
        return float(self.any_rare.mean())

    @property
    def headline(self) -> str:
        """How many records have a rare value."""
        count = int(self.any_rare.sum())
        return f"{count:,} records ({percent(self.share)}) have a value that fewer than {self.least} records have"

    def tables(self) -> tuple[Table, ...]:
        """Records with a rare value, by key."""
        rows = tuple((name, int(each.sum()), Percent(each.mean())) for name, each in self.by_key.items())
        return (Table(("key", "records with a rare value", "share"), rows),)

    def unsafe_records(self, policy: Any) -> Bools:
        """By record: whether one of its values is rare."""
        return self.any_rare

    def to_frame(self) -> frame.Frame:
        """One row per record."""
        return frame.table({f"{name}:rare": each for name, each in self.by_key.items()})

    def to_dict(self) -> dict[str, Any]:
        """The share, and records by key."""
        return {"share": self.share, "records": {name: int(each.sum()) for name, each in self.by_key.items()}}


@measure(
    needs="keys",
    limit=at_most("share", "the share of records with a rare value"),
    figure=rare_values_bars,
    missing=own_rule("A missing value is never rare."),
)
def rare_values(
    data: Any,
    scenario: Scenario,
    *,
    least: Annotated[int, AtLeast(1), Doc("A value is rare with fewer records.")] = 3,
    progress: Progress = no_progress,
) -> RareValues:
    """Records with a value of a key that fewer than `least` records have.

    Whoever has such a value is recognised by that variable alone.

    >>> import polars as pl
    >>> people = pl.DataFrame({"town": ["here", "here", "here", "far"]})
    >>> rare_values(people, Scenario(keys=["town"])).share
    0.25
    """
    progress(0.0, "counting values")
    return RareValues(least, {name: rare(data.coded(name).codes, least) for name in scenario.keys})
