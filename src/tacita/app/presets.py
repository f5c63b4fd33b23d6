"""Policies that are ready made: those of the library by who gets the file, and the rules of Statistics Netherlands."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tacita import policy
from tacita.parameters import parameters_of
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
"""No record in a combination of up to three keys that fewer than five records share."""


class Preset(NamedTuple):
    """A ready-made policy."""

    title: str
    words: str
    """For which release, in one sentence."""
    policy: Policy


@cache
def presets() -> dict[str, Preset]:
    """All of them by name, the usual one first."""
    own = {name: Policy.preset(name) for name in policy.PRESETS}
    own["netherlands"] = Policy(k=None, risk=None, rate=None, limits=COMBINATIONS)
    ordered = sorted(own, key=lambda name: list(WORDS).index(name) if name in WORDS else len(WORDS))
    return {name: Preset(*WORDS.get(name, (name.title(), "")), own[name]) for name in ordered}


def differing(policy: Policy, preset: Policy) -> tuple[str, ...]:
    """The limits in which a policy differs from a preset."""
    names = [each.name for each in parameters_of(Policy)]
    return tuple(name for name in names if getattr(policy, name) != getattr(preset, name))
