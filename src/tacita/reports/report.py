"""`report`: what was found, as one page for the office or for users of the data."""

from __future__ import annotations

import datetime
import html
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacita import __version__, check
from tacita.check import TacitaError
from tacita.data.atomic import OFFICE_ONLY, new_file, private_file
from tacita.plain_words import in_words
from tacita.progress import Progress, no_progress
from tacita.reports import internal
from tacita.reports.parts import Chapter, Figures, Part, cells, part_of
from tacita.reports.public import codebook_chapter, public_chapters
from tacita.result import Result, cell_text, summary

EDITIONS = ("internal", "public")
NOTHING_BUT_STYLE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""The browser itself refuses any script and any connection."""
TITLES = {"internal": "Disclosure control report", "public": "How these data were protected"}
NOT_PUBLIC = "not for publication: this release does not keep the policy of the office"
WORDS = {"SAFE": "good", "NOT SAFE": "bad", "NOT ASSESSED": "open", "NO VERDICT": "open"}
MOST_CARDS = 4


@dataclass(frozen=True)
class Report:
    """A report as one page that needs no connection: `save` it, or look at it in a notebook."""

    title: str
    edition: str
    """internal or public."""
    html: str = field(repr=False)
    """The page."""

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page; that of the internal edition can be read by its owner only."""
        target = checked_page(path)
        with new_file(target, overwrite=overwrite) as beside:
            beside.write_text(self.html, encoding="utf-8")
        return private_file(target) if self.edition == "internal" else target

    def _repr_html_(self) -> str:
        frame = f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 40rem; border: 0"'
        return f'{frame} sandbox title="{html.escape(self.title)}"></iframe>'


def checked_page(path: str | os.PathLike[str]) -> Path:
    """The path of a page; an error before the work that is to stand there."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise TacitaError(f"a report is saved as .html; got {target.suffix or 'no suffix'!r}.")
    return target


def report(
    subject: Any, *results: Result, edition: str = "internal", title: str = "", progress: Progress = no_progress
) -> Report:
    """A page about a release, a risk profile or a comparison, that needs no connection and prints well.

    The internal edition is for those who decide: verdicts against the policy first, then the scenario, the checklist,
    risk before and after, what the release gives back, the riskiest keys, what was changed and what it cost. Further
    `results` stand in it too, such as a comparison with other plans or what `tc.risk.suda` found. The public edition is
    for users of the data and takes a release alone: what was done, how much, and how to analyse the file; no seed, no
    risk, and no count below ten.

    >>> import tacita as tc
    >>> survey = tc.household_survey(200, population=4000)
    >>> release = tc.Plan([tc.Recode("age", width=20)]).apply(survey.data, survey.scenario)
    >>> page = report(release, edition="public")
    >>> page.edition, "recoded into coarser classes" in page.html
    ('public', True)
    """
    check_edition(edition, is_release=hasattr(subject, "account") and not results)
    for each in results:
        if not isinstance(each, Result):
            raise TacitaError(f"further results must be results of measures; got {type(each).__name__}.")
    if edition == "public":
        told = subject.account(internal=False, progress=progress).public
        note = "" if told.safe else NOT_PUBLIC
        return _made(title, edition, {"chapters": list(public_chapters(told)), "note": note})
    figures = Figures()
    if hasattr(subject, "account"):
        content = _of_release(subject.account(progress=progress), results, figures)
    elif hasattr(subject, "releases"):
        content = _of_comparison(subject, results, figures)
    elif hasattr(subject, "riskiest_keys"):
        content = _of_profile(subject, results, figures)
    else:
        raise TacitaError(f"a report is of a release, a risk profile or a comparison; got {type(subject).__name__}.")
    content["chapters"] += internal.cautions_chapter(content.pop("cautions"))
    return _made(title, edition, content)


def check_edition(edition: str, *, is_release: bool) -> None:
    """Refuse an unknown edition, and the public one of anything but one release alone."""
    check.one_of("edition", edition, EDITIONS)
    if edition == "public" and not is_release:
        raise TacitaError(
            "the public edition is of one release alone, such as the folder of a release that was saved; write the "
            "internal edition of anything else."
        )


def _made(title: str, edition: str, content: dict[str, Any]) -> Report:
    heading = title or TITLES[edition]
    page = rendered(
        "report.html",
        title=heading,
        edition=edition,
        policy=NOTHING_BUT_STYLE,
        date=datetime.date.today().isoformat(),
        **({"banners": [], "cards": [], "note": OFFICE_ONLY} | content),
    )
    return Report(heading, edition, page)


def rendered(template: str, **content: Any) -> str:
    """A page by its template."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tacita", "reports/templates"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(template).render(version=__version__, cells=cells, **content)


def _of_release(account: Any, results: Sequence[Result], figures: Figures) -> dict[str, Any]:
    """The internal edition of a release."""
    comparison, compared = account.comparison, account.compared
    after = compared.profile
    chapters = [
        Chapter("Verdict", (internal.verdict_part(after),)),
        internal.checklist_chapter(account.checklist),
        internal.scenario_chapter(account.scenario, account.policy, after.notes),
        internal.risk_chapter(comparison.original, after, figures, comparison),
        *internal.given_back_chapter(after, figures),
        *internal.riskiest_chapter(after),
        *internal.threshold_chapter(comparison.original, figures, "Threshold on the risk of the original"),
        *_special_uniques(account, figures),
        *internal.confidentiality_chapter(comparison, figures),
        internal.changes_chapter(account),
        internal.loss_chapter(comparison, figures),
        *_further(results, figures),
        internal.plan_chapter(account),
        codebook_chapter(account.file),
    ]
    return {
        "banners": [_banner("", compared.verdicts, comparison.policy)],
        "cards": list(_cards(comparison)),
        "chapters": chapters,
        "cautions": [*account.cautions, *comparison.cautions],
    }


def _of_comparison(comparison: Any, results: Sequence[Result], figures: Figures) -> dict[str, Any]:
    """The internal edition of a comparison: releases side by side."""
    verdicts = tuple(internal.verdict_part(each.profile, each.name) for each in comparison.releases)
    chapters = [
        *internal.map_chapter(comparison, figures),
        Chapter("Verdicts", verdicts),
        internal.scenario_chapter(comparison.scenario, comparison.policy, comparison.original.notes),
        Chapter("Figures behind the verdicts", (Part("", tables=comparison.risk_tables()),)),
        *internal.threshold_chapter(comparison.original, figures, "Threshold on the risk of the original"),
        *internal.confidentiality_chapter(comparison, figures),
        internal.loss_chapter(comparison, figures),
        *_further(results, figures),
        Chapter("Versions", (internal.versions_part(),)),
    ]
    return {
        "banners": [_banner(each.name, each.verdicts, comparison.policy) for each in comparison.releases],
        "cards": list(_cards(comparison)) if len(comparison.releases) == 1 else [],
        "chapters": chapters,
        "cautions": list(comparison.cautions),
    }


def _of_profile(profile: Any, results: Sequence[Result], figures: Figures) -> dict[str, Any]:
    """The internal edition of a risk profile: one file."""
    further = [part_of(profile.further[name], figures) for name in internal.OWN_CHAPTERS if name in profile.further]
    chapters = [
        Chapter("Verdict", (internal.verdict_part(profile),)),
        internal.scenario_chapter(profile.scenario, profile.policy, profile.notes),
        internal.risk_chapter(profile, None, figures),
        *([Chapter("Further measures", tuple(further))] if further else []),
        *internal.riskiest_chapter(profile),
        *internal.threshold_chapter(profile, figures, "Threshold on the risk"),
        *_further(results, figures),
        Chapter("Versions", (internal.versions_part(),)),
    ]
    return {
        "banners": [_banner("", profile.verdicts(), profile.policy)],
        "chapters": chapters,
        "cautions": list(profile.cautions),
    }


def _special_uniques(account: Any, figures: Figures) -> Iterator[Chapter]:
    """Which keys make records of the original stand out."""
    if account.special_uniques is not None:
        yield Chapter("Special uniques in the original (SUDA)", (part_of(account.special_uniques, figures),))


def _further(results: Sequence[Result], figures: Figures) -> list[Chapter]:
    """Chapters of further results; a comparison of several releases is a map."""
    chapters: list[Chapter] = []
    others: list[Part] = []
    for each in results:
        if hasattr(each, "releases") and len(each.releases) > 1:
            chapters += internal.map_chapter(each, figures)
        else:
            others.append(part_of(each, figures))
    return [*chapters, *([Chapter("Further results", tuple(others))] if others else [])]


def _banner(name: str, verdicts: Any, policy: Any) -> dict[str, str]:
    """A verdict in a word, its reason or what is kept, and how it looks."""
    said = summary(verdicts)
    word = said.partition(":")[0].partition(";")[0].removesuffix(" under this policy")
    kept = f"Under the policy: {policy}." if word == "SAFE" else ""
    reason = in_words(said.partition(": ")[2]) or kept
    return {"name": name, "word": word, "state": WORDS.get(word, "open"), "reason": reason}


def _cards(comparison: Any) -> Iterator[dict[str, str]]:
    """The first figures that are there both before and after, and the first figure of loss."""
    gains, *others = comparison.first_screen()
    both = [row for row in gains.rows if all(isinstance(cell, int | float) for cell in row[1:])]
    for words, before, after in both[:MOST_CARDS]:
        yield {"words": words, "before": cell_text(before), "after": cell_text(after)}
    lost = [row for table in others for row in table.rows if table.title.startswith("What a researcher")]
    for words, _, after in lost[:1]:
        yield {"words": words, "before": "", "after": cell_text(after)}
