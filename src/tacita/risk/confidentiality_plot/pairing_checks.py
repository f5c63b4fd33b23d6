"""Signs that the records of two files are not the same units: then every record would look well protected."""

from __future__ import annotations

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import common_codes

FEWEST = 10
"""With fewer records a rank correlation says nothing."""
CHANCE = 2.0
"""A rank correlation below so many standard errors may be chance."""


def pairing_cautions(original: Data, released: Data, strata: tuple[str, ...], x: Floats, y: Floats) -> tuple[str, ...]:
    """Signs that record i of one file is not record i of the other, one sentence each."""
    found = []
    other = _other_stratum(original, released, strata)
    if other:
        found.append(
            f"{check.counted(other, 'record')} of {len(original):,} have other strata in the released file: check that "
            f"both files have the same order, or that strata were recoded; records are matched by their number."
        )
    if alike_by_chance(x, y):
        most = _greatest_correlation(x, y)
        found.append(
            f"released keys are no more like their own originals than chance would have it (rank correlation at most "
            f"{most:.2f}): check that both files have the same order; records are matched by their number."
        )
    return tuple(found)


def alike_by_chance(x: Floats, y: Floats) -> bool:
    """Whether the numbers of the released file are no more like their own originals than like those of others."""
    return len(x) >= FEWEST and _greatest_correlation(x, y) * np.sqrt(len(x) - 1.0) < CHANCE


def _other_stratum(original: Data, released: Data, strata: tuple[str, ...]) -> int:
    """How many records have another stratum in the released file, where it has the variables."""
    differs = np.zeros(len(original), dtype=np.bool_)
    for name in strata:
        if name not in released.columns:
            continue
        try:
            first, second = common_codes(original, released, name)
        except TacitaError:  # another kind of value: recoded throughout
            return len(original)
        differs |= (first != second) & ~(np.isnan(first) & np.isnan(second))
    return int(differs.sum())


def _greatest_correlation(x: Floats, y: Floats) -> float:
    """Spearman's rank correlation of the key that has the greatest; infinite if no key varies in both files."""
    from scipy.stats import rankdata

    found = []
    for before, after in zip(x.T, y.T, strict=True):
        if np.ptp(before) > 0 and np.ptp(after) > 0:
            found.append(float(np.corrcoef(rankdata(before), rankdata(after))[0, 1]))
    return max(found, default=np.inf)
