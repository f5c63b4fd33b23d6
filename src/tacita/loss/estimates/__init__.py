"""Estimates before and after with their standard errors: survey estimates, own statistics, inequality."""
