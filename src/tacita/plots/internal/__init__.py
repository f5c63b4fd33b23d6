"""Figures that show values of the original file: for the office only."""
