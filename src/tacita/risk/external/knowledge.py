"""What an intruder who knows the methods makes of two files: a column of costs, or normal errors, for each variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.check import TacitaError
from tacita.mechanism import Mechanism
from tacita.risk.external import number_costs
from tacita.risk.external.categories import as_coded, categories_of, numbers_of, own_records, unless_missing
from tacita.risk.external.columns import Column, equal
from tacita.risk.external.error_model import Numbers, errors_of, logarithms, plain_numbers
from tacita.risk.external.known_mechanisms import KnownMechanisms, known_of
from tacita.risk.external.number_costs import Errors, shares_as_costs
from tacita.risk.external.transition_costs import transition_costs
from tacita.risk.linkage.files import Files

WITH_ERRORS = frozenset(("noise", "microaggregation"))
"""Kinds of mechanisms that leave numbers with errors whose variance is known."""
CODED = "coded alike"
MEASURED = "measured on the two files"


class Variable(NamedTuple):
    """What is known of one variable, or of several that changed together."""

    names: tuple[str, ...]
    method: str
    """How the intruder takes the values to have been changed, in a few words."""
    column: Column | None = None
    numbers: Numbers | None = None
    """In place of a column."""
    last_only: bool = False
    """Whether several methods could not be taken together."""


class Knowledge(NamedTuple):
    """What the intruder goes by."""

    variables: tuple[Variable, ...]
    errors: Errors | None
    """Numbers with normal errors; None: there are none."""

    @property
    def columns(self) -> list[Column]:
        """The columns of the other variables, and of the signs of numbers that were multiplied."""
        return [each.column for each in self.variables if each.column is not None]

    @property
    def coded(self) -> frozenset[str]:
        """Variables whose values stayed or were at most coded."""
        return frozenset(name for each in self.variables if each.method == CODED for name in each.names)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What could not be taken into account."""
        said = []
        last = [name for each in self.variables if each.last_only for name in each.names]
        if last:
            said.append(
                f"{check.quoted(last)} changed by several methods that cannot be taken together: the intruder goes by "
                f"the last of them."
            )
        measured = [name for each in self.variables if MEASURED in each.method for name in each.names]
        if measured:
            said.append(
                f"no method says how likely the released values of {check.quoted(measured)} are: the intruder goes by "
                f"how many were changed, or how far, {MEASURED}."
            )
        return tuple(said)


def knowledge_of(files: Files, mechanisms: Sequence[Mechanism]) -> Knowledge:
    """What the mechanisms say of each variable that is compared."""
    found: list[Variable] = []
    for name in files.names:
        if not any(name in each.names for each in found):
            found.append(_variable(files, name, mechanisms))
    numbers = [each.numbers for each in found if each.numbers is not None]
    errors = errors_of(numbers, mechanisms, own_records(files)) if numbers else None
    return Knowledge(tuple(found), errors)


def _variable(files: Files, name: str, mechanisms: Sequence[Mechanism]) -> Variable:
    known = known_of(mechanisms, name)
    changed = bool(known.exchanged) or name in files.released.perturbed
    several = not (set(known.kinds) <= WITH_ERRORS or set(known.kinds) in ({"factors"}, {"transition"}))
    last_only = len(known.exchanged) > 1 and several
    if last_only:
        known = known._replace(exchanged=known.exchanged[-1:])
    numeric = "transition" not in known.kinds and is_numeric(files, name)
    found = (_number if numeric else _category)(files, name, known, changed)
    return found._replace(last_only=last_only or found.last_only)


def is_numeric(files: Files, name: str) -> bool:
    """Whether a variable holds numbers in both files."""
    if files.original.scale(name) != "numeric":
        return False
    try:
        numbers_of(files, name)
    except TacitaError:
        if files.released.scale(name) == "numeric":
            raise
        return False  # recoded to classes
    return True


def _category(files: Files, name: str, known: KnownMechanisms, changed: bool) -> Variable:
    if known.kinds and set(known.kinds) == {"transition"}:
        together = known.exchanged[-1].variables
        own = tuple(each for each in known.exchanged if each.variables == together)
        published = all({"matrix", "categories"} <= set(each.parameters) for each in own)
        if published and set(together) <= set(files.names):
            column = transition_costs(files, together, own, known.coded)
            return Variable(together, "a known matrix", column, last_only=len(own) < len(known.exchanged))
    given = categories_of(files, name)
    if not changed:
        return Variable((name,), CODED, as_coded(given))
    rate, method = _rate(known, 1.0 - given.kept())
    becomes = given.becomes(coded=False)[given.x]
    code = unless_missing(np.where(becomes > 0, becomes, len(given.y_texts) + 1), given.x)
    column = equal(given.y.astype(np.float64), code, *shares_as_costs(rate, len(given.y_texts)))
    return Variable((name,), method, column)


def _rate(known: KnownMechanisms, changed: float) -> tuple[float, str]:
    """The share of values that were exchanged, known or measured."""
    last = known.exchanged[-1].parameters if known.exchanged else {}
    if known.kinds[-1:] == ("random swapping",) and not last.get("only") and "rate" in last:
        return float(last["rate"]), "a known share exchanged"
    return changed, f"a share exchanged, {MEASURED}"


def _number(files: Files, name: str, known: KnownMechanisms, changed: bool) -> Variable:
    x, y = numbers_of(files, name)
    own, kinds = own_records(files), set(known.kinds)
    coded = None if changed else number_costs.as_coded(x, y, own)
    if coded is not None:
        return Variable((name,), CODED, coded)
    if kinds == {"random swapping"}:
        different = float(np.mean(x[own[0]] != y[own[1]])) if len(own[0]) else 0.0
        rate, method = _rate(known, different)
        return Variable((name,), method, number_costs.exchanged_at_random(x, y, rate))
    window = _window(name, known)
    if window is not None:
        return Variable((name,), "a known window of ranks", number_costs.in_window(x, y, window))
    if kinds == {"factors"}:
        signs = (np.sign(x), np.where(y == 0, np.nan, np.sign(y)))
        column = number_costs.in_range(*signs, signs[0], signs[0])
        return Variable((name,), "known factors", column, logarithms(name, x, y, known))
    measured = not kinds or not kinds <= WITH_ERRORS
    method = f"errors, {MEASURED}" if measured else "known errors"
    return Variable((name,), method, numbers=plain_numbers(name, x, y, known, measured))


def _window(name: str, known: KnownMechanisms) -> int | None:
    """How many ranks a number moved at most, if that is known of all records."""
    if known.kinds != ("rank swapping",) or known.exchanged[0].parameters.get("only"):
        return None
    found = known.exchanged[0].parameters.get("found", {}).get(name, {}).get("window")
    return None if found is None else int(found)
