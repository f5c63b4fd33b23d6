"""External risk: against all pairs, by hand, and what an intruder's file may be."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import slow_external as slow
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.plots.external_risk import external_risk_points
from tacita.risk.external.external_risk import ExternalRisk, external_risk

CATEGORIES, NUMBERS = ("sex", "size"), ("income", "age")
SCHEMA = {"sex": pl.String, "size": pl.Int64, "income": pl.Float64, "age": pl.Float64, "person": pl.Int64}
WHO = tc.Scenario(keys=CATEGORIES, numeric_keys=NUMBERS)

Row = dict[str, Any]


def data(rows: list[Row], perturbed: tuple[str, ...] = ()) -> Data:
    columns = {name: pl.Series(name, [row[name] for row in rows], kind) for name, kind in SCHEMA.items()}
    return Data(pl.DataFrame(columns), numbers_of_records=np.array([row["number"] for row in rows])).with_perturbed(
        perturbed
    )


# Random files.


def random_row(draw: np.random.Generator, number: int, people: int) -> Row:
    numbers = [0.0, 1.0, 2.0, 10.0, 10.5, 100.0, 105.0, -3.0, -3.1, None]
    return {
        "number": number,
        "person": int(draw.integers(people)),
        "sex": ["f", "m", "x", None][draw.choice(4, p=[0.4, 0.3, 0.2, 0.1])],
        "size": [1, 2, 3, 4, None][draw.integers(5)],
        "income": numbers[draw.integers(len(numbers))] if draw.random() < 0.7 else round(float(draw.normal(0, 40)), 1),
        "age": float(draw.integers(20, 60)) if draw.random() < 0.9 else None,
    }


def merged(draw: np.random.Generator, value: Any) -> Any:
    return {"f": "f or m", "m": "f or m", 3: 9, 4: 9}.get(value, value)


def generalised(draw: np.random.Generator, value: Any) -> Any:
    return [value, merged(draw, value), {"x": "x", "f": "anybody", "m": "anybody", 3: 99, 4: 99}.get(value, value)][
        draw.integers(3)
    ]


def exchanged(draw: np.random.Generator, value: Any) -> Any:
    others = ["f", "m", "x"] if isinstance(value, str) else [1, 2, 3, 4]
    return others[draw.integers(len(others))] if draw.random() < 0.4 else value


def rounded(draw: np.random.Generator, value: float) -> float:
    return 10.0 * round(value / 10.0)


def top_coded(draw: np.random.Generator, value: float) -> float:
    return min(value, 45.0)


def in_classes(draw: np.random.Generator, value: float) -> float:
    return value if draw.random() < 0.3 else 20.0 * (value // 20.0) + 9.25


def noisy(draw: np.random.Generator, value: float) -> float:
    return round(value + float(draw.normal(0, 3)), 1)


OF_CATEGORIES, OF_NUMBERS = (None, merged, generalised, exchanged), (None, rounded, top_coded, in_classes, noisy)
CHANGES: dict[str, Any] = dict.fromkeys(CATEGORIES, OF_CATEGORIES) | dict.fromkeys(NUMBERS, OF_NUMBERS)


def random_release(draw: np.random.Generator, original: list[Row], people: int) -> tuple[list[Row], tuple[str, ...]]:
    """Most of the records with some variables changed and cells suppressed, a few new ones, in another order."""
    changes = {name: kinds[draw.integers(len(kinds))] for name, kinds in CHANGES.items()}
    blank = 0.2 * draw.integers(2)
    rows = []
    for row in (original[at] for at in draw.permutation(len(original))):
        fresh = dict(row)
        for name, change in changes.items():
            if change is not None and row[name] is not None:
                fresh[name] = change(draw, row[name])
            if draw.random() < blank:
                fresh[name] = None
        if draw.random() < 0.9:
            rows.append(fresh)
    rows = rows or [dict(original[0])]
    rows += [random_row(draw, 900 + at, people) for at in range(draw.integers(3))]
    told = tuple(name for name, change in changes.items() if change in (exchanged, noisy) and draw.random() < 0.5)
    return rows, told


def random_intruder(draw: np.random.Generator, original: list[Row], people: int) -> list[Row]:
    """Some of the records with errors, and others."""
    rows = [
        {**random_row(draw, row["number"], people), **{name: row[name] for name in row if draw.random() < 0.8}}
        for row in original
        if draw.random() < 0.7
    ]
    rows = [{**row, "number": at, "person": person} for row in rows for at, person in [(row["number"], row["person"])]]
    return [*rows, *(random_row(draw, 800 + at, people) for at in range(1 + draw.integers(2)))]


def rules(
    known: list[Row], original: list[Row], released: list[Row], told: tuple[str, ...], d: float, suppressed: str
) -> dict[str, slow.Agrees]:
    before = {row["number"]: row for row in original}
    found: dict[str, slow.Agrees] = {}
    for name in (*CATEGORIES, *NUMBERS):
        same = [(before[row["number"]][name], row[name]) for row in released if row["number"] in before]
        theirs = [row[name] for row in released]
        if name in CATEGORIES:
            found[name] = slow.categories_agree([row[name] for row in known], theirs, same, name in told, suppressed)
        else:
            found[name] = slow.numbers_agree(slow.number_ranges(theirs, same, name in told), d, suppressed)
    return found


def units(rows: list[Row], original: list[Row], by_person: bool) -> list[Any]:
    """The unit of each record: its record of the original, or the person that this one is of."""
    before = {row["number"]: row["person"] if by_person else row["number"] for row in original}
    return [before.get(row["number"]) for row in rows]


@settings(max_examples=80)
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1, 2, 5, 12]), d=st.sampled_from([0.0, 0.05, 0.5]))
def test_as_all_pairs(seed: int, size: int, d: float) -> None:
    compare_with_all_pairs(seed, size, d)


@pytest.mark.parametrize("seed", range(4))
def test_as_all_pairs_of_400_records(seed: int) -> None:
    compare_with_all_pairs(seed, 400, 0.05)


def compare_with_all_pairs(seed: int, size: int, d: float) -> None:
    draw = np.random.default_rng(seed)
    people = max(1, size // 2)
    original = [random_row(draw, 1 + at, people) for at in draw.permutation(size)]
    released, told = random_release(draw, original, people)
    known = original if draw.random() < 0.5 else random_intruder(draw, original, people)
    suppressed = ("level", "any")[draw.integers(2)]
    by_person = bool(draw.random() < 0.4)
    scenario = replace(WHO, person="person") if by_person else WHO
    files = data(original), data(released, told)
    try:
        found = external_risk(
            *files, scenario, intruder=None if known is original else data(known), tolerance=d, suppressed=suppressed
        )
    except TacitaError as error:
        assert "no released record is in the original" in str(error)
        return
    who, whose = units(known, original, by_person), units(released, original, by_person)
    expected = slow.all_pairs(known, released, rules(known, original, released, told, d, suppressed), who, whose)
    assert found.found.pairs.tolist() == expected.pairs
    if found.found.right is None:
        assert not set(units(known, original, False)) & set(units(released, original, False)) - {None}
        return
    assert found.found.right.tolist() == expected.right
    other = "any" if suppressed == "level" else "level"
    if found.other is not None:
        pairs, right = slow.all_pairs(known, released, rules(known, original, released, told, d, other), who, whose)
        assert found.other.paired == sum(each > 0 for each in pairs)
        assert found.other.unique == sum(0 < each == of for each, of in zip(right, pairs, strict=True))


# By hand.


PEOPLE = pl.DataFrame({"sex": ["f", "f", "m", "m"], "income": [100.0, 104.0, 300.0, 0.0]})
BOTH = tc.Scenario(keys=["sex"], numeric_keys=["income"])


def pairs(original: Any, released: Any, scenario: tc.Scenario, **options: Any) -> list[int]:
    counted: list[int] = external_risk(original, released, scenario, **options).found.pairs.tolist()
    return counted


def numbers(known: list[float | None], released: list[float | None], **options: Any) -> list[int]:
    """Pairs of an intruder who knows one number, in files that nothing links."""
    original = Data(pl.DataFrame({"income": pl.Series(released, dtype=pl.Float64)}))
    his = Data(
        pl.DataFrame({"income": pl.Series(known, dtype=pl.Float64)}), numbers_of_records=-1 - np.arange(len(known))
    )
    return pairs(original, original, tc.Scenario(numeric_keys=["income"]), intruder=his, **options)


def test_the_four_figures() -> None:
    """The first two pair with each other's record too, the third with one that is not his, the last with his own."""
    released = pl.DataFrame({"sex": ["f", "f", "f", "m"], "income": [101.0, 103.0, 300.0, 0.0]})
    others = pl.DataFrame({"sex": ["m"], "income": [301.0]})
    released = Data(pl.concat([released, others]), numbers_of_records=np.array([1, 2, 3, 4, 9]))
    found = external_risk(PEOPLE, released, BOTH)
    assert found.to_frame().to_dict(as_series=False) == {
        "record": [1, 2, 3, 4],
        "pairs": [2, 2, 1, 1],
        "true_among": [True, True, False, True],
        "unique_correct": [False, False, False, True],
        "expected": [0.5, 0.5, 0.0, 1.0],
    }
    assert found.figures_of_file == (4, 4, 3, 1, 2.0, 1.0)
    shares = [found.limited(name) for name in ("paired", "true", "unique", "expected", "highest")]
    assert shares == [1.0, 0.75, 0.25, 0.5, 1.0]
    assert found.guessed == 4 / 5
    assert str(found).splitlines()[0] == (
        "an intruder who knows 2 variables finds a matching record for 100 % of the 4 records of his file, the right "
        "one among them for 75 %; he guesses 50 % right (expected), 25 % beyond doubt"
    )


def test_numbers_agree_within_a_share_of_the_released_one() -> None:
    assert numbers([105.0, 95.0, 105.1, 94.9], [100.0]) == [1, 1, 0, 0]
    # 95.2 +- 4.76 and 105.3 +- 5.265 are too far from 100, 95.3 +- 4.765 and 105.2 +- 5.26 are not.
    assert numbers([100.0, 100.0], [95.2, 95.3, 105.2, 105.3]) == [2, 2]
    assert numbers([-105.0, -94.9, 100.0], [-100.0]) == [1, 0, 0]
    assert numbers([0.0, 1e-300, -0.0], [0.0, 5.0], tolerance=0.999) == [1, 0, 1]
    assert numbers([3.0, 3.1], [3.0], tolerance=0.0) == [1, 0]


def test_the_nearest_released_number_stands_for_a_missing_one() -> None:
    # 105 is as near to 100 as to 110; at 4.7 % it agrees with 110 only. 95.2 is nearest to 100, with which it does not.
    assert numbers([105.0, 95.2, None], [100.0, 110.0, None], tolerance=0.047) == [2, 0, 0]
    assert numbers([-105.0], [-100.0, -110.0, None], tolerance=0.047) == [2]
    assert numbers([105.0, 7.0], [None], tolerance=0.5) == [0, 0]


def test_missing_categories_are_a_category() -> None:
    people = pl.DataFrame({"sex": ["f", None, None, "m"]})
    assert pairs(people, people, tc.Scenario(keys=["sex"])) == [1, 2, 2, 1]


def test_codes_for_not_applicable_and_for_missing_are_categories() -> None:
    table = pl.DataFrame({"income": [100.0, -8.0, -9.0, -8.0, 102.0, None]})
    declared = Data(table, {"income": Variable(missing=(-9,), not_applicable=(-8,))})
    scenario = tc.Scenario(numeric_keys=["income"])
    # The missing one stands for 100 and for 102; nothing agrees with the one that the intruder misses.
    assert pairs(declared, declared, scenario) == [3, 2, 1, 2, 3, 0]
    # Text files say nothing of codes: what one of the files declares holds for both.
    assert pairs(declared, declared, scenario, intruder=table) == [3, 2, 1, 2, 3, 0]


# What was recoded does not read as protected.


AGES = pl.DataFrame({"age": [21, 22, 34, 35, 58, 71]})
OLD = tc.Scenario(keys=["age"])


@pytest.mark.parametrize("scenario", [OLD, tc.Scenario(numeric_keys=["age"])], ids=["key", "number"])
@pytest.mark.parametrize(
    "ages",
    [
        ["20 to 29", "20 to 29", "30 to 39", "30 to 39", "over 50", "over 50"],
        [25, 25, 35, 35, 60, 60],
        [21, 21, 34, 34, 58, 58],
    ],
)
def test_classes_are_made_of_what_the_intruder_knows(ages: list[Any], scenario: tc.Scenario) -> None:
    found = external_risk(AGES, pl.DataFrame({"age": ages}), scenario, tolerance=0.0)
    assert found.found.pairs.tolist() == [2] * 6
    assert found.figures_of_file[:5] == (6, 6, 6, 0, 3.0)
    assert "'age': the release holds other values than the original" in found.cautions[0]


def test_top_codes_and_tolerance() -> None:
    """60 stands for 58 to 71: at 5 % for 55.1 to 74.55."""
    his = Data(pl.DataFrame({"age": [55.0, 56.0, 74.0, 75.0]}), numbers_of_records=np.arange(101, 105))
    released = pl.DataFrame({"age": [21, 22, 34, 35, 60, 60]})
    assert pairs(AGES, released, tc.Scenario(numeric_keys=["age"]), intruder=his) == [0, 2, 2, 0]


@pytest.mark.parametrize("scenario", [OLD, tc.Scenario(numeric_keys=["age"])], ids=["key", "number"])
def test_classes_of_several_levels(scenario: tc.Scenario) -> None:
    """21 agrees with itself, with its class and with the class of all."""
    original = pl.DataFrame({"age": [21, 21, 21, 22, 22, 34, 34]})
    released = pl.DataFrame({"age": ["21", "20 to 29", "all", "20 to 29", "all", "34", "all"]})
    found = external_risk(original, released, scenario, tolerance=0.0)
    assert found.found.pairs.tolist() == [1 + 2 + 3] * 3 + [2 + 3] * 2 + [1 + 3] * 2


def test_a_recoded_key_that_was_perturbed_is_followed_by_what_is_most_frequent() -> None:
    original = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 3 + ["d", "d"]})
    released = Data(pl.DataFrame({"sex": [1, 1, 2, 2, 2, 1, 4, 3]})).with_perturbed(["sex"])
    found = external_risk(original, released, tc.Scenario(keys=["sex"]))
    # f is 1, m is 2; of 3 and 4, equally frequent for d, it is the first.
    assert found.found.pairs.tolist() == [3, 3, 3, 3, 3, 3, 1, 1]
    assert found.found.right is not None
    assert found.found.right.tolist() == [1, 1, 0, 1, 1, 0, 0, 1]


def test_exchanged_values_are_compared_as_they_are() -> None:
    """Classes that overlap are none: 2 for 1 and 3, and 2.5 for 2 and 4."""
    original = pl.DataFrame({"income": [1.0, 2.0, 3.0, 4.0]})
    released = pl.DataFrame({"income": [2.0, 2.5, 2.0, 2.5]})
    found = external_risk(original, released, tc.Scenario(numeric_keys=["income"]), tolerance=0.0)
    assert found.found.pairs.tolist() == [0, 2, 0, 0]
    assert found.cautions[0].startswith("'income': values look exchanged")
    told = external_risk(original, Data.of(released).with_perturbed(["income"]), tc.Scenario(numeric_keys=["income"]))
    assert told.cautions == ()


def test_suppressed_cells_are_missing_or_anything() -> None:
    people = pl.DataFrame({"sex": ["f", "f", "m"], "age": [20, 30, 30]})
    released = pl.DataFrame({"sex": ["f", None, "m"], "age": [20, 30, None]})
    scenario = tc.Scenario(keys=["sex", "age"])
    level, anything = (external_risk(people, released, scenario, suppressed=each) for each in ("level", "any"))
    assert level.found.pairs.tolist() == [1, 0, 0]
    assert anything.found.pairs.tolist() == [1, 1, 2]
    assert level.other == anything.figures_of_file == (3, 3, 3, 2, 2.5, 1.0)
    assert anything.other == level.figures_of_file
    assert level.tables()[0].columns[-1] == "blank = anything"
    # What the original does not show either is not suppressed.
    assert external_risk(released, released, scenario).other is None


# What the intruder knows.


def test_any_chance_of_knowing_counts_as_knowing_and_averages_stand_beside() -> None:
    people = pl.DataFrame({"sex": ["f", "f", "m"], "age": [20, 30, 30], "job": ["a", "b", "c"]})
    scenario = tc.Scenario(keys=["sex", "age"], known={"age": 0.25, "job": 0.0})
    found = external_risk(people, people, scenario)
    assert found.variables == ("sex", "age")
    assert found.figures_of_file.expected == 3.0
    assert found.average is not None
    # With sex alone two guess among two.
    assert found.average.shares == {
        "paired": 1.0,
        "true": 1.0,
        "unique": 0.25 + 0.75 / 3,
        "expected": 0.25 + 0.75 * 2 / 3,
    }
    assert (found.average.sets, found.average.errors) == (2, None)
    assert external_risk(people, people, scenario, known={"job": 0.1}).variables == ("sex", "age", "job")
    assert external_risk(people, people, scenario, known={"age": 1, "sex": 0}).average is None


def test_sets_of_many_variables_are_drawn() -> None:
    draw = np.random.default_rng(1)
    people = pl.DataFrame({f"v{j}": draw.integers(0, 2, 40) for j in range(8)})
    some = tc.Scenario(keys=people.columns[:6], known=dict.fromkeys(people.columns[:6], 0.5))
    exact = external_risk(people, people, some).average
    drawn = external_risk(people, people, some, known={"v6": 1e-9, "v7": 1e-9}, draws=600).average
    assert exact is not None and drawn is not None and drawn.errors is not None
    assert (exact.sets, exact.draws, drawn.sets, drawn.draws) == (64, None, 64, 600)
    for name in ("unique", "expected"):
        assert 0 < drawn.errors[name] < 0.02
        assert abs(drawn.shares[name] - exact.shares[name]) < 4 * drawn.errors[name]
    again = external_risk(people, people, some, known={"v6": 1e-9, "v7": 1e-9}, draws=600, seed=2).average
    assert again is not None and again.shares != drawn.shares


def test_variables_that_one_of_the_files_lacks_are_not_compared() -> None:
    people = pl.DataFrame({"sex": ["f", "m"], "age": [20, 30], "job": ["a", "b"]})
    scenario = tc.Scenario(keys=["sex", "age", "job"])
    found = external_risk(people, people.drop("age"), scenario, intruder=people.drop("job"))
    assert found.variables == ("sex",)
    assert found.notes[:2] == ("'age' not in the release, not compared", "'job' not in his file, not compared")


# Who is who.


def test_any_record_of_the_right_unit_is_right() -> None:
    panel = pl.DataFrame({"id": [7, 7, 8], "sex": ["f", "f", "f"], "month": [1, 2, 3]})
    found = external_risk(panel, panel, tc.Scenario(keys=["sex"], person="id"))
    assert found.found.right is not None
    assert (found.found.right.tolist(), found.found.expected.tolist()) == ([2, 2, 1], [2 / 3, 2 / 3, 1 / 3])
    alone = external_risk(panel[:2], panel[:2], tc.Scenario(keys=["sex"], person="id"))
    assert alone.found.unique_correct.tolist() == [True, True]
    by_column = external_risk(panel, panel[::-1], tc.Scenario(keys=["sex"]), unit="id")
    assert by_column.found.right is not None and by_column.found.right.tolist() == [2, 2, 1]
    assert by_column.record_columns() == {}


def test_an_intruders_file_of_nobody_knows_whom() -> None:
    his = pl.DataFrame({"sex": ["f", "x", "m"], "income": [104.0, 1.0, 290.0]})
    found = external_risk(PEOPLE, PEOPLE, BOTH, intruder=his)
    assert (found.found.pairs.tolist(), found.found.right) == ([2, 0, 1], None)
    assert found.to_dict()["expected"] is None and np.isnan(found.limited())
    assert found.headline.endswith("66.7 % of the 3 records of his file; whether the right one is not known")
    (verdict,) = found.verdicts(tc.Policy(limits={"external_risk": 0.5}))
    assert (verdict.holds, verdict.value) == (None, None)
    assert "name a column of both files with unit=..." in verdict.why
    (paired,) = found.verdicts(tc.Policy(limits={"external_risk": {"limit": 0.5, "figure": "paired"}}))
    assert paired.holds is False
    assert set(external_risk_points(found)["kind"].to_list()) == {"right or not is not known"}


def test_weights_say_among_how_many_he_guesses() -> None:
    people = PEOPLE.with_columns(w=pl.Series([2.0, 8.0, 0.5, 4.0]))
    found = external_risk(people, people, replace(BOTH, weight="w"), weighted=True)
    assert found.found.pairs.tolist() == [2, 2, 1, 1]
    assert found.found.expected.tolist() == [0.1, 0.1, 1.0, 0.25]
    assert found.figures_of_file.unique == 2
    with pytest.raises(TacitaError, match="weighted=True needs weights"):
        external_risk(PEOPLE, PEOPLE, BOTH, weighted=True)


# Limits.


@pytest.mark.filterwarnings("ignore::tacita.check.Caution")
def test_a_limit_stands_for_counts_of_perturbed_keys() -> None:
    survey = tc.household_survey(300, population=9000)
    scenario = replace(survey.scenario, household=None, household_variables=(), sensitive=())
    plan = tc.Plan([tc.Pram(variables=scenario.keys[:1], pd=0.5, alpha=0.5)])
    released = plan.apply(survey.data, scenario, seed=2**70)
    for figure, holds in (("expected", True), ("highest", False)):
        # k = 3 would not be assessed: a share hides who is recognised beyond doubt.
        limits = {"external_risk": {"limit": 0.99, "figure": figure}}
        policy = tc.Policy(k=None, risk=None, given_back=None, limits=limits)
        profile = tc.assess(released, scenario, policy)
        assert [(each.name, each.holds) for each in profile.verdicts()] == [("external_risk", holds)]
    found = profile.further["external_risk"]
    assert isinstance(found, ExternalRisk)
    assert found.unsafe_records(policy).tolist() == (found.found.expected > 0.99).tolist()  # type: ignore[union-attr]
    assert found.unsafe_records(tc.Policy(limits={"external_risk": 0.9})) is None
    assert profile.records["external_pairs"].to_list() == found.found.pairs.tolist()
    with pytest.raises(TacitaError, match="figure of external_risk must be one of"):
        found.limited("best")


def test_what_cannot_be_compared() -> None:
    with pytest.raises(TacitaError, match="needs a variable that both"):
        external_risk(PEOPLE, PEOPLE, BOTH, intruder=pl.DataFrame({"job": ["a"]}))
    with pytest.raises(TacitaError, match="no released record is in the original"):
        external_risk(PEOPLE, Data(PEOPLE, numbers_of_records=np.arange(11, 15)), BOTH)
    with pytest.raises(TacitaError, match="same kind of values"):
        external_risk(PEOPLE, PEOPLE, BOTH, intruder=pl.DataFrame({"sex": [1, 2]}))


def test_the_figure_counts_records_by_pairs() -> None:
    found = external_risk(PEOPLE, PEOPLE, BOTH)
    drawn = external_risk_points(found).filter(pl.col("records") > 0).select("pairs", "kind", "share").rows()
    assert drawn == [("1", "the right one among them", 0.5), ("2", "the right one among them", 0.5)]


def test_on_the_command_line(run: Callable[..., tuple[int, str, str]]) -> None:
    tc.write(PEOPLE.with_columns(id=pl.int_range(4)), "people.csv")
    tc.write(PEOPLE.with_columns(id=pl.int_range(4))[1:3], "his.csv")
    asked = "assess", "people.csv", "--original", "people.csv", "--keys", "sex", "--numeric-keys", "income", "--measure"
    code, out, err = run(*asked, "external_risk:tolerance=0.01")
    assert (code, err) == (0, "")
    assert "100 % of the 4 records of his file, the right one among them for 100 %" in " ".join(out.split())
    code, out, err = run(*asked, "external_risk:intruder=his.csv;unit=id")
    assert (code, err) == (0, "")
    assert "100 % of the 2 records of his file, the right one among them for 100 %; he guesses 75 % right" in " ".join(
        out.split()
    )
    assert run(*asked, "external_risk:intruder=hers.csv")[1:] == (
        "",
        "tacita: hers.csv does not exist; check the path.\n",
    )


def test_a_verdict_says_how_many_are_recognised_beyond_doubt() -> None:
    """Nine of ten records hide; the tenth does not, and a small share must not hide that."""
    people = pl.DataFrame({"town": ["a"] * 9 + ["b"]})
    nothing = {"k": None, "risk": None, "rate": None, "given_back": None}

    def judged(limit: Any) -> Any:
        policy = tc.Policy(**nothing, limits={"external_risk": limit})
        (verdict,) = tc.risk.external_risk(people, people, tc.Scenario(keys=["town"])).verdicts(policy)
        return verdict

    expected = judged(0.5)
    assert expected.holds and expected.value == pytest.approx(0.2)
    assert expected.why.endswith("0.5 is safe; 1 record is recognised beyond doubt")
    highest = judged({"limit": 0.5, "figure": "highest"})
    assert highest.holds is False and highest.value == 1.0
    assert "the greatest probability of a right guess from outside (external risk) is 1" in highest.why
