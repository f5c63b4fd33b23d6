"""The base of all results: headline, verdicts, cautions, tables, figures, and their output as text, HTML and JSON.

Text, HTML and JSON are written once, here, from `headline`, `sentences`, `tables`, `cautions` and `notes`.
"""

from __future__ import annotations

import html
import importlib
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from tacita import check
from tacita.check import TacitaError
from tacita.declared import plain
from tacita.html_view import html_table, html_view

if TYPE_CHECKING:
    from tacita.measures import Measure


LIMITS_IN_WORDS = {
    "k": "k-anonymity",
    "risk": "individual risk",
    "rate": "re-identification rate",
    "given_back": "protected cells given back",
    "confidentiality": "confidentiality plot",
}
"""What limits are called where people read them; others by their name."""
WITH_OTHER_COLUMNS = " with other columns"
"""The end of the name of a key set that is counted again with what other columns tell of its keys."""


@dataclass(frozen=True)
class Verdict:
    """Whether one limit of the policy is kept."""

    name: str
    """What is limited: `k`, `risk`, `rate`, `household_risk` or the name of a measure; of another key set `k:name`."""
    limit: float
    """The limit."""
    value: float | None
    """What was measured; None: nothing was."""
    holds: bool | None
    """Whether the limit is kept. None: the measure is not valid here, or was not measured. None is never safe."""
    why: str
    """The verdict in one clause, without a full stop."""
    about: Literal["risk", "loss"] = "risk"
    """Whether a limit of risk is kept, or one of loss, which says nothing of safety."""

    @property
    def title(self) -> str:
        """What is limited, in words."""
        name, _, keys = self.name.partition(":")
        words = LIMITS_IN_WORDS.get(name, name.replace("_", " "))
        return f"{words} ({keys})" if keys else words

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain numbers and texts."""
        plain_fields = ("name", "limit", "value", "holds", "why", "about")
        return {name: getattr(self, name) for name in plain_fields}


@dataclass(frozen=True)
class Repair:
    """What would make a limit of the policy hold that a file does not keep: worked out from the file, not guessed."""

    name: str
    """The verdict that it is for."""
    text: str
    """What to do, and how much of the file it concerns, in one clause without a full stop."""
    step: str | None = None
    """The step that makes the limit hold, as plan files call it; None: no single step is known to."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Its parameters."""
    records: int | None = None
    """How many records it concerns."""
    cells: int | None = None
    """How many cells it changes at least; None: not known before it is done."""

    def to_dict(self) -> dict[str, Any]:
        """The repair as plain numbers and texts."""
        given = {"name": self.name, "text": self.text, "step": self.step, "parameters": dict(self.parameters)}
        return given | {"records": self.records, "cells": self.cells}


def step_call(step: str, parameters: Mapping[str, Any]) -> str:
    """How a step is written in Python.

    >>> step_call("drop_records", {"where": "age > 100"})
    "DropRecords(where='age > 100')"
    """
    name = "".join(word.capitalize() for word in step.split("_"))
    return f"{name}({', '.join(f'{each}={value!r}' for each, value in parameters.items())})"


def all_hold(verdicts: Iterable[Verdict]) -> bool:
    """Whether there is at least one verdict on risk and every one of them holds: only then is a file safe.

    A file that loses little is not safe for that, and one that loses too much not unsafe.
    """
    of_risk = [verdict for verdict in verdicts if verdict.about == "risk"]
    return bool(of_risk) and all(verdict.holds is True for verdict in of_risk)


def loses_too_much(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """The limits of loss that are not known to be kept, each in one clause."""
    return tuple(verdict.why for verdict in verdicts if verdict.about == "loss" and verdict.holds is not True)


def summary(verdicts: Iterable[Verdict]) -> str:
    """The verdict on the whole file: SAFE, NOT SAFE, NOT ASSESSED or NO VERDICT, with the reasons.

    >>> summary([Verdict("k", 3, 0, True, "no record below k = 3")])
    'SAFE under this policy'
    >>> summary([Verdict("k", 3, None, None, "the key 'age' was perturbed")])
    "NOT ASSESSED under this policy: the key 'age' was perturbed"
    """
    listed = list(verdicts)
    lost = loses_too_much(listed)
    besides = f"; it loses more than the policy allows: {'; '.join(lost)}" if lost else ""
    of_risk = [verdict for verdict in listed if verdict.about == "risk"]
    failed = [verdict.why for verdict in of_risk if verdict.holds is False]
    unknown = list(dict.fromkeys(verdict.why.rstrip(".") for verdict in of_risk if verdict.holds is None))
    if failed:
        open_ones = f"; not assessed: {'; '.join(unknown)}" if unknown else ""
        return f"NOT SAFE under this policy: {'; '.join(failed)}{open_ones}{besides}"
    if unknown:
        return f"NOT ASSESSED under this policy: {'; '.join(unknown)}{besides}"
    if of_risk:
        return f"SAFE under this policy{besides}"
    return f"NO VERDICT: the policy sets no limit{' of risk' if listed else ''}{besides}"


class Percent(float):
    """A share that is shown in percent."""


@dataclass(frozen=True)
class Table:
    """Rows of figures under their heads; no values of the data."""

    columns: tuple[str, ...]
    """What stands in each column; the first is to the left, the others to the right."""
    rows: tuple[tuple[Any, ...], ...]
    """Texts, numbers, shares (`Percent`), None for nothing."""
    title: str = ""
    """What the table shows; with a title it stands apart."""
    indent: str = "  "
    """How far it is moved in on a printed page."""

    def text(self) -> str:
        """The table for print."""
        rows = columns([self.columns, *([cell_text(cell) for cell in row] for row in self.rows)], self.indent)
        return f"\n{self.title}\n{rows}" if self.title else rows

    def html(self) -> str:
        """The table for a web page."""
        return html_table(self.columns, [[cell_text(cell) for cell in row] for row in self.rows], self.title)

    def to_dict(self) -> dict[str, Any]:
        """The table as plain texts and numbers."""
        return {"title": self.title, "columns": list(self.columns), "rows": [list(row) for row in self.rows]}


class Result(ABC):
    """What a measure found. `print` gives the headline that a data custodian understands."""

    figure: ClassVar[str | Callable[..., Any] | None] = None
    """The result's figure: the name of a module and function of `tacita.plots`, or a function of the result."""
    other_figures: ClassVar[tuple[str, ...]] = ()
    """Names of further figures of `tacita.plots`."""
    measure: ClassVar[Measure | None] = None
    """The measure that gives such results; set where it is declared."""
    if TYPE_CHECKING:
        # A field or a property of the class of result.
        @property
        def cautions(self) -> Sequence[str]:
            """What the reader should know."""

        @property
        def notes(self) -> Sequence[str]:
            """How the figures came about."""

        @property
        def not_valid(self) -> str:
            """Why the figures do not hold for this file; empty if they do."""
    else:
        cautions, notes, not_valid = (), (), ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Before @dataclass makes one that shows every field: fields can hold cells of the data.
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.headline.strip()}>"

    @property
    @abstractmethod
    def headline(self) -> str:
        """The result in one sentence that a data custodian understands."""

    @property
    def meaning(self) -> str:
        """What the result says, in one sentence: the first of what its measure says of itself."""
        return self._paragraphs()[0]

    @property
    def explanation(self) -> str:
        """How its figures are worked out: what its measure says after its first sentence, if it does."""
        further = self._paragraphs()[1:2]
        return "" if not further or further[0].startswith((">>>", "Reference")) else further[0]

    def _paragraphs(self) -> list[str]:
        said = inspect.getdoc(type(self) if self.measure is None else self.measure.function) or ""
        return [" ".join(each.split()).replace("`", "") for each in said.split("\n\n")]

    def sentences(self) -> Sequence[str]:
        """What else there is to say, one sentence each."""
        return ()

    def tables(self) -> Sequence[Table]:
        """The result as tables of figures."""
        return ()

    def __str__(self) -> str:
        parts = [self.headline, *self.sentences(), *(table.text() for table in self.tables())]
        return "\n".join([*parts, *(f"caution: {caution}" for caution in self.all_cautions()), *self.notes])

    def all_cautions(self) -> list[str]:
        """The cautions, and why the figures do not hold for this file unless one of them says so."""
        return list(dict.fromkeys([*self.cautions, *([self.not_valid] if self.not_valid else [])]))

    def _repr_html_(self) -> str:
        tables = "".join(table.html() for table in self.tables())
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return html_view(self.headline, self.sentences(), tables, self.all_cautions()) + notes

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether the limit that the policy sets on this measure is kept; nothing without one."""
        measure = self.measure
        limited = None if measure is None or measure.limit is None else policy.limit_of(measure.name)
        if measure is None or measure.limit is None or limited is None:
            return ()
        if self.not_valid:
            return (Verdict(limited.name, limited.limit, None, None, self.not_valid, measure.kind),)
        value = measure.limited_value(self, limited.options)
        holds, why = measure.limit.judged(measure.name, value, limited.limit, measure.kind)
        return (Verdict(limited.name, limited.limit, value, holds, why, measure.kind),)

    def repair(self, policy: Any) -> Repair | None:
        """What would make the policy's limit on this measure hold; asked only where it does not.

        By default the kinds of steps that move it, as the measure declares them, and how many records break the limit.
        """
        measure = self.measure
        if measure is None or measure.limit is None or not measure.limit.moved_by:
            return None
        unsafe = self.unsafe_records(policy)
        records = None if unsafe is None else int(unsafe.sum())
        which = "" if records is None else f"{check.counted(records, 'record')} to protect further: "
        return Repair(measure.name, f"{which}{measure.limit.moved_by}", records=records)

    @property
    def found_for_certain(self) -> int:
        """Of an attack: how many records an intruder finds who can be sure and is right."""
        return 0

    def unsafe_records(self, policy: Any) -> Any:
        """By record whether it breaks the policy's limit, as booleans in the order of the file; None: not defined."""
        return None

    def record_columns(self) -> dict[str, Any]:
        """What the result says of each record, by column name, for the table of all records; nothing by default."""
        return {}

    def key_figures(self) -> dict[str, Any]:
        """The few figures that a comparison of releases lays side by side, in words; the one that a policy can limit.

        Numbers, shares (`Percent`), texts, or None where a figure does not hold.
        """
        measure = self.measure
        if measure is None or measure.limit is None:
            return {}
        value = None if self.not_valid else measure.limited_value(self, {})
        share = measure.kind == "loss" or measure.limit.of_share
        return {measure.limit.words: Percent(value) if value is not None and share else value}

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file as plain numbers and texts, no values of the data; nothing by default."""
        return {}

    def to_json(self) -> str:
        """The headline, the figures and the cautions as JSON, no values of the data."""
        name = {} if self.measure is None else {"measure": self.measure.name}
        whole = {**name, "headline": self.headline, **self.to_dict(), "cautions": list(self.cautions)}
        return json.dumps(plain(whole), indent=2, ensure_ascii=False, allow_nan=False)

    def figures(self) -> tuple[str, ...]:
        """The names of the figures that `plot` draws, the usual one first."""
        usual = type(self).figure
        if usual is None:
            return ()
        return (usual if isinstance(usual, str) else usual.__name__, *self.other_figures)

    def plot(self, figure: str | None = None, **options: Any) -> Any:
        """A figure of this result, an Altair chart; the usual one unless another of `figures()` is named."""
        usual = type(self).figure
        if usual is None:
            raise TacitaError(f"{type(self).__name__} has no figure; its rows are in to_frame().")
        name = self.figures()[0] if figure is None else check.one_of("figure", figure, self.figures())
        if callable(usual) and name == usual.__name__:
            return usual(self, **options)
        # The one call upwards: a result finds its figure by name.
        return getattr(importlib.import_module(f"tacita.plots.{name}"), name)(self, **options)


def cell_text(cell: Any) -> str:
    """A cell of a table for print."""
    if cell is None or (isinstance(cell, float) and cell != cell):
        return "" if cell is None else "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Percent):
        return percent(cell)
    return number(cell) if isinstance(cell, int | float) else str(cell)


def number(value: float) -> str:
    """A count or an expected count: whole numbers in full, others with three significant digits and more if large."""
    if value == round(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3g}"


def number_of(value: float, noun: str) -> str:
    """A number with its noun: `1 record`, `2.5 records`."""
    text = number(value)
    return f"{text} {noun}" if text == "1" else f"{text} {noun}s"


def percent(share: float) -> str:
    """A share in percent, with three significant digits and no exponent: `0.0000245 %`."""
    # What is left of rounding in sums of doubles is nothing: 0 %, not 0.0000000000000597 %.
    text = f"{100 * share if abs(share) > 1e-13 else 0:.3g}"
    return f"{Decimal(text):f} %" if "e" in text else f"{text} %"


def columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Rows of text under each other: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        first, *others = row
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)
