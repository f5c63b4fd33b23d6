"""Hold two checkouts against each other: is this one nowhere slower than the other?

`python -m benchmarks.compare OTHER [NAME ...] [--quick]` runs every case of the named benchmarks (all if none is named)
in both checkouts, alternating, five times each, and compares the medians. A case counts as slower if it takes both 10 %
and 20 ms longer.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.run import NAMES

TIMES = 5
SHARE, SECONDS = 0.10, 0.020
RIVALS = ("all_pairs", "loop", "naive", "group_counts", "write", "by_polars", "by_pandas", "by_pyreadstat", "truth")
"""Cases that time somebody else, or nobody."""


def both(other: Path, benchmark: str, case: str, options: dict[str, Any]) -> tuple[list[float], list[float]]:
    """The best seconds of a case in the other checkout and in this one, each in several processes, alternating."""
    words = ["-m", f"benchmarks.{benchmark}", "--case", case, json.dumps(options)]
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(TIMES):
        for times, root in zip(found, (other, measure.ROOT), strict=True):
            environment = {**os.environ, "PYTHONPATH": str(root / "src")}
            result = measure.run_script([sys.executable, *words], environment, root)
            times.append(result.get("best", result.get("seconds", float("nan"))))
    return found


def main() -> int:
    """Compare every case that the reports of the benchmarks run; exit 1 if one is slower."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    slower: list[str] = []
    seen: set[str] = set()
    alone = measure.run_case

    def compared(benchmark: str, case: str, **options: Any) -> dict[str, Any]:
        shown = {key: Path(value).name if key == "path" else value for key, value in options.items()}
        name = f"{benchmark} {case} {json.dumps(shown)}"
        if case not in RIVALS and name not in seen:
            seen.add(name)
            was, now = (statistics.median(each) for each in both(given.other.resolve(), benchmark, case, options))
            worse = now > (1 + SHARE) * was and now > was + SECONDS
            slower.extend([name] if worse else [])
            print(
                f"{was:9.3f} s {now:9.3f} s {now / was:6.2f} {'SLOWER' if worse else '':6} {name}", file=sys.__stdout__
            )
            sys.__stdout__.flush() if sys.__stdout__ else None
        return alone(benchmark, case, **options)

    measure.run_case = compared
    for name in given.names:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(f"benchmarks.{name}").report(given.quick)
    print(f"{len(seen)} cases, {len(slower)} slower")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
