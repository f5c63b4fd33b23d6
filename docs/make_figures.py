"""Draw the figures of the documentation from the demo surveys: `python docs/make_figures.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tacita as tc

FIGURES = Path(__file__).resolve().parent / "figures"


KEYS = ["turnover", "exports"]


def one_industry() -> Any:
    """The enterprises of one industry, their turnover and exports masked by noise."""
    firms = tc.business_survey(exporters=True).data
    masked = tc.log_noise(firms, KEYS, sd=0.5)
    rows = (firms.table["industry"] == "28").arg_true().to_numpy()
    return tc.confidentiality(firms.take(rows), masked.take(rows), KEYS, log=True)


def many_enterprises() -> Any:
    """200,000 enterprises by industry."""
    firms = tc.business_survey(200_000, population=1_200_000, exporters=True).data
    masked = tc.log_noise(firms, KEYS, sd=0.5)
    return tc.confidentiality(firms, masked, KEYS, strata=["industry"], alpha=0.001, log=True)


def main() -> None:
    """Draw every figure."""
    survey = tc.household_survey()
    results: dict[str, Any] = {
        "risk_histogram": tc.assess(survey.data, survey.scenario),
        "suda": tc.suda(survey.data, survey.scenario),
        "model_check": tc.model_check(survey.data, survey.scenario, survey.population, probability="estimated"),
        "confidentiality": one_industry(),
        "confidentiality_large": many_enterprises(),
    }
    for name, result in results.items():
        tc.save(result.plot(), FIGURES / f"{name}.png", scale=1.5, overwrite=True)


if __name__ == "__main__":
    main()
