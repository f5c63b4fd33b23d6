"""The page Compare: the original and what became of it, several plans, several policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from htmltools import TagList, tags

from tacita.app import charts, forms, parts, tasks
from tacita.app.desk import Desk
from tacita.app.presets import presets
from tacita.app.worker import Task
from tacita.release.release import Release
from tacita.result import Table

FIGURES = {
    "before_after_density": "Densities of numbers",
    "before_after_bars": "Bars of categories",
    "before_after_boxes": "Boxplots",
    "before_after_mosaic": "Mosaic of two variables",
    "before_after_correlations": "Correlations",
    "before_after_lorenz": "Lorenz curves",
}
NOW = "the steps as they are now"
ALL = "None: all of them."


def fragments(desk: Desk) -> dict[str, Any]:
    """The pieces of the page."""
    if not desk.draft.ready:
        return parts.without_keys("Compare")
    release = _chosen(desk)
    if release is None:
        said = parts.card("Compare", parts.waiting(desk, "comparing with the original …"))
        return {"first": said, "second": _map(desk), "third": None}
    return {"first": _plot(desk, release), "second": _map(desk), "third": _before_after(desk, release)}


def _plans(desk: Desk) -> dict[str, tuple[Any, ...]]:
    """The plans that can be compared: the present steps, and those that were set aside."""
    saved = {name: tuple(each.step for each in entries if each.on) for name, entries in desk.draft.saved.items()}
    return {NOW: desk.draft.steps, **saved}


def _chosen(desk: Desk) -> Release | None:
    plans = _plans(desk)
    return desk.compared(plans.get(desk.view.get("plan", NOW), desk.draft.steps))


# The confidentiality plot.


class Plotted(NamedTuple):
    """What is plotted, as it was chosen."""

    kind: str
    options: dict[str, Any]
    by: str
    """By what there is a panel each; empty: one for all."""
    measuring: Task
    """What gives its result."""

    def drawing(self, result: Any) -> Task:
        """What draws it."""
        own = {"by": self.by} if self.by and self.kind == "confidentiality" else {"table": True}
        return Task(f"figure:{self.measuring.key}:{self.by}", "drawing", tasks.figure, (result, None, own))


def _plotted(desk: Desk, release: Release) -> Plotted:
    """What is to be plotted; what the policy limits was measured with the comparison already."""
    options = dict(desk.view.get("plot", {}))
    usual = "confidentiality" if release.scenario.numeric_keys else "categorical_confidentiality"
    kind, by = options.pop("kind", usual), options.pop("by", "")
    key = f"measure:{_key(desk)}:{kind}:{sorted(options.items())!r}"
    if options or kind != usual:
        return Plotted(
            kind, options, by, Task(key, "the confidentiality plot", tasks.measured, (kind, release, options))
        )
    return Plotted(kind, options, by, Task(key, "the confidentiality plot", tasks.plotted, (release,)))


def ahead(desk: Desk) -> Iterator[Task]:
    """What the page shows first."""
    release = _chosen(desk)
    if release is None:
        return
    plotted = _plotted(desk, release)
    yield plotted.measuring
    result = desk.known(plotted.measuring.key)
    if result is not None:
        yield plotted.drawing(result)
    yield _drawing_of_both(desk, release)


def _plot(desk: Desk, release: Release) -> Any:
    plotted = _plotted(desk, release)
    result = desk.get(plotted.measuring)
    controls = _controls(desk, release, plotted)
    if result is None:
        why = desk.failures.get(plotted.measuring.key)
        return parts.card(
            "Confidentiality plot", controls, parts.note(why, "error") if why else parts.note("measuring …")
        )
    desk.view["plotted"] = plotted.measuring.key
    words = f"Confidentiality plot. {result.headline}"
    brush = "" if plotted.by else "confidentiality"
    drawn = parts.figure(desk.get(plotted.drawing(result)), words, name="confidentiality", brush=brush)
    return parts.card(
        "Confidentiality plot",
        controls,
        tags.p(result.headline, class_="headline"),
        drawn,
        _marked(desk, result),
        lead="Each record by how many originals look like it (across) and how far it was moved (upwards). Drag "
        "over the plot to mark records; the table lists the unsafe ones among them.",
    )


def _key(desk: Desk) -> str:
    plans = _plans(desk)
    return desk.draft.key(plans.get(desk.view.get("plan", NOW), desk.draft.steps))


def _controls(desk: Desk, release: Release, plotted: Plotted) -> Any:
    kind, options, by, _ = plotted
    plans = {name: name for name in _plans(desk)}
    kinds = {"confidentiality": "numeric keys"} if release.scenario.numeric_keys else {}
    kinds |= {"categorical_confidentiality": "categorical keys"} if release.scenario.keys else {}
    fields = (
        _numeric_fields(release, options, by) if kind == "confidentiality" else _categorical_fields(release, options)
    )
    chosen = desk.view.get("plan", NOW)
    return tags.div(
        tags.div(
            parts.select("plan", plans, chosen, label="Plan", act="choose_plan") if len(plans) > 1 else None,
            parts.select("kind", kinds, kind, label="Plot of", act="choose_plot") if len(kinds) > 1 else None,
            class_="row",
        ),
        parts.folded(
            "Key set, limits, alpha, stratum",
            parts.form("plot", tags.div(*fields, class_="fields"), parts.submit("Draw"), kind_of=kind),
            opened=bool(options) or bool(by),
        ),
    )


def _categorical_fields(release: Release, options: Mapping[str, Any]) -> list[Any]:
    keys = parts.chips("keys", release.scenario.all_keys, options.get("keys", ()), label="Key set", hint=ALL)
    limit = release.policy.k or release.policy.neighbours
    return [keys, parts.number_field("k", "k: records with the same key", options.get("k"), placeholder=str(limit))]


def _numeric_fields(release: Release, options: Mapping[str, Any], by: str) -> list[Any]:
    who, limits = release.scenario, release.policy
    near = "Share of wrong pairs that count as neighbours."
    return [
        parts.chips("keys", who.numeric_keys, options.get("keys", ()), label="Key set", hint=ALL),
        parts.number_field("k", "k: neighbours", options.get("k"), placeholder=str(limits.neighbours)),
        parts.number_field("r", "r: perturbation", options.get("r"), placeholder=str(limits.perturbation)),
        parts.number_field("alpha", "alpha", options.get("alpha"), placeholder="0.05", hint=near),
        parts.chips("strata", who.strata, options.get("strata", ()), label="Strata"),
        parts.check_field("by", "a panel for each stratum", bool(by)),
    ]


def points(result: Any) -> tuple[Any, Any]:
    """By record where it stands in the plot: across and upwards."""
    if hasattr(result, "neighbours"):
        return np.asarray(result.neighbours, dtype=float), np.asarray(result.perturbation, dtype=float)
    return np.asarray(result.count, dtype=float), np.asarray(result.loss, dtype=float)


def inside(result: Any, box: Mapping[str, Any]) -> Any:
    """The numbers of the records within an area of the plot; what is drawn at its upper edge lies beyond it."""
    across, upwards = points(result)
    low, high = (float(each) for each in box["across"])
    bottom, top = (float(each) for each in box["upwards"])
    chosen = (
        (across >= low) & (across <= high) & (upwards >= bottom) & ((upwards <= top) | (top >= box.get("top", np.inf)))
    )
    return np.asarray(result.record)[chosen], np.asarray(result.record)[chosen & np.asarray(result.unsafe)]


def _marked(desk: Desk, result: Any) -> Any:
    """What was marked, and what can be done with it; fields for those who do not drag."""
    _, upwards = points(result)
    finite = upwards[np.isfinite(upwards)]
    fields = tags.div(
        parts.text_field("low", "From", "0", kind="number", step="any"),
        parts.text_field(
            "high", "to … records that look like it", f"{max(result.limits.k - 1, 0)}", kind="number", step="any"
        ),
        parts.text_field("bottom", "Moved from", "0", kind="number", step="any"),
        parts.text_field("top", "to", f"{float(finite.max(initial=0.0)):.4g}", kind="number", step="any"),
        class_="fields",
    )
    by_hand = parts.folded("Mark by numbers", parts.form("mark", fields, parts.submit("Mark", "quiet")))
    box = desk.view.get("box")
    if box is None:
        return tags.div(tags.p("No records are marked.", id="marked"), by_hand)
    every, unsafe = inside(result, box)
    return tags.div(
        tags.p(f"{len(every):,} records are marked, {len(unsafe):,} of them unsafe.", id="marked", class_="headline"),
        tags.div(
            parts.button(
                "use_marked",
                f"Protect the {len(unsafe):,} unsafe ones in the next step",
                kind="primary",
                which="unsafe",
                disabled=not len(unsafe),
            ),
            parts.button(
                "use_marked",
                f"All {len(every):,}",
                kind="quiet",
                which="all",
                disabled=not len(every),
                title="Protect all marked records in the next step",
            ),
            class_="row",
        ),
        by_hand,
    )


# Plans and policies side by side.


def _map(desk: Desk) -> Any:
    rows, points_, waiting = [], [], 0
    for name, steps in {"the original": (), **_plans(desk)}.items():
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


# Before and after.


def _drawing_of_both(desk: Desk, release: Release) -> Task:
    """What draws both files."""
    name, given = desk.view.get("figure", "before_after_bars"), dict(desk.view.get("figure_of", {}))
    key = f"figure:{name}:{_key(desk)}:{sorted(given.items())!r}"
    return Task(key, "drawing", tasks.before_after, (release.compare(), name, given))


def _before_after(desk: Desk, release: Release) -> Any:
    task = _drawing_of_both(desk, release)
    spec = desk.get(task)
    _, name, given = task.arguments
    columns = [each for each in release.data.columns if each in release.original.columns]
    controls = tags.div(
        tags.div(parts.select("figure", FIGURES, name, label="Figure", act="choose_figure"), class_="row"),
        parts.form(
            "figure_of",
            parts.chips(
                "variables",
                columns,
                given.get("variables", ()),
                label="Variables",
                hint="None: the keys and what is sensitive.",
            ),
            parts.submit("Draw", "quiet"),
        ),
    )
    why = desk.failures.get(task.key)
    drawn = (
        parts.note(why, "error")
        if why
        else parts.figure(spec, f"{FIGURES[name]}, before and after.", name="before-after")
    )
    tables = TagList(*(parts.table_of(each, fold=each.title) for each in release.compare().tables()))
    return parts.card("Before and after", controls, drawn, tables)


# What people do on this page.


def choose_plan(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at another plan."""
    desk.view |= {"plan": str(fields["plan"]), "box": None}


def choose_plot(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Plot the other kind of keys."""
    desk.view |= {"plot": {"kind": str(fields["kind"])}, "box": None}


def plot(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Draw with other keys, limits, alpha or strata."""
    from tacita.measures import find

    kind = str(fields["kind_of"])
    wanted = [each for each in find(kind).parameters if each.name in ("keys", "k", "r", "alpha", "strata")]
    given: dict[str, Any] = {"kind": kind, **forms.read(wanted, fields)}
    if fields.get("by"):
        given["by"] = "stratum"
    desk.view |= {"plot": given, "box": None}


def brush(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Mark what was brushed."""
    if "across" in fields and "upwards" in fields:
        desk.view["box"] = {name: fields[name] for name in ("across", "upwards", "top") if name in fields}


def mark(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Mark by numbers."""
    numbers = {name: float(fields[name] or 0) for name in ("low", "high", "bottom", "top")}
    desk.view["box"] = {"across": (numbers["low"], numbers["high"]), "upwards": (numbers["bottom"], numbers["top"])}


def use_marked(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Have the next step change the marked records only."""
    result = desk.known(desk.view["plotted"])
    every, unsafe = inside(result, desk.view["box"])
    chosen = unsafe if fields["which"] == "unsafe" else every
    kind = "microaggregate" if hasattr(result, "neighbours") else "pram"
    desk.view |= {"only": [int(each) for each in chosen], "page": "protect", "editing": None, "kind": kind, "way": None}


def take_plan(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Go on with a plan that was set aside."""
    from dataclasses import replace

    name = str(fields["name"])
    desk.do(replace(desk.draft, entries=desk.draft.saved[name]), f"go on with {name}")


def judge_all(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Judge the release by every policy."""
    desk.view["judge_all"] = True


def choose_figure(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at another figure."""
    desk.view["figure"] = str(fields["figure"])


def figure_of(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Draw some variables."""
    names = fields.get("variables") or []
    desk.view["figure_of"] = {"variables": tuple(names)} if names else {}


ACTIONS = {
    "choose_plan": choose_plan,
    "choose_plot": choose_plot,
    "plot": plot,
    "brush": brush,
    "mark": mark,
    "use_marked": use_marked,
    "take_plan": take_plan,
    "judge_all": judge_all,
    "choose_figure": choose_figure,
    "figure_of": figure_of,
}
