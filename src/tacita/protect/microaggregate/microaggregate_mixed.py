"""Microaggregation of mixed data: numbers and categories are replaced in groups that are alike by Gower's distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import survey_weights
from tacita.mechanism import Mechanism
from tacita.parameters import AtLeast, AtMost, Doc, NotEmpty, OneOf, Shape
from tacita.protect.microaggregate.averages import averages
from tacita.protect.microaggregate.gower_columns import Categories, categories_of, distance_column, with_categories
from tacita.protect.microaggregate.gower_donors import combinations, drawn_donors, median_donors, mode_donors, unseen
from tacita.protect.microaggregate.microaggregate import lost_share
from tacita.protect.numeric_column import EXACT
from tacita.protect.numeric_table import NumericTable, numeric_table, with_numbers
from tacita.protect.step import Applied, CellStep, Context, present

if TYPE_CHECKING:
    from tacita.protect.microaggregate.gower_groups import GowerGroups

WIDEST = 1e6
"""Weights of the distance differ from 1 by this factor at most."""


def _weights(what: str, given: Any) -> dict[str, float]:
    """Numbers above 0 by variable."""
    weights = _numbers(what, given)
    for name, each in weights.items():
        if not 1 / WIDEST <= each <= WIDEST:
            raise TacitaError(
                f"{what} of {name!r} must be from {1 / WIDEST:g} to {WIDEST:,.0f}; got {check.given(each)}."
            )
    return weights


def _numbers(what: str, given: Any) -> dict[str, float]:
    return {name: check.number(f"{what} of {name!r}", each) for name, each in check.mapping(what, given).items()}


WEIGHTS = Shape("table of numbers above 0 by variable", _weights)
NUMBERS = Shape("table of numbers by variable", _numbers)


@dataclass(frozen=True)
class MicroaggregateMixed(CellStep):
    """Replace numbers and categories by what is typical of a group of at least `k` records that are alike.

    Afterwards every record has at least k - 1 others that show the same of all `variables` together. Groups are formed
    by MDAV around medoids (see `gower_mdav`) with Gower's distance on the variables of `distance`,

        d(x, y) = sum w_j d_j(x, y) / sum w_j,

    where d_j is |x_j - y_j| / range of numbers, the same of the ranks of ordered categories, and 0 or 1 of others. The
    sums are over the variables that both records have; two records with none in common are at distance 1. Ranges are
    those of the records that are grouped, so of the stratum.

    Members get the mean or median of numbers, the median of ordered categories (the lower of two) and the most frequent
    of other categories, ties drawn; or the category of a member that is drawn, or of the medoid. `keep_combinations`
    takes all categories from one member, so that no combination arises that nobody has.

    Missing values and codes stay. Records that show the same of the variables are grouped among themselves; where fewer
    than k do, each joins the nearest group of records that show all that it shows.

    References: Gower (1971), Biometrics 27; Domingo-Ferrer and Torra (2005), Data Mining and Knowledge Discovery 11;
    Templ, Kowarik and Meindl (2015), Journal of Statistical Software 67.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"age": [21.0, 64.0, 22.0, 66.0, 26.0], "job": ["cook", "judge", "cook", "judge", "nun"]})
    >>> plan = tc.Plan([MicroaggregateMixed(["age", "job"], k=2)])
    >>> plan.apply(people, tc.Scenario(keys=["job"])).data.table.rows()
    [(23.0, 'cook'), (65.0, 'judge'), (23.0, 'cook'), (65.0, 'judge'), (23.0, 'cook')]
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables to be replaced, of any scale.")]
    distance: Annotated[
        tuple[str, ...], Doc("The variables on which records are compared; none: those to be replaced.")
    ] = ()
    k: Annotated[int | None, AtLeast(2), Doc("Records that a group has at least; none: the policy's k.")] = None
    weights: Annotated[
        Mapping[str, float], WEIGHTS, Doc("By variable of the distance how much it counts; 1 if not named.")
    ] = field(default_factory=dict, kw_only=True)
    semicontinuous: Annotated[
        Mapping[str, float],
        NUMBERS,
        Doc("By variable of the distance a number, as 0, that is a category by itself and no small number."),
    ] = field(default_factory=dict, kw_only=True)
    average: Annotated[str, OneOf(("mean", "median")), Doc("What members of a group get of numbers.")] = field(
        default="mean", kw_only=True
    )
    nominal: Annotated[
        str,
        OneOf(("mode", "drawn", "medoid")),
        Doc("Which category they get: the most frequent, that of a member drawn, or that of the group's medoid."),
    ] = field(default="mode", kw_only=True)
    keep_combinations: Annotated[
        bool, Doc("Whether all categories, ordered ones too, are taken together from one member.")
    ] = field(default=False, kw_only=True)
    weighted: Annotated[
        bool, Doc("Whether means, modes and medians of categories are weighted by the scenario's weight.")
    ] = field(default=False, kw_only=True)
    gamma: Annotated[
        float,
        AtLeast(0),
        AtMost(100),
        Doc("How readily groups grow to 2k - 1 records, as of 'variable_mdav' in Microaggregate; 0: they do not."),
    ] = field(default=0.0, kw_only=True)
    random_ties: Annotated[
        bool, Doc("Whether draws decide between equally distant records; else the lowest record number does.")
    ] = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.weighted and self.average != "mean":
            raise TacitaError(f"weights are for means; leave out weighted, or average={self.average!r}.")
        for what in ("weights", "semicontinuous"):
            unknown = [name for name in getattr(self, what) if name not in self.compared]
            if unknown:
                raise TacitaError(f"{what} must name variables of the distance; {check.quoted(unknown)} is none.")

    @property
    def compared(self) -> tuple[str, ...]:
        """The variables of the distance."""
        return self.distance or self.variables

    @property
    def draws(self) -> bool:
        """Ties between categories are drawn, or members are, or ties between distances."""
        return self.nominal != "medoid" or self.random_ties

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with what is typical of groups."""
        present(self, tuple(dict.fromkeys((*self.variables, *self.compared))), data)
        numeric = tuple(name for name in self.variables if data.scale(name) == "numeric")
        numbers = numeric_table(self, numeric, data)
        others = tuple(name for name in self.variables if name not in numeric)
        categories = categories_of(data, others, numbers.rows)
        k = self._k(context)
        self._check(numbers, categories, k)
        weights = self._weights(data, context, numbers.rows)
        shown = np.concatenate([~np.isnan(numbers.values), categories.codes > 0], axis=1)
        found = self._groups(numbers, shown, data, context, k)
        donors = self._donors(categories, found, weights, numbers.record, context)
        fresh = np.empty_like(numbers.values)
        for place, column in enumerate(numbers.values.T):
            fresh[:, place] = averages(column, found.group, self.average, weights=weights if self.weighted else None)
        made = with_numbers(data, numbers, fresh) if numeric else data
        made = with_categories(made, categories, donors)
        figures = _figures(numbers, fresh, categories, donors, found)
        about = Mechanism("microaggregation", self.variables, self._parameters(k) | figures, perturbs=True)
        public = about.with_parameters("k", "average", "nominal", "keep_combinations")
        return Applied(made, _remarks(figures), figures, (about,), (public,))

    def _parameters(self, k: int) -> dict[str, Any]:
        names = ("weights", "semicontinuous", "average", "nominal", "keep_combinations", "weighted", "gamma")
        return {"k": k, "distance": self.compared} | {name: getattr(self, name) for name in names}

    def _k(self, context: Context) -> int:
        k = context.policy.k if self.k is None else self.k
        if k is None or k < 2:
            raise TacitaError(
                "microaggregate_mixed needs groups of at least 2 records; pass k=..., here or in the policy."
            )
        return k

    def _check(self, numbers: NumericTable, categories: Categories, k: int) -> None:
        for name, column, values in zip(numbers.names, numbers.columns, numbers.values.T, strict=True):
            if column.whole and (np.abs(values) > EXACT).any():
                raise TacitaError(
                    f"column {name!r} holds whole numbers beyond 2^53, which have no exact mean; remove it."
                )
        counts = [*(~np.isnan(numbers.values)).sum(axis=0), *(categories.codes > 0).sum(axis=0)]
        for name, count in zip((*numbers.names, *categories.names), counts, strict=True):
            if 0 < count < k:
                has = check.counted(int(count), "record has", "records have")
                raise TacitaError(
                    f"{has} a value of {name!r}, too few for groups of {k}; choose a smaller k or larger strata."
                )

    def _weights(self, data: Data, context: Context, rows: Ints) -> Floats:
        if not self.weighted:
            return np.ones(len(rows))
        weights = survey_weights(data, context.scenario)
        if weights is None:
            raise TacitaError("weighted=True needs a weight; name it in the scenario, or pass weighted=False.")
        return weights[rows]

    def _groups(self, numbers: NumericTable, shown: Bools, data: Data, context: Context, k: int) -> GowerGroups:
        """The groups; the modules that form them load Numba."""
        from tacita.protect.microaggregate.gower_distance import gower_points
        from tacita.protect.microaggregate.gower_groups import gower_groups

        constant = [self.semicontinuous.get(name) for name in self.compared]
        order = np.arange(len(numbers.rows))
        if self.random_ties:
            order = np.argsort(context.draws.step("ties").bits(numbers.record), kind="stable")
        columns = [
            distance_column(data, name, numbers.rows[order], special)
            for name, special in zip(self.compared, constant, strict=True)
        ]
        weight = np.array([self.weights.get(name, 1.0) for name in self.compared])
        points = gower_points([values for values, _ in columns], [codes for _, codes in columns], weight, constant)
        return gower_groups(points, shown[order], k, self.gamma, context.progress).in_order(order)

    def _donors(
        self, categories: Categories, found: GowerGroups, weights: Floats, records: Ints, context: Context
    ) -> Ints:
        """By record and variable: the row of the record whose category it gets; its own where it shows none."""
        own = np.arange(len(records))
        donors = np.repeat(own[:, None], len(categories.names), axis=1)
        together = self.keep_combinations and len(categories.names) > 0
        if together:
            core = np.where(found.core & (categories.codes > 0).any(axis=1), combinations(categories.codes), 0)
            of_group = self._of_groups(core, found, weights, records, context.draws.step("combination"))
        for place, (name, ordinal) in enumerate(zip(categories.names, categories.ordinal, strict=True)):
            codes = categories.codes[:, place]
            if not together and ordinal:
                of_group = median_donors(codes, found.group, weights)
            elif not together:
                draws = context.draws.step("category").step(name)
                of_group = self._of_groups(codes, found, weights, records, draws)
            shows = codes > 0
            donors[shows, place] = of_group[found.group[shows]]
        return donors

    def _of_groups(self, codes: Ints, found: GowerGroups, weights: Floats, records: Ints, draws: Any) -> Ints:
        """By group: the row whose category its members get."""
        if self.nominal == "medoid":
            return found.medoid
        if self.nominal == "drawn":
            return drawn_donors(codes, found.group, records, draws)
        return mode_donors(codes, found.group, weights, records, draws)


def _figures(
    numbers: NumericTable, fresh: Floats, categories: Categories, donors: Ints, found: GowerGroups
) -> dict[str, Any]:
    sizes = np.bincount(found.group[found.group >= 0])
    return {
        "groups": len(sizes),
        "smallest": int(sizes.min(initial=len(found.group))) if len(sizes) else 0,
        "largest": int(sizes.max(initial=0)),
        "sse_share": lost_share(numbers.values, fresh) if numbers.names else None,
        "records_joined": int((~found.core & (found.group >= 0)).sum()),
        "records_with_new_combinations": int(unseen(categories.codes, donors).sum()) if categories.names else 0,
    }


def _remarks(figures: Mapping[str, Any]) -> tuple[str, ...]:
    if not figures["groups"]:
        return ()
    least, most = figures["smallest"], figures["largest"]
    sizes = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    remarks = [f"{check.counted(figures['groups'], 'group')} of {sizes} records"]
    if figures["sse_share"] is not None:
        remarks[0] += f"; SSE/SST {100 * figures['sse_share']:.3g} %"
    if figures["records_joined"]:
        count = check.counted(figures["records_joined"], "record")
        remarks.append(f"{count} with a rare pattern of missing values put into the nearest group that shows more")
    if figures["records_with_new_combinations"]:
        has = check.counted(figures["records_with_new_combinations"], "record has", "records have")
        remarks.append(f"{has} a combination of categories that nobody had; keep_combinations=True avoids it")
    return tuple(remarks)
