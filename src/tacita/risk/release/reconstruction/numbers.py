"""Guesses that are numbers: when one counts as right, and when an intruder trusts the way it is made."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Floats, Ints
from tacita.risk.release.reconstruction.cells import Protected
from tacita.risk.release.reconstruction.leak import HIT_RATE, chance_of_codes, is_justified, is_trusted

LEAST_SHOWN = 5
"""Rows that show the original value, from which on an intruder learns from them."""
SCREENED = 400
"""Cells, and rows that show the original, on which a formula is tried first."""
NEAR = 0.01
"""Rounding of the column that a guess is made of is allowed for up to this share of the value."""


def most_slack(protected: Protected, values: Floats) -> Floats:
    """How far from a value a guess may be that still tells it: a share of the value, or of how far apart values are.

    Where zero is only where counting begins, as of dates and years, a share of the value itself says nothing.
    """
    return NEAR * np.minimum(np.abs(values), protected.spread)


def tolerance(protected: Protected, values: Floats, slack: Floats | float = 0.0) -> Floats:
    """How far a guess may be from a value: less than half of its last digit, or the rounding behind the guess."""
    exact = np.maximum(0.499 * protected.unit, 1e-9 * np.abs(values))
    return np.maximum(exact, np.minimum(slack, most_slack(protected, values)))


def near(protected: Protected, guess: Floats, rows: Ints, slack: Floats | float = 0.0) -> Bools:
    """By row: whether a guess is the original number within rounding."""
    assert protected.numbers is not None
    x = protected.numbers[rows]
    with np.errstate(invalid="ignore"):
        close: Bools = np.abs(guess - x) <= tolerance(protected, x, slack)
    return close


def chance_agreement(protected: Protected, guess: Floats, truth: Floats, slack: Floats) -> float:
    """How often guesses would be near to values if both were dealt out anew among the cells."""
    ordered = np.sort(truth)
    width = tolerance(protected, guess, slack)
    reached = np.searchsorted(ordered, guess + width, "right") - np.searchsorted(ordered, guess - width, "left")
    return float(reached.sum() / max(len(guess), 1) ** 2)


def judged(protected: Protected, guess: Floats, tried: int, slack: Floats | float = 0.0) -> tuple[Bools, Bools] | None:
    """By cell whether it is guessed, and whether right; None unless an intruder trusts the guesses and is right to.

    `guess` and `slack` are by row of the file. Where enough rows show the original value, the intruder trusts a formula
    that holds for 90 % of them; where none do, a formula that holds for 90 % of the cells themselves is taken for one
    that he knows: names and labels tell what a logarithm or a count is of.
    """
    if protected.numbers is None:
        return None
    slack_of = np.broadcast_to(np.asarray(slack, dtype=np.float64), guess.shape)
    if not _could_hold(protected, guess, slack_of):
        return None
    cells, told = protected.rows, guess[protected.rows]
    covered = ~np.isnan(told) & ~np.isnan(protected.numbers[cells])
    if not covered.any():
        return None
    right = covered & near(protected, told, cells, slack_of[cells]) & _better_than_released(protected, told)
    share = float(right.sum() / covered.sum())
    test = protected.true_rows[~np.isnan(guess[protected.true_rows])]
    if len(test) >= LEAST_SHOWN:
        hits = int(near(protected, guess[test], test, slack_of[test]).sum())
        count = np.bincount(protected.shown[test])
        if not is_trusted(hits, len(test), float(count.max() / len(test)), tried) and not (
            hits >= HIT_RATE * len(test) and share >= HIT_RATE
        ):
            return None
        chance = chance_of_codes(protected, covered, right)
    else:
        if share < HIT_RATE:
            return None
        truth, width = protected.numbers[cells][covered], slack_of[cells][covered]
        chance = chance_agreement(protected, told[covered], truth, width)
    justified = is_justified(int(right.sum()), int(covered.sum()), chance, tried)
    return (covered, right) if justified else None


def _could_hold(protected: Protected, guess: Floats, slack: Floats) -> bool:
    """Whether a formula holds for some of the cells, or of the rows that show the original: a quick look at a few."""
    for rows in (protected.rows, protected.true_rows):
        some = rows if len(rows) <= SCREENED else rows[np.linspace(0, len(rows) - 1, SCREENED).astype(np.int64)]
        told = some[~np.isnan(guess[some])]
        if len(told) and near(protected, guess[told], told, slack[told]).mean() >= HIT_RATE - 0.3:
            return True
        if not len(told) and len(some):
            # Nothing is told of the few: look at all.
            return True
    return False


def _better_than_released(protected: Protected, told: Floats) -> Bools:
    """By cell: whether a guess is nearer to the original number than the released one."""
    assert protected.numbers is not None
    if protected.released_numbers is None:
        return np.ones(len(told), dtype=np.bool_)
    truth, released = protected.numbers[protected.rows], protected.released_numbers[protected.rows]
    with np.errstate(invalid="ignore"):
        better: Bools = np.isnan(released) | (np.abs(told - truth) < np.abs(released - truth))
    return better
