"""External risk: what an intruder gains who compares a file of his own with the release."""
