"""Log-linear models as formulas: the effects that one implies, and their order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from tacita import check
from tacita.check import TacitaError
from tacita.formula import Model, Term, parse, shown_term


def closed(terms: Iterable[Term], numeric: Collection[str] = ()) -> Model:
    """The effects with all that they imply: an interaction of factors spans the effects of fewer of them.

    A numeric variable is one column, so its interaction implies no main effect of its own.
    """
    model = set()
    for term in terms:
        factors = [name for name in term if name not in numeric]
        linear = term - set(factors)
        for size in range(len(factors) + 1):
            model |= {linear | set(chosen) for chosen in combinations(factors, size)}
    return frozenset(frozenset(term) for term in model if term)


def maximal(model: Iterable[Term]) -> list[Term]:
    """The effects that are not part of another one."""
    terms = list(model)
    return [term for term in terms if not any(term < other for other in terms)]


def ordered(model: Iterable[Term], names: Sequence[str]) -> list[Term]:
    """Effects in a fixed order: main effects first, by the order of the variables."""
    return sorted(model, key=lambda term: (len(term), sorted(names.index(name) for name in term)))


def shown(model: Iterable[Term], names: Sequence[str]) -> str:
    """A model as a formula that `parse` reads."""
    return "~ " + " + ".join(shown_term(term, names) for term in ordered(model, names))


def model_of(formula: str, keys: Sequence[str], numeric: Collection[str]) -> Model:
    """The model of a formula, which must name every key and nothing else."""
    terms = parse(formula)
    used = list(dict.fromkeys(name for term in terms for name in sorted(term)))
    check.columns_exist("formula: keys", used, keys)
    absent = [name for name in keys if name not in used]
    if absent:
        raise TacitaError(
            f"formula must name every key of the scenario; {check.quoted(absent)} is not in it, "
            "add it or take it out of the keys."
        )
    return closed(terms, numeric)
