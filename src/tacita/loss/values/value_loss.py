"""Information loss in the values: how far is each released value from the original one?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.distance.change import UNITS
from tacita.distance.changed_values import MISSING, Change, changed_values
from tacita.loss.compared import Files, Weighted, compared_files
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import Doc, OneOf
from tacita.progress import Progress, no_progress
from tacita.repeats import how_many
from tacita.result import Percent, Result, Table, percent
from tacita.scenario import Scenario

UNIT_WORDS = {
    "value": "in their own unit, on which the loss depends",
    "sd": "in standard deviations",
    "mad": "in median absolute deviations",
    "range": "as shares of their range",
}


@dataclass(frozen=True, eq=False)
class ValueLoss(Result):
    """How far the released values are from the original ones, by variable and by record."""

    changes: tuple[Change, ...]
    """By variable: how it was changed, and lambda_j."""
    record: Ints
    """The number of each record that both files have."""
    loss: Floats
    """By record: the mean of d over the variables."""
    overall: float
    """lambda: the mean of lambda_j, 0 unchanged, 1 as far as can be."""
    unit: str
    """What numeric differences are measured in."""
    weights: str | None
    """The weight by which records count; None: all the same."""
    dropped: int
    """Records of the original that were not released."""
    not_counted: tuple[str, ...]
    """Variables of the original that the release lacks and that were not asked for."""
    cautions: tuple[str, ...] = ()
    """What the reader should know."""
    repeats: Ints | None = None
    """By row how many records it stands for, where files are on an engine; None: each is one."""

    @property
    def records(self) -> int:
        """Records that both files have."""
        return len(self.record) if self.repeats is None else int(self.repeats.sum())

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables compared."""
        return tuple(each.variable for each in self.changes)

    @property
    def by_variable(self) -> dict[str, float]:
        """lambda_j by variable."""
        return {each.variable: each.loss for each in self.changes}

    @property
    def headline(self) -> str:
        """lambda in percent."""
        return (
            f"the release loses {percent(self.overall)} of the information in the values of "
            f"{check.counted(len(self.changes), 'variable')} (0 %: every value as it was; 100 %: every one suppressed "
            f"or as far from the original as can be)"
        )

    def key_figures(self) -> dict[str, Any]:
        """lambda."""
        return {"information loss in values (lambda)": Percent(self.overall)}

    def sentences(self) -> list[str]:
        """Records that were changed, and variables that do not count."""
        n, changed = self.records, how_many(self.loss > 0, self.repeats)
        said = [f"{changed:,} of {check.counted(n, 'record')} changed ({percent(changed / n)})"]
        if self.not_counted:
            gone = check.quoted(self.not_counted)
            said.append(f"not counted, since the release lacks it: {gone}; named in variables it loses 100 %")
        return said

    def tables(self) -> tuple[Table, ...]:
        """One row per variable."""
        heads = ("variable", "scale", "changed", "suppressed", "information loss")
        rows = tuple(
            (each.variable, each.scale, each.changed, each.suppressed, Percent(each.loss)) for each in self.changes
        )
        return (Table(heads, rows),)

    @property
    def notes(self) -> tuple[str, ...]:
        """How the figures came about."""
        numeric = [each.variable for each in self.changes if each.scale == "numeric"]
        recoded = [each.variable for each in self.changes if each.scale == "recoded"]
        said = [f"numeric differences of {', '.join(numeric)} {UNIT_WORDS[self.unit]}"] if numeric else []
        if recoded:
            said.append(
                f"recoded: a value of {', '.join(recoded)} loses the share of the variable that its class covers"
            )
        return (*said, *([f"records count by {self.weights}"] if self.weights else []))

    def to_frame(self) -> frame.Frame:
        """One row per record: its number and its loss."""
        return frame.table({"record": self.record, **self.record_columns()})

    def record_columns(self) -> dict[str, Any]:
        """The mean of d over the variables."""
        return {"information_loss": self.loss}

    def table(self) -> frame.Frame:
        """One row per variable: how it was changed."""
        return frame.table({name: [getattr(each, name) for each in self.changes] for name in Change._fields})

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file."""
        return {
            "records": self.records,
            "dropped": self.dropped,
            "information_loss": self.overall,
            "by_variable": self.by_variable,
            "unit": self.unit,
            "weight": self.weights,
        }


@measure(
    files=2,
    called_for="comparison",
    kind="loss",
    by_key=True,
    limit=at_most("overall", "the information loss lambda", moved_by=GENTLER),
    figure="value_loss",
    missing=own_rule("A value that is gone counts as far as can be, one where there was none 1, none in both files 0."),
)
def value_loss(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    variables: Annotated[
        tuple[str, ...] | None, Doc("Variables to compare; all of both files but identifiers and weight.")
    ] = None,
    unit: Annotated[str, OneOf(UNITS), Doc("What numeric changes are measured in.")] = "value",
    recoded: Annotated[
        tuple[str, ...] | None, Doc("Variables whose released values stand for classes; learnt from the files.")
    ] = None,
    missing: Annotated[
        str, OneOf(MISSING), Doc("What ordinal and numeric values that are missing count.")
    ] = "published",
    weighted: Weighted = False,
    progress: Progress = no_progress,
) -> ValueLoss:
    """lambda, the information lost in the values: overall, by variable (lambda_j) and by record.

    The mean over variables and records of d, 0 for a value as it was, 1 for one as far from it as can be: nominal 0 or
    1; ordinal |difference of categories|/(categories - 1); numeric (2/pi) arctan|difference|, in the variable's own
    `unit`, in standard deviations (`sd`) or median absolute deviations (`mad`), or |difference| as a share of the
    `range`. Suppressed: nominal 1, ordinal to the farther end, numeric to the maximum if the value is at most the
    median, else to the minimum.

    A recoded value (classes, rounding, top codes) loses the share of the variable that its class covers: categories
    (m_b - 1)/(m - 1), ordered ones by their span, numbers width/range. Which original values a released one covers is
    learnt from the records; that a variable was recoded, from the mechanisms of the release, from the kind of value, or
    since one rule explains all changes. A removed variable that is named loses 1.

    References: Mlodak (2020), Information loss resulting from statistical disclosure control of output data; Iyengar
    (2002), Transforming data to satisfy privacy constraints, for classes.

    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [20.0, 30.0, 40.0, 60.0]})
    >>> masked = pl.DataFrame({"sex": ["f", "f", None, "m"], "age": ["20-39", "20-39", "40-60", "40-60"]})
    >>> found = value_loss(people, masked, Scenario(keys=["sex"]))
    >>> found.by_variable, found.overall
    ({'sex': 0.25, 'age': 0.375}, 0.3125)
    """
    files = compared_files(original, released, scenario, weighted=weighted)
    names = files.common() if variables is None else check.names("variables", variables)
    check.columns_exist("variables", names, files.original.columns)
    classes = None if recoded is None else set(check.names("recoded", recoded))
    check.columns_exist("recoded", () if recoded is None else tuple(recoded), names)
    if not names:
        raise TacitaError("the files have no variable in common to compare; pass variables=[...].")
    total = np.zeros(len(files.original))
    changes = []
    for at, name in enumerate(names):
        progress(at / len(names), "comparing values")
        change, loss = _change(files, name, unit, None if classes is None else name in classes, missing)
        changes.append(change)
        total += loss
    return ValueLoss(
        changes=tuple(changes),
        record=files.as_given(files.original.record),
        loss=files.as_given(np.minimum(total / len(names), 1.0)),
        overall=float(np.mean([each.loss for each in changes])),
        unit=unit,
        weights=files.scenario.weight if files.weights is not None else None,
        dropped=files.dropped,
        not_counted=() if variables is not None else files.removed(),
        cautions=files.cautions,
        repeats=None if files.original.repeats is None else files.as_given(files.original.repeats),
    )


def _change(files: Files, name: str, unit: str, classes: bool | None, missing: str) -> tuple[Change, Floats]:
    """How a variable was changed, its loss weighted, and d by record."""
    first, second = files.original, files.released
    if name not in second.columns:
        there = how_many(~first.missing(name), first.repeats)
        return Change(name, "removed", there, there, 1.0), np.ones(len(first))
    change, loss = changed_values(first, second, name, unit, classes, missing)
    if files.weights is None:
        return change, loss
    return change._replace(loss=float((files.weights * loss).sum() / files.weights.sum())), loss
