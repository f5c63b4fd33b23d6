"""Codes of a classification, cut from the right: NACE, ISCO, postcodes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tacita import check
from tacita.check import TacitaError
from tacita.protect.recode.hierarchies.base import Hierarchy, listed

SEPARATORS = ". -/"
"""Signs between the parts of a code, which a cut code does not end with."""


@dataclass(frozen=True)
class TruncationHierarchy(Hierarchy):
    """Codes of which fewer characters are kept at each level; a shorter code stays as it is."""

    kind: str = field(init=False, default="truncation")
    keep: tuple[int, ...]
    """How many characters are kept at level 1, 2, ...: fewer and fewer."""
    digits: int | None = field(default=None, kw_only=True)
    """The full length of codes that are numbers, whose leading zeros are lost."""

    def __post_init__(self) -> None:
        super().__post_init__()
        keep = tuple(check.whole("keep", each, 1) for each in listed(self.keep))
        if not keep or any(low >= high for high, low in itertools.pairwise(keep)):
            raise TacitaError(
                f"keep must be lengths that become shorter, as in [3, 2, 1]; got {check.given(list(keep))}."
            )
        object.__setattr__(self, "keep", keep)
        if self.digits is not None:
            object.__setattr__(self, "digits", check.whole("digits", self.digits, 1))

    @property
    def own_height(self) -> int:
        """One level per length."""
        return len(self.keep)

    def unknown(self, name: str, count: int) -> str:
        """What to say of values that are no codes."""
        return f"{name!r} has {check.counted(count, 'value')} that cannot be cut as codes; they must be text or whole."

    def own_labels(self, values: Sequence[Any], level: int) -> list[Any]:
        """The first characters of each code."""
        return [self._cut(value, self.keep[level - 1]) for value in values]

    def _cut(self, value: Any, length: int) -> str | None:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, str | int) or (isinstance(value, int) and value < 0):
            return None
        text = str(value).zfill(self.digits or 0) if isinstance(value, int) else value
        return text[:length].rstrip(SEPARATORS) or text[:length]
