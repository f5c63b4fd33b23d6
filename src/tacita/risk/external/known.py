"""Which variables an intruder knows, and with what probability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tacita import check
from tacita.check import TacitaError
from tacita.risk.external.files import Files
from tacita.scenario import Scenario


class Known(NamedTuple):
    """The variables that are compared."""

    probability: Mapping[str, float]
    """By variable the probability that the intruder knows it, above 0."""
    notes: tuple[str, ...]
    """Which variables are not compared, and why."""


def probabilities(scenario: Scenario, variables: Any, known: Any) -> dict[str, float]:
    """By variable the probability that it is known: 1 unless the scenario, or `known`, says otherwise.

    >>> probabilities(Scenario(keys=["sex", "age"], known={"age": 0.5, "job": 0.1}), None, {"sex": 0.9})
    {'sex': 0.9, 'age': 0.5, 'job': 0.1}
    """
    given = dict(scenario.known) | check.mapping("known", {} if known is None else known)
    for name, value in given.items():
        check.share(f"known of {name!r}", value)
    usual = (*scenario.all_keys, *scenario.numeric_keys, *(name for name, value in given.items() if value > 0))
    names = dict.fromkeys(usual if variables is None else check.names("variables", variables))
    return {name: float(given.get(name, 1.0)) for name in names}


def known_variables(files: Files, scenario: Scenario, variables: Any, known: Any) -> Known:
    """The variables that both the intruder's and the released file have, and that he knows with some probability."""
    given = probabilities(scenario, variables, known)
    everywhere = tuple(dict.fromkeys((*files.released.columns, *files.original.columns, *files.intruder.columns)))
    named = {"keys": scenario.all_keys, "numeric_keys": scenario.numeric_keys} if variables is None else {}
    for what, names in (*named.items(), ("known", tuple(known or {})), ("variables", tuple(given))):
        check.columns_exist(what, names, everywhere)
    never = [name for name, value in given.items() if value == 0]
    removed = [name for name in given if name not in files.released.columns and name not in never]
    lacking = [name for name in given if name not in files.intruder.columns and name not in (*never, *removed)]
    left = {name: value for name, value in given.items() if name not in (*never, *removed, *lacking)}
    if not left:
        raise TacitaError(
            "external_risk needs a variable that both the intruder's file and the release have; pass keys=[...] or "
            "numeric_keys=[...] in the scenario, or variables=[...]."
        )
    reasons = (("not known to him", never), ("not in the release", removed), ("not in his file", lacking))
    return Known(left, tuple(f"{check.quoted(names)} {why}, not compared" for why, names in reasons if names))
