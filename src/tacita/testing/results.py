"""What every result promises: frozen, printable in text, HTML and JSON, with rows and, where it has one, a figure."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from typing import Any

from tacita.result import Result, Table

TAGS = {"div", "p", "strong", "pre", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li"}
"""What the HTML of a result is made of."""


def check_result(result: Any, *, thorough: bool = True) -> None:
    """Nothing if a result can do what every result can; an AssertionError otherwise.

    Thorough: names of variables are usual ones, and a figure is drawn too.
    """
    _require(isinstance(result, Result), "is no Result")
    parameters = getattr(type(result), "__dataclass_params__", None)
    _require(
        dataclasses.is_dataclass(result) and parameters is not None and parameters.frozen, "is no frozen dataclass"
    )
    headline = result.headline
    _require(headline.strip(), "has no headline")
    _require(not (thorough and "\n" in headline), "has a headline that is not one line")
    _require(
        not (thorough and re.search(r"\S {2,}\S", headline)), "has a headline that is a row of a table, not a sentence"
    )
    _require(str(result).strip(), "prints nothing")
    _require(repr(result).startswith(f"<{type(result).__name__}: "), "shows more than its headline in its repr")
    _require(all(isinstance(table, Table) and table.rows for table in result.tables()), "has tables that are no Table")
    _require(all(isinstance(text, str) and text for text in result.cautions), "has cautions that are no texts")
    _check_json(result)
    _check_html(result)
    rows = result.to_frame()
    _require(len(rows) > 0 and rows.columns, "has no rows in to_frame()")
    names = result.figures()
    _require(all(isinstance(name, str) for name in names), "has figures without a name")
    if thorough and names:
        _require(hasattr(result.plot(), "to_dict"), "has a figure that is no chart")


def printed(result: Result) -> str:
    """Everything that a result shows of itself."""
    return "\n".join([str(result), repr(result), result._repr_html_(), str(result.to_dict()), result.to_json()])


def _require(holds: Any, what: str) -> None:
    if not holds:
        raise AssertionError(f"the result {what}")


def _check_json(result: Result) -> None:
    _require(result.to_dict(), "has no figures in to_dict()")
    known = json.loads(result.to_json())
    _require(known["headline"] == result.headline, "has another headline in its JSON")
    _require(known["cautions"] == list(result.cautions), "has other cautions in its JSON")
    _require(result.measure is None or known["measure"] == result.measure.name, "has no measure in its JSON")


def _check_html(result: Result) -> None:
    """Only our own tags: a name of a variable that looks like a tag is text."""
    found = _Tags()
    found.feed(result._repr_html_())
    _require(found.tags <= TAGS, "does not escape names in its HTML")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
