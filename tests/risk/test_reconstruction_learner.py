"""What a learner gives back: planted relations of many columns are found, independent columns raise no alarm."""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.check import TacitaError
from tacita.risk.release.reconstruction.learner import cross_fitted, disclosing_columns, trusted_guesses

WHO = tc.Scenario(keys=["key"])


def blanked(original: pl.DataFrame, share: float = 0.1) -> pl.DataFrame:
    blank = pl.Series(np.random.default_rng(5).random(original.height) < share)
    return original.with_columns(key=pl.when(blank).then(None).otherwise(pl.col("key")))


def smooth(size: int = 3000) -> pl.DataFrame:
    """Whether the sum of five measurements is above zero, beside columns that tell nothing."""
    draw = np.random.default_rng(1)
    parts = draw.normal(size=(size, 5)).round(3)
    columns: dict[str, Any] = {f"m{at}": parts[:, at] for at in range(5)}
    columns |= {"text": draw.choice(["u", "v", "w"], size), "code": draw.integers(0, 9, size)}
    return pl.DataFrame(columns | {"key": np.where(parts.sum(axis=1) > 0, "above", "below")})


# The kernel, with models of our own.


def by_mean(x: Any, y: Any) -> Any:
    """A model that knows only the mean of what it saw."""
    mean = float(y.mean())
    return lambda asked: np.full((len(asked), 1), mean)


def test_every_row_is_told_by_the_model_that_did_not_see_it() -> None:
    features, value = np.arange(12.0)[:, None], np.arange(10.0)
    learned = cross_fitted(features, np.arange(10), value, by_mean)
    assert np.bincount(learned.fold[:10]).tolist() == [2] * 5
    for at in range(10):
        assert learned.score[at, 0] == pytest.approx(value[learned.fold[:10] != learned.fold[at]].mean())
    assert learned.fold[10:].tolist() == [-1, -1]
    assert learned.score[10:, 0] == pytest.approx(4.5)


def test_folds_follow_what_rows_hold() -> None:
    features, value = np.arange(12.0)[:, None], np.arange(12.0)
    order = np.random.default_rng(3).permutation(12)
    first = cross_fitted(features, np.arange(12), value, by_mean)
    second = cross_fitted(features[order], np.arange(12), value[order], by_mean)
    assert second.fold.tolist() == first.fold[order].tolist()


def test_disclosing_columns_by_hand() -> None:
    """The model is the second column itself: dealing out that one anew is what harms."""
    features = np.random.default_rng(2).normal(size=(60, 3))
    learned = cross_fitted(features, np.arange(60), features[:, 1], lambda x, y: lambda asked: asked[:, 1:2])
    loss = lambda score, asked: float(((score[:, 0] - features[asked, 1]) ** 2).mean())  # noqa: E731
    assert disclosing_columns(features, learned, np.arange(60), loss).tolist() == [1]


def test_only_sure_guesses_that_hold_are_trusted() -> None:
    """Of 100 rows 50 are told 1 for sure, and 1 they are; the others are told 2 for sure, half of them rightly."""
    scores = np.repeat([[0.95, 0.05, 0.0], [0.05, 0.95, 0.0]], 50, axis=0)
    rows = np.arange(100)
    learned = cross_fitted(
        np.repeat(rows[:, None], 1, axis=1).astype(float),
        rows,
        rows,
        lambda x, y: lambda asked: scores[asked[:, 0].astype(int)],
    )
    shown = np.array([1] * 50 + [2] * 25 + [3] * 25)
    shares = np.array([0, 0.5, 0.25, 0.25])
    told = trusted_guesses(learned, np.array([1, 2, 0]), shown, shares, tried=1)
    assert told.tolist() == [1] * 50 + [0] * 50


def test_without_the_library_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    original = smooth(100)
    with pytest.raises(TacitaError, match='needs scikit-learn; install it with pip install "tacita\\[learners\\]"'):
        tc.risk.reconstruction(original, blanked(original), WHO, learner=True)


# With boosted trees.


@pytest.fixture
def trees() -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install scikit-learn")


@pytest.mark.usefixtures("trees")
def test_a_smooth_relation_of_five_columns_is_found_and_named() -> None:
    original = smooth()
    released = blanked(original)
    without = tc.risk.reconstruction(original, released, WHO)
    found = tc.risk.reconstruction(original, released, WHO, learner=True)
    (leak,) = [each for each in found.leaks if each.kind == "learner"]
    assert len(leak.columns) == 3 and set(leak.columns) <= {f"m{at}" for at in range(5)}
    assert leak.right >= 0.6 * found.protected and leak.right >= 0.9 * leak.covered
    assert found.given_back - without.given_back == leak.right
    assert leak.repair.startswith("coarsen or remove 'm")


@pytest.mark.usefixtures("trees")
def test_records_in_another_order_are_told_the_same() -> None:
    original = smooth(600)
    released = blanked(original, 0.2)
    order = np.random.default_rng(8).permutation(600)
    first = tc.risk.reconstruction(original, released, WHO, learner=True)
    second = tc.risk.reconstruction(original[order], released[order], WHO, learner=True)
    cells = first.guessed_cells().filter(pl.col("kind") == "learner")
    others = second.guessed_cells().filter(pl.col("kind") == "learner")
    assert cells.height
    assert set(cells["record"]) == {int(order[record - 1]) + 1 for record in others["record"]}
    assert [each.columns for each in first.leaks] == [each.columns for each in second.leaks]


@pytest.mark.usefixtures("trees")
def test_numbers_are_told_within_rounding() -> None:
    """Whole numbers that six measurements add up to, each by whether it is above 1."""
    draw = np.random.default_rng(6)
    size = 3000
    bits = draw.integers(0, 2, (size, 6))
    columns: dict[str, Any] = {f"m{at}": (bits[:, at] + draw.uniform(0, 0.9, size)).round(4) for at in range(6)}
    original = pl.DataFrame(columns | {"key": bits @ 2 ** np.arange(6)})
    found = tc.risk.reconstruction(original, blanked(original), WHO, learner=True)
    (leak,) = [each for each in found.leaks if each.kind == "learner"]
    assert leak.columns == ("m5", "m4", "m3")
    assert leak.right >= 0.9 * found.protected


@pytest.mark.usefixtures("trees")
def test_independent_columns_raise_no_alarm() -> None:
    protected = alarms = 0
    for seed in range(12):
        draw = np.random.default_rng(seed)
        size = int(draw.integers(100, 700))
        share = draw.choice([0.5, 0.8, 0.95])
        columns = {f"c{at}": draw.integers(0, 9, size) for at in range(6)} | {"n": draw.normal(size=size)}
        original = pl.DataFrame(
            columns | {"key": draw.choice(["a", "b", "c"], size, p=[share, 0.9 * (1 - share), 0.1 * (1 - share)])}
        )
        found = tc.risk.reconstruction(original, blanked(original), WHO, learner=True, threes="none")
        protected += found.protected
        alarms += found.given_back
    assert protected > 300
    assert alarms <= 0.01 * protected


@pytest.mark.usefixtures("trees")
@pytest.mark.parametrize("size", [1, 2, 49, 60])
def test_few_records_and_columns_of_any_kind(size: int) -> None:
    original = pl.DataFrame(
        {
            "key": [None if at == 7 else ["a", "b"][at % 2] for at in range(size)],
            "id": [f"p{at}" for at in range(size)],
            "blank": pl.Series([None] * size, dtype=pl.Float64),
            "flag": [at % 3 == 0 for at in range(size)],
            "lists": [[at] for at in range(size)],
        }
    )
    found = tc.risk.reconstruction(original, blanked(original, 0.5), WHO, learner=True)
    assert 0 <= found.given_back <= found.protected
