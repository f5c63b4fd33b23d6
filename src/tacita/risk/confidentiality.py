"""The confidentiality plot: how well does each released record hide, and how far was it moved?

For numbers every record is unique, so risk is a matter of likeness: how many originals look like the released record,
and how much was it changed. Each record is a point with those two coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.result import Result, columns, percent

NEIGHBOURS = 15
"""As many originals must look like a released record that was hardly changed (k)."""
PERTURBATION = 0.15
"""So far must a record be moved that nothing else looks like (r), as a share of its size."""


ZEROS = ("shift", "exclude")


class Limits(NamedTuple):
    """The line between safe and unsafe: (x/k)^g + (y/r)^g = 1, or x = k alone."""

    k: int = NEIGHBOURS
    """Neighbours that make a record safe however little it was changed."""
    r: float = PERTURBATION
    """Perturbation that makes a record safe however few neighbours it has."""
    g: float = 1.0
    """1 straight, below 1 convex (weaker), above 1 concave (stronger)."""
    vertical: bool = False
    """Whether neighbours alone decide, as when confidential variables are released too."""

    def unsafe(self, neighbours: Floats, perturbation: Floats) -> Bools:
        """Below the line and with fewer than k neighbours."""
        few: Bools = neighbours < self.k
        if self.vertical:
            return few
        return few & ((neighbours / self.k) ** self.g + (perturbation / self.r) ** self.g < 1.0)


@dataclass(frozen=True, eq=False)
class Confidentiality(Result):
    """Every record by how well it hides among its neighbours and by how much it was changed."""

    figure: ClassVar[str | None] = "confidentiality"

    keys: tuple[str, ...]
    """The numeric keys."""
    record: Ints
    """The number of each record that could be compared."""
    stratum: Ints
    """By record: the place of its stratum in `labels`."""
    labels: tuple[str, ...]
    """The strata; one empty text without strata."""
    neighbours: Ints
    """By record: originals of its stratum that look like it, its own included if it does."""
    perturbation: Floats
    """By record: ||y - x|| / ||x||."""
    correct: Floats
    """By record: the probability that the nearest original is its own (1 / ties)."""
    inside: Bools
    """By record: whether its own original is among the neighbours."""
    largest: Bools
    """By record: whether it is the largest unit of its stratum."""
    delta: Floats
    """By stratum: the critical distance."""
    alpha: float | None
    """Share of wrong pairs that count as neighbours; None if delta was given."""
    limits: Limits
    """What counts as unsafe."""
    log: bool
    """Whether keys were compared on the log scale."""
    left_out: int
    """Records that could not be compared: a key missing, or no logarithm."""
    ranks: Bools
    """By stratum: which of the ten largest units by the size variable keep their rank."""
    size: str
    """The size variable."""

    @cached_property
    def unsafe(self) -> Bools:
        """By record: whether it lies in the unsafe zone."""
        return self.limits.unsafe(self.neighbours.astype(np.float64), self.perturbation)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the reader should know."""
        tied = int((np.bincount(self.stratum)[self.delta == 0] > 1).sum())
        if not tied:
            return ()
        where = "the file" if len(self.labels) == 1 else check.counted(tied, "stratum", "strata")
        return (
            f"in {where} more than alpha of the wrong pairs have distance 0, so delta is 0 and nobody has neighbours: "
            f"many values are equal (zeros, rounded numbers); give delta, a higher alpha, or other keys.",
        )

    def __str__(self) -> str:
        n = len(self.record)
        found = int(self.unsafe.sum())
        links, inside = math.fsum(self.correct), int(self.inside.sum())
        where = f"k = {self.limits.k}" + ("" if self.limits.vertical else f", r = {percent(self.limits.r)}")
        lines = [
            f"{found:,} of {check.counted(n, 'record')} in the unsafe zone ({percent(found / n)}; {where}) "
            f"on {', '.join(self.keys)}{' (log scale)' if self.log else ''}",
            f"nearest original is the right one: {links:.4g} ({percent(links / n)}); "
            f"right one among the neighbours: {inside:,} ({percent(inside / n)})",
            self.table_text(),
        ]
        lines += [f"caution: {text}" for text in self.cautions]
        if self.left_out:
            lines.append(f"{check.counted(self.left_out, 'record')} left out: a key is missing or has no logarithm")
        return "\n".join(lines)

    def _rows(self) -> list[tuple[Any, ...]]:
        """One row per stratum and one for all: records, links, delta, inside, empty, unsafe, mean neighbours."""
        rows = []
        parts = [(label, self.stratum == place, self.delta[place]) for place, label in enumerate(self.labels)]
        if len(parts) > 1:
            parts.append(("all", np.ones(len(self.record), dtype=bool), float(np.nanmean(self.delta))))
        for label, here, delta in parts:
            count = int(here.sum())
            expected = math.nan if self.alpha is None else self.alpha * (count - 1)
            rows.append(
                (
                    label,
                    count,
                    math.fsum(self.correct[here]),
                    float(delta),
                    int(self.inside[here].sum()),
                    int((self.neighbours[here] == 0).sum()),
                    float(self.neighbours[here].mean()) if count else math.nan,
                    expected if label != "all" else math.nan,
                    int(self.unsafe[here].sum()),
                )
            )
        return rows

    def table_text(self) -> str:
        """The table by stratum, for print."""
        head = ("stratum", "records", "nearest links", "100 delta", "true link inside", "empty", "neighbours", "unsafe")
        rows: list[tuple[str, ...]] = [head]
        for label, count, links, delta, inside, empty, mean, _, unsafe in self._rows():
            rows.append(
                (
                    label or "all",
                    f"{count:,}",
                    f"{links:.4g} ({100 * links / max(count, 1):.1f})",
                    f"{100 * delta:.3g}",
                    f"{inside:,} ({100 * inside / max(count, 1):.1f})",
                    f"{empty:,}",
                    f"{mean:.1f}",
                    f"{unsafe:,}",
                )
            )
        return columns(rows, indent="")

    def table(self) -> frame.Frame:
        """One row per stratum and one for all of them, as in tables 2 to 5 of Seri and Polettini (2003)."""
        names = ("stratum", "records", "nearest_links", "delta", "true_link_inside", "empty", "mean_neighbours")
        names = (*names, "alpha_times_n_less_1", "unsafe")  # type: ignore[assignment]
        rows = self._rows()
        return frame.table({name: [row[place] for row in rows] for place, name in enumerate(names)})

    def rank_table(self) -> frame.Frame:
        """One row per stratum: which of its ten largest units keep their rank (table 6)."""
        kept = {f"rank_{place + 1}": self.ranks[:, place] for place in range(self.ranks.shape[1])}
        return frame.table({"stratum": list(self.labels), "preserved": self.ranks.sum(axis=1)} | kept)

    def to_frame(self) -> frame.Frame:
        """One row per record: its number and figures, no values."""
        return frame.table(
            {
                "record": self.record,
                "stratum": (self.stratum.astype(np.uint32) + 1, self.labels),
                "neighbours": self.neighbours,
                "perturbation": self.perturbation,
                "nearest_correct": self.correct,
                "true_link_inside": self.inside,
                "largest": self.largest,
                "unsafe": self.unsafe,
            }
        )

    def figures(self) -> dict[str, Any]:
        """The figures of the file."""
        return {
            "keys": list(self.keys),
            "records": len(self.record),
            "unsafe": int(self.unsafe.sum()),
            "nearest_links": math.fsum(self.correct),
            "true_link_inside": int(self.inside.sum()),
            "limits": self.limits._asdict(),
            "left_out": self.left_out,
        }


def confidentiality(
    original: Any,
    released: Any,
    keys: Any,
    *,
    strata: Any = None,
    alpha: float = 0.05,
    delta: float | None = None,
    k: int = NEIGHBOURS,
    r: float = PERTURBATION,
    g: float = 1.0,
    vertical: bool = False,
    log: bool = False,
    zeros: str = "shift",
    size: str | None = None,
) -> Confidentiality:
    """How well each released record hides among the originals, and how far it was moved.

    Record i of the released file masks record i of the original (matched by record number). The comparison variable
    of a pair is z = ||y - x|| / ||y|| on the keys. The critical distance delta is such that a share `alpha` of the
    wrong pairs of a stratum has z < delta, or is given; neighbours of y are the originals with z < delta. A record is
    unsafe below the line (neighbours/k)^g + (perturbation/r)^g = 1, or with fewer than k neighbours if `vertical`.
    On the log scale (`log=True`) zeros are shifted, log(1 + x), or their records excluded.

    References: Seri and Polettini (2003), CASC deliverable 5-D5; Seri, A graphical framework to evaluate risk
    assessment and information loss at individual level.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 11.0, 12.0, 300.0]})
    >>> masked = pl.DataFrame({"turnover": [11.0, 10.5, 12.5, 290.0]})
    >>> found = confidentiality(firms, masked, ["turnover"], delta=0.2, k=3)
    >>> found.neighbours.tolist(), found.unsafe.tolist()
    ([3, 3, 2, 1], [False, False, True, True])
    """
    from tacita.linkage.critical import critical_distance
    from tacita.linkage.distances import log_scale
    from tacita.linkage.neighbours import nearest, neighbour_counts

    first, second = aligned(original, released)
    names = check.names("keys", keys)
    by = check.names("strata", strata)
    limits = _limits(k, r, g, vertical)
    _check_columns(first, second, names, by, size)
    x, y = (np.column_stack([data.numbers(name) for name in names]) for data in (first, second))
    kept = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    _check_finite(x, y, names)
    if log:
        how: Literal["shift", "exclude"] = "shift" if check.one_of("zeros", zeros, ZEROS) == "shift" else "exclude"
        (x, x_fits), (y, y_fits) = log_scale(x, how), log_scale(y, how)
        kept &= x_fits & y_fits
    rows = np.flatnonzero(kept)
    if not len(rows):
        raise TacitaError("no record has all keys in both files; there is nothing to compare.")
    stratum, labels = _strata(first, by, rows)
    x, y = np.ascontiguousarray(x[rows]), np.ascontiguousarray(y[rows])
    if delta is None:
        level = check.share("alpha", alpha, zero=False, one=False)
        critical = critical_distance(y, x, level, groups=stratum).delta
        # A stratum of one record has no wrong pair: nothing but the record itself could be near.
        critical = np.where(np.isnan(critical), 0.0, critical)
    else:
        critical = np.full(len(labels), check.number("delta", delta))
    near = neighbour_counts(y, x, critical[stratum], groups=stratum)
    links = nearest(y, x, groups=stratum)
    measure = first.numbers(size or names[0])[rows]
    released_size = second.numbers(size or names[0])[rows]
    return Confidentiality(
        keys=names,
        record=first.record[rows],
        stratum=stratum,
        labels=labels,
        neighbours=near.count,
        perturbation=_perturbation(x, y),
        correct=links.correct,
        inside=near.true_link_inside,
        largest=_largest(measure, stratum, len(labels)),
        delta=critical,
        alpha=alpha if delta is None else None,
        limits=limits,
        log=log,
        left_out=len(first) - len(rows),
        ranks=_ranks_kept(measure, released_size, stratum, len(labels)),
        size=size or names[0],
    )


def aligned(original: Any, released: Any) -> tuple[Data, Data]:
    """Both files with the records of the original in its order, matched by record number."""
    first, second = Data.of(original), Data.of(released)
    if len(first) == 0:
        raise TacitaError("the original file has no records; there is nothing to compare.")
    if np.array_equal(first.record, second.record):
        return first, second
    order = np.argsort(second.record, kind="stable")
    place = np.searchsorted(second.record[order], first.record)
    found = place < len(order)
    found[found] = second.record[order][place[found]] == first.record[found]
    if not found.all() or len(first) != len(second):
        raise TacitaError(
            f"the released file must have the records of the original; it has {len(second):,} for {len(first):,}, "
            f"compare files of the same units."
        )
    return first, second.take(order[place])


def _limits(k: int, r: float, g: float, vertical: bool) -> Limits:
    if check.number("r", r) <= 0 or check.number("g", g) <= 0:
        raise TacitaError(f"r and g must be above 0; got {r!r} and {g!r}.")
    return Limits(check.whole("k", k, 1), r, g, vertical)


def _check_columns(first: Data, second: Data, names: tuple[str, ...], by: tuple[str, ...], size: str | None) -> None:
    if not names:
        raise TacitaError("name at least one numeric key; pass keys=[...].")
    wanted = [*names, *([size] if size else [])]
    check.columns_exist("keys", wanted, first.columns)
    check.columns_exist("keys of the released file", wanted, second.columns)
    check.columns_exist("strata", by, first.columns)


def _check_finite(x: Floats, y: Floats, names: tuple[str, ...]) -> None:
    infinite = np.isinf(x).any(axis=0) | np.isinf(y).any(axis=0)
    if infinite.any():
        wrong = [name for place, name in enumerate(names) if np.atleast_1d(infinite)[place]]
        raise TacitaError(f"keys must be finite; {check.quoted(wrong)} has infinite values, correct the file.")


def _strata(data: Data, by: tuple[str, ...], rows: Ints) -> tuple[Ints, tuple[str, ...]]:
    """By record the place of its stratum, and the names of the strata in order."""
    if not by:
        return np.zeros(len(rows), dtype=np.int64), ("",)
    from tacita.keys import distinct_keys

    coded = [data.coded(name) for name in by]
    place, codes = distinct_keys([each.codes[rows] for each in coded], [len(each.values) for each in coded])
    texts = [["(missing)", *(str(value) for value in each.values)] for each in coded]
    labels = tuple(" x ".join(text[code] for text, code in zip(texts, row, strict=True)) for row in codes.tolist())
    return place.astype(np.int64), labels


def _perturbation(x: Floats, y: Floats) -> Floats:
    """||y - x|| / ||x||; 0 where nothing moved, infinite where nothing was there to move."""
    moved, length = np.sqrt(((y - x) ** 2).sum(axis=1)), np.sqrt((x**2).sum(axis=1))
    share = np.divide(moved, length, out=np.full(len(x), np.inf), where=length > 0)
    return np.where(moved == 0, 0.0, share)


def _largest(measure: Floats, stratum: Ints, count: int) -> Bools:
    """Which record is the largest of its stratum; the first of equally large ones."""
    order = np.lexsort((np.arange(len(measure)), -measure, stratum))
    first = order[np.flatnonzero(np.diff(stratum[order], prepend=-1))]
    largest = np.zeros(len(measure), dtype=bool)
    largest[first] = True
    return largest


def _ranks_kept(measure: Floats, released: Floats, stratum: Ints, count: int, top: int = 10) -> Bools:
    """By stratum: whether the j-th largest unit is still the j-th largest, for the ten largest."""
    kept = np.zeros((count, top), dtype=bool)
    rows = np.arange(len(measure))
    before, after = (np.lexsort((rows, -values, stratum)) for values in (measure, released))
    start = np.searchsorted(stratum[before], np.arange(count))
    for place in range(top):
        at = start + place
        fits = (at < len(rows)) & (np.append(stratum[before], -1)[np.minimum(at, len(rows))] == np.arange(count))
        at = np.where(fits, at, 0)
        kept[:, place] = fits & (before[at] == after[at])
    return kept


@dataclass(frozen=True, eq=False)
class ConfidentialitySets(Result):
    """The confidentiality of one file under several key sets."""

    parts: Mapping[str, Confidentiality]
    """By name of the key set."""

    def __str__(self) -> str:
        return "\n\n".join(f"{name}: {part}" for name, part in self.parts.items())

    def to_frame(self) -> frame.Frame:
        """One row per key set and stratum."""
        tables = [(name, part.table()) for name, part in self.parts.items()]
        return frame.stacked([frame.beside(frame.table({"keys": [name] * each.height}), each) for name, each in tables])


def confidentiality_sets(
    original: Any, released: Any, key_sets: Mapping[str, Any], **options: Any
) -> ConfidentialitySets:
    """`confidentiality` for several key sets at once: the tables of Seri and Polettini (2003) in one call.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 11.0, 300.0], "employees": [3.0, 4.0, 90.0]})
    >>> found = confidentiality_sets(firms, firms, {"one": ["turnover"], "two": ["turnover", "employees"]}, delta=0.2)
    >>> [part.neighbours.tolist() for part in found.parts.values()]
    [[2, 2, 1], [2, 2, 1]]
    """
    sets = check.mapping("key_sets", key_sets)
    first, second = aligned(original, released)
    return ConfidentialitySets({name: confidentiality(first, second, keys, **options) for name, keys in sets.items()})
