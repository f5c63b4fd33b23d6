"""What an intruder knows of the methods: the mechanisms of a release, by variable and in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism

SAYS_NOTHING = ("removal", "suppression", "sampling", "weights", "reordering", "renewal")
"""Kinds of mechanisms that change no value that is still shown."""
FACTORS = ("multiplicative", "two_sided")
"""Methods of noise that multiply."""


class KnownMechanisms(NamedTuple):
    """What was done to the values of one variable."""

    coded: bool
    """Whether values were recoded, rounded or cut off, which an intruder does to his own values alike."""
    exchanged: tuple[Mechanism, ...]
    """What put wrong values in place of right ones, in its order."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of what exchanged values; noise that multiplies is one of its own."""
        return tuple(_kind(each) for each in self.exchanged)


def _kind(mechanism: Mechanism) -> str:
    if mechanism.parameters.get("strata") and mechanism.kind != "transition":
        return f"{mechanism.kind} by strata"
    method = mechanism.parameters.get("method")
    if mechanism.kind == "noise" and (method in FACTORS or "covariance" not in mechanism.parameters):
        return "factors" if method in FACTORS else "noise of unknown size"
    return method if mechanism.kind == "swapping" and isinstance(method, str) else mechanism.kind


def known_of(mechanisms: Iterable[Mechanism], name: str) -> KnownMechanisms:
    """What the mechanisms say of one variable."""
    own = [each for each in mechanisms if name in each.variables and each.kind not in SAYS_NOTHING]
    return KnownMechanisms(any(not each.perturbs for each in own), tuple(each for each in own if each.perturbs))


def mechanisms_of(source: Any, released: Data) -> tuple[Mechanism, ...]:
    """The mechanisms that an intruder knows: those given, or those that the released data carry."""
    if source is None:
        return released.mechanisms
    if isinstance(source, str | Path):
        return _of_file(Path(source))
    if isinstance(getattr(source, "data", source), Data):
        return Data.of(source).mechanisms
    if isinstance(source, Sequence) and all(isinstance(each, Mechanism | Mapping) for each in source):
        return tuple(each if isinstance(each, Mechanism) else _of_mapping(each) for each in source)
    raise TacitaError(
        f"mechanisms must be a release, a list of mechanisms, or the log.json of a release; got a "
        f"{type(source).__name__}."
    )


def _of_file(path: Path) -> tuple[Mechanism, ...]:
    """The mechanisms in the log of a release."""
    wanted = f"{path.name} is no log of a release; give the log.json that it wrote."
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise TacitaError(f"{path.name} cannot be read: {reason}; check the path of mechanisms.") from None
    except ValueError:
        raise TacitaError(wanted) from None
    steps = document.get("steps", [document]) if isinstance(document, dict) else None
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise TacitaError(wanted)
    return tuple(_of_mapping(each) for step in steps for each in step.get("mechanisms", []))


def _of_mapping(given: Any) -> Mechanism:
    known = {"kind", "variables", "parameters", "perturbs"}
    if not isinstance(given, Mapping) or "kind" not in given or set(given) - known:
        raise TacitaError("a mechanism must have kind, variables, parameters and perturbs; check the file or the list.")
    return Mechanism(**{str(name): value for name, value in given.items()})
