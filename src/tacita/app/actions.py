"""What people do, by name: each action changes the desk, and a mistake is one sentence on the screen."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from tacita.app.desk import Desk
from tacita.app.shell import PAGES
from tacita.check import TacitaError

log = logging.getLogger("tacita")


def go(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Go to another page."""
    if fields.get("page") in PAGES:
        desk.view["page"] = fields["page"]


def undo(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Undo the last change."""
    desk.history = desk.history.undo()
    desk.view["editing"] = None


def redo(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Do again what was undone last."""
    desk.history = desk.history.redo()
    desk.view["editing"] = None


def cancel(desk: Desk, fields: Mapping[str, Any]) -> None:
    """End what is being worked out."""
    desk.cancel()


def retry(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Begin again what was cancelled."""
    desk.retry_all("")


def hush(desk: Desk, fields: Mapping[str, Any]) -> None:
    """Close the message."""


Action = Callable[[Desk, Mapping[str, Any]], None]
EVERYWHERE: dict[str, Action] = {
    "page": go,
    "undo": undo,
    "redo": redo,
    "cancel": cancel,
    "retry": retry,
    "hush": hush,
}


def every_action() -> dict[str, Action]:
    """What can be done, by name."""
    return {**EVERYWHERE, **{name: action for page in PAGES.values() for name, action in page.ACTIONS.items()}}


def act(desk: Desk, name: str, fields: Mapping[str, Any]) -> None:
    """Do something by its name."""
    desk.notice = ("", "")
    try:
        every_action()[name](desk, fields)
    except TacitaError as error:
        desk.say(str(error), "error")
    except Exception as error:
        # What libraries say may quote cells of the data.
        log.warning("the action %s of the app failed: %s", name, type(error).__name__)
        desk.say(f"This did not work ({type(error).__name__}).", "error")
    desk.changed()
