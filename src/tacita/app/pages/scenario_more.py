"""What else there is to say of a scenario: the population, the attack, missing values, further key sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from htmltools import Tag, tags

from tacita.app import forms, parts
from tacita.app.desk import Desk
from tacita.rules import Rules
from tacita.scenario import ATTACKS, MODELS, RULES

ATTACK_WORDS = (
    "one record at random",
    "in proportion to f/F",
    "every record",
    "each with a given probability",
    "each with probability 1/weight",
)
"""What each kind of attack is, in the order of `ATTACKS`."""
NUMBERS = {
    "population_size": ("Population size", "Where there are no weights."),
    "sampling_fraction": ("Sampling fraction", "Or this; 1 for a census."),
    "attack_probability": ("Probability of M4", ""),
}
RULE_HINT = "One on each line, as age >= 15 or total = home + abroad."
TABLES = {
    "known": ("Probability that he knows a variable", "As {income = 0.3}."),
    "error_rates": ("Error rates of keys", "As {age = 0.02}."),
    "key_sets": ("Further key sets", 'As {register = ["age", "sex"]}.'),
}


def card(desk: Desk) -> Tag:
    """The form."""
    roles = desk.draft.roles
    attacks = {name: f"{name}: {words}" for name, words in zip(ATTACKS, ATTACK_WORDS, strict=True)}
    models = {"": "as usual", **{name: name.replace("_", " ") for name in MODELS}}
    rules = f"One of {', '.join(RULES)}; partial and sdcmicro with a factor."
    numbers = [parts.number_field(name, label, roles.get(name), hint=hint) for name, (label, hint) in NUMBERS.items()]
    tables = [
        parts.text_field(name, label, _written(roles.get(name)), hint=hint) for name, (label, hint) in TABLES.items()
    ]
    fields = tags.div(
        *numbers,
        parts.select("attack", attacks, roles.get("attack", "M3"), label="Which records he tries"),
        parts.select("model", models, roles.get("model", ""), label="How F is estimated"),
        parts.text_field("missing", "Missing keys", roles.get("missing", ""), placeholder=RULES[0], hint=rules),
        *tables,
        class_="fields",
    )
    kept = parts.area_field("rules", "Rules that the release should keep", "\n".join(desk.draft.rules), hint=RULE_HINT)
    made = parts.form("more", fields, kept, parts.submit("Keep"))
    return parts.card(
        "More of the scenario", parts.folded("Population, attack, missing values, further key sets", made)
    )


def _written(table: Mapping[str, Any] | None) -> str:
    """A table as it is written in the field; key sets as lists of names, or as tables where they have limits."""
    plain = {}
    for name, each in (table or {}).items():
        limits = {limit: getattr(each, limit, None) for limit in ("k", "risk")}
        limits = {limit: value for limit, value in limits.items() if value is not None}
        keys = getattr(each, "keys", None)
        if isinstance(keys, tuple):
            plain[name] = {"keys": list(keys), **limits} if limits else list(keys)
        else:
            plain[name] = each
    return forms.written(plain) if plain else ""


def more(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Keep what else there is to say of the scenario."""
    given: dict[str, Any] = dict(desk.draft.roles)
    for name in (*NUMBERS, *TABLES):
        text = str(fields.get(name) or "").strip()
        given[name] = forms.value_of(text) if text else None
    for name in ("attack", "model", "missing"):
        given[name] = str(fields.get(name) or "").strip() or None
    if given["attack"] == "M3":
        given["attack"] = None
    rules = tuple(line.strip() for line in str(fields.get("rules") or "").splitlines() if line.strip())
    Rules.of(rules).check_against(desk.draft.data)
    desk.do(replace(desk.draft.with_roles(given), rules=rules), "change the scenario")
