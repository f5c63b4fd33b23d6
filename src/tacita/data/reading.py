"""Options for reading files: those of a single call, and those that a command line gives for all its files."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tacita import check
from tacita.check import TacitaError, TacitaWarning
from tacita.data.variable import SCALES, Scale


class Options(NamedTuple):
    """How a file is read; None: found out."""

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    missing: Any = None
    sheet: str | None = None
    catalog: Any = None
    scale: Mapping[str, Scale] | None = None


FOR = {
    "delimiter": "text files",
    "decimal": "text files",
    "encoding": "text files",
    "sheet": "Excel files",
    "catalog": ".sas7bdat files",
}
"""Options that only some files have."""


def fits(option: str, file: Path, kind: str) -> bool:
    """Whether files of this kind have such an option."""
    if option == "catalog":
        return file.suffix.lower() == ".sas7bdat"
    kinds = {"delimiter": ("text",), "decimal": ("text",), "encoding": ("text", "statistical"), "sheet": ("excel",)}
    return option not in kinds or kind in kinds[option]


@dataclass
class CommandLine:
    """The options of a command line for the files that it names, and which of them were used."""

    options: Options
    anywhere: bool = False
    """Whether a variable may be in any of the files; otherwise the first, the one that the command is about, has it."""
    files: int = 0
    found: set[str] = field(default_factory=set)
    """The variables whose scale it says that were found."""


of_command_line: ContextVar[CommandLine | None] = ContextVar("said", default=None)
"""The options of the command line, where a command is running."""


@contextmanager
def reading_with(options: Options, *, anywhere: bool = False) -> Iterator[None]:
    """Within this block files are read as these options say, in place of what a call or a project says.

    The first file must have them all. Of those after it, a release beside the original, each has what fits it.
    """
    mine = CommandLine(options, anywhere)
    token = of_command_line.set(mine)
    try:
        yield
    finally:
        of_command_line.reset(token)
    lost = [name for name in options.scale or {} if mine.files and name not in mine.found]
    if lost:
        message = f"no file has {check.quoted(lost)}, of which scale=... says something."
        warnings.warn(message, TacitaWarning, stacklevel=2)


def in_effect(given: Options, file: Path, kind: str) -> Options:
    """The options for a file: those of the command line, and else those of the call."""
    said = of_command_line.get()
    options = given
    if said is not None:
        others = said.files > 0
        said.files += 1
        fresh = {name: value for name, value in said.options._asdict().items() if value is not None}
        options = given._replace(
            **{name: value for name, value in fresh.items() if not others or fits(name, file, kind)}
        )
    for name, what in FOR.items():
        if getattr(options, name) is not None and not fits(name, file, kind):
            raise TacitaError(f"{name} is for {what} only; leave it out for {file.name}.")
    return options


def scales_for(options: Options, columns: tuple[str, ...]) -> dict[str, Scale]:
    """The scales that are declared of some columns of a file."""
    scales = dict(check.mapping("scale", options.scale or {}))
    for name, scale in scales.items():
        check.one_of(f"scale of {name!r}", scale, SCALES)
    said = of_command_line.get()
    here = {name: scale for name, scale in scales.items() if name in columns}
    if said is None or not (said.anywhere or said.files > 1):
        check.columns_exist("scale", list(scales), columns)
    if said is not None:
        said.found.update(here)
    return here


def declared_scales() -> dict[str, Scale]:
    """The scales that the command line declares."""
    said = of_command_line.get()
    return {} if said is None else dict(said.options.scale or {})
