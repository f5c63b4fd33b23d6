"""The columns of a regression in two files: the same for both, with categories in common classes."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError, quoted
from tacita.formula import Regression, Term
from tacita.loss.both_files import Both, both_numbers, holds_numbers
from tacita.loss.common_classes import common_classes

MOST_COLUMNS = 400


class Factor(NamedTuple):
    """A variable of a regression in both files: numbers, or classes 0, 1, ..., -1 where missing."""

    numbers: tuple[Floats, Floats] | None
    codes: tuple[Ints, Ints] | None
    values: tuple[Any, ...]
    """What the classes stand for."""
    recoded: bool

    @property
    def shown(self) -> tuple[Bools, Bools]:
        """By file where it is not missing."""
        if self.numbers is not None:
            return ~np.isnan(self.numbers[0]), ~np.isnan(self.numbers[1])
        assert self.codes is not None
        return self.codes[0] >= 0, self.codes[1] >= 0


class Column(NamedTuple):
    """One column of the design: a term with a class of each of its categorical variables."""

    label: str
    """Its name, with classes by their place."""
    value_label: str
    """Its name with the classes themselves, which are cells of the data."""
    parts: tuple[tuple[str, int], ...]
    """By variable the class, -1 for the number itself."""


class Terms(NamedTuple):
    """The columns of a regression and what they are made of."""

    formula: Regression
    factors: dict[str, Factor]
    columns: tuple[Column, ...]


def terms_of(both: Both, formula: Regression) -> Terms:
    """The columns of a regression; variables that hold numbers in both files are numbers unless written C(...)."""
    check.columns_exist("formula: variables", formula.names, both.original.columns)
    removed = [name for name in formula.names if name not in both.released.columns]
    if removed:
        raise TacitaError(f"the regression cannot be done with the release: it lacks {quoted(removed)}.")
    factors = {name: _factor(both, name, name in formula.categorical) for name in formula.names}
    model = {*formula.terms, *([frozenset[str]()] if formula.constant else [])}
    columns = [Column("constant", "constant", ())] if formula.constant else []
    for term in formula.terms:
        columns += _columns(term, factors, model, formula.names)
        # The first term without a constant or a margin has all classes; it stands in for the margin.
        model |= {frozenset()} if len(term) == 1 and factors[next(iter(term))].numbers is None else set()
    if len(columns) > MOST_COLUMNS:
        raise TacitaError(
            f"the regression would have {len(columns):,} coefficients, more than {MOST_COLUMNS:,}; take fewer classes."
        )
    return Terms(formula, factors, tuple(columns))


def _factor(both: Both, name: str, categorical: bool) -> Factor:
    if not categorical and all(holds_numbers(data, name) for data in both.files):
        return Factor(both_numbers(both, name), None, (), False)
    classes = common_classes(both, name)
    return Factor(None, (classes.original - 1, classes.released - 1), classes.values, classes.recoded)


def _columns(term: Term, factors: dict[str, Factor], model: set[Term], names: tuple[str, ...]) -> list[Column]:
    """The columns of a term: of a categorical variable all classes but the first, or all where the model lacks the term
    without it, as in R."""
    members = sorted(term, key=names.index)
    choices = []
    for name in members:
        factor = factors[name]
        if factor.numbers is not None:
            choices.append([-1])
            continue
        first = 1 if term - {name} in model else 0
        choices.append(list(range(first, len(factor.values))))
    found = []
    for chosen in itertools.product(*choices):
        parts = tuple(zip(members, chosen, strict=True))
        label = ":".join(name if at < 0 else f"{name} [{at + 1}]" for name, at in parts)
        plain = ":".join(name if at < 0 else f"{name} [{factors[name].values[at]}]" for name, at in parts)
        found.append(Column(label, plain, parts))
    return found


def complete_rows(terms: Terms, file: int) -> Ints:
    """The rows of a file that show all variables of the regression."""
    shown = np.all([factor.shown[file] for factor in terms.factors.values()], axis=0)
    return np.flatnonzero(shown)


def design_matrix(terms: Terms, file: int, rows: Ints) -> Floats:
    """The columns of the regression for some rows of a file."""
    matrix = np.ones((len(rows), len(terms.columns)))
    for place, column in enumerate(terms.columns):
        for name, at in column.parts:
            factor = terms.factors[name]
            if factor.numbers is not None:
                matrix[:, place] *= factor.numbers[file][rows]
            else:
                assert factor.codes is not None
                matrix[:, place] *= factor.codes[file][rows] == at
    return matrix


def response(terms: Terms, file: int, rows: Ints, logistic: bool) -> Floats:
    """What is explained: numbers, or for a logistic regression 0 and 1, of two classes the second."""
    name = terms.formula.response
    factor = terms.factors[name]
    if not logistic:
        if factor.numbers is None:
            raise TacitaError(f"{name!r} must hold numbers in both files; for two categories use model='logistic'.")
        return factor.numbers[file][rows]
    wrong = TacitaError(f"{name!r} must be 0 and 1, or two categories, to be explained by a logistic regression.")
    if factor.numbers is not None:
        values = factor.numbers[file][rows]
        if not np.isin(values, (0.0, 1.0)).all():
            raise wrong
        return values
    assert factor.codes is not None
    if len(factor.values) != 2:
        raise wrong
    return factor.codes[file][rows].astype(np.float64)
