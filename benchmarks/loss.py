"""Information loss on the accident survey, 88,330 records and 34 variables: each measure, all together, and growth."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measure

RECORDS = 88_330
TARGET = 5.0
"""Seconds for all measures of loss together."""


def _files(records: int) -> tuple[Any, Any, Any]:
    """The survey, a release of it with the perturbation of the published variants, and its scenario."""
    import tacita as tc
    from tacita.data.demo import accident

    data = tc.accident_survey(records).data
    scenario = tc.Scenario(keys=accident.KEYS, numeric_keys=accident.NUMERIC_KEYS, identifiers=["accident"])
    steps = [tc.Pram(accident.RANDOMISED, pd=0.7, alpha=0.3), tc.Noise(accident.NUMERIC_KEYS, 0.75, method="delta")]
    with tempfile.TemporaryDirectory() as folder:
        # As files: a release in memory knows its mechanisms.
        paths = [Path(folder) / f"{name}.parquet" for name in ("original", "released")]
        tc.write(data, paths[0])
        tc.write(tc.Plan(steps).apply(data, scenario).data, paths[1])
        original, released = (tc.read(path) for path in paths)
    return original, released, scenario


def one(records: int, name: str) -> dict[str, Any]:
    """One measure, by its name in the registry."""
    from tacita.measures import find

    original, released, scenario = _files(records)
    times, found = measure.timed(lambda: find(name).function(original, released, scenario))
    return {**times, "headline": found.headline}


def every(records: int) -> dict[str, Any]:
    """All measures of loss one after the other; those that need more than two files and a scenario are named."""
    from tacita.check import TacitaError
    from tacita.measures import find, measure_names

    original, released, scenario = _files(records)
    refused = []

    def all_of_them() -> int:
        refused.clear()
        for name in measure_names("loss"):
            try:
                find(name).function(original, released, scenario)
            except TacitaError:
                refused.append(name)
        return len(measure_names("loss")) - len(refused)

    times, count = measure.timed(all_of_them, repeats=2)
    return {**times, "measures": count, "refused": refused}


CASES = {"one": one, "every": every}


def report(quick: bool) -> None:
    """Print the table."""
    from tacita.measures import measure_names

    size = 20_000 if quick else RECORDS
    rows, notes = [measure.HEAD], []
    for name in measure_names("loss"):
        found = measure.run_case("loss", "one", records=size, name=name)
        rows.append(measure.row(name, size, found))
        notes += [f"{name}: {found['headline']}"] if "failed" not in found else []
    for records in (size,) if quick else (size, 4 * size):
        found = measure.run_case("loss", "every", records=records)
        rows.append(measure.row("all of them", records, found, target=TARGET if records == RECORDS else None))
        if found.get("refused"):
            notes.append(f"not measured, since more must be said: {', '.join(found['refused'])}")
    measure.show("Information loss", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
