"""Measures of information loss: `tacita.loss.value_loss(...)`, each in the file of its name, loaded when first used."""

from __future__ import annotations

from typing import Any

from tacita.measures import find, measure_names


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in measure_names("loss"):
        raise AttributeError(f"module 'tacita.loss' has no measure {name!r}")
    return find(name).function


def __dir__() -> list[str]:
    return sorted(measure_names("loss"))
