"""A leak: what gives protected cells away, how many, and what repairs it; and when a guess counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import betainc

from tacita import check
from tacita.arrays import Bools, Floats, Ints
from tacita.repeats import counts, how_many, mean, some
from tacita.risk.release.reconstruction.cells import Protected

HIT_RATE = 0.9
"""Of the rows that show both, the share that a rule must get right before an intruder trusts it."""
LEVEL = 0.05
"""The level of every test, divided by the number of rules tried."""


@dataclass(frozen=True, eq=False)
class Leak:
    """One way in which a release gives protected cells of a variable back."""

    variable: str
    """The protected variable."""
    kind: str
    """How: `columns`, `household`, `housemates`, `copy`, `arithmetic`, `order`, `relation`, `learner` or
    `other release`."""
    columns: tuple[str, ...]
    """The released columns that give it away."""
    how: str
    """The attack in words."""
    repair: str
    """The least repair in words."""
    right_cells: Ints = field(repr=False)
    """Protected cells, by their place among those of the variable, that are guessed right."""
    wrong_cells: Ints = field(repr=False)
    """Protected cells that are guessed wrong."""

    apart: bool = False
    """Whether it was found in other rows than the rest, so that its cells are not theirs."""
    times: Ints | None = field(default=None, repr=False)
    """By protected cell how many records it stands for; None: each is one."""

    @property
    def right(self) -> int:
        """Cells guessed right: given back."""
        return len(self.right_cells) if self.times is None else int(self.times[self.right_cells].sum())

    @property
    def wrong(self) -> int:
        """Cells guessed wrong."""
        return len(self.wrong_cells) if self.times is None else int(self.times[self.wrong_cells].sum())

    @property
    def covered(self) -> int:
        """Cells that are guessed."""
        return self.right + self.wrong

    def __str__(self) -> str:
        told = f"{self.right:,} of {check.counted(self.covered, 'guess', 'guesses')} right"
        return f"{self.variable} by {self.how}: {told}; {self.repair}"

    def to_dict(self) -> dict[str, Any]:
        """The leak as plain numbers and texts; no cells."""
        names = ("variable", "kind", "columns", "how", "covered", "right", "wrong", "repair")
        return {name: getattr(self, name) for name in names} | {"columns": list(self.columns)}


def leak(
    protected: Protected, kind: str, columns: tuple[str, ...], how: str, repair: str, covered: Bools, right: Bools
) -> Leak:
    """A leak from where cells are guessed, and where right."""
    right_cells, wrong_cells = np.flatnonzero(covered & right), np.flatnonzero(covered & ~right)
    return Leak(protected.name, kind, columns, how, repair, right_cells, wrong_cells, times=protected.times)


def or_kept(protected: Protected) -> str:
    """Of a variable that was removed and follows from others: whoever only tidied up need not protect it."""
    return f", or keep {protected.name!r} if it need not be protected" if protected.removed else ""


def tail(hits: Any, tries: Any, rate: Any) -> Floats:
    """The probability of at least so many hits by chance: P(Bin(tries, rate) >= hits)."""
    hits, tries, rate = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (hits, tries, rate)))
    found = np.ones(hits.shape)
    some = (hits > 0) & (tries > 0)
    found[some] = betainc(hits[some], tries[some] - hits[some] + 1, rate[some])
    return found


def tail_of_one(hits: int, tries: int, rate: float) -> float:
    """The same for one number of hits."""
    return float(betainc(hits, tries - hits + 1, rate)) if hits > 0 and tries > 0 else 1.0


def is_trusted(hits: int, tries: int, base: float, tried: int) -> bool:
    """Whether an intruder would trust a rule: right for at least 90 % and significantly more than the base rate."""
    if tries == 0 or hits < HIT_RATE * tries:
        return False
    return tail_of_one(hits, tries, base) <= LEVEL / max(tried, 1)


def is_justified(right: int, covered: int, chance: float, tried: int = 1, few: bool = True) -> bool:
    """Whether guesses are right more often than a guess from what is released: significantly, or at least halfway from
    it to certainty, since a few cells are never significant and are given back all the same.

    Without `few` only what is significant counts: of values drawn from a model, a few are guessed right by chance."""
    if covered == 0 or right <= chance * covered:
        return False
    halfway = few and 2 * right >= (1 + chance) * covered
    return halfway or tail_of_one(right, covered, chance) <= LEVEL / max(tried, 1)


def judged_codes(
    protected: Protected, guess: Ints, cells: Bools, tried: int, others: Callable[[], int] = int
) -> tuple[Bools, Bools] | None:
    """By cell whether it is guessed, and whether right; None unless trust in the guesses is justified.

    `guess` is by protected cell what an intruder trusts, 0 for nothing. Suppressed cells and changed ones are judged
    apart: which are suppressed he sees. Which of the others were changed he does not: there the rows count as well in
    which the guess contradicts the released value and that is the true one; `others` says how many these are. Where he
    should not trust them, guesses are noted as misleading.
    """
    if not guess.any():
        return None
    guessed = protected.is_guess(guess) & cells
    told: tuple[Bools, Bools] | None = None
    for blank in (True, False):
        covered = guessed & (protected.suppressed == blank)
        right = protected.is_right(guess) & covered
        count, hits = how_many(covered, protected.times), how_many(right, protected.times)
        chance, few = chance_of_codes(protected, covered, right), not protected.drawn
        good = is_justified(hits, count, chance, tried, few)
        if good and not blank:
            good = is_justified(hits, count + others(), chance, tried, few)
        if good:
            told = (covered, right) if told is None else (told[0] | covered, told[1] | right)
        else:
            protected.misleading.add(covered, right)
    return told


def chance_of_codes(protected: Protected, covered: Bools, right: Bools) -> float:
    """How often a guess from the released values alone would be right, on the cells covered.

    The better of a draw from them and their most frequent value. Where every guess is right, the draw: that the most
    frequent value would do for these few cells as well, nobody could know.
    """
    if not covered.any():
        return 0.0
    target, truth, times = protected.target[covered], protected.truth[covered], some(protected.times, covered)
    drawn = mean(np.maximum(protected.shares[target], protected.shares[truth]), times)
    if right[covered].all():
        return drawn
    other = truth != target
    either = counts(target, times, protected.codes + 1)
    either = either + counts(truth[other], some(times, other), protected.codes + 1)
    return max(drawn, float(either[protected.modes].max(initial=0) / how_many(covered, protected.times)))
