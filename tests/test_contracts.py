"""What every measure promises, checked on every measure.

A new public measure must be added to `MEASURES`, or the first test fails.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.measures import MEASURES as REGISTERED
from tacita.result import Result

Measure = Callable[..., Result]

MEASURES: dict[str, Measure] = {
    "assess": tc.assess,
    "k_anonymity": tc.risk.k_anonymity,
    "individual_risk": tc.risk.individual_risk,
    "reidentification": tc.risk.reidentification,
    "risk_threshold": lambda data, scenario, **more: tc.risk.risk_threshold(data, scenario, **{"rate": 0.05, **more}),
    "household_risk": tc.risk.household_risk,
    "benchmark": tc.risk.benchmark,
    "attackers": tc.risk.attackers,
    "l_diversity": tc.risk.l_diversity,
    "t_closeness": tc.risk.t_closeness,
    "likeness": tc.risk.likeness,
    "presence": tc.risk.presence,
    "dominance": lambda data, scenario, **more: tc.risk.dominance(data, scenario, **{"variable": "income", **more}),
    "unsafe_combinations": tc.risk.unsafe_combinations,
    "weight_disclosure": tc.risk.weight_disclosure,
    "mixed_uniqueness": lambda data, scenario, **more: tc.risk.mixed_uniqueness(
        data, scenario, **{"tolerance": 500.0, **more}
    ),
    "suda": tc.risk.suda,
    "loglinear_risk": tc.risk.loglinear_risk,
    "superpopulation": tc.risk.superpopulation,
    "model_check": lambda data, scenario, **more: tc.risk.model_check(
        data, scenario, **{"register": data, "probability": "estimated", **more}
    ),
}
"""Every public measure, called with data and scenario and what else it cannot do without."""

OF_TWO_FILES = {
    "confidentiality",
    "confidentiality_sets",
    "confidentiality_alphas",
    "categorical_confidentiality",
    "interval_confidentiality",
    "cell_confidentiality",
    "distance_linkage",
    "one_to_one_linkage",
    "probabilistic_linkage",
    "interval_disclosure",
    "rank_interval_disclosure",
    "robust_interval_disclosure",
    "reconstruction",
}
"""Measures of a released file against the original, without a scenario; their own tests check what they promise."""

every_measure = pytest.mark.parametrize("name", MEASURES)


def test_every_public_measure_is_here() -> None:
    assert {"assess", *REGISTERED} - OF_TWO_FILES == set(MEASURES)


# One survey for all.

SIZE = 60


def survey(*, missing: bool = True) -> pl.DataFrame:
    """60 records in 25 households, with blanks in keys and in what is sensitive."""
    draw = np.random.default_rng(2024)

    def column(values: list[Any], blanks: float) -> list[Any]:
        drawn = [values[place] for place in draw.integers(0, len(values), SIZE)]
        gone = draw.random(SIZE) < blanks
        return [None if blank and missing else value for value, blank in zip(drawn, gone, strict=True)]

    return pl.DataFrame(
        {
            "region": column(["north", "south", "west"], 0.1),
            "sex": column(["f", "m"], 0.0),
            "age": column([20, 30, 40, 50], 0.15),
            "disease": column(["flu", "cold", "none"], 0.05),
            "income": [round(value, 2) for value in draw.gamma(2.0, 1000.0, SIZE)],
            "w": [round(value, 3) for value in draw.uniform(1.0, 40.0, SIZE)],
            "hid": draw.integers(1, 26, SIZE),
        }
    )


def scenario(**more: Any) -> tc.Scenario:
    given = {
        "keys": ["region", "sex", "age"],
        "weight": "w",
        "household": "hid",
        "sensitive": ["disease"],
        "numeric_keys": ["income"],
    }
    return tc.Scenario(**{**given, **more})


def figures(result: Result) -> pl.DataFrame:
    frame = result.to_frame()  # type: ignore[attr-defined]
    assert isinstance(frame, pl.DataFrame)
    assert frame.height > 0
    return frame


def by_record(frame: pl.DataFrame) -> bool:
    return frame.height == SIZE


def assert_same(first: Result, second: Result) -> None:
    """The same headline and the same figures to the last bit."""
    assert str(first) == str(second)
    assert figures(first).equals(figures(second))


# Any kind of table, never changed.


@every_measure
def test_pandas_is_not_changed(name: str) -> None:
    frame = survey().to_pandas()
    frame.index = pd.Index([f"person {row}" for row in range(SIZE)], name="who")
    frame.attrs["source"] = "made up"
    before = frame.copy(deep=True)
    MEASURES[name](frame, scenario())
    pd.testing.assert_frame_equal(frame, before, check_exact=True)
    pd.testing.assert_index_equal(frame.index, before.index)
    assert frame.attrs == {"source": "made up"}


@every_measure
def test_polars_and_arrow_are_not_changed(name: str) -> None:
    frame = survey()
    MEASURES[name](frame, scenario())
    assert frame.equals(survey())
    assert frame.schema == survey().schema
    table = survey().to_arrow()
    MEASURES[name](table, scenario())
    assert table.equals(survey().to_arrow())


@every_measure
def test_data_and_scenario_are_not_changed(name: str) -> None:
    data, given = Data.of(survey()), scenario()
    before = {attribute: getattr(data, attribute) for attribute in ("variables", "changed", "numbers_of_records")}
    MEASURES[name](data, given)
    assert data.table.equals(survey())
    assert {attribute: getattr(data, attribute) for attribute in before} == before
    assert given == scenario()


@every_measure
def test_arrays_of_the_callers_table_may_be_read_only(name: str) -> None:
    frame = survey()
    arrays = {column: frame[column].to_numpy() for column in ("w", "income")}
    for array in arrays.values():
        array.flags.writeable = False
    assert_same(MEASURES[name](frame.with_columns(**arrays), scenario()), MEASURES[name](frame, scenario()))


@every_measure
def test_every_kind_of_table_gives_the_same_result(name: str, tmp_path: Path) -> None:
    frame = survey()
    result = MEASURES[name](frame, scenario())
    assert_same(MEASURES[name](frame, scenario()), result)
    assert_same(MEASURES[name](Data.of(frame), scenario()), result)
    assert_same(MEASURES[name](frame.to_arrow(), scenario()), result)
    assert_same(MEASURES[name](frame.to_pandas(), scenario()), result)
    assert_same(MEASURES[name](frame.to_pandas().convert_dtypes(), scenario()), result)
    assert isinstance(frame.to_arrow(), pa.Table)
    for suffix in ("parquet", "csv"):
        path = tmp_path / f"survey.{suffix}"
        tc.write(frame, path)
        assert_same(MEASURES[name](path, scenario()), result)
        assert_same(MEASURES[name](str(path), scenario()), result)


# The order of the records.

RULES = ["one_way", "wildcard", "conservative", "partial(0.3)", "partial(expected)", "no_match", "own_category"]


@every_measure
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(RULES), attack=st.sampled_from(["M2", "M3", "M5"]))
def test_permuted_records_give_the_permuted_result(name: str, seed: int, rule: str, attack: str) -> None:
    """Bit for bit: nothing depends on the order of a file, so that no record flips at a limit when it is sorted."""
    rows = np.random.default_rng(seed).permutation(SIZE)
    numbers = np.arange(1001, 1001 + SIZE)
    given = scenario(missing=rule, attack=attack)
    plain = MEASURES[name](Data(survey(), numbers_of_records=numbers), given)
    permuted = MEASURES[name](Data(survey()[rows], numbers_of_records=numbers[rows]), given)
    assert str(permuted) == str(plain)
    first, second = figures(plain), figures(permuted)
    assert second.equals(first[rows] if by_record(first) else first)


# Names.

ODD = [
    " ",
    "it's",
    'say "x"',
    "two\nlines",
    "🦉",
    "a,b",
    "f",
    "F",
    "risk",
    "record",
    "violations",
    "{k}",
    "",
    "%s",
    "k=2",
]


FITTED = {"loglinear_risk"}
"""Models that are fitted term by term, in the order of the names: their last digits may differ."""


def assert_same_numbers(name: str, plain: Result, odd: Result) -> None:
    first, second = (figures(each).select(cs.numeric()) for each in (plain, odd))
    if name in FITTED:
        assert second.to_numpy() == pytest.approx(first.to_numpy(), rel=1e-9)
    else:
        assert second.rows() == first.rows()


@every_measure
@pytest.mark.parametrize("place", range(0, len(ODD), 3))
def test_odd_names_of_keys_change_no_figure(name: str, place: int) -> None:
    names = dict(zip(["region", "sex", "age"], ODD[place : place + 3], strict=True))
    plain = MEASURES[name](survey(), scenario())
    odd = MEASURES[name](survey().rename(names), scenario(keys=list(names.values())))
    assert_same_numbers(name, plain, odd)
    assert str(odd)


@every_measure
def test_odd_names_of_other_variables_change_no_figure(name: str) -> None:
    names = {"w": "f", "hid": "record\n", "disease": "the 'risk', \"F\"", "income": "👪"}
    plain = MEASURES[name](survey(), scenario())
    given = scenario(weight="f", household="record\n", sensitive=[names["disease"]], numeric_keys=["👪"])
    more = {"variable": "👪"} if name == "dominance" else {}
    odd = MEASURES[name](survey().rename(names), given, **more)
    assert_same_numbers(name, plain, odd)


# Missing values follow the rule.

OWN_RULE = {
    "unsafe_combinations", "mixed_uniqueness", "weight_disclosure", "dominance", "loglinear_risk", "superpopulation",
}  # fmt: skip
"""Measures with a rule of their own, each stated in its documentation: the scenario's makes no difference."""
IN_PART = {
    "model_check": "leaves out keys with a missing value, and counts the others by the rule",
    "suda": "a missing value never makes a record unique; others' blanks count under wildcard only",
}
"""Measures that follow the scenario's rule in part, as their documentation says."""
follows_the_rule = pytest.mark.parametrize("name", sorted(set(MEASURES) - OWN_RULE - set(IN_PART)))


@pytest.mark.parametrize("name", sorted(OWN_RULE))
def test_a_rule_of_its_own_is_always_the_same(name: str) -> None:
    results = [MEASURES[name](survey(), scenario(missing=rule)) for rule in RULES]
    assert all(figures(result).equals(figures(results[0])) for result in results)


@follows_the_rule
def test_without_missing_values_the_rule_does_not_matter(name: str) -> None:
    frame = survey(missing=False)
    results = [MEASURES[name](frame, scenario(missing=rule)) for rule in RULES]
    assert all(figures(result).equals(figures(results[0])) for result in results)


@follows_the_rule
def test_own_category_is_a_category(name: str) -> None:
    """As if every blank of a key were the text 'blank', or the number -1."""
    filled = survey().with_columns(region=pl.col("region").fill_null("blank"), age=pl.col("age").fill_null(-1))
    first = figures(MEASURES[name](survey(), scenario(missing="own_category")))
    assert first.equals(figures(MEASURES[name](filled, scenario(missing="one_way"))))
    assert first.equals(figures(MEASURES[name](survey(), scenario(not_applicable={"region": [""], "age": [""]}))))


@follows_the_rule
def test_no_match_is_like_nobody(name: str) -> None:
    """As if every record with a blank had a key of its own."""
    frame = survey()
    blank = pl.any_horizontal(pl.col("region", "age").is_null())
    alone = frame.with_columns(
        region=pl.when(blank).then(pl.format("nobody {}", pl.int_range(SIZE))).otherwise("region"),
        age=pl.when(blank).then(-1).otherwise("age"),
    )
    first = figures(MEASURES[name](frame, scenario(missing="no_match")))
    assert first.equals(figures(MEASURES[name](alone, scenario(missing="one_way"))))


@follows_the_rule
def test_the_rule_makes_a_difference(name: str) -> None:
    """Otherwise the tests above would show nothing."""
    seen = {str(figures(MEASURES[name](survey(), scenario(missing=rule))).rows()) for rule in RULES}
    # Of the benchmark here nearly the same few stand out under every rule.
    assert len(seen) > (1 if name == "benchmark" else 2)


# Files.


@every_measure
def test_a_scenario_from_a_file_gives_the_same_result(name: str, tmp_path: Path) -> None:
    given = scenario(missing="partial(0.123456789)", error_rates={"age": 0.25}, not_applicable={"age": [20]})
    loaded = tc.Scenario.load(given.save(tmp_path / "scenario.toml"))
    assert loaded == given
    assert_same(MEASURES[name](survey(), loaded), MEASURES[name](survey(), given))


limit = st.one_of(st.none(), st.floats(0.001, 1))


@settings(max_examples=15)
@given(st.builds(tc.Policy, k=st.one_of(st.none(), st.integers(2, SIZE)), risk=limit, rate=limit, household_risk=limit))
def test_a_policy_from_a_file_gives_the_same_verdict(policy: tc.Policy) -> None:
    loaded = tc.Policy.from_toml(policy.to_toml())
    assert_same(tc.assess(survey(), scenario(), loaded), tc.assess(survey(), scenario(), policy))


# Nothing printed shows a cell.

CANARIES = {
    "region": "zq-canary-region",
    "sex": "zq-canary-sex",
    "age": 918273,
    "disease": "zq-canary-disease",
    "income": 918273.64,
    "w": 31.918273,
    "hid": 918273,
}


def with_canaries() -> pl.DataFrame:
    """One record that stands out by everything, and others that share its values, so that it is in every group too."""
    frame = survey()
    rows = pl.int_range(SIZE)
    return frame.with_columns(
        pl.when(rows % 7 == 3).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
        for column, value in CANARIES.items()
    )


def assert_no_canary(text: str) -> None:
    assert "canary" not in text
    # 31.918273 and 918273.64 too, however they are rounded or grouped.
    digits = text.replace(",", "").replace("_", "")
    assert "91827" not in digits


@every_measure
def test_nothing_printed_shows_a_cell(name: str) -> None:
    data = Data.of(with_canaries())
    result = MEASURES[name](data, scenario())
    assert_no_canary(str(result))
    assert_no_canary(repr(result))
    assert_no_canary(result._repr_html_())
    assert_no_canary(str(result.to_dict()))
    assert_no_canary(repr(data) + str(data))
    if isinstance(result, tc.RiskProfile):
        assert_no_canary(result.to_json())
        assert_no_canary(str(result.riskiest(SIZE).drop("F", "f")))
        assert "canary" in str(result.riskiest(SIZE, values=True).to_dicts())


def test_key_tables_do_not_show_their_values() -> None:
    table = tc.key_table(with_canaries(), scenario())
    assert_no_canary(repr(table) + str(table))


@every_measure
def test_no_error_shows_a_cell(name: str) -> None:
    """A weight, a key and a household that cannot be: the message has column, count and record numbers only."""
    wrong_weight = with_canaries().with_columns(w=-pl.col("w"))
    mixed = with_canaries().to_pandas()
    mixed["region"] = [("zq-canary-region", 918273) if row % 2 else 918273 for row in range(SIZE)]
    text_weight = with_canaries().with_columns(w=pl.lit("zq-canary-weight"))
    wrongs = [mixed] if name in ("dominance", "unsafe_combinations", "mixed_uniqueness") else [
        wrong_weight, mixed, text_weight,
    ]  # fmt: skip
    for wrong in wrongs:
        with pytest.raises(TacitaError) as error:
            MEASURES[name](wrong, scenario())
        assert_no_canary(str(error.value))
        assert error.value.__cause__ is None
        assert error.value.__suppress_context__ or error.value.__context__ is None


@every_measure
def test_html_is_escaped(name: str) -> None:
    names = {"region": "<script>alert(1)</script>", "disease": "<b>&", "age": "<i>", "income": "<u>"}
    given = scenario(keys=[names["region"], "sex", "<i>"], sensitive=["<b>&"], numeric_keys=["<u>"])
    more = {"variable": "<u>"} if name == "dominance" else {}
    page = MEASURES[name](survey().rename(names), given, **more)._repr_html_()
    ours = r"</?(div|p|strong|pre|table|caption|thead|tbody|tr|th|td|ul|li)( style=\"[a-z0-9.:;-]+\")?>"
    inside = re.sub(ours, "", page)
    assert "<" not in inside
    assert ">" not in inside
    if name == "assess":
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in inside


# Bad parameters get one sentence.


@every_measure
def test_bad_data(name: str, tmp_path: Path) -> None:
    for wrong, message in [
        (5, "data must be a path or a pandas, Polars or Arrow table; got int."),
        (survey().lazy(), "data must be loaded; got a lazy frame, call .collect() on it first."),
        (tmp_path / "none.csv", "none.csv does not exist; check the path."),
    ]:
        with pytest.raises(TacitaError) as error:
            MEASURES[name](wrong, scenario())
        assert str(error.value) == message


@every_measure
def test_keys_that_are_not_there(name: str) -> None:
    with pytest.raises(TacitaError) as error:
        MEASURES[name](survey(), scenario(keys=["region", "sexx"]))
    assert str(error.value).endswith("not in the data: 'sexx'. Did you mean 'sex'?")


@every_measure
def test_a_file_without_records(name: str) -> None:
    with pytest.raises(TacitaError) as error:
        MEASURES[name](survey().head(0), scenario())
    assert str(error.value) == "the file has no records; there is nothing to assess."


@every_measure
def test_two_records(name: str) -> None:
    """The smallest file that can hold a pair."""
    more = {"policy": tc.Policy(k=2)} if name == "assess" else {}
    result = MEASURES[name](survey().drop_nulls().head(2), scenario(), **more)
    assert str(result)
    assert figures(result).height >= 1


METHOD = "method must be one of 'exact', 'approximate'; got 'best'."
BAD: dict[str, list[tuple[dict[str, Any], str]]] = {
    "assess": [
        ({"method": "best"}, METHOD),
        ({"quantile": 2}, "quantile must be in (0, 1); got 2."),
        (
            {"policy": tc.Policy(k=SIZE + 1)},
            "k must be at most the number of records, 60; got 61. Choose a smaller k, or false in the policy for none.",
        ),
    ],
    "k_anonymity": [({"k": 1}, "k must be at least 2; got 1.")],
    "individual_risk": [
        ({"method": "best"}, METHOD),
        ({"quantile": -1}, "quantile must be in (0, 1); got -1."),
    ],
    "reidentification": [({"method": "best"}, METHOD)],
    "risk_threshold": [
        ({"rate": 2}, "rate must be in (0, 1]; got 2."),
        ({"rate": 0.1, "unsafe": 3}, "give one of threshold, rate and unsafe; got rate and unsafe."),
        ({"method": "best"}, METHOD),
    ],
    "household_risk": [({"method": "best"}, METHOD)],
    "benchmark": [
        ({"method": "best"}, METHOD),
        (
            {"rule": "best"},
            "rule must be one of 'paper', 'sdcmicro_2', 'sdcmicro_3', 'paper_no_floor', 'sdcmicro_2_no_floor'; got "
            "'best'.",
        ),
    ],
    "attackers": [({"threshold": 7}, "threshold must be in [0, 1]; got 7.")],
    "l_diversity": [({"sensitive": ["diseas"]}, "sensitive not in the data: 'diseas'. Did you mean 'disease'?")],
    "t_closeness": [({"sensitive": ["diseas"]}, "sensitive not in the data: 'diseas'. Did you mean 'disease'?")],
    "likeness": [({"sensitive": ["diseas"]}, "sensitive not in the data: 'diseas'. Did you mean 'disease'?")],
    "presence": [({"register": 5}, "data must be a path or a pandas, Polars or Arrow table; got int.")],
    "dominance": [
        ({"variable": "incom"}, "variable not in the data: 'incom'. Did you mean 'income'?"),
        ({"n": 0}, "n must be at least 1; got 0."),
        ({"k": 101}, "k must be a percentage above 0, at most 100; got 101."),
    ],
    "unsafe_combinations": [({"threshold": -1}, "threshold must be at least 0; got -1.")],
    "weight_disclosure": [({"variables": ["sexx"]}, "variables not in the data: 'sexx'. Did you mean 'sex'?")],
    "suda": [({"score": "best"}, "score must be one of 'factorial', 'superset'; got 'best'.")],
    "loglinear_risk": [({"numeric": ["agee"]}, "numeric: keys not in the data: 'agee'. Did you mean 'age'?")],
    "superpopulation": [({"cells": 1}, "cells must be at least the 19 keys that occur; got 1.0.")],
    "model_check": [
        ({"probability": "guessed"}, "probability must be one of 'known', 'estimated'; got 'guessed'."),
        ({"register": 5}, "data must be a path or a pandas, Polars or Arrow table; got int."),
    ],
    "mixed_uniqueness": [
        ({"tolerance": -1}, "a tolerance must not be negative; got -1."),
        ({"tolerance": {}}, "give a tolerance for every numeric key; 'income' has none."),
    ],
}


def test_every_measure_has_its_bad_parameters_tried() -> None:
    assert set(BAD) == set(MEASURES)
    assert all(BAD.values())


@every_measure
def test_bad_parameters_get_the_whole_message(name: str) -> None:
    for options, message in BAD[name]:
        with pytest.raises(TacitaError) as error:
            MEASURES[name](survey(), scenario(), **options)
        assert str(error.value) == message
