"""Files in and out: delimited text, Parquet, Arrow, Excel, SPSS, Stata and SAS, by the suffix of the path.

What is written is complete or not there. What is read is checked as a whole before it is used.
"""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacita import check
from tacita.apart import always as always_apart
from tacita.check import TacitaError, TacitaWarning
from tacita.data import atomic, codebook
from tacita.data.data import Data
from tacita.data.formats import columnar, foreign, text
from tacita.data.formats.loaded import Loaded, remarks_on_missing
from tacita.data.reading import Options, in_effect, of_command_line, scales_for
from tacita.data.variable import Scale, Variable
from tacita.frame.texts import without_texts

SUFFIXES = {
    "text": (".csv", ".tsv", ".txt", ".tab"),
    "parquet": columnar.PARQUET,
    "arrow": columnar.ARROW,
    "excel": (".xlsx",),
    "statistical": (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"),
}
"""The formats, by how a path ends."""
READ_ONLY = (".sas7bdat",)
WITHOUT_NOTES = (*SUFFIXES["text"], ".dta", ".xpt")
"""Files that cannot say that a variable was perturbed: the codebook beside them is read."""


def read(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    missing: str | Iterable[str] | None = None,
    sheet: str | None = None,
    catalog: str | os.PathLike[str] | None = None,
    scale: Mapping[str, Scale] | None = None,
    variables: Mapping[str, Variable] | None = None,
    apart: bool | None = None,
) -> Data:
    """Read a survey file: .csv, .tsv, .txt, .tab (delimited text), .parquet, .pq, .arrow, .feather, .ipc, .xlsx,
    .sav, .zsav (SPSS), .dta (Stata), .sas7bdat or .xpt (SAS).

    Risk is a matter of how values are told apart, so a text keeps what makes it different: a column in which a number
    has a leading zero ('0012') stays text, whole numbers stay exact, and a column becomes numbers only if every value
    in it is one. Dates in text stay text. Labels and missing codes come from SPSS, Stata and SAS files, and from
    Parquet, Arrow and Excel files written by `write`. Codes that a file declares missing stay in the data as values:
    of a key they are categories, since whoever reads the file sees them, elsewhere measures take them for missing.

    Parameters
    ----------
    path
        The file.
    delimiter, encoding, decimal
        For text: what stands between fields, the encoding, and the decimal sign; found from the file if not given.
        `encoding` is also for SPSS, Stata and SAS files that declare a wrong one.
        '1,234' in a file delimited by commas stays text unless `decimal=","`: it may be a thousand.
    missing
        Texts (or numbers, written as texts) that stand for a missing value in every column, besides the empty field.
        Without it 'NA', 'NaN', 'nan', 'NULL', 'N/A', '.' and '?' are missing among numbers of a text file and values,
        with a warning, among texts; `missing=[]` says that they are meant to be values. 'NA' is missing among texts too
        in a file that R wrote: where it is missing among numbers, or stands outside quotes where texts are in quotes.
    sheet
        For Excel: the name of the sheet; the first one if not given.
    catalog
        For .sas7bdat: the catalog (.sas7bcat) with its value labels.
    scale
        By name: 'nominal', 'ordinal' or 'numeric', where what is found out is not what is meant. Codes that a file
        shows with decimals, such as 7.0 in F8.1, become whole numbers where they are said to be nominal.
    variables
        What is known of the variables, by name; it replaces what the file says of them.
    apart
        Whether to read in a process of its own, which may die of a damaged or wicked file, with a limit on memory and
        on time: True for files from outside. It is for all formats but text, and done anyway, unless False, where a
        first look finds sizes in the file that cannot be.

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
    described = _described(variables)
    given = Options(delimiter, encoding, decimal, missing, sheet, catalog, scale)
    nothing_said = given == Options() and of_command_line.get() is None
    options = given if nothing_said else in_effect(given, file, kind)
    try:
        loaded = _load(file, kind, options, apart)
    except PermissionError:
        raise TacitaError(f"no permission to read {file.name}; check its rights.") from None
    except OSError as error:
        raise _unreadable(file, error) from None
    for remark in loaded.remarks:
        warnings.warn(remark, TacitaWarning, stacklevel=2)
    data = Data(loaded.table, loaded.variables | described, understood=loaded.understood)
    data = _with_codebook(data, file).with_perturbed(
        name for name, known in loaded.variables.items() if known.perturbed
    )
    return data if nothing_said else data.with_scales(scales_for(options, data.columns))


def _with_codebook(data: Data, file: Path) -> Data:
    """The data with what the codebook of a release beside the file says of them."""
    noted = codebook.beside(file) if (file.parent / codebook.NAME).is_file() else None
    if noted is None:
        return data
    data = replace(data, of_release=True)
    return (
        data.with_perturbed(codebook.perturbed_in(noted, data.columns))
        if file.suffix.lower() in WITHOUT_NOTES
        else data
    )


def _load(file: Path, kind: str, options: Options, apart: bool | None) -> Loaded:
    """A file by its kind, in a process of its own if need be."""
    if kind == "text":
        layout = {name: getattr(options, name) for name in ("delimiter", "encoding", "decimal", "missing")}
        return text.load(file.read_bytes(), file.name, **layout)
    gone = text.missing_texts_of(options.missing)
    catalog = None if options.catalog is None else _existing(options.catalog)
    if apart is None:
        apart = always_apart() or foreign.looks_odd(file, kind)
    load = foreign.load_in_process if apart else foreign.load
    loaded = load(file, kind, encoding=options.encoding, sheet=options.sheet, catalog=catalog)
    if not gone:
        return loaded
    table, counts = without_texts(loaded.table, gone)
    return loaded._replace(table=table, understood=remarks_on_missing(counts) if counts else {})


def write(
    data: Any,
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    rename: bool = False,
    formulas: bool = False,
    overwrite: bool = False,
) -> Path:
    """Write `Data` or any table, whole or not at all, and return the path.

    Only what the records hold is written: categories that no record has any more are left out. Labels and missing codes
    are written where the format has room for them, and a warning says what it has none for. Values are never changed
    silently: whole numbers that a format would round, or names that it does not take, are errors.
    In text a missing value is an empty field and an empty text is `""`; `read` takes both for missing. A column of
    texts that are all plain numbers comes back as numbers, and a float as the same float to the last bit.

    Parameters
    ----------
    data
        `Data` or a pandas, Polars or Arrow table.
    path
        Where to; the suffix says what, as for `read`. Files of .sas7bdat can be read only; .xpt is for SAS.
    delimiter
        For text: a comma unless given, a tab for .tsv and .tab, a semicolon with a decimal comma.
    encoding, decimal
        For text.
    rename
        Whether variables may be renamed whose names SPSS, Stata or SAS does not take; a warning says how, and the old
        name becomes the label if there is none.
    formulas
        For text: whether texts such as `=1+1` are written as they are. A spreadsheet would run them, so otherwise they
        get an apostrophe in front, with a warning; `read` takes it away again.
    overwrite
        Whether an existing file may be replaced.

    >>> import tempfile, polars as pl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(pl.DataFrame({"sex": ["f", None], "age": [31, 47]}), Path(folder) / "survey.csv").read_text()
    'sex,age\\nf,31\\n,47\\n'
    """
    given = codebook.with_noted_weight(Data.of(data))
    file = _path(path)
    kind = _written_kind(file)
    if not given.columns:
        raise TacitaError(f"{file.name} would be empty: the data has no variables.")
    if "" in given.columns:
        raise TacitaError(f"column {given.columns.index('') + 1:,} has no name; name it before writing.")
    _only_for_text(
        file,
        kind,
        delimiter=delimiter,
        encoding=None if encoding == "utf-8" else encoding,
        decimal=None if decimal == "." else decimal,
    )
    remarks: tuple[str, ...] = ()
    if kind == "text":
        layout: dict[str, Any] = {"encoding": encoding, "decimal": decimal, "formulas": formulas}
        remarks = _write_text(given, file, delimiter, layout, overwrite)
        if given.perturbed:
            lost = check.quoted(sorted(given.perturbed))
            remarks += (f"{file.name} has no room to say that {lost} was perturbed; keep the codebook beside it.",)
    else:
        with atomic.new_file(file, overwrite=overwrite) as beside:
            remarks = _save(given, beside, file.name, kind, rename)
    for remark in remarks:
        warnings.warn(remark, TacitaWarning, stacklevel=2)
    return file


def _save(data: Data, path: Path, name: str, kind: str, rename: bool) -> tuple[str, ...]:
    if kind == "statistical":
        from tacita.data.formats import statistical_write

        return statistical_write.save(data, path, name, rename=rename)
    if kind == "excel":
        from tacita.data.formats import excel

        return excel.save(data, path, name)
    columnar.save(data, path, kind)
    return ()


def _write_text(
    data: Data, file: Path, delimiter: str | None, layout: Mapping[str, Any], overwrite: bool
) -> tuple[str, ...]:
    text.check_encoding(layout["encoding"])
    check.one_of("decimal", layout["decimal"], (".", ","))
    if delimiter is None:
        delimiter = "\t" if file.suffix.lower() in (".tsv", ".tab") else "," if layout["decimal"] == "." else ";"
    text.check_delimiter(delimiter)
    with atomic.new_file(file, overwrite=overwrite) as beside:
        return text.write(data.table, beside, file.name, delimiter=delimiter, **layout)


def _path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str) or "\0" in os.fspath(path):
        raise TacitaError(f"path must be the path of a file; got {check.given(path)}.")
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
        near = _near_name(file)
    except PermissionError:
        raise TacitaError(f"no permission to read {file.name}; check the rights of its folder.") from None
    except OSError as error:
        raise _unreadable(file, error) from None
    hint = f"did you mean {near[0]!r}?" if near else "check the path."
    raise TacitaError(f"{' '.join(file.name.split())} does not exist; {hint}")


def _near_name(file: Path) -> list[str]:
    """The name in the folder that is nearest to that of a file; none unless it is near without its suffix too."""
    names = sorted(each.name for each in file.parent.iterdir())
    near = difflib.get_close_matches(file.name, names, n=len(names) or 1)
    return [name for name in near if difflib.get_close_matches(file.stem, [Path(name).stem])][:1]


def _unreadable(file: Path, error: OSError) -> TacitaError:
    reason = os.strerror(error.errno) if error.errno else "the system refused"
    return TacitaError(f"{file.name} could not be read ({reason}).")


def _kind(file: Path) -> str:
    suffix = file.suffix.lower()
    found = next((kind for kind, suffixes in SUFFIXES.items() if suffix in suffixes), None)
    if found is None:
        known = ", ".join(each for suffixes in SUFFIXES.values() for each in suffixes)
        raise TacitaError(f"{file.name} must end in one of {known}; got {check.given(suffix)}.")
    return found


def _written_kind(file: Path) -> str:
    kind = _kind(file)
    if file.suffix.lower() in READ_ONLY:
        raise TacitaError(f"{file.name} can be read but not written; write .xpt for SAS.")
    return kind


def check_target(path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Refuse a file that `write` could not write, before the work whose results it is to hold."""
    _written_kind(_path(path))
    atomic.check_free(path, overwrite=overwrite, kind="file")


def _only_for_text(file: Path, kind: str, **options: object) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given and kind != "text":
        raise TacitaError(f"{given[0]} is for text files only; leave it out for {file.name}.")


def _described(variables: object) -> dict[str, Variable]:
    if variables is None:
        return {}
    if not isinstance(variables, Mapping) or not all(isinstance(each, Variable) for each in variables.values()):
        raise TacitaError("variables must give a Variable for each name, such as {'age': Variable(label='Age')}.")
    return dict(variables)
