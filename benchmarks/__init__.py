"""Benchmarks of Tacita; a package, so that no file here can be taken for an installed one of the same name."""
