"""Declarations that are data: frozen dataclasses that go to TOML and come back.

A file holds `format = 1` and one table per declaration (`[scenario]`, `[policy]`), so that one project file can hold
them all.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import tomli_w

from tacita import check
from tacita.check import TacitaError
from tacita.html_view import html_table, html_view
from tacita.parameters import parameters_of

FORMAT = 1
"""The number of the file format; a file with a higher one was written by a newer Tacita."""


class Declared:
    """A frozen dataclass that is written to and read from one table of a TOML file."""

    section: ClassVar[str]
    begins: ClassVar[str] = ""
    """How one begins, where its table alone does not say it."""

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The declaration of a mapping; an unknown field is an error that suggests the right one."""
        cls.check_names(given)
        try:
            return cls(**given)
        except TypeError:
            raise TacitaError(f"{cls.section} must name {cls._required()}.") from None

    @classmethod
    def opened(cls, given: Any) -> Self | None:
        """The declaration itself, that of a table of its fields, or that of a TOML file; None for anything else."""
        if isinstance(given, cls):
            return given
        if isinstance(given, Mapping):
            return cls.from_dict(check.mapping(cls.section, given))
        if isinstance(given, os.PathLike) or (isinstance(given, str) and given.lower().endswith(".toml")):
            return cls.load(Path(given))
        return None

    @classmethod
    def field_names(cls) -> list[str]:
        """What the table may hold: the fields."""
        return [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]

    @classmethod
    def check_names(cls, given: Iterable[str]) -> None:
        """An unknown field is an error that suggests the right one."""
        known = cls.field_names()
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"Did you mean {near[0]!r}?" if near else f"The fields are {', '.join(known)}."
                raise TacitaError(f"{cls.section} has no field {name!r}. {hint}")

    @classmethod
    def _required(cls) -> str:
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        return check.quoted(
            field.name
            for field in fields
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )

    def _repr_html_(self) -> str:
        rows = [(name, _in_words(value)) for name, value in self.to_dict().items()]
        return html_view(type(self).__name__, tables=html_table(("", ""), rows, left=True))

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults, as plain lists, tables, texts and numbers."""
        out = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            default = field.default_factory() if callable(field.default_factory) else field.default
            if value != default:
                out[field.name] = plain(value)
        return out

    @classmethod
    def from_toml(cls, text: str, source: str = "the text") -> Self:
        """The declaration of a TOML text."""
        document = toml_document(text, source)
        if not isinstance(document.get(cls.section), dict):
            raise TacitaError(f"{source} has no [{cls.section}] table; add one{cls.begins}.")
        return cls.from_dict(document[cls.section])

    def to_toml(self) -> str:
        """The declaration as a TOML text; what is not there has its default."""
        return tomli_w.dumps({"format": FORMAT, self.section: self.to_dict()})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The declaration in a TOML file."""
        path = Path(path)
        return cls.from_toml(toml_text(path, cls.section), path.name)

    def save(self, path: str | Path) -> Path:
        """Write the declaration to a TOML file."""
        path = Path(path)
        path.write_text(self.to_toml(), encoding="utf-8")
        return path


def plain(value: Any) -> Any:
    """A value as TOML and JSON know it: dataclasses as tables, tuples as lists, absent fields left out."""
    if type(value) in (str, int, float, bool):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: plain(part) for name, part in fields if part is not None}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def check_fields(owner: Any, name: str) -> None:
    """Fields of a frozen dataclass made plain and checked as they are declared; `name` is what messages call it."""
    for each in dataclasses.fields(owner):
        object.__setattr__(owner, each.name, plain_value(f"{each.name} of {name}", getattr(owner, each.name)))
    for parameter in parameters_of(type(owner)):
        # What is not declared its owner checks itself.
        if parameter.doc:
            object.__setattr__(owner, parameter.name, parameter.checked(getattr(owner, parameter.name)))


def plain_value(what: str, value: Any) -> Any:
    """A value that a file can hold: NumPy's become Python's. Columns of data are refused: messages would quote them."""
    check.not_too_deep(what, value)
    if isinstance(value, np.ndarray) or type(value).__name__.endswith("Index"):
        return tuple(value.tolist()) if np.ndim(value) else value.item()
    if type(value).__name__ in ("Series", "DataFrame", "LazyFrame", "Table", "ChunkedArray", "Data", "Release"):
        raise TacitaError(f"{what} must be plain values; got a {type(value).__name__}, name its columns instead.")
    return check.python_number(value)


def toml_text(path: Path, what: str) -> str:
    """The text of a TOML file; what cannot be read is an error that says what it should have been."""
    name = path.name or str(path)
    try:
        # Editors on Windows put a byte order mark in front.
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise TacitaError(f"{name} is not valid TOML: it is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise TacitaError(f"{name} cannot be read: {reason}; check the path of the {what}.") from None


def toml_document(text: str, source: str) -> dict[str, Any]:
    """The tables of a TOML text of a format that this version reads."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TacitaError(f"{source} is not valid TOML: {error}.") from None
    except RecursionError:
        raise TacitaError(check.too_deep(source)) from None
    check.not_too_deep(source, document)
    number = document.get("format", FORMAT)
    if number != FORMAT:
        raise TacitaError(f"{source} has format {number!r}; this version reads format {FORMAT}, update Tacita.")
    return document


def _in_words(value: Any) -> str:
    """A field of a declaration as a notebook shows it: names with commas, tables as name: value."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_in_words(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_in_words(each) for each in value)
    return "no limit" if value is False else "yes" if value is True else str(value)
