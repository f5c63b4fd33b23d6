"""Swapping: values change places between records, and how often each occurs stays as it was."""
