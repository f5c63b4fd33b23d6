"""The app in a window: started as people start it, on a port of its own, with what it asked for and how often it was
clicked."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 120_000
"""Milliseconds that anything may take, on a machine that does much else."""
QUIET = """() => !document.body.dataset.waiting && !document.querySelector('#working progress, .waiting')
    && [...document.querySelectorAll('.vega')].every(each => each.dataset.ready)
    && [...document.querySelectorAll('#standing .badge.open')].every(each => /NOT ASSESSED/.test(each.innerText))"""


@contextmanager
def started(*words: object, also: Path | None = None) -> Iterator[str]:
    """The address of a running app; `also`: a folder of further packages."""
    command = [sys.executable, "-m", "tacita", "app", "--no-browser", *map(str, words)]
    paths = [str(also)] if also else []
    known = os.environ | {"PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=known)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        process.communicate(timeout=60)


class Window:
    """A page of the app."""

    def __init__(self, browser: Any, address: str, colours: str = "light") -> None:
        self.context = browser.new_context(
            viewport={"width": 1280, "height": 900}, color_scheme=colours, accept_downloads=True
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.asked: list[str] = []
        self.errors: list[str] = []
        self.clicks = 0
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(address)

    def click(self, where: str) -> None:
        """One click."""
        self.clicks += 1
        self.page.click(where)

    def choose(self, where: str, value: str) -> None:
        """A choice from a list: two clicks."""
        self.clicks += 2
        self.page.select_option(where, value)

    def go(self, page: str) -> None:
        """To another page, once everything on it is there."""
        self.click(f"#tab-{page}")
        self.page.wait_for_selector(f"body[data-page={page}]")
        self.settle()

    def settle(self) -> None:
        """Until nothing is being worked out, twice in a row: between two pieces of work there is a moment."""
        for _ in range(2):
            self.page.wait_for_timeout(350)
            self.page.wait_for_function(QUIET)

    def text(self, where: str) -> str:
        """What is written somewhere."""
        return " ".join(str(self.page.inner_text(where)).split())

    def download(self, where: str, to: Path) -> Path:
        """A file that is taken away."""
        with self.page.expect_download() as coming:
            self.click(where)
        coming.value.save_as(to)
        return to

    def only_here(self) -> None:
        """Nothing was asked of any other computer, and nothing went wrong in the window."""
        assert [each for each in self.asked if not each.startswith(("http://127.0.0.1:", "data:", "blob:"))] == []
        assert self.errors == []
