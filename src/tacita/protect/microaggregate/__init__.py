"""Microaggregation: numbers are replaced by the average of at least k records that are alike."""
