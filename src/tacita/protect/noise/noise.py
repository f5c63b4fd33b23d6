"""Noise: numbers with something random added, or multiplied by something random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import Above, AtMost, Doc, NotEmpty, OneOf, Shape
from tacita.protect.noise.limits import Limits, limits_of, whole_with_total, with_total
from tacita.protect.noise.masking import File, Noisy, noisy
from tacita.protect.noise.methods import BY_CELL, EXACT, TOGETHER
from tacita.protect.noise.moments import varying
from tacita.protect.numeric_table import NumericTable, numeric_table, with_numbers
from tacita.protect.relations import RELATIONS, repaired
from tacita.protect.step import Applied, CellStep, Context, needed_weights
from tacita.protect.top_code import limits_of as bounds_of
from tacita.random import Draws

METHODS = (*BY_CELL, *TOGETHER, *EXACT, "outliers")
FACTORS = ("multiplicative", "two_sided")
LITTLE = 0.05
"""Noise below this share hides next to nothing."""
Bounds = Shape("number, or one per variable", bounds_of)


@dataclass(frozen=True)
class Noise(CellStep):
    """Add random noise to numbers, or multiply them by random factors.

    An intruder who knows a turnover exactly no longer finds it. `amount` is always a share of the standard deviation
    (of the number itself for factors): 0.2 is noise of 20 %. The methods, with x a record, m and S the mean and
    covariance, z standard normal and c the amount:

    - `additive`: x + c sd z, each variable on its own; correlations shrink.
    - `correlated`: x + e, e ~ N(0, c^2 S); correlations stay, variances grow by 1 + c^2.
    - `restricted` (Kim 1986): m + (x - m + e)/sqrt(1 + c^2); mean and covariance stay in expectation.
    - `delta`: m + sqrt(1 - c^2)(x - m) + c e, e ~ N(0, S): the same, with c from 0 to 1.
    - `exact`: as restricted, with noise made uncorrelated with x; mean and covariance stay exactly.
    - `romm`: the file is rotated at random around its mean (Ting, Fienberg and Trottini 2008); the same.
    - `outliers`: additive, for outlying records only.
    - `multiplicative`: x exp(c z - c^2/2), a factor of mean 1.
    - `two_sided`: a factor between 1 + c and 1 + 2c, or 1 - 2c and 1 - c; no number stays nearly the same.

    Missing values and codes stay; whole numbers stay whole. With missing values or zeros that are kept, noise that is
    drawn together is drawn for each pattern of such cells apart.

    Reference: Brand (2002), Microdata protection through noise addition. LNCS 2316.

    >>> import tacita as tc, polars as pl
    >>> firms = pl.DataFrame({"nace": ["A", "B"] * 20, "turnover": [float(v * v) for v in range(40)]})
    >>> release = tc.Plan([Noise("turnover", 0.3, method="exact")]).apply(firms, tc.Scenario(keys=["nace"]), seed=1)
    >>> noisy = release.data.table["turnover"]
    >>> noisy[0], round(noisy.mean(), 6), round(noisy.std() / firms["turnover"].std(), 6)
    (0.0, 513.5, 1.0)
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, which must hold numbers.")]
    amount: Annotated[
        float,
        Above(0),
        AtMost(10),
        Doc("How much: a share of the standard deviation, of the number itself for factors; 0.2 is 20 %."),
    ]
    method: Annotated[str, OneOf(METHODS), Doc("How the noise is drawn.")] = "additive"
    weighted: Annotated[bool, Doc("Whether means, covariances and totals are those under the scenario's weight.")] = (
        False
    )
    keep_zeros: Annotated[bool, Doc("Whether zeros stay zeros, as of firms that export nothing.")] = True
    keep_signs: Annotated[bool, Doc("Whether positive numbers stay positive and negative ones negative.")] = False
    keep_totals: Annotated[bool, Doc("Whether the total of each variable is brought back to what it was.")] = False
    least: Annotated[Any, Bounds, Doc("No number below this: one for all, or a table by variable.")] = None
    greatest: Annotated[Any, Bounds, Doc("No number above this: one for all, or a table by variable.")] = None
    relations: Annotated[
        tuple[str, ...],
        RELATIONS,
        Doc("Relations to repair afterwards, as 'total = home + abroad'; the sum is worked out from its parts."),
    ] = ()

    def __post_init__(self) -> None:
        if self.method == "delta" and self.amount > 1:
            raise TacitaError(f"amount must be at most 1 with method='delta'; got {check.given(self.amount)}.")
        if self.method == "two_sided" and self.amount >= 0.5:
            raise TacitaError(
                f"amount must be below 0.5 with method='two_sided', or numbers would change their sign; "
                f"got {check.given(self.amount)}."
            )
        bounded = self.keep_signs or self.least is not None or self.greatest is not None
        if self.method in EXACT and bounded:
            raise TacitaError(
                f"method={self.method!r} keeps mean and covariance exactly and no bounds or signs besides; "
                f"use method='restricted', or leave out least, greatest and keep_signs."
            )
        for name, given in (("least", self.least), ("greatest", self.greatest)):
            unknown = [each for each in given if each not in self.variables] if isinstance(given, dict) else []
            if unknown:
                raise TacitaError(f"{name} must be for variables of the step; got it for {check.quoted(unknown)}.")

    version: ClassVar[int] = 2

    @property
    def draws(self) -> bool:
        """The noise is drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with noise."""
        given = numeric_table(self, self.variables, data)
        limits = limits_of(given, data, self.least, self.greatest, self.keep_signs)
        known = None if context.whole is None else np.array([context.whole[name] for name in given.names])
        changeable, still = self._changeable(given, known)
        weight = self._weights(given, data, context)
        file = File(given.values, given.record, changeable, weight, limits, _drawing(context.draws, given), known)
        made = noisy(self.method, self.amount, file)
        fresh = self._with_totals(file, made.values) if self.keep_totals else made.values
        result = with_numbers(data, given, fresh)
        said = [*self._remarks(made, given), *still]
        figures: dict[str, Any] = {"records": made.records, "at_bound": made.at_bound, "few_alike": made.borrowed}
        if self.relations:
            repair = repaired(self, self.relations, data, result, self.variables)
            result, figures = repair.data, {**figures, "relations_broken": repair.broken}
            said += [*repair.remarks, *self._outside(result, limits)]
        noise = self._mechanism(made)
        public = (noise.with_parameters("method", "amount"),)
        return Applied(result, (*said, *self._totals_off(file, result)), figures, (noise,), public)

    def _changeable(self, given: NumericTable, known: Floats | None) -> tuple[Bools, list[str]]:
        """Which cells may change, by the `known` deviations if there are, and remarks on variables that do not vary."""
        changeable: Bools = ~np.isnan(given.values)
        if self.keep_zeros:
            changeable &= given.values != 0
        remarks = []
        for place, name in enumerate(given.names if self.method not in FACTORS else ()):
            there = given.values[~np.isnan(given.values[:, place]), place]
            if known is not None:
                changeable[:, place] &= known[place] > 0
                continue
            if len(there) == 1 and changeable[:, place].any():
                raise TacitaError(
                    f"{name!r} has one number only, whose standard deviation is 0; use method='multiplicative', or "
                    f"choose more records."
                )
            if len(there) and not varying(there[:, None])[0] and changeable[:, place].any():
                changeable[:, place] = False
                remarks.append(f"no noise on {name!r}, whose numbers are all the same")
        return changeable, remarks

    def _weights(self, given: NumericTable, data: Data, context: Context) -> Floats:
        if not self.weighted:
            return np.ones(len(given.record))
        return needed_weights("weighted noise needs", data, context)[given.rows]

    def _with_totals(self, file: File, fresh: Floats) -> Floats:
        """Every column brought to its total; a column of whole numbers is rounded so that it keeps it."""
        out, limits = fresh.copy(), file.limits
        for place in range(fresh.shape[1]):
            before, weight = file.values[:, place], file.weight
            where = file.changeable[:, place] & (fresh[:, place] != before)
            ends = (limits.lower[:, place], limits.upper[:, place])
            out[:, place] = with_total(before, fresh[:, place], where, weight, ends)
            if limits.whole[place]:
                total = float(weight[where] @ before[where])
                out[where, place] = whole_with_total(out[where, place], weight[where], total)
        return out

    def _totals_off(self, file: File, result: Data) -> list[str]:
        """Remarks on totals that are not what they were, as after rounding under weights."""
        if not self.keep_totals:
            return []
        released = numeric_table(self, self.variables, result).values
        off = []
        for place, name in enumerate(self.variables):
            there = ~np.isnan(file.values[:, place])
            before, after = (file.weight[there] @ each[there, place] for each in (file.values, released))
            size = float(file.weight[there] @ np.abs(file.values[there, place]))
            if abs(after - before) > 1e-9 * size:
                off.append(f"the total of {name!r} changed by {100 * abs(after - before) / size:.2g} %")
        return off

    def _outside(self, result: Data, limits: Limits) -> list[str]:
        """Remarks on numbers that relations brought out of their bounds."""
        released = numeric_table(self, self.variables, result)
        wrong = limits.broken(np.arange(len(released.record)), released.values).sum(axis=0)
        return [
            f"{check.counted(int(count), 'number')} of {name!r} outside its bounds because of relations"
            for name, count in zip(self.variables, wrong, strict=True)
            if count
        ]

    def _remarks(self, made: Noisy, given: NumericTable) -> list[str]:
        said = []
        if self.method == "outliers":
            said.append(f"{check.counted(made.records, 'outlying record')} of {len(given.record):,} got noise")
        if not made.robust:
            said.append("outlying by percentiles only: these variables have no robust covariance")
        if made.borrowed:
            besides = ", so that mean and covariance are kept on average only" if self.method in EXACT else ""
            said.append(
                f"{check.counted(made.borrowed, 'record')} with too few others alike in what is missing or zero took "
                f"the covariance of all that have these variables{besides}"
            )
        if made.at_bound:
            said.append(f"{check.counted(made.at_bound, 'number')} brought inside, as no draw stayed within the limits")
        if self.method in EXACT and given.whole.any():
            said.append("mean and covariance are kept up to rounding to whole numbers")
        if self.amount < LITTLE:
            said.append(f"noise of {100 * self.amount:.2g} % protects next to nothing; 10 % and more is usual")
        return said

    def _mechanism(self, made: Noisy) -> Mechanism:
        parameters = {
            "method": self.method,
            "amount": self.amount,
            "kept": made.kept,
            "covariance": made.covariance,
            "records": made.records,
            "keep_zeros": self.keep_zeros,
            "weighted": self.weighted,
        }
        return Mechanism("noise", self.variables, parameters, perturbs=True)


def _drawing(draws: Draws, given: NumericTable) -> Any:
    """Standard normal numbers by variable, for some rows and the number of the try."""

    def draw(rows: Ints, attempt: int) -> Floats:
        return np.column_stack([draws.step(name).normal(given.record[rows], attempt) for name in given.names])

    return draw
