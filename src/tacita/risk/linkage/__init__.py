"""Attacks that link released records to an intruder's file."""
