"""Masking by a model: what a regression says of a record is released in place of its own numbers."""
