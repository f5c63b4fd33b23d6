"""One or two variables, plain and weighted: the tables behind the page Data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacita.arrays import Floats
from tacita.data import Data
from tacita.result import Percent, Table

MOST_CATEGORIES = 40
"""More categories of a variable are put together in tables and figures."""
BINS = 20


class Groups(NamedTuple):
    """Records by category of a variable, or by class of its numbers."""

    place: Any
    """By record the place of its category; the last one stands for missing values."""
    names: tuple[str, ...]


def groups(data: Data, name: str) -> Groups:
    """The categories of a variable, those of a number in classes; the rare ones of many together."""
    missing = data.missing(name)
    if data.scale(name) == "numeric":
        place, names = _classes(data.numbers(name), missing)
    else:
        coded = data.coded(name)
        labels = data.variable(name).value_labels
        names = [f"{value} {labels[value]}" if value in labels else str(value) for value in coded.values]
        place = np.asarray(coded.codes, dtype=np.int64) - 1
        place, names = _most_frequent(place, names)
    missing = missing | (place < 0)
    place = np.where(missing, len(names), place)
    return Groups(place, (*names, "missing"))


def _most_frequent(place: Any, names: list[str]) -> tuple[Any, list[str]]:
    if len(names) <= MOST_CATEGORIES:
        return place, names
    count = np.bincount(place[place >= 0], minlength=len(names))
    kept = np.sort(np.argsort(-count, kind="stable")[: MOST_CATEGORIES - 1])
    lookup = np.full(len(names) + 1, len(kept))
    lookup[kept] = np.arange(len(kept))
    lookup[-1] = -1
    return lookup[place], [*(names[each] for each in kept), f"{len(names) - len(kept):,} others"]


def _classes(values: Floats, missing: Any) -> tuple[Any, list[str]]:
    """Classes of equal width, rounded to what people write; as many as there are values where there are few."""
    known = values[~missing & np.isfinite(values)]
    if len(known) == 0:
        return np.full(len(values), -1), []
    different = np.unique(known[:200_000])
    if len(different) <= BINS:
        return np.searchsorted(different, np.nan_to_num(values, nan=different[0])).clip(0, len(different) - 1), [
            f"{each:g}" for each in different
        ]
    low, high = (float(each) for each in np.quantile(known, [0.005, 0.995]))
    width = _round_width((high - low) / BINS) or 1.0
    start = np.floor(low / width) * width
    count = int(np.ceil((high - start) / width + 1e-9)) or 1
    place = np.floor((np.nan_to_num(values, nan=start) - start) / width).clip(0, count - 1).astype(np.int64)
    names = [f"{start + at * width:,.6g} to {start + (at + 1) * width:,.6g}" for at in range(count)]
    # The outermost hold everything beyond: no extreme value is written on the screen's axis.
    names[0], names[-1] = f"below {start + width:,.6g}", f"from {start + (count - 1) * width:,.6g}"
    return place, names


def _round_width(width: float) -> float:
    if width <= 0:
        return 0.0
    power = 10.0 ** np.floor(np.log10(width))
    return float(next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= width))


def weights_of(data: Data, weight: str | None) -> Floats:
    """The weights, ones without; missing ones count nothing."""
    return np.ones(len(data)) if weight is None else np.nan_to_num(data.numbers(weight), nan=0.0)


def one_way(data: Data, name: str, weight: str | None) -> Table:
    """Records, shares and weighted shares by category."""
    place, names = groups(data, name)
    count = np.bincount(place, minlength=len(names))
    total = max(int(count.sum()), 1)
    columns: tuple[str, ...] = ("value", "records", "share")
    weighted = None
    if weight is not None:
        weighted = np.bincount(place, weights=weights_of(data, weight), minlength=len(names))
        columns = (*columns, "weighted", "weighted share")
    rows = []
    for at, each in enumerate(names):
        if each == "missing" and not count[at]:
            continue
        row: tuple[Any, ...] = (each, int(count[at]), Percent(count[at] / total))
        if weighted is not None:
            row = (*row, float(round(weighted[at])), Percent(weighted[at] / max(weighted.sum(), 1e-300)))
        rows.append(row)
    return Table(columns, tuple(rows), name)


def two_way(data: Data, rows: str, columns: str, weight: str | None) -> Table:
    """Records, or units of the population by weight, by the categories of two variables."""
    first, second = groups(data, rows), groups(data, columns)
    place = first.place * len(second.names) + second.place
    sums = np.bincount(place, weights=weights_of(data, weight), minlength=len(first.names) * len(second.names))
    counts = sums.reshape(len(first.names), len(second.names)).round()
    across = [at for at in range(len(second.names)) if at < len(second.names) - 1 or counts[:, at].any()]
    listed = [at for at in range(len(first.names)) if at < len(first.names) - 1 or counts[at].any()]
    body = tuple((first.names[at], *(float(counts[at, to]) for to in across)) for at in listed)
    return Table((f"{rows} by {columns}", *(second.names[to] for to in across)), body)


def numbers(data: Data, name: str, weight: str | None) -> Table | None:
    """Mean, spread and quantiles of a number; None for categories."""
    if data.scale(name) != "numeric":
        return None
    values = data.numbers(name)
    known = ~data.missing(name) & np.isfinite(values)
    if not known.any():
        return None
    found = [("plain", values[known], np.ones(int(known.sum())))]
    if weight is not None:
        found.append(("weighted", values[known], weights_of(data, weight)[known]))
    rows = tuple((words, *_summary(each, weights)) for words, each, weights in found)
    return Table(("", "mean", "standard deviation", "5 %", "median", "95 %"), rows)


def _summary(values: Floats, weights: Floats) -> tuple[float, ...]:
    total = max(float(weights.sum()), 1e-300)
    mean = float((values * weights).sum() / total)
    spread = float(np.sqrt(((values - mean) ** 2 * weights).sum() / total))
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) / total
    quantiles = (float(values[order][min(int(np.searchsorted(below, q)), len(values) - 1)]) for q in (0.05, 0.5, 0.95))
    return (mean, spread, *quantiles)
