"""`assess`: the whole picture of a file's risk under a scenario, in one result.

Every assessment has k-anonymity, individual risk, expected re-identifications and attackers of each key set, and the
risk of households where there are some. What else the scenario calls for, the policy limits or the user asks for is
found in the register of measures. A scenario of numeric keys alone has no key sets: what can be said of numbers in one
file, and against the original, stands in their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacita import check
from tacita.assessment.profile import RiskProfile
from tacita.assessment.whole import Context, profile_of
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.engine.source import belongs_on_engine
from tacita.policy import Policy, checked_policy
from tacita.progress import Progress, no_progress
from tacita.risk.identity.options import METHODS
from tacita.risk.identity.original import with_original_weights
from tacita.scenario import MODELS, Scenario, checked, prepared_data


def assess(
    data: Any,
    scenario: Scenario,
    policy: Policy | None = None,
    *,
    original: Any = None,
    register: Any = None,
    model: str | None = None,
    method: str = "exact",
    quantile: float | None = None,
    measures: str | Mapping[str, Mapping[str, Any]] | tuple[str, ...] | list[str] = (),
    memory: int | str | None = None,
    progress: Progress = no_progress,
) -> RiskProfile:
    """Measure the risk of re-identification of every record and of the whole file.

    Takes Data, a path, any table or a release; returns one `RiskProfile`. A path to more than `memory` ("4GB"; half of
    the machine's unless given) holds, a relation of DuckDB, a table of Ibis and a DataFrame of Spark stay on their
    engine. `original` is the file that `data` is a release of, which a `Release` knows: measures that compare the two,
    and their limits, then count too. `register` is a file of the population with the same keys, where there is one: F
    is then known. `model` says how F is estimated elsewhere, if not as the scenario does: "latent" or
    "benedetti_franconi". `quantile` gives the risk at a low quantile of F, not its mean.

    With numeric keys alone k, risk and rate do not apply: the verdict is then on how the release, held against the
    original, hides numbers (`neighbours` and `perturbation` of the policy, limits on linkage or intervals), or in one
    file on a limit on `mixed_uniqueness`.

    What the scenario calls for and what the policy limits is measured besides, and every measure named in `measures`:
    `"suda"`, `["suda", "loglinear_risk"]`, `"all"`, or a mapping of names to options,
    `{"unsafe_combinations": {"largest": 2}}`. Their results are in `profile.further`.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north"] * 4 + ["south"], "w": [20.0] * 5})
    >>> profile = assess(people, Scenario(keys=["region"], weight="w"))
    >>> profile.safe, profile.failures[0]
    (False, '1 record below k = 3')
    """
    if model is not None:
        check.one_of("model", model, MODELS)
    if isinstance(data, LargeData) or (not isinstance(data, Data) and belongs_on_engine(data, memory)):
        from tacita.assessment.on_engine import assess_on_engine

        two = {"original": original, "register": register}
        return assess_on_engine(data, scenario, policy, two, model, method, quantile, measures, memory, progress)
    progress(0.0, "reading")
    limits = checked_policy(policy)
    # A release knows what it was made of: whoever assesses it need not remember to say so.
    known = getattr(data, "original", None)
    scenario = checked(scenario)
    known_scenario = getattr(data, "original_scenario", scenario)
    check.one_of("method", method, METHODS)
    # As in every option that may be left out, false is none.
    how = {"model": model, "method": method, "quantile": None if quantile is False else quantile}
    context = _prepared(data, scenario, limits, register, known if original is None else original, how)
    return profile_of(context, measures, known, known_scenario, progress)


def _prepared(
    data: Any, scenario: Scenario, policy: Policy, register: Any, original: Any, how: dict[str, Any]
) -> Context:
    """The files of an assessment; the released one with the weights that it was drawn with."""
    prepared = prepared_data(data, scenario).remembering()
    population, before = (None if given is None else Data.of(given) for given in (register, original))
    if before is not None:
        prepared = with_original_weights(prepared, before, scenario).released_from(before).remembering()
    return Context(prepared, scenario, policy, population, before, how | {"register": population})
