"""Figures and tables of the original and what became of it, on the page Compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from htmltools import TagList, tags

from tacita.app import parts, tasks
from tacita.app.desk import Desk
from tacita.app.pages.plans_compared import key_of_plan
from tacita.app.worker import Task
from tacita.release.release import Release

FIGURES = {
    "before_after_density": "Densities of numbers",
    "before_after_bars": "Bars of categories",
    "before_after_boxes": "Boxplots",
    "before_after_mosaic": "Mosaic of two variables",
    "before_after_correlations": "Correlations",
    "before_after_lorenz": "Lorenz curves",
}


def drawing_of_both(desk: Desk, release: Release) -> Task:
    """What draws both files."""
    name, given = desk.view.get("figure", "before_after_bars"), dict(desk.view.get("figure_of", {}))
    key = f"figure:{name}:{key_of_plan(desk)}:{sorted(given.items())!r}"
    return Task(key, "drawing", tasks.before_after, (release.compare(), name, given))


def both_card(desk: Desk, release: Release) -> Any:
    """Both files in one of the figures, and what changed in tables."""
    task = drawing_of_both(desk, release)
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


# What people do.


def choose_figure(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Look at another figure."""
    desk.view["figure"] = str(fields["figure"])


def figure_of(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Draw some variables."""
    names = fields.get("variables") or []
    desk.view["figure_of"] = {"variables": tuple(names)} if names else {}


ACTIONS = {"choose_figure": choose_figure, "figure_of": figure_of}
