"""Information loss in variances: how sure are estimates after protection, and what do groups still explain?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.loss.compared import Files, NumericVariables, Weighted, compared_files
from tacita.loss.numbers.variance import Parts, variance_of_mean, variance_parts
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.result import Result, Table, percent
from tacita.scenario import Scenario

MOST_GROUPS = 1000
"""Variables with more categories are no groups unless named."""
SHOWN = 12
"""So many pairs are printed, those whose share of variance changed most."""


class MeanVariance(NamedTuple):
    """The estimated variance of a mean."""

    variable: str
    before: float
    after: float

    @property
    def ratio(self) -> float:
        """after/before: 1 unchanged, above 1 less sure, below 1 surer than one can be."""
        return self.after / self.before if self.before > 0 else float("nan")


class Explained(NamedTuple):
    """The variance of a number by groups, before and after."""

    variable: str
    by: str
    before: Parts
    after: Parts

    @property
    def difference(self) -> float:
        """R^2 after less R^2 before."""
        return self.after.explained - self.before.explained

    @property
    def figures(self) -> tuple[float, float, float, float]:
        """R^2 before and after, and the sums of squares between and within groups as multiples of the original's."""
        between = _ratio(self.after.between, self.before.between)
        within = _ratio(self.after.within, self.before.within)
        return self.before.explained, self.after.explained, between, within


@dataclass(frozen=True, eq=False)
class VarianceLoss(Result):
    """What protection does to variances of means and to what groups explain."""

    means: tuple[MeanVariance, ...]
    """By numeric variable: the estimated variance of its mean."""
    explained: tuple[Explained, ...]
    """By numeric and categorical variable: the variance within and between groups."""
    weight: str | None
    """The weight that estimates count by."""
    cautions: tuple[str, ...] = ()
    """What the reader should know."""

    @property
    def explained_loss(self) -> float:
        """The mean of |R^2 after - R^2 before|: 0 unchanged, 1 from all to nothing or back; 0 where nothing varies."""
        known = [abs(each.difference) for each in self.explained if np.isfinite(each.difference)]
        return float(np.mean(known)) if known else 0.0

    @property
    def variance_ratio(self) -> float:
        """The geometric mean of the ratios of the variances of means; 1: unchanged."""
        known = [each.ratio for each in self.means if each.ratio > 0]
        return float(np.exp(np.mean(np.log(known)))) if known else float("nan")

    @property
    def headline(self) -> str:
        """What groups explain, and how sure means are."""
        ratio = self.variance_ratio
        sure = (
            f"; estimated variances of means are {ratio:.3g} times what they were (1: unchanged)" if ratio > 0 else ""
        )
        return (
            f"the share of the variance of {check.counted(len(self.means), 'number')} that groups explain is off by "
            f"{percent(self.explained_loss)} on average (R2; 0 %: unchanged, 100 %: from all to nothing or back){sure}"
        )

    def tables(self) -> tuple[Table, ...]:
        """The ratio of variances of means, and the groups whose R^2 changed most."""
        means = tuple((each.variable, _figure(each.ratio)) for each in self.means)
        known = sorted(self.explained, key=lambda each: -_size(each.difference))[:SHOWN]
        rows = tuple((f"{each.variable} by {each.by}", *map(_figure, each.figures)) for each in known)
        listed = (Table(("groups", "R2 before", "R2 after", "between x", "within x"), rows),) if rows else ()
        return (Table(("variance of the mean", "times"), means), *listed)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the columns are, and the weights."""
        said = "between x, within x: sums of squares between and within groups, as multiples of the original's"
        return (*((said,) if self.explained else ()), *((f"records count by {self.weight}",) if self.weight else ()))

    def to_frame(self) -> frame.Frame:
        """One row per number and its groups; R^2 before and after, and the ratios of sums of squares and variances."""
        ratios = {each.variable: each.ratio for each in self.means}
        every = self.explained
        none = not every
        names = [each.variable for each in (self.means if none else every)]
        return frame.table(
            {
                "variable": names,
                "by": [""] * len(names) if none else [each.by for each in every],
                "explained_before": _column(names, [each.before.explained for each in every]),
                "explained_after": _column(names, [each.after.explained for each in every]),
                "between_ratio": _column(names, [each.figures[2] for each in every]),
                "within_ratio": _column(names, [each.figures[3] for each in every]),
                "variance_ratio": np.array([ratios[name] for name in names]),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file."""
        return {
            "explained_loss": self.explained_loss,
            "variance_ratio": _known(self.variance_ratio),
            "variance_of_mean": {each.variable: _known(each.ratio) for each in self.means},
            "explained": [
                {
                    "variable": each.variable,
                    "by": each.by,
                    "before": _known(each.before.explained),
                    "after": _known(each.after.explained),
                }
                for each in self.explained
            ],
        }


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _size(difference: float) -> float:
    return abs(difference) if np.isfinite(difference) else -1.0


def _ratio(after: float, before: float) -> float:
    return after / before if before > 0 else float("nan")


def _figure(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "-"


def _column(names: list[str], values: list[float]) -> Floats:
    return np.array(values) if values else np.full(len(names), np.nan)


@measure(
    files=2,
    called_for="comparison",
    kind="loss",
    limit=at_most("explained_loss", "the mean change of R2", moved_by=GENTLER),
    missing=own_rule("A record without a number is left out; without a group it is left out of that analysis."),
)
def variance_loss(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    variables: NumericVariables = None,
    by: Annotated[
        tuple[str, ...] | None, Doc("Variables that make groups; all categorical ones of both files, () for none.")
    ] = None,
    weighted: Weighted = True,
    progress: Progress = no_progress,
) -> VarianceLoss:
    """What protection does to the variance of estimates: variances of means, and what groups explain (R^2).

    The estimated variance of a mean is s^2/n, with weights that of a ratio (with replacement): a ratio above 1 says
    that estimates became less sure, below 1 that they look surer than they are, as after microaggregation. An analysis
    of variance of each number by each categorical variable takes its variance apart into that between and that within
    groups; R^2 is the share between. Noise and swapping of either variable take it down, microaggregation within groups
    takes it up.

    Reference: Shlomo (2010), Releasing microdata: disclosure risk estimation, data masking and assessing utility.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"sector": ["a", "a", "b", "b"], "sales": [1.0, 3.0, 5.0, 7.0]})
    >>> swapped = firms.with_columns(sector=pl.Series(["b", "a", "a", "b"]))
    >>> found = variance_loss(firms, swapped, Scenario(keys=["sector"]))
    >>> found.explained_loss, found.variance_ratio
    (0.8, 1.0)
    """
    files = compared_files(original, released, scenario, weighted=weighted)
    names, x, y = files.numbers(variables, "variance_loss")
    groups = _groups(files, by)
    weights = (files.weights, files.released_weights)
    means, explained = [], []
    for at, name in enumerate(names):
        progress(at / len(names), "analysing variances")
        columns = (x[:, at], y[:, at])
        spread = [variance_of_mean(column, weight) for column, weight in zip(columns, weights, strict=True)]
        means.append(MeanVariance(name, *spread))
        for other, codes in groups.items():
            if other != name:
                found = [variance_parts(*each) for each in zip(columns, codes, weights, strict=True)]
                explained.append(Explained(name, other, *found))
    return VarianceLoss(
        means=tuple(means),
        explained=tuple(explained),
        weight=None if files.weights is None else files.scenario.weight,
        cautions=files.cautions,
    )


def _groups(files: Files, by: Any) -> dict[str, tuple[Ints, Ints]]:
    """By categorical variable the group of each record in both files, 0 without one."""
    names = files.named(by, ("nominal", "ordinal"))
    found = {}
    for name in names:
        codes = [data.coded(name).codes.astype(np.int64) for data in (files.original, files.released)]
        if by is None and max(int(each.max(initial=0)) for each in codes) > MOST_GROUPS:
            continue
        found[name] = (codes[0], codes[1])
    if by is not None and by and not found:
        raise TacitaError("by must name variables with categories.")
    return found
