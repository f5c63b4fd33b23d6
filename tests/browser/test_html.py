"""Saved HTML figures in a real browser with the network off: marks are drawn, and the table follows the plot."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import tacita as tc
from tacita.plots import cloud
from tacita.plots.categorical_confidentiality import categorical_confidentiality_points
from tacita.plots.confidentiality import confidentiality_cells, confidentiality_points, confidentiality_rows
from tacita.plots.confidentiality_layers import cloud_of
from tacita.plots.page import notebook

pytestmark = pytest.mark.browser


class Opened(NamedTuple):
    page: Any
    elsewhere: list[str]
    """Addresses that the page asked for, other than files."""
    errors: list[str]
    """What the console calls errors."""

    def count(self, selector: str) -> int:
        return int(self.page.locator(selector).count())

    def settled(self, selector: str, count: int) -> None:
        """Wait until so many are there."""
        self.page.wait_for_function(
            "([selector, count]) => document.querySelectorAll(selector).length === count", arg=[selector, count]
        )


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    contexts = []

    def open_file(path: Path) -> Opened:
        context = browser.new_context(offline=True, viewport={"width": 1400, "height": 900})
        contexts.append(context)
        found = Opened(context.new_page(), [], [])

        def local_only(route: Any) -> None:
            if route.request.url.startswith(("file:", "data:", "blob:")):
                route.continue_()
            else:
                found.elsewhere.append(route.request.url)
                route.abort()

        context.route("**/*", local_only)
        found.page.on("pageerror", lambda error: found.errors.append(str(error)))
        found.page.on("console", lambda said: found.errors.append(said.text) if said.type == "error" else None)
        found.page.goto(path.as_uri())
        found.page.wait_for_selector("svg.marks")
        return found

    yield open_file
    for context in contexts:
        context.close()


POINTS = "g.mark-symbol path"
KEY = 6
"""Of those in the key of a confidentiality plot: four kinds of mark, two colours."""
ROWS = "g.mark-rect path[fill='#c8452e']"


def firms(industry: str = "18") -> Any:
    data = tc.business_survey(exporters=True).data
    keys = ["turnover", "exports"]
    masked = tc.log_noise(data, keys, sd=0.5)
    rows = (data.table["industry"] == industry).arg_true().to_numpy()
    return tc.risk.confidentiality(data.take(rows), masked.take(rows), tc.Scenario(numeric_keys=keys), log=True)


@pytest.fixture(scope="module")
def found() -> Any:
    return firms()


def test_every_record_is_drawn_without_a_connection(found: Any, opened: Any, tmp_path: Path) -> None:
    path = tc.save(found.plot(), tmp_path / "plot.html")
    shown = opened(path)
    assert shown.count(POINTS) - KEY == confidentiality_points(found).height == len(found.record) == 157
    assert f"{found.unsafe.sum()} of 157 records in the unsafe zone" in shown.page.locator("svg.marks").text_content()
    assert (shown.elsewhere, shown.errors) == ([], [])


def test_the_page_itself_forbids_connections(found: Any, opened: Any, tmp_path: Path) -> None:
    """What a script in the page asks for is refused before it gets to the network."""
    shown = opened(tc.save(found.plot(), tmp_path / "plot.html"))
    outcome = shown.page.evaluate("fetch('https://example.com/').then(() => 'answered', () => 'refused')")
    assert outcome == "refused"
    assert shown.elsewhere == []
    assert any("Content Security Policy" in said for said in shown.errors)
    assert "vega.github.io" not in shown.page.locator(".vega-actions").inner_html()


BY_HEIGHT = "(a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top"


def marked_rows(shown: Opened) -> list[int]:
    """Places of the rows that are marked, from the top."""
    script = f"""selector => [...document.querySelectorAll(selector)].sort({BY_HEIGHT})
        .map((row, at) => Number(row.getAttribute('opacity')) > 0.2 ? at : -1).filter(at => at >= 0)"""
    return [int(at) for at in shown.page.evaluate(script, ROWS)]


def first_column(shown: Opened) -> list[str]:
    """Record numbers in the table from the top: the first column of texts that are all numbers."""
    script = f"""() => [...document.querySelectorAll('g.mark-text')]
        .map(column => [...column.querySelectorAll('text')].sort({BY_HEIGHT}).map(text => text.textContent))"""
    rows = shown.count(ROWS)
    for texts in shown.page.evaluate(script):
        if len(texts) == rows and all(re.fullmatch(r"[\d,]+", text) for text in texts):
            return list(texts)
    return []


def test_the_table_shows_what_is_brushed(found: Any, opened: Any, tmp_path: Path) -> None:
    shown = opened(tc.save(found.plot(table=True), tmp_path / "plot.html"))
    rows = confidentiality_rows(found)
    page_length = shown.count(ROWS)
    assert 10 < page_length < rows.height == found.unsafe.sum()
    assert first_column(shown) == [f"{number:,}" for number in rows["record"].to_list()[:page_length]]
    # From 9.5 to 14.5 neighbours and up to the r of the policy.
    box = plot_box(shown)
    right, top = axes(found)
    drag(shown, box, (9.5 + 0.5) / (right + 1.0), 0.0, (14.5 + 0.5) / (right + 1.0), 0.15 / top)
    inside = rows.filter((rows["neighbours"] >= 10) & (rows["neighbours"] <= 14))
    expected = [f"{number:,}" for number in inside["record"].to_list()[:page_length]]
    assert 0 < len(expected) < page_length
    shown.settled(ROWS, len(expected))
    assert first_column(shown) == expected
    assert (shown.elsewhere, shown.errors) == ([], [])


def axes(found: Any) -> tuple[float, float]:
    shown = cloud.extent(cloud_of(found))
    return shown.right, shown.top


def plot_box(shown: Opened) -> dict[str, float]:
    """Where the plot is on the page: 560 by 360 pixels, the background of the first panel."""
    boxes = [each.bounding_box() for each in shown.page.locator("path.background").all()]
    return next(box for box in boxes if box and abs(box["width"] - 560) < 3 and abs(box["height"] - 360) < 3)


def lonely(rows: Any, right: float, top: float) -> tuple[int, float, float]:
    """The row of the table, from the fourth to the tenth, whose point is farthest from every other, and where it is."""
    x, y = (rows["neighbours"].to_numpy() + 0.5) / (right + 1.0), rows["height"].to_numpy() / top
    apart = np.hypot(x[:, None] - x, y[:, None] - y) + np.eye(len(x))
    row = 3 + int(apart.min(axis=1)[3:10].argmax())
    return row, float(x[row]), float(y[row])


def drag(shown: Opened, box: dict[str, float], left: float, low: float, right: float, high: float) -> None:
    """Drag over an area given in shares of the plot, from the upper left corner to the lower right one."""
    at = [
        (box["x"] + share * box["width"], box["y"] + (1.0 - up) * box["height"])
        for share, up in ((left, high), (right, low + 0.002))
    ]
    shown.page.mouse.move(*at[0])
    shown.page.mouse.down()
    shown.page.mouse.move((at[0][0] + at[1][0]) / 2, (at[0][1] + at[1][1]) / 2)
    shown.page.mouse.move(*at[1])
    shown.page.mouse.up()


def test_a_click_on_a_row_rings_its_record_and_a_click_on_a_point_marks_its_row(
    found: Any, opened: Any, tmp_path: Path
) -> None:
    shown = opened(tc.save(found.plot(table=True), tmp_path / "plot.html"))
    points = shown.count(POINTS)
    assert points == 157 + KEY
    shown.page.locator(ROWS).nth(2).click()
    shown.settled(POINTS, points + 1)
    shown.page.wait_for_function(
        "selector => [...document.querySelectorAll(selector)].some(row => Number(row.getAttribute('opacity')) > 0.2)",
        arg=ROWS,
    )
    assert marked_rows(shown) == [2]
    # A record that stands apart from all others, clicked in the plot.
    right, top = axes(found)
    box = plot_box(shown)
    row, x, y = lonely(confidentiality_rows(found), right, top)
    shown.page.mouse.click(box["x"] + x * box["width"], box["y"] + (1.0 - y) * box["height"])
    shown.page.wait_for_function(
        "selector => [...document.querySelectorAll(selector)].filter(row => Number(row.getAttribute('opacity')) > 0.2)"
        ".length === 2",
        arg=ROWS,
    )
    assert marked_rows(shown) == [2, row]
    assert (shown.elsewhere, shown.errors) == ([], [])


def test_two_figures_in_one_notebook_page(found: Any, opened: Any, tmp_path: Path) -> None:
    charts = [found.plot(), firms("25").plot()]
    outputs = [chart._repr_mimebundle_()["text/html"] for chart in charts]
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><html><body>{''.join(outputs)}</body></html>", encoding="utf-8")
    shown = opened(path)
    shown.settled("svg.marks", 2)
    assert shown.count(POINTS) == 157 + 214 + 2 * KEY
    assert (shown.elsewhere, shown.errors) == ([], [])
    assert notebook(charts[0]) != notebook(charts[0])


def test_a_category_cannot_end_the_script(opened: Any, tmp_path: Path) -> None:
    nasty = "</script><script>document.title = 'broken'</script>"
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "g": [nasty, nasty, "b", "b"]})
    result = tc.risk.confidentiality(frame, frame, tc.Scenario(numeric_keys=["x"]), strata="g", delta=0.4)
    shown = opened(tc.save(result.plot(by="stratum"), tmp_path / "plot.html"))
    assert shown.page.title() == "Confidentiality plot"
    assert shown.count(POINTS) == 4
    assert (shown.elsewhere, shown.errors) == ([], [])


def test_categorical_data_are_drawn(opened: Any, tmp_path: Path) -> None:
    survey = tc.household_survey()
    people = tc.risk.categorical_confidentiality(survey.data, survey.data, survey.scenario, unit="sd")
    shown = opened(tc.save(people.plot(table=True), tmp_path / "people.html"))
    assert shown.count(POINTS) == categorical_confidentiality_points(people).height
    assert (shown.elsewhere, shown.errors) == ([], [])


def test_cells_of_a_large_file_are_drawn(opened: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": [1.0 + 0.001 * (place % 977) + place / 7 for place in range(6000)]})
    result = tc.risk.confidentiality(frame, tc.log_noise(frame, ["x"]), tc.Scenario(numeric_keys=["x"]), alpha=0.005)
    cells = confidentiality_cells(result)
    shown = opened(tc.save(result.plot(), tmp_path / "large.html"))
    assert shown.count("g.mark-rect path") == cells.height
    assert shown.count(POINTS) == confidentiality_points(result).height + KEY
    assert (shown.elsewhere, shown.errors) == ([], [])
