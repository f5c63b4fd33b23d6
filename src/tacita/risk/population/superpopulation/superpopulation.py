"""Superpopulation models: how many units of the population are unique on the keys, judging by the sample alone?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.keys.source import WEIGHT_BITS, as_float, group_sums
from tacita.keys.table import (
    KeyTable,
    key_table,
    population_weights,
    repeated_units,
)
from tacita.keys.units import counting_records, units_not_counted
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.result import Result, Table, number, percent
from tacita.risk.population.superpopulation import mixtures, partitions
from tacita.risk.population.superpopulation.models import Estimate, Model, SampleSizes, slide_negative_binomial, zayatz
from tacita.scenario import Scenario

MODELS: dict[str, Model] = {
    "pitman": partitions.pitman,
    "zayatz": zayatz,
    "slide_negative_binomial": slide_negative_binomial,
    "poisson_gamma": mixtures.poisson_gamma,
    "dirichlet_multinomial": partitions.dirichlet_multinomial,
    "poisson_inverse_gaussian": mixtures.poisson_inverse_gaussian,
    "poisson_gamma_truncated": mixtures.poisson_gamma_truncated,
    "poisson_inverse_gaussian_truncated": mixtures.poisson_inverse_gaussian_truncated,
}
"""The models by name."""

DEFAULT = tuple(MODELS)[:6]
"""The models that are fitted unless others are named; the truncated ones rarely do well."""

LABELS = {
    "pitman": "Pitman",
    "zayatz": "Zayatz",
    "slide_negative_binomial": "slide negative binomial",
    "poisson_gamma": "Poisson-gamma",
    "dirichlet_multinomial": "Dirichlet-multinomial",
    "poisson_inverse_gaussian": "Poisson-inverse Gaussian",
    "poisson_gamma_truncated": "Poisson-gamma, truncated",
    "poisson_inverse_gaussian_truncated": "Poisson-inverse Gaussian, truncated",
}
"""What the models are called in print."""

LOW_FRACTION = 0.1
"""Up to this sampling fraction the decision rule of Dankar et al. takes Pitman's model."""
UNEQUAL = 1.05
"""Weights with n sum w^2 / (sum w)^2 above this are far from the equal weights that the models assume."""
MOST_CELLS = 1e100
"""Beyond this many cells their number makes no difference."""


def dankar_choice(estimates: Mapping[str, Estimate], fraction: float) -> str | None:
    """The model that the decision rule of Dankar et al. (2012) takes; None if one that it looks at was not fitted.

    Up to a sampling fraction of 0.1 Pitman's, or Zayatz's where Pitman's does not converge; above it that with the
    smaller figure of Zayatz's and the slide negative binomial, or Zayatz's where the latter does not converge.
    """
    first = estimates.get("pitman" if fraction <= LOW_FRACTION else "slide_negative_binomial")
    other = estimates.get("zayatz")
    if first is None or other is None:
        return None
    if not first.converged:
        return other.model
    if fraction <= LOW_FRACTION or first.population_uniques < other.population_uniques:
        return first.model
    return other.model


@dataclass(frozen=True, eq=False)
class Superpopulation(Result):
    """The number of population uniques by several models, and the one that the decision rule takes."""

    size: int
    """Records without a missing key value, on which the models rest (n)."""
    left_out: int
    """Records with a missing key value."""
    population: float
    """Units in the population (N)."""
    uniques: int
    """Records that are unique in the file."""
    cells: float
    """Keys that are possible (K), for the models that use it."""
    estimates: tuple[Estimate, ...]
    """What each model says."""
    chosen: str | None
    """The model that the decision rule of Dankar et al. takes; None if it was not among those asked for."""
    cautions: tuple[str, ...] = ()
    """What the reader of the figures should know."""
    not_valid: str = ""
    """Why the figures do not hold for this file; empty if they do."""

    @property
    def sampling_fraction(self) -> float:
        """n/N of the records without a missing key value."""
        return self.size / self.population

    @property
    def estimate(self) -> Estimate:
        """The estimate of the chosen model, or of the first one asked for."""
        name = self.chosen or self.estimates[0].model
        return next(found for found in self.estimates if found.model == name)

    @property
    def population_uniques(self) -> float:
        """Population uniques in the file, by the chosen model."""
        return self.estimate.sample_uniques

    @property
    def headline(self) -> str:
        """The figure of the chosen model in a sentence."""
        found, by = self.estimate, "by the rule of Dankar et al." if self.chosen else "the first model asked for"
        model = f"({LABELS[found.model]}, {by})"
        if math.isnan(found.population_uniques):
            return f"no estimate of the units that are unique in the population {model}: {found.reason}"
        return (
            f"about {_count(found.population_uniques)} of {_count(self.population)} units are unique in the population "
            f"({percent(found.share)}); {_count(found.sample_uniques)} of the {self.uniques:,} records that are unique "
            f"in the file are among them {model}"
        )

    def tables(self) -> tuple[Table, ...]:
        """One row per model."""
        heads = ("model", "population uniques", "share", "of them in the file", "")
        rows = tuple(
            (LABELS[found.model], *_figures(found), "" if found.converged else "no fit") for found in self.estimates
        )
        return (Table(heads, rows),)

    @property
    def notes(self) -> tuple[str, ...]:
        """How far the models differ, and what they rest on."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        known = [f.population_uniques for f in self.estimates if not math.isnan(f.population_uniques)]
        if len(known) > 1:
            yield f"the models differ: {_count(min(known))} to {_count(max(known))}"
        left = f"; {check.counted(self.left_out, 'record')} with a missing key value left out" if self.left_out else ""
        yield f"sampling fraction {percent(self.sampling_fraction)}{left}"
        for found in self.estimates:
            if found.reason:
                yield f"{LABELS[found.model]}: {found.reason}"

    def to_frame(self) -> frame.Frame:
        """One row per model."""
        found = self.estimates
        return frame.table(
            {
                "model": [f.model for f in found],
                "population_uniques": [f.population_uniques for f in found],
                "share": [f.share for f in found],
                "sample_uniques": [f.sample_uniques for f in found],
                "converged": [f.converged for f in found],
                "chosen": [f.model == self.chosen for f in found],
                "reason": [f.reason for f in found],
                "parameters": [_written(f.parameters) for f in found],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """By model: population uniques and those of them in the file; null where there is no estimate."""
        known = {f.model: (f.population_uniques, f.sample_uniques) for f in self.estimates}
        return {"chosen": self.chosen, "sampling_fraction": self.sampling_fraction} | {
            model: {"population_uniques": _or_none(whole), "of_them_in_the_file": _or_none(here)}
            for model, (whole, here) in known.items()
        }


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _count(value: float) -> str:
    return number(round(value)) if value >= 100 else number(value)


def _written(parameters: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in parameters.items())


def _figures(found: Estimate) -> tuple[str, str, str]:
    if math.isnan(found.population_uniques):
        return "-", "-", "-"
    return _count(found.population_uniques), percent(found.share), _count(found.sample_uniques)


def _cells(table: KeyTable) -> float:
    """The cells of the cross-classification, by the categories that occur."""
    logarithm = sum(math.log10(max(len(values), 1)) for values in table.values)
    return float(math.prod(map(len, table.values))) if logarithm < 100 else MOST_CELLS


def _names(models: str | Iterable[str] | None) -> tuple[str, ...]:
    if models is None:
        return DEFAULT
    listed = (models,) if isinstance(models, str) else tuple(models) if isinstance(models, Iterable) else ()
    if not listed:
        raise TacitaError(f"models must name at least one of {', '.join(map(repr, MODELS))}.")
    return tuple(dict.fromkeys(check.one_of("models", name, tuple(MODELS)) for name in listed))


def population_size(table: KeyTable, weights: Floats | None) -> float:
    """N: the sum of the weights, or what the scenario says."""
    if weights is not None:
        total = group_sums(weights, np.zeros(len(weights), dtype=np.int64), 1, WEIGHT_BITS)
        return float(as_float(total, WEIGHT_BITS)[0])
    if table.source not in ("population_size", "sampling_fraction"):
        raise TacitaError(
            "the models need the size of the population; give the scenario weight=, population_size= or "
            "sampling_fraction=."
        )
    return float(table.population_count[0] / table.sample_count[0]) * table.size


def _unequal_weights(weights: Floats | None) -> Iterator[str]:
    if weights is None:
        return
    ordered = np.sort(weights)  # so that the last bits do not depend on the order of the records
    effect = float(np.mean(ordered**2) / np.mean(ordered) ** 2)
    if effect > UNEQUAL:
        yield (
            f"the models assume that every unit had the same chance to be in the file, but the weights differ "
            f"(n sum w^2 / (sum w)^2 = {effect:.3g}); the figures are the rougher for it."
        )


@measure(
    needs=("keys", "sample"),
    limit=at_most(
        "population_uniques",
        "the number of population uniques in the file",
        void="records",
        moved_by="Recode or Generalise the keys, or Suppress in unique records",
    ),
    missing=own_rule("Records with a missing key value are left out and counted."),
)
def superpopulation(
    data: Any,
    scenario: Scenario,
    *,
    models: Annotated[Any, Doc("Names of models; those that Dankar's rule needs unless given.")] = None,
    cells: Annotated[float | None, Doc("Number of possible keys; the product of categories unless given.")] = None,
    keys: Annotated[Any, Doc("Key variables; the scenario's unless given.")] = None,
) -> Superpopulation:
    """How many units of the population are unique on the keys, and how many of them are in the file.

    A record that is unique in the file and in the population is found for certain by whoever knows its key. Each
    model draws its conclusion from how many keys of the file have 1, 2, 3, ... records, and from N alone:

    - `pitman`: Pitman's sampling formula, by maximum likelihood (Hoshino 2001);
    - `zayatz`: population keys have the sizes of sample keys (Zayatz 1991);
    - `slide_negative_binomial`: F - 1 is negative binomial (Chen and Keller-McNulty 1998);
    - `poisson_gamma`, `dirichlet_multinomial`, `poisson_inverse_gaussian`: a mixture over all cells of the
      cross-classification (Bethlehem, Keller and Pannekoek 1990; Takemura 1999; Carlson 2002);
    - `poisson_gamma_truncated`, `poisson_inverse_gaussian_truncated`: the same over an unknown number of cells.

    The decision rule of Dankar et al. (2012) chooses between the first three. N is the sum of the weights, or the
    scenario's population_size, or n / sampling_fraction. The models need a partition of the records, so those with a
    missing key value are left out and counted; N stays that of the whole population. `cells` is the number of possible
    keys, if it is not the product of the numbers of categories that occur.

    Reference: Dankar, El Emam, Neisa and Roffey (2012), Estimating the re-identification risk of clinical data sets,
    BMC Medical Informatics and Decision Making 12:66.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [20, 21, 22, 22, 23, 23, 23, 24, 24, 24]})
    >>> found = superpopulation(people, Scenario(keys=["age"], sampling_fraction=0.2), models="zayatz")
    >>> round(found.estimate.population_uniques, 2), found.uniques
    (2.63, 2)
    """
    table = key_table(*counting_records(data, scenario), keys)
    weights, unit = population_weights(data, scenario), repeated_units(data, scenario)
    names = _names(models)
    records = table.records[table.complete]
    size = int(records.sum())
    if size == 0:
        raise TacitaError("every record has a missing key value; name fewer keys, or declare not_applicable codes.")
    possible = _cells(table) if cells is None else cells
    # Weights below 1 can add up to less than the file; the table has said so.
    population = max(population_size(table, weights), float(size))
    sizes = SampleSizes.of(records, population, possible)
    estimates = {name: MODELS[name](sizes) for name in names}
    return Superpopulation(
        size=size,
        left_out=table.size - size,
        population=population,
        uniques=sizes.with_size(1),
        cells=possible,
        estimates=tuple(estimates.values()),
        chosen=dankar_choice(estimates, sizes.fraction),
        cautions=(*table.cautions, *_unequal_weights(weights)),
        not_valid=table.not_valid or units_not_counted(unit),
    )
