"""What the measure found: by record, by stratum, and as the tables of Seri and Polettini (2003)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tacita import check, frame
from tacita.arrays import Bools, Floats, Ints
from tacita.check import TacitaError
from tacita.result import Repair, Result, Table, Verdict, columns, percent
from tacita.risk.confidentiality_plot.limits import Limits
from tacita.risk.confidentiality_plot.pairs import LikelihoodRatio
from tacita.risk.confidentiality_plot.sample_errors import Sampled
from tacita.risk.confidentiality_plot.tables import Row, ks_text, rank_text, rows_text, total_label

"""What `plot` draws."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Confidentiality(Result):
    """Every record by how well it hides among its neighbours and by how much it was changed."""

    figure: ClassVar[str | None] = "confidentiality"
    other_figures: ClassVar[tuple[str, ...]] = ("densities", "comparison_histograms", "likelihood_ratio")

    keys: tuple[str, ...]
    """The numeric keys."""
    record: Ints
    """The number of each record that could be compared."""
    stratum: Ints
    """By record: the index of its stratum in `labels`."""
    labels: tuple[str, ...]
    """The strata; one empty text without strata."""
    neighbours: Ints | Floats
    """By record: originals of its stratum that look like it, its own included if it does; what they weigh, or how many
    records of an archive do, if asked for."""
    perturbation: Floats
    """By record: ||y - x|| / ||x||, or on the unit-free log scale the root mean square of the log ratios."""
    correct: Floats
    """By record: the probability that the nearest original is its own (1 / ties)."""
    distance: Floats
    """By record: z of the record and its own original."""
    inside: Bools
    """By record: whether its own original is among the neighbours."""
    largest: Bools
    """By record: whether it is the largest unit of its stratum."""
    delta: Floats
    """By stratum: the critical distance."""
    alpha: float | None
    """Share of wrong pairs that count as neighbours; None if delta was given."""
    level: float
    """Share of wrong pairs that count as neighbours by the likelihood ratio."""
    limits: Limits
    """What counts as unsafe."""
    metric: str
    """How unlike two records are; `relative` is ||y - x|| / ||y||."""
    log: bool
    """Whether keys were compared on a log scale."""
    unit_free: bool
    """Whether that scale does not depend on the units of the keys."""
    left_out: int
    """Records that could not be compared: a key missing, or no logarithm."""
    ranks: Bools
    """By stratum: which of the ten largest units by the size variable keep their rank."""
    size: str
    """The size variable."""
    ratios: tuple[LikelihoodRatio, ...] | None
    """By stratum: the distributions of z and what their likelihood ratio says; None if not worked out."""
    likely_neighbours: Ints | None
    """By record: originals of its stratum with t > tau."""
    likely_inside: Bools | None
    """By record: whether its own original is one of them."""
    too_large: bool
    """Whether the likelihood ratio was left out because of the number of pairs."""
    ranked: Ints
    """By stratum: units that have a size."""
    not_judged: int = 0
    """Those left out of which both files show some key: they can be recognised by it, and have no place in the plot."""
    weighted: bool = False
    """Whether neighbours count by their sampling weight."""
    archive: int | None = None
    """Records of the archive that neighbours are counted in; None: they are counted among the originals."""
    sampled: Sampled | None = None
    """What is known of a file on an engine of which the records are a sample; None: they are all."""
    pairing_cautions: tuple[str, ...] = ()
    """Signs that the records of the two files are not the same units."""

    @property
    def by_the_ratio(self) -> bool:
        """Whether neighbours are those that the likelihood ratio finds."""
        return self.likely_neighbours is not None and self.neighbours is self.likely_neighbours

    @property
    def share_unsafe(self) -> float:
        """The share of the records that lie in the unsafe zone."""
        return float(self.unsafe.mean())

    def verdicts(self, policy: Any) -> tuple[Verdict, ...]:
        """Whether no more records lie in the unsafe zone than the policy allows: none, unless it sets a share."""
        if policy.neighbours is None:
            return ()
        limited = policy.limit_of("confidentiality")
        limit = 0.0 if limited is None else limited.limit
        count = int(self.unsafe.sum())
        found = check.counted(count, "record") if count else "no record"
        why = f"{found} in the unsafe zone of the confidentiality plot"
        if self.sampled is not None:
            return (Verdict("confidentiality", limit, None, None, self.sampled.why(count)),)
        if self.share_unsafe <= limit and self.not_judged:
            return (Verdict("confidentiality", limit, None, None, self._why_not_judged()),)
        return (Verdict("confidentiality", limit, self.share_unsafe, self.share_unsafe <= limit, why),)

    def _why_not_judged(self) -> str:
        some = check.counted(self.not_judged, "record")
        have = "has" if self.not_judged == 1 else "have"
        return (
            f"{some} {have} a numeric key that is missing or has no logarithm, and so no place in the confidentiality "
            f"plot, but show another; set neighbours = false in the policy and limit distance_linkage, which compares "
            f"what both files show"
        )

    def repair(self, policy: Any) -> Repair | None:
        """How far records of the unsafe zone are from safe, and the steps that move them."""
        count, neighbours = int(self.unsafe.sum()), self.neighbours[self.unsafe].astype(np.float64)
        if not count:
            return None
        text = f"{check.counted(count, 'record')} to protect further, which {'has' if count == 1 else 'have'} "
        text += f"{neighbours.mean():.1f} of {self.limits.k} neighbours on the mean"
        if not self.limits.vertical:
            moved, needed = self.perturbation[self.unsafe].mean(), self.limits.needed(neighbours).mean()
            text += f" and {'is' if count == 1 else 'are'} moved by {percent(moved)}, where {percent(needed)} is enough"
        who = {"unsafe": "confidentiality"}
        text += f": more Noise, Microaggregate with a larger k or a wider RankSwap, of these alone with only={who}"
        return Repair("confidentiality", text, records=count)

    def unsafe_records(self, policy: Any) -> Bools:
        """By record whether it lies in the unsafe zone."""
        return self.unsafe

    @cached_property
    def unsafe(self) -> Bools:
        """By record: whether it lies in the unsafe zone."""
        return self.limits.unsafe(self.neighbours.astype(np.float64), self.perturbation)

    @property
    def records(self) -> Ints:
        """By stratum: how many records it has."""
        return np.bincount(self.stratum, minlength=len(self.labels))

    @property
    def in_file(self) -> Floats:
        """By stratum: how many records it has in the file, of which these may be a sample."""
        return self.records.astype(np.float64) if self.sampled is None else self.sampled.by_stratum

    @property
    def tau(self) -> Floats:
        """By stratum: the critical value of the likelihood ratio; NaN if it was not worked out."""
        return np.array([np.nan] * len(self.labels) if self.ratios is None else [r.densities.tau for r in self.ratios])

    @property
    def tied(self) -> int:
        """Strata in which so many pairs are equal that alpha leaves nobody a neighbour."""
        return 0 if self.alpha is None else int((self.records[self.delta == 0] > 1).sum())

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the reader should know."""
        tied = self.tied
        if not tied:
            return self.pairing_cautions
        where = "the file" if len(self.labels) == 1 else check.counted(tied, "stratum", "strata")
        return (
            *self.pairing_cautions,
            f"in {where} more than alpha of the wrong pairs have distance 0, so delta is 0 and nobody has neighbours: "
            f"many values are equal (zeros, rounded numbers); give delta, a higher alpha, or other keys.",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How the figures came about."""
        notes = [] if self.sampled is None else [*self.sampled.words]
        if self.archive is not None:
            notes.append(
                f"neighbours are counted among {check.counted(self.archive, 'record')} of an archive, in which nobody "
                f"knows who is who"
            )
        if self.weighted:
            notes.append("neighbours count by their sampling weight")
        if self.log and not self.unit_free:
            notes.append(
                "log scale: z and perturbation depend on the units of the keys; on the unit-free log scale they do not"
            )
        if self.too_large and self.sampled is None:
            notes.append("likelihood ratio: not worked out for so many pairs; ask for it with ratio=True")
        widest = max((each.densities.width for each in self.ratios or ()), default=0.0)
        if widest > 0:
            error = max(each.error for each in self.ratios or () if not math.isnan(each.error))
            notes.append(f"likelihood ratio: pairs counted in bins of {widest:.2g} on log z; D within {error:.2g}")
        nothing = int(np.isinf(self.perturbation).sum())
        if nothing and not self.limits.vertical:
            notes.append(
                f"{check.counted(nothing, 'record')} moved from 0 in all keys on this scale: perturbation infinite, "
                f"counted as safe"
            )
        if self.left_out:
            notes.append(f"{check.counted(self.left_out, 'record')} left out: a key is missing or has no logarithm")
        return tuple(notes)

    @property
    def compared_on(self) -> str:
        """The keys, with their scale and the metric if they are not the plain ones."""
        scale = " (log scale, unit-free)" if self.unit_free else " (log scale)" if self.log else ""
        metric = "" if self.metric == "relative" else f", {self.metric} distance"
        return f"{', '.join(self.keys)}{scale}{metric}"

    @property
    def headline(self) -> str:
        """Records in the unsafe zone."""
        n, found = len(self.record), int(self.unsafe.sum())
        where = f"k = {self.limits.k}" + ("" if self.limits.vertical else f", r = {percent(self.limits.r)}")
        return (
            f"{found:,} of {check.counted(n, 'record')} in the unsafe zone ({percent(found / n)}; {where}) "
            f"on {self.compared_on}{', by the likelihood ratio' if self.by_the_ratio else ''}"
        )

    @property
    def given_by_alpha(self) -> Floats | None:
        """By stratum: alpha (n - 1), the neighbours that a record has on average but for its own original.

        None where neighbours are not counted in the stratum, or delta was given.
        """
        if self.alpha is None or self.archive is not None or self.weighted:
            return None
        return np.asarray(self.alpha * (self.in_file - 1.0))

    def sentences(self) -> list[str]:
        """How often the right original is found, and how many neighbours alpha gives in each stratum."""
        n, links, inside = len(self.record), math.fsum(self.correct), int(self.inside.sum())
        nearest = f"nearest original is the right one: {links:.4g} ({percent(links / n)})"
        if self.archive is not None:
            return [nearest]
        found = [f"{nearest}; right one among the neighbours: {inside:,} ({percent(inside / n)})"]
        return [*found, *self._neighbours_by_alpha()]

    def _neighbours_by_alpha(self) -> list[str]:
        """What a count of unsafe records rests on: a stratum too small for k makes its records unsafe by itself."""
        given = self.given_by_alpha
        if given is None:
            return []
        said = f"alpha = {self.alpha:g} gives a record alpha (n - 1) neighbours: "
        if len(given) == 1:
            side = "fewer than" if given[0] < self.limits.k else "at least"
            return [f"{said}{given[0]:.3g}, {side} k = {self.limits.k}"]
        few = given < self.limits.k
        return [
            f"{said}{given.min():.3g} to {given.max():.3g} by stratum, fewer than k = {self.limits.k} in "
            f"{int(few.sum()):,} of {len(given):,} strata with {int(self.records[few].sum()):,} records"
        ]

    def tables(self) -> tuple[Table, ...]:
        """One row per stratum, as in tables 2 to 5 of Seri and Polettini (2003)."""
        return (self.printed_table(),)

    def printed_table(self, title: str = "") -> Table:
        """The table by stratum."""
        head, *rows = rows_text(self.rows(), self.metric, self.ratios is not None)
        return Table(head, tuple(rows), title, indent="")

    def rows(self) -> list[Row]:
        """One row per stratum, and one for all of them if there are several."""
        records, tau = self.records, self.tau
        order = np.split(np.argsort(self.stratum, kind="stable"), np.cumsum(records)[:-1])
        found = [
            self._row(label, order[at], float(self.delta[at]), float(tau[at]), float(self.in_file[at]) - 1.0)
            for at, label in enumerate(self.labels)
        ]
        if len(found) > 1:
            compared = records > 1 if self.alpha is not None else records > 0
            means = _mean(self.delta[compared]), _mean(tau[records > 1])
            others = float((self.in_file[self.stratum] - 1).mean())
            found.append(self._row(total_label(self.labels), np.arange(len(self.record)), *means, others))
        return found

    def _row(self, label: str, here: Ints, delta: float, tau: float, others: float) -> Row:
        """The figures of some records: their totals, and how many others they are compared with on average."""
        likely, inside = self.likely_neighbours, self.likely_inside
        by_alpha = self.archive is None and not self.weighted
        return Row(
            stratum=label,
            records=len(here),
            nearest_links=math.fsum(self.correct[here]),
            delta=delta,
            true_link_inside=int(self.inside[here].sum()) if self.archive is None else None,
            tau=tau,
            likely_links=0 if inside is None else int(inside[here].sum()),
            empty=int((self.neighbours[here] == 0).sum()),
            mean_neighbours=float(self.neighbours[here].mean()),
            mean_likely_neighbours=math.nan if likely is None else float(likely[here].mean()),
            expected_neighbours=self.alpha * others if by_alpha and self.alpha is not None else math.nan,
            unsafe=int(self.unsafe[here].sum()),
        )

    def table(self) -> frame.Frame:
        """One row per stratum and one for all of them, as in tables 2 to 5 of Seri and Polettini (2003)."""
        names = [
            name
            for name in Row._fields
            if self.ratios is not None or name not in ("tau", "likely_links", "mean_likely_neighbours")
        ]
        return frame.table({name: [getattr(row, name) for row in self.rows()] for name in names})

    def table_text(self) -> str:
        """The table by stratum, for print."""
        return self.printed_table().text()

    def ks_table(self) -> frame.Frame:
        """One row per stratum: the Kolmogorov-Smirnov distance of z over true links and other pairs (table 1)."""
        if self.ratios is None:
            raise TacitaError("the Kolmogorov-Smirnov distance needs all pairs; ask for it with ratio=True.")
        return frame.table(
            {
                "stratum": list(self.labels),
                "records": self.records,
                "distance": [each.distance for each in self.ratios],
                "error": [each.error for each in self.ratios],
                "log_p": [each.log_p for each in self.ratios],
            }
        )

    def ks_text(self) -> str:
        """The table of Kolmogorov-Smirnov distances, for print; p is nominal, since pairs share records."""
        return columns(ks_text(self.labels, self.records, {"": self.ratios}), indent="")

    def rank_table(self) -> frame.Frame:
        """One row per stratum: which of its ten largest units keep their rank (table 6)."""
        kept = {f"rank_{rank}": self.ranks[:, rank - 1] for rank in range(1, self.ranks.shape[1] + 1)}
        return frame.table({"stratum": list(self.labels), "preserved": self.ranks.sum(axis=1)} | kept)

    def rank_text(self) -> str:
        """The table of ranks for print: X kept, - not kept, blank where the stratum has no such unit."""
        return columns(rank_text(self.labels, self.ranked, self.ranks), indent="")

    def by_ratio(self) -> Confidentiality:
        """The same with the neighbours that the likelihood ratio finds in place of those within delta."""
        if self.likely_neighbours is None or self.likely_inside is None:
            raise TacitaError("the likelihood ratio was not worked out; ask for it with ratio=True.")
        return dataclasses.replace(self, neighbours=self.likely_neighbours, inside=self.likely_inside)

    def to_frame(self) -> frame.Frame:
        """One row per record: its number and figures, no values."""
        likely = {"likely_neighbours": self.likely_neighbours, "likely_inside": self.likely_inside}
        return frame.table(
            {
                "record": self.record,
                "stratum": (self.stratum.astype(np.uint32) + 1, self.labels),
                "neighbours": self.neighbours,
                "perturbation": self.perturbation,
                "nearest_correct": self.correct,
                "true_link_inside": self.inside,
                "largest": self.largest,
                "unsafe": self.unsafe,
                "distance": self.distance,
            }
            | ({} if self.ratios is None else likely)
        )

    def _given_figures(self) -> dict[str, Any] | None:
        given = self.given_by_alpha
        if given is None:
            return None
        few = given < self.limits.k
        ends = {"least": float(given.min()), "greatest": float(given.max())}
        return ends | {"strata_below_k": int(few.sum()), "records_below_k": int(self.records[few].sum())}

    def to_dict(self) -> dict[str, Any]:
        """The figures of the file."""
        return {
            "keys": list(self.keys),
            "records": len(self.record),
            "unsafe": int(self.unsafe.sum()),
            "nearest_links": math.fsum(self.correct),
            "true_link_inside": int(self.inside.sum()) if self.archive is None else None,
            "likely_links": None if self.likely_inside is None else int(self.likely_inside.sum()),
            "limits": self.limits._asdict(),
            "neighbours_by_alpha": self._given_figures(),
            "left_out": self.left_out,
        }


def _mean(values: Floats) -> float:
    return math.nan if not len(values) else math.fsum(values) / len(values)
