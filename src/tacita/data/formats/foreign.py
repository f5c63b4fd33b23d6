"""Files of formats that foreign code parses: Parquet, Arrow, Excel, SPSS, Stata and SAS.

Read here, in this process, or in one of its own, which a damaged file may end without harm (`tacita.apart`).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from tacita import apart
from tacita.check import TacitaError
from tacita.data.formats import columnar
from tacita.data.formats.loaded import Loaded
from tacita.frame import streams


def load(
    file: Path, kind: str, *, encoding: str | None = None, sheet: str | None = None, catalog: Path | None = None
) -> Loaded:
    """A file, read in this process."""
    if kind == "statistical":
        from tacita.data.formats import statistical

        return statistical.load(file, encoding, catalog)
    if kind == "excel":
        from tacita.data.formats import excel

        return excel.load(file, sheet)
    return columnar.load(file, kind)


def load_in_process(
    file: Path, kind: str, *, encoding: str | None = None, sheet: str | None = None, catalog: Path | None = None
) -> Loaded:
    """A file, read in a process of its own."""
    size = file.stat().st_size + (0 if catalog is None else catalog.stat().st_size)
    question: dict[str, Any] = {
        "file": str(file.absolute()),
        "kind": kind,
        "encoding": encoding,
        "sheet": sheet,
        "catalog": None if catalog is None else str(catalog.absolute()),
    }
    said, parts = apart.ask(file.name, size, question)
    if "error" in said:
        raise TacitaError(said["error"])
    if "errno" in said:
        # PermissionError and its like are made by their number.
        raise OSError(said["errno"] or errno.EIO, os.strerror(said["errno"] or errno.EIO))
    if "damaged" in said:
        raise TacitaError(f"{file.name} is damaged, or holds something that cannot be read; export it again.")
    table = streams.of_bytes(parts, file.name)
    variables = {name: columnar.variable(known) for name, known in said["variables"]["variables"].items()}
    return Loaded(table, variables, tuple(said["remarks"]))


def looks_odd(file: Path, kind: str) -> bool:
    """Whether a first look, which trusts nothing in the file, finds what an honest file does not have."""
    if kind == "excel":
        from tacita.data.formats import excel

        return excel.looks_odd(file)
    if kind == "statistical":
        from tacita.data.formats import statistical

        return statistical.looks_odd(file)
    return columnar.looks_odd(file, kind)
