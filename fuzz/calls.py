"""Random calls of everything public: each must end in a result, in a `TacitaError` of one sentence, or in a warning.

    python -m fuzz.calls --count 10000 [--seed N] [--only NUMBER]

Steps, measures and functions are read from the registries and from `tacita.__all__`, their parameters from their
declarations. Any other exception, a message with a cell in it or of several lines, a warning that is not ours, and ten
seconds of work are findings; each is printed with the number that repeats it.
"""

from __future__ import annotations

import argparse
import faulthandler
import inspect
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

import tacita as tc
from fuzz.odd import CANARY, given_as, names, table, value
from tacita.measures import find, measure_names
from tacita.parameters import REQUIRED, Parameter, parameters_of
from tacita.protect.steps import own_steps

LONGEST = 10.0
"""Seconds of the processor that a call may take."""
NOT_CALLED = {
    "Release",
    "RiskProfile",
    "Comparison",
    "KeyTable",
    "LargeData",
    "DemoSurvey",
    "Step",
    "Hierarchy",
    "TacitaError",
    "TacitaWarning",
}
"""Results and bases: nobody makes them by hand."""
TABLES = {"data", "original", "released", "register", "releases", "household_file", "person_file", "households"}
"""Parameters that are files."""


@dataclass(frozen=True)
class Finding:
    """A call that ended otherwise."""

    number: int
    call: str
    what: str
    where: str


class HangError(BaseException):
    """A call that takes too long."""


def public_functions() -> list[str]:
    """Names of what can be called besides steps and measures."""
    steps = {step.__name__ for step in own_steps()}
    offered = [name for name in tc.__all__ if name not in NOT_CALLED | steps and callable(getattr(tc, name))]
    return [*offered, "Plan.apply", "Data.of"]


class Caller:
    """Draws one call from the seed and its number, and makes it."""

    def __init__(self, seed: int, number: int) -> None:
        self.rng = random.Random(f"{seed} {number}")
        self.made = table(self.rng)
        self.text = ""

    def run(self) -> None:
        """One call of a step, a measure or another function, and of what its result offers."""
        kind = self.rng.random()
        if kind < 0.4:
            result = self._step()
        elif kind < 0.75:
            result = self._measure()
        else:
            result = self._function()
        for use in (str, repr):
            use(result)
        if hasattr(result, "to_frame") and not isinstance(result, pl.Series):
            result.to_frame()

    def _step(self) -> Any:
        step = self.rng.choice(own_steps())
        given = self._parameters(parameters_of(step))
        data, scenario = given_as(self.rng, self.made), self._scenario()
        self.text = f"Plan([{step.__name__}({shown(given)})]).apply({kind_of(data)}, {shown(scenario)})"
        return tc.Plan([step(**given)]).apply(data, scenario, seed=self.rng.choice([None, 1]))

    def _measure(self) -> Any:
        measure = find(self.rng.choice(measure_names()))
        given = self._parameters(measure.parameters)
        files = [given_as(self.rng, self.made)]
        if measure.files == 2:
            other = self.made.with_columns(self.made.to_series(0).reverse()) if self.rng.random() < 0.5 else self.made
            files.append(given_as(self.rng, other if self.rng.random() < 0.9 else table(self.rng)))
        scenario = self._scenario()
        self.text = f"{measure.name}({', '.join(map(kind_of, files))}, {shown(scenario)}, {shown(given)})"
        return measure.function(*files, scenario, **given)

    def _function(self) -> Any:
        name = self.rng.choice(public_functions())
        function: Any = tc
        for part in name.split("."):
            function = getattr(function, part)
        listed = [
            each for each in inspect.signature(function).parameters.values() if each.name not in ("self", "progress")
        ]
        given = {each.name: self._argument(each) for each in listed if self._is_given(each)}
        self.text = f"{name}({shown(given)})"
        if name == "Plan.apply":
            return tc.Plan([]).apply(**given)
        return function(**given)

    def _is_given(self, parameter: inspect.Parameter) -> bool:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            return False
        return parameter.default is parameter.empty or self.rng.random() < 0.4

    def _argument(self, parameter: inspect.Parameter) -> Any:
        if parameter.name in TABLES and self.rng.random() < 0.9:
            return given_as(self.rng, self.made)
        if parameter.name == "scenario":
            return self._scenario()
        if parameter.name in ("keys", "variables", "numeric_keys") and self.rng.random() < 0.7:
            return names(self.rng, self.made)
        return value(self.rng)

    def _scenario(self) -> Any:
        if self.rng.random() < 0.05:
            return value(self.rng)
        given: dict[str, Any] = {"keys": names(self.rng, self.made)}
        columns = [*self.made.columns, None, None, None]
        for name in ("weight", "household", "person"):
            given[name] = self.rng.choice(columns)
        for name in ("sensitive", "numeric_keys", "strata"):
            given[name] = names(self.rng, self.made) if self.rng.random() < 0.35 else []
        if self.rng.random() < 0.3:
            given["missing"] = self.rng.choice(["wildcard", "one_way", "own_category", "partial(0.3)"])
        if self.rng.random() < 0.1:
            given[self.rng.choice(sorted(each.name for each in parameters_of(tc.Scenario)))] = value(self.rng)
        return tc.Scenario(**given)

    def _parameters(self, declared: tuple[Parameter, ...]) -> dict[str, Any]:
        odd = self.rng.choice([0.0, 0.0, 0.3])
        return {
            each.name: value(self.rng) if self.rng.random() < odd else self._usual(each)
            for each in declared
            if each.default is REQUIRED or self.rng.random() < 0.4
        }

    def _usual(self, parameter: Parameter) -> Any:
        if parameter.choices:
            return self.rng.choice(parameter.choices)
        if parameter.name in ("register", "original", "other", "population"):
            return given_as(self.rng, self.made)
        column = self.rng.choice(self.made.columns)
        by_kind: dict[str, Callable[[], Any]] = {
            "whole number": lambda: self.rng.randint(0, 5),
            "number": lambda: self.rng.choice([0.05, 0.5, 1.0, 3.0, 100.0]),
            "true or false": lambda: self.rng.random() < 0.5,
            "names": lambda: names(self.rng, self.made),
            "text": lambda: column,
            "table": lambda: {column: self.rng.choice([1, 0.5, "x", [1, 2], {"1": "x"}])},
        }
        if parameter.kind in by_kind:
            return by_kind[parameter.kind]()
        return self.rng.choice([0.5, 2, column, names(self.rng, self.made), {column: 2}, f"`{column}` > 1", None])


def kind_of(data: Any) -> str:
    """A table by its kind, size and columns."""
    size = f" {data.shape}" if hasattr(data, "shape") else ""
    schema = f" {dict(data.schema)}" if isinstance(data, pl.DataFrame) else ""
    return f"<{type(data).__module__.partition('.')[0]}.{type(data).__name__}{size}{schema}>"


def shown(given: Any) -> str:
    """Arguments in short."""
    if isinstance(given, dict):
        return ", ".join(
            f"{name}={kind_of(each) if hasattr(type(each), 'columns') else repr(each)[:80]}"
            for name, each in given.items()
        )
    return repr(given)[:400]


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `HangError` after so much work; a loop that nothing can interrupt ends the process, with a traceback."""

    def stop(*_: object) -> None:
        raise HangError

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(40 * seconds, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGPROF, before)


def finding(seed: int, number: int) -> Finding | None:
    """One call; None if it ended as it must."""
    caller = Caller(seed, number)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            with limited(LONGEST):
                caller.run()
        except HangError:
            return Finding(number, caller.text, f"takes over {LONGEST:g} s", place(sys.exc_info()[2]))
        except tc.TacitaError as error:
            text = str(error)
            if "\n" in text.strip() or CANARY in text or not text.endswith((".", "?")):
                return Finding(number, caller.text, f"not one sentence: {text}", place(error.__traceback__))
        except BaseException as error:
            # A panic of a library in Rust is no Exception; whoever stops the program is heard.
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            return Finding(
                number, caller.text, f"{type(error).__name__}: {str(error)[:200]}", place(error.__traceback__)
            )
    for each in heard:
        foreign = not issubclass(each.category, tc.TacitaWarning)
        if foreign or CANARY in str(each.message):
            return Finding(
                number, caller.text, f"{each.category.__name__}: {each.message}", f"{each.filename}:{each.lineno}"
            )
    return None


def place(trace: Any) -> str:
    """The innermost line of ours."""
    ours = [each for each in traceback.extract_tb(trace) if f"{os.sep}tacita{os.sep}" in each.filename]
    last = ours[-1] if ours else traceback.extract_tb(trace)[-1]
    return f"{last.filename.rpartition(os.sep + 'tacita' + os.sep)[2]}:{last.lineno} {last.name}"


def findings(count: int, seed: int, first: int = 0) -> Iterator[Finding]:
    """What is found in so many calls. A call that took long is repeated: it may have compiled something."""
    before = os.getcwd()  # noqa: PTH109 - some calls write files
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number in range(first, first + count):
                found = finding(seed, number)
                if found is not None and found.what.startswith("takes"):
                    found = finding(seed, number)
                if found is not None:
                    yield found
        finally:
            os.chdir(before)


def main() -> int:
    """Make the calls, print what is found, each place once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="repeat this call alone")
    given = parser.parse_args()
    began, places = time.process_time(), {}
    chosen = (given.count, given.seed) if given.only is None else (1, given.seed, given.only)
    for found in findings(*chosen):
        places.setdefault((found.where, found.what[:30]), []).append(found)
        if len(places[found.where, found.what[:30]]) == 1:
            sys.stdout.write(f"{found.number}: {found.call}\n    {found.what}\n    {found.where}\n")
            sys.stdout.flush()
    total = sum(map(len, places.values()))
    took = time.process_time() - began
    sys.stdout.write(f"{chosen[0]:,} calls, {total} findings in {len(places)} places, {took:.0f} s of work\n")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
