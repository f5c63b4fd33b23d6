"""Microaggregation: MDAV beside the plain algorithm that looks at all records each time, and the other methods."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

K = 3
PLAIN = 20_000
"""So many records are grouped by the plain algorithm too."""
SIZES = (50_000, 100_000, 1_000_000)
TARGETS = {20_000: 0.3, 50_000: 1.0, 100_000: 2.0, 1_000_000: 45.0}
"""Seconds for three log-normal variables, k 3, by records."""
METHODS = (
    "variable_mdav",
    "robust_distance",
    "principal_component",
    "robust_component",
    "projection_pursuit",
    "individual",
    "optimal",
)


def _values(records: int, kind: str) -> Any:
    """Three variables: independent log-normal or normal, or normal ones rounded, with many equal records."""
    import numpy as np

    values = np.random.default_rng(1).normal(size=(records, 3))
    return {"log-normal": np.exp, "normal": np.asarray, "whole": lambda given: np.rint(5 * given)}[kind](values)


def mdav_groups(records: int, kind: str = "log-normal", k: int = K, repeats: int = 1) -> dict[str, Any]:
    """The groups of MDAV alone."""
    from tacita.distance.distances import euclidean, standard_weight
    from tacita.protect.microaggregate.mdav import mdav

    values = _values(records, kind)
    metric = euclidean(standard_weight(values))
    times, _ = measure.timed(lambda: mdav(values, k, metric), repeats=repeats)
    return times


def plain(records: int) -> dict[str, Any]:
    """The definition, by NumPy, with the mean taken anew each time; the groups are compared with Tacita's."""
    import numpy as np

    from tacita.distance.distances import euclidean, standard_weight
    from tacita.protect.microaggregate.mdav import mdav

    values = _values(records, "log-normal")
    weight = standard_weight(values)

    def squared(rows: Any, place: Any) -> Any:
        total = np.zeros(len(rows))
        for j in range(values.shape[1]):
            total += ((values[rows, j] - place[j]) * weight[j]) ** 2
        return total

    def run() -> Any:
        left, groups, count = np.arange(records), np.full(records, -1), 0

        def form(row: int) -> None:
            nonlocal left, count
            near = left[np.argsort(squared(left, values[row]), kind="stable")[:K]]
            groups[near] = count
            left, count = left[groups[left] < 0], count + 1

        while len(left) >= 2 * K:
            pair = len(left) >= 3 * K
            first = left[squared(left, values[left].mean(axis=0)).argmax()]
            form(first)
            if pair:
                form(left[squared(left, values[first]).argmax()])
        groups[left] = count
        return groups

    times, groups = measure.timed(run, repeats=0)
    return {**times, "same": bool(np.array_equal(groups, mdav(values, K, euclidean(weight))))}


def step(records: int, method: str) -> dict[str, Any]:
    """The whole step on a table."""
    import polars as pl

    import tacita as tc
    from tacita.protect.step import Context
    from tacita.random import Draws

    data = tc.Data.of(pl.DataFrame(_values(records, "log-normal"), schema=["x", "y", "z"]))
    scenario = tc.Scenario(numeric_keys=["x", "y", "z"])
    context = Context(scenario, tc.Policy(), Draws(1).step("benchmark"), data)
    chosen = tc.Microaggregate(["x", "y", "z"], k=K, method=method)
    times, made = measure.timed(lambda: chosen.apply(data, context), repeats=1)
    return {**times, "lost": made.figures["sse_share"]}


CASES = {"mdav_groups": mdav_groups, "plain": plain, "step": step}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = SIZES[:2] if quick else SIZES
    rows, notes, smallest = [measure.HEAD], [], 5_000 if quick else PLAIN
    for kind in ("log-normal", "normal", "whole"):
        found = {
            n: measure.run_case("microaggregation", "mdav_groups", records=n, kind=kind) for n in (smallest, *sizes)
        }
        targets = TARGETS if kind == "log-normal" else {}
        rows += [measure.row(f"MDAV, {kind}", n, result, target=targets.get(n)) for n, result in found.items()]
        times = {n: result["processor"] for n, result in found.items() if "processor" in result}
        notes.append(f"{kind}: {measure.growth(times)}")
        if kind == "log-normal":
            naive = measure.run_case("microaggregation", "plain", records=smallest)
            rows.append(measure.row("  plain MDAV, log-normal", smallest, naive, tacita=found[smallest]))
            notes.append(f"the same groups of {smallest:,} records: {'yes' if naive.get('same') else 'NO'}")
    large = measure.run_case("microaggregation", "mdav_groups", records=100_000, k=100)
    rows.append(measure.row("MDAV, log-normal, k 100", 100_000, large))
    measure.show("MDAV, 3 variables, groups of 3", rows, notes)
    _show_methods(100_000)


def _show_methods(records: int) -> None:
    rows, losses = [measure.HEAD], []
    for method in ("mdav", *METHODS):
        result = measure.run_case("microaggregation", "step", records=records, method=method)
        rows.append(measure.row(method, records, result))
        if "lost" in result:
            losses.append(f"{method} {100 * result['lost']:.3g} %")
    measure.show("The whole step, by method", rows, [f"SSE/SST: {', '.join(losses)}"])


if __name__ == "__main__":
    measure.main(CASES, report)
