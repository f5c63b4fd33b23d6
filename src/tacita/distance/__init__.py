"""Distances between records: metrics, one tree, pairs, nearest records, assignment, covariance."""
