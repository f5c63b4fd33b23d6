"""The page Scenario: what the intruder knows, and what counts as safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from htmltools import tags

from tacita import check
from tacita.app import forms, parts, suggest
from tacita.app.desk import Desk
from tacita.app.draft import MANY, Draft
from tacita.app.pages import scenario_more
from tacita.app.presets import differing, limits, presets
from tacita.policy import Policy

ROLES = {
    "keys": ("key", "A category that the intruder knows"),
    "numeric_keys": ("numeric key", "An amount that the intruder knows, perhaps with an error"),
    "sensitive": ("sensitive", "What the intruder wants to learn"),
    "identifiers": ("identifier", "A name or number: never released"),
    "weight": ("weight", "How many units of the population a record stands for"),
    "household": ("household", "Says who lives together"),
    "person": ("unit", "Says which records are of one person or firm"),
    "strata": ("stratum", "Splits the file into parts that are treated apart"),
    "household_variables": ("of household", "The same for all members of a household"),
}


def fragments(desk: Desk) -> dict[str, Any]:
    """The pieces of the page."""
    if desk.draft.opened is None:
        return {
            "first": parts.card("Scenario", parts.note("Open a file first, on the page Data.")),
            "second": None,
            "third": None,
        }
    return {"first": _roles(desk), "second": _policy(desk), "third": scenario_more.card(desk)}


def _roles(desk: Desk) -> Any:
    draft = desk.draft
    suggested = {each.variable: each for each in desk.once("suggestions", draft.data, suggest.suggestions)}
    open_ones = [each for each in suggested.values() if not _has(draft, each.variable, each.role)]
    head = tags.tr(
        tags.th("variable", scope="col"),
        *(tags.th(words, scope="col", title=meaning) for words, meaning in ROLES.values()),
        tags.th("suggested", scope="col"),
    )
    rows = [_row(draft, name, suggested.get(name)) for name in draft.data.columns]
    many = f"Accept all {check.counted(len(open_ones), 'suggestion')}"
    words = "Accept the suggestion" if len(open_ones) == 1 else many
    accept = parts.button("accept_suggestions", words, kind="primary", disabled=not open_ones)
    listing = tags.div(
        tags.table(tags.thead(head), tags.tbody(*rows), class_="roles"),
        class_="wide tall taller",
        tabindex="0",
        role="region",
        **{"aria-label": "roles of the variables"},
    )
    return parts.card(
        "Who is the intruder, and what does he know?",
        tags.div(accept, class_="row"),
        listing,
        _derived(desk),
        lead="One click gives a variable a role, another takes it away. Suggestions are made on this computer, from "
        "names and values.",
    )


def _row(draft: Draft, name: str, suggested: suggest.Suggestion | None) -> Any:
    cells = []
    for role, (words, _) in ROLES.items():
        has = _has(draft, name, role)
        wanted = suggested is not None and suggested.role == role and not has
        mark = "●" if has else ("○" if wanted else "")
        kind = "on" if has else ("wanted" if wanted else "")
        own = parts.button("role", mark, kind=f"role {kind}", title=f"{name}: {words}", variable=name, role=role)
        own.attrs["aria-pressed"] = "true" if has else "false"
        cells.append(tags.td(own))
    said = "" if suggested is None else f"{ROLES[suggested.role][0]}: {suggested.reason}"
    return tags.tr(tags.th(name, scope="row"), *cells, tags.td(said, class_="quiet"))


def _has(draft: Draft, name: str, role: str) -> bool:
    value = draft.roles.get(role)
    return name in (value or ()) if role in MANY else name == value


def _derived(desk: Desk) -> Any:
    draft = desk.draft
    keys = set(draft.roles.get("keys", ()))
    pairs = desk.once("derived", draft.data, lambda data: suggest.derived(data, data.columns))
    told = [(first, second) for first, second in pairs if (first in keys) != (second in keys)][:8]
    if not told:
        return None
    lines = [
        tags.li(
            f"{first} says what {second} is: who knows {first if first in keys else second}, a key, "
            f"{'knows' if first in keys else 'knows something of'} {second if first in keys else first}."
        )
        for first, second in told
    ]
    return parts.folded(f"{len(told)} pairs of variables of which one tells the other", tags.ul(*lines))


def _policy(desk: Desk) -> Any:
    draft = desk.draft
    cards = [_preset(draft, name) for name in presets()]
    exceptions = [tags.li(f"{name.replace('_', ' ')}: {reason}") for name, reason in draft.policy.exceptions.items()]
    listed = tags.div(tags.h3("Exceptions"), tags.ul(*exceptions)) if exceptions else None
    return parts.card(
        "What counts as safe?",
        tags.p(str(draft.policy), class_="headline"),
        tags.div(*cards, class_="options"),
        listed,
        _limits(draft),
    )


def _preset(draft: Draft, name: str) -> Any:
    """A policy that is ready made, and the button that takes it."""
    own = presets()[name]
    used = draft.preset == name and draft.policy == own.policy
    take = parts.button("preset", "In use" if used else "Use", title=f"Use the policy: {own.title}", which=name)
    said = tags.p(own.words, class_="quiet"), tags.p(own.limits, class_="small")
    return tags.div(tags.h3(own.title), *said, take, class_="option " + ("chosen" if draft.preset == name else ""))


def _limits(draft: Draft) -> Any:
    """The form of all limits."""
    given = {name: value for name, value in draft.policy.to_dict().items() if value is not False}
    fields = forms.fields(limits(), draft.data.columns, given)
    hint = "Needed where a limit is changed or left out; it stands in the project and in the report."
    reason = parts.text_field("reason", "Why this file is an exception", "", hint=hint)
    form = parts.form("policy", *fields, reason, parts.submit("Keep these limits"))
    return parts.folded("Change the limits", form, opened=bool(draft.policy.exceptions))


# What people do on this page.


def role(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Give a variable a role, or take it away."""
    name, which = str(fields["variable"]), str(fields["role"])
    desk.do(desk.draft.with_role(name, which), f"{name}: {ROLES[which][0]}")


def accept_suggestions(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Give every variable the role that is suggested for it."""
    draft = desk.draft
    for each in suggest.suggestions(draft.data):
        if not _has(draft, each.variable, each.role):
            draft = draft.with_role(each.variable, each.role)
    household = draft.roles.get("household")
    if household and not draft.roles.get("household_variables"):
        taken = {household, draft.roles.get("weight"), draft.roles.get("person")}
        same = tuple(name for name in suggest.household_variables(draft.data, household) if name not in taken)
        draft = draft.with_roles({**draft.roles, "household_variables": same})
    desk.do(draft, "accept the suggested roles")


def preset(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Use a policy that is ready made."""
    which = str(fields["which"])
    desk.do(
        replace(desk.draft, policy=presets()[which].policy, preset=which),
        f"policy: {presets()[which].title}",
    )


def policy(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Keep other limits; what differs from the preset needs a reason."""
    from tacita.check import TacitaError

    given = forms.read(limits(), fields)
    usual = {each.name: None for each in limits() if each.optional}
    fresh = Policy(**{**usual, **given})
    changed = differing(fresh, presets()[desk.draft.preset].policy)
    reason = str(fields.get("reason", "")).strip()
    known = desk.draft.policy.exceptions
    new = [name for name in changed if name not in known]
    if new and not reason:
        raise TacitaError(f"an exception must have a reason: {', '.join(new)} differs from the preset; say why.")
    reasons = {name: reason or known[name] for name in changed}
    desk.do(replace(desk.draft, policy=replace(fresh, exceptions=reasons)), "change the limits")


ACTIONS = {
    "role": role,
    "accept_suggestions": accept_suggestions,
    "preset": preset,
    "policy": policy,
    "more": scenario_more.more,
}
