"""By a learner: gradient boosted trees that predict a protected variable from all other released columns together.

What the intruder has: the released file, and a library. What he does: he fits trees on rows that show the variable, has
each row told by a model that did not see it, and believes guesses of which the models are sure. What he gains: cells
that follow from many columns together, and from no three of them. He trusts the models if the guesses of which they are
sure are right for 90 % of the shown rows, and significantly more often than the most frequent value would be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.random import Draws
from tacita.risk.release.reconstruction.cells import Files, Protected
from tacita.risk.release.reconstruction.leak import Leak, is_trusted, judged_codes, leak
from tacita.risk.release.reconstruction.numbers import judged

SURE = 0.9
"""The probability from which on an intruder believes a guess."""
FOLDS = 5
"""Models, each fitted without a part of the rows."""
SEED = 12
LEAST_ROWS = 50
"""Rows that show a variable, from which on it is learned."""
MOST_ROWS = 50_000
"""Rows that are learned from, drawn from all that show the variable."""
LEAST_OF_VALUE = 10
"""Rows that show a value, from which on it is guessed."""
MOST_VALUES = 40
"""Different values that are told apart, the most frequent ones; numbers of which there are more are told as numbers."""
MOST_CATEGORIES = 250
"""Categories of a column that trees can tell apart one by one; those of others are taken in their order."""
ASKED = 2_000
"""Rows on which it is looked at which columns tell most."""
NAMED = 3
"""Columns that are named."""

Matrix = NDArray[np.float64]
Fit = Callable[[Matrix, Any], Callable[[Matrix], Matrix]]
"""From features and values to a function from features to one column of scores per value, or one of numbers."""


class Learned(NamedTuple):
    """What models say that did not see the row: by row of the features."""

    score: Matrix
    """By row: the probability of each value, or one number."""
    fold: Ints
    """By row: the model that did not see it; -1 for rows that none saw."""
    models: tuple[Callable[[Matrix], Matrix], ...]

    def scores_of(self, features: Matrix, fold: Ints) -> Matrix:
        """Scores of rows by the model that did not see them, or by all of them on average."""
        return _scores(self.models, features, fold)


def cross_fitted(features: Matrix, train: Ints, value: Any, fit: Fit) -> Learned:
    """Models by cross-fitting: rows `train` of the features have these values; every row is predicted.

    Rows are dealt out by what they hold, not by where they stand: records in another order give the same.
    """
    order = np.lexsort((value, *np.nan_to_num(features[train], nan=-np.inf).T))
    draws = Draws(SEED)
    dealt = draws.step("rows").generator().permutation(len(train))
    chosen = order[np.sort(dealt[:MOST_ROWS])]
    fold = np.full(len(features), -1, dtype=np.int64)
    fold[train[chosen]] = draws.step("folds").generator().permutation(len(chosen)) % FOLDS
    rows, held = train[chosen], value[chosen]
    models = tuple(fit(features[rows[fold[rows] != at]], held[fold[rows] != at]) for at in range(FOLDS))
    return Learned(_scores(models, features, fold), fold, models)


def _scores(models: Sequence[Callable[[Matrix], Matrix]], features: Matrix, fold: Ints) -> Matrix:
    unseen = fold < 0
    parts = [(np.flatnonzero(unseen | (fold == at)), model) for at, model in enumerate(models)]
    found: Matrix | None = None
    for rows, model in parts:
        if len(rows):
            score = model(features[rows])
            found = np.zeros((len(features), score.shape[1])) if found is None else found
            found[rows] += score / np.where(unseen[rows], len(models), 1)[:, None]
    assert found is not None
    return found


def disclosing_columns(features: Matrix, learned: Learned, rows: Ints, loss: Callable[[Matrix, Ints], float]) -> Ints:
    """Columns by how much worse the models are on some rows if the column's values are dealt out anew, worst first."""
    order = rows[np.lexsort(np.nan_to_num(features[rows], nan=-np.inf).T)]
    draw = Draws(SEED).step("columns").generator()
    asked = order[np.sort(draw.permutation(len(order))[:ASKED])]
    fold, before = learned.fold[asked], loss(learned.score[asked], asked)
    worse = np.zeros(features.shape[1])
    for column in range(features.shape[1]):
        other = features[asked].copy()
        other[:, column] = other[draw.permutation(len(asked)), column]
        worse[column] = loss(learned.scores_of(other, fold), asked) - before
    best = np.argsort(-worse, kind="stable")[:NAMED]
    return best[worse[best] > 0] if (worse > 0).any() else best[:1]


def learner_leaks(files: Files, variables: Sequence[Protected], remaining: dict[str, Bools]) -> Iterator[Leak]:
    """Leaks by a learner, of the cells that nothing else gives back."""
    trees, one_thread = _trees()
    for protected in variables:
        left = remaining[protected.name]
        names = [name for name in files.columns if name != protected.name and files.distinct(name) > 1]
        if not left.any() or not names or len(protected.shown_rows) < LEAST_ROWS:
            continue
        shown = len(np.unique(protected.shown[protected.shown_rows]))
        numeric = protected.numbers is not None and protected.released_numbers is not None and shown > MOST_VALUES
        with one_thread(limits=1, user_api="openmp"):
            found = (_number if numeric else _category)(files, protected, names, left, trees)
        if found is not None:
            yield found


def _trees() -> tuple[Any, Any]:
    """The trees, and what keeps them to one thread: sums in one order, and no waiting for processors that are busy."""
    try:
        from sklearn import ensemble
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise TacitaError('learner=True needs scikit-learn; install it with pip install "tacita[learners]".') from None
    return ensemble, threadpool_limits


def _features(files: Files, names: Sequence[str], rows: Ints) -> tuple[Matrix, list[bool]]:
    """Columns as numbers, and by column whether they are categories."""
    columns: list[Floats] = []
    categories = []
    for name in names:
        numbers, codes = files.numbers(name), files.codes(name)
        assert codes is not None
        columns.append(codes[rows].astype(np.float64) if numbers is None else numbers[rows])
        categories.append(numbers is None and files.distinct(name) <= MOST_CATEGORIES)
    return np.column_stack(columns), categories


def _asked(rows: Ints, cells: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows that matter, and the places of those that are learned from and of the cells among them."""
    every = np.union1d(rows, cells)
    return every, np.searchsorted(every, rows), np.searchsorted(every, cells)


def _classifier(trees: Any, categories: list[bool], values: int) -> Fit:
    """Trees that give the probability of each of so many values."""

    def fit(x: Matrix, y: Ints) -> Callable[[Matrix], Matrix]:
        if len(np.unique(y)) < 2:
            return lambda asked: np.zeros((len(asked), values))
        model = trees.HistGradientBoostingClassifier(
            early_stopping=False, categorical_features=categories, random_state=SEED
        ).fit(x, y)

        def scores(asked: Matrix) -> Matrix:
            found = np.zeros((len(asked), values))
            found[:, model.classes_] = model.predict_proba(asked)
            return found

        return scores

    return fit


def _regressor(trees: Any, categories: list[bool]) -> Fit:
    """Trees that give a number."""

    def fit(x: Matrix, y: Floats) -> Callable[[Matrix], Matrix]:
        model = trees.HistGradientBoostingRegressor(
            early_stopping=False, categorical_features=categories, random_state=SEED
        ).fit(x, y)
        return lambda asked: np.asarray(model.predict(asked), dtype=np.float64)[:, None]

    return fit


def _category(files: Files, protected: Protected, names: list[str], left: Bools, trees: Any) -> Leak | None:
    left = left & protected.learnable
    count = np.bincount(protected.shown[protected.shown_rows], minlength=protected.codes + 1)
    values = np.flatnonzero(count >= LEAST_OF_VALUE)
    values = np.sort(values[np.argsort(-count[values], kind="stable")][:MOST_VALUES])
    if len(values) < 2 or not left.any():
        return None
    place = np.full(protected.codes + 1, len(values), dtype=np.int64)
    place[values] = np.arange(len(values))
    rows, train, cells = _asked(protected.shown_rows, protected.rows[left])
    features, categories = _features(files, names, rows)
    value = place[protected.shown[protected.shown_rows]]
    learned = cross_fitted(features, train, value, _classifier(trees, categories, len(values) + 1))
    guess = np.zeros(len(protected), dtype=np.int64)
    by_row = trusted_guesses(learned, np.append(values, 0), protected.shown[rows], protected.shares, len(names))
    guess[left] = by_row[cells]
    known = judged_codes(protected, guess, left, len(names))
    if known is None:
        return None
    tested = np.flatnonzero(learned.fold >= 0)
    true = place[protected.shown[rows]]
    best = disclosing_columns(
        features, learned, tested, lambda score, asked: -float(score[np.arange(len(asked)), true[asked]].mean())
    )
    return _leak(protected, [names[at] for at in best], known)


def trusted_guesses(learned: Learned, values: Ints, shown: Ints, shares: Floats, tried: int) -> Ints:
    """By row: the value of which the models are sure, where an intruder trusts that; 0 elsewhere.

    `values` are the codes that the columns of the scores stand for, 0 for all others together; `shown` is by row.
    """
    top = learned.score.argmax(axis=1)
    sure = (learned.score[np.arange(len(top)), top] >= SURE) & (values[top] > 0)
    guess = np.where(sure, values[top], 0)
    tested = sure & (learned.fold >= 0)
    hits = tested & (guess == shown)
    if is_trusted(int(hits.sum()), int(tested.sum()), float(shares.max()), tried):
        return guess
    # Rare values are what is suppressed: the learner may be right to be sure of some of them only.
    said = np.unique(guess[tested])
    good = [
        code
        for code in said.tolist()
        if is_trusted(int((hits & (guess == code)).sum()), int((tested & (guess == code)).sum()), float(shares[code]),
                      tried * len(said))
    ]  # fmt: skip
    return np.where(np.isin(guess, good), guess, 0)


def _number(files: Files, protected: Protected, names: list[str], left: Bools, trees: Any) -> Leak | None:
    assert protected.released_numbers is not None
    shown = np.flatnonzero(~np.isnan(protected.released_numbers))
    if len(shown) < LEAST_ROWS:
        return None
    rows, train, _ = _asked(shown, protected.rows[left])
    features, categories = _features(files, names, rows)
    value = protected.released_numbers[shown]
    learned = cross_fitted(features, train, value, _regressor(trees, categories))
    guess = np.full(len(files), np.nan)
    guess[rows] = learned.score[:, 0]
    if protected.unit:
        guess = np.round(guess / protected.unit) * protected.unit
    guess[protected.rows[~left]] = np.nan
    tested = protected.true_rows[~np.isnan(guess[protected.true_rows])]
    known = judged(protected, guess, tried=len(names)) if len(tested) >= LEAST_ROWS else None
    if known is None:
        return None
    true = protected.released_numbers[rows]
    best = disclosing_columns(
        features,
        learned,
        np.flatnonzero(learned.fold >= 0),
        lambda score, asked: float(((score[:, 0] - true[asked]) ** 2).mean()),
    )
    return _leak(protected, [names[at] for at in best], known)


def _leak(protected: Protected, names: list[str], known: tuple[Bools, Bools]) -> Leak:
    listed = ", ".join(map(repr, names))
    how = f"a learner from all other columns, above all {listed}"
    return leak(protected, "learner", tuple(names), how, f"coarsen or remove {' or '.join(map(repr, names))}", *known)
