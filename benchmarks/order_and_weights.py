"""New identifiers, random order, weights and rules: times and memory of each step on 10^4, 10^5 and 10^6 records."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

SIZES = (10_000, 100_000, 1_000_000)
TARGETS = {
    "new identifiers": 3.0,
    "random order": 3.0,
    "random order, households": 3.0,
    "round weights": 3.0,
    "round weights at random": 3.0,
    "trim weights": 3.0,
    "weight noise": 3.0,
    "recalibrate": 20.0,
    "rules": 5.0,
}
"""Seconds for a million records."""
RULES = (
    "income >= 0",
    "age < 15 implies marital = 1",
    "total = income + 100",
    "0.1 <= income / total <= 1 or sex = 'f'",
)


def _survey(records: int, households: bool) -> tuple[Any, Any]:
    """A file with households of 1 to 4 and a weight for each household, or for each record."""
    import numpy as np
    import polars as pl

    import tacita as tc

    draw = np.random.default_rng(1)
    household = np.sort(draw.integers(0, records * 2 // 5, records))
    weight = draw.lognormal(3, 0.7, records)
    table = pl.DataFrame(
        {
            "household": household + 10_000,
            "person": np.arange(records),
            "sex": np.array(["f", "m"])[draw.integers(0, 2, records)],
            "region": draw.integers(1, 41, records),
            "age": draw.integers(0, 100, records),
            "marital": draw.integers(1, 5, records),
            "income": draw.lognormal(9, 1, records).round(),
            "weight": 1 + (weight[household] if households else weight),
        }
    ).with_columns(total=pl.col("income") + 100)
    scenario = tc.Scenario(keys=["sex", "region"], weight="weight", household="household", person="person")
    return tc.Data.of(table), scenario


def step(name: str, records: int, households: bool = False) -> dict[str, Any]:
    """One step, or the rules, on its own."""
    import tacita as tc
    from tacita.rules import checked_rules

    data, scenario = _survey(records, households)
    steps: dict[str, tc.Step] = {
        "new identifiers": tc.NewIdentifiers(),
        "random order": tc.RandomOrder(),
        "random order, households": tc.RandomOrder("within_households"),
        "round weights": tc.RoundWeights(),
        "round weights at random": tc.RoundWeights(random=True, within="region"),
        "trim weights": tc.TrimWeights(least=2, share=0.01, within="region"),
        "weight noise": tc.WeightNoise(0.3, within="region" if not households else ()),
        "recalibrate": tc.Recalibrate(["sex", "region", "marital"], tolerance=1e-8),
    }
    if name == "rules":
        times, _ = measure.timed(lambda: checked_rules(tc.Rules(RULES), data, data), repeats=1)
        return times
    from tacita.protect.step import Context
    from tacita.random import Draws

    noisy = data
    if name == "recalibrate":
        noisy = tc.Plan([tc.WeightNoise(0.5)]).apply(data, scenario, seed=1).data
    context = Context(scenario, tc.Policy(), Draws(1).step("benchmark"), data)
    times, made = measure.timed(lambda: steps[name].apply(noisy, context), repeats=1)
    rounds = made.figures.get("rounds")
    return {**times, **({"rounds": rounds} if rounds is not None else {})}


CASES = {"step": step}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = SIZES[:2] if quick else SIZES
    for households in (False, True):
        rows, notes = [measure.HEAD], []
        for name, target in TARGETS.items():
            if households and name not in ("round weights", "weight noise", "recalibrate"):
                continue
            results = {
                n: measure.run_case("order_and_weights", "step", name=name, records=n, households=households)
                for n in sizes
            }
            rows += [
                measure.row(name, n, result, target=target if n == SIZES[-1] else None) for n, result in results.items()
            ]
            largest = results[sizes[-1]]
            if "rounds" in largest:
                notes.append(f"{name}: {largest['rounds']} rounds for {sizes[-1]:,} records, 46 categories")
        measure.show(f"Steps, a weight for each {'household' if households else 'record'}", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
