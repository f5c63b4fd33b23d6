"""Shuffling: the numbers of a variable are dealt out again, by what else is known of each record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Doc, NotEmpty, OneOf
from tacita.protect.numeric_column import written
from tacita.protect.numeric_table import NumericTable, numeric_table, with_numbers
from tacita.protect.relations import RELATIONS, repaired
from tacita.protect.shuffle.predictors import Predictors, predictors
from tacita.protect.shuffle.rank_model import (
    correlations,
    drawn_scores,
    explained,
    normal_scores,
    places_by_rank,
    standardised,
)
from tacita.protect.step import Applied, CellStep, Context

METHODS = ("ranks", "normal")
FEW = 10
"""Among fewer numbers a shuffle hides little."""
TOO_WELL = 0.95
"""If predictors tell more than this share of a variable's variance, shuffling hardly moves it."""


class Model(NamedTuple):
    """What the numbers are drawn from."""

    scores: Floats
    """By record and predictor: its score; NaN where missing."""
    matrix: Floats
    """Correlations of variables, then of predictors."""


@dataclass(frozen=True)
class Shuffle(CellStep):
    """Deal the numbers of variables out again, so that ranks go together as before.

    Every released number is one of the file. Who gets which depends on the predictors `by` alone, never on the record's
    own number: an intruder learns nothing of it that the predictors would not tell him. With S the predictors and X the
    variables:

    - scores S* = Phi^-1((rank - 1/2)/n), scaled to variance 1, and r = 2 sin(pi rho/6) with Spearman's rho;
    - X* = S* r_ss^-1 r_sx + e, e ~ N(0, r_xx - r_xs r_ss^-1 r_sx);
    - the i-th smallest X* gets the i-th smallest number.

    Each variable keeps its numbers exactly, and rank correlations between variables and with predictors stay closely.
    Unordered categories in `by` enter as indicators, whose correlations are those with the scores; `strata` shuffles
    within groups apart. Missing values stay, and a record is drawn from the predictors that it has.

    With `method="normal"` X* is released itself, with the variables' means and covariances in place of ranks (general
    additive data perturbation, Muralidhar, Parsa and Sarathy 1999).

    Reference: Muralidhar and Sarathy (2006), Data shuffling: a new masking approach for numerical data. Management
    Science 52.

    >>> import tacita as tc, polars as pl
    >>> age = [20.5, 31.0, 25.0, 60.0, 44.0, 52.0, 38.0, 29.0]
    >>> staff = pl.DataFrame({"sex": ["f", "m"] * 4, "age": age, "pay": range(10, 90, 10)})
    >>> plan = tc.Plan([Shuffle("pay", by=["age"])])
    >>> plan.apply(staff, tc.Scenario(keys=["sex"]), seed=1).data.table["pay"].to_list()
    [10, 80, 20, 40, 70, 60, 50, 30]
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables to shuffle, which must hold numbers.")]
    by: Annotated[
        tuple[str, ...],
        Doc("Predictors, which stay as they are: numbers and ordered categories by rank, others as indicators."),
    ] = ()
    method: Annotated[
        str, OneOf(METHODS), Doc("ranks: the numbers themselves, dealt out again; normal: numbers drawn anew.")
    ] = "ranks"
    relations: Annotated[
        tuple[str, ...],
        RELATIONS,
        Doc(
            "Relations to repair afterwards, as 'exports <= turnover'; numbers are then not exactly those of the file."
        ),
    ] = ()

    def __post_init__(self) -> None:
        both = [name for name in self.by if name in self.variables]
        if both:
            raise TacitaError(f"by must name other variables than those to shuffle; got {check.quoted(both)} in both.")

    @property
    def draws(self) -> bool:
        """The scores are drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with shuffled numbers."""
        given = numeric_table(self, self.variables, data)
        told, few = self._predictors(data, given)
        model = self._model(given.values, told)
        normals = np.column_stack([context.draws.step(name).normal(given.record) for name in given.names])
        scores = drawn_scores(model.scores, model.matrix, normals)
        result, same = self._dealt(data, given, scores) if self.method == "ranks" else _drawn(data, given, scores)
        remarks = [*few, *self._cautions(given, model)]
        figures: dict[str, Any] = {"same": same, "predictors": len(told.by_rank)}
        if self.relations:
            repair = repaired(self, self.relations, data, result, self.variables)
            result, figures = repair.data, {**figures, "relations_broken": repair.broken}
            remarks += repair.remarks
        shuffling = self._mechanism(model)
        return Applied(result, tuple(remarks), figures, (shuffling,), (shuffling.with_parameters("method", "by"),))

    def _predictors(self, data: Data, given: NumericTable) -> tuple[Predictors, list[str]]:
        """The predictors; none where there are too few records to tell what they predict."""
        told = predictors(self, self.by, data, given.rows)
        if len(given.record) >= 2 * len(told.by_rank) + 2 or not self.by:
            return told, []
        without = Predictors(np.empty((len(given.record), 0)), np.empty(0, dtype=np.bool_))
        return without, [f"too few records for {check.counted(len(told.by_rank), 'predictor')}: shuffled without them"]

    def _model(self, values: Floats, told: Predictors) -> Model:
        if self.method == "normal":
            scores = standardised(told.values)
            return Model(
                scores, correlations(np.hstack([values, told.values]), np.zeros(_width(values, told), np.bool_))
            )
        ranked = told.values.copy()
        ranked[:, told.by_rank] = normal_scores(told.values[:, told.by_rank])
        # Ties make scores vary by less than 1.
        scores = standardised(ranked)
        by_rank = np.append(np.ones(values.shape[1], dtype=np.bool_), told.by_rank)
        return Model(scores, correlations(np.hstack([normal_scores(values), ranked]), by_rank))

    def _dealt(self, data: Data, given: NumericTable, scores: Floats) -> tuple[Data, dict[str, int]]:
        """The data with the numbers dealt out by scores, each to the last digit, and how many are as before."""
        fresh, same = {}, {}
        for place, (name, column) in enumerate(zip(given.names, given.columns, strict=True)):
            before = given.values[:, place]
            source = places_by_rank(before, scores[:, place])
            values = column.values.copy()
            values[given.rows] = column.values[given.rows[source]]
            fresh[name] = written(data, name, column, values)
            same[name] = int((before[source] == before).sum())
        return data.with_columns(fresh), same

    def _cautions(self, given: NumericTable, model: Model) -> list[str]:
        said = []
        told = explained(model.matrix, len(given.names))
        for place, name in enumerate(given.names):
            count = int((~np.isnan(given.values[:, place])).sum())
            if count < FEW:
                said.append(f"{name!r}: {check.counted(count, 'number')} to shuffle, which hides little")
            elif told[place] > TOO_WELL:
                said.append(
                    f"{name!r}: the predictors tell more than {100 * TOO_WELL:g} % of its variance, so that it hardly "
                    f"moves; leave out those that give it away"
                )
        return said

    def _mechanism(self, model: Model) -> Mechanism:
        told = {
            "method": self.method,
            "by": self.by,
            "correlations": model.matrix[: len(self.variables), : len(self.variables)],
            "explained": explained(model.matrix, len(self.variables)),
        }
        return Mechanism("shuffling", self.variables, told, perturbs=True)


def _width(values: Floats, told: Predictors) -> int:
    return int(values.shape[1] + len(told.by_rank))


def _drawn(data: Data, given: NumericTable, scores: Floats) -> tuple[Data, dict[str, int]]:
    """The data with numbers of the same mean and standard deviation, and how many are as before."""
    fresh, same = scores.copy(), {}
    for place, name in enumerate(given.names):
        there: Ints = np.flatnonzero(~np.isnan(given.values[:, place]))
        before = given.values[there, place]
        if len(there):
            fresh[there, place] = before.mean() + scores[there, place] * before.std()
        same[name] = int((fresh[there, place] == before).sum())
    return with_numbers(data, given, fresh), same
