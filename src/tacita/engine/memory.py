"""How much memory a file may take: as the user says it, and as a file needs it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tacita.check import TacitaError, given

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
LIBRARIES = 450_000_000
"""What the program takes itself with all that measures load, whatever the file."""
LEAST = 700_000_000
"""Less is not enough for the program and the engine."""
USUAL_SHARE = 0.5
"""Of the machine's memory, unless the user says how much."""
PER_BYTE = {".parquet": 12.0, ".pq": 12.0}
"""Bytes of memory that an assessment needs for each byte of a file; a Parquet file is packed."""
OF_TEXT = 6.0


def budget(memory: int | str | None) -> int:
    """A memory budget in bytes, of a number or a text; None: half of what the machine has.

    >>> budget("4GB"), budget("1.5 GB")
    (4000000000, 1500000000)
    """
    if memory is None:
        return int(USUAL_SHARE * machine_memory())
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B)?\s*", str(memory), re.IGNORECASE)
    if isinstance(memory, bool) or not isinstance(memory, int | str) or found is None:
        raise TacitaError(f"memory must be a size like '4GB'; got {given(memory)}.")
    size = int(float(found[1]) * UNITS[(found[2] or "").upper()])
    if size < LEAST:
        raise TacitaError(f"memory must be at least 700MB; got {given(memory)}.")
    return size


def machine_memory() -> int:
    """Bytes of memory of this machine, or 8 GB where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * 10**9


def resident() -> int | None:
    """Bytes of memory that this process holds; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


class Room:
    """What is left of a memory budget, as the process grows; what it held before the file was opened is not counted."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.before = max((resident() or 0) - LIBRARIES, 0)

    def left(self, engine: int = 0) -> int:
        """Bytes that are left, with those that the engine holds among them."""
        taken = max((resident() or 0) - self.before - engine, LIBRARIES)
        return max(self.memory - taken, 0)


def needed(files: list[Path]) -> int:
    """Bytes of memory that an assessment of these files would need if they were read whole, about."""
    return int(sum(each.stat().st_size * PER_BYTE.get(each.suffix.lower(), OF_TEXT) for each in files))


def shown(size: float) -> str:
    """A size in words.

    >>> shown(4.2e9), shown(35e6), shown(1500)
    ('4.2 GB', '35 MB', '1.5 KB')
    """
    unit, name = (1e9, "GB") if size >= 1e9 else (1e6, "MB") if size >= 1e6 else (1e3, "KB")
    return f"{size / unit:.3g} {name}"
