"""Take the pictures of the report and the app for the documentation: `python -m docs.make_screenshots`.

Chromium must be at hand; `app` or `report` after it takes those alone. `--colours dark --to FOLDER` takes them in dark
colours into a folder, to be looked at.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.window import brush, opened_chromium, running_app

import tacita as tc
from tacita.cli.demo_plans import demo_plan, demo_plans

FIGURES = Path(__file__).resolve().parent / "figures"
WIDTH, HEIGHT = 1280, 1000
SHOTS = {
    "report_verdict": ("internal", "verdict", "light"),
    "report_risk": ("internal", "risk-before-and-after", "light"),
    "report_confidentiality": ("internal", "confidentiality-plot", "dark"),
    "report_loss": ("internal", "what-a-researcher-loses", "light"),
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


def settle(page: Any) -> None:
    """Wait until nothing is being worked out."""
    for _ in range(3):
        page.wait_for_timeout(500)
        page.wait_for_function(
            "() => !document.body.dataset.waiting && !document.querySelector('#working progress, .waiting')"
            " && !/Measuring/.test(document.querySelector('#standing').innerText)"
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
    # What few need stands behind a fold.
    page.evaluate("document.querySelectorAll('form[data-act=add_step] details').forEach(each => each.open = true)")
    for name, value in fields.items():
        field = page.locator(f"form[data-act=add_step] [name={name}]")
        (field.select_option if field.evaluate("each => each.tagName") == "SELECT" else field.fill)(value)
    page.click("text=Add the step")
    settle(page)


FIRMS = (("noise", "", ("turnover", "exports"), {"amount": "0.2", "method": "multiplicative"}),)
"""The step in the picture of the confidentiality plot."""


class Camera:
    """Takes pictures of a window, in some colours, into a folder."""

    def __init__(self, browser: Any, colours: str, folder: Path) -> None:
        self.browser, self.colours, self.folder = browser, colours, folder

    @contextmanager
    def window(self, file: Path) -> Iterator[Any]:
        """A window of the app with a file open in it."""
        with running_app(file) as (address, _):
            page = self.browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=self.colours)
            page.set_default_timeout(PATIENCE)
            page.goto(address)
            page.wait_for_selector("text=Choose a variable")
            yield page
            page.close()

    def take(self, page: Any, name: str) -> None:
        """A picture of what the window shows at its top."""
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=str(self.folder / f"app_{name}.png"))


def scenario(page: Any, *other: str) -> None:
    """Accept the roles that are suggested but these, as "size: key"."""
    page.click("#tab-scenario")
    page.click("text=Accept all")
    page.wait_for_selector("#standing dl")
    for name in other:
        page.click(f"button[title='{name}']")
    settle(page)


def safe_work(folder: Path) -> Path:
    """A project whose plan makes the demo survey safe, as the demo writes it."""
    survey = tc.household_survey(6000, seed=1)
    tc.write(survey.data, folder / "people.parquet")
    return tc.Project(data="people.parquet", scenario=survey.scenario, plan=demo_plan()).save(folder / "people.toml")


def take_app(camera: Camera, people: Path, firms: Path, safe: Path) -> None:
    """The pages of the app: three steps on a household survey, a safe release, the plot of a business survey."""
    with camera.window(people) as page:
        page.click("#b-choose-variable-age")
        settle(page)
        camera.take(page, "data")
        scenario(page, "size: key", "marital: key", "education: key")
        camera.take(page, "scenario")
        page.click("#tab-risk")
        settle(page)
        camera.take(page, "risk")
        page.click("#tab-protect")
        for step in STEPS:
            add_step(page, *step)
        camera.take(page, "protect")
    with camera.window(safe) as page:
        page.click("#tab-release")
        page.wait_for_selector("#standing dl")
        settle(page)
        page.click("form[data-act=make] button[type=submit]")
        page.wait_for_selector("#made")
        settle(page)
        camera.take(page, "release")
    with camera.window(firms) as page:
        scenario(page, "innovation: sensitive", "employees: numeric key", "rd_expenditure: numeric key")
        page.click("#tab-protect")
        for step in FIRMS:
            add_step(page, *step)
        page.click("#tab-compare")
        settle(page)
        brush(page)
        settle(page)
        camera.take(page, "compare")


def main() -> None:
    """Take every picture."""
    parser = argparse.ArgumentParser(description="Pictures of the report and the app.")
    parser.add_argument("what", nargs="?", choices=("app", "report", "all"), default="all")
    parser.add_argument("--colours", choices=("light", "dark"), default="")
    parser.add_argument("--to", type=Path, default=FIGURES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, opened_chromium() as browser:
        people, firms = Path(folder) / "survey.sav", Path(folder) / "firms.sav"
        if given.what != "report":
            tc.write(tc.household_survey(1500, population=150_000, seed=1).data, people)
            business = tc.business_survey(exporters=True).data
            tc.write(business.take((business.table["industry"] == "28").arg_true().to_numpy()), firms)
            take_app(Camera(browser, given.colours or "light", given.to), people, firms, safe_work(Path(folder)))
        pages = {} if given.what == "app" else editions(Path(folder))
        for name, (edition, chapter, colours) in SHOTS.items() if pages else ():
            take(browser, pages[edition], chapter, given.colours or colours, given.to / f"{name}.png")


if __name__ == "__main__":
    main()
