"""A step as it is printed, `Suppress(k=3)`, read back: what an assessment proposes is given on the command line so."""

from __future__ import annotations

import ast
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.protect.step import Step
from tacita.protect.steps import find_step, step_names

AS_PRINTED = "write it as it is printed, as Suppress(k=3) or \"Recode('age', width=10)\""


def written_step(text: str) -> Step:
    """The step of a text in the words of Python; nothing but names, numbers, texts, lists and tables is read.

    >>> written_step("Recode('age', width=10)").to_dict()["variables"]
    ['age']
    """
    try:
        parsed: Any = ast.parse(text.strip().removeprefix("tc."), mode="eval").body
        call = parsed if isinstance(parsed, ast.Call) else ast.Call(parsed, [], [])
        name, given = call.func.id, [ast.literal_eval(each) for each in call.args]  # type: ignore[attr-defined]
        named: Any = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
        if None in named:
            raise ValueError("a table of parameters has no names to read")
    except (SyntaxError, ValueError, AttributeError, TypeError, RecursionError, MemoryError):
        raise TacitaError(f"step {check.given(text)} cannot be read; {AS_PRINTED}.") from None
    step: Any = find_step(_kind(name))
    try:
        made: Step = step(*given, **named)
    except TypeError:
        raise TacitaError(
            f"step {check.given(text)} lacks a parameter; `tacita steps {_kind(name)}` lists them."
        ) from None
    return made


def _kind(name: str) -> str:
    """What plan files call a step that is written as a class or as in plan files.

    >>> _kind("GroupRare"), _kind("group_rare")
    ('group_rare', 'group_rare')
    """
    known = {kind.replace("_", ""): kind for kind in step_names()}
    return known.get(name.replace("_", "").lower(), name)
