"""The page Data: open a file, look at its variables, say what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from htmltools import tags

from tacita.app import charts, explore, parts, tasks
from tacita.app.desk import Desk
from tacita.app.draft import Draft
from tacita.app.forms import value_of
from tacita.app.project_file import restored
from tacita.app.worker import Task
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.random import fresh_seed

SCALE_WORDS = {
    "": "as the values say",
    "nominal": "nominal: categories",
    "ordinal": "ordinal: categories in order",
    "numeric": "numeric: amounts",
}
MOST_SHOWN = 40
"""Categories that so many records have of their own are counted, not drawn."""
FORMATS = "SPSS .sav, Stata .dta, SAS .sas7bdat and .xpt, CSV and text, Excel, Parquet, Arrow"


def fragments(desk: Desk) -> dict[str, Any]:
    """The pieces of the page."""
    draft = desk.draft
    if draft.opened is None:
        return {"first": welcome(desk), "second": None, "third": None}
    return {"first": _variables(desk), "second": _explore(desk), "third": _declare(desk)}


def welcome(desk: Desk) -> Any:
    """What there is before a file is open."""
    failed = [parts.note(why, "error") for key, why in desk.failures.items() if key.startswith("open:")]
    demos = [
        parts.button("demo", words, kind="quiet", which=which)
        for which, words in {"household": "Demo: a household survey", "business": "Demo: a business survey"}.items()
    ]
    path = parts.text_field(
        "path",
        "Or write its path",
        "",
        placeholder="/data/survey.sav",
        hint="It is read where it lies. " + FORMATS + "; or a project file of the app.",
    )
    how = parts.folded(
        "How a text file is read",
        tags.div(
            parts.text_field("delimiter", "Delimiter", "", placeholder=", or ; or tab"),
            parts.text_field("decimal", "Decimal sign", "", placeholder=". or ,"),
            parts.text_field("encoding", "Encoding", "", placeholder="utf-8"),
            parts.text_field("missing", "Codes for missing values", "", placeholder="NA, -9"),
            class_="fields",
        ),
    )
    upload = tags.label(
        tags.span("Choose a file", class_="name"),
        tags.input(type="file", id="upload"),
        tags.small("", id="upload-said"),
        class_="field drop",
    )
    return parts.card(
        "Open a file",
        *failed,
        upload,
        parts.form("open", path, how, parts.submit("Open")),
        tags.div(tags.span("or try ", class_="quiet"), *demos, class_="row"),
        lead="Everything stays on this computer: the app listens to this computer alone and asks nobody anything.",
        kind="narrow",
    )


def _variables(desk: Desk) -> Any:
    draft = desk.draft
    rows = [_row(desk, name) for name in draft.data.columns]
    heads = ("variable", "label", "scale", "different", "missing", "role")
    head = tags.tr(
        *(tags.th(each, scope="col", class_="n" if each in ("different", "missing") else "") for each in heads)
    )
    listing = tags.div(
        tags.table(tags.thead(head), tags.tbody(*rows)),
        class_="wide tall",
        tabindex="0",
        role="region",
        **{"aria-label": "variables of the file"},
    )
    count = f"{len(draft.data):,} records, {len(draft.data.columns)} variables"
    return parts.card(
        draft.name,
        tags.p(count, class_="headline"),
        listing,
        tags.div(parts.button("close_file", "Open another file", kind="quiet"), class_="row"),
        lead="Choose a variable to look at it and to say what is known of it.",
    )


def _row(desk: Desk, name: str) -> Any:
    draft, data, chosen = desk.draft, desk.draft.data, shown_variable(desk)
    known = data.variable(name)
    counts = desk.once(f"counts of {name}", data, lambda file: _counts(file, name))
    which = parts.button("choose_variable", name, kind="link", name=name)
    cells = (known.label, data.scale(name), f"{counts[0]:,}", f"{counts[1]:,}", roles_of(draft, name))
    return tags.tr(
        tags.th(which, scope="row"),
        *(tags.td(text, class_="n" if at in (2, 3) else "") for at, text in enumerate(cells)),
        class_="chosen" if name == chosen else "",
        **({"aria-current": "true"} if name == chosen else {}),
    )


def _counts(data: Data, name: str) -> tuple[int, int]:
    from tacita import frame

    return frame.distinct(data.table, name), int(data.missing(name).sum())


def roles_of(draft: Draft, name: str) -> str:
    """The roles of a variable, in words."""
    return ", ".join(
        _one(role)
        for role, value in draft.roles.items()
        if (name == value or (isinstance(value, tuple) and name in value)) and role != "missing"
    )


def _one(role: str) -> str:
    """What a role is called of one variable."""
    return {
        "keys": "key",
        "numeric_keys": "numeric key",
        "identifiers": "identifier",
        "strata": "stratum",
        "person": "unit",
        "household_variables": "of household",
    }.get(role, role)


def shown_variable(desk: Desk) -> str:
    """The variable that is looked at: the one that was chosen, at first one that is no number of a record."""
    data = desk.draft.data
    chosen = desk.view.get("variable")
    if chosen in data.columns:
        return str(chosen)
    return next((name for name in data.columns if _different(desk, name) <= len(data) / 4), data.columns[0])


def _different(desk: Desk, name: str) -> int:
    counted: tuple[int, int] = desk.once(f"counts of {name}", desk.draft.data, lambda file: _counts(file, name))
    return counted[0]


def _explore(desk: Desk) -> Any:
    draft, data = desk.draft, desk.draft.data
    first = shown_variable(desk)
    second = desk.view.get("by") or ""
    weight = draft.roles.get("weight") if desk.view.get("weighted", True) else None
    names = {name: name for name in data.columns}
    choose = tags.div(
        parts.select("name", names, first, label="Variable", act="choose_variable"),
        parts.select("by", {"": "alone", **names}, second, label="By", act="choose_by"),
        parts.check_field("weighted", "weighted", weight is not None, act="choose_weighted")
        if draft.roles.get("weight")
        else None,
        class_="row",
    )
    if second and second != first:
        table = explore.two_way(data, first, second, weight)
        what = "records" if weight is None else "units of the population"
        words = f"{first} by {second}: how many {what} there are in each combination."
        drawn = parts.figure(charts.heat(table, first, second), words, name="explore", data=False)
        return parts.card("Explore", choose, drawn, parts.table_of(table, fold="Data of the figure"))
    if data.scale(first) != "numeric" and _different(desk, first) > max(MOST_SHOWN, len(data) / 4):
        said = f"{first} takes {_different(desk, first):,} different values in {len(data):,} records."
        return parts.card("Explore", choose, parts.note(said))
    table = explore.one_way(data, first, weight)
    drawn = parts.figure(charts.bars(table, first), f"{first}: the share of the records by value.", name="explore")
    summary = explore.numbers(data, first, weight)
    shown = None if summary is None else parts.table_of(summary)
    return parts.card("Explore", choose, shown, drawn)


def _declare(desk: Desk) -> Any:
    data = desk.draft.data
    name = shown_variable(desk)
    known = data.variable(name)
    labels = "\n".join(f"{code} = {text}" for code, text in known.value_labels.items())
    ranges = ", ".join(f"{low:g} to {high:g}" for low, high in known.missing_ranges)
    fields = tags.div(
        parts.text_field("label", "Label", known.label),
        parts.select("scale", SCALE_WORDS, known.scale or "", label="Scale"),
        parts.text_field("missing", "Codes for missing", _codes(known.missing), hint="As -9, 99 or refused."),
        parts.text_field("ranges", "Ranges for missing", ranges, hint="As -99 to -1."),
        parts.text_field(
            "not_applicable",
            "Codes for not applicable",
            _codes(known.not_applicable),
            hint="A category of its own, as of those who were not asked.",
        ),
        parts.text_field(
            "order", "Order of the categories", _codes(known.order), hint="For ordinal ones, lowest first."
        ),
        class_="fields",
    )
    text = parts.area_field("value_labels", "Labels of the codes", labels, hint="One on each line, as 1 = male.")
    return parts.card(
        f"What is known of {name}",
        parts.form("declare", fields, text, parts.submit("Keep"), variable=name),
        lead=f"{data.scale(name)}; it came with the file, or was said here.",
    )


def _codes(codes: Any) -> str:
    return ", ".join("blank" if code == "" else str(code) for code in codes)


# What people do on this page.


def open_file(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Begin to read a file."""
    path = str(fields.get("path", "")).strip()
    if not path:
        raise TacitaError("the path of a file must be given; write it, or choose a file.")
    options: dict[str, Any] = {}
    for name in ("delimiter", "decimal", "encoding"):
        if fields.get(name):
            options[name] = "\t" if fields[name] == "tab" else fields[name]
    if fields.get("missing"):
        options["missing"] = [each.strip() for each in str(fields["missing"]).split(",")]
    begin_to_open(desk, path, options)


def begin_to_open(
    desk: Desk, path: str, options: Mapping[str, Any] | None = None, name: str = "", *, uploaded: bool = False
) -> None:
    """Ask for a survey file, or for the work of a project file; it is open once it was read."""
    named = name or Path(path).name
    if path.lower().endswith(".toml"):
        draft = restored(Path(path))
        if draft.path.startswith("demo:"):
            take(desk, replace(draft, opened=demo_data(draft.path), seed=draft.seed or fresh_seed()))
            return
    else:
        draft = Draft(name=named, path=path, reading=dict(options or {}), uploaded=uploaded)
    key = f"open:{draft.path}:{sorted(draft.reading)}"
    desk.failures.pop(key, None)
    desk.results.pop(key, None)
    desk.sizes.pop(key, None)
    desk.view["opening"] = (key, draft)
    desk.changed()


def opening(desk: Desk) -> None:
    """Take over a file that was asked for, once it was read."""
    asked = desk.view.get("opening")
    if asked is None:
        return
    key, draft = asked
    data = desk.get(Task(key, f"reading {draft.name}", tasks.opened, (draft.path, dict(draft.reading))))
    if data is not None:
        del desk.view["opening"]
        take(desk, replace(draft, opened=data, seed=draft.seed or fresh_seed()))
    elif key in desk.failures:
        del desk.view["opening"]
        desk.say(desk.failures[key], "error")


def take(desk: Desk, draft: Draft) -> None:
    """Work on a file."""
    desk.view = {"page": desk.view.get("page", "data")}
    desk.do(draft, f"open {draft.name}")


def demo_data(path: str) -> Data:
    """The survey of made-up people or firms that a path like demo:household names."""
    from tacita.data.demo.survey import business_survey, household_survey

    return (
        household_survey(1000, population=100_000, seed=1).data
        if path == "demo:household"
        else business_survey(300, seed=1).data
    )


def demo(desk: Desk, fields: Mapping[str, Any]) -> None:
    """A survey of made-up people or firms."""
    which = str(fields.get("which"))
    path = f"demo:{which}"
    take(desk, Draft(name=f"demo: {which} survey", path=path, opened=demo_data(path), seed=fresh_seed()))


def choose_variable(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at a variable."""
    desk.view["variable"] = str(fields["name"])


def choose_by(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at two variables together."""
    desk.view["by"] = str(fields["by"])


def choose_weighted(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Count records, or the population that they stand for."""
    desk.view["weighted"] = bool(fields.get("weighted"))


def close_file(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Open another file: undo comes back to this one."""
    desk.view = {"page": "data"}
    desk.do(Draft(), "close the file")


def declare(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Say what is known of a variable."""
    name = str(fields["variable"])
    said = Variable(
        label=str(fields.get("label", "")).strip(),
        scale=fields.get("scale") or None,
        missing=_given_codes(fields.get("missing")),
        missing_ranges=_given_ranges(fields.get("ranges")),
        not_applicable=_given_codes(fields.get("not_applicable")),
        order=_given_codes(fields.get("order")),
        value_labels=_given_labels(fields.get("value_labels")),
    )
    desk.do(desk.draft.with_variable(name, said), f"declare {name}")
    desk.say(f"Kept what was said of {name}.")


def _given_codes(text: Any) -> tuple[Any, ...]:
    codes = [each.strip() for each in str(text or "").split(",") if each.strip()]
    return tuple("" if code == "blank" else value_of(code) for code in codes)


def _given_ranges(text: Any) -> tuple[tuple[float, float], ...]:
    found = []
    for each in str(text or "").split(","):
        if not each.strip():
            continue
        low, to, high = each.partition(" to ")
        try:
            found.append((float(low), float(high if to else low)))
        except ValueError:
            raise TacitaError("ranges for missing must be two numbers, as -99 to -1.") from None
    return tuple(found)


def _given_labels(text: Any) -> dict[Any, str]:
    pairs = [line.partition("=") for line in str(text or "").splitlines() if "=" in line]
    return {value_of(code.strip()): words.strip() for code, _, words in pairs}


ACTIONS = {
    "open": open_file,
    "demo": demo,
    "choose_variable": choose_variable,
    "choose_by": choose_by,
    "choose_weighted": choose_weighted,
    "close_file": close_file,
    "declare": declare,
}
