"""The page Protect: a list of steps to add, edit, move, switch off and undo, and what each did to risk and loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from htmltools import TagList, tags

from tacita import check
from tacita.app import charts, forms, parts
from tacita.app.desk import Desk
from tacita.app.draft import Draft
from tacita.plain_words import in_words
from tacita.protect.step import Step
from tacita.protect.steps import OWN, find_step, step_names, step_of
from tacita.release.step_log import Changes
from tacita.result import Table

GROUPS = {
    "Coarsen and suppress": (
        "recode",
        "suppress",
        "group_rare",
        "top_code",
        "bottom_code",
        "code_outliers",
        "round",
        "generalise",
        "suppress_key",
    ),
    "Identifiers, order, records": ("remove", "new_identifiers", "random_order", "drop_records", "sample"),
    "Perturb": (
        "microaggregate",
        "microaggregate_mixed",
        "noise",
        "pram",
        "rank_swap",
        "swap_records",
        "random_swap",
        "shuffle",
        "mask_by_model",
        "synthesise",
    ),
    "Weights": ("round_weights", "trim_weights", "weight_noise", "recalibrate"),
}
"""Steps by what they are for; what is in none of them, as of another package, stands under Others."""
LISTED = 3
"""Steps of the plan from which on the trail is drawn."""


def fragments(desk: Desk) -> dict[str, Any]:
    """The pieces of the page."""
    if not desk.draft.ready:
        return parts.without_keys("Protect")
    return {"first": _list(desk), "second": _edit(desk), "third": _trail(desk)}


def _list(desk: Desk) -> Any:
    draft = desk.draft
    rows = [_entry(desk, at) for at in range(len(draft.entries))]
    listed = tags.ol(*rows, class_="steps") if rows else parts.note("No steps yet: the release would be the original.")
    history = tags.div(
        parts.button("undo", "↶ Undo", title=_undo_words(desk), disabled=not desk.history.past),
        parts.button("redo", "↷ Redo", title="Do again what was undone", disabled=not desk.history.future),
        class_="row",
    )
    return parts.card("Steps", listed, history, _repairs(desk))


def _undo_words(desk: Desk) -> str:
    return f"Undo: {desk.history.now.words}" if desk.history.past else "Nothing to undo"


def _entry(desk: Desk, at: int) -> Any:
    draft = desk.draft
    entry = draft.entries[at]
    before = tuple(each.step for each in draft.entries[: at + 1] if each.on)
    label = called(entry.step)
    failed = desk.failure(before) if entry.on else ""
    state = desk.known("state:" + draft.key(before)) if entry.on else None
    said = _done(state.changes[-1], at) if state is not None else ("" if not entry.on else "to be done")
    tools = tags.div(
        parts.button("edit", "Edit", kind="quiet", title=f"Edit step {at + 1}: {label}", place=at),
        parts.button(
            "switch",
            "Switch off" if entry.on else "Switch on",
            kind="quiet",
            title=f"Switch {'off' if entry.on else 'on'} step {at + 1}: {label}",
            place=at,
        ),
        parts.button(
            "move", "↑", kind="quiet", title=f"Move step {at + 1} up: {label}", place=at, by=-1, disabled=at == 0
        ),
        parts.button(
            "move",
            "↓",
            kind="quiet",
            title=f"Move step {at + 1} down: {label}",
            place=at,
            by=1,
            disabled=at == len(draft.entries) - 1,
        ),
        parts.button("delete", "Remove", kind="quiet", title=f"Remove step {at + 1}: {label}", place=at),
        class_="tools",
    )
    off = None if entry.on else tags.span("off", class_="badge open")
    return tags.li(
        tags.div(tags.b(label), " ", off, tags.code(_parameters(entry.step)), class_="what"),
        tools,
        tags.p(failed, class_="error") if failed else tags.div(said, class_="quiet done"),
        class_="" if entry.on else "off",
    )


def called(step: Step) -> str:
    """What a step is called on the pages: its label, with its kind in words."""
    return step.label.replace(step.kind(), step.kind().replace("_", " "), 1)


def _done(done: Changes, at: int) -> Any:
    """What a step changed; what else it says of it behind a fold."""
    words = str(replace(done, remarks=())).partition(": ")[2]
    remarks = tags.ul(*(tags.li(each) for each in done.remarks))
    count = check.counted(len(done.remarks), "remark")
    return TagList(words, parts.folded(count, remarks, place=f"step-{at}") if done.remarks else None)


def _parameters(step: Step) -> str:
    """Its parameters as people read them; the variables stand in its label."""
    shown = {name: value for name, value in step.shown().items() if name not in ("variable", "variables")}
    return ", ".join(f"{name.replace('_', ' ')} {_in_words(value)}" for name, value in shown.items())


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _repairs(desk: Desk) -> Any:
    """What would make the limits hold that are not kept: each a click."""
    release = desk.release()
    if release is None:
        return None
    repairs = possible(desk.once("repairs", release.assess(), lambda profile: profile.repairs))
    if not repairs:
        return None
    lines = [
        tags.li(
            tags.span(in_words(each.text)),
            " ",
            parts.button(
                "repair", "Add this step", kind="quiet", title=f"Add the step: {in_words(each.text)}", place=at
            ),
        )
        for at, each in enumerate(repairs)
    ]
    return tags.div(tags.h3("What would mend it"), tags.ul(*lines, class_="repairs"))


def possible(repairs: Any) -> list[Any]:
    """The repairs that are steps, each once."""
    return list({(each.step, repr(each.parameters)): each for each in repairs if each.step}.values())


def _edit(desk: Desk) -> Any:
    """The form of a step: a new one, or one of the list."""
    draft = desk.draft
    place = desk.view.get("editing")
    step = draft.entries[place].step if place is not None and place < len(draft.entries) else None
    kind = find_step(desk.view.get("kind") or (step.kind() if step else "recode"))
    values = _values(desk, step, kind)
    way = desk.view.get("way") or _way(kind, values)
    choose = tags.label(tags.span("Step", class_="name"), _choices(kind.kind()), class_="field")
    ways = {name: name.replace("_", " ") for name in kind.ways}
    by = parts.select("way", ways, way, label="By", act="choose_way") if kind.ways else None
    fields = forms.step_fields(kind, way, _columns(desk), values)
    words = f"Change step {place + 1}" if step is not None and place is not None else "Add the step"
    cancel = parts.button("stop_editing", "Leave it as it was", kind="quiet") if step else None
    marked = desk.view.get("only")
    chosen = (
        None
        if not marked or step
        else parts.note(
            f"Only the {len(marked)} records that were marked in the confidentiality plot are changed.", "marked"
        )
    )
    drop = None if not marked or step else parts.button("forget_marked", "For all records instead", kind="quiet")
    hidden: dict[str, Any] = {"step": kind.kind(), "way": way or "", "place": "" if step is None else place}
    return parts.card(
        "Change a step" if step else "Add a step",
        tags.div(choose, by, class_="row"),
        tags.p(forms.first_sentence(kind), class_="quiet"),
        chosen,
        parts.form("add_step", *fields, tags.div(parts.submit(words), cancel, drop, class_="row"), **hidden),
    )


def _columns(desk: Desk) -> tuple[str, ...]:
    release = desk.release()
    columns = desk.draft.data.columns if release is None else release.data.columns
    roles = desk.draft.roles
    first = [name for each in ("keys", "numeric_keys", "sensitive") for name in roles.get(each, ())]
    return tuple(dict.fromkeys([*(name for name in first if name in columns), *columns]))


def _choices(chosen: str) -> Any:
    others = tuple(name for name in step_names() if name not in OWN)
    groups = {
        **GROUPS,
        "Others": (*others, *(name for name in OWN if not any(name in each for each in GROUPS.values()))),
    }
    made = [
        tags.optgroup(
            *(
                tags.option(each.replace("_", " "), {"value": each, **({"selected": ""} if each == chosen else {})})
                for each in names
            ),
            label=words,
        )
        for words, names in groups.items()
        if names
    ]
    return tags.select(*made, {"name": "kind", "id": "step-choice", "data-change": "choose_step"})


def _values(desk: Desk, step: Step | None, kind: type[Step]) -> dict[str, Any]:
    if step is not None and step.kind() == kind.kind():
        return {name: value for name, value in step.to_dict().items() if name != "label"}
    drafted = desk.view.get("drafted", {}).get(kind.kind())
    return dict(drafted or {})


def _way(kind: type[Step], values: Mapping[str, Any]) -> str | None:
    return next((name for name in kind.ways if name in values), next(iter(kind.ways), None))


def _trail(desk: Desk) -> Any:
    """Risk and loss after each step, as a table and as a figure."""
    draft = desk.draft
    rows: list[tuple[Any, ...]] = []
    drawn: list[dict[str, Any]] = []
    for count in range(len(draft.steps) + 1):
        name = "original" if count == 0 else called(draft.steps[count - 1])
        stands = desk.standing(draft.steps[:count])
        if stands is None:
            rows.append((f"{count}. {name}", "…", *("…",) * 4))
            continue
        rows.append((f"{count}. {name}", stands.verdict, *(each.text for each in stands.figures)))
        values = {each.name: each.value for each in stands.figures}
        if values["external risk"] is not None and values["loss"] is not None:
            drawn.append(
                {
                    "place": count,
                    "step": name,
                    "external risk": values["external risk"],
                    "loss": values["loss"],
                    "verdict": stands.verdict,
                }
            )
    heads = ("after", "verdict", "records violating k", "expected re-identifications", "external risk", "loss")
    figure = None
    if len(drawn) > 1:
        figure = parts.figure(
            charts.trail(drawn), "External risk (line) and loss (dashes) after each step.", name="trail"
        )
    return parts.card(
        "The trail: risk and loss after each step",
        figure,
        parts.table_of(Table(heads, tuple(rows))),
        _set_aside(draft),
    )


def _set_aside(draft: Draft) -> Any:
    name = parts.text_field("name", "Keep this plan to compare it", f"plan {len(draft.saved) + 1}")
    return parts.form("set_aside", tags.div(name, parts.submit("Keep it", "quiet"), class_="row"))


# What people do on this page.


def choose_step(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at the form of another step."""
    desk.view |= {"kind": str(fields["kind"]), "way": None}


def choose_way(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at the form of another way to do a step."""
    desk.view["way"] = str(fields["way"])


def add_step(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Add a step as it was filled in, or put it in place of one."""
    kind = find_step(str(fields["step"]))
    given = forms.read(forms.step_parameters(kind, str(fields.get("way") or "") or None), fields)
    place = fields.get("place")
    place = None if place in (None, "") else int(str(place))
    if place is None and desk.view.get("only") and "only" not in given:
        given["only"] = tuple(desk.view["only"])
    desk.view["drafted"] = {**desk.view.get("drafted", {}), kind.kind(): given}
    step = step_of({"step": kind.kind(), **given})
    words = f"{'add' if place is None else 'change'} {step.label or step.usual_label}"
    desk.do(desk.draft.with_step(step, place), words)
    desk.view |= {"editing": None, "drafted": {}, "only": None}


def edit(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Take a step of the list into the form."""
    desk.view |= {"editing": int(fields["place"]), "kind": None, "way": None}


def stop_editing(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Leave a step as it was."""
    desk.view |= {"editing": None, "kind": None, "way": None}


def forget_marked(desk: Desk, fields: Mapping[str, Any]) -> None:
    """A step is for all records again."""
    desk.view["only"] = None


def switch(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Switch a step off, or on again."""
    place = int(fields["place"])
    desk.do(desk.draft.switched(place), f"switch {desk.draft.entries[place].step.label}")


def move(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Move a step up or down."""
    place = int(fields["place"])
    desk.do(desk.draft.moved(place, int(fields["by"])), f"move {desk.draft.entries[place].step.label}")


def delete(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Take a step out."""
    place = int(fields["place"])
    desk.view["editing"] = None
    desk.do(desk.draft.without_step(place), f"remove {desk.draft.entries[place].step.label}")


def repair(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Add a step that would mend what is broken."""
    release = desk.release()
    assert release is not None
    found = possible(release.assess().repairs)[int(fields["place"])]
    step = step_of({"step": found.step, **found.parameters})
    desk.do(desk.draft.with_step(step), f"add {step.label or step.usual_label}")


def set_aside(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Keep the steps under a name, to compare them with others."""
    name = str(fields.get("name", ""))
    desk.do(desk.draft.set_aside(name), f"keep the plan {name.strip()}")
    desk.say(f"Kept as {name.strip()}: see the page Compare.")


ACTIONS = {
    "choose_step": choose_step,
    "choose_way": choose_way,
    "add_step": add_step,
    "edit": edit,
    "switch": switch,
    "move": move,
    "stop_editing": stop_editing,
    "forget_marked": forget_marked,
    "delete": delete,
    "repair": repair,
    "set_aside": set_aside,
}
