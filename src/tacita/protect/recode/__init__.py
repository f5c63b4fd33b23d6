"""Recoding: ways to put values into larger groups, and hierarchies of groups."""
