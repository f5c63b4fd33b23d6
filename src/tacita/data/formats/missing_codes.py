"""Missing codes as SPSS takes them: three single codes, or one range and one code."""

from __future__ import annotations

from typing import Any

from tacita.arrays import Floats
from tacita.data.variable import Variable, among_codes

Piece = tuple[float, float]


def for_spss(known: Variable, values: Floats) -> list[Any] | None:
    """The missing codes of a variable of numbers, drawn together to a range where they are too many; None if that
    range would cover a value or a labelled code that is not missing.

    >>> import numpy as np
    >>> for_spss(Variable(missing=(-9, -8, -7, -6)), np.array([-8.0, 1.0]))
    [{'lo': -9.0, 'hi': -6.0}]
    """
    ranges = [(float(low), float(high)) for low, high in known.missing_ranges]
    codes = [float(code) for code in dict.fromkeys(known.missing) if isinstance(code, int | float)]
    singles = [(code, code) for code in codes if not any(low <= code <= high for low, high in ranges)]
    if (not ranges and len(singles) <= 3) or (len(ranges) == 1 and len(singles) <= 1):
        return _as_pyreadstat([*ranges, *singles])
    pieces = sorted({*ranges, *singles})
    labelled = [code for code in known.value_labels if isinstance(code, int | float) and not known.is_missing(code)]
    valid = values[~among_codes(values, codes, ranges)]
    for alone in ((), pieces[:1], pieces[-1:]):
        rest = [piece for piece in pieces if piece not in alone]
        low, high = rest[0][0], max(piece[1] for piece in rest)
        covers = ((valid >= low) & (valid <= high)).any() or any(low <= code <= high for code in labelled)
        if not covers and all(piece in singles for piece in alone):
            return _as_pyreadstat([*alone, (low, high)])
    return None


def _as_pyreadstat(pieces: list[Piece]) -> list[Any]:
    return [low if low == high else {"lo": low, "hi": high} for low, high in pieces]
