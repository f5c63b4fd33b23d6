"""The tables of a comparison: one screen first, and behind it the layout of the published study of accidents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tacita import frame
from tacita.assessment.profile import RiskProfile
from tacita.measures import find, kind_of
from tacita.result import Percent, Result, Table, number, percent

if TYPE_CHECKING:
    from tacita.comparison.comparison import ComparedRelease, Comparison

MOST_COLUMNS = 5
"""So many releases stand side by side; further ones below."""
LEVELS = (2, 3, 5)
GAINS, LOSES, CHANGED = "What an intruder gains", "What a researcher loses", "What was changed"
LEADS = {
    GAINS: "The longer the bar, the more an intruder gains; the original is what to compare with.",
    LOSES: "0 %: as in the original. The longer the bar, the more is lost.",
    CHANGED: "Cells of the release that differ from those of the original.",
}
SPREAD = {
    "Minimum": "minimum",
    "First quartile": "lower_quartile",
    "Median": "median",
    "Mean": "mean",
    "Third quartile": "upper_quartile",
    "Maximum": "maximum",
}


class Line(NamedTuple):
    """A line of the first screen: a figure of the original and of each release."""

    words: str
    """What the figure is."""
    cells: tuple[Any, ...]
    """Of the original, then of each release; None where there is none."""
    meaning: str = ""
    """What it means, for somebody who never saw such a figure."""
    worse_if_more: bool = True
    """Whether more of it is more risk or loss; of the diversity of a group less is."""


class Block(NamedTuple):
    """Figures of one kind."""

    title: str
    lead: str
    """How they are read."""
    lines: list[Line]

    @property
    def measured(self) -> bool:
        """Whether they measure risk or loss, and do not count what was done."""
        return self.title != CHANGED


def counts_do_not_hold(profile: RiskProfile) -> bool:
    """Whether keys or weights were perturbed, so that counts of equal keys do not measure risk."""
    return bool(profile.sets) and bool(profile.main.table.not_valid)


def first_screen(comparison: Comparison) -> tuple[Table, ...]:
    """A table for each block of figures; more than a few releases stand in tables below each other."""
    found = []
    for start in range(0, len(comparison.releases), MOST_COLUMNS):
        shown = comparison.releases[start : start + MOST_COLUMNS]
        for block in blocks(comparison, shown):
            rows = tuple((line.words, *line.cells) for line in block.lines)
            found.append(Table(("", "original", *(each.name for each in shown)), rows, block.title))
    return tuple(found)


def blocks(comparison: Comparison, shown: tuple[ComparedRelease, ...]) -> list[Block]:
    """What an intruder gains, a researcher loses, what was changed: the lines that hold anything."""
    gains = [*_verdict_lines(shown), *_risk_lines(comparison, shown), *_measured_lines(comparison, shown, "risk")]
    found = {
        GAINS: gains,
        LOSES: list(_measured_lines(comparison, shown, "loss")),
        CHANGED: list(_change_lines(comparison, shown)),
    }
    kept = {title: [line for line in lines if _holds_any(line)] for title, lines in found.items()}
    return [Block(title, LEADS[title], lines) for title, lines in kept.items() if lines]


def _holds_any(line: Line) -> bool:
    return any(cell is not None for cell in line.cells)


def _verdict_lines(shown: tuple[ComparedRelease, ...]) -> Iterator[Line]:
    yield Line("verdict", (None, *(each.word for each in shown)))


def _risk_lines(comparison: Comparison, shown: tuple[ComparedRelease, ...]) -> Iterator[Line]:
    """Risk by counts of equal keys, of the original and of each release."""
    profiles = [comparison.original, *(each.profile for each in shown)]
    k = comparison.policy.k

    def line(words: str, meaning: str, figure: Any) -> Line:
        return Line(words, tuple(_counted(each, figure) for each in profiles), meaning)

    if k is not None:
        meaning = f"Records whose values on the keys fewer than {k} records of the file share."
        yield line(f"records below k = {k}", meaning, lambda own: own.k_anonymity.below(k))
    meaning = "How many people an intruder is expected to recognise, by how rare their keys are in the population."
    yield line("expected re-identifications", meaning, lambda own: own.expected)
    yield line("re-identification rate", "The same as a share of the records.", lambda own: Percent(own.rate))
    meaning = "How probable a right guess is for the record that is found most easily."
    yield line("highest individual risk", meaning, lambda own: own.individual.spread.maximum)
    meaning = "How probable it is that one member of the household found most easily is recognised."
    yield Line("highest household risk", tuple(_household(each) for each in profiles), meaning)


def _counted(profile: RiskProfile, figure: Any) -> Any:
    """A figure of the main keys, in brackets where it does not hold; None where all keys are numeric."""
    if not profile.sets:
        return None
    value = figure(profile)
    if not profile.main.table.not_valid:
        return value
    return f"({percent(value) if isinstance(value, Percent) else number(value)})"


def _household(profile: RiskProfile) -> Any:
    if profile.household is None:
        return None
    highest = float(profile.household.spread.maximum)
    return f"({number(highest)})" if profile.household.not_valid else highest


def _results(release: ComparedRelease) -> dict[str, Result]:
    """All results of a release that lay figures side by side: what its assessment holds, and what was compared."""
    return {**release.profile.further, **release.measures}


def _measured_lines(comparison: Comparison, shown: tuple[ComparedRelease, ...], kind: str) -> Iterator[Line]:
    """The key figures of every measure of risk, or of loss; of loss nothing for the original, which has none."""
    before = {**comparison.original.further, **comparison.measured_before}
    results = [before, *map(_results, shown)]
    measures = {name: result for each in results[1:] for name, result in each.items() if kind_of(name) == kind}
    for name, known in measures.items():
        figures = [each[name].key_figures() if name in each else {} for each in results]
        words = dict.fromkeys(word for each in figures for word in each)
        meaning, limit = known.meaning, find(name).limit
        for word in words:
            worse_if_more = limit is None or not limit.least
            yield Line(word, tuple(each.get(word) for each in figures), meaning, worse_if_more)
            # Said once, of the first of its figures.
            meaning = ""


def _change_lines(comparison: Comparison, shown: tuple[ComparedRelease, ...]) -> Iterator[Line]:
    yield Line("records", (comparison.original.size, *(each.records for each in shown)))
    yield Line("records dropped", (None, *(each.dropped or None for each in shown)))
    yield Line("records added", (None, *(each.added or None for each in shown)))
    kept = [[change for change in each.changes if not change.removed] for each in shown]
    removed = (len(each.changes) - len(own) or None for each, own in zip(shown, kept, strict=True))
    yield Line("variables removed", (None, *removed))
    yield Line("cells", (sum(change.cells for change in shown[0].changes), *([None] * len(shown))))
    yield Line("cells changed", (None, *(sum(change.changed for change in own) for own in kept)))
    yield Line("cells suppressed", (None, *(sum(change.suppressed for change in own) for own in kept)))
    if any(each.rules for each in shown):
        yield Line("declared relations broken", (None, *(f"{len(each.broken)} of {each.rules}" for each in shown)))


def behind(comparison: Comparison) -> tuple[Table, ...]:
    """The tables behind the first screen, in the layout of the published study: a column or two for each release."""
    return (*of_risk(comparison), *_by_variable(comparison), _changes(comparison))


def of_risk(comparison: Comparison) -> tuple[Table, ...]:
    """Records below k, the spread of the individual risk and the global risk; nothing where all keys are numeric."""
    return (_levels(comparison), _spread(comparison), _global(comparison)) if comparison.original.sets else ()


def _levels(comparison: Comparison) -> Table:
    """Records that violate k-anonymity, and their percentage."""
    profiles = [("original", comparison.original), *((each.name, each.profile) for each in comparison.releases)]
    heads = [part for name, _ in profiles for part in (name, "%")]
    rows = []
    for k in sorted({*LEVELS, *([comparison.policy.k] if comparison.policy.k else [])}):
        counts = [(profile.k_anonymity.below(k), profile.size) for _, profile in profiles]
        cells = [cell for count, size in counts for cell in (count, f"{100 * count / size:.3f}")]
        rows.append((f"{k}-anonymity", *cells))
    return Table(("records that violate", *heads), tuple(rows), "Records that violate k-anonymity")


def _spread(comparison: Comparison) -> Table:
    """Individual risk: minimum, quartiles, mean and maximum."""
    profiles = _profiles(comparison)
    rows = tuple(
        (word, *(f"{getattr(each.individual.spread, name):.6f}" for each in profiles)) for word, name in SPREAD.items()
    )
    return Table(("", *_names(comparison)), rows, "Individual risk")


def _global(comparison: Comparison) -> Table:
    """Global risk: percentage, expected re-identifications, the threshold that keeps the policy's rate."""
    profiles = _profiles(comparison)
    thresholds = [None if each.main.threshold is None else each.main.threshold.risk for each in profiles]
    rows = (
        ("Risk in %", *(f"{100 * each.rate:.6g}" for each in profiles)),
        ("Expected number of re-identifications", *(each.expected for each in profiles)),
        ("Threshold", *("" if risk is None else f"{risk:.6f}" for risk in thresholds)),
    )
    return Table(("", *_names(comparison)), rows, "Global risk")


def _profiles(comparison: Comparison) -> list[RiskProfile]:
    return [comparison.original, *(each.profile for each in comparison.releases)]


def _names(comparison: Comparison) -> tuple[str, ...]:
    return "original", *(each.name for each in comparison.releases)


def _by_variable(comparison: Comparison) -> Iterator[Table]:
    """What each variable lost, one column for each release."""
    losses = [getattr(each.result("value_loss"), "by_variable", None) for each in comparison.releases]
    names = dict.fromkeys(name for each in losses if each is not None for name in each)
    if names:
        rows = tuple(
            (name, *(None if each is None or name not in each else f"{each[name]:.3f}" for each in losses))
            for name in names
        )
        yield Table(("variable", *(each.name for each in comparison.releases)), rows, "Loss by variable")


def _changes(comparison: Comparison) -> Table:
    """Cells changed and suppressed, by variable and release."""
    heads = [part for each in comparison.releases for part in (f"{each.name}: changed", "suppressed")]
    rows = []
    for place, change in enumerate(comparison.releases[0].changes):
        own = [each.changes[place] for each in comparison.releases]
        if any(each.changed for each in own):
            cells = [("removed", None) if each.removed else (each.changed, each.suppressed) for each in own]
            rows.append((change.name, *(cell for pair in cells for cell in pair)))
    return Table(("variable", *heads), tuple(rows), "Cells changed and suppressed")


def as_frame(comparison: Comparison) -> frame.Frame:
    """One row per file, the original first, and a column for each figure of the first screen."""
    columns: dict[str, list[Any]] = {"file": list(_names(comparison))}
    for block in blocks(comparison, comparison.releases):
        for line in block.lines:
            columns.setdefault(line.words, [_plain(cell) for cell in line.cells])
    return frame.table({name: _of_one_kind(cells) for name, cells in columns.items()})


def _plain(cell: Any) -> Any:
    """A number that does not hold is missing from a frame, which has no brackets."""
    return None if isinstance(cell, str) and cell.startswith("(") else cell


def _of_one_kind(cells: list[Any]) -> list[Any]:
    if any(isinstance(cell, str) for cell in cells):
        return [None if cell is None else str(cell) for cell in cells]
    return [None if cell is None else float(cell) for cell in cells]


def frame_of(table: Table) -> frame.Frame:
    """A table as a frame; a head that comes again is numbered."""
    heads: list[str] = []
    for place, name in enumerate(table.columns):
        free = name or "row"
        heads.append(free if free not in heads else f"{table.columns[place - 1]} {name}")
    columns = list(zip(*table.rows, strict=True)) or [() for _ in heads]
    return frame.table({name: _of_one_kind(list(cells)) for name, cells in zip(heads, columns, strict=True)})
