"""Local suppression of a file: which cells are blanked, for whom, and whether it is enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Bools, Codes, Floats, Ints
from tacita.check import TacitaError
from tacita.matching import MOST_KEYS
from tacita.protect.suppression.combinations import Requirement, essential
from tacita.protect.suppression.households import Households
from tacita.protect.suppression.improve import needs_itself, suppress_one_way
from tacita.protect.suppression.own_category import suppress_own_category
from tacita.protect.suppression.reporting import Report, part, unheard
from tacita.protect.suppression.responses import suppress_by_responses
from tacita.protect.suppression.sweep import Risk
from tacita.protect.suppression.units import Units, blanked, units_of
from tacita.protect.suppression.verify import needed_by_itself, unsafe
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
    report: Report = unheard,
) -> Suppression:
    """The cells to blank so that every record meets every requirement under a missing-value rule.

    `codes` are 0 for missing; a cell of key j costs `costs[j]`. `strata` numbers the strata from 1: records count
    inside theirs only. Only `free` records are touched. Limits of requirements are by record. The outcome is counted
    again with the code that every measure uses; if a free record is still unsafe that is an error. `kept` are keys that
    are never blanked, as bits; they have no missing values. A stratum counts as one more key that is always shown;
    rules that look at all keys or the whole file at once need their strata cut apart first (`strata.by_stratum`).
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
    at_start = unsafe(units.codes, units.records, units.weights, by_unit, rule, risk, told)[units.row]
    households = None
    if shared is not None:
        # Every record is a unit of its own then, in another order.
        record_of = np.empty(size, dtype=np.int64)
        record_of[units.row] = np.arange(size)
        households = Households(shared.household[record_of], shared.variables)
    shown = units.known
    if (at_start & free).any():
        told = part(report, 0.1, 0.9)
        shown = _search(units, essential(by_unit, rule.name), costs, rule, risk, households, fixed, told)
    released = blanked(units.codes, shown)
    still = unsafe(released, units.records, units.weights, by_unit, rule, risk, part(report, 0.9, 1.0))
    if (still & units.free).any():
        raise TacitaError(_failure(int(units.records[still & units.free].sum()), rule, risk is not None))
    gone = (units.codes != released)[units.row][:, :keys]
    needed = gone.copy()
    for place in () if shared is None else shared.variables:
        # Which member needs a shared blank; where counting it takes too long, those that violated.
        if rule.name == "one_way":
            itself: Bools | None = needs_itself(units, shown, by_unit, place, risk)
        else:
            itself = needed_by_itself(units, shown, by_unit, place, rule, risk)
        needed[:, place] &= at_start if itself is None else itself[units.row]
    return Suppression(gone, at_start, still[units.row], needed)


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


def _search(
    units: Units,
    needs: Sequence[Requirement],
    costs: Sequence[float],
    rule: MissingRule,
    risk: Risk | None,
    households: Households | None,
    fixed: int,
    report: Report,
) -> Ints:
    options: dict[str, Any] = {"risk": risk, "households": households, "fixed": fixed, "report": report}
    if rule.name == "one_way":
        return suppress_one_way(units, needs, costs, **options)
    if rule.name == "own_category":
        return suppress_own_category(units, needs, costs, **options)
    if rule.name == "no_match":
        raise TacitaError(
            "suppression cannot help under missing 'no_match', where a record with a blank matches nobody and stays at "
            "risk; recode instead or choose the rule 'one_way'."
        )
    return suppress_by_responses(units, needs, costs, rule, **options)


def _failure(records: int, rule: MissingRule, limited: bool) -> str:
    limit = " or the risk limit" if limited else ""
    ways = "recode first or ask for less"
    if rule.name != "one_way":
        ways = "recode first, ask for less, or choose the rule 'one_way'"
    who = check.counted(records, "record")
    return f"suppression could not bring {who} to k{limit} under missing {str(rule)!r}; {ways}."
