"""Kernels of a comparison before and after against slow twins: plain loops over the definitions."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacita.comparison.associations import association_matrix, correlations, cramers_v, cuts_of, parts
from tacita.comparison.classes import OTHER, pooled
from tacita.comparison.distributions import (
    GRID,
    REACH,
    Sorted,
    bandwidth,
    bin_edges,
    box,
    counted,
    density,
    ends,
    greatest_gap,
    in_order,
    joined_bins,
    lorenz,
    shares,
)
from tacita.comparison.number_line import NumberLine, number_line

values = st.lists(st.sampled_from([0.0, 1.0, 2.0, 2.5, 7.0, 40.0]), min_size=3, max_size=14)
weights = st.sampled_from([1.0, 2.0, 0.5, 3.0])


@st.composite
def samples(draw: st.DrawFn) -> Sorted:
    x = draw(values)
    w = draw(st.lists(weights, min_size=len(x), max_size=len(x)))
    return in_order(np.array(x), np.array(w))


def slow_gini(given_: Sorted) -> float:
    """The mean absolute difference of all pairs, by twice the mean."""
    pairs = [(x, w, y, v) for x, w in zip(*given_, strict=True) for y, v in zip(*given_, strict=True)]
    total = sum(given_.weights)
    mean = sum(x * w for x, w in zip(*given_, strict=True)) / total
    return sum(w * v * abs(x - y) for x, w, y, v in pairs) / total**2 / (2 * mean)


def slow_gap(one: Sorted, other: Sorted) -> float:
    found = 0.0
    for place in {*one.values.tolist(), *other.values.tolist()}:
        up_to = [sum(w for x, w in zip(*each, strict=True) if x <= place) / sum(each.weights) for each in (one, other)]
        found = max(found, abs(up_to[0] - up_to[1]))
    return found


def slow_quantile(given_: Sorted, share: float) -> float:
    """The mean of the record in which the share is reached and of its neighbours."""
    reached, place = float(given_.weights[0]), 0
    while reached < share * given_.weights.sum():
        place += 1
        reached += float(given_.weights[place])
    start = min(max(place - 1, 0), len(given_.values) - 3)
    return float(sum(given_.values[start : start + 3].tolist()) / 3)


@settings(max_examples=40)
@given(samples(), samples())
def test_distances_ginis_and_boxes_are_those_of_the_definitions(one: Sorted, other: Sorted) -> None:
    assert greatest_gap(one, other) == pytest.approx(slow_gap(one, other), abs=1e-12)
    curve = lorenz(one)
    assert (curve is None) == (one.values[-1] == 0)
    if curve is not None:
        assert curve.gini == pytest.approx(slow_gini(one), abs=1e-9)
        assert (curve.population[0], curve.value[0], curve.population[-1], curve.value[-1]) == (0, 0, 1, 1)
    found = box(one)
    assert found is not None
    quarter, median, three_quarters = (slow_quantile(one, share) for share in (0.25, 0.5, 0.75))
    assert (found.quarter, found.median, found.three_quarters) == pytest.approx((quarter, median, three_quarters))
    spread = 1.5 * (found.three_quarters - found.quarter)
    assert found.below == sum(x < found.quarter - spread for x in one.values.tolist())
    assert found.above == sum(x > found.three_quarters + spread for x in one.values.tolist())
    assert found.low <= found.quarter <= found.median <= found.three_quarters <= found.high


@settings(max_examples=40)
@given(samples(), st.integers(2, 9), st.booleans())
def test_bins_hold_everything(one: Sorted, bins: int, whole: bool) -> None:
    both = ends(one.values)
    assert both is not None
    edges = bin_edges(*both, bins, whole)
    counts, part = counted(one.values, edges), shares(one, edges)
    assert counts.sum() == len(one.values)
    assert part.sum() == pytest.approx(1)
    slow = Counter()
    for x, w in zip(*one, strict=True):
        inside = sum(edge <= x for edge in edges.tolist()) - 1
        slow[min(max(inside, 0), len(edges) - 2)] += w
    assert part.tolist() == pytest.approx([slow[at] / one.weights.sum() for at in range(len(edges) - 1)])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=9), st.booleans())
def test_joined_bins_tell_of_no_one_or_two_records(columns: list[tuple[int, int]], everywhere: bool) -> None:
    counts = np.array(columns).T
    kept = joined_bins(counts, everywhere)
    assert (kept[0], kept[-1]) == (0, counts.shape[1])
    joined = np.add.reduceat(counts, kept[:-1], axis=1)
    total = counts.sum(axis=1)
    if not ((total == 1) | (total == 2)).any():
        shown = joined if everywhere else joined[:, [0, -1]]
        assert not ((shown == 1) | (shown == 2)).any()
    if everywhere and not ((counts == 1) | (counts == 2)).any():
        assert len(kept) == counts.shape[1] + 1


def test_a_density_is_the_mean_of_normal_curves() -> None:
    x = np.array([1.0, 1.5, 2, 2, 2.5, 3, 4, 4.5, 5, 5, 5.5, 6])
    sample = in_order(x, np.arange(1.0, 13))
    width = bandwidth(sample)
    low, high = 1.5, 5.5
    grid = np.linspace(low - REACH * width, high + REACH * width, GRID)
    found = density(sample, grid, width, low, high, None)
    for at, place in enumerate(grid.tolist()):
        near = sum(abs(each - place) <= REACH * width for each in x.tolist())
        assert math.isnan(found[at]) == (near < 3)
        if near >= 3:
            curves = (
                w * math.exp(-0.5 * ((min(max(each, low), high) - place) / width) ** 2)
                for each, w in zip(*sample, strict=True)
            )
            slow = sum(curves) / sample.weights.sum() / width / math.sqrt(2 * math.pi)
            assert found[at] == pytest.approx(slow, rel=0.02, abs=0.001)
    # Nothing is smoothed to below a bound, and nothing lost.
    many = in_order(np.repeat(x, 200), np.ones(200 * len(x)))
    mirrored = density(many, np.linspace(1, 9, 2000), bandwidth(many), 1.0, 6.0, 1.0)
    assert np.nansum(mirrored) * 8 / 1999 == pytest.approx(1, abs=0.01)


def test_silverman_by_hand() -> None:
    sample = in_order(np.array([0.0, 1, 2, 3, 4]), np.ones(5))
    # Deviation sqrt(2), quartiles 1 and 3.
    assert bandwidth(sample) == pytest.approx(0.9 * min(math.sqrt(2), 2 / 1.34) * 5**-0.2)
    assert bandwidth(in_order(np.full(5, 0.1), np.ones(5))) == 0
    # Twice the weight everywhere is the same file.
    assert bandwidth(Sorted(sample.values, 2 * sample.weights)) == pytest.approx(bandwidth(sample))


def test_what_one_record_decides_is_not_shown() -> None:
    sample = in_order(np.array([*range(1, 12), 1000], dtype=np.float64), np.ones(12))
    assert ends(sample.values) == (2.0, 1021 / 3)
    assert ends(sample.values[:2]) is None
    # A quarter is reached at 3, half at 6, three quarters at 9: each the mean of itself and its neighbours. Whiskers
    # are means of the outermost three of those within 3 - 9 and 9 + 9; the one beyond is counted.
    assert box(sample) == (2.0, 3.0, 6.0, 9.0, 10.0, 0, 1)
    assert box(Sorted(sample.values[:2], sample.weights[:2])) is None
    curve = lorenz(sample)
    assert curve is not None
    assert min(np.diff(curve.population)) >= 3 / 12 - 1e-12
    assert lorenz(in_order(np.array([-1.0, 2, 3]), np.ones(3))) is None


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (np.arange(100.0), "linear"),
        (np.exp(np.linspace(-3, 3, 50)), "log"),
        (np.concatenate([np.zeros(70), np.exp(np.linspace(0, 6, 30))]), "log"),
        (np.concatenate([-np.exp(np.linspace(0, 8, 50)), np.exp(np.linspace(0, 8, 50))]), "symlog"),
        (np.array([np.nan, np.nan]), "linear"),
        (np.zeros(9), "linear"),
    ],
)
def test_axes_follow_the_values_and_go_back(x: np.ndarray, kind: str) -> None:
    line = number_line(x, x)
    assert line.kind == kind
    shown = x[line.on(x)]
    assert line.values(line.along(shown)) == pytest.approx(shown)
    # Noise that makes a number negative needs an axis for both signs.
    assert kind != "log" or number_line(x, np.array([-1.0])).kind == "symlog"


def test_symlog_is_that_of_the_figures() -> None:
    line = NumberLine("symlog", 10.0)
    assert line.along(np.array([-10.0, 0, 90])).tolist() == pytest.approx([-math.log(2), 0, math.log(10)])


# Classes.


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=9), st.integers(2, 5), st.booleans()
)
def test_pooled_classes_keep_all_records(columns: list[tuple[int, int]], most: int, public: bool) -> None:
    counts = np.array(columns).T
    labels = [f"c{at}" for at in range(len(columns) - 1)] + ["(missing)"]
    found = pooled(labels, counts, most, public)
    summed = np.stack([np.bincount(found.into, weights=each, minlength=len(found.labels)) for each in counts])
    assert summed.sum(axis=1).tolist() == counts.sum(axis=1).tolist()
    assert len([label for label in found.labels if label != "(missing)"]) <= most
    total = counts.sum(axis=1)
    if public and not ((total == 1) | (total == 2)).any():
        assert not ((summed == 1) | (summed == 2)).any()
    if not public and len(columns) - 1 <= most:
        assert OTHER not in found.labels


# Associations.


def slow_pearson(x: list[float], y: list[float], w: list[float]) -> float:
    rows = [each for each in zip(x, y, w, strict=True) if not math.isnan(each[0] + each[1])]
    if len(rows) < 3:
        return math.nan
    total = sum(each[2] for each in rows)
    mean_x, mean_y = (sum(each[at] * each[2] for each in rows) / total for at in (0, 1))
    xy = sum(each[2] * (each[0] - mean_x) * (each[1] - mean_y) for each in rows)
    xx, yy = (sum(each[2] * (each[at] - mean) ** 2 for each in rows) for at, mean in ((0, mean_x), (1, mean_y)))
    return xy / math.sqrt(xx * yy) if xx > 1e-9 and yy > 1e-9 else math.nan


def slow_v(one: list[int], other: list[int], w: list[float]) -> float:
    rows = [each for each in zip(one, other, w, strict=True) if each[0] >= 0 and each[1] >= 0]
    if len(rows) < 3:
        return math.nan
    total = sum(each[2] for each in rows)
    first, second = ({each[at] for each in rows} for at in (0, 1))
    if min(len(first), len(second)) < 2:
        return math.nan
    chi = 0.0
    for a in first:
        for b in second:
            share_a, share_b = (sum(e[2] for e in rows if e[at] == v) / total for at, v in ((0, a), (1, b)))
            share = sum(e[2] for e in rows if e[:2] == (a, b)) / total
            chi += (share - share_a * share_b) ** 2 / (share_a * share_b)
    return math.sqrt(chi / (min(len(first), len(second)) - 1))


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 2.5, 30.0, math.nan]),
            st.sampled_from([0.0, 1.0, 2.5, -4.0, math.nan]),
            st.integers(-1, 2),
            weights,
        ),
        min_size=3,
        max_size=12,
    )
)
def test_associations_are_those_of_the_definitions(rows: list[tuple[float, float, int, float]]) -> None:
    x, y, codes, w = (list(each) for each in zip(*rows, strict=True))
    pair = np.column_stack([x, y])
    found = correlations(pair, np.array(w))[0, 1]
    assert found == pytest.approx(slow_pearson(x, y, w), abs=1e-9, nan_ok=True)
    cuts = [cuts_of(pair[:, at]) for at in (0, 1)]
    matrix = association_matrix(pair, [np.array(codes)], np.array(w), cuts)
    cut = parts(pair[:, 0], cuts[0]).tolist()
    assert matrix[0, 2] == matrix[2, 0] == pytest.approx(slow_v(cut, codes, w), abs=1e-9, nan_ok=True) or math.isnan(
        matrix[0, 2]
    )
    assert math.isnan(matrix[0, 2]) == math.isnan(slow_v(cut, codes, w))
    assert np.diag(matrix).tolist() == [1, 1, 1]


def test_a_large_mean_loses_no_digits() -> None:
    x = np.arange(9.0)
    pair = np.column_stack([1e9 + x, x**2])
    assert correlations(pair, np.ones(9))[0, 1] == pytest.approx(np.corrcoef(x, x**2)[0, 1], abs=1e-12)
    assert math.isnan(cramers_v(np.zeros(5, dtype=int), np.arange(5), np.ones(5)))
