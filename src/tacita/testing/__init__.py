"""Contract checks that steps and measures from anywhere can be held to."""
