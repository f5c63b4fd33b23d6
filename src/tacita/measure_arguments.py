"""What a measure is called with: files and scenario in their places, the options that are its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.parameters import REQUIRED, parameters_of


def by_position(
    function: Callable[..., Any], files: int, args: tuple[Any, ...], options: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Files and scenario as positional arguments and options as keyword arguments, however they were passed.

    Too few or too many are an error.
    """
    listed = [
        each.name for each in inspect.signature(function).parameters.values() if each.kind is not each.KEYWORD_ONLY
    ]
    places, further = listed[: files + 1], listed[files + 1 :]
    by_name = [name for name in places[len(args) :] if name in options]
    given = (*args[: files + 1], *(options[name] for name in by_name))
    by_place = dict(zip(further, args[files + 1 :], strict=False))
    if (
        len(given) != len(places)
        or by_name != places[len(args) :]
        or len(args) > len(listed)
        or by_place.keys() & options
    ):
        got = len(args) + len(by_name)
        raise TacitaError(f"{function.__name__} takes {', '.join(places)}, then options by name; got {got}.")
    return given, by_place | {name: value for name, value in options.items() if name not in by_name}


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


def check_by_key(own: Any, files: Iterable[Any]) -> None:
    """Distinct keys that stand for many records are no records: who measures those by themselves must not get them."""
    condensed = any(isinstance(each, Data) and each.condensed is not None for each in files)
    large = any(isinstance(each, LargeData) for each in files)
    if not own.by_key and (condensed or (large and not own.by_sample)):
        raise TacitaError(f"{own.name} {needs_records(own)}")


def needs_records(own: Any) -> str:
    """That a measure needs all records in memory, and which is the nearest that does not."""
    nearest = "the measures of keys, as k_anonymity, individual_risk and suda, do not need them"
    if own.files == 2:
        near = "external_risk and reconstruction" if own.kind == "risk" else "value_loss, distribution_loss, table_loss"
        nearest = f"{near} do not need them"
    return f"needs all records in memory; assess a sample of the records with it, or leave it out: {nearest}."
