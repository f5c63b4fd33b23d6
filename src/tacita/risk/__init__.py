"""Measures of disclosure risk, by what they are about; each is in the file of its name."""
