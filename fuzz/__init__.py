"""Random damage: files and calls that must end in a result or in one sentence."""
