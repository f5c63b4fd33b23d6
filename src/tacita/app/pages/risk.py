"""The page Risk: who stands out, which threshold to set, and every measure there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from htmltools import TagList, tags

from tacita.app import charts, forms, parts, tasks
from tacita.app.desk import Desk
from tacita.app.worker import Task
from tacita.check import TacitaError
from tacita.measure_index import needed_text
from tacita.measures import find, kind_of, measure_names
from tacita.plain_words import in_words
from tacita.policy import Policy
from tacita.release.release import Release
from tacita.reports.internal import limit_meaning
from tacita.reports.parts import first_upper
from tacita.result import Table, Verdict, number, percent
from tacita.risk.identity.reidentification import ThresholdCurve

RISKIEST = 10
"""Records that are listed as the riskiest."""
MOST_POINTS = 120
"""Points of the curve that are drawn."""


def fragments(desk: Desk) -> dict[str, Any]:
    """The pieces of the page."""
    if not desk.draft.ready:
        return parts.without_keys("Risk")
    release = _subject(desk)
    if release is None:
        why = desk.failure(desk.draft.steps) or desk.failure(())
        said = parts.card("Risk", parts.note(why, "error") if why else parts.pending("measuring …"))
        return {"first": said, "second": None, "third": measures_card(desk)}
    return {"first": _profile(desk, release), "second": _threshold(desk, release), "third": measures_card(desk)}


def _subject(desk: Desk) -> Release | None:
    """The file that the page is about: as it is now, or the original."""
    return desk.release(() if desk.view.get("of") == "original" else None)


def _profile(desk: Desk, release: Release) -> Any:
    profile = release.assess()
    which = {"now": "the file after all steps", "original": "the original"}
    choose = parts.select("of", which, desk.view.get("of", "now"), label="Risk of", act="choose_of")
    verdicts = [_verdict(each, profile.policy) for each in profile.verdicts()]
    drawn = None
    if profile.sets:
        spec = desk.get(_histogram(desk, profile))
        drawn = parts.figure(
            spec, "How many records have which individual risk; the line is the limit.", name="histogram"
        )
    riskiest = parts.table_of(profile.riskiest_table(RISKIEST, values=bool(profile.sets)))
    cautions = tags.ul(*(tags.li(each) for each in profile.cautions), class_="cautions") if profile.cautions else None
    said = tags.div(tags.p(profile.headline, class_="headline"), tags.ul(*verdicts, class_="rows"))
    return parts.card(
        "Who is at risk?",
        tags.div(choose, class_="row"),
        tags.div(said, tags.div(drawn), class_="two"),
        parts.folded(f"The {RISKIEST} riskiest records", riskiest, opened=True),
        *(parts.table_of(each, fold=_title(each)) for each in profile.tables()),
        cautions,
    )


def _title(table: Table) -> str:
    """What a table is called; one without a title by what stands first in it."""
    first = str(table.rows[0][0]) if table.rows else "Figures"
    return table.title or first_upper(table.columns[0] or first)


def _histogram(desk: Desk, profile: Any) -> Task:
    key = desk.draft.key(() if desk.view.get("of") == "original" else desk.draft.steps)
    return Task(f"histogram:{key}", "drawing", tasks.figure, (profile, None, {}))


def ahead(desk: Desk) -> Iterator[Task]:
    """What the page shows first."""
    release = _subject(desk)
    if release is not None and release.assess().sets:
        yield _histogram(desk, release.assess())


def _verdict(verdict: Verdict, policy: Policy) -> Any:
    """A limit of the policy: what it means stands with those that are not kept."""
    kinds = {True: ("good", "✓", "holds"), False: ("bad", "✕", "broken"), None: ("open", "?", "not assessed")}
    kind, sign, word = kinds[verdict.holds]
    meaning = "" if verdict.holds else limit_meaning(verdict, policy)
    return tags.li(
        tags.span(sign, class_=f"sign {kind}", **{"aria-hidden": "true"}),
        tags.div(
            tags.b(f"{first_upper(verdict.title)}: {word}. "),
            f"{first_upper(in_words(verdict.why))}.",
            tags.small(meaning) if meaning else None,
        ),
    )


# The threshold.


def _threshold(desk: Desk, release: Release) -> Any:
    profile = release.assess()
    if not profile.sets:
        return None
    curve = ThresholdCurve.of(profile.individual)
    chosen = _chosen(desk, curve)
    risk, unsafe, expected = chosen.risk, chosen.unsafe, chosen.expected
    top = float(curve.risk[-1])
    slider = parts.text_field(
        "threshold",
        f"Threshold on the individual risk: {risk:.3g}",
        f"{risk:.6g}",
        kind="range",
        min="0",
        max=f"{top:.6g}",
        step=f"{max(top / 200, 1e-9):.3g}",
        **{"data-change": "threshold", "id": "threshold-slider"},
    )
    ways = tags.div(
        _way("threshold", "Threshold", f"{risk:.4g}", "records above it are unsafe"),
        _way("rate", "Re-identification rate", f"{expected / max(curve.size, 1):.4g}", "that is tolerated"),
        _way("unsafe", "Unsafe records", str(unsafe), "that may be above it"),
        class_="fields",
    )
    said = (
        f"{unsafe:,} of {curve.size:,} records are above it. Once they are protected, at most {number(expected)} "
        f"re-identifications are expected ({percent(expected / max(curve.size, 1))})."
    )
    drawn = parts.figure(
        charts.curve(_points(curve), risk),
        "Expected re-identifications (line) and records above (dashes) by threshold; upright: the chosen one.",
        name="curve",
    )
    return parts.card(
        "Set a threshold, one of three ways",
        tags.div(
            tags.div(slider, ways, tags.p(said, class_="headline"), _preview(desk, risk)), tags.div(drawn), class_="two"
        ),
        lead="Give the threshold, the rate that is tolerated, or how many records may be above it: the others follow.",
    )


def _way(name: str, label: str, value: str, hint: str) -> Any:
    return parts.text_field(
        name,
        label,
        value,
        kind="number",
        hint=hint,
        step="any",
        **{"data-change": "threshold", "id": f"threshold-{name}"},
    )


def _chosen(desk: Desk, curve: ThresholdCurve) -> Any:
    way, value = desk.view.get("threshold", ("", 0.0))
    if way == "rate":
        return curve.for_expected(value * curve.size)
    if way == "unsafe":
        return curve.for_unsafe(min(max(int(value), 0), curve.size))
    limit = desk.draft.policy.risk or 0.1
    return curve.at(value if way == "threshold" else min(limit, float(curve.risk[-1])))


def _points(curve: ThresholdCurve) -> list[dict[str, float]]:
    places = np.unique(np.linspace(0, len(curve.risk) - 1, MOST_POINTS).astype(int))
    return [
        {"threshold": float(curve.risk[at]), "expected": float(curve.bound[at]), "unsafe": int(curve.unsafe[at])}
        for at in places
    ]


def _preview(desk: Desk, risk: float) -> Any:
    """What suppression down to the threshold would blank, before anything is kept."""
    draft = desk.draft
    asked = desk.view.get("preview")
    state = desk.known("state:" + draft.key(draft.steps))
    if not 0 < risk <= 1 or state is None:
        return None
    button = parts.button("preview", "What would suppression down to it blank?", kind="quiet", risk=f"{risk:.9g}")
    add = parts.button("add_suppress", "Add this suppression as a step", kind="quiet", risk=f"{risk:.9g}")
    if asked != f"{risk:.9g}":
        return tags.div(button, class_="row")
    key = f"preview:{draft.key(draft.steps)}:{risk:.9g}"
    given = (state.data, state.scenario, draft.policy, risk, draft.seed)
    found = desk.get(Task(key, "trying suppression", tasks.threshold_preview, given))
    if found is None:
        return _waiting(desk, key, "trying suppression …")
    cells = ", ".join(f"{name} {count:,}" for name, count in found["cells"].items()) or "none"
    return tags.div(
        tags.p(
            f"Suppression down to {risk:.3g} would blank {sum(found['cells'].values()):,} cells ({cells}); expected "
            f"re-identifications after it: {number(found['expected'])}.",
            class_="headline",
            id="preview-said",
        ),
        tags.div(add, class_="row"),
    )


def _waiting(desk: Desk, key: str, words: str) -> Any:
    """The place of a result that is not there yet, or why it will not be."""
    return parts.note(desk.failures[key], "error") if key in desk.failures else parts.pending(words)


# All measures.


def measures_card(desk: Desk) -> Any:
    """Every measure of the registry, of risk and of loss, each with its form."""
    names = measure_names()
    chosen = desk.view.get("measure") or "suda"
    groups = [
        tags.optgroup(*(_choice(name, chosen) for name in names if kind_of(name) == kind), label=words)
        for kind, words in (("risk", "Risk"), ("loss", "Loss"))
    ]
    choose = tags.label(
        tags.span("Measure", class_="name"),
        tags.select(*groups, {"name": "measure", "id": "measure-choice", "data-change": "choose_measure"}),
        class_="field",
    )
    own = find(chosen)
    missing = [need for need in own.all_needs if not _given(desk, need)]
    said = forms.first_sentence(own.function)
    asked = desk.view.get("measured", {}).get(chosen)
    fields = forms.fields(own.parameters, desk.draft.data.columns, asked or {})
    needed = parts.note(f"It needs {', '.join(map(_needed, missing))}.", "error") if missing else None
    ask = parts.form("measure", *fields, parts.submit("Measure"), measure=chosen)
    return parts.card(
        "Every measure", tags.div(choose, class_="row"), tags.p(said), needed, ask, _measured(desk, chosen)
    )


def _given(desk: Desk, need: str) -> bool:
    """Whether what a measure needs is declared in the scenario; what is not of the scenario is always looked for."""
    scenario = desk.draft.scenario
    return bool(getattr(scenario, need, True))


def _needed(need: str) -> str:
    """What a measure needs, in the words of the pages."""
    words = needed_text(need)
    return f"{need.replace('_', ' ')}, on the page Scenario" if "=" in words else words


def _choice(name: str, chosen: str) -> Any:
    own = {"selected": ""} if name == chosen else {}
    return tags.option(name.replace("_", " "), {"value": name, **own})


def _measured(desk: Desk, name: str) -> Any:
    options = desk.view.get("measured", {}).get(name)
    release = desk.release()
    if options is None or release is None:
        return None
    key = f"measure:{desk.draft.key(desk.draft.steps)}:{name}:{sorted(options.items())!r}"
    result = desk.get(Task(key, f"measuring {name.replace('_', ' ')}", tasks.measured, (name, release, options)))
    if result is None:
        return _waiting(desk, key, "measuring …")
    figures = []
    for figure in result.figures()[:1]:
        task = Task(f"figure:{figure}:{key}", "drawing", tasks.figure, (result, figure, {}))
        spec = desk.get(task)
        if spec is not None or task.key not in desk.failures:
            figures.append(parts.figure(spec, first_upper(name.replace("_", " ")) + ".", name=f"measure-{name}"))
    return tags.div(parts.result_text(result), TagList(*figures), class_="result", id="measured")


# What people do on this page.


def choose_of(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at the original or at the file as it is now."""
    desk.view["of"] = str(fields["of"])


def threshold(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Set the threshold in one of three ways."""
    way, text = next((name, fields[name]) for name in ("rate", "unsafe", "threshold") if name in fields)
    try:
        value = float(str(text))
    except ValueError:
        raise TacitaError(f"the {way} must be a number.") from None
    if value < 0 or (way == "rate" and value == 0):
        raise TacitaError(f"the {way} must be above 0.")
    desk.view["threshold"] = (way, value)


def preview(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Ask what suppression would blank."""
    desk.view["preview"] = str(fields["risk"])


def add_suppress(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Make the threshold that of the policy, and suppression down to it a step."""
    from tacita.protect.suppress.suppress import Suppress

    risk = float(fields["risk"])
    desk.do(desk.draft.with_step(Suppress(risk=risk)), f"suppress down to a risk of {risk:.3g}")
    desk.say("Added to the list of steps, on the page Protect.")


def choose_measure(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at another measure."""
    desk.view["measure"] = str(fields["measure"])


def measure(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Measure something with options."""
    name = str(fields["measure"])
    options = forms.read(find(name).parameters, fields)
    measured = dict(desk.view.get("measured", {}))
    if measured.get(name) == options:
        desk.retry_all(f":{name}:")
    desk.view["measured"] = {**measured, name: options}
    desk.view["measure"] = name


ACTIONS = {
    "choose_of": choose_of,
    "threshold": threshold,
    "preview": preview,
    "add_suppress": add_suppress,
    "choose_measure": choose_measure,
    "measure": measure,
}
