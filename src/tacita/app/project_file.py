"""The whole state of the app as a project file, which `tacita run` takes too, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacita.app.draft import Draft, Entry
from tacita.app.presets import USUAL
from tacita.check import TacitaError
from tacita.data.atomic import OFFICE_ONLY
from tacita.protect.steps import step_of
from tacita.release.plan import Plan
from tacita.release.project import Project
from tacita.rules import EditRule
from tacita.rules.declared import rule_of

NOTE = f"# {OFFICE_ONLY}: it holds the seed of the random steps, and whoever knows that can undo the protection\n"


def project_text(draft: Draft) -> str:
    """The project file of a draft."""
    if draft.scenario is None:
        raise TacitaError("a project needs at least one key; give a variable that role on the page Scenario.")
    kept: dict[str, Any] = {
        "name": draft.name,
        "seed": f"{draft.seed:x}",
        "preset": draft.preset,
        "steps": _tables(draft.entries),
        "saved": {name: _tables(entries) for name, entries in draft.saved.items()},
    }
    project = Project(
        data=draft.source,
        reading=draft.reading,
        variables=draft.variables,
        scenario=draft.scenario,
        policy=draft.policy,
        plan=draft.plan,
        formats=("csv",),
        rules=tuple(rule_of(each) for each in draft.rules),
        app=kept,
    )
    return NOTE + project.to_toml()


def _tables(entries: tuple[Entry, ...]) -> list[dict[str, Any]]:
    return [{"step": each.step.kind(), **each.step.to_dict(), **({} if each.on else {"off": True})} for each in entries]


def _entries(tables: Any) -> tuple[Entry, ...]:
    found = []
    for table in tables:
        given = dict(table)
        off = given.pop("off", False)
        found.append(Entry(step_of(given), not off))
    return tuple(found)


def restored(path: Path) -> Draft:
    """The draft of a project file, without its data, which are to be read from its path."""
    project = Project.load(path)
    kept: Mapping[str, Any] = project.app
    data = project.data if project.data.startswith("demo:") else str((project.home / project.data).resolve())
    reading = {name: str(project.home / each) if name == "catalog" else each for name, each in project.reading.items()}
    roles = {name: getattr(project.scenario, name) for name in project.scenario.to_dict()}
    entries = (
        _entries(kept["steps"]) if "steps" in kept else tuple(Entry(each) for each in Plan(project.plan.steps).steps)
    )
    fresh = Draft(
        name=str(kept.get("name") or Path(data).name),
        path=data,
        reading=reading,
        variables=project.variables,
        roles=roles,
        policy=project.policy,
        rules=tuple(each.rule for each in project.rules if isinstance(each, EditRule)),
        preset=str(kept.get("preset", USUAL)),
        entries=entries,
        saved={name: _entries(tables) for name, tables in dict(kept.get("saved", {})).items()},
    )
    seed = kept.get("seed")
    return replace(fresh, seed=int(str(seed), 16)) if seed else fresh
