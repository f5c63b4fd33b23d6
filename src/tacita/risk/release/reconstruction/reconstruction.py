"""What a release gives back: protected cells that can be told from the rest of the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Ints
from tacita.data import Data
from tacita.distance.truth import new_records_caution
from tacita.measures import at_most, measure, own_rule
from tacita.parameters import Doc
from tacita.progress import Progress, no_progress, part
from tacita.repeats import how_many
from tacita.result import Percent, Repair, Result, Table, Verdict
from tacita.risk.release.reconstruction.apart import leaks_apart
from tacita.risk.release.reconstruction.attacks import attacked, files_of
from tacita.risk.release.reconstruction.cells import Files, Protected, protected_variables
from tacita.risk.release.reconstruction.close_columns import close_columns
from tacita.risk.release.reconstruction.copies_in_part import copies_in_part
from tacita.risk.release.reconstruction.finer import (
    FinerColumns,
    beside_another_key,
    determined_cautions,
    finer_columns,
    narrowing_columns,
)
from tacita.risk.release.reconstruction.identifiers import declared_identifiers
from tacita.risk.release.reconstruction.leak import Leak
from tacita.risk.release.reconstruction.learner import learner_leaks
from tacita.risk.release.reconstruction.of_sample import leaks_of_sample
from tacita.risk.release.reconstruction.on_engine import possible_files
from tacita.risk.release.reconstruction.other_release import (
    OF_OTHER,
    beside_other_release,
    finer_by_other_text,
)
from tacita.risk.release.reconstruction.row_order import other_order
from tacita.risk.release.reconstruction.totals import ProtectedVariable, totals
from tacita.scenario import Scenario

SHOWN_REPAIRS = 3
"""So many repairs are named beside the verdict."""
SHOWN_LEAKS = 20
"""Leaks that are printed; the others are counted."""


@dataclass(frozen=True, eq=False)
class Reconstruction(Result):
    """What a release gives back: by variable and by leak, how many protected cells are told, and how many rightly."""

    record: Ints
    """The number of each released record."""
    variables: tuple[ProtectedVariable, ...]
    """The protected variables."""
    leaks: tuple[Leak, ...]
    """What gives cells away, the most telling first."""
    cautions: tuple[str, ...] = ()
    finer: Mapping[str, FinerColumns] = field(default_factory=dict)
    """By recoded or removed variable: released columns that split its original values more finely than it does."""
    narrowed: Mapping[str, FinerColumns] = field(default_factory=dict)
    """By key of which cells are suppressed: released columns that tell which values a blank can be."""
    beside: Mapping[tuple[str, str], FinerColumns] = field(default_factory=dict)
    """By recoded or removed key, and another key: released columns that split it among records alike in the other."""

    close: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By recoded or removed number: released columns that tell it to within a third of its class."""

    in_part: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By recoded or removed key: released columns that have its value in far more records than by chance."""

    unread: tuple[str, ...] = ()
    """Released columns of lists or objects, in which nothing here reads."""

    other_order: str = ""
    """Why the rows of the release are not those of the original, so that nothing here means anything."""

    repeats: Ints | None = None
    """By row how many records it stands for, where files are on an engine; None: each is one."""
    not_tried: str = ""
    """Which attacks were not tried, since they need all records; empty where all were."""

    finer_by_other: tuple[str, ...] = ()
    """Keys of which another release tells the values more finely, so that it takes both to count who is alike."""

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether the policy's limit is kept; not assessed where rows do not belong together, or are not read."""
        found = super().verdicts(policy)
        why = self._void()
        if not why:
            return found
        void = [bool(self.other_order or each.holds) for each in found]
        nothing = [replace(each, value=None, holds=None, why=why) for each in found]
        return tuple(none if each_void else each for each, none, each_void in zip(found, nothing, void, strict=True))

    def _void(self) -> str:
        """Why nothing given back says little: rows or columns that were not read, or another release."""
        if self.other_order or not (self.finer_by_other or self.unread):
            return self.other_order or self.not_tried
        if self.finer_by_other:
            return finer_by_other_text(self.finer_by_other)
        several = len(self.unread) > 1
        hold, them = ("hold", "them") if several else ("holds", "it")
        return (
            f"{check.quoted(self.unread)} {hold} lists or objects, in which no attack reads; remove {them}, or make "
            f"columns of what is in there"
        )

    @property
    def protected(self) -> int:
        """Protected cells."""
        return sum(each.protected for each in self.variables)

    @property
    def given_back(self) -> int:
        """Protected cells that an attack guesses right, each counted once."""
        return sum(each.given_back for each in self.variables)

    @property
    def guessed_wrong(self) -> int:
        """Protected cells that attacks guess, none of them right."""
        return sum(each.guessed_wrong for each in self.variables)

    @property
    def misled(self) -> int:
        """Protected cells that no attack tells, and of which an intruder would trust a wrong guess."""
        return sum(each.misled for each in self.variables)

    def key_figures(self) -> dict[str, Any]:
        """Protected cells that the rest of the release gives back."""
        return {"protected cells given back": self.given_back}

    @property
    def headline(self) -> str:
        """How many protected cells the release gives back."""
        if not self.variables:
            return "the release shows every cell of the original: nothing is protected"
        ways = check.counted(len(self.leaks), "leak") if self.leaks else "no leak found"
        share = self.given_back / self.protected
        wrong = f", {self.guessed_wrong:,} are guessed wrong" if self.guessed_wrong else ""
        return (
            f"{self.given_back:,} of {check.counted(self.protected, 'protected cell')} ({100 * share:.3g} %) can be "
            f"told from the rest of the release{wrong}; {ways}"
        )

    def tables(self) -> Sequence[Table]:
        """By variable, and by leak."""
        if not self.variables:
            return ()
        names = ("variable", "protected", "given back", "share", "guessed wrong", "not told", "misled")
        rows = tuple(
            (f"{v.name} ({v.how})", v.protected, v.given_back, Percent(v.given_back / v.protected), v.guessed_wrong,
             v.not_disclosed, v.misled)
            for v in self.variables
        )  # fmt: skip
        found = [Table(names, rows)]
        if self.leaks:
            more = len(self.leaks) - SHOWN_LEAKS
            title = "Leaks" + (f", the {SHOWN_LEAKS} most telling of {len(self.leaks):,}" if more > 0 else "")
            told = tuple((f"{e.variable} by {e.how}", e.right, e.wrong) for e in self.leaks[:SHOWN_LEAKS])
            found.append(Table(("leak", "right", "wrong"), told, title))
        return found

    def sentences(self) -> Sequence[str]:
        """The least repairs, and how far rules that an intruder would trust mislead him."""
        misleading = [each.misleading_rules for each in self.variables if each.misled]
        repairs = dict.fromkeys(f"{each.variable}: {each.repair}" for each in self.leaks[:SHOWN_LEAKS])
        return [*(f"repair of {text}" for text in list(repairs)[:5]), *misleading[:5]]

    def to_frame(self) -> frame.Frame:
        """One row per released record: how many of its cells are protected, and how many of these are given back."""
        protected = self._by_record([each.record for each in self.variables])
        return frame.table(
            {"record": self.record, "cells_protected": protected, "cells_given_back": self.cells_by_record}
        )

    def guessed_cells(self) -> frame.Frame:
        """One row per cell that is guessed: record number, variable, whether the guess is right, and how it is told.

        It leads back to the original values: for internal use only.
        """
        of = {each.name: each.record for each in self.variables}
        parts = [
            (leak, right, of[leak.variable][cells])
            for leak in self.leaks
            for right, cells in ((True, leak.right_cells), (False, leak.wrong_cells))
            if len(cells) and not leak.apart
        ]
        many = [len(records) for _, _, records in parts]
        empty = np.zeros(0, dtype=np.int64)
        return frame.table(
            {
                "record": np.concatenate([empty, *(records for _, _, records in parts)]),
                "variable": _repeated([leak.variable for leak, _, _ in parts], many),
                "right": np.repeat(np.array([right for _, right, _ in parts], dtype=np.bool_), many),
                "kind": _repeated([leak.kind for leak, _, _ in parts], many),
                "how": _repeated([leak.how for leak, _, _ in parts], many),
            }
        )

    @cached_property
    def cells_by_record(self) -> Ints:
        """By released record: how many of its protected cells are given back."""
        return self._by_record([each.record[each.right] for each in self.variables])

    def _by_record(self, numbers: Sequence[Ints]) -> Ints:
        """By released record: in how many of these lists of record numbers it is."""
        count = np.zeros(len(self.record), dtype=np.int64)
        order = np.argsort(self.record, kind="stable")
        for each in numbers:
            count[order[np.searchsorted(self.record[order], each)]] += 1
        return count

    def record_columns(self) -> dict[str, Any]:
        """How many protected cells of each record are given back."""
        return {"cells_given_back": self.cells_by_record}

    def repair(self, policy: Any) -> Repair | None:
        """The least repairs of the leaks that give most cells back."""
        ways: dict[str, int] = {}
        for each in self.leaks:
            if each.right:
                text = f"{each.variable!r}: {each.repair}"
                ways[text] = ways.get(text, 0) + each.right
        most = sorted(ways, key=lambda text: -ways[text])[:SHOWN_REPAIRS]
        listed = "; ".join(f"{text} ({check.counted(ways[text], 'cell')})" for text in most)
        more = f"; and {len(ways) - len(most):,} more" if len(ways) > len(most) else ""
        found = f"{check.counted(self.given_back, 'cell')} to protect otherwise: {listed}{more}"
        return Repair(
            "given_back", found, records=how_many(self.cells_by_record > 0, self.repeats), cells=self.given_back
        )

    def unsafe_records(self, policy: Any) -> Bools | None:
        """By record whether a protected cell of it is given back, where the policy's limit is not kept."""
        limited = policy.limit_of("reconstruction")
        return None if limited is None else (self.cells_by_record > 0) & (self.given_back > limited.limit)

    def by_variable(self) -> frame.Frame:
        """One row per protected variable."""
        names = (
            "variable",
            "how",
            "protected",
            "given_back",
            "guessed_wrong",
            "not_disclosed",
            "misled",
            "right_by_chance",
        )
        kinds: tuple[Any, ...] = (str, str, *[int] * 6)
        rows = [
            tuple(getattr(each, "name" if name == "variable" else name) for name in names) for each in self.variables
        ]
        return frame.rows(dict(zip(names, kinds, strict=True)), rows)

    def by_leak(self) -> frame.Frame:
        """One row per leak: the variable, the columns that give it away, cells covered, right and wrong, the repair."""
        names = ("variable", "kind", "columns", "how", "covered", "right", "wrong", "repair")
        kinds: tuple[Any, ...] = (str, str, str, str, int, int, int, str)
        rows = [tuple((each.to_dict() | {"columns": ", ".join(each.columns)}).values()) for each in self.leaks]
        return frame.rows(dict(zip(names, kinds, strict=True)), rows)

    def to_dict(self) -> dict[str, Any]:
        """Counts of the file, by variable and by leak."""
        return {
            "protected": self.protected,
            "given_back": self.given_back,
            "guessed_wrong": self.guessed_wrong,
            "misled": self.misled,
            "variables": self.by_variable().to_dicts(),
            "leaks": [each.to_dict() for each in self.leaks],
        }


def _repeated(texts: list[str], many: list[int]) -> tuple[Ints, list[str]]:
    """Texts, each so many times, as a column of codes and what they stand for."""
    return np.repeat(np.arange(1, len(texts) + 1), many), texts


@measure(
    files=2,
    called_for="original",
    by_key=True,
    missing=own_rule("Nothing is counted by keys: an empty cell of the original is no protected cell."),
    limit=at_most("given_back", "the number of protected cells that are given back"),
    figure="reconstruction",
)
def reconstruction(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    variables: Annotated[
        tuple[str, ...] | None, Doc("The protected variables to look at; all that differ unless given.")
    ] = None,
    rules: Annotated[Any, Doc("Relations and published totals that everybody knows, as `Rules`.")] = (),
    other: Annotated[Any, Doc("Another release of the same file, held beside this one.")] = None,
    threes: Annotated[
        Literal["telling", "all", "none"], Doc("Sets of three columns: of the 12 most telling columns, of all, none.")
    ] = "telling",
    learner: Annotated[bool, Doc("Whether boosted trees are tried on what is left; needs `tacita[learners]`.")] = False,
    unit: Annotated[str | None, Doc("The column that identifies records; record numbers or rows unless given.")] = None,
    progress: Progress = no_progress,
) -> Reconstruction:
    """How many protected cells can be told from the rest of the release, how many of these guesses are right, and why.

    A cell is protected if the release does not show its original value: the variable was removed, or the cell was
    suppressed, recoded, rounded, coded or perturbed. The release is attacked with everything that it contains: copies
    and functions of a variable, other columns alone, in pairs and in threes, housemates and counts of them, the order
    of rows and identifiers, declared relations and totals, another release, and on request a learner. A rule counts if
    an intruder would trust it, from the rows that show both, and if the office, who knows the truth, finds that it is
    right significantly more often than a guess without it. What it gets right is given back; what it gets wrong is
    printed beside, and so are cells of which rules that do not count would mislead an intruder. Records that are in one
    of the files only are left out.

    Reference: the attack is the one of inference or attribute disclosure by deterministic and statistical relations;
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, sections 3.3 and 3.6.

    >>> import polars as pl
    >>> people = pl.DataFrame({"region": ["north", "south"] * 30, "w": [10.0, 25.0] * 30})
    >>> blank = people.with_columns(region=pl.Series([None, *people["region"][1:59], None]))
    >>> found = reconstruction(people, blank, Scenario(keys=["region"], weight="w"))
    >>> found.given_back, found.leaks[0].columns
    (2, ('w',))
    """
    original, released = possible_files(original, released, other, rules, learner)
    check.columns_exist("original: keys", scenario.all_keys, original.columns)
    check.columns_exist("original: numeric_keys", scenario.numeric_keys, original.columns)
    progress(0.0, "comparing the files")
    files = files_of(original, released, scenario, unit, rules)
    chosen = tuple(protected_variables(files, variables))
    remaining = {each.name: np.ones(len(each), dtype=np.bool_) for each in chosen}
    found, cautions = attacked(files, chosen, remaining, other, unit, threes, progress)
    if learner:
        progress(0.92, "boosted trees")
        found += learner_leaks(files, chosen, remaining)
    found += leaks_apart(files, chosen, part(progress, 0.9, 0.93))
    found += (of_sample := leaks_of_sample(files, chosen, threes, part(progress, 0.93, 0.97))).leaks
    found = _more_than_keys(found, chosen, scenario)
    told = tuple(totals(files, each, found) for each in chosen)
    found.sort(key=lambda each: (-each.right, len(each.columns)))
    progress(0.98, "finer classes")
    aside, keys = declared_identifiers(files, scenario), scenario.all_keys
    finer = finer_columns(files, chosen, keys, aside)
    by_other = () if other is None else _finer_by_other(files, Data.of(other), unit, chosen, keys, aside, finer)
    narrowed = narrowing_columns(files, chosen, keys, aside)
    beside = beside_another_key(files, chosen, keys, aside, finer)
    close = close_columns(files, chosen, keys, aside, finer)
    cautions = (*cautions, *of_sample.cautions, *determined_cautions(chosen, finer))
    cautions = (*cautions, *([f"{finer_by_other_text(by_other)}."] if by_other else []))
    in_order = other_order(original, released, unit)
    cautions = (*cautions, *new_records_caution(released.size - files.size), *([f"{in_order}."] if in_order else []))
    return Reconstruction(
        released.record,
        told,
        tuple(found),
        cautions,
        *(finer, narrowed, beside, close),
        in_part=copies_in_part(files, chosen, keys, aside),
        unread=files.unread,
        other_order=in_order,
        finer_by_other=by_other,
        repeats=released.repeats,
        not_tried=of_sample.not_tried,
    )


def _more_than_keys(found: list[Leak], variables: Sequence[Protected], scenario: Scenario) -> list[Leak]:
    """The leaks without those of removed variables that the scenario gives no part to and that keys
    alone tell: whoever knows the keys of somebody needs no file for what follows from them."""
    named = {*scenario.all_keys, *scenario.numeric_keys, *scenario.sensitive, *scenario.identifiers, *scenario.strata}
    named |= {*filter(None, (scenario.weight, scenario.household, scenario.person)), *scenario.household_variables}
    unnamed, keys = {each.name for each in variables if each.removed} - named, {*scenario.all_keys}
    return [
        each for each in found if each.variable not in unnamed or not each.columns or not keys.issuperset(each.columns)
    ]


def _finer_by_other(
    files: Files,
    other: Data,
    unit: str | None,
    variables: Sequence[Protected],
    keys: Sequence[str],
    aside: set[str],
    finer: Mapping[str, FinerColumns],
) -> tuple[str, ...]:
    """Keys that another release splits more finely, or otherwise, than all columns of this one."""
    asked = [each for each in variables if each.name in keys and each.name not in finer]
    both = beside_other_release(files, other, unit)
    return tuple(finer_columns(both, asked, keys, {*aside, *(f"{name}{OF_OTHER}" for name in aside)}))
