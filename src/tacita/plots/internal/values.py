"""Original values in a figure: only if the caller passes the file itself, and then the figure says so.

No result holds values of the data, so no figure of a result can show any by accident.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.plots.linked_table import Column

INTERNAL = "internal: shows original values"


@dataclass(frozen=True, eq=False)
class Values:
    """The values of the keys of each record of a result."""

    names: tuple[str, ...]
    """The keys."""
    table: frame.Frame
    """By record: their values, in columns v0, v1, ..., since a name may hold any sign."""

    warning: str = INTERNAL
    """What the figure says."""

    def hover(self) -> list[Any]:
        """What hovering shows of them."""
        return [alt.Tooltip(f"v{at}:Q", title=f"original {name}") for at, name in enumerate(self.names)]

    def columns(self) -> list[Column]:
        """Their columns in a table beside the figure."""
        return [Column(f"v{at}", name, 90, ",.6~g") for at, name in enumerate(self.names)]


def values_of(result: Any, given: Any) -> Values | None:
    """The values of the keys of a result, looked up by record number in the file that was handed over, if one was."""
    if given is None or given is False:
        return None
    if given is True:
        raise TacitaError("a result holds no values; pass the file whose values are to be shown, values=original.")
    data = Data.of(given)
    check.columns_exist("keys", result.keys, data.columns)
    order = np.argsort(data.record, kind="stable")
    place = np.minimum(np.searchsorted(data.record[order], result.record), max(len(order) - 1, 0))
    if not len(order) or not np.array_equal(data.record[order][place], result.record):
        raise TacitaError("values must have the records of the result; pass the file that was compared.")
    rows = order[place]
    return Values(
        result.keys,
        frame.table({f"v{at}": data.numbers(name)[rows] for at, name in enumerate(result.keys)}),
    )
