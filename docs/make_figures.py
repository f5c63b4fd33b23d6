"""Draw the figures of the documentation from the demo survey: `python docs/make_figures.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tacita as tc

FIGURES = Path(__file__).resolve().parent / "figures"


def main() -> None:
    """Draw the risk histogram, the special uniques and the model check of the demo survey."""
    survey = tc.household_survey()
    results: dict[str, Any] = {
        "risk_histogram": tc.assess(survey.data, survey.scenario),
        "suda": tc.suda(survey.data, survey.scenario),
        "model_check": tc.model_check(survey.data, survey.scenario, survey.population, probability="estimated"),
    }
    for name, result in results.items():
        tc.save(result.plot(), FIGURES / f"{name}.png", scale=1.5, overwrite=True)


if __name__ == "__main__":
    main()
