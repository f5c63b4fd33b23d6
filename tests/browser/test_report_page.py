"""Reports and the page of a comparison in a browser with the network off: nothing is asked for, nothing is cut off."""

from pathlib import Path
from typing import Any

import pytest

import tacita as tc
from tacita.reports.comparison_page import comparison_page

pytestmark = pytest.mark.browser

TOO_WIDE = """() => [...document.querySelectorAll('main *:not(svg *)')]
    .filter(each => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map(each => each.tagName)"""
UNREADABLE = """() => [...document.querySelectorAll('main p, main td, main b, main small')]
    .filter(each => getComputedStyle(each).color === getComputedStyle(document.body).backgroundColor).length"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    survey = tc.household_survey(300, population=8000)
    release = tc.Plan([tc.Recode("age", width=10), tc.Suppress(k=3)]).apply(survey.data, survey.scenario)
    folder = tmp_path_factory.mktemp("reports")
    others = {"coarse": tc.Plan([tc.Recode("age", width=20)]).apply(survey.data, survey.scenario)}
    compared = tc.compare(survey.data, {"the release": release, **others}, survey.scenario)
    (folder / "comparison.html").write_text(comparison_page(compared), encoding="utf-8")
    return {
        "comparison": folder / "comparison.html",
        "internal": tc.report(release).save(folder / "internal.html"),
        "public": tc.report(release, edition="public").save(folder / "public.html"),
    }


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("edition", ["internal", "public", "comparison"])
def test_a_page_is_whole_without_a_connection(browser: Any, pages: dict[str, Path], edition: str, colours: str) -> None:
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900}, color_scheme=colours)
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(pages[edition].as_uri())
    assert asked == [pages[edition].as_uri()]
    assert errors == []
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(UNREADABLE) == 0
    if edition == "comparison":
        # The answer, the map and every release are on the first screen.
        for part in (".banner", "figure svg", ".release"):
            box = page.locator(part).last.bounding_box()
            assert box is not None and box["y"] + box["height"] < 900
    else:
        # A link of the contents leads to its chapter.
        page.locator("nav a").last.click()
        heading = page.locator("section.chapter").last.bounding_box()
        assert heading is not None and heading["y"] < 900
    context.close()


def test_it_prints_on_a4(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(pages["internal"].as_uri())
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    # Tables that are folded on the screen are printed; formulas are not.
    assert page.locator("details:not(.how) table").first.is_visible()
    written = page.pdf(path=str(tmp_path / "a.pdf"), format="A4")
    assert 3 < written.count(b"/Type /Page\n") + written.count(b"/Type /Page ") + written.count(b"/Type /Page/") < 40
    page.close()
