"""Superpopulation models: how many units are unique in the population, from the sizes of keys in the sample."""

from tacita.risk.superpopulation.estimate import Superpopulation, superpopulation, superpopulation_of

__all__ = ["Superpopulation", "superpopulation", "superpopulation_of"]
