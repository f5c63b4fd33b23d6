"""The confidentiality plot of a sample of a file on an engine: neighbours are those of the whole file, estimated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.risk.confidentiality_plot.result import Confidentiality
from tacita.risk.confidentiality_plot.sample_errors import LEVEL, Sampled


def check_sample(stands_for: Floats | None, ratio: bool | None, weighted: bool, archive: Any) -> None:
    """An error where something is asked of a sample that needs all records."""
    if stands_for is not None and (ratio or weighted or archive is not None):
        raise TacitaError("ratio, weighted and archive need all records in memory; leave them out, or pass a sample.")


def of_sample(found: Confidentiality, released: Data) -> Confidentiality:
    """What was found of a sample, with neighbours estimated for the whole file.

    Of the n - 1 others of a stratum in the sample so many are neighbours; of its N - 1 others (N - 1)/(n - 1) times as
    many. A record itself is one if its own original is among its neighbours. Where all records are drawn, nothing is
    estimated.
    """
    assert released.stands_for is not None
    order = np.argsort(released.record)
    own = released.stands_for[order[np.searchsorted(released.record[order], found.record)]]
    drawn = found.records.astype(np.float64)
    whole = np.bincount(found.stratum, weights=own, minlength=len(drawn)).astype(np.float64)
    factor = np.where(drawn > 1, (whole - 1) / np.maximum(drawn - 1, 1), 1.0)
    inside = found.inside.astype(np.float64)
    neighbours = inside + (found.neighbours - inside) * factor[found.stratum]
    part = whole > drawn + 0.5
    if not part.any():
        return found
    smallest = int(drawn[part].min())
    # None of n - 1 is one: (1 - p)^(n - 1) >= 0.05 for p up to so much.
    unseen = np.where(part, (whole - 1) * -np.expm1(np.log(LEVEL) / np.maximum(drawn - 1, 1)), 0.0)
    sampled = Sampled(round(float(whole.sum())), len(found.record), smallest, float(unseen.max()), whole)
    return replace(found, neighbours=neighbours, sampled=sampled, too_large=True)
