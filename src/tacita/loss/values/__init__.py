"""Measures of what is lost in the values of a release."""
