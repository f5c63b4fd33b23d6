"""A mechanism: what happened to values, in a form that attacks and analysts can use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacita import check
from tacita.check import TacitaError

KINDS = (
    "removal",
    "recoding",
    "top coding",
    "bottom coding",
    "outlier coding",
    "rounding",
    "suppression",
    "noise",
    "transition",
    "microaggregation",
    "swapping",
    "shuffling",
    "model",
    "synthesis",
    "sampling",
    "weights",
    "reordering",
    "renewal",
)
"""What Tacita's own steps do; a step from elsewhere may name another kind."""


@dataclass(frozen=True)
class Mechanism:
    """What was done to the values of some variables: names, parameters and counts, no values of the data.

    An attacker who knows it attacks better, and an analyst who knows it estimates better: a step states
    separately which parameters are published, see `with_parameters`.

    >>> rounding = Mechanism("rounding", ("income",), {"base": 100.0, "cells": 12})
    >>> print(rounding.with_parameters("base"))
    rounding of 'income' (base = 100.0)
    """

    kind: str
    """What was done: one of `KINDS`, or a word of the step's own."""
    variables: tuple[str, ...] = ()
    """The variables whose values it was done to; none: the records as a whole."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """With what: plain numbers, texts, lists and tables."""
    perturbs: bool = False
    """Whether values were exchanged for wrong ones: counting them no longer says how many people look alike."""

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or not self.kind:
            raise TacitaError(f"the kind of a mechanism must be a text, as 'rounding'; got {check.given(self.kind)}.")
        object.__setattr__(self, "variables", check.names("variables of a mechanism", self.variables))
        given = check.mapping("parameters of a mechanism", self.parameters)
        object.__setattr__(self, "parameters", {name: _plain(name, value) for name, value in given.items()})

    def with_parameters(self, *names: str) -> Mechanism:
        """The mechanism with these parameters only, such as those that may be published."""
        return replace(self, parameters={name: value for name, value in self.parameters.items() if name in names})

    def to_dict(self) -> dict[str, Any]:
        """The mechanism as plain numbers and texts."""
        return {
            "kind": self.kind,
            "variables": list(self.variables),
            "parameters": dict(self.parameters),
            "perturbs": self.perturbs,
        }

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {value!r}" for name, value in self.parameters.items())
        named = f" of {check.quoted(self.variables)}" if self.variables else ""
        return f"{self.kind}{named}{f' ({given})' if given else ''}"


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON knows it; arrays become lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    value = check.python_number(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(name, each) for key, each in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(name, each) for each in value]
    raise TacitaError(f"parameter {name!r} of a mechanism must be plain values; got a {type(value).__name__}.")
