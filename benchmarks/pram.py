"""PRAM: times and memory of five variables on 10^4 to 10^6 records, of wide matrices, and of corrected tables."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

SIZES = (10_000, 100_000, 1_000_000)
VARIABLES = ("region", "sex", "age", "marital", "job")
TARGETS = {
    "five variables, pd and alpha": 1.0,
    "five variables, exact diagonal": 1.0,
    "age, bandwidth": 1.0,
    "marital and job together": 1.0,
    "region by strata": 3.0,
    "corrected table of three variables": 1.0,
}
"""Seconds for a million records."""
NAIVE = 100_000
"""Records for which the loop over records is waited for."""


def _data(records: int) -> Any:
    import numpy as np
    import polars as pl

    import tacita as tc

    draw = np.random.default_rng(1)
    jobs = np.array([f"job {number:02d}" for number in range(30)])
    table = pl.DataFrame(
        {
            "region": draw.integers(1, 41, records),
            "sex": np.array(["f", "m", "x"])[draw.choice(3, records, p=[0.45, 0.45, 0.1])],
            "age": draw.integers(0, 100, records),
            "marital": draw.integers(1, 5, records),
            "job": jobs[draw.integers(0, 30, records)],
        }
    )
    return tc.Data.of(table)


def _step(name: str) -> Any:
    import tacita as tc

    steps = {
        "five variables, pd and alpha": tc.Pram(VARIABLES, pd=0.7),
        "five variables, exact diagonal": tc.Pram(VARIABLES, diagonal=0.9),
        "age, bandwidth": tc.Pram("age", pd=0.7, bandwidth=3),
        "marital and job together": tc.Pram(["marital", "job"], pd=0.7, together=True),
        "region by strata": tc.Pram("region", pd=0.7, strata=["sex", "marital"]),
        "corrected table of three variables": tc.Pram(["region", "sex", "marital"], pd=0.7),
    }
    return steps[name]


def step(name: str, records: int) -> dict[str, Any]:
    """One step, or a corrected table."""
    import tacita as tc
    from tacita.protect.parts import applied
    from tacita.protect.step import Context
    from tacita.random import Draws

    data, chosen = _data(records), _step(name)
    context = Context(tc.Scenario(keys=["sex"]), tc.Policy(), Draws(1).step("benchmark"), data)
    if not name.startswith("corrected"):
        return measure.timed(lambda: applied(chosen, data, context))[0]
    made = applied(chosen, data, context)
    return measure.timed(lambda: tc.corrected_table(made.data, ["region", "sex", "marital"], made.mechanisms))[0]


def naive(records: int) -> dict[str, Any]:
    """A loop over records that draws from the row of each, with the standard library."""
    import random

    import tacita as tc
    from tacita.protect.step import Context
    from tacita.random import Draws

    data = _data(records)
    context = Context(tc.Scenario(keys=["sex"]), tc.Policy(), Draws(1).step("benchmark"), data)
    matrices = {
        each.variables[0]: each.parameters
        for each in _step("five variables, pd and alpha").apply(data, context).mechanisms
    }

    def loop() -> None:
        draw = random.Random(1)
        for name, given in matrices.items():
            rows = dict(zip(given["categories"], given["matrix"], strict=True))
            for value in data.table[name].to_list():
                draw.choices(given["categories"], weights=rows[str(value)])

    return measure.timed(loop, repeats=1)[0]


CASES = {"step": step, "naive": naive}


def report(quick: bool) -> None:
    """Print the table."""
    sizes = SIZES[:2] if quick else SIZES
    rows, notes = [measure.HEAD], []
    for name, target in TARGETS.items():
        found = {n: measure.run_case("pram", "step", name=name, records=n) for n in sizes}
        rows += [measure.row(name, n, each, target=target if n == SIZES[-1] else None) for n, each in found.items()]
        if all("failed" not in each for each in found.values()):
            notes.append(f"{name}: {measure.growth({n: each['processor'] for n, each in found.items()})}")
    same = measure.run_case("pram", "step", name="five variables, pd and alpha", records=NAIVE)
    slow = measure.run_case("pram", "naive", records=NAIVE)
    rows.append(measure.row("five variables, a loop over records", NAIVE, slow, tacita=same))
    measure.show("PRAM", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
