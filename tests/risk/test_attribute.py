"""l-diversity, t-closeness, beta-likeness, delta-disclosure, (alpha, k): fast against slow, by hand, reference."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import slow_attribute as slow_a
from hypothesis import given
from hypothesis import strategies as st

import tacita as tc
from conftest import Reference
from tacita.data import Data, Variable

RULES = [
    ("one_way", None),
    ("wildcard", None),
    ("conservative", None),
    ("no_match", None),
    ("own_category", None),
    ("partial", 0.25),
    ("partial", "categories"),
]
value = st.sampled_from([1, 2, None])
records = st.lists(
    st.tuples(value, value, st.sampled_from([1, 2, 3, None]), st.sampled_from(["a", "b", None])),
    min_size=1,
    max_size=14,
)


def survey(rows: list[tuple[object, ...]]) -> Data:
    schema = {"p": pl.Int64, "q": pl.Int64, "s": pl.Int64, "t": pl.String}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return Data.of(frame, {"s": Variable(scale="ordinal"), "t": Variable(scale="nominal")})


def scenario(rule: str, c: float | str | None) -> tc.Scenario:
    return tc.Scenario(keys=["p", "q"], sensitive=["s", "t"], missing=rule if c is None else f"{rule}({c})")


@pytest.mark.parametrize(("rule", "c"), RULES)
@given(rows=records)
def test_against_the_definitions(rule: str, c: float | str | None, rows: list[tuple[object, ...]]) -> None:
    data, who = survey(rows), scenario(rule, c)
    diversity = tc.risk.l_diversity(data, who, c=1.5).to_frame()
    closeness = tc.risk.t_closeness(data, who).to_frame()
    likeness = tc.risk.likeness(data, who).to_frame()
    keys = [row[:2] for row in rows]
    for place, name in ((2, "s"), (3, "t")):
        values = [row[place] for row in rows]
        file = Counter(values)
        for i in range(len(rows)):
            found = slow_a.amounts(keys, values, i, rule, c)
            assert diversity[f"{name}:distinct"][i] == len(found)
            assert diversity[f"{name}:entropy"][i] == pytest.approx(slow_a.entropy(found), rel=1e-12)
            assert diversity[f"{name}:recursive"][i] == slow_a.recursive(found, 1.5)
            distance = slow_a.ordered if name == "s" else slow_a.nominal
            assert closeness[f"{name}:t"][i] == pytest.approx(distance(found, file), abs=1e-12)
            for kind in ("beta", "enhanced", "delta", "delta_present"):
                expected = getattr(slow_a, kind)(found, file)
                assert likeness[f"{name}:{kind}"][i] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert likeness[f"{name}:alpha"][i] == pytest.approx(slow_a.alpha(found), rel=1e-12)


def table_of(data: Data, who: tc.Scenario) -> pl.DataFrame:
    """All attribute measures by record."""
    measures = (tc.risk.l_diversity, tc.risk.t_closeness, tc.risk.likeness)
    return pl.concat([measure(data, who).to_frame() for measure in measures], how="horizontal")


@given(rows=records)
def test_a_code_for_not_applicable_is_a_value_whatever_the_file_takes_it_for(rows: list[tuple[object, ...]]) -> None:
    """The file declares 3 and b missing; whoever knows that they mean not applicable gets what undeclared values get,
    which is held against the definitions above."""
    plain, who = survey(rows), scenario("one_way", None)
    known = {"s": Variable(scale="ordinal", missing=(3,)), "t": Variable(scale="nominal", missing=("b",))}
    data, knowing = Data.of(plain.table, known), replace(who, not_applicable={"s": (3,), "t": ("b", "")})
    expected = table_of(plain, who)
    assert table_of(data, knowing).equals(expected)
    told = {name: replace(each, not_applicable=knowing.not_applicable[name]) for name, each in known.items()}
    assert table_of(Data.of(plain.table, told), who).equals(expected)
    profile = tc.assess(data, knowing, tc.Policy(k=None), measures=("l_diversity", "t_closeness", "likeness"))
    found = [profile.further[name].to_frame() for name in ("l_diversity", "t_closeness", "likeness")]
    assert pl.concat(found, how="horizontal").equals(expected)


def test_not_applicable_taken_for_missing_would_look_too_close() -> None:
    data = Data.of(
        pl.DataFrame({"p": ["a", "a", "b", "b"], "s": ["x", None, "x", "child"]}), {"s": Variable(missing=("child",))}
    )
    who = tc.Scenario(keys=["p"], sensitive=["s"])
    assert tc.risk.t_closeness(data, who).t == {"s": 0.0}
    assert tc.risk.t_closeness(data, replace(who, not_applicable={"s": "child"})).t == {"s": 0.25}


@given(rows=records)
def test_several_sensitive_variables(rows: list[tuple[object, ...]]) -> None:
    """The least l of either variable inside the sub-groups of a group that agree on the other."""
    found = tc.risk.l_diversity(survey(rows), scenario("one_way", None), c=2).to_frame()
    keys = [row[:2] for row in rows]
    for i in range(len(rows)):
        members = [h for h, _ in slow_a.group(keys, i, "one_way")]
        least = {"entropy": np.inf, "recursive": np.inf}
        for own, other in ((2, 3), (3, 2)):
            for shared in {rows[h][other] for h in members}:
                counts = Counter(rows[h][own] for h in members if rows[h][other] == shared)
                least["entropy"] = min(least["entropy"], slow_a.entropy(counts))
                least["recursive"] = min(least["recursive"], slow_a.recursive(counts, 2))
        assert found["multi:entropy"][i] == pytest.approx(least["entropy"], rel=1e-12)
        assert found["multi:recursive"][i] == least["recursive"]


def test_paper_001_table() -> None:
    """Six inpatients: l = 2 among the men, 1 among the women."""
    patients = pl.DataFrame(
        {
            "gender": ["male"] * 3 + ["female"] * 3,
            "age": ["30s"] * 3 + ["20s"] * 3,
            "condition": ["cancer", "heart disease", "heart disease", "cancer", "cancer", "cancer"],
        }
    )
    found = tc.risk.l_diversity(patients, tc.Scenario(keys=["gender", "age"], sensitive=["condition"]))
    assert found.to_frame()["condition:distinct"].to_list() == [2, 2, 2, 1, 1, 1]


def test_closeness_by_hand() -> None:
    """The example of Li et al.: salaries 3k to 11k in nine equal steps; {3,4,5} is 0.375 away, {6,8,11} 0.167."""
    salary = [3, 4, 5, 6, 11, 8, 7, 9, 10]
    groups = [1, 1, 1, 2, 2, 2, 3, 3, 3]
    data = Data.of(pl.DataFrame({"group": groups, "salary": salary}), {"salary": Variable(scale="numeric")})
    found = tc.risk.t_closeness(data, tc.Scenario(keys=["group"], sensitive=["salary"]))
    assert found.to_frame()["salary:t"].to_list() == pytest.approx([0.375] * 3 + [1 / 6] * 3 + [0.236111111] * 3)
    assert found.t["salary"] == pytest.approx(0.375)


def test_declared_order_is_kept() -> None:
    frame = pl.DataFrame({"g": [1, 1, 2, 2], "level": ["low", "middle", "high", "high"]})
    order = ("low", "middle", "high")
    ordered = Data.of(frame, {"level": Variable(scale="ordinal", order=order)})
    enum = Data.of(frame.with_columns(pl.col("level").cast(pl.Enum(order))))
    who = tc.Scenario(keys=["g"], sensitive=["level"])
    # Group 1: P = (1/2, 1, 1), file Q = (1/4, 1/2, 1): (1/4 + 1/2)/2; group 2 the same.
    assert tc.risk.t_closeness(ordered, who).t == {"level": 0.375}
    assert tc.risk.t_closeness(enum, who).t == {"level": 0.375}
    with pytest.raises(tc.TacitaError) as error:
        tc.risk.t_closeness(Data.of(frame, {"level": Variable(order=("low", "high"))}), who)
    assert str(error.value) == "column 'level' has 1 value not in its order; add them there."


def test_messages() -> None:
    data = survey([(1, 1, 1, "a")])
    for call, message in [
        (
            lambda: tc.risk.l_diversity(data, tc.Scenario(keys=["p"])),
            "name at least one sensitive variable; pass sensitive=[...].",
        ),
        (
            lambda: tc.risk.t_closeness(data, tc.Scenario(keys=["p", "s"], sensitive=["s"])),
            "a sensitive variable cannot be a key at the same time: 's'.",
        ),
        (lambda: tc.risk.l_diversity(data, scenario("one_way", None), c=0), "c must be above 0; got 0."),
        (
            lambda: tc.risk.likeness(data, tc.Scenario(keys=["p"]), sensitive=["x"]),
            "sensitive not in the data: 'x'. The columns are 'p', 'q', 's', 't'.",
        ),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            call()
        assert str(error.value) == message


REFERENCE_CASES = [
    "ldiversity_eusilc_3keys_inc_cl-hsize_c2",
    "ldiversity_eusilc_3keys_inc_cl_c2",
    "ldiversity_francdat_2keys_Key3_c2",
    "ldiversity_testdata_4keys_hhcivil_c3",
    "ldiversity_testdata_4keys_relat_c2",
    "ldiversity_testdata_5keys_relat-hhcivil_c2",
    "ldiversity_testdata_na_4keys_hhcivil_c2",
]
WRONG_CASES = [
    "ldiversity_eusilc_4keys_pb220a_c2_naInSensitive",
    "ldiversity_testdata_na_4keys_relat_c2_naInSensitive",
    "ldiversity_testdata_na_5keys_relat-hhcivil_c2_na",
]


def of_case(reference: Reference, name: str) -> tuple[pl.DataFrame, dict[str, list[float]], list[str]]:
    case = reference.case(name)
    parameters = case["parameters"]
    frame = reference.data(case["dataset"])
    extra = reference.folder / "cases" / f"{name}__sensitive.csv"
    if extra.is_file():
        made = pl.read_csv(extra, infer_schema=False)
        frame = frame.with_columns(made.get_columns())
    who = tc.Scenario(keys=parameters["keys"], sensitive=parameters["sensitive"], missing="own_category")
    return (
        tc.risk.l_diversity(frame, who, c=parameters["c"]).to_frame(),
        reference.vectors(name),
        parameters["sensitive"],
    )


@pytest.mark.parametrize("name", REFERENCE_CASES)
def test_reference(reference: Reference, name: str) -> None:
    ours, theirs, sensitive = of_case(reference, name)
    for variable in sensitive:
        for kind in ("distinct", "entropy", "recursive"):
            expected = theirs[f"{variable}_{kind.title()}_Ldiversity"]
            np.testing.assert_allclose(ours[f"{variable}:{kind}"].to_numpy(), expected, rtol=1e-9)
    if len(sensitive) > 1:
        np.testing.assert_allclose(ours["multi:entropy"].to_numpy(), theirs["multi_entropy_def"], rtol=1e-9)
        np.testing.assert_allclose(ours["multi:recursive"].to_numpy(), theirs["multi_recursive_def"], rtol=1e-9)


@pytest.mark.parametrize("name", WRONG_CASES)
def test_reference_counts_every_missing_sensitive_value_as_a_new_one(reference: Reference, name: str) -> None:
    """NOTES 3: missing values make data look more diverse there; here they are one category, so l is never higher."""
    ours, theirs, sensitive = of_case(reference, name)
    higher = 0
    for variable in sensitive:
        expected = np.array(theirs[f"{variable}_Distinct_Ldiversity"])
        assert (ours[f"{variable}:distinct"].to_numpy() <= expected).all()
        higher += int((expected > ours[f"{variable}:distinct"].to_numpy()).sum())
    assert higher > 0


def test_every_reference_case_is_named(reference: Reference) -> None:
    assert sorted([*REFERENCE_CASES, *WRONG_CASES]) == reference.names("ldiversity")


def test_recursive_diversity_takes_ties_for_not_diverse() -> None:
    """r_1 = c (r_2 + ...) exactly is not less, though floating point says so (5 * 0.2, 1.1 * 110)."""
    people = pl.DataFrame({"key": [1, None, None], "illness": ["x", "d", "h"]})
    scenario = tc.Scenario(keys=["key"], sensitive=["illness"], missing="partial(0.1)")
    assert tc.risk.l_diversity(people, scenario, c=5).recursive["illness"].tolist()[-1] == 1
    assert tc.risk.l_diversity(people, scenario, c=5.001).recursive["illness"].tolist()[-1] == 3 - 1
    whole = pl.DataFrame({"key": [1] * 231, "illness": ["a"] * 121 + ["b"] * 110})
    one = tc.Scenario(keys=["key"], sensitive=["illness"])
    assert tc.risk.l_diversity(whole, one, c=1.1).recursive["illness"].tolist() == [1]
    assert tc.risk.l_diversity(whole, one, c=1.10001).recursive["illness"].tolist() == [2]
    assert tc.risk.l_diversity(whole, one, c=1.1 + 1e-15).recursive["illness"].tolist() == [2]
