"""Attribute disclosure: what a file reveals about the sensitive values of a group."""
