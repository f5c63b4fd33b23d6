"""Linkage by who knows the methods: against loops over all pairs, by hand, and what the result says."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import slow_informed as slow
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.mechanism import Mechanism
from tacita.risk.external.informed_linkage import InformedLinkage, informed_linkage

SEEDS = st.integers(0, 10_000)
JOBS = ["smith", "miller", "baker"]


def people(n: int, seed: int, blanks: float = 0.1) -> pl.DataFrame:
    """Categories and numbers with ties, zeros, blanks and duplicate rows."""
    draw = np.random.default_rng(seed)

    def column(values: Any) -> list[Any]:
        gone = draw.random(n) < blanks
        return [None if blank else value for blank, value in zip(gone, values, strict=True)]

    return pl.DataFrame(
        {
            "job": column([JOBS[at] for at in draw.integers(0, 3, n)]),
            "town": column(draw.integers(1, 4, n).tolist()),
            "sex": [("f", "m")[at] for at in draw.integers(0, 2, n)],
            "income": column(np.where(draw.random(n) < 0.2, 0.0, draw.gamma(2.0, 9.0, n).round(1)).tolist()),
            "wealth": column(draw.normal(50.0, 20.0, n).round(1).tolist()),
            "age": column((draw.integers(15, 40, n) * 1.0).tolist()),
        },
        schema_overrides={"income": pl.Float64, "wealth": pl.Float64, "age": pl.Float64, "town": pl.Int64},
    )


def after(original: pl.DataFrame, steps: list[Any], seed: int, who: tc.Scenario, blanks: float = 0.1) -> Data:
    """The release of some steps, with cells suppressed by chance."""
    data = tc.Plan(steps).apply(original, who, seed=seed).data
    draw = np.random.default_rng(seed + 1)
    return data.blanked({name: draw.random(len(data)) < blanks for name in (*who.keys, *who.numeric_keys)})


def columns(data: Any, names: list[str]) -> list[list[Any]]:
    return [Data.of(data).table[name].to_list() for name in names]


def assert_linked(found: InformedLinkage, costs: list[Any], size: int) -> None:
    ties, correct = slow.linked(costs, size, size)
    assert found.candidates.tolist() == ties
    np.testing.assert_allclose(found.correct, correct)


@settings(max_examples=12)
@given(st.integers(2, 25), SEEDS, st.booleans(), st.booleans())
def test_categories_are_those_of_all_pairs(n: int, seed: int, twice: bool, by_sex: bool) -> None:
    original, who = people(n, seed), tc.Scenario(keys=["job", "town", "sex"])
    steps = [tc.Pram("job", pd=0.5, alpha=1.0, strata=["sex"] if by_sex else [])]
    steps += [tc.Pram("job", pd=0.6, alpha=0.5)] if twice else []
    released = after(original, steps, seed, who)
    found = informed_linkage(original, released, who)
    (job, town, sex), (job_y, town_y, sex_y) = (columns(data, ["job", "town", "sex"]) for data in (original, released))
    first = [each for each in released.mechanisms if "stratum" in each.parameters] or [released.mechanisms[0]]
    told = [first, [released.mechanisms[-1]]] if twice else [first]
    strata = [{"sex": value} for value in sex]
    costs = [slow.exchanged_by_matrix(job, job_y, told, strata), slow.stayed(town, town_y), slow.stayed(sex, sex_y)]
    assert_linked(found, costs, n)
    ties, correct = slow.linked(
        [slow.differs(*each, numeric=False) for each in ((job, job_y), (town, town_y), (sex, sex_y))], n, n
    )
    assert found.plain_candidates.tolist() == ties
    np.testing.assert_allclose(found.plain_correct, correct)


@settings(max_examples=12)
@given(st.integers(5, 25), SEEDS, st.sampled_from(["additive", "correlated", "delta", "exact"]), st.booleans())
def test_noise_is_that_of_all_pairs(n: int, seed: int, method: str, zeros: bool) -> None:
    original, who = people(n, seed), tc.Scenario(numeric_keys=["income", "wealth"], keys=["sex"])
    shown = original.select(pl.col("income").is_not_null().sum(), pl.col("wealth").is_not_null().sum()).row(0)
    if min(shown) < 3 or original["income"].drop_nulls().n_unique() < 3:
        return
    released = after(original, [tc.Noise(["income", "wealth"], 0.4, method=method, keep_zeros=zeros)], seed, who)
    names = ["income", "wealth"]
    if any(not [value for value in column if value is not None] for column in columns(released, names)):
        return
    found = informed_linkage(original, released, who)
    (told,) = released.mechanisms
    x, y = columns(original, names), columns(released, names)
    errors = slow.normal_errors(x, y, told.parameters["kept"], told.parameters["covariance"], zeros)
    sex, sex_y = columns(original, ["sex"])[0], columns(released, ["sex"])[0]
    assert_linked(found, [errors, slow.stayed(sex, sex_y)], n)
    pairs = [(x[0], y[0], True), (x[1], y[1], True), (sex, sex_y, False)]
    ties, correct = slow.linked([slow.differs(*each) for each in pairs], n, n)
    assert found.plain_candidates.tolist() == ties
    np.testing.assert_allclose(found.plain_correct, correct)


@settings(max_examples=12)
@given(st.integers(6, 30), SEEDS)
def test_swapped_and_averaged_numbers_are_those_of_all_pairs(n: int, seed: int) -> None:
    original, who = people(n, seed), tc.Scenario(numeric_keys=["age", "wealth"], keys=["town"])
    if original["wealth"].count() < 3:
        return
    steps = [tc.RankSwap("age", 0.2), tc.Microaggregate("wealth", k=3), tc.RandomSwap("town", rate=0.5)]
    released = after(original, steps, seed, who)
    swapped, averaged, _ = released.mechanisms
    names = ["age", "wealth", "town"]
    (age, wealth, town), (age_y, wealth_y, town_y) = columns(original, names), columns(released, names)
    if any(not [value for value in column if value is not None] for column in (age_y, wealth_y, town_y)):
        return
    spread = np.var([value for value in wealth if value is not None]) * averaged.parameters["sse_share"]
    if spread <= 0:
        return
    found = informed_linkage(original, released, who)
    costs = [
        slow.in_window(age, age_y, swapped.parameters["found"]["age"]["window"]),
        slow.normal_errors([wealth], [wealth_y], 1.0, [[spread]], zeros=False),
        slow.share_exchanged(town, town_y, 0.5),
    ]
    assert_linked(found, costs, n)


def test_errors_of_several_steps_add_up() -> None:
    original, who = people(40, 3, blanks=0.0), tc.Scenario(numeric_keys=["income", "wealth"])
    steps = [
        tc.Noise("income", 0.2, keep_zeros=False),
        tc.Noise(["income", "wealth"], 0.5, method="delta", keep_zeros=False),
    ]
    released = after(original, steps, 5, who, blanks=0.0)
    first, second = released.mechanisms
    kept = second.parameters["kept"]
    covariance = np.array(second.parameters["covariance"])
    covariance[0, 0] += kept**2 * first.parameters["covariance"][0][0]
    x, y = (columns(data, ["income", "wealth"]) for data in (original, released))
    assert_linked(informed_linkage(original, released, who), [slow.normal_errors(x, y, kept, covariance, False)], 40)


def test_a_matrix_that_turns_everything_round_hides_nothing() -> None:
    turned = tc.Pram("job", matrix={"smith": {"miller": 1}, "miller": {"smith": 1}})
    file = pl.DataFrame({"job": ["smith"] * 6 + ["miller"] * 4, "town": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4]})
    who = tc.Scenario(keys=["job", "town"])
    release = tc.Plan([turned]).apply(file, who, seed=1)
    found = informed_linkage(file, release, who)
    assert (found.expected_correct, round(found.expected_plain, 9)) == (10.0, 0.4)
    assert round(found.gain, 9) == 9.6
    assert found.guessed == 1.0
    assert found.methods == {"job": "a known matrix", "town": "coded alike"}
    assert found.cautions == ()
    assert found.headline == (
        "an intruder who knows the methods links 10 of 10 records rightly (100 %); one who does not, 0.4 (4 %); 1 by "
        "guessing"
    )


def test_combinations_that_changed_together() -> None:
    original = people(30, 8, blanks=0.0)
    who = tc.Scenario(keys=["job", "sex", "town"])
    released = tc.Plan([tc.Pram(["job", "sex"], diagonal=0.7, together=True)]).apply(original, who, seed=2).data
    (told,) = released.mechanisms
    gone = released.blanked({"sex": released.record % 4 == 0, "job": released.record % 6 == 0})
    found = informed_linkage(original, gone, who)
    categories = [tuple(each) for each in told.parameters["categories"]]
    pairs = [list(zip(*columns(data, ["job", "sex"]), strict=True)) for data in (original, gone)]
    complete = [pair for pair in pairs[1] if None not in pair]

    def cost(i: int, h: int) -> float:
        row = told.parameters["matrix"][categories.index(pairs[0][i])]
        agrees = [
            pair for pair in complete if all(one in (None, two) for one, two in zip(pairs[1][h], pair, strict=True))
        ]
        chances = [row[categories.index(pair)] for pair in agrees]
        if None in pairs[1][h]:
            return slow.surprise(sum(chances) / max(len(chances), 1), 30)
        return -np.log(chances[0]) if chances[0] > 0 else np.inf

    town = [columns(data, ["town"])[0] for data in (original, gone)]
    assert_linked(found, [cost, slow.stayed(*town)], 30)


def test_values_recoded_before_they_were_exchanged_are_found_out() -> None:
    original, who = people(300, 4, blanks=0.0), tc.Scenario(keys=["job", "town", "sex"])
    grouped = tc.Recode("job", mapping={"smith": "craft", "miller": "craft", "baker": "food"})
    release = tc.Plan([grouped, tc.Pram("job", pd=0.8)]).apply(original, who, seed=3)
    found = informed_linkage(original, release, who)
    alike = original.with_columns(job=pl.col("job").replace({"smith": "craft", "miller": "craft", "baker": "food"}))
    by_hand = informed_linkage(alike, release, who)
    np.testing.assert_array_equal(found.correct, by_hand.correct)
    assert found.methods["job"] == "a known matrix"


def test_recoded_and_rounded_values_are_coded_alike() -> None:
    original = pl.DataFrame({"age": [21.5, 23.0, 38.0, 44.0, 71.0, 90.0], "job": ["a", "b", "c", "a", "b", "c"]})
    who = tc.Scenario(keys=["job"], numeric_keys=["age"])
    steps = [
        tc.Recode("job", mapping={"a": "ab", "b": "ab", "c": "c"}),
        tc.Round("age", base=10),
        tc.TopCode("age", at=60),
    ]
    found = informed_linkage(original, tc.Plan(steps).apply(original, who), who)
    assert found.candidates.tolist() == [2, 2, 1, 1, 1, 1]
    assert found.expected_correct == 5.0
    assert set(found.methods.values()) == {"coded alike"}


def test_methods_that_say_nothing_are_measured() -> None:
    original, who = people(60, 5, blanks=0.0), tc.Scenario(numeric_keys=["income", "wealth"], keys=["job"])
    release = tc.Plan([tc.Shuffle("income", by=["wealth"])]).apply(original, who, seed=1)
    found = informed_linkage(original, release, who)
    assert found.methods["income"] == "errors, measured on the two files"
    assert found.cautions == (
        "no method says how likely the released values of 'income' are: the intruder goes by how many were changed, or "
        "how far, measured on the two files.",
    )
    unflagged = original.with_columns(job=pl.lit("smith"))
    assert informed_linkage(original, Data.of(unflagged).with_perturbed(["job"]), who).methods["job"] == (
        "a share exchanged, measured on the two files"
    )


def test_the_last_of_several_methods_counts() -> None:
    original, who = people(60, 6, blanks=0.0), tc.Scenario(numeric_keys=["wealth", "income"])
    steps = [tc.Noise("wealth", 0.1), tc.RankSwap("wealth", 0.1)]
    found = informed_linkage(original, tc.Plan(steps).apply(original, who, seed=1), who)
    assert found.methods["wealth"] == "a known window of ranks"
    assert found.cautions[0] == (
        "'wealth' changed by several methods that cannot be taken together: the intruder goes by the last of them."
    )


@pytest.mark.parametrize("method", ["multiplicative", "two_sided"])
def test_factors_are_compared_on_the_log_scale(method: str) -> None:
    original, who = people(80, 7, blanks=0.0), tc.Scenario(numeric_keys=["income"], keys=["sex"])
    steps = [tc.Noise("income", 0.1, method=method)]
    released = after(original, steps, 2, who, blanks=0.0)
    found = informed_linkage(original, released, who)
    variance = 0.01 if method == "multiplicative" else np.log1p(11 / 6 * 0.01)
    (x, sex), (y, sex_y) = columns(original, ["income", "sex"]), columns(released, ["income", "sex"])

    def cost(i: int, h: int) -> float:
        if x[i] == 0 or y[h] == 0:
            return 0.0 if x[i] == y[h] else np.inf
        return 0.5 * (np.log(y[h] / x[i]) + variance / 2) ** 2 / variance

    assert_linked(found, [cost, slow.stayed(sex, sex_y)], 80)
    assert found.methods["income"] == "known factors"


def test_knowing_the_methods_pays() -> None:
    survey = tc.household_survey(2000, population=50_000)
    keys = ["region", "age", "citizenship"]
    who = tc.Scenario(keys=keys)
    release = tc.Plan([tc.Pram(keys, pd=0.6, alpha=0.6)]).apply(survey.data, who, seed=1)
    found = informed_linkage(survey.data, release, who)
    assert found.expected_correct > found.expected_plain > found.guessed
    assert found.share_correct == found.expected_correct / len(survey.data.table)


def test_mechanisms_may_be_given(tmp_path: Path) -> None:
    original, who = people(40, 9, blanks=0.0), tc.Scenario(keys=["job", "town"])
    release = tc.Plan([tc.Pram("job", pd=0.6)]).apply(original, who, seed=1)
    plain = Data.of(release.data.table)
    known = informed_linkage(original, release, who)
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"steps": [{"mechanisms": [each.to_dict() for each in release.data.mechanisms]}]}))
    for told in (release, release.data.mechanisms, [each.to_dict() for each in release.data.mechanisms], str(log), log):
        assert str(informed_linkage(original, plain, who, mechanisms=told)) == str(known)
    assert informed_linkage(original, plain, who).methods["job"] == "coded alike"
    log.write_text("[1]")
    for wrong, why in (
        (5, "mechanisms must be a release, a list of mechanisms, or the log.json of a release; got a int."),
        (str(log), "log.json is no log of a release; give the log.json that it wrote."),
        ("nowhere.json", "nowhere.json cannot be read: no such file or directory; check the path of mechanisms."),
        (
            [{"variables": []}],
            "a mechanism must have kind, variables, parameters and perturbs; check the file or the list.",
        ),
    ):
        with pytest.raises(TacitaError) as error:
            informed_linkage(original, plain, who, mechanisms=wrong)
        assert str(error.value) == why


def test_a_method_that_does_not_explain_the_file_is_pointed_out() -> None:
    original = pl.DataFrame({"job": ["a", "b", "a", "b"]})
    told = Mechanism(
        "transition", ("job",), {"categories": ["a", "b"], "matrix": [[1.0, 0.0], [0.0, 1.0]]}, perturbs=True
    )
    masked = pl.DataFrame({"job": ["b", "b", "b", "b"]})
    found = informed_linkage(original, masked, tc.Scenario(keys=["job"]), mechanisms=[told])
    assert found.candidates.tolist() == [0, 4, 0, 4]
    assert found.cautions == (
        "by the methods as reported no released record is possible for 2 records: another step changed the "
        "file besides.",
    )


def test_units_with_several_records() -> None:
    file = pl.DataFrame({"firm": [1, 1, 2, 2], "size": [10.0, 12.0, 40.0, 42.0]})
    who = tc.Scenario(numeric_keys=["size"], person="firm")
    masked = file.with_columns(size=pl.Series([12.0, 10.0, 42.0, 40.0]))
    found = informed_linkage(file, Data.of(masked).with_perturbed(["size"]), who)
    assert found.correct.tolist() == [1.0] * 4
    alone = informed_linkage(file, Data.of(masked).with_perturbed(["size"]), tc.Scenario(numeric_keys=["size"]))
    assert alone.correct.tolist() == [0.0] * 4


def test_records_that_were_dropped_are_no_links() -> None:
    original = Data(people(20, 2, blanks=0.0), numbers_of_records=np.arange(1, 21))
    released = original.take(np.arange(0, 20, 2))
    found = informed_linkage(original, released, tc.Scenario(keys=["job", "town"], numeric_keys=["wealth"]))
    assert found.units == 10
    assert found.expected_correct == 10.0
    assert found.correct[1::2].sum() == 0
    with pytest.raises(TacitaError, match="no released record is in the original, so there is nothing to link"):
        informed_linkage(original.take(np.arange(10)), original.take(np.arange(10, 20)), tc.Scenario(keys=["job"]))
