"""Small surveys made up by hypothesis, and the missing-value rules to count them by: shared by many tests.

The surveys are nasty on purpose: one record, one category, blanks everywhere, twins, weights of 1, fractions, weights
below 1.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import polars as pl
from hypothesis import strategies as st

import slow
from tacita.check import TacitaWarning
from tacita.scenario import Scenario


class Rule(NamedTuple):
    """A missing-value rule as the package writes it and as `slow` takes it."""

    text: str
    name: str
    c: float | str | None = None
    alpha: float | None = None


WHOLE_RULES = [
    Rule("one_way", "one_way"),
    Rule("wildcard", "wildcard"),
    Rule("conservative", "conservative"),
    Rule("no_match", "no_match"),
    Rule("own_category", "own_category"),
    Rule("partial(0)", "partial", c=0.0),
    Rule("partial(1)", "partial", c=1.0),
    Rule("sdcmicro(0)", "sdcmicro", alpha=0.0),
    Rule("sdcmicro(1)", "sdcmicro", alpha=1.0),
]
"""Rules under which f is a whole number."""

FRACTIONAL_RULES = [
    Rule("partial(0.3)", "partial", c=0.3),
    Rule("partial(categories)", "partial", c="categories"),
    Rule("partial(expected)", "partial", c="expected"),
    Rule("sdcmicro(0.5)", "sdcmicro", alpha=0.5),
    Rule("sdcmicro(0.3)", "sdcmicro", alpha=0.3),
]

RULES = [*WHOLE_RULES, *FRACTIONAL_RULES]


@cache
def _risk(f: float, F: float, method: str) -> float:
    """40 digits take time, and twins have the same risk."""
    return slow.individual_risk([f], [F], method)[0]


@dataclass(frozen=True)
class Survey:
    """A small file: keys with blanks, weights and households."""

    columns: dict[str, list[int | None]]
    weights: list[float]
    households: list[int | None]

    @property
    def keys(self) -> list[tuple[int | None, ...]]:
        return list(zip(*self.columns.values(), strict=True))

    @property
    def frame(self) -> pl.DataFrame:
        whole = {name: pl.Series(values, dtype=pl.Int64) for name, values in self.columns.items()}
        return pl.DataFrame({**whole, "w": self.weights, "hid": pl.Series(self.households, dtype=pl.Int64)})

    def scenario(self, rule: str = "one_way", **more: object) -> Scenario:
        return Scenario(keys=list(self.columns), **{"weight": "w", "missing": rule, **more})  # type: ignore[arg-type]

    def risks(self, rule: Rule, method: str = "exact") -> list[float]:
        f, F = self.frequencies(rule)
        return [_risk(*pair, method) for pair in zip(f, F, strict=True)]

    def frequencies(self, rule: Rule) -> tuple[list[float], list[float]]:
        return slow.frequencies(self.keys, self.weights, rule.name, c=rule.c, alpha=rule.alpha)


WEIGHTS = [
    st.just(1.0),
    st.sampled_from([1.0, 1.5, 2.25, 100 / 3, 7.1]),
    st.floats(1, 1000),
    st.sampled_from([0.05, 0.5, 0.9999999, 1.0, 3.7]),
]


@st.composite
def surveys(draw: st.DrawFn, *, most: int = 12, variables: int = 4, missing: bool = True) -> Survey:
    """A file of 1 to `most` records whose rows come from a small pool, so that there are twins."""
    count = draw(st.integers(1, variables))
    categories = draw(st.integers(1, 4))
    value = st.integers(1, categories)
    cell = st.one_of(st.none(), value) if missing else value
    pool = draw(st.lists(st.tuples(*[cell] * count), min_size=1, max_size=8))
    rows = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=most))
    weight = draw(st.sampled_from(WEIGHTS))
    weights = draw(st.lists(weight, min_size=len(rows), max_size=len(rows)))
    household = st.one_of(st.none(), st.integers(1, 5))
    households = draw(st.lists(household, min_size=len(rows), max_size=len(rows)))
    columns = {f"k{j}": [row[j] for row in rows] for j in range(count)}
    return Survey(columns, weights, households)


@contextmanager
def quietly() -> Iterator[None]:
    """Without the package's own warnings, e.g. about weights below 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TacitaWarning)
        yield
