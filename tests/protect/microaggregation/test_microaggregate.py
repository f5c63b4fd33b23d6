"""The step: what a released file looks like, and each named fault of the reference program done right."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.protect.microaggregate.microaggregate import METHODS
from tacita.release.release import Release

WHO = tc.Scenario(keys=["one"])
RECORDS = ("individual", "optimal")


def released(columns: dict[str, Any], scenario: tc.Scenario = WHO, **parameters: Any) -> Release:
    """A file with these columns after microaggregation of them, the weight and what is sensitive aside."""
    names = [name for name in columns if name not in ("w", "illness", "area")]
    table = pl.DataFrame(columns, strict=False).with_columns(one=pl.lit("a"))
    return tc.Plan([tc.Microaggregate(parameters.pop("variables", names), **parameters)]).apply(table, scenario)


def column(release: Release, name: str = "x") -> list[Any]:
    return release.data.table[name].to_list()


def firms(n: int = 200, missing: float = 0.0, seed: int = 1) -> dict[str, Any]:
    draw = np.random.default_rng(seed)
    size = draw.lognormal(size=n)
    columns = {"x": size * draw.lognormal(0, 0.3, n), "y": size * draw.lognormal(0, 0.5, n), "z": draw.normal(50, 9, n)}
    return {name: np.where(draw.random(n) < missing, np.nan, each).tolist() for name, each in columns.items()}


@pytest.mark.parametrize("method", [method for method in METHODS if method not in RECORDS])
@pytest.mark.parametrize("k", [2, 3, 5, 16])
def test_k_records_or_more_are_alike(method: str, k: int) -> None:
    release = released(firms(), k=k, method=method, clusters=3 if method == "influence" else None)
    sizes = release.data.table.group_by("x", "y", "z").len()["len"]
    assert sizes.min() >= k  # type: ignore[operator]
    (change,) = release.changes
    about = change.mechanisms[0]["parameters"]
    assert (about["smallest"], about["largest"], about["groups"]) == (sizes.min(), sizes.max(), len(sizes))
    if method != "robust_distance":
        assert sizes.max() < 2 * k + k  # type: ignore[operator]
    means = [np.mean(column(release, name)) for name in "xyz"]
    np.testing.assert_allclose(means, [np.mean(values) for values in firms().values()])


def test_what_a_record_shows_is_shown_by_k_though_values_are_missing() -> None:
    release = released(firms(300, missing=0.06), k=4)
    values = release.data.table.select("x", "y", "z").to_numpy()
    for row in values:
        shows = ~np.isnan(row)
        assert not shows.any() or (values[:, shows] == row[shows]).all(axis=1).sum() >= 4
    remarks = str(release)
    assert "with a rare pattern of missing values put into the nearest group that shows more" in remarks
    assert release.changes[0].figures["records_joined"] > 0


def test_the_log_and_what_the_public_learns() -> None:
    """No value of the data, and to the public neither group sizes nor what was lost."""
    (change,) = released({"x": [10.0, 12.0, 90.0, 14.0, 80.0, 100.0]}, k=3).changes
    assert change.remarks == ("2 groups of 3 records; SSE/SST 2.23 %",)
    assert change.mechanisms[0]["kind"] == "microaggregation"
    assert change.mechanisms[0]["perturbs"]
    assert change.public[0]["parameters"] == {"k": 3, "method": "mdav", "average": "mean"}


def test_individual_ranking_says_that_records_are_not_alike() -> None:
    release = released(firms(), k=3, method="individual")
    assert release.data.table.group_by("x", "y", "z").len()["len"].min() == 1
    said = "each variable grouped by itself, so records are not alike on several together"
    assert said in release.changes[0].remarks
    assert said not in released({"x": firms()["x"]}, k=3, method="individual").changes[0].remarks
    for name in "xyz":
        assert release.data.table[name].value_counts()["count"].min() >= 3  # type: ignore[operator]


def test_the_best_groups_of_one_variable_lose_least() -> None:
    """By hand: 1 2 3 | 10 11, where groups of equal size are 1 2 | 3 10 11."""
    assert column(released({"x": [10.0, 1.0, 3.0, 2.0, 11.0]}, k=2, method="optimal")) == [10.5, 2.0, 2.0, 2.0, 10.5]
    assert column(released({"x": [10.0, 1.0, 3.0, 2.0, 11.0]}, k=2, method="individual")) == [8.0, 1.5, 8.0, 1.5, 8.0]
    losses = {method: released(firms(), k=3, method=method).changes[0].figures["sse_share"] for method in RECORDS}
    assert losses["optimal"] < losses["individual"]


def test_weighted_means() -> None:
    """sdcMicro sorts the data and not the weights: 6 to 1 with weight 100 on 3 gave 4.03 and 2.00."""
    columns = {"x": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0], "w": [1.0, 1.0, 1.0, 100.0, 1.0, 1.0]}
    who = tc.Scenario(keys=["one"], weight="w")
    for method in ("mdav", "individual", "principal_component"):
        made = column(released(columns, who, k=3, method=method, weighted=True))
        np.testing.assert_allclose(made, [5.0] * 3 + [303 / 102] * 3)
    total = np.dot(columns["w"], made)
    assert total == pytest.approx(np.dot(columns["w"], columns["x"]))
    with pytest.raises(TacitaError, match=r"^weighted means need a weight; name it in the scenario, or pass weighted"):
        released(columns, k=3, weighted=True)


def test_a_group_with_a_missing_value_is_averaged_over_the_others() -> None:
    """sdcMicro divides by the size of the last group: missing, 7 and 9 became 5.33."""
    made = released({"x": [None, 7.0, 9.0], "y": [1.0, 1.0, 1.0]}, k=2)
    assert column(made) == [None, 8.0, 8.0]
    assert column(made, "y") == [1.0, 1.0, 1.0]


def test_a_number_of_minus_999_is_a_number() -> None:
    """sdcMicro takes it as missing: -999, -998, -997 became -997.5."""
    assert column(released({"x": [-999.0, -998.0, -997.0]}, k=3)) == [-998.0] * 3


def test_the_logarithm_counts_in_every_method() -> None:
    """sdcMicro computes the transformation and then does not use it in the methods with clusters."""
    columns = {name: np.exp(3 * np.array(values) / np.std(values)).tolist() for name, values in firms(120).items()}
    for method in METHODS:
        if method != "record_number" and method not in RECORDS:
            clusters = 3 if method not in ("mdav", "first_variable") else None
            plain, log = (
                released(columns, k=3, method=method, clusters=clusters, log=log).data.table for log in (False, True)
            )
            assert not plain.equals(log), method
            means = [plain[name].mean() for name in "xyz"]
            np.testing.assert_allclose([log[name].mean() for name in "xyz"], means)  # type: ignore[misc]


def test_collinear_variables_are_no_obstacle() -> None:
    """sdcMicro's mcdpca, clustmcdpca and rmd stop."""
    columns = firms(150)
    columns["sum"] = [x + y for x, y in zip(columns["x"], columns["y"], strict=True)]
    columns["same"], columns["constant"] = columns["z"], [5.0] * 150
    for method in ("robust_component", "robust_distance"):
        for clusters in (None, 4):
            made = released(columns, k=3, method=method, clusters=clusters).data.table
            assert made.group_by("x", "y", "z", "sum", "same").len()["len"].min() >= 3  # type: ignore[operator]
            assert column(released(columns, k=3, method=method), "constant") == [5.0] * 150


def test_methods_along_an_axis_take_missing_values_and_few_records() -> None:
    """sdcMicro's pca stops on missing values, and needs twice the group size."""
    assert len(column(released(firms(100, missing=0.1), k=3, method="principal_component"))) == 100
    for method in METHODS:
        clusters = 2 if method == "influence" else None
        assert column(released({"x": [1.0, 2.0, 6.0, 7.0]}, k=3, method=method, clusters=clusters)) == [4.0] * 4


def test_every_group_has_enough_values_of_a_sensitive_variable() -> None:
    columns = firms(120) | {"illness": ["flu"] * 100 + ["asthma"] * 12 + [None] * 8}
    release = released(columns, k=3, sensitive="illness", l=2)
    found = release.data.table.group_by("x", "y", "z").agg(pl.col("illness").n_unique(), pl.len())
    assert found["illness"].min() == 2
    assert found["len"].min() >= 3  # type: ignore[operator]
    assert f"{release.changes[0].figures['groups_merged']} groups merged for 2 values of 'illness'" in str(release)
    with pytest.raises(TacitaError) as refused:
        released(columns, k=3, sensitive="illness", l=4)
    assert str(refused.value) == "l must be at most the 3 different values of 'illness'; got 4, choose a smaller l."


def test_records_that_miss_the_same_and_share_an_illness_join_others() -> None:
    """Three records without y would be a group of k = 3, but all have the flu."""
    x, y = [1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 9.0, 10.0, 11.0], [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, None, None, None]
    illness = ["flu", "flu", "asthma", "flu", "asthma", "flu", "flu", "flu", "flu"]
    release = released({"x": x, "y": y, "illness": illness}, k=3, sensitive="illness")
    assert column(release) == [2.0] * 3 + [10.5] * 6
    assert column(release, "y") == [2.0] * 3 + [6.0] * 3 + [None] * 3
    assert release.changes[0].figures["records_joined"] == 3


def test_whole_numbers_stay_whole_and_alike() -> None:
    columns = {"x": [1, 2, 4, 70, 80, 95, 101], "y": [3, 3, 4, 90, 91, 93, 99]}
    made = released(columns, k=3).data.table
    assert made.schema["x"] == pl.Int64
    assert made["x"].to_list() == [2, 2, 2, 86, 86, 86, 86]
    assert made.group_by("x", "y").len()["len"].min() == 3
    with pytest.raises(TacitaError, match=r"^column 'x' holds whole numbers beyond 2\^53"):
        released({"x": [2**53 + 1, 2**53 + 3, 1]}, k=3)


def test_k_comes_from_the_policy() -> None:
    table = pl.DataFrame({"x": [float(i) for i in range(12)], "one": ["a"] * 12})
    made = tc.Plan([tc.Microaggregate("x")]).apply(table, WHO, policy=tc.Policy(k=4)).data.table
    assert made["x"].value_counts()["count"].to_list() == [4, 4, 4]
    with pytest.raises(TacitaError, match=r"^microaggregate needs groups of at least 2 records; pass k=\.\.\."):
        tc.Plan([tc.Microaggregate("x")]).apply(table, WHO, policy=tc.Policy(k=None))


def test_strata_are_never_mixed() -> None:
    columns = {"x": [1.0, 2.0, 3.0, 2.0, 3.0, 4.0], "area": ["n", "n", "n", "s", "s", "s"]}
    release = released(columns, k=3, strata=["area"], variables=["x"])
    assert column(release) == [2.0, 2.0, 2.0, 3.0, 3.0, 3.0]
    with pytest.raises(TacitaError) as refused:
        released(columns, k=4, strata=["area"], variables=["x"])
    assert str(refused.value) == (
        "in one of the strata of 'area': 3 records have a number of 'x', too few for groups of 4; choose a smaller k "
        "or larger strata."
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weighted": True, "average": "median"}, "weights are for means; leave out weighted, or average='median'."),
        (
            {"method": "influence"},
            "method 'influence' looks for a variable in each cluster; give it clusters, as 8.",
        ),
        (
            {"method": "optimal", "sensitive": "illness"},
            "method 'optimal' groups each variable by itself, which takes no clusters and no sensitive variable; "
            "choose a method that groups records, as 'mdav'.",
        ),
        ({"l": 3}, "l goes with a sensitive variable; give it that, or leave l out."),
        ({"trim": 0.1}, "trim goes with average='trimmed_mean'; give it that, or leave trim out."),
        ({"gamma": 1.1}, "gamma goes with method='variable_mdav'; give it that, or leave gamma out."),
    ],
)
def test_parameters_that_do_not_go_together(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as refused:
        tc.Microaggregate("x", **parameters)
    assert str(refused.value) == message


def test_numbers_without_a_logarithm() -> None:
    with pytest.raises(TacitaError) as refused:
        released({"x": [1.0, -2.0, 3.0]}, k=3, log=True)
    assert str(refused.value) == "1 number of 'x' below 0 have no logarithm; pass log=False."


def test_nothing_to_do() -> None:
    """All missing, or constant."""
    assert column(released({"x": [None, None, None], "y": [1.0, 1.0, 1.0]}, k=3)) == [None] * 3
    empty = released({"x": pl.Series([None] * 4, dtype=pl.Float64)}, k=3)
    assert empty.changes[0].cells == {}
    assert empty.changes[0].remarks == ()


def test_the_work_tells_how_far_it_is_and_can_be_stopped() -> None:
    from tacita.progress import Cancelled
    from tacita.protect.microaggregate.methods import Choice, Records, groups_of

    values = np.random.default_rng(1).normal(size=(40_000, 1))
    given = Records(values, np.arange(40_000), np.ones(1), np.zeros(1))
    for method in ("mdav", "variable_mdav"):
        shares: list[float] = []

        def note(done: float, _: str) -> None:
            shares.append(done)  # noqa: B023
            if len(shares) == 2:  # noqa: B023
                raise Cancelled

        with pytest.raises(Cancelled):
            groups_of(given, Choice(method, 2), note)
        assert 0.0 == shares[0] < shares[1] < 1.0
