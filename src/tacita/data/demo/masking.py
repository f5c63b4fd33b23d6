"""A simple masking to try measures of risk on: additive noise on the log scale. Not a protection method."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data
from tacita.random import Draws

MOST_NOISE = 10
"""Noise of this standard deviation makes a millionth or a million of a number; beyond it is beyond all numbers."""


def log_noise(data: Any, variables: Any, *, sd: float = 0.2, seed: int = 1) -> Data:
    """A copy with y = x exp(e), e normal with standard deviation `sd`; missing stays missing.

    For trying out how risk is measured; zeros stay zeros, so that skip patterns can be seen through.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 0.0]})
    >>> log_noise(firms, ["turnover"]).table["turnover"][1]
    0.0
    """
    original = Data.of(data)
    names = check.names("variables", variables)
    check.columns_exist("variables", names, original.columns)
    if check.number("sd", sd) < 0:
        raise TacitaError(f"sd must not be negative; got {check.given(sd)}.")
    if sd > MOST_NOISE:
        raise TacitaError(f"sd must be at most {MOST_NOISE} on the log scale; got {check.given(sd)}.")
    masked = {}
    for name in names:
        values = original.numbers(name)
        if (values < 0).any():
            raise TacitaError(f"variable {name!r} must not be negative to be masked on the log scale.")
        noise = Draws(seed).step(f"log noise {name}").normal(original.record)
        masked[name] = values * np.exp(sd * noise)
    return original.with_columns(masked)
