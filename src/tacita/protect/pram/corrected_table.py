"""Tables of a released file corrected for PRAM, with standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import survey_weights
from tacita.parameters import Doc, NotEmpty, parameters_of
from tacita.protect.pram.categories import distinct_codes
from tacita.protect.pram.moments import Moments, along_axes, moments, randomisation_variance, sampling_variance
from tacita.protect.pram.table_axis import Axis, axis_of
from tacita.protect.pram.transitions import Category, Groups, by_variables, transitions_of
from tacita.result import Result, Table, number
from tacita.scenario import Scenario

MOST_CELLS = 1_000_000
MOST_ROWS = 30
"""So many cells are printed; all of them are in `to_frame`."""


@dataclass(frozen=True, eq=False)
class CorrectedTable(Result):
    """A table of released categories, and what it estimates of the true ones."""

    variables: tuple[str, ...]
    """The variables of the table."""
    cells: tuple[Category, ...]
    """By cell: the category of each variable as text, None where it is missing."""
    released: Floats
    """By cell: the records that show it, or the sum of their weights."""
    corrected: Floats
    """By cell: the estimate for those that truly belong there; it can be negative."""
    standard_error: Floats
    """By cell: the standard error of that estimate."""
    records: int
    """Records of the file."""
    weight: str | None
    """The weight; None: records are counted."""
    sampling: bool
    """Whether the standard errors are over the sample too, or given the true data over the exchange only."""
    cautions: tuple[str, ...] = ()
    """What the reader should know."""
    notes: tuple[str, ...] = ()
    """How the figures came about."""

    @property
    def headline(self) -> str:
        """How many cells there are, and how far they were corrected."""
        moved = float(np.abs(self.corrected - self.released).max(initial=0.0))
        greatest = float(np.nanmax(self.standard_error, initial=0.0))
        return (
            f"{check.counted(len(self.cells), 'cell')} of {' by '.join(map(repr, self.variables))} corrected by up to "
            f"{number(moved)}, with standard errors of up to {number(greatest)}"
        )

    def tables(self) -> Sequence[Table]:
        """The first cells."""
        rows = [
            (*("missing" if value is None else value for value in cell), *map(float, figures))
            for cell, *figures in zip(self.cells, self.released, self.corrected, self.standard_error, strict=True)
        ]
        heads = (*self.variables, "released", "corrected", "standard error")
        more = len(rows) - MOST_ROWS
        title = "" if more <= 0 else f"the first {MOST_ROWS} of {len(rows):,} cells"
        return (Table(heads, tuple(rows[:MOST_ROWS]), title),)

    def to_frame(self) -> frame.Frame:
        """One row per cell."""
        columns: dict[str, Any] = {}
        for place, name in enumerate(self.variables):
            columns[name] = [cell[place] for cell in self.cells]
        for name in ("released", "corrected", "standard_error"):
            free = name
            while free in columns:
                free += "'"
            columns[free] = getattr(self, name)
        return frame.table(columns)

    def to_dict(self) -> dict[str, Any]:
        """What the table is of, without its cells."""
        return {
            "variables": list(self.variables),
            "cells": len(self.cells),
            "records": self.records,
            "weight": self.weight,
            "sampling": self.sampling,
        }


def corrected_table(
    released: Any,
    variables: Annotated[tuple[str, ...], NotEmpty(), Doc("The variables of the table.")],
    transitions: Any = None,
    *,
    weight: Annotated[str | None, Doc("The weight; none: records are counted.")] = None,
    sampling: Annotated[
        bool, Doc("Whether standard errors are over the sample too; if not, over the exchange, given the true data.")
    ] = False,
) -> CorrectedTable:
    """A table of categories that PRAM exchanged, estimated without bias by the inverse of the transition matrix.

    E(t*) = t R for the table t of the true categories and t* of the released ones, so that t* R^-1 estimates t. Of
    several variables the inverses are applied axis by axis; variables that were not exchanged are taken as they are,
    and strata have their own matrices. A record that shows y counts h_y(k) = (R^-1)_yk times w in cell k, and the
    variance over the exchange, given the true data, is estimated by sum of w^2 h (h - 1).

    `transitions` is the release, the file `transition_matrices.json` beside published data, or the internal `log.json`.

    Kooiman, Willenborg and Gouweleeuw (1997), PRAM: a method for disclosure limitation of microdata. Statistics
    Netherlands. Gouweleeuw et al. (1998), Journal of Official Statistics 14(4), 463-478.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"ill": ["no"] * 900 + ["yes"] * 100})
    >>> matrix = {"no": {"no": 0.9, "yes": 0.1}, "yes": {"no": 0.3, "yes": 0.7}}
    >>> release = tc.Plan([tc.Pram("ill", matrix=matrix)]).apply(people, tc.Scenario(keys=["ill"]), seed=2)
    >>> print(corrected_table(release, "ill"))
    2 cells of 'ill' corrected by up to 48.7, with standard errors of up to 17.1
      ill  released  corrected  standard error
      no        823      871.7            17.1
      yes       177      128.3            17.1
    standard errors over the exchange, given the true data
    """
    given = {each.name: each for each in parameters_of(corrected_table)}
    names: tuple[str, ...] = given["variables"].checked(variables)
    weight, sampling = given["weight"].checked(weight), given["sampling"].checked(sampling)
    data = Data.of(released)
    if transitions is None and not hasattr(released, "changes"):
        raise TacitaError("transitions must be named with a file; pass transitions='transition_matrices.json'.")
    groups = by_variables(transitions_of(released if transitions is None else transitions), names)
    check.columns_exist("variables", names, data.columns)
    check.columns_exist("variables of the transitions", [name for group in groups for name in group], data.columns)
    if not len(data):
        raise TacitaError("the file has no records; there is no table of it.")
    if (np.diff(data.record) < 0).any():
        # Sums do not depend on the order of the rows.
        data = data.take(np.argsort(data.record, kind="stable"))
    return _estimated(data, names, groups, weight, sampling)


def _estimated(
    data: Data, names: tuple[str, ...], groups: Groups, weight: str | None, sampling: bool
) -> CorrectedTable:
    axes = _axes(data, names, groups)
    found, shown = _summed(axes, np.ones(len(data)) if weight is None else _weights(data, weight))
    variance = sampling_variance(found, len(data)) if sampling else randomisation_variance(found)
    cells, order = _cells(axes, names)
    estimate, spread = found.estimate.reshape(-1)[order], variance.reshape(-1)[order]
    return CorrectedTable(
        names,
        cells,
        shown.reshape(-1)[order],
        estimate,
        np.sqrt(np.maximum(spread, 0.0)),
        len(data),
        weight,
        sampling,
        _cautions(data, names, groups, estimate, spread),
        _notes(groups, weight, sampling),
    )


def _weights(data: Data, weight: str) -> Floats:
    check.columns_exist("weight", (weight,), data.columns)
    weights = survey_weights(data, Scenario(numeric_keys=(weight,), weight=weight))
    assert weights is not None
    return weights


def _axes(data: Data, names: tuple[str, ...], groups: Groups) -> list[Axis]:
    """One axis for each group of variables that were exchanged together, and for each other variable."""
    exchanged = {name for group in groups for name in group}
    unchanged: Groups = {(name,): [] for name in names if name not in exchanged}
    every = groups | unchanged
    axes = [axis_of(data, group, names, listed) for group, listed in every.items()]
    size = int(np.prod([float(max(axis.shown.shape)) for axis in axes]))
    if size > MOST_CELLS:
        raise TacitaError(f"the table would have {size:,} cells, more than {MOST_CELLS:,}; name fewer variables.")
    return axes


def _summed(axes: Sequence[Axis], weights: Floats) -> tuple[Moments, Floats]:
    """The moments of all records, those with the same matrices together, and the table as it is released."""
    many = tuple(len(axis.inverses) for axis in axes)
    strata, part = distinct_codes(np.ravel_multi_index(tuple(axis.stratum for axis in axes), many).astype(np.int64))
    total: Moments | None = None
    whole = np.zeros(tuple(len(axis.shown) for axis in axes))
    for at, stratum in enumerate(strata.tolist()):
        rows = np.flatnonzero(part == at)
        sums, squares = (_table(axes, rows, each[rows]) for each in (weights, weights**2))
        places = np.unravel_index(stratum, many)
        inverses = [axis.inverses[int(place)] for axis, place in zip(axes, places, strict=True)]
        found = moments(sums, squares, inverses)
        total = found if total is None else Moments(*(one + other for one, other in zip(total, found, strict=True)))
        whole += sums
    assert total is not None
    return total, along_axes(whole, [axis.shown for axis in axes])


def _table(axes: Sequence[Axis], rows: Ints, weights: Floats) -> Floats:
    shape = tuple(len(axis.shown) for axis in axes)
    place = np.ravel_multi_index(tuple(axis.codes[rows] for axis in axes), shape)
    sums: Floats = np.bincount(place, weights=weights, minlength=int(np.prod(shape))).astype(np.float64)
    return sums.reshape(shape)


def _cells(axes: Sequence[Axis], names: tuple[str, ...]) -> tuple[tuple[Category, ...], Ints]:
    """The cells, with their categories in the order of the variables asked for, and where each is in the table."""
    held = [name for axis in axes for name in axis.names]
    place = [held.index(name) for name in names]
    joined = [
        tuple(value for part in parts for value in part) for parts in product(*(axis.categories for axis in axes))
    ]
    cells = [tuple(each[at] for at in place) for each in joined]
    ranks: dict[str, dict[str | None, int]] = {name: {} for name in names}
    for axis in axes:
        for at, name in enumerate(axis.names):
            for category in axis.categories:
                ranks[name].setdefault(category[at], len(ranks[name]))
    order = sorted(
        range(len(cells)), key=lambda at: [ranks[name][value] for name, value in zip(names, cells[at], strict=True)]
    )
    return tuple(cells[at] for at in order), np.array(order, dtype=np.int64)


def _cautions(
    data: Data,
    names: tuple[str, ...],
    groups: Groups,
    estimate: Floats,
    variance: Floats,
) -> tuple[str, ...]:
    found = []
    exchanged = {name for group in groups for name in group}
    others = [name for name in names if name in data.perturbed and name not in exchanged]
    if others:
        found.append(f"{check.quoted(others)} were changed by another step, and are taken as they are.")
    negative = int((estimate < 0).sum())
    if negative:
        found.append(
            f"{check.counted(negative, 'estimate is', 'estimates are')} below 0: too few records for a correction."
        )
    unknown = int((variance < -1e-9 * np.abs(estimate)).sum())
    if unknown:
        found.append(f"{check.counted(unknown, 'standard error', 'standard errors')} cannot be told from 0.")
    return tuple(found)


def _notes(groups: Groups, weight: str | None, sampling: bool) -> tuple[str, ...]:
    errors = "over the exchange, given the true data"
    if sampling:
        errors = (
            "over the exchange and the sample, as if drawn with replacement; strata and clusters are not known here"
        )
    said = [f"standard errors {errors}"]
    wanted = "counts" if weight is None else "weighted totals"
    kept = [
        name for (name, *more), listed in groups.items() if not more and all(each.keeps == wanted for each in listed)
    ]
    if kept:
        said.append(
            f"released {wanted} of {check.quoted(kept)} alone are unbiased as they are: the matrix keeps them in "
            f"expectation"
        )
    return tuple(said)
