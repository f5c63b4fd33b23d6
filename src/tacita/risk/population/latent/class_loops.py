"""Compiled loops of the latent class model: one pass over the distinct keys each.

`codes` are rows of places in the table of shares (the values of all keys one below the other), -1 where a key is not
shown; `shares` is that table, one column per class; `of_key` says by value which key it belongs to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacita.compiled import compiled

RESCALED = 8
"""A product over many keys is brought back to 1 after so many of them, and its logarithm kept."""


@compiled
def _joint(row: Any, sizes: Any, shares: Any, joint: Any) -> float:
    """Fill `joint` with the chance of a class and the shown values, up to a factor; the factor's logarithm."""
    taken, rest = 0.0, 0
    for c in range(len(sizes)):
        joint[c] = sizes[c]
    for place in row:
        if place < 0:
            continue
        for c in range(len(sizes)):
            joint[c] *= shares[place, c]
        rest += 1
        if rest == RESCALED:
            greatest, rest = joint[0], 0
            for c in range(1, len(sizes)):
                greatest = max(greatest, joint[c])
            taken += np.log(greatest)
            for c in range(len(sizes)):
                joint[c] /= greatest
    return taken


@compiled
def _total(values: Any) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


@compiled
def expected_counts(codes: Any, weight: Any, sizes: Any, shares: Any, counts: Any, totals: Any) -> float:
    """The E step: add what each class is expected to hold to `counts` and `totals`; the log-likelihood."""
    joint = np.empty(len(sizes))
    likelihood = 0.0
    for k in range(len(codes)):
        if weight[k] == 0.0:
            continue
        taken = _joint(codes[k], sizes, shares, joint)
        total = _total(joint)
        likelihood += weight[k] * (np.log(total) + taken)
        for c in range(len(sizes)):
            joint[c] *= weight[k] / total
            totals[c] += joint[c]
        for place in codes[k]:
            if place >= 0:
                for c in range(len(sizes)):
                    counts[place, c] += joint[c]
    return likelihood


@compiled
def log_density(codes: Any, rows: Any, sizes: Any, shares: Any, density: Any) -> None:
    """Put the logarithm of the chance of what some rows show into `density`."""
    joint = np.empty(len(sizes))
    for k in rows:
        taken = _joint(codes[k], sizes, shares, joint)
        density[k] = np.log(_total(joint)) + taken


@compiled
def density_without(
    codes: Any, rows: Any, weight: Any, sizes: Any, shares: Any, counts: Any, totals: Any, by_key: Any,
    smooth: Any, prior: Any, all_counts: Any, all_by_key: Any, values: Any, numeric: Any, density: Any,
) -> None:  # fmt: skip
    """Add to `density` the chance of what some rows show, each row's own records taken out of all counts first.

    `counts` by value and class, `by_key` their sums by key and class, `all_counts` and `all_by_key` the same over all
    classes; `smooth` the smoothed counts of numeric keys, to which no value contributes at its own place; `prior` by
    key the weight of the shares that counts are drawn to; `values` how many values each key has.
    """
    classes = len(sizes)
    joint, own = np.empty(classes), np.empty(classes)
    records = _total(totals)
    for k in rows:
        _joint(codes[k], sizes, shares, own)
        factor = weight[k] / _total(own)
        for c in range(classes):
            own[c] *= factor
            joint[c] = (max(totals[c] - own[c], 0.0) + 0.1) / (records - weight[k] + 0.1 * classes)
        for j in range(codes.shape[1]):
            place = codes[k, j]
            if place < 0:
                continue
            common = (max(all_counts[place] - weight[k], 0.0) + 0.5) / (all_by_key[j] - weight[k] + values[j] / 2)
            for c in range(classes):
                rest = max(by_key[j, c] - own[c], 0.0)
                drawn = common
                if numeric[j]:
                    drawn = 0.1 * common + (0.9 * smooth[place, c] / rest if rest > 1e-9 else 0.9 * common)
                joint[c] *= (max(counts[place, c] - own[c], 0.0) + prior[j] * drawn) / (rest + prior[j])
        density[k] += _total(joint)


@compiled
def smoothed(counts: Any, start: int, end: int, kernel: Any, result: Any) -> None:
    """Counts of a numeric key spread over neighbouring values, nothing staying where it is.

    `kernel` holds the weights at distance 1, 2, ...; each value gives away its whole count, so those at the ends give
    more to the few neighbours that they have.
    """
    reach = len(kernel)
    for value in range(start, end):
        for c in range(counts.shape[1]):
            result[value, c] = 0.0
    for value in range(start, end):
        low, high = max(start, value - reach), min(end, value + reach + 1)
        total = 0.0
        for other in range(low, high):
            if other != value:
                total += kernel[abs(other - value) - 1]
        for other in range(low, high):
            if other != value:
                part = kernel[abs(other - value) - 1] / total
                for c in range(counts.shape[1]):
                    result[other, c] += part * counts[value, c]


@compiled
def draw_rows(uniforms: Any, classes: Any, sums: Any, starts: Any, result: Any) -> None:
    """Complete keys of records of some classes, by the running sums of shares and a uniform number for each value."""
    for d in range(len(uniforms)):
        c = classes[d]
        for j in range(len(starts) - 1):
            low, high = starts[j], starts[j + 1] - 1
            wanted = uniforms[d, j + 1] * sums[high, c]
            while low < high:
                middle = (low + high) // 2
                if sums[middle, c] > wanted:
                    high = middle
                else:
                    low = middle + 1
            result[d, j] = low


@compiled
def thinned(count: Any, share: float, uniforms: Any, result: Any) -> None:
    """Binomial numbers of so many records that each are taken with some chance, from one uniform number each."""
    for k in range(len(count)):
        # Parts of so few expected records that the chance of none is no zero.
        rest, taken, draw = count[k], 0, uniforms[k]
        log_none = np.log1p(-share)
        most = max(int(-500.0 / log_none), 1)
        while rest > 0:
            size = min(rest, most)
            chance = np.exp(size * log_none)
            number, below = 0, 0.0
            while number < size and draw >= below + chance:
                below += chance
                chance *= (size - number) / (number + 1.0) * share / (1.0 - share)
                number += 1
            draw = min(max((draw - below) / chance, 0.0), 1.0 - 1e-16) if chance > 0.0 else 0.5
            taken += number
            rest -= size
        result[k] = taken
