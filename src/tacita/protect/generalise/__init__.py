"""Generalisation along hierarchies."""
