"""What a measure is called with: files and scenario in their places, the options that are its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.parameters import REQUIRED, parameters_of


def in_place(
    function: Callable[..., Any], files: int, args: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The files and the scenario by their places, though they were given by name; too few or too many are an error."""
    places = list(inspect.signature(function).parameters)[: files + 1]
    by_name = [name for name in places[len(args) :] if name in options]
    given = (*args, *(options[name] for name in by_name))
    if len(given) != len(places) or by_name != places[len(args) :]:
        raise TacitaError(f"{function.__name__} takes {', '.join(places)}, then options by name; got {len(given)}.")
    return given, {name: value for name, value in options.items() if name not in by_name}


def check_required(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Every option without a default is given."""
    lacking = [each.name for each in parameters_of(function) if each.default is REQUIRED and each.name not in options]
    if lacking:
        raise TacitaError(f"{function.__name__} must be told {check.quoted(lacking)}; pass {lacking[0]}=....")


def own_options(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a measure checks itself: not progress, and not those that it passes on to another."""
    passes_on = any(each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values())
    known = {each.name for each in parameters_of(function)}
    return {name: value for name, value in options.items() if name != "progress" and (name in known or not passes_on)}
