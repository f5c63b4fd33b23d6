"""Check digits: numbers that somebody issued, of cards, accounts, taxpayers, insured people, carry them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

SIGNS = re.compile(r"[\s./-]")
"""What is written between the digits of an issued number."""
LEAST, MOST = 8, 34
"""Issued numbers have at least and at most so many digits and letters."""


def _digits(text: str) -> list[int]:
    return [int(sign) for sign in text]


def _weighted(text: str, weights: Sequence[int]) -> int:
    """The sum of the digits from the last to the first, each times its weight, the weights in turn."""
    return sum(digit * weights[at % len(weights)] for at, digit in enumerate(reversed(_digits(text))))


def luhn(text: str) -> bool:
    """Luhn: payment cards, IMEI, several national numbers.

    >>> luhn("79927398713"), luhn("79927398710")
    (True, False)
    """
    doubled = [digit if at % 2 == 0 else sum(divmod(2 * digit, 10)) for at, digit in enumerate(reversed(_digits(text)))]
    return sum(doubled) % 10 == 0


def mod_10(text: str) -> bool:
    """Weights 1 and 3: EAN, ISBN-13 and numbers built like them.

    >>> mod_10("9780306406157"), mod_10("9780306406158")
    (True, False)
    """
    return _weighted(text, (1, 3)) % 10 == 0


def mod_11(text: str) -> bool:
    """Weights 1, 2, 3 and on from the last digit, X for ten: ISBN-10, several national numbers.

    >>> mod_11("0306406152"), mod_11("080442957X"), mod_11("0306406153")
    (True, True, False)
    """
    last = 10 if text[-1] == "X" else int(text[-1])
    return (last + _weighted(text[:-1], range(2, 2 + len(text)))) % 11 == 0


def mod_11_cyclic(text: str) -> bool:
    """Weights 2 to 7 in turn before a last digit that is 11 minus the sum: many numbers of taxpayers and firms.

    >>> mod_11_cyclic("123456785"), mod_11_cyclic("123456786")
    (True, False)
    """
    return (11 - _weighted(text[:-1], (2, 3, 4, 5, 6, 7)) % 11) % 11 == int(text[-1])


def mod_11_10(text: str) -> bool:
    """ISO 7064 mod 11,10: numbers of taxpayers and residents.

    >>> mod_11_10("07945"), mod_11_10("07946")
    (True, False)
    """
    product = 10
    for digit in _digits(text[:-1]):
        product = 2 * ((product + digit) % 10 or 10) % 11
    return (product + int(text[-1])) % 10 == 1


def mod_97(text: str) -> bool:
    """The remainder by 97, as ISO 7064 takes it or with its complement in the last two digits.

    >>> mod_97("79400"), mod_97("85073003328")
    (False, True)
    """
    return int(text) % 97 == 1 or 97 - int(text[:-2]) % 97 == int(text[-2:])


def iban(text: str) -> bool:
    """The number of a bank account: two letters, two digits, and the remainder by 97 with these at the end.

    >>> iban("GB82WEST12345698765432"), iban("GB82WEST12345698765433")
    (True, False)
    """
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", text):
        return False
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97 == 1


SCHEMES: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "Luhn": (re.compile(r"\d+"), luhn),
    "mod 10": (re.compile(r"\d+"), mod_10),
    "mod 11": (re.compile(r"\d+X?"), mod_11),
    "mod 11, cyclic": (re.compile(r"\d+"), mod_11_cyclic),
    "mod 11,10": (re.compile(r"\d+"), mod_11_10),
    "mod 97": (re.compile(r"\d+"), mod_97),
    "IBAN": (re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]+"), iban),
}
"""By name: what a number looks like, and whether its check digit is right."""

ENOUGH = 10
"""Different numbers needed to tell: one in ten random ones passes a test, ten of ten do not."""
NEARLY_ALL = 0.9
"""The share of the numbers that must pass: some are mistyped."""


def check_digit_scheme(texts: Sequence[str]) -> str:
    """The scheme that nearly all different texts keep; empty if there is none, or too few texts to tell.

    >>> check_digit_scheme([f"{7992739870 + at}{digit}" for at, digit in enumerate("5318642097")])
    ''
    """
    bare = {SIGNS.sub("", text).upper() for text in texts}
    fitting = [text for text in bare if LEAST <= len(text) <= MOST and text.strip("0")]
    if len(fitting) < max(ENOUGH, NEARLY_ALL * len(bare)):
        return ""
    for name, (shape, test) in SCHEMES.items():
        passed = sum(bool(shape.fullmatch(text)) and test(text) for text in fitting)
        if passed >= NEARLY_ALL * len(fitting):
            return name
    return ""
