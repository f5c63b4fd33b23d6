"""The app's own folder for uploads and releases: only its owner can read it, and it goes when the app closes.

An app that was killed cannot clear up: what it left is removed at the next start.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "tacita-app-"


def own_folder(parent: Path | None = None) -> Path:
    """A new folder of this process, mode 0700; those of processes that are gone are removed."""
    home = Path(tempfile.gettempdir()) if parent is None else parent
    clear_left(home)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=home))


def clear_left(home: Path) -> None:
    """Remove the folders of apps that no longer run."""
    for folder in home.glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if number.isdigit() and not process_runs(int(number)) and not folder.is_symlink():
            remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder with everything in it."""
    shutil.rmtree(folder, ignore_errors=True)


def process_runs(number: int) -> bool:
    """Whether a process of that number runs; where that cannot be known, it is taken to run."""
    if os.name == "nt":
        # A signal would end it there.
        import ctypes

        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, number)  # type: ignore[attr-defined,unused-ignore]
        if handle:
            ctypes.windll.kernel32.CloseHandle(handle)  # type: ignore[attr-defined,unused-ignore]
        return bool(handle)
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
