"""Slow twins of suppression: the definitions, record by record, and the optimum by an integer program."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

import slow
from tacita.arrays import Bools, Codes, Floats
from tacita.protect.suppress.problem import Request, Requirement, columns_of
from tacita.scenario import MissingRule


def keys_of(codes: Codes) -> list[tuple[int | None, ...]]:
    return [tuple(int(code) or None for code in row) for row in codes]


def sums(
    codes: Codes,
    members: int,
    rule: MissingRule,
    weights: Sequence[float] | None = None,
    person: Sequence[int] | None = None,
) -> tuple[list[float], list[float]]:
    """The records or persons, and weights, that count for each record on some keys, by the definition of the rule."""
    keys = keys_of(codes[:, columns_of(members)])
    c = rule.factor if rule.name == "partial" else None
    weights = [1.0] * len(keys) if weights is None else weights
    if person is not None:
        return slow.frequencies_of_units(keys, person, weights, rule.name, c)
    return slow.frequencies(keys, weights, rule.name, c=c)


def counts(codes: Codes, members: int, rule: MissingRule) -> list[float]:
    """What counts for each record on some keys, by the definition of the rule."""
    return sums(codes, members, rule)[0]


def unsafe(codes: Codes, needs: Sequence[Requirement], rule: MissingRule) -> Bools:
    out = np.zeros(len(codes), dtype=bool)
    for need in needs:
        out |= np.array([f < need.k for f in counts(codes, need.members, rule)])
    return out


def unneeded(codes: Codes, gone: Bools, needs: Sequence[Requirement], rule: MissingRule) -> list[tuple[int, int]]:
    """Blanked cells that could be shown again with their own record safe."""
    found = []
    for record, key in zip(*np.nonzero(gone), strict=True):
        shown = codes * ~gone
        shown[record, key] = codes[record, key]
        if not unsafe(shown, needs, rule)[record]:
            found.append((int(record), int(key)))
    return found


def violating(asked: Request, gone: Bools) -> Bools:
    """Who does not meet what is asked, or is in a household above its limit, with some cells blanked."""
    codes, bit = asked.codes * ~gone, 0
    person = None if asked.person is None else asked.person.tolist()
    if asked.strata is not None:
        codes, bit = np.column_stack([codes, asked.strata]), 1 << codes.shape[1]

    def risks(members: int) -> tuple[Floats, Floats]:
        f, weight = (np.array(each) for each in sums(codes, members | bit, asked.rule, asked.weights, person))
        return f, f if asked.risk is None else asked.risk(f, weight)

    out = np.zeros(len(codes), dtype=bool)
    for need in asked.needs:
        f, risk = risks(need.members)
        out |= f < need.k
        out |= False if need.limits is None else risk > need.limits
    if asked.goal is not None:
        risk = asked.goal.attack * risks(asked.goal.members)[1]
        for each in np.unique(asked.goal.household):
            here = np.flatnonzero(asked.goal.household == each)
            most: dict[int, float] = {}
            for record in here.tolist():
                whose = record if person is None else person[record]
                most[whose] = max(most.get(whose, 0.0), float(risk[record]))
            out[here] |= 1.0 - np.prod([1.0 - each for each in most.values()]) > asked.goal.limit * (1 + 1e-9)
    return out


def wasted(asked: Request, gone: Bools) -> list[tuple[int, int]]:
    """Blanked cells that could be shown again with their own record, or all members of its household, safe.

    A key that households share is shown to all members again. -1 stands for all cells of a record at once: nobody is
    touched who would be safe as he was, among others as they are now.
    """
    found = []
    shared = () if asked.shared is None else asked.shared.variables
    for record, key in zip(*np.nonzero(gone), strict=True):
        who = np.array([record])
        if asked.shared is not None and key in shared:
            who = np.flatnonzero((asked.shared.household == asked.shared.household[record]) & gone[:, key])
        again = gone.copy()
        again[who, key] = False
        if not violating(asked, again)[who].any():
            found.append((int(record), int(key)))
    own = gone.copy()
    own[:, list(shared)] = False
    for record in np.flatnonzero(own.sum(axis=1) > 1):
        again = gone.copy()
        again[record] &= ~own[record]
        if not violating(asked, again)[record]:
            found.append((int(record), -1))
    return found


def least_cost(asked: Request) -> float:
    """The least cost of all ways to suppress cells of a tiny file after which nobody violates; infinite: there is none.

    Honest ways: no cell is suppressed that its own record does not need.
    """
    rows, columns = np.nonzero(asked.codes)
    costs = np.array(asked.costs)[columns]
    ways = (np.arange(1 << len(rows))[:, None] >> np.arange(len(rows)) & 1) > 0
    for way in ways[np.argsort(ways @ costs, kind="stable")]:
        gone = np.zeros(asked.codes.shape, dtype=bool)
        gone[rows[way], columns[way]] = True
        if not violating(asked, gone).any() and not wasted(asked, gone):
            return float(way @ costs)
    return float("inf")


def optimum(codes: Codes, k: int, costs: Sequence[float]) -> float:
    """The least cost under the one-way rule: each record chooses the set of keys that it shows.

    The rules of honesty need no constraint: a cell that its own record does not need could be shown again, which costs
    less and under this rule takes nothing from others; so the optimum blanks none, and touches only who would violate.
    """
    n, q = codes.shape
    bit = 1 << np.arange(q)
    known, alike = (codes > 0) @ bit, (codes[:, None] == codes) @ bit
    choices = [(i, shown) for i in range(n) for shown in range(1 << q) if shown & ~known[i] == 0]
    who, shown = (np.array(each) for each in zip(*choices, strict=True))
    cost = (((known[who] & ~shown)[:, None] & bit) > 0) @ np.array(costs)
    one_each = who == np.arange(n)[:, None]
    counts = (shown & alike[who[:, None], who] & shown[:, None]) == shown[:, None]
    matrix = csr_array(np.vstack([one_each, counts - k * np.eye(len(who))]))
    lower = [1.0] * n + [0.0] * len(who)
    upper = [1.0] * n + [np.inf] * len(who)
    solved = milp(cost, constraints=LinearConstraint(matrix, lower, upper), integrality=1, bounds=Bounds(0, 1))
    assert solved.status == 0
    return float(solved.fun)
