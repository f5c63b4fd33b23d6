"""Tacita: statistical disclosure control for microdata."""

__version__ = "0.1.0"
