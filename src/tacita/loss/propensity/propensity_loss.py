"""How well a model tells a release from its original: the propensity score mean squared error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats
from tacita.check import TacitaError, quoted
from tacita.data import Data
from tacita.loss.both_files import Both, Variables, both_files, compared_variables
from tacita.loss.measured import none_for_nan
from tacita.loss.propensity.propensity_classes import Alone, Stacked, alone, null_mean, null_sd, stacked
from tacita.loss.propensity.propensity_model import (
    Effect,
    class_effect,
    fitted,
    linear_effects,
    model_of,
    shares_of_variables,
    with_two_way,
)
from tacita.loss.propensity.propensity_tree import shares_of_splits, tree_features, tree_fit
from tacita.measures import GENTLER, at_most, measure, own_rule
from tacita.parameters import AtLeast, Doc
from tacita.progress import Progress, no_progress
from tacita.random import Draws
from tacita.result import Percent, Result, Table, number
from tacita.scenario import Scenario
from tacita.work import Work

NAN = math.nan
TREE_PERMUTATIONS = 20
SHOWN = 12
"""Variables and pairs that are printed."""


class Null(NamedTuple):
    """What chance gives."""

    mean: float
    sd: float
    permutations: int
    """0: by formula."""


@dataclass(frozen=True, eq=False)
class PropensityLoss(Result):
    """How well a model tells released records from original ones."""

    model: str
    """`logistic` or `tree`."""
    records: int
    """Of both files."""
    share: float
    """The share of them that is released."""
    terms: int
    """Coefficients of the model, or leaves of the tree."""
    pmse: float
    """Mean of (score - share)^2."""
    null: Null
    """Its expectation for a release that was drawn from the right model."""
    variables: tuple[str, ...]
    """The variables of the model."""
    contributions: Floats
    """By variable its share in what the model tells."""
    alone: tuple[Alone, ...]
    """By variable how far its classes by themselves tell the files apart."""
    pairs: tuple[Alone, ...]
    """The same by pair of variables, if asked for."""
    cautions: tuple[str, ...]
    """What the reader should know."""

    @property
    def relative(self) -> float:
        """pMSE over its greatest value c(1 - c): 0 the files cannot be told apart, 1 every record is told."""
        return self.pmse / (self.share * (1.0 - self.share))

    @property
    def ratio(self) -> float:
        """pMSE over its expectation: about 1 if only chance is at work; NaN if there is none."""
        return self.pmse / self.null.mean if self.null.mean > 0 else NAN

    @property
    def standardised(self) -> float:
        """(pMSE - expectation) / standard deviation."""
        return (self.pmse - self.null.mean) / self.null.sd if self.null.sd > 0 else NAN

    @property
    def headline(self) -> str:
        """pMSE and its ratio."""
        against = "of which chance gives none"
        if not math.isnan(self.ratio):
            against = f"{number(self.ratio)} times what chance gives a release drawn from the right model"
        return (
            f"a {self.model} model tells released records from original ones by {number(self.relative)} (0 not at all, "
            f"1 every one): pMSE {self.pmse:.3g}, {against}"
        )

    def sentences(self) -> tuple[str, ...]:
        """What it is compared with."""
        how = "by formula" if not self.null.permutations else f"from {self.null.permutations:,} permutations"
        size = f"{self.terms:,} {'leaves' if self.model == 'tree' else 'coefficients'}"
        z = "" if math.isnan(self.standardised) else f"; {number(self.standardised)} standard deviations above it"
        return (
            f"{self.records:,} records, {size}; expected pMSE {self.null.mean:.3g}, sd {self.null.sd:.3g} ({how}){z}.",
        )

    def tables(self) -> tuple[Table, ...]:
        """Which variables give the release away."""
        order = sorted(range(len(self.variables)), key=lambda at: -float(self.contributions[at]))[:SHOWN]
        rows = tuple(
            (self.variables[at], Percent(self.contributions[at]), self.alone[at].pmse, self.alone[at].ratio)
            for at in order
        )
        found = [Table(("gives it away", "share in the model", "pMSE alone", "ratio alone"), rows)]
        if self.pairs:
            most = sorted(self.pairs, key=lambda each: -(0.0 if math.isnan(each.ratio) else each.ratio))[:SHOWN]
            pairs = tuple((" x ".join(each.variables), each.pmse, each.ratio) for each in most)
            found.append(Table(("pair of variables", "pMSE", "ratio"), pairs))
        return tuple(found)

    def to_frame(self) -> frame.Frame:
        """One row per variable, and per pair if asked for."""
        every = [*self.alone, *self.pairs]
        shares = [*self.contributions.tolist(), *(NAN for _ in self.pairs)]
        return frame.table(
            {
                "variables": [" x ".join(each.variables) for each in every],
                "share_in_model": shares,
                "pmse_alone": [each.pmse for each in every],
                "ratio_alone": [each.ratio for each in every],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """pMSE, what it is compared with, and the variables."""
        names = ("model", "records", "share", "terms", "pmse", "relative")
        return {name: getattr(self, name) for name in names} | {
            "expected": self.null.mean,
            "sd": self.null.sd,
            "permutations": self.null.permutations,
            "ratio": none_for_nan(self.ratio),
            "standardised": none_for_nan(self.standardised),
            "contributions": dict(zip(self.variables, self.contributions.tolist(), strict=True)),
        }


def _work(original: Data, released: Data, scenario: Scenario, options: Mapping[str, Any]) -> Work:
    """A fit goes over all pairs of terms of each record a dozen times; every permutation is one more fit."""
    terms = len(check.names("variables", options["variables"]) or set(original.columns) & set(released.columns))
    terms = math.comb(terms + 1, 2) if options["two_way"] else terms
    again = 1 + (options["permutations"] or (20 if options["model"] == "tree" else 0))
    size = (len(original) + len(released)) * float(terms)
    one = 1e-7 * size if options["model"] == "tree" else 1e-8 * size * terms + 1e-8 * (terms * options["classes"]) ** 3
    pairs = len(original.columns) ** 2 / 2 * 1e-7 * (len(original) + len(released)) if options["pairs"] else 0.0
    return Work(one * again + pairs, "name fewer variables, no two-way terms or fewer permutations")


@measure(
    work=_work,
    files=2,
    kind="loss",
    limit=at_most("relative", "how far released records are told from original ones", moved_by=GENTLER),
    missing=own_rule("A missing value is a class of its own."),
)
def propensity_loss(
    original: Data,
    released: Data,
    scenario: Scenario,
    *,
    variables: Variables = None,
    model: Annotated[Literal["logistic", "tree"], Doc("Logistic regression, or a tree.")] = "logistic",
    two_way: Annotated[bool, Doc("Logistic: with the products of the terms of any two variables.")] = False,
    classes: Annotated[int, AtLeast(2), Doc("Most frequent categories, or intervals of numbers, told apart.")] = 8,
    numbers: Annotated[
        Literal["classes", "linear"], Doc("Logistic: numbers by intervals, or as they are.")
    ] = "classes",
    pairs: Annotated[bool, Doc("Also each pair of variables by itself.")] = False,
    least_leaf: Annotated[int | None, AtLeast(1), Doc("Tree: records of a leaf; one in 200 unless given.")] = None,
    permutations: Annotated[int | None, AtLeast(2), Doc("Null by so many permutations; 20 for a tree.")] = None,
    seed: Annotated[int, AtLeast(0), Doc("Of the permutations.")] = 1,
    progress: Progress = no_progress,
) -> PropensityLoss:
    """How well a model tells released records from original ones (pMSE), and which variables give them away.

    Both files are put one above the other, and the membership is explained by all variables. The pMSE is the mean of
    (score - c)^2, c the share that is released. It is compared with its expectation for a release drawn from the right
    model, by formula or from permutations of the membership, which are brought to the same footing.

    References: Woo, Reiter, Oganian and Karr (2009); Snoke, Raab, Nowok, Dibben and Slavkovic (2018).

    >>> import polars as pl
    >>> before, after = pl.DataFrame({"sex": ["f", "m"] * 50}), pl.DataFrame({"sex": ["f"] * 75 + ["m"] * 25})
    >>> found = propensity_loss(before, after, Scenario(keys=["sex"]))
    >>> round(found.pmse, 4), round(found.ratio, 1)
    (0.0167, 26.7)
    """
    both = both_files(original, released, scenario, weighted=False)
    names = compared_variables(both, scenario, variables)
    kept = [name for name in names if name in both.released.columns]
    if not kept:
        raise TacitaError(f"the release has none of the variables of the model: {quoted(names)}.")
    progress(0.0, "coding variables")
    columns = [stacked(both, name, classes) for name in kept]
    membership = np.repeat([0.0, 1.0], [len(both.original), len(both.released)])
    draws = Draws(seed).step("propensity")
    task = _Task(columns, membership, permutations, draws, progress)
    if model == "tree":
        terms, pmse, null, contributions = _by_tree(task, least_leaf)
    else:
        terms, pmse, null, contributions = _by_logistic(task, two_way, numbers)
    couples = itertools.combinations(columns, 2) if pairs else ()
    return PropensityLoss(
        model=model,
        records=len(membership),
        share=float(membership.mean()),
        terms=terms,
        pmse=pmse,
        null=null,
        variables=tuple(kept),
        contributions=contributions,
        alone=tuple(alone((column,), membership) for column in columns),
        pairs=tuple(alone(couple, membership) for couple in couples),
        cautions=tuple(_cautions(both, names, columns)),
    )


def _cautions(both: Both, names: tuple[str, ...], columns: list[Stacked]) -> list[str]:
    found = []
    removed = [name for name in names if name not in both.released.columns]
    if removed:
        found.append(f"not in the release, and not in the model: {quoted(removed)}.")
    recoded = [column.name for column in columns if column.recoded]
    if recoded:
        found.append(f"recoded, and compared on the classes of the release: {quoted(recoded)}.")
    if both.own is not None and (both.own >= 0).all() and any(not column.recoded for column in columns):
        found.append(
            "if the released records are the original ones, changed, chance is smaller than the expectation has it: a "
            "ratio near 1 is then no sign that nothing was lost."
        )
    return found


class _Task(NamedTuple):
    """What is told apart, and by how many permutations it is judged."""

    columns: list[Stacked]
    membership: Floats
    permutations: int | None
    draws: Draws
    progress: Progress


def _by_logistic(task: _Task, two_way: bool, numbers: str) -> tuple[int, float, Null, Floats]:
    effects: list[Effect] = []
    for at, column in enumerate(task.columns):
        if numbers == "linear" and column.numbers is not None:
            effects += linear_effects(at, column.numbers)
        elif column.size > 1:
            effects.append(class_effect(at, column.codes, column.size))
    model = model_of(with_two_way(effects) if two_way else effects, len(task.membership))
    fit = fitted(model, task.membership, lambda: task.progress(0.2, "fitting the model"))
    contributions = shares_of_variables(model, fit, len(task.columns))
    share, records = float(task.membership.mean()), len(task.membership)
    null = Null(null_mean(model.rank, share, records), null_sd(model.rank, share, records), 0)
    if task.permutations:
        null = _permuted(task, task.permutations, lambda membership: fitted(model, membership, _nothing).score)
    return model.rank, _pmse(fit.score, share), null, contributions


def _nothing() -> None:
    """No progress is said within a permutation."""


def _by_tree(task: _Task, least_leaf: int | None) -> tuple[int, float, Null, Floats]:
    features = tree_features(task.columns)
    least = max(7, -(-len(task.membership) // 200)) if least_leaf is None else least_leaf
    task.progress(0.1, "growing the tree")
    fit = tree_fit(features, task.membership, least)
    contributions = shares_of_splits(fit, features, task.membership)
    count = task.permutations or TREE_PERMUTATIONS
    null = _permuted(task, count, lambda membership: tree_fit(features, membership, least).score)
    return fit.tree.leaves, _pmse(fit.score, float(task.membership.mean())), null, contributions


def _pmse(score: Floats, share: float) -> float:
    return float(np.square(score - share).mean())


def _permuted(task: _Task, count: int, score: Callable[[Floats], Floats]) -> Null:
    """Mean and sd of the pMSE where the membership is exchanged at random.

    That takes both files for samples; a release is drawn while the original stands, which leaves 1 - c of it.
    """
    share, records = float(task.membership.mean()), np.arange(len(task.membership))
    found = []
    for at in range(count):
        task.progress(0.3 + 0.7 * at / count, "permuting the files")
        order = np.argsort(task.draws.uniform(records, draw=at), kind="stable")
        found.append(_pmse(score(task.membership[order]), share))
    return Null((1.0 - share) * float(np.mean(found)), (1.0 - share) * float(np.std(found, ddof=1)), count)
