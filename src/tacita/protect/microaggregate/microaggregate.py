"""Microaggregation of numbers: every record gets the average of a group of at least k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import COLUMN, Above, AtLeast, AtMost, Doc, NotEmpty, OneOf, Share
from tacita.protect.microaggregate.averages import AVERAGES, averages
from tacita.protect.numeric_column import EXACT
from tacita.protect.numeric_table import NumericTable, numeric_table, with_numbers
from tacita.protect.step import Applied, CellStep, Context, needed_weights, present

if TYPE_CHECKING:
    from tacita.protect.microaggregate.methods import Choice

BY_VARIABLE = ("individual", "optimal")
"""Methods that group each variable by itself."""
METHODS = (
    "mdav",
    "variable_mdav",
    "robust_distance",
    "principal_component",
    "robust_component",
    "projection_pursuit",
    "influence",
    "first_variable",
    "record_number",
    *BY_VARIABLE,
)


TRIM, GAMMA, L = 0.2, 0.2, 2


class Groups(NamedTuple):
    """The groups of every variable, and what the log says of them."""

    by_variable: tuple[Ints, ...]
    """By variable and record: its group; -1 where the value is missing."""
    sizes: Ints
    """By group: how many records it has."""
    remarks: tuple[str, ...] = ()
    figures: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Microaggregate(CellStep):
    """Replace numbers by the average of a group of at least `k` records that are alike.

    Afterwards every record has at least k - 1 others with the same numbers, and the mean of each variable is what it
    was (average 'mean', unless whole numbers are rounded). What is lost is the variation within groups: SSE/SST, the
    sum of squares within groups over that about the mean, variables standardised; 0 is nothing, 1 is everything.

    The method 'mdav' (maximum distance to average vector) forms groups of k around the records farthest from the mean;
    see `mdav`. 'variable_mdav' lets groups grow to 2k - 1 where records are dense, 'robust_distance' starts with those
    farthest from the bulk of the data. The methods along an axis cut the order of the records into groups where SSE is
    least: 'principal_component', 'robust_component', 'projection_pursuit', 'influence' (of each cluster the variable in
    which it lies farthest out), 'first_variable' and 'record_number'. 'individual' (equal groups) and 'optimal' (least
    SSE of all) group each variable by itself: little is lost, but records are not alike on several variables together.

    Missing values and codes stay. Records that miss the same variables are grouped among themselves; where fewer than k
    do, each joins the nearest group of records that show all that it shows. The groups depend on the data alone.

    References: Domingo-Ferrer and Torra (2005), Data Mining and Knowledge Discovery 11; Hansen and Mukherjee (2003),
    IEEE Transactions on Knowledge and Data Engineering 15.

    >>> import tacita as tc, polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 12.0, 90.0, 14.0, 80.0, 100.0], "nace": ["A"] * 6})
    >>> plan = tc.Plan([Microaggregate("turnover", k=3)])
    >>> plan.apply(firms, tc.Scenario(keys=["nace"])).data.table["turnover"].to_list()
    [12.0, 12.0, 90.0, 12.0, 90.0, 90.0]
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, which must hold numbers.")]
    k: Annotated[int | None, AtLeast(2), Doc("Records that a group has at least; none: the policy's k.")] = None
    method: Annotated[str, OneOf(METHODS), Doc("How groups are formed.")] = "mdav"
    average: Annotated[
        str,
        OneOf(AVERAGES),
        Doc(
            "What members of a group get; 'one_step' is the mean after drawing in values beyond three median absolute "
            "deviations."
        ),
    ] = "mean"
    trim: Annotated[
        float, Share(one=False), AtMost(0.49), Doc("The share cut off at either end of a group for the trimmed mean.")
    ] = TRIM
    weighted: Annotated[bool, Doc("Whether means are weighted by the scenario's weight.")] = False
    log: Annotated[
        bool, Doc("Whether groups are formed on log(1 + x), as for skewed variables; none may be below 0.")
    ] = False
    clusters: Annotated[
        int | None, AtLeast(2), AtMost(1000), Doc("Form so many clusters (k-means) first, and no group across them.")
    ] = None
    gamma: Annotated[
        float, Above(0), AtMost(100), Doc("How readily groups of 'variable_mdav' grow: 0.2 if records are scattered.")
    ] = GAMMA
    sensitive: Annotated[str | None, COLUMN, Doc("A variable of which every group must have `l` different values.")] = (
        None
    )
    l: Annotated[int, AtLeast(2), Doc("How many different values of the sensitive variable.")] = L  # noqa: E741

    def __post_init__(self) -> None:
        if self.weighted and self.average != "mean":
            raise TacitaError(f"weights are for means; leave out weighted, or average={self.average!r}.")
        if self.method == "influence" and self.clusters is None:
            raise TacitaError("method 'influence' looks for a variable in each cluster; give it clusters, as 8.")
        if self.method in BY_VARIABLE and (self.clusters is not None or self.sensitive is not None):
            raise TacitaError(
                f"method {self.method!r} groups each variable by itself, which takes no clusters and no sensitive "
                f"variable; choose a method that groups records, as 'mdav'."
            )
        for name, usual, used, goes_with in (
            ("l", L, self.sensitive is not None, "a sensitive variable"),
            ("trim", TRIM, self.average == "trimmed_mean", "average='trimmed_mean'"),
            ("gamma", GAMMA, self.method == "variable_mdav", "method='variable_mdav'"),
        ):
            if getattr(self, name) != usual and not used:
                raise TacitaError(f"{name} goes with {goes_with}; give it that, or leave {name} out.")

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with averages of groups."""
        given = numeric_table(self, self.variables, data)
        k = context.policy.k if self.k is None else self.k
        self._check(given, k)
        assert k is not None
        found = self._groups(given, data, context, k)
        weights = self._weights(data, context, given.rows)
        fresh = np.stack(
            [
                averages(column, groups, self.average, self.trim, weights)
                for column, groups in zip(given.values.T, found.by_variable, strict=True)
            ],
            axis=1,
        )
        lost = lost_share(given.values, fresh)
        figures = self._figures(found, lost)
        about = Mechanism("microaggregation", given.names, self._parameters(k) | figures, perturbs=True)
        remarks = (_summary(figures), *found.remarks) if len(found.sizes) else ()
        made = with_numbers(data, given, fresh)
        return Applied(
            made, remarks, {**figures, **found.figures}, (about,), (about.with_parameters("method", "k", "average"),)
        )

    def _parameters(self, k: int) -> dict[str, Any]:
        names = ("method", "average", "weighted", "log", "clusters", "sensitive")
        return {"k": k} | {name: getattr(self, name) for name in names}

    def _figures(self, found: Groups, lost: float) -> dict[str, Any]:
        least, most = (int(found.sizes.min()), int(found.sizes.max())) if len(found.sizes) else (0, 0)
        return {"groups": len(found.sizes), "smallest": least, "largest": most, "sse_share": lost}

    def _check(self, given: NumericTable, k: int | None) -> None:
        if k is None or k < 2:
            raise TacitaError("microaggregate needs groups of at least 2 records; pass k=..., here or in the policy.")
        for name, column, values in zip(given.names, given.columns, given.values.T, strict=True):
            if column.whole and (np.abs(values) > EXACT).any():
                raise TacitaError(
                    f"column {name!r} holds whole numbers beyond 2^53, which have no exact mean; remove it."
                )
            if self.log and (values < 0).any():
                count = check.counted(int((values < 0).sum()), "number")
                raise TacitaError(f"{count} of {name!r} below 0 have no logarithm; pass log=False.")
            shown = int((~np.isnan(values)).sum())
            if 0 < shown < k:
                has = check.counted(shown, "record has", "records have")
                raise TacitaError(
                    f"{has} a number of {name!r}, too few for groups of {k}; choose a smaller k or larger strata."
                )

    def _groups(self, given: NumericTable, data: Data, context: Context, k: int) -> Groups:
        """The groups; the modules that form them load Numba."""
        from tacita.protect.microaggregate.grouping import grouped
        from tacita.protect.microaggregate.methods import Choice

        values = np.log1p(given.values) if self.log else given.values
        choice = Choice(self.method, k, self.clusters, self.gamma)
        if self.method in BY_VARIABLE:
            return _by_variable(values, choice)
        codes = None
        if self.sensitive is not None:
            present(self, (self.sensitive,), data)
            codes = data.coded(self.sensitive).codes.astype(np.int64)[given.rows]
            self._check_diversity(codes[~np.isnan(values).all(axis=1)])
        found = grouped(values, given.record, choice, codes, self.l, context.progress)
        remarks = []
        if found.joined:
            count = check.counted(found.joined, "record")
            remarks.append(f"{count} with a rare pattern of missing values put into the nearest group that shows more")
        if found.merged:
            remarks.append(f"{check.counted(found.merged, 'group')} merged for {self.l} values of {self.sensitive!r}")
        figures = {"records_joined": found.joined, "groups_merged": found.merged}
        sizes = np.bincount(found.group[found.group >= 0])
        return Groups((found.group,) * len(given.names), sizes, tuple(remarks), figures)

    def _check_diversity(self, codes: Ints) -> None:
        found = len(np.unique(codes))
        if 0 < found < self.l:
            values = check.counted(found, "different value")
            raise TacitaError(
                f"l must be at most the {values} of {self.sensitive!r}; got {self.l}, choose a smaller l."
            )

    def _weights(self, data: Data, context: Context, rows: Ints) -> Floats | None:
        if not self.weighted:
            return None
        return needed_weights("weighted means need", data, context)[rows]


def _by_variable(values: Floats, choice: Choice) -> Groups:
    """Each variable grouped by itself."""
    from tacita.protect.microaggregate.methods import column_groups

    groups, sizes = [], []
    for column in values.T:
        there = ~np.isnan(column)
        own = np.full(len(column), -1)
        if there.any():
            own[there] = column_groups(column[there], choice)
        groups.append(own)
        sizes.append(np.bincount(own[there]))
    alone = ("each variable grouped by itself, so records are not alike on several together",)
    return Groups(tuple(groups), np.concatenate(sizes), alone if len(groups) > 1 else ())


def _summary(figures: dict[str, Any]) -> str:
    least, most = figures["smallest"], figures["largest"]
    sizes = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    groups = check.counted(figures["groups"], "group")
    return f"{groups} of {sizes} records; SSE/SST {100 * figures['sse_share']:.3g} %"


def lost_share(values: Floats, fresh: Floats) -> float:
    """SSE/SST: squared changes over squared distances from the mean, of standardised variables; missing left out.

    >>> lost_share(np.array([[0.0], [2.0], [10.0], [12.0]]), np.array([[1.0], [1.0], [11.0], [11.0]])).__round__(4)
    0.0385
    """
    lost, total = 0.0, 0.0
    for column, new in zip(values.T, fresh.T, strict=True):
        there = ~np.isnan(column)
        if there.any() and np.ptp(column[there]) > 0:
            unit = np.ptp(column[there])
            centred = (column[there] - column[there].mean()) / unit
            spread = float((centred**2).sum())
            lost += float((((column[there] - new[there]) / unit) ** 2).sum()) / spread
            total += 1.0
    return lost / total if total else 0.0
