"""Local suppression of a file: which cells are blanked, for whom, and whether it is enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.check import TacitaError
from tacita.keys.matching import MOST_KEYS
from tacita.protect.suppress.combinations import Requirement, essential
from tacita.protect.suppress.households import Households
from tacita.protect.suppress.improve import suppress_one_way
from tacita.protect.suppress.own_category import suppress_own_category
from tacita.protect.suppress.own_need import needed_by_itself
from tacita.protect.suppress.problem import Problem
from tacita.protect.suppress.reporting import Report, part, unheard
from tacita.protect.suppress.responses import suppress_by_responses
from tacita.protect.suppress.settle import settled
from tacita.protect.suppress.sweep import Risk
from tacita.protect.suppress.units import Units, blanked, units_of
from tacita.protect.suppress.verify import unsafe
from tacita.scenario import MissingRule


class Suppression(NamedTuple):
    """Which cells are to be blanked, and which records they are of."""

    gone: Bools
    """By record and key: blanked."""
    violated: Bools
    """Records that violate before anything is done."""
    left: Bools
    """Records that violate afterwards, because they may not be touched."""
    needed: Bools
    """By record and key: blanked for the record itself, not because its household shares the variable."""

    @property
    def touched(self) -> Bools:
        """Records with a blanked cell."""
        return np.asarray(self.gone.any(axis=1))

    @property
    def with_household(self) -> Bools:
        """Records that are touched only because another member of the household is."""
        return self.touched & ~self.needed.any(axis=1)

    @property
    def followed(self) -> Bools:
        """Records that are touched only because one that they counted on was blanked."""
        return self.needed.any(axis=1) & ~self.violated


class Shared(NamedTuple):
    """Key variables that all members of a household share."""

    household: Ints
    """By record."""
    variables: tuple[int, ...]
    """The columns."""

    def all_free(self, free: Bools) -> Bools:
        """Who may be touched: nobody whose household could not follow."""
        return free & ~np.isin(self.household, self.household[~free])


def suppress(
    codes: Codes,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    rule: MissingRule,
    *,
    strata: Codes | None = None,
    free: Bools | None = None,
    weights: Floats | None = None,
    risk: Risk | None = None,
    shared: Shared | None = None,
    kept: int = 0,
    settle: bool = True,
    report: Report = unheard,
) -> Suppression:
    """The cells to blank so that every record meets every requirement under a missing-value rule.

    `codes` are 0 for missing; a cell of key j costs `costs[j]`. `strata` numbers the strata from 1: records count
    inside theirs only. Only `free` records are touched. Limits of requirements are by record. `kept` are keys that are
    never blanked, as bits; they have no missing values. The outcome is counted again with the code that every measure
    uses; if a free record is still unsafe that is an error. So is a blank that its own record (for a shared key: its
    household) does not need, unless `settle` is off. A stratum counts as one more key that is always shown; rules that
    look at all keys or the whole file at once need their strata cut apart first (`strata.by_stratum`).
    """
    size, keys = codes.shape
    _check_keys(keys + (strata is not None))
    free = np.ones(size, dtype=bool) if free is None else free
    free = free if shared is None else shared.all_free(free)
    all_needs, fixed = list(needs), kept
    check_size(max(need.k for need in needs), size, strata)
    if strata is not None:
        codes, fixed = np.column_stack([codes, strata]).astype(np.uint32), kept | 1 << keys
        all_needs = [need._replace(members=need.members | 1 << keys) for need in needs]
        costs = [*costs, 1.0]
    apart = _apart(all_needs, shared, size)
    units = units_of(codes, free, weights, apart)
    by_unit = [_for_units(need, units) for need in all_needs]
    told = part(report, 0.0, 0.1)
    at_start = unsafe(units.codes, units.records, units.weights, by_unit, rule, risk, told)
    households = None if shared is None else Households(shared.household[np.argsort(units.row)], shared.variables)
    problem = Problem(units, by_unit, costs, rule, risk, households, fixed)
    shown = units.known
    if (at_start & units.free).any():
        shown = _search(problem._replace(needs=essential(by_unit, rule.name)), part(report, 0.1, 0.8))
    still = _verified(problem, shown, part(report, 0.8, 0.9))
    if settle and (shown != units.known).any() and not _by_construction(problem):
        problem, shown, at_start = _settled(problem, shown, at_start, weights, part(report, 0.9, 1.0))
        units, still = problem.units, _verified(problem, shown)
    released = blanked(units.codes, shown)
    gone = (units.codes != released)[units.row][:, :keys]
    needed = gone.copy()
    for place in () if shared is None else shared.variables:
        # Which member needs a shared blank.
        needed[:, place] &= needed_by_itself(problem, shown, place)[units.row]
    return Suppression(gone, at_start[units.row], still[units.row], needed)


def _verified(problem: Problem, shown: Ints, report: Report = unheard) -> Bools:
    """Which units are unsafe with what all units show; an error if one of them may be touched."""
    units, risk = problem.units, problem.risk
    released = blanked(units.codes, shown)
    still = unsafe(released, units.records, units.weights, problem.needs, problem.rule, risk, report)
    if (still & units.free).any():
        raise TacitaError(_failure(int(units.records[still & units.free].sum()), problem.rule, risk is not None))
    return still


def _by_construction(problem: Problem) -> bool:
    """Whether the search gives back every cell that its record does not need, and nobody is harmed by that."""
    return problem.rule.name == "one_way" and problem.risk is None and problem.households is None


def _settled(
    problem: Problem, shown: Ints, at_start: Bools, weights: Floats | None, report: Report
) -> tuple[Problem, Ints, Bools]:
    """With no blank that its own record does not need; records of different weights are looked at one by one."""
    row = problem.units.row
    if weights is not None and len(problem.units.codes) < len(row):
        units = units_of(problem.units.codes[row], problem.units.free[row], weights, np.arange(len(row)))
        record = np.argsort(units.row)
        needs = [
            each if each.limits is None else each._replace(limits=each.limits[row][record]) for each in problem.needs
        ]
        problem = problem._replace(units=units, needs=needs)
        shown, at_start = shown[row][record], at_start[row][record]
    found = settled(problem, shown, at_start, report)
    if found is None:
        raise TacitaError(no_own_need(problem.rule))
    return problem, found, at_start


def no_own_need(rule: MissingRule) -> str:
    """What is said where blanks would be left that only other records need."""
    return (
        f"suppression under missing {str(rule)!r} could not make every record safe without blanks that its own record "
        f"does not need; recode first, ask for less, or choose the rule 'one_way'."
    )


def _check_keys(keys: int) -> None:
    if keys > MOST_KEYS:
        raise TacitaError(
            f"suppression takes at most {MOST_KEYS} keys, strata counted as one; got {keys}, "
            f"protect fewer or several key sets, one after the other."
        )


def check_size(k: int, size: int, strata: Codes | None) -> None:
    """The file, and every stratum, must have k records."""
    if k > size:
        raise TacitaError(f"k must be at most the {size:,} records of the file; got {k}.")
    if strata is not None:
        sizes = np.bincount(strata)
        small = int(((sizes > 0) & (sizes < k)).sum())
        if small:
            raise TacitaError(
                f"every stratum must have at least k = {k} records; {check.counted(small, 'stratum', 'strata')} "
                f"of {int((sizes > 0).sum()):,} have fewer, use coarser strata."
            )


def _apart(needs: Sequence[Requirement], shared: Shared | None, size: int) -> Ints | None:
    """What keeps records apart that have the same keys: their household, or a limit of their own."""
    if shared is not None:
        return np.arange(size)
    limits = [need.limits for need in needs if need.limits is not None]
    if not limits:
        return None
    return np.unique(np.column_stack(limits), axis=0, return_inverse=True)[1].ravel()


def _for_units(need: Requirement, units: Units) -> Requirement:
    if need.limits is None:
        return need
    limits = np.empty(len(units.codes))
    limits[units.row] = need.limits
    return need._replace(limits=limits)


def _search(problem: Problem, report: Report) -> Ints:
    name = problem.rule.name
    if name == "one_way":
        return suppress_one_way(problem, report)
    if name == "own_category":
        return suppress_own_category(problem, report)
    if name == "no_match":
        raise TacitaError(
            "suppression cannot help under missing 'no_match', where a record with a blank matches nobody and stays at "
            "risk; recode instead or choose the rule 'one_way'."
        )
    return suppress_by_responses(problem, report)


def _failure(records: int, rule: MissingRule, limited: bool) -> str:
    limit = " or the risk limit" if limited else ""
    ways = "recode first or ask for less"
    if rule.name != "one_way":
        ways = "recode first, ask for less, or choose the rule 'one_way'"
    who = check.counted(records, "record")
    return f"suppression could not bring {who} to k{limit} under missing {str(rule)!r}; {ways}."
