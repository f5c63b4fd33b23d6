"""Small files and requirements to suppress."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tacita.protect.suppress import local_suppression
from tacita.protect.suppress.local_suppression import Suppression
from tacita.protect.suppress.problem import (
    HouseholdLimit,
    HouseholdVariables,
    Request,
    Requirement,
    bits,
    link_limits,
    link_risk,
)
from tacita.protect.suppress.requirements import of_sizes
from tacita.risk.identity.individual_risk import attack_probabilities
from tacita.scenario import MissingRule, Scenario

RULES = ("one_way", "wildcard", "partial(0.5)", "partial(0.3)", "partial(0)", "own_category")
"""Rules that suppression takes."""
REFUSED = ("conservative", "partial(categories)", "partial(expected)", "no_match", "sdcmicro(1)", "sdcmicro(0.5)")


def suppress(
    codes: np.ndarray, needs: list[Requirement], costs: list[float], rule: MissingRule, **options: Any
) -> Suppression:
    return local_suppression.suppress(Request(codes, needs, costs, rule, **options))


def codes_of(*rows: tuple[int, ...]) -> np.ndarray:
    return np.array(rows, dtype=np.uint32)


def whole(q: int, k: int) -> list[Requirement]:
    return [Requirement((1 << q) - 1, k)]


def released(codes: np.ndarray, gone: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(row) for row in (codes * ~gone).tolist()]


@st.composite
def files(draw: st.DrawFn, most: int = 14, keys: int = 4) -> np.ndarray:
    q = draw(st.integers(1, keys))
    values = draw(st.integers(1, 4))
    row = st.tuples(*[st.integers(draw(st.sampled_from([0, 1])), values)] * q)
    return codes_of(*draw(st.lists(row, min_size=3, max_size=most)))


@st.composite
def requirements(draw: st.DrawFn, q: int) -> list[Requirement]:
    """k on all keys, k by size of combination, or several key sets."""
    kind = draw(st.sampled_from(["all", "sizes", "sets"]))
    if kind == "all":
        return whole(q, draw(st.integers(2, 3)))
    if kind == "sizes":
        return of_sizes(range(q), draw(st.dictionaries(st.integers(1, q), st.integers(2, 3), min_size=1)))
    sets = draw(st.lists(st.sets(st.integers(0, q - 1), min_size=1), min_size=1, max_size=3))
    return [Requirement(bits(each), draw(st.integers(2, 3))) for each in sets]


def drawn(seed: int, rule: str, most: int = 12) -> Request:
    """A small random file and some of: ranks, combinations, key sets, strata, `only`, household variables, risks."""
    draws = np.random.default_rng(seed)
    n, q = int(draws.integers(4, most + 1)), int(draws.integers(1, 5))
    codes = draws.integers(1, draws.integers(2, 6), (n, q))
    if draws.random() < 0.6:
        codes = codes * (draws.random((n, q)) > draws.choice([0.1, 0.3]))
    household = np.unique(draws.integers(0, max(2, n // 2), n), return_inverse=True)[1]
    asked = Request(
        codes.astype(np.uint32),
        _some_needs(draws, q),
        [1.0] * q if draws.random() < 0.5 else draws.integers(1, q + 1, q).astype(float).tolist(),
        MissingRule.parse(rule),
    )
    if draws.random() < 0.2:
        asked = asked._replace(strata=draws.integers(1, 3, n).astype(np.uint32))
    if draws.random() < 0.3:
        asked = asked._replace(free=draws.random(n) < 0.75)
    if draws.random() < 0.3:
        asked = asked._replace(shared=HouseholdVariables(household, _some_keys(draws, q)))
    return _with_risk(asked, household, draws) if draws.random() < 0.4 else asked


def _some_keys(draws: np.random.Generator, q: int) -> tuple[int, ...]:
    return tuple(sorted(set(draws.integers(0, q, int(draws.integers(1, q + 1))).tolist())))


def _some_needs(draws: np.random.Generator, q: int) -> list[Requirement]:
    kind = draws.choice(["all", "sizes", "sets"], p=[0.5, 0.25, 0.25])
    if kind == "sizes":
        return of_sizes(range(q), {int(size): int(draws.integers(2, 4)) for size in draws.integers(1, q + 1, 2)})
    sets = [range(q)] if kind == "all" else [_some_keys(draws, q) for _ in range(draws.integers(1, 4))]
    return [Requirement(bits(keys), int(draws.integers(2, 4))) for keys in sets]


def _with_risk(asked: Request, household: np.ndarray, draws: np.random.Generator) -> Request:
    """A limit between the risk of all that is shown and that of nothing shown, for records or for households."""
    n, q = asked.codes.shape
    model = str(draws.choice(["M1", "M2", "M3", "M5"]))
    weights = draws.choice([1.0, 2.0, 5.0, 20.0, 100.0], n)
    risk = link_risk(None, model)
    attack = attack_probabilities(Scenario(keys=["sex"], weight="weight", attack=model), n, n, weights)
    most = (attack * risk(np.ones(n), weights)).max()
    least = (attack * risk(np.full(n, float(n)), np.full(n, weights.sum()))).max()
    limit = float(np.exp(draws.uniform(np.log(1.05 * least), np.log(max(most, 1.1 * least)))))
    asked = asked._replace(weights=weights, risk=risk)
    alone = draws.random() < 0.6
    if draws.random() < 0.5:
        limited = Requirement(asked.needs[0].members, 1, link_limits(limit, attack))
        return asked._replace(needs=[limited] if alone else [*asked.needs, limited])
    limit = min(0.95, limit * float(draws.choice([1, 2, 3])))
    goal = HouseholdLimit((1 << q) - 1, limit, household, attack)
    return asked._replace(goal=goal, needs=[] if alone else asked.needs)
