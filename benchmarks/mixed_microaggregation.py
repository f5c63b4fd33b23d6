"""Microaggregation of mixed data by Gower's distance, beside the plain algorithm that looks at all pairs each time."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

K = 4
PLAIN = 2_000
"""So many records are grouped by the plain algorithm too."""
SIZES = (4_000, 16_000, 64_000)
TARGETS = {4_000: 1.0, 64_000: 30.0}
"""Seconds for two numbers and a category, by records."""
SURVEY = 30.0
"""Seconds for the accident survey of 88,330 records by region."""
KEYS = ("LPB1", "P1", "P2", "P3", "P8", "P20")


def _points(records: int, missing: float = 0.0) -> Any:
    """Two numbers, all different, and a category of ten, some of them missing."""
    import numpy as np

    from tacita.protect.microaggregate.gower_distance import gower_points

    draw = np.random.default_rng(1)
    columns = [draw.normal(size=records), draw.lognormal(size=records), draw.integers(0, 10, records).astype(float)]
    columns = [np.where(draw.random(records) < missing, np.nan, column) for column in columns]
    return gower_points(columns, [False, False, True], np.ones(3), [None] * 3)


def groups(records: int, missing: float = 0.0, gamma: float = 0.0) -> dict[str, Any]:
    """The groups alone."""
    from tacita.protect.microaggregate.gower_mdav import gower_mdav

    points = _points(records, missing)
    times, _ = measure.timed(lambda: gower_mdav(points, K, gamma), repeats=1)
    return times


def plain(records: int) -> dict[str, Any]:
    """The definition, by NumPy, with all sums taken anew each time; the groups are compared with Tacita's."""
    import numpy as np

    from tacita.protect.microaggregate.gower_distance import gower_distances
    from tacita.protect.microaggregate.gower_mdav import gower_mdav

    points = _points(records)

    def run() -> Any:
        table = np.stack([gower_distances(points, row) for row in range(records)])
        left, found, count = np.arange(records), np.full(records, -1), 0

        def form(row: int) -> None:
            nonlocal left, count
            found[left[np.argsort(table[row, left], kind="stable")[:K]]] = count
            left, count = left[found[left] < 0], count + 1

        while len(left) >= 2 * K:
            pair = len(left) >= 3 * K
            medoid = left[table[np.ix_(left, left)].sum(axis=1).argmin()]
            first = left[table[medoid, left].argmax()]
            form(first)
            if pair:
                form(left[table[first, left].argmax()])
        found[left] = count
        return found

    times, found = measure.timed(run, repeats=0)
    return {**times, "same": bool(np.array_equal(found, gower_mdav(points, K)))}


def accidents(records: int, strata: bool = True, **parameters: Any) -> dict[str, Any]:
    """The variant of the accident survey: six keys, distance on three of them, groups of four, by region."""
    import tacita as tc

    survey = tc.accident_survey(records)
    step = tc.MicroaggregateMixed(KEYS, ["P1", "P2", "P3"], k=K, strata=["P15"] if strata else [], **parameters)
    times, _ = measure.timed(lambda: tc.Plan([step]).apply(survey.data, survey.scenario, seed=1), repeats=1)
    return times


CASES = {"groups": groups, "plain": plain, "accidents": accidents}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = SIZES[:2] if quick else SIZES
    found = {n: measure.run_case("mixed_microaggregation", "groups", records=n) for n in (PLAIN, *sizes)}
    rows = [measure.HEAD]
    rows += [measure.row("Gower groups", n, result, target=TARGETS.get(n)) for n, result in found.items()]
    naive = measure.run_case("mixed_microaggregation", "plain", records=PLAIN)
    rows.append(measure.row("  plain, all pairs each time", PLAIN, naive, tacita=found[PLAIN]))
    for text, more in (("5 % missing", {"missing": 0.05}), ("groups that grow", {"gamma": 1.1})):
        rows.append(
            measure.row(text, sizes[1], measure.run_case("mixed_microaggregation", "groups", records=sizes[1], **more))
        )
    times = {n: result["processor"] for n, result in found.items() if "processor" in result}
    notes = [measure.growth(times), f"the same groups of {PLAIN:,} records: {'yes' if naive.get('same') else 'NO'}"]
    measure.show("Mixed microaggregation, distance on 3 variables, groups of 4", rows, notes)
    _show_survey(10_000 if quick else 88_330)


def _show_survey(records: int) -> None:
    rows = [measure.HEAD]
    for text, more in (
        ("by region", {}),
        ("whole combinations", {"keep_combinations": True}),
        ("at once", {"strata": False}),
    ):
        result = measure.run_case("mixed_microaggregation", "accidents", records=records, **more)
        rows.append(measure.row(f"accident survey, {text}", records, result, target=SURVEY if not more else None))
    measure.show("The whole step on the accident survey", rows, [])


if __name__ == "__main__":
    measure.main(CASES, report)
