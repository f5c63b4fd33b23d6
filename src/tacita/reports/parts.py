"""The parts of a report: headings, sentences, tables and figures, whatever result they come from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tacita.check import TacitaError
from tacita.plots.svg import inline_svg
from tacita.result import Result, Table, cell_text

MOST_ROWS = 12
"""Tables with more rows than this are folded together."""
NUMBER = re.compile(r"[(<]?-?[\d,]+(\.\d+)?( %)?\)?|-|–|")
"""What is taken for a number on the page, nothing included."""


class Figure(NamedTuple):
    """A picture, and what it shows in words."""

    svg: str
    words: str
    caption: str = ""


class Row(NamedTuple):
    """A line of a list: whether it is well, what it is, and what is said of it."""

    state: str
    """good, bad, open, todo, none (it does not apply), or empty: it is no verdict."""
    name: str
    text: str
    meaning: str = ""


@dataclass(frozen=True)
class Part:
    """A piece of a report under a heading of its own."""

    title: str
    meaning: str = ""
    """What it means, for somebody who never saw such a figure."""
    explanation: str = ""
    """How it was worked out, behind a fold."""
    text: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    cautions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    side_by_side: bool = False
    """Whether its tables are small and stand beside each other."""


@dataclass(frozen=True)
class Chapter:
    """A chapter of a report."""

    title: str
    parts: tuple[Part, ...]
    lead: str = ""
    """What the chapter is about."""

    @property
    def place(self) -> str:
        """Its name in links."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")


@dataclass
class Figures:
    """Draws figures and numbers them, so that no two share a name."""

    drawn: int = 0

    def of(self, result: Any, name: str | None = None, caption: str = "", **options: Any) -> tuple[Figure, ...]:
        """A figure of a result; nothing where it has none, or its variables allow none."""
        if not result.figures():
            return ()
        try:
            chart = result.plot(name, **options) if name else result.plot(**options)
        except TacitaError:
            # No numbers to draw a density of, no categories for bars.
            return ()
        self.drawn += 1
        return (Figure(*inline_svg(chart, f"figure-{self.drawn}"), caption),)


def title_of(result: Result) -> str:
    """What a result is called: the words of its measure's name."""
    name = type(result).__name__ if result.measure is None else result.measure.name
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()
    letter, _, word = spaced.partition(" ")
    # k-anonymity, l-diversity, t-closeness.
    return f"{letter}-{word}" if len(letter) == 1 else first_upper(spaced)


def first_upper(text: str) -> str:
    """A text as a sentence begins; a sign such as k or a quotation stays as it is."""
    return text[:1].upper() + text[1:] if text[1:2].isalpha() or text.startswith("a ") else text


def part_of(result: Result, figures: Figures, title: str = "", *, drawn: bool = True) -> Part:
    """A result as it says itself: headline, sentences, tables, figure, cautions."""
    tables = tuple(result.tables())
    return Part(
        title=title or title_of(result),
        meaning=result.meaning,
        explanation=result.explanation,
        text=tuple(first_upper(text.strip()) for text in (result.headline, *result.sentences())),
        tables=tuple(table for table in tables if len(table.rows) <= MOST_ROWS),
        folded=tuple(table for table in tables if len(table.rows) > MOST_ROWS),
        figures=figures.of(result) if drawn else (),
        cautions=tuple(first_upper(text) for text in result.all_cautions()),
        notes=tuple(result.notes),
    )


def titled(table: Table, title: str) -> Table:
    """A table under another title."""
    return replace(table, title=title)


class Cells(NamedTuple):
    """A table for the page: heads and cells as texts, and by column whether it holds numbers."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]


def cells(table: Table) -> Cells:
    """A table as texts; columns of numbers go to the right, the first column never."""
    rows = tuple(tuple(cell_text(cell) for cell in row) for row in table.rows)
    columns: Sequence[tuple[str, ...]] = list(zip(*rows, strict=True)) or [() for _ in table.columns]
    return Cells(table.title, tuple(table.columns), rows, tuple(_are_numbers(columns)))


def _are_numbers(columns: Sequence[tuple[str, ...]]) -> Iterator[bool]:
    for place, column in enumerate(columns):
        numbers = sum(bool(NUMBER.fullmatch(cell)) for cell in column)
        yield place > 0 and any(column) and 2 * numbers > len(column)
