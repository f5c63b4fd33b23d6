"""Similarity measures and the unit-free log scale: by their formulas, and that units of keys do not matter."""

import math

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import tacita as tc
from tacita.risk.confidentiality_plot.scale import METRICS, unit_free_log

Floats = NDArray[np.float64]
KEYS = ["a", "b", "c"]


def two_files(n: int = 60, seed: int = 3) -> tuple[Floats, Floats]:
    draw = np.random.default_rng(seed)
    x = np.exp(draw.normal([8.0, 2.0, 5.0], 1.0, (n, 3)))
    return x, x * np.exp(0.3 * draw.normal(size=x.shape))


def frame(values: Floats) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(KEYS, values.T, strict=True)))


def by_formula(metric: str, a: Floats, b: Floats, both: Floats) -> float:
    difference = np.abs(a - b)
    if metric == "manhattan":
        return float(difference.sum())
    if metric == "gower":
        return float((difference / np.ptp(both, axis=0)).mean())
    if metric == "standardised":
        return float(np.sqrt(((difference / both.std(axis=0, ddof=1)) ** 2).sum()))
    if metric == "mahalanobis":
        return float(np.sqrt(difference_quadratic(a - b, both)))
    distance = float(np.sqrt((difference**2).sum()))
    return distance / float(np.sqrt((a**2).sum())) if metric == "relative" else distance


def difference_quadratic(step: Floats, both: Floats) -> float:
    return float(step @ np.linalg.inv(np.cov(both, rowvar=False)) @ step)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("log", [False, True])
def test_metrics_by_their_formulas(metric: str, log: bool) -> None:
    x, y = two_files()
    found = tc.risk.confidentiality(
        frame(x), frame(y), tc.Scenario(numeric_keys=KEYS), metric=metric, log=log, alpha=0.1
    )
    if log:
        x, y = np.log1p(x), np.log1p(y)
    both = np.concatenate([x, y])
    z = np.array([[by_formula(metric, a, b, both) for b in x] for a in y])
    assert found.distance == pytest.approx(np.diag(z), rel=1e-9)
    others = np.sort(z[~np.eye(len(x), dtype=np.bool_)])
    wanted = int(0.1 * len(others))
    assert others[wanted - 1] * (1 - 1e-9) <= found.delta[0] <= others[wanted] * (1 + 1e-9)
    near = z < found.delta[0]
    assert found.neighbours.tolist() == near.sum(axis=1).tolist()
    zero = np.zeros(3)
    size = [by_formula("euclidean" if metric == "relative" else metric, each, zero, both) for each in x]
    moved = [by_formula("euclidean" if metric == "relative" else metric, a, b, both) for a, b in zip(y, x, strict=True)]
    assert found.perturbation == pytest.approx(np.array(moved) / np.array(size), rel=1e-9)
    assert (f", {metric} distance" in str(found)) == (metric != "relative")


@pytest.mark.parametrize("metric", ["standardised", "mahalanobis", "gower"])
def test_units_do_not_matter_to_metrics_with_a_scale_of_their_own(metric: str) -> None:
    x, y = two_files()
    factor = np.array([1000.0, 1.0, 0.01])
    first = tc.risk.confidentiality(frame(x), frame(y), tc.Scenario(numeric_keys=KEYS), metric=metric)
    second = tc.risk.confidentiality(
        frame(x * factor), frame(y * factor), tc.Scenario(numeric_keys=KEYS), metric=metric
    )
    assert first.neighbours.tolist() == second.neighbours.tolist()
    assert first.delta == pytest.approx(second.delta)
    assert first.perturbation == pytest.approx(second.perturbation)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("zeros", [False, True])
def test_units_do_not_matter_on_the_unit_free_scale(metric: str, zeros: bool) -> None:
    x, y = two_files()
    if zeros:
        x[::4, 1] = y[::4, 1] = y[3::8, 2] = 0.0
    factor = np.array([1000.0, 1.0, 0.01])
    first = tc.risk.confidentiality(frame(x), frame(y), tc.Scenario(numeric_keys=KEYS), metric=metric, log="unit_free")
    second = tc.risk.confidentiality(
        frame(x * factor), frame(y * factor), tc.Scenario(numeric_keys=KEYS), metric=metric, log="unit_free"
    )
    assert first.neighbours.tolist() == second.neighbours.tolist()
    assert first.unsafe.tolist() == second.unsafe.tolist()
    assert first.delta == pytest.approx(second.delta)
    assert first.perturbation == pytest.approx(second.perturbation)
    assert first.tau == pytest.approx(second.tau, rel=1e-6)


def test_units_do_matter_on_the_plain_log_scale_and_it_says_so() -> None:
    x, y = two_files()
    first = tc.risk.confidentiality(frame(x), frame(y), tc.Scenario(numeric_keys=KEYS), log=True)
    second = tc.risk.confidentiality(frame(x * 1000), frame(y * 1000), tc.Scenario(numeric_keys=KEYS), log=True)
    assert second.perturbation.max() < first.perturbation.max()
    note = "log scale: z and perturbation depend on the units of the keys; on the unit-free log scale they do not"
    assert note in str(first)
    assert note not in str(tc.risk.confidentiality(frame(x), frame(y), tc.Scenario(numeric_keys=KEYS), log="unit_free"))
    assert note not in str(tc.risk.confidentiality(frame(x), frame(y), tc.Scenario(numeric_keys=KEYS)))


def test_unit_free_by_hand() -> None:
    """Root mean square of the log ratios: a key doubled, the other left alone."""
    original = pl.DataFrame({"a": [10.0, 30.0], "b": [5.0, 7.0]})
    released = pl.DataFrame({"a": [20.0, 30.0], "b": [5.0, 7.0]})
    found = tc.risk.confidentiality(
        original, released, tc.Scenario(numeric_keys=["a", "b"]), log="unit_free", delta=0.3
    )
    moved = math.log(2) / math.sqrt(2)
    assert found.perturbation.tolist() == pytest.approx([moved, 0.0])
    assert found.distance.tolist() == pytest.approx([moved, 0.0])
    # From (20, 5) to (30, 7): logs of 1.5 and of 1.4.
    near = math.sqrt((math.log(1.5) ** 2 + math.log(1.4) ** 2) / 2)
    assert near > 0.3
    assert found.neighbours.tolist() == [0, 1]


def test_unit_free_zeros() -> None:
    x = np.array([[0.0, 4.0], [1.0, 4.0], [3.0, 4.0], [8.0, 2.0]])
    a, b, kept = unit_free_log(x, x, shift=True)
    # The key with a zero is shifted by its lower decile, the smallest of three here; the other is not shifted.
    assert a[:, 0].tolist() == pytest.approx(np.log1p(x[:, 0]).tolist())
    assert a[:, 1].tolist() == pytest.approx(np.log(x[:, 1]).tolist())
    assert (kept.tolist(), b.tolist()) == ([True] * 4, a.tolist())
    assert unit_free_log(x, x, shift=False)[2].tolist() == [False, True, True, True]
    assert unit_free_log(-x, x, shift=True)[2].tolist() == [False] * 4
    nothing = np.zeros((2, 1))
    assert unit_free_log(nothing, nothing, shift=True)[0].tolist() == [[0.0], [0.0]]


def test_a_constant_key_tells_nobody_apart() -> None:
    x, y = two_files(20)
    x[:, 1] = y[:, 1] = 5.0
    for metric in ("standardised", "mahalanobis", "gower"):
        with_it = tc.risk.confidentiality(frame(x), frame(y), tc.Scenario(numeric_keys=KEYS), metric=metric)
        without = tc.risk.confidentiality(frame(x), frame(y), tc.Scenario(numeric_keys=["a", "c"]), metric=metric)
        assert with_it.neighbours.tolist() == without.neighbours.tolist()
    same = pl.DataFrame({"a": [5.0, 5.0, 5.0]})
    for metric in METRICS:
        found = tc.risk.confidentiality(same, same, tc.Scenario(numeric_keys="a"), metric=metric)
        assert (found.delta.tolist(), found.perturbation.tolist()) == ([0.0], [0.0] * 3)


def test_messages() -> None:
    data = pl.DataFrame({"x": [1.0, 2.0]})
    for words, message in [
        ({"metric": "cosine"}, f"metric must be one of {', '.join(map(repr, METRICS))}; got 'cosine'."),
        ({"log": "natural"}, "log must be False, True or 'unit_free'; got 'natural'."),
    ]:
        with pytest.raises(tc.TacitaError) as error:
            tc.risk.confidentiality(data, data, tc.Scenario(numeric_keys="x"), **words)  # type: ignore[arg-type]
        assert str(error.value) == message
