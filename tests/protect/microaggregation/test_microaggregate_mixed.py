"""The step for mixed data: what a released file looks like, by hand, and faults of the reference program done right."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from conftest import Reference
from tacita.check import TacitaError
from tacita.protect.microaggregate.gower_distance import gower_distances, gower_points
from tacita.release.release import Release

WHO = tc.Scenario(keys=["one"])
DEGREES = pl.Enum(["low", "middle", "high"])


def people(n: int = 300, missing: float = 0.0, seed: int = 1) -> pl.DataFrame:
    """Numbers, ordered and other categories that hang together: children are single and go to school."""
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 90, n)
    marital = np.where(age < 18, "single", draw.choice(["single", "married", "widowed"], n))
    work = np.where(age < 18, "school", draw.choice(["works", "pension", "none"], n))
    degree = np.where(age < 18, 0, draw.integers(0, 3, n))
    table = pl.DataFrame(
        {
            "age": age,
            "income": np.where(age < 18, 0.0, draw.lognormal(10, 1, n)),
            "marital": marital,
            "work": work,
            "degree": pl.Series(DEGREES.categories.to_numpy()[degree], dtype=DEGREES),
            "one": ["a"] * n,
        }
    )
    gone = {name: draw.random(n) < missing for name in ("age", "income", "marital", "work", "degree")}
    return table.with_columns(pl.when(~pl.Series(where)).then(pl.col(name)).alias(name) for name, where in gone.items())


ALL = ["age", "income", "marital", "work", "degree"]


def data_of(table: pl.DataFrame) -> tc.Data:
    known = {"degree": tc.Variable(scale="ordinal"), "age": tc.Variable(scale="numeric")}
    return tc.Data.of(table, {name: each for name, each in known.items() if name in table.columns})


def released(table: pl.DataFrame, *given: Any, scenario: tc.Scenario = WHO, seed: int = 3, **more: Any) -> Release:
    if "one" not in table.columns:
        table = table.with_columns(one=pl.lit("a"))
    return tc.Plan([tc.MicroaggregateMixed(*given, **more)]).apply(data_of(table), scenario, seed=seed)


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("nominal", ["mode", "drawn", "medoid"])
@pytest.mark.parametrize("keep", [False, True])
def test_k_records_or_more_are_alike(k: int, nominal: str, keep: bool) -> None:
    release = released(people(), ALL, k=k, nominal=nominal, keep_combinations=keep)
    sizes = release.data.table.group_by(ALL).len()["len"]
    assert sizes.min() >= k  # type: ignore[operator]
    figures = release.changes[0].figures
    assert k <= figures["smallest"] <= figures["largest"] < 2 * k
    assert release.data.table.schema == people().schema
    assert release.data.table["income"].mean() == pytest.approx(people()["income"].mean())


def test_what_a_record_shows_is_shown_by_k_though_values_are_missing() -> None:
    for keep in (False, True):
        release = released(people(400, missing=0.05), ALL, k=4, keep_combinations=keep)
        rows = release.data.table.select(ALL).rows()
        for row in rows:
            shows = [place for place, value in enumerate(row) if value is not None]
            alike = sum(all(other[place] == row[place] for place in shows) for other in rows)
            assert not shows or alike >= 4
        assert release.changes[0].figures["records_joined"] > 0
        assert "with a rare pattern of missing values put into the nearest group that shows more" in str(release)


def test_by_hand() -> None:
    """Ages 20 and 21 with 22, 60 and 62 with 66; means, modes, medians."""
    table = pl.DataFrame(
        {
            "age": [20, 60, 21, 62, 22, 66],
            "work": ["cook", "judge", "cook", "judge", "nun", "king"],
            "degree": pl.Series(["low", "high", "middle", "high", "middle", "low"], dtype=DEGREES),
        }
    )
    made = released(table, ["age", "work", "degree"], ["age"], k=3).data.table.drop("one").rows()
    young, old = (21, "cook", "middle"), (63, "judge", "high")
    assert made == [young, old, young, old, young, old]
    median = released(table, ["age"], k=3, average="median").data.table["age"].to_list()
    assert median == [21, 62, 21, 62, 21, 62]
    # The medoids are 21 and 62; together with the degree of the same person.
    medoid = released(table, ["work", "degree"], ["age"], k=3, nominal="medoid", keep_combinations=True).data.table
    assert medoid.drop("one", "age").rows()[:2] == [("cook", "middle"), ("judge", "high")]


def test_only_the_variables_named_are_changed() -> None:
    """sdcMicro's issue 245: variables that were not named changed too."""
    table = people()
    made = released(table, ["marital", "work"], ["age", "degree"], k=4, strata=["degree"]).data.table
    assert made.drop("marital", "work").equals(table.drop("marital", "work"))
    assert not made.equals(table)


def test_no_combination_of_categories_arises_on_request() -> None:
    """sdcMicro's issue 245: combinations that do not exist in the original, as a widowed pupil."""
    table, names = people(600), ["marital", "work", "degree"]
    before = set(table.select(names).rows())
    loose = released(table, names, ["income"], k=5, nominal="drawn")
    new = [row for row in loose.data.table.select(names).rows() if row not in before]
    assert len(new) == loose.changes[0].figures["records_with_new_combinations"] > 0
    said = f"{len(new)} records have a combination of categories that nobody had; keep_combinations=True avoids it"
    assert said in loose.changes[0].remarks
    for nominal in ("mode", "drawn", "medoid"):
        kept = released(table, names, ["income"], k=5, nominal=nominal, keep_combinations=True)
        assert set(kept.data.table.select(names).rows()) <= before
        assert kept.changes[0].figures["records_with_new_combinations"] == 0
        assert len(kept.changes[0].remarks) == 1


def test_groups_grow_where_records_are_close() -> None:
    """sdcMicro's issue 311: the least size is a rule, a fixed one separates a record from its like."""
    table = pl.DataFrame({"age": [1, 2, 3, 40, 41, 42, 43, 80, 81, 82, 83, 84]})
    fixed = released(table, ["age"], k=3).data.table["age"].value_counts().sort("age")["count"].to_list()
    grown = released(table, ["age"], k=3, gamma=1.1).data.table["age"].value_counts().sort("age")["count"].to_list()
    assert fixed == [3, 3, 3, 3]
    assert grown == [3, 4, 5]


def test_the_group_size_is_the_one_asked_for_and_groups_are_a_partition(reference: Reference) -> None:
    """sdcMicro ignores it on a data frame, always 3, and averages each record's own neighbours: 458 of 500 records are
    in classes of fewer than three."""
    for name in reference.names("microaggrGower"):
        case = reference.case(name)
        given, theirs = case["parameters"], reference.vectors(name)
        alone = _records_in_classes_below(3, pl.DataFrame(theirs))
        assert alone == case["scalars"]["n_rows_in_class_smaller_than_3"] > 200
        table = _testdata(reference, len(next(iter(theirs.values()))))
        for k in (3, 4):
            made = released(
                table, given["variables"], given["dist_var"], k=k, strata=[given["by"]] if given["by"] else []
            )
            assert _records_in_classes_below(k, made.data.table.select(given["variables"])) == 0


def test_the_distance_is_that_of_the_reference_program(reference: Reference) -> None:
    """Its means of each record's three nearest, taken by our distances, to the last digit."""
    for name, column in (
        ("microaggrGower_testdata_first300_numeric", "income"),
        ("microaggrGower_testdata_first500", "expend"),
        ("microaggrGower_testdata_first500_by_urbrur", "expend"),
    ):
        given, theirs = reference.case(name)["parameters"], np.array(reference.vectors(name)[column])
        table = _testdata(reference, len(theirs)).with_row_index("row")
        parts = table.partition_by(given["by"]) if given["by"] else [table]
        for part in parts:
            values = [part[each].cast(pl.Float64).to_numpy() for each in given["dist_var"]]
            nominal = [each == "sex" for each in given["dist_var"]]
            points = gower_points(values, nominal, np.ones(len(values)), [None] * len(values))
            for place, row in enumerate(part["row"]):
                three = np.argsort(gower_distances(points, place), kind="stable")[:3]
                assert part[column].to_numpy()[three].mean() == pytest.approx(theirs[row], rel=1e-9)


def _testdata(reference: Reference, records: int) -> pl.DataFrame:
    whole = [pl.col(name).cast(pl.Int64).cast(pl.String) for name in ("sex", "relat", "urbrur")]
    return reference.data("testdata").head(records).with_columns(*whole, one=pl.lit("a"))


def _records_in_classes_below(k: int, table: pl.DataFrame) -> int:
    return int(table.group_by(table.columns).len().filter(pl.col("len") < k)["len"].sum())


def test_the_variant_of_the_accident_survey_holds_its_keys_together() -> None:
    """Paper 002: six keys, distance on three of them, by region, groups of four, mode; fewer combinations are rare."""
    survey = tc.accident_survey(4000)
    keys = ["LPB1", "P1", "P2", "P3", "P8", "P20"]
    step = tc.MicroaggregateMixed(keys, ["P1", "P2", "P3"], k=4, strata=["P15"])
    made = tc.Plan([step]).apply(survey.data, survey.scenario, seed=1).data
    shown = made.table.drop_nulls(keys).group_by(*keys, "P15").len()["len"]
    assert shown.min() >= 4  # type: ignore[operator]
    before = survey.data.table.drop_nulls(keys).group_by(*keys, "P15").len()["len"]
    assert before.min() == 1


def test_weights_of_the_distance_decide_who_is_near() -> None:
    table = pl.DataFrame({"age": [20, 60, 21, 61], "income": [10.0, 11.0, 90.0, 91.0]})
    by_age = released(table, ["age", "income"], k=2, weights={"age": 10}).data.table
    by_income = released(table, ["age", "income"], k=2, weights={"income": 10}).data.table
    assert by_age["age"].to_list() == [20, 60, 20, 60]
    assert by_income["income"].to_list() == [10.5, 10.5, 90.5, 90.5]


def test_a_number_apart_is_no_small_number() -> None:
    """0 is no profit, not one between loss and gain: firms without are grouped with each other."""
    table = pl.DataFrame({"profit": [-5.0, 5.0, 6.0, 0.0, 0.0, 0.0]})
    plain = released(table, ["profit"], k=3).data.table["profit"].to_list()
    apart = released(table, ["profit"], k=3, semicontinuous={"profit": 0}).data.table["profit"].to_list()
    assert plain == pytest.approx([-5 / 3, 11 / 3, 11 / 3, 11 / 3, -5 / 3, -5 / 3])
    assert apart == [2.0, 2.0, 2.0, 0.0, 0.0, 0.0]


def test_weights_of_records_decide_means_and_modes() -> None:
    table = pl.DataFrame({"age": [20.0, 21.0, 22.0], "work": ["cook", "cook", "nun"], "w": [1.0, 1.0, 8.0]})
    who = tc.Scenario(keys=["one"], weight="w")
    made = released(table, ["age", "work"], k=3, weighted=True, scenario=who).data.table
    assert made["work"].to_list() == ["nun"] * 3
    assert made["age"].to_list() == pytest.approx([21.7] * 3)
    with pytest.raises(TacitaError, match=r"^weighted=True needs a weight; name it in the scenario, or pass weighted"):
        released(table, ["age", "work"], k=3, weighted=True)


def test_draws_decide_between_ties() -> None:
    table = pl.DataFrame({"age": list(range(40)), "sex": ["f", "m"] * 20})
    first = [released(table, ["age"], ["sex"], k=5, random_ties=True, seed=seed).data.table for seed in (1, 1, 2)]
    assert first[0].equals(first[1])
    assert not first[0].equals(first[2])
    fixed = [released(table, ["age"], ["sex"], k=5, seed=seed).data.table for seed in (1, 2)]
    assert fixed[0].equals(fixed[1])


def test_missing_values_in_the_distance_are_not_compared() -> None:
    """By hand: without the income of the third record its age decides, and puts it beside the first two."""
    table = pl.DataFrame({"age": [20.0, 22.0, 21.0, 60.0, 62.0, 61.0], "income": [1.0, 2.0, None, 9.0, 9.0, None]})
    made = released(table, ["age"], ["age", "income"], k=3).data.table["age"].to_list()
    assert made == [21.0, 21.0, 21.0, 61.0, 61.0, 61.0]


def test_the_log_and_what_the_public_learns() -> None:
    (change,) = released(people(), ALL, ["age", "work"], k=3, weights={"age": 2}).changes
    assert change.remarks[0].startswith("100 groups of 3 records; SSE/SST ")
    about = change.mechanisms[0]
    assert about["kind"] == "microaggregation"
    assert about["perturbs"]
    assert about["parameters"]["distance"] == ["age", "work"]
    assert set(change.public[0]["parameters"]) == {"k", "average", "nominal", "keep_combinations"}


def test_k_comes_from_the_policy() -> None:
    data = data_of(people(40))
    made = tc.Plan([tc.MicroaggregateMixed("work")]).apply(data, WHO, policy=tc.Policy(k=8)).data.table
    assert made["work"].value_counts()["count"].min() >= 8  # type: ignore[operator]
    with pytest.raises(TacitaError, match=r"^microaggregate_mixed needs groups of at least 2 records; pass k=\.\.\."):
        tc.Plan([tc.MicroaggregateMixed("work")]).apply(data, WHO, policy=tc.Policy(k=None))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weights": {"age": 0}}, "weights of 'age' must be from 1e-06 to 1,000,000; got 0.0."),
        ({"weights": {"sex": 1}}, "weights must name variables of the distance; 'sex' is none."),
        ({"semicontinuous": {"sex": 0}}, "semicontinuous must name variables of the distance; 'sex' is none."),
        ({"weighted": True, "average": "median"}, "weights are for means; leave out weighted, or average='median'."),
    ],
)
def test_parameters_that_do_not_go_together(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        tc.MicroaggregateMixed(["age", "work"], **parameters)
    assert str(refused.value) == message


def test_files_that_cannot_be_grouped() -> None:
    cases: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"x": ["a", "b", None]}, {"k": 3},
         "2 records have a value of 'x', too few for groups of 3; choose a smaller k or larger strata."),
        ({"x": [2**60, *range(30)]}, {"k": 3},
         "column 'x' holds whole numbers beyond 2^53, which have no exact mean; remove it."),
        ({"x": ["a", "b", "c"]}, {"k": 3, "semicontinuous": {"x": 0}},
         "'x' has categories, of which each is one by itself; leave it out of semicontinuous."),
        ({"x": ["a", "a", None, None], "y": [None, None, "b", "b"]}, {"k": 3, "strata": ["one"]},
         "in one of the strata of 'one': 2 records have a value of 'x', too few for groups of 3; choose a smaller k or "
         "larger strata."),
        ({"x": ["a", "a", None, None, "a"], "y": [None, None, "b", "b", "b"]}, {"k": 3},
         "5 records show values that fewer than 3 records show together; microaggregate fewer variables at once, "
         "choose a smaller k or larger strata."),
    ]  # fmt: skip
    for columns, parameters, message in cases:
        with pytest.raises(TacitaError) as refused:
            released(pl.DataFrame(columns), list(columns), **parameters)
        assert str(refused.value) == message


def test_nothing_to_do() -> None:
    """All missing, constant, one category, a distance on which all are equal."""
    empty = released(pl.DataFrame({"x": pl.Series([None] * 4, dtype=pl.String)}), ["x"], k=3)
    assert empty.changes[0].cells == {}
    assert empty.changes[0].remarks == ()
    assert released(pl.DataFrame({"x": ["a"] * 5}), ["x"], k=2).changes[0].cells == {}
    made = released(pl.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "c": ["a"] * 4}), ["x"], ["c"], k=2).data.table
    assert made["x"].to_list() == [2.0, 2.0, 4.0, 4.0]


def test_the_work_tells_how_far_it_is_and_can_be_stopped() -> None:
    from tacita.progress import Cancelled
    from tacita.protect.microaggregate.gower_mdav import gower_mdav

    points = gower_points([np.random.default_rng(1).normal(size=3000)], [False], np.ones(1), [None])
    shares: list[float] = []

    def note(done: float, _: str) -> None:
        shares.append(done)
        if done > 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        gower_mdav(points, 3, 0.0, note)
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert len(shares) > 4
