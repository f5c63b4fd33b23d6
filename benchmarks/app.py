"""The app in Chromium on large files: from a click to the screen that answers it, page by page.

Two times for each click: until the page answers, with a place held for what is still worked out, and until nothing is
worked out any more; the work that was done meanwhile is named, for steps take what they take. Beside them the processor
time of the server, which answers, and of its worker, which works.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import measure
from benchmarks.window import brush, find_chromium, opened_chromium, running_app

RECORDS = {"households": 100_000, "enterprises": 100_000}
QUICK = 5_000
HEAD = ("click", "answered", "all there", "server", "worker", "work meanwhile")
PATIENCE = 600_000
"""Milliseconds that a click may take, its work included."""
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
WATCH = """
(() => {
  // Frame by frame: when the app answered, when everything was drawn and nothing was being worked out.
  const said = new Set();
  const seen = { at: 0, answered: 0, quiet: 0 };
  const quiet = () => !document.body.dataset.waiting && !document.querySelector('#working progress, .waiting')
    && [...document.querySelectorAll('.vega')].every(each => each.dataset.ready)
    && [...document.querySelectorAll('#standing .badge.open')].every(each => /NOT ASSESSED/.test(each.innerText));
  const look = () => {
    const now = performance.now();
    if (document.body) {
      const working = document.querySelector('#working progress');
      if (working) said.add(working.getAttribute('aria-label').split(':')[0]);
      const drawn = [...document.querySelectorAll('.vega')].every(each => each.dataset.ready);
      if (!seen.answered && !document.body.dataset.waiting && drawn) seen.answered = now;
      if (!quiet()) seen.quiet = 0;
      else if (!seen.quiet) seen.quiet = now;
    }
    requestAnimationFrame(look);
  };
  const begin = () => { said.clear(); Object.assign(seen, { at: performance.now(), answered: 0, quiet: 0 }); };
  for (const kind of ['click', 'change', 'mouseup']) window.addEventListener(kind, begin, true);
  window.begin = begin;
  window.settled = () => seen.quiet && performance.now() - seen.quiet > 900;
  window.measured = () => [seen.answered - seen.at, seen.quiet - seen.at, [...said]];
  requestAnimationFrame(look);
})();
"""


class Click(NamedTuple):
    """What is clicked."""

    name: str
    act: Callable[[Any], None]


def households(folder: Path, records: int) -> Path:
    """The demo household survey as a CSV file of about as many records."""
    import tacita as tc

    survey = tc.household_survey(records * 10 // 23, population=records * 90)
    return Path(tc.write(survey.data, folder / "people.csv"))


def enterprises(folder: Path, records: int) -> Path:
    """The demo business survey as a CSV file of as many records."""
    import tacita as tc

    return Path(tc.write(tc.business_survey(records, population=6 * records).data, folder / "firms.csv"))


def press(where: str) -> Callable[[Any], None]:
    """A click there."""
    return lambda page: page.click(where)


def choose(where: str, value: str) -> Callable[[Any], None]:
    """A choice from a list."""
    return lambda page: page.select_option(where, value)


def add(*variables: str, **fields: str) -> Callable[[Any], None]:
    """The form of a step, filled in and sent."""

    def act(page: Any) -> None:
        for name in variables:
            page.click(f"fieldset:has(legend:text('variables')) .chip:has(input[value='{name}'])")
        for name, value in fields.items():
            page.fill(f"form[data-act=add_step] [name={name}]", value)
        page.click("text=Add the step")

    return act


def write(where: str, value: str) -> Callable[[Any], None]:
    """A value in a field, sent by leaving it."""

    def act(page: Any) -> None:
        page.fill(where, value)
        page.keyboard.press("Tab")

    return act


def tab(name: str) -> Click:
    """Going to a page."""
    return Click(f"page {name.title()}", press(f"#tab-{name}"))


HOUSEHOLDS = (
    Click("Data: look at age", press("#b-choose-variable-age")),
    Click("Data: age by region", choose("#s-choose-by-by-", "region")),
    tab("scenario"),
    Click("Scenario: accept all roles", press("text=Accept all")),
    Click("Scenario: size a key too", press("button[title='size: key']")),
    tab("risk"),
    Click("Risk: 100 records above", write("input[name=unsafe]", "100")),
    Click("Risk: what would be blanked", press("text=What would suppression down to it blank?")),
    Click("Risk: the form of SUDA", choose("#measure-choice", "suda")),
    tab("protect"),
    Click("Protect: the form of recode", choose("#step-choice", "recode")),
    Click("Protect: by width", choose("select[name=way]", "width")),
    Click("Protect: recode age", add("age", width="20")),
    Click("Protect: the form of suppress", choose("#step-choice", "suppress")),
    Click("Protect: suppress", add()),
    tab("compare"),
    Click("Compare: densities", choose("select[name=figure]", "before_after_density")),
    Click("Compare: brush", lambda page: brush(page, "window.begin()")),
    tab("release"),
    tab("risk"),
    tab("compare"),
    tab("protect"),
    Click("Protect: undo", press("text=↶ Undo")),
    Click("Protect: redo", press("text=↷ Redo")),
    tab("data"),
)
ENTERPRISES = (
    tab("scenario"),
    Click("Scenario: accept all roles", press("text=Accept all")),
    tab("protect"),
    Click("Protect: the form of noise", choose("#step-choice", "noise")),
    Click("Protect: noise", add("turnover", "employees", amount="0.2")),
    tab("risk"),
    tab("compare"),
    Click("Compare: brush", lambda page: brush(page, "window.begin()")),
    tab("release"),
    tab("compare"),
)
CASES = {"households": (households, HOUSEHOLDS), "enterprises": (enterprises, ENTERPRISES)}


def processor(process: int) -> float:
    """Seconds that a process has worked so far; nothing where the system does not tell."""
    status = Path(f"/proc/{process}/stat")
    return sum(map(int, status.read_text().rpartition(")")[2].split()[11:13])) / TICKS if status.exists() else 0.0


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(each) for each in listed.read_text().split()] if listed.exists() else []


def resident(process: int) -> float:
    """Greatest resident memory of a process so far, in GB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1e6 if found else 0.0


def click(page: Any, each: Click, process: int) -> tuple[str, ...]:
    """A row of the table: what a click took."""
    before = processor(process), sum(map(processor, children(process)))
    page.evaluate("window.begin()")
    each.act(page)
    page.wait_for_function("window.settled()")
    answered, whole, work = page.evaluate("window.measured()")
    server, worker = processor(process) - before[0], sum(map(processor, children(process))) - before[1]
    times = (measure.seconds(value) for value in (answered / 1000, whole / 1000, server, max(worker, 0.0)))
    return each.name, *times, ", ".join(work) or measure.NOTHING


def case(chromium: Any, name: str, records: int) -> None:
    """Go through the clicks on one file, and print what each took."""
    make, clicks = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        file = make(Path(folder), records)
        with running_app(file) as (address, process):
            page = chromium.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(PATIENCE)
            page.add_init_script(WATCH)
            page.goto(address)
            page.wait_for_selector("text=Choose a variable")
            rows = [HEAD, *(click(page, each, process) for each in clicks)]
            memory = [f"server {resident(process):.2f} GB"]
            memory += [f"worker {resident(each):.2f} GB" for each in children(process)]
            page.close()
    measure.show(f"The app on {records:,} {name}: from a click to the screen", rows, [f"memory: {', '.join(memory)}"])


def main() -> None:
    """Print a table for each file; a name on the command line takes that file alone."""
    quick = "--quick" in sys.argv
    chosen = [name for name in CASES if name in sys.argv] or list(CASES)
    if find_chromium() is None:
        print("\nThe app needs Chromium, which is not here.")
        return
    with opened_chromium() as chromium:
        for name in chosen:
            case(chromium, name, QUICK if quick else RECORDS[name])


if __name__ == "__main__":
    main()
