"""tau_1 and tau_2 of one log-linear model, in the variants of the field."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacita.arrays import Bools, Floats
from tacita.formula import Model
from tacita.risk.population.loglinear_risk.cells import Classification
from tacita.risk.population.loglinear_risk.design import Cells, Design, Effect
from tacita.risk.population.loglinear_risk.measures import (
    Underfit,
    match_probability,
    match_slope,
    match_variance,
    underfit_of_cells,
    unique_probability,
)
from tacita.risk.population.loglinear_risk.model import (
    MOST_PARAMETERS,
    Fit,
    allowed_cells,
    newton_fit,
    propagated_variances,
    proportional_fit,
)

VARIANTS = ("plain", "offset", "pml", "weighted", "ipf")


@dataclass(frozen=True, eq=False)
class Specification:
    """What all models of one search have in common: the cells, and how counts and weights enter."""

    table: Classification
    numeric: tuple[str, ...] = ()
    variant: str = "plain"
    sdcmicro: bool = False
    """Whether to follow sdcMicro's definitions instead of the literature's."""

    @cached_property
    def response(self) -> Floats:
        """What is modelled, by occupied cell."""
        table = self.table
        if self.variant != "pml":
            return table.count
        if self.sdcmicro:
            return np.rint(table.population * (table.size / table.population_size))
        return table.population

    @cached_property
    def cells(self) -> Cells:
        """The cells with a positive response."""
        positive = self.response > 0
        return Cells(self.table.shape, self.table.index[positive], self.response[positive])

    @cached_property
    def inclusion(self) -> Floats:
        """pi_k by occupied cell: n/N; with an offset f_k/F_k, at most 1."""
        if self.variant == "offset":
            return np.minimum(1.0, self.table.count / self.table.population)
        return np.full(len(self.table.index), self.table.sampling_fraction)

    @cached_property
    def exposure(self) -> Floats | None:
        """What multiplies the mean of every cell (its logarithm is the offset)."""
        if self.variant != "offset":
            return None
        if self.sdcmicro:
            return self._by_cell(0.1, self.table.count / self.table.population + 0.1)
        return self._by_cell(self.table.sampling_fraction, self.inclusion)

    @cached_property
    def covariate(self) -> Floats | None:
        """A further column: the mean weight of the cell against that of the file (sdcMicro: its summed weight)."""
        if self.variant != "weighted":
            return None
        if self.sdcmicro:
            return self._by_cell(0.0, self.table.population)
        mean = self.table.population / self.table.count
        return self._by_cell(0.0, mean * (self.table.complete / math.fsum(self.table.population)) - 1.0)

    def _by_cell(self, empty: float, occupied: Floats) -> Floats:
        out = np.full(math.prod(self.table.shape), empty)
        out[self.table.index] = occupied
        return out.reshape(self.table.shape)

    @cached_property
    def unique(self) -> Bools:
        """Which occupied cells hold one record."""
        unique: Bools = self.table.count == 1
        return unique

    def effects(self, model: Model) -> list[Effect]:
        """The effects of a model as axes of the table."""
        place = {name: axis for axis, name in enumerate(self.table.keys)}
        return [
            Effect(
                tuple(sorted(place[name] for name in term if name not in self.numeric)),
                tuple(sorted(place[name] for name in term if name in self.numeric)),
            )
            for term in sorted(model, key=sorted)
        ]

    def design(self, model: Model) -> Design:
        """The design of a model."""
        values = {self.table.keys.index(name): self.table.linear(name) for name in self.numeric}
        return Design(self.table.shape, self.effects(model), values, self.covariate)

    def fit(self, model: Model) -> Fit:
        """The maximum likelihood fit: models of factors by IPF, others by Newton steps."""
        if self.numeric or self.covariate is not None:
            return self.fit_by_newton(model)
        fit = self.fit_by_proportions(model)
        # Where means are driven to zero IPF creeps on for ever; Newton steps do not, if the model is not too large.
        if fit.converged or self.variant == "ipf" or self.design(model).size > MOST_PARAMETERS:
            return fit
        return self.fit_by_newton(model)

    def fit_by_newton(self, model: Model) -> Fit:
        """The fit of any model by Newton steps."""
        allowed = allowed_cells(self.cells, self.effects(model), self.table.possible)
        return newton_fit(self.cells, self.design(model), allowed, self.exposure)

    def fit_by_proportions(self, model: Model) -> Fit:
        """The fit of a model of factors by iterative proportional fitting."""
        sets = [effect.factors for effect in self.effects(model)]
        generators = [one for one in sets if not any(set(one) < set(other) for other in sets)]
        start = self.table.possible
        if self.exposure is not None:
            start = self.exposure if start is None else start * self.exposure
        return proportional_fit(self.cells, generators, start)

    def estimate(self, model: Model) -> Estimate:
        """Fit a model and what it says of sample uniques."""
        return Estimate(self, model, self.fit(model))


@dataclass(frozen=True, eq=False)
class Estimate:
    """One fitted model and what it says of sample uniques."""

    specification: Specification
    model: Model
    fit: Fit

    @property
    def _to_population(self) -> Floats:
        """By sample unique: the factor from the fitted mean to v = (1 - pi) lambda."""
        specification = self.specification
        unique = specification.unique
        if specification.sdcmicro:
            return 1.0 - specification.table.inverse_weights[unique]
        pi = specification.inclusion[unique]
        return (1.0 - pi) if specification.variant == "pml" else (1.0 - pi) / pi

    @cached_property
    def mean(self) -> Floats:
        """By sample unique: the fitted mean of its cell."""
        index = self.specification.table.index[self.specification.unique]
        return self.fit.mean.reshape(-1)[index]

    @cached_property
    def others(self) -> Floats:
        """By sample unique: v, the mean number of others in the population with its key."""
        return self.mean * self._to_population

    @cached_property
    def tau_1(self) -> float:
        """Sum of P(F = 1) over sample uniques; in sdcMicro's way per occupied cell."""
        return math.fsum(unique_probability(self.others)) / self._per

    @cached_property
    def tau_2(self) -> float:
        """Sum of E[1/F] over sample uniques; in sdcMicro's way per occupied cell."""
        return math.fsum(match_probability(self.others)) / self._per

    @property
    def _per(self) -> int:
        return len(self.specification.table.index) if self.specification.sdcmicro else 1

    @property
    def aic(self) -> float:
        """Akaike's criterion, up to a constant of the file."""
        return self.fit.deviance + 2.0 * self.fit.parameters

    @cached_property
    def underfit(self) -> tuple[Underfit, Underfit]:
        """B_1 and B_2 with their variances."""
        specification, table = self.specification, self.specification.table
        pi = table.sampling_fraction
        sample_mean = self.fit.mean.reshape(-1)
        if specification.variant == "pml" and not specification.sdcmicro:
            sample_mean = sample_mean * pi
        occupied = specification.inclusion if specification.variant == "offset" else pi
        return underfit_of_cells(sample_mean, table.index, table.count, pi, occupied)

    @cached_property
    def variances(self) -> tuple[float, float]:
        """Variances of the true number of population uniques, and of correct matches, about tau_1 and tau_2.

        The first part is that of F given f under the model, the second that of the fitted parameters.
        """
        specification, table = self.specification, self.specification.table
        alone = unique_probability(self.others)
        own = math.fsum(alone * (1.0 - alone)), math.fsum(match_variance(self.others))
        if not len(alone) or table.sampling_fraction == 1.0:
            return own
        design = specification.design(self.model)
        noise = Cells(table.shape, table.index, table.weight_squares) if specification.variant == "pml" else None
        unique = table.index[specification.unique]
        slopes = (-alone * self.others, match_slope(self.others) * self.others)
        by_cell = [Cells(table.shape, unique, slope) for slope in slopes]
        fitted = propagated_variances(design, self.fit.mean, by_cell, noise)
        return own[0] + fitted[0], own[1] + fitted[1]
