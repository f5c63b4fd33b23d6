"""How much the confidentiality plot depends on alpha, the share of wrong pairs that count as neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from tacita import check, frame
from tacita.check import TacitaError
from tacita.distance.scenario_keys import NumericKeys, Strata, numeric_keys, strata_of
from tacita.measures import measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress
from tacita.result import Result, Table, percent
from tacita.risk.confidentiality_plot.confidentiality import of_files
from tacita.risk.confidentiality_plot.files import compared
from tacita.risk.confidentiality_plot.limits import limits_of
from tacita.risk.confidentiality_plot.options import (
    Bend,
    Log,
    MetricName,
    Neighbours,
    Perturbation,
    PolicyLimits,
    Size,
    Vertical,
    Zeros,
)
from tacita.risk.confidentiality_plot.result import Confidentiality
from tacita.risk.confidentiality_plot.tables import figure
from tacita.scenario import Scenario

ALPHAS = (0.01, 0.05, 0.10)


@dataclass(frozen=True, eq=False)
class ConfidentialityAlphas(Result):
    """The confidentiality of one file at several alphas."""

    figure: ClassVar[str | None] = "alphas"

    parts: Mapping[float, Confidentiality]
    """By alpha."""

    @property
    def _first(self) -> Confidentiality:
        return next(iter(self.parts.values()))

    @property
    def headline(self) -> str:
        """What is compared, and with what to hold it against."""
        first = self._first
        return (
            f"{check.counted(len(first.record), 'record')} on {', '.join(first.keys)} at "
            f"{check.counted(len(self.parts), 'alpha')}; hold the number of neighbours against k = {first.limits.k}"
        )

    def tables(self) -> tuple[Table, ...]:
        """One row per alpha."""
        n = len(self._first.record)
        delta = "100 delta" if self._first.metric == "relative" else "delta"
        heads = ("alpha", delta, "alpha (n-1)", "neighbours", "true link inside", "empty", "unsafe")
        rows: list[tuple[str, ...]] = []
        for alpha, part in self.parts.items():
            row, inside = part.rows()[-1], int(part.inside.sum())
            rows.append(
                (
                    f"{alpha:g}",
                    figure((100 if part.metric == "relative" else 1) * row.delta),
                    f"{row.expected_neighbours:.1f}",
                    f"{row.mean_neighbours:.1f}",
                    f"{inside:,} ({100 * inside / n:.1f})",
                    f"{row.empty:,}",
                    f"{row.unsafe:,} ({percent(row.unsafe / n)})",
                )
            )
        return (Table(heads, tuple(rows), indent=""),)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the reader should know; of single alphas with their alpha."""
        shared = self._first.pairing_cautions
        own = [(alpha, text) for alpha, part in self.parts.items() for text in part.cautions if text not in shared]
        return (*shared, *(f"alpha {alpha:g}: {text}" for alpha, text in own))

    @property
    def notes(self) -> tuple[str, ...]:
        """How the figures came about."""
        return self._first.notes

    def to_frame(self) -> frame.Frame:
        """One row per alpha and stratum: delta, neighbours, true links inside, empty neighbourhoods, unsafe records."""
        tables = [(alpha, part.table()) for alpha, part in self.parts.items()]
        return frame.stacked(
            [frame.beside(frame.table({"alpha": [alpha] * each.height}), each) for alpha, each in tables]
        )

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file by alpha."""
        return {f"{alpha:g}": part.to_dict() for alpha, part in self.parts.items()}


@measure(
    files=2,
    needs="numeric_keys",
    figure="alphas",
    missing=own_rule("Records with a missing numeric key in either file are left out and counted."),
)
def confidentiality_alphas(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: NumericKeys = None,
    alphas: Annotated[Any, Doc("Shares of wrong pairs that count as neighbours.")] = ALPHAS,
    strata: Strata = None,
    metric: MetricName = "relative",
    ratio: Annotated[bool, Doc("Neighbours by the likelihood ratio too.")] = False,
    policy: PolicyLimits = None,
    k: Neighbours = None,
    r: Perturbation = None,
    g: Bend = 1.0,
    vertical: Vertical = None,
    log: Log = False,
    zeros: Zeros = "shift",
    size: Size = None,
    progress: Progress = no_progress,
) -> ConfidentialityAlphas:
    """`confidentiality` at several alphas: is a record safe only because many pairs were allowed to look alike?

    With a higher alpha the critical distance grows, and with it the neighbours of every record: fewer are unsafe, and
    more have their true original on the intruder's list. What does not depend on alpha is worked out once. Options are
    those of `confidentiality`. Seri and Polettini (2003), figure 10.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 11.0, 12.0, 300.0]})
    >>> found = confidentiality_alphas(firms, firms, Scenario(numeric_keys=["turnover"]), alphas=(0.2, 0.4), k=3)
    >>> [int(part.unsafe.sum()) for part in found.parts.values()]
    [4, 3]
    """
    if isinstance(alphas, str) or not isinstance(alphas, Sequence) or not len(alphas):
        raise TacitaError(f"alphas must be a list of shares, as in (0.01, 0.05, 0.1); got {check.given(alphas)}.")
    levels = list(dict.fromkeys(check.share("alphas", alpha, zero=False, one=False) for alpha in alphas))
    limits = limits_of(policy, k, r, g, vertical, scenario)
    names, by = numeric_keys("confidentiality_alphas", scenario, keys), strata_of(scenario, strata)
    files = compared(original, released, names, by, metric, log, zeros, size)
    scale = {"metric": metric, "log": bool(log), "unit_free": log == "unit_free"}
    found = of_files(files, levels, None, ratio, limits, scale, progress)
    return ConfidentialityAlphas(dict(zip(levels, found, strict=True)))
