"""Rules: texts that are read by a small grammar, judged record by record, and counted before and after a plan."""

import math
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import Caution, TacitaError
from tacita.data import Data, Variable
from tacita.mechanism import Mechanism
from tacita.protect.step import Applied, Context, Step
from tacita.rules import Broken, EditRule, Rules, Total, broken_rules, checked_rules, rule_of
from tacita.rules.parse import parsed
from tacita.rules.words import name_word, text_word, words

FIRMS = pl.DataFrame(
    {
        "wages": [10.0, 20.0, None, 5.0, 7.0],
        "profit": [5.0, -3.0, 4.0, None, 1.0],
        "total": [15.0, 17.0, 4.0, 5.0, 9.0],
        "turnover": [40.0, 0.0, 10.0, 20.0, 7.5],
        "nace": ["C", "G", None, "C", "it's"],
        "size class": [1, 2, 2, None, 3],
    }
)


def judged(rule: str | EditRule, table: pl.DataFrame | Data = FIRMS) -> list[bool | None]:
    """By record: True, False, or None for undecided."""
    found = rule_of(rule).verdict(Data.of(table))
    assert not (found.holds & found.fails).any()
    return [True if h else False if f else None for h, f in zip(found.holds, found.fails, strict=True)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("profit >= 0", [True, False, True, None, True]),
        ("total = wages + profit", [True, True, None, None, False]),
        ("total == wages+profit", [True, True, None, None, False]),
        ("total != wages + profit", [False, False, None, None, True]),
        ("total <> wages + profit", [False, False, None, None, True]),
        ("0.1 <= wages / turnover <= 0.9", [True, None, None, True, False]),
        ("turnover > 0", [True, False, True, True, True]),
        ("not turnover > 0", [False, True, False, False, False]),
        ("wages is missing", [False, False, True, False, False]),
        ("wages is not missing", [True, True, False, True, True]),
        ("nace = 'C'", [True, False, None, True, False]),
        ('nace != "C"', [False, True, None, False, True]),
        (r"nace = 'it\'s'", [False, False, None, False, True]),
        ("'C' = nace", [True, False, None, True, False]),
        ("nace in ('C', 'G')", [True, True, None, True, False]),
        ("nace not in ('C', 'G')", [False, False, None, False, True]),
        ("`size class` in (1, 2)", [True, True, True, None, False]),
        ("`size class` in (-1, 3)", [False, False, False, None, True]),
        ("`size class` = 2", [False, True, True, None, False]),
        ("nace = 'C' implies wages >= 8", [True, True, None, False, True]),
        ("wages > 8 or profit > 3", [True, True, True, None, False]),
        ("wages > 8 and profit > 3", [True, False, None, False, False]),
        ("abs(profit) = 3", [False, True, False, None, False]),
        ("-profit > 0", [False, True, False, None, False]),
        ("2 * (wages - 1) >= 18 - 3 * 2", [True, True, None, False, True]),
        ("wages / turnover * 4 = 1", [True, None, None, True, False]),
        ("(wages > 8 or wages < 6) and total > 0", [True, True, None, True, False]),
        ("nace = nace", [True, True, None, True, True]),
        ("1 < 2", [True] * 5),
        ("wages IS Missing", [False, False, True, False, False]),
        ("total = 1.5e1", [True, False, False, False, False]),
        ("total = .5 * 30", [True, False, False, False, False]),
        ("wages > 8 implies profit > 0 implies total > 0", [True, True, True, True, True]),
    ],
)
def test_rules_by_hand(rule: str, expected: list[bool | None]) -> None:
    assert judged(rule) == expected


def test_undecided_parts_do_not_matter_where_the_other_decides() -> None:
    # Kleene: unknown or true is true, unknown and false is false.
    assert judged("wages > 0 or total > 3")[2] is True
    assert judged("wages > 0 and total > 99")[2] is False
    assert judged("wages > 0 implies total > 3")[2] is True


def test_tolerances() -> None:
    off = pl.DataFrame({"a": [10.0, 10.4, 10.6, 1000.4], "b": [10.0, 10.0, 10.0, 1000.0]})
    assert judged("a = b", off) == [True, False, False, False]
    assert judged(EditRule("a = b", tolerance=0.5), off) == [True, True, False, True]
    assert judged(EditRule("a = b", relative=0.001), off) == [True, False, False, True]
    assert judged(EditRule("a <= b", tolerance=0.5), off) == [True, True, False, True]
    assert judged(EditRule("b >= a", tolerance=0.5), off) == [True, True, False, True]
    assert judged(EditRule("a < b", tolerance=0.5), off) == [True, True, False, True]
    assert judged(EditRule("b > a", tolerance=0.5), off) == [True, True, False, True]
    assert judged(EditRule("a != b", tolerance=0.5), off) == [False, False, True, False]
    assert judged(EditRule("a = 10", tolerance=0.5), off) == [True, True, False, False]
    tenths = pl.DataFrame({"a": [0.1], "b": [0.2], "c": [0.3]})
    assert judged("a + b = c", tenths) == [True], "what doubles cannot hold is no violation"
    assert judged("a + b <= c", tenths) == [True]


def test_declared_codes() -> None:
    known = {"income": Variable(missing=(-9,), not_applicable=(-8,)), "job": Variable(not_applicable=("none",))}
    data = Data.of(pl.DataFrame({"income": [-9, -8, 5], "job": ["none", "smith", None], "age": [9, 9, 40]}), known)
    assert judged("income >= 0", data) == [None, None, True]
    assert judged("income is missing", data) == [True, False, False]
    assert judged("income = -8", data) == [None, True, False]
    assert judged("income in (-8, 5)", data) == [None, True, True]
    assert judged("age < 15 implies income in (-8)", data) == [None, True, True]
    assert judged("job = 'none'", data) == [True, False, None]


def test_constants_with_a_sign_are_constants() -> None:
    data = Data.of(pl.DataFrame({"income": [-8, 5]}), {"income": Variable(not_applicable=(-8,))})
    assert judged("income = -8", data) == [True, False]
    assert judged("income != -8", data) == [False, True]


def test_columns_of_many_kinds() -> None:
    table = pl.DataFrame(
        {
            "flag": [True, False, None],
            "level": pl.Series(["low", "high", None], dtype=pl.Enum(["low", "high"])),
            "kind": pl.Series(["low", "mid", "mid"], dtype=pl.Categorical),
            "blank": pl.Series([None, None, None], dtype=pl.String),
        }
    )
    assert judged("flag = 1", table) == [True, False, None]
    assert judged("level = 'low'", table) == [True, False, None]
    assert judged("level = kind", table) == [True, False, None]
    assert judged("level != kind", table) == [False, True, None]
    assert judged("blank = 'x'", table) == [None] * 3
    assert judged("blank = 3", table) == [None] * 3
    assert judged("blank > 3", table) == [None] * 3


# A slow twin: conditions made up together with a function that judges one row in three-valued logic.

Row = dict[str, float | None]


@dataclass
class Made:
    text: str
    judge: object

    def __call__(self, row: Row) -> object:
        return self.judge(row)  # type: ignore[operator]


def _combine(word: str, one: object, two: object) -> object:
    if word == "and":
        return False if one is False or two is False else None if one is None or two is None else True
    if word == "or":
        return True if one is True or two is True else None if one is None or two is None else False
    return _combine("or", None if one is None else not one, two)


NAMES = ["x", "y", "net income"]
number = st.integers(-3, 3).map(lambda n: Made(str(n), lambda row: float(n)))
column = st.sampled_from(NAMES).map(lambda name: Made(name_word(name), lambda row: row[name]))


def _calculate(sign: str, one: float | None, two: float | None) -> float | None:
    if one is None or two is None or (sign == "/" and two == 0):
        return None
    return {"+": one + two, "-": one - two, "*": one * two, "/": one / two if two else 0.0}[sign]


terms = st.recursive(
    number | column,
    lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner).map(
        lambda t: Made(f"({t[1].text} {t[0]} {t[2].text})", lambda row: _calculate(t[0], t[1](row), t[2](row)))
    ),
    max_leaves=4,
)


def _compare(sign: str, one: float | None, two: float | None) -> bool | None:
    if one is None or two is None:
        return None
    same = math.isclose(one, two, rel_tol=1e-12)
    return {
        "=": same,
        "!=": not same,
        "<": one < two,
        ">": one > two,
        "<=": one < two or same,
        ">=": one > two or same,
    }[sign]


comparisons = st.tuples(st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), terms, terms).map(
    lambda t: Made(f"{t[1].text} {t[0]} {t[2].text}", lambda row: _compare(t[0], t[1](row), t[2](row)))
)
gone = st.sampled_from(NAMES).map(lambda name: Made(f"{name_word(name)} is missing", lambda row: row[name] is None))
conditions = st.recursive(
    comparisons | gone,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or", "implies"]), inner, inner).map(
            lambda t: Made(f"({t[1].text}) {t[0]} ({t[2].text})", lambda row: _combine(t[0], t[1](row), t[2](row)))
        ),
        inner.map(lambda m: Made(f"not ({m.text})", lambda row: None if m(row) is None else not m(row))),
    ),
    max_leaves=5,
)
rows = st.lists(st.fixed_dictionaries({name: st.none() | st.integers(-3, 3) for name in NAMES}), min_size=1, max_size=8)


@given(conditions, rows)
@settings(max_examples=300)
def test_conditions_are_judged_as_row_by_row(made: Made, records: list[Row]) -> None:
    table = pl.DataFrame({name: pl.Series([row[name] for row in records], dtype=pl.Int64) for name in NAMES})
    floats = [{name: None if value is None else float(value) for name, value in row.items()} for row in records]
    assert judged(made.text, table) == [made(row) for row in floats]


def test_precedence() -> None:
    table = pl.DataFrame({"a": [1], "b": [0], "c": [0]})
    assert judged("a = 1 or b = 1 and c = 1", table) == [True]
    assert judged("(a = 1 or b = 1) and c = 1", table) == [False]
    assert judged("not a = 0 and b = 0", table) == [True]
    assert judged("a = 0 implies b = 1 or c = 1", table) == [True]
    assert judged("a + b * 2 - c = 1", table) == [True]
    assert judged("8 / 4 / 2 = 1", table) == [True]
    assert judged("5 - 3 - 2 = 0", table) == [True]


@given(st.text(min_size=1), st.text())
def test_any_name_and_any_text_can_be_written(name: str, text: str) -> None:
    found = words(f"{name_word(name)} = {text_word(text)}")
    assert [(word.kind, word.text) for word in found] == [
        ("name", name),
        ("sign", "="),
        ("text", text),
        ("end", ""),
    ]


MISREAD = [
    (
        "income >",
        "the rule 'income >' ends too early, at character 9; write a name, a number or a text in quotes there.",
    ),
    ("income", "the rule 'income' has a value where a condition must be, at character 1; compare it, as in x > 0."),
    (
        "income > 0 age",
        "the rule 'income > 0 age' has 'age' in the wrong place, at character 12; join two conditions by and, or or "
        "implies.",
    ),
    (
        "net income > 0",
        "the rule 'net income > 0' has two names side by side, at character 5; put a name with blanks in `backquotes`.",
    ),
    (
        "income ? 0",
        "the rule 'income ? 0' has '?' where no word can be read, at character 8; put names with blanks or signs in "
        "`backquotes` and texts in 'quotes'.",
    ),
    (
        "sex = 'f",
        'the rule "sex = \'f" has "\'" where no word can be read, at character 7; close the quote.',
    ),
    (
        "2nd > 1",
        "the rule '2nd > 1' has '2' where no word can be read, at character 1; write a number such as 12.5, and put a "
        "name that begins with a digit in `backquotes`.",
    ),
    ("(income > 0", "the rule '(income > 0' ends too early, at character 12; write ')' there."),
    (
        "sex < 'f'",
        "the rule \"sex < 'f'\" compares the size of a text, at character 7; use = and != for texts.",
    ),
    (
        "income + 'a' > 0",
        "the rule \"income + 'a' > 0\" calculates with a text, at character 10; write numbers without quotes.",
    ),
    (
        "(a > 0) + 1 > 0",
        "the rule '(a > 0) + 1 > 0' calculates with a condition, at character 4; put brackets around what is added "
        "first.",
    ),
    (
        "(a > 0) = (b > 0)",
        "the rule '(a > 0) = (b > 0)' compares a condition, at character 4; join conditions by and, or or implies.",
    ),
    (
        "a in ()",
        "the rule 'a in ()' has ')' in the wrong place, at character 7; write a name, a number "
        "or a text in quotes there.",
    ),
    (
        "a in (b)",
        "the rule 'a in (b)' lists something that is no constant, at character 7; list numbers and texts in quotes.",
    ),
    ("a in 3", "the rule 'a in 3' has '3' in the wrong place, at character 6; write '(' there."),
    (
        "a + 1 in (3)",
        "the rule 'a + 1 in (3)' has 'in' behind something that is no variable, at character 3; name a variable.",
    ),
    ("a is 3", "the rule 'a is 3' has '3' in the wrong place, at character 6; write 'missing' there."),
    (
        "3 is missing",
        "the rule '3 is missing' has 'is missing' behind something that is no variable, at character 1; name a "
        "variable.",
    ),
    ("a not 3", "the rule 'a not 3' has '3' in the wrong place, at character 7; write 'in' there."),
    ("", "a rule must be a text such as 'income >= 0'; got ''."),
    ("a > " + "1 + " * 300 + "1", "a rule must have at most 500 words; got 604, split it into several."),
]


@pytest.mark.parametrize(("rule", "message"), MISREAD)
def test_what_cannot_be_read_is_said_with_its_place(rule: str, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        EditRule(rule)
    assert str(error.value) == message


@pytest.mark.parametrize("rule", ["(" * 60 + "a" + ")" * 60 + " > 0", "not " * 60 + "a > 0", "- " * 60 + "a > 0"])
def test_deep_rules_are_refused(rule: str) -> None:
    with pytest.raises(TacitaError, match="goes more than 30 levels deep, at character"):
        EditRule(rule)


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_any_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    try:
        parsed(text)
    except TacitaError as error:
        assert str(error).endswith(".")


@pytest.mark.parametrize(
    "rule",
    [
        "__import__('os') = 1",
        "a.__class__ = 1",
        "open('x') > 0",
        "[1] = 1",
        "lambda: 1",
        "a; b",
        "a := 3",
        "a ** 9 > 1",
    ],
)
def test_nothing_but_rules_is_understood(rule: str) -> None:
    with pytest.raises(TacitaError):
        EditRule(rule).verdict(Data.of(pl.DataFrame({"a": [1]})))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            "wagess > 0",
            "variables of the rule 'wagess > 0' not in the data: 'wagess'. Did you mean 'wages'?",
        ),
        (
            "nace = 3",
            "the rule 'nace = 3' does not fit the data, at character 1: column 'nace' holds text; write the constant "
            "in quotes.",
        ),
        (
            "wages in (3, 'x')",
            "the rule \"wages in (3, 'x')\" does not fit the data, at character 1: column 'wages' holds numbers; write "
            "the constant without quotes.",
        ),
        (
            "0 < nace",
            "the rule '0 < nace' does not fit the data, at character 5: column 'nace' holds text; compare it with "
            "texts by = and !=.",
        ),
        (
            "nace = wages",
            "the rule 'nace = wages' does not fit the data, at character 1: column 'nace' holds text; compare it with "
            "texts by = and !=.",
        ),
        (
            "born > 3",
            "the rule 'born > 3' does not fit the data, at character 1: column 'born' holds neither numbers nor text; "
            "convert it.",
        ),
    ],
)
def test_rules_that_do_not_fit_the_data(rule: str, message: str) -> None:
    table = FIRMS.with_columns(born=pl.date(2000, 1, 1))
    plan = tc.Plan([Fails()])
    with pytest.raises(TacitaError) as error:
        plan.apply(table, tc.Scenario(keys=["nace"]), rules=[rule])
    assert str(error.value) == message, "and before any step is done"


class Fails(Step):
    """A step that must not be reached."""

    def apply(self, data: Data, context: Context) -> Applied:
        raise AssertionError


# Totals


def test_totals_by_hand() -> None:
    data = Data.of(FIRMS)
    assert not Total("total", 50).broken(data).any()
    assert Total("total", 51).broken(data).tolist() == [True]
    assert not Total("total", 51, tolerance=1).broken(data).any()
    assert not Total("total", 51, relative=0.02).broken(data).any()
    assert Total("total", 51, relative=0.019).broken(data).tolist() == [True]
    assert Total("wages", 42).broken(data).tolist() == [False], "missing values do not count"
    assert not Total(None, 5).broken(data).any()
    assert not Total(None, 2, where="nace = 'C'").broken(data).any()
    assert not Total("total", 20, where={"nace": "C"}).broken(data).any()
    assert not Total("total", 37, where={"nace": ["C", "G"], "size class": [1, 2, 3]}, tolerance=5).broken(data).any()
    # Weighted by turnover: 15 * 40 + 17 * 0 + 4 * 10 + 5 * 20 + 9 * 7.5.
    assert not Total("total", 807.5, weight="turnover").broken(data).any()
    assert not Total(None, 77.5, weight="turnover").broken(data).any()


def test_a_total_of_nothing_is_undecided_only_where_values_are_missing() -> None:
    data = Data.of(FIRMS)
    found = Total("wages", 3, where="nace is missing").verdict(data)
    assert not found.holds.any() and not found.fails.any()
    assert not Total("wages", 0, where="nace = 'Z'").broken(data).any()
    assert Total(None, 3, where="nace = 'Z'").broken(data).all()


def test_totals_do_not_depend_on_the_order_of_the_records() -> None:
    values = [0.1, 1e16, -1e16, 0.3, 7.7]
    data = Data.of(pl.DataFrame({"x": values}))
    order = np.array([4, 2, 0, 3, 1])
    rule = Total("x", 1)
    assert rule.found(data) == rule.found(data.take(order))


def test_totals_as_texts() -> None:
    assert Total("net income", 1200.5, where={"sex": "it's", "age group": [1, 2]}, weight="w").text == (
        "total of `net income` * w where sex = 'it\\'s' and `age group` in (1, 2) is 1200.5"
    )
    assert Total(None, 12).text == "number of records is 12"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Total(3, 1), "variable of a total must be the name of a column; got 3."),
        (lambda: Total("x", 1, weight=3), "weight of a total must be the name of a column; got 3."),
        (lambda: Total("x", "many"), "value of a total must be a number; got 'many'."),
        (lambda: Total("x", 1, where=3), "where must be a condition, as \"sex = 'f'\", or a table; got 3."),
        (lambda: Total("x", 1, where={"sex": []}), "where of 'sex' must be a value or a list of values; got []."),
        (lambda: Total("x", 1, where={"sex": None}), "where of 'sex' must be a value or a list of values; got None."),
        (lambda: Total("x", 1, tolerance=-1), "tolerance must be at least 0; got -1.0."),
        (lambda: EditRule("a > 0", relative=-0.1), "relative must be at least 0; got -0.1."),
        (lambda: EditRule(3), "a rule must be a text such as 'income >= 0'; got 3."),
        (lambda: Rules(3), "rules must be a list of rules, as ['income >= 0']; got 3."),
        (
            lambda: Rules([3]),
            "a rule must be a text such as 'income >= 0', or a table with rule = '...' or total = '...'; got int.",
        ),
        (
            lambda: Rules([{"rule": "a > 0", "total": "a"}]),
            "a rule must be a text such as 'income >= 0', or a table with rule = '...' or total = '...'; got dict.",
        ),
        (
            lambda: Rules([{"rule": "a > 0", "tolerence": 1}]),
            "rule has no field 'tolerence'. Did you mean 'tolerance'?",
        ),
        (lambda: Rules([{"total": "a"}]), "a published total must say its value, as value = 1200."),
        (
            lambda: Rules.from_toml("format = 2"),
            "the text has format 2; this version reads format 1, update Tacita.",
        ),
        (
            lambda: Rules.from_toml("format = 1"),
            "the text has no rules; add tables headed [[rules]], or rules = ['income >= 0'].",
        ),
    ],
)
def test_mistakes_are_said_in_one_sentence(make: object, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        make()  # type: ignore[operator]
    assert str(error.value) == message


def test_toml_that_is_none() -> None:
    with pytest.raises(TacitaError, match=r"^the text is not valid TOML: "):
        Rules.from_toml("rules = [")


# Files

RULES = Rules(
    [
        "income >= 0",
        EditRule("total = wages + profit", tolerance=0.5, relative=0.01),
        Total("income", 1000, where="sex = 'f'", weight="w", tolerance=5),
        Total(None, 12),
    ]
)


def test_rules_go_to_toml_and_back(tmp_path: Path) -> None:
    assert Rules.from_toml(RULES.to_toml()) == RULES
    assert Rules.load(RULES.save(tmp_path / "rules.toml")) == RULES
    tables = '[[rules]]\nrule = "income >= 0"\n\n[[rules]]\ntotal = ""\nvalue = 12\nwhere = {sex = "f"}\n'
    assert Rules.from_toml(tables) == Rules(["income >= 0", Total(None, 12, where="sex = 'f'")])
    assert Rules.from_toml('rules = ["income >= 0"]') == Rules("income >= 0") == Rules([EditRule("income >= 0")])
    assert [rule_of(rule.to_dict()) for rule in RULES] == list(RULES)
    assert len(RULES) == 4 and Rules.of(RULES) is RULES
    assert str(RULES).splitlines()[0] == "income >= 0"
    assert str(Rules()) == "no rules"


# What becomes of them


@dataclass(frozen=True)
class Put(Step):
    """Put values into a column, for these tests."""

    variable: str
    values: tuple[object, ...]

    def apply(self, data: Data, context: Context) -> Applied:
        return Applied(data.with_columns({self.variable: list(self.values)}))


PEOPLE = pl.DataFrame({"sex": ["f", "m", "m", "f"], "income": [5.0, -1.0, 7.0, None], "age": [3, 4, 5, 6]})
WHO = tc.Scenario(keys=["sex"])


def test_violations_are_counted_before_and_after() -> None:
    plan = tc.Plan([Put("income", (-5.0, -1.0, None, 3.0))])
    release = plan.apply(PEOPLE, WHO, rules=["income >= 0", "age > 0"])
    (found,) = release.broken
    assert found == Broken("income >= 0", 1, 2, newly=1, undecided_before=1, undecided=1)
    assert found.records.tolist() == [1, 2]
    assert str(found) == (
        "the rule 'income >= 0' is broken 2 times in the release, 1 time in the original, 1 newly, 1 undecided."
    )
    assert str(found) in release.cautions
    assert release.to_dict()["broken_rules"] == [found.to_dict()]
    assert "records" not in found.to_dict() and "record" not in repr(found)
    everything = checked_rules(Rules(["income >= 0", "age > 0"]), Data.of(PEOPLE), release.data)
    assert [each.kept for each in everything] == [False, True]


def test_newly_broken_is_by_record_not_by_row() -> None:
    before, after = Data.of(PEOPLE), Data.of(PEOPLE).take(np.array([3, 2, 1]))
    (found,) = broken_rules(Rules("income >= 0"), before, after)
    assert (found.before, found.after, found.newly, found.records.tolist()) == (1, 1, 0, [2])


def test_totals_that_moved() -> None:
    release = tc.Plan([Put("income", (5.0, 2.0, 7.0, 8.0))]).apply(
        PEOPLE, WHO, rules=[Total("income", 11), Total(None, 4)]
    )
    (found,) = release.broken
    assert str(found) == (
        "the rule 'total of income is 11' is broken 1 time in the release, 0 times in the original, 1 newly, "
        "off by 1e+02 % (too high)."
    )
    assert found.records.tolist() == []
    (zero,) = broken_rules(Rules(Total("income", 0)), Data.of(PEOPLE), Data.of(PEOPLE))
    assert zero.note == "off by 11 (too high)" and zero.newly == 0


def test_rules_that_no_longer_fit_are_said_to_be_unchecked() -> None:
    plan = tc.Plan([tc.Remove("income"), Put("age", ("0-4", "0-4", "5-9", "5-9"))])
    release = plan.apply(PEOPLE, WHO, rules=["income >= 0", "age > 0", Total("income", 11), "sex = 'f' or sex = 'm'"])
    assert [each.rule for each in release.broken] == ["income >= 0", "age > 0", "total of income is 11"]
    assert all(each.unchecked and not each.kept for each in release.broken)
    assert str(release.broken[0]) == (
        "the rule 'income >= 0' could not be checked in the release: a variable that it needs is no longer there, or "
        "holds text in place of numbers."
    )


def test_no_value_of_the_data_is_in_what_is_said() -> None:
    people = pl.DataFrame({"name": ["Quetzalcoatl", "Bo"], "income": [-123456789.0, 5.0]})
    release = tc.Plan().apply(people, tc.Scenario(keys=["name"]), rules=["income >= 0", "name = 'Bo'", "name != name"])
    said = str(release) + repr(release) + str(release.to_dict()) + repr(release.broken)
    assert len(release.broken) == 3
    assert "Quetzalcoatl" not in said and "123456789" not in said


def test_the_rules_are_saved_inside_only(tmp_path: Path) -> None:
    folder = (
        tc.Plan().apply(PEOPLE, WHO, rules=RULES_OF_PEOPLE).save(tmp_path / "out", accept_unsafe="a test", report=False)
    )
    assert Rules.load(folder / "internal" / "rules.toml") == RULES_OF_PEOPLE
    assert not (folder / "not_for_publication" / "rules.toml").exists()
    bare = tc.Plan().apply(PEOPLE, WHO).save(tmp_path / "bare", accept_unsafe="a test", report=False)
    assert not (bare / "internal" / "rules.toml").exists()


RULES_OF_PEOPLE = Rules(["income >= 0", Total("age", 18)])


# Perturbed keys


@dataclass(frozen=True)
class Exchange(Step):
    """Values exchanged for wrong ones, for these tests."""

    variables: tuple[str, ...]

    def apply(self, data: Data, context: Context) -> Applied:
        fresh = {name: data.table[name].reverse() for name in self.variables}
        return Applied(data.with_columns(fresh), mechanisms=(Mechanism("swapping", self.variables, {}, perturbs=True),))


MANY = pl.DataFrame({"sex": ["f", "m"] * 5, "region": [1] * 5 + [2] * 5, "age": list(range(10)), "w": [10.0] * 10})


def cautions(names: tuple[str, ...], who: tc.Scenario) -> list[str]:
    release = tc.Plan([Exchange(names)]).apply(MANY, who)
    assert release.data.perturbed == set(names)
    found = [text for text in tc.assess(release, release.scenario).cautions if "perturbed" in text]
    printed = str(tc.assess(release, release.scenario))
    assert all(text in " ".join(printed.split()) for text in found)
    return found


@pytest.mark.filterwarnings("ignore::tacita.check.Caution")
def test_assess_says_that_counts_of_perturbed_keys_are_not_valid() -> None:
    who = tc.Scenario(keys=["sex", "region"], weight="w", key_sets={"other": ["sex", "age"]})
    assert cautions((), who) == []
    assert cautions(("sex",), who) == [
        "the key 'sex' was perturbed: how many records share a key no longer says how many people look alike, and "
        "every risk here that rests on it is not valid; use record linkage against the original (distance_linkage, "
        "probabilistic_linkage) or the confidentiality plot instead."
    ]
    assert cautions(("sex", "region"), tc.Scenario(keys=["sex", "region"]))[0].startswith(
        "the keys 'sex', 'region' were perturbed: "
    )
    # A key set of its own with another perturbed key is named besides.
    both = cautions(("age", "region"), who)
    assert [text.split(":")[0] for text in both] == ["the key 'region' was perturbed", "the key 'age' was perturbed"]
    assert cautions(("age",), tc.Scenario(keys=["sex"])) == []


@pytest.mark.filterwarnings("ignore::tacita.check.Caution")
def test_assess_says_that_the_weight_was_perturbed() -> None:
    release = tc.Plan([tc.WeightNoise(0.2)]).apply(MANY, tc.Scenario(keys=["sex"], weight="w"))
    # The release itself is judged by the weights as they were; its table alone is not.
    assert not [text for text in tc.assess(release, release.scenario).cautions if "perturbed" in text]
    alone = Data(release.data.table, release.data.variables)
    (found,) = [text for text in tc.assess(alone, release.scenario).cautions if "perturbed" in text]
    assert found == (
        "the weight 'w' was perturbed, or stands beside other records than in the original: F, and every risk here "
        "that rests on it, is not valid; assess the keys with the original weight, or use record linkage against the "
        "original (distance_linkage, probabilistic_linkage) or the confidentiality plot."
    )
    # Without weights, F comes from elsewhere.
    assert not [text for text in tc.assess(alone, tc.Scenario(keys=["sex"])).cautions if "perturbed" in text]


def test_every_measure_on_perturbed_keys_warns() -> None:
    release = tc.Plan([Exchange(("sex",))]).apply(MANY, tc.Scenario(keys=["sex"]))
    for measure in (tc.risk.k_anonymity, tc.risk.individual_risk, tc.risk.suda):
        with pytest.warns(Caution, match="the key 'sex' was perturbed"):
            measure(release, release.scenario)


def test_decimal_numbers_are_numbers() -> None:
    prices = Data.of(pl.DataFrame({"x": pl.Series([Decimal("1.10"), Decimal("-2.00")], dtype=pl.Decimal(10, 2))}))
    assert EditRule("x >= 0").broken(prices).tolist() == [False, True]
