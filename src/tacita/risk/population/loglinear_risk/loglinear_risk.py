"""Log-linear global risk: how many sample uniques are unique in the population, and how many would be matched?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import Doc, OneOf
from tacita.progress import Progress, no_progress
from tacita.result import Result, Table, number
from tacita.risk.identity.reidentification import interval
from tacita.risk.population.loglinear_risk.cells import classify
from tacita.risk.population.loglinear_risk.estimate import VARIANTS, Estimate, Specification
from tacita.risk.population.loglinear_risk.formula import model_of, shown
from tacita.risk.population.loglinear_risk.measures import Underfit, match_probability, unique_probability
from tacita.risk.population.loglinear_risk.search import CRITERIA, NO_SIGN, forward, neighbours
from tacita.scenario import Scenario
from tacita.work import Work

SHOWN_UP_TO = 200_000
"""Cells up to which `print` fits the neighbouring models by itself: it should not take long."""
MOST_ROWS = 12


@dataclass(frozen=True, eq=False)
class LogLinearRisk(Result):
    """Expected population uniques (tau_1) and correct matches (tau_2) among the sample uniques of a file."""

    estimate: Estimate
    """The fitted model."""
    path: frame.Frame | None = None
    """The steps of the automatic choice; None where the formula was given."""
    cautions: tuple[str, ...] = ()
    """What the reader should know."""
    not_valid: str = ""
    """Why the figures do not hold for this file; empty if they do."""

    @property
    def tau_1(self) -> float:
        """Sample uniques expected to be population unique (in compatibility mode sdcMicro's share of keys)."""
        return self.estimate.tau_1

    @property
    def tau_2(self) -> float:
        """Expected correct matches among sample uniques (in compatibility mode sdcMicro's share of keys)."""
        return self.estimate.tau_2

    @property
    def compatibility(self) -> str | None:
        """The program whose definitions were followed, if not the literature's."""
        return "sdcmicro" if self.estimate.specification.sdcmicro else None

    @property
    def variant(self) -> str:
        """plain, offset, pml, weighted or ipf."""
        return self.estimate.specification.variant

    @property
    def formula(self) -> str:
        """The model, with every effect it has."""
        return shown(self.estimate.model, self.estimate.specification.table.keys)

    @property
    def size(self) -> int:
        """Records in the file."""
        return self.estimate.specification.table.size

    @property
    def complete(self) -> int:
        """Records with all keys known; the others are left out."""
        return self.estimate.specification.table.complete

    @property
    def cells(self) -> int:
        """Combinations of the values of the keys, declared zeros left out."""
        return self.estimate.specification.table.cells

    @property
    def occupied(self) -> int:
        """Keys that occur in complete records."""
        return len(self.estimate.specification.table.index)

    @property
    def sample_uniques(self) -> int:
        """Keys that one complete record has."""
        return int(self.estimate.specification.unique.sum())

    @property
    def sampling_fraction(self) -> float:
        """pi = n/N of the complete records."""
        return self.estimate.specification.table.sampling_fraction

    @property
    def underfit(self) -> tuple[Underfit, Underfit]:
        """B_1 and B_2 of Skinner and Shlomo, each with its variance: a weak test, not a bias to subtract."""
        return self.estimate.underfit

    @cached_property
    def tau_1_interval(self) -> tuple[float, float] | None:
        """95 % interval of the number of population uniques among sample uniques; None in compatibility mode."""
        return self._interval(self.tau_1, 0)

    @cached_property
    def tau_2_interval(self) -> tuple[float, float] | None:
        """95 % interval of the correct matches among sample uniques; None in compatibility mode."""
        return self._interval(self.tau_2, 1)

    def _interval(self, expected: float, which: int) -> tuple[float, float] | None:
        if self.compatibility:
            return None
        low, high = interval(expected, self.estimate.variances[which])
        return low, min(high, float(self.sample_uniques))

    @cached_property
    def neighbours(self) -> frame.Frame:
        """This model and all with one interaction more or less: tau, tests, parameters, AIC."""
        return neighbours(self.estimate)

    @cached_property
    def unique_records(self) -> frame.Frame:
        """One row per sample unique: its record number, the mean of its cell, the mean number of others with its key
        in the population, the probability that there are none, and that a match is correct."""
        specification, others = self.estimate.specification, self.estimate.others
        return frame.table(
            {
                "record": specification.table.record[specification.unique],
                "mean": self.estimate.mean,
                "others": others,
                "population_unique": unique_probability(others),
                "correct_match": match_probability(others),
            }
        )

    def to_frame(self) -> frame.Frame:
        """One row each for tau_1 and tau_2: the figure, its interval, the test for under-fitting."""
        nowhere = (float("nan"), float("nan"))
        ends = [self.tau_1_interval or nowhere, self.tau_2_interval or nowhere]
        return frame.table(
            {
                "measure": ["tau_1", "tau_2"],
                "expected": [self.tau_1, self.tau_2],
                "low": [low for low, _ in ends],
                "high": [high for _, high in ends],
                "B": [test.b for test in self.underfit],
                "standardised": [test.standardised for test in self.underfit],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """All figures, no values of the data."""
        fit = self.estimate.fit
        return {
            "formula": self.formula,
            "variant": self.variant,
            "compatibility": self.compatibility,
            "tau_1": self.tau_1,
            "tau_1_interval": self.tau_1_interval,
            "tau_2": self.tau_2,
            "tau_2_interval": self.tau_2_interval,
            "sample_uniques": self.sample_uniques,
            "records": self.size,
            "complete_records": self.complete,
            "occupied_keys": self.occupied,
            "cells": self.cells,
            "sampling_fraction": self.sampling_fraction,
            "parameters": fit.parameters,
            "deviance": fit.deviance,
            "underfit": [{"B": test.b, "standardised": test.standardised} for test in self.underfit],
            "cautions": list(self.cautions),
        }

    @property
    def headline(self) -> str:
        """Expected population uniques and correct matches."""
        return _headline(self)

    def sentences(self) -> list[str]:
        """The model, and whether it fits too little."""
        return _details(self) + (["with one interaction more or less:"] if self._shown_neighbours() else [])

    def _shown_neighbours(self) -> list[tuple[str, ...]]:
        # A cached property that was asked for before costs nothing.
        if self.cells > SHOWN_UP_TO and "neighbours" not in vars(self):
            return []
        names = ("change", "tau_1", "tau_2", "B_2/sqrt(V_2)")
        rows = list(zip(*(self.neighbours[name].to_list() for name in names), strict=True))
        return [(change, number(one), number(two), f"{test:.1f}") for change, one, two, test in rows if len(rows) > 1]

    def tables(self) -> tuple[Table, ...]:
        """The neighbouring models."""
        rows = tuple(self._shown_neighbours()[:MOST_ROWS])
        return (Table(("model", "tau_1", "tau_2", "B_2/sqrt(V_2)"), rows),) if rows else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """How many models the table leaves out."""
        more = len(self._shown_neighbours()) - MOST_ROWS
        return (f"and {more} more in .neighbours",) if more > 0 else ()


def _headline(risk: LogLinearRisk) -> str:
    among = f"among {check.counted(risk.sample_uniques, 'sample unique')} of {risk.complete:,} complete records"
    if risk.compatibility:
        return (
            f"sdcMicro's risk measures {risk.tau_1:.5f} and {risk.tau_2:.5f} per occupied key, {among}: not expected "
            "numbers, since they take the mean of the sample for that of the population"
        )
    parts = []
    for value, ends, what in (
        (risk.tau_1, risk.tau_1_interval, "sample uniques expected to be population unique"),
        (risk.tau_2, risk.tau_2_interval, "expected correct matches"),
    ):
        low, high = ends or (value, value)
        between = f" (95 % interval {number(low)} to {number(high)})" if low < high else ""
        parts.append(f"{number(value)} {what}{between}")
    return f"{parts[0]} and {parts[1]} {among}"


def _details(risk: LogLinearRisk) -> list[str]:
    fit, (first, second) = risk.estimate.fit, risk.underfit
    return [
        f"model {risk.formula} ({risk.variant}): {check.counted(risk.cells, 'cell')}, "
        f"{check.counted(fit.parameters, 'parameter')}",
        f"under-fitting: B_1/sqrt(V_1) = {first.standardised:.1f}, B_2/sqrt(V_2) = {second.standardised:.1f}, "
        "about 0 ± 2 if no term is missing",
    ]


def _work(data: Data, scenario: Scenario, options: Mapping[str, Any]) -> Work:
    """A fit goes over all cells; where no model is given, that is for every pair of keys, as often as one is added."""
    levels = [max(1, len(data.coded(name).values)) for name in scenario.keys]
    pairs = math.comb(len(levels), 2)
    parameters = sum((one - 1) * (other - 1) for one, other in combinations(levels, 2))
    fit = 3e-7 * math.prod(levels) + 2e-4 * pairs + 1e-5 * parameters
    fits = 1.0 if options["formula"] is not None else 1.0 + pairs * (pairs + 1) / 4
    return Work(fit * fits, "recode keys with many values, name fewer keys, or pass a formula")


@measure(
    by_key=True,
    weights_by_record=True,
    work=_work,
    needs=("keys", "sample"),
    limit=at_most(
        "tau_1",
        "the expected number of population uniques in the file",
        void="records",
        moved_by="Recode or Generalise the keys, or Suppress in unique records",
    ),
    missing=own_rule("Records with a missing key value are left out and counted."),
    precision=1e-9,
)
def loglinear_risk(
    data: Any,
    scenario: Scenario,
    formula: Annotated[
        str | None, Doc("The model, as `~ region + sex*age`; chosen by `choose_by` unless given.")
    ] = None,
    *,
    numeric: Annotated[tuple[str, ...], Doc("Keys that enter as numbers; the others are factors.")] = (),
    variant: Annotated[str, OneOf(tuple(VARIANTS)), Doc("How weights enter, and how the model is fitted.")] = "plain",
    compatibility: Annotated[
        str | None, OneOf(("sdcmicro",)), Doc("`sdcmicro` gives the figures of its modRisk; Tacita's own unless given.")
    ] = None,
    structural_zeros: Annotated[
        Any, Doc("Combinations that cannot occur, as `[{'age': '0-15', 'status': 'married'}]`.")
    ] = (),
    choose_by: Annotated[
        str, OneOf(tuple(CRITERIA)), Doc("By what a model is chosen where no formula is given.")
    ] = "B2",
    progress: Progress = no_progress,
) -> LogLinearRisk:
    """How many sample uniques are population unique, and how many would be matched rightly (Elamir and Skinner).

    The records of each combination of the keys are Poisson with a mean mu that a log-linear model gives; with the
    sampling fraction pi the population has lambda = mu/pi of it. With v = (1 - pi) lambda, tau_1 sums exp(-v) over
    the sample uniques, the probability that nobody else has the key, and tau_2 sums (1 - exp(-v)) / v, the probability
    that a match is right.

    The `formula` names every key, e.g. `"~ region + sex*age"` (`a:b`, `a*b`, `(a + b + c)**2`); without one a model
    with interactions of two keys is chosen (`choose_by` "B2" or "AIC"). Keys are factors, unless named in `numeric`.
    `variant` "offset" allows for weights that differ between cells (Clogg and Eliason), "pml" fits the weighted counts
    (Skinner and Vallet), "weighted" has the mean weight of the cell as a covariate, "ipf" is the plain model fitted by
    iterative proportional fitting. `compatibility="sdcmicro"` gives the figures of sdcMicro's `modRisk`.
    `structural_zeros` lists combinations that cannot occur, e.g. `[{"age": "0-15", "status": "married"}]`.

    References: Elamir and Skinner (2006), JOS 22; Skinner and Shlomo (2008), JASA 103.

    >>> import tacita as tc
    >>> survey = tc.household_survey(200, population=4000)
    >>> scenario = tc.Scenario(keys=["region", "sex", "age"], weight="weight")
    >>> risk = loglinear_risk(survey.data, scenario, "~ region + sex + age")
    >>> 0 < risk.tau_1 < risk.tau_2 < risk.sample_uniques
    True
    """
    _check_together(scenario, numeric, variant, compatibility, formula, choose_by)
    model = None if formula is None else model_of(formula, scenario.keys, numeric)
    progress(0.0, "counting combinations of the keys")
    sdcmicro = compatibility is not None
    # sdcMicro crosses all values of the file, also those that only records with another key missing have.
    table = classify(data, scenario, structural_zeros, all_levels=sdcmicro)
    specification = Specification(table, numeric, variant, sdcmicro)
    path = None
    if model is None:
        estimate, path = forward(specification, choose_by, progress)
    else:
        estimate = specification.estimate(model)
    return LogLinearRisk(estimate, path, (*table.cautions, *_cautions(estimate)), table.not_valid)


def _check_together(
    scenario: Scenario,
    numeric: tuple[str, ...],
    variant: str,
    compatibility: str | None,
    formula: str | None,
    choose_by: str,
) -> None:
    if not scenario.keys:
        raise TacitaError("log-linear risk needs categorical keys; pass keys=[...] in the scenario.")
    check.columns_exist("numeric: keys", numeric, scenario.keys)
    if numeric and variant == "ipf":
        raise TacitaError("variant 'ipf' fits factors only; drop numeric=[...] or choose another variant.")
    if compatibility is not None:
        check.one_of("compatibility", compatibility, ("sdcmicro",))
        if scenario.weight is None:
            raise TacitaError("compatibility 'sdcmicro' needs weights; pass weight=... in the scenario.")
    if formula is None and choose_by == "AIC" and variant == "pml":
        raise TacitaError("variant 'pml' has no likelihood for choose_by 'AIC'; choose by 'B2' or give a formula.")


def _cautions(estimate: Estimate) -> list[str]:
    table, out = estimate.specification.table, []
    incomplete = table.size - table.complete
    if incomplete:
        out.append(f"{check.counted(incomplete, 'record')} with a missing key left out.")
    if not estimate.fit.converged:
        out.append(f"the fit did not converge in {estimate.fit.steps:,} steps; leave out an interaction.")
    if estimate.underfit[1].standardised >= NO_SIGN:
        out.append("B_2 is well above 0: terms are missing, or records depend on each other (households).")
    return out
