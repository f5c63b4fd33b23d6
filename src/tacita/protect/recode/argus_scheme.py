"""Recoding schemes of mu-ARGUS: small texts (.grc files) that say which old codes become which new one.

    1: -20              old codes up to 20
    2: 21-30            from 21 to 30, both included
    3: 31-40, 45, 48    several ranges and codes
    4: 61-              from 61 on
    <MISSING> 98 99     the new codes for missing values
    <CODELIST> Age.cdl  a file with the labels of the new codes, `code, label` on each line

Codes with blanks, commas, colons or hyphens stand in double quotes. Ranges of numbers go by size; codes of letters go
by length, then letter by letter, as mu-ARGUS sorts them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tacita.check import TacitaError

CODE = r'(?:"[^"]*"|[^\s",:<>-][^\s",:-]*)'
TARGET = re.compile(rf"\s*({CODE})\s*:(.*)")
ITEM = re.compile(rf"({CODE})?\s*(-)?\s*({CODE})?")
DIRECTIVE = re.compile(r"\s*<(\w*)>(.*)")


class Range(NamedTuple):
    """Old codes that become one new code."""

    line: int
    """The line of the scheme."""
    low: str | None
    """The first of them; None: there is no lower end."""
    high: str | None
    """The last of them; None: there is no upper end."""
    target: str
    """The new code."""


class Scheme(NamedTuple):
    """A scheme that was read."""

    ranges: tuple[Range, ...]
    missing: tuple[str, ...]
    """The new codes for missing values, if it names any."""
    codelist: tuple[int, str] | None
    """The line and the file of the labels of the new codes, if it names one."""

    @property
    def numeric(self) -> bool:
        """Whether all old codes are numbers."""
        ends = [end for each in self.ranges for end in (each.low, each.high) if end is not None]
        return all(_number(end) is not None for end in ends)


def parse_scheme(text: str) -> Scheme:
    """The scheme of a text; an error names the line.

    >>> parse_scheme("1: -20\\n2: 21-").ranges[0]
    Range(line=1, low=None, high='20', target='1')
    """
    ranges: list[Range] = []
    missing: tuple[str, ...] = ()
    codelist = None
    for number, line in enumerate(text.splitlines(), start=1):
        directive = DIRECTIVE.fullmatch(line)
        if directive:
            name, rest = directive[1].upper(), directive[2].strip()
            if name not in ("MISSING", "CODELIST") or not rest:
                raise TacitaError(
                    f"line {number} of the scheme must be <MISSING> with codes or <CODELIST> with a file; got {line!r}."
                )
            if name == "MISSING":
                missing = tuple(_bare(code) for code in re.findall(r'"[^"]*"|[^\s,]+', rest))
            else:
                codelist = (number, _bare(rest))
        elif line.strip():
            ranges += _ranges(number, line)
    if not ranges:
        raise TacitaError("the scheme has no lines; write new code, colon, old codes on each, as in 1:1-10.")
    scheme = Scheme(tuple(ranges), missing, codelist)
    _sorted_ranges(scheme, scheme.numeric)
    return scheme


def _ranges(number: int, line: str) -> list[Range]:
    found = TARGET.fullmatch(line)
    if not found:
        raise TacitaError(
            f"line {number} of the scheme must begin with a new code and a colon, as in 1:1-10; got {line!r}."
        )
    items = re.findall(r'(?:"[^"]*"|[^,"])+', found[2]) or [""]
    if found[2].rstrip().endswith(",") or ",," in found[2].replace(" ", ""):
        items.append("")
    return [_range(number, item.strip(), _bare(found[1])) for item in items]


def _range(number: int, item: str, target: str) -> Range:
    match = ITEM.fullmatch(item)
    if not match or not (match[1] or match[3]) or (match[1] and match[3] and not match[2]):
        raise TacitaError(
            f"line {number} of the scheme must list old codes or ranges such as 5, 8-10, -4 or 21-; got {item!r}."
        )
    low, high = (_bare(code) if code else None for code in (match[1], match[3]))
    return Range(number, low, high if match[2] else low, target)


def _bare(code: str) -> str:
    """A code without its quotes."""
    return code[1:-1] if len(code) > 1 and code[0] == code[-1] == '"' else code.strip()


def _number(code: str) -> int | float | None:
    for kind in (int, float):
        try:
            number = kind(code)
        except ValueError:
            continue
        return number if math.isfinite(number) else None
    return None


def _place(code: Any, numeric: bool) -> Any:
    """What codes are sorted by."""
    return code if numeric else (len(code), code)


def _sorted_ranges(scheme: Scheme, numeric: bool) -> list[tuple[Any, Any, Range]]:
    """Lowest place, highest place and range, ascending; an error if two of them have a code in common."""
    ends: tuple[Any, Any] = (-math.inf, math.inf) if numeric else ((-1, ""), (math.inf, ""))
    found = []
    for each in scheme.ranges:
        given = [None if end is None else _number(end) if numeric else end for end in (each.low, each.high)]
        low, high = (end if code is None else _place(code, numeric) for code, end in zip(given, ends, strict=True))
        if low > high:
            raise TacitaError(f"line {each.line} of the scheme has a range that ends before it begins; turn it round.")
        found.append((low, high, each))
    found.sort(key=lambda each: (each[0], each[1]))
    for one, other in pairwise(found):
        if one[1] >= other[0]:
            first, second = sorted((one[2].line, other[2].line))
            if first == second:
                raise TacitaError(f"line {first} of the scheme names a code twice; name it once.")
            raise TacitaError(
                f"lines {first} and {second} of the scheme have a code in common; a code can become only one."
            )
    return found


def scheme_places(scheme: Scheme, values: Sequence[Any], name: str, *, numeric: bool) -> list[Range | None]:
    """For each value the range that it is in, None if it is in none; values are numbers, or texts.

    >>> scheme = parse_scheme("1: 1-10\\n2: 11-")
    >>> [found and found.target for found in scheme_places(scheme, [10, 10.5, 99], "age", numeric=True)]
    ['1', None, '2']
    """
    if numeric and not scheme.numeric:
        raise TacitaError(f"the scheme has codes that are no numbers, but {name!r} holds numbers; correct the scheme.")
    ranges = _sorted_ranges(scheme, numeric)
    lows = [low for low, _, _ in ranges]
    found: list[Range | None] = []
    for value in values:
        place = _place(value, numeric)
        at = bisect_right(lows, place) - 1
        found.append(ranges[at][2] if at >= 0 and place <= ranges[at][1] else None)
    return found


def load_scheme(path: Path) -> tuple[str, dict[str, str]]:
    """The text of a .grc file without its code list, and the labels of the new codes in that list."""
    text = _text(path, "the scheme")
    codelist = parse_scheme(text).codelist
    if codelist is None:
        return text, {}
    number, name = codelist
    # Names in old files have the slashes of Windows.
    beside = path.parent / name.replace("\\", "/")
    labels = {}
    for place, line in enumerate(_text(beside, "the code list").splitlines(), start=1):
        code, comma, label = line.partition(",")
        if line.strip() and not comma:
            raise TacitaError(f"line {place} of {beside.name} must be a code, a comma and a label; correct it.")
        if line.strip():
            labels[_bare(code.strip())] = _bare(label.strip())
    lines = text.splitlines()
    lines[number - 1] = ""
    return "\n".join(lines), labels


def _text(path: Path, what: str) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise TacitaError(f"{path.name} cannot be read: {reason}; check the path of {what}.") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        # mu-ARGUS is older than UTF-8 on Windows.
        return raw.decode("cp1252", errors="replace")


def whole_codes(codes: Sequence[str]) -> list[int] | None:
    """Codes as whole numbers, if all of them are and none would lose a leading zero.

    >>> whole_codes(["1", "20"]), whole_codes(["1", "02"])
    ([1, 20], None)
    """
    numbers = [_number(code) for code in codes]
    plain = [
        number for number, code in zip(numbers, codes, strict=True) if isinstance(number, int) and str(number) == code
    ]
    return plain if len(plain) == len(codes) else None
