"""Scenarios: what may be declared, what may not, and files that come back the same."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.data import Data
from tacita.scenario import ATTACKS, RULES, KeySet, MissingRule, Scenario

# Missing-value rules.


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("one_way", MissingRule("one_way")),
        (" wildcard ", MissingRule("wildcard")),
        ("partial(0.5)", MissingRule("partial", 0.5)),
        ("partial( 1e-05 )", MissingRule("partial", 1e-05)),
        ("partial (categories)", MissingRule("partial", "categories")),
        ("partial(expected)", MissingRule("partial", "expected")),
        ("sdcmicro(1)", MissingRule("sdcmicro", 1.0)),
    ],
)
def test_rules_are_read(text: str, rule: MissingRule) -> None:
    assert MissingRule.parse(text) == rule
    assert MissingRule.parse(rule) is rule


factors = st.one_of(st.floats(0, 1), st.sampled_from([0, 1, 1e-300, 0.1, 1 / 3, np.float64(0.25), np.int64(1)]))
rules = st.one_of(
    st.sampled_from([MissingRule(name) for name in RULES if name not in ("partial", "sdcmicro")]),
    st.builds(MissingRule, st.sampled_from(["partial", "sdcmicro"]), factors),
    st.sampled_from([MissingRule("partial", "categories"), MissingRule("partial", "expected")]),
)


@given(rules)
def test_rules_print_what_they_are_read_from(rule: MissingRule) -> None:
    """With all their digits: partial(0.123456789) is not partial(0.123457)."""
    assert MissingRule.parse(str(rule)) == rule


def test_rules_print_briefly() -> None:
    assert str(MissingRule("sdcmicro", 1.0)) == "sdcmicro(1)"
    assert str(MissingRule("partial", 0.123456789)) == "partial(0.123456789)"
    assert str(MissingRule("wildcard")) == "wildcard"


ONE_OF = (
    "missing must be one of 'one_way', 'wildcard', 'conservative', 'partial', 'no_match', 'own_category', 'sdcmicro'; "
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wildcards", ONE_OF + "got 'wildcards'."),
        ("partial(", ONE_OF + "got 'partial('."),
        (5, ONE_OF + "got '5'."),
        (
            "partial",
            "missing 'partial' needs a factor, as in partial(0.5), partial(categories) or partial(expected).",
        ),
        (
            "partial(half)",
            "missing 'partial' needs a factor, as in partial(0.5), partial(categories) or partial(expected).",
        ),
        ("sdcmicro", "missing 'sdcmicro' needs a factor, a number from 0 to 1, as in sdcmicro(1)."),
        ("sdcmicro(expected)", "missing 'sdcmicro' needs a factor, a number from 0 to 1, as in sdcmicro(1)."),
        ("partial(1.5)", "the factor of partial must be in [0, 1]; got 1.5."),
        ("partial(nan)", "the factor of partial must be in [0, 1]; got nan."),
        ("wildcard(1)", "missing 'wildcard' takes no factor; got 1.0."),
    ],
)
def test_bad_rules(text: object, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        Scenario(keys=["a"], missing=text)  # type: ignore[arg-type]
    assert str(error.value) == message


# Scenarios.


def test_one_name_or_several() -> None:
    scenario = Scenario(keys="region", sensitive="income", strata=(name for name in ["x", "y"]))  # type: ignore[arg-type]
    assert (scenario.keys, scenario.sensitive, scenario.strata) == (("region",), ("income",), ("x", "y"))


def test_key_sets() -> None:
    scenario = Scenario(
        keys=["a", "b"], key_sets={"few": ["b", "c"], "strict": {"keys": ["d"], "k": 5.0, "risk": 0.01}}
    )
    assert scenario.key_sets == {"few": KeySet(("b", "c")), "strict": KeySet(("d",), 5, 0.01)}
    assert scenario.all_keys == ("a", "b", "c", "d")
    assert list(scenario.sets) == ["keys", "few", "strict"]
    assert list(Scenario(key_sets={"only": ["a"]}).sets) == ["only"]
    assert Scenario(keys=["a"], key_sets={"x": KeySet(("b",))}).key_sets["x"] == KeySet(("b",))


def test_numbers_of_numpy_become_pythons_own() -> None:
    """So that they can be written to a file: the size of a population often comes out of a sum."""
    scenario = Scenario(
        keys=["a"],
        population_size=np.int64(1000),
        error_rates={"a": np.float32(0.5)},
        not_applicable={"a": [np.int64(9)]},
    )
    assert type(scenario.population_size) is int
    assert Scenario.from_toml(scenario.to_toml()) == scenario


def test_a_declaration_does_not_follow_the_callers_changes() -> None:
    rates = {"a": 0.1}
    scenario = Scenario(keys=["a"], error_rates=rates, known=rates)
    rates["a"] = 7.0
    assert scenario.error_rates == scenario.known == {"a": 0.1}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "a scenario must name at least one key; pass keys=[...]."),
        ({"keys": []}, "a scenario must name at least one key; pass keys=[...]."),
        ({"keys": 5}, "keys must be a list of column names; got 5."),
        ({"keys": ["a", 5]}, "keys must be a list of column names; got 5 in it."),
        ({"keys": ["a", "b", "a"]}, "keys must be named once each; got 'a' more than once."),
        ({"keys": ["a"], "weight": ["w"]}, "weight must be the name of a column; got ['w']."),
        ({"keys": ["a"], "household": 3}, "household must be the name of a column; got 3."),
        ({"keys": ["a"], "weight": "a"}, "weight 'a' cannot be a key at the same time; drop it from the keys."),
        ({"keys": ["a"], "household": "a"}, "household 'a' cannot be a key at the same time; drop it from the keys."),
        (
            {"keys": ["a"], "key_sets": {"x": ["b"]}, "person": "b"},
            "person 'b' cannot be a key at the same time; drop it from the keys.",
        ),
        ({"keys": ["a"], "identifiers": ["a"]}, "a direct identifier cannot be a key at the same time: 'a'."),
        ({"keys": ["a"], "attack": "M7"}, "attack must be one of 'M1', 'M2', 'M3', 'M4', 'M5'; got 'M7'."),
        ({"keys": ["a"], "attack": "M4"}, "attack 'M4' and attack_probability go together; give both or neither."),
        (
            {"keys": ["a"], "attack_probability": 0.5},
            "attack 'M4' and attack_probability go together; give both or neither.",
        ),
        (
            {"keys": ["a"], "attack": "M4", "attack_probability": 2},
            "attack_probability must be in (0, 1]; got 2.",
        ),
        (
            {"keys": ["a"], "attack": "M4", "attack_probability": 0},
            "attack_probability must be in (0, 1]; got 0.",
        ),
        ({"keys": ["a"], "attack": "M5"}, "attack 'M5' needs weights; pass weight=... or choose another attack."),
        ({"keys": ["a"], "known": {"a": -1}}, "known of 'a' must be in [0, 1]; got -1."),
        ({"keys": ["a"], "known": {"a": True}}, "known of 'a' must be in [0, 1]; got True."),
        ({"keys": ["a"], "known": ["a"]}, "known must be a table of names, as in {'age': ...}; got ['a']."),
        ({"keys": ["a"], "error_rates": 0.5}, "error_rates must be a table of names, as in {'age': ...}; got 0.5."),
        ({"keys": ["a"], "error_rates": {"a": "x"}}, "error_rates of 'a' must be in [0, 1]; got 'x'."),
        ({"keys": ["a"], "error_rates": {"b": 0.5}}, "error_rates must be of keys; 'b' is not a key."),
        (
            {"keys": ["a"], "population_size": 10, "sampling_fraction": 0.5},
            "give one of weight, population_size and sampling_fraction; got population_size and sampling_fraction.",
        ),
        (
            {"keys": ["a"], "weight": "w", "population_size": 9, "sampling_fraction": 1},
            "give one of weight, population_size and sampling_fraction; got weight and population_size and "
            "sampling_fraction.",
        ),
        ({"keys": ["a"], "population_size": "many"}, "population_size must be a number; got 'many'."),
        ({"keys": ["a"], "population_size": float("inf")}, "population_size must be a number; got inf."),
        ({"keys": ["a"], "population_size": 0}, "population_size must be at least 1; got 0."),
        ({"keys": ["a"], "sampling_fraction": 0}, "sampling_fraction must be in (0, 1]; got 0."),
        ({"keys": ["a"], "not_applicable": {"a": None}}, "not_applicable of 'a' must be a list of codes; got None."),
        (
            {"keys": ["a"], "not_applicable": {"a": [None]}},
            "not_applicable of 'a' must be codes; got None, write '' for a blank.",
        ),
        ({"keys": ["a"], "key_sets": ["b"]}, "key_sets must be a table of names, as in {'age': ...}; got ['b']."),
        ({"keys": ["a"], "key_sets": {"x": 5}}, "the keys of a key set must be a list of column names; got 5."),
        ({"keys": ["a"], "key_sets": {"x": []}}, "a key set must name at least one key."),
        (
            {"keys": ["a"], "key_sets": {"keys": ["b"]}},
            "a key set cannot be named 'keys', the name of the main one; choose another name.",
        ),
        (
            {"keys": ["a"], "key_sets": {"x": {"k": 3}}},
            "a key set has the fields keys, k and risk; got 'k'.",
        ),
        (
            {"keys": ["a"], "key_sets": {"x": {"keys": ["b"], "kk": 3}}},
            "a key set has the fields keys, k and risk; got 'keys', 'kk'.",
        ),
        ({"keys": ["a"], "key_sets": {"x": {"keys": ["b"], "k": 1}}}, "the k of a key set must be at least 2; got 1."),
        (
            {"keys": ["a"], "key_sets": {"x": {"keys": ["b"], "risk": 0}}},
            "the risk of a key set must be in (0, 1]; got 0.",
        ),
    ],
)
def test_bad_scenarios(given: dict[str, object], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        Scenario(**given)  # type: ignore[arg-type]
    assert str(error.value) == message


ROLES = ["household_variables", "strata", "sensitive", "numeric_keys", "identifiers"]


@pytest.mark.parametrize("role", ["keys", "weight", "household", "person", *ROLES])
def test_every_variable_must_be_in_the_data(role: str) -> None:
    data = Data.of(pl.DataFrame({"region": [1]}))
    given = "regio" if role in ("weight", "household", "person") else ["regio"]
    scenario = Scenario(**{"keys": ["region"], role: given})  # type: ignore[arg-type]
    with pytest.raises(TacitaError) as error:
        scenario.check_against(data)
    assert str(error.value) == f"{role} not in the data: 'regio'. Did you mean 'region'?"


@pytest.mark.parametrize(("role", "value"), [("known", 0.5), ("not_applicable", [1])])
def test_every_named_variable_must_be_in_the_data(role: str, value: object) -> None:
    scenario = Scenario(**{"keys": ["region"], role: {"zz": value}})  # type: ignore[arg-type]
    with pytest.raises(TacitaError) as error:
        scenario.check_against(Data.of(pl.DataFrame({"region": [1]})))
    assert str(error.value) == f"{role} not in the data: 'zz'. The columns are 'region'."


def test_the_keys_of_key_sets_must_be_in_the_data() -> None:
    scenario = Scenario(keys=["a"], key_sets={"x": ["b"]})
    with pytest.raises(TacitaError) as error:
        scenario.check_against(Data.of(pl.DataFrame({"a": [1]})))
    assert str(error.value) == "keys not in the data: 'b'. The columns are 'a'."


def test_a_population_is_not_smaller_than_the_file() -> None:
    scenario = Scenario(keys=["a"], population_size=2)
    with pytest.raises(TacitaError) as error:
        scenario.check_against(Data.of(pl.DataFrame({"a": [1, 2, 3]})))
    assert str(error.value) == "population_size must be at least the 3 records of the file; got 2."


# To files and back.

names = st.text(min_size=1, max_size=8)
codes = st.one_of(st.text(max_size=5), st.integers(-(2**40), 2**40), st.floats(allow_nan=False), st.booleans())


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    keys = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    others = st.lists(names.filter(lambda name: name not in keys), max_size=3, unique=True)
    one = st.one_of(st.none(), names.filter(lambda name: name not in keys))
    source = draw(st.sampled_from(["weight", "population_size", "sampling_fraction"]))
    attack = draw(st.sampled_from(ATTACKS if source == "weight" else ATTACKS[:4]))
    given = {
        "weight": draw(names.filter(lambda name: name not in keys)),
        "population_size": draw(st.one_of(st.integers(1, 10**10), st.floats(1, 1e10))),
        "sampling_fraction": draw(st.floats(1e-9, 1)),
    }
    sets = st.builds(
        KeySet,
        st.lists(st.sampled_from(keys), min_size=1, unique=True),  # type: ignore[arg-type]
        st.one_of(st.none(), st.integers(2, 50)),
        st.one_of(st.none(), st.floats(1e-9, 1)),
    )
    return Scenario(
        keys=keys,  # type: ignore[arg-type]
        household=draw(one),
        person=draw(one),
        household_variables=draw(others),  # type: ignore[arg-type]
        strata=draw(others),  # type: ignore[arg-type]
        sensitive=draw(others),  # type: ignore[arg-type]
        numeric_keys=draw(others),  # type: ignore[arg-type]
        identifiers=draw(others),  # type: ignore[arg-type]
        key_sets=draw(st.dictionaries(names.filter(lambda name: name != "keys"), sets, max_size=2)),
        known=draw(st.dictionaries(names, st.floats(0, 1), max_size=3)),
        error_rates=draw(st.dictionaries(st.sampled_from(keys), st.floats(0, 1), max_size=3)),
        not_applicable=draw(st.dictionaries(names, st.lists(codes, max_size=3).map(tuple), max_size=2)),
        missing=draw(rules),
        attack=attack,
        attack_probability=draw(st.floats(0, 1, exclude_min=True)) if attack == "M4" else None,
        **{source: given[source]},
    )


@given(scenarios())
def test_to_toml_and_back(scenario: Scenario) -> None:
    assert Scenario.from_toml(scenario.to_toml()) == scenario
    assert Scenario.from_dict(scenario.to_dict()) == scenario


def test_what_is_written(tmp_path: Path) -> None:
    scenario = Scenario(keys=["region", "age"], weight="w", missing="partial(0.5)", key_sets={"x": ["age"]})  # type: ignore[arg-type]
    path = scenario.save(tmp_path / "scenario.toml")
    assert path.read_text("utf-8") == (
        "format = 1\n\n"
        "[scenario]\n"
        'keys = [\n    "region",\n    "age",\n]\n'
        'weight = "w"\n'
        'missing = "partial(0.5)"\n\n'
        "[scenario.key_sets.x]\n"
        'keys = [\n    "age",\n]\n'
    )
    assert Scenario.load(path) == scenario
    assert Scenario.load(str(path)) == scenario


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    """Editors on Windows write one."""
    path = tmp_path / "scenario.toml"
    path.write_bytes(b'\xef\xbb\xbf[scenario]\r\nkeys = ["a"]\r\n')
    assert Scenario.load(path) == Scenario(keys=["a"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("keys = [", "s.toml is not valid TOML: Invalid value (at end of document)."),
        ("format = 1\n", "s.toml has no [scenario] table; add one."),
        ("scenario = 3\n", "s.toml has no [scenario] table; add one."),
        ("format = 2\n[scenario]\n", "s.toml has format 2; this version reads format 1, update Tacita."),
        ("[scenario]\nkeyz = 1\n", "scenario has no field 'keyz'. Did you mean 'keys'?"),
        ("[scenario]\nkeys = ['a']\nknown = ['a']\n", "known must be a table of names, as in {'age': ...}; got ['a']."),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.toml").write_text(text, "utf-8")
    with pytest.raises(TacitaError) as error:
        Scenario.load(tmp_path / "s.toml")
    assert str(error.value) == message


def test_an_unknown_field_that_is_near_nothing_lists_them_all() -> None:
    with pytest.raises(TacitaError) as error:
        Scenario.from_dict({"zzzzz": 1})
    assert str(error.value) == (
        "scenario has no field 'zzzzz'. The fields are keys, weight, household, household_variables, person, strata, "
        "sensitive, numeric_keys, identifiers, key_sets, known, error_rates, attack, attack_probability, "
        "population_size, sampling_fraction, not_applicable, variables, missing, model."
    )


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"[scenario]\nkeys = ['gr\xf6sse']\n")
    for name, message in [
        ("latin.toml", "latin.toml is not valid TOML: it is not UTF-8 text; save it as UTF-8."),
        ("none.toml", "none.toml cannot be read: no such file or directory; check the path of the scenario."),
    ]:
        with pytest.raises(TacitaError) as error:
            Scenario.load(tmp_path / name)
        assert str(error.value) == message
