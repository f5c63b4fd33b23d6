"""Top and bottom coding: what is above or below a limit is shown no more exactly."""

from __future__ import annotations

import math
import statistics
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tacita import check
from tacita.arrays import Bools
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.mechanism import Mechanism
from tacita.parameters import AtLeast, Doc, NotEmpty, Shape, Share
from tacita.protect.numeric_column import Numbers, numbers_of, written
from tacita.protect.recode.regroup import Column, column_of, gathered, regrouped
from tacita.protect.step import Applied, CellStep, Context, present

WORDS = ("threshold", "mean", "median")
"""What can replace coded values, besides a number or a text."""


def quantile(values: NDArray[Any], share: float | Fraction) -> float:
    """The smallest value that at least this share of the values do not exceed: one of them, never between two.

    >>> quantile(np.array([30, 10, 40, 20]), 0.5), quantile(np.array([30, 10, 40, 20]), 0.51)
    (20, 30)
    """
    rank = max(1, math.ceil(Fraction(str(share)) * len(values)))
    found: float = np.partition(values, rank - 1)[rank - 1].item()
    return found


def centre(values: NDArray[Any], how: str) -> float:
    """The mean or median of values, the same whatever their order."""
    if how == "median":
        return float(statistics.median(values.tolist()))
    return math.fsum(values.tolist()) / len(values)


def limits_of(what: str, given: Any) -> Any:
    """A number, or a table of them by variable."""
    if not isinstance(given, Mapping):
        return check.exact_number(what, given)
    return {name: check.exact_number(what, value) for name, value in check.mapping(what, given).items()}


def replacement(what: str, given: Any) -> Any:
    """What replaces coded values: a word, a number, or a text."""
    if isinstance(given, bool) or not isinstance(given, str | int | float) or given == "":
        raise TacitaError(
            f"{what} must be {', '.join(map(repr, WORDS))}, a number or a text; got {check.given(given)}."
        )
    return given if isinstance(given, str) else check.exact_number(what, given)


@dataclass(frozen=True)
class EndCode(CellStep):
    """What top and bottom coding share."""

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, which must hold numbers.")]
    at: Annotated[
        Any,
        Shape("number, or one per variable", limits_of),
        Doc("The limit: a number, or one per variable, as {'income': 90000}."),
    ] = None
    share: Annotated[
        float | None,
        Share(zero=False, one=False),
        Doc("Or the limit is set so that at most this share of the records that have a value is coded: 0.01 for 1 %."),
    ] = None
    value: Annotated[
        Any,
        Shape("`threshold`, `mean`, `median`, number or text", replacement),
        Doc("What replaces them: the limit, the mean or median of those coded, a number, or the name of a category."),
    ] = "threshold"
    together: Annotated[
        bool, Doc("Whether all variables of a record are coded where one of them is beyond its limit.")
    ] = False
    least: Annotated[
        int | None,
        AtLeast(1),
        Doc("An error if fewer records than this are coded; 2 for mean and median unless given."),
    ] = None

    top: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if (self.at is None) == (self.share is None):
            raise TacitaError(
                f"{self.kind()} needs either at (a limit) or share (of the records to code); give one of them."
            )
        if isinstance(self.at, Mapping) and sorted(self.at) != sorted(self.variables):
            raise TacitaError(f"at must have one limit for each of the variables; got it for {check.quoted(self.at)}.")
        if self.together and self.value == "threshold":
            raise TacitaError(
                "together codes values below their limit too; pass value='mean', 'median', a number or a text."
            )

    def _beyond(self, column: Numbers, limit: float) -> Bools:
        """Where values are beyond the limit, strictly; whole numbers are compared with whole ones, and so exactly."""
        if column.whole:
            limit = math.floor(limit) if self.top else math.ceil(limit)
        beyond: Bools = column.values > limit if self.top else column.values < limit
        return beyond

    @abstractmethod
    def _quantile(self, values: NDArray[Any], share: Fraction) -> float:
        """The nearest value that this share of the values does not go beyond."""

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with coded variables."""
        names = present(self, self.variables, data)
        columns = {name: numbers_of(data, name) for name in names}
        limits = {name: self._limit(name, column) for name, column in columns.items()}
        coded = {name: column.there & self._beyond(column, limits[name]) for name, column in columns.items()}
        if self.together:
            any_coded = np.logical_or.reduce(list(coded.values()))
            coded = {name: any_coded & column.there for name, column in columns.items()}
        counts = {name: int(where.sum()) for name, where in coded.items()}
        fresh: dict[str, Any] = {}
        known: dict[str, Variable] = {}
        remarks: list[str] = []
        for name in names:
            if counts[name]:
                self._check_count(name, counts[name])
                fresh[name], variable, sharing = self._coded(data, name, columns[name], coded[name], limits[name])
                if variable is not None:
                    known[name] = variable
                remarks += few_share(name, sharing, context.policy.k)
                remarks += most_changed(name, counts[name], int(columns[name].there.sum()))
        data = data.with_columns(fresh, known) if fresh else data
        coding = self._mechanism(counts)
        return Applied(
            data, tuple(remarks), {"coded": counts}, (coding,), (coding.with_parameters("at", "share", "value"),)
        )

    def _mechanism(self, counts: Mapping[str, int]) -> Mechanism:
        limit = {"at": self.at} if self.share is None else {"share": self.share}
        given = {**limit, "value": self.value, "together": self.together, "coded": counts}
        return Mechanism("top coding" if self.top else "bottom coding", self.variables, given)

    def _limit(self, name: str, column: Numbers) -> float:
        if self.share is None:
            limit: float = self.at[name] if isinstance(self.at, Mapping) else self.at
            return limit
        values = column.values[column.there]
        return self._quantile(values, 1 - Fraction(str(self.share))) if len(values) else 0.0

    def _check_count(self, name: str, count: int) -> None:
        least = self.least if self.least is not None else 2 if self.value in ("mean", "median") else 1
        if count < least:
            side = "lower" if self.top else "higher"
            raise TacitaError(
                f"{check.counted(count, 'record')} of {name!r} would be coded, fewer than {least}, so that the code "
                f"gives away what they had; choose a {side} limit."
            )

    def _coded(
        self, data: Data, name: str, column: Numbers, where: Bools, limit: float
    ) -> tuple[Any, Variable | None, int]:
        """The new column, what is known of it if that changes, and how many records share the code."""
        if isinstance(self.value, str) and self.value not in WORDS:
            series, variable = self._as_category(data, name, where)
            return series, variable, int(where.sum())
        code: float = limit
        if not isinstance(self.value, str):
            code = self.value
        elif self.value != "threshold":
            if not np.isfinite(column.values[where]).all():
                raise TacitaError(f"column {name!r} has infinite values, of which there is no {self.value}.")
            code = centre(column.values[where], self.value)
        whole = column.whole and float(code).is_integer() and -(1 << 63) <= code < 1 << 63
        values = column.values if whole else column.values.astype(np.float64)
        coded = np.where(where, int(code) if whole else code, values)
        sharing = int((column.there & (coded == (int(code) if whole else code))).sum())
        return written(data, name, column, coded), None, sharing

    def _as_category(self, data: Data, name: str, where: Bools) -> tuple[Any, Variable]:
        """The column as texts, with one category for the coded values, at the end that it belongs to."""
        column, known = column_of(data, name), data.variable(name)
        values = (*column.values, self.value) if self.top else (self.value, *column.values)
        codes = column.codes if self.top else np.where(column.codes > 0, column.codes + 1, 0)
        codes = np.where(where, len(values) if self.top else 1, codes)
        used = np.unique(codes[codes > 0])
        lookup = np.zeros(len(values) + 1, dtype=np.uint32)
        lookup[used] = np.arange(1, len(used) + 1, dtype=np.uint32)
        left = tuple(values[at - 1] for at in used.tolist())
        fresh = Column(lookup[codes], left, tuple(value for value in left if value in column.declared))
        labels = {code: label for code, label in known.value_labels.items() if code in fresh.plain}
        return regrouped(data, name, fresh, gathered(fresh.plain, labels, ascending=True))


@dataclass(frozen=True)
class TopCode(EndCode):
    """Replace numbers above a limit: by the limit, by the mean or median of those above it, or by a category.

    The richest household and the oldest person are found by their number alone. Values strictly above the limit are
    coded, a value that equals it is not. The mean keeps the total of the variable. A code that fewer than k records
    share is remarked in the log: the mean of one value is that value.

    `share=0.01` codes at most 1 record in 100: the limit is the 0.99 quantile, the smallest value that at least 99 of
    100 records do not exceed. A step that codes more than half of the records says so.
    With `together=True` all variables of a record are coded where one of them is above its limit.

    >>> import tacita as tc, polars as pl
    >>> firms = pl.DataFrame({"staff": [3, 8, 40, 900, 1100], "nace": ["A", "A", "B", "B", "B"]})
    >>> plan = tc.Plan([TopCode("staff", at=500, value="mean")])
    >>> plan.apply(firms, tc.Scenario(keys=["nace"])).data.table["staff"].to_list()
    [3, 8, 40, 1000, 1000]
    """

    top: ClassVar[bool] = True

    def _quantile(self, values: NDArray[Any], share: Fraction) -> float:
        return quantile(values, share)


@dataclass(frozen=True)
class BottomCode(EndCode):
    """Replace numbers below a limit: by the limit, by the mean or median of those below it, or by a category.

    As `TopCode`, at the other end: `share=0.01` takes for limit the greatest value that at least 99 of 100 records
    reach.

    >>> import tacita as tc, polars as pl
    >>> firms = pl.DataFrame({"profit": [-900.0, -700.0, 10.0, 25.0], "nace": ["A", "A", "B", "B"]})
    >>> plan = tc.Plan([BottomCode("profit", at=0)])
    >>> plan.apply(firms, tc.Scenario(keys=["nace"])).data.table["profit"].to_list()
    [0.0, 0.0, 10.0, 25.0]
    """

    top: ClassVar[bool] = False

    def _quantile(self, values: NDArray[Any], share: Fraction) -> float:
        rank = max(1, math.ceil(share * len(values)))
        found: float = np.partition(values, len(values) - rank)[len(values) - rank].item()
        return found


def most_changed(name: str, changed: int, records: int, how: str = "coded") -> list[str]:
    """What the log says where more than half of the records that have a value were changed: few are meant to be."""
    if 2 * changed <= records:
        return []
    return [f"{name!r}: {changed:,} of the {records:,} records that have a value were {how}, more than half"]


def few_share(name: str, sharing: int, k: int | None) -> list[str]:
    """What the log says of a code that fewer than k records have."""
    if k is None or sharing >= k:
        return []
    return [f"{name!r}: {check.counted(sharing, 'record shares', 'records share')} the code, fewer than k = {k}"]
