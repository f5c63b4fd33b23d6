"""Information loss in the relations of variables: gamma, by the diagonals of the inverse correlation matrices."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.distance.changed_values import values_of_both
from tacita.loss.compared import Files, NumericVariables, Weighted, compared_files
from tacita.loss.numbers.correlations import correlation, dependent_variables, kendall_correlation
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import Doc, OneOf
from tacita.progress import Progress, no_progress
from tacita.result import Percent, Result, Table, percent
from tacita.scenario import Scenario

METHODS = ("pearson", "kendall")
SHOWN = 10
"""So many pairs of variables are printed, those whose correlation changed most."""


ROUNDING = 1e-12
"""A gamma up to this is 0 up to rounding, whose digits differ from machine to machine."""


def inverse_diagonal(matrix: Floats) -> Floats:
    """The diagonal of the inverse: 1/(1 - R^2), R the multiple correlation of a variable with all others."""
    return np.diag(np.linalg.inv(matrix)).copy()


def gamma_of(before: Floats, after: Floats) -> float:
    """1/sqrt 2 times the distance of two diagonals, each divided by its length: from 0 to 1.

    >>> gamma_of(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    0.0
    """
    difference = before / np.sqrt((before**2).sum()) - after / np.sqrt((after**2).sum())
    found = float(np.sqrt((difference**2).sum() / 2.0))
    return found if found > ROUNDING else 0.0


@dataclass(frozen=True, eq=False)
class CorrelationLoss(Result):
    """How much the relations between variables changed."""

    variables: tuple[str, ...]
    """The variables compared."""
    method: str
    """pearson or kendall."""
    before: Floats
    """The correlation matrix of the original."""
    after: Floats
    """That of the release."""
    inverse_before: Floats
    """By variable: the diagonal of the inverse of the correlation matrix of the original."""
    inverse_after: Floats
    """The same of the release."""
    records: int
    """Records that show all of them in both files."""
    left_out: int
    """Records that do not."""
    weight: str | None
    """The weight by which records count."""
    cautions: tuple[str, ...] = ()
    """What the reader should know."""

    @property
    def gamma(self) -> float:
        """The information loss: 0 if all variables depend on the others as before, 1 at most."""
        return gamma_of(self.inverse_before, self.inverse_after)

    @property
    def largest_difference(self) -> float:
        """The largest change of a correlation."""
        return float(np.abs(self.after - self.before).max())

    def key_figures(self) -> dict[str, Any]:
        """gamma."""
        return {"information loss in correlations (gamma)": Percent(self.gamma)}

    @property
    def headline(self) -> str:
        """gamma in percent."""
        return (
            f"the release loses {percent(self.gamma)} of the information in the correlations of "
            f"{len(self.variables)} variables (gamma; 0 %: each depends on the others as before; 100 %: as differently "
            f"as can be)"
        )

    def sentences(self) -> list[str]:
        """The largest change of a correlation."""
        said = [f"no correlation changed by more than {self.largest_difference:.3g}"]
        if self.left_out:
            said.append(f"{check.counted(self.left_out, 'record')} with missing values left out")
        return said

    def tables(self) -> tuple[Table, ...]:
        """What each variable shares with the others, and the correlations that changed most."""
        shared = [1.0 - 1.0 / each for each in (self.inverse_before, self.inverse_after)]
        rows = tuple(
            (name, f"{x:.3f}", f"{y:.3f}")
            for name, x, y in zip(self.variables, *map(np.ndarray.tolist, shared), strict=True)
        )
        pairs = sorted(self._pairs(), key=lambda each: -abs(each[3] - each[2]))[:SHOWN]
        listed = tuple((f"{one} and {other}", f"{x:.3f}", f"{y:.3f}", f"{y - x:+.3f}") for one, other, x, y in pairs)
        return (
            Table(("R2 on all others", "before", "after"), rows),
            Table(("correlation", "before", "after", "change"), listed),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Which correlation it is."""
        kind = "Pearson's correlation" if self.method == "pearson" else "Kendall's tau-b"
        return (kind, *([f"records count by {self.weight}"] if self.weight else []))

    def to_frame(self) -> frame.Frame:
        """One row per pair of variables: its correlation before and after."""
        kinds = {"variable": str, "other": str, "before": float, "after": float}
        return frame.rows(kinds, self._pairs())

    def _pairs(self) -> list[tuple[str, str, float, float]]:
        names = self.variables
        return [
            (names[i], names[j], float(self.before[i, j]), float(self.after[i, j]))
            for i, j in combinations(range(len(names)), 2)
        ]

    def to_dict(self) -> dict[str, Any]:
        """gamma and what it is made of."""
        return {
            "method": self.method,
            "gamma": self.gamma,
            "largest_difference": self.largest_difference,
            "records": self.records,
            "left_out": self.left_out,
            "inverse_before": dict(zip(self.variables, self.inverse_before.tolist(), strict=True)),
            "inverse_after": dict(zip(self.variables, self.inverse_after.tolist(), strict=True)),
        }


@measure(
    files=2,
    called_for="comparison",
    kind="loss",
    limit=at_most("gamma", "the information loss gamma", moved_by=GENTLER),
    missing=own_rule("Records without a value of one of the variables in either file are left out and counted."),
)
def correlation_loss(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    variables: NumericVariables = None,
    method: Annotated[
        str, OneOf(METHODS), Doc("Pearson's correlation, or Kendall's tau, ordinal ones too.")
    ] = "pearson",
    weighted: Weighted = True,
    progress: Progress = no_progress,
) -> CorrelationLoss:
    """gamma, the information lost in the relations between variables.

    1/sqrt 2 times the distance between a/|a| and b/|b|, the diagonals of the inverse correlation matrices before and
    after: 0 if every variable depends on all others as before, 1 at most. With Kendall's tau-b ordinal variables count
    too, by the order of their categories. A singular matrix has no inverse: the smallest set of variables that makes it
    so is named.

    gamma sees only how well each variable is explained by all others: two releases with the same gamma of 0 can have
    other correlations (all signs turned, for instance), which are listed too.

    Reference: Mlodak (2020), Information loss resulting from statistical disclosure control of output data.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"staff": [1.0, 2.0, 3.0, 4.0, 5.0], "sales": [1.0, 3.0, 2.0, 5.0, 4.0]})
    >>> noisy = firms.with_columns(sales=pl.Series([2.0, 3.0, 1.0, 5.0, 4.0]))
    >>> found = correlation_loss(firms, noisy, Scenario(numeric_keys=["staff"]))
    >>> found.gamma, found.before[0, 1].round(3).item(), found.after[0, 1].round(3).item()
    (0.0, 0.8, 0.6)
    """
    files = compared_files(original, released, scenario, weighted=weighted)
    progress(0.0, "reading numbers")
    names, x, y = _columns(files, variables, method)
    kept = ~(np.isnan(x).any(axis=1) | np.isnan(y).any(axis=1))
    if not kept.any():
        raise TacitaError("no record shows all variables in both files; name fewer in variables=[...].")
    found = correlation if method == "pearson" else kendall_correlation
    matrices = []
    for at, (values, weights) in enumerate(((x, files.weights), (y, files.released_weights))):
        progress(0.1 + 0.45 * at, "correlations")
        matrices.append(found(values[kept], None if weights is None else weights[kept]))
    for matrix, what in zip(matrices, ("original", "released"), strict=True):
        _check_regular(matrix, names, what)
    return CorrelationLoss(
        variables=names,
        method=method,
        before=matrices[0],
        after=matrices[1],
        inverse_before=inverse_diagonal(matrices[0]),
        inverse_after=inverse_diagonal(matrices[1]),
        records=int(kept.sum()),
        left_out=int((~kept).sum()),
        weight=None if files.weights is None else files.scenario.weight,
        cautions=files.cautions,
    )


def _columns(files: Files, variables: Any, method: str) -> tuple[tuple[str, ...], Floats, Floats]:
    """The variables as columns: numbers, and for Kendall's tau ordered categories by their place in the order."""
    if method == "pearson":
        names, x, y = files.numbers(variables, "correlation_loss")
    else:
        names = files.named(variables, ("numeric", "ordinal"))
        pairs = [_ordered(files, name) for name in names]
        if variables is None:
            names = tuple(name for name, pair in zip(names, pairs, strict=True) if pair is not None)
        elif any(pair is None for pair in pairs):
            wrong = [name for name, pair in zip(names, pairs, strict=True) if pair is None]
            raise TacitaError(f"variables must be numeric or ordinal in both files; {check.quoted(wrong)} is not.")
        columns = [pair for pair in pairs if pair is not None]
        x, y = (np.column_stack([pair[at] for pair in columns]) if columns else np.zeros((0, 0)) for at in (0, 1))
    if len(names) < 2:
        raise TacitaError(
            "correlations need at least two numeric variables that both files have; pass variables=[...]."
        )
    return names, x, y


def _ordered(files: Files, name: str) -> tuple[Floats, Floats] | None:
    """A numeric or ordinal variable of both files; None where the release holds other kinds of value."""
    values = values_of_both(files.original, files.released, name)
    return None if values is None or values.scale == "nominal" else (values.x, values.y)


def _check_regular(matrix: Floats, names: tuple[str, ...], what: str) -> None:
    wrong = dependent_variables(matrix)
    if wrong:
        named = check.quoted([names[at] for at in wrong])
        why = f"{named} does not vary" if len(wrong) == 1 else f"of {named} each is a sum of multiples of the others"
        raise TacitaError(
            f"the correlation matrix of the {what} file is singular: {why}; leave {'it' if len(wrong) == 1 else 'one'} "
            f"out with variables=[...]."
        )
