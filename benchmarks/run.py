"""Run the benchmarks: times, memory, growth with the number of records, ratios to rivals, accuracy.

`python benchmarks/run.py` runs all of them, `python benchmarks/run.py assessment` one; `--quick` takes smaller sizes.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
HELPERS = (
    "__init__",
    "accuracy_page",
    "compare",
    "measure",
    "model_answers",
    "populations",
    "pycanon_time",
    "real_files",
    "run",
    "side",
    "survey",
)
NAMES = sorted(file.stem for file in HERE.glob("*.py") if file.stem not in HELPERS)


def main() -> int:
    """Run the benchmarks named on the command line, each in a process of its own."""
    parser = argparse.ArgumentParser(description="Benchmarks of Tacita.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; all if none is named")
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark is named {unknown[0]!r}; the names are {', '.join(NAMES)}.")
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "polars", "pandas"))
    print(f"Python {platform.python_version()}, {libraries}; {platform.system()}, {os.cpu_count()} cores", flush=True)
    failed = []
    for name in given.names or NAMES:
        before = _load()
        failed += [name] if _run(name, given.quick) else []
        print(f"  {name}: load of the machine {before} before, {_load()} after")
    for name in failed:
        print(f"\nThe benchmark {name} failed.")
    return 1 if failed else 0


def _load() -> str:
    """Processes that wanted a core in the last minute: above the number of cores, times are too long."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _run(name: str, quick: bool) -> int:
    command = [sys.executable, "-m", f"benchmarks.{name}", *(["--quick"] if quick else [])]
    return subprocess.run(command, cwd=HERE.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
