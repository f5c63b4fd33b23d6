"""Transition matrices of PRAM: row i holds the probabilities of what category i becomes.

A matrix R is invariant for shares p of the categories if p R = p: expected counts then stay as they are. What moves
from i to j in expectation is the flow p_i R_ij; where flows in both directions are equal, R is invariant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Floats

NEAR = 4e-13
"""Relative difference at which row sums count as met; they are improved as long as that goes."""
MOST_ROUNDS = 200
LONGEST_STEP = 2.0
RIDGE = 1e-13


def neighbours(count: int, bandwidth: int | None = None) -> Bools:
    """Which other categories each one may become: all, or those at most `bandwidth` places away.

    >>> neighbours(3, 1).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    place = np.arange(count)
    distance = np.abs(place[:, None] - place[None, :])
    within: Bools = (distance > 0) & (distance <= (count if bandwidth is None else min(bandwidth, count)))
    return within


def spread(diagonal: Floats, bandwidth: int | None = None) -> Floats:
    """Each category is kept with its probability; the rest goes in equal shares to its neighbours.

    >>> spread(np.array([0.8, 1.0, 0.4])).round(3).tolist()
    [[0.8, 0.1, 0.1], [0.0, 1.0, 0.0], [0.3, 0.3, 0.4]]
    """
    others = neighbours(len(diagonal), bandwidth)
    many = others.sum(axis=1)
    share = (1.0 - diagonal) / np.maximum(many, 1)
    matrix = np.where(others, share[:, None], 0.0)
    np.fill_diagonal(matrix, np.where(many > 0, diagonal, 1.0))
    return matrix


def invariant_product(matrix: Floats, shares: Floats) -> Floats:
    """R = P Q, where Q leads back: Q_kj = P_jk p_j / sum_l P_lk p_l. Then p R = p.

    Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), Post randomisation for statistical disclosure control: theory
    and implementation. Journal of Official Statistics 14(4), 463-478.

    >>> shares = np.array([0.9, 0.1])
    >>> made = invariant_product(spread(np.array([0.8, 0.8])), shares)
    >>> made.round(4).tolist(), (shares @ made).round(12).tolist()
    ([[0.9168, 0.0832], [0.7484, 0.2516]], [0.9, 0.1])
    """
    flow = shares[:, None] * matrix
    arriving = flow.sum(axis=0)
    back = np.divide(flow.T, arriving[:, None], out=np.eye(len(shares)), where=arriving[:, None] > 0)
    product: Floats = matrix @ back
    return product


def invariant_within(matrix: Floats, shares: Floats) -> Floats:
    """The matrix with each flow cut down to the one in the other direction: R_ij = min(P_ij, p_j P_ji / p_i), i != j.

    Then p R = p, no transition is possible that was not before, and every category is kept at least as often as
    before: the rule by which Metropolis et al. (1953) accept moves.

    >>> invariant_within(spread(np.array([0.8, 0.8])), np.array([0.75, 0.25])).round(4).tolist()
    [[0.9333, 0.0667], [0.2, 0.8]]
    """
    flow = shares[:, None] * matrix
    return from_flows(np.minimum(flow, flow.T), shares)


def from_flows(flows: Floats, shares: Floats) -> Floats:
    """The matrix of flows between different categories; what does not flow is kept, and what has no share stays."""
    moving = flows.copy()
    np.fill_diagonal(moving, 0.0)
    matrix = np.divide(moving, shares[:, None], out=np.zeros_like(moving), where=shares[:, None] > 0)
    np.fill_diagonal(matrix, np.maximum(1.0 - matrix.sum(axis=1), 0.0))
    return matrix


def mixed(matrix: Floats, alpha: float) -> Floats:
    """alpha R + (1 - alpha) I: with probability 1 - alpha a record is not drawn for at all."""
    made: Floats = alpha * matrix + (1.0 - alpha) * np.eye(len(matrix))
    return made


def exact_diagonal(shares: Floats, diagonal: Floats, bandwidth: int | None = None) -> Floats | None:
    """The invariant matrix that keeps each category with just this probability; None if there is none.

    Flows are w_ij = x_i x_j between neighbours, with x such that p_i (1 - d_i) leaves category i. Without bandwidth
    this is R_ij = [i = j] - t (v_i [i = j] - v_i v_j / sum v) / p_i. It exists if and only if no category would change
    more than all others together, see `greatest_change`.

    >>> exact_diagonal(np.array([0.5, 0.3, 0.2]), np.array([0.9, 0.8, 0.8])).round(4).tolist()
    [[0.9, 0.07, 0.03], [0.1167, 0.8, 0.0833], [0.075, 0.125, 0.8]]
    """
    flows = balanced_flows(shares * (1.0 - diagonal), neighbours(len(shares), bandwidth))
    return None if flows is None else from_flows(flows, shares)


def greatest_change(change: Floats) -> Floats:
    """The greatest changes, each at most the one wanted, that equal flows between all categories can give.

    >>> greatest_change(np.array([0.5, 0.1, 0.2])).round(12).tolist()
    [0.3, 0.1, 0.2]
    """
    return np.minimum(change, change.sum() - change) if len(change) else change


def greatest_change_within(change: Floats, bandwidth: int) -> float:
    """The greatest sum of changes, each at most the one wanted, that equal flows within a band can give.

    A linear programme: the greatest sum of flows w_ij, i < j, with sum_j w_ij <= change_i.

    >>> round(greatest_change_within(np.array([0.25, 0.125, 0.125]), 1), 12)
    0.25
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    first, second = np.nonzero(np.triu(neighbours(len(change), bandwidth)))
    flow = np.arange(len(first))
    rows, columns = np.concatenate([first, second]), np.concatenate([flow, flow])
    sums = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(change), len(first)))
    return -2.0 * float(linprog(-np.ones(len(first)), A_ub=sums.tocsr(), b_ub=change).fun)


def balanced_flows(change: Floats, allowed: Bools) -> Floats | None:
    """Symmetric flows w_ij = x_i x_j between allowed pairs whose row sums are `change`; None if none were found.

    Newton's method on y = log x for the convex function sum_{i<j} w_ij - sum_i change_i y_i.
    """
    flows = np.zeros((len(change), len(change)))
    active = np.flatnonzero(change > 0)
    if not len(active):
        return flows
    total = change.sum()
    wanted, pairs = change[active] / total, allowed[np.ix_(active, active)]
    logs = np.log(wanted)
    best, least = np.zeros_like(flows), np.inf
    for _ in range(MOST_ROUNDS):
        now = _flows(logs, pairs)
        rows = now.sum(axis=1)
        error = float((np.abs(rows - wanted) / wanted).max())
        if not (rows > 0).all() or (least <= NEAR and error >= least):
            break
        if error < least:
            best, least = now, error
        logs = logs + _newton_step(logs, now, rows, wanted, pairs)
    if least > NEAR:
        return None
    # No row may exceed its sum by a rounding error: a category that is to change wholly would be kept less than never.
    flows[np.ix_(active, active)] = best * total * min(1.0, float((wanted / best.sum(axis=1)).min()))
    return flows


def _flows(logs: Floats, pairs: Bools) -> Floats:
    flows: Floats = np.where(pairs, np.exp(np.minimum(logs[:, None] + logs[None, :], 50.0)), 0.0)
    return flows


def _newton_step(logs: Floats, now: Floats, rows: Floats, wanted: Floats, pairs: Bools) -> Floats:
    """A step that lowers the function; of a short one rounding errors could not tell."""
    # The ridge is for pairs without a circle of odd length, where several x give the same flows.
    newton: NDArray[Any] = np.linalg.solve(now + np.diag(rows * (1.0 + RIDGE)), wanted - rows)
    step: Floats = (newton * min(1.0, LONGEST_STEP / max(float(np.abs(newton).max()), 1e-300))).astype(np.float64)
    value = now.sum() / 2 - wanted @ logs
    while np.abs(step).max() > 1e-4:
        if _flows(logs + step, pairs).sum() / 2 - wanted @ (logs + step) < value:
            break
        step = step / 2
    return step
