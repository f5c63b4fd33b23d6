"""Draw the figures of the documentation from the demo survey: `python docs/make_figures.py`."""

from __future__ import annotations

from pathlib import Path

import tacita as tc

FIGURES = Path(__file__).resolve().parent / "figures"


def main() -> None:
    """Assess the demo survey and draw its risk histogram."""
    survey = tc.household_survey()
    profile = tc.assess(survey.data, survey.scenario)
    tc.save(profile.plot(), FIGURES / "risk_histogram.png", scale=1.5, overwrite=True)


if __name__ == "__main__":
    main()
