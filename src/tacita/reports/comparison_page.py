"""A comparison as one page for those who decide: which release is safe, what each risks and costs, and why."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacita import check
from tacita.check import TacitaError
from tacita.data.atomic import OFFICE_ONLY
from tacita.plots.svg import inline_svg
from tacita.reports.parts import first_upper
from tacita.reports.report import NOTHING_BUT_STYLE, WORDS, rendered
from tacita.result import Percent, Table, cell_text, percent

TITLE = "What an intruder gains, what a researcher loses"
MOST_REASONS = 4
"""So many limits that a release does not keep stand on its card, the others behind a fold."""
WORDS_OF_RISK = {
    "external_risk": ("an intruder guesses right for", "right guesses"),
    "rate": ("an intruder is expected to recognise", "re-identification rate"),
}
"""By risk what it says of records, and what it is in two words."""
MAP_WIDTH, MAP_HEIGHT = 520, 330


class Cell(NamedTuple):
    """A figure as the page shows it."""

    text: str
    bar: float | None
    """Its length as a share of the longest of the line, in percent; None: no bar."""
    holds: bool = True
    """Whether the figure measures what the line says."""


class ShownLine(NamedTuple):
    """A line of a table of figures."""

    words: str
    meaning: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Card:
    """A release at a glance."""

    name: str
    word: str
    state: str
    """good, bad or open."""
    figures: tuple[tuple[str, str], ...]
    reasons: tuple[str, ...]
    """The limits that it does not keep."""
    others: tuple[str, ...]
    """What could not be assessed, relations that it breaks, and further reasons."""
    repairs: tuple[str, ...]
    """What would make it keep the limits."""


def comparison_page(comparison: Any, title: str = TITLE) -> str:
    """One page, without scripts, that needs no connection and prints well; for the office only."""
    drawn = _map(comparison)
    return rendered(
        "comparison.html",
        title=title,
        policy=NOTHING_BUT_STYLE,
        note=OFFICE_ONLY,
        by=_by(comparison),
        answer=_answer(comparison, drawn),
        cards=tuple(_card(each, drawn) for each in comparison.releases),
        drawn=drawn,
        blocks=tuple(_blocks(comparison)),
        brackets=comparison.brackets,
        folded=comparison.tables_behind(),
        declared=_declared(comparison),
        cautions=tuple(_cautions(comparison)),
    )


class Block(NamedTuple):
    """A table of figures with bars."""

    title: str
    """Empty where it goes on with further releases."""
    lead: str
    heads: tuple[tuple[str, str], ...]
    """By column its name and the state of the release, empty for the original."""
    lines: tuple[ShownLine, ...]


def _blocks(comparison: Any) -> Iterator[Block]:
    """What an intruder gains, what a researcher loses, what was changed: a few releases side by side each time."""
    parts = comparison.blocks()
    begun = set()
    # All releases by one kind of figures, then by the next.
    for title in dict.fromkeys(block.title for part in parts for block in part):
        shown = 0
        for part in parts:
            width = len(part[0].lines[0].cells) - 1
            releases = comparison.releases[shown : shown + width]
            shown += width
            for block in part:
                if block.title == title and any(line.words != "verdict" for line in block.lines):
                    yield _block(block, releases, first=title not in begun)
                    begun.add(title)


def _block(given: Any, releases: Sequence[Any], *, first: bool) -> Block:
    lines = [line for line in given.lines if line.words != "verdict"]
    heads = (("original", ""), *((each.name, _state(each)) for each in releases))
    if all(line.cells[0] is None for line in lines):
        lines, heads = [line._replace(cells=line.cells[1:]) for line in lines], heads[1:]
    shown = tuple(_shown(line, bars=given.measured and line.worse_if_more) for line in lines)
    return Block(given.title if first else "", given.lead if first else "", heads, shown)


class _Map(NamedTuple):
    """The map of risk and utility."""

    svg: str
    words: str
    found: Any
    sentences: tuple[str, ...]
    risks: dict[str, float]
    losses: dict[str, float]
    gained: str
    """What the risk says of records, up to the number."""
    words_of_risk: str
    """What the risk is in two words."""


def _map(comparison: Any) -> _Map | None:
    """The map; None where no release has both a risk and a loss."""
    try:
        found = comparison.risk_utility()
        svg, words = inline_svg(found.plot(width=MAP_WIDTH, height=MAP_HEIGHT), "map")
    except TacitaError:
        return None
    names = [each.name for each in found.frontier()]
    best = (f"No other release here has less of both than {check.quoted(names, most=8)}.",) if names else ()
    said = ("Lower is safer, further left is more useful.", *best, *map(first_upper, found.cautions))
    risks, losses = ({each.name: getattr(each, what) for each in found.points} for what in ("risk", "loss"))
    return _Map(svg, words, found, said, risks, losses, *WORDS_OF_RISK[comparison.usual_risk])


def _by(comparison: Any) -> str:
    """What is compared, on one line."""
    sizes = check.counted(comparison.original.size, "record")
    releases = check.counted(len(comparison.releases), "release")
    return f"{releases} of {sizes} · policy: {comparison.policy} · {datetime.date.today().isoformat()}"


def _answer(comparison: Any, drawn: _Map | None) -> dict[str, str]:
    """Which releases keep the policy, and which of them costs least."""
    safe = [each.name for each in comparison.releases if each.safe]
    count = len(comparison.releases)
    if not safe:
        word = f"None of {count} releases keeps the policy" if count > 1 else comparison.releases[0].word
        return {"state": "bad", "word": word, "reason": "Why not, and what would help, stands with each of them."}
    of_many = f"{len(safe)} of {count} releases {'keeps' if len(safe) == 1 else 'keep'} the policy"
    word = "SAFE" if count == 1 else f"{of_many}: {', '.join(safe)}"
    return {"state": "good", "word": word, "reason": _price(safe, drawn)}


def _price(safe: Sequence[str], drawn: _Map | None) -> str:
    """What the safe release of least loss gives and costs."""
    known = [] if drawn is None else [name for name in safe if drawn.losses[name] == drawn.losses[name]]
    if drawn is None or not known:
        return ""
    name = min(known, key=lambda each: (drawn.losses[each], each))
    lost = f"{percent(drawn.losses[name])} of the information in the values"
    said = f"It loses {lost}" if len(safe) == 1 else f"Least is lost by {name}: {lost}"
    risk, before = drawn.risks[name], drawn.found.risks_before
    if risk != risk:
        return f"{said}."
    instead = f", for {percent(before[0])} if the original itself were published" if before else ""
    return f"{said}; {drawn.gained} {percent(risk)} of the records{instead}."


def _state(release: Any) -> str:
    return WORDS.get(release.word, "open")


def _card(release: Any, drawn: _Map | None) -> Card:
    verdicts = [each for each in release.verdicts if each.about == "risk"]
    failed = list(dict.fromkeys(first_upper(each.why) for each in verdicts if each.holds is False))
    unknown = list(dict.fromkeys(each.why.rstrip(".") for each in verdicts if each.holds is None))
    others = [*failed[MOST_REASONS:], *(f"Not assessed: {why}" for why in unknown), *map(str, release.broken)]
    others += [f"It loses more than the policy allows: {why}" for why in release.loses_too_much]
    figures = []
    if drawn is not None:
        risk, loss = drawn.risks[release.name], drawn.losses[release.name]
        figures += [(drawn.words_of_risk, percent(risk))] if risk == risk else []
        figures += [("information lost", percent(loss))] if loss == loss else []
    suppressed = sum(each.suppressed for each in release.changes if not each.removed)
    figures += [("cells suppressed", cell_text(suppressed))]
    repairs = tuple(dict.fromkeys(first_upper(each.text) for each in release.profile.repairs))
    kept, state = tuple(failed[:MOST_REASONS]), _state(release)
    return Card(release.name, release.word, state, tuple(figures), kept, tuple(others), repairs)


def _shown(line: Any, *, bars: bool) -> ShownLine:
    """A line, with bars: each figure as a share of the greatest."""
    numbers = [abs(float(each)) for each in line.cells if _is_number(each)]
    greatest = max(numbers) if bars and len(numbers) > 1 else 0.0
    return ShownLine(first_upper(line.words), line.meaning, tuple(_cell(each, greatest) for each in line.cells))


def _cell(value: Any, greatest: float) -> Cell:
    if not _is_number(value):
        text = cell_text(value) or "–"
        return Cell(text, None, holds=not text.startswith(("(", "–")))
    return Cell(cell_text(value), 100 * abs(float(value)) / greatest if greatest else None)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Percent) and not isinstance(value, bool) and value == value


def _declared(comparison: Any) -> Table:
    """Who is taken to know what."""
    rows = [(name.replace("_", " "), _listed(value)) for name, value in comparison.scenario.to_dict().items()]
    return Table(("declared", "as"), (*rows, ("policy", str(comparison.policy))))


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_listed(each)}" for name, each in value.items())
    return ", ".join(map(_listed, value)) if isinstance(value, list | tuple) else str(value)


def _cautions(comparison: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Cautions by what they are about: the original, then each release."""
    left = list(comparison.cautions)
    for each in comparison.releases:
        start = f"{each.name}: "
        own = tuple(first_upper(text.removeprefix(start)) for text in left if text.startswith(start))
        left = [text for text in left if not text.startswith(start)]
        if own:
            yield each.name, own
    if left:
        yield "original", tuple(map(first_upper, left))
