"""Files in and out: delimited text and Parquet, by the suffix of the path.

What is written is complete or not there. What is read is checked as a whole before it is used.
"""

from __future__ import annotations

import difflib
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tacita import check, frame
from tacita.check import TacitaError, TacitaWarning
from tacita.data import atomic, text
from tacita.data.data import Data, Variable
from tacita.frame import Frame

TEXT = (".csv", ".tsv", ".txt", ".tab")
PARQUET = (".parquet", ".pq")
NOTE = "tacita"
"""The name under which a Parquet file carries what is known of the variables."""


def read(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    missing: str | Iterable[str] | None = None,
    variables: Mapping[str, Variable] | None = None,
) -> Data:
    """Read a survey file: .csv, .tsv, .txt, .tab (delimited text) or .parquet, .pq.

    Risk is a matter of how values are told apart, so a text keeps what makes it different: a column in which a number
    has a leading zero ('0012') stays text, whole numbers stay exact, and a column becomes numbers only if every value
    in it is one. Dates stay text. Labels and missing codes come back from Parquet files written by `write`;
    text files cannot carry them.

    Parameters
    ----------
    path
        The file.
    delimiter, encoding, decimal
        For text: what stands between fields, the encoding, and the decimal sign; found from the file if not given.
        '1,234' in a file delimited by commas stays text unless `decimal=","`: it may be a thousand.
    missing
        Texts that stand for a missing value in every column, besides the empty field. Without it 'NA', 'NaN', 'nan',
        'NULL', 'N/A' and '.' are missing among numbers and values, with a warning, among texts; `missing=[]` says
        that they are meant to be values.
    variables
        What is known of the variables, by name; it replaces what the file says of them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "survey.csv"
    ...     _ = file.write_text("municipality,age\\n0301,31\\n1103,NA\\n")
    ...     data = read(file)
    >>> data.table.rows()
    [('0301', 31), ('1103', None)]
    """
    file = _existing(path)
    kind = _kind(file)
    known, described = dict[str, Variable](), _described(variables)
    try:
        if kind == "text":
            options: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
            table = text.parse(file.read_bytes(), file.name, missing=missing, **options)
        else:
            _only_for_text(file, delimiter=delimiter, encoding=encoding, decimal=decimal, missing=missing)
            table = _read_parquet(file)
            known = _noted(file, table.columns)
    except PermissionError:
        raise TacitaError(f"no permission to read {file.name}; check its rights.") from None
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise TacitaError(f"{file.name} could not be read ({reason}).") from None
    return Data(table, known | described)


def write(
    data: Any,
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    overwrite: bool = False,
) -> Path:
    """Write `Data` or any table as text or Parquet, whole or not at all, and return the path.

    Only what the records hold is written: categories that no record has any more are left out of Parquet files.
    In text a missing value is an empty field and an empty text is `""`; `read` takes both for missing. A column of
    texts that are all plain numbers comes back as numbers, and a float as the same float to the last bit.

    Parameters
    ----------
    data
        `Data` or a pandas, Polars or Arrow table.
    path
        Where to; the suffix says what: .csv, .tsv, .txt, .tab or .parquet, .pq.
    delimiter
        For text: a comma unless given, a tab for .tsv and .tab, a semicolon with a decimal comma.
    encoding, decimal
        For text.
    overwrite
        Whether an existing file may be replaced.

    >>> import tempfile, polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(pl.DataFrame({"sex": ["f", None], "age": [31, 47]}), Path(folder) / "survey.csv").read_text()
    'sex,age\\nf,31\\n,47\\n'
    """
    given = Data.of(data)
    file = _path(path)
    kind = _kind(file)
    if not given.columns:
        raise TacitaError(f"{file.name} would be empty: the data has no variables.")
    if "" in given.columns:
        raise TacitaError(f"column {given.columns.index('') + 1:,} has no name; name it before writing.")
    if kind == "parquet":
        _only_for_text(
            file,
            delimiter=delimiter,
            encoding=None if encoding == "utf-8" else encoding,
            decimal=None if decimal == "." else decimal,
        )
        notes = _notes(given.variables)
        with atomic.new_file(file, overwrite=overwrite) as beside:
            frame.write_parquet(given.table, beside, notes)
        return file
    text.check_encoding(encoding)
    check.one_of("decimal", decimal, (".", ","))
    if delimiter is None:
        delimiter = "\t" if file.suffix.lower() in (".tsv", ".tab") else "," if decimal == "." else ";"
    text.check_delimiter(delimiter)
    with atomic.new_file(file, overwrite=overwrite) as beside:
        text.write(given.table, beside, file.name, delimiter=delimiter, encoding=encoding, decimal=decimal)
    return file


def _path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str) or "\0" in os.fspath(path):
        raise TacitaError(f"path must be the path of a file; got {path!r}.")
    return Path(path)


def _existing(path: object) -> Path:
    """The path of a file that is there; a near name in its folder is suggested."""
    file = _path(path)
    try:
        if file.is_dir():
            raise TacitaError(f"{file.name or str(file)!r} is a folder; give the path of a file in it.")
        if file.exists():
            return file
        if not file.parent.is_dir():
            raise TacitaError(f"{file.name} cannot be found: there is no folder {file.parent.name!r}.")
        near = difflib.get_close_matches(file.name, sorted(each.name for each in file.parent.iterdir()), n=1)
    except PermissionError:
        raise TacitaError(f"no permission to read {file.name}; check the rights of its folder.") from None
    hint = f"did you mean {near[0]!r}?" if near else "check the path."
    raise TacitaError(f"{file.name} does not exist; {hint}")


def _kind(file: Path) -> str:
    suffix = file.suffix.lower()
    if suffix in TEXT:
        return "text"
    if suffix in PARQUET:
        return "parquet"
    raise TacitaError(f"{file.name} must end in one of {', '.join((*TEXT, *PARQUET))}; got {suffix!r}.")


def _only_for_text(file: Path, **options: object) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise TacitaError(f"{given[0]} is for text files only; leave it out for {file.name}.")


def _read_parquet(file: Path) -> Frame:
    with file.open("rb") as opened:
        first = opened.read(4)
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(size - 4, 0))
        last = opened.read(4)
    if size == 0:
        raise TacitaError(f"{file.name} is empty; check that it was saved or exported completely.")
    if first != b"PAR1":
        raise TacitaError(f"{file.name} is not a Parquet file; check its name and how it was made.")
    if last != b"PAR1" or size < 12:
        raise TacitaError(f"{file.name} is cut off; check that it was saved or copied completely.")
    table = frame.read_parquet(file)
    if not table.columns:
        raise TacitaError(f"{file.name} is empty; check that it was saved or exported completely.")
    if "" in table.columns:
        raise TacitaError(f"{file.name} has no name for column {table.columns.index('') + 1:,}; name every column.")
    if not table.height:
        raise TacitaError(f"{file.name} has a header but no records; check that it was saved or exported completely.")
    return table


def _described(variables: object) -> dict[str, Variable]:
    if variables is None:
        return {}
    if not isinstance(variables, Mapping) or not all(isinstance(each, Variable) for each in variables.values()):
        raise TacitaError("variables must give a Variable for each name, such as {'age': Variable(label='Age')}.")
    return dict(variables)


def _notes(variables: Mapping[str, Variable]) -> dict[str, str]:
    """What is known of the variables as JSON; codes keep their type, so labels are pairs and not an object."""
    if not variables:
        return {}
    said = {
        name: {
            "label": known.label,
            "value_labels": [[_code(name, code), label] for code, label in known.value_labels.items()],
            "missing": [_code(name, code) for code in known.missing],
            "not_applicable": [_code(name, code) for code in known.not_applicable],
            "scale": known.scale,
        }
        for name, known in variables.items()
    }
    return {NOTE: json.dumps({"version": 1, "variables": said}, ensure_ascii=False)}


def _code(name: str, code: object) -> object:
    plain = code.item() if hasattr(code, "item") else code
    if plain is None or isinstance(plain, str | int | float):
        return plain
    raise TacitaError(f"codes of {name!r} must be texts or numbers to be written; got {type(code).__name__}.")


def _noted(file: Path, columns: list[str]) -> dict[str, Variable]:
    """What the file says of its variables; columns that another program dropped are dropped here."""
    note = frame.parquet_note(file, NOTE)
    if note is None:
        return {}
    try:
        said = json.loads(note)["variables"]
        return {name: _variable(known) for name, known in said.items() if name in columns}
    except (ValueError, TypeError, KeyError, AttributeError):
        message = f"{file.name} has damaged descriptions of its variables, left out; pass variables=... instead."
        warnings.warn(message, TacitaWarning, stacklevel=3)
        return {}


def _variable(known: Mapping[str, Any]) -> Variable:
    return Variable(
        label=str(known["label"]),
        value_labels={code: str(label) for code, label in known["value_labels"]},
        missing=tuple(known["missing"]),
        not_applicable=tuple(known["not_applicable"]),
        scale=known["scale"],
    )
