"""Parquet and Arrow files, and what they say of their variables: a note in JSON beside the values."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tacita.check import TacitaError
from tacita.data.data import Data
from tacita.data.formats.loaded import Loaded, check_declared, check_table
from tacita.data.variable import Variable
from tacita.frame import Frame
from tacita.frame import files as frame_files

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
NOTE = "tacita"
"""The name under which a file carries what is known of the variables."""


class Columnar(NamedTuple):
    """A format with columns that has room for notes."""

    name: str
    magic: bytes
    least: int
    """The bytes of the shortest whole file."""
    footer: int
    """How many of the last bytes say how long the footer is, and end the file."""
    shape: Callable[[Path], tuple[int, int]]
    """How many records and variables the file says it has."""
    read: Callable[[Path], Frame]
    note: Callable[[Path, str], str | None]


FORMATS = {
    "parquet": Columnar(
        "a Parquet", b"PAR1", 12, 8, frame_files.parquet_shape, frame_files.read_parquet, frame_files.parquet_note
    ),
    "arrow": Columnar(
        "an Arrow", b"ARROW1", 24, 10, frame_files.arrow_shape, frame_files.read_arrow, frame_files.arrow_note
    ),
}


def load(file: Path, kind: str) -> Loaded:
    """A Parquet or Arrow file and the description of its variables, if there is one."""
    form = FORMATS[kind]
    with file.open("rb") as opened:
        first = opened.read(len(form.magic))
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(size - len(form.magic), 0))
        last = opened.read(len(form.magic))
    if size == 0:
        raise TacitaError(f"{file.name} is empty; check that it was saved or exported completely.")
    if first != form.magic:
        raise TacitaError(f"{file.name} is not {form.name} file; check its name and how it was made.")
    if last != form.magic or size < form.least:
        raise TacitaError(f"{file.name} is cut off; check that it was saved or copied completely.")
    check_declared(file.name, size, *form.shape(file))
    table = form.read(file)
    check_table(table, file.name)
    return described(table, form.note(file, NOTE), file.name)


def looks_odd(file: Path, kind: str) -> bool:
    """Whether the footer of a file, which says where its values are, would be longer than the file."""
    form = FORMATS[kind]
    size = file.stat().st_size
    if size < form.least:
        return False
    with file.open("rb") as opened:
        opened.seek(size - form.footer)
        length = int.from_bytes(opened.read(4), "little", signed=True)
    return not 0 < length < size


def save(data: Data, path: Path, kind: str) -> None:
    """Write a Parquet or Arrow file with what is known of the variables."""
    notes = notes_of(data)
    if kind == "parquet":
        frame_files.write_parquet(data.table, path, notes)
    else:
        frame_files.write_arrow(data.table, path, notes)


def notes_of(data: Data) -> dict[str, str]:
    """What a file notes of its variables."""
    return {NOTE: json.dumps(description(data.variables), ensure_ascii=False)} if data.variables else {}


def description(variables: Mapping[str, Variable]) -> dict[str, Any]:
    """What is known of the variables, for JSON; codes keep their type, so labels are pairs and not an object."""
    said = {
        name: {
            "label": known.label,
            "value_labels": [[plain(name, code), label] for code, label in known.value_labels.items()],
            "missing": [plain(name, code) for code in known.missing],
            "missing_ranges": [[_end(low), _end(high)] for low, high in known.missing_ranges],
            "not_applicable": [plain(name, code) for code in known.not_applicable],
            "scale": known.scale,
            "order": [plain(name, code) for code in known.order],
            **({"perturbed": True} if known.perturbed else {}),
        }
        for name, known in variables.items()
    }
    return {"version": 1, "variables": said}


def _end(code: float) -> object:
    """The end of a range for JSON, which has no infinity: None for an open end."""
    return None if math.isinf(code) else plain("", code)


def plain(name: str, code: object) -> Any:
    """A code as a text, a number or nothing; other kinds cannot be written."""
    bare = code.item() if hasattr(code, "item") else code
    if bare is None or isinstance(bare, str | int | float):
        return bare
    raise TacitaError(f"codes of {name!r} must be texts or numbers to be written; got {type(code).__name__}.")


def described(table: Frame, note: str | None, name: str) -> Loaded:
    """The table with what its note says; columns that another program dropped are dropped here."""
    if note is None:
        return Loaded(table, {})
    try:
        said = json.loads(note)["variables"]
        return Loaded(table, {each: variable(known) for each, known in said.items() if each in table.columns})
    except (ValueError, TypeError, KeyError, AttributeError):
        message = f"{name} has damaged descriptions of its variables, left out; pass variables=... instead."
        return Loaded(table, {}, (message,))


def variable(known: Mapping[str, Any]) -> Variable:
    """What is known of a variable, from JSON."""
    ranges = known.get("missing_ranges", [])
    return Variable(
        label=str(known["label"]),
        value_labels={code: str(label) for code, label in known["value_labels"]},
        missing=tuple(known["missing"]),
        missing_ranges=tuple(
            (-math.inf if low is None else low, math.inf if high is None else high) for low, high in ranges
        ),
        not_applicable=tuple(known["not_applicable"]),
        scale=known["scale"],
        order=tuple(known.get("order", ())),
        perturbed=known.get("perturbed", False) is True,
    )
