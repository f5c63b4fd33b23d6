"""Disclosure risk: how likely a released record is re-identified."""
