"""Distributions before and after: of single variables, of pairs, of tables."""
