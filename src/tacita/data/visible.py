"""Which categories a reader of a file can tell apart, decided here for every format.

A cell that is empty says nothing. Everything else that stands in a file is seen, whatever it is declared to mean: 8 for
"refused" and 9 for "does not know" are two values, in a file for SPSS that declares them missing as in a text file that
cannot. So a code declared missing is a category of a key, and only an empty cell is missing there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacita import frame
from tacita.data.data import Data
from tacita.frame import Coded


def visible_categories(data: Data, name: str, not_applicable: Iterable[Any] = ()) -> Coded:
    """A variable as codes of what a reader of the file can tell apart, 0 where the cell is empty.

    Codes declared missing or not applicable are categories, each of them its own; the empty text among the codes for
    not applicable makes the empty cell one too.

    >>> import polars as pl
    >>> from tacita.data import Variable
    >>> work = Data.of(pl.DataFrame({"status": [1, 8, 9, None]}), {"status": Variable(missing=(8, 9))})
    >>> visible_categories(work, "status").codes.tolist(), work.coded("status").codes.tolist()
    ([1, 2, 3, 0], [1, 0, 0, 0])
    """
    return data.coded(name, (*not_applicable, *visible_missing_codes(data, name)))


def visible_missing_codes(data: Data, name: str) -> tuple[Any, ...]:
    """The codes declared missing that some record has; an empty text is an empty cell and no code."""
    known = data.variable(name)
    if not known.missing and not known.missing_ranges:
        return ()
    return tuple(value for value in frame.coded(data.table, name).values if value != "" and known.is_missing(value))
