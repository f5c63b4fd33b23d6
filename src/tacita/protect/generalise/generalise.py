"""Generalise: the levels of hierarchies that make the file safe at the least loss."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from tacita import check
from tacita.arrays import Floats
from tacita.check import TacitaError
from tacita.data import Data
from tacita.keys.table import check_keys, repeated_units
from tacita.mechanism import Mechanism
from tacita.parameters import Above, AtLeast, Doc, OneOf, Shape, Share
from tacita.protect.generalise.choice import RECODINGS, Choice, choose
from tacita.protect.generalise.file import File, check_labels, prepared
from tacita.protect.generalise.key_tables import hierarchies_of, levels_of, weights_of
from tacita.protect.generalise.loss import COSTS, LOSSES, make_loss
from tacita.protect.generalise.released import released
from tacita.protect.generalise.requirements import Judge, Requirements
from tacita.protect.generalise.search import Limits, Problem
from tacita.protect.recode.hierarchies import Hierarchy
from tacita.protect.step import Applied, CellStep, Context
from tacita.risk.attribute.l_diversity import sensitive_names
from tacita.scenario import KeySet, Scenario

SUPPRESSIONS = ("blank", "remove")


@dataclass(frozen=True)
class Generalise(CellStep):
    """Make the keys coarser, level by level of their hierarchies, until the file is safe, at the least loss.

    Every record must share its key with at least `k` - 1 others, and where asked for its group must be diverse
    (`distinct_l`, `entropy_l`, `recursive_l`) or close to the whole file (`t`) in each sensitive variable. Up to a
    share `limit` of the records, those that would force everybody else to coarser levels, may be suppressed. Counted
    under the scenario's missing-value rule, on what is released, and in units where the scenario's `person` repeats.

    `recoding="global"` chooses one level per key for all records: the best of all choices, proven unless the search
    was stopped. `"outliers"` takes that choice and gives coarser levels to those who would be suppressed. `"local"`
    gives every record the first levels, in order of their loss, at which it is safe.

    References: Samarati (2001); Kohlmayer et al. (2012), Flash; El Emam et al. (2009), OLA.

    >>> import tacita as tc, polars as pl
    >>> people = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": [31, 34, 46, 48]})
    >>> step = Generalise({"age": tc.Hierarchy.intervals([5, 10])}, k=2)
    >>> release = tc.Plan([step]).apply(people, tc.Scenario(keys=["sex", "age"]))
    >>> release.data.table["age"].to_list()
    ['30-34', '30-34', '45-49', '45-49']
    """

    hierarchies: Annotated[
        Mapping[str, Hierarchy],
        Shape("table of hierarchies by key", hierarchies_of),
        Doc(
            "By key its hierarchy; a key without one stays as it is. In a plan file a table with its kind, or a CSV "
            "path."
        ),
    ]
    k: Annotated[
        int | None,
        AtLeast(2),
        Doc("Every record must share its key with at least k - 1 others; None: the key set's or policy's k."),
    ] = field(default=None, kw_only=True)
    key_set: Annotated[str, Doc("The key set to make safe, `keys` the main one.")] = field(default="keys", kw_only=True)
    limit: Annotated[
        float,
        Share(),
        Doc(
            "The greatest share of records that may be suppressed; none are blanked where a blank is itself a category."
        ),
    ] = field(default=0.05, kw_only=True)
    suppress: Annotated[
        str,
        OneOf(SUPPRESSIONS),
        Doc("What becomes of suppressed records: all their keys are blank, or they are left out of the file."),
    ] = field(default="blank", kw_only=True)
    recoding: Annotated[
        str,
        OneOf(RECODINGS),
        Doc("Who may have levels of their own: nobody; those who would be suppressed; every record."),
    ] = field(default="global", kw_only=True)
    loss: Annotated[str, OneOf(LOSSES), Doc("What is made least.")] = field(default="granularity", kw_only=True)
    weights: Annotated[
        Mapping[str, float],
        Shape("table of numbers by key, at least 0", weights_of),
        Doc("By key how much its loss matters, 1 unless given; a key of weight 0 may be generalised for nothing."),
    ] = field(default_factory=dict, kw_only=True)
    levels: Annotated[
        Mapping[str, tuple[int, int]],
        Shape("table of two levels by key", levels_of),
        Doc("By key the least and the greatest level that may be chosen, as {'age': (0, 2)}."),
    ] = field(default_factory=dict, kw_only=True)
    sensitive: Annotated[tuple[str, ...], Doc("The sensitive variables of l and t; none: the scenario's.")] = field(
        default=(), kw_only=True
    )
    distinct_l: Annotated[
        int | None, AtLeast(2), Doc("At least so many different sensitive values in every group.")
    ] = field(default=None, kw_only=True)
    entropy_l: Annotated[float | None, Above(1), Doc("At least this exponential of the entropy in every group.")] = (
        field(default=None, kw_only=True)
    )
    recursive_l: Annotated[int | None, AtLeast(2), Doc("Recursive (c, l)-diversity of every group.")] = field(
        default=None, kw_only=True
    )
    c: Annotated[float, Above(0), Doc("The constant of recursive (c, l)-diversity.")] = field(default=2.0, kw_only=True)
    t: Annotated[float | None, Share(), Doc("No group's distribution may be farther from the file's.")] = field(
        default=None, kw_only=True
    )
    checks: Annotated[
        int,
        AtLeast(1),
        Doc("How many choices of levels may be tried before the search is stopped: the same on every machine."),
    ] = field(default=10_000, kw_only=True)
    seconds: Annotated[
        float | None,
        Above(0),
        Doc("How long the search may take; what it finds then depends on the machine."),
    ] = field(default=None, kw_only=True)

    version: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if self.weights and self.loss not in COSTS:
            raise TacitaError(
                f"weights of keys are not for the loss {self.loss!r}, which only counts cells; drop them."
            )
        for name, (_, high) in self.levels.items():
            if name not in self.hierarchies:
                raise TacitaError(f"levels are of keys with a hierarchy; {name!r} has none.")
            self.hierarchies[name].check_level(high, name)
        if self.t is not None and self.suppress == "remove" and self.limit > 0:
            raise TacitaError(
                "t is the distance from the whole file, which changes when records are removed; pass suppress='blank' "
                "or limit=0."
            )
        if self.only is not None:
            raise TacitaError(
                "generalise is for all records, since one at a coarser level looks like none of the others; use "
                "strata, or Recode or Suppress with only."
            )
        if self.strata and self.t is not None:
            raise TacitaError("t is the distance from the whole file, not from a stratum; drop strata or t.")

    def __str__(self) -> str:
        # The rows of a hierarchy may be thousands, and a log is read by people.
        given = self.to_dict() | {"hierarchies": {name: each.kind for name, each in self.hierarchies.items()}}
        parts = ", ".join(f"{name} = {value!r}" for name, value in given.items() if name != "label")
        return f"{self.kind()}({parts})"

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from their defaults; hierarchies as tables with their kind."""
        given = super().to_dict()
        return given | {"hierarchies": {name: each.to_dict() for name, each in self.hierarchies.items()}}

    @property
    def adds_missing(self) -> bool:
        """Suppressed records are blanked, unless they are removed."""
        return self.suppress == "blank" and self.limit > 0

    @property
    def keeps_records(self) -> bool:
        """Suppressed records may be removed."""
        return self.suppress != "remove" or self.limit == 0

    def apply(self, data: Data, context: Context) -> Applied:
        """The data at the levels found."""
        scenario = context.scenario
        own = self._key_set(scenario)
        names = self._keys(data, own.keys)
        sensitive = self._sensitive(data, scenario)
        file = prepared(data, names, self.hierarchies, sensitive, repeated_units(data, scenario))
        if self.recoding != "global":
            check_labels(file)
        wanted = self._wanted(context, file, own.k)
        with_category = self._keys_with_missing_category(data, names)
        problem = self._problem(file, wanted, 0.0 if with_category else self.limit)
        # A blank record looks like anybody in the file.
        if self.suppress == "blank" and not problem.judge.whole_file_fulfils(file.raw):
            raise TacitaError("all records together do not fulfil what is asked for; ask for less, or a smaller k.")
        try:
            found = choose(problem, file, self.recoding, Limits(self.seconds, self.checks), context.progress)
        except TacitaError as error:
            if not with_category:
                raise
            raise TacitaError(
                f"{_missing_category_remark(with_category)}, and {error} Or pass suppress='remove'."
            ) from None
        made = released(data, file, found.keys, found.suppressed, remove=self.suppress == "remove")
        remarks = self._remarks(file, found, scenario) + (
            (_missing_category_remark(with_category),) if with_category else ()
        )
        figures = self._figures(problem, file, found)
        mechanisms = self._mechanisms(file, figures)
        return Applied(
            made, remarks, figures, mechanisms, tuple(each.with_parameters("recoding") for each in mechanisms)
        )

    def _mechanisms(self, file: File, figures: Mapping[str, Any]) -> tuple[Mechanism, ...]:
        """Recoding by level, and suppression of whole records."""
        levels = {name: figures["records_by_level"][name] for name in self.hierarchies}
        given = {"recoding": self.recoding, "k": figures["k"], "records_by_level": levels}
        recoding = Mechanism("recoding", tuple(self.hierarchies), given)
        gone = {"records": figures["suppressed"], "how": self.suppress}
        return (recoding, Mechanism("suppression", file.keys, gone)) if figures["suppressed"] else (recoding,)

    def _key_set(self, scenario: Scenario) -> KeySet:
        if self.key_set not in scenario.sets:
            raise TacitaError(
                f"key_set must be one of the scenario's, {check.quoted(scenario.sets) or 'which has none'}; got "
                f"{self.key_set!r}."
            )
        return scenario.sets[self.key_set]

    def _keys(self, data: Data, keys: tuple[str, ...]) -> tuple[str, ...]:
        for what in ("hierarchies", "weights"):
            check.columns_exist(f"{what} of {self.kind()!r}", tuple(getattr(self, what)), data.columns)
            outside = [name for name in getattr(self, what) if name not in keys]
            if outside:
                raise TacitaError(f"{what} must be of keys of the scenario; {check.quoted(outside)} is not a key.")
        check_keys(data, keys)
        return keys

    def _keys_with_missing_category(self, data: Data, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Keys of which a missing value is a category (not applicable), so that a suppressed record is not hidden."""
        if self.suppress != "blank" or self.limit == 0:
            return ()
        return tuple(name for name in keys if "" in data.variable(name).not_applicable)

    def _sensitive(self, data: Data, scenario: Scenario) -> tuple[str, ...]:
        asked = (self.distinct_l, self.entropy_l, self.recursive_l, self.t)
        if all(limit is None for limit in asked):
            return ()
        names = sensitive_names(data, scenario, self.sensitive or None)
        both = [name for name in names if name in self._key_set(scenario).keys]
        if both:
            raise TacitaError(f"a sensitive variable cannot be a key at the same time: {check.quoted(both)}.")
        return names

    def _wanted(self, context: Context, file: File, own: int | None) -> Requirements:
        k = self.k or own or context.policy.k
        if k is None:
            raise TacitaError("the policy has no k; pass k=... to say how many records must look alike.")
        size, what = (file.units, "units") if file.units else (file.raw.size, "records")
        if k > size:
            raise TacitaError(f"k must be at most the number of {what}, {size:,}; got {k:,}.")
        rule = context.scenario.missing
        if rule.name in ("own_category", "no_match") and self.limit > 0 and self.suppress == "blank":
            raise TacitaError(
                f"under the missing-value rule {rule.name!r} a record is not safer for being blank; pass "
                f"suppress='remove' or limit=0."
            )
        wanted = Requirements(k, self.distinct_l, self.entropy_l, self.recursive_l, self.c, self.t, rule)
        joining = rule.name not in ("one_way", "own_category", "no_match") and self.suppress == "blank"
        if joining and not wanted.kept_by_union and self.limit > 0:
            raise TacitaError(
                f"under the missing-value rule {rule.name!r} blank records join every group, and l or t may be lost; "
                f"pass suppress='remove', limit=0 or the rule 'one_way'."
            )
        return wanted

    def _problem(self, file: File, wanted: Requirements, limit: float) -> Problem:
        levels = [self.levels.get(name, (0, each.height)) for name, each in zip(file.keys, file.ladders, strict=True)]
        weights: Floats = np.array([self.weights.get(name, 1.0) for name in file.keys])
        if not weights.any():
            raise TacitaError("at least one key must have a weight above 0.")
        return Problem(
            raw=file.raw,
            ladders=file.ladders,
            bottom=tuple(low for low, _ in levels),
            top=tuple(high for _, high in levels),
            judge=Judge(wanted, file.shares, file.ordered, file.units),
            loss=make_loss(self.loss, file.raw, file.ladders, file.columns, weights),
            # Of 100 records 0.29 are 29, though 100 times 0.29 is a little less. A file has at least one record.
            allowed=min(math.floor(limit * file.raw.size + 1e-9), file.raw.size - (self.suppress == "remove")),
        )

    def _remarks(self, file: File, found: Choice, scenario: Scenario) -> tuple[str, ...]:
        """What the log says."""
        gone = check.counted(found.suppressed_records, "record")
        by_level = found.records_by_level(file)
        chosen = [f"{name} {_in_words(by_level[name])}" for name in self.hierarchies]
        several = any(len(by_level[name]) > 1 for name in self.hierarchies)
        remarks = [
            f"levels{' (records)' if several else ''}: {', '.join(chosen)}",
            f"{gone} suppressed" if self.suppress == "remove" else f"all keys of {gone} blanked",
            f"loss ({self.loss}) {found.loss:.4g}",
            self._optimality_remark(found),
        ]
        shared = [name for name in scenario.household_variables if name in file.keys]
        if shared and (found.suppressed_records or self.recoding != "global"):
            remarks.append(f"members of a household may now differ in {check.quoted(shared)}")
        others = [name for name in scenario.sets if name != self.key_set]
        if others:
            remarks.append(f"key sets not looked at: {check.quoted(others)}; a step with key_set makes each safe")
        return tuple(remarks)

    def _optimality_remark(self, found: Choice) -> str:
        if found.best is None:
            said = "every record at the first levels at which it is safe"
            return said if found.finished else f"{said}, of those tried before the limit stopped the work"
        tried = f"{found.best.checked:,} of {check.counted(found.best.nodes, 'choice')} tried"
        said = f"proven best ({tried})" if found.best.proven else f"best found before the limit ({tried})"
        return said if self.recoding == "global" else f"{said}, coarser levels for outliers"

    def _figures(self, problem: Problem, file: File, found: Choice) -> dict[str, Any]:
        """The figures of the log."""
        figures: dict[str, Any] = {
            "k": problem.judge.wanted.k,
            "records_by_level": found.records_by_level(file),
            "suppressed": found.suppressed_records,
            "allowed": problem.allowed,
            "loss": self.loss,
            "loss_value": found.loss,
            "finished": found.finished,
        }
        if found.best is not None:
            figures |= {"choices": found.best.nodes, "checked": found.best.checked}
        return figures


def _missing_category_remark(names: tuple[str, ...]) -> str:
    return f"a blank of {check.quoted(names)} stands for not applicable, so nobody is blanked"


def _in_words(records: Mapping[str, int]) -> str:
    """The level of a key, or how many records are at each."""
    if len(records) == 1:
        return next(iter(records))
    return " / ".join(f"{level} ({count:,})" for level, count in records.items()) or "none"
