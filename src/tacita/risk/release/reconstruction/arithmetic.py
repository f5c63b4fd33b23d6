"""By arithmetic: released columns of which a protected one is a function, within rounding.

What the intruder has: a released column beside the protected one, its logarithm, its square root, its share of a total,
a total and the other parts, a figure per head. What he does: he turns the formula round. What he gains: every value,
to the digit that the other column is given with. Constants (the total behind a share, a base year) he takes from rows
that show both, or knows: where no row shows the original, a formula that fits nearly every cell counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Floats, Ints
from tacita.risk.release.reconstruction.cells import Files, Protected, members
from tacita.risk.release.reconstruction.fitted import fitted_formulas
from tacita.risk.release.reconstruction.leak import HIT_RATE, Leak, leak, or_kept
from tacita.risk.release.reconstruction.numbers import LEAST_SHOWN, judged, most_slack, near
from tacita.risk.release.reconstruction.values import unit_of

SCREENED = 400
"""Cells on which a formula is tried first."""
LEAST_VALUES = 3
"""Different values from which on a line through them means anything."""
LEAST_ORDERED = 20
"""Different values from which on the same order means anything."""
LEAST_TOLD = 0.2
"""The share of rows in which the greater of two numbers is not the other one."""
MOST_COLUMNS = 40
"""Numeric columns that are tried in pairs and threes."""

INVERSE: dict[str, Callable[[Floats], Floats]] = {
    "": lambda y: y,
    "the logarithm": np.exp,
    "the logarithm (base 10)": lambda y: np.asarray(10.0**y),
    "the logarithm (base 2)": np.exp2,
    "the logarithm of 1 + it": np.expm1,
    "the square root": np.square,
    "the square": np.sqrt,
    "the exponential": np.log,
    "the reciprocal": lambda y: 1.0 / y,
}
"""What a column may be of the protected one, and how that is turned round."""


class Formula(NamedTuple):
    """A guess by row, how it is made, and how far rounding may move it."""

    columns: tuple[str, ...]
    words: str
    guess: Floats
    slack: Floats | float = 0.0


def arithmetic_leaks(
    files: Files, variables: Sequence[Protected], remaining: dict[str, NDArray[np.bool_]]
) -> Iterator[Leak]:
    """Leaks by functions of one column; of the cells that are left, by sums, products and ratios of several."""
    for protected in variables:
        if protected.numbers is None or len(np.unique(protected.truth)) < 2:
            continue
        names = [name for name in files.columns if name != protected.name and files.numbers(name) is not None]
        tried = len(names) * len(INVERSE) * 3
        for name in names:
            for formula in _formulas_of_one_column(files, protected, name):
                known = _leak(files, protected, formula, tried)
                if known is not None:
                    yield known
                    break
        left = remaining[protected.name].copy()
        if left.any():
            # A column that is mostly zero can be added to any formula: only what gives more cells back counts.
            several = _leaks_by_several_columns(files, protected, names[:MOST_COLUMNS])
            yield from (each for each in several if left[each.right_cells].any())


def _leak(files: Files, protected: Protected, formula: Formula, tried: int) -> Leak | None:
    known = judged(protected, formula.guess, tried, formula.slack)
    if known is None:
        return None
    covered, right = known
    listed = " and ".join(map(repr, formula.columns))
    one = len(formula.columns) == 1
    repair = f"remove {listed} or round it" if one else f"suppress one of {listed} in the same records, or round"
    repair += or_kept(protected)
    if formula.columns == (files.household,):
        repair = f"give new identifiers in place of {listed} with NewIdentifiers()"
    return leak(protected, "arithmetic", formula.columns, formula.words, repair, covered, right)


def _formulas_of_one_column(files: Files, protected: Protected, name: str) -> Iterator[Formula]:
    """A column as it is, turned round, and on a straight line with the protected one."""
    y = files.numbers(name)
    assert y is not None and protected.numbers is not None
    unit = files.unit(name)
    if not _is_monotone(protected, y):
        return
    for word, inverse in INVERSE.items():
        guess, low, high = (_finite(inverse(y + step)) for step in (0.0, -unit / 2, unit / 2))
        slack = np.nan_to_num(np.abs(high - low) / 2)
        words = f"{word} of it, {name!r}" if word else f"{name!r}"
        yield Formula((name,), words, guess, slack if word else 0.0)
        line = _fitted_line(protected, guess, slack if word else np.full(len(guess), unit / 2))
        if line is not None:
            start, slope = line
            what = f"a multiple of it, {name!r}" if start == 0.0 else f"a straight line with {name!r}"
            words = f"{what} ({word})" if word else what
            yield Formula((name,), words, start + slope * guess, abs(slope) * (slack if word else unit / 2))
    yield from _same_order_formulas(protected, name, y)
    yield from _curves(protected, name, y, unit)


def _curves(protected: Protected, name: str, y: Floats, unit: float) -> Iterator[Formula]:
    """A column that lies on a curve with a variable which no row shows, as net pay by a schedule of taxes.

    Whoever knows the curve turns it round; whether there is one is seen by lines from each value to those beside it.
    """
    assert protected.numbers is not None
    rows = np.flatnonzero(~np.isnan(y) & ~np.isnan(protected.numbers))
    at, place, count = np.unique(y[rows], return_inverse=True, return_counts=True)
    if len(protected.true_rows) >= LEAST_SHOWN or len(at) < max(LEAST_ORDERED, len(rows) / 2):
        return
    x = np.bincount(place, protected.numbers[rows]) / count
    slope = np.diff(x) / np.diff(at)
    middle = x[:-2] + (x[2:] - x[:-2]) / (at[2:] - at[:-2]) * np.diff(at)[:-1]
    guess, slack = np.full(len(y), np.nan), np.zeros(len(y))
    told = np.concatenate([[np.nan], middle, [np.nan]])
    steep = np.concatenate([[0.0], np.maximum(np.abs(slope[1:]), np.abs(slope[:-1])), [0.0]])
    guess[rows], slack[rows] = told[place], unit * steep[place]
    yield Formula((name,), f"a curve, {name!r}", guess, slack)


def _same_order_formulas(protected: Protected, name: str, y: Floats) -> Iterator[Formula]:
    """A column in the same order, as ranks are: the middle between the rows next to it that show the original."""
    assert protected.numbers is not None
    rows = protected.true_rows[~np.isnan(y[protected.true_rows])]
    if len(np.unique(protected.shown[rows])) < LEAST_SHOWN:
        return
    order = rows[np.argsort(y[rows], kind="stable")]
    x, at = protected.numbers[order], y[order]
    moves = np.diff(at) > 0
    steps, ties = np.diff(x)[moves], np.diff(x)[~moves]
    if moves.sum() < LEAST_ORDERED or ties.any() or not ((steps >= 0).all() or (steps <= 0).all()):
        return
    place = np.searchsorted(at, y)
    inside = (place > 0) & (place < len(at)) & ~np.isnan(y)
    low, high = x[np.maximum(place - 1, 0)], x[np.minimum(place, len(at) - 1)]
    middle, gap = (low + high) / 2, np.abs(high - low) / 2
    narrow = inside & (gap <= most_slack(protected, middle))
    guess = np.where(narrow, middle, np.nan)
    guess[order] = x
    yield Formula((name,), f"the same order as {name!r}", guess, np.where(narrow, gap * 1.000001, 0.0))


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)


def _is_monotone(protected: Protected, y: Floats) -> bool:
    """Whether the protected numbers go up, or go down, with a column, but for rounding; looked up on some of the cells.

    They do so under every formula here.
    """
    assert protected.numbers is not None
    rows = _sample(protected.rows[~np.isnan(y[protected.rows])])
    order = np.argsort(y[rows], kind="stable")
    first, second = y[rows][order], protected.numbers[rows][order]
    if len(rows) < 1:
        return False
    steps = np.diff(second)
    moves = steps[np.diff(first) > 0]
    # Monotone but for rounding, up or down (a square root or a reciprocal turns at zero at most once).
    up, down = float((moves >= 0).mean()) if len(moves) else 1.0, float((moves <= 0).mean()) if len(moves) else 1.0
    return max(up, down) >= HIT_RATE - 0.1


def _sample(rows: Ints, most: int = SCREENED) -> Ints:
    """Some of the rows, spread over the file."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]


def _fitted_line(protected: Protected, y: Floats, slack: Floats) -> tuple[float, float] | None:
    """Start and slope of the line on which nearly all originals lie: by rows that show them, or else by the cells.

    Start 0 is tried first. A line through two values says nothing: there must be three at least.
    """
    assert protected.numbers is not None
    shown = protected.true_rows[~np.isnan(y[protected.true_rows])]
    rows = shown if len(np.unique(protected.shown[shown])) >= max(LEAST_VALUES, LEAST_SHOWN - 2) else protected.rows
    rows = _sample(rows[~np.isnan(y[rows]) & ~np.isnan(protected.numbers[rows])])
    x, y, slack = protected.numbers[rows], y[rows], slack[rows]
    if len(np.unique(x)) < LEAST_VALUES or len(np.unique(y)) < LEAST_VALUES:
        return None
    with np.errstate(all="ignore"):
        ratio = float(np.nanmedian(np.where(y != 0, x / y, np.nan)))
        if (
            np.isfinite(ratio)
            and ratio not in (0.0, 1.0)
            and _line_fits(protected, rows, ratio * y, abs(ratio) * slack)
        ):
            return 0.0, ratio
        half = len(x) // 2
        order = np.argsort(y, kind="stable")
        rise, run = x[order][half:] - x[order][: len(x) - half], y[order][half:] - y[order][: len(y) - half]
        slope = float(np.nanmedian(np.where(run != 0, rise / run, np.nan)))
        start = float(np.nanmedian(x - slope * y))
    if not (np.isfinite(slope) and np.isfinite(start)) or slope == 0:
        return None
    return (start, slope) if _line_fits(protected, rows, start + slope * y, abs(slope) * slack) else None


def _line_fits(protected: Protected, rows: Ints, guess: Floats, slack: Floats) -> bool:
    # Start and slope are off by rounding too: twice the slack.
    return bool(near(protected, guess, rows, 2 * slack).mean() >= HIT_RATE)


def _leaks_by_several_columns(files: Files, protected: Protected, names: Sequence[str]) -> Iterator[Leak]:
    """Sums, differences, products and ratios of two columns, and sums and differences of three."""
    assert protected.numbers is not None
    rows = _sample(protected.rows[~np.isnan(protected.numbers[protected.rows])])
    columns = _numeric_columns(files, names, rows)
    if len(columns) < 2:
        return
    sample = np.stack([y[rows] for y in columns.values()])
    tried = 5 * len(columns) ** 2 + 4 * len(columns) ** 3
    for search in (_formulas_of_two, _sums_of_three):
        found = False
        for way in search(list(columns), sample, protected, rows):
            guess = _finite(way.calculate([columns[name] for name in way.columns]))
            known = _leak(files, protected, Formula(way.columns, way.words, guess, 0.5 * unit_of(guess)), tried)
            if known is not None:
                found = True
                yield known
        if found:
            return
    for fitted in fitted_formulas(files, protected, columns):
        known = _leak(
            files, protected, Formula(fitted.columns, fitted.words, _finite(fitted.guess), fitted.slack), tried
        )
        if known is not None:
            yield known


def _numeric_columns(files: Files, names: Sequence[str], rows: Ints) -> dict[str, Floats]:
    """Numeric columns that say something of the rows, and the number of members of a household."""
    found = {name: y for name in names if (y := files.numbers(name)) is not None}
    if files.household in files.columns:
        assert files.household is not None
        found[f"members by {files.household}"] = members(files, files.household)
    return {name: y for name, y in found.items() if not np.isnan(y[rows]).all()}


class SeveralColumns(NamedTuple):
    """A formula of several columns."""

    columns: tuple[str, ...]
    words: str
    calculate: Callable[[list[Floats]], Floats]


def _formulas_of_two(names: list[str], sample: Floats, protected: Protected, rows: Ints) -> Iterator[SeveralColumns]:
    """Formulas of two columns that could hold, by the sample: of a maximum, too, where it is not that of the other."""
    for first, one in enumerate(sample):
        ways: dict[str, tuple[Floats, Callable[[list[Floats]], Floats]]] = {
            "{0} + {1}": (one + sample, lambda y: y[0] + y[1]),
            "{0} * {1}": (one * sample, lambda y: y[0] * y[1]),
            "{0} - {1}": (one - sample, lambda y: y[0] - y[1]),
            "{0} / {1}": (one / sample, lambda y: y[0] / y[1]),
            "{0} where it is more than {1}": (_extreme(one, sample, 1), lambda y: _where(y[0] > y[1], y[0])),
            "{0} where it is less than {1}": (_extreme(one, sample, -1), lambda y: _where(y[0] < y[1], y[0])),
        }
        for words, (guess, calculate) in ways.items():
            symmetric = "+" in words or "*" in words
            for second in np.flatnonzero(_holds_for_half(protected, rows, guess)).tolist():
                if second > first or (second < first and not symmetric):
                    chosen = (names[first], names[second])
                    yield SeveralColumns(chosen, words.format(*map(repr, chosen)), calculate)


def _where(there: NDArray[np.bool_], values: Floats) -> Floats:
    return np.where(there, values, np.nan)


def _extreme(one: Floats, others: Floats, sign: int) -> Floats:
    """A column where it differs from each of others, if it is never less than that (for -1, more), and mostly differs.

    Of two numbers that have nothing to do with each other now one is the greater, now the other.
    """
    beyond = sign * (one - others)
    possible = ((beyond > 0).mean(axis=1) >= LEAST_TOLD) & ~(beyond < 0).any(axis=1)
    return _where(np.logical_and(possible[:, None], beyond > 0), one)


def _sums_of_three(names: list[str], sample: Floats, protected: Protected, rows: Ints) -> Iterator[SeveralColumns]:
    """Sums and differences of three columns that could hold, by the sample; the third of each is found at once."""
    for first, second in combinations(range(len(names)), 2):
        for signs in ((1, 1, 1), (1, 1, -1), (-1, -1, 1)):
            guess = signs[0] * sample[first] + signs[1] * sample[second] + signs[2] * sample
            for third in np.flatnonzero(_holds_for_half(protected, rows, guess)).tolist():
                # A sum is found three times over, whichever part comes third.
                if third in (first, second) or (signs == (1, 1, 1) and third < second):
                    continue
                chosen = (names[first], names[second], names[third])
                calculate = partial(_signed_sum, signs=[float(sign) for sign in signs])
                yield SeveralColumns(chosen, _sum_words(chosen, signs), calculate)


def _sum_words(names: Sequence[str], signs: Sequence[int]) -> str:
    """A sum in words, what is added first."""
    added = [repr(name) for name, sign in zip(names, signs, strict=True) if sign > 0]
    taken = [repr(name) for name, sign in zip(names, signs, strict=True) if sign < 0]
    return " - ".join([" + ".join(added), *taken])


def _holds_for_half(protected: Protected, rows: Ints, guess: Floats) -> NDArray[np.bool_]:
    """By formula (a row of guesses): whether it holds for half of the sample that it tells anything of."""
    assert protected.numbers is not None
    x = protected.numbers[rows]
    close = np.abs(guess - x) <= np.maximum(0.5 * protected.unit, 0.01 * np.abs(x))
    told = (~np.isnan(guess)).sum(axis=1)
    return np.asarray((told > 0) & (close.sum(axis=1) >= 0.5 * told))


def _signed_sum(columns: list[Floats], signs: list[float]) -> Floats:
    """The sum of columns, each with its sign."""
    total = np.zeros(len(columns[0]))
    for column, sign in zip(columns, signs, strict=True):
        total += sign * column
    return total
