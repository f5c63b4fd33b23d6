"""Sequential trees: equal to a slow and obvious twin; kept trees; files that a regression cannot tell apart."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from slow_tree import slow_tree

import tacita as tc
from tacita.data import Data
from tacita.protect.synthesise.columns import column_of
from tacita.protect.synthesise.sequence import Sample, draw_sequence, fitted
from tacita.random import Draws
from tacita.trees.tree import Features, Growth, Response


def small_file(seed: int) -> Data:
    """Categories, numbers with zeros, missing values and two codes, a constant and a date."""
    draw = np.random.default_rng(seed)
    n = int(draw.choice([6, 15, 40]))
    numbers = draw.integers(0, 30, n).astype(float) * 0.5
    numbers[draw.random(n) < 0.2] = 0.0
    numbers[draw.random(n) < 0.1] = -7.0
    blank = draw.random(n) < 0.15
    table = pl.DataFrame(
        {
            "sex": draw.choice(["f", "m"], n),
            "income": [None if gone else value for gone, value in zip(blank, numbers, strict=True)],
            "one": ["x"] * n,
            "region": [None if place == 0 else int(place) for place in draw.integers(0, 5, n)],
            "day": pl.Series(draw.integers(0, 9, n)).cast(pl.Int32).cast(pl.Date),
        }
    )
    return Data.of(table, {"income": tc.Variable(scale="numeric", not_applicable=(-7.0,))})


def leaf_of(tree: Any, features: list[Any], fit: Any, categories: list[int]) -> list[int]:
    """The records in the leaf of the slow tree that some features fall into."""
    if isinstance(tree, list):
        return tree
    feature, where, left, right = tree

    def records(node: Any) -> list[int]:
        return node if isinstance(node, list) else records(node[2]) + records(node[3])

    value = features[feature]
    if categories[feature]:
        there = {fit[feature][row] for row in records(tree)}
        larger_left = len(records(left)) >= len(records(right))
        goes_left = value in where if value in there else larger_left
    else:
        goes_left = value <= where
    return leaf_of(left if goes_left else right, features, fit, categories)


def slow_sequence(columns: list[Any], draws: Draws, record: Any, growth: Growth) -> list[list[int]]:
    """By column the donor of each record, found record by record."""
    n, made, donors = len(record), [[] for _ in record], []
    seen: list[Any] = []
    categories: list[int] = []

    def donor(rows: list[int], values: Any, classes: int, drawn: Any, u: float) -> int:
        fit = [[x[row] for row in rows] for x in seen]
        features = Features(np.array(fit).reshape(len(seen), len(rows)), np.array(categories, dtype=np.int64))
        response = Response(np.array([values[row] for row in rows], dtype=float), classes, np.ones(len(rows)))
        found = leaf_of(slow_tree(features, response, growth), drawn, fit, categories)
        ordered = sorted(found, key=lambda place: (values[rows[place]], place))
        return rows[ordered[int(u * len(ordered))]]

    for column in columns:
        own = draws.step(column.name)
        kind, value = own.step("kind").uniform(record), own.step("value").uniform(record)
        chosen = []
        for at in range(n):
            label, place = 0, -1
            if not column.numeric or column.labels.any():
                place = donor(list(range(n)), column.labels, column.classes, made[at], kind[at])
                label = int(column.labels[place])
            if column.numeric and label == 0:
                rows = [row for row in range(n) if column.labels[row] == 0]
                place = donor(rows, column.values, 0, made[at], value[at])
            chosen.append(place)
        parts = column.features(np.arange(n))
        seen += [part[0] for part in parts]
        categories += [part[1] for part in parts]
        for at, place in enumerate(chosen):
            made[at] += [part[0][place] for part in parts]
        donors.append(chosen)
    return donors


@pytest.mark.parametrize("seed", range(12))
def test_sequences_equal_the_slow_ones(seed: int) -> None:
    data, draws = small_file(seed), Draws(seed)
    rows, growth = np.arange(len(data)), Growth(int(np.random.default_rng(seed).choice([2, 5])))
    columns = [column_of(data, name, rows) for name in data.columns]
    sample = Sample(dict.fromkeys(data.columns, rows), np.ones(len(rows)))
    models = fitted([], columns, sample, growth, smooth=False)

    def uniform(name: str, what: str) -> np.ndarray:
        return draws.step(name).step(what).uniform(data.record)

    made = draw_sequence([], models, rows, uniform, uniform)
    slow = slow_sequence(columns, draws, data.record, growth)
    assert [made[name].donors.tolist() for name in data.columns] == slow
    again = fitted([], columns, sample, growth, False, known=json.loads(json.dumps(kept(models))))
    drawn_again = draw_sequence([], again, rows, uniform, uniform)
    assert all((drawn_again[name].donors == made[name].donors).all() for name in data.columns)


def kept(models: Any) -> dict[str, Any]:
    return {each.column.name: each.trees() for each in models}


SURVEYS = {
    "household": tc.household_survey(1500, population=40_000),
    "business": tc.business_survey(exporters=True),
    "accident": tc.accident_survey(4000),
}


def ratios_of_pairs(data: Any, synthetic: Any, who: tc.Scenario, names: list[str]) -> dict[tuple[str, ...], float]:
    """By pair of variables the pMSE of all classes crossed over its expectation."""
    found = tc.loss.propensity_loss(data, synthetic, who, variables=names, classes=4, pairs=True)
    return {each.variables: 0.0 if np.isnan(each.ratio) else each.ratio for each in found.pairs}


def with_two_way_terms(data: Any, synthetic: Any, who: tc.Scenario, names: list[str]) -> float:
    """The pMSE of one regression with main effects and all two-way terms over its expectation."""
    return tc.loss.propensity_loss(data, synthetic, who, variables=names, classes=3, two_way=True).ratio


@pytest.mark.parametrize("survey", SURVEYS)
def test_a_regression_hardly_tells_synthetic_files_from_the_original(survey: str) -> None:
    """The ratio to what is expected of the right model is at most 3 on main effects and two-way terms, and by pair.

    In the order that is usual, over five copies: single pairs of single copies may be above 3 once by chance.
    """
    data, scenario = SURVEYS[survey].data, SURVEYS[survey].scenario
    apart = {*scenario.identifiers, scenario.household, scenario.person}
    names = [name for name in data.columns if name not in apart][:14]
    file = data.without([name for name in data.columns if name not in names])
    who = tc.Scenario(keys=names[:2])
    release = tc.Plan([tc.Synthesise(given=(), copies=5)]).apply(file, who, seed=2024).data
    copies = [release.take(np.flatnonzero(release.numbers("copy") == number)) for number in range(1, 6)]
    told = [tc.loss.propensity_loss(file, each, who, variables=names) for each in copies]
    assert max(each.ratio for each in told) <= 3
    # Main effects and all two-way terms, as the measure is defined.
    assert max(with_two_way_terms(file, each, who, names[:10]) for each in copies[:1]) <= 2
    by_pair = [ratios_of_pairs(file, each, who, names) for each in copies]
    means = {pair: np.mean([each[pair] for each in by_pair]) for pair in by_pair[0]}
    assert max(means.values()) <= 3, {pair: value for pair, value in means.items() if value > 3}
    assert np.mean(list(means.values())) <= 1.3
    assert np.mean([value > 3 for each in by_pair for value in each.values()]) <= 0.005


def test_the_usual_order_is_categories_with_few_values_first_and_numbers_last() -> None:
    columns = {
        "x": [1.5, 2.5] * 10,
        "many": list("abcde") * 4,
        "few": list("ab") * 10,
        "y": [0.5 * place for place in range(20)],
    }
    release = tc.Plan([tc.Synthesise()]).apply(pl.DataFrame(columns), tc.Scenario(keys=["few"]), seed=1)
    assert release.changes[0].mechanisms[0]["variables"] == ["few", "many", "x", "y"]


def test_the_regression_does_tell_a_file_whose_variables_were_drawn_apart() -> None:
    """The figures of the test before are small because the file is good."""
    data, scenario = SURVEYS["household"].data, SURVEYS["household"].scenario
    apart = tc.Plan([tc.Synthesise("income", given=())]).apply(data, scenario, seed=1).data
    assert ratios_of_pairs(data, apart, scenario, ["age", "income"])["age", "income"] > 30
    names = ["sex", "age", "status", "education", "income"]
    assert with_two_way_terms(data, apart, scenario, names) > 10
