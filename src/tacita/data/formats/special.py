"""The special missing values of Stata (.a to .z) and SAS (.A to .Z and ._) as codes.

A column of numbers has no room for letters, so each letter becomes one whole number, the same in every file:

    .a is -9000001, .b is -9000002, ..., .z is -9000026, ._ of SAS is -9000027.

The code is declared missing in the `Variable`, with the label of the letter or, if it has none, the letter itself.
So the letters stay apart from each other and from plain missing, and one of them can be declared not applicable.
Stata files and SAS transport files get the letters back; Stata has no ._.
"""

from __future__ import annotations

from tacita.arrays import Bools, Floats

LETTERS = "abcdefghijklmnopqrstuvwxyz_"
FIRST = -9_000_001
LAST = FIRST - len(LETTERS) + 1


def code_of(letter: str) -> int:
    """The code of a letter, upper or lower case.

    >>> code_of("a"), code_of("Z")
    (-9000001, -9000026)
    """
    return FIRST - LETTERS.index(letter.lower())


def letter_of(code: object) -> str | None:
    """The letter of a code, None for other values.

    >>> letter_of(-9000001), letter_of(1)
    ('a', None)
    """
    if not isinstance(code, int | float) or not LAST <= code <= FIRST or code != int(code):
        return None
    return LETTERS[FIRST - int(code)]


def among(values: Floats) -> Bools:
    """Where numbers lie among the codes of letters."""
    inside: Bools = (values >= LAST) & (values <= FIRST)
    return inside
