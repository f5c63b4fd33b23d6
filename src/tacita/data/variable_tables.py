"""What is known of variables as tables of TOML: `[variables.status]` with `scale = "nominal"` and `missing = [9]`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.data.variable import Variable
from tacita.declared import plain


def tables_of(variables: Mapping[str, Variable]) -> dict[str, Any]:
    """A table for each variable, with the fields that differ from their defaults; value labels as pairs, since codes
    need not be texts."""
    return {name: _table(known) for name, known in variables.items()}


def _table(known: Variable) -> dict[str, Any]:
    usual = Variable()
    names = [each.name for each in dataclasses.fields(known)]
    table = {name: plain(getattr(known, name)) for name in names if getattr(known, name) != getattr(usual, name)}
    if "value_labels" in table:
        table["value_labels"] = [[code, label] for code, label in known.value_labels.items()]
    return table


def variables_of(tables: Any) -> dict[str, Variable]:
    """The variables that tables describe; a `Variable` may stand in place of a table."""
    given = check.mapping("[variables]", tables)
    return {name: each if isinstance(each, Variable) else _variable(name, each) for name, each in given.items()}


def _variable(name: str, given: Any) -> Variable:
    table = check.mapping(f"[variables.{name}]", given)
    fields = [each.name for each in dataclasses.fields(Variable)]
    unknown = [each for each in table if each not in fields]
    if unknown:
        raise TacitaError(f"[variables.{name}] has no field {unknown[0]!r}. The fields are {', '.join(fields)}.")
    for each in ("missing", "not_applicable", "order"):
        if each in table:
            table[each] = tuple(table[each]) if isinstance(table[each], list) else (table[each],)
    codes = [code for each in ("missing", "not_applicable", "order") for code in table.get(each, ())]
    if not isinstance(table.get("label", ""), str) or any(isinstance(code, list | dict) for code in codes):
        raise TacitaError(f"[variables.{name}] has a text as label, and lists of codes as missing or order.")
    try:
        if "value_labels" in table:
            table["value_labels"] = dict(table["value_labels"])
            if not all(isinstance(label, str) for label in table["value_labels"].values()):
                raise TypeError
        return Variable(**table)
    except (TypeError, ValueError) as error:
        if isinstance(error, TacitaError):
            raise
        raise TacitaError(
            f"[variables.{name}] value_labels are pairs of a code and its label, as [[1, 'male'], [2, 'female']]."
        ) from None
