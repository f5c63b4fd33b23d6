"""Model check: does the population count of a key behave as the individual risk assumes, where it is known?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from scipy.stats import nbinom

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import key_table, with_register
from tacita.measures import measure, rule_in_part
from tacita.parameters import Doc, OneOf
from tacita.random import Draws
from tacita.result import Result, percent
from tacita.risk.identity.negative_binomial import population_quantile
from tacita.scenario import Scenario

PROBABILITIES = ("known", "estimated")
LEVELS = (0.5, 0.9, 0.95)
BINS = 10


class Coverage(NamedTuple):
    """How many true counts an interval of the model holds."""

    level: float
    """Nominal: both tails have half of the rest each."""
    expected: float
    """Share of keys if the model is right; above the level, since counts are whole numbers."""
    observed: float
    """Share of keys whose F lies inside."""


def position(f: Floats, F: Floats, p: Floats, uniform: Floats) -> Floats:
    """Where F lies in the distribution of F | f: P(below F) + u P(F), uniform on (0, 1) if the model is right."""
    absent = np.floor(F - f)
    return np.asarray(nbinom.cdf(absent - 1.0, f, p) + uniform * nbinom.pmf(absent, f, p))


def coverage(f: Floats, F: Floats, p: Floats, level: float) -> Coverage:
    """The coverage of the interval between the quantiles (1-level)/2 and (1+level)/2 of F | f."""
    low, high = (population_quantile(f, p, (1.0 + side * level) / 2.0) for side in (-1.0, 1.0))
    inside = nbinom.cdf(high - f, f, p) - nbinom.cdf(low - f - 1.0, f, p)
    return Coverage(level, float(np.mean(inside)), float(np.mean((low <= F) & (high >= F))))


@dataclass(frozen=True, eq=False)
class ModelCheck(Result):
    """True population counts of the keys beside draws from the negative binomial model."""

    figure: ClassVar[str | None] = "model_check"

    f: Floats
    """By key: records of the file."""
    F: Floats
    """By key: units of the population, from the register."""
    p: Floats
    """By key: the success probability of the model."""
    draw: Floats
    """By key: one draw from the model of F."""
    position: Floats
    """By key: the place of F in the model's distribution, in (0, 1)."""
    probability: str
    """Whether p = f/F was `known` or `estimated` by weights."""
    left_out: int
    """Keys with a missing value."""

    @cached_property
    def histogram(self) -> Ints:
        """Keys by position, in ten classes: all alike if the model is right."""
        return np.histogram(self.position, bins=BINS, range=(0.0, 1.0))[0].astype(np.int64)

    @cached_property
    def coverage(self) -> tuple[Coverage, ...]:
        """How many true counts the 50, 90 and 95 % intervals hold."""
        return tuple(coverage(self.f, self.F, self.p, level) for level in LEVELS)

    @property
    def headline(self) -> str:
        """How often the intervals of the model hold the truth."""
        of = f"{check.counted(len(self.f), 'key')}, p = f/F {self.probability}"
        held = "; ".join(
            f"the {percent(c.level)} interval holds F in {percent(c.observed)} of them ({percent(c.expected)} expected)"
            for c in self.coverage
        )
        return f"negative binomial model of F given f, {of}: {held}"

    def sentences(self) -> list[str]:
        """Keys that were left out."""
        return [f"{check.counted(self.left_out, 'key')} with a missing value left out"] if self.left_out else []

    def to_dict(self) -> dict[str, Any]:
        """Keys, and by level the share of true counts that the intervals hold."""
        held = {f"{c.level:g}": {"observed": c.observed, "expected": c.expected} for c in self.coverage}
        return {"keys": len(self.f), "left_out": self.left_out, "probability": self.probability, "coverage": held}

    def to_frame(self) -> frame.Frame:
        """One row per key: f, F, p, the draw and the position of F."""
        return frame.table({"f": self.f, "F": self.F, "p": self.p, "draw": self.draw, "position": self.position})


@measure(
    needs=("keys", "register"),
    figure="model_check",
    missing=rule_in_part("Keys with a missing value are left out; they count for the others by the scenario's rule."),
)
def model_check(
    data: Any,
    scenario: Scenario,
    register: Annotated[Any, Doc("The file of the population with the same keys.")] = None,
    *,
    probability: Annotated[
        str, OneOf(PROBABILITIES), Doc("`known`: f/F of the register; `estimated`: f over the sum of weights.")
    ] = "known",
    seed: Annotated[int, Doc("Seed of the draws.")] = 1,
) -> ModelCheck:
    """Compare the true population counts of the keys with draws from the model behind the individual risk.

    The individual risk takes F | f as negative binomial with f successes and probability p. Where a register gives F,
    each key gets one draw of it, to be held against the truth. With `probability="known"` p is f/F itself, as in
    Polettini's figure 1: this shows the spread that the model allows around a known F, and its intervals hold nearly
    everything by construction. With `"estimated"` p is f / (sum of weights), as the risk is computed in practice, and
    the positions and coverages tell whether the model is right: positions should be uniform.

    It is no formal test: keys are not independent. Keys with a missing value are left out and counted.

    Reference: Polettini (2003), Some remarks on the individual risk methodology, figure 1.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north"] * 60 + ["south"] * 40})
    >>> found = model_check(people.gather_every(5), Scenario(keys=["region"], sampling_fraction=0.2), people)
    >>> found.f.tolist(), found.F.tolist()
    ([12.0, 8.0], [60.0, 40.0])
    """
    if register is None:
        raise TacitaError("the model check needs the population; pass register=... (--register FILE).")
    table = key_table(data, scenario)
    if probability == "estimated" and table.source == "census":
        raise TacitaError(
            "probability 'estimated' needs an estimate of F; give the scenario weight=, population_size= or "
            "sampling_fraction=, or take probability='known'."
        )
    known = with_register(table, Data.of(register), scenario)
    kept = table.complete
    if not kept.any():
        raise TacitaError("every key has a missing value; name fewer keys, or declare not_applicable codes.")
    f, F = table.sample_count[kept], known.population_count[kept]
    p = (known if probability == "known" else table).sampling_probability[kept]
    # The lowest record number stands for the key, so that the order of the records does not matter.
    first = np.full(len(kept), np.iinfo(np.int64).max)
    np.minimum.at(first, table.row, data.record)
    draws = Draws(seed).step("model check")
    return ModelCheck(
        f=f,
        F=F,
        p=p,
        draw=population_quantile(f, p, draws.step("draw").uniform(first[kept])),
        position=position(f, F, p, draws.step("position").uniform(first[kept])),
        probability=probability,
        left_out=int((~kept).sum()),
    )
