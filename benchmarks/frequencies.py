"""Frequencies where 2 % of the values are missing, under every rule, beside the comparison of all pairs of records."""

from __future__ import annotations

from typing import Any

from benchmarks import measure

RULES = (
    "one_way",
    "wildcard",
    "conservative",
    "partial(0.5)",
    "partial(expected)",
    "no_match",
    "own_category",
    "sdcmicro(1)",
)
MISSING = 0.02
PAIRS = 5_000
"""So many records are compared with each other by the naive way; more would take too long."""


def _table(records: int, keys: int) -> tuple[Any, tuple[str, ...]]:
    from benchmarks import survey

    names = survey.MORE_KEYS[:keys]
    return survey.with_missing(survey.wide_survey(records), names, MISSING), names


def frequencies(records: int, keys: int, rule: str) -> dict[str, Any]:
    """f and F of every distinct key."""
    import tacita as tc

    table, names = _table(records, keys)
    data, scenario = tc.Data.of(table), tc.Scenario(keys=names, weight="weight", missing=rule)
    times, result = measure.timed(lambda: tc.key_table(data, scenario))
    return {**times, "keys": len(result.codes)}


def all_pairs(records: int, keys: int, rule: str) -> dict[str, Any]:
    """The definition: every record against every other, vectorised over the others; checked against Tacita."""
    import numpy as np

    import tacita as tc

    table, names = _table(records, keys)
    data = tc.Data.of(table)
    codes = np.stack([data.coded(name).codes for name in names], axis=1)
    weights = data.numbers("weight")
    blank = codes == 0

    def count() -> tuple[Any, Any]:
        f, F = np.zeros(len(codes)), np.zeros(len(codes))
        for place, key in enumerate(codes):
            agree = (codes == key) | blank[place]
            matches = np.all(agree | blank if rule == "wildcard" else agree, axis=1)
            f[place], F[place] = matches.sum(), weights[matches].sum()
        return f, F

    times, (f, F) = measure.timed(count, repeats=1)
    ours = tc.key_table(data, tc.Scenario(keys=names, weight="weight", missing=rule))
    same = np.array_equal(f, ours.per_record(ours.sample_count))
    same = same and np.allclose(F, ours.per_record(ours.population_count), rtol=1e-12, atol=0.0)
    return {**times, "same": bool(same)}


CASES = {"frequencies": frequencies, "all_pairs": all_pairs}


def report(quick: bool) -> None:
    """Print the tables."""
    size = 20_000 if quick else 100_000
    for keys, target in ((5, 0.15), (8, 1.5)):
        results = {
            rule: measure.run_case("frequencies", "frequencies", records=size, keys=keys, rule=rule) for rule in RULES
        }
        rows = [measure.HEAD]
        for rule, result in results.items():
            aim = target if rule in RULES[:2] and not quick else None
            rows.append(measure.row(rule, size, result, target=aim))
        pairs = min(PAIRS, size)
        notes = [f"{results['one_way'].get('keys', 0):,} distinct keys"]
        for rule in RULES[:2]:
            naive = measure.run_case("frequencies", "all_pairs", records=pairs, keys=keys, rule=rule)
            rows.append(measure.row(f"  all pairs, {rule}", pairs, naive))
            notes.append(_extrapolated(rule, naive, pairs, size, results[rule]))
            notes.append(_growth(rule, keys, size, results[rule]))
        measure.show(f"Frequencies, {keys} keys, {100 * MISSING:g} % of the values missing", rows, notes)


def _extrapolated(rule: str, naive: dict[str, Any], pairs: int, size: int, ours: dict[str, Any]) -> str:
    if "failed" in naive or "failed" in ours:
        return f"all pairs, {rule}: failed"
    scaled = naive["best"] * (size / pairs) ** 2
    same = "yes" if naive["same"] else "NO"
    return (
        f"all pairs, {rule}: same figures on {pairs:,} records: {same}; not run on {size:,}, "
        f"where {(size / pairs) ** 2:g} times the pairs would take about {measure.seconds(scaled)}, "
        f"{scaled / ours['best']:,.0f} times Tacita (extrapolated)"
    )


def _growth(rule: str, keys: int, size: int, known: dict[str, Any]) -> str:
    times = {size: known}
    for other in (size // 4, size // 2, size * 2):
        times[other] = measure.run_case("frequencies", "frequencies", records=other, keys=keys, rule=rule)
    done = {records: result["processor"] for records, result in times.items() if "processor" in result}
    return f"{rule}: {measure.growth(done)}"


if __name__ == "__main__":
    measure.main(CASES, report)
