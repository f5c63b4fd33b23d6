"""Measures of information loss: `tacita.loss.value_loss(...)`, each in the file of its name, loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacita.measures import find, measure_names

if TYPE_CHECKING:
    from tacita.loss.distributions.association_loss import association_loss as association_loss
    from tacita.loss.distributions.distribution_loss import distribution_loss as distribution_loss
    from tacita.loss.distributions.table_loss import table_loss as table_loss
    from tacita.loss.estimates.estimate_loss import estimate_loss as estimate_loss
    from tacita.loss.estimates.inequality_loss import inequality_loss as inequality_loss
    from tacita.loss.estimates.statistic_loss import statistic_loss as statistic_loss
    from tacita.loss.numbers.correlation_loss import correlation_loss as correlation_loss
    from tacita.loss.numbers.numeric_loss import numeric_loss as numeric_loss
    from tacita.loss.numbers.variance_loss import variance_loss as variance_loss
    from tacita.loss.propensity.propensity_loss import propensity_loss as propensity_loss
    from tacita.loss.values.class_loss import class_loss as class_loss
    from tacita.loss.values.value_loss import value_loss as value_loss


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in measure_names("loss"):
        raise AttributeError(f"module 'tacita.loss' has no measure {name!r}")
    return find(name).function


def __dir__() -> list[str]:
    return sorted(measure_names("loss"))
