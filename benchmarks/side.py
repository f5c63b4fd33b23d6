"""One side of a comparison: a checkout that runs cases of its benchmarks, one call at a time, when it is asked to.

`compare` starts this file in two checkouts, each with its own `benchmarks` and its own Tacita on the path. Each makes
its data and warms up by itself, then both wait, so that calls alternate. Lines of JSON go both ways: a case is asked
for, the side answers `ready`, is told `again` or `enough`, and says at last what the case found.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def main(root: str) -> None:
    """Run the cases that the other end of the pipe asks for, until it has no more."""
    sys.path.insert(0, root)
    answers, sys.stdout = sys.stdout, sys.stderr

    def say(**what: Any) -> None:
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[dict[str, float], Any]:
        """As `measure.timed`, with as many calls as the comparison asks for."""
        first, result = _seconds(call)
        best, processor = [first["wall"]], [first["processor"]]
        say(state="ready")
        while sys.stdin.readline().strip() == "again":
            result = None  # two results at once would count for the memory
            taken, result = _seconds(call)
            best.append(taken["wall"])
            processor.append(taken["processor"])
            say(state="took", **taken)
        return {"first": best[0], "best": min(best), "processor": min(processor)}, result

    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        try:
            vars(importlib.import_module("benchmarks.measure"))["timed"] = timed
            module = importlib.import_module(f"benchmarks.{asked['benchmark']}")
            say(state="done", result=module.CASES[asked["case"]](**asked["options"]))
        except Exception as error:
            say(state="failed", why=f"{type(error).__name__}: {error}")


def _seconds(call: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    start, work = time.perf_counter(), time.process_time()
    result = call()
    return {"wall": time.perf_counter() - start, "processor": time.process_time() - work}, result


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).resolve()))
