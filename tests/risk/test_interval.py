"""Interval disclosure by standard deviations, ranks and robust distances: by hand, against loops, and at the edges."""

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacita.check import TacitaError
from tacita.data import Data
from tacita.result import Result
from tacita.risk.interval.interval_disclosure import interval_disclosure
from tacita.risk.interval.rank_interval_disclosure import mid_ranks, rank_interval_disclosure
from tacita.risk.interval.robust_interval_disclosure import robust_interval_disclosure
from tacita.scenario import Scenario

number = st.one_of(
    st.none(), st.sampled_from([0.0, 0.0, 1.0, 2.0]), st.integers(-900, 900).map(lambda each: each / 100)
)
row = st.tuples(number, number)
files = st.integers(1, 25).flatmap(lambda n: st.tuples(*(st.lists(row, min_size=n, max_size=n) for _ in range(2))))
Rows = list[tuple[float | None, float | None]]


def table(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"p": pl.Float64, "q": pl.Float64}, orient="row")


# Standard deviations.


@given(files, st.sampled_from([0.0, 0.05, 0.5, 2.0]))
def test_sd_intervals_against_loops(given_rows: tuple[Rows, Rows], k: float) -> None:
    first, second = given_rows
    found = interval_disclosure(table(first), table(second), Scenario(numeric_keys=["p", "q"]), k=k)
    every, some, most, inside = 0, 0, 0, [0, 0]
    for x, y in zip(first, second, strict=True):
        flags = []
        for j in range(2):
            shown = [each[j] for each in second if each[j] is not None]
            sd = statistics.stdev(shown) if len(shown) > 1 else 0.0
            if x[j] is None or y[j] is None:
                flags.append(None)
                continue
            # The ends belong to the interval; a hair for another order of operations.
            away, width = abs(x[j] - y[j]), k * sd  # type: ignore[operator]
            flags.append(away <= width + 1e-12 * (1 + abs(y[j])))  # type: ignore[arg-type]
            inside[j] += flags[-1]
        every += all(flags)
        some += any(flags)
        most += all(flag is None or flag for flag in flags)
    n = len(first)
    assert found.share_all == pytest.approx(every / n)
    assert found.share_any == pytest.approx(some / n)
    assert found.share_all_at_most == pytest.approx(most / n)
    shown = [sum(x[j] is not None and y[j] is not None for x, y in zip(first, second, strict=True)) for j in range(2)]
    for j, share in enumerate(found.by_variable.values()):
        assert share == pytest.approx(inside[j] / shown[j]) if shown[j] else np.isnan(share)


def test_sd_intervals_by_hand() -> None:
    """Released 0, 10, 20, 30 has the standard deviation 12.91: with k = 0.1 originals may lie 1.291 away."""
    original = pl.DataFrame({"a": [1.29, 11.3, 20.0, None], "b": [5.0, 5.0, 6.0, 5.0]})
    released = pl.DataFrame({"a": [0.0, 10.0, 20.0, 30.0], "b": [5.0, 5.0, 5.0, 5.0]})
    found = interval_disclosure(original, released, Scenario(numeric_keys=["a", "b"]), k=0.1)
    assert found.inside.tolist() == [[True, True], [False, True], [True, False], [False, True]]
    assert (found.share_all, found.share_any, found.share_all_at_most) == (0.25, 1.0, 0.5)
    assert found.by_variable == {"a": 2 / 3, "b": 0.75}
    assert str(found).splitlines() == [
        "1 of 4 records (25 %) have every original value within 0.1 standard deviations of the released one, "
        "4 at least one",
        "1 record with missing values cannot count for the first figure; at most it is 50 %",
        "  variable  in the interval  missing",
        "  a                  66.7 %        1",
        "  b                    75 %        0",
    ]
    assert found.to_frame().columns == ["record", "all_inside", "any_inside", "inside", "missing"]
    assert found.to_dict()["by_variable"] == {"a": 2 / 3, "b": 0.75}


# Ranks.


@given(st.lists(st.one_of(st.just(float("nan")), st.sampled_from([0.0, 1.0, 2.5])), min_size=1, max_size=30))
def test_mean_ranks(values: list[float]) -> None:
    ranks = mid_ranks(np.array(values)[:, None])[:, 0]
    for value, rank in zip(values, ranks, strict=True):
        if np.isnan(value):
            assert np.isnan(rank)
        else:
            below, equal = sum(each < value for each in values), sum(each == value for each in values)
            assert rank == below + (equal + 1) / 2


@given(files, st.lists(st.sampled_from([0, 1, 5, 10, 25, 100]), min_size=1, max_size=3))
def test_rank_intervals_against_loops(given_rows: tuple[Rows, Rows], widths: list[int]) -> None:
    first, second = given_rows
    found = rank_interval_disclosure(table(first), table(second), Scenario(numeric_keys=["p", "q"]), widths=widths)
    n = len(first)
    for at, width in enumerate(widths):
        flags = np.zeros((n, 2), dtype=bool)
        for j in range(2):
            both = [i for i in range(n) if first[i][j] is not None and second[i][j] is not None]
            for i in both:
                ranks = [
                    2 * sum(part[h][j] < part[i][j] for h in both) + sum(part[h][j] == part[i][j] for h in both)  # type: ignore[operator]
                    for part in (first, second)
                ]
                # Twice the difference, in whole numbers: nothing is rounded.
                flags[i, j] = abs(ranks[0] - ranks[1]) * 100 <= 2 * width * len(both)
            share = found.shares[at, j]
            assert share == pytest.approx(flags[both, j].mean()) if both else np.isnan(share)
        assert found.share_all[at] == pytest.approx(flags.all(axis=1).mean())
        assert found.share_any[at] == pytest.approx(flags.any(axis=1).mean())


def test_rank_intervals_by_hand() -> None:
    """Ten firms, two of them exchanged: eight keep their rank, two are off by one rank, 10 percent."""
    original = pl.DataFrame({"a": [float(i) for i in range(10)]})
    released = pl.DataFrame({"a": [1.0, 0.0, *(float(i) for i in range(2, 10))]})
    found = rank_interval_disclosure(original, released, Scenario(numeric_keys=["a"]))
    assert found.shares[:, 0].tolist() == [0.8] * 9 + [1.0]
    assert found.share == pytest.approx(0.82)
    assert found.record_columns()["greatest_difference"].tolist()[:3] == [10.0, 10.0, 0.0]
    assert [" ".join(line.split()) for line in str(found).splitlines()[:3]] == [
        "82 % of the original values have the rank of the released one to within 1 to 10 percent of the records",
        "percent all variables any variable a",
        "1 80 % 80 % 80 %",
    ]
    assert found.to_dict()["share"] == pytest.approx(0.82)


def test_ranks_do_not_see_a_change_of_scale() -> None:
    values = pl.DataFrame({"a": [3.0, 1.0, 2.0]})
    assert (
        rank_interval_disclosure(values, values.select(pl.col("a") ** 3 * 1e6), Scenario(numeric_keys=["a"])).share
        == 1.0
    )


# Robust distances.


@given(files, st.sampled_from([0.0, 0.5, 5.0]), st.sampled_from([0.05, 0.5]), st.integers(1, 3), st.booleans())
def test_robust_intervals_against_loops(
    given_rows: tuple[Rows, Rows], k: float, k2: float, least: int, own: bool
) -> None:
    first, second = given_rows
    kept = [i for i in range(len(first)) if None not in (*first[i], *second[i])]
    x, y = (np.array([part[i] for i in kept]) for part in (first, second))
    scale, covariance = "own" if own else "original", [[1.0, 0.3], [0.3, 1.0]]
    options: dict[str, Any] = {"k": k, "k2": k2, "least": least, "scale": scale, "covariance": covariance}
    by = y if own else x
    if len(kept) < 2 or (np.ptp(x, axis=0) == 0).any() or (np.ptp(by, axis=0) == 0).any():
        with pytest.raises(TacitaError):
            robust_interval_disclosure(table(first), table(second), Scenario(numeric_keys=["p", "q"]), **options)
        return
    found = robust_interval_disclosure(table(first), table(second), Scenario(numeric_keys=["p", "q"]), **options)
    u = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    v = (y - by.mean(axis=0)) / by.std(axis=0, ddof=1)
    inverse, unsafe, alone = np.linalg.inv(covariance), 0, 0
    for at, i in enumerate(kept):
        d = 0.05 * np.sqrt(u[at] @ inverse @ u[at])
        assert found.distance[i] == pytest.approx(d, abs=1e-9)
        away = np.abs(v[at] - u[at])
        if (np.abs(away - k * d) < 1e-9).any() and (away > 0).any():
            return  # on the very end of an interval: rounding decides
        flags = away < k * d
        assert found.inside[i].tolist() == flags.tolist()
        steps = [np.linalg.norm(v[at] - v[h]) for h in range(len(kept)) if h != at]
        if any(abs(step - k2) < 1e-9 for step in steps):
            return
        near = sum(step <= k2 for step in steps)
        unsafe += flags.any()
        alone += flags.any() and near < least
    assert found.rmdid1 == pytest.approx(unsafe / len(kept))
    assert found.rmdid2 == pytest.approx(alone / len(kept))
    assert found.size == len(kept)


def test_robust_intervals_by_hand() -> None:
    """Five firms, covariance 1: D is 0.05 times the distance from the mean, 0.05 times 1.265, 0.632, 0, ..."""
    original = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0]})
    released = pl.DataFrame({"a": [1.0, 2.05, 3.0, 4.0, 5.0]})
    found = robust_interval_disclosure(
        original, released, Scenario(numeric_keys=["a"]), covariance=[[1.0]], scale="original", k=1.0
    )
    assert found.distance == pytest.approx([0.05 * 2 / 2.5**0.5, 0.05 / 2.5**0.5, 0.0, 0.05 / 2.5**0.5, 0.1 / 2.5**0.5])
    # 0.05 moved is as much as the interval of firm 2 is wide, whose end does not belong to it; firm 3 has no interval.
    assert found.unsafe.tolist() == [True, False, False, True, True]
    assert (found.rmdid1, found.rmdid2, found.rmdid1_all) == (0.6, 0.6, 0.6)
    assert found.rmdid1w == pytest.approx(3 * 0.25 / 2.5**0.5 / 5)
    assert found.mean_distance == pytest.approx(0.25 / 2.5**0.5 / 3)
    assert found.by_variable == {"a": 0.6}
    wide = robust_interval_disclosure(
        original, released, Scenario(numeric_keys=["a"]), covariance=[[1.0]], k=1.0, k2=9.0
    )
    assert wide.rmdid2 == 0.0


def test_missing_values_are_left_out_and_counted() -> None:
    draw = np.random.default_rng(1)
    values = draw.normal(size=(30, 2))
    frame = pl.DataFrame({"a": values[:, 0], "b": values[:, 1]})
    gaps = frame.with_columns(a=pl.when(pl.int_range(30) < 4).then(None).otherwise("a"))
    found = robust_interval_disclosure(frame, gaps, Scenario(numeric_keys=["a", "b"]), scale="original")
    assert (found.size, int(np.isnan(found.distance).sum())) == (26, 4)
    assert "4 records with missing values left out" in str(found)
    assert found.unsafe.tolist() == [False] * 4 + [True] * 26


def test_the_seed_changes_the_covariance_only_a_little() -> None:
    draw = np.random.default_rng(2)
    values = draw.gamma(2.0, size=(900, 3))
    frame = pl.DataFrame({f"v{j}": values[:, j] for j in range(3)})
    noisy = frame.select(pl.all() + 0.001)
    first, again, other = (
        robust_interval_disclosure(frame, noisy, Scenario(numeric_keys=frame.columns), seed=seed) for seed in (0, 0, 1)
    )
    assert first.to_frame().equals(again.to_frame())
    assert other.distance == pytest.approx(first.distance, rel=0.2)


# What all of them keep.

MEASURES: dict[str, Callable[..., Result]] = {
    "sd": interval_disclosure,
    "rank": rank_interval_disclosure,
    "rmd": robust_interval_disclosure,
}
every_measure = pytest.mark.parametrize("name", MEASURES)
AB = Scenario(numeric_keys=["a", "b"])


def firms(n: int = 40) -> tuple[pl.DataFrame, pl.DataFrame]:
    draw = np.random.default_rng(3)
    first = pl.DataFrame({"id": range(n), "a": draw.gamma(2.0, 100.0, n), "b": draw.gamma(1.0, 10.0, n)})
    return first, first.with_columns(a=pl.col("a") + draw.normal(0, 2, n))


@every_measure
def test_any_kind_of_table_and_none_is_changed(name: str) -> None:
    first, second = firms()
    result = MEASURES[name](first, second, AB)
    pandas = first.to_pandas(), second.to_pandas()
    before = [each.copy(deep=True) for each in pandas]
    for x, y in ((first.to_arrow(), second.to_arrow()), pandas, (Data.of(first), Data.of(second))):
        other = MEASURES[name](x, y, AB)
        assert other.to_frame().equals(result.to_frame())  # type: ignore[attr-defined]
    for each, old in zip(pandas, before, strict=True):
        pd.testing.assert_frame_equal(each, old, check_exact=True)


@every_measure
def test_units_in_another_order(name: str) -> None:
    first, second = firms()
    order = np.random.default_rng(1).permutation(len(first))
    plain = MEASURES[name](first, second, AB, unit="id")
    mixed = MEASURES[name](first[order], second, AB, unit="id")
    assert str(mixed) == str(plain)
    assert mixed.to_frame().equals(plain.to_frame())  # type: ignore[attr-defined]


@every_measure
def test_nothing_printed_shows_a_cell(name: str) -> None:
    first, second = firms()
    both = [
        each.with_columns(a=pl.when(pl.int_range(40) == 7).then(918273.64).otherwise("a")) for each in (first, second)
    ]
    found = MEASURES[name](*both, AB)
    for text in (str(found), repr(found), found._repr_html_(), str(found.to_dict())):
        assert "91827" not in text.replace(",", "")


NAME_ONE = "name a column that identifies them with unit=...."


@every_measure
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keys": ["c"]}, "keys of the released file not in the data: 'c'. The columns are 'id', 'a', 'b'."),
        ({"rows": 39}, f"original and released must have the same records, row by row; got 40 and 39, {NAME_ONE}"),
        ({"rows": 0}, f"original and released must have the same records, row by row; got 40 and 0, {NAME_ONE}"),
        (
            {"unit": "id", "ids": 1000},
            "no released record is in the original, so there is nothing to compare; check the record numbers or name "
            "another column with unit=....",
        ),
        ({"infinite": True}, "keys must be finite; 'a' of the released file is not, correct it."),
    ],
)
def test_mistakes(name: str, options: dict[str, Any], message: str) -> None:
    first, second = firms()
    options = dict(options)
    second = second[: options.pop("rows", 40)].with_columns(id=pl.col("id") + options.pop("ids", 0))
    if options.pop("infinite", False):
        second = second.with_columns(a=pl.lit(float("inf")))
    with pytest.raises(TacitaError) as error:
        MEASURES[name](first, second, AB, **options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sd", {"k": -1}, "k must be at least 0; got -1."),
        ("rank", {"widths": []}, "widths must be one or more percentages of at least 0; got []."),
        ("rank", {"widths": [-1]}, "widths must be one or more percentages of at least 0; got [-1.0]."),
        ("rank", {"widths": 5}, "widths must be a list of percentages; got 5, write [5]."),
        ("rmd", {"k": -1}, "k must be at least 0; got -1."),
        ("rmd", {"least": 0}, "least must be at least 1; got 0."),
        ("rmd", {"scale": "mine"}, "scale must be one of 'own', 'original'; got 'mine'."),
        (
            "rmd",
            {"covariance": [[1.0]]},
            "covariance must be a symmetric matrix of 2 rows and columns, one for each variable.",
        ),
        ("rmd", {"constant": True}, "keys must vary; 'b' is constant, leave it out."),
    ],
)
def test_mistakes_of_one(name: str, options: dict[str, Any], message: str) -> None:
    first, second = firms()
    options = dict(options)
    if options.pop("constant", False):
        first = first.with_columns(b=pl.lit(1.0))
    with pytest.raises(TacitaError) as error:
        MEASURES[name](first, second, AB, **options)
    assert str(error.value) == message


@every_measure
def test_the_keys_are_the_numeric_keys_of_the_scenario_unless_given(name: str) -> None:
    first, second = firms()
    assert MEASURES[name](first, second, AB).variables == ("a", "b")  # type: ignore[attr-defined]
    assert MEASURES[name](first, second, AB, keys="a").variables == ("a",)  # type: ignore[attr-defined]
    with pytest.raises(TacitaError) as error:
        MEASURES[name](first, second, Scenario(keys=["id"]))
    assert str(error.value) == (
        f"{MEASURES[name].__name__} needs numeric keys; pass numeric_keys=[...] in the scenario, or keys=[...]."
    )
    with pytest.raises(TacitaError) as error:
        MEASURES[name](first, second, ["a"], keys=["a"])
    assert str(error.value).startswith("scenario must be a Scenario; got list")
