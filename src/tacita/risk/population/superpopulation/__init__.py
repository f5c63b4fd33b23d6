"""Superpopulation models: how many units are unique in the population, from the sizes of keys in the sample."""
