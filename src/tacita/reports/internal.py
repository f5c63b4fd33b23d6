"""The internal edition: verdicts first, then risk, what the release gives back, changes, losses, and the plan."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tacita import __version__
from tacita.check import TacitaError
from tacita.measures import find, kind_of, measure_names
from tacita.parameters import parameters_of
from tacita.plain_words import in_words
from tacita.reports.parts import Chapter, Figure, Figures, Part, Row, first_upper, part_of, title_of, titled
from tacita.result import WITH_OTHER_COLUMNS, Result, Table, Verdict, percent

RISKIEST = 10
BEFORE_AFTER = ("before_after_bars", "before_after_density")
"""Figures of both files that a report of one release draws."""
SIGNS = {True: "good", False: "bad", None: "open"}
STATES = {"done": "good", "not done": "todo", "not applicable": "none"}
OWN_CHAPTERS = ("reconstruction", "suda", "confidentiality", "categorical_confidentiality")
"""Measures that stand in a chapter of their own."""
OTHER_COLUMNS = (
    "Here the intruder reads the other columns of the release too, which tell some keys more finely than they were "
    "released."
)


def verdict_part(profile: Any, title: str = "") -> Part:
    """The verdict on a file, and each limit of the policy with what it means."""
    rows = [
        Row(SIGNS[each.holds], first_upper(each.title), in_words(each.why), limit_meaning(each, profile.policy))
        for each in profile.verdicts()
    ]
    text = () if rows else ("The policy sets no limit of risk: nothing can be said to be safe under it.",)
    return Part(title, text=text, rows=tuple(rows))


def limit_meaning(verdict: Verdict, policy: Any) -> str:
    """What a limit means: as the policy declares it, or what the measure says of itself."""
    name, _, keys = verdict.name.partition(":")
    declared = {each.name: each.doc for each in parameters_of(type(policy))}
    others = f" {OTHER_COLUMNS}" if keys.endswith(WITH_OTHER_COLUMNS) else ""
    if name in declared:
        return declared[name] + others
    if name not in measure_names():
        return ""
    function = find(name).function
    return " ".join((function.__doc__ or "").split("\n\n")[0].split()) + others


def scenario_chapter(scenario: Any, policy: Any, assumptions: Sequence[str]) -> Chapter:
    """Who the intruder is and what the figures rest on."""
    rows = tuple((name.replace("_", " "), _listed(value)) for name, value in scenario.to_dict().items())
    parts = (
        Part("Scenario: what an intruder is taken to know", tables=(Table(("declared", "as"), rows),)),
        Part("Policy: what counts as safe here", tables=(_limits(policy),)),
        *_exceptions(policy),
        Part("What the figures rest on", rows=tuple(Row("", "", first_upper(text)) for text in assumptions)),
    )
    lead = "Every figure of risk is that of an intruder who knows certain variables of the people in the file."
    return Chapter("Scenario and assumptions", parts, lead)


def _limits(policy: Any) -> Table:
    """Each limit of a policy, and what it means."""
    meanings = {each.name: each.doc for each in parameters_of(type(policy))}
    rows = tuple(
        (name.replace("_", " "), "no limit" if value is False else _listed(value), meanings.get(name, ""))
        for name, value in policy.to_dict().items()
        if name != "exceptions"
    )
    return Table(("limit", "value", "what it means"), rows)


def _exceptions(policy: Any) -> Iterator[Part]:
    """Why a limit is another one than usual, as those who decided said."""
    rows = tuple(Row("", f"{name.replace('_', ' ')}:", reason) for name, reason in policy.exceptions.items())
    if rows:
        yield Part("Exceptions, and why", "Limits that differ from what the office usually asks.", rows=rows)


def _listed(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_listed(each)}" for name, each in value.items())
    return ", ".join(map(_listed, value)) if isinstance(value, list | tuple) else str(value)


def checklist_chapter(checklist: Any) -> Chapter:
    """What to look at before publication."""
    rows = tuple(
        Row(STATES[item.state], first_upper(item.name), *(first_upper(in_words(each)) for each in said))
        for item in checklist
        for said in ((item.found, item.way_out),)
    )
    return Chapter(
        "Checklist before publication", (Part("", text=(checklist.headline.partition(": ")[2],), rows=rows),)
    )


def risk_chapter(before: Any, after: Any | None, figures: Figures, compared: Any | None = None) -> Chapter:
    """Risk before and after: each measure of the assessment, what it says and what it means."""
    shown = before if after is None else after
    parts = [] if compared is None else _side_by_side(compared)
    profiles = [before, *([] if after is None else [after])]
    parts += [_before_after(one, other, figures, profiles) for one, other in _core(before, after)]
    others = {} if compared is None else compared.releases[0].measures
    results = {**shown.further, **{name: result for name, result in others.items() if kind_of(name) == "risk"}}
    parts += [part_of(result, figures) for name, result in results.items() if _stands_here(name)]
    title = "Risk" if after is None else "Risk before and after"
    return Chapter(title, tuple(parts))


def _side_by_side(compared: Any) -> list[Part]:
    """The figures of risk before and after; those that do not hold in brackets, and no tables of them."""
    cautions = (compared.brackets,) if compared.brackets else ()
    parts = [Part("Side by side", tables=_with_meanings(compared, "risk"), cautions=cautions)]
    behind = compared.risk_tables()
    if behind and not cautions:
        meaning = "How many records are rare, by how rare, and how the risk is spread over the records."
        parts.append(Part("By level of k and quantile of the risk", meaning, tables=behind, side_by_side=True))
    return parts


def _with_meanings(compared: Any, kind: str) -> tuple[Table, ...]:
    """The figures of risk or of loss, and of one release in a last column what each means."""
    wanted = {"risk": "What an intruder gains", "loss": "What a researcher loses"}[kind]
    if len(compared.releases) > 1:
        return tuple(titled(table, "") for table in compared.first_screen() if table.title == wanted)
    blocks = [block for part in compared.blocks() for block in part if block.title == wanted]
    return tuple(_explained(block.lines, compared.releases[0].name) for block in blocks)


def _explained(lines: Any, release: str) -> Table:
    """Figures of one release with what each means; without a column of the original where it has none."""
    first = 0 if any(line.cells[0] is not None for line in lines) else 1
    rows = tuple((first_upper(line.words), *line.cells[first:], first_upper(line.meaning)) for line in lines)
    return Table(("", *("original", release)[first:], "what it means"), rows)


def _stands_here(name: str) -> bool:
    return name not in OWN_CHAPTERS and kind_of(name) == "risk"


def _core(before: Any, after: Any | None) -> Iterator[tuple[Result, Result | None]]:
    """What every assessment of categorical keys holds, before and after."""
    if not before.sets:
        return
    for name in ("k_anonymity", "individual", "reidentification", "attackers"):
        yield getattr(before.main, name), None if after is None or not after.sets else getattr(after.main, name)
    if before.household is not None:
        yield before.household, None if after is None else after.household


def _before_after(before: Result, after: Result | None, figures: Figures, profiles: Sequence[Any]) -> Part:
    """What a measure says of both files; the individual risk with its histogram, which shows the limit."""
    part = part_of(before if after is None else after, figures, drawn=False)
    why = profiles[-1].main.table.not_valid
    drawn: tuple[Figure, ...] = ()
    if before is profiles[0].individual:
        for profile, words in zip(profiles, ("Before", "After"), strict=False):
            shown = not profile.main.table.not_valid
            drawn += figures.of(profile, caption=words if len(profiles) > 1 else "") if shown else ()
    if after is None:
        return replace(part, figures=drawn)
    rows = [Row("", "Before:", first_upper(before.headline)), Row("", "After:", first_upper(after.headline))]
    if why:
        # Every one of these counts equal keys: after perturbation none is a risk, whatever its figure.
        rows[1] = Row("open", "After:", f"not assessed: {why}")
        part = replace(part, tables=(), folded=(), notes=())
    return replace(part, text=(), rows=tuple(rows), figures=drawn, cautions=())


def given_back_chapter(profile: Any, figures: Figures) -> Iterator[Chapter]:
    """What the rest of the release reveals of what was protected."""
    result = profile.further.get("reconstruction")
    if result is not None:
        yield Chapter("What the release gives back", (part_of(result, figures),))


def riskiest_chapter(profile: Any) -> Iterator[Chapter]:
    """The keys of highest risk."""
    if profile.sets:
        table = profile.riskiest_keys(RISKIEST)
        part = Part(
            "",
            "The combinations of key values whose holders are found most easily: with how many records they share it, "
            "how many of the population are estimated to have it, and how probable a right guess is.",
            tables=(table,),
            cautions=(profile.main.table.not_valid,) if profile.main.table.not_valid else (),
        )
        yield Chapter("Riskiest keys", (part,))


def threshold_chapter(profile: Any, figures: Figures, title: str) -> Iterator[Chapter]:
    """Expected re-identifications against the threshold."""
    found = profile.threshold_setting()
    if found is not None:
        yield Chapter(title, (part_of(found, figures, "Expected re-identifications by threshold"),))


def confidentiality_chapter(comparison: Any, figures: Figures) -> Iterator[Chapter]:
    """The confidentiality plot of each release."""
    parts = []
    for each in comparison.releases:
        who = each.profile.scenario
        if who.keys or any(each.result(name) for name in OWN_CHAPTERS[2:]):
            parts.append(_confidentiality(comparison, each.name, figures))
    if parts:
        yield Chapter("Confidentiality plot", tuple(parts))


def _confidentiality(comparison: Any, release: str, figures: Figures) -> Part:
    alone = len(comparison.releases) == 1
    try:
        result = comparison.confidentiality(release)
    except TacitaError as error:
        # Such as a policy without a k, below which a record would be unsafe.
        return Part("" if alone else release, text=(f"Not drawn: {error}",))
    return part_of(result, figures, title_of(result) if alone else release)


def changes_chapter(account: Any) -> Chapter:
    """What each step did."""
    rows = [
        (place, each.label, name, count - each.suppressed.get(name, 0), each.suppressed.get(name, 0))
        for place, each in enumerate(account.changes, start=1)
        for name, count in each.cells.items()
    ]
    table = Table(("step", "", "variable", "cells changed", "cells suppressed"), tuple(rows))
    said = tuple(Row("", f"{place}. {each.label}", _done(each)) for place, each in enumerate(account.changes, start=1))
    by_variable = account.comparison.tables()[-1]
    size = account.comparison.original.size
    suppressed = tuple(
        (each.name, each.suppressed, percent(each.suppressed / size))
        for each in account.compared.changes
        if each.suppressed
    )
    parts = [
        Part("Step by step", rows=said, folded=(titled(table, "By step and variable"),)),
        Part(
            "By variable",
            "In how many records the released value is another one, or is missing.",
            tables=(titled(by_variable, ""),),
        ),
    ]
    if suppressed:
        parts.append(
            Part("Suppressions", "Cells whose value is missing from the release, and their share of all records.",
                 tables=(Table(("variable", "cells", "share"), suppressed),))
        )  # fmt: skip
    broken = account.compared.broken
    if broken:
        parts.append(Part("Relations that no longer hold", rows=tuple(Row("bad", "", str(each)) for each in broken)))
    return Chapter("What was changed", tuple(parts))


def _done(each: Any) -> str:
    return str(each).removeprefix(f"{each.label}: ")


def loss_chapter(comparison: Any, figures: Figures) -> Chapter:
    """What a researcher loses: every measure of loss, and both files side by side."""
    parts = [Part("Side by side", tables=_with_meanings(comparison, "loss"))]
    if len(comparison.releases) == 1:
        measured = comparison.releases[0].measures
        parts += [part_of(result, figures) for name, result in measured.items() if kind_of(name) == "loss"]
        parts += list(_both_files(comparison, figures))
    return Chapter("What a researcher loses", tuple(parts))


def _both_files(comparison: Any, figures: Figures) -> Iterator[Part]:
    # Even in the office no picture has to show what one or two records alone decide.
    found = comparison.before_after(public=True)
    drawn = tuple(figure for name in BEFORE_AFTER for figure in figures.of(found, name))
    if drawn:
        yield Part("Distributions before and after", found.meaning, figures=drawn)


def map_chapter(comparison: Any, figures: Figures) -> Iterator[Chapter]:
    """Several releases on the map of risk and utility."""
    if len(comparison.releases) > 1:
        drawn = figures.of(comparison, "risk_utility_map")
        part = Part("", "Each release by what an intruder gains and what a researcher loses: down and to the left is "
                    "better.", figures=drawn, tables=comparison.first_screen(),
                    cautions=(comparison.brackets,) if comparison.brackets else ())  # fmt: skip
        yield Chapter("Several releases side by side", (part,))


def plan_chapter(account: Any) -> Chapter:
    """The plan, and the versions that make it repeatable."""
    steps = tuple(Row("", f"{place}.", text) for place, text in enumerate(account.steps, start=1))
    return Chapter("Plan and versions", (Part("Plan", rows=steps), versions_part(account.changes)))


def versions_part(changes: Sequence[Any] = ()) -> Part:
    """What the report was made with."""
    rows = [("Tacita", __version__), ("Python", platform.python_version())]
    rows += [(f"step {each.label}", str(each.version)) for each in changes]
    return Part("Versions", "The same plan, seed and versions make the same release again.",
                tables=(Table(("of", "version"), tuple(rows)),))  # fmt: skip


def cautions_chapter(cautions: Sequence[str]) -> Iterator[Chapter]:
    """What the reader should know."""
    listed = tuple(Row("", "", first_upper(text)) for text in dict.fromkeys(cautions))
    if listed:
        yield Chapter("Cautions", (Part("", rows=listed),))
