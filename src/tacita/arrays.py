"""Names for the kinds of array that kernels take and give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.uint32]
"""Codes of categories, 0 for missing."""
Words = NDArray[np.uint64]
"""Bits: codes packed side by side, or hashes."""
