"""Attacks by record linkage, and robust intervals: one-to-one assignment beside SciPy's on the matrix of all pairs."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

PAIRS = 2_000
"""So many records are assigned by SciPy too."""
TARGETS = {2_000: 0.4, 100_000: 10.0}
"""Seconds on two cores by records, for noise of some percent of each value."""
RECORDS = 4_580
"""Records of the robust intervals, as in the reference program's test file."""


def _files(records: int, variables: int, noise: float, shift: float, added: bool = False) -> tuple[Any, Any]:
    """Original and released records: skewed sizes that grow together, with noise of some percent, and shifted.

    Noise is a share of the size, or, `added`, of the standard deviation, which is far more than small records differ.
    """
    import numpy as np

    draw = np.random.default_rng(1)
    size = draw.normal(size=(records, 1))
    x = np.exp(size + 0.6 * draw.normal(size=(records, variables)))
    drawn = noise * draw.normal(size=x.shape)
    return x, x + x.std(axis=0) * drawn if added else x * np.exp(drawn + shift)


def _frames(*files: Any) -> list[Any]:
    import polars as pl

    return [pl.DataFrame({f"v{j}": column for j, column in enumerate(file.T)}) for file in files]


def one_to_one(
    records: int,
    variables: int = 2,
    noise: float = 0.1,
    shift: float = 0.0,
    added: bool = False,
    gap: float = 1e-9,
    repeats: int = 3,
) -> dict[str, Any]:
    """The least total distance, with its proof."""
    import tacita as tc

    original, released = _frames(*_files(records, variables, noise, shift, added))
    times, found = measure.timed(
        lambda: tc.risk.one_to_one_linkage(original, released, tc.Scenario(numeric_keys=original.columns), gap=gap),
        repeats=repeats,
    )
    return {**times, "gap": found.gap, "total": found.total_distance, "correct": found.share_correct}


def all_pairs(records: int, variables: int = 2) -> dict[str, Any]:
    """The matrix of all distances and SciPy's assignment; checked against Tacita."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    import tacita as tc

    x, y = _files(records, variables, 0.1, 0.0)

    def run() -> float:
        spread = np.concatenate([x, y]).std(axis=0, ddof=1)
        matrix = cdist(y / spread, x / spread)
        return float(matrix[linear_sum_assignment(matrix)].sum())

    times, total = measure.timed(run)
    original, released = _frames(x, y)
    found = tc.risk.one_to_one_linkage(original, released, tc.Scenario(numeric_keys=original.columns))
    return {**times, "same": abs(found.total_distance / total - 1.0) < 1e-9}


def nearest(records: int, variables: int = 2) -> dict[str, Any]:
    """The nearest and second nearest record of every released one, with ties."""
    import tacita as tc

    original, released = _frames(*_files(records, variables, 0.1, 0.0))
    times, found = measure.timed(
        lambda: tc.risk.distance_linkage(original, released, tc.Scenario(numeric_keys=original.columns))
    )
    return {**times, "correct": found.share_correct}


def robust(records: int, variables: int = 3) -> dict[str, Any]:
    """Robust intervals with the minimum covariance determinant."""
    import tacita as tc

    original, released = _frames(*_files(records, variables, 0.1, 0.0))
    times, found = measure.timed(
        lambda: tc.risk.robust_interval_disclosure(original, released, tc.Scenario(numeric_keys=original.columns))
    )
    return {**times, "rmdid1": found.rmdid1}


def agreement(records: int, blocks: int) -> dict[str, Any]:
    """Probabilistic linkage inside blocks."""
    import numpy as np
    import polars as pl

    import tacita as tc

    draw = np.random.default_rng(1)
    columns = {f"v{j}": draw.integers(0, 20, records) for j in range(4)} | {"block": draw.integers(0, blocks, records)}
    original = pl.DataFrame(columns)
    released = original.with_columns((pl.col("v0") + (pl.int_range(records) % 9 == 0)).alias("v0"))
    names = ["v0", "v1", "v2", "v3"]
    times, found = measure.timed(
        lambda: tc.risk.probabilistic_linkage(original, released, tc.Scenario(numeric_keys=names), block=["block"]),
        repeats=1,
    )
    return {**times, "pairs": found.pairs, "correct": found.share_correct}


CASES = {
    "one_to_one": one_to_one,
    "all_pairs": all_pairs,
    "nearest": nearest,
    "robust": robust,
    "agreement": agreement,
}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = (500, 1_000, PAIRS, 10_000) if quick else (500, 1_000, PAIRS, 10_000, 100_000)
    results = {
        records: measure.run_case("links", "one_to_one", records=records, repeats=1 if records > 50_000 else 3)
        for records in sizes
    }
    rows = [measure.HEAD]
    rows += [
        measure.row("2 variables, noise 10 %", records, result, target=TARGETS.get(records))
        for records, result in results.items()
    ]
    hard = sizes[-1]
    for variables, noise in ((2, 0.02), (3, 0.1), (4, 0.1), (4, 0.02)):
        result = measure.run_case("links", "one_to_one", records=hard, variables=variables, noise=noise, repeats=0)
        title = f"{variables} variables, noise {100 * noise:.0f} %"
        rows.append(measure.row(title, hard, result, target=TARGETS.get(hard)))
    for variables in (2, 4):
        added = measure.run_case("links", "one_to_one", records=20_000, variables=variables, added=True, repeats=0)
        rows.append(measure.row(f"{variables} variables, 10 % of the deviation added", 20_000, added))
    for gap in (1e-9, 0.01):
        moved = measure.run_case("links", "one_to_one", records=10_000, shift=0.1, gap=gap, repeats=0)
        rows.append(measure.row(f"all moved by 10 %, gap {gap:g}", 10_000, moved))
    dense = measure.run_case("links", "all_pairs", records=PAIRS)
    rows.append(measure.row("  SciPy on all pairs", PAIRS, dense, tacita=results[PAIRS]))
    proved = max((result.get("gap", 1.0) for result in results.values()), default=1.0)
    notes = [
        f"same total as SciPy's for {PAIRS:,} records: {'yes' if dense.get('same') else 'NO'}",
        f"the totals are above the least possible by at most {proved:.1e} of them",
        measure.growth({n: result["processor"] for n, result in results.items() if "processor" in result}),
    ]
    measure.show("One-to-one linkage", rows, notes)
    _show_others(sizes[-1])


def _show_others(records: int) -> None:
    rows = [measure.HEAD]
    for variables in (2, 4):
        result = measure.run_case("links", "nearest", records=records, variables=variables)
        rows.append(measure.row(f"nearest record, {variables} variables", records, result))
    inside = measure.run_case("links", "agreement", records=records, blocks=max(1, records // 500))
    rows.append(measure.row("probabilistic, blocks of 500", records, inside))
    robust_result = measure.run_case("links", "robust", records=RECORDS)
    rows.append(measure.row("robust intervals, 3 variables", RECORDS, robust_result, target=0.3))
    measure.show("Nearest records, agreement, robust intervals", rows)


if __name__ == "__main__":
    measure.main(CASES, report)
