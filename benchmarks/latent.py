"""What the latent model costs: a file is fitted once, whatever is asked of it.

Beside it the model of Benedetti and Franconi, whose figures cost next to nothing once keys are counted.
"""

from __future__ import annotations

from typing import Any

from benchmarks import measure

KEYS = ("region", "sex", "age", "citizenship", "status", "marital", "education")
TARGETS = {13_700: 5.0, 1_000_000: 15.0}
"""Seconds on two cores."""
MOST_MEMORY = 3.0


def cost(records: int, model: str) -> dict[str, Any]:
    """Expected re-identifications with their interval, on seven keys."""
    import tacita as tc
    from benchmarks.survey import wide_survey
    from tacita.risk.population.latent.model import forget

    data, scenario = tc.Data.of(wide_survey(records)), tc.Scenario(keys=KEYS, weight="weight", model=model)
    heard: list[float] = []

    def work() -> Any:
        forget()
        return tc.risk.reidentification(data, scenario, progress=lambda done, what: heard.append(done))

    # The first call compiles; of many records it is the only one.
    times, result = measure.timed(work, repeats=1 if records < 100_000 else 0)
    return {**times, "expected": result.expected, "heard": len(heard)}


CASES = {"cost": cost}


def report(quick: bool) -> None:
    """Print the table."""
    rows, notes = [measure.HEAD], []
    for records, target in TARGETS.items():
        if quick and records > 100_000:
            continue
        for model in ("latent", "benedetti_franconi"):
            result = measure.run_case("latent", "cost", records=records, model=model)
            target_here = target if model == "latent" else None
            rows.append(measure.row(model, records, result, target=target_here))
            if model == "latent" and "failed" not in result:
                memory = result.get("peak")
                met = "not known" if memory is None else "met" if memory <= MOST_MEMORY else "MISSED"
                notes.append(
                    f"{records:,} records: progress heard {result['heard']:,} times; memory of at most "
                    f"{MOST_MEMORY:g} GB: {met}"
                )
    measure.show("Expected re-identifications on seven keys, with weights", rows, notes)


if __name__ == "__main__":
    measure.main(CASES, report)
