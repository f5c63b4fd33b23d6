"""What is known of one variable besides its values: label, codes, scale; and what follows for its codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tacita import check
from tacita.arrays import Bools, Codes, Floats
from tacita.check import TacitaError
from tacita.frame import Coded

Scale = Literal["nominal", "ordinal", "numeric"]
SCALES = ("nominal", "ordinal", "numeric")
FEW_VALUES = 20
"""Whole numbers with at most this many different values are taken for codes of categories."""


@dataclass(frozen=True, kw_only=True)
class Variable:
    """What is known of one variable besides its values."""

    label: str = ""
    """What the variable means."""
    value_labels: Mapping[Any, str] = field(default_factory=dict)
    """What its codes mean."""
    missing: tuple[Any, ...] = ()
    """Codes that stand for a missing value. They stay in the data, and measures take them for missing, except in keys:
    whoever reads the file sees them, so there each is a category."""
    missing_ranges: tuple[tuple[float, float], ...] = ()
    """Ranges of codes that stand for a missing value, both ends included, such as (-99, -1) or (-inf, -1)."""
    not_applicable: tuple[Any, ...] = ()
    """Codes of those to whom the question does not apply: a category under every missing-value rule.
    The empty text stands for a blank."""
    scale: Scale | None = None
    """nominal, ordinal or numeric; None: to be inferred from the values."""
    order: tuple[Any, ...] = ()
    """The categories of an ordinal variable in ascending order, where sorting them by value would not do."""
    perturbed: bool = False
    """Whether a protection step exchanged values for wrong ones, so that counts of equal values mean little."""

    def __post_init__(self) -> None:
        if self.scale is not None:
            check.one_of("scale", self.scale, SCALES)
        object.__setattr__(self, "order", check.python_list("order", self.order))
        if self.order and self.scale not in (None, "ordinal"):
            raise TacitaError(f"order is for ordinal variables; got it with scale {self.scale!r}.")
        object.__setattr__(self, "missing_ranges", _ranges(self.missing_ranges))

    def over(self, known: Variable) -> Variable:
        """What this says, and of everything that it does not say what `known` says.

        >>> Variable(scale="nominal").over(Variable(label="Region", scale="numeric"))
        Variable(label='Region', value_labels={}, missing=(), missing_ranges=(), not_applicable=(), scale='nominal', \
order=(), perturbed=False)
        """
        usual = Variable()
        names = [each.name for each in fields(self)]
        said = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(usual, name)}
        if said.get("scale", "ordinal") != "ordinal":
            # Categories in no order have none.
            said.setdefault("order", ())
        return replace(known, **said)

    def is_missing(self, value: Any) -> bool:
        """Whether a value is a code that stands for a missing one."""
        return value in self.missing or any(
            low <= value <= high for low, high in self.missing_ranges if isinstance(value, int | float | Decimal)
        )


def _ranges(given: Any) -> tuple[tuple[float, float], ...]:
    try:
        ranges = tuple((low, high) for low, high in given)
        if all(not isinstance(end, bool | str) and low <= high for low, high in ranges for end in (low, high)):
            return ranges
    except (TypeError, ValueError):
        pass
    raise TacitaError(
        f"missing_ranges must be pairs of a lowest and a highest code, as ((-99, -1),); got {check.given(given)}."
    )


NOTHING_KNOWN = Variable()
"""What is known of a variable of which nothing was said."""


def among_codes(values: Floats, codes: Iterable[Any], ranges: Iterable[tuple[float, float]]) -> Bools:
    """Where numbers are one of some codes or lie in one of some ranges; codes that are no numbers do not matter."""
    numbers = [float(code) if isinstance(code, Decimal) else code for code in codes]
    numeric = [code for code in numbers if isinstance(code, int | float)]
    found: Bools = np.isin(values, numeric) if numeric else np.zeros(len(values), dtype=np.bool_)
    for low, high in ranges:
        found |= (values >= low) & (values <= high)
    return found


def compacted(codes: NDArray[Any], values: tuple[Any, ...]) -> Coded:
    """Codes without the ones that no longer stand for a category."""
    kept = np.unique(codes[codes > 0])
    lookup = np.zeros(len(values) + 1, dtype=np.uint32)
    lookup[kept] = np.arange(1, len(kept) + 1, dtype=np.uint32)
    return Coded(lookup[codes], tuple(values[c - 1] for c in kept))


def in_order(name: str, codes: Codes, values: tuple[Any, ...], order: tuple[Any, ...]) -> Coded:
    """Codes that follow the declared order of the categories."""
    place = {value: at for at, value in enumerate(order)}
    unknown = sum(value not in place for value in values)
    if unknown:
        raise TacitaError(f"column {name!r} has {check.counted(unknown, 'value')} not in its order; add them there.")
    ranked = sorted(range(len(values)), key=lambda at: place[values[at]])
    lookup = np.zeros(len(values) + 1, dtype=np.uint32)
    lookup[[at + 1 for at in ranked]] = np.arange(1, len(values) + 1, dtype=np.uint32)
    return Coded(lookup[codes], tuple(values[at] for at in ranked))
