"""Generalisation: the search for the levels of hierarchies that make a file safe at the least loss."""
