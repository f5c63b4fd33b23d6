"""The frame around the pages: their names, the header that stays in sight, the line that says what is being done."""

from __future__ import annotations

from typing import Any

from htmltools import Tag, tags

from tacita.app import parts
from tacita.app.desk import Desk
from tacita.app.pages import compare, data, protect, release, risk, scenario
from tacita.app.standing import Measured, Standing
from tacita.app.worker import Task
from tacita.plain_words import in_words

PAGES = {"data": data, "scenario": scenario, "risk": risk, "protect": protect, "compare": compare, "release": release}
PLACES = ("first", "second", "third")
AHEAD = ("risk", "compare")
"""Pages with figures, which are drawn before somebody goes there."""


def skeleton() -> Tag:
    """The page as it is before anything is known of a file."""
    main = tags.main(
        tags.h1("Tacita", id="title", class_="unseen"),
        tags.div(id="notice", role="status", **{"aria-live": "polite"}),
        *(tags.div(id=place) for place in PLACES),
        id="page",
        tabindex="-1",
    )
    skip = tags.a("To the page", href="#page", class_="skip")
    return tags.html(_head(), tags.body(skip, _top(), main), lang="en")


def _head() -> Tag:
    return tags.head(
        tags.meta(charset="utf-8"),
        tags.title("Tacita"),
        tags.meta(name="viewport", content="width=device-width, initial-scale=1"),
        tags.link(rel="icon", href="data:,"),
        tags.link(rel="stylesheet", href="own/app.css"),
        tags.script(src="own/vega.js", defer=""),
        tags.script(src="own/app.js", defer=""),
    )


def _top() -> Tag:
    """What stays in sight: the pages, undo, the verdict, what is being done."""
    tabs = [_tab(at, name) for at, name in enumerate(PAGES, start=1)]
    colours = tags.button("◐", id="colours", type="button", title="Light or dark", **{"aria-label": "Light or dark"})
    bar = tags.div(
        tags.span("Tacita", class_="brand"),
        tags.nav(*tabs, **{"aria-label": "Pages"}),
        tags.div(id="history", class_="row"),
        colours,
        class_="bar",
    )
    return tags.header(bar, tags.div(id="standing"), tags.div(id="working", role="status"), id="top")


def _tab(at: int, name: str) -> Tag:
    number = tags.span(str(at), class_="number", **{"aria-hidden": "true"})
    own: dict[str, Any] = {
        "data-act": "page",
        "data-fields": f'{{"page": "{name}"}}',
        "id": f"tab-{name}",
        "type": "button",
    }
    return tags.button(number, name.title(), own)


def fragments(desk: Desk) -> dict[str, str]:
    """Every piece of the window as HTML, by its place."""
    desk.wishes = []
    page = desk.view.get("page", "data")
    made = _page(desk, page)
    desk.ahead = [task for name in AHEAD if name != page for task in _ahead(desk, name)]
    # Once it is known what the page waits for.
    made |= {
        "standing": header(desk),
        "working": working(desk),
        "history": history(desk),
        "notice": notice(desk),
    }
    found = {place: "" if each is None else str(each) for place, each in made.items()}
    return {**found, "title": page.title(), "current": page}


def _page(desk: Desk, page: str) -> dict[str, Any]:
    """The pieces of a page; a fault in one of them does not end the window."""
    try:
        made: dict[str, Any] = PAGES[page].fragments(desk)
        return made
    except Exception as error:
        # What libraries say may quote cells of the data.
        said = parts.note(f"This page cannot be shown ({type(error).__name__}); undo the last change.", "error")
        return {"first": parts.card(page.title(), said), "second": None, "third": None}


def _ahead(desk: Desk, page: str) -> list[Task]:
    """What a page would show first; nothing where it cannot."""
    try:
        return list(PAGES[page].ahead(desk)) if desk.draft.ready else []
    except Exception:
        # The page itself says what is wrong.
        return []


def header(desk: Desk) -> Tag | None:
    """Verdict and figures, each with its change since the original and since the last step."""
    if not desk.draft.ready:
        return None
    steps = desk.draft.steps
    now, first = desk.standing(steps), desk.standing(())
    last = desk.standing(steps[:-1]) if steps else None
    failed = _failed(desk)
    if now is None and failed:
        said = tags.div(parts.verdict_word("NOT DONE"), tags.span(failed, class_="why", title=failed), class_="verdict")
        return tags.div(said, class_="standing")
    if now is None:
        return tags.div(tags.div(tags.span("Measuring …", class_="badge open"), class_="verdict"), class_="standing")
    shown = [
        _figure(each, _at(first, place) if steps else None, _at(last, place) if len(steps) > 1 else None)
        for place, each in enumerate(now.figures)
    ]
    words = in_words(now.why) or "every limit of the policy is kept"
    why = tags.span(words, class_="why", title=words)
    return tags.div(
        tags.div(parts.verdict_word(now.verdict), why, class_="verdict"), tags.dl(*shown), class_="standing"
    )


def _failed(desk: Desk) -> str:
    """Why a step cannot be done; empty if all can."""
    steps = desk.draft.steps
    return next((why for count in range(len(steps) + 1) if (why := desk.failure(steps[:count]))), "")


def _at(standing: Standing | None, place: int) -> Measured | None:
    return None if standing is None else standing.figures[place]


def _figure(each: Measured, first: Measured | None, last: Measured | None) -> Tag:
    changes = [
        tags.span(f"{each.change(before)} {words}", class_="change " + _kind(each, before))
        for before, words in ((first, "since the original"), (last, "since the last step"))
        if each.change(before)
    ]
    return tags.div(tags.dt(each.name, title=each.means), tags.dd(tags.b(each.text), *changes), class_="figure")


def _kind(now: Measured, before: Measured | None) -> str:
    if before is None or now.value is None or before.value is None or abs(now.value - before.value) < 1e-9:
        return ""
    return "worse" if now.value > before.value else "better"


def working(desk: Desk) -> Tag | None:
    """What is being done, how far it is, and how to end it."""
    task = None if desk.unasked else desk.worker.task
    if task is None:
        if any(why == "cancelled" for why in desk.failures.values()):
            return tags.div(
                tags.span("Some work was cancelled."),
                parts.button("retry", "Do it after all", kind="quiet"),
                class_="working",
            )
        return None
    done, what = desk.progress
    words = task.words if what in ("", task.words) else f"{task.words}: {what.replace('_', ' ')}"
    bar = tags.progress(value=f"{done:.3f}", max="1", **{"aria-label": words})
    return tags.div(bar, tags.span(f"{words} …"), parts.button("cancel", "Cancel"), class_="working")


def history(desk: Desk) -> Any:
    """Undo and redo, wherever one is."""
    past, future = desk.history.past, desk.history.future
    words = f"Undo: {desk.history.now.words}" if past else "Nothing to undo"
    undo = parts.button("undo", "↶", kind="icon", title=words, disabled=not past, at="top")
    redo = parts.button("redo", "↷", kind="icon", title="Do again what was undone", disabled=not future, at="top")
    return tags.span(undo, redo)


def notice(desk: Desk) -> Tag | None:
    """The last message."""
    kind, words = desk.notice
    return (
        tags.div(
            tags.span(words), parts.button("hush", "×", kind="icon", title="Close the message"), class_=f"notice {kind}"
        )
        if words
        else None
    )
