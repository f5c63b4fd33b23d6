"""Pieces of pages: cards, buttons that act, tables, figures with their data. Texts are escaped by htmltools."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from htmltools import HTML, Tag, TagList, tags

from tacita.app.drawn import Drawn, drawn
from tacita.result import Result, Table, cell_text

MOST_ROWS = 200
"""More rows of a table or of a figure's data are not shown."""
SIGNS = {"SAFE": "✓", "NOT SAFE": "✕", "NOT ASSESSED": "?", "NO VERDICT": "–", "NOT DONE": "!"}
KINDS = {"SAFE": "good", "NOT SAFE": "bad", "NOT ASSESSED": "open", "NO VERDICT": "open"}


def card(title: str, *inside: Any, lead: str = "", kind: str = "", **attributes: Any) -> Tag:
    """A piece of a page under its own heading."""
    said = tags.p(lead, class_="lead") if lead else None
    return tags.section(tags.h2(title), said, *inside, class_=f"card {kind}".strip(), **attributes)


def button(act: str, words: Any, *, kind: str = "", title: str = "", disabled: bool = False, **fields: Any) -> Tag:
    """A button that does something; what it is about goes with it."""
    own: dict[str, Any] = {"title": title, "aria-label": title} if title else {}
    if disabled:
        own["disabled"] = ""
    identity = "-".join([act, *(str(each) for each in fields.values())])
    return tags.button(
        words,
        {"data-act": act, "data-fields": json.dumps(fields), "id": "b-" + _plain(identity), "type": "button"},
        class_=f"button {kind}".strip(),
        **own,
    )


def form(act: str, *inside: Any, kind: str = "", **fields: Any) -> Tag:
    """A form; its fields are sent together when it is sent."""
    return tags.form(*inside, {"data-act": act, "data-fields": json.dumps(fields)}, class_=f"form {kind}".strip())


def submit(words: str, kind: str = "primary") -> Tag:
    """The button that sends a form."""
    return tags.button(words, type="submit", class_=f"button {kind}")


def select(
    name: str,
    choices: Mapping[str, str],
    chosen: str | None,
    *,
    label: str,
    act: str = "",
    place: str = "",
    **more: Any,
) -> Tag:
    """A list to choose from, under its label; with `act` the choice itself does something."""
    identity = "s-" + _plain(f"{act}-{name}-{place}")
    own: dict[str, Any] = {"data-change": act} if act else {}
    options = [tags.option(words, {"value": value}, **_selected(value == chosen)) for value, words in choices.items()]
    return tags.label(
        tags.span(label, class_="name"),
        tags.select(*options, {"name": name, "id": identity, **own}, **more),
        class_="field",
    )


def _selected(yes: bool) -> dict[str, str]:
    return {"selected": ""} if yes else {}


def text_field(name: str, label: str, value: Any = "", *, kind: str = "text", hint: str = "", **more: Any) -> Tag:
    """A field to write in, under its label."""
    note = tags.small(hint) if hint else None
    shown = "" if value is None else str(value)
    return tags.label(
        tags.span(label, class_="name"),
        tags.input({"name": name, "value": shown, "type": kind, **more}),
        note,
        class_="field",
    )


def number_field(name: str, label: str, value: Any = None, *, hint: str = "", **more: Any) -> Tag:
    """A field for a number, under its label."""
    return text_field(name, label, value, kind="number", hint=hint, step="any", **more)


def area_field(name: str, label: str, value: str = "", *, hint: str = "", rows: int = 3) -> Tag:
    """A field for several lines, under its label."""
    note = tags.small(hint) if hint else None
    return tags.label(tags.span(label, class_="name"), tags.textarea(value, name=name, rows=rows), note, class_="field")


def check_field(name: str, label: str, value: bool = False, *, act: str = "") -> Tag:
    """A box to tick."""
    own: dict[str, Any] = {"data-change": act, "id": f"c-{_plain(act + name)}"} if act else {}
    ticked = {"checked": ""} if value else {}
    return tags.label(tags.input({"type": "checkbox", "name": name, **ticked, **own}), tags.span(label), class_="tick")


def chips(name: str, choices: Iterable[str], chosen: Iterable[str], *, label: str, hint: str = "") -> Tag:
    """Names of which several can be ticked, one click each."""
    ticked = set(chosen)
    boxes = [
        tags.label(
            tags.input({"type": "checkbox", "name": name, "value": each, "data-many": "", **_checked(each in ticked)}),
            tags.span(each),
            class_="chip",
        )
        for each in choices
    ]
    note = tags.small(hint) if hint else None
    return tags.fieldset(tags.legend(label), tags.div(*boxes, class_="chips"), note)


def _checked(yes: bool) -> dict[str, str]:
    return {"checked": ""} if yes else {}


def table_of(table: Table, *, most: int = MOST_ROWS, fold: str = "", rows: int = 0) -> Tag:
    """A table of figures; behind a fold with that title if one is given. `rows`: how many it has in full."""
    head = tags.tr(*(tags.th(name, scope="col", class_=_side(at)) for at, name in enumerate(table.columns)))
    body = [
        tags.tr(*(tags.td(_shown(cell), class_=_side(at)) for at, cell in enumerate(row))) for row in table.rows[:most]
    ]
    left = max(rows, len(table.rows)) - len(body)
    more = tags.p(f"{left:,} more rows.", class_="quiet") if left > 0 else None
    caption = tags.caption(table.title) if table.title and not fold else None
    whole = tags.div(
        tags.table(caption, tags.thead(head), tags.tbody(*body)),
        more,
        class_="wide",
        tabindex="0",
        role="region",
        **{"aria-label": table.title or "table"},
    )
    return folded(fold, whole) if fold else whole


def _shown(cell: Any) -> str:
    """A cell of a table; what is beyond all numbers has its sign."""
    return ("∞" if cell > 0 else "−∞") if isinstance(cell, float) and math.isinf(cell) else cell_text(cell)


def _side(at: int) -> str:
    return "n" if at else ""


def folded(title: str, *inside: Any, opened: bool = False, place: str = "") -> Tag:
    """Something behind a fold."""
    own = {"open": ""} if opened else {}
    return tags.details(tags.summary(title), *inside, id="d-" + _plain(place + title), **own)


def figure(spec: Mapping[str, Any] | Drawn | None, words: str, *, name: str, brush: str = "", data: bool = True) -> Tag:
    """A figure with its description and, behind a fold, its data; a placeholder until it is drawn."""
    if spec is None:
        return pending("drawing …")
    made = spec if isinstance(spec, Drawn) else drawn(spec)
    own: dict[str, Any] = {
        "class": "vega",
        "id": f"figure-{_plain(name)}",
        "tabindex": "0",
        "role": "figure",
        "aria-label": words,
        "data-brush": brush,
    }
    script = tags.script(HTML(made.specification), type="application/json")
    listed = [table_of(each.table, rows=each.rows) for each in made.data] if data else []
    fold = folded("Data of the figure", *listed, place=name) if listed else None
    return tags.figure(tags.div(own, script), tags.figcaption(words), fold)


def result_text(result: Result) -> TagList:
    """A result in words and tables: headline, meaning, sentences, tables, cautions."""
    said = [tags.p(text) for text in result.sentences()]
    tables = [table_of(each, fold=each.title if len(each.rows) > 12 else "") for each in result.tables()]
    cautions = [tags.li(text) for text in result.all_cautions()]
    return TagList(
        tags.p(result.headline, class_="headline"),
        tags.p(tags.b("What does this mean? "), result.meaning, class_="meaning"),
        *said,
        *tables,
        tags.ul(*cautions, class_="cautions") if cautions else None,
    )


def verdict_word(word: str) -> Tag:
    """A verdict: sign, word and colour."""
    return tags.span(
        tags.span(SIGNS.get(word, "?"), class_="sign", **{"aria-hidden": "true"}),
        word,
        class_=f"badge {KINDS.get(word, 'open')}",
    )


def note(text: str, kind: str = "quiet") -> Tag:
    """A remark."""
    return tags.p(text, class_=kind)


def _plain(text: str) -> str:
    return "".join(sign if sign.isalnum() else "-" for sign in text)


def without_keys(title: str, third: Tag | None = None) -> dict[str, Any]:
    """The pieces of a page on which there is nothing to show before a variable is a key."""
    said = note("Give at least one variable the role of a key first, on the page Scenario.")
    return {"first": card(title, said), "second": None, "third": third}


def waiting(desk: Any, words: str) -> Tag:
    """What is being waited for; why it will not come, if it will not."""
    why = next(
        (reason for key, reason in desk.failures.items() if key.startswith(("state:", "release:", "compared:"))), ""
    )
    return note(why, "error") if why else pending(words)


def pending(words: str) -> Tag:
    """The place of what is still being worked out."""
    return tags.div(tags.span(words), class_="waiting", role="status")
