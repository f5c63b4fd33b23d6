"""How steps and measures refuse: in one sentence that quotes no cell of the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tacita.check import TacitaError

T = TypeVar("T")

CANARY_TEXT = "zq-canary"
"""A text that stands in cells only: whatever shows it shows a cell."""
CANARY_NUMBER = 918273.64
CANARY_WHOLE = 918273
CANARY_WEIGHT = 31.918273
"""Numbers that stand in cells only; each has the digits 91827, however it is rounded."""


def shows_a_cell(text: str) -> bool:
    """Whether a canary stands in a text, in whatever way numbers are rounded and grouped."""
    return CANARY_TEXT in text or "91827" in text.replace(",", "").replace("_", "")


def unless_refused(who: str, call: Callable[[], T]) -> T | None:
    """What a call gives; None where it refuses as it should, an AssertionError where it refuses in another way."""
    try:
        return call()
    except TacitaError as error:
        text = str(error)
        if not text.endswith((".", "?")) or "\n" in text:
            raise AssertionError(f"{who} refuses in something else than a sentence") from None
        if shows_a_cell(text) or (error.__context__ is not None and not error.__suppress_context__):
            raise AssertionError(f"{who} shows a cell of the data when it refuses") from None
        return None


def refused(who: str, call: Callable[[], object], what: str) -> None:
    """An AssertionError unless a call is refused in one sentence."""
    try:
        found = unless_refused(who, call)
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{who} gives {type(error).__name__} in place of a sentence for {what}") from error
    if found is not None:
        raise AssertionError(f"{who} accepts {what}")
