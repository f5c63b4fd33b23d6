"""The seed of a release, as its file has it."""

from __future__ import annotations

from pathlib import Path

from tacita.check import TacitaError


def seed_of(path: Path) -> int:
    """The seed in a file, in hexadecimal digits."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return int("".join(line.strip() for line in lines if not line.startswith("#")), 16)
    except (OSError, ValueError):
        raise TacitaError(
            f"{path.name or path} must be a file with a seed in hexadecimal digits, as internal/seed.txt of a release."
        ) from None
