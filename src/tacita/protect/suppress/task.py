"""From scenario, policy and file to a request in arrays: codes, requirements, costs, households."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.visible import visible_categories
from tacita.keys.source import WEIGHT_BITS, as_float, distinct_keys
from tacita.keys.table import population_weights, repeated_units
from tacita.policy import Policy
from tacita.progress import Progress, no_progress
from tacita.protect.closing import Cells
from tacita.protect.step import Context
from tacita.protect.suppress.local_suppression import OutOfReach, Suppression, suppress
from tacita.protect.suppress.problem import (
    HouseholdLimit,
    HouseholdVariables,
    Request,
    Requirement,
    bits,
    link_limits,
    link_risk,
)
from tacita.protect.suppress.requirements import of_sizes
from tacita.protect.suppress.wanted import Wanted
from tacita.risk.identity.individual_risk import attack_probabilities
from tacita.scenario import KeySet, Scenario

if TYPE_CHECKING:
    from tacita.protect.suppress.suppress import Suppress

MAIN = "keys"


class File(NamedTuple):
    """What a suppression works on."""

    data: Data
    """In the order of the record numbers."""
    row: Ints
    """By record as it was given its row there."""
    free: Bools | None
    """Who may be changed; None: everybody."""
    context: Context


class Task(NamedTuple):
    """The keys to protect by name, what is asked of them, and what the log should say."""

    keys: tuple[str, ...]
    request: Request
    remarks: tuple[str, ...]

    def suppressed(self, progress: Progress = no_progress) -> Suppression:
        """The cells to suppress; where they are not enough and a key may not be suppressed, the error says so."""
        try:
            return suppress(self.request, progress)
        except OutOfReach as error:
            raise OutOfReach("; ".join((str(error).rstrip("."), *self.remarks)) + ".") from None

    def without(self, cells: Cells) -> Request:
        """The request for a file with cells suppressed: nothing else of the task changes with them."""
        codes = self.request.codes.copy()
        for column, name in enumerate(self.keys):
            if name in cells:
                codes[cells[name], column] = 0
        return self.request._replace(codes=codes)


def task_of(asked: Suppress, file: File, wanted: Wanted) -> Task:
    """The suppression of a file."""
    data, scenario, policy = file.data, file.context.scenario, file.context.policy
    sets = key_sets_of(asked, scenario)
    strata = scenario.strata if asked.strata is None else asked.strata
    check.columns_exist("strata", strata, data.columns)
    names = tuple(dict.fromkeys(name for key_set in sets.values() for name in key_set.keys))
    # A stratum is always shown: as a key it has nothing to add.
    keys = tuple(name for name in names if name not in strata)
    if not keys:
        raise TacitaError("all keys are strata, which are never suppressed; name strata that are not keys.")
    weights = population_weights(data, scenario)
    person = repeated_units(data, scenario)
    units = data.size if person is None else int(person.max()) + 1
    attack = attack_probabilities(scenario, len(data), units, weights)
    attacks = {name: attack * wanted.multiples.get(name, 1.0) for name in sets}
    costs = dict(zip(names, costs_of(names, _ranks(asked.importance, data, scenario, names)), strict=True))
    limited = bool(wanted.risk) or wanted.household_risk is not None
    ratio = None if weights is not None else _population_ratio(scenario, units)
    kept, remarks = _never_suppressed(keys, data)
    main, first = next(iter(sets.items()))
    request = Request(
        codes=np.stack([visible_categories(data, name).codes for name in keys], axis=1),
        needs=[
            need
            for name, own in sets.items()
            for need in _requirements(name, own, keys, asked, policy, wanted, attacks[name])
        ],
        costs=[costs[name] for name in keys],
        rule=scenario.missing,
        strata=_stratum_numbers(strata, data) if strata else None,
        free=file.free,
        weights=_of_rows(weights, data) if limited else None,
        risk=link_risk(ratio, scenario.attack) if limited else None,
        shared=_household_variables(asked, keys, data, scenario),
        goal=_household_limit(wanted.household_risk, first, keys, data, scenario, np.minimum(attacks[main], 1.0)),
        kept=kept,
        person=person,
        repeats=None if data.condensed is None else data.condensed.records,
        weights_apart=scenario.attack == "M2",
    )
    return Task(keys, request, remarks)


def _of_rows(weights: Floats | None, data: Data) -> Floats | None:
    """By row the weights of the records that it stands for."""
    if weights is None or data.condensed is None or data.condensed.weights is None:
        return weights
    return as_float(data.condensed.weights, WEIGHT_BITS)


def key_sets_of(asked: Suppress, scenario: Scenario) -> dict[str, KeySet]:
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


def check_keys(what: str, names: Iterable[str], keys: Sequence[str]) -> None:
    """An error unless all names are of keys that are protected."""
    outside = [name for name in names if name not in keys]
    if outside:
        raise TacitaError(f"{what} must be of keys; {check.quoted(outside)} not among {check.quoted(keys)}.")


def _requirements(
    name: str, key_set: KeySet, keys: Sequence[str], asked: Suppress, policy: Policy, wanted: Wanted, attack: Floats
) -> list[Requirement]:
    """What must hold on one key set."""
    needs: list[Requirement] = []
    columns = [keys.index(each) for each in key_set.keys if each in keys]
    if wanted.counts:
        needs += _counts(name, columns, asked.k or key_set.k or policy.k, asked.combs)
    if name in wanted.risk and columns:
        needs.append(Requirement(bits(columns), 1, link_limits(wanted.risk[name], attack)))
    return needs


def _counts(name: str, columns: list[int], k: int | None, combs: Any) -> list[Requirement]:
    """How many every record must count on one key set, or on combinations of the main keys."""
    by_size = dict(combs) if isinstance(combs, Mapping) else dict.fromkeys(combs, k)
    if None in by_size.values() or (k is None and not by_size):
        raise TacitaError("the policy has no k; pass k=3 to the step.")
    if name == MAIN and by_size:
        return of_sizes(columns, {size: k for size, k in by_size.items() if k is not None})
    if k is None:
        raise TacitaError(f"key set {name!r} has no k; pass k=3 to the step.")
    return [Requirement(bits(columns), k)]


def costs_of(keys: Sequence[str], importance: Mapping[str, int] | None) -> list[float]:
    """What a suppressed cell of each key costs: q + 1 - rank, rank 1 the most important; 1 each without importance.

    Keys without a rank are among the least important. Ties are allowed.

    >>> costs_of(["region", "sex", "age"], {"region": 1, "sex": 3, "age": 3})
    [3.0, 1.0, 1.0]
    """
    if not importance:
        return [1.0] * len(keys)
    high = [rank for rank in importance.values() if rank > len(keys)]
    if high:
        raise TacitaError(f"importance must be ranks from 1 to the {len(keys)} keys; got {high[0]}.")
    return [float(len(keys) + 1 - importance.get(name, len(keys))) for name in keys]


def _ranks(given: Mapping[str, int] | str, data: Data, scenario: Scenario, keys: Sequence[str]) -> Mapping[str, int]:
    """By key its rank."""
    if not isinstance(given, str):
        check_keys("importance", given, keys)
        return given
    if not scenario.keys:
        raise TacitaError("importance 'suda' is of the main keys; pass keys=[...] in the scenario or give ranks.")
    # SUDA loads Numba, and few ask for it.
    from tacita.risk.identity.suda.suda import suda

    ranks = suda(data, scenario).importance()
    if not any(name in keys for name in ranks):
        raise TacitaError("importance 'suda' is of the main keys, which are not protected here; give ranks.")
    return {name: rank for name, rank in ranks.items() if name in keys}


def _stratum_numbers(strata: tuple[str, ...], data: Data) -> Codes:
    """By record the number of its stratum, from 1; a missing value is a stratum of its own."""
    coded = [visible_categories(data, name) for name in strata]
    row, _ = distinct_keys([each.codes for each in coded], [len(each.values) for each in coded])
    return (row + 1).astype(np.uint32)


def _households(data: Data, scenario: Scenario) -> Ints:
    """By record the number of its household; without an identifier a household of its own."""
    if scenario.household is None:
        raise TacitaError("household_risk and household_variables need household=... in the scenario.")
    return data.households(scenario.household)[0]


def _household_variables(
    asked: Suppress, keys: tuple[str, ...], data: Data, scenario: Scenario
) -> HouseholdVariables | None:
    if asked.household_variables is None:
        names = [name for name in scenario.household_variables if name in keys and scenario.household]
    else:
        check_keys("household_variables", asked.household_variables, keys)
        names = list(asked.household_variables)
    if not names:
        return None
    return HouseholdVariables(_households(data, scenario), tuple(keys.index(name) for name in names))


def _household_limit(
    limit: float | None, key_set: KeySet, keys: tuple[str, ...], data: Data, scenario: Scenario, attack: Floats
) -> HouseholdLimit | None:
    if limit is None:
        return None
    members = bits(keys.index(each) for each in key_set.keys if each in keys)
    return HouseholdLimit(members, limit, _households(data, scenario), attack)


def _never_suppressed(keys: tuple[str, ...], data: Data) -> tuple[int, tuple[str, ...]]:
    """Keys in which a missing value already means something else, that the question does not apply; and a remark."""
    names = [name for name in keys if "" in data.variable(name).not_applicable]
    said = (
        f"not suppressed, since a blank there means not applicable: {check.quoted(names)}; give blanks a code "
        f"first, as Recode({names[0]!r}, mapping={{'': 'not applicable'}})"
        if names
        else ""
    )
    return bits(keys.index(name) for name in names), ((said,) if said else ())


def _population_ratio(scenario: Scenario, size: int) -> float:
    """N/n, where there are no weights; a scenario has the one or the other at most."""
    return (scenario.population_size or size) / size / (scenario.sampling_fraction or 1.0)
