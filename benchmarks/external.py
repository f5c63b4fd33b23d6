"""External risk: whom an intruder recognises, by equal keys and within tolerances, beside all pairs of records."""

from __future__ import annotations

from functools import reduce
from typing import Any

from benchmarks import measure

SURVEY = 88_330
PAIRS = 5_000
"""So many records are compared pair by pair too."""
KEYS = {"9 categorical keys": False, "with 6 numbers at 5 %": True}
TARGETS = {
    (SURVEY, False): 1.0,
    (SURVEY, True): 10.0,
    (1_000_000, False): 5.0,
    (1_000_000, True): 60.0,
}
"""Seconds on two cores by records, without and with numbers; the published study took 8 days for 88,330 records."""


def _survey(records: int, numbers: bool) -> tuple[Any, Any, Any]:
    """The accident survey and a release of it: 5 % of the cells of four keys suppressed, the numbers noisy."""
    import numpy as np

    import tacita as tc

    survey = tc.accident_survey(records)
    draw = np.random.default_rng(1)
    data = survey.data
    noisy = {
        name: data.numbers(name) * np.exp(0.02 * draw.normal(size=records)) for name in survey.scenario.numeric_keys
    }
    gone = {name: draw.random(records) < 0.05 for name in survey.scenario.keys[:4]}
    released = data.with_columns(noisy).with_perturbed(noisy).blanked(gone)
    scenario = tc.Scenario(keys=survey.scenario.keys, numeric_keys=survey.scenario.numeric_keys if numbers else ())
    return data, released, scenario


def attack(records: int, numbers: bool, repeats: int = 3) -> dict[str, Any]:
    """The original against the release, suppressed cells under both rules."""
    import tacita as tc

    original, released, scenario = _survey(records, numbers)
    times, found = measure.timed(lambda: tc.risk.external_risk(original, released, scenario), repeats=repeats)
    return {**times, "expected": found.limited("expected")}


def all_pairs(records: int) -> dict[str, Any]:
    """The same four figures with every record compared with every released one, a row of the matrix at a time."""
    import numpy as np

    import tacita as tc

    original, released, scenario = _survey(records, True)
    keys = [tuple(data.coded(name).codes for data in (original, released)) for name in scenario.keys]
    numbers = [tuple(data.numbers(name) for data in (original, released)) for name in scenario.numeric_keys]
    shown = [(x, y[~np.isnan(y)]) for x, y in numbers]

    def agrees(i: int) -> Any:
        rows = [x[i] == y for x, y in keys]
        for (x, y), (_, values) in zip(numbers, shown, strict=True):
            near = values[np.argmin(np.abs(values - x[i]))] if x[i] == x[i] else np.nan
            stands = np.where(np.isnan(y), near, y)
            rows.append(np.abs(x[i] - stands) <= 0.05 * (1 + 1e-11) * np.abs(stands))
        return reduce(np.logical_and, rows)

    def run() -> list[int]:
        return [int(agrees(i).sum()) for i in range(records)]

    times, pairs = measure.timed(run, repeats=0)
    found = tc.risk.external_risk(original, released, scenario)
    return {**times, "same": bool((found.found.pairs == pairs).all())}


CASES = {"attack": attack, "all_pairs": all_pairs}


def report(quick: bool) -> None:
    """Print the tables."""
    sizes = (PAIRS, 22_000, SURVEY) if quick else (PAIRS, 22_000, SURVEY, 1_000_000)
    rows, results = [measure.HEAD], {}
    for what, numbers in KEYS.items():
        for records in sizes:
            repeats = 1 if records > SURVEY else 3
            found = measure.run_case("external", "attack", records=records, numbers=numbers, repeats=repeats)
            rows.append(measure.row(what, records, found, target=TARGETS.get((records, numbers))))
            results[numbers, records] = found
    slow = measure.run_case("external", "all_pairs", records=PAIRS)
    rows.append(measure.row("all pairs of records, with 6 numbers", PAIRS, slow, tacita=results[True, PAIRS]))
    notes = [f"the same pairs as in Tacita: {slow.get('same')}"]
    for what, numbers in KEYS.items():
        known = {size: found for size in sizes if "failed" not in (found := results[numbers, size])}
        notes.append(f"{what}: {measure.growth({size: found['processor'] for size, found in known.items()})}")
    measure.show("External risk on the accident survey", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
