"""Parameters of steps that accept several types: their description, and the function that normalises them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tacita import check
from tacita.parameters import Shape


def _ranks(what: str, given: Any) -> Any:
    """Ranks of keys, or the word for those of SUDA."""
    if isinstance(given, str):
        return check.one_of(what, given, ("suda",))
    return {name: check.whole(f"{what} of {name!r}", rank, 1) for name, rank in check.mapping(what, given).items()}


def _sizes(what: str, given: Any) -> Any:
    """Sizes of combinations: a tuple, or with k a dictionary; a file has them as texts."""
    if isinstance(given, Mapping):
        numbers = {int(size) if isinstance(size, str) and size.isdecimal() else size: k for size, k in given.items()}
        return {check.whole(f"a size of {what}", n, 1): check.whole(f"k of {what}", k, 2) for n, k in numbers.items()}
    listed = given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    return tuple(check.whole(f"a size of {what}", size, 1) for size in listed)


def _names_by_key(what: str, given: Any) -> dict[str, tuple[str, ...]]:
    """Names of variables by key."""
    return {name: check.names(f"{what} of {name!r}", each) for name, each in check.mapping(what, given).items()}


def _risk_limit(what: str, given: Any) -> float | bool:
    """A probability above 0, or true for the policy's."""
    return True if given is True else check.share(what, given, zero=False)


RANKS = Shape("table of ranks by key, or `suda`", _ranks)
SIZES = Shape("sizes, or a table of k by size", _sizes)
NAMES_BY_KEY = Shape("table of names by key", _names_by_key)
RISK_LIMIT = Shape("number in (0, 1], or true", _risk_limit)
