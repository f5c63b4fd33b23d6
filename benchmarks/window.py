"""The app in a window of Chromium: started with a file, opened, and its confidentiality plot brushed.

The benchmark of the app and the pictures of the documentation are made with it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Where Chromium is, under any of its names."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def opened_chromium() -> Iterator[Any]:
    """Chromium without a window of its own, closed at the end."""
    from playwright.sync_api import sync_playwright

    # Chromium's own sandbox refuses to run as root.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"] if root else [])
        yield chromium
        chromium.close()


@contextmanager
def running_app(file: Path) -> Iterator[tuple[str, int]]:
    """The address and the process of an app with a file open in it."""
    command = [sys.executable, "-m", "tacita", "app", "--no-browser", str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r"http://\S+", process.stdout.readline())
    assert found is not None
    yield found[0], process.pid
    process.terminate()
    process.communicate()


def brush(page: Any, begin: str = "0") -> None:
    """Drag over the left of the confidentiality plot; `begin` is run in the page just before the button is let go."""
    every = page.locator("#figure-confidentiality svg .mark-group.role-scope .background").all()
    # The plot itself, not the counts along its sides or the table.
    plot = max(every, key=lambda each: (box := each.bounding_box())["width"] * box["height"])
    plot.evaluate("element => element.scrollIntoView({block: 'center'})")
    frame = plot.bounding_box()
    page.mouse.move(frame["x"] + 3, frame["y"] + frame["height"] - 3)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] / 4, frame["y"] + frame["height"] / 2, steps=6)
    page.evaluate(begin)
    page.mouse.up()
    page.wait_for_function("() => /marked/.test(document.querySelector('#marked').innerText)")
