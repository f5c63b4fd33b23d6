"""A classification or regression tree: for synthesis, and for telling a release from its original."""
