"""Contract checks that steps and measures from anywhere can be held to."""

from tacita.testing.measures import check_measure
from tacita.testing.steps import check_step

__all__ = ["check_measure", "check_step"]
