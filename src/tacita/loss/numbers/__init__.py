"""Measures of what is lost in the numbers of a release."""
