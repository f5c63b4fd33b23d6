"""Quantiles: intervals that end at exact quantiles of the file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.parameters import Doc, Shape
from tacita.protect.recode.ways.breaks import Into, check_group_names, fewer_groups, parted
from tacita.protect.recode.ways.way import Closed, Grouping, Source, Way

MOST_GROUPS = 10_000
TOLD = "the ends of the groups are values of the file and stand in their names; groups=... takes round ones"


def parts_or_shares(what: str, given: Any) -> Any:
    """A number of parts of equal size, or the shares below each end."""
    if isinstance(given, bool | str | Mapping) or given is None:
        raise TacitaError(f"{what} must be a number of groups, or ascending shares as [0.1, 0.5, 0.9]; got {given!r}.")
    if not isinstance(given, Iterable):
        parts = check.whole(what, given, 2)
        if parts > MOST_GROUPS:
            raise TacitaError(f"{what} must be at most {MOST_GROUPS:,}; got {parts:,}.")
        return parts
    shares = tuple(check.share(what, each, zero=False, one=False) for each in given)
    if not shares or any(low >= high for low, high in pairwise(shares)):
        raise TacitaError(f"{what} must be ascending shares, as [0.1, 0.5, 0.9]; got {list(shares)!r}.")
    return shares


def exact_quantiles(values: Sequence[float], counts: Ints, shares: Sequence[Fraction]) -> list[float]:
    """Of ascending values with their counts: the smallest that at least a share of the records do not exceed.

    >>> exact_quantiles([10, 20, 30], np.array([1, 2, 1]), [Fraction(1, 4), Fraction(1, 2)])
    [10, 20]
    """
    upto, total = np.cumsum(counts), int(counts.sum())
    places = [int(np.searchsorted(upto, math.ceil(share * total))) for share in shares]
    return [values[place] for place in places]


@dataclass(frozen=True)
class Quantiles(Way):
    """Intervals that end at exact quantiles: so many parts with equal shares of the records, or shares of their own.

    Each interval holds the quantile that it ends at.

    >>> Quantiles([0.1, 0.9]).given()
    {'quantiles': (0.1, 0.9)}
    """

    quantiles: Annotated[
        Any,
        Shape("whole number at least 2, or ascending shares", parts_or_shares),
        Doc("The number of intervals with equal shares of the records, or the shares below their ends: [0.1, 0.5]."),
    ]
    closed: Closed = "right"
    into: Into = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_group_names(self.into, len(self._shares) + 1)

    @property
    def _shares(self) -> list[Fraction]:
        if isinstance(self.quantiles, tuple):
            return [Fraction(str(share)) for share in self.quantiles]
        return [Fraction(at, self.quantiles) for at in range(1, self.quantiles)]

    def grouping(self, source: Source) -> Grouping:
        """The interval of every number."""
        values = source.numbers()
        source.finite(values, "use breaks")
        order = sorted(range(len(values)), key=values.__getitem__)
        ascending, right = [values[at] for at in order], self.closed == "right"
        found = exact_quantiles(ascending, source.column.counts[np.array(order)], self._shares)
        # At the end of the file there is nothing to part.
        outer = ascending[-1] if right else ascending[0]
        breaks = [each for each in dict.fromkeys(found) if each != outer]
        if not breaks:
            raise TacitaError(
                f"column {source.name!r} has one value for most records and cannot be parted; use breaks."
            )
        wanted = len(self._shares) + 1
        fewer = fewer_groups(source.name, len(breaks) + 1, wanted, self.into, "since equal values stay together")
        return Grouping(parted(values, breaks, right, self.into), fewer).with_remark("" if self.into else TOLD)
