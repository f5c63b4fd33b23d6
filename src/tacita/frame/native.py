"""Tables of the caller's own kind, taken apart without changing the types of their columns."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from tacita.arrays import Ints


def native_rows(native: Any, rows: Ints) -> Any:
    """Some rows of a table of any kind, in the order given, as that kind.

    >>> import numpy as np, polars as pl
    >>> native_rows(pl.DataFrame({"sex": ["f", "m"]}), np.array([1, 1]))["sex"].to_list()
    ['m', 'm']
    """
    return nw.from_native(native, eager_only=True)[rows, :].to_native()
