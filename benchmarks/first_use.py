"""Seconds of the processor that commands compile for when they are used for the first time, with an empty cache."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks import measure

LIMIT = 5.0
KEYS = "--keys region,sex,age,marital --weight weight --household household"
MODEL = "--model benedetti_franconi"
PLANS = {
    "suppress": '{ step = "suppress", k = 3 }',
    "microaggregate": '{ step = "microaggregate", variables = ["income"] }',
    "rank_swap": '{ step = "rank_swap", variables = ["income"], window = 0.1 }',
    "synthesise": '{ step = "synthesise", variables = ["income", "marital"] }',
}
COMMANDS = {
    "assess": f"assess survey.csv {KEYS}",
    "assess, F without a model": f"assess survey.csv {KEYS} {MODEL}",
    "assess, wildcard": f"assess survey.csv {KEYS} {MODEL} --missing wildcard",
    "assess, SUDA": f"assess survey.csv {KEYS} {MODEL} --measure suda",
    "confidentiality": "confidentiality --demo",
    "link": "link survey.csv noisy.csv --variables age,income",
    "interval": "interval survey.csv noisy.csv --variables income",
    "compare": "compare survey.csv noisy.csv --keys region,sex,age --numeric-keys income",
    "report": "report survey.csv noisy.csv --keys region,sex,age",
    **{
        f"protect, {name}": f"protect survey.csv --plan {name}.toml {KEYS} --out out-{name} --accept-unsafe test"
        for name in PLANS
    },
    "demo": "demo --households 300 --out again",
}


def compiled(words: str) -> dict[str, Any]:
    """The command in this process: seconds of compiling, those inside of others not counted twice."""
    from numba.core import dispatcher

    from tacita import cli

    base: Any = dispatcher.Dispatcher
    # Loops are compiled in several threads, one waiting for the other; waiting takes no time of the processor.
    before, spent, inside = base.compile, [], threading.local()

    def compile_it(self: Any, signature: Any) -> Any:
        if getattr(inside, "here", False):
            return before(self, signature)
        inside.here, began = True, time.thread_time()
        try:
            return before(self, signature)
        finally:
            inside.here = False
            spent.append(time.thread_time() - began)

    base.compile = compile_it
    sys.argv = ["tacita", *words.split()]
    code: Any = 0
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
    return {"seconds": sum(spent), "code": code}


def report(quick: bool) -> None:
    """One row per command."""
    rows = [("command", "compiling", "at most 5 s")]
    with tempfile.TemporaryDirectory(prefix="tacita-bench-") as folder:
        files(Path(folder))
        for name, words in list(COMMANDS.items())[: 3 if quick else None]:
            with tempfile.TemporaryDirectory(prefix="tacita-cache-") as cache:
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join(sys.path)}
                script = "from benchmarks import first_use as f, measure\nmeasure.main({'c': f.compiled}, print)"
                command = [sys.executable, "-W", "ignore", "-c", script, "--case", "c", f'{{"words": "{words}"}}']
                found = measure.run_script(command, environment, Path(folder))
            if "failed" in found or found["code"] not in (0, 1):
                rows.append((name, str(found)[:60], measure.NOTHING))
            else:
                met = "met" if found["seconds"] <= LIMIT else "MISSED"
                rows.append((name, measure.seconds(found["seconds"]), met))
            print(*rows[-1], sep="  ", flush=True)
    measure.show("First use of a command: compiling, processor time", rows)


def files(folder: Path) -> None:
    """A survey, the same with noise, and plans."""
    import tacita as tc

    survey = tc.household_survey(300, population=9000, seed=3)
    tc.write(survey.data, folder / "survey.csv")
    noisy = tc.Plan([tc.Noise(["age", "income"], amount=0.1)]).apply(survey.data, survey.scenario, seed=1)
    tc.write(noisy.data, folder / "noisy.csv")
    for name, text in PLANS.items():
        (folder / f"{name}.toml").write_text(f"format = 1\n\n[plan]\nsteps = [{text}]\n", encoding="utf-8")


if __name__ == "__main__":
    measure.main({"compiled": compiled}, report)
