"""The register of measures: each declares beside its function what it needs, when it is called for, what it limits.

`MEASURES` is an index of names to modules, so that nothing unused is imported; packages outside add theirs by the entry
point `tacita.measures`. `find(name)` gives a measure, `@measure(...)` declares one.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, ParamSpec, TypeVar, cast

from tacita.check import TacitaError
from tacita.data import Data
from tacita.parameters import Parameter, checked_options, parameter_table, parameters_of
from tacita.result import Result
from tacita.scenario import Scenario, checked, with_codes

GROUP = "tacita.measures"

MEASURES = {
    "k_anonymity": "tacita.risk.identity.k_anonymity",
    "individual_risk": "tacita.risk.identity.individual_risk",
    "reidentification": "tacita.risk.identity.reidentification",
    "risk_threshold": "tacita.risk.identity.risk_threshold",
    "household_risk": "tacita.risk.identity.household_risk",
    "benchmark": "tacita.risk.identity.benchmark",
    "attackers": "tacita.risk.identity.attackers",
    "l_diversity": "tacita.risk.attribute.l_diversity",
    "t_closeness": "tacita.risk.attribute.t_closeness",
    "likeness": "tacita.risk.attribute.likeness",
    "presence": "tacita.risk.identity.presence",
    "unsafe_combinations": "tacita.risk.identity.unsafe_combinations",
    "suda": "tacita.risk.identity.suda.suda",
    "loglinear_risk": "tacita.risk.population.loglinear_risk.loglinear_risk",
    "superpopulation": "tacita.risk.population.superpopulation.superpopulation",
    "model_check": "tacita.risk.population.model_check",
    "weight_disclosure": "tacita.risk.release.weight_disclosure",
    "reconstruction": "tacita.risk.release.reconstruction.reconstruction",
    "mixed_uniqueness": "tacita.risk.identity.mixed_uniqueness",
    "dominance": "tacita.risk.attribute.dominance",
    "confidentiality": "tacita.risk.confidentiality_plot.confidentiality",
    "confidentiality_sets": "tacita.risk.confidentiality_plot.confidentiality_sets",
    "confidentiality_alphas": "tacita.risk.confidentiality_plot.confidentiality_alphas",
    "categorical_confidentiality": "tacita.risk.confidentiality_plot.categorical_confidentiality",
    "interval_confidentiality": "tacita.risk.confidentiality_plot.interval_confidentiality",
    "cell_confidentiality": "tacita.risk.confidentiality_plot.cell_confidentiality",
    "distance_linkage": "tacita.risk.linkage.distance_linkage",
    "one_to_one_linkage": "tacita.risk.linkage.one_to_one_linkage",
    "probabilistic_linkage": "tacita.risk.linkage.probabilistic_linkage",
    "interval_disclosure": "tacita.risk.interval.interval_disclosure",
    "rank_interval_disclosure": "tacita.risk.interval.rank_interval_disclosure",
    "robust_interval_disclosure": "tacita.risk.interval.robust_interval_disclosure",
}
"""Tacita's own measures, in the order in which they are shown, and the module that each is in."""


CALLED_FOR: dict[str, tuple[str, ...]] = {
    "l_diversity": ("sensitive_categories",),
    "t_closeness": ("sensitive",),
    "likeness": ("sensitive_categories",),
    "confidentiality": ("original", "numeric_keys"),
}
"""Measures that `assess` adds unasked where the scenario has all of these; as their declarations say."""

P = ParamSpec("P")
R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class Limit:
    """Which figure of a result a policy can limit, and in which direction."""

    figure: str
    """The property of the result, or a method that takes options of the limit."""
    words: str
    """What it is in words, as `the smallest l`."""
    least: bool
    """Whether the limit is the least value allowed, not the greatest."""

    def judged(self, name: str, value: float, limit: float) -> tuple[bool, str]:
        """Whether the limit is kept, and the verdict in words."""
        holds = value >= limit if self.least else value <= limit
        return bool(
            holds
        ), f"{name}: {self.words} is {value:.4g}, at {'least' if self.least else 'most'} {limit:g} is safe"


def at_least(figure: str, words: str) -> Limit:
    """A limit that a figure must reach."""
    return Limit(figure, words, least=True)


def at_most(figure: str, words: str) -> Limit:
    """A limit that a figure must not exceed."""
    return Limit(figure, words, least=False)


@dataclass(frozen=True)
class Measure:
    """What a measure says of itself."""

    name: str
    function: Callable[..., Result]
    files: int
    """1: a file under a scenario; 2: an original and what was released of it."""
    needs: tuple[str, ...]
    """What the scenario must name for it: fields of `Scenario`, or `register`, or `sample` (F is not known)."""
    called_for: tuple[str, ...] | None
    """It is measured unasked where the scenario has all of these; None: never."""
    limit: Limit | None
    """What of it a policy can limit."""
    for_perturbed: bool
    """Whether it is valid for perturbed keys: a limit on it then stands in place of k, risk and rate."""

    @property
    def takes_progress(self) -> bool:
        """Whether it says how far it is."""
        return "progress" in inspect.signature(self.function).parameters

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its options."""
        return parameters_of(inspect.unwrap(self.function))

    def measure_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the options of a limit that are the measure's own."""
        known = {each.name for each in self.parameters}
        return {name: value for name, value in options.items() if name in known}

    def limited_value(self, result: Result, options: Mapping[str, Any]) -> float:
        """The figure that is limited, of a result."""
        assert self.limit is not None
        value = getattr(result, self.limit.figure)
        if not callable(value):
            return float(value)
        own = self.measure_options(options)
        return float(value(**{name: each for name, each in options.items() if name not in own}))

    def page(self) -> str:
        """A page of documentation: what it means, what it needs, its parameters."""
        heads = [f"# {self.name}", inspect.getdoc(self.function) or ""]
        if self.limit is not None:
            direction = "at least" if self.limit.least else "at most"
            heads.append(f"A policy can limit it: {self.limit.words} must be {direction} the limit.")
        if self.needs:
            heads.append(f"Needs: {', '.join(self.needs)}.")
        return "\n\n".join([*heads, parameter_table(self.parameters)])


def measure(
    *,
    files: int = 1,
    needs: str | tuple[str, ...] = (),
    called_for: str | tuple[str, ...] | None = None,
    limit: Limit | None = None,
    figure: str | Callable[..., Any] | None = None,
    for_perturbed: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a measure beside its function: `@measure(needs="sensitive", limit=at_least("smallest", "..."))`.

    The function takes `(data, scenario, *, options)`, or `(original, released, scenario, *, options)` with `files=2`.
    Before it is called, data of any kind become `Data`, the scenario is checked against it, its codes for not
    applicable are part of the data, and options are checked as they are declared.
    """

    def declared(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def measured(*args: Any, **options: Any) -> R:
            chosen = options | checked_options(function, _own_options(function, options))
            return cast(R, cast(Any, function)(*_at_the_door(files, args), **chosen))

        wanted = (called_for,) if isinstance(called_for, str) else called_for
        required = (needs,) if isinstance(needs, str) else needs
        own = Measure(function.__name__, measured, files, required, wanted, limit, for_perturbed)
        measured.measure = own  # type: ignore[attr-defined]
        result = function.__annotations__.get("return")
        kind = function.__globals__.get(result) if isinstance(result, str) else result
        if isinstance(kind, type) and issubclass(kind, Result) and kind.__module__ == function.__module__:
            kind.measure = own
            kind.figure = figure if figure is not None else kind.figure
        return cast(Callable[P, R], measured)

    return declared


def _own_options(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a measure checks itself: not progress, and not those that it passes on to another."""
    passes_on = any(each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values())
    known = {each.name for each in parameters_of(function)}
    return {name: value for name, value in options.items() if name != "progress" and (name in known or not passes_on)}


def _at_the_door(files: int, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Positional arguments as the function wants them: data of any kind as `Data`, codes of the scenario declared."""
    if len(args) <= files:
        # The function itself says what is missing.
        return args
    scenario = checked(args[files])
    if files == 1:
        return (at_the_door(args[0], scenario), *args[1:])
    return (*(with_codes(Data.of(each), scenario) for each in args[:2]), *args[2:])


def at_the_door(data: Any, scenario: Scenario) -> Data:
    """Data of any kind, checked against a scenario, with the scenario's codes for not applicable declared."""
    opened = Data.of(data)
    checked(scenario).check_against(opened)
    return with_codes(opened, scenario)


@cache
def _plugins() -> dict[str, Any]:
    return {point.name: point for point in entry_points(group=GROUP)}


def measure_names() -> tuple[str, ...]:
    """All measures: Tacita's own, then those of other packages."""
    return (*MEASURES, *(name for name in _plugins() if name not in MEASURES))


def check_measure_name(what: str, name: str) -> None:
    """The name of a measure; a near miss is suggested."""
    if name not in measure_names():
        near = difflib.get_close_matches(str(name), measure_names(), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"The measures are {', '.join(measure_names())}."
        raise TacitaError(f"{what}: there is no measure {name!r}. {hint}")


def find(name: str) -> Measure:
    """A measure by its name."""
    check_measure_name("measures", name)
    function = getattr(importlib.import_module(MEASURES[name]), name) if name in MEASURES else _plugins()[name].load()
    found = getattr(function, "measure", None)
    if not isinstance(found, Measure):
        raise TacitaError(f"{name!r} is not declared as a measure; put @measure(...) before its function.")
    return found


def checked_measure_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a measure by its name, checked as they are declared."""
    return checked_options(inspect.unwrap(find(name).function), options)
