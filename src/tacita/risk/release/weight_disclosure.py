"""What the weights give away: design variables that were recoded or suppressed can be read off a sampling weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Codes, Floats, Ints
from tacita.check import TacitaError
from tacita.keys.table import survey_weights
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.result import Result, Table, percent
from tacita.scenario import Scenario


class Leak(NamedTuple):
    """How far the weight determines a variable."""

    determined: float
    """Share of records whose weight occurs with one value only, on at least two records."""
    guessed: float
    """Share of records guessed right from the other records with the same weight."""
    baseline: float
    """Share guessed right without the weight: the most frequent value."""
    explained: float
    """Uncertainty coefficient: the share of the variable's entropy that the weight takes away (0 nothing, 1 all)."""


def leak(weight: Ints, value: Codes) -> Leak:
    """How far one coded variable follows from another; values guessed from the *other* records of the group.

    A weight that only one record has tells nothing by itself, so there the most frequent value is guessed.
    """
    n, values = len(weight), int(value.max()) + 1
    cell, inverse = np.unique(weight * values + value, return_inverse=True)
    count = np.bincount(inverse)
    group = cell // values
    start = np.flatnonzero(np.diff(group, prepend=-1))
    member = np.cumsum(np.diff(group, prepend=-1) != 0) - 1
    total = np.add.reduceat(count, start)[member]
    marginal = np.bincount(value)
    correct = _right_guesses(count, start, member)
    correct = np.where(total == 1, (marginal[cell % values] == marginal.max()).astype(float), correct)
    kinds = np.diff(np.append(start, len(cell)))[member]
    return Leak(
        determined=float(count[(kinds == 1) & (total > 1)].sum() / n),
        guessed=float(correct.sum() / n),
        baseline=float(marginal.max() / n),
        explained=_uncertainty_coefficient(count, total, marginal, n),
    )


def _right_guesses(count: Ints, start: Ints, member: Ints) -> Floats:
    """By cell: expected right guesses when each record is guessed by the most frequent value among the others."""
    best = np.maximum.reduceat(count, start)[member]
    at_best = np.add.reduceat((count == best).astype(np.int64), start)[member]
    second = np.maximum.reduceat(np.where(count == best, -1, count), start)[member]
    at_second = np.add.reduceat((count == second).astype(np.int64), start)[member]
    alone = (count == best) & (at_best == 1)
    rival, rivals = np.where(alone, second, best), np.where(alone, at_second, at_best)
    left = count - 1
    # Left out, a record leaves its own value one short: it is guessed only if that was ahead; ties at random.
    share: Floats = np.where(left > rival, 1.0, np.where((left == rival) & (left > 0), 1.0 / (1 + rivals), 0.0))
    return share * count


def _uncertainty_coefficient(count: Ints, total: Ints, marginal: Ints, n: int) -> float:
    shares = marginal[marginal > 0] / n
    entropy = -float((shares * np.log(shares)).sum())
    if entropy <= 0:
        return 0.0
    left = -float((count / n * np.log(count / total)).sum())
    return max(0.0, 1.0 - left / entropy)


@dataclass(frozen=True, eq=False)
class WeightDisclosure(Result):
    """How far the released weights reveal variables of the sampling design."""

    size: int
    """Number of records."""
    different: int
    """Different weights."""
    unique: int
    """Records whose weight no other record has: the weight is a fingerprint."""
    leaks: dict[str, Leak]
    """By variable."""

    @property
    def greatest(self) -> float:
        """The greatest share of a variable that is guessed right from the weight."""
        return max((leak.guessed for leak in self.leaks.values()), default=0.0)

    @property
    def headline(self) -> str:
        """How many weights there are, and how many single records hold."""
        return f"{self.different:,} different weights in {self.size:,} records, {self.unique:,} held by one record only"

    def tables(self) -> tuple[Table, ...]:
        """What the weight reveals of each variable."""
        heads = ("the weight tells", "guessed right", "without it", "determined", "explained")
        rows = tuple((name, *(percent(part) for part in _shown(each))) for name, each in self.leaks.items())
        return (Table(heads, rows, indent=""),)

    def to_frame(self) -> frame.Frame:
        """One row per variable."""
        return frame.table(
            {"variable": list(self.leaks)}
            | {part: [getattr(each, part) for each in self.leaks.values()] for part in Leak._fields}
        )

    def to_dict(self) -> dict[str, Any]:
        """Different and unique weights, and by variable how far they tell it."""
        leaks = {name: each._asdict() for name, each in self.leaks.items()}
        return {"different": self.different, "unique": self.unique, "variables": leaks}


def _shown(each: Leak) -> tuple[float, float, float, float]:
    return each.guessed, each.baseline, each.determined, each.explained


@measure(
    needs="weight",
    limit=at_most(
        "greatest",
        "the greatest share of a variable guessed right from the weight",
        void=1.0,
        moved_by="RoundWeights, TrimWeights, WeightNoise or Remove of the weight",
    ),
    missing=own_rule("A missing value of a variable is a category of its own."),
)
def weight_disclosure(
    data: Any,
    scenario: Scenario,
    *,
    variables: Annotated[Any, Doc("Variables that the weight could tell; strata or keys unless given.")] = None,
) -> WeightDisclosure:
    """How far the weights reveal design variables that are to be suppressed or recoded.

    A weight is often N_h/n_h of the stratum: whoever has the weights and the design can read region or size class off
    them, whatever was done to those columns. For each variable: the share of records guessed right from the other
    records with the same weight, beside the guess without it; records whose weight occurs with one value only; and the
    share of the variable's entropy that the weight takes away. Run it on the weights to be released with the *original*
    variables. Variables: the scenario's strata, or its household variables and keys, unless named.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north"] * 3 + ["south"] * 3, "w": [10.0] * 3 + [25.0] * 3})
    >>> found = weight_disclosure(people, Scenario(keys=["region"], weight="w"))
    >>> found.leaks["region"].guessed, found.leaks["region"].baseline
    (1.0, 0.5)
    """
    weights = survey_weights(data, scenario)
    if weights is None:
        raise TacitaError("weight disclosure needs the weights; pass weight=... in the scenario.")
    default = scenario.strata or tuple(dict.fromkeys([*scenario.household_variables, *scenario.all_keys]))
    names = default if variables is None else check.names("variables", variables)
    check.columns_exist("variables", names, data.columns)
    _, place, count = np.unique(weights, return_inverse=True, return_counts=True)
    return WeightDisclosure(
        size=len(data),
        different=len(count),
        unique=int((count == 1).sum()),
        leaks={name: leak(place.astype(np.int64), data.coded(name).codes) for name in names},
    )
