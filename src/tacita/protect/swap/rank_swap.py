"""Rank swapping: each value changes places with one of about the same rank."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Above, Doc, NotEmpty, OneOf, Share
from tacita.progress import Progress, part
from tacita.protect.numeric_column import written
from tacita.protect.numeric_table import NumericTable, numeric_table
from tacita.protect.step import Applied, CellStep, Context
from tacita.protect.swap.rank_windows import correlation_limit, subset_limit, whole_part, widest_window
from tacita.protect.top_code import few_share
from tacita.random import Draws

TAILS = ("mean", "keep")


class Ranks(NamedTuple):
    """The values of a variable in ascending order, those that are equal in random order."""

    order: Ints
    """By rank: the place of the value."""
    bottom: int
    """How many ranks are the lower tail."""
    top: int
    """How many are the upper tail."""

    @property
    def middle(self) -> Ints:
        """From the greatest value between the tails down: the place of the value."""
        return self.order[self.bottom : len(self.order) - self.top][::-1]

    def tails(self) -> tuple[Ints, Ints]:
        """The places of the values of the lower and of the upper tail."""
        return self.order[: self.bottom], self.order[len(self.order) - self.top :]


def ranked(values: Floats, record: Ints, bottom: int, top: int, draws: Draws) -> Ranks:
    """The ranks of values; values stand by record number, which decides between equal draws."""
    order = np.argsort(values, kind="stable")
    equal = np.diff(values[order]) == 0
    tied = np.append(equal, False) | np.append(False, equal) if len(order) else equal
    some = order[tied]
    order[tied] = some[np.lexsort((draws.step("ties").bits(record[some]), values[some]))]
    return Ranks(order, bottom, top)


def with_tail_means(values: Floats, ranks: Ranks) -> Floats:
    """The values with those of each tail replaced by their mean."""
    coded = values.copy()
    for tail in ranks.tails():
        if len(tail):
            coded[tail] = values[tail].mean()
    return coded


def swapped_places(ranks: Ranks, record: Ints, window: int, draws: Draws) -> Ints:
    """By place: the place that its new value comes from, its own in the tails and where it stays."""
    from tacita.protect.swap.rank_loops import rank_partners  # Numba is loaded by those who swap

    source = np.arange(len(record))
    source[ranks.middle] = ranks.middle[rank_partners(window, draws.uniform(record[ranks.middle]))]
    return source


class Swapped(NamedTuple):
    """What became of one variable."""

    source: Ints
    """By place: the place that its value comes from."""
    values: Floats
    """By place: its new value."""
    tail: Bools
    """By place: whether it was replaced by the mean of a tail."""
    figures: dict[str, Any]


@dataclass(frozen=True)
class RankSwap(CellStep):
    """Exchange each number with one of nearly the same rank, drawn from the next ranks.

    Who knows a turnover from elsewhere finds another firm's data beside it, and the variable still has exactly the same
    values. From the greatest value down, each one that has not been swapped yet changes places with one drawn from
    those of the next P n ranks that have not been swapped either: nobody moves further than P n ranks, n being the
    number of values. The greatest values, which are the easiest to find, have their whole window to draw from; the last
    few have fewer. Values that are equal stand in random order. Each variable is swapped by itself, so that relations
    between variables weaken.

    The window is given as a share of the values, or found: the widest for which values and swapped values correlate by
    at least `correlation` (R0), or for which means of subsets of m records stay within 2 K0 |mean| / sqrt(m) with K0 =
    `subset_means`; both on the mean of 20 trials.

    Moore (1996), Controlled data-swapping techniques for masking public use microdata sets, US Bureau of the Census.

    >>> import tacita as tc, polars as pl
    >>> firms = pl.DataFrame({"nace": ["A"] * 8, "turnover": [10, 20, 30, 40, 50, 60, 70, None]})
    >>> plan = tc.Plan([RankSwap("turnover", window=0.3)])
    >>> plan.apply(firms, tc.Scenario(keys=["nace"]), seed=1).data.table["turnover"].to_list()
    [10, 40, 50, 20, 30, 70, 60, None]
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, which must hold numbers.")]
    window: Annotated[
        float | None,
        Share(zero=False),
        Doc("How far a value may move, in ranks, as a share of the number of values: 0.05."),
    ] = None
    correlation: Annotated[
        float | None,
        Share(zero=False, one=False),
        Doc("Or as far as the swapped values still correlate with the values by so much."),
    ] = None
    subset_means: Annotated[
        float | None,
        Above(0),
        Doc("Or as far as the root mean square change is at most this times the mean, which bounds means of subsets."),
    ] = None
    top: Annotated[float, Share(one=False), Doc("The share of the greatest values that are a tail, not swapped.")] = 0.0
    bottom: Annotated[
        float, Share(one=False), Doc("The share of the smallest values that are a tail, not swapped.")
    ] = 0.0
    tails: Annotated[
        str, OneOf(TAILS), Doc("mean: the values of a tail are replaced by their mean; keep: they stay as they are.")
    ] = "mean"

    def __post_init__(self) -> None:
        given = [each for each in (self.window, self.correlation, self.subset_means) if each is not None]
        if len(given) != 1:
            raise TacitaError("rank_swap needs one of window, correlation and subset_means; give one of them.")
        if self.top + self.bottom >= 1:
            raise TacitaError("top and bottom must leave values to swap; choose shares of less than 1 together.")

    @property
    def draws(self) -> bool:
        """The ranks are drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with swapped numbers."""
        table = numeric_table(self, self.variables, data)
        fresh, figures, remarks = {}, {}, []
        for column, name in enumerate(table.names):
            there = np.flatnonzero(~np.isnan(table.values[:, column]))
            progress = part(context.progress, column / len(table.names), (column + 1) / len(table.names))
            draws = context.draws.step(name)
            swapped = self._swapped(table.values[there, column], table.record[there], draws, progress)
            fresh[name] = self._column(data, table, column, there, swapped)
            figures[name] = swapped.figures
            remarks += self._remarks(name, swapped, context.policy.k)
        asked = {"window": self.window, "correlation": self.correlation, "subset_means": self.subset_means}
        given = {"method": "rank swapping", **{what: value for what, value in asked.items() if value is not None}}
        tails = {"top": self.top, "bottom": self.bottom, "tails": self.tails} if self.top or self.bottom else {}
        swapping = Mechanism("swapping", table.names, {**given, **tails, "found": figures}, perturbs=True)
        public = swapping.with_parameters(*given, *tails)
        return Applied(data.with_columns(fresh), tuple(remarks), {"found": figures}, (swapping,), (public,))

    def _swapped(self, values: Floats, record: Ints, draws: Draws, progress: Progress) -> Swapped:
        count = len(values)
        ranks = ranked(values, record, whole_part(self.bottom, count), whole_part(self.top, count), draws)
        coded = with_tail_means(values, ranks) if self.tails == "mean" else values
        window = whole_part(self.window, count) if self.window is not None else 0
        if self.window is None and count:
            middle = ranks.middle
            limit = self._limit(values, coded)
            window = widest_window(values[middle], record[middle], limit, draws.step("trials"), progress)
        source = swapped_places(ranks, record, window, draws)
        changed = coded[source]
        figures = {
            "window": window,
            "swapped": int((source != np.arange(count)).sum()),
            "values": count,
            "tails": ranks.bottom + ranks.top,
            "correlation": _correlation(values, changed),
        }
        tail = np.zeros(count, dtype=np.bool_)
        tail[np.concatenate(ranks.tails())] = self.tails == "mean"
        return Swapped(source, changed, tail, figures)

    def _limit(self, values: Floats, coded: Floats) -> float:
        """The greatest sum of squared changes that keeps the correlation, or the means of subsets."""
        if self.correlation is not None:
            return correlation_limit(values, coded, self.correlation)
        assert self.subset_means is not None
        return subset_limit(values, coded, self.subset_means)

    def _column(self, data: Data, table: NumericTable, column: int, there: Ints, swapped: Swapped) -> Any:
        """The column with the swapped values, each to the last digit, and the means of tails."""
        given = table.columns[column]
        values, rows = given.values.copy(), table.rows[there]
        values[rows] = given.values[rows[swapped.source]]
        means = swapped.values[swapped.tail]
        values[rows[swapped.tail]] = np.rint(means) if given.whole else means
        return written(data, table.names[column], given, values)

    def _remarks(self, name: str, swapped: Swapped, k: int | None) -> list[str]:
        found, tails = swapped.figures, swapped.figures["tails"]
        said = []
        if not found["swapped"]:
            narrow = "window" if self.window is not None else "subset_means"
            way_out = "a lower correlation" if self.correlation is not None else f"a greater {narrow}"
            said.append(f"{name!r}: nothing swapped, since no value may move by a rank; choose {way_out}")
        elif k is not None and found["window"] < k:
            said.append(f"{name!r}: values move by fewer than k = {k} ranks, which protects little")
        elif self.window is None:
            said.append(f"{name!r}: values move by up to {found['window']:,} of {found['values']:,} ranks")
        sizes = {end: whole_part(getattr(self, end), found["values"]) for end in ("bottom", "top")}
        none = [end for end, size in sizes.items() if getattr(self, end) and not size]
        if none and found["values"]:
            counted = check.counted(found["values"], "value")
            said.append(f"{name!r}: {' and '.join(none)} of {counted} is less than one, so that there is no such tail")
        if tails and self.tails == "mean":
            said.append(f"{name!r}: {check.counted(tails, 'value')} of the tails replaced by their mean")
            said += few_share(name, min(size for size in sizes.values() if size), k)
        elif tails:
            said.append(f"{name!r}: {check.counted(tails, 'value')} of the tails stay as they were, unprotected")
        return said


def _correlation(values: Floats, changed: Floats) -> float | None:
    """The correlation of two variables; none where one of them is constant."""
    if not len(values):
        return None
    x, y = values - values.mean(), changed - changed.mean()
    size = math.sqrt((x * x).sum() * (y * y).sum())
    return float((x * y).sum()) / size if size > 0 else None
