"""The app in a real browser: the whole work on both demo surveys, few clicks, nothing asked of any other computer."""

import json
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from app_window import Window, started

import tacita as tc

pytestmark = pytest.mark.browser
PAGES = ("data", "scenario", "risk", "protect", "compare", "release")


def survey_file(folder: Path, kind: str) -> Path:
    survey = (
        tc.household_survey(120, population=9000, seed=3) if kind == "household" else tc.business_survey(70, seed=3)
    )
    tc.write(survey.data, folder / f"{kind}.csv")
    return folder / f"{kind}.csv"


def with_scenario(window: Window) -> None:
    window.page.wait_for_selector("text=Choose a variable")
    window.click("#tab-scenario")
    window.click("text=Accept all")
    window.page.wait_for_selector("#standing dl")
    window.settle()


def add(window: Window, kind: str, variables: tuple[str, ...] = (), way: str = "", /, **fields: str) -> None:
    """Add a step by its form."""
    window.choose("#step-choice", kind)
    window.page.wait_for_selector(f"#step-choice option[value={kind}][selected]", state="attached")
    if way:
        window.choose("select[name=way]", way)
        window.page.wait_for_selector(f"select[name=way] option[value={way}][selected]", state="attached")
    for name in variables:
        window.click(f"fieldset:has(legend:text('variables')) .chip:has(input[value='{name}'])")
    for name, value in fields.items():
        window.page.fill(f"form[data-act=add_step] [name={name}]", value)
    before = window.page.locator("ol.steps > li").count()
    window.click("text=Add the step")
    window.page.wait_for_function(f"() => document.querySelectorAll('ol.steps > li').length === {before + 1}")
    window.settle()


STEPS: dict[str, list[tuple[Any, ...]]] = {
    "household": [
        ("recode", ("age",), "width", {"width": "20"}),
        ("group_rare", ("citizenship",), "", {"least_share": "0.2"}),
        ("round", ("income",), "", {"base": "1000"}),
    ],
    "business": [
        ("round", ("exports",), "", {"base": "10"}),
        ("noise", ("turnover",), "", {"amount": "0.1"}),
        ("rank_swap", ("employees",), "", {"window": "0.2"}),
    ],
}


@pytest.mark.parametrize("kind", STEPS)
def test_the_whole_work_from_file_to_release(browser: Any, tmp_path: Path, kind: str) -> None:
    with started(survey_file(tmp_path, kind)) as address:
        window = Window(browser, address)
        with_scenario(window)
        assert window.text("#standing").startswith("✕ NOT SAFE")
        _look_at_risk(window)
        window.go("protect")
        for name, variables, way, fields in STEPS[kind]:
            add(window, name, variables, way, **fields)
        assert window.page.locator("ol.steps > li").count() == 3
        assert "since the last step" in window.text("#standing")
        three = window.text("#standing dl")
        window.click("text=↶ Undo")
        window.settle()
        assert window.page.locator("ol.steps > li").count() == 2 and window.text("#standing dl") != three
        window.click("text=↷ Redo")
        window.settle()
        assert window.text("#standing dl") == three
        _brush_to_step(window, kind)
        _take_away(window, tmp_path, kind)
        window.only_here()
        window.context.close()


def _look_at_risk(window: Window) -> None:
    window.go("risk")
    assert "broken" in window.text("#first") and window.page.locator("#first .vega svg").count() >= 1
    if window.page.locator("[name=unsafe]").count():
        window.page.fill("input[name=unsafe]", "5")
        window.page.keyboard.press("Tab")
        window.page.wait_for_function(
            "() => /^5 of|^[0-5] of/.test(document.querySelector('#second .headline').innerText)"
        )
        window.click("text=What would suppression down to it blank?")
        window.page.wait_for_selector("#preview-said")
        assert "would blank" in window.text("#preview-said")
    window.click("form[data-act=measure] button[type=submit]")
    window.page.wait_for_selector("#measured")
    assert "What does this mean?" in window.text("#measured")


def _brush_to_step(window: Window, kind: str) -> None:
    window.go("compare")
    assert window.page.locator("#figure-confidentiality svg path").count() > 20
    every = window.page.locator("#figure-confidentiality svg .mark-group.role-scope .background").all()
    # The plot itself, not the counts along its sides or the table.
    plot = max(every, key=lambda each: (box := each.bounding_box())["width"] * box["height"])
    plot.evaluate("element => element.scrollIntoView({block: 'center'})")
    frame = plot.bounding_box()
    assert frame is not None
    mouse = window.page.mouse
    mouse.move(frame["x"] + 2, frame["y"] + frame["height"] - 2)
    mouse.down()
    mouse.move(frame["x"] + frame["width"] - 5, frame["y"] + 5, steps=4)
    mouse.up()
    window.page.wait_for_function(
        "() => /[1-9].* records are marked/.test(document.querySelector('#marked').innerText)"
    )
    marked = int(window.text("#marked").split(" ")[0].replace(",", ""))
    window.click("button[title='Protect all marked records in the next step']")
    window.page.wait_for_selector("body[data-page=protect]")
    assert f"Only the {marked:,} records" in window.text(".marked")
    variable = "turnover" if kind == "business" else "region"
    add(window, "microaggregate" if kind == "business" else "pram", (variable,))
    assert f"only {marked:,} record" in window.text("ol.steps > li:last-child")


def _take_away(window: Window, folder: Path, kind: str) -> None:
    window.go("release")
    assert "Checklist before publication" in window.text("#second")
    # No words of Python on pages for those who do not program.
    assert "()" not in window.text("#second") and "tc." not in window.text("#second")
    window.page.fill("input[name=reason]", "a test")
    window.click("form[data-act=make] button[type=submit]")
    window.page.wait_for_selector("#made")
    released = window.download("#download-data-csv", folder / "downloaded.csv")
    script = window.download("#download-script", folder / "same.py")
    project = window.download("#download-project", folder / "work.toml")
    page = window.download("#download-internal-html", folder / "report.html")
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    subprocess.run([sys.executable, script.name], cwd=folder, check=True, capture_output=True)
    assert (folder / "released.csv").read_bytes() == released.read_bytes()
    assert len(tc.Project.load(project).plan) == 4


@pytest.mark.parametrize("kind", STEPS)
def test_from_opening_to_a_released_file_in_fewer_than_fifteen_clicks(browser: Any, tmp_path: Path, kind: str) -> None:
    with started(survey_file(tmp_path, kind)) as address:
        window = Window(browser, address)
        with_scenario(window)
        window.go("protect")
        window.click("button[data-act=repair] >> nth=0")
        window.settle()
        window.go("release")
        # What the checklist asks for and a click does.
        asked = window.page.locator("button[data-act=mend]")
        assert asked.count()
        while asked.count():
            item = asked.first.get_attribute("id")
            window.click(f"#{item}")
            window.page.wait_for_function(f"() => !document.querySelector('#{item}')")
            window.settle()
        if window.page.locator("input[name=reason]").count():
            window.page.fill("input[name=reason]", "a test")
        window.click("form[data-act=make] button[type=submit]")
        released = window.download("#download-data-csv", tmp_path / "downloaded.csv")
        assert released.stat().st_size > 1000
        assert window.clicks < 15, window.clicks
        window.only_here()
        window.context.close()


def test_who_has_not_the_token_gets_nothing(tmp_path: Path) -> None:
    with started() as address:
        place = urlparse(address)
        token = place.query.removeprefix("token=")
        for path in ("/", "/?token=wrong", "/own/app.js", "/download/script.py", "/shiny.js"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"http://{place.netloc}{path}")
            assert refused.value.code == 403
            refused.value.close()
        with urllib.request.urlopen(address) as page:
            assert page.status == 200 and "HttpOnly" in page.headers["set-cookie"]
        assert handshake(place.port, f"tacita_token={token}").startswith("HTTP/1.1 101")
        # Another token, another site, another name of this computer.
        assert handshake(place.port, "tacita_token=wrong").startswith("HTTP/1.1 403")
        assert handshake(place.port, f"tacita_token={token}", origin="http://elsewhere.example").startswith(
            "HTTP/1.1 403"
        )
        assert handshake(place.port, f"tacita_token={token}", host="elsewhere.example").startswith("HTTP/1.1 403")
        # It listens to no other address of this computer.
        own = socket.gethostbyname(socket.gethostname())
        if not own.startswith("127."):
            with pytest.raises(OSError):
                socket.create_connection((own, place.port or 0), 2).close()


def handshake(port: int | None, cookie: str, origin: str = "", host: str = "") -> str:
    """What the app answers to the first words of a websocket."""
    here = f"127.0.0.1:{port}"
    lines = [
        "GET /websocket/ HTTP/1.1", f"Host: {host or here}", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13", f"Cookie: {cookie}",
        f"Origin: {origin or 'http://' + here}", "", "",
    ]  # fmt: skip
    with socket.create_connection(("127.0.0.1", port or 0), 30) as line:
        line.sendall("\r\n".join(lines).encode())
        return line.recv(200).decode("latin-1")


ENDLESS = '''
import os, pathlib, time
from tacita.measures import measure
from tacita.result import Result

@measure(needs="keys")
def endless(data, scenario, *, progress=None) -> Result:
    """A measure that never ends."""
    while True:
        pathlib.Path(__file__).with_name("process").write_text(str(os.getpid()))
        progress(0.25, "waiting for ever")
        time.sleep(0.05)
'''


def endless_measure(folder: Path) -> Path:
    """A folder with a package that adds a measure without an end."""
    about = folder / "endless-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "endless.py").write_text(ENDLESS, "utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: endless\nVersion: 1.0\n", "utf-8")
    (about / "entry_points.txt").write_text("[tacita.measures]\nendless = endless:endless\n", "utf-8")
    return folder


def test_cancel_ends_a_long_job_and_the_process_that_does_it(browser: Any, tmp_path: Path) -> None:
    also = endless_measure(tmp_path / "site")
    with started(survey_file(tmp_path, "household"), also=also) as address:
        window = Window(browser, address)
        with_scenario(window)
        window.go("risk")
        standing = window.text("#standing")
        window.choose("#measure-choice", "endless")
        window.page.wait_for_selector("form[data-fields*=endless]")
        window.click("form[data-act=measure] button[type=submit]")
        window.page.wait_for_function("() => /for ever/.test(document.querySelector('#working').innerText)")
        assert window.page.locator("#working progress").get_attribute("value") == "0.250"
        process = int((also / "process").read_text("utf-8"))
        os.kill(process, 0)
        window.click("#working button[data-act=cancel]")
        window.page.wait_for_selector("text=Cancelled. Nothing was changed.")
        window.settle()
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
        assert window.text("#standing") == standing and "cancelled" in window.text("#third .error")
        # Another process does what comes next; and what was cancelled is begun again if it is asked for.
        window.choose("#measure-choice", "attackers")
        window.page.wait_for_selector("form[data-fields*=attackers]")
        window.click("form[data-act=measure] button[type=submit]")
        window.page.wait_for_selector("#measured")
        window.click("text=Do it after all")
        window.choose("#measure-choice", "endless")
        window.page.wait_for_function("() => /for ever/.test(document.querySelector('#working').innerText)")
        window.only_here()
        window.context.close()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_every_page_is_usable_by_everybody(browser: Any, tmp_path: Path, colours: str) -> None:
    if find_spec("axe_playwright_python") is None:
        pytest.skip("axe-core is not here: pip install axe-playwright-python")
    from axe_playwright_python.sync_playwright import Axe

    with started(survey_file(tmp_path, "household")) as address:
        window = Window(browser, address, colours)
        with_scenario(window)
        window.go("protect")
        add(window, "recode", ("age",), "width", width="20")
        for page in PAGES:
            window.go(page)
            window.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            found = Axe().run(window.page, options={"resultTypes": ["violations"]}).response["violations"]
            serious = [
                (each["id"], node["html"][:200]) for each in found if each["impact"] in ("serious", "critical")
                for node in each["nodes"][:3]
            ]  # fmt: skip
            assert serious == [], (page, json.dumps(serious, indent=1))
            wide = window.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, page
        window.only_here()
        window.context.close()


def test_the_keyboard_is_enough(browser: Any, tmp_path: Path) -> None:
    with started(survey_file(tmp_path, "household")) as address:
        window = Window(browser, address)
        window.page.wait_for_selector("text=Choose a variable")
        window.page.focus("#tab-scenario")
        window.page.keyboard.press("Enter")
        window.page.wait_for_selector("text=Accept all")
        where = "button[title='sex: key']"
        window.page.focus(where)
        window.page.keyboard.press("Space")
        window.page.wait_for_selector(f"{where}[aria-pressed=true]")
        # The focus stays where it was, though the piece of the page is a new one.
        assert window.page.evaluate("document.activeElement.title") == "sex: key"
        window.context.close()
