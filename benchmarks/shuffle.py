"""Shuffling and model-based masking: times, memory and growth, and shuffling beside one record after the other."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

SIZES = (10_000, 100_000, 1_000_000)
SMALL = (500, 1_000, 2_000)
TARGETS = {"shuffle": 10.0, "shuffle, missing values": 20.0, "mask_by_model": 10.0}
"""Seconds for a million records of three variables."""


def _firms(records: int, gaps: bool) -> Any:
    """Skewed amounts with an industry and a region; with gaps a tenth of each number is missing."""
    import numpy as np
    import polars as pl

    import tacita as tc

    draw = np.random.default_rng(1)
    size = draw.normal(size=records)
    columns = {name: np.exp(8 + size + 0.7 * draw.normal(size=records)) for name in ("turnover", "exports", "costs")}
    columns |= {"staff": np.exp(3 + size), "age": draw.gamma(5, 4, records)}
    if gaps:
        for values in columns.values():
            values[draw.random(records) < 0.1] = np.nan
    codes = {"industry": draw.integers(1, 9, records), "region": draw.integers(1, 6, records)}
    return tc.Data.of(pl.DataFrame({**codes, **columns}).fill_nan(None))


def step(name: str, records: int) -> dict[str, Any]:
    """One step on its own."""
    import tacita as tc
    from tacita.protect.step import Context
    from tacita.random import Draws

    data = _firms(records, gaps="missing" in name)
    variables = ["turnover", "exports", "costs"]
    context = Context(tc.Scenario(keys=["industry"]), tc.Policy(), Draws(1).step("benchmark"), data)
    if name == "mask_by_model":
        chosen: Any = tc.MaskByModel([*variables, "staff"], by=["region"], strata=["industry"])
    else:
        chosen = tc.Shuffle(variables, by=["staff", "age", "region"])
    times, _ = measure.timed(lambda: chosen.apply(data, context), repeats=1)
    return times


def naive(records: int) -> dict[str, Any]:
    """Shuffling as it is written: the rank of each number by counting those below it."""
    import numpy as np
    from scipy.special import ndtri

    table = _firms(records, gaps=False).table
    values = table.select("turnover", "exports", "costs", "staff", "age").to_numpy()

    def shuffled() -> Any:
        ranks = np.array(
            [[sum(other <= value for other in column) for value in column] for column in values.T.tolist()]
        )
        r = 2 * np.sin(np.pi * np.corrcoef(ranks) / 6)
        scores = ndtri((ranks[3:] - 0.5) / records)
        beta = np.linalg.solve(r[3:, 3:], r[3:, :3])
        left = r[:3, :3] - r[:3, 3:] @ beta
        drawn = scores.T @ beta + np.random.default_rng(1).multivariate_normal(np.zeros(3), left, records)
        out = values.copy()
        for place in range(3):
            out[np.argsort(drawn[:, place]), place] = np.sort(values[:, place])
        return out

    times, _ = measure.timed(shuffled, repeats=1)
    return times


CASES = {"step": step, "naive": naive}


def report(quick: bool) -> None:
    """Print the tables."""
    rows, notes = [measure.HEAD], []
    for name, target in TARGETS.items():
        results = {
            n: measure.run_case("shuffle", "step", name=name, records=n) for n in (SIZES[:2] if quick else SIZES)
        }
        rows += [measure.row(name, n, each, target=target if n == SIZES[-1] else None) for n, each in results.items()]
        if all("failed" not in each for each in results.values()):
            notes.append(f"{name}: {measure.growth({n: each['processor'] for n, each in results.items()})}")
    measure.show("Shuffling and masking by a model", rows, notes)
    rows = [measure.HEAD]
    for n in SMALL[:2] if quick else SMALL:
        ours = measure.run_case("shuffle", "step", name="shuffle", records=n)
        theirs = measure.run_case("shuffle", "naive", records=n)
        rows += [measure.row("shuffle", n, ours), measure.row("ranks by counting", n, theirs, tacita=ours)]
    measure.show("Shuffling beside ranks by counting", rows)


if __name__ == "__main__":
    measure.main(CASES, report)
