"""The page Release: the checklist, and everything there is to take away."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from htmltools import tags

from tacita.app import parts, tasks
from tacita.app.desk import Desk
from tacita.app.project_file import project_text
from tacita.app.worker import Task
from tacita.check import TacitaError
from tacita.data.atomic import check_free
from tacita.plain_words import in_words
from tacita.protect.steps import step_of
from tacita.release.checklist import NOT_DONE
from tacita.release.release import FORMATS, Release
from tacita.release.written import PUBLIC
from tacita.reports.parts import first_upper

STATES = {"done": ("good", "✓"), "not done": ("todo", "!"), "not applicable": ("none", "–")}
MENDED_BY = {"identifiers": "remove", "ids renewed": "new_identifiers", "record order": "random_order"}
"""Items of the checklist and the step that is done without further thought."""
FILES = {
    "data.csv": ("The data as CSV", "for publication"),
    "public.zip": ("Everything for publication", "data, codebook, report for users, methods"),
    "report.html": ("The report for users of the data", "for publication"),
    "internal.html": ("The report for those who decide", "for the office only"),
    "codebook.csv": ("The codebook", "for publication"),
    "codebook.xml": ("The codebook as DDI", "for publication"),
    "internal.zip": ("Everything for the office", "plan, scenario, policy, seed, log, checklist, report"),
}


def fragments(desk: Desk) -> dict[str, Any]:
    """The pieces of the page."""
    if not desk.draft.ready:
        return parts.without_keys("Release", _project(desk) if desk.draft.opened is not None else None)
    release = desk.compared()
    if release is None:
        return {
            "first": parts.card("Release", parts.waiting(desk, "comparing with the original …")),
            "second": None,
            "third": _project(desk),
        }
    return {"first": _make(desk, release), "second": _checklist(desk, release), "third": _project(desk)}


def _checklist(desk: Desk, release: Release) -> Any:
    key = f"checklist:{desk.draft.key(desk.draft.steps)}"
    found = desk.get(Task(key, "the checklist", tasks.checked_list, (release,)))
    if found is None:
        why = desk.failures.get(key)
        return parts.card("Before publication", parts.note(why, "error") if why else parts.pending("looking …"))
    rows = []
    for item in found:
        kind, sign = STATES[item.state]
        text = in_words(f"{first_upper(item.found)}{'; ' + item.way_out if item.way_out else ''}.")
        rows.append(
            tags.li(
                tags.span(sign, class_=f"sign {kind}", **{"aria-hidden": "true"}),
                tags.span(tags.b(f"{first_upper(item.name)}: {item.state}. "), text, " ", _mend(item)),
            )
        )
    exceptions = [
        tags.li(f"{name.replace('_', ' ')}: {reason}") for name, reason in desk.draft.policy.exceptions.items()
    ]
    listed = tags.div(tags.h3("Exceptions from the policy"), tags.ul(*exceptions)) if exceptions else None
    return parts.card(
        "Before publication", tags.p(found.headline, class_="headline"), tags.ul(*rows, class_="rows"), listed
    )


def _mend(item: Any) -> Any:
    """The step that does what an item asks for, where it needs no decision."""
    if item.state != NOT_DONE or item.name not in MENDED_BY:
        return None
    kind = MENDED_BY[item.name]
    words = f"Add {kind.replace('_', ' ')}"
    return parts.button("mend", words, kind="quiet", title=f"Add the step {kind.replace('_', ' ')}", step=kind)


def _make(desk: Desk, release: Release) -> Any:
    safe = release.safe
    word, _, why = release.verdict.partition(":")
    head = tags.p(parts.verdict_word(word.removesuffix(" under this policy")), " ", in_words(why.strip()))
    asked = desk.view.get("made", {})
    if asked.get("key") == desk.draft.key(desk.draft.steps):
        return parts.card("The release", head, _made(desk, release, asked))
    boxes = parts.chips("formats", [each for each in FORMATS if each != "csv"], (), label="Besides CSV also as")
    reason = (
        None
        if safe
        else parts.text_field(
            "reason", "Why it is written though it is not safe", "", hint="It is then marked as not for publication."
        )
    )
    words = "Make the release" if safe else "Make it, not for publication"
    return parts.card("The release", head, parts.form("make", boxes, reason, parts.submit(words)))


def _made(desk: Desk, release: Release, asked: Mapping[str, Any]) -> Any:
    formats = tuple(dict.fromkeys(["csv", *asked.get("formats", ())]))
    key = f"saved:{asked['key']}:{formats}:{asked.get('reason')}"
    given = (release, str(desk.folder / f"release-{asked['key']}"), formats, asked.get("reason"))
    folder = desk.get(Task(key, "writing the release and its reports", tasks.saved, given))
    if folder is None:
        why = desk.failures.get(key)
        return parts.note(why, "error") if why else parts.pending("writing …")
    desk.view["folder"] = folder
    more = [f"data.{kind}" for kind in formats if kind != "csv"]
    files = {**FILES, **{name: (f"The data as {name.partition('.')[2]}", "for publication") for name in more}}
    public = (Path(folder) / PUBLIC).is_dir()
    return tags.div(
        tags.ul(*(_download(name, *words, public=public) for name, words in files.items()), class_="downloads"),
        parts.form(
            "save_to",
            tags.div(
                parts.text_field("folder", "Or write it to a folder of this computer", "", placeholder="/data/release"),
                parts.submit("Write", "quiet"),
                class_="row",
            ),
        ),
        id="made",
    )


def _download(name: str, words: str, whose: str, *, public: bool) -> Any:
    said = whose if public or whose != "for publication" else "NOT for publication"
    link = tags.a(
        words, href=f"download/{name}", download=name, class_="button quiet", id="download-" + name.replace(".", "-")
    )
    return tags.li(link, tags.span(said, class_="quiet"))


def _project(desk: Desk) -> Any:
    nowhere = desk.draft.uploaded or desk.draft.path.startswith("demo:")
    where = "" if nowhere else str(Path(desk.draft.path).with_suffix(".tacita.toml"))
    links = []
    if desk.draft.ready:
        links = [
            tags.a(
                "The project file",
                href="download/project.toml",
                download="project.toml",
                class_="button quiet",
                id="download-project",
            ),
            tags.a(
                "The Python script that does the same",
                href="download/script.py",
                download="script.py",
                class_="button quiet",
                id="download-script",
            ),
        ]
    save = parts.form(
        "save_project",
        tags.div(
            parts.text_field(
                "path", "Save the work as", desk.view.get("project", where), placeholder="/data/survey.tacita.toml"
            ),
            parts.submit("Save", "quiet"),
            class_="row",
        ),
    )
    return parts.card(
        "The work itself",
        tags.div(*links, class_="row"),
        save,
        lead="Both hold the seed of the random steps: they stay in the office. The app opens the project file again, "
        "and tacita run takes it too.",
    )


# What people do on this page.


def mend(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Add a step that an item of the checklist asks for."""
    kind = str(fields["step"])
    households = kind == "random_order" and desk.draft.roles.get("household")
    step = step_of({"step": kind, **({"how": "households"} if households else {})})
    desk.do(desk.draft.with_step(step), f"add {step.usual_label}")


def make(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Write the release, to be taken away."""
    reason = str(fields.get("reason") or "").strip() or None
    release = desk.compared()
    if release is not None and not release.safe and reason is None:
        raise TacitaError(
            "the release does not keep the policy: protect it further, or say why it is written all the same."
        )
    desk.view["made"] = {
        "key": desk.draft.key(desk.draft.steps),
        "formats": tuple(fields.get("formats") or ()),
        "reason": reason,
    }
    desk.retry_all("saved:")


def save_to(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Write the release to a folder of this computer."""
    target = str(fields.get("folder", "")).strip()
    release = desk.compared()
    if not target or release is None:
        raise TacitaError("the folder must be given, as /data/release.")
    check_free(target, overwrite=False)
    # As it was made, so that what was looked at is what is written.
    shutil.copytree(desk.view["folder"], target)
    desk.say(f"Written to {target}.")


def save_project(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Save the whole state."""
    text = str(fields.get("path", "")).strip()
    if not text.endswith(".toml"):
        raise TacitaError("the project file must be a .toml file, as survey.tacita.toml.")
    save_text(Path(text), project_text(desk.draft))
    desk.view["project"] = text
    desk.say(f"Saved as {text}.")


def save_text(path: Path, text: str) -> None:
    """Write a file that only its owner can read, beside it first: what was saved before is never lost halfway."""
    import os

    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        beside.replace(path)
    except OSError as error:
        raise TacitaError(f"{str(path)!r} cannot be written ({os.strerror(error.errno or 0)}).") from None


ACTIONS = {"mend": mend, "make": make, "save_to": save_to, "save_project": save_project}
