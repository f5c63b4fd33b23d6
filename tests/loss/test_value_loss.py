"""Information loss in values: the published figures, by hand, and against loops over the definition."""

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacita as tc
from tacita.cli.demo_project import PROJECTS, project_survey, project_text
from tacita.data import Data, Variable
from tacita.data.demo.accident import KEYS, NUMERIC_KEYS, RANDOMISED
from tacita.distance.covered import RULE, class_losses, follows_rule
from tacita.plots.value_loss import value_loss_points
from tacita.release.project import Project

WHO = tc.Scenario(keys=["sex"])
PUBLISHED = {
    # Mlodak, Pietrzak and Jozefowski (2021), lambda_j of variant I and II.
    "WOJW": (0.004, 0.000), "LPB1": (0.001, 0.252), "P1": (0.000, 0.000), "P2": (0.000, 0.000), "P3": (0.000, 0.000),
    "P4": (0.029, 0.056), "P5": (0.078, 0.067), "P6": (0.973, 0.963), "P7": (0.878, 0.867), "P8": (0.038, 0.642),
    "P9": (0.066, 0.100), "P10": (0.000, 0.000), "P13": (0.952, 0.955), "P14": (0.996, 0.997), "P15": (0.004, 0.000),
    "P17": (0.850, 0.876), "P18": (0.072, 0.050), "P19": (0.000, 0.000), "P20": (0.000, 0.308), "P21": (0.086, 0.078),
    "P22": (0.071, 0.059), "P23": (0.067, 0.073), "P24": (0.059, 0.061), "P25": (0.071, 0.064), "P26": (0.070, 0.076),
    "P27_1": (0.091, 0.075), "P28": (0.006, 0.006), "P29": (0.043, 0.036), "PKD": (0.071, 0.071),
    "data_d": (0.665, 0.665),
}  # fmt: skip
"""By variable the loss of the two published variants, of which 20.8 % and 24.7 % are the means."""


def test_the_published_total_is_the_mean_over_thirty_variables() -> None:
    assert len(PUBLISHED) == 30
    assert [round(float(np.mean(column)), 4) for column in zip(*PUBLISHED.values(), strict=True)] == [0.2080, 0.2466]


@pytest.mark.filterwarnings("ignore::tacita.check.TacitaWarning")
@pytest.mark.parametrize("name", PROJECTS)
def test_the_published_variants_over_the_published_variables(name: str) -> None:
    """The data are not public: over the same variables of a survey of that shape the pattern holds."""
    assert set(PUBLISHED) == {*KEYS, *NUMERIC_KEYS, *RANDOMISED, "P10", "P19"}
    data, project = project_survey(1500, 1), Project.from_toml(project_text(name))
    release = project.plan.apply(data, project.scenario, project.policy, seed=123)
    found = tc.loss.value_loss(data, release, project.scenario, variables=list(PUBLISHED))
    assert found.variables == tuple(PUBLISHED)
    assert found.overall == pytest.approx(np.mean(list(found.by_variable.values())), abs=1e-15)
    assert found.overall == pytest.approx(float(found.loss.mean()), abs=1e-12)
    untouched = [each.variable for each in found.changes if each.loss == 0]
    assert {"P10", "P19"} <= set(untouched)
    noisy = [found.by_variable[each] for each in ("P6", "P7", "P17", "data_d")]
    assert min(noisy) > max(found.by_variable[each] for each in RANDOMISED)
    assert f"the release loses {100 * found.overall:.3g} % of the information in the values of 30" in found.headline


# Against loops over the definition.

value = st.one_of(st.none(), st.sampled_from(["a", "b", "c"]))
level = st.one_of(st.none(), st.integers(1, 4))
amount = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0, -3.0, 7.25, 100.0]))
row = st.tuples(value, st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d"])), level, level, amount, amount)


def slow_nominal(xs: list[Any], ys: list[Any]) -> list[float]:
    m = len({x for x in xs if x is not None})
    losses = []
    for x, y in zip(xs, ys, strict=True):
        behind = {one for one, other in zip(xs, ys, strict=True) if other == y and one is not None}
        if x is not None and y is not None and y not in xs and len(behind) > 1:
            losses.append((len(behind) - 1) / (m - 1))
        else:
            losses.append(0.0 if x == y else 1.0)
    return losses


def slow_ordinal(xs: list[Any], ys: list[Any]) -> list[float]:
    codes = sorted({code for code in [*xs, *ys] if code is not None})
    width = max(len(codes) - 1, 1)
    losses = []
    for x, y in zip(xs, ys, strict=True):
        if x is None or y is None:
            farther = 0.0 if x is None else max(codes.index(x), width - codes.index(x)) / width
            losses.append(0.0 if x == y else 1.0 if x is None else min(farther, 1.0))
        else:
            losses.append(abs(codes.index(x) - codes.index(y)) / width)
    return losses


def slow_numeric(xs: list[Any], ys: list[Any]) -> list[float]:
    shown = sorted(x for x in xs if x is not None)
    losses = []
    for x, y in zip(xs, ys, strict=True):
        if x is None:
            losses.append(0.0 if y is None else 1.0)
            continue
        middle = (shown[(len(shown) - 1) // 2] + shown[len(shown) // 2]) / 2
        other = y if y is not None else max(shown) if x <= middle else min(shown)
        losses.append(2 / math.pi * math.atan(abs(x - other)))
    return losses


@settings(max_examples=40)
@given(st.lists(row, min_size=1, max_size=14))
def test_against_loops(rows: list[Any]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)]
    about = {"level": Variable(scale="ordinal"), "amount": Variable(scale="numeric")}
    kinds = {"sex": pl.String, "level": pl.Int64, "amount": pl.Float64}
    first, second = (
        Data.of(pl.DataFrame(dict(zip(kinds, columns[start::2], strict=True)), schema=kinds), about) for start in (0, 1)
    )
    found = tc.loss.value_loss(first, second, WHO)
    slow = [compute(*columns[at : at + 2]) for at, compute in ((0, slow_nominal), (2, slow_ordinal), (4, slow_numeric))]
    assert [each.loss for each in found.changes] == pytest.approx([np.mean(each) for each in slow], abs=1e-12)
    assert found.loss.tolist() == pytest.approx([float(np.mean(each)) for each in zip(*slow, strict=True)], abs=1e-12)
    assert found.overall == pytest.approx(np.mean(slow), abs=1e-12)
    for each, (xs, ys) in zip(found.changes, zip(columns[::2], columns[1::2], strict=True), strict=True):
        assert each.changed == sum(x != y for x, y in zip(xs, ys, strict=True))
        assert each.suppressed == sum(x is not None and y is None for x, y in zip(xs, ys, strict=True))


def slow_classes(xs: list[int], ys: list[int], positions: list[float] | None) -> list[float]:
    """What each class covers, with sets; of several names of one value alone the most frequent is its own."""
    pairs = Counter((y, x) for x, y in zip(xs, ys, strict=True) if x and y)
    behind = {y: {x for other, x in pairs if other == y} for y in set(ys)}
    m = max(xs, default=0)
    losses = []
    for x, y in zip(xs, ys, strict=True):
        if not x or not y:
            losses.append(0.0 if x == y else 1.0)
            continue
        names = [other for other in behind if behind[other] == {x}]
        if behind[y] == {x} and y != min(names, key=lambda other: (-pairs[other, x], other)):
            losses.append(1.0)
        elif positions is None:
            losses.append((len(behind[y]) - 1) / max(m - 1, 1))
        else:
            at = [positions[each - 1] for each in behind[y]]
            losses.append((max(at) - min(at)) / ((max(positions) - min(positions)) or 1.0))
    return losses


codes = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=14)


@settings(max_examples=60)
@given(codes, st.lists(st.floats(-50, 50), min_size=4, max_size=4, unique=True))
def test_classes_against_sets(pairs: list[tuple[int, int]], values: list[float]) -> None:
    xs = np.array([x for x, _ in pairs])
    xs = np.unique(xs[xs > 0], return_inverse=True)[1] + 1 if (xs > 0).all() else xs
    ys = np.array([y for _, y in pairs])
    positions = sorted(values)[: int(xs.max())]
    assert class_losses(xs, ys).tolist() == pytest.approx(slow_classes(xs.tolist(), ys.tolist(), None))
    if positions:
        whole = max(positions) - min(positions)
        found = class_losses(xs, ys, np.array(positions), whole)
        assert found.tolist() == pytest.approx(slow_classes(xs.tolist(), ys.tolist(), positions), abs=1e-12)


def slow_rule(xs: list[int], ys: list[int], ordered: bool) -> bool:
    pairs = [(x, y) for x, y in zip(xs, ys, strict=True) if x and y]
    rule = dict(pairs)
    if sum(x != y for x, y in pairs) < RULE or any(rule[x] != y for x, y in pairs):
        return False
    if ordered:
        rising = all(rule[a] <= rule[b] for a in rule for b in rule if a < b)
        return rising and len(set(rule.values())) < len(rule)
    return all(rule[y] == y for y in rule.values() if y in rule)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 5), min_size=5, max_size=5), st.booleans(), st.booleans(), st.integers(0, 100))
def test_a_rule_against_a_dictionary(names: list[int], ordered: bool, broken: bool, seed: int) -> None:
    draw = np.random.default_rng(seed)
    xs = draw.integers(0, 6, 90)
    ys = np.array([0, *names])[xs]
    if broken:
        ys[seed % 90] = draw.integers(0, 6)
    assert follows_rule(xs, ys, ordered=ordered) == slow_rule(xs.tolist(), ys.tolist(), ordered)


# Recoded values.


def ages(count: int = 100) -> Data:
    """Ages 0 to 99, once each or more, numeric."""
    return Data.of(
        pl.DataFrame({"sex": ["f", "m"] * (count // 2), "age": [float(at % 100) for at in range(count)]}),
        {"age": Variable(scale="numeric")},
    )


def test_classes_tops_and_rounding_lose_their_width() -> None:
    data = ages()
    for step, width in [
        (tc.Recode("age", breaks=[0, 10, 20, 40, 60, 80, 100], closed="left"), 0.2 * 9 / 99 + 0.8 * 19 / 99),
        (tc.TopCode("age", at=60), 0.4 * 39 / 99),
        (tc.Round("age", base=10), None),
    ]:
        release = tc.Plan([step]).apply(data, WHO)
        # The same from a file, which says nothing of what was done.
        for released in (release, release.data.table):
            found = tc.loss.value_loss(data, released, WHO, variables=["age"])
            if width is None:
                assert found.overall < 0.1
            else:
                assert found.changes[0].loss == pytest.approx(width)
            assert found.changes[0].scale == "recoded"
            assert "recoded: a value of age loses the share of the variable that its class covers" in str(found)
    by_hand = tc.loss.value_loss(data, tc.Plan([tc.TopCode("age", at=60)]).apply(data, WHO), WHO, recoded=[])
    assert by_hand.by_variable["age"] == pytest.approx(sum(2 / math.pi * math.atan(each) for each in range(40)) / 100)


def test_local_recoding_with_several_levels() -> None:
    """Half of the records in classes of ten, a tenth in one of half, the others as they were."""
    data = ages(200)
    numbers = data.numbers("age")
    record = np.arange(200)
    texts = [
        str(int(age)) if at % 2 else f"{int(age) // 50 * 50}+" if at < 20 else f"{int(age) // 10 * 10}s"
        for at, age in zip(record.tolist(), numbers.tolist(), strict=True)
    ]
    found = tc.loss.value_loss(data, data.table.with_columns(age=pl.Series(texts)), WHO, variables=["age"])
    covers: dict[str, list[float]] = {}
    for text, age in zip(texts, numbers.tolist(), strict=True):
        covers.setdefault(text, []).append(age)
    expected = [(max(covers[text]) - min(covers[text])) / 99 for text in texts]
    assert found.loss.tolist() == pytest.approx(expected)
    assert 0 < found.overall < 0.1


def test_merged_categories_are_a_rule_and_exchanged_ones_are_not() -> None:
    regions = ["a", "b", "c", "d"] * 40
    first = pl.DataFrame({"sex": regions})
    merged = first.with_columns(sex=pl.col("sex").replace({"b": "a"}))
    assert tc.loss.value_loss(first, merged, WHO).by_variable == pytest.approx({"sex": 0.5 / 3})
    few, of_few = first[:40], merged[:40]
    assert tc.loss.value_loss(few, of_few, WHO).by_variable == {"sex": 0.25}
    assert tc.loss.value_loss(few, of_few, WHO, recoded=["sex"]).by_variable == pytest.approx({"sex": 0.5 / 3})
    turned = first.with_columns(sex=pl.col("sex").replace({"b": "a", "a": "b"}))
    found = tc.loss.value_loss(first, turned, WHO)
    assert (found.changes[0].scale, found.overall) == ("nominal", 0.5)
    fresh = first.with_columns(sex=pl.col("sex").replace({"b": "other", "a": "other"}))
    found = tc.loss.value_loss(first, fresh, WHO)
    assert (found.changes[0].scale, found.overall) == ("recoded", pytest.approx(0.5 / 3))
    named = first.with_columns(sex=pl.col("sex").replace({each: each.upper() for each in "abcd"}))
    assert tc.loss.value_loss(first, named, WHO).overall == 0.0


def test_perturbed_values_are_never_classes() -> None:
    """Microaggregation of one variable follows a rule too; data in memory know that it was none."""
    data = ages()
    groups = data.with_columns({"age": np.floor(data.numbers("age") / 5) * 5 + 2})
    assert tc.loss.value_loss(data, groups, WHO).changes[1].scale == "recoded"
    assert tc.loss.value_loss(data, groups.with_perturbed(["age"]), WHO).changes[1].scale == "numeric"


# What else counts.


def test_by_hand() -> None:
    about = {"health": Variable(scale="ordinal"), "age": Variable(scale="numeric")}
    original = pl.DataFrame({"sex": [1, 1, 2, 2], "health": [1, 2, 3, 5], "age": [20, 30, 40, 50], "w": [1.0, 1, 1, 7]})
    released = original.with_columns(sex=pl.Series([1, 2, 2, None]), health=pl.Series([2, None, 3, 5]))
    files = Data.of(original, about), Data.of(released.with_columns(age=pl.Series([20, 35, 40, None])), about)
    who = tc.Scenario(keys=["sex"], weight="w")
    found = tc.loss.value_loss(*files, who)
    # Ordered 1, 2, 3, 5: a step is a third, and 2 is two steps from the end.
    far = [2 / math.pi * math.atan(each) for each in (5, 30)]
    assert found.by_variable == pytest.approx({"sex": 0.5, "health": 0.25, "age": sum(far) / 4})
    weighted = tc.loss.value_loss(*files, who, weighted=True)
    assert weighted.by_variable == pytest.approx({"sex": 0.8, "health": 0.1, "age": (far[0] + 7 * far[1]) / 10})
    assert "records count by w" in str(weighted)
    ranged = tc.loss.value_loss(*files, who, unit="range", variables=["age"])
    assert ranged.loss.tolist() == pytest.approx([0, 5 / 30, 0, 1])
    assert ranged.to_frame()["information_loss"].to_list() == ranged.loss.tolist()
    assert found.table()["changed"].to_list() == [2, 2, 2]


def test_missing_values_as_in_sdcmicro() -> None:
    """Ordinal: 1 whichever is missing; numeric: the farthest ends of both columns, here 7 and 1."""
    about = {"sex": Variable(scale="ordinal"), "age": Variable(scale="numeric")}
    original = Data.of(pl.DataFrame({"sex": [1, 2, 3, None], "age": [2.0, 3.0, None, 7.0]}), about)
    released = Data.of(pl.DataFrame({"sex": [1, None, 3, 2], "age": [1.0, None, 4.0, 7.0]}), about)
    found = tc.loss.value_loss(original, released, WHO, missing="sdcmicro")
    far = 2 / math.pi * math.atan(6.0)
    assert found.by_variable == pytest.approx({"sex": 0.5, "age": (0.5 + far + far) / 4})
    published = tc.loss.value_loss(original, released, WHO)
    # The median is 3, so its suppression is 4 to the maximum; a value where there was none is 1.
    assert published.by_variable["age"] == pytest.approx((0.5 + 2 / math.pi * math.atan(4.0) + 1.0) / 4)
    assert published.by_variable["sex"] == pytest.approx((0.5 + 1.0) / 4)


def test_removed_variables_and_dropped_records_are_said() -> None:
    original = pl.DataFrame({"sex": ["f", "m", "f"], "name": ["x", "y", "z"], "work": ["p", None, "q"]})
    kept = Data(original.drop("work", "name")[[0, 2]], numbers_of_records=np.array([1, 3]))
    who = tc.Scenario(keys=["sex"], identifiers=["name"])
    found = tc.loss.value_loss(original, kept, who)
    assert (found.variables, found.overall, found.dropped, found.not_counted) == (("sex",), 0.0, 1, ("work",))
    assert "1 record of the original is not in the release" in str(found)
    assert "not counted, since the release lacks it: 'work'; named in variables it loses 100 %" in str(found)
    named = tc.loss.value_loss(original, kept, who, variables=["sex", "work"])
    assert (named.overall, named.changes[1].scale, named.changes[1].loss) == (0.5, "removed", 1.0)


def test_messages() -> None:
    original = pl.DataFrame({"sex": ["f", "m"], "age": [1.5, 1.5]})
    for words, message in [
        ({"recoded": ["sexx"]}, "recoded not in the data: 'sexx'. Did you mean 'sex'?"),
        ({"unit": "mad"}, "column 'age' has no spread to measure its changes in; choose unit='value'."),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.loss.value_loss(original, original.with_columns(age=pl.Series([1.5, 2.5])), WHO, **words)  # type: ignore[arg-type]
        assert str(error.value) == message


def test_the_figure_shows_the_largest_loss_first() -> None:
    original = pl.DataFrame({"sex": ["f", "m", "f"], "area": ["x", "y", "z"], "work": ["p", "p", "q"]})
    released = original.with_columns(area=pl.lit(None, pl.String), work=pl.Series(["p", "q", "q"]))
    found = tc.loss.value_loss(original, released, WHO)
    points = value_loss_points(found)
    assert points["variable"].to_list() == ["area", "work", "sex"]
    assert points["loss"].to_list() == pytest.approx([1.0, 1 / 3, 0.0])
    chart = found.plot().to_dict()
    assert chart["title"]["text"] == "Information loss by variable"
    assert "44.4 % over all 3" in chart["title"]["subtitle"]
