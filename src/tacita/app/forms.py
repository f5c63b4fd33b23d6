"""Forms of declared parameters: fields written from the declaration, and what was filled in read back."""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from htmltools import Tag, tags

from tacita.app import parts
from tacita.check import TacitaError
from tacita.parameters import REQUIRED, Parameter, parameters_of
from tacita.protect.step import Step

SHOWN = 4
"""So many parameters are shown at first, the others behind a fold."""
BEHIND = ("label", "only", "strata", "key_sets", "combs", "ghosts")
"""Parameters of every step, and what few need: behind the fold."""
YES_NO = {"True": "yes", "False": "no", "true": "yes", "false": "no"}


def fields(parameters: Sequence[Parameter], columns: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    """The fields of some parameters, what is usual behind a fold."""
    first = [each for each in parameters if each.name not in BEHIND]
    shown = [each for at, each in enumerate(first) if at < SHOWN or each.default is REQUIRED]
    shown += [each for each in parameters if each.name in values and each not in shown]
    rest = [each for each in parameters if each not in shown]
    made = [tags.div(*(field(each, columns, values.get(each.name)) for each in shown), class_="fields")]
    if rest:
        behind = tags.div(*(field(each, columns, values.get(each.name)) for each in rest), class_="fields")
        opened = any(each.name in values for each in rest)
        made.append(parts.folded(f"{len(rest)} more settings", behind, opened=opened))
    return made


def field(each: Parameter, columns: Sequence[str], value: Any) -> Tag:
    """One field, of the kind that the parameter is."""
    label = each.name.replace("_", " ") + (" *" if each.default is REQUIRED else "")
    hint = " ".join(part for part in (each.doc.replace("`", "'"), _usual(each)) if part)
    if each.kind == "names" and each.shape is None and each.name != "key_sets":
        return tags.div(parts.chips(each.name, columns, value or (), label=label, hint=hint), class_="wide-field")
    if each.kind == "names":
        return parts.area_field(each.name, label, "\n".join(value or ()), hint=f"{hint} One on each line.")
    if each.choices:
        choices = {"": "as usual", **{choice: choice.replace("_", " ") for choice in each.choices}}
        return _hinted(parts.select(each.name, choices, value, label=label), hint)
    if each.kind == "true or false":
        choices = {"": "as usual", "true": "yes", "false": "no"}
        chosen = None if value is None else str(bool(value)).lower()
        return _hinted(parts.select(each.name, choices, chosen, label=label), hint)
    if _is_column(each):
        choices = {"": "–", **{name: name for name in columns}}
        return _hinted(parts.select(each.name, choices, value, label=label), hint)
    kind = "number" if each.kind in ("number", "whole number") and each.shape is None else "text"
    more = {"step": "any"} if kind == "number" else {}
    wanted = each.wanted.replace("`", "'")
    return parts.text_field(each.name, label, written(value), kind=kind, hint=hint, placeholder=wanted, **more)


def _is_column(each: Parameter) -> bool:
    return each.name == "variable" or (each.shape is not None and each.shape.words == "name of a variable")


def _usual(each: Parameter) -> str:
    usual = each.shown_default
    return f"Usual: {YES_NO.get(usual, usual)}." if usual and usual != "none" else ""


def _hinted(made: Tag, hint: str) -> Tag:
    if hint:
        made.append(tags.small(hint))
    return made


def written(value: Any) -> str:
    """A value as it is written into a field: texts as they are, anything else as TOML reads it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_inner(each)}" for key, each in value.items()) + "}"
    return _inner(value)


def _inner(value: Any) -> str:
    if isinstance(value, Mapping):
        return written(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_inner(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def read(parameters: Iterable[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was filled in, by parameter; what was left empty is left out, and so is as usual."""
    found: dict[str, Any] = {}
    for each in parameters:
        value = _read_one(each, given.get(each.name))
        if value is not None:
            found[each.name] = value
    return found


def _read_one(each: Parameter, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(str(part) for part in value) or None
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    if each.kind == "names":
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    if each.kind == "true or false":
        return text == "true"
    if each.kind in ("text", "one of"):
        return text
    if each.kind in ("number", "whole number"):
        return _number(each.name, text)
    return value_of(text)


def _number(name: str, text: str) -> float:
    try:
        found = float(text.replace(",", "."))
    except ValueError:
        raise TacitaError(f"{name} must be a number; write digits with a point.") from None
    return int(found) if found == int(found) and "e" not in text.lower() else found


def value_of(text: str) -> Any:
    """What was written: a number, list or table as TOML reads it, otherwise the text itself.

    >>> value_of("[15, 30]"), value_of("{a = 2}"), value_of("income > 1000")
    ([15, 30], {'a': 2}, 'income > 1000')
    """
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def step_fields(kind: type[Step], way: str | None, columns: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    """The fields of a step; where it has several ways, those of one."""
    return fields(step_parameters(kind, way), columns, values)


def step_parameters(kind: type[Step], way: str | None) -> list[Parameter]:
    """The parameters of a step, with those of one of its ways in place of `way`."""
    own = [each for each in kind.parameters() if not (kind.ways and each.name == "way")]
    if not kind.ways:
        return own
    chosen = kind.ways[way or next(iter(kind.ways))]
    first = [each for each in own if each.default is REQUIRED]
    return [*first, *parameters_of(chosen), *(each for each in own if each not in first)]


def first_sentence(owner: Any) -> str:
    """What something is, from its documentation: the first paragraph."""
    said = " ".join((inspect.getdoc(owner) or "").partition("\n\n")[0].split())
    return said.replace("`", "")
