"""Propensity scores: how well a model tells a release from its original."""
