"""Probabilistic record linkage as an attack (Fellegi-Sunter): agreement on a rare value says more than on a common one.

The intruder does not measure distances; he asks on which variables two records agree, learns from all pairs what an
agreement is worth, links the pairs whose weight is high and leaves those between two cut-offs open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np

from tacita import check, frame
from tacita.arrays import Floats, Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.comparison import common_codes, number_columns
from tacita.distance.probabilistic import (
    MOST_VARIABLES,
    Blocks,
    Mixture,
    best_links,
    blocks,
    count_patterns,
    cutoffs,
    expectation_maximisation,
    expected_matches,
    pair_weights,
    pattern_weights,
)
from tacita.distance.scenario_keys import AnyKeys, Unit, all_keys
from tacita.keys.source import combined
from tacita.measures import measure, own_rule
from tacita.parameters import Doc, OneOf, Share, checked_options
from tacita.progress import Progress, no_progress, part
from tacita.result import number
from tacita.risk.linkage.files import External, Files, two_files
from tacita.risk.linkage.linked import LINKED, Linkage
from tacita.scenario import Scenario
from tacita.work import Work

MOST_COMPARISONS = 2_000_000_000
"""More pairs of different records are not compared: blocks are too large."""

ENGINES = ("tacita", "splink")


@dataclass(frozen=True, eq=False, kw_only=True)
class ProbabilisticLinkage(Linkage):
    """Released records linked to the records of the intruder's file with the greatest weight."""

    weight: Floats
    """By released record: the weight of its best candidates, minus infinity if there is none."""
    upper: float
    """From this weight on a pair is a link; infinite if no weight is high enough."""
    lower: float
    """Below this weight a pair is no link; between, nobody can say."""
    block: tuple[str, ...]
    """Only records that agree on these variables were compared."""
    pairs: int
    """How many pairs that are."""
    matches: float
    """How many of them the model takes for the same unit."""
    m: dict[str, float]
    """By variable: how likely records of the same unit agree, by the model."""
    u: dict[str, float]
    """By variable: how likely other records agree."""
    converged: bool
    """Whether the estimation came to rest."""

    @property
    def agreement(self) -> dict[str, float]:
        """By variable: the weight of an agreement, log2(m/u)."""
        return {name: float(np.log2(m / self.u[name])) for name, m in self.m.items()}

    def _further_sentences(self) -> list[str]:
        worth = ", ".join(f"{name} {weight:.3g}" for name, weight in self.agreement.items())
        link = "no weight is high enough for a link" if np.isinf(self.upper) else f"links from weight {self.upper:.3g}"
        lines = [
            f"{link}, possible links from {self.lower:.3g}; an agreement is worth {worth}",
            f"{number(round(self.matches, 1))} of {self.pairs:,} pairs are taken for the same unit",
        ]
        if not self.converged:
            lines.append("the estimation did not come to rest; add variables or compare fewer pairs")
        return lines

    def _missing_treatment(self) -> str:
        return "compared on what they show"

    def record_columns(self) -> dict[str, Any]:
        """The link of each record with its weight."""
        return {**super().record_columns(), "weight": np.where(np.isinf(self.weight), np.nan, self.weight)}

    def to_dict(self) -> dict[str, Any]:
        """Links of every kind, the cut-offs and the model."""
        return {
            **super().to_dict(),
            "upper": None if np.isinf(self.upper) else self.upper,
            "lower": None if np.isinf(self.lower) else self.lower,
            "pairs": self.pairs,
            "matches": self.matches,
            "m": dict(self.m),
            "u": dict(self.u),
            "converged": self.converged,
        }

    def model(self) -> frame.Frame:
        """One row per variable: m, u and the weights of agreeing and of differing."""
        m, u = (np.array(list(each.values())) for each in (self.m, self.u))
        return frame.table(
            {
                "variable": list(self.m),
                "m": m,
                "u": u,
                "agree": np.log2(m / u),
                "differ": np.log2((1 - m) / (1 - u)),
            }
        )


class Comparable(NamedTuple):
    """Two files ready for comparing, in order of record number."""

    x: Floats
    """Codes or numbers of the original, NaN where missing."""
    y: Floats
    tolerance: Floats
    """By variable: up to which difference values agree."""
    x_block: Ints
    """By record: its block, -1 if a value of the block variables is missing."""
    y_block: Ints


def comparable(files: Files, tolerance: Any, block: tuple[str, ...]) -> Comparable:
    """The variables and blocks of both files."""
    names = files.names
    if not 1 <= len(names) <= MOST_VARIABLES:
        raise TacitaError(f"keys must be 1 to {MOST_VARIABLES}; got {len(names)}.")
    both = [name for name in names if name in block]
    if both:
        raise TacitaError(f"block and keys must differ; {check.quoted(both)} is in both.")
    widths = _widths(tolerance, names)
    pairs = [_values(files.original, files.released, name, name in widths) for name in names]
    x, y = (np.column_stack(columns) for columns in zip(*pairs, strict=True))
    width = np.array([widths.get(name, 0.0) for name in names])
    x_block, y_block = _blocks(files.original, files.released, block)
    return Comparable(x[files.x_order], y[files.y_order], width, x_block[files.x_order], y_block[files.y_order])


def _widths(tolerance: Any, names: tuple[str, ...]) -> dict[str, float]:
    given = check.mapping("tolerance", {} if tolerance is None else tolerance)
    check.columns_exist("tolerance", list(given), names)
    widths = {name: check.number(f"tolerance of {name!r}", width) for name, width in given.items()}
    if min(widths.values(), default=0.0) < 0:
        raise TacitaError(f"a tolerance must not be negative; got {min(widths.values()):g}.")
    return widths


def _values(original: Data, released: Data, name: str, as_number: bool) -> tuple[Floats, Floats]:
    for what, data in (("original", original), ("released", released)):
        check.columns_exist(f"keys of the {what} file", (name,), data.columns)
    if as_number:
        return number_columns(original, (name,), "original")[:, 0], number_columns(released, (name,), "released")[:, 0]
    return common_codes(original, released, name)


def _blocks(original: Data, released: Data, block: tuple[str, ...]) -> tuple[Ints, Ints]:
    """By record of each file the number of its block."""
    n = len(original)
    if not block:
        return np.zeros(n, np.int64), np.zeros(len(released), np.int64)
    columns = []
    for name in block:
        for what, data in (("original", original), ("released", released)):
            check.columns_exist(f"block of the {what} file", (name,), data.columns)
        columns.append(np.concatenate(common_codes(original, released, name)))
    gone = np.asarray(np.isnan(np.stack(columns)).any(axis=0))
    codes = [np.where(gone, 0.0, column).astype(np.uint32) for column in columns]
    number_of = combined(codes, [int(column.max()) + 1 for column in codes], len(gone))
    groups = np.unique(number_of, return_inverse=True)[1].reshape(-1)
    groups = np.where(gone, -1, groups)
    return groups[:n], groups[n:]


def _work(original: Data, released: Data, scenario: Scenario, options: Mapping[str, Any]) -> Work | None:
    """Without blocks every pair of records is compared twice, on every variable."""
    names = check.names("keys", options["keys"]) or (*scenario.keys, *scenario.numeric_keys)
    if options["block"]:
        return None
    return Work(6e-9 * len(original) * len(released) * len(names), "name variables with block=[...]")


@measure(
    work=_work,
    files=2,
    limit=LINKED,
    for_perturbed=True,
    missing=own_rule("A missing value says nothing for or against a link."),
)
def probabilistic_linkage(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: AnyKeys = None,
    block: Annotated[tuple[str, ...], Doc("Only records that agree on these variables are compared.")] = (),
    tolerance: Annotated[
        Mapping[str, float] | None, Doc("By numeric variable: up to which difference values agree.")
    ] = None,
    false_links: Annotated[float, Share(), Doc("Greatest share of false links by the model.")] = 0.05,
    missed_links: Annotated[float, Share(), Doc("Greatest share of missed links by the model.")] = 0.05,
    engine: Annotated[str, OneOf(ENGINES), Doc("Who estimates the model.")] = "tacita",
    unit: Unit = None,
    external: External = False,
    progress: Progress = no_progress,
) -> ProbabilisticLinkage:
    """Link released records by the weight of what they agree on (Fellegi and Sunter).

    Records are compared on all keys of the scenario, numeric ones too, or on the `keys` given.
    Two records agree on a variable if the values are equal, or for numbers if |x - y| is within its `tolerance`; a
    missing value says nothing. With m_j and u_j the probabilities that a pair of the same unit, and another pair,
    agree on variable j, a pair has the weight sum of log2(m_j/u_j) where it agrees and log2((1-m_j)/(1-u_j)) where it
    differs. EM estimates m, u and the share of pairs of the same unit from the counts of agreement patterns, without
    knowing who is who. Links are the pairs above the upper cut-off, the lowest one with at most the share `false_links`
    of false links by the model; below the lower cut-off lies at most the share `missed_links` of the pairs of the same
    unit; pairs between are possible links. Each released record takes its best candidate; equally good ones tie.

    `block`: only records that agree on these variables are compared, which a large file needs.
    `engine="splink"` lets Splink estimate the model (pip install "tacita[linkage]"), a second opinion; it sets no limit
    to the share of pairs of the same unit, here at most one for each record of the smaller file.
    `unit` and `external` are those of `distance_linkage`.

    References: Fellegi and Sunter (1969), A theory for record linkage. JASA 64; Jaro (1989), Advances in record-linkage
    methodology. JASA 84.

    >>> import tacita as tc
    >>> people = tc.household_survey().data
    >>> scenario = Scenario(keys=["sex", "age", "marital"])
    >>> found = probabilistic_linkage(people, people, scenario, block=["region"])
    >>> found.unlinked
    0
    """
    names = all_keys("probabilistic_linkage", scenario, keys)
    options = {"block": block, "false_links": false_links, "missed_links": missed_links, "engine": engine}
    by, *limits, _ = checked_options(probabilistic_linkage, options).values()
    files = two_files(original, released, names, scenario, unit, external)
    given = comparable(files, tolerance, by)
    inside = _inside(given)
    progress(0.1, "comparing pairs")
    counts = count_patterns(inside, given.tolerance, part(progress, 0.1, 0.4))
    progress(0.4, "estimating the model")
    model = _estimated(given, counts, _most_matches(files, inside), engine)
    progress(0.6, "linking records")
    estimator = " by Splink" if engine == "splink" else ""
    where = f", inside {', '.join(by)}" if by else ""
    return ProbabilisticLinkage(
        **_links(files, given, inside, counts, model, (limits[0], limits[1]), part(progress, 0.6, 1.0)),
        how=f"Fellegi-Sunter{estimator}{where}",
        block=by,
        m=dict(zip(files.names, model.m.tolist(), strict=True)),
        u=dict(zip(files.names, model.u.tolist(), strict=True)),
        converged=model.converged,
    )


def _inside(given: Comparable) -> Blocks:
    """The pairs to be compared, if there are any and not too many."""
    inside = blocks(given.x, given.y, given.x_block, given.y_block)
    if not inside.pairs:
        raise TacitaError("no two records are in the same block; choose other block variables.")
    if inside.comparisons > MOST_COMPARISONS:
        raise TacitaError(
            f"{inside.comparisons:,} pairs are too many to compare; name variables with block=[...], or more of them."
        )
    return inside


def _estimated(given: Comparable, counts: Ints, most: float, engine: str) -> Mixture:
    if engine == "tacita":
        return expectation_maximisation(counts, most)
    from tacita.distance.splink_model import splink_mixture

    return splink_mixture(given.x, given.y, given.x_block, given.y_block, given.tolerance, counts, most)


def _most_matches(files: Files, inside: Blocks) -> float:
    """The share of pairs of the same unit if every record of the smaller file has a partner in the other."""
    return min(0.5, min(len(files.original), len(files.released)) / inside.pairs)


def _own_best(files: Files, given: Comparable, weight: Floats, best: Floats) -> Ints:
    """By released record in order: how many of its best candidates are the same unit."""
    y, x = files.own_pairs()
    compared = (given.x_block[x] == given.y_block[y]) & (given.y_block[y] >= 0)
    y, x = y[compared], x[compared]
    as_good = pair_weights(given.x[x], given.y[y], given.tolerance, weight) == best[y]
    return np.bincount(y[as_good], minlength=len(best))


def _links(
    files: Files,
    given: Comparable,
    inside: Blocks,
    counts: Ints,
    model: Mixture,
    limits: tuple[float, float],
    progress: Progress,
) -> dict[str, Any]:
    """The best candidates of every released record under the model, those below the lower cut-off being none."""
    weight, matches = pattern_weights(model.m, model.u), expected_matches(counts, model)
    there = counts > 0
    cut = cutoffs(weight[there], matches[there], (counts - matches)[there], *limits)
    best = best_links(inside, given.tolerance, weight, progress)
    kept = best.weight >= cut.lower
    candidates = np.where(kept, best.ties, 0)
    right = _own_best(files, given, weight, best.weight) / np.maximum(best.ties, 1)
    return {
        **files.linked(
            link=np.where(kept, best.row, -1),
            candidates=candidates,
            clear=(candidates == 1) & (best.weight >= cut.upper),
            correct=np.where(kept, right, 0.0),
        ),
        "missing": int(np.isnan(given.y).any(axis=1).sum()),
        "weight": files.in_rows(best.weight),
        "upper": cut.upper,
        "lower": cut.lower,
        "pairs": inside.pairs,
        "matches": float(matches.sum()),
    }
