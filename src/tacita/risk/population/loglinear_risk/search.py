"""Which log-linear model? Its neighbours, and a forward choice from independence upwards."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

from tacita import check, frame
from tacita.formula import Model, Term, shown_term
from tacita.risk.population.loglinear_risk.estimate import Estimate, Specification
from tacita.risk.population.loglinear_risk.formula import maximal, ordered, shown

CRITERIA = ("B2", "AIC")
NO_SIGN = 1.96
"""B_2 / sqrt(V_2) below this is no sign of under-fitting."""
Progress = Callable[[float, str], None]


def more(model: Model, keys: tuple[str, ...]) -> list[Term]:
    """The interactions of two keys that a model lacks."""
    pairs = (frozenset(pair) for pair in combinations(keys, 2))
    return [pair for pair in pairs if not any(pair <= term for term in model)]


def fewer(model: Model, keys: tuple[str, ...]) -> list[Term]:
    """The interactions that can be taken out of a model alone."""
    return [term for term in ordered(maximal(model), keys) if len(term) > 1]


def neighbours(estimate: Estimate) -> frame.Frame:
    """The model and all models with one interaction more or less, one row each."""
    specification, model = estimate.specification, estimate.model
    keys = specification.table.keys
    rows = [figures("this model", estimate)]
    for term in fewer(model, keys):
        rows.append(figures(f"- {shown_term(term, keys)}", specification.estimate(model - {term})))
    for term in more(model, keys):
        rows.append(figures(f"+ {shown_term(term, keys)}", specification.estimate(model | {term})))
    return _table(rows)


def figures(change: str, estimate: Estimate) -> dict[str, Any]:
    """What is compared between models: tau, the tests for under-fitting, parameters and AIC."""
    first, second = estimate.underfit
    return {
        "change": change,
        "tau_1": estimate.tau_1,
        "tau_2": estimate.tau_2,
        "B_1": first.b,
        "B_1/sqrt(V_1)": first.standardised,
        "B_2": second.b,
        "B_2/sqrt(V_2)": second.standardised,
        "parameters": estimate.fit.parameters,
        "AIC": estimate.aic,
        "model": shown(estimate.model, estimate.specification.table.keys),
    }


def _table(rows: list[dict[str, Any]]) -> frame.Frame:
    return frame.table({name: [row[name] for row in rows] for name in rows[0]})


def forward(
    specification: Specification, criterion: str = "B2", progress: Progress | None = None
) -> tuple[Estimate, frame.Frame]:
    """A model with interactions of two keys, chosen step by step from independence upwards, and the path to it.

    By `B2` the interaction is added that brings B_2 / sqrt(V_2) closest to 0, until it is below 1.96 (no sign of
    under-fitting) or no interaction brings it closer. By `AIC` the one with the lowest AIC, until none lowers it.
    """
    keys = specification.table.keys
    current = specification.estimate(frozenset(frozenset([name]) for name in keys))
    path = [figures("independence", current)]
    while criterion == "AIC" or current.underfit[1].standardised >= NO_SIGN:
        best, change = current, ""
        candidates = more(current.model, keys)
        for place, term in enumerate(candidates):
            if progress is not None:
                progress(place / len(candidates), f"fitting models with {check.counted(len(path), 'interaction')}")
            tried = specification.estimate(current.model | {term})
            if _distance(tried, criterion) < _distance(best, criterion):
                best, change = tried, f"+ {shown_term(term, keys)}"
        if best is current:
            break
        current = best
        path.append(figures(change, current))
    return current, _table(path)


def _distance(estimate: Estimate, criterion: str) -> float:
    """What a step of the choice makes as small as it can."""
    return estimate.aic if criterion == "AIC" else abs(estimate.underfit[1].standardised)
