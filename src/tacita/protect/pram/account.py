"""What the log says of a transition matrix: probabilities and counts, no values."""

from __future__ import annotations

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.result import percent

SELDOM_TRUE = 0.1
"""Categories kept with a smaller probability are pointed out."""
NEXT_TO_NOTHING = 0.01
"""So is a matrix that changes a smaller share of the records."""


def figures_of(matrix: Floats, counts: Floats) -> dict[str, float]:
    """Of the categories that occur: the least and the greatest probability to be kept, and the share that changes."""
    kept = np.diagonal(matrix)[counts > 0]
    if not len(kept):
        return {}
    change = float(((1.0 - kept) * counts[counts > 0]).sum() / counts.sum())
    return {"least_kept": float(kept.min()), "most_kept": float(kept.max()), "expected_change": change}


def remarks_of(names: tuple[str, ...], matrix: Floats, counts: Floats, records: int) -> tuple[str, ...]:
    """What the log says: names, counts and probabilities."""
    what, occurring = check.quoted(names), int((counts > 0).sum())
    figures = figures_of(matrix, counts)
    said = []
    lacking = records - int(counts.sum())
    if len(names) > 1 and lacking:
        said.append(f"not exchanged: {check.counted(lacking, 'record')} without one of {what}")
    if occurring < 2 and (not figures or figures["expected_change"] == 0):
        return (*said, f"{what} has fewer than two categories and stays as it is")
    least, most, change = figures["least_kept"], figures["most_kept"], figures["expected_change"]
    span = f"{least:.3g}" if f"{least:.3g}" == f"{most:.3g}" else f"{least:.3g} to {most:.3g}"
    said.append(f"{what}: kept with probability {span}, {percent(change)} expected to change")
    seldom = int((np.diagonal(matrix)[counts > 0] < SELDOM_TRUE).sum())
    if seldom:
        said.append(
            f"caution: {seldom:,} of {check.counted(occurring, 'category', 'categories')} of {what} kept with a "
            f"probability below {SELDOM_TRUE:g}, so that hardly any record that shows one is true"
        )
    if change < NEXT_TO_NOTHING:
        said.append(f"caution: {what} changes so seldom that next to nothing is protected")
    return tuple(said)
