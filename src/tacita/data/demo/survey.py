"""Ready-made demo surveys: data, scenario, and the true population behind them."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

from tacita import check, frame
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.data.demo import accident, business, household
from tacita.data.demo.drawing import Table, take, values_of
from tacita.scenario import Scenario

MOST_UNITS = 20_000_000
"""More would not fit into the memory of a usual computer."""


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
    households, population = _size("households", households), _size("population", population)
    everybody = household.population(population, seed)
    sample = household.draw_sample(everybody, households, seed)
    return DemoSurvey(
        data=_data(sample, household),
        population=_data(everybody, household),
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


def business_survey(
    size: int = business.SAMPLE, *, population: int | None = None, exporters: bool = False, seed: int = 1
) -> DemoSurvey:
    """A stratified innovation survey of enterprises in eight industries, with the population it was drawn from.

    `size` enterprises are sampled out of `population`, 12,000 for 2,123 and in proportion unless given. About a third
    of the sample exports nothing and half spends nothing on research; `exporters=True` leaves the former out, of the
    population too, as the published study of this shape did (Seri and Polettini 2003). The same numbers and seed give
    the same survey on every machine. No real enterprise is in it.

    >>> survey = business_survey(200, seed=3)
    >>> survey.scenario.numeric_keys
    ('turnover', 'employees', 'exports', 'rd_expenditure')
    """
    if not isinstance(exporters, bool):
        raise TacitaError(f"exporters must be true or false; got {check.given(exporters)}.")
    size = _size("size", size)
    population = None if population is None else _size("population", population)
    everything = business.population(
        size * business.POPULATION // business.SAMPLE if population is None else population, seed
    )
    if exporters:
        everything = take(everything, values_of(everything, "exports") > 0)
    sample = business.draw_sample(everything, size, seed)
    return DemoSurvey(
        data=_data(sample, business),
        population=_data(everything, business),
        scenario=Scenario(
            keys=business.KEYS,
            numeric_keys=business.NUMERIC_KEYS,
            weight="weight",
            strata=("industry",),
            sensitive=("innovation",),
            identifiers=("enterprise",),
        ),
    )


def accident_survey(records: int = 88_330, *, seed: int = 1) -> DemoSurvey:
    """An exhaustive survey of accidents at work: one record for each victim, 34 variables and the accident number.

    There are no weights: the file is its own population, which is given without the missing answers. Its accidents are
    its households: who recognises one victim may find the others. The same number and seed give the same survey on
    every machine. No real person, company or accident is in it.

    >>> survey = accident_survey(500)
    >>> survey.scenario.keys
    ('LPB1', 'P1', 'P2', 'P3', 'P8', 'P15', 'P20', 'PKD', 'WOJW')
    """
    everybody = accident.population(_size("records", records), seed)
    return DemoSurvey(
        data=_data(accident.reported(everybody, seed), accident),
        population=_data(everybody, accident),
        scenario=Scenario(
            keys=accident.KEYS,
            numeric_keys=accident.NUMERIC_KEYS,
            household="accident",
            household_variables=accident.SHARED,
            sensitive=("P9", "P28"),
        ),
    )


def _size(what: str, value: int) -> int:
    """How many units are made up."""
    found = check.whole(what, value, 1)
    if found > MOST_UNITS:
        raise TacitaError(f"{what} must be at most {MOST_UNITS:,}; got {found:,}.")
    return found


def _data(table: Table, source: ModuleType) -> Data:
    variables = {
        name: Variable(
            label=source.LABELS[name],
            value_labels=getattr(source, "VALUE_LABELS", {}).get(name, {}),
            scale=source.SCALES[name],
            not_applicable=source.NOT_APPLICABLE.get(name, ()),
            order=column[1] if isinstance(column, tuple) and source.SCALES[name] == "ordinal" else (),
        )
        for name, column in table.items()
    }
    return Data(frame.table(table), variables)
