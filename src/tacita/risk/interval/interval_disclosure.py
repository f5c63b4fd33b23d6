"""Interval disclosure by standard deviations: how near do released numbers come to the original ones?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.data import Data
from tacita.distance.comparison import number_columns
from tacita.distance.scenario_keys import NumericKeys, Unit, numeric_keys
from tacita.distance.truth import new_records_caution, shared_records
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc, checked_options
from tacita.progress import Progress, no_progress
from tacita.result import Repair, Result, Table, percent, step_call
from tacita.scenario import Scenario

MOST_NOISE = 10.0
"""More than so many standard deviations of noise nobody adds."""
SURELY = 5.0
"""So many standard errors beyond what is expected nearly nothing lies."""
STEPS = 60
"""Halvings of an interval."""


def standard_deviation(values: Floats) -> Floats:
    """By column: the standard deviation (n - 1) of what is not missing; 0 where there is less than two numbers."""
    shown = ~np.isnan(values)
    count = shown.sum(axis=0)
    mean = np.where(shown, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(shown, values - mean, 0.0) ** 2).sum(axis=0)
    deviation: Floats = np.sqrt(squares / np.maximum(count - 1, 1))
    return deviation


def within(x: Floats, y: Floats, half_width: Floats) -> Bools:
    """Where y - width <= x <= y + width, both ends included; nowhere if a value is missing."""
    inside: Bools = (x >= y - half_width) & (x <= y + half_width)
    return inside


@dataclass(frozen=True, eq=False)
class IntervalDisclosure(Result):
    """How many original values lie in a narrow interval around the released ones."""

    variables: tuple[str, ...]
    """The variables compared."""
    k: float
    """Half the width of an interval in standard deviations of the released variable."""
    inside: Bools
    """By released record and variable: whether the original value is in the interval; not where one is missing."""
    missing: Bools
    """By released record and variable: whether the original or the released value is missing."""
    record: Ints
    """The number of each released record that is in the original."""
    cautions: tuple[str, ...] = ()
    """That some released records are not."""
    spread: Spread | None = None
    """Of the released variables what noise that is added to them depends on."""

    def repair(self, policy: Any) -> Repair | None:
        """So much more noise of every variable that a value is inside as rarely as the limit asks."""
        limit, options = (limited := policy.limit_of("interval_disclosure")).limit, limited.options
        amount = None if self.spread is None else noise_needed(self.spread, self.k, limit, len(self.inside))
        records = int(self.all_inside.sum())
        who = f"{check.counted(records, 'record')} inside: "
        weaker = "Microaggregate with a larger k, RankSwap with a wider window or Shuffle move values too"
        if amount is None or options.get("unit"):
            why = f"no noise is sure to keep {percent(limit)} with intervals of {2 * self.k:g} standard deviations"
            return Repair("interval_disclosure", f"{who}{why}; {weaker}", records=records)
        asked: dict[str, Any] = {"variables": list(self.variables), "amount": amount}
        asked |= {"keep_zeros": False} if self.spread is not None and self.spread.zeros else {}
        text = f"{who}{step_call('noise', asked)} leaves at most {percent(limit)} whatever was done before; {weaker}"
        return Repair("interval_disclosure", text, "noise", asked, records)

    @cached_property
    def all_inside(self) -> Bools:
        """By record: whether every variable is inside; a missing value is not."""
        return np.asarray(self.inside.all(axis=1))

    @cached_property
    def any_inside(self) -> Bools:
        """By record: whether at least one variable is inside."""
        return np.asarray(self.inside.any(axis=1))

    @property
    def share_all(self) -> float:
        """Share of the records with every variable inside: the SD interval measure."""
        return float(self.all_inside.mean())

    @property
    def share_all_at_most(self) -> float:
        """The same with every missing value taken for inside: an upper bound, and what sdcMicro reports."""
        return float((self.inside | self.missing).all(axis=1).mean())

    @property
    def share_any(self) -> float:
        """Share of the records with at least one variable inside."""
        return float(self.any_inside.mean())

    @property
    def by_variable(self) -> dict[str, float]:
        """By variable: the share inside, of the records that show both values; NaN if none does."""
        return dict(zip(self.variables, inside_shares(self.inside, ~self.missing).tolist(), strict=True))

    @property
    def records_with_missing(self) -> int:
        """Records with a missing value: they are never counted as inside in all variables."""
        return int(self.missing.any(axis=1).sum())

    @property
    def headline(self) -> str:
        """Records whose original values all lie near the released ones."""
        n = len(self.inside)
        return (
            f"{int(self.all_inside.sum()):,} of {n:,} records ({percent(self.share_all)}) have every original value "
            f"within {self.k:g} standard deviations of the released one, {int(self.any_inside.sum()):,} at least one"
        )

    def sentences(self) -> list[str]:
        """What missing values do to the figure."""
        if not self.records_with_missing:
            return []
        return [
            f"{check.counted(self.records_with_missing, 'record')} with missing values cannot count for the first "
            f"figure; at most it is {percent(self.share_all_at_most)}"
        ]

    def tables(self) -> tuple[Table, ...]:
        """The share of each variable."""
        rows = tuple(
            (name, share_text(share), int(self.missing[:, at].sum()))
            for at, (name, share) in enumerate(self.by_variable.items())
        )
        return (Table(("variable", "in the interval", "missing"), rows),)

    def to_frame(self) -> frame.Frame:
        """One row per released record."""
        return frame.table({"record": self.record, **self.record_columns()})

    def record_columns(self) -> dict[str, Any]:
        """Whether all or any original values are inside, how many are, and how many cannot be compared."""
        return {
            "all_inside": self.all_inside,
            "any_inside": self.any_inside,
            "inside": self.inside.sum(axis=1),
            "missing": self.missing.sum(axis=1),
        }

    def to_dict(self) -> dict[str, Any]:
        """The shares of the file; null where nothing can be compared."""
        known = {name: None if np.isnan(share) else share for name, share in self.by_variable.items()}
        return {
            "k": self.k,
            "records": len(self.record),
            "share_all": self.share_all,
            "share_all_at_most": self.share_all_at_most,
            "share_any": self.share_any,
            "by_variable": known,
            "records_with_missing": self.records_with_missing,
        }


class Spread(NamedTuple):
    """Of released variables what the effect of noise depends on."""

    deviation: Floats
    """By variable: the standard deviation."""
    whole: Bools
    """By variable: whether it holds whole numbers only, so that noise is rounded."""
    zeros: bool
    """Whether any value is 0."""


def noise_needed(spread: Spread, k: float, limit: float, n: int) -> float | None:
    """The least amount of noise, to two digits, with which a share of at most `limit` of n records stays inside all
    variables, but for a chance of one in a million; None if none does.

    Normal noise of c standard deviations leaves a value inside most often where it was right before:
    P(|d + c s z| <= h) <= P(|c s z| <= h), with h = k s' and s' the deviation of the noisy variable. It is drawn for
    each variable by itself.

    >>> noise_needed(Spread(np.array([2.0]), np.array([False]), False), k=0.05, limit=0.1, n=100_000)
    0.47
    """
    from scipy.special import ndtri

    varied = spread.deviation > 0
    if not varied.any() or n < 2:
        return None
    deviation, half = spread.deviation[varied], np.where(spread.whole[varied], 0.5, 0.0)
    share = _expected_at_most(limit, n)
    reach = float(ndtri((1.0 + share ** (1.0 / len(deviation))) / 2.0))

    def enough(amount: float) -> bool:
        larger = 1.0 + amount**2 * (1.0 + SURELY * math.sqrt(2.0 / n)) + 2.0 * amount * SURELY / math.sqrt(n)
        return bool(((k * math.sqrt(larger) + half / deviation) / amount <= reach).all())

    if not enough(MOST_NOISE):
        return None
    low, high = 0.0, MOST_NOISE
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if enough(middle) else (middle, high)
    digit = 10.0 ** (math.floor(math.log10(high)) - 1)
    return min(MOST_NOISE, float(f"{math.ceil(high / digit) * digit:.2g}"))


def _expected_at_most(limit: float, n: int) -> float:
    """The share to expect so that the share of n records is at most the limit."""
    low, high = 0.0, limit
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        fits = middle + SURELY * math.sqrt(middle * (1.0 - middle) / n) <= limit
        low, high = (middle, high) if fits else (low, middle)
    return low


def inside_shares(inside: Bools, shown: Bools) -> Floats:
    """By variable: the share inside, of the records that show both values; NaN if none does."""
    count = shown.sum(axis=0)
    shares: Floats = np.where(count > 0, (inside & shown).sum(axis=0) / np.maximum(count, 1), np.nan)
    return shares


def share_text(share: float) -> str:
    """A share in percent, a dash where there is none."""
    return "-" if np.isnan(share) else percent(share)


@measure(
    files=2,
    needs="numeric_keys",
    limit=at_most(
        "share_all",
        "the share of records with every value inside",
        void=1.0,
    ),
    for_numeric_keys=True,
    missing=own_rule("A missing value is never inside; the greatest possible share is given beside."),
)
def interval_disclosure(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: NumericKeys = None,
    k: Annotated[float, AtLeast(0), Doc("Half the width of an interval in standard deviations.")] = 0.05,
    unit: Unit = None,
    progress: Progress = no_progress,
) -> IntervalDisclosure:
    """How many original values of the numeric keys lie within a narrow interval around the released ones.

    Whoever recognises a released record learns the true values nearly exactly if they lie that near.
    A value is inside if y_ij - k s_j <= x_ij <= y_ij + k s_j, with x original, y released and s_j the standard
    deviation of the released variable; a record in all variables or in any. With a missing value it is never inside in
    all variables; such records are counted apart.

    Released records belong to the original with the same record number, or with the same value of the column `unit`.

    Reference: Mateo-Sanz, Sebe and Domingo-Ferrer (2004), Outlier protection in continuous microdata masking. Privacy
    in Statistical Databases, LNCS 3050.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [100.0, 200.0, 300.0, 400.0]})
    >>> noisy = pl.DataFrame({"turnover": [101.0, 250.0, 260.0, 400.0]})
    >>> found = interval_disclosure(firms, noisy, Scenario(numeric_keys=["turnover"]))
    >>> found.share_all, found.inside[:, 0].tolist()
    (0.5, [True, False, False, True])
    """
    width = checked_options(interval_disclosure, {"k": k})["k"]
    names = numeric_keys("interval_disclosure", scenario, keys)
    progress(0.0, "comparing values")
    x, y, record, cautions = pairs_of_values(original, released, names, unit)
    deviation = standard_deviation(y)
    whole = np.array([bool((column[~np.isnan(column)] % 1.0 == 0).all()) for column in y.T])
    spread = Spread(deviation, whole, bool((y == 0).any()))
    inside = within(x, y, width * deviation)
    return IntervalDisclosure(names, width, inside, np.isnan(x) | np.isnan(y), record, cautions, spread)


class Pairs(NamedTuple):
    """The records that are in both files, in the order of the released one."""

    original: Floats
    """Their original values, one column per variable."""
    released: Floats
    record: Ints
    """Their numbers in the released file."""
    cautions: tuple[str, ...]
    """That some released records are not in the original."""


def pairs_of_values(original: Any, released: Any, names: tuple[str, ...], unit: str | None) -> Pairs:
    """The original and the released values of each released record that is in the original, and its number."""
    original, released = Data.of(original), Data.of(released)
    y, x = number_columns(released, names, "released"), number_columns(original, names, "original")
    was, now, new = shared_records(original, released, unit)
    return Pairs(x[was], y[now], released.record[now], new_records_caution(new))
