"""Plans side by side on the page Compare: which one is looked at, all of them by risk and loss, every policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from htmltools import tags

from tacita.app import charts, parts, tasks
from tacita.app.desk import Desk
from tacita.app.presets import presets
from tacita.app.worker import Task
from tacita.release.release import Release
from tacita.result import Table

NOW = "the steps as they are now"


def plans(desk: Desk) -> dict[str, tuple[Any, ...]]:
    """The plans that can be compared: the present steps, and those that were set aside."""
    saved = {name: tuple(each.step for each in entries if each.on) for name, entries in desk.draft.saved.items()}
    return {NOW: desk.draft.steps, **saved}


def chosen_plan(desk: Desk) -> tuple[Any, ...]:
    """The steps of the plan that is looked at."""
    return plans(desk).get(desk.view.get("plan", NOW), desk.draft.steps)


def chosen_release(desk: Desk) -> Release | None:
    """The release of the plan that is looked at, once it was compared with its original."""
    return desk.compared(chosen_plan(desk))


def key_of_plan(desk: Desk) -> str:
    """What results of the plan that is looked at are kept under."""
    return desk.draft.key(chosen_plan(desk))


def side_by_side(desk: Desk) -> Any:
    """Every plan by risk and loss, as a map and as a table."""
    rows, points_, waiting = [], [], 0
    for name, steps in {"the original": (), **plans(desk)}.items():
        stands = desk.standing(steps)
        known = {} if stands is None else {each.name: each for each in stands.figures}
        if stands is None or known["external risk"].value is None:
            waiting += 1
            continue
        rows.append((name, stands.verdict, len(steps), *(each.text for each in stands.figures)))
        points_.append(
            {
                "plan": name,
                "external risk": known["external risk"].value,
                "loss": known["loss"].value,
                "verdict": "SAFE" if stands.verdict == "SAFE" else "NOT SAFE",
            }
        )
    heads = ("plan", "verdict", "steps", "records violating k", "expected re-identifications", "external risk", "loss")
    drawn = (
        parts.figure(
            charts.risk_utility(points_),
            "Plans by risk and loss: squares keep the policy, crosses do not; lower and further left is better.",
            name="map",
        )
        if points_
        else None
    )
    still = parts.note(f"{waiting} more to be compared …") if waiting else None
    return parts.card(
        "Plans side by side",
        drawn,
        parts.table_of(Table(heads, tuple(rows))) if rows else None,
        still,
        _back(desk),
        _policies(desk),
        lead="Keep a plan on the page Protect, change the steps, and see both here.",
    )


def _back(desk: Desk) -> Any:
    """One click back to a plan that was set aside."""
    if not desk.draft.saved:
        return None
    return tags.div(
        *(parts.button("take_plan", f"Go on with {name}", kind="quiet", name=name) for name in desk.draft.saved),
        class_="row",
    )


def _policies(desk: Desk) -> Any:
    """The release under every ready-made policy: asked for, since each measures what it limits."""
    release = desk.release()
    ask = parts.button("judge_all", "Judge it by every ready-made policy", kind="quiet")
    if release is None or not desk.view.get("judge_all"):
        return tags.div(ask, class_="row")
    rows = []
    for name, preset in presets().items():
        key = f"judged:{desk.draft.key(desk.draft.steps)}:{name}"
        found = desk.get(Task(key, f"judging by {preset.title}", tasks.judged_by, (release, preset.policy)))
        rows.append((preset.title, *(("…", "") if found is None else found)))
    return parts.table_of(Table(("policy", "verdict", "why"), tuple(rows), "The same release under every policy"))


# What people do.


def choose_plan(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at another plan."""
    desk.view |= {"plan": str(fields["plan"]), "box": None}


def take_plan(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Go on with a plan that was set aside."""
    name = str(fields["name"])
    desk.do(replace(desk.draft, entries=desk.draft.saved[name]), f"go on with {name}")


def judge_all(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Judge the release by every policy."""
    desk.view["judge_all"] = True


ACTIONS = {"choose_plan": choose_plan, "take_plan": take_plan, "judge_all": judge_all}
