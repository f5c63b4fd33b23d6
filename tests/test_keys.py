"""The key table against the slow pairs of records: f and F under every rule, registers, blanks, weights."""

import math
import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slow
from strategies import FRACTIONAL_RULES, RULES, WHOLE_RULES, Rule, Survey, quietly, surveys
from tacita.check import Caution, TacitaError
from tacita.data import Data, Variable
from tacita.keys.table import GREATEST_TOTAL, KeyTable, key_table
from tacita.scenario import Scenario

NA = None


def f_of(table: KeyTable) -> list[float]:
    return table.per_record(table.sample_count).tolist()


def F_of(table: KeyTable) -> list[float]:
    return table.per_record(table.population_count).tolist()


# By hand.


def test_four_records_by_hand() -> None:
    """F spells out which records were counted: the weights are 1, 10, 100 and 1000."""
    frame = pl.DataFrame({"a": [1, 1, 2, NA], "b": [1, 1, 1, 1], "c": [3, NA, 3, NA], "w": [1.0, 10.0, 100.0, 1000.0]})
    for rule, f, F in [
        ("one_way", [1, 2, 1, 4], [1, 11, 100, 1111]),
        ("wildcard", [3, 3, 2, 4], [1011, 1011, 1100, 1111]),
        ("conservative", [1, 3, 1, 4], [1, 1011, 100, 1111]),
        ("no_match", [1, 1, 1, 1], [1, 10, 100, 1000]),
        ("own_category", [1, 1, 1, 1], [1, 10, 100, 1000]),
        ("partial(0.25)", [1.5, 3, 1.25, 4], [253.5, 1011, 350, 1111]),
    ]:
        table = key_table(frame, Scenario(keys=["a", "b", "c"], weight="w", missing=rule))
        assert (f_of(table), F_of(table)) == (f, F), rule
        assert (str(table.rule), table.source, table.has_missing) == (rule, "weights", True)


def test_a_table_is_one_row_per_key() -> None:
    frame = pl.DataFrame({"sex": ["m", "f", "f", "m"], "age": [31, 25, 25, NA]})
    table = key_table(frame, Scenario(keys=["sex", "age"]))
    assert table.values == (("f", "m"), (25, 31))
    assert table.codes.tolist() == [[1, 1], [2, 0], [2, 2]]
    assert table.records.tolist() == [2, 1, 1]
    assert table.row.tolist() == [2, 0, 0, 1]
    assert table.complete.tolist() == [True, False, True]
    assert table.size == 4
    assert table.sample_count.tolist() == [2, 2, 1]


def test_where_F_comes_from() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "w": [2.0, 3.0, 4.0]})
    for scenario, F, source in [
        (Scenario(keys=["a"], weight="w"), [5, 5, 4], "weights"),
        (Scenario(keys=["a"], population_size=30), [20, 20, 10], "population_size"),
        (Scenario(keys=["a"], sampling_fraction=0.25), [8, 8, 4], "sampling_fraction"),
        (Scenario(keys=["a"]), [2, 2, 1], "census"),
    ]:
        table = key_table(frame, scenario)
        assert (F_of(table), table.source) == (F, source)


def test_sampling_probability_is_at_most_one() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "w": [0.5, 0.5, 4.0]})
    with pytest.warns(Caution) as told:
        table = key_table(frame, Scenario(keys=["a"], weight="w"))
    assert table.per_record(table.sampling_probability).tolist() == [1, 1, 0.25]
    assert table.cautions == (
        "weight 'w' is below 1 in 2 records: a unit stands for at least itself; where F would be below f the risk is "
        "1/f.",
    )
    assert [str(each.message) for each in told] == list(table.cautions)


# Against the slow implementation.


@pytest.mark.parametrize("rule", WHOLE_RULES, ids=lambda rule: rule.text)
@settings(max_examples=40)
@given(survey=surveys())
def test_whole_counts_equal_the_slow_ones_exactly(rule: Rule, survey: Survey) -> None:
    with quietly():
        table = key_table(survey.frame, survey.scenario(rule.text))
    f, F = survey.frequencies(rule)
    assert f_of(table) == f
    assert F_of(table) == pytest.approx(F, rel=1e-12)
    if min(survey.weights) >= 1 and rule.name not in ("sdcmicro", "partial"):
        assert F_of(table) == F  # weights of at least 1 are summed exactly and rounded once, as fractions are
    assert table.records.sum() == table.size == len(survey.keys)


@pytest.mark.parametrize("rule", FRACTIONAL_RULES, ids=lambda rule: rule.text)
@settings(max_examples=40)
@given(survey=surveys())
def test_fractional_counts_equal_the_slow_ones(rule: Rule, survey: Survey) -> None:
    with quietly():
        table = key_table(survey.frame, survey.scenario(rule.text))
    f, F = survey.frequencies(rule)
    assert f_of(table) == pytest.approx(f, rel=1e-12)
    assert F_of(table) == pytest.approx(F, rel=1e-12)


def test_shares_that_add_up_to_a_whole_number_are_whole() -> None:
    """1 + 0.3 (1 + 6 + 3) = 4; added in doubles it is 3.9999999999999996, and the record would violate k = 4."""
    assert 1 + (0.3 * 1 + 0.3 * 6 + 0.3 * 3) < 4
    keys = [(1, 1, 1), *[(NA, 1, 1)] * 1, *[(1, NA, 1)] * 6, *[(NA, NA, 1)] * 3]
    frame = pl.DataFrame({f"k{j}": [key[j] for key in keys] for j in range(3)})
    assert f_of(key_table(frame, Scenario(keys=frame.columns, missing="partial(0.3)")))[0] == 4


@settings(max_examples=15)
@given(survey=surveys(missing=False))
def test_without_missing_values_all_rules_agree(survey: Survey) -> None:
    with quietly():
        tables = [key_table(survey.frame, survey.scenario(rule.text)) for rule in RULES]
    assert len({tuple(f_of(table)) for table in tables}) == 1
    assert len({tuple(F_of(table)) for table in tables}) == 1
    assert not tables[0].has_missing
    assert tables[0].sample_count.tolist() == tables[0].records.tolist()


@settings(max_examples=30)
@given(survey=surveys())
def test_rules_are_ordered(survey: Survey) -> None:
    """Nobody counts less than twins or more than wildcards; own blanks widen, others' blanks do not under one_way."""
    with quietly():
        f = {rule.text: np.array(f_of(key_table(survey.frame, survey.scenario(rule.text)))) for rule in RULES}
    order = ["no_match", "own_category", "one_way", "conservative", "partial(0.3)", "wildcard"]
    for lower, upper in pairwise(order):
        assert (f[lower] <= f[upper]).all(), (lower, upper)
    assert f["partial(1)"].tolist() == f["wildcard"].tolist()
    assert f["partial(0)"].tolist() == f["conservative"].tolist()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.text)
@settings(max_examples=15)
@given(survey=surveys(), order=st.randoms(use_true_random=False))
def test_rows_in_another_order_give_the_same_bits(rule: Rule, survey: Survey, order: object) -> None:
    rows = list(range(len(survey.keys)))
    order.shuffle(rows)  # type: ignore[attr-defined]
    with quietly():
        first = key_table(survey.frame, survey.scenario(rule.text))
        second = key_table(survey.frame[rows], survey.scenario(rule.text))
    assert [f_of(first)[row] for row in rows] == f_of(second)
    assert [F_of(first)[row] for row in rows] == F_of(second)


def test_many_keys_with_many_values() -> None:
    """40 keys of up to 500 values, far beyond 2^63 combinations, with blanks: as a slow count finds."""
    draw = np.random.default_rng(4)
    pool = draw.integers(0, 500, (25, 40))
    rows = pool[draw.integers(0, 25, 120)]
    rows[::7, draw.integers(0, 40, 3)] = 0
    keys = [tuple(value or None for value in row) for row in rows.tolist()]
    frame = pl.DataFrame({f"k{j}": [key[j] for key in keys] for j in range(40)})
    for rule in WHOLE_RULES:
        table = key_table(frame, Scenario(keys=frame.columns, missing=rule.text))
        assert f_of(table) == slow.frequencies(keys, [1.0] * 120, rule.name, c=rule.c, alpha=rule.alpha)[0]


def test_62_keys_are_the_most() -> None:
    frame = pl.DataFrame({f"k{j}": [1, 1, 2, NA] for j in range(63)})
    table = key_table(frame, Scenario(keys=frame.columns[:62], missing="wildcard"))
    assert f_of(table) == [3, 3, 2, 4]
    with pytest.raises(TacitaError) as error:
        key_table(frame, Scenario(keys=frame.columns))
    assert str(error.value) == "keys must be at most 62; got 63, use several key sets."


# Registers.

register_cell = st.one_of(st.none(), st.integers(1, 5))
"""With blanks, and with values that the file does not have."""


def register_factor(keys: list[slow.Key], i: int, other: slow.Key, rule: Rule) -> Fraction:
    """How much a unit of the register counts for record i of the file; shares are those of the file."""
    key = keys[i]
    if rule.name == "no_match" and not slow.is_complete(key):
        return Fraction(0)
    through_blanks = slow.is_complete(key) and not slow.is_complete(other) and slow.could_match(key, other)
    if through_blanks and isinstance(rule.c, str):
        shares = [share_in_file(keys, i, j, rule.c) for j, value in enumerate(other) if value is None]
        return math.prod(shares, start=Fraction(1))
    return Fraction(slow.rule_factor([key, other], rule.name, rule.c, rule.alpha)(0, 1))


def share_in_file(keys: list[slow.Key], i: int, j: int, c: str) -> Fraction:
    """The factor for a blank on key j: 1/categories, or the share with i's value among other records like i."""
    if c == "categories":
        return Fraction(1, len({key[j] for key in keys} - {None}))
    rest = [key for h, key in enumerate(keys) if h != i and None not in key]
    like = [key[j] for key in rest if all(key[m] == keys[i][m] for m in range(len(key)) if m != j)]
    return Fraction(like.count(keys[i][j]), len(like)) if like else Fraction(0)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.name != "sdcmicro"], ids=lambda rule: rule.text)
@settings(max_examples=30)
@given(survey=surveys(most=8), rows=st.data())
def test_register_counts_equal_the_slow_ones(rule: Rule, survey: Survey, rows: st.DataObject) -> None:
    width = len(survey.columns)
    units = rows.draw(st.lists(st.tuples(*[register_cell] * width), min_size=1, max_size=12))
    if rows.draw(st.booleans()):
        units = [*units, *survey.keys]  # a register that has the sample in it
    register = pl.DataFrame({f"k{j}": pl.Series([unit[j] for unit in units], dtype=pl.Int64) for j in range(width)})
    with quietly():
        table = key_table(survey.frame, survey.scenario(rule.text), register=register)
    f, _ = survey.frequencies(rule)
    known = [float(sum(register_factor(survey.keys, i, unit, rule) for unit in units)) for i in range(len(survey.keys))]
    assert table.source == "register"
    assert F_of(table) == pytest.approx([max(pair) for pair in zip(known, f, strict=True)], rel=1e-12)
    assert f_of(table) == pytest.approx(f, rel=1e-12)
    counted = [i for i, key in enumerate(survey.keys) if rule.name != "no_match" or slow.is_complete(key)]
    short = sum(known[i] < f[i] - 1e-9 for i in counted)
    said = [text for text in table.cautions if text.startswith("the register")]
    assert len(said) == (1 if short else 0)
    if short:
        noun = "record" if short == 1 else "records"
        assert said[0] == (
            f"the register holds fewer units than the file for the keys of {short} {noun}: their F is set to f; "
            "check that the register covers the population and codes the keys alike."
        )


def test_register_by_hand() -> None:
    """f 2, 2, 1; the register has 3 units of north and 1 of south, and one of a region that the file does not have."""
    frame = pl.DataFrame({"region": ["north", "north", "south"], "w": [9.0, 9.0, 9.0]})
    register = pl.DataFrame({"region": ["south", "north", "west", "north", "north"], "more": [1, 2, 3, 4, 5]})
    table = key_table(frame, Scenario(keys=["region"], weight="w"), register=register)
    assert F_of(table) == [3, 3, 1]
    assert table.cautions == ()


def test_a_register_that_lacks_units_is_said_at_once() -> None:
    frame = pl.DataFrame({"region": ["north", "north", "south"]})
    with pytest.warns(Caution) as told:
        table = key_table(frame, Scenario(keys=["region"]), register=frame.head(2))
    assert [str(each.message) for each in told] == list(table.cautions)
    assert F_of(table) == [2, 2, 1]


def test_a_register_may_be_whole_numbers_where_the_file_has_floats() -> None:
    frame = pl.DataFrame({"age": [31.0, 31.0, None]})
    register = pl.DataFrame({"age": [31, 31, 31, 40]})
    assert F_of(key_table(frame, Scenario(keys=["age"]), register=register)) == [3, 3, 4]


def test_a_blank_category_beside_numbers_does_not_make_a_register_differ() -> None:
    frame = pl.DataFrame({"job": [1, None, 2]})
    scenario = Scenario(keys=["job"], not_applicable={"job": [""]})
    with_blank = pl.DataFrame({"job": [1, 1, None, None, None, 2]})
    assert F_of(key_table(frame, scenario, register=with_blank)) == [2, 3, 1]
    with quietly():
        assert F_of(key_table(frame, scenario, register=with_blank.drop_nulls())) == [2, 1, 1]


@pytest.mark.parametrize(
    ("register", "rule", "message"),
    [
        ({"regio": ["a"]}, "one_way", "register: keys not in the data: 'region'. Did you mean 'regio'?"),
        (
            {"region": [1, 2]},
            "one_way",
            "key 'region' is text in the file or in the register, numbers in the other; make them alike.",
        ),
        (
            {"region": ["a"]},
            "sdcmicro(1)",
            "missing 'sdcmicro' is for one file only; choose another rule with a register.",
        ),
        (
            {"region": pl.Series([], dtype=pl.String)},
            "one_way",
            "the register has no records; check that it was exported completely.",
        ),
    ],
)
def test_bad_registers(register: dict[str, object], rule: str, message: str) -> None:
    frame = pl.DataFrame({"region": ["a", "b"]})
    with pytest.raises(TacitaError) as error:
        key_table(frame, Scenario(keys=["region"], missing=rule), register=pl.DataFrame(register))
    assert str(error.value) == message


# What is missing, what does not apply.


def test_not_applicable_is_a_category_under_every_rule() -> None:
    """A child's blank job is known to any intruder: it matches other blanks, and nobody else."""
    frame = pl.DataFrame({"job": [1, 1, None, None]})
    for rule in RULES:
        table = key_table(frame, Scenario(keys=["job"], missing=rule.text, not_applicable={"job": [""]}))
        assert f_of(table) == [2, 2, 2, 2], rule.text
        assert table.values == (("", 1, 2)[:2],)
        assert not table.has_missing


def test_declared_missing_codes_are_categories() -> None:
    """Whoever reads the file sees them: only an empty cell is missing."""
    frame = pl.DataFrame({"job": [1, 1, 98, 99, None]})
    data = Data.of(frame, {"job": Variable(missing=(98, 99))})
    assert f_of(key_table(data, Scenario(keys=["job"]))) == [2, 2, 1, 1, 5]
    applied = Scenario(keys=["job"], not_applicable={"job": [98]})
    assert f_of(key_table(data, applied)) == [2, 2, 1, 1, 5]


def test_all_missing_and_one_record() -> None:
    frame = pl.DataFrame({"a": [None, None]}, schema={"a": pl.String})
    assert f_of(key_table(frame, Scenario(keys=["a"]))) == [2, 2]
    assert f_of(key_table(frame, Scenario(keys=["a"], missing="no_match"))) == [1, 1]
    for rule in RULES:
        assert f_of(key_table(frame.head(1), Scenario(keys=["a"], missing=rule.text))) == [1], rule.text


@pytest.mark.parametrize(
    "values",
    [
        ["x", "x", "y"],
        pl.Series(["x", "x", "y"], dtype=pl.Categorical),
        pl.Series(["x", "x", "y"], dtype=pl.Enum(["y", "x"])),
        [True, True, False],
        [0.0, -0.0, 1.5],
        [2**40, 2**40, -5],
        pl.Series([2**64 - 1, 2**64 - 1, 2**64 - 3], dtype=pl.UInt64),
        pl.Series([1, 1, 0], dtype=pl.Int8),
        pl.Series(["1.5", "1.5", "2.5"]).cast(pl.Decimal(10, 2)),
        pl.Series(["2020-01-01", "2020-01-01", "2021-01-01"]).str.to_date(),
    ],
    ids=lambda values: str(getattr(values, "dtype", type(values[0]).__name__)),
)
def test_any_kind_of_column_can_be_a_key(values: object) -> None:
    frame = pl.DataFrame({"a": values})
    assert f_of(key_table(frame, Scenario(keys=["a"]))) == [2, 2, 1]
    blank = pl.concat([frame, pl.DataFrame({"a": [None]}, schema=frame.schema)])
    assert f_of(key_table(blank, Scenario(keys=["a"], missing="own_category"))) == [2, 2, 1, 1]


def test_nan_is_missing() -> None:
    frame = pl.DataFrame({"a": [1.0, float("nan"), None]})
    assert f_of(key_table(frame, Scenario(keys=["a"], missing="own_category"))) == [1, 2, 2]


# Wrong input.


@pytest.mark.parametrize(
    ("frame", "scenario", "message"),
    [
        ({"a": [1]}, {"keys": ["b"]}, "keys not in the data: 'b'. The columns are 'a'."),
        ({"a": []}, {"keys": ["a"]}, "the file has no records; there is nothing to assess."),
        ({"a": [[1]]}, {"keys": ["a"]}, "column 'a' holds lists or objects; keys must be text, numbers or dates."),
        (
            {"a": [1.0, float("inf")]},
            {"keys": ["a"]},
            "key 'a' must be finite; 1 value is infinite (record 2), correct the file.",
        ),
        (
            {"a": [1], "w": [1e-20]},
            {"keys": ["a"], "weight": "w"},
            "weight 'w' must be positive; 1 value is next to zero (record 1), correct the file.",
        ),
        (
            {"a": [1], "w": [1e15]},
            {"keys": ["a"], "weight": "w"},
            "weight 'w' must be at most 1e+14; check that it is a sampling weight.",
        ),
        (
            {"a": [1] * 20, "w": [1.4e14] * 20},
            {"keys": ["a"], "weight": "w"},
            "weight 'w' must add up to at most 2e+15; check that it is a sampling weight.",
        ),
        (
            {"a": [1, 2], "x": [0.5, 0.5]},
            {"numeric_keys": ["x"]},
            "the scenario has no categorical keys; pass keys=[...].",
        ),
    ],
)
def test_bad_input(frame: dict[str, list[object]], scenario: dict[str, object], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        key_table(pl.DataFrame(frame), Scenario(**scenario))  # type: ignore[arg-type]
    assert str(error.value) == message


def test_the_greatest_total_of_weights_is_exact() -> None:
    weights = [GREATEST_TOTAL / 16 - 0.25] * 16
    frame = pl.DataFrame({"a": [1] * 16, "w": weights})
    assert F_of(key_table(frame, Scenario(keys=["a"], weight="w")))[0] == GREATEST_TOTAL - 4


def test_wrong_rows_are_named_by_their_record_numbers() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3], "w": [1.0, -1.0, -2.0]})
    data = Data(frame, numbers_of_records=np.array([1007, 1008, 1009]))
    with pytest.raises(TacitaError) as error:
        key_table(data, Scenario(keys=["a"], weight="w"))
    assert str(error.value) == (
        "weight 'w' must be positive; 2 values are negative (records 1,008, 1,009), correct the file."
    )


def test_keys_can_be_given_beside_the_scenario() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2], "b": [1, 2, 2]})
    scenario = Scenario(keys=["a"])
    assert f_of(key_table(frame, scenario, ["b"])) == [1, 2, 2]
    with pytest.raises(TacitaError) as error:
        key_table(frame, scenario, ["c"])
    assert str(error.value) == "keys not in the data: 'c'. The columns are 'a', 'b'."


def test_no_warning_where_there_is_nothing_to_say() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = key_table(pl.DataFrame({"a": [1, 2], "w": [1.0, 1.0]}), Scenario(keys=["a"], weight="w"))
    assert (caught, table.cautions) == ([], ())
