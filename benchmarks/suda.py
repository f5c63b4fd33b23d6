"""SUDA with contributions: random keys, many duplicates, missing values; beside a group count for each set of keys."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

from benchmarks import measure

RANDOM, DUPLICATES = 0.7, 0.2
"""Share of each category against the one before; the smaller, the more records are alike."""
SIZES = ((100_000, 8, 1.0), (100_000, 10, 5.0), (20_000, 12, 2.5))
"""Records, keys, seconds allowed."""


def _codes(records: int, keys: int, share: float, missing: float = 0.0) -> Any:
    """Keys of 5 to 16 categories with geometric shares, 0 where missing."""
    import numpy as np

    draws = np.random.default_rng(1)
    most = [5 + 11 * key // (keys - 1) for key in range(keys)]
    columns = [np.minimum(draws.geometric(1 - share, records), size) for size in most]
    return np.where(draws.random((records, keys)) < missing, 0, np.stack(columns, axis=1))


def _frame(codes: Any) -> Any:
    import polars as pl

    columns = {f"key {place}": pl.Series(column) for place, column in enumerate(codes.T)}
    return pl.DataFrame(columns).with_columns(pl.all().replace(0, None))


def suda(records: int, keys: int, share: float, missing: float = 0.0, rule: str = "one_way") -> dict[str, Any]:
    """Scores, DIS-SUDA scores and contributions of a file in memory."""
    import tacita as tc
    from tacita.risk.identity.suda.suda import suda

    table = _frame(_codes(records, keys, share, missing))
    data, scenario = tc.Data.of(table), tc.Scenario(keys=table.columns, missing=rule, sampling_fraction=0.1)
    times, found = measure.timed(lambda: _everything(suda(data, scenario)))
    return {**times, "keys": len(found.table.codes), "uniques": found.uniques, "sets": float(found.msus.mean())}


def _everything(found: Any) -> Any:
    """The result with the record columns and the shares of the keys, which are computed when they are asked for."""
    found.to_frame()
    assert found.contributions.height == len(found.table.keys)
    return found


def group_counts(records: int, keys: int, share: float) -> dict[str, Any]:
    """The definition without pruning: one group count per set of keys, a word per record and set; checked."""
    import numpy as np

    import tacita as tc
    from tacita.risk.identity.suda.suda import suda

    codes = _codes(records, keys, share)

    def count() -> Any:
        unique = np.zeros((1 << keys, records), dtype=bool)
        score = np.zeros(records)
        factorial = np.cumprod([1, *range(1, keys)])
        for members in range(1, 1 << keys):
            numbers = np.zeros(records, dtype=np.int64)
            for key in range(keys):
                if members >> key & 1:
                    numbers = numbers * 17 + codes[:, key]
            _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
            unique[members] = sizes[group] == 1
            smaller = [unique[members & ~(1 << key)] for key in range(keys) if members >> key & 1]
            score += (unique[members] & ~np.any(smaller, axis=0)) * factorial[keys - members.bit_count()]
        return score

    times, score = measure.timed(count, repeats=1)
    table = _frame(codes)
    ours = suda(table, tc.Scenario(keys=table.columns, sampling_fraction=0.1)).score
    return {**times, "same": bool(np.array_equal(score, ours))}


CASES = {"suda": suda, "group_counts": group_counts}


def _not_compiled(**options: Any) -> dict[str, Any]:
    """The case in a process that finds no machine code from before."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-m", "benchmarks.suda", "--case", "suda", json.dumps(options)]
        return measure.run_script(command, environment)


def report(quick: bool) -> None:
    """Print the table."""
    scale = 5 if quick else 1
    rows, notes = [measure.HEAD], []
    results = {}
    for records, keys, target in SIZES:
        size = records // scale
        result = measure.run_case("suda", "suda", records=size, keys=keys, share=RANDOM)
        rows.append(measure.row(f"random keys, {keys}", size, result, target=None if quick else target))
        notes.append(_found(f"random keys, {keys}", result))
        results[keys] = result
    size = 100_000 // scale
    for what, options, target in (
        ("many duplicates, 8", {"share": DUPLICATES}, 0.25),
        ("2 % missing, 8", {"share": RANDOM, "missing": 0.02}, None),
        ("2 % missing, 8, wildcard", {"share": RANDOM, "missing": 0.02, "rule": "wildcard"}, None),
    ):
        result = measure.run_case("suda", "suda", records=size, keys=8, **options)
        rows.append(measure.row(what, size, result, target=None if quick else target))
        notes.append(_found(what, result))
    naive = measure.run_case("suda", "group_counts", records=size, keys=8, share=RANDOM)
    rows.append(measure.row("  group count per set, 8", size, naive, tacita=results[8]))
    if "same" in naive:
        notes.append(f"same scores as by a group count per set: {'yes' if naive['same'] else 'NO'}")
    fresh = _not_compiled(records=1_000, keys=8, share=RANDOM)
    if "first" in fresh:
        notes.append(f"first call on a machine, which compiles: {measure.seconds(fresh['first'])} for 1,000 records")
    measure.show("SUDA with contributions", rows, notes)


def _found(what: str, result: dict[str, Any]) -> str:
    if "failed" in result:
        return f"{what}: failed"
    return f"{what}: {result['keys']:,} distinct keys, {result['uniques']:,} unique, {result['sets']:.3g} sets a record"


def main() -> None:
    """Run the case that the command line names, or print the table."""
    measure.main(CASES, report)


if __name__ == "__main__":
    main()
