"""Protection: one method per module, each a step of a plan."""
