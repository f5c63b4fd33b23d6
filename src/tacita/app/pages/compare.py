"""The page Compare: the original and what became of it, several plans, several policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tacita.app import parts
from tacita.app.desk import Desk
from tacita.app.pages import before_after_card, confidentiality_card, plans_compared
from tacita.app.pages.before_after_card import both_card, drawing_of_both
from tacita.app.pages.confidentiality_card import plot_card, plotted_as
from tacita.app.pages.plans_compared import chosen_release, side_by_side
from tacita.app.worker import Task


def fragments(desk: Desk) -> dict[str, Any]:
    """The pieces of the page."""
    if not desk.draft.ready:
        return parts.without_keys("Compare")
    release = chosen_release(desk)
    if release is None:
        said = parts.card("Compare", parts.waiting(desk, "comparing with the original …"))
        return {"first": said, "second": side_by_side(desk), "third": None}
    return {"first": plot_card(desk, release), "second": side_by_side(desk), "third": both_card(desk, release)}


def ahead(desk: Desk) -> Iterator[Task]:
    """What the page shows first."""
    release = chosen_release(desk)
    if release is None:
        return
    plotted = plotted_as(desk, release)
    yield plotted.measuring
    result = desk.known(plotted.measuring.key)
    if result is not None:
        yield plotted.drawing(result)
    yield drawing_of_both(desk, release)


ACTIONS = {**plans_compared.ACTIONS, **confidentiality_card.ACTIONS, **before_after_card.ACTIONS}
