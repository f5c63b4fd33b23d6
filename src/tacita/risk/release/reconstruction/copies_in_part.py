"""By copies that are often false: released columns that have the value of a recoded or removed key in many records.

What the intruder has: a region of work beside a removed region of residence, an occupation that every second record had
already years ago. What he cannot know is in which records it is so, and no cell is given back. What he gains: of those
who share the released class he takes the one whom the column agrees with, and is right far more often than by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.repeats import how_many
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.copies import (
    MOST_VALUES,
    SCREENED,
    chance_in_class,
    in_protected_codes,
    possible_guesses,
    released_values,
)
from tacita.risk.release.reconstruction.leak import tail_of_one

BEYOND_CHANCE = 0.4
"""Of what another value of the class would get wrong, the share that such a column gets right."""
LEVEL = 0.001
"""The level of the test against chance, divided by the number of columns: of safe releases fewer than one in a thousand
raises an alarm by chance."""
LEAST_RECORDS = 10
"""Records in which they must agree."""
LEAST_VALUES = 3
"""Different values in which they agree: answers of yes and no agree for other reasons."""


def copies_in_part(
    files: Files, variables: Sequence[Protected], keys: Collection[str], aside: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """By recoded or removed key: released columns that have its value in far more records than chance would have it.

    Of the records whose value in the column is one of the released class. Keys are counted with; columns `aside`, such
    as declared identifiers, are not looked at.
    """
    found = {}
    names = [name for name in files.columns if name not in keys and name not in aside]
    for protected in variables:
        if protected.drawn or protected.perturbed_by or not (protected.removed or protected.name in keys):
            continue
        cells, released = np.flatnonzero(protected.removed | ~protected.suppressed), released_values(protected)
        agree = [name for name in names if _agrees(files, protected, name, cells, released, len(names))]
        if agree:
            found[protected.name] = tuple(agree)
    return found


def in_part_text(key: str, columns: Sequence[str]) -> str:
    """What such columns mean for a key, and the way out.

    >>> in_part_text("region", ["place of work"]).partition("; ")[0]
    "the key 'region' is recoded or removed, but 'place of work' has the same value in far more records than by chance"
    """
    has, it = ("has", "it") if len(columns) == 1 else ("have", "them")
    return (
        f"the key {key!r} is recoded or removed, but {check.quoted(columns)} {has} the same value in far more records "
        f"than by chance; recode or remove {it} alike, or name {it} among the keys"
    )


def _agrees(files: Files, protected: Protected, name: str, cells: Ints, released: Ints, tried: int) -> bool:
    """Whether a column agrees with a key, in those records in which it can, far more often than by chance."""
    if name == protected.name or files.distinct(name) > MOST_VALUES:
        return False
    codes, texts = files.codes(name), (None, *files.values(name))
    assert codes is not None
    few = cells[np.linspace(0, len(cells) - 1, min(SCREENED, len(cells))).astype(np.int64)] if len(cells) else cells
    quick = in_protected_codes(texts, codes[protected.rows[few]], protected)
    if protected.times is None and not (quick == protected.truth[few]).any():
        return False
    guess = np.zeros(len(protected), dtype=np.int64)
    guess[cells] = in_protected_codes(texts, codes[protected.rows[cells]], protected)
    covered, right = possible_guesses(protected, guess, released, np.arange(len(protected)))
    count, hits = how_many(covered, protected.times), how_many(right, protected.times)
    if hits < max(LEAST_RECORDS, BEYOND_CHANCE * count) or len(np.unique(guess[right])) < LEAST_VALUES:
        return False
    chance = chance_in_class(protected, guess, covered)
    beyond = hits >= (chance + BEYOND_CHANCE * (1 - chance)) * count
    return beyond and chance < 1 and tail_of_one(hits, count, chance) <= LEVEL / tried
