"""Synthesis: values drawn from models of the file, by sequential trees or a Gaussian copula."""
