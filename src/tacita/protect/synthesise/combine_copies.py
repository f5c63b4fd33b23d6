"""Estimates from several synthetic copies, combined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError

KINDS = ("partial", "full")


@dataclass(frozen=True, eq=False)
class CombinedEstimates:
    """Estimates over all copies, each with its variance and interval; arrays, one entry per estimate."""

    estimate: Floats
    """The mean of the copies' estimates."""
    variance: Floats
    """Its variance, synthesis included."""
    freedom: Floats
    """Degrees of freedom of Student's t, infinite where copies agree."""
    lower: Floats
    upper: Floats
    """The ends of the interval."""
    adjusted: Bools
    """Where the formula gave no positive variance and the mean of the copies' own was taken."""


def combine_copies(estimates: Any, variances: Any, kind: str = "partial", level: float = 0.95) -> CombinedEstimates:
    """Estimates and variances from m synthetic copies as one estimate with its variance and interval.

    One row per copy; with several estimates one column each. With q the mean of the estimates, b their variance between
    copies (divisor m - 1) and u the mean of the variances:

    - `partial`: T = b/m + u, degrees of freedom (m - 1)(1 + u m/b)^2 (Reiter 2003). For files in which some variables
      or records are synthetic, and for all-synthetic ones whose models were fitted once (`proper=False`): b is then
      the variance of a draw from the model, and u that of the original estimate.
    - `full`: T = (1 + 1/m) b - u, degrees of freedom (m - 1)(1 - u m/((m + 1) b))^2 (Raghunathan, Reiter and Rubin
      2003). For all-synthetic files with `proper=True`. It can be negative: u is taken then, as Reiter (2002) does for
      copies as large as the original, and `adjusted` says where.

    References: Raghunathan, Reiter and Rubin (2003), Multiple imputation for statistical disclosure limitation, Journal
    of Official Statistics 19(1). Reiter (2003), Inference for partially synthetic, public use microdata sets, Survey
    Methodology 29(2).

    >>> combined = combine_copies([10.0, 12.0, 14.0], [3.0, 3.0, 3.0])
    >>> combined.estimate.item(), round(combined.variance.item(), 3), round(combined.freedom.item(), 3)
    (12.0, 4.333, 21.125)
    """
    check.one_of("kind", kind, KINDS)
    check.share("level", level, zero=False, one=False)
    own, spread = _table("estimates", estimates), _table("variances", variances)
    if own.shape != spread.shape or own.ndim > 2:
        raise TacitaError("estimates and variances must have one row per copy and the same columns.")
    copies = len(own)
    if copies < 2:
        raise TacitaError("combining needs two copies or more; synthesise with copies=5.")
    if (spread < 0).any():
        raise TacitaError("variances must be at least 0; pass squares of standard errors.")
    between, within = own.var(axis=0, ddof=1), spread.mean(axis=0)
    if kind == "partial":
        total, sign, part = between / copies + within, 1.0, between / copies
    else:
        total, sign, part = (1 + 1 / copies) * between - within, -1.0, (1 + 1 / copies) * between
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.where(part > 0, (copies - 1) * (1 + sign * within / part) ** 2, np.inf)
    adjusted = total <= 0 if kind == "full" else np.zeros(total.shape, dtype=np.bool_)
    total, freedom = np.where(adjusted, within, total), np.where(adjusted, np.inf, freedom)
    return _with_interval(own.mean(axis=0), total, freedom, np.asarray(adjusted, dtype=np.bool_), level)


def _with_interval(mean: Floats, total: Floats, freedom: Floats, adjusted: Bools, level: float) -> CombinedEstimates:
    from scipy.stats import norm, t

    # Student's t with very many degrees of freedom is normal.
    many = freedom > 1e9
    quantile = np.where(many, norm.ppf((1 + level) / 2), t.ppf((1 + level) / 2, np.where(many, 1.0, freedom)))
    half = quantile * np.sqrt(total)
    return CombinedEstimates(np.asarray(mean), total, freedom, mean - half, mean + half, adjusted)


def _table(what: str, given: Any) -> Floats:
    try:
        table = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TacitaError(f"{what} must be numbers, one row per copy.") from None
    if table.ndim == 0 or not np.isfinite(table).all():
        raise TacitaError(f"{what} must be numbers that are not missing, one row per copy.")
    return table
