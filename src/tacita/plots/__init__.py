"""Figures. Each takes a result, never data, and has a `*_points` twin that returns the frame it draws."""
