"""The examples of the documentation: run them, and write what they print into the pages.

The convention, which `tests/test_docs.py` enforces:

* A ```python block runs; the blocks of a page share their names and a working folder. What it prints stands in the
  ```text block right below it, and a block without one prints nothing.
* Blocks may stand behind a fold (`???`), indented as it asks for.
* A ```toml block whose first line is `# name.toml` is a file of that name in the working folder.
* In a ```console block a line that starts with `$ tacita` runs. The lines below it are what it prints, in which a line
  `...` stands for any lines; with no lines below it, what it prints is not shown. A line `# exit code 2` says how the
  command above it ends; without one it ends with 0.

Tables of parameters are filled from the declarations: see `parameter_tables.py`.

Every page finds a folder `demo`, as `tacita demo` makes it, unless the page makes that folder itself.

    python docs/examples.py                   writes what changed into README.md and docs/
    python docs/examples.py compare policy    the same for the pages of these names only
    python docs/examples.py --check           only says what changed, and ends with 1 if anything did
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(
    r"^(?P<margin>[ ]*)```(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^(?P=margin)```[ ]*$", re.MULTILINE | re.DOTALL
)
EXIT_CODE = re.compile(r"# exit code (\d+)")


@dataclass(frozen=True)
class Outcome:
    """One example of a page: what it should do and what it did."""

    line: int
    """Where it stands in the page."""
    expected: str
    """The exit code, if there is one, and the output that the page shows."""
    found: str
    """What there was."""
    start: int
    """Where the shown output begins in the text of the page."""
    end: int
    """Where it ends."""
    fresh: str
    """What should stand there."""

    @property
    def right(self) -> bool:
        """Whether the page tells the truth."""
        return self.expected == self.found


def pages() -> list[Path]:
    """Every page that holds examples: the README and the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def has_examples(page: Path) -> bool:
    """Whether there is anything to run on a page."""
    return re.search(r"^[ ]*```(python|console)", page.read_text(encoding="utf-8"), re.MULTILINE) is not None


def make_demo(folder: Path) -> None:
    """The survey, scenario, policy and plan that `tacita demo` writes, without its figures."""
    import tacita as tc
    from tacita.cli.demo_plans import demo_plan

    survey = tc.household_survey()
    folder.mkdir()
    tc.write(survey.data, folder / "survey.parquet")
    tc.write(survey.data, folder / "survey.csv")
    survey.scenario.save(folder / "scenario.toml")
    tc.Policy().save(folder / "policy.toml")
    demo_plan().save(folder / "plan.toml")


def run(page: Path, demo: Path) -> list[Outcome]:
    """Run the examples of a page in a working folder of its own, with a copy of the demo survey in it."""
    text = page.read_text(encoding="utf-8")
    if not has_examples(page):
        return []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if not re.search(r"^[ ]*\$ tacita demo\b(?!.*--out)", text, re.MULTILINE):
            shutil.copytree(demo, Path(folder) / "demo")
        with _own_measures():
            return list(_outcomes(page, text))


@contextlib.contextmanager
def _own_measures() -> Iterator[None]:
    """A measure that a page declares is known on that page only."""
    from tacita import measures

    before = dict(measures._DECLARED_HERE)
    try:
        yield
    finally:
        measures._DECLARED_HERE.clear()
        measures._DECLARED_HERE.update(before)


def _outcomes(page: Path, text: str) -> Iterator[Outcome]:
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = list(FENCE.finditer(text))
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        line = text.count("\n", 0, block.start()) + 1
        if block["kind"] == "python":
            # Blank lines before it, so that a traceback names the line of the page.
            code = compile("\n" * line + _without(block["margin"], block["body"]), page.name, "exec", dont_inherit=True)
            printed = _with(block["margin"], _printed_by_python(code, names))
            shown = following if following is not None and _is_output_of(text, block, following) else None
            start, end = shown.span("body") if shown is not None else (block.end(), block.end())
            output = f"\n\n{block['margin']}```text\n{printed}{block['margin']}```"
            fresh = printed if shown is not None or not printed else output
            yield Outcome(line, text[start:end], printed, start, end, fresh)
        elif block["kind"] == "toml":
            body = _without(block["margin"], block["body"])
            named = re.match(r"# (\w+\.toml)\n", body)
            if named:
                Path(named[1]).write_text(body, encoding="utf-8")
        elif block["kind"] == "console":
            yield from _console(text, block)


def _is_output_of(text: str, block: re.Match[str], following: re.Match[str]) -> bool:
    return following["kind"] == "text" and not text[block.end() : following.start()].strip()


def _without(margin: str, text: str) -> str:
    """The lines of a block without the margin of the fold that it stands behind."""
    return re.sub(f"^{margin}", "", text, flags=re.MULTILINE) if margin else text


def _with(margin: str, text: str) -> str:
    return "".join(f"{margin}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


def _printed_by_python(code: Any, names: dict[str, Any]) -> str:
    with _captured() as output:
        exec(code, names)  # noqa: S102 - these are our own pages
    return _tidy(output.getvalue())


def _console(text: str, block: re.Match[str]) -> Iterator[Outcome]:
    """The commands of a block, each with the output and the exit code below it."""
    margin = block["margin"]
    commands = list(re.finditer(rf"^{margin}\$ (?P<words>[^\n]*)\n", block["body"], re.MULTILINE))
    for command, following in zip(commands, [*commands[1:], None], strict=True):
        if not command["words"].startswith("tacita"):
            continue
        offset = block.start("body")
        end = following.start() if following is not None else len(block["body"])
        below = block["body"][command.end() : end]
        said = EXIT_CODE.search(below)
        shown = below[: said.start()] if said else below
        code, printed = run_command(command["words"])
        printed = _with(margin, printed)
        start = offset + command.end()
        line = text.count("\n", 0, start)
        expected = f"exit code {said[1] if said else 0}\n{shown}"
        fresh, found = printed, f"exit code {code}\n{printed}"
        if not shown.strip() or _fits(shown, printed):
            fresh, found = shown, f"exit code {code}\n{shown}"
        yield Outcome(line, expected, found, start, start + len(shown), fresh)


def _fits(shown: str, printed: str) -> bool:
    """Whether the shown lines are what was printed, a line `...` standing for any lines."""
    lines = (".*" if line.lstrip() == "...\n" else re.escape(line) for line in shown.splitlines(keepends=True))
    return re.fullmatch("".join(lines), printed, re.DOTALL) is not None


def run_command(words: str) -> tuple[int, str]:
    """The exit code and the output, both streams together, of one line for the command line."""
    from tacita.cli import main

    _, *arguments = shlex.split(words)
    before, sys.argv = sys.argv, ["tacita", *arguments]
    try:
        with _captured() as output, contextlib.redirect_stderr(output):
            main()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        return code, _tidy(output.getvalue())
    finally:
        sys.argv = before
    return 0, _tidy(output.getvalue())


@contextlib.contextmanager
def _captured() -> Iterator[io.StringIO]:
    """What is printed; a warning that a page does not expect is an error."""
    output = io.StringIO()
    from tacita.check import Caution

    with warnings.catch_warnings(), contextlib.redirect_stdout(output):
        warnings.simplefilter("error")
        # The printed result repeats these.
        warnings.simplefilter("ignore", Caution)
        yield output


def _tidy(printed: str) -> str:
    """Without blanks at the ends of lines, which editors would take away from a page."""
    lines = [line.rstrip() for line in printed.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def updated(text: str, outcomes: list[Outcome]) -> str:
    """The text of a page with the outputs that there were."""
    for outcome in reversed(outcomes):
        text = text[: outcome.start] + outcome.fresh + text[outcome.end :]
    return text


def main(only_check: bool, names: list[str]) -> int:
    """Run all pages, or those of the names given; say which outputs and tables changed."""
    from parameter_tables import filled

    changed = 0
    os.environ.setdefault("COLUMNS", "100")
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        make_demo(demo)
        for page in [each for each in pages() if not names or each.stem in names]:
            outcomes = run(page, demo)
            for outcome in outcomes:
                if not outcome.right:
                    changed += 1
                    sys.stdout.write(f"{page.relative_to(ROOT)}:{outcome.line}: the output changed\n")
                    if outcome.expected.partition("\n")[0] != outcome.found.partition("\n")[0]:
                        sys.stdout.write(f"    now begins: {outcome.found.partition(chr(10))[0]}\n")
            text = page.read_text(encoding="utf-8")
            if filled(text) != text:
                changed += 1
                sys.stdout.write(f"{page.relative_to(ROOT)}: a table of parameters changed\n")
            if not only_check:
                page.write_text(filled(updated(text, outcomes)), encoding="utf-8")
    return int(only_check and changed > 0)


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main("--check" in given, [name for name in given if name != "--check"]))
