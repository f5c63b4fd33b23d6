"""A rule as a text becomes a condition: `age < 15 implies marital = 1`.

A small grammar of its own and nothing else: a rule cannot call, look up or change anything.

    rule       = either ["implies" rule]
    either     = both {"or" both}
    both       = negation {"and" negation}
    negation   = "not" negation | relation
    relation   = sum {("=" | "!=" | "<" | "<=" | ">" | ">=") sum}
               | sum "is" ["not"] "missing" | sum ["not"] "in" "(" constant {"," constant} ")"
    sum        = product {("+" | "-") product}
    product    = factor {("*" | "/") factor}
    factor     = "-" factor | "abs" "(" sum ")" | "(" rule ")" | number | text | name
"""

from __future__ import annotations

from tacita.check import TacitaError
from tacita.rules.parts import (
    TERMS,
    Among,
    Both,
    Change,
    Column,
    Comparison,
    Condition,
    Missing,
    Not,
    Number,
    Part,
    Sum,
    Term,
    Text,
)
from tacita.rules.words import Word, rule_error, words

SIGNS = ("=", "!=", "<", "<=", ">", ">=")
DEEPEST = 30
LONGEST = 500
"""Words of a rule: the parts of a rule are worked through one inside the other, and Python's stack has an end."""


def parsed(rule: str) -> Condition:
    """The condition that a text says; an error tells where it cannot be read.

    >>> parsed("income >= 0")
    Comparison(sign='>=', left=Column(name='income', at=1), right=Number(value=0.0, at=11), at=8)
    """
    reader = Reader(rule)
    condition = reader.condition(reader.rule())
    reader.expect_end()
    return condition


class Reader:
    """Reads the words of one rule from left to right."""

    def __init__(self, rule: str) -> None:
        self.text, self.words, self.place, self.depth = rule, words(rule), 0, 0
        if len(self.words) > LONGEST:
            raise TacitaError(
                f"a rule must have at most {LONGEST} words; got {len(self.words):,}, split it into several."
            )

    @property
    def word(self) -> Word:
        """The next word."""
        return self.words[self.place]

    def take(self, *texts: str) -> Word | None:
        """The next word if it is one of these signs or reserved words."""
        word = self.word
        if word.kind not in ("sign", "reserved") or word.text not in texts:
            return None
        self.place += 1
        return word

    def needed(self, text: str) -> None:
        """The next word must be this one."""
        if self.take(text) is None:
            raise self.unexpected(f"write {text!r} there")

    def unexpected(self, way: str) -> Exception:
        """An error at the next word."""
        if self.word.kind == "end":
            return rule_error(self.text, "ends too early", self.word.at, way)
        return rule_error(self.text, f"has {self.word.text!r} in the wrong place", self.word.at, way)

    def expect_end(self) -> None:
        """Nothing is left."""
        if self.word.kind != "end":
            raise self.unexpected("join two conditions by and, or or implies")

    def rule(self) -> Part:
        """`... implies ...`: not the first, or the second."""
        left = self.either()
        word = self.take("implies")
        if word is None:
            return left
        return Both("or", Not(self.condition(left), word.at), self.condition(self.rule()), word.at)

    def either(self) -> Part:
        """Conditions with `or` between them."""
        left = self.both()
        while word := self.take("or"):
            left = Both("or", self.condition(left), self.condition(self.both()), word.at)
        return left

    def both(self) -> Part:
        """Conditions with `and` between them."""
        left = self.negation()
        while word := self.take("and"):
            left = Both("and", self.condition(left), self.condition(self.negation()), word.at)
        return left

    def negation(self) -> Part:
        """A condition that should not hold."""
        word = self.take("not")
        if word is None:
            return self.relation()
        self.deeper()
        found = Not(self.condition(self.negation()), word.at)
        self.depth -= 1
        return found

    def deeper(self) -> None:
        """One level further down."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise rule_error(
                self.text, f"goes more than {DEEPEST} levels deep", self.word.at, "split it into several rules"
            )

    def relation(self) -> Part:
        """Terms that are compared; `a < b < c` means a < b and b < c."""
        left = self.sum()
        if word := self.take("is"):
            opposite = self.take("not") is not None
            self.needed("missing")
            found: Condition = Missing(self.column(left, "is missing"), word.at)
            return Not(found, word.at) if opposite else found
        if word := self.take("in"):
            return self.among(left, word.at)
        if self.word.text == "not" and self.word.kind == "reserved":
            at = self.word.at
            self.place += 1
            self.needed("in")
            return Not(self.among(left, at), at)
        parts: list[Condition] = []
        while word := self.take(*SIGNS):
            right = self.sum()
            parts.append(self.comparison(word, left, right))
            left = right
        if not parts:
            return left
        chain = parts[0]
        for other in parts[1:]:
            chain = Both("and", chain, other, other.at)
        return chain

    def comparison(self, word: Word, left: Part, right: Part) -> Comparison:
        """Two terms; texts have no size."""
        texts = [part for part in (left, right) if isinstance(part, Text)]
        if texts and word.text not in ("=", "!="):
            raise rule_error(self.text, "compares the size of a text", texts[0].at, "use = and != for texts")
        if texts and not all(isinstance(part, Text | Column) for part in (left, right)):
            raise rule_error(
                self.text, "compares a text with a number", texts[0].at, "compare it with a variable, as in x = 'a'"
            )
        return Comparison(word.text, self.term(left), self.term(right), word.at)

    def among(self, left: Part, at: int) -> Among:
        """A list of constants in brackets."""
        column = self.column(left, "in")
        self.needed("(")
        values = [self.constant()]
        while self.take(","):
            values.append(self.constant())
        self.needed(")")
        return Among(column, tuple(values), at)

    def constant(self) -> Number | Text:
        """A number, perhaps negative, or a text."""
        value = self.factor()
        if not isinstance(value, Number | Text):
            raise rule_error(
                self.text, "lists something that is no constant", value.at, "list numbers and texts in quotes"
            )
        return value

    def sum(self) -> Part:
        """Terms that are added."""
        left = self.product()
        while word := self.take("+", "-"):
            left = Sum(word.text, self.number(left), self.number(self.product()), word.at)
        return left

    def product(self) -> Part:
        """Terms that are multiplied."""
        left = self.factor()
        while word := self.take("*", "/"):
            left = Sum(word.text, self.number(left), self.number(self.factor()), word.at)
        return left

    def factor(self) -> Part:
        """A number, a text, a name, or something in brackets."""
        self.deeper()
        found = self._factor()
        self.depth -= 1
        return found

    def _factor(self) -> Part:
        if word := self.take("-"):
            inner = self.number(self.factor())
            return Number(-inner.value, word.at) if isinstance(inner, Number) else Change("-", inner, word.at)
        if word := self.take("abs"):
            self.needed("(")
            inside = self.number(self.sum())
            self.needed(")")
            return Change("abs", inside, word.at)
        if self.take("("):
            part = self.rule()
            self.needed(")")
            return part
        word = self.word
        if word.kind not in ("number", "text", "name"):
            raise self.unexpected("write a name, a number or a text in quotes there")
        self.place += 1
        if word.kind == "number":
            return Number(float(word.text), word.at)
        if word.kind == "text":
            return Text(word.text, word.at)
        if self.word.kind == "name":
            raise rule_error(
                self.text, "has two names side by side", self.word.at, "put a name with blanks in `backquotes`"
            )
        return Column(word.text, word.at)

    def condition(self, part: Part) -> Condition:
        """What must hold or not, rather than have a value."""
        if isinstance(part, TERMS):
            raise rule_error(self.text, "has a value where a condition must be", part.at, "compare it, as in x > 0")
        return part

    def term(self, part: Part) -> Term:
        """What must have a value."""
        if not isinstance(part, TERMS):
            raise rule_error(self.text, "compares a condition", part.at, "join conditions by and, or or implies")
        return part

    def number(self, part: Part) -> Term:
        """What must be a number, as far as the rule tells."""
        if isinstance(part, Text):
            raise rule_error(self.text, "calculates with a text", part.at, "write numbers without quotes")
        if not isinstance(part, TERMS):
            raise rule_error(
                self.text, "calculates with a condition", part.at, "put brackets around what is added first"
            )
        return part

    def column(self, part: Part, word: str) -> Column:
        """What must be a variable."""
        if not isinstance(part, Column):
            raise rule_error(
                self.text, f"has {word!r} behind something that is no variable", part.at, "name a variable"
            )
        return part
