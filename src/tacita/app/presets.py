"""Policies that are ready made: which limits go with which kind of release."""

from __future__ import annotations

from typing import NamedTuple

from tacita.parameters import parameters_of
from tacita.policy import Policy


class Preset(NamedTuple):
    """A ready-made policy."""

    title: str
    words: str
    """For which release, in one sentence."""
    policy: Policy


PRESETS = {
    "default": Preset("Usual limits", "What Tacita takes unless told otherwise.", Policy()),
    "public": Preset(
        "Public-use file", "Anybody may have it: nobody is to stand out.", Policy(k=5, risk=0.05, rate=0.0005)
    ),
    "scientific": Preset(
        "Scientific-use file", "Researchers under contract have it.", Policy(k=3, risk=0.1, rate=0.001)
    ),
    "secure": Preset(
        "Secure use", "It stays in the safe centre, results are checked.", Policy(k=2, risk=0.5, rate=0.01)
    ),
    "netherlands": Preset(
        "Statistics Netherlands",
        "Every combination of up to three keys is common enough, by records alone.",
        Policy(
            k=None, risk=None, rate=None, limits={"unsafe_combinations": {"limit": 0, "threshold": 5, "largest": 3}}
        ),
    ),
}


def differing(policy: Policy, preset: Policy) -> tuple[str, ...]:
    """The limits in which a policy differs from a preset."""
    names = [each.name for each in parameters_of(Policy)]
    return tuple(name for name in names if getattr(policy, name) != getattr(preset, name))
