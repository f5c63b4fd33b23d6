"""Hold two checkouts against each other: is this one nowhere slower than the other?

`python -m benchmarks.compare OTHER [NAME ...] [--quick] [--only TEXT] [--times 5]` runs every case of the named
benchmarks (all if none is named) in both checkouts: each makes its data and warms up, then the calls alternate, five of
each, and their medians are compared. A case counts as slower if it takes both 10 % and 20 ms longer. `--only` takes the
cases whose name holds a text. With `--processor` the least processor time of the calls decides, all threads together:
it suffers less from a busy machine.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.run import NAMES

SHARE, SECONDS = 0.10, 0.020
RIVALS = ("all_pairs", "loop", "naive", "group_counts", "by_polars", "by_pandas", "by_pyreadstat", "truth", "plain")
"""Cases that time somebody else, or nobody."""


class Side:
    """A checkout that runs cases, one call at a time: see `side`."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("side.py")), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root / "src")},
        )

    def ask(self, words: str) -> dict[str, Any]:
        """What the side answers to a line; `failed` if it ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline() or '{"state": "failed", "why": "it ended"}')
        return answer

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compared(sides: tuple[Side, Side], asked: Mapping[str, Any], times: int) -> dict[str, Any]:
    """Seconds of the calls in both checkouts, by the wall clock and of the processor; or why a case failed."""
    found: dict[str, Any] = {"wall": ([], []), "processor": ([], [])}
    answers = [side.ask(json.dumps(asked)) for side in sides]
    while all(answer["state"] == "ready" for answer in answers):
        for _ in range(times):
            for place, side in enumerate(sides):
                took = side.ask("again")
                for clock in found:
                    found[clock][place].append(took[clock])
        answers = [side.ask("enough") for side in sides]
    for place, side in enumerate(sides):
        while answers[place]["state"] == "ready":
            answers[place] = side.ask("enough")
        if answers[place]["state"] == "failed":
            found["failed"] = f"{('the other', 'this')[place]}: {answers[place]['why']}"
    return found


class Comparison:
    """The cases that the reports of benchmarks ask for, each compared where its report would run it."""

    def __init__(self, other: Path, times: int, clock: str, only: str) -> None:
        self.sides = Side(other), Side(measure.ROOT)
        self.times, self.clock, self.only = times, clock, only
        self.seen: list[str] = []
        self.slower: list[str] = []
        self.files: dict[str, dict[str, Any]] = {}
        self.alone = measure.run_case

    def run(self, name: str, quick: bool) -> None:
        """Compare the cases of one benchmark."""
        measure.run_case = self.case
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(TypeError, AttributeError):
            # A report may stumble over what it is given for a result, after its cases.
            importlib.import_module(f"benchmarks.{name}").report(quick)

    def case(self, benchmark: str, case: str, **options: Any) -> dict[str, Any]:
        """In place of `measure.run_case`; a file is written when a case first reads it."""
        asked = {"benchmark": benchmark, "case": case, "options": options}
        shown = {name: Path(each).name if name == "path" else each for name, each in options.items()}
        name = f"{benchmark} {case} {json.dumps(shown)}"
        if case == "write":
            self.files[options["path"]] = asked
        elif case not in RIVALS and name not in self.seen and self.only in name:
            self.seen.append(name)
            if (file := self.files.pop(options.get("path", ""), None)) is not None:
                self.alone(file["benchmark"], file["case"], **file["options"])
            self.show(name, compared(self.sides, asked, self.times))
        return defaultdict(lambda: 1.0)

    def show(self, name: str, found: dict[str, Any]) -> None:
        """A line for a case."""
        line = f"{'not compared':33} {name}: {found.get('failed', 'it times nothing')}"
        if "failed" not in found and found[self.clock][0]:
            least = min if self.clock == "processor" else statistics.median
            was, now = (least(each) for each in found[self.clock])
            worse = now > (1 + SHARE) * was and now > was + SECONDS
            self.slower += [name] if worse else []
            line = f"{was:9.3f} s {now:9.3f} s {now / was:6.2f} {'SLOWER' if worse else '':6} {name}"
        print(line, file=sys.__stdout__, flush=True)


def main() -> int:
    """Compare every case that the reports of the benchmarks run; exit 1 if one is slower."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--processor", action="store_true")
    given = parser.parse_args()
    clock = "processor" if given.processor else "wall"
    comparison = Comparison(given.other.resolve(), given.times, clock, given.only)
    for name in given.names:
        comparison.run(name, given.quick)
    for side in comparison.sides:
        side.close()
    print(f"{len(comparison.seen)} cases, {len(comparison.slower)} slower")
    return 1 if comparison.slower else 0


if __name__ == "__main__":
    sys.exit(main())
