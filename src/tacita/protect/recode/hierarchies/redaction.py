"""Redaction: the value itself, or a star."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tacita.protect.recode.hierarchies.base import Hierarchy


@dataclass(frozen=True)
class RedactionHierarchy(Hierarchy):
    """The values, and above them the star."""

    kind: str = field(init=False, default="redaction")

    @property
    def own_height(self) -> int:
        """No level but the star."""
        return 0

    def own_labels(self, values: Sequence[Any], level: int) -> list[Any]:
        """The values themselves."""
        return list(values)
