"""How well each released record hides among the originals, and how far it was moved."""
