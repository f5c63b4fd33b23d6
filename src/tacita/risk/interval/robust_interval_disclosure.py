"""Robust interval disclosure: intervals that are wider for outlying records, which need more protection."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.distance.covariance import mcd, squared_distance
from tacita.distance.scenario_keys import NumericKeys, Unit, numeric_keys
from tacita.measures import measure, own_rule
from tacita.parameters import AtLeast, Doc, OneOf, checked_options
from tacita.progress import Progress, no_progress
from tacita.random import Draws
from tacita.result import Percent, Result, Table, number, percent
from tacita.risk.interval.interval_disclosure import pairs_of_values
from tacita.scenario import Scenario

WIDTH = 0.05
"""An interval is this many robust Mahalanobis distances wide, before k."""
SCALES = ("own", "original")


def strictly_within(x: Floats, y: Floats, half_width: Floats) -> Bools:
    """By record and variable: whether x - width < y < x + width, one width per record."""
    inside: Bools = (y > x - half_width[:, None]) & (y < x + half_width[:, None])
    return inside


def few_neighbours(values: Floats, rows: Ints, distance: float, least: int) -> Bools:
    """For some rows: whether fewer than `least` other rows lie within a Euclidean distance."""
    from scipy.spatial import cKDTree

    if least > len(values) - 1:
        return np.ones(len(rows), dtype=np.bool_)
    # The record itself is one of the nearest.
    nearest, _ = cKDTree(values).query(values[rows], k=[least + 1])
    few: Bools = nearest[:, 0] > distance
    return few


@dataclass(frozen=True, eq=False)
class RobustIntervalDisclosure(Result):
    """How many released values lie in intervals around the original ones that grow with outlyingness (RMD)."""

    variables: tuple[str, ...]
    """The variables compared."""
    k: float
    """Half the width of the interval of a record: k times its D."""
    k2: float
    """Released records within this Euclidean distance hide a record."""
    least: int
    """So many of them are enough."""
    scale: str
    """own: each file was centred and scaled by itself, which hides a change of mean or scale; original: both by the
    original's mean and standard deviation."""
    compared: Bools
    """By released record: whether it and its original are complete; the others are left out."""
    distance: Floats
    """By released record: D = 0.05 x robust Mahalanobis distance of the original; NaN where left out."""
    inside: Bools
    """By released record and variable: whether the released value is inside the interval."""
    crowded: Bools
    """By released record: whether enough other released records are near."""
    record: Ints
    """The number of each released record that is in the original."""
    cautions: tuple[str, ...] = ()
    """That some released records are not."""

    @cached_property
    def unsafe(self) -> Bools:
        """By record: at least one variable inside its interval (RMDID1)."""
        return np.asarray(self.inside.any(axis=1))

    @cached_property
    def all_inside(self) -> Bools:
        """By record: every variable inside its interval, as the SD interval asks for."""
        return np.asarray(self.inside.all(axis=1))

    @cached_property
    def unsafe_alone(self) -> Bools:
        """By record: unsafe, and with too few other released records near (RMDID2)."""
        return self.unsafe & ~self.crowded

    @property
    def size(self) -> int:
        """Records compared."""
        return int(self.compared.sum())

    @property
    def rmdid1(self) -> float:
        """Share of the records with at least one variable inside."""
        return int(self.unsafe.sum()) / self.size

    @property
    def by_variable(self) -> dict[str, float]:
        """By variable: the share of the records whose released value is inside."""
        return dict(zip(self.variables, (self.inside.sum(axis=0) / self.size).tolist(), strict=True))

    @property
    def rmdid1_all(self) -> float:
        """Share of the records with every variable inside."""
        return int(self.all_inside.sum()) / self.size

    @property
    def rmdid2(self) -> float:
        """Share of the records that are unsafe and have too few others near."""
        return int(self.unsafe_alone.sum()) / self.size

    @property
    def rmdid1w(self) -> float:
        """Number of unsafe records times the sum of their D, over all records: sdcMicro's weighted figure, no mean."""
        return self._weighted(self.unsafe)

    @property
    def rmdid2w(self) -> float:
        """The same of the records that are unsafe and alone."""
        return self._weighted(self.unsafe_alone)

    @property
    def mean_distance(self) -> float:
        """Mean of D over the unsafe records; 0 if there are none."""
        return float(self.distance[self.unsafe].mean()) if self.unsafe.any() else 0.0

    def _weighted(self, rows: Bools) -> float:
        return float(rows.sum() * self.distance[rows].sum() / self.size)

    @property
    def headline(self) -> str:
        """Records with a released value inside the robust interval."""
        return (
            f"{int(self.unsafe.sum()):,} of {self.size:,} records ({percent(self.rmdid1)}) have a released value "
            f"inside the robust interval of the original one (RMDID1), {int(self.all_inside.sum()):,} all of them"
        )

    def sentences(self) -> list[str]:
        """Those that no others hide, how far out they lie, and what was left out."""
        lines = [
            f"{int(self.unsafe_alone.sum()):,} of them ({percent(self.rmdid2)}) have fewer than "
            f"{check.counted(self.least, 'other released record')} near (RMDID2)",
            f"mean distance D of unsafe records {self.mean_distance:.3g}, RMDID1w {number(self.rmdid1w)}",
        ]
        gone = len(self.compared) - self.size
        if gone:
            lines.append(f"{check.counted(gone, 'record')} with missing values left out")
        if self.scale == "own":
            lines.append("each file is scaled by itself, so a change of mean or scale does not show")
        return lines

    def tables(self) -> tuple[Table, ...]:
        """The share of each variable."""
        rows = tuple((name, Percent(share)) for name, share in self.by_variable.items())
        return (Table(("variable", "in the interval"), rows),)

    def to_frame(self) -> frame.Frame:
        """One row per released record."""
        return frame.table({"record": self.record, **self.record_columns()})

    def record_columns(self) -> dict[str, Any]:
        """D, and whether the record is unsafe, in all variables, and alone."""
        return {
            "distance": self.distance,
            "unsafe": self.unsafe,
            "all_inside": self.all_inside,
            "unsafe_alone": self.unsafe_alone,
        }

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file and the constants behind them."""
        return {
            "rmdid1": self.rmdid1,
            "rmdid1_all": self.rmdid1_all,
            "rmdid1w": self.rmdid1w,
            "rmdid2": self.rmdid2,
            "rmdid2w": self.rmdid2w,
            "by_variable": self.by_variable,
            "mean_distance": self.mean_distance,
            "records": self.size,
            "left_out": len(self.compared) - self.size,
            "k": self.k,
            "k2": self.k2,
            "scale": self.scale,
        }


@measure(
    files=2,
    needs="numeric_keys",
    missing=own_rule("Records with a missing value in either file are left out and counted."),
    seed_matters=False,
)
def robust_interval_disclosure(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: NumericKeys = None,
    k: Annotated[float, AtLeast(0), Doc("Half the width of the interval of a record, in its D.")] = 0.01,
    k2: Annotated[float, AtLeast(0), Doc("Released records within this distance hide a record.")] = 0.05,
    least: Annotated[int, AtLeast(1), Doc("So many released records nearby hide a record.")] = 1,
    scale: Annotated[str, OneOf(SCALES), Doc("Scale each file by its own, or both by the original's.")] = "own",
    covariance: Annotated[Any, Doc("Covariance of the scaled original; the robust one (MCD) unless given.")] = None,
    seed: Annotated[int, Doc("Draws the starts of the MCD.")] = 0,
    unit: Unit = None,
    progress: Progress = no_progress,
) -> RobustIntervalDisclosure:
    """How many released values lie inside intervals that widen with the outlyingness of the record (RMD).

    A firm far from all others needs more than a little noise: everybody knows whose numbers those are. With x and y
    the original and the released values, centred and scaled, D_i is 0.05 times the robust Mahalanobis distance of x_i
    from the mean, by the minimum covariance determinant. A record is unsafe (RMDID1) if |y_ij - x_ij| < k D_i for some
    variable j, and still unsafe (RMDID2) if fewer than `least` other released records lie within Euclidean distance k2.

    `scale="own"` scales each file by its own mean and standard deviation, as sdcMicro does; `"original"` both by the
    original's. `covariance` replaces the MCD covariance of the scaled original. The seed draws the starts of the MCD,
    nothing else.

    Reference: Templ and Meindl (2008), Robust statistics meets SDC. Privacy in Statistical Databases, LNCS 5262.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 60.0], "b": [2.0, 1.0, 4.0, 3.0, 6.0, 5.0]})
    >>> found = robust_interval_disclosure(firms, firms, Scenario(numeric_keys=["a", "b"]), covariance=[[1, 0], [0, 1]])
    >>> found.rmdid1, found.distance.round(3).tolist()
    (1.0, [0.047, 0.071, 0.024, 0.023, 0.069, 0.109])
    """
    options = {"k": k, "k2": k2, "least": least, "scale": scale}
    width, near, least, scale = checked_options(robust_interval_disclosure, options).values()
    names = numeric_keys("robust_interval_disclosure", scenario, keys)
    progress(0.0, "comparing values")
    x, y, record, cautions = pairs_of_values(original, released, names, unit)
    compared: Bools = np.asarray(~(np.isnan(x) | np.isnan(y)).any(axis=1))
    # By record number: means and covariances do not depend on the order of the file then, not in the last bit either.
    rows = np.argsort(record, kind="stable")
    rows = rows[compared[rows]]
    if len(rows) < 2:
        raise TacitaError(f"robust intervals need at least 2 records without missing values; got {len(rows)}.")
    scaled_x = scaled(x[rows], x[rows], names)
    scaled_y = scaled(y[rows], x[rows] if scale == "original" else y[rows], names)
    progress(0.1, "estimating the covariance")
    if covariance is None:
        covariance = mcd(scaled_x, Draws(seed).step("mcd"), records=record[rows]).covariance
    distance = WIDTH * np.sqrt(squared_distance(scaled_x, np.zeros(len(names)), _matrix(covariance, len(names))))
    inside = strictly_within(scaled_x, scaled_y, width * distance)
    unsafe = np.flatnonzero(inside.any(axis=1))
    progress(0.7, "looking for records nearby")
    crowded = np.zeros(len(rows), dtype=np.bool_)
    crowded[unsafe] = ~few_neighbours(scaled_y, unsafe, near, least)
    every = len(record)
    return RobustIntervalDisclosure(
        names,
        width,
        near,
        least,
        scale,
        compared,
        _spread_out(distance, rows, every, np.nan),
        _spread_out(inside, rows, every, False),
        _spread_out(crowded, rows, every, False),
        record,
        cautions,
    )


def scaled(values: Floats, by: Floats, names: tuple[str, ...]) -> Floats:
    """Values less the mean and over the standard deviation (n - 1) of others; an error where those are constant."""
    spread = by.std(axis=0, ddof=1)
    constant = [name for name, low, high in zip(names, by.min(axis=0), by.max(axis=0), strict=True) if low == high]
    if constant:
        raise TacitaError(f"keys must vary; {check.quoted(constant)} is constant, leave it out.")
    moved: Floats = (values - by.mean(axis=0)) / spread
    return moved


def _matrix(given: Any, size: int) -> Floats:
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise TacitaError(f"covariance must be a symmetric matrix of {size} rows and columns, one for each variable.")
    return matrix


def _spread_out(values: Any, rows: Ints, size: int, fill: Any) -> Any:
    """Values of some records as values of all."""
    every = np.full((size, *values.shape[1:]), fill, dtype=values.dtype)
    every[rows] = values
    return every
