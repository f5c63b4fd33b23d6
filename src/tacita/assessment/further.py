"""Further measures: what `assess` adds when the scenario calls for it or the user asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import KeyTable
from tacita.policy import Policy
from tacita.result import Result
from tacita.risk.identity.individual_risk import IndividualRisk
from tacita.scenario import Scenario


class Context(NamedTuple):
    """What a further measure can use."""

    data: Data
    scenario: Scenario
    policy: Policy
    table: KeyTable
    """The key table of the main keys."""
    register: Data | None
    individual: IndividualRisk
    """The individual risk on the main keys."""


class Further(NamedTuple):
    """One further measure."""

    measure: Callable[..., Result]
    """Called with the context and the options."""
    can: Callable[[Context], bool]
    """Whether the scenario has what it needs; `all` leaves it out otherwise."""
    called_for: Callable[[Context], bool]
    """Whether the scenario calls for it unasked."""


def _names(context: Context, options: dict[str, Any]) -> tuple[str, ...]:
    """The sensitive variables asked for, or the scenario's."""
    from tacita.risk.attribute.l_diversity import sensitive_names

    return sensitive_names(context.scenario, options.pop("sensitive", None))


def _categories(context: Context, options: dict[str, Any]) -> tuple[str, ...]:
    """The same, without measured numbers unless they are asked for or there is nothing else: each is its own value."""
    asked = "sensitive" in options
    names = _names(context, options)
    few = tuple(name for name in names if context.data.scale(name) != "numeric")
    return names if asked else few or names


def _l_diversity(context: Context, **options: Any) -> Result:
    from tacita.risk.attribute.l_diversity import l_diversity_of

    names = _categories(context, options)
    return l_diversity_of(context.table, context.data, names, **options)


def _t_closeness(context: Context, **options: Any) -> Result:
    from tacita.risk.attribute.t_closeness import t_closeness_of

    names = _names(context, options)
    return t_closeness_of(context.table, context.data, names, **options)


def _likeness(context: Context, **options: Any) -> Result:
    from tacita.risk.attribute.likeness import likeness_of

    names = _categories(context, options)
    return likeness_of(context.table, context.data, names, **options)


def _presence(context: Context, **options: Any) -> Result:
    from tacita.risk.identity.presence import presence

    return presence(context.data, context.scenario, register=context.register, **options)


def _unsafe_combinations(context: Context, **options: Any) -> Result:
    from tacita.risk.identity.unsafe_combinations import unsafe_combinations

    return unsafe_combinations(context.data, context.scenario, **options)


def _weight_disclosure(context: Context, **options: Any) -> Result:
    from tacita.risk.release.weight_disclosure import weight_disclosure

    return weight_disclosure(context.data, context.scenario, **options)


def _mixed_uniqueness(context: Context, **options: Any) -> Result:
    from tacita.risk.identity.mixed_uniqueness import mixed_uniqueness

    given = {"tolerance": 0.05, "relative": True} | options
    return mixed_uniqueness(context.data, context.scenario, **given)


def _dominance(context: Context, **options: Any) -> Result:
    from tacita.risk.attribute.dominance import dominance

    given = {"variable": next(iter(context.scenario.numeric_keys), None)} | options
    if given["variable"] is None:
        raise TacitaError("dominance needs a magnitude; give it as an option, variable=..., or name numeric keys.")
    return dominance(context.data, context.scenario, **given)


def _suda(context: Context, **options: Any) -> Result:
    from tacita.risk.identity.suda.scores import sampling_fraction_of
    from tacita.risk.identity.suda.suda import suda_of

    fraction = options.pop("sampling_fraction", None)
    if fraction is None:
        fraction = sampling_fraction_of(context.data, context.scenario)
    return suda_of(context.table, fraction, **options)


def _loglinear_risk(context: Context, **options: Any) -> Result:
    from tacita.risk.population.loglinear_risk.loglinear_risk import loglinear_risk

    return loglinear_risk(context.data, context.scenario, **options)


def _superpopulation(context: Context, **options: Any) -> Result:
    from tacita.keys.table import survey_weights
    from tacita.risk.population.superpopulation.superpopulation import superpopulation_of

    weights = survey_weights(context.data, context.scenario)
    return superpopulation_of(context.table, weights, **options)


def _risk_threshold(context: Context, **options: Any) -> Result:
    from tacita.risk.identity.risk_threshold import risk_threshold_of

    return risk_threshold_of(context.individual, **options)


def _benchmark(context: Context, **options: Any) -> Result:
    from tacita.risk.identity.benchmark import benchmark_of

    return benchmark_of(context.individual, **options)


def _model_check(context: Context, **options: Any) -> Result:
    from tacita.risk.population.model_check import model_check

    if context.register is None:
        raise TacitaError("the model check needs the population; pass register=... (--register FILE).")
    return model_check(context.data, context.scenario, context.register, **options)


def _with_register(context: Context) -> bool:
    return context.register is not None


def _always(context: Context) -> bool:
    return True


def _never(context: Context) -> bool:
    return False


def _sensitive(context: Context) -> bool:
    return bool(context.scenario.sensitive)


def _sensitive_categories(context: Context) -> bool:
    return any(context.data.scale(name) != "numeric" for name in context.scenario.sensitive)


def _numeric(context: Context) -> bool:
    return bool(context.scenario.numeric_keys)


def _sampled(context: Context) -> bool:
    return context.table.source not in ("census", "register")


def _weighted(context: Context) -> bool:
    return context.scenario.weight is not None


FURTHER = {
    "l_diversity": Further(_l_diversity, _sensitive, _sensitive_categories),
    "t_closeness": Further(_t_closeness, _sensitive, _sensitive),
    "likeness": Further(_likeness, _sensitive, _sensitive_categories),
    "presence": Further(_presence, _always, _never),
    "unsafe_combinations": Further(_unsafe_combinations, _always, _never),
    "suda": Further(_suda, _always, _never),
    "loglinear_risk": Further(_loglinear_risk, _sampled, _never),
    "superpopulation": Further(_superpopulation, _sampled, _never),
    "model_check": Further(_model_check, _with_register, _never),
    "risk_threshold": Further(_risk_threshold, _never, _never),
    "benchmark": Further(_benchmark, _never, _never),
    "weight_disclosure": Further(_weight_disclosure, _weighted, _never),
    "mixed_uniqueness": Further(_mixed_uniqueness, _numeric, _never),
    "dominance": Further(_dominance, _numeric, _never),
}
"""By name, in the order in which they are shown."""


def wanted(measures: Any) -> dict[str, dict[str, Any]]:
    """The measures asked for with their options, by name."""
    if isinstance(measures, str):
        measures = (measures,)
    named = {name: {} for name in measures} if not isinstance(measures, Mapping) else dict(measures)
    for name in named:
        check.one_of("measures", name, (*FURTHER, "all"))
    return {name: dict(options or {}) for name, options in named.items()}


def further_measures(context: Context, measures: Any, progress: Callable[[str], None]) -> dict[str, Result]:
    """Every further measure that is called for or asked for, in their order."""
    asked = wanted(measures)
    found: dict[str, Result] = {}
    for name, each in FURTHER.items():
        everything = "all" in asked and each.can(context)
        if not (name in asked or everything or each.called_for(context)):
            continue
        progress(name.replace("_", " "))
        options = asked.get(name, {})
        _check_options(name, options)
        found[name] = each.measure(context, **options)
    return found


def _check_options(name: str, options: Iterable[str]) -> None:
    import inspect

    import tacita

    given = ("data", "scenario", "register", "progress", "method", "quantile")
    known = [each for each in inspect.signature(getattr(tacita, name)).parameters if each not in given]
    unknown = [option for option in options if option not in known]
    if unknown:
        raise TacitaError(f"{name} has no option {check.quoted(unknown)}; it has {', '.join(known) or 'none'}.")
