"""Plans and what comes of them: step by step, the release, the project file."""
