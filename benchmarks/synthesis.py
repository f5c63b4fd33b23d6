"""Synthesis of ten variables: times and memory of both methods, and the tree beside one that sorts in every node."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

SIZES = (10_000, 100_000, 1_000_000)
SMALL = (1_000, 4_000)
CASES_OF: dict[str, dict[str, Any]] = {
    "trees": {},
    "trees, smooth": {"smooth": True},
    "trees, rules": {"rules": ["age >= 15 or income is missing"]},
    "trees, five copies": {"copies": 5},
    "copula": {"method": "copula"},
}
TARGET = 30.0
"""Seconds for 100,000 records of ten variables."""


def _people(records: int) -> Any:
    """Categories that depend on each other, numbers with zeros, and numbers that some do not have."""
    import numpy as np
    import polars as pl

    import tacita as tc

    draw = np.random.default_rng(1)
    age = draw.integers(0, 95, records)
    education = np.clip((age / 20 + draw.normal(size=records)).astype(int), 0, 5)
    status = np.where(age < 15, 0, 1 + draw.integers(0, 6, records))
    income = np.exp(9 + 0.2 * education + 0.01 * age + 0.7 * draw.normal(size=records))
    income[draw.random(records) < 0.1] = 0.0
    hours = np.where(status == 1, np.clip(draw.normal(38, 9, records).round(), 1, 80), np.nan)
    return tc.Data.of(
        pl.DataFrame(
            {
                "region": draw.integers(1, 10, records),
                "sex": draw.integers(1, 3, records),
                "age": age,
                "education": education,
                "status": status,
                "industry": np.where(status == 1, draw.integers(1, 41, records), 0),
                "income": pl.Series(np.where(age < 15, np.nan, income)).fill_nan(None),
                "hours": pl.Series(hours).fill_nan(None),
                "rent": np.exp(6 + 0.05 * np.log1p(income) + 0.3 * draw.normal(size=records)),
                "size": draw.integers(1, 7, records),
            }
        )
    )


def step(name: str, records: int) -> dict[str, Any]:
    """The step on its own, after a small file for which the loops are compiled."""
    import tacita as tc
    from tacita.protect.step import Context
    from tacita.random import Draws

    def applied(data: Any) -> Any:
        context = Context(tc.Scenario(keys=["region", "sex"]), tc.Policy(), Draws(1).step("benchmark"), data)
        return tc.Synthesise(**CASES_OF[name]).apply(data, context)

    applied(_people(200))
    data = _people(records)
    times, _ = measure.timed(lambda: applied(data), repeats=1)
    return times


def tree(records: int) -> dict[str, Any]:
    """One tree of income on age and education."""
    import numpy as np

    from tacita.trees.tree import Features, Growth, Response, grown

    features, response = _numbers(records)
    table, answer = Features(features, np.zeros(2, np.int64)), Response(response, 0, np.ones(records))
    grown(table, answer, Growth())
    times, _ = measure.timed(lambda: grown(table, answer, Growth()), repeats=1)
    return times


def naive(records: int) -> dict[str, Any]:
    """The same tree grown by the book: every node sorts its records by every feature."""
    features, response = _numbers(records)
    times, _ = measure.timed(lambda: _by_the_book(features, response), repeats=1)
    return times


def _numbers(records: int) -> Any:
    import numpy as np

    data = _people(records)
    return np.array([data.numbers("age"), data.numbers("education")]), data.numbers("rent")


def _by_the_book(features: Any, response: Any, least: int = 5) -> int:
    """How many leaves there are; all cuts of a feature are tried at once."""
    import numpy as np

    best, sides = 0.0, None
    size, total = len(response), response.sum()
    for values in features:
        order = np.argsort(values, kind="stable")
        left, count = np.cumsum(response[order])[:-1], np.arange(1, size)
        gain = left**2 / count + (total - left) ** 2 / (size - count) - total**2 / size
        allowed = (count >= least) & (size - count >= least) & (np.diff(values[order]) > 0)
        if allowed.any():
            cut = int(np.argmax(np.where(allowed, gain, -1.0)))
            if gain[cut] > best:
                best, sides = gain[cut], (order[: cut + 1], order[cut + 1 :])
    if sides is None:
        return 1
    return sum(_by_the_book(features[:, side], response[side], least) for side in sides)


CASES = {"step": step, "tree": tree, "naive": naive}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = SIZES[:2] if quick else SIZES
    rows, notes = [measure.HEAD], []
    for name in CASES_OF:
        results = {n: measure.run_case("synthesis", "step", name=name, records=n) for n in sizes}
        rows += [
            measure.row(name, n, result, target=TARGET if n == SIZES[1] else None) for n, result in results.items()
        ]
        if all("failed" not in each for each in results.values()):
            notes.append(f"{name}: {measure.growth({n: each['processor'] for n, each in results.items()})}")
    measure.show("Synthesis of ten variables", rows, notes)
    rows = [measure.HEAD]
    for n in SMALL:
        ours, theirs = (measure.run_case("synthesis", case, records=n) for case in ("tree", "naive"))
        rows += [measure.row("tree", n, ours), measure.row("tree by the book", n, theirs, tacita=ours)]
    measure.show("One tree beside one that sorts in every node", rows)


if __name__ == "__main__":
    measure.main(CASES, report)
