"""The public edition: for users of the data. It knows what may be told to the public, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tacita import check
from tacita.reports.parts import Chapter, Part, Row, first_upper
from tacita.result import Table

WITHHELD = "–"
WITHHELD_NOTE = f"{WITHHELD} stands for counts that are not published: those below 10, and those that would tell them."


def public_chapters(account: Any) -> Iterator[Chapter]:
    """The chapters of the public edition, from the public part of an account."""
    yield _file(account)
    yield Chapter("How the data were protected", tuple(_protection(account)))
    yield Chapter("How to analyse the data", (Part("", rows=tuple(_advice(account))),))
    if account.losses:
        yield _losses(account)
    yield codebook_chapter(account.file)


def _file(account: Any) -> Chapter:
    file = account.file
    count = check.counted(len(file.variables), "variable")
    said = f"The file holds {check.counted(file.records, 'record')} and {count}."
    why = (
        "It was changed to protect those in it from being recognised. This page says what was done, how much, and "
        "what follows for an analysis."
    )
    return Chapter("The file", (Part("", text=(said, why)),))


def _protection(account: Any) -> Iterator[Part]:
    said = tuple(Row("", "", first_upper(sentence)) for sentence in account.notes)
    yield Part("What was done", rows=said, text=() if said else ("Nothing was changed.",))
    rows = tuple(
        (each.variable, each.done, _count(each.changed), _count(each.suppressed))
        for step in account.steps
        for each in step.changes
    )
    if rows:
        table = Table(("variable", "what was done", "values changed", "values suppressed"), rows)
        meaning = "A value that was changed is another one now; one that was suppressed is missing."
        yield Part("How much", meaning, tables=(table,), notes=(WITHHELD_NOTE,))


def _count(count: int | None) -> Any:
    return WITHHELD if count is None else count


def _advice(account: Any) -> Iterator[Row]:
    """How to analyse: weights and missing codes, and what each kind of change means."""
    file = account.file
    if file.weight is not None:
        yield Row("", "Weights", f"Use {file.weight} in every estimate: without it figures are those of the records, "
                  "not of the population.")  # fmt: skip
    codes = {each.name: [code.value for code in each.categories if code.missing] for each in file.variables}
    listed = "; ".join(f"{name}: {', '.join(values)}" for name, values in codes.items() if values)
    if listed:
        yield Row("", "Missing codes", f"These codes stand for missing values: {listed}.")
    for each in account.advice:
        yield Row("", ", ".join(each.variables) or "Records", f"{first_upper(each.done)}. {each.text}")
    if account.matrices:
        yield Row("", "Transition matrices", "transition_matrices.json beside the data holds the probabilities by "
                  "which categories were exchanged.")  # fmt: skip
    perturbed = [each.name for each in file.variables if each.perturbed and each.name != file.weight]
    if perturbed:
        yield Row("", "Single records", f"Values of {', '.join(perturbed)} are not those of real units: a record that "
                  "looks like somebody is not that person.")  # fmt: skip


def _losses(account: Any) -> Chapter:
    rows = tuple(
        Row("", f"{first_upper(each.words)}: {each.value}", "", first_upper(each.meaning)) for each in account.losses
    )
    parts = [Part("In all", rows=rows, notes=("0 stands for no loss. Figures are rounded.",))]
    if account.loss_by_variable:
        rows_of = tuple((name, _percent(share)) for name, share in account.loss_by_variable)
        table = Table(("variable", "loss"), rows_of)
        meaning = "The share of the information in the values that is lost: 0 % every value as it was, 100 % none left."
        parts.append(Part("By variable", meaning, tables=(table,)))
    return Chapter("What the data lost", tuple(parts))


def _percent(share: str) -> str:
    """A rounded share as a percentage with as many digits.

    >>> _percent("0.030"), _percent("1.0")
    ('3.0 %', '100 %')
    """
    decimals = max(len(share.partition(".")[2]) - 2, 0)
    return f"{100 * float(share):.{decimals}f} %"


def codebook_chapter(file: Any) -> Chapter:
    """The codebook of a released file."""
    overview = tuple(
        (each.name, each.label, each.scale, _count(each.valid), _count(each.missing), "yes" if each.perturbed else "")
        for each in file.variables
    )
    heads = ("variable", "label", "scale", "with a value", "missing", "perturbed")
    values = tuple(_categories(each) for each in file.variables if each.categories)
    parts = [Part("Variables", tables=(Table(heads, overview),), notes=(WITHHELD_NOTE,))]
    if values:
        parts.append(Part("Categories", tables=values, side_by_side=True))
    return Chapter("Codebook", tuple(parts))


def _categories(variable: Any) -> Table:
    labelled = any(each.label for each in variable.categories)
    heads = (variable.name, *(("label",) if labelled else ()), "records")
    rows = tuple(
        (f"{each.value}{' (missing)' if each.missing else ''}", *((each.label,) if labelled else ()),
         _count(each.records))
        for each in variable.categories
    )  # fmt: skip
    return Table(heads, rows)
