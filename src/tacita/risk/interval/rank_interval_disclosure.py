"""Interval disclosure by ranks: how near do released values stay to the ranks of the original ones?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.distance.scenario_keys import NumericKeys, Unit, numeric_keys
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.result import Result, Table
from tacita.risk.interval.interval_disclosure import inside_shares, pairs_of_values, share_text
from tacita.scenario import Scenario


def mid_ranks(values: Floats) -> Floats:
    """By column: the rank from 1 of each number, the mean rank for equal ones, NaN where missing."""
    ranks = np.full(values.shape, np.nan)
    for at, column in enumerate(values.T):
        shown = ~np.isnan(column)
        _, group, count = np.unique(column[shown], return_inverse=True, return_counts=True)
        ranks[shown, at] = (np.cumsum(count) - (count - 1) / 2.0)[group]
    return ranks


def rank_difference(x: Floats, y: Floats) -> Floats:
    """|rank(x) - rank(y)| in percent of the records that show both values; NaN where one is missing."""
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    difference: Floats = np.abs(mid_ranks(x) - mid_ranks(y)) * 100.0 / np.maximum(both.sum(axis=0), 1)
    return difference


@dataclass(frozen=True, eq=False)
class RankIntervalDisclosure(Result):
    """How many original values have about the rank of the released ones."""

    variables: tuple[str, ...]
    """The variables compared."""
    widths: tuple[float, ...]
    """Half the widths of the intervals, in percent of the records."""
    difference: Floats
    """By released record and variable: |rank of the original - rank of the released value| in percent of the records
    that show both; NaN where one is missing."""
    record: Ints
    """The number of each released record that is in the original."""
    cautions: tuple[str, ...] = ()
    """That some released records are not."""

    @cached_property
    def missing(self) -> Bools:
        """By released record and variable: whether the original or the released value is missing."""
        return np.isnan(self.difference)

    def inside(self, width: float) -> Bools:
        """By released record and variable: whether the ranks differ by at most so many percent of the records."""
        # A hair more: a width of p percent of the records is often a whole number of ranks.
        near: Bools = self.difference <= width * (1.0 + 1e-12)
        return near

    @cached_property
    def shares(self) -> Floats:
        """By width and variable: the share inside, of the records that show both values; NaN if none does."""
        return np.stack([inside_shares(self.inside(width), ~self.missing) for width in self.widths])

    @property
    def by_variable(self) -> dict[str, float]:
        """By variable: the share inside, averaged over the widths."""
        return dict(zip(self.variables, self.shares.mean(axis=0).tolist(), strict=True))

    @property
    def share(self) -> float:
        """The rank interval measure: the mean share over widths and variables; NaN if nothing can be compared."""
        known = self.shares[:, ~np.isnan(self.shares[0])]
        return float(known.mean()) if known.size else float("nan")

    @cached_property
    def share_all(self) -> Floats:
        """By width: the share of the records with every variable inside; a missing value is not."""
        return np.array([self.inside(width).all(axis=1).mean() for width in self.widths])

    @cached_property
    def share_any(self) -> Floats:
        """By width: the share of the records with at least one variable inside."""
        return np.array([self.inside(width).any(axis=1).mean() for width in self.widths])

    @property
    def records_with_missing(self) -> int:
        """Records with a missing value: they are never counted as inside in all variables."""
        return int(self.missing.any(axis=1).sum())

    @property
    def headline(self) -> str:
        """Original values whose rank is known to within some percent."""
        low, high = min(self.widths), max(self.widths)
        reach = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        return (
            f"{share_text(self.share)} of the original values have the rank of the released one to within "
            f"{reach} percent of the records"
        )

    def sentences(self) -> list[str]:
        """Records with missing values."""
        gone = self.records_with_missing
        return [f"{check.counted(gone, 'record')} with missing values"] if gone else []

    def tables(self) -> tuple[Table, ...]:
        """The shares at each width."""
        every = zip(self.widths, self.share_all.tolist(), self.share_any.tolist(), self.shares.tolist(), strict=True)
        rows = tuple((f"{width:g}", *map(share_text, (both, one, *shares))) for width, both, one, shares in every)
        return (Table(("percent", "all variables", "any variable", *self.variables), rows),)

    def to_frame(self) -> frame.Frame:
        """One row per released record."""
        return frame.table({"record": self.record, **self.record_columns()})

    def record_columns(self) -> dict[str, Any]:
        """The least and the greatest difference of ranks over the variables, and values missing.

        All variables are inside from the greatest on, any from the least on; empty where nothing can be compared.
        """
        gone = self.missing
        least = np.where(gone, np.inf, self.difference).min(axis=1)
        most = np.where(gone, -np.inf, self.difference).max(axis=1)
        return {
            "least_difference": np.where(np.isinf(least), np.nan, least),
            "greatest_difference": np.where(np.isinf(most), np.nan, most),
            "missing": gone.sum(axis=1),
        }

    def to_dict(self) -> dict[str, Any]:
        """The shares of the file; null where nothing can be compared."""
        widths = [f"{width:g}" for width in self.widths]
        return {
            "records": len(self.record),
            "share": _known(self.share),
            "share_all": dict(zip(widths, self.share_all.tolist(), strict=True)),
            "share_any": dict(zip(widths, self.share_any.tolist(), strict=True)),
            "by_variable": {name: _known(share) for name, share in self.by_variable.items()},
            "records_with_missing": self.records_with_missing,
        }


def _known(share: float) -> float | None:
    return None if np.isnan(share) else share


@measure(
    files=2,
    needs="numeric_keys",
    limit=at_most(
        "share",
        "the mean share of values inside",
        void=1.0,
        moved_by="more Noise, Microaggregate with a larger k, RankSwap with a wider window, or Shuffle",
    ),
    for_numeric_keys=True,
    missing=own_rule("A missing value is never inside; ranks are among the records that show both."),
)
def rank_interval_disclosure(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: NumericKeys = None,
    widths: Annotated[Iterable[float], Doc("Half the widths of the intervals, in percent of the records.")] = range(
        1, 11
    ),
    unit: Unit = None,
    progress: Progress = no_progress,
) -> RankIntervalDisclosure:
    """How many released values of the numeric keys keep about the rank of the original ones.

    Who knows that a firm is the largest, or among the upper tenth, needs no values: the order is enough to find it.
    A value is inside an interval of p percent if |rank(x_ij) - rank(y_ij)| <= p n / 100, with the mean rank for equal
    values and n the records that show both values. The measure is the mean share over the variables and over the
    widths p, 1 to 10 percent; per width also the share of the records with all variables inside, and with any.

    Released records belong to the original with the same record number, or with the same value of the column `unit`.

    References: Pagliuca and Seri (1999), Some results of individual ranking method on the system of enterprise
    accounts; Domingo-Ferrer and Torra (2001), A quantitative comparison of disclosure control methods for microdata.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [100.0, 200.0, 300.0, 400.0]})
    >>> noisy = pl.DataFrame({"turnover": [101.0, 290.0, 280.0, 400.0]})
    >>> found = rank_interval_disclosure(firms, noisy, Scenario(numeric_keys=["turnover"]), widths=[10, 25])
    >>> found.share, found.difference[:, 0].tolist()
    (0.75, [0.0, 25.0, 25.0, 0.0])
    """
    percents = _percentages(widths)
    names = numeric_keys("rank_interval_disclosure", scenario, keys)
    progress(0.0, "comparing ranks")
    x, y, record, cautions = pairs_of_values(original, released, names, unit)
    return RankIntervalDisclosure(names, percents, rank_difference(x, y), record, cautions)


def _percentages(widths: Any) -> tuple[float, ...]:
    if isinstance(widths, str) or not isinstance(widths, Iterable):
        raise TacitaError(f"widths must be a list of percentages; got {check.given(widths)}, write [{widths}].")
    percents = tuple(check.number("widths", each) for each in widths)
    if not percents or min(percents) < 0:
        raise TacitaError(f"widths must be one or more percentages of at least 0; got {check.given(list(percents))}.")
    return percents
