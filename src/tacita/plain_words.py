"""Messages that name Python code, put in words for readers of pages and reports who do not program."""

from __future__ import annotations

import re
from functools import cache

from tacita.measure_index import MEASURES
from tacita.parameters import parameters_of
from tacita.policy import Policy
from tacita.protect.steps import OWN

MEASURE = re.compile(r"\btc\.(?:risk|loss)\.(\w+)(?:\(\))?")
NAMES = [name for name in (*MEASURES, *(each.name for each in parameters_of(Policy))) if "_" in name]
NAMED = re.compile(rf"(?<!')\b(?:{'|'.join(sorted(NAMES, key=len, reverse=True))})\b(?!')")
"""Measures and limits; a variable of that name stands in quotes."""


def in_words(text: str) -> str:
    """A sentence of the library for people who do not program: steps, measures and fields by their names on the pages.

    >>> in_words("look at tc.risk.weight_disclosure, and add RoundWeights(), Remove(['ward']) or Suppress(k=3)")
    "look at the measure weight disclosure, and add round weights, remove 'ward' or suppress (k = 3)"
    >>> in_words("with Recode or GroupRare; set household_risk in the policy")
    'with Recode or group rare; set household risk in the policy'
    """
    text = MEASURE.sub(lambda found: f"the measure {found[1]}", text)
    text = _steps().sub(lambda found: _step(found["name"] or found["alone"], found["given"] or ""), text)
    return NAMED.sub(lambda found: found[0].replace("_", " "), text)


@cache
def _kinds() -> dict[str, str]:
    """By the class of a step what the pages call it."""
    return {home.partition(":")[2]: kind.replace("_", " ") for kind, home in OWN.items()}


@cache
def _steps() -> re.Pattern[str]:
    # A word such as Recode alone may be one of a sentence; two words written as one are a name.
    names = sorted(_kinds(), key=len, reverse=True)
    alone = [name for name in names if not name[1:].islower()]
    return re.compile(rf"\b(?:(?P<name>{'|'.join(names)})\((?P<given>[^()]*)\)|(?P<alone>{'|'.join(alone)})\b)")


def _step(name: str, given: str) -> str:
    """A step with what it is given: variables as they are, anything else in brackets."""
    shown = given.replace("[", "").replace("]", "").replace("=", " = ")
    if not shown:
        return _kinds()[name]
    return f"{_kinds()[name]} ({shown})" if "=" in shown else f"{_kinds()[name]} {shown}"
