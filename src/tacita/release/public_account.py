"""What may be told to the public of a release: what was done, how much, what it cost, and how to analyse the data.

Everything that the public edition of the report says of protection comes from here: from what steps declare as public,
counts that are no help to an intruder, and losses so rounded that no few records can be told from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacita.comparison.comparison import ComparedRelease
from tacita.data.description import Description
from tacita.measures import kind_of
from tacita.mechanism import KINDS, Kind
from tacita.release.step_log import Changes
from tacita.result import Percent
from tacita.small_counts import decimals_for, shown_counts


@dataclass(frozen=True)
class PublicChange:
    """What one step did to one variable."""

    variable: str
    done: str
    """What was done to it."""
    changed: int | None
    """Cells that have another value; None: withheld."""
    suppressed: int | None
    """Cells that have none any more; None: withheld."""


@dataclass(frozen=True)
class PublicStep:
    """What one step did."""

    sentences: tuple[str, ...]
    changes: tuple[PublicChange, ...]


@dataclass(frozen=True)
class Advice:
    """What a kind of change means for an analysis."""

    variables: tuple[str, ...]
    done: str
    text: str


@dataclass(frozen=True)
class PublicLoss:
    """One figure of what a researcher loses."""

    words: str
    value: str
    meaning: str


@dataclass(frozen=True)
class PublicAccount:
    """Everything that the public may know of a release."""

    file: Description
    steps: tuple[PublicStep, ...]
    advice: tuple[Advice, ...]
    losses: tuple[PublicLoss, ...]
    loss_by_variable: tuple[tuple[str, str], ...]
    matrices: bool
    """Whether transition matrices lie beside the data."""
    safe: bool
    """Whether the release keeps its policy: one that does not is not for publication."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, in one sentence for each kind and step."""
        return tuple(sentence for step in self.steps for sentence in step.sentences)


def public_account(
    changes: Sequence[Changes],
    file: Description,
    compared: ComparedRelease,
    *,
    records: int,
    matrices: bool,
) -> PublicAccount:
    """What may be told of a release made of an original with so many records."""
    steps = _steps(changes, file, records)
    decimals = decimals_for(min(records, file.records))
    results = {**compared.profile.further, **compared.measures}
    losses = {name: result for name, result in results.items() if kind_of(name) == "loss"}
    by_variable = getattr(losses.get("value_loss"), "by_variable", {})
    return PublicAccount(
        file=file,
        steps=tuple(steps),
        advice=tuple(_advice(changes, set(file_names(file)))),
        losses=tuple(
            PublicLoss(words, _rounded(value, decimals), result.meaning)
            for result in losses.values()
            for words, value in result.key_figures().items()
            if isinstance(value, int | float)
        ),
        loss_by_variable=tuple((name, _rounded(float(value), decimals)) for name, value in by_variable.items()),
        matrices=matrices,
        safe=compared.safe,
    )


def public_notes(changes: Sequence[Changes], file: Description, records: int) -> tuple[str, ...]:
    """What was done to an original with so many records, in sentences for the public."""
    return tuple(sentence for step in _steps(changes, file, records) for sentence in step.sentences)


def _steps(changes: Sequence[Changes], file: Description, records: int) -> list[PublicStep]:
    steps, size = [], records
    for each in changes:
        kept = size - each.records_removed
        steps.append(_step(each, kept, file))
        size = kept + each.records_added
    return steps


def file_names(file: Description) -> tuple[str, ...]:
    """The variables of a released file."""
    return tuple(each.name for each in file.variables)


def _rounded(value: float, decimals: int) -> str:
    if isinstance(value, Percent):
        return f"{100 * value:.{max(decimals - 2, 0)}f} %"
    return f"{value:.{decimals}f}"


def _step(each: Changes, kept: int, file: Description) -> PublicStep:
    """What one step did to a file of which it kept so many records."""
    released = set(file_names(file))
    shown = [(name, _counts(each, name, kept)) for name in each.cells if name in released]
    found = tuple(PublicChange(name, _done(each, name), changed, gone) for name, (changed, gone) in shown)
    return PublicStep((*_sentences(each), *_of_records(each, kept)), found)


def _counts(each: Changes, name: str, kept: int) -> tuple[int | None, int | None]:
    gone = each.suppressed.get(name, 0)
    changed = each.cells[name] - gone
    shown = shown_counts([changed, gone, kept - changed - gone])
    return shown[0], shown[1]


def _done(each: Changes, name: str) -> str:
    """What a step did to a variable, by what it declares as public."""
    done = [_words(mechanism) for mechanism in each.public if name in mechanism["variables"]]
    return "; ".join(done) or "changed to protect the respondents"


def _words(mechanism: Mapping[str, Any]) -> str:
    """What a mechanism did, with its parameters."""
    kind, how = mechanism["kind"], _parameters(mechanism["parameters"])
    return f"{KINDS.get(kind, Kind(f'changed by {kind}')).done}{f' ({how})' if how else ''}"


def _sentences(each: Changes) -> Iterator[str]:
    """One sentence for each mechanism that a step declares as public; without one, what was touched."""
    for mechanism in each.public:
        yield f"{', '.join(mechanism['variables']) or 'Records'}: {_words(mechanism)}."
    if not each.public:
        touched = dict.fromkeys([*each.cells, *each.variables_removed])
        if touched:
            yield f"{', '.join(touched)}: changed to protect the respondents."


def _parameters(given: Mapping[str, Any]) -> str:
    """Parameters that are one number or text each; tables and counts have no place in a sentence."""
    plain = {
        name: value for name, value in given.items() if isinstance(value, str | int | float) and value is not False
    }
    return ", ".join(_parameter(name.replace("_", " "), value) for name, value in plain.items())


def _parameter(name: str, value: Any) -> str:
    if value is True:
        return name
    return str(value) if name in ("way", "how", "method") else f"{name} {value}"


def _of_records(each: Changes, kept: int) -> Iterator[str]:
    for word, count in (("removed", each.records_removed), ("added", each.records_added)):
        if count:
            shown = shown_counts([count, kept])[0]
            yield f"Records {word}: {'some' if shown is None else f'{shown:,}'}."


def _advice(changes: Sequence[Changes], released: set[str]) -> Iterator[Advice]:
    """For each kind of change what it means for an analysis, with the variables that it was done to."""
    touched: dict[str, dict[str, None]] = {}
    for each in changes:
        for mechanism in each.public:
            names = {name: None for name in mechanism["variables"] if name in released}
            if names or not mechanism["variables"]:
                touched.setdefault(mechanism["kind"], {}).update(names)
    for kind, names in touched.items():
        known = KINDS.get(kind)
        if known is not None and known.advice:
            yield Advice(tuple(names), known.done, known.advice)
