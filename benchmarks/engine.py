"""Files larger than memory: time and peak memory of an assessment with a row per record, and of a plan, on DuckDB.

python benchmarks/engine.py [--records 1e6 1e7] [--memory 4GB] [--spark] [--plan] [--whole] [--model NAME]

`--whole` measures all of it in one run: every size, what a further pattern of missing values costs at the last but one,
the plan at the largest, and Spark at up to ten million records.

`--model benedetti_franconi` leaves out the fit of the latent model, whose time follows the distinct keys.

What is compiled at the first use is compiled before anything is measured. `--patterns` says besides what a further
pattern of missing values costs, of a file with 16 in place of 8.

The records are invented by hashing their numbers, and removed afterwards. Each size runs in a process of its own, so
that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

PATTERNS = 8
"""Patterns of missing values: three of the seven keys have some."""

WARM_UP = 300_000
"""Records of the file that is assessed first: so many keys that every loop is compiled."""


def invent(records: int, file: Path, patterns: int = PATTERNS) -> None:
    """People with seven keys, a weight, a household and an income; with 16 patterns four keys have missing values."""
    import duckdb

    def uniform(i: int) -> str:
        return f"((hash(i * 16 + {i}) >> 11)::DOUBLE / 9007199254740992.0)"

    def pick(i: int, values: int, skew: float = 1.5) -> str:
        return f"floor(pow({uniform(i)}, {skew}) * {values})::INT"

    def gaps(value: str, i: int) -> str:
        return f"CASE WHEN {uniform(i)} < 0.01 THEN NULL ELSE {value} END"

    marital = gaps(pick(6, 4), 12) if patterns > PATTERNS else pick(6, 4)
    connection = duckdb.connect(config={"memory_limit": "2GB"})
    connection.execute(f"""
        COPY (SELECT 'R' || lpad(({pick(1, 20)})::VARCHAR, 2, '0') AS region,
            CASE WHEN {uniform(2)} < 0.5 THEN 'f' ELSE 'm' END AS sex, {pick(3, 18)} * 5 AS age,
            {gaps("'C' || (" + pick(4, 6, 3) + ")::VARCHAR", 14)} AS citizenship, {gaps(pick(5, 5), 15)} AS education,
            {marital} AS marital, {gaps(pick(7, 6), 13)} AS activity, (i // 2.5)::BIGINT AS hid,
            (5 + (hash(i * 16 + 9) % 1000) / 16.0)::DOUBLE AS w, {uniform(10)} * 50000 AS income
        FROM range({records}) t(i)) TO '{file}' (FORMAT parquet)""")


def assessed(file: Path, memory: str, engine: str, model: str) -> dict[str, float]:
    """Seconds of each part of a full assessment with a row per record."""
    import tacita as tc

    keys = ["region", "sex", "age", "citizenship", "education", "marital", "activity"]
    who = tc.Scenario(keys=keys, weight="w", household="hid", model=model)
    began, processor = time.perf_counter(), time.process_time()
    with tc.LargeData.of(file, memory=memory, temporary=file.parent, engine=engine) as large:
        opened = time.perf_counter()
        profile = tc.assess(large, who, tc.Policy(household_risk=0.1))
        measured = time.perf_counter()
        profile.write_records(file.parent / "records.parquet", overwrite=True)
        written = time.perf_counter()
        keys_found = len(profile.individual.table.codes)
    return {
        "distinct keys": keys_found,
        "open": opened - began,
        "measure": measured - opened,
        "write": written - measured,
        "seconds": written - began,
        "processor": time.process_time() - processor,
    }


def released(file: Path, memory: str) -> dict[str, float]:
    """Seconds of a plan of recode, suppress and PRAM."""
    import tacita as tc

    keys = ["region", "sex", "age", "citizenship", "education", "marital", "activity"]
    who = tc.Scenario(keys=keys, weight="w", household="hid")
    plan = tc.Plan([tc.Recode("age", width=20), tc.Suppress(k=3, closed=False), tc.Pram("marital")])
    began, processor = time.perf_counter(), time.process_time()
    with tc.LargeData.of(file, memory=memory, temporary=file.parent) as large:
        plan.apply(large, who, seed=2**100).write(file.parent / "release.parquet", overwrite=True)
    return {"seconds": time.perf_counter() - began, "processor": time.process_time() - processor}


def of_java() -> dict[str, float]:
    """Peak memory and seconds of processor of the Java process that Spark runs in, where the system tells."""
    import os

    from pyspark import SparkContext

    process = Path("/proc") / str(SparkContext._gateway.proc.pid)
    if not process.exists():
        return {}
    lines = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    times = (process / "stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return {
        "Java peak GB": int(lines["VmHWM"].split()[0]) / 1e6,
        "Java processor": (int(times[11]) + int(times[12])) / ticks,
    }


def one(records: int, file: Path, memory: str, engine: str, plan: bool, model: str) -> None:
    """One size, its figures as JSON."""
    import warnings

    warnings.simplefilter("ignore")
    found = released(file, memory) if plan else assessed(file, memory, engine, model)
    if engine == "spark":
        found |= of_java()
    found["peak GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    found["microseconds per record"] = 1e6 * found["seconds"] / records
    print(json.dumps({"records": records, "engine": engine, "plan": plan, "model": model} | found))


def main() -> None:
    """All sizes asked for."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--records", nargs="+", type=float, default=[1e6, 1e7])
    given.add_argument("--memory", default="4GB")
    given.add_argument("--folder", type=Path, default=None)
    given.add_argument("--spark", action="store_true")
    given.add_argument("--plan", action="store_true")
    given.add_argument("--patterns", action="store_true")
    given.add_argument("--model", choices=("benedetti_franconi", "latent"), default="latent")
    given.add_argument("--file", type=Path, default=None, help="of one run")
    given.add_argument("--whole", action="store_true")
    said = given.parse_args()
    engine = "spark" if said.spark else "duckdb"
    if said.file is not None:
        one(int(said.records[0]), said.file, said.memory, engine, said.plan, said.model)
        return
    with tempfile.TemporaryDirectory(dir=said.folder) as folder:
        file = Path(folder) / "people.parquet"
        for job in _jobs(said):
            options = [*job.options, "--model", said.model]
            if job.warm_up:
                _run(WARM_UP, file, PATTERNS, said.memory, options)
            measured = []
            for patterns in (PATTERNS, 2 * PATTERNS) if job.patterns else (PATTERNS,):
                measured.append(_run(job.records, file, patterns, said.memory, options))
                print(json.dumps(measured[-1]), flush=True)
            if job.patterns:
                more = {name: (measured[1][name] - measured[0][name]) / PATTERNS for name in ("seconds", "processor")}
                print(json.dumps({f"{name} per further pattern": value for name, value in more.items()}), flush=True)


class Job(NamedTuple):
    """A size to be measured in one way."""

    records: int
    options: list[str]
    patterns: bool
    warm_up: bool


def _jobs(said: argparse.Namespace) -> list[Job]:
    """What was asked for, one size after the other."""
    sizes = [int(each) for each in said.records]
    if not said.whole:
        options = [*(["--spark"] if said.spark else []), *(["--plan"] if said.plan else [])]
        return [Job(size, options, said.patterns, at == 0) for at, size in enumerate(sizes)]
    second = sorted(sizes)[-2:][0]
    return [
        *(Job(size, [], size == second, at == 0) for at, size in enumerate(sizes)),
        Job(max(sizes), ["--plan"], False, True),
        Job(min(max(sizes), 10**7), ["--spark"], False, False),
    ]


def _run(records: int, file: Path, patterns: int, memory: str, options: list[str]) -> dict[str, float]:
    """The figures of one size, in a process of its own."""
    invent(records, file, patterns)
    own = ["--records", str(records), "--memory", memory, "--file", str(file), *options]
    ran = subprocess.run(
        [sys.executable, __file__, *own], check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    file.unlink()
    found: dict[str, float] = json.loads(ran.stdout)
    return found


if __name__ == "__main__":
    main()
