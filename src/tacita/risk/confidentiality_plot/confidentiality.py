"""The confidentiality plot: how well each released record hides among the originals, and how far it was moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacita import check
from tacita.arrays import Ints
from tacita.check import TacitaError
from tacita.data import Data
from tacita.distance.histogram import FEW
from tacita.distance.scenario_keys import NumericKeys, Strata, numeric_keys, strata_of
from tacita.distance.sweep import Pairs, pairs
from tacita.distance.sweep import strata as rows_of_strata
from tacita.measures import at_most, measure, own_rule
from tacita.progress import Progress, no_progress, part
from tacita.risk.confidentiality_plot.files import Compared, compared
from tacita.risk.confidentiality_plot.limits import Limits, limits_of
from tacita.risk.confidentiality_plot.options import (
    Alpha,
    Archive,
    Bend,
    Delta,
    Log,
    MetricName,
    Neighbours,
    Perturbation,
    PolicyLimits,
    Ratio,
    Size,
    Vertical,
    Weighted,
    Zeros,
)
from tacita.risk.confidentiality_plot.pairs import correct_links, likelihood_ratio, neighbourhoods, z_of_own
from tacita.risk.confidentiality_plot.ranks import largest_units, ranks_kept
from tacita.risk.confidentiality_plot.recounted import check_options, recounted
from tacita.risk.confidentiality_plot.result import Confidentiality
from tacita.risk.confidentiality_plot.sampled import check_sample, of_sample
from tacita.scenario import Scenario, with_codes

RATIO_PAIRS = 400_000_000
"""With more pairs, over all strata, the likelihood ratio is worked out only if it is asked for."""
LISTED_PAIRS = 1 << 25
"""The same if so many of them are in strata so small that they are listed one by one, which takes longer."""


@measure(
    files=2,
    needs="numeric_keys",
    called_for=("original", "numeric_keys", "neighbours"),
    figure="confidentiality",
    for_numeric_keys=True,
    by_sample=True,
    missing=own_rule("Records with a missing numeric key in either file are left out and counted."),
    limit=at_most(
        "share_unsafe",
        "the share of records in the unsafe zone",
        void=1.0,
        moved_by="more Noise, Microaggregate with a larger k, RankSwap with a wider window, or Shuffle",
    ),
)
def confidentiality(
    original: Any,
    released: Any,
    scenario: Scenario,
    *,
    keys: NumericKeys = None,
    strata: Strata = None,
    alpha: Alpha = 0.05,
    delta: Delta = None,
    metric: MetricName = "relative",
    ratio: Ratio = None,
    policy: PolicyLimits = None,
    k: Neighbours = None,
    r: Perturbation = None,
    g: Bend = 1.0,
    vertical: Vertical = None,
    log: Log = False,
    zeros: Zeros = "shift",
    size: Size = None,
    weighted: Weighted = False,
    archive: Archive = None,
    progress: Progress = no_progress,
) -> Confidentiality:
    """How well each released record hides among the originals, and how far it was moved.

    Record i of the released file masks record i of the original (matched by record number). The comparison variable
    of a pair is z = ||y - x|| / ||y|| on the numeric keys, or with another `metric` a distance. The critical distance
    delta is such that a share `alpha` of the wrong pairs of a stratum has z < delta, or is given; neighbours of y are
    the originals with z < delta. With `ratio` (by default unless the file is large) they are also found by the
    likelihood ratio of Fellegi and Sunter, t(z) = m(z)/u(z) > tau. A record is unsafe below the line
    (neighbours/k)^g + (perturbation/r)^g = 1, or with fewer than k neighbours if `vertical`; k and r are those of the
    policy unless given. On the log scale (`log=True`) zeros are shifted, log(1 + x), or their records excluded; there z
    depends on the unit of money, on the scale `log="unit_free"` it does not.

    `weighted`: a neighbour counts as many people or firms as its weight says. `archive`: neighbours are counted within
    the same delta among the records of another file, as of last year's, in which nobody knows who is who.

    References: Seri and Polettini (2003), CASC deliverable 5-D5; Seri, A graphical framework to evaluate risk
    assessment and information loss at individual level.

    >>> import polars as pl
    >>> firms = pl.DataFrame({"turnover": [10.0, 11.0, 12.0, 300.0]})
    >>> masked = pl.DataFrame({"turnover": [11.0, 10.5, 12.5, 290.0]})
    >>> found = confidentiality(firms, masked, Scenario(numeric_keys=["turnover"]), delta=0.2, k=3)
    >>> found.neighbours.tolist(), found.unsafe.tolist()
    ([3, 3, 2, 1], [False, False, True, True])
    """
    limits = limits_of(policy, k, r, g, vertical, scenario)
    level = check.share("alpha", alpha, zero=False, one=False)
    near = None if delta is None else check.number("delta", delta)
    if near is not None and near <= 0:
        raise TacitaError(f"delta must be above 0; got {check.given(delta)}.")
    names, by = numeric_keys("confidentiality", scenario, keys), strata_of(scenario, strata)
    stands_for = released.stands_for
    check_sample(stands_for, ratio, weighted, archive)
    files = compared(original, released, names, by, metric, log, zeros, size)
    scale = {"metric": metric, "log": bool(log), "unit_free": log == "unit_free"}
    if not weighted and archive is None:
        if stands_for is not None:
            return of_sample(of_files(files, [level], near, False, limits, scale, progress)[0], released)
        return of_files(files, [level], near, ratio, limits, scale, progress)[0]
    check_options(weighted, archive, ratio, metric, log)
    source = Data.of(original) if archive is None else with_codes(Data.of(archive), scenario)
    found = of_files(files, [level], near, False, limits, scale, progress)[0]
    kinds = {"weighted": weighted, "archive": archive is not None}
    return recounted(found, files, source, scenario, by, zeros, **kinds)


def of_files(
    files: Compared,
    alphas: Sequence[float],
    delta: float | None,
    ratio: bool | None,
    limits: Limits,
    scale: dict[str, Any],
    progress: Progress,
) -> list[Confidentiality]:
    """The confidentiality of two files at each alpha; what does not depend on alpha is worked out once."""
    y, x, metric, relative = files.where
    rows_of = rows_of_strata(files.stratum, len(files.record))
    groups = [Group(rows, pairs(y[rows], x[rows], metric, relative=relative)) for rows in rows_of]
    large = ratio is None and _many_pairs([len(rows) for rows in rows_of])
    likely = not large if ratio is None else ratio
    ends = np.linspace(0.2, 1.0, 2 * len(alphas) + 1).tolist()
    links = _at_any_alpha(files, groups, part(progress, 0.0, ends[0]))
    found = []
    for index, alpha in enumerate(alphas):
        start, middle, end = ends[2 * index : 2 * index + 3]
        near = _by_distance(groups, len(files.record), alpha, delta, part(progress, start, middle))
        by_ratio = _by_ratio(groups, len(files.record), alpha, likely, part(progress, middle, end))
        shown = alpha if delta is None else None
        shared = {**scale, **links, "limits": limits, "too_large": large}
        found.append(Confidentiality(**shared, **near, **by_ratio, alpha=shown, level=alpha))
    return found


class Group(NamedTuple):
    """One stratum: the rows of its records, and its pairs."""

    rows: Ints
    pairs: Pairs


def _many_pairs(sizes: list[int]) -> bool:
    """Whether the likelihood ratio would take more than a few seconds."""
    return sum(n * n for n in sizes) > RATIO_PAIRS or sum(min(n * n, FEW) for n in sizes) > LISTED_PAIRS


def _in_turn(groups: list[Group], progress: Progress, what: str) -> Iterator[Group]:
    """The strata one after the other, with progress by their pairs."""
    pairs_of = [float(len(group.rows)) ** 2 for group in groups]
    before = np.cumsum([0.0, *pairs_of]) / max(sum(pairs_of), 1.0)
    for group, done in zip(groups, before.tolist(), strict=False):
        progress(done, what)
        yield group


def _at_any_alpha(files: Compared, groups: list[Group], progress: Progress) -> dict[str, Any]:
    correct, own = np.empty(len(files.record)), np.empty(len(files.record))
    for rows, given in _in_turn(groups, progress, "looking for the nearest originals"):
        correct[rows], own[rows] = correct_links(given), z_of_own(given)
    return {
        "keys": files.keys,
        "record": files.record,
        "stratum": files.stratum,
        "labels": files.labels,
        "perturbation": files.perturbation,
        "correct": correct,
        "distance": own,
        "largest": largest_units(files.size, files.stratum, files.record),
        "ranks": ranks_kept(files.size, files.released_size, files.stratum, files.record, len(files.labels)),
        "ranked": np.bincount(files.stratum[~np.isnan(files.size)], minlength=len(files.labels)),
        "size": files.size_name,
        "left_out": files.left_out,
        "not_judged": files.not_judged,
        "pairing_cautions": files.pairing_cautions,
    }


def _by_distance(groups: list[Group], n: int, alpha: float, delta: float | None, progress: Progress) -> dict[str, Any]:
    near, inside, deltas = np.zeros(n, np.int64), np.zeros(n, np.bool_), np.empty(len(groups))
    for index, (rows, given) in enumerate(_in_turn(groups, progress, "counting neighbours")):
        deltas[index], near[rows], inside[rows] = neighbourhoods(given, alpha, delta)
    return {"delta": deltas, "neighbours": near, "inside": inside}


def _by_ratio(groups: list[Group], n: int, alpha: float, asked: bool, progress: Progress) -> dict[str, Any]:
    if not asked:
        return {"ratios": None, "likely_neighbours": None, "likely_inside": None}
    near, inside, ratios = np.zeros(n, np.int64), np.zeros(n, np.bool_), []
    for rows, given in _in_turn(groups, progress, "working out likelihood ratios"):
        ratio, near[rows], inside[rows] = likelihood_ratio(given, alpha)
        ratios.append(ratio)
    return {"ratios": tuple(ratios), "likely_neighbours": near, "likely_inside": inside}
