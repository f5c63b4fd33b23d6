"""Take the pictures of the report and the app for the documentation: `python docs/make_screenshots.py`.

Chromium must be at hand; `app` after it takes those of the app alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import tacita as tc
from tacita.cli.demo_plans import demo_plans

FIGURES = Path(__file__).resolve().parent / "figures"
NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1280, 1000
SHOTS = {
    "report_verdict": ("internal", "verdict", "light"),
    "report_risk": ("internal", "risk-before-and-after", "light"),
    "report_confidentiality": ("internal", "confidentiality-plot", "dark"),
    "report_public": ("public", "how-the-data-were-protected", "light"),
}
"""By name of the picture: the edition, the chapter at its top, the colours."""


def editions(folder: Path) -> dict[str, Path]:
    """Both editions of the report of the demo survey, as `tacita demo` writes them."""
    survey = tc.household_survey(6000, seed=1)
    releases = {name: plan.apply(survey.data, survey.scenario, seed=1) for name, plan in demo_plans().items()}
    compared = tc.compare(survey.data, releases, survey.scenario)
    release = releases["suppression"]
    return {
        "internal": tc.report(release, compared).save(folder / "internal.html"),
        "public": tc.report(release, edition="public").save(folder / "public.html"),
    }


def take(browser: Any, page: Path, chapter: str, colours: str, picture: Path) -> None:
    """One picture: the window with a chapter at its top; the first chapter with what stands above it."""
    opened = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=colours)
    opened.goto(page.as_uri())
    if chapter != "verdict":
        opened.evaluate("place => document.getElementById(place).scrollIntoView()", chapter)
    opened.screenshot(path=str(picture))
    opened.close()


STEPS = (
    ("recode", "width", ("age",), {"width": "20"}),
    ("group_rare", "", ("citizenship", "status"), {"least_share": "0.06"}),
    ("suppress", "", (), {"k": "5"}),
)
"""The steps in the pictures of the app: kind, way, variables, fields."""
PATIENCE = 200_000


@contextmanager
def running_app(*words: str) -> Iterator[str]:
    """The address of an app that runs meanwhile."""
    command = [sys.executable, "-m", "tacita", "app", "--no-browser", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.search(r"http://\S+", process.stdout.readline())
    assert found is not None
    yield found[0]
    process.terminate()
    process.communicate()


def settle(page: Any) -> None:
    """Wait until nothing is being worked out."""
    for _ in range(3):
        page.wait_for_timeout(500)
        page.wait_for_function(
            "() => !document.body.dataset.waiting && !document.querySelector('#working progress, .waiting')"
        )


def add_step(page: Any, kind: str, way: str, variables: tuple[str, ...], fields: dict[str, str]) -> None:
    """Add a step by its form."""
    page.select_option("#step-choice", kind)
    settle(page)
    if way:
        page.select_option("select[name=way]", way)
        settle(page)
    for name in variables:
        page.click(f"fieldset:has(legend:text('variables')) .chip:has(input[value='{name}'])")
    for name, value in fields.items():
        page.fill(f"form[data-act=add_step] [name={name}]", value)
    page.click("text=Add the step")
    settle(page)


def brush(page: Any) -> None:
    """Drag over the left of the confidentiality plot."""
    plot = page.locator("#figure-confidentiality svg .mark-group.role-scope .background").first
    plot.evaluate("element => element.scrollIntoView({block: 'center'})")
    frame = plot.bounding_box()
    page.mouse.move(frame["x"] + 3, frame["y"] + frame["height"] - 3)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] / 3, frame["y"] + frame["height"] / 4, steps=6)
    page.mouse.up()
    page.wait_for_function("() => document.querySelector('#marked').innerText.includes('records are marked')")
    settle(page)


def take_app(browser: Any, file: Path, colours: str = "light", end: str = "") -> None:
    """The pages of the app, with three steps done."""
    with running_app(str(file)) as address:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=colours)
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.wait_for_selector("text=Choose a variable")
        page.click("#b-choose-variable-age")
        settle(page)
        page.screenshot(path=str(FIGURES / f"app_data{end}.png"))
        page.click("#tab-scenario")
        page.click("text=Accept all")
        page.wait_for_selector("#standing dl")
        for name in ("size", "marital", "education"):
            page.click(f"button[title='{name}: key']")
        settle(page)
        page.screenshot(path=str(FIGURES / f"app_scenario{end}.png"))
        page.click("#tab-protect")
        for step in STEPS:
            add_step(page, *step)
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=str(FIGURES / f"app_protect{end}.png"))
        for name in ("risk", "compare", "release"):
            page.click(f"#tab-{name}")
            settle(page)
            if name == "compare":
                brush(page)
            page.evaluate("window.scrollTo(0, 0)")
            page.screenshot(path=str(FIGURES / f"app_{name}{end}.png"))
        page.close()


def main() -> None:
    """Take every picture."""
    path = next(found for name in NAMES if (found := shutil.which(name)))
    # Chromium's own sandbox refuses to run as root.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        survey = Path(folder) / "survey.sav"
        tc.write(tc.household_survey(1500, population=150_000, seed=1).data, survey)
        take_app(browser, survey)
        pages = {} if "app" in sys.argv else editions(Path(folder))
        for name, (edition, chapter, colours) in SHOTS.items() if pages else ():
            take(browser, pages[edition], chapter, colours, FIGURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
