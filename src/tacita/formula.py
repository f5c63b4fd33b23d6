"""Formulas of models: `~ region + sex*age + (region + sex + age)**2`, and of regressions `income ~ age + C(sex)`.

Four operators over column names are all that such models need, so they are read here, in a hundred lines, rather than
by a formula library that would also evaluate code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tacita import check
from tacita.check import TacitaError

Term = frozenset[str]
"""The variables of an effect: one for a main effect, two or more for an interaction."""
Model = frozenset[Term]
"""All effects of a model but the constant, which is always there."""

_TOKEN = re.compile(r"\s*(?:`(?P<quoted>[^`]+)`|(?P<name>[^\W\d][\w.]*)|(?P<number>\d+)|(?P<sign>\*\*|[-+:*^()]))")
_NAME = re.compile(r"[^\W\d][\w.]*")
HOW = "write it like '~ region + sex*age + region:sex', odd names in `backticks`"


def parse(formula: str) -> list[Term]:
    """The effects that a formula names, in its order, the constant left out.

    `a:b` is the interaction, `a*b` is `a + b + a:b`, `(a + b + c)**2` all main effects and interactions of two (`^` is
    read as `**`). `:` binds stronger than `*`, `*` stronger than `+`.

    >>> [sorted(term) for term in parse("~ sex*age + `year of birth`")]
    [['sex'], ['age'], ['age', 'sex'], ['year of birth']]
    """
    if not isinstance(formula, str):
        raise TacitaError(f"formula must be a text; got {check.given(formula)}, {HOW}.")
    text = formula.strip()
    reader = _Reader(formula, _tokens(formula, text.removeprefix("~")))
    terms = reader.sum()
    if reader.next is not None:
        raise TacitaError(f"formula {formula!r} ends too early at {reader.next[1]!r}; {HOW}.")
    named = [term for term in terms if term]
    if not named:
        raise TacitaError(f"formula {formula!r} names no variable; {HOW}.")
    return named


def _tokens(formula: str, text: str) -> list[tuple[str, str]]:
    tokens, place = [], 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise TacitaError(f"formula {formula!r} cannot be read from {text[place:].strip()!r} on; {HOW}.")
        kind = str(match.lastgroup)
        tokens.append(("name" if kind == "quoted" else kind, match.group(kind)))
        place = match.end()
    return tokens


class _Reader:
    """One pass over the signs of a formula; lists of effects without doubles, the empty effect for the constant."""

    def __init__(self, formula: str, tokens: list[tuple[str, str]]):
        self.formula, self.tokens, self.place = formula, tokens, 0

    @property
    def next(self) -> tuple[str, str] | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def accept(self, *signs: str) -> bool:
        if self.next is not None and self.next[0] == "sign" and self.next[1] in signs:
            self.place += 1
            return True
        return False

    def sum(self) -> list[Term]:
        terms = self.product()
        while self.accept("+"):
            terms = _together(terms, self.product())
        if self.accept("-"):
            raise TacitaError(f"formula {self.formula!r} takes something away; name only what the model has.")
        return terms

    def product(self) -> list[Term]:
        terms = self.interaction()
        while self.accept("*"):
            other = self.interaction()
            terms = _together(terms, other, _crossed(terms, other))
        return terms

    def interaction(self) -> list[Term]:
        terms = self.power()
        while self.accept(":"):
            terms = _crossed(terms, self.power())
        return terms

    def power(self) -> list[Term]:
        base = terms = self.atom()
        if self.accept("**", "^"):
            kind, number = self.next or ("", "nothing")
            if kind != "number" or int(number) < 1:
                raise TacitaError(f"formula {self.formula!r} has {number!r} as a power; it must be a whole number.")
            self.place += 1
            for _ in range(min(int(number), len(base)) - 1):
                terms = _together(terms, _crossed(terms, base))
        return terms

    def atom(self) -> list[Term]:
        kind, text = self.next or ("", "its end")
        if self.accept("("):
            terms = self.sum()
            if not self.accept(")"):
                raise TacitaError(f"formula {self.formula!r} has a bracket that does not close; {HOW}.")
            return terms
        if kind == "name" or (kind, text) == ("number", "1"):
            self.place += 1
            return [frozenset([text]) if kind == "name" else frozenset()]
        if (kind, text) == ("number", "0"):
            raise TacitaError(
                f"formula {self.formula!r} leaves out the constant; the model always has one, drop the 0."
            )
        raise TacitaError(f"formula {self.formula!r} has {text!r} where a variable should be; {HOW}.")


def _together(*lists: list[Term]) -> list[Term]:
    return list(dict.fromkeys(term for terms in lists for term in terms))


def _crossed(left: list[Term], right: list[Term]) -> list[Term]:
    return _together([one | other for one in left for other in right])


def shown_term(term: Term, names: Sequence[str]) -> str:
    """One effect as text."""
    members = sorted(term, key=names.index)
    return ":".join(name if _NAME.fullmatch(name) else f"`{name}`" for name in members)


class Regression(NamedTuple):
    """A regression as its formula names it."""

    response: str
    """The variable on the left."""
    terms: tuple[Term, ...]
    """The effects on the right, in their order, without the constant."""
    categorical: frozenset[str]
    """Variables that are written C(...): categories, whatever their values."""
    constant: bool
    """Whether there is a constant; `- 1` and `0 +` leave it out."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, the response first, each once."""
        listed = (name for term in self.terms for name in sorted(term))
        return tuple(dict.fromkeys([self.response, *listed]))


REGRESSION = "write it like 'income ~ age + C(sex) + age:region', odd names in `backticks`"


def parse_regression(formula: str) -> Regression:
    """The regression that a formula names: `y ~ a + C(b) + a:b`, with the operators of `parse`.

    >>> found = parse_regression("income ~ 0 + age*C(sex)")
    >>> found.response, [sorted(term) for term in found.terms], sorted(found.categorical), found.constant
    ('income', [['age'], ['sex'], ['age', 'sex']], ['sex'], False)
    """
    if not isinstance(formula, str):
        raise TacitaError(f"formula must be a text; got {check.given(formula)}, {REGRESSION}.")
    left, tilde, right = _sides(formula)
    response = _tokens(formula, left) if tilde else []
    if len(response) != 1 or response[0][0] != "name":
        raise TacitaError(f"formula {formula!r} must have one variable before its '~'; {REGRESSION}.")
    tokens, constant = _constant_apart(_tokens(formula, right))
    reader = _RegressionReader(formula, tokens)
    terms = reader.sum() if tokens else []
    if reader.next is not None:
        raise TacitaError(f"formula {formula!r} ends too early at {reader.next[1]!r}; {REGRESSION}.")
    named = tuple(term for term in terms if term)
    name = response[0][1]
    if any(name in term for term in named):
        raise TacitaError(f"formula {formula!r} explains {name!r} by itself; take it out on the right.")
    if not named and not constant:
        raise TacitaError(f"formula {formula!r} names no variable and no constant; {REGRESSION}.")
    return Regression(name, named, frozenset(reader.categorical), constant)


def _sides(formula: str) -> tuple[str, str, str]:
    """What stands left and right of the first tilde that is in no backticks."""
    quoted = False
    for place, sign in enumerate(formula):
        quoted ^= sign == "`"
        if sign == "~" and not quoted:
            return formula[:place], "~", formula[place + 1 :]
    return formula, "", ""


def _constant_apart(tokens: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], bool]:
    """The signs of the right side without `0 +`, `+ 0` or `- 1`, and whether there is a constant."""
    zero = ("number", "0")
    if tokens[:2] == [zero, ("sign", "+")]:
        return tokens[2:], False
    if tokens[-2:] in ([("sign", "-"), ("number", "1")], [("sign", "+"), zero]):
        return tokens[:-2], False
    return ([], False) if tokens == [zero] else (tokens, True)


class _RegressionReader(_Reader):
    """The same with C(name) for a variable whose values are categories."""

    def __init__(self, formula: str, tokens: list[tuple[str, str]]):
        super().__init__(formula, tokens)
        self.categorical: set[str] = set()

    def atom(self) -> list[Term]:
        kinds = self.tokens[self.place : self.place + 4]
        if kinds[:2] != [("name", "C"), ("sign", "(")]:
            return super().atom()
        if len(kinds) < 4 or kinds[2][0] != "name" or kinds[3] != ("sign", ")"):
            raise TacitaError(f"formula {self.formula!r} must have one variable in C(...); {REGRESSION}.")
        self.place += 4
        self.categorical.add(kinds[2][1])
        return [frozenset([kinds[2][1]])]
