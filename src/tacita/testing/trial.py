"""One measurement that is repeated with something changed: other kinds of tables, another order, other names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from tacita import frame
from tacita.data import Data
from tacita.measures import Measure
from tacita.result import Result
from tacita.scenario import Scenario
from tacita.testing.refusals import CANARY_NUMBER, CANARY_TEXT, CANARY_WEIGHT, CANARY_WHOLE

ODD_NAMES = (
    " ", "it's", 'say "x"', "two\nlines", "🦉", "a,b", "f", "F",
    "risk", "record", "violations", "{k}", "", "%s", "<b>&",
)  # fmt: skip
"""Names of columns as they occur, or that a measure could use itself."""


@dataclass(frozen=True)
class Trial:
    """A measure with its files, scenario and options."""

    measure: Measure
    files: tuple[Any, ...]
    """The file, or the original and the released one."""
    scenario: Scenario
    options: Mapping[str, Any]

    def result(self, **more: Any) -> Result:
        """What is measured, with options besides or in place of its own."""
        return self.measure.function(*self.files, self.scenario, **{**self.options, **more})

    def with_files(self, change: Callable[[Data], Any]) -> Trial:
        """The same with every file changed, those among the options too."""
        options = {name: change(each) if isinstance(each, Data) else each for name, each in self.options.items()}
        return replace(self, files=tuple(change(each) for each in self.files), options=options)

    def renamed(self, names: Mapping[str, str]) -> Trial:
        """The same with other names of variables, in files, scenario and options."""
        options = {name: _renamed(each, names) for name, each in self.options.items() if not isinstance(each, Data)}
        changed = self.with_files(lambda data: _renamed_columns(data, names))
        scenario = _renamed(self.scenario, names)
        return replace(changed, scenario=scenario, options={**changed.options, **options})

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables of all files."""
        return tuple(dict.fromkeys(name for data in self.files for name in data.columns))


def permuted(data: Data) -> Data:
    """The records in another order, with their numbers."""
    return data.take(order_of(data))


def order_of(data: Data) -> Any:
    """Rows in the other order."""
    return np.argsort(-data.record % 7, kind="stable")


def with_canaries(data: Data, weight: str | None, strata: Sequence[str] = ()) -> Data:
    """Every seventh record has a canary in each cell: they stand out, and are a group too.

    Strata keep their values: a table by strata has to name them.
    """
    here = data.record % 7 == 3
    columns = {}
    for name in (each for each in data.columns if each not in strata):
        canary: Any = CANARY_TEXT
        if frame.is_whole(data.table, name) or frame.is_float(data.table, name):
            canary = CANARY_WHOLE if frame.is_whole(data.table, name) else CANARY_NUMBER
            canary = CANARY_WEIGHT if name == weight else canary
        elif any(not isinstance(value, str | None) for value in data.table[name].to_list()):
            # Dates, and what is true or false, can hold none.
            continue
        columns[name] = [canary if row else value for row, value in zip(here, data.table[name].to_list(), strict=True)]
    return replace(data, variables={}).with_columns(columns)


def odd_names(trial: Trial) -> Iterator[dict[str, str]]:
    """New names for all columns, three times, except for those that stand inside a text such as a formula."""
    texts = [text for option in trial.options.values() for text in _texts(option) if text not in trial.columns]
    named = [name for name in trial.columns if not any(name in text for text in texts)]
    kept = set(trial.columns) - set(named)
    odd = [*ODD_NAMES, *(f"column {number}" for number in range(len(named)))]
    odd = [name for name in odd if name not in kept]
    for turn in (0, 5, 10):
        turned = [*odd[turn:], *odd[:turn]]
        yield dict(zip(named, turned, strict=False))


def _texts(option: Any) -> Iterator[str]:
    if isinstance(option, str):
        yield option
    elif isinstance(option, Mapping):
        for name, each in option.items():
            yield from (*_texts(name), *_texts(each))
    elif isinstance(option, list | tuple):
        for each in option:
            yield from _texts(each)


def _renamed_columns(data: Data, names: Mapping[str, str]) -> Data:
    table = data.table.rename({name: new for name, new in names.items() if name in data.columns})
    known = {names.get(name, name): each for name, each in data.variables.items()}
    return replace(data, table=table, variables=known, native=None)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A declaration or an option with other names of variables."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Mapping):
        return {_renamed(name, names): _renamed(each, names) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_renamed(each, names) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _renamed(getattr(value, each.name), names) for each in fields(value)})
    return value
