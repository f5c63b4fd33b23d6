"""The words of a rule: numbers, texts, names, signs, each with its place."""

from __future__ import annotations

import re
from typing import NamedTuple

from tacita.check import TacitaError

RESERVED = ("implies", "and", "or", "not", "in", "is", "missing", "abs")

WORD = re.compile(
    r"""\s*(?:
        (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | `(?P<quoted>(?:[^`]|``)+)`
      | (?P<name>[^\W\d]\w*(?:\.\w+)*)
      | (?P<sign><=|>=|!=|<>|==|[-+*/=<>(),])
    )""",
    re.VERBOSE,
)


class Word(NamedTuple):
    """One word of a rule."""

    kind: str
    """number, text, name, sign, reserved, or end."""
    text: str
    """What it says: a name without backquotes, a text without quotes."""
    at: int
    """Its first character, counted from 1."""


def words(rule: str) -> list[Word]:
    """The words of a rule, an end behind them.

    >>> [word.text for word in words("`net income` >= 0.5 * wages")]
    ['net income', '>=', '0.5', '*', 'wages', '']
    """
    found, at = [], 0
    while rule[at:].strip():
        match = WORD.match(rule, at)
        if match is None:
            raise _unreadable(rule, at)
        kind = str(match.lastgroup)
        found.append(_word(kind, match[kind], match.start(kind) + 1))
        at = match.end()
    return [*found, Word("end", "", len(rule.rstrip()) + 1)]


def _word(kind: str, text: str, at: int) -> Word:
    if kind == "text":
        return Word("text", re.sub(r"\\(.)", r"\1", text[1:-1]), at)
    if kind == "quoted":
        return Word("name", text.replace("``", "`"), at - 1)
    if kind == "name" and text.lower() in RESERVED:
        return Word("reserved", text.lower(), at)
    return Word(kind, {"==": "=", "<>": "!="}.get(text, text), at)


def _unreadable(rule: str, at: int) -> TacitaError:
    at += len(rule[at:]) - len(rule[at:].lstrip())
    sign = rule[at]
    if sign in "'\"`":
        way = "close the quote"
    elif sign.isdigit():
        way = "write a number such as 12.5, and put a name that begins with a digit in `backquotes`"
    else:
        way = "put names with blanks or signs in `backquotes` and texts in 'quotes'"
    return rule_error(rule, f"has {sign!r} where no word can be read", at + 1, way)


def rule_error(rule: str, what: str, at: int, way: str) -> TacitaError:
    """An error about a rule: what is wrong, where, and the way out."""
    return TacitaError(f"the rule {rule!r} {what}, at character {at}; {way}.")


def name_word(name: str) -> str:
    """A name as a rule writes it: in backquotes if it has to be."""
    plain = re.fullmatch(r"[^\W\d]\w*(?:\.\w+)*", name) and name.lower() not in RESERVED
    return name if plain else "`" + name.replace("`", "``") + "`"


def text_word(text: str) -> str:
    """A text as a rule writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
