"""Simulated files of intruders: variables, coverage, errors, and that the same seed gives the same file."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.data import Data, Variable

SIZE = 2000
DRAW = np.random.default_rng(5)
PEOPLE = pl.DataFrame(
    {
        "sex": DRAW.choice(["f", "m", "x"], SIZE, p=[0.5, 0.3, 0.2]),
        "age": pl.Series(DRAW.integers(20, 80, SIZE)).scatter([3, 4], None),
        "income": DRAW.gamma(2.0, 1000.0, SIZE),
        "job": DRAW.choice(["a", "b"], SIZE),
    }
)
WHO = tc.Scenario(keys=["sex", "age"], numeric_keys=["income"])


def changed(his: Data, name: str) -> Any:
    return (his.table[name] != PEOPLE[name][his.record - 1]).fill_null(False)


def test_without_errors_it_is_the_original() -> None:
    his = tc.intruder_file(PEOPLE, WHO, seed=1)
    assert his.table.equals(PEOPLE.drop("job"))
    assert his.record.tolist() == list(range(1, SIZE + 1))
    found = tc.risk.external_risk(PEOPLE, PEOPLE, WHO, intruder=his)
    assert found.figures_of_file == tc.risk.external_risk(PEOPLE, PEOPLE, WHO).figures_of_file


def test_coverage_is_a_share_of_the_units() -> None:
    his = tc.intruder_file(PEOPLE, WHO, coverage=0.25, seed=1)
    assert len(his) == SIZE / 4
    assert his.table.equals(PEOPLE.drop("job")[his.record - 1])
    panel = PEOPLE.with_columns(id=pl.int_range(SIZE) // 4)
    of_panel = tc.intruder_file(panel, tc.Scenario(keys=["sex"], person="id"), coverage=0.1, seed=1)
    assert len(of_panel) == SIZE / 10
    assert set(np.bincount((of_panel.record - 1) // 4).tolist()) == {0, 4}
    assert len(tc.intruder_file(PEOPLE, WHO, coverage=1e-9, seed=1)) == 1


def test_the_order_of_the_records_does_not_matter() -> None:
    rows = np.random.default_rng(1).permutation(SIZE)
    how: dict[str, Any] = {"coverage": 0.5, "error_rates": {"sex": 0.3, "age": 0.1}, "noise": 0.1, "seed": 4}
    first, second = (tc.intruder_file(Data.of(PEOPLE).take(order), WHO, **how) for order in (np.arange(SIZE), rows))
    again = np.argsort(second.record)
    assert second.record[again].tolist() == first.record.tolist()
    assert second.table[again].equals(first.table)
    assert not tc.intruder_file(PEOPLE, WHO, **{**how, "seed": 5}).table.equals(first.table)


def test_wrong_categories_are_drawn_from_the_others_by_frequency() -> None:
    his = tc.intruder_file(PEOPLE, tc.Scenario(keys=["sex"], error_rates={"sex": 0.4}), seed=2)
    wrong = changed(his, "sex")
    # 0.4 +- 0.011; of those wrong for f, the share of m is 0.6 +- 0.025.
    assert abs(wrong.mean() - 0.4) < 0.045
    of_women = his.table["sex"].filter(wrong & (PEOPLE["sex"] == "f"))
    assert "f" not in of_women
    assert abs((of_women == "m").mean() - 0.6) < 0.1
    assert tc.intruder_file(PEOPLE, WHO, error_rates={"sex": 1.0}, seed=2).table["sex"].eq(PEOPLE["sex"]).sum() == 0


def test_what_has_no_other_value_stays() -> None:
    alone = pl.DataFrame({"sex": ["f", "f", None]})
    assert tc.intruder_file(alone, tc.Scenario(keys=["sex"]), error_rates={"sex": 1}, seed=1).table.equals(alone)


def test_numbers_have_relative_errors() -> None:
    his = tc.intruder_file(PEOPLE, WHO, noise=0.1, seed=3)
    ratio = (his.table["income"] / PEOPLE["income"]).to_numpy()
    # Mean 1 +- 0.0022, deviation 0.1 +- 0.0016.
    assert abs(ratio.mean() - 1.0) < 0.01
    assert abs(ratio.std() - 0.1) < 0.007
    assert his.table["age"].equals(PEOPLE["age"])
    by_name = tc.intruder_file(PEOPLE, tc.Scenario(numeric_keys=["income", "age"]), noise={"age": 0.2}, seed=3)
    assert by_name.table["income"].equals(PEOPLE["income"])
    assert by_name.table["age"].dtype == pl.Int64
    assert by_name.table["age"].null_count() == 2
    assert not by_name.table["age"].equals(PEOPLE["age"])


def test_codes_are_no_measurements() -> None:
    firms = Data(pl.DataFrame({"staff": [10, -9, 30]}), {"staff": Variable(missing=(-9,))})
    his = tc.intruder_file(firms, tc.Scenario(numeric_keys=["staff"]), noise=0.3, seed=1)
    assert his.table["staff"][1] == -9
    assert his.variable("staff").missing == (-9,)


def test_each_variable_is_there_with_its_probability() -> None:
    there = [
        tc.intruder_file(
            PEOPLE[:2], tc.Scenario(keys=["sex", "age"], known={"age": 0.3, "job": 0.6}), seed=seed
        ).columns
        for seed in range(200)
    ]
    shares = {name: np.mean([name in columns for columns in there]) for name in ("sex", "age", "job")}
    assert shares["sex"] == 1.0
    assert abs(shares["age"] - 0.3) < 0.1
    assert abs(shares["job"] - 0.6) < 0.1
    assert tc.intruder_file(PEOPLE, WHO, variables=["job"], seed=1).columns == ("job",)
    assert tc.intruder_file(PEOPLE, WHO, known={"sex": 0}, seed=1).columns == ("age", "income")


def test_without_a_seed_every_file_is_another() -> None:
    first, second = (tc.intruder_file(PEOPLE, WHO, coverage=0.5).record.tolist() for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coverage": 0}, "coverage must be in (0, 1]; got 0."),
        ({"known": {"sex": 0, "age": 0, "income": 0}}, "the intruder would know nothing; raise the probabilities"),
        ({"known": {"sex": 2}}, "known of 'sex' must be in [0, 1]; got 2."),
        ({"error_rates": {"sexx": 0.1}}, "error_rates not in the data: 'sexx'. Did you mean 'sex'?"),
        ({"error_rates": {"sex": -1}}, "error rate of 'sex' must be in [0, 1]; got -1."),
        ({"noise": -1}, "noise of 'income' must be at least 0; got -1."),
        ({"noise": {"sex": 0.1}}, "noise not in the data: 'sex'."),
        ({"variables": ["jobb"]}, "variables not in the data: 'jobb'. Did you mean 'job'?"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TacitaError) as error:
        tc.intruder_file(PEOPLE, WHO, **options, seed=1)
    assert str(error.value).startswith(message)
