"""Levels of hierarchies: the search over the lattice, beside counting every node from the records; local recoding."""

from __future__ import annotations

import itertools
from typing import Any

from benchmarks import measure

KEYS = ("region", "age", "education", "status", "size")


def _hierarchies() -> dict[str, Any]:
    import tacita as tc
    from benchmarks import survey

    regions = [(name, f"part {i // 2}", f"half {i // 4}") for i, name in enumerate(survey.LABELS["region"])]
    schools = [(name, f"pair {i // 2}", f"half {i // 4}") for i, name in enumerate(survey.LABELS["education"])]
    return {
        "region": tc.Hierarchy.rows(regions),
        "age": tc.Hierarchy.intervals([2, 4, 8, 16, 32, 64]),
        "education": tc.Hierarchy.rows(schools),
        "status": tc.Hierarchy.intervals([2, 4, 8], start=1),
        "size": tc.Hierarchy.intervals([2, 6], start=1),
    }


def step(records: int, recoding: str, loss: str = "granularity", **asked: Any) -> dict[str, Any]:
    """The whole step: read the keys, search, recode, and the log."""
    import tacita as tc
    from benchmarks import survey

    data = tc.Data.of(survey.wide_survey(records))
    scenario = tc.Scenario(keys=KEYS, sensitive=["marital"])
    plan = tc.Plan([tc.Generalise(_hierarchies(), k=5, limit=0.02, recoding=recoding, loss=loss, **asked)])
    times, release = measure.timed(lambda: plan.apply(data, scenario, seed=1))
    found = release.changes[0].figures
    return {
        **times,
        "loss": found["loss_value"],
        "suppressed": found["suppressed"],
        "checked": found.get("checked"),
        "nodes": found.get("choices"),
        "finished": found["finished"],
    }


def naive(records: int) -> dict[str, Any]:
    """Every node: recode the records, count their keys, suppress those below k, add up the loss; nothing is reused."""
    import numpy as np

    import tacita as tc
    from benchmarks import survey

    data = tc.Data.of(survey.wide_survey(records))
    hierarchies = _hierarchies()
    columns = {name: data.coded(name) for name in KEYS}
    groups = {name: hierarchies[name].levels(columns[name].values, name).groups for name in KEYS}

    def least() -> float:
        best = np.inf
        for node in itertools.product(*(range(len(groups[name])) for name in KEYS)):
            numbers, lost = np.zeros(records, dtype=np.int64), np.zeros(records)
            for name, level in zip(KEYS, node, strict=True):
                by_value = groups[name][level]
                inside = np.bincount(by_value)[by_value] - 1
                codes = columns[name].codes - 1
                numbers = numbers * len(by_value) + by_value[codes]
                lost += (inside / (len(by_value) - 1))[codes]
            _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
            bad = count[place] < 5
            if bad.sum() <= 0.02 * records:
                best = min(best, float(np.where(bad, len(KEYS), lost).sum()) / (len(KEYS) * records))
        return best

    times, loss = measure.timed(least, repeats=0)
    return {**times, "loss": loss}


CASES = {"step": step, "naive": naive}


def report(quick: bool) -> None:
    """Print the table."""
    size = 20_000 if quick else 100_000
    ours = measure.run_case("generalisation", "step", records=size, recoding="global")
    rows = [measure.HEAD, measure.row("one level per key, k", size, ours, target=None if quick else 3.0)]
    for loss in ("entropy", "discernibility"):
        found = measure.run_case("generalisation", "step", records=size, recoding="global", loss=loss)
        rows.append(measure.row(f"the same, {loss}", size, found))
    diverse = measure.run_case("generalisation", "step", records=size, recoding="global", entropy_l=1.5, t=0.5)
    rows.append(measure.row("k, entropy l and t", size, diverse))
    for recoding in ("outliers", "local"):
        found = measure.run_case("generalisation", "step", records=size, recoding=recoding)
        rows.append(measure.row(f"recoding {recoding}", size, found))
    if not quick:
        for recoding in ("global", "local"):
            large = measure.run_case("generalisation", "step", records=1_000_000, recoding=recoding)
            rows.append(measure.row(f"recoding {recoding}", 1_000_000, large))
    slow = measure.run_case("generalisation", "naive", records=size)
    rows.append(measure.row("every node from the records", size, slow, tacita=ours))
    notes = []
    if "failed" not in ours and "failed" not in slow:
        same = "the same" if abs(ours["loss"] - slow["loss"]) < 1e-9 else "NOT the same"
        proven = "proven best" if ours["finished"] else "not proven"
        notes.append(f"{len(KEYS)} keys, {ours['nodes']:,} nodes, {ours['checked']:,} formed, {proven}")
        notes.append(f"the naive loop finds {same} least loss, {slow['loss']:.4g}")
    if "failed" not in found:
        notes.append(f"loss of local recoding: {found['loss']:.4g}")
    measure.show("Generalisation", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
