"""Noise on five variables: times and memory of each method, with zeros and missing values and what is kept on request,
and ROMM against the one that makes a matrix of records by records."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

SIZES = (10_000, 100_000, 1_000_000)
SMALL = (500, 1_000, 2_000)
NAMES = ("costs", "home", "abroad", "staff", "profit")
WITH_SUM = ("total", "home", "abroad", "staff", "profit")
CASES_OF: dict[str, dict[str, Any]] = {
    "additive": {},
    "multiplicative": {},
    "two_sided": {"amount": 0.1},
    "correlated": {},
    "restricted": {},
    "delta": {"amount": 0.75},
    "exact": {},
    "romm": {},
    "outliers": {},
    "additive, signs and bounds": {"keep_signs": True, "greatest": 1e12},
    "correlated, signs and totals": {"method": "correlated", "keep_signs": True, "keep_totals": True},
    "additive, signs and relations": {"keep_signs": True, "relations": ["total = home + abroad", "abroad <= total"]},
}
"""By name the parameters of the step besides the method, which is the name unless it is given."""
TARGET = 10.0
"""Seconds for a million records of five variables."""


def _firms(records: int, gaps: bool) -> Any:
    """Skewed amounts; with gaps two fifths export nothing and a tenth did not tell their profit."""
    import numpy as np
    import polars as pl

    import tacita as tc

    draw = np.random.default_rng(1)
    size = draw.normal(size=records)
    home = np.exp(10 + size + 0.5 * draw.normal(size=records))
    abroad = np.exp(8 + size + draw.normal(size=records))
    profit = draw.normal(10, 100, records)
    if gaps:
        abroad[draw.random(records) < 0.4] = 0.0
        profit[draw.random(records) < 0.1] = np.nan
    return tc.Data.of(
        pl.DataFrame(
            {
                "nace": draw.integers(1, 20, records),
                "total": home + abroad,
                "costs": home * np.exp(0.2 * draw.normal(size=records)),
                "home": home,
                "abroad": abroad,
                "staff": np.ceil(np.exp(2 + size)).astype(int),
                "profit": pl.Series(profit).fill_nan(None),
            }
        )
    )


def step(name: str, records: int, gaps: bool = False) -> dict[str, Any]:
    """One method on its own."""
    import tacita as tc
    from tacita.protect.step import Context
    from tacita.random import Draws

    data = _firms(records, gaps)
    options: dict[str, Any] = {"amount": 0.3, "method": name.split(",")[0], **CASES_OF[name]}
    noise = tc.Noise(WITH_SUM if "relations" in options else NAMES, **options)
    context = Context(tc.Scenario(keys=["nace"]), tc.Policy(), Draws(1).step("benchmark"), data)
    times, _ = measure.timed(lambda: noise.apply(data, context), repeats=1)
    return times


def naive(records: int) -> dict[str, Any]:
    """ROMM as it is written: the data times a random orthogonal matrix of records by records, near the identity."""
    import numpy as np

    values = _firms(records, gaps=False).table.select(NAMES).to_numpy()

    def rotated() -> Any:
        moved = np.eye(records) + 0.3 * np.random.default_rng(1).normal(size=(records, records)) / np.sqrt(records)
        turn, _ = np.linalg.qr(moved)
        return values.mean(axis=0) + turn @ (values - values.mean(axis=0))

    times, _ = measure.timed(rotated, repeats=1)
    return times


CASES = {"step": step, "naive": naive}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = SIZES[:2] if quick else SIZES
    for gaps in (False, True):
        rows, notes = [measure.HEAD], []
        for name in CASES_OF:
            results = {n: measure.run_case("noise", "step", name=name, records=n, gaps=gaps) for n in sizes}
            rows += [
                measure.row(name, n, result, target=TARGET if n == SIZES[-1] else None) for n, result in results.items()
            ]
            if all("failed" not in each for each in results.values()):
                notes.append(f"{name}: {measure.growth({n: each['processor'] for n, each in results.items()})}")
        measure.show(f"Noise on five variables{', with zeros and missing values' if gaps else ''}", rows, notes)
    rows = [measure.HEAD]
    for n in SMALL[:2] if quick else SMALL:
        ours = measure.run_case("noise", "step", name="romm", records=n)
        theirs = measure.run_case("noise", "naive", records=n)
        rows += [measure.row("romm", n, ours), measure.row("matrix of records by records", n, theirs, tacita=ours)]
    measure.show("ROMM beside a matrix of records by records", rows)


if __name__ == "__main__":
    measure.main(CASES, report)
