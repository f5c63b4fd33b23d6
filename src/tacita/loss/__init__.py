"""Measures of information loss: `tacita.loss.value_loss(...)`, each in the file of its name, loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacita.measures import find, measure_names

if TYPE_CHECKING:
    from tacita.loss.numbers.correlation_loss import correlation_loss as correlation_loss
    from tacita.loss.numbers.numeric_loss import numeric_loss as numeric_loss
    from tacita.loss.numbers.variance_loss import variance_loss as variance_loss
    from tacita.loss.values.class_loss import class_loss as class_loss
    from tacita.loss.values.value_loss import value_loss as value_loss


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in measure_names("loss"):
        raise AttributeError(f"module 'tacita.loss' has no measure {name!r}")
    return find(name).function


def __dir__() -> list[str]:
    return sorted(measure_names("loss"))
