"""New values: every old value to its target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from tacita import check
from tacita.check import TacitaError
from tacita.parameters import Doc, OneOf, Shape
from tacita.protect.recode.hierarchies.table import as_text
from tacita.protect.recode.regroup import gathered, is_number, joined_labels
from tacita.protect.recode.ways.way import Grouping, Source, Way, absent

SHOWN = 5
"""So many values that do not occur are named."""
Pairs = tuple[tuple[Any, Any], ...]
"""Old and new values, or values and labels."""


def new_values(what: str, given: Any) -> Pairs:
    """A mapping as pairs, which a plan file can hold: its tables have texts for names only."""
    return _pairs(what, given, (str, int, float), "a text or a number for each value")


def texts_of_codes(what: str, given: Any) -> Pairs:
    """Labels by code, as pairs."""
    return () if absent(given) else _pairs(what, given, (str,), "a text for each code")


def _pairs(what: str, given: Any, kinds: tuple[type, ...], wanted: str) -> Pairs:
    pairs = given.items() if isinstance(given, Mapping) else given
    try:
        found = tuple((check.python_number(old), check.python_number(new)) for old, new in pairs)
    except (TypeError, ValueError):
        found = ()
    if not found:
        raise TacitaError(f"{what} must be old and new values, as in {{1: 'a', 2: 'a'}}; got {check.given(given)}.")
    for old, new in found:
        if not isinstance(old, str | int | float | date) or not isinstance(new, kinds):
            raise TacitaError(f"{what} must have {wanted}; got {check.given(new)} for {old!r}.")
    check.unique_names(f"values of {what}", [as_text(old) for old, _ in found])
    return found


Unmatched = Annotated[
    str, OneOf(("keep", "error")), Doc("What becomes of values without a target: they stay, or are an error.")
]
Labels = Annotated[
    Any,
    Shape("table of texts by code", texts_of_codes),
    Doc("What the new codes mean, as {1: 'north'}; unless given, joined from the labels of the old ones."),
]


def targeted(source: Source, targets: Mapping[Any, Any], labels: Pairs, unmatched: str, way: str) -> Grouping:
    """Groups of values with the same target; a value without one stays, or is an error."""
    plain = source.column.plain
    alone = [at for at, value in enumerate(plain) if targets[value] is None]
    remark = ""
    if alone:
        values = check.counted(len(alone), "value")
        records = check.counted(int(source.column.counts[alone].sum()), "record")
        if unmatched == "error":
            raise TacitaError(f"column {source.name!r} has {values} in {records} without a target; complete the {way}.")
        remark = f"{values} in {records} without a target {'stays' if len(alone) == 1 else 'stay'}"
    if len(alone) == len(plain):
        return Grouping(None, remark)
    becomes = {code: code if target is None else target for code, target in targets.items()}
    # A text that replaces a number speaks for itself.
    alike = {code: new for code, new in becomes.items() if is_number(code) == is_number(new)}
    named = joined_labels(source.known, alike) | own_labels(labels, becomes.values())
    groups = gathered([becomes[value] for value in plain], named, ascending=source.ascending)
    return Grouping(groups._replace(given=True), remark)


def unknown_values(source: Source, named: Iterable[Any], way: str) -> str:
    """A remark on old values that a way names and that neither occur nor have a label: mistyped, most likely."""
    known = {as_text(value) for value in (*source.code_list, *source.declared)}
    unknown = [value for value in named if as_text(value) not in known]
    if not unknown:
        return ""
    shown = f"{check.quoted(unknown[:SHOWN])}{' and others' if len(unknown) > SHOWN else ''}"
    does = "does" if len(unknown) == 1 else "do"
    return f"{check.counted(len(unknown), 'value')} of the {way} {does} not occur: {shown}"


def own_labels(labels: Pairs, values: Iterable[Any]) -> dict[Any, str]:
    """The labels that a way gives, of the values that there are."""
    by_text = {as_text(value): value for value in values}
    return {by_text[as_text(code)]: text for code, text in labels if as_text(code) in by_text}


@dataclass(frozen=True)
class NewValues(Way):
    """New values by old ones; values are found by their text, so that 7 in a plan file is 7 in the data.

    >>> NewValues({3: 3, 4: 3}).mapping
    ((3, 3), (4, 3))
    """

    mapping: Annotated[
        Any, Shape("table of new values by old ones", new_values), Doc("New values by old ones, as {1: 1, 2: 1, 3: 2}.")
    ]
    unmatched: Unmatched = "keep"
    labels: Labels = ()

    @property
    def named_codes(self) -> frozenset[str]:
        """The old values."""
        return frozenset(as_text(old) for old, _ in self.mapping)

    @property
    def code_for_blanks(self) -> Any:
        """The target of a blank, as in {"": "not applicable"}."""
        return next((new for old, new in self.mapping if old == ""), None)

    def grouping(self, source: Source) -> Grouping:
        """The target of every value."""
        by_text = {as_text(old): new for old, new in self.mapping if old != ""}
        wrong = [code for code in source.declared if as_text(code) in by_text]
        if wrong:
            raise TacitaError(
                f"mapping must leave codes of {source.name!r} alone that are declared missing; got "
                f"{check.quoted(wrong)}."
            )
        targets = {code: by_text.get(as_text(code)) for code in source.code_list}
        found = targeted(source, targets, self.labels, self.unmatched, "mapping")
        return found.with_remark(unknown_values(source, [old for old, _ in self.mapping if old != ""], "mapping"))
