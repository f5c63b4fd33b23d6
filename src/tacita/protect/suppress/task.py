"""What a suppression is about: from scenario, policy and file to codes and requirements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Codes, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.visible import visible_categories
from tacita.keys.source import distinct_keys
from tacita.keys.table import population_weights, repeated_units
from tacita.policy import Policy
from tacita.protect.suppress.combinations import Requirement, bits, of_sizes
from tacita.protect.suppress.households import HouseholdGoal
from tacita.protect.suppress.importance import costs_of
from tacita.protect.suppress.kernel import Shared
from tacita.protect.suppress.risk_threshold import link_limits, link_risk, tried
from tacita.protect.suppress.sweep import Risk
from tacita.scenario import KeySet, MissingRule, Scenario

MAIN = "keys"


class Asked(NamedTuple):
    """What the step asks for."""

    k: int | None = None
    importance: Mapping[str, int] | str = ""
    combs: Any = ()
    key_sets: tuple[str, ...] = ()
    strata: tuple[str, ...] | None = None
    household_variables: tuple[str, ...] | None = None
    risk: float | None = None
    household_risk: float | None = None
    risk_by_policy: bool = False


class Task(NamedTuple):
    """A suppression in arrays, record by record."""

    keys: tuple[str, ...]
    codes: Codes
    needs: list[Requirement]
    costs: list[float]
    rule: MissingRule
    strata: Codes | None
    weights: Floats | None
    risk: Risk | None
    goal: HouseholdGoal | None
    shared: Shared | None
    kept: int
    remarks: tuple[str, ...]

    def rows(self, some: Ints) -> Task:
        """Some of the records, as a file without strata."""
        shared, goal = self.shared, self.goal
        return self._replace(
            codes=self.codes[some],
            needs=[each if each.limits is None else each._replace(limits=each.limits[some]) for each in self.needs],
            strata=None,
            weights=None if self.weights is None else self.weights[some],
            shared=None if shared is None else shared._replace(household=_renumbered(shared.household[some])),
            goal=None
            if goal is None
            else goal._replace(household=_renumbered(goal.household[some]), attack=goal.attack[some]),
        )


def _renumbered(household: Ints) -> Ints:
    return np.unique(household, return_inverse=True)[1]


def prepared(asked: Asked, data: Data, scenario: Scenario, policy: Policy) -> Task:
    """The suppression of a file; the file is in the order of its record numbers."""
    sets = _chosen(asked, scenario)
    strata = _within(scenario.strata if asked.strata is None else asked.strata, data)
    names = tuple(dict.fromkeys(name for key_set in sets.values() for name in key_set.keys))
    # A stratum is always shown: as a key it has nothing to add.
    keys = tuple(name for name in names if name not in strata)
    if not keys:
        raise TacitaError("all keys are strata, which are never suppressed; name strata that are not keys.")
    columns = [visible_categories(data, name, scenario.not_applicable.get(name, ())).codes for name in keys]
    weights = population_weights(data, scenario)
    attack = tried(scenario.attack, len(data), scenario.attack_probability, weights)
    needs: list[Requirement] = []
    for name, key_set in sets.items():
        places = [keys.index(each) for each in key_set.keys if each in keys]
        needs += _requirements(name, key_set, places, asked, policy, attack)
    limited = asked.risk is not None or asked.household_risk is not None
    goal = None
    if asked.household_risk is not None:
        main = [keys.index(each) for each in next(iter(sets.values())).keys if each in keys]
        goal = HouseholdGoal(bits(main), asked.household_risk, _households(data, scenario), attack)
    costs = costs_of(names, _ranks(asked.importance, data, scenario, names))
    kept, remarks = _kept(keys, data, scenario)
    return Task(
        keys=keys,
        codes=np.stack(columns, axis=1),
        needs=needs,
        costs=[cost for name, cost in zip(names, costs, strict=True) if name in keys],
        rule=scenario.missing,
        strata=_numbers(strata, data) if strata else None,
        weights=weights if limited else None,
        risk=link_risk(None if weights is not None else _ratio(scenario, len(data)), scenario.attack)
        if limited
        else None,
        goal=goal,
        shared=_shared(asked, keys, data, scenario),
        kept=kept,
        remarks=(*remarks, *_records_not_units(data, scenario, asked.k or policy.k)),
    )


def _chosen(asked: Asked, scenario: Scenario) -> dict[str, KeySet]:
    """The key sets to protect."""
    sets = scenario.sets
    if not sets:
        raise TacitaError("suppression needs categorical keys; pass keys=[...] in the scenario.")
    unknown = [name for name in asked.key_sets if name not in sets]
    if unknown:
        raise TacitaError(f"key_sets not in the scenario: {check.quoted(unknown)}. They are {check.quoted(sets)}.")
    if asked.combs and MAIN not in (asked.key_sets or sets):
        raise TacitaError("combs are combinations of the main keys, which are not protected here; drop combs.")
    return {name: sets[name] for name in asked.key_sets or sets}


def only_keys(what: str, names: Iterable[str], keys: Sequence[str]) -> None:
    """All names are of keys that are protected."""
    outside = [name for name in names if name not in keys]
    if outside:
        raise TacitaError(f"{what} must be of keys; {check.quoted(outside)} not among {check.quoted(keys)}.")


def _requirements(
    name: str, key_set: KeySet, places: list[int], asked: Asked, policy: Policy, attack: Floats
) -> list[Requirement]:
    """What must hold on one key set."""
    needs = []
    only_risk = asked.k is None and not asked.combs and (asked.risk is not None or asked.household_risk is not None)
    if not only_risk:
        k = asked.k or key_set.k or policy.k
        needs += _counts(name, places, k, asked.combs)
    if asked.risk is not None and places:
        limit = key_set.risk if asked.risk_by_policy and key_set.risk is not None else asked.risk
        needs.append(Requirement(bits(places), 1, link_limits(limit, attack)))
    return needs


def _counts(name: str, places: list[int], k: int | None, combs: Any) -> list[Requirement]:
    by_size = dict(combs) if isinstance(combs, Mapping) else dict.fromkeys(combs, k)
    if None in by_size.values() or (k is None and not by_size):
        raise TacitaError("the policy has no k; pass k=3 to the step.")
    if name == MAIN and by_size:
        return of_sizes(places, {size: k for size, k in by_size.items() if k is not None})
    if k is None:
        raise TacitaError(f"key set {name!r} has no k; pass k=3 to the step.")
    return [Requirement(bits(places), k)]


def _ranks(given: Mapping[str, int] | str, data: Data, scenario: Scenario, keys: Sequence[str]) -> Mapping[str, int]:
    if not isinstance(given, str):
        only_keys("importance", given, keys)
        return given
    if not given:
        return {}
    if not scenario.keys:
        raise TacitaError("importance 'suda' is of the main keys; pass keys=[...] in the scenario or give ranks.")
    # SUDA loads Numba, and few ask for it.
    from tacita.risk.identity.suda.suda import suda

    ranks = suda(data, scenario).importance()
    if not any(name in keys for name in ranks):
        raise TacitaError("importance 'suda' is of the main keys, which are not protected here; give ranks.")
    return {name: rank for name, rank in ranks.items() if name in keys}


def _within(names: tuple[str, ...], data: Data) -> tuple[str, ...]:
    check.columns_exist("strata", names, data.columns)
    return names


def _numbers(strata: tuple[str, ...], data: Data) -> Codes:
    """By record the number of its stratum, from 1; a missing value is a stratum of its own."""
    coded = [visible_categories(data, name) for name in strata]
    row, _ = distinct_keys([each.codes for each in coded], [len(each.values) for each in coded])
    return (row + 1).astype(np.uint32)


def _households(data: Data, scenario: Scenario) -> Ints:
    """By record the number of its household; without an identifier a household of its own."""
    if scenario.household is None:
        raise TacitaError("household_risk and household_variables need household=... in the scenario.")
    return data.households(scenario.household)[0]


def _shared(asked: Asked, keys: tuple[str, ...], data: Data, scenario: Scenario) -> Shared | None:
    """Keys that a household shares."""
    if asked.household_variables is None:
        names = [name for name in scenario.household_variables if name in keys and scenario.household]
    else:
        only_keys("household_variables", asked.household_variables, keys)
        names = list(asked.household_variables)
    if not names:
        return None
    return Shared(_households(data, scenario), tuple(keys.index(name) for name in names))


def _kept(keys: tuple[str, ...], data: Data, scenario: Scenario) -> tuple[int, tuple[str, ...]]:
    """Keys in which a blank already means something else: that the question does not apply."""
    names = [
        name for name in keys if "" in (*data.variable(name).not_applicable, *scenario.not_applicable.get(name, ()))
    ]
    said = f"not suppressed, since a blank there means not applicable: {check.quoted(names)}" if names else ""
    return bits(keys.index(name) for name in names), ((said,) if said else ())


def _records_not_units(data: Data, scenario: Scenario, k: int | None) -> Iterator[str]:
    """Where units have several records: k counts records here, and what would make sure of k units."""
    unit = repeated_units(data, scenario)
    if unit is not None and k is not None:
        most = int(np.bincount(unit).max())
        yield (
            f"k counts records, and a unit{f' of {scenario.person!r}' if scenario.person else ''} has up to {most:,}: "
            f"k = {(k - 1) * most + 1:,} makes sure of {k:,} units"
        )


def _ratio(scenario: Scenario, size: int) -> float:
    """N/n, where there are no weights."""
    if scenario.population_size is not None:
        return scenario.population_size / size
    return 1.0 / scenario.sampling_fraction if scenario.sampling_fraction is not None else 1.0
