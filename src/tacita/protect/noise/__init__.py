"""Noise on numbers: its methods, and what of the numbers it keeps."""
