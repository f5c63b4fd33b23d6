"""By declared relations and published totals: a suppressed part in a known sum, and values that rules leave no choice.

What the intruder has: edit rules that everybody knows (parts add up, children are not married) and published totals.
What he does: he solves an equation for the one number that is missing in it, bounds a number by inequalities, strikes
out every category that breaks a rule, or takes what is shown from a total. What he gains: the cells for which one
value is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import Leak, leak
from tacita.risk.release.reconstruction.numbers import most_slack, near
from tacita.risk.release.reconstruction.values import plain_value
from tacita.rules import EditRule, Rule, Total
from tacita.rules.parts import Both, Comparison, Condition
from tacita.rules.verdict import Judge

MOST_CANDIDATES = 60
"""Categories that are tried one by one."""
REPAIR = "suppress another part of the relation in the same records"


def relation_leaks(files: Files, variables: Sequence[Protected]) -> Iterator[Leak]:
    """Leaks by equations, inequalities, conditions on categories, and published totals."""
    if not files.rules:
        return
    edits = [rule for rule in files.rules if isinstance(rule, EditRule)]
    totals = [rule for rule in files.rules if isinstance(rule, Total)]
    for protected in variables:
        if protected.numbers is not None:
            yield from _by_equations(files, protected, edits)
            yield from _by_inequalities(files, protected, edits)
            yield from _by_totals(files, protected, totals)
        yield from _by_candidates(files, protected, edits)


def _comparisons(condition: Condition) -> Iterator[Comparison]:
    """Comparisons that must all hold."""
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, Both) and condition.word == "and":
        yield from _comparisons(condition.left)
        yield from _comparisons(condition.right)


def _solved(files: Files, protected: Protected, rule: EditRule, part: Comparison) -> tuple[Floats, Floats] | None:
    """By row: where left and right are equal, as a number of the protected variable, and the slope of their
    difference; None where it is not a straight line in it, or the rule does not fit."""
    differences = []
    for value in (0.0, 1.0, 2.0):
        filled = files.released.with_columns({protected.name: np.full(len(files), value)})
        judge = Judge(rule.rule, _bare(filled, protected.name), rule.tolerance, rule.relative)
        try:
            differences.append(judge.value_of(part.left) - judge.value_of(part.right))
        except TacitaError:
            return None
    zero, one, two = differences
    slope = one - zero
    with np.errstate(all="ignore"):
        straight = np.abs(two - one - slope) <= 1e-9 * (1 + np.abs(slope))
        solved = np.where(straight & (slope != 0), -zero / slope, np.nan)
    return solved, slope


def _bare(data: Data, name: str) -> Data:
    """The data without what is declared of a variable whose numbers were filled in."""
    return Data(
        data.table,
        {each: known for each, known in data.variables.items() if each != name},
        numbers_of_records=data.record,
    )


def _by_equations(files: Files, protected: Protected, rules: Sequence[EditRule]) -> Iterator[Leak]:
    for rule in rules:
        for part in _comparisons(rule.condition):
            found = _solved(files, protected, rule, part) if part.sign == "=" else None
            if found is None:
                continue
            told = found[0][protected.rows]
            covered = ~np.isnan(told)
            slack = np.full(len(told), rule.tolerance)
            right = covered & near(protected, told, protected.rows, slack)
            if right.any():
                yield leak(protected, "relation", _names(rule), f"the rule {rule.text!r}", REPAIR, covered, right)


def _names(rule: Rule) -> tuple[str, ...]:
    return (rule.text,)


def _by_inequalities(files: Files, protected: Protected, rules: Sequence[EditRule]) -> Iterator[Leak]:
    """Cells for which a lower and an upper bound leave one value, or less than the rounding between them."""
    low, high = np.full(len(files), -np.inf), np.full(len(files), np.inf)
    used = []
    for rule in rules:
        for part in _comparisons(rule.condition):
            found = _solved(files, protected, rule, part) if part.sign in ("<", "<=", ">", ">=") else None
            if found is None:
                continue
            at, slope = found
            above = (slope > 0) == (part.sign in (">", ">="))
            unit = 0.0 if "=" in part.sign else protected.unit
            low = np.where(~np.isnan(at) & above, np.fmax(low, at + unit), low)
            high = np.where(~np.isnan(at) & ~above, np.fmin(high, at - unit), high)
            used.append(rule.text)
    if not used or protected.numbers is None:
        return
    step = protected.unit
    if step:
        low, high = np.ceil(low / step - 1e-9) * step, np.floor(high / step + 1e-9) * step
    rows = protected.rows
    with np.errstate(invalid="ignore"):
        middle = (low[rows] + high[rows]) / 2
        covered = (
            (high[rows] >= low[rows]) & (high[rows] - low[rows] <= most_slack(protected, middle)) & np.isfinite(middle)
        )
    right = covered & near(protected, np.where(covered, middle, np.nan), rows, high[rows] - low[rows])
    if right.any():
        how = f"bounds by {', '.join(map(repr, dict.fromkeys(used)))}"
        yield leak(protected, "relation", tuple(dict.fromkeys(used)), how, REPAIR, covered, right)


def _by_totals(files: Files, protected: Protected, rules: Sequence[Total]) -> Iterator[Leak]:
    """The one cell that is missing in a published total."""
    for rule in rules:
        shown = protected.released_numbers
        if rule.variable != protected.name or shown is None:
            continue
        try:
            judge = Judge(rule.text, files.released)
            every = np.ones(len(files), dtype=np.bool_)
            chosen = every if rule.condition is None else judge.verdict(rule.condition).holds
            weight = np.ones(len(files)) if rule.weight is None else judge.numbers_of(rule.weight)
        except TacitaError:
            continue
        hidden = np.flatnonzero(chosen & np.isnan(shown))
        if len(hidden) != 1 or np.isnan(weight[chosen]).any():
            continue
        rest = float((np.where(chosen, np.nan_to_num(shown), 0.0) * weight).sum())
        told = np.full(len(protected), np.nan)
        told[protected.rows == hidden[0]] = (rule.value - rest) / weight[hidden[0]]
        covered = ~np.isnan(told)
        right = covered & near(protected, told, protected.rows, rule.tolerance / float(weight[hidden[0]]))
        if right.any():
            yield leak(protected, "relation", _names(rule), f"the total {rule.text!r}", REPAIR, covered, right)


def _by_candidates(files: Files, protected: Protected, rules: Sequence[EditRule]) -> Iterator[Leak]:
    """Cells for which all categories but one break a rule."""
    if protected.removed or not protected.suppressed.any():
        return
    seen = np.flatnonzero(np.bincount(protected.shown, minlength=protected.codes + 1)[1:]) + 1
    about = [rule for rule in rules if protected.name in rule.text]
    if len(seen) > MOST_CANDIDATES or not about:
        return
    cells = files.released.take(protected.rows)
    values, codes = files.values(protected.name), files.codes(protected.name)
    assert codes is not None
    open_ones, told = np.zeros(len(protected), dtype=np.int64), np.zeros(len(protected), dtype=np.int64)
    for value in values:
        filled = cells.with_columns({protected.name: [value] * len(cells)})
        possible = np.ones(len(protected), dtype=np.bool_)
        for rule in about:
            try:
                possible &= ~rule.broken(filled)
            except TacitaError:
                continue
        open_ones += possible
        told = np.where(possible, protected.code_of.get(plain_value(value), 0), told)
    covered = (open_ones == 1) & protected.suppressed
    right = covered & protected.is_right(told)
    if right.any():
        how = f"the only value that {', '.join(repr(rule.text) for rule in about)} allows"
        yield leak(protected, "relation", tuple(rule.text for rule in about), how, REPAIR, covered, right)
