"""Local suppression: which cells of the keys to blank so that every record is safe."""
