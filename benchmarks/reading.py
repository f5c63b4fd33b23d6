"""Reading a file of ten columns, beside Polars and pandas."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measure


def write(records: int, path: str) -> dict[str, Any]:
    """Make the file."""
    from benchmarks import survey

    return survey.write(records, path, wide=True)


def by_tacita(path: str) -> dict[str, Any]:
    """`tacita.read`."""
    import tacita as tc

    times, data = measure.timed(lambda: tc.read(path))
    return {**times, "shape": [len(data), len(data.columns)]}


def by_polars(path: str) -> dict[str, Any]:
    """`polars.read_csv` or `polars.read_parquet`."""
    import polars as pl

    times, table = measure.timed(lambda: (pl.read_csv if path.endswith(".csv") else pl.read_parquet)(path))
    return {**times, "shape": list(table.shape)}


def by_pandas(path: str) -> dict[str, Any]:
    """`pandas.read_csv` or `pandas.read_parquet`."""
    import pandas as pd

    times, table = measure.timed(lambda: (pd.read_csv if path.endswith(".csv") else pd.read_parquet)(path))
    return {**times, "shape": list(table.shape)}


CASES = {"write": write, "by_tacita": by_tacita, "by_polars": by_polars, "by_pandas": by_pandas}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = (100_000, 200_000) if quick else (1_000_000, 2_000_000)
    with tempfile.TemporaryDirectory(prefix="tacita-bench-") as folder:
        for suffix, name in ((".csv", "CSV"), (".parquet", "Parquet")):
            rows, times, notes = [measure.HEAD], {}, []
            for size in sizes:
                file = str(Path(folder) / f"{size}{suffix}")
                written = measure.run_case("reading", "write", records=size, path=file)
                notes.append(f"{size:,} records: a file of {written['bytes'] / 1e6:,.0f} MB")
                ours = measure.run_case("reading", "by_tacita", path=file)
                rows.append(measure.row("Tacita", size, ours, tacita=ours))
                if "processor" in ours:
                    times[size] = ours["processor"]
                for rival in ("polars", "pandas") if size == sizes[0] else ():
                    result = measure.run_case("reading", f"by_{rival}", path=file)
                    rows.append(measure.row(f"  {rival}", size, result, tacita=ours))
            if len(times) > 1:
                notes.append(measure.growth(times))
            measure.show(f"Reading {name}, ten columns", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
