"""Masking by a model: fitted values of a regression are released, those of the tails moved towards the centre."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import AtLeast, AtMost, Doc, NotEmpty
from tacita.protect.model.model_values import Fit, category_columns, moved_tails, number_columns, regression
from tacita.protect.numeric_table import NumericTable, numeric_table, with_numbers
from tacita.protect.only import chosen_records, shown_only, unknown_numbers
from tacita.protect.parts import strata_of
from tacita.protect.relations import RELATIONS, repaired
from tacita.protect.step import Applied, CellStep, Context, needed_weights, present

FEWEST = 3
"""No model is fitted to fewer numbers: its values would be theirs."""
NEAR = 0.01
"""A number that moved by less than this share of itself is counted."""


@dataclass(frozen=True)
class MaskByModel(CellStep):
    """Release what a regression says of each record, and move the largest and the smallest towards the centre.

    For business surveys, where every number is nobody else's: the released turnover is that which firms with these
    employees, exports and categories have. In each stratum, on the log scale, each variable in turn is regressed on the
    categories `by` and on the other variables. With fitted value m, residual standard deviation s, rank share
    v = rank(x)/(n + 1), tail share q and factor F, the released number is exp(y) with

    - y = m - F s (v - 1 + q)/q in the upper tail, v > 1 - q,
    - y = m + F s (q - v)/q in the lower tail, v < q,
    - y = m between them.

    So protection grows with how easily a unit is recognised, and the range shrinks. Nothing is drawn at random.

    Zeros have no logarithm and stay zeros; as predictors they have an indicator of their own. With `log=False` zeros
    and negative numbers are numbers like any other. Missing values stay. Whole numbers stay whole, and those above 0
    at least 1. With `only` the model is fitted to all records of a stratum, and those chosen are changed: so unsafe
    records can be masked again, with a larger factor.

    References: Franconi and Stander (2002), A model-based method for disclosure limitation of business microdata.
    Journal of the Royal Statistical Society D 51. Polettini, Franconi and Stander (2002), Model based disclosure
    protection. LNCS 2316.

    >>> import tacita as tc
    >>> firms = tc.business_survey(300, exporters=True).data
    >>> step = MaskByModel(["turnover", "employees"], by=["region"])
    >>> release = tc.Plan([step]).apply(firms, tc.Scenario(numeric_keys=["turnover", "employees"]))
    >>> bool(release.data.table["turnover"].max() < firms.table["turnover"].max())
    True
    """

    selects_itself: ClassVar[bool] = True

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The numbers to mask; each is regressed on the others.")]
    by: Annotated[tuple[str, ...], Doc("Categorical variables that predict besides; they stay as they are.")] = ()
    factor: Annotated[
        float,
        AtLeast(0),
        AtMost(10),
        Doc("F: how far the ends move, in residual standard deviations; 1 to 3 is usual."),
    ] = 1.0
    tail: Annotated[float, AtLeast(0), AtMost(0.5), Doc("q: the share of the numbers at each end that is a tail.")] = (
        0.1
    )
    log: Annotated[bool, Doc("Whether the model is one of logarithms; zeros then stay zeros.")] = True
    weighted: Annotated[bool, Doc("Whether the regression goes by the scenario's weight.")] = False
    relations: Annotated[
        tuple[str, ...], RELATIONS, Doc("Relations to repair afterwards, as 'exports <= turnover'.")
    ] = ()

    def __post_init__(self) -> None:
        both = [name for name in self.by if name in self.variables]
        if both:
            raise TacitaError(f"by must name other variables than those to mask; got {check.quoted(both)} in both.")

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with masked numbers."""
        given = numeric_table(self, self.variables, data)
        chosen = chosen_records(self.only, data, context.scenario, context.policy, context.original)
        strata = strata_of(self, data, np.ones(len(data), dtype=np.bool_))
        fresh, fits = self._masked(given, data, context, strata)
        untouched = ~chosen[given.rows]
        fresh[untouched] = given.values[untouched]
        result = with_numbers(data, given, fresh)
        remarks, figures = self._account(given, fresh, _numbers_before(given, context.original), untouched, fits)
        remarks += unknown_numbers(self.only, data)
        if self.relations:
            repair = repaired(self, self.relations, data, result, self.variables)
            result, figures = repair.data, {**figures, "relations_broken": repair.broken}
            remarks += repair.remarks
        model = self._mechanism(fits)
        public = (model.with_parameters("factor", "tail", "log", "by", "strata"),)
        return Applied(result, tuple(remarks), figures, (model,), public)

    def _masked(
        self, given: NumericTable, data: Data, context: Context, strata: list[Ints]
    ) -> tuple[Floats, list[dict[str, Fit]]]:
        """The masked numbers of everybody, and the fits by stratum and variable."""
        codes = self._codes(data, given)
        weight = self._weights(given, data, context)
        scaled = self._scaled(given)
        fresh, fits = given.values.copy(), []
        place_of = np.argsort(given.rows)
        for stratum in strata:
            rows = np.sort(place_of[stratum])
            found = {}
            for place, name in enumerate(given.names):
                there = rows[~np.isnan(scaled[rows, place])]
                if len(there):
                    self._check_enough(name, len(there))
                    made, found[name] = self._one(given.values, scaled, codes, weight, there, place)
                    fresh[there, place] = self._back(made, bool(given.whole[place]))
            fits.append(found)
        return fresh, fits

    def _one(
        self, values: Floats, scaled: Floats, codes: Ints, weight: Floats, rows: Ints, place: int
    ) -> tuple[Floats, Fit]:
        """One variable of one stratum on the scale of the model, and its fit."""
        others = np.delete(scaled[rows], place, axis=1)
        zero = np.isnan(others) & ~np.isnan(np.delete(values[rows], place, axis=1))
        fit = regression(scaled[rows, place], number_columns(others, zero), category_columns(codes[rows]), weight[rows])
        return moved_tails(fit, scaled[rows, place], self.tail, self.factor), fit

    def _scaled(self, given: NumericTable) -> Floats:
        """The numbers on the scale of the model: NaN where there is none, and for zeros among logarithms."""
        if not self.log:
            return given.values
        negative = [name for place, name in enumerate(given.names) if (given.values[:, place] < 0).any()]
        if negative:
            raise TacitaError(
                f"{check.quoted(negative)} hold negative numbers, which have no logarithm; use log=False, or leave "
                f"them out."
            )
        positive = given.values > 0
        return np.log(given.values, out=np.full(given.values.shape, np.nan), where=positive)

    def _back(self, made: Floats, whole: bool) -> Floats:
        """Numbers out of those on the scale of the model."""
        # What is too large to be a number is refused when it is written.
        with np.errstate(over="ignore"):
            numbers = np.exp(made) if self.log else made
        if not whole:
            return numbers
        rounded: Floats = np.rint(numbers)
        return np.maximum(rounded, 1.0) if self.log else rounded

    def _check_enough(self, name: str, count: int) -> None:
        if count < FEWEST:
            where = f"in one of the strata of {check.quoted(self.strata)}: " if self.strata else ""
            above = " above 0" if self.log else ""
            raise TacitaError(
                f"{where}{name!r} has {check.counted(count, 'number')}{above}, and a model needs {FEWEST} or more; use "
                f"coarser strata, or remove such records first."
            )

    def _codes(self, data: Data, given: NumericTable) -> Ints:
        names = present(self, self.by, data)
        columns = [np.asarray(data.coded(name).codes, dtype=np.int64)[given.rows] for name in names]
        return np.column_stack(columns) if columns else np.empty((len(given.rows), 0), dtype=np.int64)

    def _weights(self, given: NumericTable, data: Data, context: Context) -> Floats:
        if not self.weighted:
            return np.ones(len(given.record))
        return needed_weights("a weighted model needs", data, context)[given.rows]

    def _account(
        self, given: NumericTable, fresh: Floats, original: Floats, untouched: Bools, fits: list[dict[str, Fit]]
    ) -> tuple[list[str], dict[str, Any]]:
        """Remarks and figures: zeros that stay, numbers near the original ones, models without predictors."""
        values, chosen = given.values, ~untouched
        near = np.abs(fresh - original) < NEAR * np.abs(original)
        zeros, nearly = (
            {name: int(where[chosen, place].sum()) for place, name in enumerate(given.names)}
            for where in (values == 0, near)
        )
        alone = sum(not fit.columns for found in fits for fit in found.values())
        said = [] if self.only is None else [f"for {int(chosen.sum()):,} of {check.counted(len(chosen), 'record')}"]
        if self.log:
            said += [f"{check.counted(count, 'zero')} of {name!r} stay" for name, count in zeros.items() if count]
        said += [
            f"{check.counted(count, 'number')} of {name!r} within {100 * NEAR:g} % of the original"
            for name, count in nearly.items()
            if count
        ]
        if alone:
            said.append(f"{check.counted(alone, 'model')} of a constant only, for want of predictors or of records")
        figures = {"strata": len(fits), "records": int(chosen.sum()), "zeros": zeros, "near_the_original": nearly}
        return said, figures

    def _mechanism(self, fits: list[dict[str, Fit]]) -> Mechanism:
        deviations = [{name: fit.deviation for name, fit in found.items()} for found in fits]
        told = {
            "factor": self.factor,
            "tail": self.tail,
            "log": self.log,
            "by": self.by,
            "strata": self.strata,
            "only": shown_only(self.only),
            "weighted": self.weighted,
            "residual_deviations": deviations,
        }
        return Mechanism("model", self.variables, told, perturbs=True)


def _numbers_before(given: NumericTable, original: Data) -> Floats:
    """The numbers of the original file for the same records; those of the data where it has none."""
    rows = np.argsort(original.record, kind="stable")
    place = np.minimum(np.searchsorted(original.record[rows], given.record), len(rows) - 1)
    known = original.record[rows][place] == given.record
    values = given.values.copy()
    for column, name in enumerate(given.names):
        kinds = (frame.is_whole, frame.is_float, frame.is_decimal)
        if name in original.columns and any(is_kind(original.table, name) for is_kind in kinds):
            values[known, column] = original.numbers(name)[rows][place[known]]
    return values
