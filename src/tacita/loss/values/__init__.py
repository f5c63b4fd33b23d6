"""Measures of what the values of a release tell less."""
