"""A full assessment of one and of ten million records, beside pycanon and two naive ways of counting.

Timed after loading: f, F, exact individual risk, expected re-identifications, k-anonymity, household risk and the
table with one row per record. The rivals do a part of it, so the same part is timed of Tacita too.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks import measure

PYCANON = measure.ROOT / ".venv-pycanon"
KEYS = ("region", "sex", "age", "citizenship", "status")


def write(records: int, path: str) -> dict[str, Any]:
    """Make the survey file."""
    from benchmarks import survey

    return survey.write(records, path)


def full(path: str) -> dict[str, Any]:
    """Everything: `assess` and its table by record."""
    import tacita as tc

    data = tc.read(path)
    # The latent model has a benchmark of its own.
    model = "benedetti_franconi"
    scenario = tc.Scenario(keys=KEYS, weight="weight", household="household", model=model)
    times, records = measure.timed(lambda: tc.assess(data, scenario).records)
    return {**times, "rows": records.height}


def k_anonymity(path: str) -> dict[str, Any]:
    """k-anonymity alone, without weights: what pycanon does."""
    import tacita as tc

    data = tc.read(path)
    times, result = measure.timed(lambda: tc.risk.k_anonymity(data, tc.Scenario(keys=KEYS)))
    return {**times, "least": result.least}


def frequencies(path: str) -> dict[str, Any]:
    """f and F by record: what the naive ways do."""
    import tacita as tc

    data, scenario = tc.read(path), tc.Scenario(keys=KEYS, weight="weight")

    def count() -> tuple[Any, Any]:
        table = tc.key_table(data, scenario)
        return table.per_record(table.sample_count), table.per_record(table.population_count)

    times, (f, F) = measure.timed(count)
    return {**times, "check": [int((f == 1).sum()), float(F.sum())]}


def by_pandas(path: str) -> dict[str, Any]:
    """f and F by record with pandas: groupby and transform."""
    import pandas as pd

    table = pd.read_parquet(path)

    def count() -> tuple[Any, Any]:
        weight = table.groupby(list(KEYS), sort=False)["weight"]
        return weight.transform("size"), weight.transform("sum")

    times, (f, F) = measure.timed(count)
    return {**times, "check": [int((f == 1).sum()), float(F.sum())]}


def by_dictionary(path: str) -> dict[str, Any]:
    """f and F by record with two Python dictionaries."""
    import polars as pl

    table = pl.read_parquet(path)
    keys, weights = table.select(KEYS).rows(), table["weight"].to_list()

    def count() -> tuple[Any, Any]:
        f: dict[Any, int] = defaultdict(int)
        F: dict[Any, float] = defaultdict(float)
        for key, weight in zip(keys, weights, strict=True):
            f[key] += 1
            F[key] += weight
        return [f[key] for key in keys], [F[key] for key in keys]

    times, (f, F) = measure.timed(count)
    return {**times, "check": [f.count(1), sum(F)]}


def by_pycanon(folder: Path, records: int) -> dict[str, Any]:
    """k-anonymity with pycanon; its pinned NumPy and pandas need an environment of their own, made on demand."""
    python = PYCANON / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ready = [str(python), "-c", "import pycanon; print('{}')"]
    if not python.exists() or "failed" in measure.run_script(ready, outside):
        for command in (
            [sys.executable, "-m", "venv", str(PYCANON), "--clear"],
            [str(python), "-m", "pip", "install", "--quiet", "pycanon"],
        ):
            done = measure.run_script(_quietly(command), outside)
            if "failed" in done:
                return {"failed": f"pycanon could not be installed ({done['failed']})"}
    file = folder / "survey.csv"
    measure.run_case("assessment", "write", records=records, path=str(file))
    return measure.run_script([str(python), "-m", "benchmarks.pycanon_time", str(file), *KEYS], outside)


def _quietly(command: list[str]) -> list[str]:
    """A command with an empty result in place of what it prints."""
    call = "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)"
    return [sys.executable, "-c", f"import subprocess, sys; print('{{}}'); sys.exit({call}.returncode)", *command]


CASES = {
    "write": write,
    "full": full,
    "k_anonymity": k_anonymity,
    "frequencies": frequencies,
    "by_pandas": by_pandas,
    "by_dictionary": by_dictionary,
}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = (50_000, 100_000, 200_000) if quick else (1_000_000, 2_000_000, 10_000_000)
    targets = {1_000_000: 1.0, 10_000_000: 12.0}
    with tempfile.TemporaryDirectory(prefix="tacita-bench-") as folder:
        files = {size: str(Path(folder) / f"{size}.parquet") for size in sizes}
        rows, times, notes = [measure.HEAD], {}, []
        for size, file in files.items():
            measure.run_case("assessment", "write", records=size, path=file)
            result = measure.run_case("assessment", "full", path=file)
            rows.append(measure.row("full assessment", size, result, target=targets.get(size)))
            if "processor" in result:
                times[size] = result["processor"]
            if size == 10_000_000 and result.get("peak") is not None:
                notes.append(f"peak memory with loading, target 4 GB: {'met' if result['peak'] < 4 else 'MISSED'}")
        if len(times) > 1:
            notes.append(measure.growth(times))
        measure.show("Assessment, five keys, weights, households", rows, notes)
        _rivals(Path(folder), sizes[0], files[sizes[0]])


def _rivals(folder: Path, size: int, file: str) -> None:
    cases = ("frequencies", "by_pandas", "by_dictionary", "k_anonymity")
    results = {case: measure.run_case("assessment", case, path=file) for case in cases}
    results["pycanon"] = by_pycanon(folder, size)
    counted, least = results["frequencies"], results["k_anonymity"]
    rows = [
        measure.HEAD,
        measure.row("f and F by record: Tacita", size, counted, tacita=counted),
        measure.row("  pandas groupby and transform", size, results["by_pandas"], tacita=counted),
        measure.row("  Python dictionaries", size, results["by_dictionary"], tacita=counted),
        measure.row("k-anonymity: Tacita", size, least, tacita=least),
        measure.row("  pycanon", size, results["pycanon"], tacita=least),
    ]
    notes = [
        f"same f and F: {_agree(counted, results['by_pandas'])} (pandas), "
        f"{_agree(counted, results['by_dictionary'])} (dictionaries)",
        f"same least k: {_same_least(least, results['pycanon'])} (pycanon)",
    ]
    measure.show("The same part of the work by others, same file", rows, notes)


def _agree(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Whether uniques are equal and the sums of F equal but for rounding."""
    if "check" not in ours or "check" not in theirs:
        return "not known"
    (uniques, total), (others, sum_of_others) = ours["check"], theirs["check"]
    return _yes(uniques == others and abs(total - sum_of_others) <= 1e-9 * total)


def _same_least(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    if "failed" in ours or "failed" in theirs:
        return f"not known: {theirs.get('failed', 'Tacita failed')}"
    return _yes(ours["least"] == theirs["least"])


def _yes(same: bool) -> str:
    return "yes" if same else "NO"


if __name__ == "__main__":
    measure.main(CASES, report)
