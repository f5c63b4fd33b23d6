"""How well a logistic regression tells a synthetic file from the original: the propensity score mean squared error.

pMSE is the mean of (p - c)^2 over the records of both files, p the fitted probability that a record is synthetic and c
the share that is. Of a file drawn from the right model its expectation is (k - 1)(1 - c)^2 c / N with k coefficients
and N records in all, and the ratio of the two is about 1.

Snoke, Raab, Nowok, Dibben and Slavkovic (2018), General and specific utility measures for synthetic data. JRSS A 181.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tacita import frame
from tacita.data import Data

STEPS = 8


def classes(original: Data, synthetic: Data, name: str, most: int) -> np.ndarray:
    """The classes of a variable in both files, original first: categories, or numbers cut at quantiles."""
    if original.scale(name) == "numeric":
        numbers = [each.numbers(name) for each in (original, synthetic)]
        ends = np.unique(np.nanquantile(numbers[0], np.linspace(0, 1, most + 1)[1:-1]))
        found = [np.where(np.isnan(each), 0, 1 + np.searchsorted(ends, each)) for each in numbers]
        return np.concatenate(found)
    codes = frame.coded(frame.stacked([each.table.select(name) for each in (original, synthetic)]), name).codes
    before = np.bincount(codes[: len(original)], minlength=int(codes.max()) + 1)
    # The most frequent ones, the others together.
    kept = np.argsort(-before, kind="stable")[:most]
    lookup = np.full(len(before), most + 1)
    lookup[kept] = np.arange(1, len(kept) + 1)
    return lookup[codes]


def dummies(labels: np.ndarray) -> np.ndarray:
    """One column for each class but the first."""
    return (labels[:, None] == np.unique(labels)[1:]).astype(float)


def ratio(design: np.ndarray, synthetic: np.ndarray) -> float:
    """The pMSE of a logistic regression on some columns beside a constant, over its expectation."""
    x = np.column_stack([np.ones(len(design)), design])
    rank = int(np.linalg.matrix_rank(x.T @ x))
    beta = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        weight = np.maximum(p * (1 - p), 1e-10)
        beta = beta + np.linalg.lstsq((x.T * weight) @ x, x.T @ (synthetic - p), rcond=1e-10)[0]
    c = synthetic.mean()
    expected = (rank - 1) * (1 - c) ** 2 * c / len(x)
    p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
    return float(np.mean((p - c) ** 2) / expected) if expected else 0.0


def main_effects(original: Data, synthetic: Data, names: Sequence[str], most: int = 8) -> float:
    """The ratio of a regression on all variables."""
    made = np.repeat([0.0, 1.0], [len(original), len(synthetic)])
    return ratio(np.column_stack([dummies(classes(original, synthetic, name, most)) for name in names]), made)


def pairs(original: Data, synthetic: Data, names: Sequence[str], most: int = 4) -> dict[tuple[str, str], float]:
    """The ratio of a regression on all classes of each pair of variables; its fit is the share in each cell."""
    made = np.repeat([0.0, 1.0], [len(original), len(synthetic)])
    labels = {name: classes(original, synthetic, name, most) for name in names}
    found = {}
    for one, other in itertools.combinations(names, 2):
        cell = np.unique(labels[one] * (most + 2) + labels[other], return_inverse=True)[1]
        size, share = np.bincount(cell), np.bincount(cell, weights=made)
        error = float((size * (share / size - 0.5) ** 2).sum() / len(made))
        found[one, other] = error / ((len(size) - 1) / 8 / len(made)) if len(size) > 1 else 0.0
    return found


def all_pairs(original: Data, synthetic: Data, names: Sequence[str], most: int = 4) -> float:
    """The ratio of one regression on all variables and all their two-way terms."""
    made = np.repeat([0.0, 1.0], [len(original), len(synthetic)])
    single = [dummies(classes(original, synthetic, name, most)) for name in names]
    terms = [
        (one[:, :, None] * other[:, None, :]).reshape(len(made), -1) for one, other in itertools.combinations(single, 2)
    ]
    design = np.column_stack([*single, *terms])
    return ratio(design[:, design.any(axis=0)], made)
