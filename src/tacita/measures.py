"""The register of measures: how one is declared beside its function, and how one is found by its name.

`INDEX` says of each in which module it is, so that nothing unused is imported; packages outside add theirs by the entry
point `tacita.measures`, and what is declared in a script or a notebook is known while it runs. `find(name)` gives a
measure, `@measure(...)` declares one.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal, ParamSpec, TypeVar, cast

from tacita import check
from tacita.check import TacitaError
from tacita.data import Data
from tacita.data.large_data import LargeData
from tacita.limit import Limit
from tacita.limit import at_least as at_least
from tacita.limit import at_most as at_most
from tacita.measure_arguments import by_position, check_by_key, check_required, own_options
from tacita.measure_index import INDEX, MEASURES, NEEDS
from tacita.parameters import Parameter, checked_options, parameter_table, parameters_of
from tacita.progress import checked_progress
from tacita.result import Result
from tacita.scenario import Scenario, checked, prepared_data, with_codes
from tacita.work import Work, allow

GROUP = "tacita.measures"
GENTLER = "milder steps on the variables that lost most: fewer classes joined, less noise, fewer cells suppressed"
"""What brings a loss within its limit."""

P = ParamSpec("P")
R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class MissingKeys:
    """How a measure counts records with a missing key value."""

    follows: Literal["scenario", "part", "own"]
    """`scenario`: by the scenario's rule; `own`: by a rule of its own, whatever the scenario's; `part`: by both."""
    words: str
    """The rule in one sentence."""


BY_SCENARIO = MissingKeys(
    "scenario", "Records with a missing key value count by the scenario's rule for missing values."
)


def own_rule(words: str) -> MissingKeys:
    """A measure with a rule of its own: the scenario's makes no difference."""
    return MissingKeys("own", words)


def rule_in_part(words: str) -> MissingKeys:
    """A measure that follows the scenario's rule in part."""
    return MissingKeys("part", words)


@dataclass(frozen=True)
class Measure:
    """The declaration of a measure: its function, what it needs, when it is called for, and what a policy can limit."""

    name: str
    function: Callable[..., Result]
    files: int
    """1: a file under a scenario; 2: an original and what was released of it."""
    needs: tuple[str, ...]
    """What it cannot do without, as in `NEEDED`: fields of `Scenario`, `register`, or `sample` (F is not known)."""
    called_for: tuple[str, ...] | None
    """It is measured unasked where the scenario has all of these; None: never."""
    limit: Limit | None
    """What of it a policy can limit."""
    for_perturbed: bool
    """Whether it is valid for perturbed keys: a limit on it then stands in place of k, risk and rate."""
    for_numeric_keys: bool = False
    """Whether a limit on it judges numeric keys: it stands in place of k, risk and rate where no key is categorical."""
    missing: MissingKeys = BY_SCENARIO
    """How it counts records with a missing key value."""
    precision: float = 0.0
    """By how much, relatively, the names of the variables may change a figure, as where terms are fitted in turn."""
    seed_matters: bool = True
    """Whether another seed gives other figures; not where it only says where a search starts."""
    kind: Literal["risk", "loss"] = "risk"
    """What it measures: what an intruder gains, or what a researcher loses."""
    by_key: bool = False
    """Whether all it needs is the distinct keys with what they stand for, so that it measures files on an engine."""
    weights_by_record: bool = False
    """Whether it needs the weight of each record there, not only their sums by key."""
    by_sample: bool = False
    """Whether it measures a sample of the records of two files on an engine, and says how far that is off."""
    work: Callable[..., Work | None] | None = None
    """How long it takes on some files, under a scenario and with options, where that can be long."""

    def expected(self, files: tuple[Data, ...], scenario: Scenario, options: Mapping[str, Any]) -> Work | None:
        """How long it takes on files, about; None: not long."""
        if self.work is None or not all(map(len, files)):
            return None
        usual = {each.name: each.default for each in self.parameters}
        return self.work(*files, scenario, {**usual, **options})

    @property
    def all_needs(self) -> tuple[str, ...]:
        """What it needs; of two files also the original, and records that both have."""
        return (*self.needs, *(("original", "shared_records") if self.files == 2 else ()))

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
        heads.append(f"Missing values: {self.missing.words}")
        return "\n\n".join([*heads, parameter_table(self.parameters)])


def measure(
    *,
    files: int = 1,
    needs: str | tuple[str, ...] = (),
    called_for: str | tuple[str, ...] | None = None,
    limit: Limit | None = None,
    figure: str | Callable[..., Any] | None = None,
    for_perturbed: bool = False,
    for_numeric_keys: bool = False,
    missing: MissingKeys = BY_SCENARIO,
    precision: float = 0.0,
    seed_matters: bool = True,
    kind: Literal["risk", "loss"] = "risk",
    by_key: bool = False,
    weights_by_record: bool = False,
    by_sample: bool = False,
    work: Callable[..., Work | None] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a measure beside its function: `@measure(needs="sensitive", limit=at_least("smallest", "..."))`.

    Every measure can be called with `progress`: one that works in one go says that it began and that it is done.
    Where its time grows faster than its files, `work(*files, scenario, options)` says how long it takes; what would
    not end in reasonable time is refused.

    The function takes `(data, scenario, *, options)`, or `(original, released, scenario, *, options)` with `files=2`.
    Before it is called, data of any kind become `Data`, the scenario is checked against it, its codes for not
    applicable are part of the data, and options are checked as they are declared.
    """

    def declared(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def measured(*args: Any, **options: Any) -> R:
            return cast(R, _called(own, function, args, options))

        wanted = (called_for,) if isinstance(called_for, str) else called_for
        required = (needs,) if isinstance(needs, str) else needs
        for need in (*required, *(wanted or ())):
            check.one_of(f"needs and called_for of {function.__name__}", need, NEEDS)
        own = Measure(
            function.__name__,
            measured,
            files,
            required,
            wanted,
            limit,
            for_perturbed,
            for_numeric_keys or for_perturbed,
            missing,
            precision,
            seed_matters,
            kind,
            by_key,
            weights_by_record,
            by_sample,
            work,
        )
        measured.measure = own  # type: ignore[attr-defined]
        _register_measure(own, function.__module__)
        result = function.__annotations__.get("return")
        made = function.__globals__.get(result) if isinstance(result, str) else result
        if isinstance(made, type) and issubclass(made, Result) and made.__module__ == function.__module__:
            made.measure = own
            made.figure = figure if figure is not None else made.figure
        return cast(Callable[P, R], measured)

    return declared


def _called(own: Measure, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a measure's function gives for arguments of any kind, unless it would not end in reasonable time."""
    args, options = by_position(function, own.files, args, options)
    check_by_key(own, args)
    progress = checked_progress(options.pop("progress", None))
    if any(isinstance(each, LargeData) for each in args[: own.files]):
        return _of_large_files(own, args, options, progress)
    chosen = options | checked_options(function, own_options(function, options))
    check_required(function, chosen)
    prepared = _prepared_arguments(own.files, args)
    allow(own.name, own.expected(prepared[: own.files], prepared[own.files], chosen))
    if "progress" in inspect.signature(function).parameters:
        return function(*prepared, **chosen, progress=progress)
    progress(0.0, own.name.replace("_", " "))
    result = function(*prepared, **chosen)
    progress(1.0, own.name.replace("_", " "))
    return result


def _of_large_files(own: Measure, args: tuple[Any, ...], options: dict[str, Any], progress: Any) -> Any:
    """What a measure gives for files on an engine: measured on their distinct keys, which are in memory."""
    keys = importlib.import_module("tacita.keys.large_files")
    # Of a loss `unit` is what changes are measured in; of an attack it says which records are the same.
    if own.by_sample:
        scenario = checked(args[own.files])
        return own.function(*keys.sampled_in_memory(args[: own.files], scenario, options), **options, progress=progress)
    unit = options.pop("unit", None) if own.files == 2 and own.kind == "risk" else None
    found = keys.measured_in_memory(args[: own.files], checked(args[own.files]), options, unit, own.weights_by_record)
    result = own.function(*found.files, found.scenario, **options, progress=progress)
    left_out = (*found.left_out, *(() if own.name == "reconstruction" else found.apart))
    if left_out and "cautions" in getattr(result, "__dataclass_fields__", {}):
        said = (*result.cautions, keys.left_out_caution(left_out))
        return replace(result, cautions=said)  # type: ignore[type-var]
    return result


def _prepared_arguments(files: int, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Positional arguments as the function wants them: data of any kind as `Data`, codes of the scenario declared."""
    scenario = checked(args[files])
    if files == 1:
        return prepared_data(args[0], scenario), scenario
    return (*(with_codes(Data.of(each), scenario) for each in args[:2]), scenario)


_DECLARED_HERE: dict[str, Measure] = {}
"""Measures declared outside Tacita since Python was started, by name."""


def _register_measure(own: Measure, module: str) -> None:
    if MEASURES.get(own.name, module) != module:
        raise TacitaError(f"there is a measure {own.name!r} in Tacita; give yours another name.")
    if own.name not in MEASURES:
        _DECLARED_HERE[own.name] = own


@cache
def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in MEASURES}


def measure_names(of: Literal["risk", "loss"] | None = None) -> tuple[str, ...]:
    """All measures: Tacita's own, then those of other packages and those declared since Python was started.

    `of` chooses those of risk or of loss. What is declared outside Tacita is listed with risk, unless it says that it
    is a loss.
    """
    names = tuple(dict.fromkeys([*MEASURES, *_plugins(), *_DECLARED_HERE]))
    return names if of is None else tuple(name for name in names if kind_of(name) == of)


def kind_of(name: str) -> Literal["risk", "loss"]:
    """Whether a measure is one of risk or of loss; Tacita's own need not be imported to know."""
    if name in MEASURES:
        return "loss" if MEASURES[name].startswith("tacita.loss.") else "risk"
    return find(name).kind


def check_measure_name(what: str, name: str) -> None:
    """The name of a measure; a near miss is suggested."""
    if name not in measure_names():
        near = difflib.get_close_matches(str(name), measure_names(), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"The measures are {', '.join(measure_names())}."
        raise TacitaError(f"{what}: there is no measure {name!r}. {hint}")


def find(name: str) -> Measure:
    """A measure by its name."""
    check_measure_name("measures", name)
    if name in MEASURES:
        return declared_measure(getattr(importlib.import_module(MEASURES[name]), name))
    return _DECLARED_HERE[name] if name in _DECLARED_HERE else _loaded(_plugins()[name])


def declared_measure(function: Any) -> Measure:
    """The declaration of the measure that a function is."""
    found = getattr(function, "measure", None)
    if not isinstance(found, Measure):
        name = getattr(function, "__name__", type(function).__name__)
        raise TacitaError(f"{name!r} is not declared as a measure; put @measure(...) before its function.")
    return found


def _loaded(point: EntryPoint) -> Measure:
    """The measure of another package; an error that names the package if it cannot be loaded."""
    try:
        function = point.load()
    except Exception as error:
        raise TacitaError(
            f"the measure {point.name!r} of an installed package cannot be loaded ({type(error).__name__}); update or "
            f"remove the package."
        ) from None
    found = declared_measure(function)
    if found.name != point.name:
        raise TacitaError(f"the entry point {point.name!r} of {GROUP} is the measure {found.name!r}; name it so.")
    return found


def called_for(name: str) -> tuple[str, ...] | None:
    """What calls for a measure; None: nothing does. A measure of another package is imported to know."""
    return INDEX[name].called_for if name in INDEX else find(name).called_for


def checked_measure_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a measure by its name, checked as they are declared."""
    return checked_options(inspect.unwrap(find(name).function), options)
