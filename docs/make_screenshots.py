"""Take the pictures of the report for the documentation: `python docs/make_screenshots.py`, with Chromium at hand."""

from __future__ import annotations

import os
import shutil
import tempfile
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


def main() -> None:
    """Take every picture."""
    path = next(found for name in NAMES if (found := shutil.which(name)))
    # Chromium's own sandbox refuses to run as root.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        pages = editions(Path(folder))
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        for name, (edition, chapter, colours) in SHOTS.items():
            take(browser, pages[edition], chapter, colours, FIGURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
