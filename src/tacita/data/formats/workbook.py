"""The sheet "variables" of a workbook: what is known of the variables, one row each and one for each of their codes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tacita.check import TacitaError
from tacita.data.data import Data
from tacita.data.formats.columnar import plain
from tacita.data.variable import Variable
from tacita.frame import files as frame_files

HEADER = ("variable", "type", "label", "scale", "use of code", "code", "to", "type of code", "label of code")
TYPES = {
    "text": "text",
    "whole": "whole number",
    "number": "number",
    "logical": "true or false",
    "date": "date",
    "datetime": "date and time",
    "time": "time",
}
"""What the types are called in the sheet."""
LABEL, MISSING, RANGE, NOT_APPLICABLE, ORDER = "label", "missing", "missing range", "not applicable", "order"
PERTURBED = "perturbed"
"""In place of the use of a code: the values of the variable were exchanged for wrong ones."""


def rows(data: Data) -> list[tuple[str, ...]]:
    """The sheet, all in texts."""
    listed: list[tuple[str, ...]] = [HEADER]
    for name in data.columns:
        known = data.variable(name)
        kind = TYPES[frame_files.kind(data.table, name)]
        listed.append((name, kind, known.label, known.scale or "", "", "", "", "", ""))
        codes = [(LABEL, code, label) for code, label in known.value_labels.items()]
        codes += [(MISSING, code, "") for code in known.missing]
        codes += [(NOT_APPLICABLE, code, "") for code in known.not_applicable]
        codes += [(ORDER, code, "") for code in known.order]
        listed += [(name, "", "", "", use, *_code_and_type(name, code), label) for use, code, label in codes]
        listed += [(name, "", "", "", PERTURBED, "", "", "", "")] if known.perturbed else []
        listed += [(name, "", "", "", RANGE, repr(low), repr(high), "number", "") for low, high in known.missing_ranges]
    return listed


def _code_and_type(name: str, code: object) -> tuple[str, str, str]:
    """The cells of a code: its text, an empty cell (the upper end of a range), and its type."""
    bare = plain(name, code)
    if bare is None:
        return "", "", "nothing"
    if isinstance(bare, str):
        return bare, "", "text"
    return repr(bare), "", "true or false" if isinstance(bare, bool) else "number"


def parse(cells: Sequence[Sequence[str | None]]) -> tuple[dict[str, str], dict[str, Variable]]:
    """Types and descriptions of the variables; nothing if the sheet is not one of ours."""
    if not cells or tuple(cells[0]) != HEADER:
        return {}, {}
    kinds = {said: kind for kind, said in TYPES.items()}
    types: dict[str, str] = {}
    gathered: dict[str, dict[str, Any]] = defaultdict(
        lambda: {"value_labels": {}, "missing": [], "missing_ranges": [], "not_applicable": [], "order": []}
    )
    try:
        for row in cells[1:]:
            name, kind, label, scale, use, code, to, sort, meaning = (cell or "" for cell in row)
            known = gathered[name]
            if not use:
                types[name] = kinds[kind]
                known |= {"label": label, "scale": scale or None}
            elif use == LABEL:
                known["value_labels"][_code(code, sort)] = meaning
            elif use == PERTURBED:
                known["perturbed"] = True
            elif use == RANGE:
                known["missing_ranges"].append((_number(code), _number(to)))
            else:
                known[use.replace(" ", "_")].append(_code(code, sort))
        read = {name: Variable(**_frozen(known)) for name, known in gathered.items()}
    except (KeyError, ValueError, TypeError, TacitaError):
        # Somebody changed the sheet; the data stands on its own.
        return {}, {}
    return types, {name: known for name, known in read.items() if known != Variable()}


def _frozen(known: dict[str, Any]) -> dict[str, Any]:
    return {field: tuple(value) if isinstance(value, list) else value for field, value in known.items()}


def _code(code: str, sort: str) -> Any:
    if sort == "text":
        return code
    return {"nothing": None, "true or false": code == "True"}[sort] if sort != "number" else _number(code)


def _number(code: str) -> float:
    number = float(code)
    return int(code) if math.isfinite(number) and code.lstrip("-").isdigit() else number
