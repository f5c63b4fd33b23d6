"""Where key tables come from: any source that can code, group and join gives the same table, bit for bit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from strategies import RULES, Rule, Survey, quietly, surveys
from tacita import frame as frames
from tacita.data import Data
from tacita.keys.source import LIMB_BITS, LIMBS, WEIGHT_BITS, Grouped, InMemory, Source
from tacita.keys.table import KeyTable, key_table, table_of

Key = tuple[int, ...]


class Dictionaries:
    """A table as a list of records in plain Python: no arrays until the answer, no floating-point sums."""

    def __init__(self, records: Sequence[Mapping[str, Any]], weight: str | None) -> None:
        self.records, self.weight = records, weight

    def grouped(self, keys: Sequence[str], *, incomplete_apart: bool = False) -> Grouped:
        values = tuple(tuple(sorted({each[name] for each in self.records} - {None})) for name in keys)
        coded = [self._coded(each, keys, values) for each in self.records]
        # A key of its own is told apart by the number of its record, and stands behind the complete ones.
        apart = [(1, at) if incomplete_apart and 0 in key else (0, 0) for at, key in enumerate(coded)]
        every = list(zip(apart, coded, strict=True))
        row = {key: at for at, key in enumerate(sorted(set(every)))}
        records = Counter(every)
        totals = [[records[key], *([] if self.weight is None else self._limbs(every, key, self.weight))] for key in row]
        codes = np.array([key for _, key in row], dtype=np.uint32)
        return Grouped(codes, values, np.array(totals, dtype=np.int64), np.array([row[key] for key in every]))

    @staticmethod
    def _coded(record: Mapping[str, Any], keys: Sequence[str], values: tuple[tuple[Any, ...], ...]) -> Key:
        return tuple(
            0 if record[name] is None else known.index(record[name]) + 1
            for name, known in zip(keys, values, strict=True)
        )

    def _limbs(self, every: Sequence[Any], key: Any, weight: str) -> list[int]:
        """The exact sum of the weights of a key in digits of 25 bits."""
        own = [record[weight] for record, other in zip(self.records, every, strict=True) if other == key]
        total = sum(round(Fraction(value) * 2**WEIGHT_BITS) for value in own)
        return [total >> LIMB_BITS * (LIMBS - 1 - at) & (1 << LIMB_BITS) - 1 for at in range(LIMBS)]


def different_fields(first: KeyTable, second: KeyTable) -> list[str]:
    """The fields in which two key tables differ, to the last bit; not what only a file can tell."""

    def comparable(value: Any) -> Any:
        return (value.dtype, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value

    names = [each.name for each in fields(KeyTable)]
    compared = [name for name in names if name not in ("cautions", "keys_not_valid", "weights_not_valid")]
    return [name for name in compared if comparable(getattr(first, name)) != comparable(getattr(second, name))]


@given(surveys(), st.sampled_from(RULES), st.sampled_from(["w", None]))
@settings(deadline=None)
def test_another_source_gives_the_same_key_table(survey: Survey, rule: Rule, weight: str | None) -> None:
    scenario = survey.scenario(rule.text, weight=weight)
    other: Source = Dictionaries(survey.frame.to_dicts(), weight)
    with quietly():
        assert different_fields(key_table(survey.frame, scenario), table_of(other, scenario, scenario.keys)) == []


def test_texts_dates_and_fractions_too() -> None:
    table = pl.DataFrame(
        {
            "name": ["b", "a", None, "b", "a"],
            "height": [1.5, None, 1.75, 1.5, 1.5],
            "born": pl.Series(["2001-02-03", "1999-01-01", None, "2001-02-03", "2010-10-10"]).str.to_date(),
            "w": [1.1, 2.2, 3.3, 4.4, 1 / 3],
        }
    )
    for rule in ("one_way", "no_match", "partial(expected)"):
        scenario = tc.Scenario(keys=("name", "height", "born"), weight="w", missing=rule)  # type: ignore[arg-type]
        with quietly():
            assert (
                different_fields(
                    key_table(table, scenario), table_of(Dictionaries(table.to_dicts(), "w"), scenario, scenario.keys)
                )
                == []
            )


def test_the_groups_are_joined_back_by_record() -> None:
    people = Data.of(pl.DataFrame({"sex": ["m", "f", None, "m"], "w": [1.0, 2.0, 3.0, 4.5]}))
    grouped = InMemory(people, people.numbers("w")).grouped(["sex"])
    assert [grouped.values[0][code - 1] if code else None for code in grouped.codes[grouped.row, 0]] == [
        "m", "f", None, "m",
    ]  # fmt: skip
    assert grouped.totals[grouped.row, 0].tolist() == [2, 1, 1, 2]


def test_codes_are_made_once_per_assessment(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the records are grouped once per set of keys, however many rules count them and measures use them."""
    coded: Counter[str] = Counter()
    whole = frames.coded

    def counting(table: frames.Frame, name: str) -> frames.Coded:
        coded[name] += 1
        return whole(table, name)

    monkeypatch.setattr(frames, "coded", counting)
    people = pl.DataFrame({"a": [1, 1, 2, None] * 5, "b": ["x", "y"] * 10, "s": ["u", "v", "v", "u"] * 5})
    scenario = tc.Scenario(keys=("a", "b"), sensitive=("s",), sampling_fraction=0.1, key_sets={"one": {"keys": ["a"]}})  # type: ignore[dict-item]
    profile = tc.assess(people, scenario, measures=["suda", "unsafe_combinations"])
    assert set(profile.further) >= {"suda", "unsafe_combinations", "l_diversity"}
    assert profile.main.other_rules
    assert coded == {"a": 1, "b": 1, "s": 1}
