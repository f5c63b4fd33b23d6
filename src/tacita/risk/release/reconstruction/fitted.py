"""By formulas whose factors are fitted: sums with factors, products of powers, and factors by class.

What the intruder has: a body mass index beside the weight, an index made of three amounts, net pay by tax class. What
he does: he fits the factors on rows that show both, or knows them: names and labels tell what a column is made of. What
he gains: every value to the digit that the others are given with. A fit through a few rows says nothing: there must be
several rows to a factor, and the formula has to hold on the rest of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import HIT_RATE
from tacita.risk.release.reconstruction.numbers import near

ROWS_PER_FACTOR = 4
"""Rows that there must be for each factor that is fitted."""
FEWEST_ROWS = 3 * ROWS_PER_FACTOR
"""Rows from which on a constant and two factors are fitted."""
FITTED_ON = 400
"""Rows that factors are fitted on, at most."""
MOSTLY_THERE = 0.9
"""Of these rows, the share that must show a column for it to be part of a formula."""
CLOSE = 1e-3
"""How near to 1, 0 or -1 a factor is taken for that."""
CLASSES = (2, 60)
"""Different values of a column whose values may have a factor of their own."""
MULTIPLE, STEP = "a multiple of", "a step from"
LEAST_IN_CLASS = 3
"""Rows of a class from which on a factor of its own says anything."""


class Fitted(NamedTuple):
    """A guess by row, the columns that it is made of, how in words, and how far rounding may move it."""

    columns: tuple[str, ...]
    words: str
    guess: Floats
    slack: Floats


def fitted_formulas(files: Files, protected: Protected, columns: dict[str, Floats]) -> Iterator[Fitted]:
    """Formulas that fit nearly all of some rows: by factors, by powers, and by a factor for each class of a column."""
    rows = _rows_to_fit(protected)
    if len(rows) < FEWEST_ROWS:
        return
    for powers in (False, True):
        found = _combination(files, protected, columns, rows, powers)
        if found is not None:
            yield found
    yield from _by_class(files, protected, columns, rows)


def _rows_to_fit(protected: Protected) -> Ints:
    """Rows that show the original if there are many, or else the protected cells: a formula that somebody knows."""
    assert protected.numbers is not None
    rows = protected.true_rows if len(protected.true_rows) >= FITTED_ON / 4 else protected.rows
    rows = rows[~np.isnan(protected.numbers[rows])]
    return rows if len(rows) <= FITTED_ON else rows[np.linspace(0, len(rows) - 1, FITTED_ON).astype(np.int64)]


class _Space(NamedTuple):
    """Numbers as they are added up: themselves, or their logarithms, of which a sum is a product of powers."""

    target: Floats
    columns: dict[str, Floats]
    steps: Mapping[str, Floats | float]
    """By column: how far its rounding may move what stands in `columns`."""
    powers: bool


def _space(files: Files, x: Floats, columns: dict[str, Floats], powers: bool) -> _Space:
    half = {name: files.unit(name) / 2 if name in files.columns else 0.0 for name in columns}
    if not powers:
        return _Space(x, columns, half, powers)
    target, *others = (np.log(np.where(y > 0, y, np.nan)) for y in (x, *columns.values()))
    relative = {name: half[name] / np.where(y > 0, y, np.nan) for name, y in columns.items()}
    return _Space(target, dict(zip(columns, others, strict=True)), relative, powers)


def _combination(
    files: Files, protected: Protected, columns: dict[str, Floats], rows: Ints, powers: bool
) -> Fitted | None:
    """A sum of columns with factors, or a product of powers of them; None if there is none of two columns or more."""
    assert protected.numbers is not None
    some = _space(files, protected.numbers[rows], {name: y[rows] for name, y in columns.items()}, powers)
    usual = [
        name
        for name, y in some.columns.items()
        if (~np.isnan(y)).mean() >= MOSTLY_THERE and np.nanmin(y) < np.nanmax(y)
    ]
    there = ~np.isnan(np.stack([some.target, *(some.columns[name] for name in usual)])).any(axis=0)
    used = _least_columns(protected, some, usual, np.flatnonzero(there), rows)
    if used is None:
        return None
    whole = _space(files, protected.numbers, {name: columns[name] for name in used}, powers)
    return _formula(whole, used, rows[there])


def _formula(space: _Space, names: Sequence[str], rows: Ints) -> Fitted:
    """The formula of some columns whose factors least squares find on some rows, for every row of the file."""
    factors = _factors(space, names, rows)
    summed = factors[0] + sum(factor * space.columns[name] for factor, name in zip(factors[1:], names, strict=True))
    moved = sum(abs(factor) * space.steps[name] for factor, name in zip(factors[1:], names, strict=True))
    guess = np.asarray(np.exp(summed) if space.powers else summed, dtype=np.float64)
    slack = np.nan_to_num(moved * np.abs(guess) if space.powers else moved + 0.0 * guess)
    return Fitted(tuple(names), _words(names, factors, space.powers), guess, slack)


def _factors(space: _Space, names: Sequence[str], rows: Ints) -> Floats:
    """Constant and factors by least squares; numbers brought to one size, so that none is lost beside another."""
    size = np.array([np.abs(space.columns[name][rows]).max() or 1.0 for name in names])
    made = np.column_stack([np.ones(len(rows)), *(space.columns[name][rows] for name in names)]) / np.append(1.0, size)
    return np.asarray(np.linalg.lstsq(made, space.target[rows])[0] / np.append(1.0, size), dtype=np.float64)


def _least_columns(protected: Protected, space: _Space, names: list[str], at: Ints, rows: Ints) -> list[str] | None:
    """Columns none of which can be left out of a formula that fits some rows; None if none does, or one alone."""
    if len(names) < 2 or len(at) < ROWS_PER_FACTOR * (len(names) + 1) or not _fits(protected, space, names, at, rows):
        return None
    factors = _factors(space, names, at)
    telling = {name: abs(f) * space.columns[name][at].std() for name, f in zip(names, factors[1:], strict=True)}
    for name in sorted(names, key=lambda each: telling[each]):
        fewer = [each for each in names if each != name]
        if fewer and _fits(protected, space, fewer, at, rows):
            names = fewer
    return names if len(names) > 1 else None


def _fits(protected: Protected, space: _Space, names: list[str], at: Ints, rows: Ints) -> bool:
    """Whether a formula holds for nearly all of the rows; `at` are their places among those of the space."""
    found = _formula(space, names, at)
    # Factors are off by rounding too: twice the slack.
    return bool(near(protected, found.guess[at], rows[at], 2 * found.slack[at]).mean() >= HIT_RATE)


def _words(names: Sequence[str], factors: Floats, powers: bool) -> str:
    """A formula in words: a sum of columns if all factors are 1 or -1, else what it is made of."""
    listed = " and ".join(map(repr, names))
    if powers:
        return f"a product of powers of {listed}"
    signs = np.round(factors[1:])
    if np.abs(factors[0]) > CLOSE or np.abs(factors[1:] - signs).max() > CLOSE or np.abs(signs).max() > 1:
        return f"a sum with factors of {listed}"
    added, taken = ([repr(name) for name, sign in zip(names, signs, strict=True) if sign == s] for s in (1.0, -1.0))
    return " - ".join([" + ".join(added), *taken])


def _by_class(files: Files, protected: Protected, columns: dict[str, Floats], rows: Ints) -> Iterator[Fitted]:
    """A multiple of a column, or a column with something added, by class of another column."""
    assert protected.numbers is not None
    x = protected.numbers[rows]
    classes = {
        name: codes
        for name in files.columns
        if CLASSES[0] <= files.distinct(name) <= CLASSES[1] and (codes := files.codes(name)) is not None
    }
    for name, y in columns.items():
        with np.errstate(all="ignore"):
            ways = {MULTIPLE: np.where(y[rows] != 0, x / y[rows], np.nan), STEP: x - y[rows]}
        for words, constant in ways.items():
            size = np.abs(y[rows]) if words == MULTIPLE else np.ones(len(rows))
            for other, group in classes.items():
                own = group[rows]
                if other in (name, protected.name) or not _repeats(constant, x, size, own, protected.unit):
                    continue
                middle = _medians(constant, own, int(group.max(initial=0)))
                if words == MULTIPLE:
                    middle = _sharper(middle, x, y[rows], own)
                middle = middle[group]
                guess = middle * y if words == MULTIPLE else middle + y
                half = files.unit(name) / 2 if name in files.columns else 0.0
                slack = np.nan_to_num(half * (np.abs(middle) if words == MULTIPLE else np.ones(len(y))))
                yield Fitted((name, other), f"{words} {name!r} by {other!r}", guess, slack)


def _repeats(constant: Floats, x: Floats, size: Floats, group: Ints, unit: float) -> bool:
    """Whether constants are mostly those of other rows of their class, within rounding, and not since values are.

    A multiple of nothing is nothing, and a value that all of a class have is told by the class alone.
    """
    there = np.flatnonzero(~np.isnan(constant))
    if len(there) < LEAST_IN_CLASS:
        return False
    order = there[np.lexsort((constant[there], group[there]))]
    within = np.maximum(0.5 * unit, 1e-6 * np.abs(x[order[1:]]))
    alike: Bools = (np.diff(group[order]) == 0) & (np.abs(np.diff(constant[order])) * size[order[1:]] <= within)
    near_other = np.append(False, alike) | np.append(alike, False)
    different = np.abs(np.diff(x[order])) > within
    return bool(near_other.mean() >= HIT_RATE - 0.1 and different[alike].mean() >= 0.5)


def _sharper(factors: Floats, x: Floats, y: Floats, group: Ints) -> Floats:
    """By class the factor by least squares, of rows that lie near it: rounding moves that of a small number far."""
    there = np.abs(x - factors[group] * y) <= 2 * CLOSE * np.abs(x)
    last = len(factors)
    with np.errstate(invalid="ignore"):
        return np.bincount(group[there], (x * y)[there], last) / np.bincount(group[there], (y * y)[there], last)


def _medians(constant: Floats, group: Ints, last: int) -> Floats:
    """By class, up to the last one, the middle one of its constants; nothing of classes of a few rows."""
    found = np.full(last + 1, np.nan)
    there = np.flatnonzero(~np.isnan(constant))
    order = there[np.lexsort((constant[there], group[there]))]
    start = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))
    size = np.diff(np.append(start, len(order)))
    large = size >= LEAST_IN_CLASS
    found[group[order[start[large]]]] = constant[order[start[large] + (size[large] - 1) // 2]]
    return found
