"""The log-linear model: its time on thousands to millions of cells, and its figures against known populations.

Timed after loading: the cross-classification, the fit, tau_1, tau_2, their intervals and the tests for under-fitting.
"""

from __future__ import annotations

from typing import Any

from benchmarks import measure

READY = ("region", "sex", "age", "citizenship", "status")
KEY_SETS = {"five keys": READY, "six keys": (*READY, "marital"), "seven keys": (*READY, "marital", "education")}
INTERACTIONS = "sex:age + age:status + sex:status"
TARGET = 0.5
"""Seconds for five keys with three interactions."""


def _scenario(survey: Any, keys: tuple[str, ...]) -> Any:
    import tacita as tc

    return tc.Scenario(keys=keys, weight="weight", not_applicable=dict(survey.scenario.not_applicable))


def model(keys: list[str], numeric: list[str], chosen: bool = False) -> dict[str, Any]:
    """One model, or one that is chosen, on the demonstration survey."""
    import tacita as tc
    from tacita.risk.population.loglinear_risk.loglinear_risk import loglinear_risk

    survey = tc.household_survey()
    scenario = _scenario(survey, tuple(keys))
    formula = None if chosen else f"~ {' + '.join(keys)} + {INTERACTIONS}"

    def run() -> Any:
        risk = loglinear_risk(survey.data, scenario, formula, numeric=numeric)
        risk.to_frame()
        return risk

    times, risk = measure.timed(run, repeats=2)
    return {**times, "cells": risk.cells, "parameters": risk.estimate.fit.parameters}


def truth(keys: list[str], seed: int) -> dict[str, Any]:
    """tau_1 and tau_2 in several variants beside the true numbers of one sample."""
    import numpy as np

    import tacita as tc
    from tacita.risk.population.loglinear_risk.loglinear_risk import loglinear_risk

    survey = tc.household_survey(seed=seed)
    scenario = _scenario(survey, tuple(keys))
    out: dict[str, Any] = {}
    for name, options in VARIANTS.items():
        risk = loglinear_risk(survey.data, scenario, **options)
        out[name] = [risk.tau_1, *(risk.tau_1_interval or ()), risk.tau_2, *(risk.tau_2_interval or ())]
    known = tc.key_table(survey.data, scenario, register=survey.population)
    rows = risk.unique_records["record"].to_numpy() - 1
    F = known.per_record(known.population_count)[rows]
    return {**out, "true": [int(np.sum(F == 1)), float(np.sum(1 / F))]}


VARIANTS: dict[str, dict[str, Any]] = {
    "chosen by B2": {},
    "chosen by AIC": {"choose_by": "AIC"},
    "offset, by B2": {"variant": "offset"},
    "PML, by B2": {"variant": "pml"},
}
CASES = {"model": model, "truth": truth}


def report(quick: bool) -> None:
    """Print the tables."""
    rows: list[tuple[str, ...]] = [("model", "cells", "parameters", "time", "first call", "target", "peak memory")]
    for name, keys in list(KEY_SETS.items())[: 1 if quick else None]:
        for what, options in (
            ("factors, 3 interactions", {"numeric": []}),
            ("age linear, 3 interactions", {"numeric": ["age"]}),
            ("chosen automatically", {"numeric": [], "chosen": True}),
        ):
            found = measure.run_case("loglinear", "model", keys=keys, **options)
            timed = name == "five keys" and "chosen" not in options
            rows.append(_row(f"{name}, {what}", found, TARGET if timed else None))
    measure.show("Log-linear global risk, 6,000 households", rows)
    _report_truth((1, 2) if quick else tuple(range(1, 11)))


def _row(what: str, found: dict[str, Any], target: float | None) -> tuple[str, ...]:
    if "failed" in found:
        return what, f"failed: {found['failed']}"[:60], *["-"] * 5
    met = "-" if target is None else f"{target:g} s: {'met' if found['best'] <= target else 'MISSED'}"
    return (
        what,
        f"{found['cells']:,}",
        f"{found['parameters']:,}",
        measure.seconds(found["best"]),
        measure.seconds(found["first"]),
        met,
        "-" if found["peak"] is None else f"{found['peak']:.2f} GB",
    )


def _report_truth(seeds: tuple[int, ...]) -> None:
    rows: list[tuple[str, ...]] = [("keys, model", "tau_1", "true", "in interval", "tau_2", "true", "in interval")]
    for keys in list(KEY_SETS)[:2]:
        found = [measure.run_case("loglinear", "truth", keys=KEY_SETS[keys], seed=seed) for seed in seeds]
        done = [one for one in found if "failed" not in one]
        if not done:
            rows.append((keys, f"failed: {found[0]['failed']}"[:60], *["-"] * 5))
            continue
        for name in VARIANTS:
            cells: list[str] = []
            for which, place in ((0, 0), (1, 3)):
                mean = sum(one[name][place] for one in done) / len(done)
                true = sum(one["true"][which] for one in done) / len(done)
                inside = sum(one[name][place + 1] <= one["true"][which] <= one[name][place + 2] for one in done)
                cells += [f"{mean:.1f}", f"{true:.1f}", f"{inside} of {len(done)}"]
            rows.append((f"{keys}, {name}", *cells))
    measure.show(f"Means over {len(seeds)} demonstration surveys, beside the true numbers of the population", rows)


def main() -> None:
    """Run one case, or print the tables."""
    measure.main(CASES, report)


if __name__ == "__main__":
    main()
