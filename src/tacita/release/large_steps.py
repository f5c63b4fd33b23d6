"""What the steps of a plan can do in a file on an engine, and how.

Steps that make of equal records equal ones (recoding, suppression) work on the distinct keys, as measures do. Steps
that draw, or that change numbers, work on the records as they stream by, once what they need to know of the whole file
is known: the matrix of PRAM, the standard deviation for noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tacita import check
from tacita.arrays import Bools, Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.protect.noise.exact_sums import deviation
from tacita.protect.noise.methods import BY_CELL
from tacita.protect.numeric_table import numeric_table
from tacita.protect.parts import applied
from tacita.protect.put_together import put_together
from tacita.protect.recode.regroup import text_of
from tacita.protect.step import Applied, Context, Step
from tacita.release.advance import State
from tacita.rules import EditRule
from tacita.scenario import Scenario, with_codes

BY_KEY = ("remove", "recode", "group_rare", "suppress", "suppress_key", "drop_records", "top_code", "bottom_code",
          "round")  # fmt: skip
"""Steps that make of equal records equal ones: they work on the distinct keys."""
BY_RECORD = ("pram", "noise", "round_weights", "round", "top_code", "bottom_code")
"""Steps that work on each record by itself, once what they need of the whole file is known."""
NEAREST = {
    "microaggregate": "Round or Noise of the numbers",
    "rank_swap": "Round or Noise of the numbers",
    "shuffle": "Round or Noise of the numbers",
    "swap_records": "Pram of the categories",
    "synthesise": "Pram of the categories",
    "generalise": "Recode with Suppress",
    "weight_noise": "RoundWeights(keep_total=False)",
    "trim_weights": "RoundWeights(keep_total=False)",
    "recalibrate": "RoundWeights(keep_total=False)",
    "sample": "DropRecords by a condition",
    "code_outliers": "TopCode and BottomCode with at=...",
    "mask_by_model": "Noise of the numbers",
    "microaggregate_mixed": "Round or Noise of the numbers, Recode of the categories",
    "new_identifiers": "Remove of the identifiers",
    "random_order": "Remove of what tells the order, of a file that the engine has put in another order",
    "random_swap": "Pram of the categories",
}
"""The nearest step that does not need all records at once."""
UNSAFE = ("k_anonymity", "individual_risk")
"""Measures whose unsafe records are known by their keys."""


@dataclass(frozen=True)
class Streamed:
    """A step that is done record by record, with what it must know of the whole file."""

    step: Step
    parts: tuple[tuple[Step, Mapping[str, str | None]], ...]
    """The step as it is done in each stratum, and the values of the stratum by its variables; none: all records."""
    reads: frozenset[str]
    """Variables that it goes by."""
    changes: frozenset[str]
    whole: Mapping[str, float] | None = None
    """What it must know of the whole file."""
    mechanisms: tuple[Mechanism, ...] | None = None
    """What it does to values, where that is known before; None: as it says itself."""
    public: tuple[Mechanism, ...] = ()

    def applied(self, data: Data, state: State) -> Applied:
        """What it makes of some records."""
        step = self.step
        context = Context(state.scenario, state.policy, state.draws.step(step.label), data, whole=self.whole)
        made = Applied(data)
        for each, stratum in self.parts:
            rows = np.flatnonzero(_inside(made.data, stratum)) if stratum else None
            if rows is None or len(rows) == len(data):
                made = applied(each, made.data, context)
            elif len(rows):
                rest = made.data.take(np.setdiff1d(np.arange(len(data)), rows))
                part = applied(each, made.data.take(rows), context)
                made = part._replace(data=put_together(made.data, [part.data, rest]))
        if self.mechanisms is not None:
            made = made._replace(mechanisms=self.mechanisms, public=self.public)
        # What is said of some records holds for those only.
        return made._replace(remarks=(), figures={})


def _inside(data: Data, stratum: Mapping[str, str | None]) -> Bools:
    """By record whether it is in a stratum, given by its values as texts, None where missing."""
    inside = np.ones(len(data), dtype=np.bool_)
    for name, value in stratum.items():
        coded = data.coded(name)
        texts = [None, *map(text_of, coded.values)]
        inside &= np.array([text == value for text in texts])[coded.codes]
    return inside


def changed_by(step: Step, scenario: Scenario) -> tuple[str, ...]:
    """The variables that a step changes."""
    kind = step.kind()
    if kind == "suppress":
        return (*scenario.all_keys, *(name for each in getattr(step, "ghosts", {}).values() for name in each))
    if kind == "round_weights":
        named = getattr(step, "weight", None) or scenario.weight
        return () if named is None else (named,)
    single = getattr(step, "variable", None)
    names: tuple[str, ...] = (single,) if single else tuple(getattr(step, "variables", ()))
    return names or (scenario.identifiers if kind == "remove" else ())


def read_by(step: Step, scenario: Scenario, columns: Iterable[str]) -> tuple[str, ...]:
    """The variables that a step goes by besides those that it changes."""
    found = list(getattr(step, "strata", None) or ())
    asked = getattr(step, "where", None) if step.kind() == "drop_records" else getattr(step, "only", None)
    if isinstance(asked, str):
        found += [asked] if asked in set(columns) else _columns_in(EditRule(asked).condition)
    if step.kind() in ("suppress", "suppress_key") or isinstance(asked, Mapping):
        found += scenario.all_keys
    return tuple(dict.fromkeys(found))


def _columns_in(condition: Any) -> list[str]:
    """The variables that a condition names."""
    from tacita.rules.parts import Column

    if isinstance(condition, Column):
        return [condition.name]
    inner = condition if isinstance(condition, tuple) else tuple(getattr(condition, "__dict__", {}).values())
    return [name for each in inner if not isinstance(each, str | int | float) for name in _columns_in(each)]


def check_steps(steps: Iterable[Step]) -> None:
    """Every step can be done without all records in memory; an error names the nearest that can."""
    for step in steps:
        kind = step.kind()
        if kind not in (*BY_KEY, *BY_RECORD):
            nearest = NEAREST.get(kind, "the steps " + ", ".join(dict.fromkeys((*BY_KEY, *BY_RECORD))))
            raise _refused(step, f"needs all records in memory; the nearest that does not: {nearest}")
        for why in _reasons(step, kind):
            raise _refused(step, why)


def _refused(step: Step, why: str) -> TacitaError:
    return TacitaError(f"step {step.label or step.usual_label!r} {why}.")


def _reasons(step: Any, kind: str) -> Iterator[str]:
    """Why a step cannot be done in a file on an engine."""
    only = getattr(step, "where", None) if kind == "drop_records" else getattr(step, "only", None)
    if isinstance(only, Mapping) and only["unsafe"] not in UNSAFE:
        yield f"can find unsafe records by {check.quoted(UNSAFE)} only; {only['unsafe']} needs all records in memory"
    if isinstance(only, tuple) and kind not in BY_RECORD:
        yield "works on distinct keys, which have no record numbers; give a condition in their place"
    if kind == "suppress":
        yield from _of_suppression(step)
    if kind == "drop_records" and (step.larger_than is not None or step.whole_households):
        yield "drops whole households in memory only; leave out larger_than and whole_households"
    if kind in ("top_code", "bottom_code") and (step.share is not None or step.value in ("mean", "median")):
        yield "sets a share, mean or median by all records; give at=... and a value"
    if kind == "pram" and (step.together or step.weighted):
        yield "needs all records in memory for together and weighted; leave them out"
    if kind == "noise":
        yield from _of_noise(step)
    if kind == "round_weights" and (step.keep_total or step.random):
        yield "keeps the total, and rounds at random, by all weights in memory; pass RoundWeights(keep_total=False)"


def _of_suppression(step: Any) -> Iterator[str]:
    """Why a suppression cannot be done on distinct keys."""
    if step.closed:
        yield "needs all records in memory to close leaks; pass Suppress(closed=False)"
    if step.as_told:
        yield "needs all records in memory for as_told; leave it out"
    if step.ghosts:
        yield "needs all records in memory for ghosts; leave them out"


def _of_noise(step: Any) -> Iterator[str]:
    """Why noise cannot be drawn record by record."""
    if step.method not in BY_CELL:
        kinds = check.quoted(sorted(BY_CELL))
        yield f"needs all records in memory for method={step.method!r}; the methods that do not: {kinds}"
    if step.weighted or step.keep_totals or step.strata:
        yield "needs all records in memory for weighted, keep_totals and strata; leave them out"
    if step.only is not None:
        yield "takes its deviation of all records; leave out only, or use Round"


def streamed_of(step: Step, scenario: Scenario, state: State, numbers: Callable[[Step], Iterator[Data]]) -> Streamed:
    """A step with what it must know of the whole file; `numbers` goes through the records as they are then."""
    reads = frozenset(read_by(step, scenario, state.data.columns))
    changes = frozenset(changed_by(step, scenario))
    if step.kind() == "pram":
        return _with_matrices(step, state, reads, changes)
    whole = None
    if step.kind() == "noise":
        whole = {name: deviation(partial(_column, step, name, numbers)) for name in sorted(changes)}
    if step.kind() == "round_weights":
        whole = {}
    return Streamed(step, ((step, {}),), reads, changes, whole)


def _column(step: Step, name: str, numbers: Callable[[Step], Iterator[Data]]) -> Iterator[Floats]:
    """The numbers of a variable that are there, some records at a time."""
    for data in numbers(step):
        values = numeric_table(step, (name,), data).values[:, 0]
        yield values[~np.isnan(values)]


def _with_matrices(step: Step, state: State, reads: frozenset[str], changes: frozenset[str]) -> Streamed:
    """PRAM with its matrices, by stratum and variable, worked out on the distinct keys."""
    given = with_codes(state.data, state.scenario)
    context = Context(state.scenario, state.policy, state.draws.step(step.label), given)
    made = applied(step, given, context)
    parts = []
    for each in made.mechanisms:
        known = replace(
            step,  # type: ignore[call-arg]
            variables=each.variables,
            pd=type(step).pd,  # type: ignore[attr-defined]
            alpha=type(step).alpha,  # type: ignore[attr-defined]
            fixed=False,
            diagonal=None,
            bandwidth=None,
            invariant=True,
            strata=(),
            matrix=tuple(map(tuple, np.asarray(each.parameters["matrix"]).tolist())),
            categories=tuple(each.parameters["categories"]),
        )
        parts.append((known, each.parameters.get("stratum", {})))
    return Streamed(step, tuple(parts), reads, changes, None, made.mechanisms, made.public)
