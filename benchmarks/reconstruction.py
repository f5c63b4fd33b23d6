"""What a release gives back: 30 columns, 5 protected variables, with and without leaks."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

COLUMNS = 30
TARGETS = {100_000: 8.0, 1_000_000: 90.0}


def _files(records: int) -> tuple[Any, Any]:
    """A household survey of 30 columns; in its release one variable is recoded, one coded at the top, and three have
    suppressed cells, of which the weight gives one back."""
    import numpy as np
    import polars as pl

    draw = np.random.default_rng(12)
    household = np.sort(draw.integers(0, records // 2, records))
    region = (household * 7919) % 9
    given: dict[str, Any] = {
        "hid": household,
        "size": np.bincount(household)[household],
        "region": region,
        "weight": np.round(10 + 3.7 * region + 0.01 * (household % 5), 2),
        "age": draw.integers(0, 95, records),
        "sex": draw.integers(0, 2, records),
        "income": np.round(draw.lognormal(10, 0.7, records)),
    }
    for at, values in enumerate((2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 25, 30, 40, 60)):
        given[f"c{at}"] = draw.integers(0, values, records)
    for at in range(COLUMNS - len(given)):
        given[f"n{at}"] = np.round(draw.gamma(2.0, 1000.0, records), 2)
    original = pl.DataFrame(given)
    blank = {
        name: pl.Series(draw.random(records) < share) for name, share in (("region", 0.03), ("c5", 0.02), ("c12", 0.05))
    }
    released = original.with_columns(
        *(pl.when(where).then(None).otherwise(pl.col(name)).alias(name) for name, where in blank.items()),
        (pl.col("age") // 5 * 5).cast(pl.String).alias("age"),
        pl.col("size").clip(upper_bound=4),
    )
    return original, released


def attack(records: int) -> dict[str, Any]:
    """All attacks but those on request."""
    import tacita as tc

    original, released = _files(records)
    scenario = tc.Scenario(keys=["region", "sex", "age"], weight="weight", household="hid")
    times, found = measure.timed(lambda: tc.risk.reconstruction(original, released, scenario), repeats=0)
    return {**times, "protected": found.protected, "given_back": found.given_back, "leaks": len(found.leaks)}


CASES = {"attack": attack}


def report(quick: bool) -> None:
    """Print the table."""
    rows, notes = [measure.HEAD], []
    for size, target in ((20_000, None),) if quick else TARGETS.items():
        found = measure.run_case("reconstruction", "attack", records=size)
        rows.append(measure.row("reconstruction, 30 columns", size, found, target=target))
        if "failed" not in found:
            notes.append(f"{size:,}: {found['given_back']:,} of {found['protected']:,} cells, {found['leaks']} leaks")
    measure.show("What a release gives back", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
