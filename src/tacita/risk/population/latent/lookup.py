"""Which keys the sample has."""

from __future__ import annotations

import numpy as np

from tacita.arrays import Bools, Ints
from tacita.risk.population.latent.ranked import ranked


class Lookup:
    """Which complete keys are among some: found key by key, so that no number gets too large."""

    def __init__(self, codes: Ints, values: Ints) -> None:
        self.values, place = values, np.zeros(len(codes), dtype=np.int64)
        self.known: list[Ints] = []
        for j in range(codes.shape[1]):
            size = (len(self.known[-1]) if self.known else 1) * int(values[j] + 1)
            known, place = ranked(place * (values[j] + 1) + codes[:, j], size)
            self.known.append(known)

    def __call__(self, codes: Ints) -> Bools:
        """By row whether it is among them."""
        place = np.zeros(len(codes), dtype=np.int64)
        for j, known in enumerate(self.known):
            wanted = place * (self.values[j] + 1) + codes[:, j]
            at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
            place = np.where((place >= 0) & (known[at] == wanted), at, -1)
        return place >= 0
