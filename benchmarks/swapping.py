"""Swapping: times, memory and growth of rank, record and random swapping, beside loops that look at every candidate."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

SIZES = (10_000, 100_000, 1_000_000)
RANK_TARGETS = {"window": 0.2, "correlation": 10.0}
"""Seconds for three variables of 100,000 records."""
HOUSEHOLDS = (10_000, 100_000, 300_000)
RECORD_TARGET = 2.0
"""Seconds for 100,000 households, 350,000 persons, at any number of levels and profiles here."""
RANDOM_TARGET = 1.0
"""Seconds for two variables of a million records."""
NAIVE = {"rank": 10_000, "record": 20_000}
"""Sizes at which the naive loops still end."""


def _context(data: Any, scenario: Any) -> Any:
    import tacita as tc
    from tacita.protect.step import Context
    from tacita.random import Draws

    return Context(scenario, tc.Policy(), Draws(1).step("benchmark"), data)


def _numbers(records: int) -> Any:
    import numpy as np
    import polars as pl

    import tacita as tc

    draw = np.random.default_rng(1)
    return tc.Data.of(
        pl.DataFrame(
            {
                "key": draw.integers(0, 50, records),
                "x": draw.normal(size=records),
                "y": draw.lognormal(size=records).round(2),
                "z": draw.integers(0, 10**6, records),
            }
        )
    )


def _census(households: int) -> Any:
    """Households of 1 to 6 in 2,000 towns of four levels."""
    import numpy as np
    import polars as pl

    import tacita as tc

    draw = np.random.default_rng(1)
    size, town = draw.integers(1, 7, households), draw.integers(0, 2000, households)
    hid = np.repeat(np.arange(households), size)
    kind = draw.integers(0, 10, households)
    return tc.Data.of(
        pl.DataFrame(
            {
                "hid": hid,
                **{f"level{level}": (town // part)[hid] for level, part in enumerate((400, 100, 20, 1))},
                "size": size[hid],
                "kind": kind[hid],
                **{name: draw.integers(0, most, len(hid)) for name, most in (("age", 7), ("sex", 2), ("nation", 5))},
                "income": draw.lognormal(9, 1, len(hid)),
            }
        )
    )


def rank(how: str, records: int) -> dict[str, Any]:
    """Rank swapping of three variables."""
    import tacita as tc

    step = tc.RankSwap(["x", "y", "z"], **({"window": 0.05} if how == "window" else {"correlation": 0.95}))  # type: ignore[arg-type]
    data = _numbers(records)
    context = _context(data, tc.Scenario(keys=["key"]))
    return measure.timed(lambda: step.apply(data, context))[0]


def record(levels: int, profiles: int, households: int) -> dict[str, Any]:
    """Targeted record swapping; with four levels two thirds of the households must swap."""
    import tacita as tc

    step = tc.SwapRecords(
        [f"level{level}" for level in range(levels)],
        similar=[["kind"], []][:profiles],
        risk_variables=["age", "sex", "nation"],
        k=3,
    )
    data = _census(households)
    context = _context(data, tc.Scenario(keys=["age"], household="hid"))
    times, made = measure.timed(lambda: step.apply(data, context))
    return {**times, "persons": len(data), "swapped": made.figures["swapped"]}


def pairs(records: int) -> dict[str, Any]:
    """Random swapping of two variables within 50 groups."""
    import tacita as tc

    data = _numbers(records)
    context = _context(data, tc.Scenario(keys=["key"]))
    step = tc.RandomSwap(["x", "z"], rate=0.5, within="key")
    return measure.timed(lambda: step.apply(data, context))[0]


def naive_rank(records: int) -> dict[str, Any]:
    """Three variables, each rank looking through its window for those that are left."""
    import numpy as np

    data, draw = _numbers(records), np.random.default_rng(1)

    def swap() -> None:
        for name in ("x", "y", "z"):
            order = np.argsort(data.numbers(name))
            free, window = np.ones(records, dtype=np.bool_), records // 20
            for place in range(records):
                left = np.flatnonzero(free[place + 1 : place + 1 + window])
                if free[place] and len(left):
                    other = place + 1 + draw.choice(left)
                    free[[place, other]] = False
                    order[[place, other]] = order[[other, place]]

    return measure.timed(swap, repeats=1)[0]


def naive_record(households: int) -> dict[str, Any]:
    """Four levels, every household that must swap looking through all others for donors."""
    import numpy as np

    import tacita as tc
    from tacita.protect.swap import swap_records

    given: list[Any] = []
    found = swap_records.household_swaps

    def spy(problem: Any, progress: Any) -> Any:
        given.append(problem)
        return found(problem, progress)

    data = _census(households)
    step = tc.SwapRecords([f"level{level}" for level in range(4)], risk_variables=["age", "sex", "nation"], k=3)
    swap_records.household_swaps = spy  # the same households as Tacita has them
    step.apply(data, _context(data, tc.Scenario(keys=["age"], household="hid")))
    (problem,), draw = given, np.random.default_rng(1)

    def swap() -> None:
        free = np.ones(households, dtype=np.bool_)
        for level, must in enumerate(problem.must):
            for one in np.flatnonzero(must):
                similar = problem.profile[0] == problem.profile[0, one]
                donors = np.flatnonzero(free & similar & (problem.area[level] != problem.area[level, one]))
                if free[one] and len(donors):
                    risk = problem.risk[level, donors]
                    free[[one, draw.choice(donors, p=risk / risk.sum())]] = False

    return measure.timed(swap, repeats=1)[0]


CASES = {"rank": rank, "record": record, "pairs": pairs, "naive_rank": naive_rank, "naive_record": naive_record}


def _ranks(sizes: tuple[int, ...]) -> None:
    rows, notes = [measure.HEAD], []
    for how, target in RANK_TARGETS.items():
        found = {n: measure.run_case("swapping", "rank", how=how, records=n) for n in sizes}
        rows += [
            measure.row(f"rank swapping, {how}", n, result, target=target if n == 100_000 else None)
            for n, result in found.items()
        ]
        notes.append(f"{how}: " + measure.growth({n: result["processor"] for n, result in found.items()}))
        if how == "window":
            slow = measure.run_case("swapping", "naive_rank", records=NAIVE["rank"])
            rows.append(measure.row("rank swapping, naive", NAIVE["rank"], slow, tacita=found[NAIVE["rank"]]))
    found = {n: measure.run_case("swapping", "pairs", records=n) for n in sizes}
    rows += [
        measure.row("random swapping", n, result, target=RANDOM_TARGET if n == SIZES[-1] else None)
        for n, result in found.items()
    ]
    measure.show("Rank swapping of three variables, random swapping of two", rows, notes)


def _records(sizes: tuple[int, ...]) -> None:
    rows, notes = [measure.HEAD], []
    for levels, profiles in ((2, 1), (4, 1), (4, 2)):
        what = f"{levels} levels, {profiles} profile{'s' if profiles > 1 else ''}"
        options = {"levels": levels, "profiles": profiles}
        found = {n: measure.run_case("swapping", "record", households=n, **options) for n in sizes}
        rows += [
            measure.row(what, n, result, target=RECORD_TARGET if n == 100_000 else None) for n, result in found.items()
        ]
        largest = found[sizes[-1]]
        counts = f"{largest['swapped']:,} of {sizes[-1]:,} households swapped, {largest['persons']:,} persons"
        notes.append(f"{what}: {counts}; " + measure.growth({n: each["processor"] for n, each in found.items()}))
    ours = measure.run_case("swapping", "record", households=NAIVE["record"], levels=4, profiles=1)
    slow = measure.run_case("swapping", "naive_record", households=NAIVE["record"])
    rows += [measure.row("4 levels, 1 profile", NAIVE["record"], ours)]
    rows += [measure.row("4 levels, all pairs", NAIVE["record"], slow, tacita=ours)]
    measure.show("Targeted record swapping, by households", rows, notes)


def report(quick: bool) -> None:
    """Print the tables."""
    _ranks(SIZES[:2] if quick else SIZES)
    _records(HOUSEHOLDS[:2] if quick else HOUSEHOLDS)


if __name__ == "__main__":
    measure.main(CASES, report)
