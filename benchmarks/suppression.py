"""Local suppression to k-anonymity: time, memory, growth, cells, on files of many and of few records that are alike."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

KEYS, K = 8, 3
TARGETS = {4_580: 0.1, 20_000: 0.1, 100_000: 0.3, 1_000_000: 5.0}
"""Seconds allowed, by records."""
KINDS = {"alike": "many records alike", "survey": "a household survey", "unlike": "nearly no two records alike"}
SEVEN = ("LPB1", "P1", "P2", "P3", "P8", "P15", "P20")
"""The keys of Mlodak, Pietrzak and Jozefowski (2021), and their importance from SUDA."""
RANKS = (4, 1, 4, 2, 7, 1, 6)


def _codes(records: int, kind: str) -> Any:
    """Eight keys as codes: of 5 to 12 categories with geometric shares, or those of the synthetic survey."""
    import numpy as np

    if kind == "survey":
        from benchmarks.survey import MORE_KEYS, wide_survey
        from tacita.data import Data

        data = Data.of(wide_survey(records))
        return np.ascontiguousarray(np.stack([data.coded(name).codes for name in MORE_KEYS], axis=1))
    draws = np.random.default_rng(1)
    share = {"alike": 0.8, "unlike": 0.3}[kind]
    columns = [np.minimum(draws.geometric(share, records), 5 + key) for key in range(KEYS)]
    return np.stack(columns, axis=1).astype(np.uint32)


def kernel(records: int, kind: str, rule: str = "one_way") -> dict[str, Any]:
    """The cells to blank, checked by counting again."""
    from tacita.protect.suppress.local_suppression import suppress
    from tacita.protect.suppress.problem import Request, Requirement
    from tacita.scenario import MissingRule

    codes = _codes(records, kind)
    asked = Request(codes, [Requirement((1 << KEYS) - 1, K)], [1.0] * KEYS, MissingRule.parse(rule))
    repeats = 3 if rule == "one_way" else 1
    times, found = measure.timed(lambda: suppress(asked), repeats=repeats)
    return {**times, "violating": int(found.violated.sum()), "cells": int(found.gone.sum()),
            "others": int(found.drawn_in.sum())}  # fmt: skip


def step(records: int, closed: bool = False) -> dict[str, Any]:
    """The whole step on a frame: coding, suppressing, blanking, the log; `closed` until the file gives nothing back."""
    import tacita as tc
    from benchmarks.survey import MORE_KEYS, wide_survey

    data, who = tc.Data.of(wide_survey(records)), tc.Scenario(keys=MORE_KEYS)
    times, release = measure.timed(lambda: tc.Plan([tc.Suppress(k=K, closed=closed)]).apply(data, who), repeats=1)
    return {**times, "cells": sum(release.changes[0].suppressed.values())}


def combinations(different: bool) -> dict[str, Any]:
    """All combinations of 3 to 7 of the seven keys of the accident survey, with one k or with one for each size."""
    import tacita as tc

    data, who = tc.accident_survey().data, tc.Scenario(keys=SEVEN)
    combs: Any = {3: 10, 4: 7, 5: 5, 6: 4, 7: 3} if different else [3, 4, 5, 6, 7]
    ranks = dict(zip(SEVEN, RANKS, strict=True))
    asked = tc.Suppress(k=None if different else K, combs=combs, importance=ranks, closed=False)
    times, release = measure.timed(lambda: tc.Plan([asked]).apply(data, who), repeats=1)
    return {**times, "cells": sum(release.changes[0].suppressed.values())}


CASES = {"kernel": kernel, "step": step, "combinations": combinations}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = [size for size in TARGETS if not quick or size <= 100_000]
    for kind, name in KINDS.items():
        results = {size: measure.run_case("suppression", "kernel", records=size, kind=kind) for size in sizes}
        rows = [measure.HEAD, *(measure.row(name, n, result, target=TARGETS[n]) for n, result in results.items())]
        notes = [
            f"{n:,} records: {result['violating']:,} violate, {result['cells']:,} cells, "
            f"{result['others']:,} records touched because of others"
            for n, result in results.items()
            if "failed" not in result
        ]
        found = {n: result["processor"] for n, result in results.items() if "processor" in result and n >= 20_000}
        measure.show(f"Suppression to k = {K}, {KEYS} keys: {name}", rows, [*notes, measure.growth(found)])
    rows = [measure.HEAD]
    for different, name in ((False, "3 to 7 keys, k = 3"), (True, "3 to 7 keys, k = 10 to 3")):
        result = measure.run_case("suppression", "combinations", different=different)
        rows.append(measure.row(name, 88_330, result, target=10.0))
    for closed, name in ((False, "the whole step"), (True, "the whole step, closed")):
        result = measure.run_case("suppression", "step", records=100_000, closed=closed)
        rows.append(measure.row(name, 100_000, result))
    for kind, size in (("alike", 4_580), ("alike", 20_000), ("survey", 20_000), ("unlike", 20_000)):
        wildcard = measure.run_case("suppression", "kernel", records=size, kind=kind, rule="wildcard")
        rows.append(measure.row(f"wildcard, {KINDS[kind]}", size, wildcard))
    measure.show("Combinations on the accident survey; other ways", rows, [])


if __name__ == "__main__":
    measure.main(CASES, report)
