"""An intruder who knows the methods: the accident survey after PRAM of its nine keys, a tree beside all pairs."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

KEYS = ("LPB1", "P1", "P2", "P3", "P8", "P15", "P20", "PKD", "WOJW")
TARGET = 10.0
"""Seconds for the 88,330 records of the accident survey."""
PAIRS = 2_000
"""So many records have all their pairs compared."""


def _files(records: int | None = None) -> tuple[Any, Any, Any]:
    """The survey, or its first records, its release, and the scenario."""
    import numpy as np

    import tacita as tc

    survey = tc.accident_survey().data
    data = survey if records is None else survey.take(np.arange(records))
    scenario = tc.Scenario(keys=list(KEYS))
    return data, tc.Plan([tc.Pram(list(KEYS))]).apply(data, scenario, seed=1), scenario


def linkage(records: int | None = None) -> dict[str, Any]:
    """Both attacks, with and without knowledge of the matrices."""
    from tacita.risk.external.informed_linkage import informed_linkage

    data, release, scenario = _files(records)
    times, found = measure.timed(lambda: informed_linkage(data, release, scenario), repeats=1)
    return {**times, "records": len(data), "informed": found.share_correct, "plain": found.share_plain}


def all_pairs(records: int = PAIRS) -> dict[str, Any]:
    """The definition by NumPy: the matrix of all costs; checked against the tree."""
    import numpy as np

    from tacita.risk.external.informed_linkage import informed_linkage
    from tacita.risk.external.knowledge import knowledge_of
    from tacita.risk.linkage.files import two_files

    data, release, scenario = _files(records)
    files = two_files(data, release, KEYS, scenario, None, external=False)

    def run() -> Any:
        total = np.zeros((records, records))
        for each in knowledge_of(files, release.data.mechanisms).columns:
            known = np.isfinite(each.first)  # what the intruder does not know costs nothing
            total[known] += each.table[each.first[known].astype(np.int64)][:, each.released.astype(np.int64)]
        best = total <= total.min(axis=1, keepdims=True) + 1e-9
        return best.sum(axis=1), best.diagonal()

    times, (ties, right) = measure.timed(run, repeats=1)
    found = informed_linkage(data, release, scenario)
    if not (np.array_equal(found.candidates, ties) and np.array_equal(found.correct, right / ties)):
        raise SystemExit("the tree and all pairs differ")
    return {**times, "records": records}


CASES = {"linkage": linkage, "all_pairs": all_pairs}
SIZES = (PAIRS, 22_000, None)


def report(quick: bool) -> None:
    """Print the tables."""
    rows, known, notes = [measure.HEAD], {}, []
    for size in SIZES[: 2 if quick else 3]:
        found = measure.run_case("informed", "linkage", records=size)
        count = found.get("records", size or 0)
        rows.append(measure.row("nine exchanged keys", count, found, target=TARGET if size is None else None))
        if "failed" not in found:
            known[count] = found
            shares = f"{found['informed']:.1%} right with the matrices, {found['plain']:.1%} without"
            notes.append(f"{count:,} records: {shares}")
    slow = measure.run_case("informed", "all_pairs", records=PAIRS)
    rows.append(measure.row("all pairs, the informed attack", PAIRS, slow, tacita=known.get(PAIRS)))
    notes.append(measure.growth({size: found["processor"] for size, found in known.items()}))
    measure.show("Linkage by who knows the methods, accident survey", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
