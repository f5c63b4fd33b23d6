"""Ready-made demo surveys: data, scenario, and the true population behind them."""

from __future__ import annotations

from dataclasses import dataclass

from tacita import frame
from tacita.data import Data, Variable
from tacita.data.demo import household
from tacita.scenario import Scenario


@dataclass(frozen=True, eq=False)
class DemoSurvey:
    """A synthetic survey with what it takes to try everything on it."""

    data: Data
    """The sample, as a survey institute would hold it."""
    population: Data
    """Every unit of the population, without missing values: the truth."""
    scenario: Scenario
    """A ready scenario."""


def household_survey(households: int = 6000, *, population: int = 174_000, seed: int = 1) -> DemoSurvey:
    """A stratified household survey of an invented country, with the population it was drawn from.

    `households` are sampled out of `population` (a number of households too). The same numbers and seed give the same
    survey on every machine. No real person is in it.

    >>> survey = household_survey(50, population=2000, seed=3)
    >>> survey.scenario.keys
    ('region', 'sex', 'age', 'citizenship', 'status')
    """
    everybody = household.population(population, seed)
    sample = household.draw_sample(everybody, households, seed)
    return DemoSurvey(
        data=_data(sample),
        population=_data(everybody),
        scenario=Scenario(
            keys=household.KEYS,
            weight="weight",
            household="household",
            household_variables=("region", "size"),
            person="person",
            sensitive=("income",),
            not_applicable={name: codes for name, codes in household.NOT_APPLICABLE.items() if name in household.KEYS},
        ),
    )


def _data(table: household.Table) -> Data:
    variables = {
        name: Variable(
            label=household.LABELS.get(name, ""),
            scale=household.SCALES.get(name),  # type: ignore[arg-type]
            not_applicable=household.NOT_APPLICABLE.get(name, ()),
        )
        for name in table
    }
    return Data(frame.table(table), variables)
