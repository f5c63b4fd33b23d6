"""Which counts may be published beside their total: none below ten, and none that would tell such a one."""

from __future__ import annotations

import math
from collections.abc import Sequence

LEAST = 10
"""Counts below this are withheld from what is published."""
MOST_DECIMALS = 3
"""Shares are published with at most so many decimals."""


def shown_counts(parts: Sequence[int], least: int = LEAST) -> tuple[int | None, ...]:
    """The parts of a known total as they may be published, None for what is withheld.

    Withheld are the parts below `least` (0 tells of nobody), and the smallest others that it takes for the total less
    what is shown to be the sum of two parts or more, and `least` or more.

    >>> shown_counts([4, 30, 966])
    (None, None, 966)
    >>> shown_counts([0, 30, 970])
    (0, 30, 970)
    """
    hidden = {place for place, count in enumerate(parts) if 0 < count < least}
    others = sorted((count, place) for place, count in enumerate(parts) if count >= least)
    for _, place in others:
        if not hidden or (len(hidden) > 1 and sum(parts[each] for each in hidden) >= least):
            break
        hidden.add(place)
    return tuple(None if place in hidden else count for place, count in enumerate(parts))


def decimals_for(records: int, least: int = LEAST) -> int:
    """With how many decimals a share of so many records may be published: its last digit stands for `least` or more.

    >>> decimals_for(13_646), decimals_for(200), decimals_for(5)
    (3, 1, 0)
    """
    return max(0, min(MOST_DECIMALS, math.floor(math.log10(max(records, 1) / least))))
