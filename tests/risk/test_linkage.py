"""Record linkage by distance, one to one and by agreement: against all pairs, by hand, and what every result keeps."""

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from tacita.check import TacitaError
from tacita.data import Data, Variable
from tacita.distance.links import EQUAL
from tacita.progress import Cancelled
from tacita.risk.linkage.distance_linkage import distance_linkage
from tacita.risk.linkage.linked import Linkage
from tacita.risk.linkage.one_to_one_linkage import one_to_one_linkage
from tacita.risk.linkage.probabilistic_linkage import probabilistic_linkage
from tacita.scenario import Scenario

number = st.one_of(
    st.none(), st.sampled_from([0.0, 1.0, 2.0, 5.0]), st.integers(-900, 900).map(lambda each: each / 100)
)
row = st.tuples(number, number)
files = st.integers(1, 20).flatmap(lambda n: st.tuples(*(st.lists(row, min_size=n, max_size=n) for _ in range(2))))
DISTANCES = ["euclidean", "manhattan", "mahalanobis", "gower"]
every_distance = pytest.mark.parametrize("distance", DISTANCES)
P = Scenario(numeric_keys=["p"])

Rows = list[tuple[float | None, float | None]]


def table(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"p": pl.Float64, "q": pl.Float64}, orient="row")


# The definitions, on all pairs.


def matrix(y: np.ndarray, x: np.ndarray, both: np.ndarray, distance: str, standardise: bool = True) -> np.ndarray:
    """Distances of rows y and x, with scales from `both`."""
    difference = y[:, None, :] - x[None, :, :]
    columns = both.shape[1]
    if distance == "mahalanobis":
        # A generalised inverse, on a common scale; a constant column tells nobody apart.
        spread = both.std(axis=0, ddof=1) if len(both) > 1 else np.zeros(columns)
        unit = np.array([1 / s if s > 0 and np.ptp(c) > 0 else 0.0 for s, c in zip(spread, both.T, strict=True)])
        covariance = np.atleast_2d(np.cov((both * unit).T)) if len(both) > 1 else np.zeros((columns, columns))
        inverse = np.linalg.pinv(covariance, rcond=1e-12, hermitian=True)
        scaled = difference * unit
        return np.sqrt(np.maximum(np.einsum("abi,ij,abj->ab", scaled, inverse, scaled), 0.0))
    total = np.zeros(difference.shape[:2])
    for j in range(columns):
        away = np.abs(difference[:, :, j])
        if distance == "gower":
            width = np.ptp(both[:, j])
            total += away / width / columns if width > 0 else 0.0
            continue
        if standardise:
            away = away / np.std(both[:, j], ddof=1) if np.ptp(both[:, j]) > 0 else 0.0 * away
        total += away**2 if distance == "euclidean" else away
    return np.sqrt(total) if distance == "euclidean" else total


def complete(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values).any(axis=1)]


def assert_as_all_pairs(first: Rows, second: Rows, distance: str, standardise: bool) -> None:
    found = distance_linkage(
        table(first), table(second), Scenario(numeric_keys=["p", "q"]), distance=distance, standardise=standardise
    )
    x, y = (np.array(rows, dtype=float) for rows in (first, second))
    for i in range(len(y)):
        shown = ~np.isnan(y[i])
        others = np.flatnonzero(~np.isnan(x[:, shown]).any(axis=1))
        if not shown.any() or not len(others):
            assert (found.link[i], found.candidates[i], found.correct[i]) == (-1, 0, 0.0)  # type: ignore[index]
            continue
        both = np.concatenate([complete(x[:, shown]), complete(y[:, shown])])
        away = matrix(y[i][shown][None], x[others][:, shown], both, distance, standardise)[0]
        least = away.min()
        assert found.distance[i] == pytest.approx(least, rel=1e-6, abs=1e-6)
        gaps = np.abs(away - least)
        if ((gaps > 1e-12) & (gaps < 1e-6)).any() or distance == "mahalanobis":
            continue  # too near for another order of operations to tell; counts have their own test
        near = others[away <= least + 1e-12]
        assert found.link[i] == near[0]
        assert found.candidates[i] == len(near)
        assert found.correct[i] == pytest.approx((i in near) / len(near))  # type: ignore[index]
        far = away[away > least + 1e-12]
        assert found.second_distance[i] == (pytest.approx(far.min(), rel=1e-6) if len(far) else math.inf)


@every_distance
@given(files, st.booleans())
def test_nearest_against_all_pairs(distance: str, given_rows: tuple[Rows, Rows], standardise: bool) -> None:
    assert_as_all_pairs(*given_rows, distance, standardise)


def masked(n: int, kind: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = np.random.default_rng(n)
    x = draw.gamma(2.0, 50.0, size=(n, 2))
    if kind == "ties":
        x = np.round(x / 40.0)
    elif kind == "zeros":
        x[draw.random(n) < 0.5] = 0.0
    elif kind == "constant":
        x[:, 1] = 4.0
    elif kind == "twice":
        x[n // 2 :] = x[: n - n // 2]
    y = x.copy()
    if n > 2:
        moved = draw.random(n) < 0.7
        y[moved, 0] += draw.choice([-1.0, 0.0, 2.0], moved.sum())
    blank = draw.random((n, 2)) < (0.1 if kind == "missing" else 0.0)
    frames = [pl.DataFrame({"p": v[:, 0], "q": v[:, 1]}, nan_to_null=True) for v in (x, np.where(blank, np.nan, y))]
    return frames[0], frames[1]


KINDS = ["any", "ties", "zeros", "constant", "twice", "missing"]
SIZES = [1, 2, 3, 60, 500]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_counts_agree_exactly_with_all_pairs(kind: str, n: int) -> None:
    original, released = masked(n, kind)
    found = distance_linkage(original, released, Scenario(numeric_keys=["p", "q"]), standardise=False)
    x, y = original.to_numpy(), released.to_numpy()
    correct, links, ties = np.zeros(n), np.full(n, -1), np.zeros(n, dtype=int)
    for i in range(n):
        shown = ~np.isnan(y[i])
        if shown.any():
            away = np.sqrt(((y[i, shown] - x[:, shown]) ** 2).sum(axis=1))
            near = np.flatnonzero(away <= away.min() * (1 + EQUAL))
            links[i], ties[i], correct[i] = near[0], len(near), (i in near) / len(near)
    assert found.link.tolist() == links.tolist()
    assert found.candidates.tolist() == ties.tolist()
    assert found.correct is not None
    assert found.correct.tolist() == correct.tolist()
    assert found.expected_correct == pytest.approx(correct.sum())
    one = ties == 1
    assert (found.links, found.correct_links) == (one.sum(), (correct == 1)[one].sum())
    assert found.false_links == one.sum() - found.correct_links
    assert found.possible.tolist() == (ties > 1).tolist()


@every_distance
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_one_to_one_against_the_dense_matrix(distance: str, kind: str, n: int) -> None:
    original, released = masked(n, kind)
    x, y = original.to_numpy(), released.to_numpy()
    found = one_to_one_linkage(original, released, Scenario(numeric_keys=["p", "q"]), distance=distance)
    rows = np.flatnonzero(~np.isnan(y).any(axis=1))
    assert found.missing == n - len(rows)
    assert (found.link[np.isnan(y).any(axis=1)] == -1).all()
    if not len(rows):
        return
    away = matrix(y[rows], x, np.concatenate([x, y[rows]]), distance)
    least = away[linear_sum_assignment(away)].sum()
    assert found.total_distance == pytest.approx(least, rel=1e-9, abs=1e-6 if distance == "mahalanobis" else 1e-9)
    assert found.gap <= 1e-9
    assert len(set(found.link[rows].tolist())) == len(rows)
    assert found.distance[rows] == pytest.approx(away[np.arange(len(rows)), found.link[rows]], rel=1e-6, abs=1e-6)


def test_one_to_one_by_hand() -> None:
    """10 and 20 are both nearest to 17; one to one, 16 takes 10 and 17 takes 20."""
    original, released = pl.DataFrame({"a": [10.0, 20.0]}), pl.DataFrame({"a": [16.0, 17.0]})
    near = distance_linkage(original, released, Scenario(numeric_keys=["a"]), standardise=False)
    assert near.link.tolist() == [1, 1]
    assert near.status() == ["false", "correct"]
    both = one_to_one_linkage(original, released, Scenario(numeric_keys=["a"]), standardise=False)
    assert both.link.tolist() == [0, 1]
    assert (both.total_distance, both.bound, both.correct_links) == (9.0, 9.0, 2.0)
    assert str(both).splitlines() == [
        "2 of 2 released records (100 %) are expected to be linked rightly; 1 by guessing",
        "2 of 2 released records are linked to one record (one to one, euclidean distance): 2 rightly, 0 wrongly",
        "total distance 9, the least possible",
    ]


def test_gower_by_hand() -> None:
    """Income over its range, education by its place in the order, sex equal or not, averaged."""
    order = Variable(scale="ordinal", order=("low", "mid", "high"))
    people = pl.DataFrame({"sex": ["f", "m"], "school": ["low", "high"], "income": [0.0, 100.0]})
    original = Data(people, variables={"school": order})
    released = pl.DataFrame({"sex": ["f"], "school": ["mid"], "income": [40.0], "id": [1]})
    found = distance_linkage(
        original, released, Scenario(numeric_keys=["sex", "school", "income"]), distance="gower", external=True
    )
    assert found.link.tolist() == [0]
    assert found.distance[0] == pytest.approx((0 + 1 / 2 + 40 / 100) / 3)
    assert found.second_distance[0] == pytest.approx((1 + 1 / 2 + 60 / 100) / 3)


def test_missing_values_are_compared_on_what_is_shown() -> None:
    original = pl.DataFrame({"a": [1.0, 1.0, 9.0], "b": [0.0, 5.0, None]})
    released = pl.DataFrame({"a": [1.0, None, 8.0], "b": [None, 5.0, None]})
    found = distance_linkage(original, released, Scenario(numeric_keys=["a", "b"]), standardise=False)
    assert found.candidates.tolist() == [2, 1, 1]
    assert found.link.tolist() == [0, 1, 2]
    assert found.status() == ["possible", "correct", "correct"]
    assert found.correct is not None
    assert found.correct.tolist() == [0.5, 1.0, 1.0]
    assert found.missing == 3


def test_not_applicable_is_a_category_of_both_files() -> None:
    """A release tells that 99 and blanks mean not applicable, its original does not: they are still the same."""
    first = Data.of(
        pl.DataFrame({"x": [1, 2, 99, 99], "y": [1, None, 2, 2], "z": ["a", "b", "c", "d"]}),
        {"x": Variable(missing=(99,))},
    )
    said = {"x": Variable(missing=(99,), not_applicable=(99,)), "y": Variable(not_applicable=("",))}
    second = Data.of(first.table, said)
    for original, released in ((first, second), (second, first), (second, second)):
        for variables in (["x", "z"], ["x", "y", "z"]):
            found = distance_linkage(original, released, Scenario(numeric_keys=variables), distance="gower")
            assert found.correct is not None
            assert found.correct.tolist() == [1.0] * 4
        found = distance_linkage(original, released, Scenario(numeric_keys=["y"]), distance="gower")
        assert found.correct is not None
        assert found.correct.tolist() == [1.0, 1.0, 0.5, 0.5]
        assert probabilistic_linkage(original, released, Scenario(numeric_keys=["y", "z"])).expected_correct == 4.0


def test_not_applicable_stands_behind_a_declared_order() -> None:
    known = Variable(order=("low", "high"), scale="ordinal", not_applicable=("none",))
    data = Data.of(pl.DataFrame({"x": ["low", "high", "none"]}), {"x": known})
    assert distance_linkage(data, data, Scenario(numeric_keys=["x"]), distance="gower").expected_correct == 3.0


def test_blanks_that_are_a_category_beside_other_numbers() -> None:
    known = {"x": Variable(not_applicable=("",))}
    first, second = (Data.of(pl.DataFrame({"x": values}), known) for values in ([1, 2, None], [1, 3, None]))
    found = distance_linkage(first, second, Scenario(numeric_keys=["x"]), distance="gower")
    assert found.correct is not None
    # Nobody has 3, so that all are equally far.
    assert found.correct.tolist() == [1.0, pytest.approx(1 / 3), 1.0]


def test_decimal_numbers_are_the_floats_of_another_file() -> None:
    """As where the original is Parquet and the release was read from text."""
    texts = ["10.10", "20.20", "0.10"]
    exact = pl.DataFrame({"x": [Decimal(text) for text in texts]})
    floats = pl.DataFrame({"x": [float(text) for text in texts]})
    for original, released in ((exact, floats), (floats, exact), (exact, exact)):
        assert probabilistic_linkage(original, released, Scenario(numeric_keys=["x"])).expected_correct == 3.0
        assert (
            distance_linkage(original, released, Scenario(numeric_keys=["x"]), distance="gower").expected_correct == 3.0
        )


@every_distance
@pytest.mark.parametrize("code", [1e17, 1e149, -1e149])
def test_one_number_far_out_hides_nobody(distance: str, code: float) -> None:
    """As a program writes it for a missing value that nobody declared: the others are still who they are."""
    firms = pl.DataFrame({"p": [code, *(1000.0 + 7.0 * at for at in range(20))]})
    for method in (distance_linkage, one_to_one_linkage):
        assert method(firms, firms, P, distance=distance).expected_correct == 21.0


@every_distance
def test_numbers_that_have_no_squares_are_refused(distance: str) -> None:
    firms = pl.DataFrame({"p": [1.7976931348623157e308, 1.0, 2.0]})
    with pytest.raises(TacitaError) as error:
        distance_linkage(firms, firms, Scenario(numeric_keys=["p"]), distance=distance)
    assert str(error.value) == (
        "numbers must be below 1e+150 in size to be compared; those of 'p' of the original file are not, declare such "
        "codes missing."
    )


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e145])
def test_the_unit_of_numbers_does_not_matter(unit: float) -> None:
    firms = pl.DataFrame({"p": [unit * at for at in range(1, 30)], "q": [(at * 7) % 29 for at in range(1, 30)]})
    for distance in ("euclidean", "manhattan", "mahalanobis", "gower"):
        assert distance_linkage(firms, firms, Scenario(numeric_keys=["p"]), distance=distance).expected_correct == 29.0
        assert (
            distance_linkage(firms, firms, Scenario(numeric_keys=["p", "q"]), distance=distance).expected_correct
            == 29.0
        )


# The intruder's own file: other rows, other columns.

SIZE = Scenario(numeric_keys=["size"])


def outside() -> tuple[pl.DataFrame, pl.DataFrame]:
    register = pl.DataFrame({"size": [5.0, 1.0, 9.0, 3.0], "name": ["d", "a", "x", "b"], "id": [40, 10, 99, 20]})
    released = pl.DataFrame({"id": [10, 20, 30], "size": [1.1, 2.8, 8.0], "income": [1, 2, 3]})
    return register, released


@pytest.mark.parametrize("method", [distance_linkage, one_to_one_linkage])
def test_an_external_file_with_a_common_identifier(method: Callable[..., Linkage]) -> None:
    register, released = outside()
    found = method(register, released, SIZE, unit="id", external=True)
    assert found.link.tolist() == [1, 3, 2]
    assert found.own is not None
    assert found.own.tolist() == [1, 3, -1]
    assert found.status() == ["correct", "correct", "false"]
    assert (found.correct_links, found.false_links, found.guessed) == (2.0, 1.0, 2 / 4)
    assert found.record_columns()["link"] == [2, 4, 3]  # record numbers count from 1


@pytest.mark.parametrize("method", [distance_linkage, one_to_one_linkage])
def test_an_external_file_without_one_gives_links_only(method: Callable[..., Linkage]) -> None:
    register, released = outside()
    found = method(register, released.drop("id"), SIZE, external=True)
    assert found.status() == ["link", "link", "link"]
    assert found.correct is None
    assert found.to_dict()["correct_links"] is None
    assert "correct" not in found.to_frame().columns
    assert "whether rightly is not known" in str(found)


@pytest.mark.parametrize("method", [distance_linkage, one_to_one_linkage])
def test_more_released_records_than_others(method: Callable[..., Linkage]) -> None:
    register, released = outside()
    found = method(register[:1], released, SIZE, external=True)
    linked = (found.link >= 0).sum()
    assert linked == (1 if method is one_to_one_linkage else 3)


def test_external_files_by_agreement() -> None:
    draw = np.random.default_rng(1)
    ids, sex, age, town = (
        np.arange(200),
        draw.integers(0, 2, 200),
        draw.integers(18, 90, 200),
        draw.integers(0, 40, 200),
    )
    register = pl.DataFrame({"id": ids, "sex": sex, "age": age, "town": town, "name": [f"n{i}" for i in ids]})
    released = pl.DataFrame({"income": draw.normal(size=100), "town": town[:100], "age": age[:100], "sex": sex[:100]})
    found = probabilistic_linkage(register, released, Scenario(numeric_keys=["sex", "age", "town"]), external=True)
    assert found.correct is None
    assert (found.link == ids[:100]).mean() > 0.9
    known = probabilistic_linkage(
        register, released.with_columns(id=ids[:100]), Scenario(numeric_keys=["sex", "age", "town"]), unit="id"
    )
    assert known.share_correct > 0.9
    assert known.link.tolist() == found.link.tolist()


# By agreement.


def survey(n: int = 300, seed: int = 2) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = np.random.default_rng(seed)
    first = pl.DataFrame(
        {
            "sex": draw.choice(["f", "m"], n),
            "age": draw.integers(18, 90, n),
            "town": draw.choice([f"town {i}" for i in range(30)], n),
            "region": draw.choice(["north", "south"], n),
            "income": draw.gamma(2.0, 1000.0, n).round(2),
        }
    )
    rows = pl.int_range(n)
    second = first.with_columns(
        age=pl.when(rows % 7 == 0).then(pl.col("age") + 1).otherwise("age"),
        town=pl.when(rows % 11 == 0).then(None).otherwise("town"),
        income=pl.col("income") + draw.normal(0, 5, n),
    )
    return first, second


def test_probabilistic_linkage_against_all_pairs() -> None:
    first, second = survey(120)
    names, width = ["sex", "age", "town", "income"], 10.0
    found = probabilistic_linkage(
        first, second, Scenario(numeric_keys=names), block=["region"], tolerance={"income": width}
    )
    n, correct = len(first), np.zeros(len(first))
    worth = found.model().rows_by_key("variable", named=True, unique=True)
    pairs = 0
    for i in range(n):
        weights = {}
        for h in range(n):
            if first["region"][h] != second["region"][i]:
                continue
            total, pairs = 0.0, pairs + 1
            for name in names:
                a, b = first[name][h], second[name][i]
                if a is not None and b is not None:
                    agrees = abs(a - b) <= width if name == "income" else a == b
                    total += worth[name]["agree" if agrees else "differ"]
            weights[h] = round(total, 8)
        best = max(weights.values())
        ties = [h for h, weight in weights.items() if weight == best]
        assert found.weight[i] == pytest.approx(best, abs=1e-7)
        if best >= found.lower - 1e-6:
            assert found.link[i] == ties[0]
            assert found.candidates[i] == len(ties)
            assert found.clear[i] == (len(ties) == 1 and best >= found.upper - 1e-6)
            correct[i] = (i in ties) / len(ties)
    assert found.pairs == pairs
    assert found.correct == pytest.approx(correct)
    assert found.correct_links > 0.9 * n


def test_links_possible_links_and_none() -> None:
    first, second = survey()
    found = probabilistic_linkage(first, second, Scenario(numeric_keys=["sex", "age", "town"]), block=["region"])
    total = found.links + int(found.possible.sum()) + found.unlinked
    assert total == len(second)
    assert (found.weight[found.clear] >= found.upper).all()
    assert (found.weight[found.possible] >= found.lower).all()
    strict = probabilistic_linkage(
        first, second, Scenario(numeric_keys=["sex", "age", "town"]), block=["region"], false_links=0.0
    )
    assert strict.links <= found.links
    assert set(found.status()) <= {"correct", "false", "possible", "none"}


def test_both_engines_link_alike() -> None:
    pytest.importorskip("splink")
    first, second = survey(200)
    own, other = (
        probabilistic_linkage(
            first, second, Scenario(numeric_keys=["sex", "age", "town"]), block=["region"], engine=engine
        )
        for engine in ("tacita", "splink")
    )
    # The own engine allows at most one partner for each record, which Splink does not know of.
    assert list(other.m.values()) == pytest.approx(list(own.m.values()), abs=0.05)
    assert list(other.u.values()) == pytest.approx(list(own.u.values()), abs=0.005)
    same = (own.link == other.link).mean()
    assert same > 0.95
    assert other.share_correct == pytest.approx(own.share_correct, abs=0.03)
    assert "Fellegi-Sunter by Splink, inside region" in str(other)


# What every one of them keeps.


METHODS: dict[str, Callable[..., Linkage]] = {
    "distance": lambda x, y, **more: distance_linkage(x, y, Scenario(numeric_keys=["age", "income"]), **more),
    "gower": lambda x, y, **more: distance_linkage(
        x, y, Scenario(numeric_keys=["sex", "age", "town"]), distance="gower", **more
    ),
    "one to one": lambda x, y, **more: one_to_one_linkage(x, y, Scenario(numeric_keys=["age", "income"]), **more),
    "probabilistic": lambda x, y, **more: probabilistic_linkage(
        x, y, Scenario(numeric_keys=["sex", "age", "town"]), **more
    ),
}
every_method = pytest.mark.parametrize("name", METHODS)


@every_method
def test_any_kind_of_table_and_none_is_changed(name: str) -> None:
    first, second = survey(60)
    result = METHODS[name](first, second)
    pandas = first.to_pandas(), second.to_pandas()
    before = [each.copy(deep=True) for each in pandas]
    for x, y in ((first.to_arrow(), second.to_arrow()), pandas, (Data.of(first), Data.of(second))):
        assert METHODS[name](x, y).to_frame().equals(result.to_frame())
    for each, old in zip(pandas, before, strict=True):
        pd.testing.assert_frame_equal(each, old, check_exact=True)
    assert (first.equals(survey(60)[0]), second.equals(survey(60)[1])) == (True, True)


@every_method
def test_the_order_of_records_makes_no_difference(name: str) -> None:
    first, second = survey(80)
    draw = np.random.default_rng(1)
    one, other = draw.permutation(80), draw.permutation(80)
    numbers = np.arange(101, 181)
    plain = METHODS[name](Data(first, numbers_of_records=numbers), Data(second, numbers_of_records=numbers))
    mixed = METHODS[name](
        Data(first[one], numbers_of_records=numbers[one]), Data(second[other], numbers_of_records=numbers[other])
    )
    assert str(mixed) == str(plain)
    assert mixed.to_frame().sort("record").equals(plain.to_frame().sort("record"))


@every_method
def test_nothing_printed_shows_a_cell(name: str) -> None:
    first, second = survey(60)
    first, second = (
        each.with_columns(town=pl.lit("zq-canary"), income=pl.lit(918273.64), age=pl.lit(918273))
        for each in (first, second)
    )
    found = METHODS[name](first, second)
    for text in (str(found), repr(found), found._repr_html_(), str(found.to_dict())):
        assert "canary" not in text
        assert "91827" not in text.replace(",", "")


@every_method
def test_one_record(name: str) -> None:
    first, second = survey(1)
    found = METHODS[name](first, second)
    assert found.expected_correct == 1.0
    assert found.to_frame().height == 1


@every_method
def test_no_record_with_an_original_of_its_own(name: str) -> None:
    first, second = survey(30)
    x, y = first.with_columns(id=pl.int_range(30)), second.with_columns(id=pl.int_range(100, 130))
    found = METHODS[name](x, y, unit="id")
    assert (found.expected_correct, found.guessed) == (0.0, 0.0)


# Mistakes.

COLUMNS = "The columns are 'sex', 'age', 'town', 'region', 'income'."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keys": ["ag"]}, "keys of the original file not in the data: 'ag'. Did you mean 'age'?"),
        (
            {"distance": "euclid"},
            "distance must be one of 'euclidean', 'manhattan', 'mahalanobis', 'gower'; got 'euclid'.",
        ),
        ({"unit": "id"}, f"unit of the original file not in the data: 'id'. {COLUMNS}"),
        (
            {"unit": "sex"},
            "unit 'sex' must identify the records; in the original file 58 values of it come again, name another "
            "column.",
        ),
        (
            {"rows": 50},
            "original and released must have the same records, row by row; got 60 and 50, name a column that "
            "identifies them with unit=....",
        ),
        ({"keys": ["town"]}, "column 'town' must hold numbers; it holds text."),
        ({"rows": 0}, "the released file has no records."),
    ],
)
@pytest.mark.parametrize("method", [distance_linkage, one_to_one_linkage])
def test_mistakes(method: Callable[..., Linkage], options: dict[str, Any], message: str) -> None:
    first, second = survey(60)
    options = dict(options)
    second = second[: options.pop("rows", 60)]
    with pytest.raises(TacitaError) as error:
        method(first, second, Scenario(numeric_keys=["age"]), **options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "r"}, "engine must be one of 'tacita', 'splink'; got 'r'."),
        ({"block": ["age"]}, "block and keys must differ; 'age' is in both."),
        ({"tolerance": {"age": -1}}, "a tolerance must not be negative; got -1."),
        ({"tolerance": {"agee": 1}}, "tolerance not in the data: 'agee'. Did you mean 'age'?"),
        ({"tolerance": {"sex": 1}}, "column 'sex' must hold numbers; it holds text."),
        ({"false_links": 2}, "false_links must be in [0, 1]; got 2."),
        ({"block": ["nowhere"]}, f"block of the original file not in the data: 'nowhere'. {COLUMNS}"),
        ({"block": ["other"]}, "no two records are in the same block; choose other block variables."),
    ],
)
def test_mistakes_of_probabilistic_linkage(options: dict[str, Any], message: str) -> None:
    first, second = survey(60)
    if options.get("block") == ["other"]:
        first, second = first.with_columns(other=pl.lit("a")), second.with_columns(other=pl.lit("b"))
    with pytest.raises(TacitaError) as error:
        probabilistic_linkage(first, second, Scenario(numeric_keys=["sex", "age"]), **options)
    assert str(error.value) == message


def test_a_negative_gap_is_a_mistake() -> None:
    first, second = survey(10)
    with pytest.raises(TacitaError) as error:
        one_to_one_linkage(first, second, Scenario(numeric_keys=["age"]), gap=-1)
    assert str(error.value) == "gap must be at least 0; got -1."


def test_the_keys_are_those_of_the_scenario_unless_given() -> None:
    first, second = survey(60)
    scenario = Scenario(keys=["sex", "age"], numeric_keys=["age", "income"])
    assert distance_linkage(first, second, scenario).variables == ("age", "income")
    assert one_to_one_linkage(first, second, scenario).variables == ("age", "income")
    assert distance_linkage(first, second, scenario, distance="gower").variables == ("sex", "age", "income")
    assert probabilistic_linkage(first, second, scenario).variables == ("sex", "age", "income")
    assert probabilistic_linkage(first, second, scenario, keys=["town"]).variables == ("town",)


@pytest.mark.parametrize("method", [distance_linkage, one_to_one_linkage, probabilistic_linkage])
def test_without_keys_or_a_scenario(method: Callable[..., Linkage]) -> None:
    first, second = survey(60)
    name = method.__name__
    needed = "keys; pass keys=[...] or numeric_keys=[...] in the scenario."
    if method is not probabilistic_linkage:
        needed = "numeric keys; pass numeric_keys=[...] in the scenario, or keys=[...]."
    for scenario, keys in ((Scenario(key_sets={"other": ["sex"]}), None), (Scenario(numeric_keys=["age"]), [])):
        with pytest.raises(TacitaError) as error:
            method(first, second, scenario, keys=keys)
        assert str(error.value) == f"{name} needs {needed}"
    with pytest.raises(TacitaError) as error:
        method(first, second, ["age"])
    assert str(error.value).startswith("scenario must be a Scenario; got list")


@pytest.mark.parametrize("method", [distance_linkage, one_to_one_linkage, probabilistic_linkage])
def test_progress_grows_and_can_stop_the_work(method: Callable[..., Linkage]) -> None:
    draw = np.random.default_rng(1)
    frame = pl.DataFrame({"p": draw.normal(size=1500), "q": draw.normal(size=1500)})
    noisy = frame.select(pl.all() + draw.normal(0, 0.1, 1500))
    seen: list[float] = []
    method(frame, noisy, Scenario(numeric_keys=["p", "q"]), progress=lambda done, _: seen.append(done))
    assert seen
    assert seen == sorted(seen)
    assert 0.0 <= seen[0] <= seen[-1] <= 1.0

    def stop(done: float, what: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        method(frame, noisy, Scenario(numeric_keys=["p", "q"]), progress=stop)
