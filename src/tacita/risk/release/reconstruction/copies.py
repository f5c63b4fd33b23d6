"""By copies: released columns, or parts of their values, that are the original value itself or a finer class of it.

What the intruder has: a column under another name, an identifier that contains a code, a class of the same variable
that is narrower than the released one. What he does: he reads it. No row need show the original: 'AT13' in an
identifier, or '60-61' beside '60-69', speaks for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.repeats import counts, distinct, how_many, mean, some
from tacita.risk.release.reconstruction.cells import Files, Protected, released_as
from tacita.risk.release.reconstruction.leak import HIT_RATE, LEVEL, Leak, is_justified, leak, tail_of_one
from tacita.risk.release.reconstruction.order import is_identifier, looks_issued
from tacita.risk.release.reconstruction.values import plain_text, plain_value
from tacita.risk.release.reconstruction.views import View, views_of

NUMBER = r"(-?\d+(?:\.\d+)?)"
BETWEEN = re.compile(rf"^[\[(]?\s*{NUMBER}\s*(?:-|–|to|,|;|\.\.)\s*{NUMBER}\s*([\])]?)$")
FROM_ON = re.compile(rf"^(?:>=|≥)?\s*{NUMBER}\s*(?:\+|or more|and over|and more)?$")
SCREENED = 200
"""Cells on which a copy is tried first."""
LIKELY = 0.7
"""Of these, the share that must be told right for a copy in part to be looked at further."""
LEAST_SHOWN = 10
"""Rows that show both a value and its copy, from which on they must agree more often than by chance."""
AGREE = 0.4
"""How far from chance to certainty they must agree at least."""
BEYOND_CHANCE = 0.8
"""Of what another value of the class would get wrong, the share that a copy in part gets right."""
MOST_VALUES = 20_000
"""Different values up to which texts are compared."""


def copy_leaks(files: Files, variables: Sequence[Protected]) -> Iterator[Leak]:
    """Leaks by columns that hold the original value, a part of their values that does, or a finer class."""
    views = [View((name,), f"{name!r}", name) for name in files.columns]
    views += [view for name in files.columns for view in views_of(files, name)]
    for protected in variables:
        released = released_values(protected)
        copies = {protected.name}
        for view in views:
            # Of a column that is a copy itself, parts say no more.
            found = None if view.column in copies else _copy_leak(files, protected, view, released, len(views))
            if found is not None:
                copies |= {view.column} if view.codes is None else set()
                yield found
        yield from _finer_class_leaks(files, protected)


def released_values(protected: Protected) -> Ints:
    """By code of an original value the code that it is released as; itself where values were exchanged or drawn."""
    if protected.removed or protected.drawn or protected.perturbed_by:
        return np.arange(protected.codes + 1)
    was = protected.shown.copy()
    was[protected.rows] = protected.truth
    return released_as(was, protected.shown, protected.codes, protected.repeats)


def _copy_leak(files: Files, protected: Protected, view: View, released: Ints, tried: int) -> Leak | None:
    codes = files.codes(view.column) if view.codes is None else view.codes
    assert codes is not None
    texts = view.texts if view.codes is not None else (None, *files.values(view.column))
    there = np.flatnonzero(codes[protected.rows])
    if not len(there):
        return None
    few = there[np.linspace(0, len(there) - 1, min(SCREENED, len(there))).astype(np.int64)]
    quick = in_protected_codes(texts, codes[protected.rows[few]], protected)
    covered, right = possible_guesses(protected, quick, released, few)
    likely = (quick == protected.truth[few]).mean() >= 0.5 or right.sum() >= max(LIKELY * covered.sum(), 1)
    # Rows that stand for many records are few, and some of them stand for most.
    if protected.times is None and not likely:
        return None
    guess = in_protected_codes(texts, codes[protected.rows], protected)
    covered, right = guess > 0, guess == protected.truth
    words = f"a copy of it, {view.words}"
    shown = protected.true_rows
    elsewhere = in_protected_codes(texts, codes[shown], protected)
    if not _is_copy(protected, guess, covered, right) or _is_contradicted(elsewhere, protected.shown[shown]):
        covered, right = possible_guesses(protected, guess, released, np.arange(len(protected)))
        words = f"a copy of it for some records, {view.words}"
        if not _is_copy_in_part(protected, guess, covered, right, tried):
            return None
    repair = f"protect {view.column!r} as {protected.name!r} is, or remove it"
    if view.codes is not None:
        issued = is_identifier(files, view.column) and looks_issued(files, view.column)
        repair = (
            f"give new identifiers in place of {view.column!r}" if issued else f"coarsen {view.column!r} or remove it"
        )
    return leak(protected, "copy", view.names, words, repair, covered, right)


def possible_guesses(protected: Protected, guess: Ints, released: Ints, cells: Ints) -> tuple[Bools, Bools]:
    """By some protected cells whether a guess is possible there, and whether it is right.

    A copy that is false for some records betrays itself where the release shows a class: whoever reads 37 beside
    "20-29" leaves it out, and what is left is mostly true. Of suppressed cells nobody knows which values are possible:
    what goes with them is learned from the rows that show both.
    """
    shown = protected.shown[protected.rows[cells]]
    covered = (guess > 0) & (guess != shown) & (protected.removed | ((shown > 0) & (released[guess] == shown)))
    return covered, covered & (guess == protected.truth[cells])


def in_protected_codes(texts: Sequence[object], codes: Ints, protected: Protected) -> Ints:
    """Values of another column in the codes of the protected variable, 0 where it has no such value."""
    own = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        if texts[code] is not None:
            own[code] = protected.code_of.get(plain_value(texts[code]), 0)
    return own[codes]


def _is_copy(protected: Protected, guess: Ints, covered: Bools, right: Bools) -> bool:
    """Whether nearly every cell is told, and more than codes that happen to look alike would."""
    count, hits = how_many(covered, protected.times), how_many(right, protected.times)
    if count < HIT_RATE * protected.size or hits < HIT_RATE * count:
        return False
    times = some(protected.times, covered)
    told, true = (counts(part[covered], times, protected.codes + 1) for part in (guess, protected.truth))
    chance = float((told * true).sum() / count**2)
    rows = protected.true_rows
    if len(rows):
        # Where rows still show the original, those who hold the cells may all be alike: the file says how rare that is.
        chance = mean(protected.shares[protected.truth[covered]], times)
    return is_justified(hits, count, chance)


def _is_contradicted(guess: Ints, shown: Ints) -> bool:
    """Whether rows that show the original agree with the copy hardly more often than by chance: then it is none.

    Two columns of yes and no agree in half of the rows and more, whatever they are about.
    """
    told, true = guess[guess > 0], shown[guess > 0]
    if len(told) < LEAST_SHOWN:
        return False
    sizes = int(max(told.max(), true.max())) + 1
    chance = float((np.bincount(told, minlength=sizes) / len(told)) @ (np.bincount(true, minlength=sizes) / len(told)))
    return float((told == true).mean()) < chance + AGREE * (1 - chance)


def _is_copy_in_part(protected: Protected, guess: Ints, covered: Bools, right: Bools, tried: int) -> bool:
    """Whether the cells that a copy may tell are told, significantly more than by another value of their class."""
    count, hits = how_many(covered, protected.times), how_many(right, protected.times)
    if hits < LIKELY * count or hits == 0:
        return False
    chance = chance_in_class(protected, guess, covered)
    beyond = hits >= (chance + BEYOND_CHANCE * (1 - chance)) * count
    return beyond and chance < 1 and tail_of_one(hits, count, chance) <= LEVEL / max(tried, 1)


def chance_in_class(protected: Protected, guess: Ints, covered: Bools) -> float:
    """How often guesses would be right if they were dealt out anew among the cells of the same released class."""
    times = some(protected.times, covered)
    shown, truth = protected.shown[protected.rows[covered]], protected.truth[covered]
    # Of the cells of a class, how many pairs of them agree in guess and truth.
    width = protected.codes + 1
    classes, place = np.unique(shown, return_inverse=True)
    told, true = (distinct(place * width + value, times) for value in (guess[covered], truth))
    size = counts(place, times, len(classes))
    both, at_told, at_true = np.intersect1d(told[0], true[0], return_indices=True)
    return float((told[1][at_told] * true[1][at_true] / size[both // width]).sum() / how_many(covered, protected.times))


def interval_of(text: str) -> tuple[float, float] | None:
    """The class that a label means, as lower and upper end; None if it means none.

    >>> interval_of("60-69"), interval_of("[60, 70)"), interval_of("75+"), interval_of("north")
    ((60.0, 69.0), (60.0, 70.0), (75.0, inf), None)
    """
    between = BETWEEN.match(text.strip())
    if between:
        low, high = float(between.group(1)), float(between.group(2))
        return (low, high) if low <= high else None
    onwards = FROM_ON.match(text.strip())
    if onwards:
        low = float(onwards.group(1))
        return (low, low) if onwards.group(0).strip() == onwards.group(1) else (low, float("inf"))
    return None


def _finer_class_leaks(files: Files, protected: Protected) -> Iterator[Leak]:
    """Columns whose classes hold the original value and are narrower than the released class, or are longer codes."""
    if protected.removed or protected.suppressed.all() or protected.codes > MOST_VALUES:
        return
    for name in files.columns:
        if name == protected.name or files.distinct(name) > MOST_VALUES:
            continue
        codes = files.codes(name)
        assert codes is not None
        rows = protected.rows
        size = files.distinct(name) + 1
        triples = (protected.truth * (protected.codes + 1) + protected.shown[rows]) * size + codes[rows]
        different, inverse = np.unique(triples, return_inverse=True)
        few = different[:: max(1, len(different) // SCREENED)].tolist()
        if len(different) > MOST_VALUES or not any(
            _compare_classes(files, protected, name, each, size) > 0 for each in few
        ):
            continue
        told = np.array([_compare_classes(files, protected, name, triple, size) for triple in different.tolist()])
        covered, right = told[inverse] != 0, told[inverse] > 0
        count, hits, shown = (how_many(each, protected.times) for each in (covered, right, ~protected.suppressed))
        wide = count >= HIT_RATE * shown / 2
        if wide and hits >= HIT_RATE * count and (hits >= 2 or len(np.unique(inverse[right])) >= 2):
            repair = f"recode {name!r} into the same classes, or remove it"
            yield leak(protected, "copy", (name,), f"finer classes of it, {name!r}", repair, covered, right)


def _compare_classes(files: Files, protected: Protected, name: str, triple: int, size: int) -> int:
    """1: the other column's class is narrower than the released one and holds the value; -1: it does not hold it;
    0: it says nothing more."""
    pair, other = divmod(triple, size)
    truth, shown = divmod(pair, protected.codes + 1)
    if other == 0 or shown == 0:
        return 0
    text, true, released = plain_text(files.values(name)[other - 1]), protected.text_of(truth), protected.text_of(shown)
    inner, outer = interval_of(text), interval_of(released)
    if inner is not None and outer is not None and outer[0] < outer[1]:
        value = interval_of(true)
        if value is None or value[0] != value[1] or inner[1] < outer[0] or inner[0] > outer[1]:
            return -1
        width = min(inner[1], outer[1]) - max(inner[0], outer[0])
        if width >= outer[1] - outer[0] or width < 0:
            return 0
        return 1 if inner[0] <= value[0] <= inner[1] else -1
    if len(text) > len(released) >= 1 and text.startswith(released) and not text.isdigit():
        return 1 if true.startswith(text) else -1
    return 0
