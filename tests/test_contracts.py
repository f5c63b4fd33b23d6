"""What every measure promises, checked on every measure of the registry, of one file and of two.

A new measure must be added to `EXAMPLES`, with each of its options in some example, or the first tests fail.
"""

import itertools
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError, TacitaWarning
from tacita.data import Data
from tacita.measure_index import MEASURES
from tacita.measures import find
from tacita.mechanism import Mechanism
from tacita.policy import OWN_FIELDS
from tacita.result import Result
from tacita.testing import check_measure
from tacita.testing.refusals import shows_a_cell, unless_refused
from tacita.testing.results import printed
from tacita.testing.trial import with_canaries

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


def released(original: pl.DataFrame) -> pl.DataFrame:
    """Incomes with noise, an interval around each, and some regions put into a class where every key is shown."""
    noise = pl.Series(np.random.default_rng(7).lognormal(0, 0.1, original.height).round(3))
    changed = (pl.int_range(pl.len()) % 9 == 0) & pl.all_horizontal(pl.col("region", "age").is_not_null())
    return original.with_columns(
        region=pl.when(changed & (pl.col("region") == "north")).then(pl.lit("elsewhere")).otherwise("region"),
        lower=pl.col("income") * 0.9,
        upper=pl.col("income") * 1.3,
        income=pl.col("income") * noise,
    )


def scenario(**more: Any) -> tc.Scenario:
    chosen = {
        "keys": ["region", "sex", "age"],
        "weight": "w",
        "household": "hid",
        "sensitive": ["disease"],
        "numeric_keys": ["income"],
    }
    return tc.Scenario(**{**chosen, **more})


ORIGINAL, RELEASED = survey(), released(survey())
FEWER = {"keys": ["age", "region"]}
EXACT = ({}, {"method": "approximate", **FEWER}, {"quantile": 0.1, "model": "latent"}, {"register": ORIGINAL})
SENSITIVE = {"sensitive": ["hid", "disease"], "keys": ["region", "age"]}
PLOT = {"strata": ["sex"], "k": 3, "r": 0.2, "g": 2.0, "metric": "euclidean", "policy": tc.Policy(neighbours=4)}
LINK = {"keys": ["income", "w"], "unit": "id", "external": True}
NOISE = Mechanism("noise", ("income",), {"covariance": [[9.0e4]], "kept": 1.0, "keep_zeros": True}, perturbs=True)
INTERVALS = {"intervals": {"income": ("lower", "upper")}}

DESIGN = {"strata": ["sex"], "clusters": ["hid"]}


def sizes_of_numbers(table: Any) -> dict[str, float]:
    """A statistic of any kind of table: how many columns it has, and the size of their numbers."""
    plain = Data.of(table).table
    floats = plain.select(cs.float()).to_numpy().ravel()
    return {"columns": plain.width, "size": float(np.sort(floats[~np.isnan(floats)]).sum())}


EXAMPLES: dict[str, tuple[dict[str, Any], ...]] = {
    "k_anonymity": ({}, {"k": [2, 7], **FEWER, "register": ORIGINAL}),
    "individual_risk": EXACT,
    "reidentification": EXACT,
    "risk_threshold": (
        {"rate": 0.05},
        {"unsafe": 3, **EXACT[1]},
        {"threshold": 0.2, **EXACT[2]},
        {"rate": 0.1, **EXACT[3]},
    ),
    "household_risk": EXACT,
    "benchmark": ({"rule": "sdcmicro_3"}, *EXACT),
    "attackers": ({}, {"threshold": 0.5, **FEWER, "register": ORIGINAL, "model": "latent"}),
    "l_diversity": ({}, {"c": 3.0, **SENSITIVE}),
    "t_closeness": ({}, SENSITIVE),
    "likeness": ({}, SENSITIVE),
    "presence": ({}, {**FEWER, "register": ORIGINAL}),
    "unsafe_combinations": (
        {},
        {"largest": 2, "threshold": [5, 2]},
        {"levels": {"region": 1, "sex": 2, "age": 2}, "threshold": 4},
        {"tables": {"region x age": 10, "sex": 20}},
    ),
    "suda": ({}, {"largest": 2, "sampling_fraction": 0.1, "score": "superset", "contributions": False, **FEWER}),
    "loglinear_risk": (
        {},
        {"formula": "~ region*sex + age", "numeric": ["age"], "variant": "pml"},
        {"choose_by": "AIC", "structural_zeros": [{"region": "west", "sex": "m", "age": 20}]},
        {"formula": "~ region + sex + age", "compatibility": "sdcmicro"},
    ),
    "superpopulation": ({}, {"models": ["zayatz", "poisson_gamma"], "cells": 40.0, **FEWER}),
    "model_check": ({"register": ORIGINAL, "probability": "estimated"}, {"register": ORIGINAL, "seed": 5}),
    "weight_disclosure": ({}, {"variables": ["disease", "sex"]}),
    "reconstruction": (
        {},
        {"rules": ["income >= 0"], "other": ORIGINAL, "threes": "all"},
        # Boosted trees come with an extra: without it, that they are not asked for.
        {
            "variables": ["income", "region"],
            "learner": find_spec("sklearn") is not None,
            "threes": "none",
            "unit": "id",
        },
    ),
    "mixed_uniqueness": ({"tolerance": 500.0}, {"tolerance": {"income": 0.1}, "relative": True}),
    "dominance": ({}, {"variable": "w", "by": ["region"], "n": 2, "k": 60.0, "p": 20.0}),
    "confidentiality": (
        {},
        PLOT,
        {"delta": 0.3, "vertical": True, "ratio": False, "size": "w", "keys": ["income", "w"]},
        {"log": "unit_free", "zeros": "exclude", "alpha": 0.1},
        {"weighted": True, "archive": ORIGINAL, "strata": ["sex"]},
    ),
    "confidentiality_sets": ({}, {"key_sets": {"one": ["income"], "two": ["income", "w"]}, "alpha": 0.1}),
    "confidentiality_alphas": (
        {},
        {"alphas": [0.02, 0.2], "ratio": True, **PLOT},
        {"log": True, "zeros": "exclude", "vertical": True, "size": "w", "keys": ["income", "w"]},
    ),
    "categorical_confidentiality": (
        {},
        {"keys": ["region", "sex"], "variables": ["income", "region"], "unit": "sd", "k": 4},
        {"population": True, "register": RELEASED, "policy": tc.Policy(k=5)},
    ),
    "interval_confidentiality": (INTERVALS, {**INTERVALS, "delta": 0.2}),
    "cell_confidentiality": ({}, {"keys": ["income"], "lower": "income", "upper": "upper", "delta": 0.2}),
    "distance_linkage": ({}, {"distance": "gower", "standardise": False}, {"distance": "mahalanobis", **LINK}),
    "one_to_one_linkage": ({}, {"gap": 0.01, "distance": "manhattan", "standardise": False}, LINK),
    "probabilistic_linkage": (
        {"tolerance": {"income": 200.0}},
        {"block": ["sex"], "false_links": 0.2, "missed_links": 0.1, "engine": "tacita", **LINK},
    ),
    "external_risk": (
        {},
        {"variables": ["region", "income", "w"], "intruder": ORIGINAL, "tolerance": 0.2, "suppressed": "any"},
        {"known": {"region": 0.5, "disease": 0.1}, "weighted": True},
        {
            "known": dict.fromkeys(["region", "sex", "age", "income", "disease", "w", "hid"], 0.5),
            "draws": 20,
            "seed": 3,
            "unit": "id",
        },
    ),
    "rank_linkage": ({}, {"size": "w", "largest": 3, "strata": ["sex"], "unit": "id"}),
    "informed_linkage": ({}, {"keys": ["income", "sex"], "mechanisms": [NOISE], "unit": "id"}),
    "releases_together": (
        {},
        {"other": ORIGINAL},
        {"other": RELEASED, "keys": ["income", "sex"], "tolerance": 0.1, "suppressed": "any", "unit": "id"},
    ),
    "total_risk": (
        {},
        {"weights": [1, 3], "variables": ["region", "income"], "tolerance": 0.1, "suppressed": "any", "unit": "id"},
        {"intruder": ORIGINAL, "register": RELEASED},
    ),
    "interval_disclosure": ({}, {"k": 0.2, "keys": ["income", "w"], "unit": "id"}),
    "rank_interval_disclosure": ({}, {"widths": [2, 20], "keys": ["income", "w"], "unit": "id"}),
    "robust_interval_disclosure": (
        {},
        {"keys": ["income", "w"], "k": 0.5, "k2": 0.3, "least": 2, "scale": "original", "seed": 4, "unit": "id"},
        {"keys": ["income", "w"], "covariance": [[1.0, 0.2], [0.2, 1.0]]},
    ),
    "value_loss": (
        {},
        {"variables": ["income", "region"], "unit": "range", "recoded": ["region"], "weighted": True},
        {"unit": "sd", "missing": "sdcmicro"},
    ),
    "correlation_loss": (
        {"variables": ["income", "w"]},
        {"variables": ["income", "w"], "method": "kendall", "weighted": False},
    ),
    "numeric_loss": ({}, {"variables": ["income", "w"], "robust": True, "seed": 3, "weighted": False}),
    "class_loss": ({}, FEWER),
    "variance_loss": ({}, {"variables": ["income", "w"], "by": ["sex"], "weighted": False}),
    "distribution_loss": ({}, {"variables": ["income", "region"], "scale": "range", "weighted": False}),
    "association_loss": (
        {},
        {"variables": ["sex", "region", "income", "w"], "most": 3, "corrected": True, "level": 0.1, "weighted": False},
    ),
    "table_loss": ({}, {"tables": [["region", "sex", "age"]], "count": "households", "weighted": True}),
    "propensity_loss": (
        {},
        {"variables": ["sex", "income"], "two_way": True, "numbers": "linear", "classes": 4, "pairs": True},
        {"model": "tree", "least_leaf": 5, "permutations": 3, "seed": 7},
    ),
    "estimate_loss": (
        {},
        {"variables": ["income", "disease"], "by": ["sex"], "statistics": ["mean", "total", "share"], **DESIGN},
        {"replicate_weights": ["w", "income"], "replicate_method": "jackknife", "replicate_factor": 0.5},
        {"quantiles": [0.5], "confidence": 0.9, "weighted": False},
    ),
    "statistic_loss": (
        {},
        {"statistic": sizes_of_numbers, "replicates": 3, "seed": 4, "clusters": []},
        {"formula": "income ~ C(region)*age", "errors": "classical", "confidence": 0.9, "weighted": False},
        {"formula": "sex ~ 0 + age + region", "model": "logistic", **DESIGN},
        {
            "formula": "income ~ age",
            "replicate_weights": ["w", "income"],
            "replicate_method": "brr",
            "replicate_factor": 2.0,
        },
    ),
    "inequality_loss": (
        {},
        {"variables": ["income", "w"], "line": 0.5, "replicates": 3, "seed": 4, "clusters": [], "confidence": 0.9},
        {"weighted": False},
    ),
}
"""By measure: options with which it is measured, between them every option that it has."""

every_measure = pytest.mark.parametrize("name", MEASURES)
every_example = pytest.mark.parametrize(
    ("name", "example"), [(name, at) for name, examples in EXAMPLES.items() for at in range(len(examples))]
)


def test_every_measure_has_examples() -> None:
    assert set(EXAMPLES) == set(MEASURES)


@every_measure
def test_every_option_of_every_measure_is_documented_and_tried(name: str) -> None:
    parameters = find(name).parameters
    assert [each.name for each in parameters if not each.doc] == []
    tried = {option for example in EXAMPLES[name] for option in example}
    assert {each.name for each in parameters} <= tried
    # Whatever draws is tried with another seed, by its public contract.
    assert all(isinstance(example.get("seed", 0), int) for example in EXAMPLES[name])


@every_example
def test_measures_keep_the_public_contract(name: str, example: int) -> None:
    options = EXAMPLES[name][example]
    if "unit" in options:
        original, masked = (data.with_columns(id=pl.int_range(SIZE) * 3 + 5) for data in (ORIGINAL, RELEASED))
    else:
        original, masked = ORIGINAL, RELEASED
    own = {id(ORIGINAL): original, id(RELEASED): masked}
    options = {option: own.get(id(value), value) for option, value in options.items()}
    check_measure(name, original, scenario(), released=masked if find(name).files == 2 else None, **options)


def measured(name: str, original: Any, who: tc.Scenario, masked: Any = None, **more: Any) -> Result:
    """The measure with its first example; the released file is made of the original unless given."""
    if name == "assess":
        return tc.assess(original, who, **more)
    options = {option: original if value is ORIGINAL else value for option, value in EXAMPLES[name][0].items()}
    files = (original,)
    if find(name).files == 2:
        files = (original, released(original) if masked is None else masked)
    return find(name).function(*files, who, **{**options, **more})


@cache
def usual(name: str) -> Result:
    """What is measured of the survey as it is."""
    return measured(name, ORIGINAL, scenario())


ALL = ["assess", *MEASURES]
everything = pytest.mark.parametrize("name", ALL)


def figures(result: Result) -> pl.DataFrame:
    found: pl.DataFrame = result.to_frame()  # type: ignore[attr-defined]
    assert found.height > 0
    return found


def assert_same(first: Result, second: Result) -> None:
    """The same headline and the same figures to the last bit."""
    assert str(first) == str(second)
    assert figures(first).equals(figures(second))


# Any kind of table, never changed.


@everything
def test_pandas_is_not_changed(name: str) -> None:
    frame = ORIGINAL.to_pandas()
    frame.index = pd.Index([f"person {row}" for row in range(SIZE)], name="who")
    frame.attrs["source"] = "made up"
    before = frame.copy(deep=True)
    measured(name, frame, scenario(), RELEASED.to_pandas())
    pd.testing.assert_frame_equal(frame, before, check_exact=True)
    pd.testing.assert_index_equal(frame.index, before.index)
    assert frame.attrs == {"source": "made up"}


@everything
def test_arrays_of_the_callers_table_may_be_read_only(name: str) -> None:
    arrays = {column: ORIGINAL[column].to_numpy() for column in ("w", "income")}
    for array in arrays.values():
        array.flags.writeable = False
    assert_same(measured(name, ORIGINAL.with_columns(**arrays), scenario()), usual(name))


@everything
def test_files_give_the_same_result(name: str, tmp_path: Path) -> None:
    result = usual(name)
    assert_same(measured(name, Data.of(ORIGINAL), scenario(), RELEASED), result)
    assert_same(measured(name, ORIGINAL.to_pandas().convert_dtypes(), scenario(), RELEASED), result)
    for suffix in ("parquet", "csv"):
        paths = [tmp_path / f"{file}.{suffix}" for file in ("survey", "released")]
        for frame, path in zip((ORIGINAL, RELEASED), paths, strict=True):
            tc.write(frame, path)
        kind = Path if suffix == "csv" else str
        assert_same(measured(name, kind(paths[0]), scenario(), kind(paths[1])), result)


# The order of the records.

RULES = ["one_way", "wildcard", "conservative", "partial(0.3)", "partial(expected)", "no_match", "own_category"]


@everything
@settings(max_examples=4)
@given(seed=st.integers(0, 2**32 - 1), rule=st.sampled_from(RULES), attack=st.sampled_from(["M2", "M3", "M5"]))
def test_permuted_records_give_the_permuted_result(name: str, seed: int, rule: str, attack: str) -> None:
    """Bit for bit: nothing depends on the order of a file, so that no record flips at a limit when it is sorted."""
    rows = np.random.default_rng(seed).permutation(SIZE)
    numbers = np.arange(1001, 1001 + SIZE)
    who = scenario(missing=rule, attack=attack)
    plain = measured(name, *_numbered(numbers, who))
    permuted = measured(name, *_numbered(numbers, who, rows))
    assert str(permuted) == str(plain)
    first, second = figures(plain), figures(permuted)
    assert second.equals(first[rows] if first.height == SIZE else first)


def _numbered(numbers: np.ndarray, who: tc.Scenario, rows: Any = slice(None)) -> tuple[Any, ...]:
    one, other = (Data(table[rows], numbers_of_records=numbers[rows]) for table in (ORIGINAL, RELEASED))
    return one, who, other


# Missing values follow the rule that the measure declares, and no other.


def results_of_all_rules(name: str, frame: pl.DataFrame) -> list[pl.DataFrame]:
    return [figures(measured(name, frame, scenario(missing=rule))) for rule in RULES]


def own_category_is_a_category(name: str) -> bool:
    """As if every blank of a key were the text 'blank', or the number -1."""

    def filled(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(region=pl.col("region").fill_null("blank"), age=pl.col("age").fill_null(-1))

    first = figures(measured(name, ORIGINAL, scenario(missing="own_category")))
    second = figures(measured(name, filled(ORIGINAL), scenario(missing="one_way"), filled(RELEASED)))
    third = figures(measured(name, ORIGINAL, scenario(not_applicable={"region": [""], "age": [""]})))
    return first.equals(second) and first.equals(third)


def no_match_is_like_nobody(name: str) -> bool:
    """As if every record with a blank had a key of its own."""
    blank = pl.any_horizontal(pl.col("region", "age").is_null())

    def alone(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(
            region=pl.when(blank).then(pl.format("nobody {}", pl.int_range(SIZE))).otherwise("region"),
            age=pl.when(blank).then(-1).otherwise("age"),
        )

    first = figures(measured(name, ORIGINAL, scenario(missing="no_match")))
    return first.equals(figures(measured(name, alone(ORIGINAL), scenario(missing="one_way"), alone(RELEASED))))


@everything
def test_missing_values_follow_the_declared_rule(name: str) -> None:
    follows = "scenario" if name == "assess" else find(name).missing.follows
    complete = results_of_all_rules(name, survey(missing=False))
    assert all(each.equals(complete[0]) for each in complete)
    with_blanks = results_of_all_rules(name, ORIGINAL)
    differ = not all(each.equals(with_blanks[0]) for each in with_blanks)
    by_the_rule = differ and own_category_is_a_category(name) and no_match_is_like_nobody(name)
    assert {"scenario": by_the_rule, "part": differ and not by_the_rule, "own": not differ}[follows]


@every_measure
def test_the_declared_rule_is_on_the_page(name: str) -> None:
    assert find(name).missing.words in find(name).page()
    assert find(name).missing.words.endswith(".")


@every_measure
def test_only_a_measure_that_says_so_has_other_last_digits_for_other_names(name: str) -> None:
    """Names whose order is another than that of the plain ones."""
    first = figures(usual(name)).select(cs.numeric()).to_numpy()
    differ = False
    for names in itertools.permutations(["a", "b", "c"]):
        new = dict(zip(["region", "sex", "age"], names, strict=True))
        renamed = [each.rename(new) for each in (ORIGINAL, RELEASED)]
        other = measured(name, renamed[0], scenario(keys=names), renamed[1])
        second = figures(other).select(cs.numeric()).to_numpy()
        assert second == pytest.approx(first, rel=find(name).precision, abs=0, nan_ok=True)
        differ |= not np.array_equal(first, second, equal_nan=True)
    assert differ == (find(name).precision > 0)


# Files.


@everything
def test_a_scenario_from_a_file_gives_the_same_result(name: str, tmp_path: Path) -> None:
    given = scenario(missing="partial(0.123456789)", error_rates={"age": 0.25}, not_applicable={"age": [20]})
    loaded = tc.Scenario.load(given.save(tmp_path / "scenario.toml"))
    assert loaded == given
    assert_same(measured(name, ORIGINAL, loaded), measured(name, ORIGINAL, given))


limit = st.one_of(st.none(), st.floats(0.001, 1))


@settings(max_examples=15)
@given(st.builds(tc.Policy, k=st.one_of(st.none(), st.integers(2, SIZE)), risk=limit, rate=limit, household_risk=limit))
def test_a_policy_from_a_file_gives_the_same_verdict(policy: tc.Policy) -> None:
    loaded = tc.Policy.from_toml(policy.to_toml())
    assert_same(tc.assess(ORIGINAL, scenario(), loaded), tc.assess(ORIGINAL, scenario(), policy))


@every_measure
def test_assess_takes_every_measure_and_every_limit(name: str) -> None:
    """What a policy limits is measured and judged; a measure without a limit cannot be limited."""
    own = find(name)
    options = {option: value for option, value in EXAMPLES[name][0].items() if value is not ORIGINAL}
    how = {"original": ORIGINAL} if own.files == 2 else {}
    register = ORIGINAL if "register" in own.needs else None
    data = RELEASED if own.files == 2 else ORIGINAL
    profile = tc.assess(data, scenario(), measures={name: options}, register=register, **how)
    main = profile.sets[0]
    core = [main.k_anonymity, main.individual, main.reidentification, main.attackers, profile.household]
    assert name in {*profile.further, *(result.measure.name for result in core)}
    if own.limit is None or name in OWN_FIELDS:
        with pytest.raises(TacitaError, match=r"has no figure that a policy can limit|is the field"):
            tc.Policy(limits={name: 1})
    else:
        # A limit that every file keeps would give no verdict.
        limit = 2 if own.limit.least else 0.5
        judged = tc.assess(data, scenario(), tc.Policy(limits={name: {"limit": limit, **options}}), **how)
        assert name in {verdict.name for verdict in judged.verdicts()}


# Nothing printed shows a cell; of the whole picture.


def test_the_whole_picture_shows_no_cell() -> None:
    marked = with_canaries(Data.of(ORIGINAL), "w")
    profile = tc.assess(marked, scenario())
    assert not shows_a_cell(printed(profile) + repr(marked) + str(marked))
    assert not shows_a_cell(str(profile.riskiest(SIZE).drop("F", "f")))
    assert "canary" in str(profile.riskiest(SIZE, values=True).to_dicts())
    table = tc.key_table(marked, scenario())
    assert not shows_a_cell(repr(table) + str(table))


@everything
def test_a_column_that_mixes_types_is_text_and_no_cell_is_said(name: str) -> None:
    mixed = with_canaries(Data.of(ORIGINAL), "w").table.to_pandas()
    mixed["region"] = [("zq-canary", 918273) if row % 2 else 918273 for row in range(SIZE)]
    mixed = mixed.assign(lower=mixed["income"] * 0.9, upper=mixed["income"] * 1.1)
    texts = mixed.assign(region=[str(cell) for cell in mixed["region"]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TacitaWarning)
        found = measured(name, mixed, scenario(), mixed)
    said = [str(each.message) for each in caught]
    assert "column 'region' mixes several types and is read as text; make it all text or all numbers." in said
    assert not any(shows_a_cell(message) for message in said)
    assert str(found) == str(measured(name, texts, scenario(), texts))


# Bad data get one sentence.


@everything
def test_bad_data(name: str, tmp_path: Path) -> None:
    for wrong, message in [
        (5, "data must be a path or a pandas, Polars or Arrow table; got int."),
        (ORIGINAL.lazy(), "data must be loaded; got a lazy frame, call .collect() on it first."),
        (tmp_path / "none.csv", "none.csv does not exist; check the path."),
    ]:
        with pytest.raises(TacitaError) as error:
            measured(name, wrong, scenario(), RELEASED)
        assert str(error.value) == message


@everything
def test_keys_that_are_not_there(name: str) -> None:
    names = {"sex": "sexx", "income": "incom"}
    with pytest.raises(TacitaError) as error:
        measured(name, ORIGINAL.rename(names), scenario(), RELEASED.rename(names))
    assert str(error.value).endswith(("'sex'. Did you mean 'sexx'?", "'income'. Did you mean 'incom'?"))


@everything
def test_two_records(name: str) -> None:
    """The smallest file that can hold a pair is measured, or refused in one sentence."""
    more = {"policy": tc.Policy(k=2)} if name == "assess" else {}
    result = unless_refused(name, lambda: measured(name, ORIGINAL.drop_nulls().head(2), scenario(), **more))
    assert result is None or figures(result).height >= 1


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
    "reidentification": [
        ({"method": "best"}, METHOD),
        ({"model": "best"}, "model must be one of 'latent', 'benedetti_franconi'; got 'best'."),
    ],
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
    "reconstruction": [({"threes": "some"}, "threes must be one of 'telling', 'all', 'none'; got 'some'.")],
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
        ({"probability": "guessed"}, "probability must be one of 'known', 'estimated', 'latent'; got 'guessed'."),
        ({"register": 5}, "data must be a path or a pandas, Polars or Arrow table; got int."),
    ],
    "mixed_uniqueness": [
        ({"tolerance": -1}, "a tolerance must not be negative; got -1."),
        ({"tolerance": {}}, "give a tolerance for every numeric key; 'income' has none."),
    ],
    "confidentiality": [({"alpha": 1}, "alpha must be in (0, 1); got 1.")],
    "confidentiality_sets": [({"key_sets": [["incom"]]}, "keys not in the data: 'incom'. Did you mean 'income'?")],
    "confidentiality_alphas": [({"alphas": [2]}, "alphas must be in (0, 1); got 2.")],
    "categorical_confidentiality": [
        ({"unit": "best"}, "unit must be one of 'value', 'sd', 'mad', 'range'; got 'best'.")
    ],
    "interval_confidentiality": [
        ({"intervals": {"income": ("lower", "uper")}}, "intervals not in the data: 'uper'. Did you mean 'upper'?")
    ],
    "cell_confidentiality": [({"upper": "uper"}, "lower and upper not in the data: 'uper'. Did you mean 'upper'?")],
    "distance_linkage": [
        ({"distance": "best"}, "distance must be one of 'euclidean', 'manhattan', 'mahalanobis', 'gower'; got 'best'.")
    ],
    "one_to_one_linkage": [({"gap": -1}, "gap must be at least 0; got -1.")],
    "probabilistic_linkage": [({"false_links": 2}, "false_links must be in [0, 1]; got 2.")],
    "external_risk": [
        ({"tolerance": 1.0}, "tolerance must be in [0, 1); got 1.0."),
        ({"suppressed": "some"}, "suppressed must be one of 'level', 'any'; got 'some'."),
        ({"known": {"sexx": 0.5}}, "known not in the data: 'sexx'. Did you mean 'sex'?"),
        ({"intruder": 5}, "data must be a path or a pandas, Polars or Arrow table; got int."),
    ],
    "rank_linkage": [
        ({"largest": 0}, "largest must be at least 1; got 0."),
        ({"size": "incom"}, "keys of the original file not in the data: 'incom'. Did you mean 'income'?"),
    ],
    "informed_linkage": [
        (
            {"mechanisms": 5},
            "mechanisms must be a release, a list of mechanisms, or the log.json of a release; got a int.",
        )
    ],
    "releases_together": [
        ({"tolerance": 1}, "tolerance must be in [0, 1); got 1."),
        ({"suppressed": "none"}, "suppressed must be one of 'level', 'any'; got 'none'."),
    ],
    "total_risk": [({"weights": [1]}, "weights must be two numbers, as (0.5, 0.5); got [1].")],
    "interval_disclosure": [({"k": -1}, "k must be at least 0; got -1.")],
    "rank_interval_disclosure": [
        ({"widths": [-1]}, "widths must be one or more percentages of at least 0; got [-1.0].")
    ],
    "robust_interval_disclosure": [({"scale": "best"}, "scale must be one of 'own', 'original'; got 'best'.")],
    "value_loss": [
        ({"unit": "best"}, "unit must be one of 'value', 'sd', 'mad', 'range'; got 'best'."),
        ({"variables": ["agee"]}, "variables not in the data: 'agee'. Did you mean 'age'?"),
    ],
    "correlation_loss": [({"method": "best"}, "method must be one of 'pearson', 'kendall'; got 'best'.")],
    "numeric_loss": [({"robust": "some"}, "robust must be true or false; got 'some'.")],
    "class_loss": [({"keys": ["agee"]}, "keys of the original file not in the data: 'agee'. Did you mean 'age'?")],
    "variance_loss": [
        ({"by": ["sexx"]}, "variables of the original file not in the data: 'sexx'. Did you mean 'sex'?")
    ],
    "distribution_loss": [({"scale": "best"}, "scale must be one of 'sd', 'range'; got 'best'.")],
    "association_loss": [
        ({"variables": ["sexx"]}, "variables not in the data: 'sexx'. Did you mean 'sex'?"),
        (
            {"variables": ["sex"]},
            "associations need at least two variables that are in both files; got 1, name more with variables=[...].",
        ),
    ],
    "table_loss": [
        ({"tables": "sex"}, "tables must be a list of lists of variables, as [['region', 'sex']]; got 'sex'."),
        ({"tables": [["sexx"]]}, "tables: variables not in the data: 'sexx'. Did you mean 'sex'?"),
    ],
    "propensity_loss": [({"model": "best"}, "model must be one of 'logistic', 'tree'; got 'best'.")],
    "estimate_loss": [
        ({"statistics": ["mode"]}, "statistics must be one of 'mean', 'total', 'share', 'quantile'; got 'mode'."),
        ({"quantiles": [2]}, "quantiles must be in (0, 1); got 2."),
        ({"replicate_weights": "rw*"}, "replicate_weights: no column is like 'rw*'; name the columns."),
    ],
    "statistic_loss": [
        (
            {"statistic": "mean"},
            "statistic must be a function of a table; without one, give a regression by formula=....",
        ),
        ({"formula": "incom ~ age"}, "formula: variables not in the data: 'incom'. Did you mean 'income'?"),
        (
            {"formula": "region ~ age"},
            "'region' must hold numbers in both files; for two categories use model='logistic'.",
        ),
    ],
    "inequality_loss": [
        ({"variables": ["sex"]}, "inequality is of numbers; 'sex' are not measured numbers in both files.")
    ],
}


def test_every_measure_has_its_bad_parameters_tried() -> None:
    assert set(BAD) == set(ALL)
    assert all(BAD.values())


@everything
def test_bad_parameters_get_the_whole_message(name: str) -> None:
    for options, message in BAD[name]:
        with pytest.raises(TacitaError) as error:
            measured(name, ORIGINAL, scenario(), **options)
        assert str(error.value) == message
