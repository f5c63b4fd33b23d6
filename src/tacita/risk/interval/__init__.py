"""How near released numbers come to the original ones."""
