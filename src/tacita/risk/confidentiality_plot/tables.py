"""The tables of Seri and Polettini (2003) as rows of text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tacita.arrays import Bools, Ints
from tacita.risk.confidentiality_plot.pairs import LikelihoodRatio


class Row(NamedTuple):
    """The figures of one stratum, or totals and means of all."""

    stratum: str
    records: int
    nearest_links: float
    """Records whose nearest original is the true one; of m equally near ones 1/m."""
    delta: float
    true_link_inside: int | None
    """Records with the true original among the neighbours; None: nobody knows who is who."""
    tau: float
    likely_links: int
    """Records with the true original among the neighbours by the likelihood ratio."""
    empty: int
    """Records without neighbours."""
    mean_neighbours: float
    mean_likely_neighbours: float
    expected_neighbours: float
    """alpha (n - 1): the mean number of neighbours but for true links."""
    unsafe: int


def total_label(labels: Sequence[str]) -> str:
    """What the row of totals is called: `all`, unless a stratum has that name."""
    return "all" if "all" not in labels else "all strata"


def rows_text(rows: Sequence[Row], metric: str, ratio: bool) -> list[tuple[str, ...]]:
    """Tables 2 to 5: links by the nearest original, by the critical distance, and by the likelihood ratio."""
    hundred = metric == "relative"
    by_ratio = ("tau", "inside by ratio") if ratio else ()
    head = ("stratum", "records", "nearest links", "100 delta" if hundred else "delta", "true link inside", *by_ratio)
    found: list[tuple[str, ...]] = [(*head, "empty", "neighbours", "alpha (n-1)", "unsafe")]
    for row in rows:
        likely = (figure(row.tau), _share(row.likely_links, row.records)) if ratio else ()
        found.append(
            (
                row.stratum or "all",
                f"{row.records:,}",
                _share(row.nearest_links, row.records),
                figure((100 if hundred else 1) * row.delta),
                _share(row.true_link_inside, row.records),
                *likely,
                f"{row.empty:,}",
                f"{row.mean_neighbours:.1f}",
                "-" if math.isnan(row.expected_neighbours) else f"{row.expected_neighbours:.1f}",
                f"{row.unsafe:,}",
            )
        )
    return found


def figure(value: float) -> str:
    """Three digits; a dash where there is no pair to work it out from."""
    return "-" if not math.isfinite(value) else f"{value:.3g}"


def _share(count: float | None, records: int) -> str:
    if count is None:
        return "-"
    shown = f"{count:,}" if count == round(count) and isinstance(count, int) else f"{count:.4g}"
    return f"{shown} ({100 * count / max(records, 1):.1f})"


def ks_text(
    labels: Sequence[str], records: Ints, sets: Mapping[str, tuple[LikelihoodRatio, ...] | None]
) -> list[tuple[str, ...]]:
    """Table 1: the Kolmogorov-Smirnov distance D and ln p by stratum, for one key set or several."""
    names = [f"{name}: " if name else "" for name in sets]
    rows: list[tuple[str, ...]] = [
        ("stratum", "records", *(f"{name}{what}" for name in names for what in ("D", "ln p")))
    ]
    for index, label in enumerate(labels):
        cells = [_ks(ratios[index]) if ratios is not None else ("-", "-") for ratios in sets.values()]
        rows.append((label or "all", f"{records[index]:,}", *(cell for pair in cells for cell in pair)))
    return rows


def _ks(ratio: LikelihoodRatio) -> tuple[str, str]:
    if math.isnan(ratio.distance):
        return "-", "-"
    return f"{ratio.distance:.4f}", f"{ratio.log_p:.1f}"


def rank_text(labels: Sequence[str], ranked: Ints, ranks: Bools) -> list[tuple[str, ...]]:
    """Table 6: X where the unit of that rank keeps it, - where not, blank where there is none."""
    rows: list[tuple[str, ...]] = [("stratum", "kept", *map(str, range(1, ranks.shape[1] + 1)))]
    for label, there, kept in zip(labels, ranked.tolist(), ranks.tolist(), strict=True):
        marks = ["" if rank > there else "X" if one else "-" for rank, one in enumerate(kept, start=1)]
        rows.append((label or "all", str(sum(kept)), *marks))
    return rows
