"""Attacks by an intruder who has a file of his own."""
