"""The distributions of a file before and after: what the figures of a comparison draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from tacita import check, frame
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.comparison.associations import Associations
from tacita.comparison.both_files import BothFiles, both_files
from tacita.comparison.cross_tables import CrossTable, cross_table
from tacita.comparison.distributions import LEAST_RECORDS, few
from tacita.comparison.sides import CategoryComparison, NumberComparison, compare_categories, compare_numbers
from tacita.data import Data
from tacita.progress import Progress, no_progress
from tacita.result import Percent, Result, Table, number
from tacita.scenario import Scenario

MOST_CATEGORIES = 30
"""So many classes of a variable are shown by themselves, unless said otherwise."""
SAME = "0 the same, 1 nothing in common"
"""What a distance means."""
PAIRED = 4
"""Of so many categorical variables every two are paired, unless pairs are named."""


Comparison = NumberComparison | CategoryComparison
"""A variable before and after."""


@dataclass(frozen=True, eq=False)
class BeforeAfter(Result):
    """Distributions before and after: densities, bars, boxes, Lorenz curves, mosaics and correlations.

    It holds classes, and edges and quartiles made of three records or more; no value of a single record.
    """

    numbers: tuple[NumberComparison, ...]
    """Each number, for all records and then for each group."""
    categories: tuple[CategoryComparison, ...]
    """Each categorical variable, for all records and then for each group."""
    pairs: tuple[CrossTable, ...]
    """Tables of two categorical variables."""
    associations: Associations
    """Correlations of numbers and Cramér's V with categories."""
    by: str
    """The variable whose classes are the groups; empty: there are none."""
    groups: tuple[str, ...]
    """The groups."""
    sizes: tuple[int, int]
    """Records of the original and of the release."""
    weighted: bool
    """Whether shares are those of the population, by the weights of each file."""
    public: bool
    """Whether what one or two records decide was put together."""
    removed: tuple[str, ...]
    """Variables that the release does not have."""
    unclear: tuple[str, ...]
    """Recoded variables whose values the release puts in several classes."""
    unweighted_because: str = ""
    """Why records are counted though the scenario names a weight."""

    figure: ClassVar[str] = "before_after_density"
    other_figures: ClassVar[tuple[str, ...]] = (
        "before_after_bars",
        "before_after_boxes",
        "before_after_mosaic",
        "before_after_correlations",
        "before_after_lorenz",
    )

    @property
    def _whole(self) -> list[Comparison]:
        return [each for each in self._all if not each.group]

    @property
    def _all(self) -> list[Comparison]:
        rows: list[Comparison] = list(self.numbers)
        return rows + list(self.categories)

    @property
    def small(self) -> int:
        """How many bins, classes and cells hold one or two records of a file."""
        counts = [each.counts for each in self.categories]
        counts += [each.counts for each in self.pairs]
        counts += [side.counts for each in self.numbers for side in (each.original, each.released)]
        return int(sum(few(each).sum() for each in counts))

    @property
    def office_only(self) -> bool:
        """Whether the figures are for internal use only: they tell of one or two records somewhere."""
        return self.small > 0

    @property
    def headline(self) -> str:
        """How many distributions moved, and which one most."""
        known = [each for each in self._whole if not np.isnan(each.distance)]
        moved = [each for each in known if each.distance > 0]
        said = f"{len(moved)} of {check.counted(len(known), 'distribution')} changed"
        if not moved:
            return said
        most = max(moved, key=_distance)
        return f"{said}, most of all {most.variable!r} (distance {number(most.distance)}; {SAME})"

    def sentences(self) -> list[str]:
        """What is compared, and how much associations changed."""
        before, after = self.sizes
        counted = "weighted by the weights of each file" if self.weighted else "records counted"
        said = [f"original: {check.counted(before, 'record')}, release: {after:,}; {counted}"]
        change = self.associations.largest_change
        if not np.isnan(change):
            said.append(f"the greatest change of a correlation (Cramér's V with categories) is {number(change)}")
        if self.removed:
            said.append(f"not in the release: {check.quoted(self.removed, most=8)}")
        return said

    def tables(self) -> list[Table]:
        """One row per variable."""
        columns = ("variable", "kind", "missing before", "after", "distance", "Gini before", "after")
        return [Table(columns, tuple(_row(each) for each in self._whole))]

    @property
    def cautions(self) -> tuple[str, ...]:
        """Whether the figures may leave the office, and what is compared otherwise than one might think."""
        said = []
        if self.small:
            places = check.counted(self.small, "bin, class or cell", "bins, classes or cells")
            said.append(
                f"for internal use only: {places} of the figures {'holds' if self.small == 1 else 'hold'} fewer than "
                f"{LEAST_RECORDS} records; public=True puts such together."
            )
        if self.unclear:
            said.append(
                f"the release puts equal values of {check.quoted(self.unclear)} in several classes; the original is "
                f"shown in the class that most of them are in."
            )
        return (*said, *([self.unweighted_because] if self.unweighted_because else []))

    def to_frame(self) -> frame.Frame:
        """One row per variable and group, with distance and shares missing."""
        rows = self._all
        missing = [_missing(each) for each in rows]
        return frame.table(
            {
                "variable": [each.variable for each in rows],
                "kind": [_kind(each) for each in rows],
                "group": [each.group for each in rows],
                "distance": [each.distance for each in rows],
                "missing_before": [each[0] for each in missing],
                "missing_after": [each[1] for each in missing],
                "gini_before": [_ginis(each)[0] for each in rows],
                "gini_after": [_ginis(each)[1] for each in rows],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Distances, missing shares and Gini coefficients by variable, tables by pair, and associations."""
        found = self.associations
        return {
            "records": {"original": self.sizes[0], "released": self.sizes[1]},
            "weighted": self.weighted,
            "public": self.public,
            "small": self.small,
            "removed": list(self.removed),
            "variables": {
                each.variable: {
                    "kind": _kind(each),
                    "distance": _finite(each.distance),
                    "missing": [_finite(share) for share in _missing(each)],
                    "gini": [_finite(gini) for gini in _ginis(each)],
                }
                for each in self._whole
            },
            "pairs": [{"variables": list(each.variables), "distance": _finite(each.distance)} for each in self.pairs],
            "associations": {
                "variables": list(found.names),
                "original": [[_finite(cell) for cell in row] for row in found.original.tolist()],
                "released": [[_finite(cell) for cell in row] for row in found.released.tolist()],
            },
        }


def before_after(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    variables: Sequence[str] | None = None,
    by: str | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    bins: int = 40,
    categories: int = MOST_CATEGORIES,
    weighted: bool | None = None,
    public: bool = False,
    unit: str | None = None,
    progress: Progress = no_progress,
) -> BeforeAfter:
    """The distributions of the variables of an original and of its release, as figures show them.

    `variables`: all but identifiers and weight unless named. `by`: a variable whose classes are compared apart.
    `pairs`: categorical variables for mosaics; every two of the first four unless named. `bins` and `categories`: the
    most that are shown of a variable. `weighted`: by the scenario's weight where both files have it, unless said
    otherwise. `public`: put together what one or two records decide. `unit`: a column that tells which records are
    the same.

    >>> import polars as pl
    >>> before = pl.DataFrame({"sex": ["f", "m", "f", "m", "f", "m"], "income": [1.5, 2, 3, 4, 5, 60]})
    >>> after = before.with_columns(income=pl.col("income").clip(upper_bound=5))
    >>> print(before_after(before, after, Scenario(keys=["sex"])).headline)
    1 of 2 distributions changed, most of all 'income' (distance 0.167; 0 the same, 1 nothing in common)
    """
    first, second = Data.of(original), Data.of(released)
    bins, most = check.whole("bins", bins, 2), check.whole("categories", categories, 2)
    files = both_files(first, second, scenario, check.names("variables", variables) or None, by, unit, weighted, public)
    chosen = _pairs(pairs, files)
    numbers: list[NumberComparison] = []
    classes: list[CategoryComparison] = []
    for at, name in enumerate(names := [*files.numbers, *files.classes]):
        progress(0.8 * at / len(names), f"comparing {name}")
        for group, rows in files.groups():
            if name in files.numbers:
                numbers.append(_number(files, name, group, rows, bins, public))
            else:
                classes.append(_category(files, name, group, rows, most, public))
    progress(0.8, "tables of pairs")
    tables = [cross_table(each, files.classes, files.weights, public) for each in chosen]
    progress(0.9, "associations")
    return BeforeAfter(
        numbers=tuple(numbers),
        categories=tuple(classes),
        pairs=tuple(tables),
        associations=files.associations(),
        by=by or "",
        groups=files.group_labels,
        sizes=(len(first), len(second)),
        weighted=files.weighted,
        public=public,
        removed=files.removed,
        unclear=files.unclear,
        unweighted_because=files.unweighted_because,
    )


def _number(
    files: BothFiles, name: str, group: str, rows: tuple[Ints, Ints], bins: int, public: bool
) -> NumberComparison:
    before, after = files.numbers[name]
    values = before[rows[0]], after[rows[1]]
    return compare_numbers(name, group, files.lines[name], values, files.weights_of(rows), bins, public)


def _category(
    files: BothFiles, name: str, group: str, rows: tuple[Ints, Ints], most: int, public: bool
) -> CategoryComparison:
    whole = files.classes[name]
    here = whole._replace(original=whole.original[rows[0]], released=whole.released[rows[1]])
    return compare_categories(name, group, here, files.weights_of(rows), most, public)


def _pairs(given: Sequence[tuple[str, str]] | None, files: BothFiles) -> list[tuple[str, str]]:
    """The pairs that are named, or every two of the first categorical variables."""
    names = list(files.classes)
    if given is None:
        return list(combinations(names[:PAIRED], 2))
    found = []
    for pair in given:
        both = check.names("pairs", pair)
        if len(both) != 2:
            raise TacitaError(f"pairs must be of two variables each, as [('sex', 'region')]; got {check.given(pair)}.")
        unknown = [name for name in both if name not in files.classes]
        if unknown:
            raise TacitaError(
                f"pairs must be of categorical variables that are compared; got {check.quoted(unknown)}, choose from "
                f"{check.quoted(names, most=8)}."
            )
        found.append((both[0], both[1]))
    return found


def _distance(each: Comparison) -> float:
    # Of distances that are equal but for rounding the first variable has the largest.
    return round(each.distance, 12)


def _kind(each: Comparison) -> str:
    return "number" if isinstance(each, NumberComparison) else "category"


def _missing(each: Comparison) -> tuple[float, float]:
    """The shares of missing values before and after; NaN where they are not told."""
    if isinstance(each, NumberComparison):
        return each.original.missing, each.released.missing
    if each.missing_at is None:
        return (np.nan, np.nan) if each.pooled_missing else (0.0, 0.0)
    return float(each.original[each.missing_at]), float(each.released[each.missing_at])


def _ginis(each: Comparison) -> tuple[float, float]:
    """Gini coefficients; NaN where there are none."""
    if not isinstance(each, NumberComparison):
        return np.nan, np.nan
    before, after = (np.nan if side.lorenz is None else side.lorenz.gini for side in (each.original, each.released))
    return before, after


def _row(each: Comparison) -> tuple[Any, ...]:
    missing, ginis = _missing(each), _ginis(each)
    shown = [None if np.isnan(gini) else gini for gini in ginis]
    return (each.variable, _kind(each), *(Percent(share) for share in missing), each.distance, *shown)


def _finite(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
