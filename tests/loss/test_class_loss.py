"""Generalised keys: by hand, and against loops over records with sets of categories."""

import math
from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.loss.values.class_loss import ClassLoss

KEYS = ["one", "two"]
WHO = tc.Scenario(keys=KEYS)
value = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d"]))
row = st.tuples(value, value, value, value)


def files(rows: list[Any]) -> tuple[pl.DataFrame, pl.DataFrame]:
    first, second = (
        pl.DataFrame([each[at : at + 2] for each in rows], schema=dict.fromkeys(KEYS, pl.String), orient="row")
        for at in (0, 2)
    )
    return first, second


def slow_level(of: frozenset[str], classes: set[frozenset[str]]) -> int:
    inside = [slow_level(other, classes) for other in classes if other < of]
    return 0 if len(of) <= 1 else 1 + max(inside, default=0)


def slow_key(xs: list[Any], ys: list[Any]) -> dict[str, list[float]]:
    """What each record loses on a key that it shows."""
    categories = {x for x in xs if x is not None}
    counts = Counter(x for x in xs if x is not None)
    behind = {y: frozenset(x for x, z in zip(xs, ys, strict=True) if z == y and x is not None) for y in set(ys)}
    classes = {each for name, each in behind.items() if name is not None}
    levels = {each: slow_level(each, classes) for each in classes}
    top = max(levels.values(), default=0)
    whole = [level for each, level in levels.items() if each == categories and level == top and level > 0]
    height = top if whole else top + 1
    found: dict[str, list[float]] = {"granularity": [], "intensity": [], "entropy": [], "most": [], "size": []}
    for x, y in zip(xs, ys, strict=True):
        if x is None:
            found["size"].append(1.0)
            continue
        stands_for = categories if y is None else behind[y]
        alone = [name for name in behind if name is not None and behind[name] == {x}]
        records = Counter(z for z, w in zip(ys, xs, strict=True) if w == x)
        second_name = len(stands_for) == 1 and y is not None and y != min(alone, key=lambda z: (-records[z], z))
        share = (len(stands_for) - 1) / max(len(categories) - 1, 1)
        found["granularity"].append(1.0 if second_name or y is None else share)
        found["intensity"].append(1.0 if y is None else levels[behind[y]] / height)
        found["entropy"].append(math.log2(sum(counts[each] for each in stands_for) / counts[x]))
        found["most"].append(math.log2(sum(counts.values()) / counts[x]))
        found["size"].append(float(len(stands_for)))
    return found


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


@settings(max_examples=60)
@given(st.lists(row, min_size=1, max_size=12))
def test_against_loops(rows: list[Any]) -> None:
    n = len(rows)
    first, second = files(rows)
    found: ClassLoss = tc.loss.class_loss(first, second, WHO)
    parts = [slow_key([each[at] for each in rows], [each[at + 2] for each in rows]) for at in (0, 1)]
    for mine, slow in zip(found.keys, parts, strict=True):
        assert mine.granularity == pytest.approx(mean(slow["granularity"]))
        assert mine.intensity == pytest.approx(mean(slow["intensity"]))
        assert mine.entropy == pytest.approx(sum(slow["entropy"]) / (sum(slow["most"]) or 1.0))
    figures = found.figures_of_file
    for kind in ("granularity", "intensity"):
        assert figures[kind].loss == pytest.approx(mean([*parts[0][kind], *parts[1][kind]]))
    bits, most = (sum(map(sum, (each[kind] for each in parts))) for kind in ("entropy", "most"))
    assert (figures["entropy"].after, figures["entropy"].loss) == pytest.approx((bits / n, bits / (most or 1.0)))
    sizes = [a * b for a, b in zip(parts[0]["size"], parts[1]["size"], strict=True)]
    widest = math.prod(len({each[at] for each in rows} - {None}) or 1 for at in (0, 1))
    assert figures["ambiguity"].after == pytest.approx(mean(sizes))
    assert figures["ambiguity"].loss == pytest.approx((mean(sizes) - 1) / (widest - 1) if widest > 1 else 0.0)
    keys = [each[:2] for each in rows], [each[2:] for each in rows]
    gone = [each[2:] == (None, None) and each[:2] != (None, None) for each in rows]
    kept = [key for key, lost in zip(keys[1], gone, strict=True) if not lost]
    alike = [sum(keys[0].count(key) for key in keys[0]), sum(kept.count(key) for key in kept) + n * sum(gone)]
    assert [figures["discernibility"].before, figures["discernibility"].after] == alike
    assert [figures["average class size"].before, figures["average class size"].after] == pytest.approx(
        [n / len(set(each)) for each in keys]
    )
    assert all(0.0 <= each.loss <= 1.0 + 1e-12 for each in figures.values())


def test_by_hand() -> None:
    """Eight regions, in pairs, a quarter of them in a class of four, one record suppressed."""
    first = pl.DataFrame({"one": list("abcdefgh"), "two": ["f", "m"] * 4})
    coarse = {"one": [*["ab"] * 2, *["cd"] * 2, *["e-h"] * 4], "two": [*["f", "m"] * 3, None, "m"]}
    second = pl.DataFrame(coarse)
    found = tc.loss.class_loss(first, second, WHO)
    one, two = found.keys
    assert (one.categories, one.classes, two.classes) == (8, 3, 2)
    assert one.granularity == pytest.approx((4 * 1 / 7 + 4 * 3 / 7) / 8)
    assert one.entropy == pytest.approx((4 * 1 + 4 * 2) / (8 * 3))
    assert (two.granularity, two.intensity) == (0.125, 0.125)
    assert found.granularity == pytest.approx((one.granularity + 0.125) / 2)
    assert found.loss[6] == pytest.approx((3 / 7 + 1.0) / 2)
    assert found.table()["key"].to_list() == KEYS


def test_nothing_and_everything_lost() -> None:
    first, _ = files([("a", "b", None, None), ("b", "c", None, None), ("c", "a", None, None)])
    assert {each.loss for each in tc.loss.class_loss(first, first, WHO).figures_of_file.values()} == {0.0}
    blank = first.with_columns(pl.lit(None, pl.String).alias(name) for name in KEYS)
    assert {each.loss for each in tc.loss.class_loss(first, blank, WHO).figures_of_file.values()} == {1.0}


def test_levels_of_a_hierarchy() -> None:
    """Values, pairs and halves: a pair is a third of the way up, a half two thirds."""
    first = pl.DataFrame({"one": list("abcd") * 3})
    second = pl.DataFrame({"one": [*"abcd", "ab", "ab", "cd", "cd", "abc", "abc", "abc", "d"]})
    found = tc.loss.class_loss(first, second, tc.Scenario(keys=["one"]))
    assert found.keys[0].intensity == pytest.approx((4 / 3 + 3 * 2 / 3) / 12)


def test_thousands_of_classes_have_one_level() -> None:
    """A number that was swapped: no hierarchy is looked for among classes of two, which would take much memory."""
    values = [f"{at}" for at in range(9_000)]
    first = pl.DataFrame({"one": values * 2})
    second = pl.DataFrame({"one": [*values, *values[1:], values[0]]})
    found = tc.loss.class_loss(first, second, tc.Scenario(keys=["one"]))
    assert found.keys[0].intensity == 0.5
    assert found.keys[0].granularity == pytest.approx(1 / 8_999)


def test_perturbed_keys_are_said() -> None:
    first = tc.household_survey(100, population=2000).data
    found = tc.loss.class_loss(first, first.with_perturbed(["sex"]), tc.Scenario(keys=["sex", "age"]))
    assert found.cautions == ("'sex' was perturbed: a released value stands for all values that it replaced.",)
    with pytest.raises(tc.TacitaError) as error:
        tc.loss.class_loss(first, first, tc.Scenario(numeric_keys=["age"]), keys=[])
    assert str(error.value) == "class_loss needs categorical keys; pass keys=[...] in the scenario, or keys=[...]."
