"""What the benchmarks share: cases in processes of their own, times, peak memory, tables in plain text.

Only the standard library is imported here, so that it also runs beside a rival in another environment.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: benchmarks run as modules from here."""
HEAD = ("what", "records", "time", "processor", "first call", "target", "times Tacita", "peak memory")
NOTHING = "-"


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[dict[str, float], Any]:
    """Seconds of the first, cold call and of the best of `repeats` further ones, and what the last one gave.

    `processor` is the least processor time, all threads together: it suffers less from a busy machine.
    """
    calls = []
    result = None
    for _ in range(1 + repeats):
        result = None  # two results at once would count for the peak memory
        start, work = time.perf_counter(), time.process_time()
        result = call()
        calls.append((time.perf_counter() - start, time.process_time() - work))
    warm = calls[1:] or calls
    best, processor = (min(call[place] for call in warm) for place in (0, 1))
    return {"first": calls[0][0], "best": best, "processor": processor}, result


def peak_memory() -> float | None:
    """Greatest resident memory of this process so far, in GB; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e9 if sys.platform == "darwin" else 1e6)


def run_case(benchmark: str, case: str, **options: Any) -> dict[str, Any]:
    """One case of a benchmark in a process of its own, so that its first call is cold and its peak its own."""
    return run_script([sys.executable, "-m", f"benchmarks.{benchmark}", "--case", case, json.dumps(options)])


def run_script(
    command: Sequence[str], environment: Mapping[str, str] | None = None, root: Path = ROOT
) -> dict[str, Any]:
    """What a script prints as JSON in its last line; `failed` with the last line of its errors if it does not."""
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=environment, cwd=root, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"failed": lines[-1] if lines else f"exit code {done.returncode}"}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main(cases: Mapping[str, Callable[..., dict[str, Any]]], report: Callable[[bool], None]) -> None:
    """Run the one case that the command line asks for, or else print the whole report."""
    if "--case" in sys.argv:
        place = sys.argv.index("--case")
        result = cases[sys.argv[place + 1]](**json.loads(sys.argv[place + 2]))
        print(json.dumps({**result, "peak": peak_memory()}))
    else:
        report("--quick" in sys.argv)


def row(
    what: str,
    records: int,
    result: Mapping[str, Any],
    *,
    target: float | None = None,
    tacita: Mapping[str, Any] | None = None,
) -> tuple[str, ...]:
    """A row under HEAD; `tacita` is the result to compare with."""
    if "failed" in result:
        return (what, f"{records:,}", f"failed: {result['failed']}"[:48], *[NOTHING] * 5)
    met = NOTHING if target is None else f"{target:g} s: {'met' if result['best'] <= target else 'MISSED'}"
    ratio = NOTHING if tacita is None or "failed" in tacita else f"{result['best'] / tacita['best']:.2g}"
    peak = NOTHING if result.get("peak") is None else f"{result['peak']:.2f} GB"
    times = (seconds(result[name]) for name in ("best", "processor", "first"))
    return what, f"{records:,}", *times, met, ratio, peak


def seconds(value: float) -> str:
    """A duration with three significant digits."""
    return f"{value:.3g} s" if value < 100 else f"{value:,.0f} s"


def show(title: str, rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> None:
    """Print rows under each other: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"\n{title}")
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  " + "  ".join((first.ljust(widths[0]), *cells)).rstrip())
    for note in notes:
        print(f"  {note}")
    sys.stdout.flush()


def growth(times: Mapping[int, float]) -> str:
    """How processor time grows with the number of records, against the smallest number."""
    (least, base), *others = sorted(times.items())
    parts = [f"{size / least:g} times the records take {seconds / base:.2g} times as long" for size, seconds in others]
    return f"growth of processor time from {least:,} records: " + ", ".join(parts)
