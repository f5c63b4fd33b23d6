"""Policies that are ready made: those of the library by who gets the file, and the rules of Statistics Netherlands."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tacita import policy
from tacita.parameters import Parameter, parameters_of
from tacita.policy import Policy

USUAL = "scientific use"
"""The preset that a file begins with: the limits that Tacita takes unless told otherwise."""
WORDS = {
    "scientific use": ("Scientific-use file", "Researchers under contract have it; the usual limits."),
    "public use": ("Public-use file", "Anybody may have it: nobody is to stand out."),
    "secure use": ("Secure use", "It stays in the safe centre, and results are checked."),
    "netherlands": ("Statistics Netherlands", "Every combination of up to three keys is common enough in the file."),
}
COMBINATIONS = {"unsafe_combinations": {"limit": 0, "threshold": 5, "largest": 3}}
COMBINATIONS_WORDS = "No record in a combination of up to three keys that fewer than five records share."


class Preset(NamedTuple):
    """A ready-made policy."""

    title: str
    words: str
    """For which release, in one sentence."""
    policy: Policy
    limits: str
    """What it asks."""


@cache
def presets() -> dict[str, Preset]:
    """All of them by name, the usual one first."""
    own = {name: Policy.preset(name) for name in policy.PRESETS}
    own["netherlands"] = Policy(k=None, risk=None, rate=None, limits=COMBINATIONS)
    ordered = sorted(own, key=lambda name: list(WORDS).index(name) if name in WORDS else len(WORDS))
    asked = {name: str(own[name]) for name in ordered} | {"netherlands": COMBINATIONS_WORDS}
    return {name: Preset(*WORDS.get(name, (name.title(), "")), own[name], asked[name]) for name in ordered}


def differing(policy: Policy, preset: Policy) -> tuple[str, ...]:
    """The limits in which a policy differs from a preset."""
    return tuple(each.name for each in limits() if getattr(policy, each.name) != getattr(preset, each.name))


def limits() -> tuple[Parameter, ...]:
    """The fields of a policy that are limits: all but why some are exceptions."""
    return tuple(each for each in parameters_of(Policy) if each.name != "exceptions")
