"""Model check: does the population count of a key behave as the individual risk assumes, where it is known?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from scipy.stats import nbinom

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.register import with_register
from tacita.keys.table import KeyTable, key_table
from tacita.measures import measure, rule_in_part
from tacita.parameters import Doc, OneOf
from tacita.progress import Progress, no_progress, part
from tacita.random import Draws
from tacita.result import Result, number, percent
from tacita.risk.identity.negative_binomial import expected_reciprocal, population_quantile
from tacita.risk.population.latent.model import LatentModel, latent_model_of
from tacita.scenario import Scenario

PROBABILITIES = ("known", "estimated", "latent")
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


class Forecast(Protocol):
    """What a model says of F, by key."""

    @property
    def p(self) -> Floats:
        """f over the F that is expected."""

    @property
    def risk(self) -> Floats:
        """E(1/F)."""

    def at_most(self, count: Floats) -> Floats:
        """P(F <= count)."""

    def quantile(self, share: Floats) -> Floats:
        """The least count that F stays within with a probability."""


class NegativeBinomial(NamedTuple):
    """F is negative binomial: f successes of probability p, as Benedetti and Franconi have it."""

    f: Floats
    p: Floats

    @property
    def risk(self) -> Floats:
        """E(1/F)."""
        return expected_reciprocal(self.f, self.p)

    def at_most(self, count: Floats) -> Floats:
        """P(F <= count)."""
        return np.asarray(nbinom.cdf(np.floor(count - self.f), self.f, self.p))

    def quantile(self, share: Floats) -> Floats:
        """The least count that F stays within with a probability."""
        return population_quantile(self.f, self.p, share)


@dataclass(frozen=True, eq=False)
class Latent:
    """The latent model, of the keys that are kept."""

    model: LatentModel
    kept: Bools

    @property
    def p(self) -> Floats:
        """f over the F that is expected."""
        return (self.model.table.sample_count / self.model.mean_count)[self.kept]

    @property
    def risk(self) -> Floats:
        """E(1/F)."""
        return self.model.risk[self.kept]

    def at_most(self, count: Floats) -> Floats:
        """P(F <= count)."""
        of_all = self.model.table.sample_count.copy()
        of_all[self.kept] = count
        return self.model.at_most(of_all)[self.kept]

    def quantile(self, share: Floats) -> Floats:
        """The least count that F stays within with a probability."""
        of_all = np.full(len(self.kept), 0.5)
        of_all[self.kept] = share
        return self.model.quantile(of_all)[self.kept]


def position(forecast: Forecast, F: Floats, uniform: Floats) -> Floats:
    """Where F lies in what is forecast: P(below F) + u P(F), uniform on (0, 1) if the model is right."""
    below = forecast.at_most(F - 1.0)
    return below + uniform * (forecast.at_most(F) - below)


def coverage(forecast: Forecast, F: Floats, level: float) -> Coverage:
    """The coverage of the interval between the quantiles (1-level)/2 and (1+level)/2 of what is forecast."""
    low, high = (forecast.quantile(np.full(len(F), (1.0 + side * level) / 2.0)) for side in (-1.0, 1.0))
    inside = forecast.at_most(high) - forecast.at_most(low - 1.0)
    return Coverage(level, float(np.mean(inside)), float(np.mean((low <= F) & (high >= F))))


@dataclass(frozen=True, eq=False)
class ModelCheck(Result):
    """True population counts of the keys beside draws from the model."""

    figure: ClassVar[str | None] = "model_check"

    f: Floats
    """By key: records of the file."""
    F: Floats
    """By key: units of the population, from the register."""
    forecast: Forecast
    """What the model says of them."""
    records: Floats
    """By key: the records that have it themselves; under some rules others count in f."""
    draw: Floats
    """By key: one draw from the model of F."""
    position: Floats
    """By key: the place of F in the model's distribution, in (0, 1)."""
    probability: str
    """Whether p = f/F was `known`, `estimated` by weights, or forecast by the `latent` model."""
    left_out: int
    """Keys with a missing value."""

    @property
    def p(self) -> Floats:
        """By key: f over the F that the model expects."""
        return self.forecast.p

    @property
    def model(self) -> str:
        """What was checked, in words."""
        return "latent model of F" if self.probability == "latent" else "negative binomial model of F given f"

    @property
    def about(self) -> str:
        """Where f/F is from."""
        return "p = f/F forecast" if self.probability == "latent" else f"p = f/F {self.probability}"

    @cached_property
    def expected(self) -> tuple[float, float]:
        """Re-identifications to be expected among the records of these keys: true, and by the model."""
        return math.fsum(self.records / self.F), math.fsum(self.records * self.forecast.risk)

    @cached_property
    def histogram(self) -> Ints:
        """Keys by position, in ten classes: all alike if the model is right."""
        return np.histogram(self.position, bins=BINS, range=(0.0, 1.0))[0].astype(np.int64)

    @cached_property
    def coverage(self) -> tuple[Coverage, ...]:
        """How many true counts the 50, 90 and 95 % intervals hold."""
        return tuple(coverage(self.forecast, self.F, level) for level in LEVELS)

    @property
    def headline(self) -> str:
        """How often the intervals of the model hold the truth."""
        of = f"{check.counted(len(self.f), 'key')}, {self.about}"
        held = "; ".join(
            f"the {percent(c.level)} interval holds F in {percent(c.observed)} of them ({percent(c.expected)} expected)"
            for c in self.coverage
        )
        return f"{self.model}, {of}: {held}"

    def sentences(self) -> list[str]:
        """Their sum of risks, and keys that were left out."""
        true, found = self.expected
        said = [f"expected re-identifications among them: {number(true)} by the register, {number(found)} by the model"]
        return [
            *said,
            *([f"{check.counted(self.left_out, 'key')} with a missing value left out"] if self.left_out else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Keys, and by level the share of true counts that the intervals hold."""
        held = {f"{c.level:g}": {"observed": c.observed, "expected": c.expected} for c in self.coverage}
        true, found = self.expected
        expected = {"register": true, "model": found}
        known = {"keys": len(self.f), "left_out": self.left_out, "probability": self.probability}
        return known | {"expected": expected, "coverage": held}

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
        str,
        OneOf(PROBABILITIES),
        Doc("`known`: f/F of the register; `estimated`: f over the sum of weights; `latent`: by the latent model."),
    ] = "known",
    seed: Annotated[int, Doc("Seed of the draws.")] = 1,
    progress: Progress = no_progress,
) -> ModelCheck:
    """Compare the true population counts of the keys with draws from the model behind the individual risk.

    The model of Benedetti and Franconi takes F | f as negative binomial with f successes and probability p. Where a
    register gives F, each key gets one draw of it, to be held against the truth. With `probability="known"` p is f/F
    itself, as in Polettini's figure 1: this shows the spread that the model allows around a known F, and its intervals
    hold nearly everything by construction. With `"estimated"` p is f / (sum of weights), as the risk is computed in
    practice, and the positions and coverages tell whether the model is right: positions should be uniform. `"latent"`
    holds the latent model against the register in the same way.

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
    data = Data.of(data)
    progress(0.0, "keys")
    table = key_table(data, scenario)
    if probability != "known" and table.source == "census":
        raise TacitaError(
            f"probability {probability!r} needs an estimate of F; give the scenario weight=, population_size= or "
            "sampling_fraction=, or take probability='known'."
        )
    known = with_register(table, Data.of(register), scenario)
    kept = table.complete
    if not kept.any():
        raise TacitaError("every key has a missing value; name fewer keys, or declare not_applicable codes.")
    f, F = table.sample_count[kept], known.population_count[kept]
    forecast: Forecast
    if probability == "latent":
        forecast = Latent(_latent(data, scenario, table, part(progress, 0.1, 0.9)), kept)
    else:
        forecast = NegativeBinomial(f, (known if probability == "known" else table).sampling_probability[kept])
    # The lowest record number stands for the key, so that the order of the records does not matter.
    first = np.full(len(kept), np.iinfo(np.int64).max)
    np.minimum.at(first, table.row, data.record)
    draws = Draws(seed).step("model check")
    progress(0.9, "draws")
    return ModelCheck(
        f=f,
        F=F,
        forecast=forecast,
        records=table.records[kept].astype(np.float64),
        draw=forecast.quantile(draws.step("draw").uniform(first[kept])),
        position=position(forecast, F, draws.step("position").uniform(first[kept])),
        probability=probability,
        left_out=int((~kept).sum()),
    )


def _latent(data: Data, scenario: Scenario, table: KeyTable, progress: Progress) -> LatentModel:
    model = latent_model_of(data, scenario, table, progress)
    if model is None:
        raise TacitaError(
            "the latent model needs 100 complete records and unique ones among them; take probability 'estimated'."
        )
    return model
