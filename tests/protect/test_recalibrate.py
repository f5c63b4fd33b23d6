"""Calibration: totals are met, weights move as little as they can, and what is impossible is said."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data
from tacita.protect.step import Applied, Context, Step

WHO = tc.Scenario(keys=["sex"], weight="w")
PEOPLE = pl.DataFrame(
    {
        "sex": ["f", "f", "m", "m", "m"],
        "region": [1, 2, 1, 2, 2],
        "w": [10.0, 20.0, 10.0, 30.0, 30.0],
    }
)


class Drop(Step):
    """Leave the last records out, for these tests."""

    def apply(self, data: Data, context: Context) -> Applied:
        return Applied(data.take(np.arange(len(data) - 1)))


def weights(step: Step, table: object = PEOPLE, who: tc.Scenario = WHO) -> np.ndarray:
    return tc.Plan([step]).apply(table, who, seed=1).data.numbers("w")


def test_one_margin_is_a_ratio_by_hand() -> None:
    # 30 women become 60, 70 men become 35.
    expected = [20.0, 40.0, 5.0, 15.0, 15.0]
    for method in ("raking", "linear"):
        step = tc.Recalibrate(totals={"sex": {"f": 60, "m": 35}}, method=method)
        assert weights(step) == pytest.approx(expected)


def iterative_proportional_fitting(table: pl.DataFrame, totals: dict[str, dict[object, float]]) -> np.ndarray:
    """The slow twin: one margin after the other until nothing moves."""
    found = table["w"].to_list()
    for _ in range(20_000):
        before = list(found)
        for name, margin in totals.items():
            column = table[name].to_list()
            for category, total in margin.items():
                inside = [i for i, value in enumerate(column) if value == category]
                now = sum(found[i] for i in inside)
                for i in inside:
                    found[i] *= total / now
        if max(abs(a - b) / b for a, b in zip(found, before, strict=True)) < 1e-13:
            break
    return np.array(found)


def test_two_margins_are_raked() -> None:
    totals = {"sex": {"f": 55, "m": 45}, "region": {1: 30, 2: 70}}
    found = weights(tc.Recalibrate(totals=totals))
    assert found == pytest.approx(iterative_proportional_fitting(PEOPLE, totals), rel=1e-7)
    assert found[:2].sum() == pytest.approx(55, rel=1e-8)
    assert found[[0, 2]].sum() == pytest.approx(30, rel=1e-8)


ROWS = st.tuples(st.sampled_from("fm"), st.integers(1, 3), st.floats(1, 50), st.floats(0.3, 3))


@given(st.lists(ROWS, min_size=2, max_size=14), st.randoms())
@settings(max_examples=80)
def test_raking_is_iterative_proportional_fitting(rows: list[tuple[str, int, float, float]], random: object) -> None:
    """Totals that some weights meet; and every record gets the same weight whatever the order of the rows."""
    table = pl.DataFrame(
        {"sex": [r[0] for r in rows], "region": [r[1] for r in rows], "w": [float(f"{r[2]:.3g}") for r in rows]}
    )
    reached = table["w"] * pl.Series([r[3] for r in rows])
    totals = {
        name: dict(table.select(name, reached.alias("t")).group_by(name).sum().iter_rows())
        for name in ("sex", "region")
    }
    plan = tc.Plan([tc.Recalibrate(totals=totals, tolerance=1e-10)])
    data = Data.of(table)
    found = plan.apply(data, WHO).data
    assert found.numbers("w") == pytest.approx(iterative_proportional_fitting(table, totals), rel=1e-6)
    order = np.array(random.sample(range(len(rows)), len(rows)))  # type: ignore[attr-defined]
    assert plan.apply(data.take(order), WHO).data.table.equals(found.take(order).table)
    assert tc.Plan.from_toml(plan.to_toml()) == plan


def nearest_weights(table: pl.DataFrame, design: np.ndarray, totals: np.ndarray, low: float, high: float) -> np.ndarray:
    """The least sum of w (g - 1)^2 / 2 within bounds, by a general optimiser."""
    w = table["w"].to_numpy()
    design, totals = design[:, :-1], totals[:-1]  # the last follows from the others, which this optimiser does not like
    result = minimize(
        lambda g: float((w * (g - 1) ** 2).sum() / 2),
        np.ones(len(w)),
        jac=lambda g: w * (g - 1),
        bounds=[(low, high)] * len(w),
        constraints={"type": "eq", "fun": lambda g: design.T @ (w * g) - totals, "jac": lambda g: design.T * w},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert result.success
    return w * result.x


def design_of(table: pl.DataFrame) -> np.ndarray:
    columns = [(name, value) for name in ("sex", "region") for value in table[name].unique().sort()]
    return np.column_stack([(table[name] == value).to_numpy().astype(float) for name, value in columns])


def test_linear_calibration_is_the_nearest_in_squares() -> None:
    totals = {"sex": {"f": 45, "m": 65}, "region": {1: 28, 2: 82}}
    design, wanted = design_of(PEOPLE), np.array([45.0, 65.0, 28.0, 82.0])
    free = weights(tc.Recalibrate(totals=totals, method="linear"))
    assert free == pytest.approx(nearest_weights(PEOPLE, design, wanted, -9, 9), rel=1e-5)
    # By hand: w + w X (X'WX)^- (t - X'w).
    w = PEOPLE["w"].to_numpy()
    gap = wanted - design.T @ w
    expected = w + w * (design @ np.linalg.pinv(design.T @ (design * w[:, None])) @ gap)
    assert free == pytest.approx(expected, rel=1e-8)


def test_bounded_weights_are_the_nearest_within_the_bounds() -> None:
    table = pl.DataFrame(
        {
            "sex": ["f", "m"] * 10,
            "region": [1, 1, 2, 2, 3] * 4,
            "w": [float(10 + 3 * i) for i in range(20)],
        }
    )
    design, factor = (
        design_of(table),
        np.array(
            [
                {1: 0.7, 2: 1.0, 3: 1.4}[r] * {"f": 1.1, "m": 0.9}[s]
                for s, r in table.select("sex", "region").iter_rows()
            ]
        ),
    )
    wanted = design.T @ (table["w"].to_numpy() * factor)
    totals = {"sex": dict(zip("fm", wanted[:2], strict=True)), "region": dict(zip((1, 2, 3), wanted[2:], strict=True))}
    free = weights(tc.Recalibrate(totals=totals, method="linear"), table) / table["w"].to_numpy()
    low, high = (free.min() + 0.01, free.max() - 0.01)
    assert low < 1 < high
    found = weights(tc.Recalibrate(totals=totals, method="linear", bounds=(low, high)), table)
    assert found == pytest.approx(nearest_weights(table, design, wanted, low, high), rel=1e-4)
    factors = found / table["w"].to_numpy()
    assert factors.min() == pytest.approx(low) and factors.max() == pytest.approx(high)
    # Raking within bounds: inside them the logarithm of the factor is still a sum of multipliers.
    raked = weights(tc.Recalibrate(totals=totals, bounds=(low, high)), table) / table["w"].to_numpy()
    assert design.T @ (raked * table["w"].to_numpy()) == pytest.approx(wanted, rel=1e-7)
    assert raked.min() >= low - 1e-12 and raked.max() <= high + 1e-12
    inside = (raked > low + 1e-9) & (raked < high - 1e-9)
    rest = np.linalg.lstsq(design[inside], np.log(raked[inside]), rcond=None)[0]
    assert design[inside] @ rest == pytest.approx(np.log(raked[inside]), abs=1e-6)


def test_weights_that_meet_the_totals_are_left() -> None:
    release = tc.Plan([tc.Recalibrate(["sex", "region"])]).apply(PEOPLE, WHO)
    assert release.data.table.equals(PEOPLE)
    assert str(release.changes[0]) == (
        "recalibrate sex, region: nothing changed; totals of 'sex', 'region' met within 0e+00 after 0 rounds"
    )


def test_a_part_of_the_file_gets_the_totals_of_the_whole() -> None:
    plan = tc.Plan([Drop(), tc.Recalibrate(["sex", "region"])])
    release = plan.apply(PEOPLE, WHO)
    found = release.data.numbers("w")
    assert len(found) == 4
    assert found[:2].sum() == pytest.approx(30) and found[2:].sum() == pytest.approx(70)
    assert found[[0, 2]].sum() == pytest.approx(20)
    figures = release.changes[1].figures
    assert set(figures) == {"rounds", "deviation", "least_factor", "greatest_factor"}
    assert figures["deviation"] <= 1e-8 and figures["rounds"] > 0
    assert figures["greatest_factor"] == pytest.approx((found / [10, 20, 10, 30]).max())


class Merge(Step):
    """Regions 1 and 2 become one, for these tests."""

    def apply(self, data: Data, context: Context) -> Applied:
        return Applied(data.with_columns({"region": ["south" if r == 3 else "north" for r in data.table["region"]]}))


class Mix(Step):
    """Regions that are no recoding, for these tests."""

    def apply(self, data: Data, context: Context) -> Applied:
        return Applied(data.with_columns({"region": ["x", "y", *["z"] * (len(data) - 2)]}))


THREE = pl.DataFrame({"sex": ["f", "f", "m", "m"], "region": [1, 2, 3, 3], "w": [10.0, 20.0, 30.0, 40.0]})


def test_totals_of_merged_categories_are_added() -> None:
    release = tc.Plan([Merge(), tc.WeightNoise(0.5), tc.Recalibrate("region")]).apply(THREE, WHO, seed=1)
    found = release.data.numbers("w")
    assert found[:2].sum() == pytest.approx(30) and found[2:].sum() == pytest.approx(70)
    with pytest.raises(TacitaError) as error:
        tc.Plan([Mix(), tc.Recalibrate("region")]).apply(pl.concat([THREE, THREE]), WHO)
    assert str(error.value) == (
        "the categories of 'region' are not those of the original, nor a recoding of them; give its totals."
    )


@pytest.mark.parametrize(
    ("mapping", "totals"),
    [
        # Merged into a code that there is, as codes usually are.
        ({4: 3}, {1: 10.0, 2: 20.0, 3: 70.0}),
        ({1: 2, 3: 4}, {2: 30.0, 4: 70.0}),
        # Called otherwise, by names that others had.
        ({1: 2, 2: 1}, {2: 10.0, 1: 20.0, 3: 30.0, 4: 40.0}),
        ({1: 2, 2: 3, 3: 4, 4: 4}, {2: 10.0, 3: 20.0, 4: 70.0}),
        ({1: "a", 2: "a"}, {"a": 30.0, "3": 30.0, "4": 40.0}),
    ],
)
def test_totals_follow_recoded_categories(mapping: dict[int, object], totals: dict[object, float]) -> None:
    table = pl.DataFrame({"x": [1, 2, 3, 4] * 2, "sex": ["f"] * 8, "w": [5.0, 10.0, 15.0, 20.0] * 2})
    plan = tc.Plan([tc.Recode("x", mapping=mapping), Drop(), tc.Recalibrate(["x"])])
    made = plan.apply(table, WHO).data.table
    found = made.group_by("x").agg(pl.col("w").sum()).rows()
    assert dict(found) == pytest.approx(totals)


def test_values_that_were_exchanged_keep_the_totals_of_the_original() -> None:
    class Exchange(Step):
        def apply(self, data: Data, context: Context) -> Applied:
            return Applied(data.with_columns({"x": [2, 1, 2, 1, 1]}))

    table = pl.DataFrame({"x": [1, 1, 2, 2, 2], "sex": ["f"] * 5, "w": [10.0, 20.0, 10.0, 30.0, 30.0]})
    made = tc.Plan([Exchange(), tc.Recalibrate(["x"])]).apply(table, WHO).data.table
    assert dict(made.group_by("x").agg(pl.col("w").sum()).rows()) == pytest.approx({1: 30.0, 2: 70.0})


def test_records_without_a_value_take_no_part() -> None:
    table = PEOPLE.with_columns(region=pl.Series([1, None, 1, 2, 2]))
    release = tc.Plan([tc.Recalibrate(totals={"region": {1: 40, 2: 60}})]).apply(table, WHO)
    assert release.data.numbers("w") == pytest.approx([20.0, 20.0, 20.0, 30.0, 30.0])
    assert release.changes[0].remarks[1] == "1 record without 'region' left out of its totals"


def test_households_that_share_a_weight_still_do() -> None:
    rows = [(1, "f", 1), (1, "m", 1), (2, "f", 2), (2, "m", 2), (2, "m", 2), (3, "f", 1), (4, "m", 2), (5, "f", 2)]
    table = pl.DataFrame(
        {
            "hid": [r[0] for r in rows],
            "sex": [r[1] for r in rows],
            "region": [r[2] for r in rows],
            "w": [10.0 + r[0] for r in rows],
        }
    )
    who = tc.Scenario(keys=["sex"], weight="w", household="hid")
    for method in ("raking", "linear"):
        step = tc.Recalibrate(totals={"sex": {"f": 60, "m": 45}, "region": {1: 38, 2: 67}}, method=method)
        found = weights(step, table, who)
        assert found[0] == found[1] and found[2] == found[3] == found[4]
        assert found[[0, 2, 5, 7]].sum() == pytest.approx(60, rel=1e-7)
        assert found[[0, 1, 5]].sum() == pytest.approx(38, rel=1e-7)
        # The nearest such weights: F's inverse of the factor is a sum of multipliers of the household's means.
        design = design_of(table)
        means = np.array([design[table["hid"].to_numpy() == hid].mean(axis=0) for hid in table["hid"]])
        factor = found / table["w"].to_numpy()
        u = np.log(factor) if method == "raking" else factor - 1
        assert means @ np.linalg.lstsq(means, u, rcond=None)[0] == pytest.approx(u, abs=1e-6)


def test_a_large_file_is_calibrated() -> None:
    survey = tc.household_survey(2000, population=60_000, seed=2)
    plan = tc.Plan([tc.WeightNoise(0.6), tc.Recalibrate(["region", "sex", "education"])])
    release = plan.apply(survey.data, survey.scenario, seed=1)
    before, after = survey.data.numbers("weight"), release.data.numbers("weight")
    assert not np.allclose(before, after)
    for name in ("region", "sex", "education"):
        codes = survey.data.coded(name).codes
        assert np.bincount(codes, after)[1:] == pytest.approx(np.bincount(codes, before)[1:], rel=1e-7)


MISTAKES = [
    (
        lambda: tc.Recalibrate(),
        "recalibrate needs variables (to keep the original's totals) or totals; give either.",
    ),
    (
        lambda: tc.Recalibrate("sex", totals={"sex": {"f": 1}}),
        "give each variable once, in variables or in totals; got 'sex' in both.",
    ),
    (
        lambda: tc.Recalibrate(totals={"sex": {}}),
        "totals of 'sex' must be a table of categories, as in {'f': 100}; got {}.",
    ),
    (lambda: tc.Recalibrate(totals=["sex"]), "totals must be a table of names, as in {'age': ...}; got ['sex']."),
    (
        lambda: tc.Recalibrate(totals={"sex": {1.0: 6, "1": 7}}),
        "categories of 'sex' must be named once each; got '1' more than once.",
    ),
    (
        lambda: tc.Recalibrate(totals={"sex": {"f": -1}}),
        "the total of 'f' in 'sex' must be at least 0; got -1.",
    ),
    (
        lambda: tc.Recalibrate(totals={"sex": {"f": "many"}}),
        "the total of 'f' in 'sex' must be a number; got 'many'.",
    ),
    (lambda: tc.Recalibrate("sex", method="logit"), "method must be one of 'raking', 'linear'; got 'logit'."),
    (lambda: tc.Recalibrate("sex", bounds=3), "bounds must be two numbers, as (0.5, 2); got 3."),
    (
        lambda: tc.Recalibrate("sex", bounds=(2, 3)),
        "bounds must be one number between 0 and 1 and one above 1; got (2, 3).",
    ),
    (lambda: tc.Recalibrate("sex", tolerance=0), "tolerance must be in (0, 1); got 0."),
    (lambda: tc.Recalibrate("sex", weight=1), "weight must be the name of a column; got 1."),
]


@pytest.mark.parametrize(("step", "message"), MISTAKES)
def test_mistakes_are_said_in_one_sentence(step: object, message: str) -> None:
    with pytest.raises(TacitaError) as error:
        step()  # type: ignore[operator]
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            tc.Recalibrate(totals={"sex": {"f": 10}}),
            "totals of 'sex' leave out 1 category of the data; give a total for each.",
        ),
        (
            tc.Recalibrate(totals={"sex": {"f": 10, "m": 20, "x": 5}}),
            "no record has the category 'x' of 'sex', so its total cannot be met; merge it with another.",
        ),
        (
            tc.Recalibrate(totals={"sex": {"f": 10, "m": 0}}),
            "1 category of 'sex' with records should have a total of 0; remove the records, or merge categories.",
        ),
        (
            tc.Recalibrate(totals={"sex": {"f": 10, "m": 20}, "region": {1: 5, 2: 6}}),
            "the totals of 'sex' and 'region' add up to different sums, so no weights meet both; make them agree.",
        ),
        (
            tc.Recalibrate(totals={"sex": {"f": 100, "m": 70}}, bounds=(0.5, 2)),
            "no weights meet these totals: the nearest are off by 40 %; merge small categories, drop a variable or "
            "widen the bounds.",
        ),
        (
            tc.Recalibrate(totals={"sex": {"f": 90, "m": 10}, "region": {1: 99, 2: 1}}, method="linear"),
            "linear calibration would give 2 records a weight of 0 or below; use method='raking', or bounds=(0.1, 10).",
        ),
        (
            tc.Recalibrate("sexx"),
            "variables of 'recalibrate sexx' not in the data: 'sexx'. Did you mean 'sex'?",
        ),
        (tc.Recalibrate("empty"), "every value of 'empty' is missing, so its totals cannot be met; drop it."),
    ],
)
def test_what_cannot_be_met_is_said_in_one_sentence(step: Step, message: str) -> None:
    table = PEOPLE.with_columns(empty=pl.lit(None, dtype=pl.String))
    with pytest.raises(TacitaError) as error:
        tc.Plan([step]).apply(table, WHO)
    assert str(error.value) == message


def test_a_category_that_was_lost_is_an_error() -> None:
    table = PEOPLE.with_columns(region=pl.Series([1, 1, 1, 1, 2]))
    with pytest.raises(TacitaError) as error:
        tc.Plan([Drop(), tc.Recalibrate("region")]).apply(table, WHO)
    assert str(error.value) == (
        "no record has 1 category of 'region' that the original has, so its total cannot be met; "
        "merge categories first."
    )


def test_totals_that_no_positive_weights_meet() -> None:
    """One record is the only woman and the only one in region 1: its two totals must agree."""
    table = pl.DataFrame({"sex": ["f", "m", "m"], "region": [1, 2, 2], "w": [1.0, 1.0, 1.0]})
    for method in ("raking", "linear"):
        step = tc.Recalibrate(totals={"sex": {"f": 5, "m": 5}, "region": {1: 4, 2: 6}}, method=method)
        with pytest.raises(TacitaError, match=r"^no weights meet these totals: the nearest are off by \d+ %; merge"):
            weights(step, table)


def test_the_original_must_have_the_variable_and_the_weight() -> None:
    class Add(Step):
        def apply(self, data: Data, context: Context) -> Applied:
            return Applied(data.with_columns({"new": [1] * len(data), "v": [1.0] * len(data)}))

    for step, message in (
        (tc.Recalibrate("new"), "the original has no variable 'new'; give its totals."),
        (tc.Recalibrate("sex", weight="v"), "the original has no weight 'v'; give totals in place of variables."),
    ):
        with pytest.raises(TacitaError) as error:
            tc.Plan([Add(), step]).apply(PEOPLE, WHO)
        assert str(error.value) == message
