"""PRAM, the post-randomisation method: each category becomes another one with known probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.parameters import AtLeast, Doc, NotEmpty, Share
from tacita.protect.pram.account import figures_of, remarks_of
from tacita.protect.pram.categories import Categories, as_named, categories_of, with_categories
from tacita.protect.pram.drawing import drawn
from tacita.protect.pram.own_matrix import CATEGORIES, DIAGONAL, MATRIX, Rows, squared
from tacita.protect.pram.transition_matrix import (
    exact_diagonal,
    greatest_change,
    greatest_change_within,
    invariant_product,
    invariant_within,
    mixed,
    spread,
)
from tacita.protect.recode.regroup import column_of, is_declared, is_number, text_of
from tacita.protect.step import Applied, CellStep, Context, needed_weights, present
from tacita.random import Draws
from tacita.result import percent

INVARIANT = 1e-12
"""Shares that a matrix changes by no more than this count as kept."""
PD, ALPHA = 0.8, 0.5


class Randomised(NamedTuple):
    """What became of one variable, or of several together."""

    columns: Mapping[str, Any]
    mechanism: Mechanism
    remarks: tuple[str, ...]
    figures: Mapping[str, float]


@dataclass(frozen=True)
class Pram(CellStep):
    """Exchange categories at random, by known probabilities (post-randomisation, PRAM).

    Each record of category i gets category j with probability R_ij, so that nobody who sees j knows that it is true.
    The matrix R comes from one of three:

    - `pd` and `alpha`: P_ii = d_i, drawn between `pd` and 1, P_ij = (1 - d_i) / (L - 1); R = alpha P Q + (1 - alpha) I,
      where Q makes the product invariant. `pd` bounds the diagonal of P, not that of R.
    - `diagonal`: R_ii is just this, and R invariant; where there is no such matrix, that is an error.
    - `matrix`: R is given.

    Invariant means p R = p for the shares p of the categories: expected counts stay as they are, in every stratum. With
    `bandwidth` no category moves farther: P moves so far only, and R_ij = min(P_ij, p_j P_ji / p_i) in place of P Q,
    which would move twice as far. Missing values and declared codes stay. `corrected_table` corrects estimates.

    Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), Post randomisation for statistical disclosure control: theory
    and implementation. Journal of Official Statistics 14(4), 463-478.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"job": ["smith"] * 50 + ["miller"] * 40 + ["baker"] * 10})
    >>> release = tc.Plan([Pram("job", diagonal=0.9)]).apply(people, tc.Scenario(keys=["job"]), seed=1)
    >>> print(release.changes[0])
    pram job: 7 cells of 7 records changed (job 7); 'job': kept with probability 0.9, 10 % expected to change
    """

    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables, which must hold categories.")]
    pd: Annotated[
        float, Share(), Doc("The least diagonal of P; that of the matrix used can be smaller, for rare categories.")
    ] = PD
    alpha: Annotated[float, Share(zero=False), Doc("The share of records that are drawn for; the others stay.")] = ALPHA
    fixed: Annotated[bool, Doc("Whether the diagonal of P is `pd` itself, in place of draws between pd and 1.")] = False
    diagonal: Annotated[
        float | dict[str, float] | None,
        DIAGONAL,
        Doc("In place of pd: the probability to be kept, exactly, for all categories or by category."),
    ] = None
    matrix: Annotated[
        dict[str, dict[str, float]] | Rows | None,
        MATRIX,
        Doc("In place of pd: the matrix itself, {from: {to: probability}} or a list of rows."),
    ] = None
    categories: Annotated[
        tuple[str, ...], CATEGORIES, Doc("The categories of a matrix that is a list of rows, in their order.")
    ] = ()
    bandwidth: Annotated[
        int | None, AtLeast(1), Doc("The most places that a category may move in the order of its variable.")
    ] = None
    invariant: Annotated[
        bool, Doc("Whether expected counts stay as they are; if not, R is P, or has the diagonal and equal shares.")
    ] = True
    weighted: Annotated[bool, Doc("Whether weighted totals stay in expectation, in place of counts of records.")] = (
        False
    )
    together: Annotated[
        bool, Doc("Whether the variables are exchanged as one, so that only combinations come out that occur.")
    ] = False
    publish_matrix: Annotated[bool, Doc("Whether the matrix is published, for analysts to correct their tables.")] = (
        False
    )

    def __post_init__(self) -> None:
        built = (self.pd, self.alpha, self.fixed) != (PD, ALPHA, False)
        if sum((built, self.diagonal is not None, self.matrix is not None)) > 1:
            raise TacitaError("pram takes pd with alpha and fixed, or diagonal, or matrix; give one of them.")
        if self.matrix is None:
            if self.categories:
                raise TacitaError("categories go with a matrix that is a list of rows; leave them out.")
        else:
            rows, names = squared(self.matrix, self.categories)
            object.__setattr__(self, "matrix", rows)
            object.__setattr__(self, "categories", names)
        self._check_relations()

    def _check_relations(self) -> None:
        if self.matrix is not None and (self.bandwidth is not None or not self.invariant or self.weighted):
            raise TacitaError("a matrix is used as it is; leave bandwidth, invariant and weighted out.")
        by_category = self.matrix is not None or isinstance(self.diagonal, dict)
        if by_category and len(self.variables) > 1:
            raise TacitaError("a matrix, and a diagonal by category, are for one variable; give each variable a step.")
        if self.together and len(self.variables) < 2:
            raise TacitaError("together is for several variables; name at least two.")
        if self.together and self.bandwidth is not None:
            raise TacitaError("combinations of variables have no order; leave bandwidth or together out.")
        if self.weighted and not self.invariant:
            raise TacitaError("weighted says which totals an invariant matrix keeps; leave it or invariant=False out.")

    @property
    def draws(self) -> bool:
        """The new categories are drawn."""
        return True

    def apply(self, data: Data, context: Context) -> Applied:
        """The data with categories exchanged at random."""
        names = present(self, self.variables, data)
        if self.bandwidth is not None:
            _check_order(data, names)
        groups = (names,) if self.together else tuple((name,) for name in names)
        made = [self._randomised(data, group, context) for group in groups]
        mechanisms = tuple(each.mechanism for each in made)
        return Applied(
            data.with_columns({name: column for each in made for name, column in each.columns.items()}),
            tuple(remark for each in made for remark in each.remarks),
            {", ".join(each.mechanism.variables): dict(each.figures) for each in made},
            mechanisms,
            tuple(each if self.publish_matrix else each.with_parameters() for each in mechanisms),
        )

    def _randomised(self, data: Data, names: tuple[str, ...], context: Context) -> Randomised:
        found = categories_of(data, names)
        if self.matrix is not None:
            found = as_named(found, self.categories)
        stratum = {name: _value(data, name) for name in self.strata}
        draws = context.draws.step(", ".join(names))
        weights = needed_weights("weighted totals need", data, context) if self.weighted else None
        totals = found.totals(weights, data.record)
        shares = totals / max(totals.sum(), 1e-300)
        # Strata of one file have their own matrices, but a record has the same draw whatever its stratum.
        matrix = self._matrix(
            found, shares, draws.step(f"diagonal {sorted(stratum.items())}" if stratum else "diagonal")
        )
        self._check_codes(data, found, matrix[shares > 0])
        uniform = draws.uniform(data.record[found.there])
        fresh = drawn(found.codes[found.there], matrix, uniform)
        parameters = {
            "categories": [text[0] if len(names) == 1 else list(text) for text in found.texts],
            "matrix": matrix,
            "keeps": self._keeps(matrix, shares),
            "unchanged": found.unchanged,
            **({"stratum": stratum} if stratum else {}),
        }
        counts = found.totals(None, data.record)
        return Randomised(
            with_categories(data, found, fresh),
            Mechanism("transition", names, parameters, perturbs=True),
            remarks_of(names, matrix, counts, len(data)),
            figures_of(matrix, counts),
        )

    def _matrix(self, found: Categories, shares: Floats, draws: Draws) -> Floats:
        """The matrix by which the categories are exchanged."""
        count = len(found.texts)
        if self.matrix is not None:
            given = np.array(self.matrix)
            whole: Floats = given / given.sum(axis=1, keepdims=True)
            return whole
        if count < 2:
            return np.eye(count)
        if self.diagonal is not None:
            return self._with_diagonal(found, shares)
        drawn_for = np.full(count, self.pd)
        if not self.fixed:
            drawn_for = self.pd + (1.0 - self.pd) * draws.uniform(np.arange(count))
        first = spread(drawn_for, self.bandwidth)
        if self.invariant:
            first = (invariant_product if self.bandwidth is None else invariant_within)(first, shares)
        return mixed(first, self.alpha)

    def _with_diagonal(self, found: Categories, shares: Floats) -> Floats:
        """The matrix with the diagonal wanted."""
        wanted = self._wanted(found)
        if not self.invariant:
            return spread(wanted, self.bandwidth)
        change = shares * (1.0 - wanted)
        possible = greatest_change(change)
        over = int(np.argmax(change - possible))
        if change[over] > possible[over] * (1 + 1e-12):
            least = 1.0 - possible[over] / shares[over]
            named = repr(found.texts[over][0]) if isinstance(self.diagonal, dict) else "the most frequent category"
            raise TacitaError(
                f"no invariant matrix has this diagonal for {check.quoted(found.names)}: more would leave {named} than "
                f"all others can give back; keep it with a probability of at least {least:.4g}, in a table by "
                f"category, or pass invariant=False."
            )
        matrix = exact_diagonal(shares, wanted, self.bandwidth)
        if matrix is None:
            most = percent(greatest_change_within(change, self.bandwidth or len(change)))
            raise TacitaError(
                f"no invariant matrix has this diagonal for {check.quoted(found.names)} within bandwidth = "
                f"{self.bandwidth}: {most} can change, not {percent(change.sum())}; widen it, take pd in place of "
                f"diagonal, or pass invariant=False."
            )
        return matrix

    def _wanted(self, found: Categories) -> Floats:
        if not isinstance(self.diagonal, dict):
            return np.full(len(found.texts), self.diagonal)
        absent = sum(text not in self.diagonal for (text,) in found.texts)
        if absent:
            counted = check.counted(absent, "category", "categories")
            raise TacitaError(f"column {found.names[0]!r} has {counted} not named in diagonal; add them there.")
        return np.array([self.diagonal[text] for (text,) in found.texts])

    def _check_codes(self, data: Data, found: Categories, rows: Floats) -> None:
        """No record may get a code for missing or not applicable by a matrix of the user's."""
        if self.matrix is None:
            return
        (name,) = found.names
        known = data.variable(name)
        declared = {text_of(code) for code in (*known.missing, *known.not_applicable)} | set(found.unchanged)
        reached = [found.texts[at][0] for at in np.flatnonzero((rows > 0).any(axis=0)).tolist()]
        wrong = [text for text in reached if text in declared or is_declared(known, _number(text))]
        if wrong:
            raise TacitaError(
                f"matrix must not lead to codes declared missing or not applicable; it leads to {check.quoted(wrong)}."
            )

    def _keeps(self, matrix: Floats, shares: Floats) -> str:
        kept = bool(np.abs(shares @ matrix - shares).max(initial=0.0) <= INVARIANT)
        return ("weighted totals" if self.weighted else "counts") if kept else "nothing"


def _check_order(data: Data, names: tuple[str, ...]) -> None:
    """Variables whose categories have an order: declared, or that of numbers."""
    for name in names:
        numbers = data.variable(name).scale is None and all(map(is_number, column_of(data, name).plain))
        if data.scale(name) == "nominal" and not numbers:
            raise TacitaError(f"bandwidth needs categories in an order; declare {name!r} ordinal, or leave it out.")


def _value(data: Data, name: str) -> str | None:
    """The value that all records of a stratum have, as text; None where it is missing."""
    coded = data.coded(name)
    return text_of(coded.values[int(coded.codes[0]) - 1]) if len(data) and coded.codes[0] else None


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text
