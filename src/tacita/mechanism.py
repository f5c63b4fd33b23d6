"""A mechanism: what happened to values, in a form that attacks and analysts can use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.check import TacitaError


class Kind(NamedTuple):
    """What users of the data read about a kind of mechanism."""

    done: str
    """What was done, after the names of the variables."""
    advice: str = ""
    """What it means for an analysis, in full sentences; empty: nothing."""


KINDS = {
    "removal": Kind("taken out of the file"),
    "recoding": Kind("recoded into coarser classes", "Analyse it by the classes that the file shows: differences "
                     "inside a class are gone."),
    "top coding": Kind("top coded, the highest values being replaced", "The upper tail is not that of the population: "
                       "use medians and quantiles below the code, or models for censored values."),
    "bottom coding": Kind("bottom coded, the lowest values being replaced", "The lower tail is not that of the "
                          "population: use medians and quantiles above the code, or models for censored values."),
    "outlier coding": Kind("coded where a record lies far from all others", "Extreme values are closer to the centre "
                           "than they were: spreads and correlations are understated."),
    "rounding": Kind("rounded", "Differences smaller than the base mean nothing, and totals need not add up to the "
                     "last digit."),
    "suppression": Kind("suppressed in some records, where the value is missing", "Suppressed cells are missing, and "
                        "not by chance: they belong to rare combinations. Analyses of complete records alone "
                        "under-represent rare groups; count missing as a category, or impute."),
    "noise": Kind("changed by random noise", "Means stay about right; variances are larger and correlations and slopes "
                  "weaker than they were, by what the noise adds. Single values are not true."),
    "transition": Kind("exchanged at random for other categories with known probabilities (PRAM)", "Some categories "
                       "are wrong. Where transition_matrices.json lies beside the data, `tacita corrected` (in Python "
                       "`tc.corrected_table`) gives tables corrected for it; without it shares drawn from small groups "
                       "are not reliable."),
    "microaggregation": Kind("replaced by the average of several similar records", "Means are kept; variances are "
                             "understated and extremes are gone, and correlations look stronger than they were."),
    "swapping": Kind("exchanged between similar records", "The distribution of the variable as a whole is kept; its "
                     "relations to variables that were not exchanged with it are weaker than they were."),
    "shuffling": Kind("shuffled between records", "The distribution of the variable as a whole and rank correlations "
                      "are about right; single values belong to other records."),
    "model": Kind("masked by a model", "Relations that are in the model are kept, others are weaker. Single values are "
                  "not true."),
    "synthesis": Kind("replaced by synthetic values drawn from a model", "Relations that are not in the model are "
                      "lost, and standard errors from one copy are too small: `tc.combine_copies` takes several."),
    "sampling": Kind("released as a sample of the original records", "Use the weights of the release: they account for "
                     "the records that are not in it."),
    "weights": Kind("changed a little as survey weights", "Use the weights as they are released; totals differ a "
                    "little from those of the original file. Records with the same weight are no stratum."),
    "reordering": Kind("put into another order", "The order of the records means nothing."),
    "renewal": Kind("replaced by new identifiers", "The identifiers hold records of this file together; they lead to "
                    "no other file."),
}  # fmt: skip
"""What Tacita's own steps do, and what data users are told of it; a step from elsewhere may name another kind."""


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
