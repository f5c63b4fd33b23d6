"""Names of variables that a file format refuses, and names that it takes instead.

A format that cuts or refuses a name does so one name at a time, or silently; here all of them are found before anything
is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tacita import check
from tacita.check import TacitaError

NO_ROOM: Mapping[str, int] = {}


@dataclass(frozen=True, kw_only=True)
class NameRule:
    """What a format takes for the name of a variable."""

    most: int
    """The longest name, in characters."""
    most_bytes: int
    """The longest name, in bytes of UTF-8."""
    signs: str
    """Signs allowed besides letters and digits."""
    first: str
    """Those of them that may stand first."""
    ascii: bool
    """Whether letters are a to z only."""
    any_case: bool
    """Whether names that differ in case only are the same."""
    reserved: str
    """A pattern of words that cannot be names."""
    description: str
    """The rule in words."""

    def fault(self, name: str, room: int = 0) -> str:
        """What is wrong with a name that must leave some room: 'sign', 'length', 'word', or nothing."""
        if not name or not self.allows(name[0], first=True) or not all(map(self.allows, name)):
            return "sign"
        if len(name) > self.most - room or len(name.encode()) > self.most_bytes - room:
            return "length"
        flags = re.IGNORECASE if self.any_case else 0
        return "word" if re.fullmatch(self.reserved, name, flags) else ""

    def allows(self, sign: str, first: bool = False) -> bool:
        """Whether a sign may stand in a name."""
        if sign in (self.first if first else self.signs):
            return True
        if not sign.isascii() and self.ascii:
            return False
        kind = unicodedata.category(sign)
        return sign.isalpha() if first else kind[0] in "LM" or kind == "Nd"

    def key(self, name: str) -> str:
        """What must differ between two names."""
        return name.upper().casefold() if self.any_case else name


SPSS = NameRule(
    most=64,
    most_bytes=64,
    signs="._$#@",
    # SPSS also takes @ in the first place, its writer does not.
    first="",
    ascii=False,
    any_case=True,
    reserved="ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH",
    description="letters, digits and . _ $ # @ with a letter first, at most 64 bytes long, whatever the case",
)
STATA = NameRule(
    most=32,
    most_bytes=128,
    signs="_",
    first="_",
    ascii=False,
    any_case=False,
    reserved="_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|str[0-9]+|strL|using|with",
    description="letters, digits and _ with no digit first, at most 32 characters long",
)
SAS = NameRule(
    most=32,
    most_bytes=32,
    signs="_",
    first="_",
    ascii=True,
    any_case=True,
    reserved="_N_|_ERROR_|_ALL_|_NUMERIC_|_CHARACTER_|_CHAR_|_INFILE_|_PAGE_|_IORC_",
    description="a to z, digits and _ with no digit first, at most 32 characters long, whatever the case",
)


def refused(names: Sequence[str], rule: NameRule, room: Mapping[str, int] = NO_ROOM) -> list[str]:
    """The names that a format does not take, in their order; of names that are the same to it, all but the first."""
    taken: set[str] = set()
    bad = []
    for name in names:
        if rule.fault(name, room.get(name, 0)) or rule.key(name) in taken:
            bad.append(name)
        else:
            taken.add(rule.key(name))
    return bad


def check_names(names: Sequence[str], rule: NameRule, file: str, room: Mapping[str, int] = NO_ROOM) -> None:
    """All names that a format refuses, in one sentence."""
    bad = refused(names, rule, room)
    if not bad:
        return
    listed = [repr(name) + _remark(name, names, rule, room.get(name, 0)) for name in bad]
    raise TacitaError(
        f"{file} cannot hold {check.counted(len(bad), 'name')}: {', '.join(listed)}; a name is {rule.description}; "
        "rename them or pass rename=True."
    )


def _remark(name: str, names: Sequence[str], rule: NameRule, room: int) -> str:
    """What is wrong with a name, where it cannot be seen."""
    fault = rule.fault(name, room)
    if fault == "word":
        return " (a reserved word)"
    if fault == "length" and room:
        return f" (at most {rule.most - room} with value labels)"
    if fault:
        return ""
    return f" (the same as {next(other for other in names if rule.key(other) == rule.key(name))!r})"


def accepted(names: Sequence[str], rule: NameRule, room: Mapping[str, int] = NO_ROOM) -> dict[str, str]:
    """A name that the format takes for each that it refuses; the same names give the same result.

    >>> accepted(["income (net)", "Age", "AGE", "with", "2024"], SPSS)
    {'income (net)': 'income__net_', 'AGE': 'AGE_2', 'with': 'with_', '2024': 'v2024'}
    """
    bad = refused(names, rule, room)
    taken = {rule.key(name) for name in names if name not in set(bad)}
    chosen: dict[str, str] = {}
    for name in bad:
        kept = room.get(name, 0)
        base = _cut(_nearest_allowed(name, rule), rule, kept)
        fresh, number = base, 1
        while rule.fault(fresh, kept) or rule.key(fresh) in taken:
            number += 1
            tail = "_" if rule.fault(fresh) == "word" else f"_{number}"
            fresh = _cut(base, rule, kept + len(tail)) + tail
        taken.add(rule.key(fresh))
        chosen[name] = fresh
    return chosen


def _nearest_allowed(name: str, rule: NameRule) -> str:
    """A name near the given one with allowed signs."""
    plain = unicodedata.normalize("NFKD", name) if rule.ascii else unicodedata.normalize("NFC", name)
    if rule.ascii:
        plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    kept = "".join(sign if rule.allows(sign) else "_" for sign in plain)
    return kept if kept and rule.allows(kept[0], first=True) else "v" + kept


def _cut(name: str, rule: NameRule, room: int) -> str:
    short = name[: rule.most - room]
    while len(short.encode()) > rule.most_bytes - room:
        short = short[:-1]
    return short
