"""Files for SPSS (.sav, .zsav), Stata (.dta) and SAS (.xpt), written with labels and missing codes where they can be.

Values are never changed without a word. Categories are written as texts, truth values as 1 and 0.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data.data import Data
from tacita.data.formats import names, transport
from tacita.data.formats.statistical import FORMATS, PERTURBED
from tacita.data.formats.statistical_columns import SAS, SPSS, STATA, Remarks, Target, Written, written
from tacita.data.variable import Variable
from tacita.frame import Frame

TARGETS = {".sav": SPSS, ".zsav": SPSS, ".dta": STATA, ".xpt": SAS}
STATA_END = b"</stata_dta>"
STATA_TIME = b"<timestamp>\x11"
"""What stands before the time of writing, and its 17 signs."""
SPSS_TIME = 92
"""Where date and time of writing stand in the header."""
MEASURES = {"nominal": "nominal", "ordinal": "ordinal", "numeric": "scale"}


def save(data: Data, path: Path, file: str, *, rename: bool) -> tuple[str, ...]:
    """Write `data` to `path` in the format that the name of the file says; what is not carried is returned in words."""
    suffix = Path(file).suffix.lower()
    target = TARGETS[suffix]
    if len(data.columns) > target.columns:
        raise TacitaError(
            f"{file} can hold {target.columns:,} variables and the data has {len(data.columns):,}; write Parquet."
        )
    remarks: Remarks = defaultdict(list)
    made = {column: written(data, column, target, file, remarks) for column in data.columns}
    fresh = _names(made, target, file, rename)
    known = {column: _labelled(data.variable(column), column, fresh, target, remarks) for column in data.columns}
    _write(
        suffix,
        path,
        {fresh.get(column, column): each for column, each in made.items()},
        {fresh.get(column, column): each for column, each in known.items()},
    )
    if target is not SPSS and data.perturbed:
        remarks["no room to say that {} was perturbed; keep the codebook beside it."] += sorted(data.perturbed)
    said = [f"{file}: {words.format(check.quoted(some))}" for words, some in remarks.items()]
    if fresh:
        said.append(f"{file}: renamed {', '.join(f'{old!r} to {new!r}' for old, new in fresh.items())}.")
    return tuple(said)


def _names(made: Mapping[str, Written], target: Target, file: str, rename: bool) -> dict[str, str]:
    """New names for those that the format refuses."""
    labelled = [column for column, each in made.items() if each.labels]
    # Stata names a set of labels like a variable; ours gets the variable's name with a number behind.
    room = dict.fromkeys(labelled, len(str(len(labelled)))) if target is STATA else {}
    if rename:
        return names.accepted(list(made), target.names, room)
    names.check_names(list(made), target.names, file, room)
    return {}


def _labelled(known: Variable, column: str, fresh: Mapping[str, str], target: Target, remarks: Remarks) -> Variable:
    """Label and scale of a variable; a renamed one without a label keeps its old name there."""
    given = known.label or (column if column in fresh else "")
    label = target.label(given)
    if label != given:
        remarks["labels of {} were too long and are cut."].append(column)
    return Variable(label=label, scale=known.scale, perturbed=known.perturbed)


def _write(suffix: str, path: Path, made: Mapping[str, Written], known: Mapping[str, Variable]) -> None:
    import pyreadstat

    table = frame.table({column: each.column for column, each in made.items()})
    options: dict[str, Any] = {
        "column_labels": {column: each.label for column, each in known.items() if each.label},
        "variable_format": {column: each.form for column, each in made.items() if each.form},
    }
    if suffix != ".xpt":
        options["variable_value_labels"] = {column: dict(each.labels) for column, each in made.items() if each.labels}
    try:
        if suffix == ".xpt":
            pyreadstat.write_xport(table, path, **options)
            marked = {at: each.marks for at, each in enumerate(made.values()) if each.marks is not None}
            if marked:
                transport.write_marks(path, marked)
        elif suffix == ".dta":
            letters = {column: list(each.letters) for column, each in made.items() if each.letters}
            # Version 14: only the largest edition of Stata opens the files of version 15.
            pyreadstat.write_dta(table, path, version=14, missing_user_values=letters, **options)
        else:
            pyreadstat.write_sav(
                table,
                path,
                compress=suffix == ".zsav",
                row_compress=suffix == ".sav",
                missing_ranges={column: list(each.missing) for column, each in made.items() if each.missing},
                note=[f"{PERTURBED}{column}" for column, each in known.items() if each.perturbed] or None,
                variable_measure={column: MEASURES[each.scale] for column, each in known.items() if each.scale},
                **options,
            )
        whole = _is_whole(suffix, path, table)
        if whole:
            _without_time(suffix, path)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError):
        # A full disk, or a fault of the writer, whose message may quote a cell.
        whole = False
    if not whole:
        raise OSError("could not be written")


def _without_time(suffix: str, path: Path) -> None:
    """Put one fixed time in place of the time of writing: the same data make the same file, byte by byte."""
    with path.open("r+b") as opened:
        if suffix == ".xpt":
            stamps = [(at, b"01JAN00:00:00:00") for at in transport.times(path)]
        elif suffix == ".dta":
            stamps = [(opened.read(512).index(STATA_TIME) + len(STATA_TIME), b"01 Jan 2000 00:00")]
        else:
            stamps = [(SPSS_TIME, b"01 Jan 0000:00:00")]
        for at, stamp in stamps:
            opened.seek(at)
            opened.write(stamp)


def _is_whole(suffix: str, path: Path, table: Frame) -> bool:
    """Whether the file ends as it should and its last record can be read: the writer does not notice a full disk."""
    import pyreadstat

    with path.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(max(size - len(STATA_END), 0))
        end = opened.read()
    if (suffix == ".dta" and end != STATA_END) or (suffix == ".xpt" and size % 80):
        return False
    reader = getattr(pyreadstat, FORMATS[suffix].reader)
    some = {"usecols": table.columns[:1], "row_offset": max(table.height - 1, 0), "row_limit": 1}
    values, _ = reader(path, output_format="dict", disable_datetime_conversion=True, **some)
    return len(values[table.columns[0]]) == min(table.height, 1)
