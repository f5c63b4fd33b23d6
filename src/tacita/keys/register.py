"""F counted in a register of the population, where there is one."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacita import check
from tacita.arrays import Codes
from tacita.check import Caution, TacitaError
from tacita.data import Data
from tacita.keys.matching import Keys
from tacita.keys.missing_rules import matching_counts
from tacita.keys.source import InMemory
from tacita.scenario import Scenario, with_codes

if TYPE_CHECKING:
    from tacita.keys.table import KeyTable


def with_register(table: KeyTable, register: Data, scenario: Scenario) -> KeyTable:
    """The table with F counted in a register of the population; at least f, since the file is part of it."""
    if scenario.missing.name == "sdcmicro":
        raise TacitaError("missing 'sdcmicro' is for one file only; choose another rule with a register.")
    sources = register_keys(table, register, scenario)
    known = matching_counts(table.codes, sources, table.rule, table.records)[:, 0]
    # Under no_match a blank matches nobody in the register either: that is the rule, not a gap in the register.
    expected = table.complete if table.rule.name == "no_match" else np.ones(len(table.codes), dtype=bool)
    short = int(table.records[expected & (known < (1 - 1e-12) * table.sample_count)].sum())
    cautions = table.cautions
    if short:
        text = (
            f"the register holds fewer units than the file for the keys of {check.counted(short, 'record')}: "
            f"their F is set to f; check that the register covers the population and codes the keys alike."
        )
        warnings.warn(text, Caution, stacklevel=4)
        cautions = (*cautions, text)
    known = np.maximum(known, table.sample_count)
    return replace(table, population_count=known, source="register", cautions=cautions)


def register_keys(table: KeyTable, register: Data, scenario: Scenario) -> Keys:
    """The distinct keys of a register in the file's codes, with how many units have each."""
    check.columns_exist("register: keys", table.keys, register.columns)
    if len(register) == 0:
        raise TacitaError("the register has no records; check that it was exported completely.")
    grouped = InMemory(with_codes(register, scenario)).grouped(table.keys)
    columns = [
        _translated(name, grouped.codes[:, place], grouped.values[place], table.values[place])
        for place, name in enumerate(table.keys)
    ]
    return Keys(np.stack(columns, axis=1), grouped.totals)


def _translated(name: str, codes: Codes, theirs: tuple[Any, ...], values: tuple[Any, ...]) -> Codes:
    """A register's codes in terms of the file's; values that the file does not have get codes of their own."""
    # A blank that is a category is the text '' beside numbers too.
    kinds = [{isinstance(value, str) for value in part if value != ""} for part in (values, theirs)]
    if len(set().union(*kinds)) > 1:
        raise TacitaError(
            f"key {name!r} is text in the file or in the register, numbers in the other; make them alike."
        )
    code_of = {value: code for code, value in enumerate(values, start=1)}
    lookup = [0, *(code_of.get(value, len(values) + 1 + place) for place, value in enumerate(theirs))]
    return np.array(lookup, dtype=np.uint32)[codes]
