"""What a released category costs where categories were exchanged by a known matrix (PRAM)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.mechanism import Mechanism
from tacita.risk.external.categories import Categories, as_text, categories_of, shares_of, surprise, unless_missing
from tacita.risk.external.columns import Column, table
from tacita.risk.linkage.files import Files

LEAST = 1e-300
"""A probability of 0 counts as this where a category is looked for that fits best."""
Value = tuple[str | None, ...]
"""The values of the variables that changed together, as texts; None where missing."""


class Step(NamedTuple):
    """One step of PRAM: its matrices, one or one for each stratum."""

    mechanisms: tuple[Mechanism, ...]

    @property
    def by(self) -> tuple[str, ...]:
        """The variables that make the strata."""
        return tuple(self.mechanisms[0].parameters.get("stratum", {}))


def steps_of(mechanisms: Sequence[Mechanism]) -> list[Step]:
    """Matrices of strata that follow each other are one step; two for the same stratum are two steps."""
    steps: list[list[Mechanism]] = []
    for each in mechanisms:
        strata = [before.parameters.get("stratum", {}) for before in steps[-1]] if steps else []
        stratum = each.parameters.get("stratum", {})
        same = bool(strata) and bool(stratum) and stratum not in strata and set(stratum) == set(strata[0])
        steps = [*steps[:-1], [*steps[-1], each]] if same else [*steps, [each]]
    return [Step(tuple(each)) for each in steps]


class Coded(NamedTuple):
    """The values of one file as places in one list of all values; -1: not in it."""

    place: Ints
    """By position."""
    values: tuple[Value, ...]


def transition_costs(files: Files, names: tuple[str, ...], mechanisms: Sequence[Mechanism], coded: bool) -> Column:
    """Minus log R[x, y], R the product of the matrices of all steps in the stratum of the record.

    A suppressed cell costs what a released value drawn at random would cost on average: sum of p_y R[x, y]; of
    variables that changed together it can be any that agrees with the cells shown.
    """
    singles = [categories_of(files, name) for name in names]
    x, y = (_values(singles, of_x) for of_x in (True, False))
    chance = _chances(mechanisms, (*x.values, *y.values), min(each.kept() for each in singles))
    of_y = np.array([chance.every.index(value) if None not in value else -1 for value in y.values], dtype=np.int64)
    strata = [_strata(files, step) for step in chance.steps]
    if coded:
        x = _recoded(x, y.place, singles[0].pairs, of_y, strata, chance)
    rows, row = np.unique(np.column_stack([x.place, *strata]), axis=0, return_inverse=True)
    likely = chance.likelihoods(rows, x.values)
    costs = np.full((len(rows), len(y.values) + 1), np.inf)
    shares = shares_of(y.place + 1, len(y.values) + 1)[1:]
    with np.errstate(divide="ignore"):
        for code, value in enumerate(y.values):
            if None in value:
                average = _hidden(value, y.values, shares, of_y, likely)
                costs[:, code + 1] = surprise(average, len(y.place))
            else:
                costs[:, code + 1] = -np.log(likely[:, of_y[code]])
    incomplete = np.array([None in value for value in x.values])[x.place]
    return table(
        (y.place + 1).astype(np.float64),
        unless_missing(row.reshape(-1), np.where(incomplete, 0, 1)),
        np.maximum(costs, 0.0),
    )


def _categories(mechanism: Mechanism) -> list[Value]:
    """The categories of a matrix as values of its variables."""
    return [(each,) if isinstance(each, str) else tuple(each) for each in mechanism.parameters["categories"]]


def _values(singles: Sequence[Categories], of_x: bool) -> Coded:
    """The values of one or several variables together, as they occur."""
    codes = np.column_stack([each.x if of_x else each.y for each in singles])
    texts = [(None, *(each.x_texts if of_x else each.y_texts)) for each in singles]
    found, place = np.unique(codes, axis=0, return_inverse=True)
    values = tuple(tuple(text[code] for text, code in zip(texts, row, strict=True)) for row in found.tolist())
    return Coded(place.reshape(-1), values)


def _strata(files: Files, step: Step) -> Ints:
    """By position in the original: the matrix of its stratum, -1 where there is none."""
    if not step.by:
        return np.zeros(len(files.original), dtype=np.int64)
    coded = [files.original.coded(name) for name in step.by]
    texts = [(None, *map(as_text, each.values)) for each in coded]
    codes = np.column_stack([each.codes.astype(np.int64) for each in coded])[files.x_order]
    found, place = np.unique(codes, axis=0, return_inverse=True)
    named = [dict(each.parameters["stratum"]) for each in step.mechanisms]
    wanted = [
        dict(zip(step.by, (text[code] for text, code in zip(texts, row, strict=True)), strict=True))
        for row in found.tolist()
    ]
    return np.array([named.index(each) if each in named else -1 for each in wanted])[place.reshape(-1)]


class Chances(NamedTuple):
    """How likely every value becomes every other one."""

    steps: list[Step]
    categories: dict[Value, None]
    """Values that some matrix names."""
    stay: frozenset[Value]
    """Codes that are never exchanged."""
    every: list[Value]
    """All values, complete ones."""
    kept: float
    """The share of the records that kept their value."""

    def likelihoods(self, rows: Ints, values: Sequence[Value]) -> Floats:
        """By row (the place of a value, and the stratum of each step) the probability of every value in the end."""
        place = {value: at for at, value in enumerate(self.every)}
        likely = np.zeros((len(rows), len(self.every)))
        for at, code in enumerate(rows[:, 0].tolist()):
            if values[code] in place:
                likely[at, place[values[code]]] = 1.0
        for number, step in enumerate(self.steps, start=1):
            for stratum, mechanism in enumerate(step.mechanisms):
                there = np.flatnonzero(rows[:, number] == stratum)
                inside = np.array([place[value] for value in _categories(mechanism)], dtype=np.int64)
                if len(there) and len(inside):
                    cells = np.ix_(there, inside)
                    likely[cells] = likely[cells] @ _matrix(mechanism, self.kept)
        return likely


def _chances(mechanisms: Sequence[Mechanism], occurring: Sequence[Value], kept: float) -> Chances:
    named = dict.fromkeys(value for each in mechanisms for value in _categories(each))
    stay = frozenset((text,) for each in mechanisms for text in each.parameters.get("unchanged", ()))
    every = list(dict.fromkeys([*named, *(value for value in occurring if None not in value)]))
    return Chances(steps_of(mechanisms), named, stay, every, kept)


def _matrix(mechanism: Mechanism, kept: float) -> Floats:
    """The matrix; of a step for some of the records mixed with no change, in the share that the files show."""
    matrix = np.array(mechanism.parameters["matrix"], dtype=np.float64)
    if not mechanism.parameters.get("only"):
        return matrix
    stays = float(np.mean(np.diag(matrix)))
    share = min(max((1.0 - kept) / max(1.0 - stays, LEAST), 1e-9), 1.0)
    mixture: Floats = share * matrix + (1.0 - share) * np.eye(len(matrix))
    return mixture


def _recoded(x: Coded, y: Ints, own: tuple[Ints, Ints], of_y: Ints, strata: list[Ints], chance: Chances) -> Coded:
    """The original's values with those that were recoded before as the categories that they most likely became.

    A value that no matrix names had become one that it names: the one that explains best what is released.
    """
    values, categories = list(x.values), list(chance.categories)
    mine, theirs = own
    for code, value in enumerate(x.values):
        here = (x.place[mine] == code) & (of_y[y[theirs]] >= 0)
        if None in value or value in chance.stay or value in chance.categories or not here.any():
            continue
        seen = np.column_stack([of_y[y[theirs[here]]], *(each[mine[here]] for each in strata)])
        found, count = np.unique(seen, axis=0, return_counts=True)
        score = np.zeros(len(categories))
        for (became, *where), times in zip(found.tolist(), count.tolist(), strict=True):
            rows = np.array([[at, *where] for at in range(len(categories))])
            score -= times * np.log(np.maximum(chance.likelihoods(rows, categories)[:, became], LEAST))
        values[code] = categories[int(np.argmin(score))]
    return Coded(x.place, tuple(values))


def _hidden(value: Value, values: Sequence[Value], shares: Floats, of_y: Ints, likely: Floats) -> Floats:
    """The average likelihood of the released values that agree with the cells shown."""
    agrees: Bools = np.array(
        [
            None not in other and all(one is None or one == two for one, two in zip(value, other, strict=True))
            for other in values
        ]
    )
    weight = np.where(agrees, shares, 0.0)
    if not weight.sum() > 0:
        return np.zeros(len(likely))
    average: Floats = likely[:, of_y[agrees]] @ (weight[agrees] / weight.sum())
    return average
