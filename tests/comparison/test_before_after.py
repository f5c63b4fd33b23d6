"""Distributions before and after: by hand, against slow twins, in another order, and with nothing of single records."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.check import TacitaError
from tacita.comparison.before_after import BeforeAfter, before_after
from tacita.comparison.classes import common_classes

SEX = tc.Scenario(keys=["sex"])


def shares_of(found: BeforeAfter, name: str) -> dict[str, tuple[float, float]]:
    (each,) = [each for each in found.categories if each.variable == name and not each.group]
    return {label: (float(each.original[at]), float(each.released[at])) for at, label in enumerate(each.labels)}


def number_of(found: BeforeAfter, name: str) -> Any:
    return next(each for each in found.numbers if each.variable == name)


def test_what_was_recoded_is_compared_in_the_classes_of_the_release() -> None:
    before = pl.DataFrame({"age": [3, 12, 17, 25, 25, 61], "sex": list("fmfmfm")})
    after = pl.DataFrame(
        {"age": ["0-19", "0-19", "0-19", "20-39", None, "60+"], "sex": ["f", None, "f", "m", "f", "m"]}
    )
    found = before_after(before, after, tc.Scenario(keys=["age", "sex"]))
    assert shares_of(found, "age") == {
        "0-19": (0.5, 0.5), "20-39": (2 / 6, 1 / 6), "60+": (1 / 6, 1 / 6), "(missing)": (0.0, 1 / 6),
    }  # fmt: skip
    assert shares_of(found, "sex") == {"f": (0.5, 0.5), "m": (0.5, 2 / 6), "(missing)": (0.0, 1 / 6)}
    assert {each.variable: each.distance for each in found.categories} == pytest.approx({"age": 1 / 6, "sex": 1 / 6})
    (table,) = found.pairs
    assert table.variables == ("age", "sex")
    assert table.rows == ("0-19", "20-39", "60+", "(missing)")
    assert table.columns == ("f", "m", "(missing)")
    assert table.counts[0].tolist() == [[2, 1, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert table.counts[1].tolist() == [[2, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert table.original == pytest.approx(table.counts[0] / 6)
    assert table.distance == pytest.approx(0.5 * (0 + 1 + 1 + 1 + 0 + 0 + 1) / 6)
    assert found.headline.startswith("2 of 2 distributions changed, most of all 'age' (distance 0.167")
    assert found.unclear == ()


def test_kept_values_stay_and_grouped_ones_move() -> None:
    """1, 1.0 and the text 1 are one value; what nobody has any more is shown by itself."""
    before = pl.DataFrame({"sex": list("aaaabbbb"), "code": [1, 1, 1, 2, 2, 3, 4, 4]})
    after = pl.DataFrame({"sex": list("aaaabbbb"), "code": ["1", "1", "1", "2", "2", "rare", None, None]})
    found = before_after(before, after, SEX)
    assert shares_of(found, "code") == {
        "1": (3 / 8, 3 / 8), "2": (2 / 8, 2 / 8), "rare": (1 / 8, 1 / 8), "4": (2 / 8, 0.0), "(missing)": (0.0, 2 / 8),
    }  # fmt: skip


def test_local_recoding_is_said() -> None:
    before = pl.DataFrame({"sex": ["x"] * 10, "area": ["n"] * 6 + ["s"] * 4})
    after = pl.DataFrame({"sex": ["x"] * 10, "area": ["north"] * 4 + ["all"] * 6})
    found = before_after(before, after, SEX)
    assert shares_of(found, "area") == {"north": (0.6, 0.4), "all": (0.4, 0.6)}
    assert found.unclear == ("area",)
    assert "'area' in several classes" in " ".join(found.cautions)


def test_a_file_without_common_records_is_compared_by_its_distributions() -> None:
    """A synthetic file of another size."""
    before = pl.DataFrame({"sex": list("fffmmm"), "x": [1.5, 2, 3, 4, 5, 6]})
    after = pl.DataFrame({"sex": list("ffmm"), "x": [1.5, 2, 3, 4]})
    found = before_after(before, after, SEX)
    assert shares_of(found, "sex") == {"f": (0.5, 0.5), "m": (0.5, 0.5)}
    assert number_of(found, "x").distance == pytest.approx(1 / 3)


def test_weights_zeros_and_missing_values_by_hand() -> None:
    scenario = tc.Scenario(keys=["sex"], weight="w")
    before = pl.DataFrame(
        {"sex": ["f", "f", "m", "m"] * 3, "x": [0, 1, 10, 100, 1000, 0, 2, 20, 200, 2000, None, 5],
         "w": [1.0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 2, 1]},
        strict=False,
    )  # fmt: skip
    before = before.with_columns(pl.col("x").cast(pl.Float64))
    after = before.with_columns(sex=pl.Series(["m", "f", "m", "m", *"ffmmffmm"]))
    found = before_after(before, after, scenario)
    each = number_of(found, "x")
    assert found.weighted
    assert each.line.kind == "log"
    assert each.original.missing == pytest.approx(2 / 15)
    assert each.original.zeros == pytest.approx(2 / 13)
    assert each.original.shares.sum() == pytest.approx(11 / 13)
    assert each.original.counts.sum() == 9
    assert each.distance == 0
    assert each.original.lorenz is not None
    assert shares_of(found, "sex")["f"] == (pytest.approx(8 / 15), pytest.approx(7 / 15))
    counted = before_after(before, after.drop("w"), scenario)
    assert not counted.weighted
    assert counted.cautions[-1] == "records are counted, since the release has no weight 'w'."
    assert shares_of(counted, "sex")["f"] == (pytest.approx(6 / 12), pytest.approx(5 / 12))


def test_groups_are_compared_apart() -> None:
    before = pl.DataFrame({"sex": ["f"] * 5 + ["m"] * 5, "x": [*range(5), *range(10, 15)], "y": list("aabbbbbaab")})
    after = before.with_columns(x=pl.when(pl.col("sex") == "m").then(0).otherwise(pl.col("x")))
    found = before_after(
        before.with_columns(pl.col("x").cast(pl.Float64)), after.with_columns(pl.col("x").cast(pl.Float64)),
        tc.Scenario(keys=["y"]), by="sex",
    )  # fmt: skip
    assert found.groups == ("f", "m")
    assert [(each.group, each.distance) for each in found.numbers] == [("", 0.5), ("f", 0.0), ("m", 1.0)]
    assert [each.group for each in found.categories] == ["", "f", "m"]
    assert [each.counts.sum(axis=1).tolist() for each in found.categories] == [[10, 10], [5, 5], [5, 5]]
    assert found.to_frame()["group"].to_list() == ["", "f", "m"] * 2
    assert set(found.to_dict()["variables"]) == {"x", "y"}


def test_numbers_too_near_for_their_size_are_drawn_as_one() -> None:
    data = pl.DataFrame({"sex": ["f", "m"] * 20, "x": [2**60 + at for at in range(40)]})
    each = number_of(before_after(data, data, SEX), "x")
    assert each.original.counts.tolist() == [40]
    assert each.edges[0] < 2**60 < each.edges[1]
    assert not len(each.grid)


def test_shares_of_one_or_two_records_are_not_told_in_public() -> None:
    data = pl.DataFrame({"sex": ["f", "m"] * 5, "x": [None, *(at + 0.5 for at in range(9))]})
    assert number_of(before_after(data, data, SEX), "x").original.missing == pytest.approx(0.1)
    shown = before_after(data, data, SEX, public=True)
    assert math.isnan(number_of(shown, "x").original.missing)
    assert shown.to_dict()["variables"]["x"]["missing"] == [None, None]
    assert "missing few → few" in json.dumps(shown.plot().to_dict(), ensure_ascii=False)
    # All but one are missing: what is told of them tells of the one.
    rare = data.with_columns(x=pl.when(pl.col("x") == 3.5).then(3.5))
    assert math.isnan(number_of(before_after(rare, rare, SEX, public=True), "x").original.missing)


def test_removed_variables_are_named() -> None:
    before = pl.DataFrame({"sex": list("fmfm"), "name": list("abcd")})
    found = before_after(before, before.drop("name"), SEX)
    assert found.removed == ("name",)
    assert found.headline == "0 of 1 distribution changed"
    assert "not in the release: 'name'" in found.sentences()


numbers = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 3.0, 70.0]), st.floats(0, 1e6))


@st.composite
def files(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    size = draw(st.integers(1, 24))

    def rows(values: st.SearchStrategy[Any]) -> list[Any]:
        drawn: list[Any] = draw(st.lists(values, min_size=size, max_size=size))
        return drawn

    texts = st.sampled_from(["f", "m", "x", None])
    kinds = {"sex": pl.String, "area": pl.String, "x": pl.Float64, "w": pl.Float64}
    pair = [
        pl.DataFrame(
            {"sex": rows(texts), "area": rows(texts), "x": rows(numbers), "w": rows(st.sampled_from([1.0, 2.0, 0.5]))},
            schema=kinds,
        )
        for _ in range(2)
    ]
    return pair[0], pair[1]


def slow_shares(data: pl.DataFrame, name: str) -> dict[str, float]:
    found: Counter[str] = Counter()
    for value, weight in zip(data[name].to_list(), data["w"].to_list(), strict=True):
        found["(missing)" if value is None else value] += weight / sum(data["w"].to_list())
    return found


WEIGHTED = tc.Scenario(keys=["sex"], weight="w")


@settings(max_examples=25)
@given(files())
def test_shares_are_those_of_the_definition(pair: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    found = before_after(*pair, WEIGHTED)
    for name in ("sex", "area"):
        slow = [slow_shares(data, name) for data in pair]
        # What the release has no more may have been put into a class of it.
        shown = shares_of(found, name)
        assert sum(each[1] for each in shown.values()) == pytest.approx(1)
        for label, (before, after) in shown.items():
            assert after == pytest.approx(slow[1][label])
            if set(pair[0][name].drop_nulls()) <= set(pair[1][name].drop_nulls()):
                assert before == pytest.approx(slow[0][label])
    each = number_of(found, "x")
    for side, data in zip((each.original, each.released), pair, strict=True):
        shown = data.filter(pl.col("x").is_not_null())
        assert side.records == len(shown)
        there = shown["x"].to_numpy() > 0 if each.line.kind == "log" else np.ones(len(shown), dtype=bool)
        assert side.counts.sum() in (0, there.sum())
        if side.counts.sum():
            assert side.shares.sum() + side.zeros == pytest.approx(1)
            assert there.sum() >= 3


@settings(max_examples=25)
@given(files())
def test_public_figures_tell_of_no_one_or_two_records(pair: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    if len(pair[0]) < 3:
        with pytest.raises(TacitaError, match="too few for public figures"):
            before_after(*pair, WEIGHTED, public=True)
        return
    found = before_after(*pair, WEIGHTED, by="area", public=True)
    assert found.small == 0
    assert not found.office_only
    assert not any("internal" in each for each in found.cautions)
    # Nothing is lost by it.
    whole = before_after(*pair, WEIGHTED)
    here = [each for each in found.categories if not each.group and each.variable == "sex"]
    for each, every in zip(here, whole.categories, strict=False):
        assert each.counts.sum(axis=1).tolist() == every.counts.sum(axis=1).tolist()


def flat(value: Any) -> list[Any]:
    """All numbers and texts of a result, however deep."""
    if isinstance(value, np.ndarray):
        return flat(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [leaf for part in value for leaf in flat(part)]
    return ["nan" if isinstance(value, float) and math.isnan(value) else value]


@settings(max_examples=20)
@given(files(), st.randoms(use_true_random=False))
def test_records_in_another_order_give_the_same_to_the_last_bit(
    pair: tuple[pl.DataFrame, pl.DataFrame], chance: Any
) -> None:
    order = list(range(len(pair[0])))
    chance.shuffle(order)
    found = [
        before_after(one, other, WEIGHTED, by="area")
        for one, other in (pair, (pair[0][order], pair[1][order]))
    ]  # fmt: skip
    first, second = ([each.numbers, each.categories, each.pairs, each.associations] for each in found)
    assert flat(first) == flat(second)


def test_neither_text_nor_json_holds_values() -> None:
    size = 40
    before = pl.DataFrame(
        {"sex": ["secretly"] * 20 + ["openly"] * 20, "x": [float(f"7{at}.4321") for at in range(size)]}
    )
    after = before.with_columns(sex=pl.lit("everybody"))
    found = before_after(before, after, SEX, by=None)
    for text in (str(found), repr(found), found.to_json(), found._repr_html_()):
        assert not any(value in text for value in ("secretly", "openly", "everybody", "4321"))
    assert json.loads(found.to_json())["variables"]["sex"]["kind"] == "category"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variables": ["sexx"]}, "variables not in the data: 'sexx'. Did you mean 'sex'?"),
        ({"by": "area"}, "by, of the original file, not in the data: 'area'."),
        ({"weighted": True}, "weighted shares need a weight; name it in the scenario, or pass weighted=False."),
        ({"pairs": [("sex", "x")]}, "pairs must be of categorical variables that are compared; got 'x'"),
        ({"pairs": [("sex",)]}, "pairs must be of two variables each"),
        ({"bins": 1}, "bins must be at least 2; got 1."),
        ({"categories": 1}, "categories must be at least 2; got 1."),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    before = pl.DataFrame({"sex": list("fmfm"), "x": [1.5, 2, 3, 4]})
    with pytest.raises(TacitaError) as error:
        before_after(before, before, SEX, **options)
    assert str(error.value).startswith(message)


def test_files_with_nothing_to_compare_are_refused() -> None:
    before = pl.DataFrame({"sex": ["f"], "x": [math.inf]})
    with pytest.raises(TacitaError, match="'x' has infinite values"):
        before_after(before, before, SEX)
    with pytest.raises(TacitaError, match="no variable in common"):
        before_after(before, pl.DataFrame({"y": [1]}), SEX)
    with pytest.raises(TacitaError, match="the released file has no records"):
        before_after(before, before[:0], SEX)


def test_progress_is_told() -> None:
    told: list[tuple[float, str]] = []
    before = pl.DataFrame({"sex": list("fmfm"), "x": [1.5, 2, 3, 4]})
    before_after(before, before, SEX, progress=lambda done, what: told.append((done, what)))
    assert [what for _, what in told] == ["comparing x", "comparing sex", "tables of pairs", "associations"]
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_number_that_was_suppressed_throughout_stands_in_the_class_beside_it() -> None:
    """Ages of one person each, recoded and then suppressed, stood as classes of their own beside 80-99."""
    ages = [30, 35, 39, 80, 81, 85, 92, 97, 140]
    classes = ["30-39", "30-39", None, "80-99", None, "80-99", "80-99", None, None]
    before, after = (tc.Data.of(pl.DataFrame({"age": each})) for each in (ages, classes))
    rows = np.arange(len(ages))
    found = common_classes(before, after, "age", rows, rows)
    # Between two numbers of a class, or no further beyond one than the class is wide; 140 is neither.
    assert [found.labels[code] for code in found.original] == ["30-39"] * 3 + ["80-99"] * 5 + ["140"]
    # Without classes in the release a value that is gone is itself.
    blanked = before.with_columns({"age": [30, 35, None, 80, 81, 85, 92, 97, None]})
    same = common_classes(before, blanked, "age", rows, rows)
    assert [same.labels[code] for code in same.original] == [str(age) for age in ages]
