"""Distances and the tree that answers questions about them: who is near, how many are within reach."""
