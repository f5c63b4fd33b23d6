"""Local suppression."""
