"""Measures of what the numbers of a release tell less."""
