"""The confidentiality plot on the page Compare: drawn as it was asked for, and what is marked in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from htmltools import tags

from tacita.app import forms, parts, tasks
from tacita.app.desk import Desk
from tacita.app.pages.plans_compared import NOW, key_of_plan, plans
from tacita.app.worker import Task
from tacita.plots import cloud
from tacita.plots.confidentiality_layers import cloud_of
from tacita.release.release import Release

ALL = "None: all of them."


class Plotted(NamedTuple):
    """What the user chose to plot."""

    kind: str
    options: dict[str, Any]
    by: str
    """By what there is a panel each; empty: one for all."""
    measuring: Task
    """What gives its result."""

    def drawing(self, result: Any) -> Task:
        """What draws it."""
        by_stratum = bool(self.by) and self.kind == "confidentiality"
        own = {"by": self.by} if by_stratum else {"table": bool(np.any(result.unsafe))}
        return Task(f"figure:{self.measuring.key}:{self.by}", "drawing", tasks.figure, (result, None, own))


def plotted_as(desk: Desk, release: Release) -> Plotted:
    """What is to be plotted; what the policy limits was measured with the comparison already."""
    options = dict(desk.view.get("plot", {}))
    usual = "confidentiality" if release.scenario.numeric_keys else "categorical_confidentiality"
    kind, by = options.pop("kind", usual), options.pop("by", "")
    key = f"measure:{key_of_plan(desk)}:{kind}:{sorted(options.items())!r}"
    measured = None if options else release.compare().releases[0].result(kind)
    if measured is not None and key not in desk.results:
        # It came with the comparison: nothing need be sent to the worker and back.
        desk.keep(key, measured)
    if options or kind != usual:
        return Plotted(
            kind, options, by, Task(key, "the confidentiality plot", tasks.measured, (kind, release, options))
        )
    return Plotted(kind, options, by, Task(key, "the confidentiality plot", tasks.plotted, (release,)))


def plot_card(desk: Desk, release: Release) -> Any:
    """The plot, what can be chosen of it, and what is marked in it."""
    plotted = plotted_as(desk, release)
    result = desk.get(plotted.measuring)
    controls = _controls(desk, release, plotted)
    if result is None:
        why = desk.failures.get(plotted.measuring.key)
        return parts.card(
            "Confidentiality plot", controls, parts.note(why, "error") if why else parts.pending("measuring …")
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


def _controls(desk: Desk, release: Release, plotted: Plotted) -> Any:
    kind, options, by, _ = plotted
    named = {name: name for name in plans(desk)}
    kinds = {"confidentiality": "numeric keys"} if release.scenario.numeric_keys else {}
    kinds |= {"categorical_confidentiality": "categorical keys"} if release.scenario.keys else {}
    fields = (
        _numeric_fields(release, options, by) if kind == "confidentiality" else _categorical_fields(release, options)
    )
    chosen = desk.view.get("plan", NOW)
    return tags.div(
        tags.div(
            parts.select("plan", named, chosen, label="Plan", act="choose_plan") if len(named) > 1 else None,
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


def top_of(result: Any) -> float:
    """Where the axis upwards of the plot of a result ends."""
    return cloud.extent(cloud_of(result)).top if hasattr(result, "neighbours") else np.inf


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


# What people do.


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
    """Mark what was brushed; what is drawn at the upper edge of the plot lies beyond it."""
    result = desk.known(desk.view.get("plotted", ""))
    if "across" in fields and "upwards" in fields and result is not None:
        top = float(fields.get("top", top_of(result)))
        desk.view["box"] = {"across": fields["across"], "upwards": fields["upwards"], "top": 0.999 * top}


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


ACTIONS = {"choose_plot": choose_plot, "plot": plot, "brush": brush, "mark": mark, "use_marked": use_marked}
