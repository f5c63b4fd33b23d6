"""Relations between numbers, as `total = home + abroad`, repaired after a step that changed the numbers.

In the language of rules, sums that are compared. Where a relation held before the step and does not hold after it,
variables that the step changes are moved until it does:

- a single variable on the left, if the step changes it, is worked out from the rest;
- otherwise all variables of the relation that the step changes are scaled, each in proportion to its size, so that
  zeros stay zeros and a sum of positive parts has positive parts;
- of `<=` and `>=` the same is done where they are broken, so that they hold with equality; `<` and `>` are counted.

Relations are gone through in turn until all hold. Of relations that contradict each other after the step equalities are
repaired and inequalities counted, and where equalities contradict each other the numbers stay as the step made them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.parameters import Shape
from tacita.protect.numeric_table import numeric_table, with_numbers
from tacita.protect.step import Step
from tacita.rules.parse import parsed
from tacita.rules.parts import Both, Change, Column, Comparison, Condition, Number, Sum, Term

ROUNDS = 50
"""So often are all relations gone through, at most."""
HELD = 1e-12
"""A relation whose sides differ by less than this share of its terms held before the step, as a rule does."""
NEAR = 1e-13
"""And by less than this it holds after the repair."""
CONSTANT = ""
"""Stands for the constant among the variables of a sum; no variable of a rule has this name."""


class Relation(NamedTuple):
    """A sum of variables times coefficients, plus a constant, that is 0, at most 0 or below 0."""

    text: str
    coefficients: dict[str, float]
    constant: float
    sign: str
    """One of =, <=, <."""
    left: str
    """The variable that stands alone on the left and is worked out from the rest; none: empty."""


def relations_of(text: str) -> tuple[Relation, ...]:
    """The relations that a text declares; a chain such as `0 <= part <= total` is two.

    >>> relations_of("total = home + 2 * abroad")[0].coefficients
    {'total': 1.0, 'home': -1.0, 'abroad': -2.0}
    """
    return tuple(_relation(text, each) for each in _comparisons(text, parsed(text)))


def _comparisons(text: str, part: Condition) -> list[Comparison]:
    if isinstance(part, Both) and part.word == "and":
        return [*_comparisons(text, part.left), *_comparisons(text, part.right)]
    if isinstance(part, Comparison) and part.sign != "!=":
        return [part]
    raise _unfit(text)


def _unfit(text: str) -> TacitaError:
    return TacitaError(
        f"a relation must compare sums of variables, as 'total = home + abroad'; got {text!r}, which is a rule for the "
        f"plan rather than a relation to repair."
    )


def _relation(text: str, part: Comparison) -> Relation:
    sides = (part.right, part.left) if part.sign in (">", ">=") else (part.left, part.right)
    first, second = (_linear(text, side) for side in sides)
    found = {name: first.get(name, 0.0) - second.get(name, 0.0) for name in {**first, **second}}
    constant = found.pop(CONSTANT, 0.0)
    used = {name: value for name, value in found.items() if value}
    if not used:
        raise _unfit(text)
    left = part.left.name if isinstance(part.left, Column) and part.left.name in used else ""
    return Relation(text, used, constant, {">": "<", ">=": "<="}.get(part.sign, part.sign), left)


def _linear(text: str, term: Term) -> dict[str, float]:
    """By variable its coefficient."""
    if isinstance(term, Number):
        return {CONSTANT: term.value}
    if isinstance(term, Column):
        return {term.name: 1.0}
    if isinstance(term, Change) and term.how == "-":
        return _scaled(_linear(text, term.term), -1.0)
    if not isinstance(term, Sum):
        raise _unfit(text)
    left, right = _linear(text, term.left), _linear(text, term.right)
    if term.sign in "+-":
        other = _scaled(right, -1.0) if term.sign == "-" else right
        return {name: left.get(name, 0.0) + other.get(name, 0.0) for name in {**left, **other}}
    if set(right) == {CONSTANT} and (term.sign == "*" or right[CONSTANT] != 0):
        return _scaled(left, right[CONSTANT] if term.sign == "*" else 1.0 / right[CONSTANT])
    if set(left) == {CONSTANT} and term.sign == "*":
        return _scaled(right, left[CONSTANT])
    raise _unfit(text)


def _scaled(terms: dict[str, float], factor: float) -> dict[str, float]:
    return {name: value * factor for name, value in terms.items()}


def _texts(what: str, given: Any) -> tuple[str, ...]:
    """Texts of relations, each of which can be read."""
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(each, str) for each in listed):
        raise TacitaError(f"{what} must be texts such as 'total = home + abroad'; got {check.given(given)}.")
    texts = tuple(listed)
    for text in texts:
        relations_of(text)
    return texts


RELATIONS = Shape("relations, as 'total = home + abroad'", _texts)
"""The parameter of a step that repairs relations."""


class Repaired(NamedTuple):
    """The data with relations repaired."""

    data: Data
    remarks: tuple[str, ...]
    broken: dict[str, int]
    """By relation: records in which it held before the step and does not hold now."""


def repaired(step: Step, texts: tuple[str, ...], before: Data, after: Data, changed: tuple[str, ...]) -> Repaired:
    """The data after a step with its relations repaired, by moving variables that the step changes.

    `before` and `after` hold the same records. A record in which a relation did not hold before, or in which one of its
    numbers is missing, is left as it is.
    """
    listed = [relation for text in texts for relation in relations_of(text)]
    names = tuple(dict.fromkeys(name for relation in listed for name in relation.coefficients))
    was, now = numeric_table(step, names, before), numeric_table(step, names, after)
    matrix = np.array([[relation.coefficients.get(name, 0.0) for name in names] for relation in listed])
    constant = np.array([relation.constant for relation in listed])
    _check_not_given_back(texts, listed, matrix, names, changed)
    movable = np.broadcast_to(np.array([name in changed for name in names]), now.values.shape) & ~np.isnan(now.values)
    left = np.array([names.index(relation.left) if relation.left else -1 for relation in listed])
    signs = tuple(relation.sign for relation in listed)
    fresh, kept = moved(was.values, now.values, Sums(matrix, constant, signs, left), movable, now.whole)
    same = {text: [relation.text == text for relation in listed] for text in texts}
    counts = {text: int((~kept[:, chosen]).any(axis=1).sum()) for text, chosen in same.items()}
    remarks = [
        f"{text!r} no longer holds in {check.counted(count, 'record')}" for text, count in counts.items() if count
    ]
    for relation, used in zip(listed, matrix != 0, strict=True):
        back = _given_back(*(each[:, used] for each in (was.values, now.values, fresh)))
        if relation.sign == "=" and back:
            remarks.append(
                f"{relation.text!r} gives {check.counted(back, 'record')} back all of its numbers as they were"
            )
    return Repaired(with_numbers(after, now, fresh), tuple(remarks), counts)


def _given_back(was: Floats, now: Floats, fresh: Floats) -> int:
    """How many records have all of some numbers as they were, though the step had changed one of them."""
    same, still = (np.isclose(each, was, rtol=1e-9, atol=0.0, equal_nan=True).all(axis=1) for each in (fresh, now))
    return int((same & ~still).sum())


def _check_not_given_back(
    texts: tuple[str, ...], listed: list[Relation], matrix: Floats, names: tuple[str, ...], changed: tuple[str, ...]
) -> None:
    """An error if equalities determine a variable from those that the step does not change: it would be as it was."""
    equal = matrix[[relation.sign == "=" for relation in listed]][:, [name in changed for name in names]]
    rank = np.linalg.matrix_rank(equal) if equal.size else 0
    for place, name in enumerate(name for name in names if name in changed):
        alone = np.arange(equal.shape[1]) == place
        if rank and np.linalg.matrix_rank(np.vstack([equal, alone])) == rank:
            raise TacitaError(
                f"the relations {check.quoted(texts)} give {name!r} back from variables that the step does not change; "
                f"add those to its variables, or leave the relation out."
            )


class Sums(NamedTuple):
    """Relations as arrays: matrix times numbers plus constant is 0, at most 0, or below 0."""

    matrix: Floats
    constant: Floats
    signs: tuple[str, ...]
    left: Any
    """By relation: the variable that is worked out from the rest; -1: none."""


def moved(was: Floats, now: Floats, sums: Sums, movable: Bools, whole: Bools) -> tuple[Floats, Bools]:
    """Numbers moved until relations that held hold again, and by record and relation whether nothing is broken.

    >>> sums = Sums(np.array([[1.0, -1.0, -1.0]]), np.zeros(1), ("=",), np.array([0]))
    >>> now = np.array([[11.0, 4.0, 5.0]])
    >>> moved(np.array([[10.0, 4.0, 6.0]]), now, sums, np.ones((1, 3), bool), np.zeros(3, bool))[0].tolist()
    [[9.0, 4.0, 5.0]]
    """
    every = tuple(range(len(sums.signs)))
    held = np.column_stack([~_fails(was, sums, place, decided=False) for place in every])
    fresh, rows = now.copy(), np.arange(len(now))
    equalities = tuple(place for place in every if sums.signs[place] == "=")
    for places in (tuple(place for place in every if sums.signs[place] != "<"), equalities, ()):
        fresh[rows] = _settled(now[rows], held[rows], sums, places, movable[rows], whole)
        # Where relations contradict each other equalities come first; where those do, nothing is moved.
        rows = rows[_broken(fresh[rows], held[rows], sums, places).any(axis=1)]
    return fresh, ~_broken(fresh, held, sums, every)


def _broken(values: Floats, held: Bools, sums: Sums, places: tuple[int, ...]) -> Bools:
    """By record and relation: whether it held and does not hold any more; only some relations are judged."""
    found = np.zeros(held.shape, dtype=np.bool_)
    for place in places:
        found[:, place] = held[:, place] & _fails(values, sums, place)
    return found


def _settled(now: Floats, held: Bools, sums: Sums, places: tuple[int, ...], movable: Bools, whole: Bools) -> Floats:
    """Rows after some relations were repaired in turn, again and again; then once more in whole numbers."""
    fresh = now.copy()
    for rounding in (False, True) if whole.any() else (False,):
        if rounding:
            fresh[:, whole] = np.where(fresh[:, whole] != now[:, whole], np.rint(fresh[:, whole]), fresh[:, whole])
        rows = np.arange(len(now))
        for _ in range(ROUNDS):
            rows = rows[_broken(fresh[rows], held[rows], sums, places).any(axis=1)]
            if not len(rows):
                break
            for place in places:
                wrong = rows[held[rows, place] & _fails(fresh[rows], sums, place)]
                fresh[wrong] = _moved_rows(fresh[wrong], sums, place, movable[wrong], whole if rounding else None)
    return fresh


def _terms(values: Floats, sums: Sums, place: int) -> Floats:
    """The terms of a relation's sum, 0 for variables that are not in it."""
    used = sums.matrix[place] != 0
    return np.where(used, values * sums.matrix[place], 0.0)


def _fails(values: Floats, sums: Sums, place: int, *, decided: bool = True) -> Bools:
    """Where a relation does not hold; where a number is missing it does not fail, or with decided=False it does."""
    terms = _terms(values, sums, place)
    total = terms.sum(axis=1) + sums.constant[place]
    slack = (NEAR if decided else HELD) * (np.abs(terms).sum(axis=1) + abs(sums.constant[place]))
    with np.errstate(invalid="ignore"):
        holds = {"=": np.abs(total) <= slack, "<=": total <= slack, "<": total < 0}[sums.signs[place]]
    wrong: Bools = ~holds & (~np.isnan(total) if decided else True)
    return wrong


def _moved_rows(values: Floats, sums: Sums, place: int, movable: Bools, whole: Bools | None) -> Floats:
    """Rows in which a relation is broken, with numbers moved so that it holds with equality.

    With n numbers that can move each is changed by the same share of itself; one number alone by whatever is missing.
    Whole numbers are moved one for all: the left one, or the largest.
    """
    free = movable & (sums.matrix[place] != 0)
    column = int(sums.left[place])
    if column >= 0:
        free = np.where(free[:, [column]], np.arange(values.shape[1]) == column, free)
    terms = _terms(values, sums, place)
    if whole is not None:
        largest = np.where(free, np.abs(terms), -1.0).argmax(axis=1)
        free &= np.arange(values.shape[1]) == largest[:, None]
    excess = terms.sum(axis=1) + sums.constant[place]
    single = free.sum(axis=1) == 1
    size = np.where(free, np.abs(terms), 0.0).sum(axis=1)
    share = np.divide(excess, size, out=np.zeros(len(size)), where=size > 0)
    coefficient = np.where(sums.matrix[place] != 0, sums.matrix[place], 1.0)
    change = np.where(single[:, None], (excess[:, None] / coefficient), np.sign(terms) * values * share[:, None])
    if whole is not None:
        change = np.where(whole, np.rint(change), change)
    return np.where(free, values - change, values)
