"""What the reader of any file format returns."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tacita import apart, check
from tacita.check import TacitaError
from tacita.data.variable import Variable
from tacita.frame import Frame


class Loaded(NamedTuple):
    """The contents of a file, and remarks for the user on how it was read."""

    table: Frame
    variables: dict[str, Variable]
    remarks: tuple[str, ...] = ()
    understood: Mapping[str, str] = MappingProxyType({})
    """What was made of some columns that they no longer show."""


def check_declared(name: str, size: int, records: int, columns: int, least: int = 1) -> None:
    """A file of `size` bytes must not say that it holds more than memory does, at `least` bytes for each value."""
    if records * columns * least > apart.limits(size).memory:
        raise TacitaError(
            f"{name} says that it holds {records:,} records of {columns:,} variables, more than a file of its size "
            "can; export it again, without what stands far from the data."
        )


def remarks_on_missing(gone: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """By column: which texts were taken for missing, and how often."""
    return {
        name: ", ".join(f"{word!r} is missing ({check.counted(times, 'time')})" for word, times in counts.items())
        for name, counts in gone.items()
    }


def check_table(table: Frame, name: str) -> None:
    """A table of a file has columns, each with a name, and records."""
    if not table.columns:
        raise TacitaError(f"{name} is empty; check that it was saved or exported completely.")
    if "" in table.columns:
        raise TacitaError(f"{name} has no name for column {table.columns.index('') + 1:,}; name every column.")
    if not table.height:
        raise TacitaError(f"{name} has a header but no records; check that it was saved or exported completely.")
